/* SPDX-License-Identifier: MIT */
/* See protobuf.h. */
#include "export/protobuf.h"

#include <glib.h>
#include <string.h>

enum wire_type { WIRE_VARINT, WIRE_FIXED64, WIRE_LENGTH };

static uint8_t *make_room(struct proto *proto, size_t more)
{
	if (proto->used + more > proto->room) {
		proto->room = MAX(2 * proto->room, proto->used + more + 64);
		proto->bytes = g_realloc(proto->bytes, proto->room);
	}
	return proto->bytes + proto->used;
}

void proto_clear(struct proto *proto)
{
	g_free(proto->bytes);
	*proto = (struct proto) {0};
}

void proto_bytes(struct proto *proto, const void *bytes, size_t size)
{
	if (size)
		memcpy(make_room(proto, size), bytes, size);
	proto->used += size;
}

void proto_varint(struct proto *proto, uint64_t value)
{
	uint8_t *at = make_room(proto, 10), *begin = at;

	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t) (value | 0x80);
	*at++ = (uint8_t) value;
	proto->used += (size_t) (at - begin);
}

static void tag(struct proto *proto, unsigned field, enum wire_type type)
{
	proto_varint(proto, (uint64_t) field << 3 | type);
}

void proto_uint(struct proto *proto, unsigned field, uint64_t value)
{
	tag(proto, field, WIRE_VARINT);
	proto_varint(proto, value);
}

void proto_fixed64(struct proto *proto, unsigned field, uint64_t value)
{
	uint64_t little = GUINT64_TO_LE(value);

	tag(proto, field, WIRE_FIXED64);
	proto_bytes(proto, &little, sizeof little);
}

static void put(struct proto *proto, unsigned field, const void *bytes, size_t size)
{
	tag(proto, field, WIRE_LENGTH);
	proto_varint(proto, size);
	proto_bytes(proto, bytes, size);
}

void proto_text(struct proto *proto, unsigned field, const char *text)
{
	g_autofree char *valid = NULL;

	if (!g_utf8_validate(text, -1, NULL))
		valid = g_utf8_make_valid(text, -1);
	put(proto, field, valid ? valid : text, strlen(valid ? valid : text));
}

void proto_message(struct proto *proto, unsigned field, const struct proto *message)
{
	put(proto, field, message->bytes, message->used);
}
