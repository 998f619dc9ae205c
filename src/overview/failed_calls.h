/* SPDX-License-Identifier: MIT */
/* Calls that failed as something was short, broken or gone, taken together.
 *
 *   gateway (271), gateway (272)   recvfrom = ECONNRESET on 127.0.0.1:9000, :9001   one of these
 *   gateway (271)                  write = ENOSPC on /var/log/gw.log                another
 *
 * What failed may make a program pause, turn to somebody else, or refuse work from then on; often
 * nothing waits for it, so that no wait tells. That it failed is a fact; that something was late
 * for it is not said. Which errors: event/results.h.
 *
 * Part of overview/. Source: tries/failures.h; docs/semantics.md, "Calls that failed".
 */
#ifndef WHYLATE_OVERVIEW_FAILED_CALLS_H
#define WHYLATE_OVERVIEW_FAILED_CALLS_H

#include "event/results.h"
#include "report/report.h"
#include "stands/stand.h"

/* One call of the threads of one name, with one error. */
struct failed_calls {
	uint32_t thread; /* the first to fail */
	uint32_t threads; /* so many did */
	uint32_t call; /* interned */
	uint32_t object; /* interned key of what the first was on, 0: nothing that has a name */
	uint32_t objects; /* so many */
	uint32_t peer; /* who had the other end, NO_THREAD; of the first that is known */
	int32_t result;
	enum result_trouble trouble;
	bool tracer; /* its own */
	uint64_t count;
	uint64_t unasked; /* … on connections on which no answer was due */
	uint64_t elsewhere; /* … connects, after which another address took it at once */
	int64_t first, last; /* they ended */
	char *sentence; /* owned */
};

/* In the window: what is short or broken first, then connections; the most first, the tracer's
 * last. Free with failed_calls_free(). */
GArray *failed_calls_new(const struct session *session);
void failed_calls_free(GArray *list);
/* So many more failed so, and were not kept. */
uint64_t failed_calls_not_kept(const struct session *session);

extern const struct column failed_calls_columns[];
/* A line each, at most so many. */
void failed_calls_text(const struct session *session, const GArray *list, guint most,
		       struct output *output);
/* For the first screen, "[failed] …": what no item tells already, if there is room for so many
 * lines. Returns how many they are. */
int failed_calls_line(const GArray *list, const struct stands *stands, int room,
		      struct output *output);

#endif
