/* SPDX-License-Identifier: MIT */
/* What a functions report is made of, and its writers.
 *
 * Place: functions/. The records are described in functions_columns.c; the data of the report is
 * struct functions_report. */
#ifndef WHYLATE_FUNCTIONS_FUNCTIONS_REPORT_H
#define WHYLATE_FUNCTIONS_FUNCTIONS_REPORT_H

#include "functions/functions.h"
#include "functions/stand_outs.h"
#include "report/report.h"

struct functions_report {
	struct functions *functions;
	struct stand_outs *found;
};

/* Of struct function_row, caller and interrupt_call. */
extern const struct column function_columns[], caller_columns[], interrupt_call_columns[],
	reached_columns[];

/* functions_answer.c: the first sentences of the report, owned. Free with g_ptr_array_unref(). */
GPtrArray *functions_answer(const struct functions_report *made);
void functions_text(const struct functions_report *made, struct output *output);
void functions_timeline_text(const struct functions *functions, struct output *output);
void functions_json(const struct functions_report *made, struct output *output);
/* A row for each function; folded stacks of nanoseconds, for flame graphs. */
void functions_page(const struct functions_report *made, struct output *output);
void functions_csv(const struct functions_report *made, struct output *output);
void functions_folded(const struct functions *functions, struct output *output);

int64_t times_sum(const int64_t times[4]);
/* " (tid 7)", or "" where the thread's name has it already; free with g_free(). */
char *functions_tid_text(const struct functions *functions, uint32_t thread);

enum wait_path {
	PATH_USER,
	PATH_KERNEL,
	PATH_WAKER_KERNEL, /* of who ended the longest */
	PATH_WAKER_USER,
	PATH_COUNT
};

/* Owned strings, outermost first; NULL: not recorded. Free with g_ptr_array_unref(). */
GPtrArray *wait_path_new(const struct session *session, const struct wait_stack *wait,
			 enum wait_path which);

#endif
