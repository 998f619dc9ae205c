/* SPDX-License-Identifier: MIT */
/* Appending steps; see emit.h. */
#include "reader/emit.h"

#include <string.h>

#define FUSED_MAX 0xffff /* bits that another op skips before its own */
#define NEED_MAX (UINT64_C(1) << 62) /* bits: more than any packet has */

static struct op *append(struct compiler *compiler, enum op_code code)
{
	struct op op = {.code = (uint8_t) code,
			.reg = NO_REGISTER,
			.to = NO_PLACE,
			.value = UINT8_MAX,
			.align = 1};

	g_array_append_val(compiler->program->ops, op);
	return &g_array_index(compiler->program->ops, struct op, compiler->program->ops->len - 1);
}

static struct op *last_op(const struct compiler *compiler)
{
	GArray *ops = compiler->program->ops;

	return &g_array_index(ops, struct op, ops->len - 1);
}

struct op *emit_op(struct compiler *compiler, enum op_code code)
{
	compiler->need = 0;
	compiler->aligned = false;
	return append(compiler, code);
}

/* The last step, if it only skips, and what follows can do so. */
static struct op *last_skip(const struct compiler *compiler)
{
	struct op *last = compiler->need ? last_op(compiler) : NULL;

	return last && last->code == OP_SKIP ? last : NULL;
}

void emit_end(struct compiler *compiler)
{
	struct op *last = last_skip(compiler);

	if (last)
		last->code = OP_END;
	else
		append(compiler, OP_END);
	emit_target(compiler);
}

/* The next step gets over so many bits. */
static void need(struct compiler *compiler, uint64_t bits)
{
	struct op *op;

	if (!compiler->need) {
		if (compiler->aligned)
			last_op(compiler)->code = OP_NEED;
		else
			append(compiler, OP_NEED);
		compiler->need = compiler->program->ops->len;
		compiler->aligned = false;
	}
	op = &g_array_index(compiler->program->ops, struct op, compiler->need - 1);
	op->arg = bits < NEED_MAX ? MIN(op->arg + bits, NEED_MAX) : NEED_MAX;
}

struct op *emit_fixed(struct compiler *compiler, enum op_code code, uint64_t bits)
{
	need(compiler, bits);
	return append(compiler, code);
}

void position_advance(struct compiler *compiler, uint64_t bits)
{
	compiler->rest = (compiler->rest + bits) % compiler->modulus;
}

void position_blur(struct compiler *compiler, uint64_t modulus)
{
	compiler->modulus = MIN(compiler->modulus, modulus);
	compiler->rest %= compiler->modulus;
}

void position_join(struct compiler *compiler, uint64_t modulus, uint64_t rest)
{
	uint64_t common = MIN(compiler->modulus, modulus);

	while (common > 1 && compiler->rest % common != rest % common)
		common /= 2;
	compiler->modulus = common;
	compiler->rest = compiler->rest % common;
}

void emit_align(struct compiler *compiler, uint32_t bits)
{
	if (bits <= 1 || (compiler->modulus >= bits && compiler->rest % bits == 0))
		return;
	emit_op(compiler, OP_ALIGN)->align = bits;
	compiler->aligned = true;
	if (compiler->modulus >= bits) {
		compiler->rest = (compiler->rest + bits - 1) / bits * bits % compiler->modulus;
		return;
	}
	compiler->modulus = bits;
	compiler->rest = 0;
}

const struct visible *field_visible(const struct compiler *compiler, const char *name)
{
	for (guint i = compiler->names->len; name && i-- > 0;) {
		const struct visible *at = &g_array_index(compiler->names, struct visible, i);

		if (strcmp(at->name, name) == 0)
			return at;
	}
	return NULL;
}

bool type_is_big(const struct compiler *compiler, const struct type *type)
{
	return type->order == ORDER_BIG ||
	       (type->order == ORDER_NATIVE && compiler->metadata->big_endian);
}

static bool is_native(const struct compiler *compiler, const struct type *type)
{
	return type_is_big(compiler, type) == (G_BYTE_ORDER == G_BIG_ENDIAN);
}

void op_store(struct op *op, const struct wish *wish, bool ready)
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

void emit_skip(struct compiler *compiler, uint64_t bits)
{
	struct op *last;

	if (!bits)
		return;
	need(compiler, bits);
	last = last_skip(compiler);
	if (!last)
		last = append(compiler, OP_SKIP);
	last->arg += bits;
	position_advance(compiler, bits);
}

guint emit_target(struct compiler *compiler)
{
	compiler->need = 0;
	compiler->aligned = false;
	return compiler->program->ops->len;
}

bool position_is_byte(const struct compiler *compiler)
{
	return compiler->modulus >= 8 && compiler->rest % 8 == 0;
}

static enum op_code integer_code(const struct compiler *compiler, const struct type *type)
{
	if (!position_is_byte(compiler))
		return OP_INTEGER;
	if (type->size > 8 && !is_native(compiler, type)) {
		if (type->is_signed || G_BYTE_ORDER == G_BIG_ENDIAN)
			return OP_INTEGER;
		return type->size == 16 ? OP_BIG16 : type->size == 32 ? OP_BIG32 : OP_INTEGER;
	}
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

/* A step that can skip what is skipped before it. */
static struct op *emit_fused(struct compiler *compiler, enum op_code code, uint64_t bits)
{
	struct op *last;

	need(compiler, bits);
	last = last_skip(compiler);
	if (!last || last->arg > FUSED_MAX)
		return append(compiler, code);
	last->code = (uint8_t) code;
	return last;
}

struct op *emit_integer(struct compiler *compiler, const struct type *type)
{
	enum op_code code = integer_code(compiler, type);

	return code == OP_INTEGER ? emit_fixed(compiler, code, type->size)
				  : emit_fused(compiler, code, type->size);
}

struct op *emit_bytes(struct compiler *compiler, uint8_t count)
{
	struct op *op = emit_fused(compiler, OP_BYTES, 8 * (uint64_t) count);

	op->size = count;
	return op;
}
