/* SPDX-License-Identifier: MIT */
/* Compiling and running; see program.h. */
#include "reader/program.h"

#include <string.h>

#define DEPTH_MAX 40
#define LIST_MAX 65536 /* elements handed on; a page holds far fewer */

enum code {
	OP_END,
	OP_SKIP,    /* arg bits */
	OP_ALIGN,   /* to `align` */
	OP_INTEGER, /* at any bit */
	OP_BYTE8,   /* a native integer of 8, 16, 32 or 64 bits at a byte, after arg bits */
	OP_BYTE16,
	OP_BYTE32,
	OP_BYTE64,
	OP_TAKE32,  /* the same, which only goes to the event as it is */
	OP_TAKE64,
	OP_STRING,
	OP_LIST,    /* arg elements, or as many as the register says; the body follows */
	OP_FLAT,    /* the same, of `size` bits each, side by side */
	OP_CHOOSE,  /* arg: first of the branches; `size`: how many */
	OP_JUMP,    /* arg: place */
};

#define FUSED_MAX 0xffff /* bits that another op skips before its own */

#define FLAG_SIGNED 1
#define FLAG_BIG 2
#define FLAG_COUNTED 4 /* the register has the number of elements */
#define FLAG_TEXT 8    /* a list of characters */
#define FLAG_READY 16  /* the place is in struct event_ready */
#define FLAG_HEADERS 32 /* … in struct headers */

struct visible {
	const char *name;        /* borrowed */
	uint8_t reg;
	const struct type *type; /* borrowed */
};

struct program *program_new(void)
{
	struct program *program = g_new0(struct program, 1);

	program->ops = g_array_new(FALSE, TRUE, sizeof(struct op));
	program->branches = g_array_new(FALSE, TRUE, sizeof(struct branch));
	return program;
}

void program_free(struct program *program)
{
	if (!program)
		return;
	g_array_free(program->ops, TRUE);
	g_array_free(program->branches, TRUE);
	g_free(program);
}

void compiler_init(struct compiler *compiler, struct program *program,
		   const struct metadata *metadata)
{
	*compiler = (struct compiler) {.program = program, .metadata = metadata, .modulus = 1};
	compiler->names = g_array_new(FALSE, FALSE, sizeof(struct visible));
	compiler->tags = g_hash_table_new(g_str_hash, g_str_equal);
}

void compiler_clear(struct compiler *compiler)
{
	g_array_free(compiler->names, TRUE);
	g_hash_table_destroy(compiler->tags);
}

void compiler_note(struct compiler *compiler, const struct type *type)
{
	if (!type || ++compiler->depth > DEPTH_MAX) {
		compiler->failed |= type != NULL;
		return;
	}
	if (type->tag)
		g_hash_table_add(compiler->tags, type->tag);
	if (type->element)
		compiler_note(compiler, type->element);
	for (guint i = 0; type->members && i < type->members->len; i++)
		compiler_note(compiler, g_array_index(type->members, struct member, i).type);
	compiler->depth--;
}

/* --- compiling ---------------------------------------------------------- */

static struct op *emit(struct compiler *compiler, enum code code)
{
	struct op op = {.code = (uint8_t) code,
			.reg = NO_REGISTER,
			.to = NO_PLACE,
			.value = UINT8_MAX,
			.align = 1};

	g_array_append_val(compiler->program->ops, op);
	return &g_array_index(compiler->program->ops, struct op, compiler->program->ops->len - 1);
}

static void moved(struct compiler *compiler, uint64_t bits)
{
	compiler->rest = (compiler->rest + bits) % compiler->modulus;
}

/* From here on the position is known only modulo `modulus`. */
static void known_to(struct compiler *compiler, uint64_t modulus)
{
	compiler->modulus = MIN(compiler->modulus, modulus);
	compiler->rest %= compiler->modulus;
}

