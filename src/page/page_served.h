/* SPDX-License-Identifier: MIT */
/* Pages of a trace that is served: what a page asks for when less of it is shown than it has detail
 * of, and the page of the whole trace, which has no report.
 *
 *   page ── shows [from, to) ──► page_states() ─► its rows' states, a pixel wide at least
 *                           ├──► page_lanes()  ─► the lanes, in parts of what is shown
 *                           ├──► page_steps()  ─► the critical path, all of it
 *                           └──► page_search() ─► the states that have a word
 *
 * Place: page/, for serve/. Answers are JSON, packed as in a page's second block (page_cells.h);
 * rows are told by the numbers of their threads, which a served page has. Cost follows what is
 * shown.
 */
#ifndef WHYLATE_PAGE_PAGE_SERVED_H
#define WHYLATE_PAGE_PAGE_SERVED_H

#include "page/page_rows.h"
#include "report/output.h"
#include "run/session.h"

/* What a page shows. */
struct shown_part {
	int64_t base, end; /* the page's window; times in answers count from its begin */
	int64_t from, to; /* what is shown of it */
	int64_t tolerance; /* ns; what is shorter is merged: levels.h */
	const GArray *threads; /* borrowed; uint32_t: of its rows */
	const char *word; /* borrowed; what is searched, NULL: nothing */
};

/* Members of an object that is begun. */
void page_states(const struct session *session, const struct shown_part *part,
		 struct output *output);
void page_lanes(const struct session *session, const struct shown_part *part,
		struct output *output);
/* The critical path of the thread over the page's window. */
void page_steps(const struct session *session, const struct shown_part *part, uint32_t thread,
		struct output *output);

/* The states of all threads that have the word (page_search.c): how many, and the longest of them
 * by begin: [thread, begin, ns, leaf, text]; and who the threads are that are none of the part's:
 * [thread, host, TID, name]. Of those whose name has the word all is one. */
void page_search(const struct session *session, const struct shown_part *part,
		 struct output *output);
/* The rows of the part, and of each thread its own number. */
void page_rows_shown(struct page_rows *rows, const struct session *session,
		     const struct shown_part *part);

/* The page of all that was recorded. */
void page_trace(const struct session *session, struct output *output);

#endif
