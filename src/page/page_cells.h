/* SPDX-License-Identifier: MIT */
/* Threads' states as packed cells, in levels of detail: the larger part of a page's second block.
 *
 * Place: page/, below page_timeline.c. A cell is bytes, numbers as LEB128:
 *
 *   exact:   duration·2, leaf; blocked: + resource, waker's text, row + 1 of the thread that
 *            it was led to (0: none), if one: ns from when that one acted to the wait's end
 *   merged:  duration·2 + 1, number of intervals, a byte with a bit per class that has time,
 *            for each but the last of them a byte: its share of 255
 *
 * A row's cells follow each other without a hole, from the row's begin on. Text is numbered, in
 * the lists "leaves" and "strings". share/page/cells.js unpacks them.
 */
#ifndef WHYLATE_REPORT_PAGE_CELLS_H
#define WHYLATE_REPORT_PAGE_CELLS_H

#include "report/columns.h"
#include "page/levels.h"
#include "page/page_lanes.h"
#include "page/page_rows.h"
#include "waits/causality.h"
#include "path/path.h"
#include "waits/summary.h"

/* What is said of a blocked interval besides its leaf, worked out when it is first asked for. */
struct ending {
	int64_t begin;     /* of the interval, INT64_MIN: of none */
	guint resource, waker, row;
	int64_t before;    /* ns */
};

/* A state and how it is drawn. */
struct page_leaf {
	uint32_t leaf;
	enum state_class class;
};

struct packer {
	const struct page_rows *rows; /* borrowed */
	struct idmap leaves; /* leaf and class -> number */
	GHashTable *texts;   /* owned string -> number */
	GPtrArray *strings;  /* borrowed, of `texts` */
	GArray *leaf_list;   /* struct page_leaf */
	struct lanes lanes;
	bool *tracers;       /* of each thread: it is the tracer's own */
	uint32_t thread;     /* whose cells are packed */
	int64_t until;       /* … and where they end */
	struct ending ending;
};

void packer_init(struct packer *packer, const struct page_rows *rows);
void packer_clear(struct packer *packer);

/* LEB128. */
void pack_number(GByteArray *bytes, uint64_t number);
/* The number of a state in "leaves". */
guint packer_leaf(struct packer *packer, const struct page_leaf *leaf);
/* The number of a text in "strings"; "" is 0. */
guint text_number(struct packer *packer, const char *text);
/* Strong colours are for what others imposed: the rest of the waits are apart. */
enum state_class packer_class(const struct packer *packer, const struct span *span);
/* Of a blocked cell of packer->thread, to packer->ending. */
void packer_find_ending(struct packer *packer, const struct cell *cell);
/* A thread's part of the window. */
struct stretch row_stretch(const struct page_rows *rows, uint32_t thread);

/* Member "levels": all rows in each level of detail that is not too large. Returns whether the
 * finest one is exact. */
bool write_levels(struct packer *packer, struct output *output);
/* Member "exact": exact states around what the report speaks of. */
void write_mentions(struct packer *packer, struct output *output);
/* Members "rows" and "data": the rows' states in [from, to), those at its ends whole. */
void write_cells(struct packer *packer, int64_t from, int64_t to, int64_t tolerance,
		 struct output *output);
/* Members "leaves" and "strings": what the numbers in all that was written are. */
void write_texts(const struct packer *packer, struct output *output);
/* Of all rows what was waited for, and what interrupted, in [from, to), to the packer's lanes. */
void add_waits(struct packer *packer, int64_t from, int64_t to);

#endif