/* What is known of the position where two ways meet. */
static void meet(struct compiler *compiler, uint64_t modulus, uint64_t rest)
{
	uint64_t common = MIN(compiler->modulus, modulus);

	while (common > 1 && compiler->rest % common != rest % common)
		common /= 2;
	compiler->modulus = common;
	compiler->rest = compiler->rest % common;
}

/* From here on the position is known to be aligned. */
static void align(struct compiler *compiler, uint32_t bits)
{
	if (bits <= 1 || (compiler->modulus >= bits && compiler->rest % bits == 0))
		return;
	emit(compiler, OP_ALIGN)->align = bits;
	if (compiler->modulus >= bits) {
		compiler->rest = (compiler->rest + bits - 1) / bits * bits % compiler->modulus;
		return;
	}
	compiler->modulus = bits;
	compiler->rest = 0;
}

static const struct visible *visible(const struct compiler *compiler, const char *name)
{
	for (guint i = compiler->names->len; name && i-- > 0;) {
		const struct visible *at = &g_array_index(compiler->names, struct visible, i);

		if (strcmp(at->name, name) == 0)
			return at;
	}
	return NULL;
}

static bool is_big(const struct compiler *compiler, const struct type *type)
{
	return type->order == ORDER_BIG ||
	       (type->order == ORDER_NATIVE && compiler->metadata->big_endian);
}

static bool is_native(const struct compiler *compiler, const struct type *type)
{
	return is_big(compiler, type) == (G_BYTE_ORDER == G_BIG_ENDIAN);
}

static void place(struct op *op, const struct wish *wish, bool ready)
{
	if (!wish)
		return;
	op->take = wish->take;
	op->to = wish->to;
	if (ready)
		op->flags |= FLAG_READY;
	if (wish->headers)
		op->flags |= FLAG_HEADERS;
}

static void skip(struct compiler *compiler, uint64_t bits)
{
	GArray *ops = compiler->program->ops;
	struct op *last = ops->len ? &g_array_index(ops, struct op, ops->len - 1) : NULL;

	if (!last || last->code != OP_SKIP || last->value != UINT8_MAX)
		last = emit(compiler, OP_SKIP);
	last->arg += bits;
	moved(compiler, bits);
}

/* A place that is jumped to: nothing before it may be merged with what follows. */
static guint here(struct compiler *compiler)
{
	GArray *ops = compiler->program->ops;

	if (ops->len && g_array_index(ops, struct op, ops->len - 1).code == OP_SKIP)
		emit(compiler, OP_SKIP)->value = 0; /* of no bits: keeps the two apart */
	return ops->len;
}

static enum code integer_code(const struct compiler *compiler, const struct type *type)
{
	bool at_byte = compiler->modulus >= 8 && compiler->rest % 8 == 0;

	if (!at_byte || (type->size > 8 && !is_native(compiler, type)))
		return OP_INTEGER;
	switch (type->size) {
	case 8:
		return OP_BYTE8;
	case 16:
		return OP_BYTE16;
	case 32:
		return OP_BYTE32;
	case 64:
		return OP_BYTE64;
	default:
		return OP_INTEGER;
	}
}

struct adding {
	struct compiler *compiler;
	const struct wish *wish; /* for this field; NULL */
	const char *name;        /* of the field; NULL: an element */
	uint8_t value;
	bool ready;              /* inside an element of TAKE_READY */
};

static void add(const struct adding *adding, const struct type *type);

static bool takes_integer(const struct wish *wish)
{
	return wish && wish->take >= TAKE_I32 && wish->take <= TAKE_BOOL;
}

/* An integer's op; it takes over what is skipped before it. */
static struct op *emit_integer(struct compiler *compiler, const struct type *type)
{
	enum code code = integer_code(compiler, type);
	GArray *ops = compiler->program->ops;
	struct op *last = ops->len ? &g_array_index(ops, struct op, ops->len - 1) : NULL;

