/* SPDX-License-Identifier: MIT */
/* What a wait is put down to: a kind, and a label for people.
 *
 * Place: waits/. wait_cause_kind() is the one place that decides which kind it is; what a label
 * says stands in causes.c, of those who only deliver in deliveries.c. Source: semantics.md,
 * "Blocking causality", rules 1 to 4; kinds: interface.md, "JSON".
 */
#ifndef WHYLATE_WAITS_CAUSES_H
#define WHYLATE_WAITS_CAUSES_H

#include "ready/ready.h"
#include "waits/cause_kinds.h"
#include "waits/wait.h"

struct cause {
	enum cause_kind kind;
	bool inferred;           /* concluded, not shown by the trace */
	char *label;             /* owned; NULL: there is nothing to say */
	int64_t queued, served;  /* block device: ns, -1: not recorded */
};

/* The kind alone takes a small part of the time that the cause with its label takes. */
enum cause_kind wait_cause_kind(const struct session *session, const struct wait *wait);
/* … and why a thread that was ready had no CPU: a timer's, if it had yielded until one is due. */
enum cause_kind ready_cause_kind(enum ready_kind kind);
struct cause wait_cause(const struct session *session, const struct wait *wait);
/* One of that kind, without a label. */
struct cause cause_of_kind(enum cause_kind kind);
void cause_clear(struct cause *cause);

/* "ended by block device vda, sector 8", "the lock was held by …": a clause with
 * what ended a wait; free with g_free(). */
char *cause_words(const struct cause *cause);
/* ", queued 50 µs, served 6.1 ms" of a block device; nothing for other causes. */
void cause_append_times(GString *text, const struct cause *cause);

#endif
