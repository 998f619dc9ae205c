/* SPDX-License-Identifier: MIT */
/* Losses on the way from one traced host to another.
 *
 *   sender's host    ── write ── queued ──────── queued again ──
 *                        ▲ handed ▲ first             ▲ time    \
 *   receiver's host  ──┤ waits                                   ├── comes
 *                       the writer's │ retransmission            the way
 *
 * On one host, net/transport_waits.h tells the waits that bytes had to be sent again. What was
 * sent again on another host is known only when packets have been matched (pairs.h): then the wait
 * that such a packet ended gets the same reason, with both ends. That the one before was lost
 * between the two is shown by its not having ended the wait, unless it never left the queue of the
 * sender's device.
 *
 * Place: trace/, after clocks_follow(): all times are of one clock.
 */
#ifndef WHYLATE_TRACE_LOSSES_H
#define WHYLATE_TRACE_LOSSES_H

#include "trace/pairs.h"
#include "trace/trace.h"

void losses_follow(struct trace *trace, const struct pairs *pairs);

#endif