	if (code == OP_INTEGER || !last || last->code != OP_SKIP || last->value != UINT8_MAX ||
	    last->arg > FUSED_MAX)
		return emit(compiler, code);
	last->code = (uint8_t) code;
	return last;
}

/* Most fields that are wanted go to the event and nowhere else. */
static void simplify(struct op *op)
{
	if (op->reg != NO_REGISTER || op->value != UINT8_MAX ||
	    op->flags & (FLAG_READY | FLAG_HEADERS))
		return;
	if (op->code == OP_BYTE32 && op->take == TAKE_I32)
		op->code = OP_TAKE32;
	else if (op->code == OP_BYTE64 && op->take == TAKE_I64)
		op->code = OP_TAKE64;
}

static void add_integer(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	bool kept = adding->name && type->kind == TYPE_INTEGER &&
		    g_hash_table_contains(compiler->tags, adding->name);
	bool taken = takes_integer(adding->wish) && type->kind == TYPE_INTEGER;
	struct visible name = {adding->name, NO_REGISTER, type};
	struct op *op;

	align(compiler, type->align);
	if (!kept && !taken && adding->value == UINT8_MAX) {
		skip(compiler, type->size);
		return;
	}
	op = emit_integer(compiler, type);
	op->size = (uint8_t) type->size;
	op->value = type->kind == TYPE_INTEGER ? adding->value : UINT8_MAX;
	op->flags = (uint8_t) ((type->is_signed ? FLAG_SIGNED : 0) |
			       (is_big(compiler, type) ? FLAG_BIG : 0));
	if (taken)
		place(op, adding->wish, adding->ready);
	if (kept && compiler->registers < REGISTERS) {
		op->reg = name.reg = compiler->registers++;
		g_array_append_val(compiler->names, name);
	}
	simplify(op);
	moved(compiler, type->size);
}

static void add_string(const struct adding *adding)
{
	struct op *op;

	align(adding->compiler, 8);
	op = emit(adding->compiler, OP_STRING);
	op->value = adding->value;
	if (adding->wish && adding->wish->take == TAKE_STRING)
		place(op, adding->wish, adding->ready);
	known_to(adding->compiler, 8);
}

/* Bits of a type that always has so many, without padding; 0: it varies. */
static uint64_t fixed_bits(const struct type *type)
{
	uint64_t sum = 0;

	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
		return type->size % type->align == 0 ? type->size : 0;
	case TYPE_STRUCT:
		for (guint i = 0; i < type->members->len; i++) {
			const struct type *member =
				g_array_index(type->members, struct member, i).type;
			uint64_t bits = fixed_bits(member);

			if (!bits || sum % member->align)
				return 0;
			sum += bits;
		}
		return sum % type->align == 0 ? sum : 0;
	default:
		return 0;
	}
}

static bool takes_list(const struct wish *wish)
{
	return wish && (wish->take == TAKE_BYTES || wish->take == TAKE_WORDS ||
			wish->take == TAKE_PAIR || wish->take == TAKE_STRING);
}

/* How many there are: known, or in a register. */
static void counted(struct compiler *compiler, struct op *op, const struct type *type)
{
	const struct visible *length;

	op->arg = type->length;
	if (type->kind == TYPE_ARRAY)
		return;
	length = visible(compiler, type->tag);
	if (!length) {
		compiler->failed = true;
		return;
	}
	op->flags |= FLAG_COUNTED;
	op->reg = length->reg;
}

