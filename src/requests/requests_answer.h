/* SPDX-License-Identifier: MIT */
/* The answer that the report begins with: how many requests, how slow, and what the slow ones spent
 * their time on; and what some requests do and others do not.
 *
 * Place: requests/, over request_costs.h: the same sums as the list of causes, so that no two parts
 * of the report count differently. Rejected: to tell by the lattice (lattice.h) which requests "go
 * this way": where two requests part depends on what was merged before, so that of eight that
 * waited for a file only six were told.
 */
#ifndef WHYLATE_REQUESTS_REQUESTS_ANSWER_H
#define WHYLATE_REQUESTS_REQUESTS_ANSWER_H

#include "report/report.h"
#include "tracking/request_costs.h"
#include "traits/requests_apart.h"

/* Sentences, owned; `order`: requests_by_latency(); `apart`: NULL if that was not asked. Free with
 * g_ptr_array_unref(). */
GPtrArray *requests_answer(const struct costs *costs, const GArray *order,
			   const struct requests_apart *apart);
/* What is to be known of the answer: lost events, what is not finished, what is left out, what to
 * try where there is none; "": nothing. `n`: how many are in the list. Free with g_free(). */
char *requests_remarks(const struct costs *costs, guint n);
/* What some of them do and others do not: a section of the text. */
void requests_contrasts(const struct costs *costs, struct output *output);

#endif
