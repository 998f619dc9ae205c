/* SPDX-License-Identifier: MIT */
/* Merging intervals to cells; see levels.h. */
#include "page/levels.h"

enum state_class leaf_class(uint32_t leaf)
{
	switch (PACK_KIND(leaf)) {
	case LEAF_UNKNOWN:
		return CLASS_UNKNOWN;
	case LEAF_WORK_USER:
	case LEAF_WORK_KTHREAD:
	case LEAF_WORK_SOFTIRQ:
	case LEAF_WORK_GUEST:
		return CLASS_USER;
	case LEAF_WORK_SYSCALL:
	case LEAF_WORK_HALTED:
		return CLASS_SYSCALL;
	case LEAF_PREEMPTED:
	case LEAF_WAIT_CPU:
		return CLASS_READY;
	default:
		return leaf_is_blocked(leaf) ? CLASS_BLOCKED : CLASS_INTERRUPT;
	}
}

void merger_end(struct merger *merger)
{
	if (merger->cell.intervals)
		merger->visit(&merger->cell, merger->data);
	merger->cell.intervals = 0;
}

static void begin_cell(struct merger *merger, const struct span *span, enum state_class class)
{
	merger->cell = (struct cell) {.begin = span->begin,
				      .end = span->end,
				      .leaf = span->leaf,
				      .ref = span->ref,
				      .class = class,
				      .intervals = 1};
	merger->cell.by[class] = span->end - span->begin;
}

void merger_add(struct merger *merger, const struct span *span, enum state_class class)
{
	struct cell *cell = &merger->cell;
	int64_t ns = span->end - span->begin;

	if (ns >= merger->tolerance) {
		merger_end(merger);
		begin_cell(merger, span, class);
		merger_end(merger);
		return;
	}
	if (!cell->intervals) {
		begin_cell(merger, span, class);
		return;
	}
	cell->end = span->end;
	cell->intervals++;
	cell->by[class] += ns;
	if (cell->end - cell->begin >= merger->tolerance)
		merger_end(merger);
}

void merger_add_cell(struct merger *merger, const struct cell *add)
{
	struct cell *cell = &merger->cell;

	if (add->end - add->begin >= merger->tolerance) {
		merger_end(merger);
		*cell = *add;
		merger_end(merger);
		return;
	}
	if (!cell->intervals) {
		*cell = *add;
		return;
	}
	cell->end = add->end;
	cell->intervals += add->intervals;
	for (int i = 0; i < CLASS_COUNT; i++)
		cell->by[i] += add->by[i];
	if (cell->end - cell->begin >= merger->tolerance)
		merger_end(merger);
}