static void add_flat(const struct adding *adding, const struct type *type, uint64_t bits)
{
	struct compiler *compiler = adding->compiler;
	const struct type *element = type->element;
	bool text = element->kind == TYPE_INTEGER && element->text && element->size == 8;
	struct op *op;

	if (type->kind == TYPE_ARRAY && !takes_list(adding->wish) && adding->value == UINT8_MAX) {
		skip(compiler, bits * type->length);
		return;
	}
	op = emit(compiler, OP_FLAT);
	op->align = (uint32_t) bits;
	counted(compiler, op, type);
	op->size = (uint8_t) (element->kind == TYPE_INTEGER ? element->size : 0);
	op->flags |=
		(uint8_t) ((text ? FLAG_TEXT : 0) | (is_big(compiler, element) ? FLAG_BIG : 0) |
			   (element->is_signed ? FLAG_SIGNED : 0));
	if (element->kind == TYPE_INTEGER && takes_list(adding->wish) &&
	    text == (adding->wish->take == TAKE_STRING))
		place(op, adding->wish, adding->ready);
	op->value = text ? adding->value : UINT8_MAX;
	if (type->kind == TYPE_ARRAY)
		moved(compiler, bits * type->length);
	else
		known_to(compiler, bits & -bits);
}

static const struct wish *wish_for(const struct wish *wishes, const char *name)
{
	for (; wishes && wishes->name; wishes++)
		if (strcmp(wishes->name, name) == 0)
			return wishes;
	return NULL;
}

static void add_list(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	uint64_t bits = fixed_bits(type->element), modulus, rest;
	bool ready = adding->wish && adding->wish->take == TAKE_READY;
	struct adding inside = {.compiler = compiler, .value = UINT8_MAX, .ready = ready};
	struct wish element = {.take = TAKE_INSIDE};
	guint at, names = compiler->names->len;
	struct op *op;

	align(compiler, type->element->align);
	if (bits && !ready) {
		add_flat(adding, type, bits);
		return;
	}
	modulus = compiler->modulus;
	rest = compiler->rest;
	at = compiler->program->ops->len;
	op = emit(compiler, OP_LIST);
	op->align = type->element->align;
	counted(compiler, op, type);
	if (ready) {
		place(op, adding->wish, false);
		element.inside = adding->wish->inside;
		inside.wish = &element;
	}
	/* each element begins aligned, and no more than that is known */
	compiler->modulus = MAX(type->element->align, 1);
	compiler->rest = 0;
	add(&inside, type->element);
	emit(compiler, OP_END);
	g_array_index(compiler->program->ops, struct op, at).take =
		ready ? TAKE_READY : TAKE_NOTHING;
	/* the place behind the body */
	g_array_index(compiler->program->ops, struct op, at).to =
		(uint16_t) (compiler->program->ops->len - at);
	g_array_set_size(compiler->names, names);
	meet(compiler, modulus, rest);
}

static void add_struct(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	const struct wish *wishes =
		adding->wish && adding->wish->take == TAKE_INSIDE ? adding->wish->inside : NULL;
	guint names = compiler->names->len;

	align(compiler, type->align);
	for (guint i = 0; i < type->members->len && !compiler->failed; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);
		struct adding next = {.compiler = compiler,
				      .name = member->name,
				      .wish = wish_for(wishes, member->name),
				      .value = UINT8_MAX,
				      .ready = adding->ready};

		add(&next, member->type);
	}
	g_array_set_size(compiler->names, names);
}

static const char *without_dash(const char *label)
{
	return *label == '_' ? label + 1 : label;
}

static void add_option(struct compiler *compiler, const struct type *selector, const char *name,
		       guint place_of)
{
	for (guint i = 0; selector->ranges && i < selector->ranges->len; i++) {
		const struct range *range = &g_array_index(selector->ranges, struct range, i);
		struct branch branch = {range->from, range->to, place_of};

		if (strcmp(without_dash(range->label), without_dash(name)) == 0)
			g_array_append_val(compiler->program->branches, branch);
	}
}

