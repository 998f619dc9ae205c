/* SPDX-License-Identifier: MIT */
/* A wait: one blocked interval of a thread, whole or clipped, and whom it is led to.
 *
 * Place: waits/. Whoever asks what a wait was for, who or what ended it, or who is answerable
 * for its time asks here; why it was (kind and label) is in causes.h, the waits below it in
 * causality.h. Source: semantics.md, "Blocking causality", rules 1 to 3.
 */
#ifndef WHYLATE_WAITS_WAIT_H
#define WHYLATE_WAITS_WAIT_H

#include "run/session.h"

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

	/* in a tree: causality.h */
	bool cycle;              /* the waker is being explained already */
	bool has_share;
	struct lead lead;        /* whose share it is */
	int64_t working, interrupted, blocked, unknown; /* the waker's, in this wait */
	GPtrArray *children;     /* owned; struct wait by begin, of lead.first and
				    lead.thread; NULL: none */
	uint32_t omitted;        /* children left out by the limit */
	const struct wait *above; /* the wait that it is part of, NULL */
};

/* The wait that `span`, a blocked one of `thread`, is. */
struct wait wait_of(const struct session *session, uint32_t thread, const struct span *span);
/* The last time that the thread was blocked before `end`. */
bool wait_before(const struct session *session, uint32_t thread, int64_t end, struct wait *last);
/* It was read up to `until`: one that was cut there, as it goes on, is not woken. */
void wait_cut_at(struct wait *wait, const struct session *session, int64_t until);

/* It has the lock of its process's address space to write (a fork, while it copies that). Source:
 * the kernel's mmap_write_lock(). */
bool call_changes_memory(const char *call);
/* In a call, but for a futex: a thread of its process ended it in such a call, so it was at a page
 * fault (to copy what it read). */
bool wait_is_for_memory(const struct session *session, const struct wait *wait);
/* A terminal, and not who drives it (/dev/ptmx). */
bool key_is_terminal(const char *key);

#define KILL_STEPS                                                                                 \
	INT64_C(20000000) /* ns: from the signal that ends a thread to its end, at most */

/* Until when the thread waits, as it is off the CPU for a wait at `time`; `time`: it is not. */
int64_t wait_until(const struct session *session, uint32_t thread, int64_t time);

/* Another thread sent a signal. */
bool wait_is_by_signal(const struct session *session, const struct wait *wait);
/* Another thread of its process exited for all of them: nobody has done what it waited for. */
bool wait_is_by_exit(const struct session *session, const struct wait *wait);
/* A signal ended it, and the thread: who sent that did nothing that was waited for. */
bool wait_is_cut_off(const struct session *session, const struct wait *wait);
/* Whom the wait is led to, see struct lead. False: to nobody; the lead's thread says who was
 * named, if anybody. */
bool wait_lead(const struct session *session, const struct wait *wait, struct lead *lead);

/* What took a wait, as far as it is led to nobody. */
enum wait_taker {
	TAKER_UNKNOWN,  /* it is not over, or what ended it was not seen */
	TAKER_TIMER,    /* a sleep by one's own timer, or a timer ended it */
	TAKER_HARDWARE, /* a device, a peer, an interrupt, a reason's object: wait_hardware() */
};
enum wait_taker wait_taker(const struct session *session, const struct wait *wait);
/* The device, peer or interrupt that ended it, as an interned key; 0: a thread alone. */
uint32_t wait_hardware(const struct session *session, const struct wait *wait);

/* … which is a peer's, or the network. */
bool wait_is_networks(const struct session *session, const struct wait *wait);

/* The waker is a thread outside interrupt frames: rule 2. */
bool wait_by_thread(const struct wait *wait);

/* The request whose completion ended the wait, at once or through the worker that
 * it was handed to; NULL: none. */
const struct wake_detail *block_request(const struct session *session, const struct block *block);
/* What a wait was for, as an interned key: the device of the request that
 * ended it, the lock of the file that its waker had too (inferred), else the
 * call's resource; 0: not known. */
uint32_t block_waits_for(const struct session *session, const struct block *block);
/* What was done in the waking context; NULL: not known. */
static inline const struct wake_detail *
block_detail(const struct session *session, const struct block *block)
{
	return block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
}

/* What it was for, where its end does not tell; NULL: none. */
static inline const struct reason *
block_reason(const struct session *session, const struct block *block)
{
	const struct reason *reason =
		block->reason ? reason_at(&session->trace.timeline, block->reason) : NULL;

	return reason && reason->kind ? reason : NULL;
}

/* Who is answerable by the wait's reason for all of it, without being followed: NO_THREAD. */
uint32_t wait_names(const struct session *session, const struct wait *wait);
/* It was made longer by the transport, nothing else. */
static inline bool wait_is_transports(const struct session *session, const struct wait *wait)
{
	const struct reason *reason = block_reason(session, wait->block);

	return reason && reason_is_transport(reason);
}

/* In rt_sigsuspend() until a thread of the same process sent the signal: it had stopped this one,
 * in a signal's handler, as a collector of garbage stops the world. */
bool wait_is_suspended(const struct session *session, const struct wait *wait);

/* A pause between tries that began when the difference was made already that they waited for: only
 * it was still to pass. */
bool wait_is_after(const struct session *session, const struct wait *wait);

/* What ended it does not tell what it was for: a reason does. */
static inline bool wait_is_explained(const struct session *session, const struct wait *wait)
{
	return block_reason(session, wait->block) && !wait_is_transports(session, wait);
}

/* It is for what comes first, from anybody: poll, select, epoll_wait, accept. */
bool wait_is_for_whichever(const struct session *session, uint32_t leaf);

#endif
