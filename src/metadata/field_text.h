/* SPDX-License-Identifier: MIT */
/* A record's fields as text for people: "prev_comm=\"dd\", prev_tid=12, next_prio=20".
 *
 * Place: metadata/: it goes by the types alone, not by what any field means. A packet's bytes are
 * not trusted.
 */
#ifndef WHYLATE_METADATA_FIELD_TEXT_H
#define WHYLATE_METADATA_FIELD_TEXT_H

#include "metadata/types.h"

struct field_place {
	const uint8_t *packet; /* borrowed */
	uint64_t at, end;      /* bits from the packet's begin */
	bool big_endian;
};

/* Appends the fields of the structs at `place`, one after the other; NULL ones are left out. What
 * does not fit into the packet ends in "…". */
void fields_text(struct field_place place, const struct type *const *structs, guint count,
		 GString *text);

#endif