static void add_variant(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	GArray *ops = compiler->program->ops, *jumps, *branches;
	const struct visible *found = visible(compiler, type->tag);
	struct visible tag = found ? *found : (struct visible) {0};
	uint64_t modulus = compiler->modulus, rest = compiler->rest, after_modulus = 0,
		 after_rest = 0;
	guint at = ops->len, names = compiler->names->len;
	struct op *op = emit(compiler, OP_CHOOSE);

	if (!found) {
		compiler->failed = true;
		return;
	}
	op->reg = tag.reg;
	jumps = g_array_new(FALSE, FALSE, sizeof(guint));
	/* the options' own branches come in between: these are put together afterwards */
	branches = g_array_new(FALSE, FALSE, sizeof(struct branch));
	for (guint i = 0; i < type->members->len && !compiler->failed; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);
		struct adding next = {.compiler = compiler,
				      .wish = adding->wish,
				      .value = UINT8_MAX,
				      .ready = adding->ready};
		guint before = compiler->program->branches->len, jump;

		add_option(compiler, type->ranges ? type : tag.type, member->name, here(compiler));
		if (compiler->program->branches->len > before) /* else no value chooses it */
			g_array_append_vals(branches,
					    &g_array_index(compiler->program->branches,
							   struct branch, before),
					    compiler->program->branches->len - before);
		g_array_set_size(compiler->program->branches, before);
		compiler->modulus = modulus;
		compiler->rest = rest;
		add(&next, member->type);
		g_array_set_size(compiler->names, names);
		jump = ops->len;
		emit(compiler, OP_JUMP);
		g_array_append_val(jumps, jump);
		if (!after_modulus) {
			after_modulus = compiler->modulus;
			after_rest = compiler->rest;
		} else {
			meet(compiler, after_modulus, after_rest);
			after_modulus = compiler->modulus;
			after_rest = compiler->rest;
		}
	}
	op = &g_array_index(ops, struct op, at);
	op->arg = compiler->program->branches->len;
	op->align = branches->len;
	g_array_append_vals(compiler->program->branches, branches->data, branches->len);
	for (guint i = 0; i < jumps->len; i++)
		g_array_index(ops, struct op, g_array_index(jumps, guint, i)).arg = ops->len;
	emit(compiler, OP_SKIP)->value = 0; /* is jumped to: nothing merges with it */
	compiler->modulus = MAX(after_modulus, 1);
	compiler->rest = after_rest;
	g_array_free(jumps, TRUE);
	g_array_free(branches, TRUE);
}

static void add(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;

	if (compiler->failed || ++compiler->depth > DEPTH_MAX) {
		compiler->failed = true;
		return;
	}
	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
		add_integer(adding, type);
		break;
	case TYPE_STRING:
		add_string(adding);
		break;
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		add_list(adding, type);
		break;
	case TYPE_STRUCT:
		add_struct(adding, type);
		break;
	case TYPE_VARIANT:
		add_variant(adding, type);
		break;
	}
	compiler->depth--;
}

static uint8_t value_for(const struct compiler *compiler, const char *name)
{
	gpointer number = compiler->wanted ? g_hash_table_lookup(compiler->wanted, name) : NULL;

	return number ? (uint8_t) (GPOINTER_TO_UINT(number) - 1) : UINT8_MAX;
}

void compiler_add(struct compiler *compiler, const struct type *type, const struct wish *wishes)
{
	if (!type || type->kind != TYPE_STRUCT) {
		compiler->failed |= type != NULL;
		return;
	}
	align(compiler, type->align);
	/* the names of one part of a record are seen by the next ones */
	for (guint i = 0; i < type->members->len && !compiler->failed; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);
		struct adding adding = {.compiler = compiler,
					.name = member->name,
					.wish = wish_for(wishes, member->name),
					.value = value_for(compiler, member->name)};

		add(&adding, member->type);
	}
}

bool compiler_end(struct compiler *compiler)
{
	emit(compiler, OP_END);
	return !compiler->failed;
}

/* --- running --------------------------------------------------------------- */

/* `size` bits from bit `at` on. Big-endian fields fill bytes from the top (CTF 1.8.3,
 * section 4.1.5). */
