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
 * Place: flow/, as what holds a number of a record is its and model/'s. keep.h finds by the
 * records' tables what those that are kept name; forget.c (records, threads) and
 * forget_state.c (hosts, locks, places) say which are kept. tests/unit/test_random.c compares
 * with a session that forgets nothing.
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

#endif
