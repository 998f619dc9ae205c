/* SPDX-License-Identifier: MIT */
/* What a page shows besides its report: the threads that the report names, in its order, and the
 * parts of their time that it speaks of. Noted while the JSON is written (struct json_watch).
 *
 * Place: page/, below page_cells.c, page_timeline.c and page.c.
 */
#ifndef WHYLATE_REPORT_PAGE_ROWS_H
#define WHYLATE_REPORT_PAGE_ROWS_H

#include "run/session.h"

/* A stretch of a thread's time that the report speaks of. */
struct mention {
	uint32_t thread;
	int64_t begin, end;
};

struct page_rows {
	const struct session *session; /* borrowed */
	int64_t from, to;    /* the window; times count from its begin */
	GArray *threads;     /* uint32_t: a row each */
	GHashTable *numbers; /* thread -> its place in `threads` + 1; NULL: it has no row */
	GArray *mentions;    /* struct mention, in the report's order */
	uint64_t threads_omitted;
	const size_t *written; /* borrowed: bytes of the report so far */
};

void page_rows_init(struct page_rows *rows, const struct session *session);
void page_rows_clear(struct page_rows *rows);
/* `data` is the rows: as struct json_watch has it. */
void page_rows_add(void *data, uint32_t thread);
void page_rows_mention(void *data, uint32_t thread, int64_t begin, int64_t end);
/* When all are there: a guest's rows come below those of its virtual CPUs, which get some. */
void page_rows_settle(struct page_rows *rows);
/* From 1; 0: it has none. */
guint page_row_number(const struct page_rows *rows, uint32_t thread);

#endif