static uint64_t bits_at(const uint8_t *packet, uint64_t at, unsigned size, bool big)
{
	uint64_t value = 0;

	if (big) {
		for (unsigned i = 0; i < size; i++, at++)
			value = value << 1 | (packet[at / 8] >> (7 - at % 8) & 1);
		return value;
	}
	for (unsigned i = 0; i < size; i++, at++)
		value |= (uint64_t) (packet[at / 8] >> at % 8 & 1) << i;
	return value;
}

static uint64_t extended(uint64_t value, unsigned size)
{
	uint64_t top = UINT64_C(1) << (size - 1);

	return size < 64 ? (value ^ top) - top : value;
}

static uint64_t read_integer(const uint8_t *packet, uint64_t at, unsigned size, bool big,
			     bool is_signed)
{
	uint64_t value = 0;

	if (at % 8 == 0 && size % 8 == 0) {
		const uint8_t *bytes = packet + at / 8;

		for (unsigned i = 0; i < size / 8; i++)
			value |= (uint64_t) bytes[big ? size / 8 - 1 - i : i] << (8 * i);
	} else {
		value = bits_at(packet, at, size, big);
	}
	return is_signed ? extended(value, size) : value;
}

bool cursor_integer(struct cursor *cursor, const struct type *type, uint64_t *value)
{
	uint64_t at = (cursor->at + type->align - 1) / type->align * type->align;
	bool big = type->order == ORDER_BIG || (type->order == ORDER_NATIVE && cursor->big_endian);

	if (type->kind != TYPE_INTEGER || at > cursor->end || type->size > cursor->end - at)
		return false;
	*value = read_integer(cursor->packet, at, type->size, big, type->is_signed);
	cursor->at = at + type->size;
	return true;
}

static char *target(struct cursor *cursor, const struct op *op)
{
	if (op->flags & (FLAG_READY | FLAG_HEADERS))
		return (op->flags & FLAG_READY ? (char *) &cursor->one
					       : (char *) &cursor->headers) +
		       op->to;
	return (char *) cursor->event + op->to;
}

static void put_integer(struct cursor *cursor, const struct op *op, uint64_t value)
{
	if (op->reg != NO_REGISTER)
		cursor->registers[op->reg] = value;
	if (op->value != UINT8_MAX)
		cursor->values[op->value] = (struct field_value) {
			.known = true, .is_signed = op->flags & FLAG_SIGNED, .number = value};
	switch (op->take) {
	case TAKE_I32:
		*(int32_t *) target(cursor, op) = (int32_t) value;
		break;
	case TAKE_I64:
		*(int64_t *) target(cursor, op) = (int64_t) value;
		break;
	case TAKE_BOOL:
		*(bool *) target(cursor, op) = value != 0;
		break;
	default:
		break;
	}
}

static void put_text(struct cursor *cursor, const struct op *op, const char *text)
{
	if (op->value != UINT8_MAX)
		cursor->values[op->value] =
			(struct field_value) {.known = true, .is_text = true, .text = text};
	if (op->take == TAKE_STRING)
		*(const char **) target(cursor, op) = text;
}

static bool run_string(struct cursor *cursor, const struct op *op)
{
	const char *text = (const char *) cursor->packet + cursor->at / 8;
	size_t left = (size_t) (cursor->end - cursor->at) / 8;
	const char *end = left ? memchr(text, 0, left) : NULL;

	if (!end)
		return false;
	cursor->at += (uint64_t) (end - text + 1) * 8;
	put_text(cursor, op, text);
	return true;
}

/* Characters that may or may not end with a NUL. */
static const char *text_of(struct cursor *cursor, const char *bytes, uint64_t count)
{
	char *copy = (char *) cursor->scratch + cursor->scratch_used;

	if (memchr(bytes, 0, (size_t) count))
		return bytes;
	if (count + 1 > SCRATCH_BYTES - cursor->scratch_used)
		return "";
	memcpy(copy, bytes, (size_t) count);
	copy[count] = 0;
	cursor->scratch_used += (uint32_t) count + 1;
	return copy;
}

