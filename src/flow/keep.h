/* SPDX-License-Identifier: MIT */
/* What kept records lead to is kept too: the walk over their tables (util/records.h) by which
 * forgetting goes (forget.h). Old stores are left as they were; what is kept is copied to new
 * ones, and whoever names it is told its new number.
 *
 *   keep_record(thread) ─► its track ─► blocks ─► details ─► threads, packets …
 *
 * Place: flow/, under forget.c, which says what is to be kept. No member is named here.
 */
#ifndef WHYLATE_FLOW_KEEP_H
#define WHYLATE_FLOW_KEEP_H

#include "flow/flow.h"
#include "util/records.h"

struct keeping {
	struct walk walk; /* must be first */
	struct flow *flow;
	int64_t before;        /* ns; records that end by then go */
	struct timeline old;   /* the stores as they were */
	uint32_t *numbers[TIMELINE_STORES]; /* owned; old number -> new one, 0: not kept */
	bool *threads, *locks; /* owned; by number: something names it */
};

void keeping_init(struct keeping *keeping, struct flow *flow, int64_t before);
void keeping_clear(struct keeping *keeping);

/* Keeps all that the record and what it owns lead to. */
void keep_record(struct keeping *keeping, const struct record *record, void *at);
/* Copies record `old` of a store, as it is; what it leads to is not kept yet. */
void *keep_copy(struct keeping *keeping, enum store store, uint32_t old);

/* Gives weak references, in a record and what it owns, their new numbers; 0: not kept. */
void renumber_weak(struct keeping *keeping, const struct record *record, void *at);

/* Calls `each` with all references to that store in a record and what it owns. */
void each_ref(const struct record *record, void *at, enum store store,
	      void (*each)(void *data, uint32_t *ref), void *data);
/* The same with all threads that are named, but not kept by that. */
void each_weak_thread(const struct record *record, void *at,
		      void (*each)(void *data, uint32_t *thread), void *data);

#endif
