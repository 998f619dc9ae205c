/* SPDX-License-Identifier: MIT */
/* What those say who only deliver: requests, kernel workers, the journal, RCU.
 *
 * Place: waits/, beside causes.c. Source: semantics.md, "Blocking causality",
 * rule 1 ("Name the messenger, and continue with that thread").
 */
#ifndef WHYLATE_WAITS_DELIVERIES_H
#define WHYLATE_WAITS_DELIVERIES_H

#include "waits/causality.h"

/* "app (249)"; free with g_free(). */
char *thread_label(const struct session *session, uint32_t thread);

/* The wait was ended by the completion of `request`, see block_request(). */
void request_cause(const struct session *session, const struct wait *wait,
		   const struct wake_detail *request, struct cause *cause);

/* The wait was ended by a thread, which may be a worker for another. */
void process_cause(const struct session *session, const struct wait *wait,
		   const struct wake_detail *detail, struct cause *cause);

/* TIMER, HRTIMER. */
bool softirq_is_timer(uint32_t number);

/* A softIRQ woke, and no packet, request or timer is known that it was for. */
void softirq_cause(const struct session *session, const struct wait *wait,
		   const struct wake_detail *detail, struct cause *cause);

#endif
