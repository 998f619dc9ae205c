/* SPDX-License-Identifier: MIT */
/* Running; see program.h. */
#include "reader/program.h"

#include <string.h>

#define LIST_MAX 65536 /* elements handed on; a page holds far fewer */

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

/* `size` bits from bit `at` on. Big-endian fields fill bytes from the top (CTF 1.8.3,
 * section 4.1.5). */
static uint64_t bits_at(const uint8_t *packet, uint64_t at, unsigned size, bool big)
{
	const uint8_t *bytes = packet + at / 8;
	unsigned have = 8 - (unsigned) (at % 8);
	uint64_t value;

	if (big) {
		for (value = *bytes++ & (0xffu >> at % 8); have < size;) {
			unsigned more = MIN(8, size - have);

			value = value << more | *bytes++ >> (8 - more);
			have += more;
		}
		return have > size ? value >> (have - size) : value;
	}
	for (value = *bytes++ >> at % 8; have < size; have += 8)
		value |= (uint64_t) *bytes++ << have;
	return size < 64 ? value & ((UINT64_C(1) << size) - 1) : value;
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

static void put_bytes(struct cursor *cursor, const struct op *op, const uint8_t *bytes)
{
	*(struct event_bytes *) target(cursor, op) = (struct event_bytes) {bytes, op->size};
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

	if (count && (!bytes[count - 1] || memchr(bytes, 0, (size_t) count)))
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

static uint64_t aligned(uint64_t at, uint32_t align)
{
	return (at + align - 1) & ~(uint64_t) (align - 1);
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
		cursor->at = aligned(cursor->at, op->align);
		if (cursor->at > cursor->end || !run(program, op + 1, cursor))
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

/* What varies in size. */
static bool run_many(const struct program *program, const struct op *op, struct cursor *cursor)
{
	if (op->code == OP_STRING)
		return run_string(cursor, op);
	return op->code == OP_FLAT ? run_flat(cursor, op) : run_list(program, op, cursor);
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

static uint64_t read_big32(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof word);
	return GUINT32_FROM_BE(word);
}

static bool run(const struct program *program, const struct op *op, struct cursor *cursor)
{
	const uint8_t *packet = cursor->packet;
	uint64_t at = cursor->at, end = cursor->end, value;

	for (;; op++) {
		switch ((enum op_code) op->code) {
		case OP_END:
			cursor->at = at + op->arg;
			return true;
		case OP_NEED:
			at = aligned(at, op->align);
			if (at + op->arg > end)
				return false;
			continue;
		case OP_SKIP:
			at += op->arg;
			continue;
		case OP_ALIGN:
			at = aligned(at, op->align);
			if (at > end)
				return false;
			continue;
		case OP_TAKE32:
			at += op->arg;
			memcpy((char *) cursor->event + op->to, packet + at / 8, 4);
			at += 32;
			continue;
		case OP_TAKE64:
			at += op->arg;
			memcpy((char *) cursor->event + op->to, packet + at / 8, 8);
			at += 64;
			continue;
		case OP_BYTES:
			at += op->arg;
			put_bytes(cursor, op, packet + at / 8);
			at += 8 * (uint64_t) op->size;
			continue;
		case OP_BYTE8:
		case OP_BYTE16:
		case OP_BYTE32:
		case OP_BYTE64:
			at += op->arg;
			value = read_bytes(packet + at / 8, op);
			break;
		case OP_BIG16:
			at += op->arg;
			value = (uint64_t) packet[at / 8] << 8 | packet[at / 8 + 1];
			break;
		case OP_BIG32:
			at += op->arg;
			value = read_big32(packet + at / 8);
			break;
		case OP_INTEGER:
			value = read_integer(packet, at, op->size, op->flags & FLAG_BIG,
					     op->flags & FLAG_SIGNED);
			break;
		case OP_STRING:
		case OP_FLAT:
		case OP_LIST:
			cursor->at = at;
			if (!run_many(program, op, cursor))
				return false;
			at = cursor->at;
			op += op->code == OP_LIST ? op->to - 1 : 0;
			continue;
		case OP_CHOOSE:
			op = chosen(program, op, cursor);
			if (!op)
				return false;
			continue;
		case OP_JUMP:
			op = &g_array_index(program->ops, struct op, op->arg) - 1;
			continue;
		default:
			__builtin_unreachable(); /* compile.h makes no others */
		}
		at += op->size;
		put_integer(cursor, op, value);
	}
}

bool program_run(const struct program *program, struct cursor *cursor)
{
	cursor->scratch_used = 0;
	return run(program, (const struct op *) program->ops->data, cursor);
}

/* What an op of fixed size gets over; false: not one of those. */
static bool op_size(const struct op *op, uint64_t *bits)
{
	switch ((enum op_code) op->code) {
	case OP_END:
	case OP_SKIP:
		*bits = op->arg;
		return true;
	case OP_TAKE32:
		*bits = op->arg + 32;
		return true;
	case OP_TAKE64:
		*bits = op->arg + 64;
		return true;
	case OP_BYTES:
		*bits = op->arg + 8 * (uint64_t) op->size;
		return true;
	case OP_BYTE8:
	case OP_BYTE16:
	case OP_BYTE32:
	case OP_BYTE64:
	case OP_BIG16:
	case OP_BIG32:
		*bits = op->arg + op->size;
		return true;
	case OP_INTEGER:
		*bits = op->size;
		return true;
	case OP_FLAT:
		*bits = op->arg * op->align;
		return !(op->flags & FLAG_COUNTED) && op->arg <= LIST_MAX;
	default:
		return false;
	}
}

static bool is_aligned_need(const struct op *op, uint64_t at)
{
	return op->code == OP_NEED && op->align <= 8 && at % 8 == 0;
}

bool program_size(const struct program *program, uint64_t *bits)
{
	uint64_t at = 0, size;

	for (guint i = 0; i < program->ops->len; i++) {
		const struct op *op = &g_array_index(program->ops, struct op, i);

		if (is_aligned_need(op, at))
			continue;
		if (!op_size(op, &size))
			return false;
		at += size;
		if (op->code == OP_END) {
			*bits = at;
			return true;
		}
	}
	return false;
}

bool program_place(const struct program *program, size_t to, uint64_t *bits)
{
	uint64_t at = 0, size;

	for (guint i = 0; i < program->ops->len; i++) {
		const struct op *op = &g_array_index(program->ops, struct op, i);
		bool native = op->code == OP_TAKE32 || op->code == OP_BYTE32;

		if (op->code == OP_NEED)
			continue;
		if (!op_size(op, &size))
			return false;
		if (native && op->to == to && (op->code == OP_TAKE32 || op->take == TAKE_I32) &&
		    !(op->flags & (FLAG_READY | FLAG_HEADERS))) {
			*bits = at + op->arg;
			return true;
		}
		at += size;
	}
	return false;
}

uint64_t program_touches(const struct program *program)
{
	/* where event_init() puts what the event's name says */
	uint64_t touched = UINT64_C(1) << offsetof(struct event, sched_switch) / sizeof(uint64_t);

	for (guint i = 0; i < program->ops->len; i++) {
		const struct op *op = &g_array_index(program->ops, struct op, i);

		if (op->code == OP_LIST) /* its steps fill elements, or it is given up */
			return 0;
		if (op->to == NO_PLACE || op->flags & (FLAG_READY | FLAG_HEADERS))
			continue;
		/* a list's place and its length are two words */
		touched |= UINT64_C(3) << op->to / sizeof(uint64_t);
	}
	return touched;
}
