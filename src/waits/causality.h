/* SPDX-License-Identifier: MIT */
/* Blocking causality: what each wait was ended by, and what that thread was
 * waiting for meanwhile, down to hardware, a timer, or work.
 *
 * Place: waits/. A wait is one blocked interval, clipped to the window or
 * to the wait above it. Source: semantics.md, "Blocking causality", rules 2
 * to 4; kinds of causes: interface.md, "JSON".
 */
#ifndef WHYLATE_WAITS_CAUSALITY_H
#define WHYLATE_WAITS_CAUSALITY_H

#include "run/session.h"

/* Levels at most, whatever is asked for: each is one of recursion here, and of nesting in
 * the reports, whose readers have limits (Python's json: 1,000). */
#define LEVELS_MAX 256

enum cause_kind {
	CAUSE_CPU,
	CAUSE_TIMER,
	CAUSE_BLOCK_DEVICE,
	CAUSE_NETWORK,
	CAUSE_IRQ,
	CAUSE_SOFTIRQ,
	CAUSE_PROCESS,
	CAUSE_CHILD,
	CAUSE_SIGNAL,
	CAUSE_LOCK_OWNER, /* who held the lock: locks.h */
	CAUSE_STOPPED,
	CAUSE_WAIT_CPU, /* ready, but no CPU; not of a wait: piece_cause() */
	CAUSE_THROTTLED, /* ready, with an idle CPU: ready.h */
	CAUSE_STILL_BLOCKED,
	CAUSE_DEADLOCK,  /* waits for itself, through others: locks.h */
	CAUSE_UNKNOWN,
};

struct cause {
	enum cause_kind kind;
	bool inferred;           /* concluded, not shown by the trace */
	char *label;             /* owned */
	int64_t queued, served;  /* block device: ns, -1: not recorded */
};

/* Where a wait of `thread` over [begin, end) leads: to the thread that ended it
 * (rule 2), or that what ended it came from (rule 1, hand-over): the sender of
 * the packet, the issuer of the request. That thread is answerable over
 * [from, until); what is left of the wait, the messenger took.
 *
 *   begin ── first ── first_until ── device, timer ── from ── thread ── until ── end
 *
 * A kernel worker is answerable from when its item was queued on. Before that
 * it is who queued it (`first`), or the request that the interrupt had
 * completed, and before that who asked for it. */
struct lead {
	uint32_t thread;
	int64_t from, until;
	bool handed_over;
	uint32_t first;      /* NO_THREAD: none */
	int64_t first_until;
};

struct wait {
	uint32_t thread;
	int64_t begin, end;
	uint32_t leaf;
	const struct block *block; /* borrowed from the timeline */
	bool woken;              /* within the window */
	bool spans_gap;
	bool cycle;              /* the waker is being explained already */
	bool has_share;
	struct lead lead;        /* whose share it is */
	int64_t working, interrupted, blocked, unknown; /* the waker's, in this wait */
	GPtrArray *children;     /* owned; struct wait by begin, of lead.first and
				    lead.thread; NULL: none */
	uint32_t omitted;        /* children left out by the limit */
	const struct wait *above; /* the wait that it is part of, NULL */
};

/* The waits of `thread` in [from, to), by begin; where there are more than
 * `limit` (0: no limit) in one list, the longest, and the rest counted in
 * `omitted`. */
GPtrArray *causality_new(const struct session *session, uint32_t thread, int64_t from, int64_t to,
			 uint32_t limit, uint32_t *omitted);

/* The request whose completion ended the wait, at once or through the worker that
 * it was handed to; NULL: none. */
const struct wake_detail *block_request(const struct session *session, const struct block *block);

/* What a wait was for, as an interned key: the device of the request that
 * ended it, the lock of the file that its waker had too (inferred), else the
 * call's resource; 0: not known. */
uint32_t block_waits_for(const struct session *session, const struct block *block);

/* The waker is a thread outside interrupt frames: rule 2. */
bool wait_by_thread(const struct wait *wait);

/* See struct lead; false: it leads to nobody. */
bool block_lead(const struct session *session, const struct block *block, uint32_t thread,
		int64_t begin, int64_t end, struct lead *lead);
struct cause wait_cause(const struct session *session, const struct wait *wait);
/* "ended by block device vda, sector 8", "the lock was held by …": a clause with
 * what ended a wait; free with g_free(). */
char *cause_words(const struct cause *cause);
/* ", queued 50 µs, served 6.1 ms" of a block device; nothing for other causes. */
void cause_append_times(GString *text, const struct cause *cause);
void cause_clear(struct cause *cause);
const char *cause_kind_text(enum cause_kind kind);
const char *waker_kind_text(uint8_t kind);
const char *waker_why_text(uint8_t why);

/* The kind of a resource key and its name: "pipe:[7]" is a pipe named "[7]". */
const char *resource_kind(const char *key);
const char *resource_name(const char *key);
/* "wait", "lock_pi" …; NULL for NO_OPERATION. Source: linux/futex.h. */
const char *futex_operation(uint8_t operation);

#endif
