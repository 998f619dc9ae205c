/* SPDX-License-Identifier: MIT */
/* What a wait is put down to: a kind, and a label for people.
 *
 * Place: waits/. wait_cause_kind() is the one place that decides which kind it is; what a label
 * says stands in causes.c, of those who only deliver in deliveries.c. Source: semantics.md,
 * "Blocking causality", rules 1 to 4; kinds: interface.md, "JSON".
 */
#ifndef WHYLATE_WAITS_CAUSES_H
#define WHYLATE_WAITS_CAUSES_H

#include "waits/wait.h"

/* How sums over many waits call one that is put down to such a cause. */
enum cause_naming {
	NAMED_BY_DEVICE,    /* the device, and what was asked of it */
	NAMED_BY_PEER,      /* who is at the other end */
	NAMED_BY_OPERATION, /* the thread, and the call that it waited in */
	NAMED_BY_WAKER,     /* who ended it */
	NAMED_BY_INTERRUPT, /* the interrupt's device, else the thread */
};

/* What else is peculiar to a kind. */
enum cause_flags {
	CAUSE_OPEN = 1,          /* the wait is not over */
	CAUSE_OF_READY = 2,      /* of time ready without a CPU, not of a wait */
	CAUSE_SAYS_INFERRED = 4, /* cause_words() say so where it is */
};

/* All kinds, a row each: name in JSON, in the schemas and in "blocked:NAME"; what its words
 * begin with; what joins these to what was said of the wait. */
/* clang-format off */
#define CAUSE_KINDS(KIND)                                                                        \
	KIND(CPU, "cpu", "ended by ", ",", NAMED_BY_INTERRUPT, 0)                                \
	KIND(TIMER, "timer", "ended by ", ",", NAMED_BY_OPERATION, 0)                            \
	KIND(BLOCK_DEVICE, "block-device", "ended by block device ", ",", NAMED_BY_DEVICE, 0)    \
	KIND(NETWORK, "network", "ended by ", ",", NAMED_BY_PEER, 0)                             \
	KIND(IRQ, "irq", "ended by interrupt of ", ",", NAMED_BY_INTERRUPT, 0)                   \
	KIND(SOFTIRQ, "softirq", "ended by ", ",", NAMED_BY_INTERRUPT, 0)                        \
	KIND(PROCESS, "process", "ended by ", ",", NAMED_BY_WAKER, 0)                            \
	KIND(CHILD, "child", "ended by child ", ",", NAMED_BY_WAKER, 0)                          \
	KIND(SIGNAL, "signal", "ended by ", ",", NAMED_BY_OPERATION, 0)                          \
	KIND(LOCK_OWNER, "lock-owner", "the lock was ", ";", NAMED_BY_INTERRUPT,                 \
	     CAUSE_SAYS_INFERRED)                                                                \
	KIND(STOPPED, "stopped", "", "", NAMED_BY_OPERATION, 0)                                  \
	KIND(WAIT_CPU, "wait-cpu", "", ",", NAMED_BY_INTERRUPT, CAUSE_OF_READY)                  \
	KIND(THROTTLED, "throttled", "", ",", NAMED_BY_INTERRUPT, CAUSE_OF_READY)                \
	KIND(STILL_BLOCKED, "still-blocked", "", ";", NAMED_BY_OPERATION, CAUSE_OPEN)            \
	KIND(DEADLOCK, "deadlock", "", ";", NAMED_BY_OPERATION, CAUSE_OPEN)                      \
	KIND(UNKNOWN, "unknown", "what ended it is unknown: ", ";", NAMED_BY_OPERATION, 0)
/* clang-format on */

#define CAUSE_ENUM(kind, name, before, joint, naming, flags) CAUSE_##kind,
enum cause_kind { CAUSE_KINDS(CAUSE_ENUM) CAUSE_KIND_COUNT };
#undef CAUSE_ENUM

struct cause_info {
	const char *name, *before, *joint;
	enum cause_naming naming;
	unsigned flags; /* enum cause_flags */
};
const struct cause_info *cause_info(enum cause_kind kind);
const char *cause_kind_text(enum cause_kind kind);

struct cause {
	enum cause_kind kind;
	bool inferred;           /* concluded, not shown by the trace */
	char *label;             /* owned; NULL: there is nothing to say */
	int64_t queued, served;  /* block device: ns, -1: not recorded */
};

/* The kind alone takes a small part of the time that the cause with its label takes. */
enum cause_kind wait_cause_kind(const struct session *session, const struct wait *wait);
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
