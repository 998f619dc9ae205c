/* SPDX-License-Identifier: MIT */
/* What those say who only deliver: requests, kernel workers, the journal, RCU.
 *
 * Place: waits/, for causes.c. Source: semantics.md, "Blocking causality",
 * rule 1 ("Name the messenger, and continue with that thread").
 */
#ifndef WHYLATE_WAITS_DELIVERIES_H
#define WHYLATE_WAITS_DELIVERIES_H

#include "waits/wait.h"

/* "app (249)"; free with g_free(). */
char *thread_label(const struct session *session, uint32_t thread);

/* These give the label of a wait's cause, for g_free(), and set `inferred` where it is. */

/* Ended by the completion of `request`, see block_request(). */
char *request_label(const struct session *session, const struct wait *wait,
		    const struct wake_detail *request, bool *inferred);
/* Ended by a thread, which may be a worker for another. */
char *process_label(const struct session *session, const struct wait *wait, bool *inferred);
/* A softIRQ woke, and no packet, request or timer is known that it was for. */
char *softirq_label(const struct session *session, const struct wait *wait, bool *inferred);

#endif
