/* SPDX-License-Identifier: MIT */
/* Levels of detail of a thread's states: the same intervals, coarser and coarser, so
 * that a picture of any stretch of time needs about as many cells as it is wide.
 *
 * Place: page/; reads the timeline through spans, for the report page's timeline
 * (page/page.h).
 *
 *   intervals     |user   |irq|read |u|read|user                |blocked          |
 *   tolerance t   |user   |merged, of 4 intervals      t ≤ ─────►|blocked          |
 *                  ≥ t     each < t, together about t             ≥ t: kept as it is
 *
 * An interval of at least the tolerance is a cell of its own, exact in every level that
 * it has a cell in. Shorter ones are merged with their neighbours until the cell is as
 * long; it keeps how much of its time went to each class. Two neighbouring cells are
 * together at least as long as the tolerance, so a level has at most 2 T/t + 1 cells, and
 * its times still tile the thread's life. Tolerance 0 merges nothing.
 */
#ifndef WHYLATE_REPORT_LEVELS_H
#define WHYLATE_REPORT_LEVELS_H

#include "run/session.h"

/* What a state looks like: each has a colour of the page. */
enum state_class {
	CLASS_USER,      /* user code, a kernel thread's work */
	CLASS_SYSCALL,
	CLASS_INTERRUPT, /* IRQ, vector, softIRQ, hrtimer */
	CLASS_READY,     /* preempted, or woken and waiting for a CPU */
	CLASS_BLOCKED,
	CLASS_UNKNOWN,
	CLASS_IDLE,      /* blocked, but nobody else's doing: waiting.h, wait_is_imposed() */
	CLASS_COUNT
};

/* By the leaf alone: of a wait CLASS_BLOCKED. */
enum state_class leaf_class(uint32_t leaf);

struct cell {
	int64_t begin, end;
	uint32_t leaf, ref;       /* of a single interval */
	enum state_class class;
	uint64_t intervals;       /* 1: exact; more: merged */
	int64_t by[CLASS_COUNT];  /* ns; sums to end - begin */
};

/* Merges what it is given, for one level. */
struct merger {
	int64_t tolerance; /* ns; 0: nothing is merged */
	void (*visit)(const struct cell *cell, void *data);
	void *data;        /* borrowed */
	struct cell cell;  /* being merged; no intervals: none is */
};

/* Spans of one thread in order, each with its class, then merger_end(). */
void merger_add(struct merger *merger, const struct span *span, enum state_class class);
/* The same of cells that a merger of a finer level visited, so that only the finest one has to look
 * at each span. */
void merger_add_cell(struct merger *merger, const struct cell *cell);
void merger_end(struct merger *merger);

#endif
