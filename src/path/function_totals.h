/* SPDX-License-Identifier: MIT */
/* The critical path's time by function, as samples share it out.
 *
 * Part of path/. What one thread did in one state on the path is shared out by the samples in it
 * (samples/function_sums.h), whichever pieces they are in; what has none is "no sample". So the
 * sums are the path's time on the CPU, exactly.
 */
#ifndef WHYLATE_PATH_FUNCTION_TOTALS_H
#define WHYLATE_PATH_FUNCTION_TOTALS_H

#include "path/path.h"
#include "samples/function_sums.h"

struct function_total {
	const struct code_function *function; /* borrowed; NULL: of what no sample tells */
	uint32_t line;    /* at which most of its samples of one state are, 0 */
	uint32_t at_line; /* … so many */
	uint32_t samples; /* in which it was innermost */
	int64_t ns;
	/* who called it in most of its samples of one state; NULL: not known */
	const struct code_function *caller; /* borrowed */
	uint32_t caller_samples; /* … so many */
};

/* struct function_total, largest first; empty without samples. Free with g_array_free(). */
GArray *function_totals_new(const struct session *session, const struct path *path);

/* The same of several paths together. */
struct path_work;
struct path_work *path_work_new(const struct session *session);
void path_work_add(struct path_work *work, const struct path *path);
GArray *path_work_totals(const struct path_work *work);
void path_work_free(struct path_work *work);

/* "spin (work.c:15) 790.9 ms (84.0 %), …", as shares of `whole`: at most `most`, and how many
 * more. */
void append_function_totals(GString *text, const GArray *totals, int64_t whole, guint most);
/* The work that they share out. */
int64_t function_totals_ns(const GArray *totals);

#endif
