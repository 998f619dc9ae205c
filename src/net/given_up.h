/* SPDX-License-Identifier: MIT */
/* Connections that TCP gives up.
 *
 *   T      ── recv ─┤ blocked                                           ├── ETIMEDOUT
 *   kernel           (nothing to send)   probe    probe    probe   gives up
 *   peer   ── last packet                  (silence)
 *
 * A read, write or connect that returns ETIMEDOUT tells that the peer's kernel answered nothing for
 * long: to probes of an idle connection (keep-alive), if all that was sent had been acknowledged;
 * else to what was sent, and sent again. So the wait was for the peer's host, whatever timer ended
 * it. Where packets were not recorded these two are not told apart by them, and what the thread
 * said last is asked: it is outstanding, or there was nothing. No program's own limit gives that
 * error.
 *
 * Place: net/, called by questions.c. Source: tcp(7), tcp_keepalive_timer() and tcp_write_timeout()
 * of Linux.
 */
#ifndef WHYLATE_NET_GIVEN_UP_H
#define WHYLATE_NET_GIVEN_UP_H

#include "state/state.h"

#define GIVEN_UP (-110) /* ETIMEDOUT of the traced kernel */

/* The call of `thread` on that talk returns that. */
void connection_given_up(struct flow *flow, struct thread *thread, const struct talk *talk);

#endif
