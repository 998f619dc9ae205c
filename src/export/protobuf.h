/* SPDX-License-Identifier: MIT */
/* Writing protocol buffers' wire format, as much of it as the exports need.
 *
 * Part of export/. A message is bytes that grow; a message inside another one
 * is finished first and then put into it. Source: "Protocol Buffers:
 * Encoding" (varints of 7 bits, the lowest first; tag = field << 3 | type).
 */
#ifndef WHYLATE_EXPORT_PROTOBUF_H
#define WHYLATE_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

struct proto {
	uint8_t *bytes; /* owned */
	size_t used, room;
};

/* Empties it and keeps its room; a struct proto begins as zeros. */
static inline void proto_begin(struct proto *proto)
{
	proto->used = 0;
}

void proto_clear(struct proto *proto);
void proto_bytes(struct proto *proto, const void *bytes, size_t size);
void proto_varint(struct proto *proto, uint64_t value);
/* Field by field: uint64, int64, bool and enum as varints; fixed64; strings, which are made valid
 * UTF-8; messages. */
void proto_uint(struct proto *proto, unsigned field, uint64_t value);
void proto_fixed64(struct proto *proto, unsigned field, uint64_t value);
void proto_text(struct proto *proto, unsigned field, const char *text);
void proto_message(struct proto *proto, unsigned field, const struct proto *message);

#endif