static void take_words(struct cursor *cursor, const struct op *op, uint64_t count)
{
	struct event_bytes *to = (struct event_bytes *) target(cursor, op);
	uint32_t begin = (cursor->scratch_used + 7) & ~7u;
	uint8_t *words = cursor->scratch + begin;

	if (begin > SCRATCH_BYTES || count > (SCRATCH_BYTES - begin) / 8)
		return;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = read_integer(cursor->packet, cursor->at + i * op->align, op->size,
					      op->flags & FLAG_BIG, op->flags & FLAG_SIGNED);

		memcpy(words + 8 * i, &value, sizeof value);
	}
	cursor->scratch_used = begin + (uint32_t) (8 * count);
	*to = (struct event_bytes) {words, (uint32_t) (8 * count)};
}

/* Lists that are bytes in the end: characters, bytes, or IPv6's eight 16-bit words. */
static void take_bytes(struct cursor *cursor, const struct op *op, uint64_t count)
{
	struct event_bytes *to = (struct event_bytes *) target(cursor, op);
	const uint8_t *bytes = cursor->packet + cursor->at / 8;
	bool words = op->size == 16 && count == 8;
	uint8_t *copy = cursor->scratch + cursor->scratch_used;
	uint64_t length = words ? 16 : count;

	if (length > SCRATCH_BYTES - cursor->scratch_used)
		return;
	if ((op->size == 8 || (words && op->flags & FLAG_BIG)) && cursor->at % 8 == 0) {
		*to = (struct event_bytes) {bytes, (uint32_t) length};
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = read_integer(cursor->packet, cursor->at + i * op->align, op->size,
					      op->flags & FLAG_BIG, false);

		if (words)
			copy[2 * i] = (uint8_t) (value >> 8);
		copy[words ? 2 * i + 1 : i] = (uint8_t) value;
	}
	cursor->scratch_used += (uint32_t) length;
	*to = (struct event_bytes) {copy, (uint32_t) length};
}

static uint64_t count_of(const struct cursor *cursor, const struct op *op)
{
	return op->flags & FLAG_COUNTED ? cursor->registers[op->reg] : op->arg;
}

static bool run_flat(struct cursor *cursor, const struct op *op)
{
	uint64_t count = count_of(cursor, op), shown = MIN(count, LIST_MAX);

	if (count > (cursor->end - cursor->at) / op->align)
		return false;
	if (op->flags & FLAG_TEXT) {
		if (op->take == TAKE_STRING || op->value != UINT8_MAX)
			put_text(cursor, op,
				 text_of(cursor, (const char *) cursor->packet + cursor->at / 8,
					 count));
	} else if (op->take == TAKE_BYTES) {
		take_bytes(cursor, op, shown);
	} else if (op->take == TAKE_WORDS) {
		take_words(cursor, op, shown);
	} else if (op->take == TAKE_PAIR) {
		for (uint64_t i = 0; i < 2 && i < count; i++)
			((int32_t *) target(cursor, op))[i] =
				(int32_t) read_integer(cursor->packet, cursor->at + i * op->align,
						       op->size, op->flags & FLAG_BIG,
						       op->flags & FLAG_SIGNED);
	}
	cursor->at += count * op->align;
	return true;
}

static bool aligned(struct cursor *cursor, uint32_t align)
{
	cursor->at = (cursor->at + align - 1) & ~(uint64_t) (align - 1);
	return cursor->at <= cursor->end;
}

static bool run(const struct program *program, const struct op *op, struct cursor *cursor);

static bool run_list(const struct program *program, const struct op *op, struct cursor *cursor)
{
	uint64_t count = count_of(cursor, op);
	bool ready = op->take == TAKE_READY;

	if (ready)
		g_array_set_size(cursor->ready, 0);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t before = cursor->at;

		cursor->one = (struct event_ready) {.fd = -1};
		if (!aligned(cursor, op->align) || !run(program, op + 1, cursor))
			return false;
		if (ready && i < LIST_MAX)
			g_array_append_val(cursor->ready, cursor->one);
		if (cursor->at == before)
			break; /* elements of nothing */
	}
	if (ready) {
		cursor->event->syscall.fds = (const struct event_ready *) cursor->ready->data;
		cursor->event->syscall.fd_count = cursor->ready->len;
	}
	return true;
}

