/* SPDX-License-Identifier: MIT */
/* The parts of a functions report, for report/ itself. */
#ifndef WHYLATE_FUNCTIONS_FUNCTIONS_REPORT_H
#define WHYLATE_FUNCTIONS_FUNCTIONS_REPORT_H

#include "report/report.h"

struct functions;
struct stand_outs;

void functions_text(const struct functions *functions, const struct stand_outs *found,
		    struct output *output);
/* " (tid 7)", or "" where the thread's name has it already; free with g_free(). */
char *functions_tid_text(const struct functions *functions, uint32_t thread);
void functions_timeline_text(const struct functions *functions, struct output *output);
void functions_json(const struct functions *functions, const struct stand_outs *found,
		    struct output *output);
/* A row for each function; folded stacks of nanoseconds, for flame graphs. */
void functions_csv(const struct functions *functions, struct output *output);
void functions_folded(const struct functions *functions, struct output *output);

#endif
