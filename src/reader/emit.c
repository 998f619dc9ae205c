/* SPDX-License-Identifier: MIT */
/* Appending steps; see emit.h. */
#include "reader/emit.h"

#include <string.h>

#define FUSED_MAX 0xffff /* bits that another op skips before its own */

struct op *emit_op(struct compiler *compiler, enum op_code code)
{
	struct op op = {.code = (uint8_t) code,
			.reg = NO_REGISTER,
			.to = NO_PLACE,
			.value = UINT8_MAX,
			.align = 1};

	g_array_append_val(compiler->program->ops, op);
	return &g_array_index(compiler->program->ops, struct op, compiler->program->ops->len - 1);
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
	GArray *ops = compiler->program->ops;
	struct op *last = ops->len ? &g_array_index(ops, struct op, ops->len - 1) : NULL;

	if (!last || last->code != OP_SKIP || last->value != UINT8_MAX)
		last = emit_op(compiler, OP_SKIP);
	last->arg += bits;
	position_advance(compiler, bits);
}

guint emit_target(struct compiler *compiler)
{
	GArray *ops = compiler->program->ops;

	if (ops->len && g_array_index(ops, struct op, ops->len - 1).code == OP_SKIP)
		emit_op(compiler, OP_SKIP)->value = 0; /* of no bits: keeps the two apart */
	return ops->len;
}

static enum op_code integer_code(const struct compiler *compiler, const struct type *type)
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

struct op *emit_integer(struct compiler *compiler, const struct type *type)
{
	enum op_code code = integer_code(compiler, type);
	GArray *ops = compiler->program->ops;
	struct op *last = ops->len ? &g_array_index(ops, struct op, ops->len - 1) : NULL;

	if (code == OP_INTEGER || !last || last->code != OP_SKIP || last->value != UINT8_MAX ||
	    last->arg > FUSED_MAX)
		return emit_op(compiler, code);
	last->code = (uint8_t) code;
	return last;
}
