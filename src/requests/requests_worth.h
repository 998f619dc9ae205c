/* SPDX-License-Identifier: MIT */
/* What the causes of requests would be worth if they were gone: each request from when its first
 * thread gets to its begin to when its last one gets to its end, less what it took.
 *
 *   recorded   #1 ├─ app ─┤ disk ├─ app ─┤          #2 ├─ app ─┤ waits for #1 ├─ app ─┤
 *   no disk    #1 ├─ app ─├─ app ─┤                 #2 ├─ app ─├─ app ─┤
 *
 * All stretches that requests have put down to the cause are gone, so one saves what others do not
 * keep it waiting for any more, too.
 *
 * Place: requests/, over whatif/worth.h. Source: semantics.md, "What if", Worth.
 */
#ifndef WHYLATE_REQUESTS_REQUESTS_WORTH_H
#define WHYLATE_REQUESTS_REQUESTS_WORTH_H

#include "report/report.h"
#include "tracking/request_costs.h"
#include "whatif/worth.h"

/* Of the causes that are shown, of all requests and of those that are listed: their savings.
 * Drops the stretches. */
void requests_add_worth(struct costs *costs);
/* "10.9 ms", "8.2 ms to 10.9 ms", of what took `of`; NULL: nothing, or not known. Free with
 * g_free(). */
char *saving_words(const struct saving *saving, int64_t of);
/* "without it 10.9 ms shorter in the mean, 64 ms at p90"; NULL: not known, or too small a cause.
 * Free with g_free(). */
char *cause_worth_words(const struct costs *costs, const struct user_cause *cause);

#endif
