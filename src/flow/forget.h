/* SPDX-License-Identifier: MIT */
/* Forgetting what is over: for recordings without an end (--every).
 *
 *   time      ───────────┤ before                       now
 *   track     ██ ████ ██████████ ███ ████ ██ ██ ████ ███│
 *   kept               ├───────── the interval over `before`, and all after it
 *
 * Kept are all records that reach past `before`, what they name (wake-ups' details,
 * locks, dead threads) and the current state: lives, stacks, descriptors, open
 * calls and waits, wake-ups on their way, armed timers, holders of locks. Dropped
 * are older records, threads that died before and that nothing names, locks not
 * touched for long, and what waited for its other end for long (packets, work).
 * So an analysis of any window after `before` finds what it would have found, but
 * for what it would follow further back.
 *
 * The stores are written anew and their records numbered from 1 again: no number
 * grows with the length of the recording. Threads keep their numbers; those of
 * threads that were dropped are given again.
 *
 * Place: flow/, as what holds a number of a record is its and model/'s. A new
 * structure that holds one must be visited in forget.c (threads, CPUs, records)
 * or forget_state.c (hosts, locks); tests/unit/test_random.c looks for those that
 * are not: it compares with a session that forgets nothing.
 */
#ifndef WHYLATE_FLOW_FORGET_H
#define WHYLATE_FLOW_FORGET_H

#include "flow/flow.h"

/* Forgets what was over before `before`, ns. */
void flow_forget(struct flow *flow, int64_t before);

/* Records, threads and the like that are kept: what memory follows. */
uint64_t flow_records(const struct flow *flow);

/* What is counted for a report's coverage begins anew at `time`: lost events, odd
 * data, CPUs without a known thread, latencies of system calls. */
void flow_begin_counts(struct flow *flow, int64_t time);

/* --- inside forget*.c -------------------------------------------------- */

struct forgetting {
	struct flow *flow;
	int64_t before;        /* ns; records that end by then go */
	struct timeline old;   /* the stores as they were */
	uint32_t *blocks, *details, *packets; /* owned; old number -> new one, 0: not kept */
	bool *threads, *locks; /* owned; by number: something names it */
};

void keep_thread(struct forgetting *forgetting, uint32_t thread);
/* The new number of a record; 0 for none. */
uint32_t keep_detail(struct forgetting *forgetting, uint32_t detail);
/* What `detail`, which is not in the store, names. */
void keep_pending(struct forgetting *forgetting, struct wake_detail *detail);

/* forget_state.c */
void forget_host(struct forgetting *forgetting, struct host *host);
/* To be called when all that may name a lock has been visited. */
void forget_locks(struct forgetting *forgetting);
void forget_places(struct model *model);

#endif