/* The op before the chosen option's first; NULL: none fits. */
static const struct op *chosen(const struct program *program, const struct op *op,
			       const struct cursor *cursor)
{
	int64_t value = (int64_t) cursor->registers[op->reg];

	for (uint32_t i = 0; i < op->align; i++) {
		const struct branch *branch =
			&g_array_index(program->branches, struct branch, op->arg + i);

		if (value >= branch->from && value <= branch->to)
			return &g_array_index(program->ops, struct op, branch->place) - 1;
	}
	return NULL;
}

static uint64_t read_bytes(const uint8_t *bytes, const struct op *op)
{
	bool is_signed = op->flags & FLAG_SIGNED;
	uint16_t word16;
	uint32_t word32;
	uint64_t word64;

	switch (op->code) {
	case OP_BYTE8:
		return is_signed ? (uint64_t) (int64_t) (int8_t) *bytes : *bytes;
	case OP_BYTE16:
		memcpy(&word16, bytes, sizeof word16);
		return is_signed ? (uint64_t) (int64_t) (int16_t) word16 : word16;
	case OP_BYTE32:
		memcpy(&word32, bytes, sizeof word32);
		return is_signed ? (uint64_t) (int64_t) (int32_t) word32 : word32;
	default:
		memcpy(&word64, bytes, sizeof word64);
		return word64;
	}
}

static bool run(const struct program *program, const struct op *op, struct cursor *cursor)
{
	const uint8_t *packet = cursor->packet;
	uint64_t value;

	for (;; op++) {
		uint64_t left = cursor->end - cursor->at;

		switch (op->code) {
		case OP_END:
			return true;
		case OP_SKIP:
			if (op->arg > left)
				return false;
			cursor->at += op->arg;
			continue;
		case OP_ALIGN:
			if (!aligned(cursor, op->align))
				return false;
			continue;
		case OP_TAKE32:
			if (left < op->arg + 32)
				return false;
			cursor->at += op->arg;
			memcpy((char *) cursor->event + op->to, packet + cursor->at / 8, 4);
			cursor->at += 32;
			continue;
		case OP_TAKE64:
			if (left < op->arg + 64)
				return false;
			cursor->at += op->arg;
			memcpy((char *) cursor->event + op->to, packet + cursor->at / 8, 8);
			cursor->at += 64;
			continue;
		case OP_BYTE8:
		case OP_BYTE16:
		case OP_BYTE32:
		case OP_BYTE64:
			if (left < op->arg + op->size)
				return false;
			cursor->at += op->arg;
			value = read_bytes(packet + cursor->at / 8, op);
			break;
		case OP_INTEGER:
			if (left < op->size)
				return false;
			value = read_integer(packet, cursor->at, op->size, op->flags & FLAG_BIG,
					     op->flags & FLAG_SIGNED);
			break;
		case OP_STRING:
			if (!run_string(cursor, op))
				return false;
			continue;
		case OP_FLAT:
			if (!run_flat(cursor, op))
				return false;
			continue;
		case OP_LIST:
			if (!run_list(program, op, cursor))
				return false;
			op += op->to - 1;
			continue;
		case OP_CHOOSE:
			op = chosen(program, op, cursor);
			if (!op)
				return false;
			continue;
		default: /* OP_JUMP */
			op = &g_array_index(program->ops, struct op, op->arg) - 1;
			continue;
		}
		cursor->at += op->size;
		put_integer(cursor, op, value);
	}
}

bool program_run(const struct program *program, struct cursor *cursor)
{
	cursor->scratch_used = 0;
	return run(program, (const struct op *) program->ops->data, cursor);
}
