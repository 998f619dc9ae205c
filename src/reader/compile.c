/* SPDX-License-Identifier: MIT */
/* The steps of each kind of type; see compile.h. */
#include "reader/compile.h"

#include <string.h>

#define DEPTH_MAX 40

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

struct adding {
	struct compiler *compiler;
	const struct wish *wish; /* for this field; NULL */
	const char *name;        /* of the field; NULL: an element */
	uint8_t value;
	bool ready;              /* inside an element of TAKE_READY */
};

static void compile_type(const struct adding *adding, const struct type *type);

static bool takes_integer(const struct wish *wish)
{
	return wish && wish->take >= TAKE_I32 && wish->take <= TAKE_BOOL;
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

static void compile_integer(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	bool kept = adding->name && type->kind == TYPE_INTEGER &&
		    g_hash_table_contains(compiler->tags, adding->name);
	bool taken = takes_integer(adding->wish) && type->kind == TYPE_INTEGER;
	struct visible name = {adding->name, NO_REGISTER, type};
	struct op *op;

	emit_align(compiler, type->align);
	if (!kept && !taken && adding->value == UINT8_MAX) {
		emit_skip(compiler, type->size);
		return;
	}
	op = emit_integer(compiler, type);
	op->size = (uint8_t) type->size;
	op->value = type->kind == TYPE_INTEGER ? adding->value : UINT8_MAX;
	op->flags = (uint8_t) ((type->is_signed ? FLAG_SIGNED : 0) |
			       (type_is_big(compiler, type) ? FLAG_BIG : 0));
	if (taken)
		op_store(op, adding->wish, adding->ready);
	if (kept && compiler->registers < REGISTERS) {
		op->reg = name.reg = compiler->registers++;
		g_array_append_val(compiler->names, name);
	}
	simplify(op);
	position_advance(compiler, type->size);
}

static void compile_string(const struct adding *adding)
{
	struct op *op;

	emit_align(adding->compiler, 8);
	op = emit_op(adding->compiler, OP_STRING);
	op->value = adding->value;
	if (adding->wish && adding->wish->take == TAKE_STRING)
		op_store(op, adding->wish, adding->ready);
	position_blur(adding->compiler, 8);
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
static void set_count(struct compiler *compiler, struct op *op, const struct type *type)
{
	const struct visible *length;

	op->arg = type->length;
	if (type->kind == TYPE_ARRAY)
		return;
	length = field_visible(compiler, type->tag);
	if (!length) {
		compiler->failed = true;
		return;
	}
	op->flags |= FLAG_COUNTED;
	op->reg = length->reg;
}

/* An array of bytes that stay where they are: an address of IPv4. */
static bool is_plain_bytes(const struct adding *adding, const struct type *type)
{
	const struct type *element = type->element;

	return type->kind == TYPE_ARRAY && element->kind == TYPE_INTEGER && element->size == 8 &&
	       element->align <= 8 && !element->text && type->length && type->length <= 31 &&
	       adding->wish && adding->wish->take == TAKE_BYTES && adding->value == UINT8_MAX &&
	       position_is_byte(adding->compiler);
}

static void compile_flat(const struct adding *adding, const struct type *type, uint64_t bits)
{
	struct compiler *compiler = adding->compiler;
	const struct type *element = type->element;
	bool text = element->kind == TYPE_INTEGER && element->text && element->size == 8;
	struct op *op;

	if (type->kind == TYPE_ARRAY && !takes_list(adding->wish) && adding->value == UINT8_MAX) {
		emit_skip(compiler, bits * type->length);
		return;
	}
	if (is_plain_bytes(adding, type)) {
		op_store(emit_bytes(compiler, (uint8_t) type->length), adding->wish, adding->ready);
		position_advance(compiler, bits * type->length);
		return;
	}
	op = type->kind == TYPE_ARRAY ? emit_fixed(compiler, OP_FLAT, bits * type->length)
				      : emit_op(compiler, OP_FLAT);
	op->align = (uint32_t) bits;
	set_count(compiler, op, type);
	op->size = (uint8_t) (element->kind == TYPE_INTEGER ? element->size : 0);
	op->flags |= (uint8_t) ((text ? FLAG_TEXT : 0) |
				(type_is_big(compiler, element) ? FLAG_BIG : 0) |
				(element->is_signed ? FLAG_SIGNED : 0));
	if (element->kind == TYPE_INTEGER && takes_list(adding->wish) &&
	    text == (adding->wish->take == TAKE_STRING))
		op_store(op, adding->wish, adding->ready);
	op->value = text ? adding->value : UINT8_MAX;
	if (type->kind == TYPE_ARRAY)
		position_advance(compiler, bits * type->length);
	else
		position_blur(compiler, bits & -bits);
}

static const struct wish *wish_for(const struct wish *wishes, const char *name)
{
	for (; wishes && wishes->name; wishes++)
		if (strcmp(wishes->name, name) == 0)
			return wishes;
	return NULL;
}

static void compile_list(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	uint64_t bits = fixed_bits(type->element), modulus, rest;
	bool ready = adding->wish && adding->wish->take == TAKE_READY;
	struct adding inside = {.compiler = compiler, .value = UINT8_MAX, .ready = ready};
	struct wish element = {.take = TAKE_INSIDE};
	guint at, names = compiler->names->len;
	struct op *op;

	emit_align(compiler, type->element->align);
	if (bits && !ready) {
		compile_flat(adding, type, bits);
		return;
	}
	modulus = compiler->modulus;
	rest = compiler->rest;
	at = compiler->program->ops->len;
	op = emit_op(compiler, OP_LIST);
	op->align = type->element->align;
	set_count(compiler, op, type);
	if (ready) {
		op_store(op, adding->wish, false);
		element.inside = adding->wish->inside;
		inside.wish = &element;
	}
	/* each element begins aligned, and no more than that is known */
	compiler->modulus = MAX(type->element->align, 1);
	compiler->rest = 0;
	compile_type(&inside, type->element);
	emit_end(compiler);
	g_array_index(compiler->program->ops, struct op, at).take =
		ready ? TAKE_READY : TAKE_NOTHING;
	/* the place behind the body */
	g_array_index(compiler->program->ops, struct op, at).to =
		(uint16_t) (compiler->program->ops->len - at);
	g_array_set_size(compiler->names, names);
	position_join(compiler, modulus, rest);
}

static void compile_struct(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	const struct wish *wishes =
		adding->wish && adding->wish->take == TAKE_INSIDE ? adding->wish->inside : NULL;
	guint names = compiler->names->len;

	emit_align(compiler, type->align);
	for (guint i = 0; i < type->members->len && !compiler->failed; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);
		struct adding next = {.compiler = compiler,
				      .name = member->name,
				      .wish = wish_for(wishes, member->name),
				      .value = UINT8_MAX,
				      .ready = adding->ready};

		compile_type(&next, member->type);
	}
	g_array_set_size(compiler->names, names);
}

static const char *without_dash(const char *label)
{
	return *label == '_' ? label + 1 : label;
}

static void compile_option(struct compiler *compiler, const struct type *selector, const char *name,
			   guint place_of)
{
	for (guint i = 0; selector->ranges && i < selector->ranges->len; i++) {
		const struct range *range = &g_array_index(selector->ranges, struct range, i);
		struct branch branch = {range->from, range->to, place_of};

		if (strcmp(without_dash(range->label), without_dash(name)) == 0)
			g_array_append_val(compiler->program->branches, branch);
	}
}

static void compile_variant(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;
	GArray *ops = compiler->program->ops, *jumps, *branches;
	const struct visible *found = field_visible(compiler, type->tag);
	struct visible tag = found ? *found : (struct visible) {0};
	uint64_t modulus = compiler->modulus, rest = compiler->rest, after_modulus = 0,
		 after_rest = 0;
	guint at = ops->len, names = compiler->names->len;
	struct op *op = emit_op(compiler, OP_CHOOSE);

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

		compile_option(compiler, type->ranges ? type : tag.type, member->name,
			       emit_target(compiler));
		if (compiler->program->branches->len > before) /* else no value chooses it */
			g_array_append_vals(branches,
					    &g_array_index(compiler->program->branches,
							   struct branch, before),
					    compiler->program->branches->len - before);
		g_array_set_size(compiler->program->branches, before);
		compiler->modulus = modulus;
		compiler->rest = rest;
		compile_type(&next, member->type);
		g_array_set_size(compiler->names, names);
		jump = ops->len;
		emit_op(compiler, OP_JUMP);
		g_array_append_val(jumps, jump);
		if (!after_modulus) {
			after_modulus = compiler->modulus;
			after_rest = compiler->rest;
		} else {
			position_join(compiler, after_modulus, after_rest);
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
	emit_target(compiler);
	compiler->modulus = MAX(after_modulus, 1);
	compiler->rest = after_rest;
	g_array_free(jumps, TRUE);
	g_array_free(branches, TRUE);
}

static void compile_type(const struct adding *adding, const struct type *type)
{
	struct compiler *compiler = adding->compiler;

	if (compiler->failed || ++compiler->depth > DEPTH_MAX) {
		compiler->failed = true;
		return;
	}
	switch (type->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
		compile_integer(adding, type);
		break;
	case TYPE_STRING:
		compile_string(adding);
		break;
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		compile_list(adding, type);
		break;
	case TYPE_STRUCT:
		compile_struct(adding, type);
		break;
	case TYPE_VARIANT:
		compile_variant(adding, type);
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
	emit_align(compiler, type->align);
	/* the names of one part of a record are seen by the next ones */
	for (guint i = 0; i < type->members->len && !compiler->failed; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);
		struct adding adding = {.compiler = compiler,
					.name = member->name,
					.wish = wish_for(wishes, member->name),
					.value = value_for(compiler, member->name)};

		compile_type(&adding, member->type);
	}
}

bool compiler_end(struct compiler *compiler)
{
	emit_end(compiler);
	return !compiler->failed;
}
