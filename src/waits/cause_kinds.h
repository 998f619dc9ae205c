/* SPDX-License-Identifier: MIT */
/* The kinds of causes: what each is called, and how its words begin.
 *
 * Place: waits/. Which kind a wait's cause is: causes.h. Source: semantics.md, "Blocking
 * causality"; names: interface.md, "JSON".
 */
#ifndef WHYLATE_WAITS_CAUSE_KINDS_H
#define WHYLATE_WAITS_CAUSE_KINDS_H

/* How sums over many waits call one that is put down to such a cause. */
enum cause_naming {
	NAMED_BY_DEVICE,    /* the device, and what was asked of it */
	NAMED_BY_PEER,      /* who is at the other end */
	NAMED_BY_OPERATION, /* the thread, and the call that it waited in */
	NAMED_BY_WAKER,     /* who ended it */
	NAMED_BY_REASON,    /* whom its reason names, or what */
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
	KIND(TIMEOUT, "timeout", "ended by ", ",", NAMED_BY_PEER, 0)                             \
	KIND(BLOCK_DEVICE, "block-device", "ended by block device ", ",", NAMED_BY_DEVICE, 0)    \
	KIND(NETWORK, "network", "ended by ", ",", NAMED_BY_PEER, 0)                             \
	KIND(IRQ, "irq", "ended by interrupt of ", ",", NAMED_BY_INTERRUPT, 0)                   \
	KIND(SOFTIRQ, "softirq", "ended by ", ",", NAMED_BY_INTERRUPT, 0)                        \
	KIND(PROCESS, "process", "ended by ", ",", NAMED_BY_WAKER, 0)                            \
	KIND(CHILD, "child", "ended by child ", ",", NAMED_BY_WAKER, 0)                          \
	KIND(SIGNAL, "signal", "ended by ", ",", NAMED_BY_OPERATION, 0)                          \
	KIND(LOCK_OWNER, "lock-owner", "the lock was ", ";", NAMED_BY_INTERRUPT,                 \
	     CAUSE_SAYS_INFERRED)                                                                \
	KIND(RETRY, "retry", "between two tries: ", ",", NAMED_BY_REASON, 0)                      \
	KIND(RETRANSMISSION, "retransmission", "lost packets: ", ",", NAMED_BY_PEER, 0)          \
	KIND(DELAYED_ACK, "delayed-ack", "delayed acknowledgement: ", ",", NAMED_BY_PEER, 0)      \
	KIND(SEND_QUEUE, "send-queue", "kept in a queue: ", ",", NAMED_BY_PEER, 0)               \
	KIND(STOPPED, "stopped", "", "", NAMED_BY_OPERATION, 0)                                  \
	KIND(WAIT_CPU, "wait-cpu", "", ",", NAMED_BY_INTERRUPT, CAUSE_OF_READY)                  \
	KIND(THROTTLED, "throttled", "", ",", NAMED_BY_INTERRUPT, CAUSE_OF_READY)                \
	KIND(HOST, "host", "", ",", NAMED_BY_INTERRUPT, CAUSE_OF_READY)                          \
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
/* What time is that sums put down to a kind, by its name: "waiting for a disk"; of requests also
 * "other-request". */
const char *time_words(const char *kind);

#endif
