/* SPDX-License-Identifier: MIT */
/* One time for several hosts.
 *
 * Place: trace/, a step of session_finish(): all hosts were read by their
 * own clocks, beside each other (what one does never changes another's state),
 * and are now brought to the first host's:
 *
 *   pairs_init()   which packet is which
 *   clocks_find()  a line for each host's clock, and its error
 *   clocks_shift() every stored time of the other hosts is set right
 *   clocks_follow() what a packet from another host woke leads to its sender
 *
 * Hosts that no packet connects with the first keep their clocks (and their
 * own common time, if packets connect them); nothing is followed between them
 * and the others.
 */
#ifndef WHYLATE_TRACE_CLOCKS_H
#define WHYLATE_TRACE_CLOCKS_H

#include "trace/pairs.h"
#include "run/session.h"

/* Fills host.clock of all hosts. Errors: a --clock-offset that fits no host. */
bool clocks_find(struct session *session, const struct pairs *pairs, GError **error);
void clocks_shift(struct session *session);
/* Only the times of the events that options name, which clocks_shift() does too. */
void clocks_shift_candidates(struct session *session);
void clocks_follow(struct session *session, const struct pairs *pairs);

/* Error of the difference of two hosts' clocks, ns; -1: not known. */
int64_t clocks_error(const struct session *session, uint16_t a, uint16_t b);
/* What is to be said of the clocks where they could not be brought together,
 * one sentence a host; strings to free. */
void clocks_warnings(const struct session *session, GPtrArray *lines);

#endif
