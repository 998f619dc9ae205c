/* SPDX-License-Identifier: MIT */
/* The overview's results and what they are made of when they are written.
 *
 * Place: overview/. `data` of its reports is the struct overview_report, computed once.
 */
#ifndef WHYLATE_OVERVIEW_OVERVIEW_H
#define WHYLATE_OVERVIEW_OVERVIEW_H

#include "imposed/wait_groups.h"
#include "imposed/waiting.h"
#include "report/report.h"
#include "stands/stand.h"
#include "settings/configuration.h"
#include "stands/stands.h"

struct overview_what_if;

struct overview_report {
	const struct session *session; /* borrowed */
	struct overview *overview;
	struct waiting *waiting;
	struct stands *stands;
	GArray *locks;    /* struct contention */
	GArray *findings; /* struct finding */
	GArray *configuration; /* struct configuration */
	GArray *failed; /* struct failed_calls */
	struct overview_what_if *what_if; /* with --what-if; else NULL */
};

void overview_json(const struct overview_report *made, struct output *output);
void overview_text(const struct overview_report *made, struct output *output);
/* first_screen.c: what stands out, in 25 lines. */
void first_screen_text(const struct overview_report *made, struct output *output);

/* stands_json.c: of struct stands. */
extern const struct column stands_columns[];
/* … of struct stand, and of struct stands what was waited for. */
extern const struct column stand_columns[], waited_columns[];

/* Of struct thread_total, struct call_total; tables of both. */
extern const struct column thread_total_columns[], call_columns[];

/* waiting_json.c, waiting_text.c: what threads and resources impose on others; the columns are of
 * struct waiting. */
extern const struct column waiting_columns[];
void waiting_text(const struct report *report, const struct waiting *waiting);

/* stands_pieces.c: struct counted: what each item is of, in the time of these threads (uint32_t).
 * Free with g_array_free(). */
GArray *stands_pieces(const struct session *session, const struct stands *stands,
		      const GArray *threads);
/* stands_worth.c: re-times the trace without each, and has them say how much sooner that is; what
 * saves most first. */
void stands_add_worth(const struct session *session, struct stands *stands);
void stands_sort_by_worth(struct stands *stands);

/* next_text.c: the commands that go on from here. */
void overview_next(const struct overview_report *made, struct output *output);

#endif
