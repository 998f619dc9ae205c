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
 * A connect may also end as no host is there (EHOSTUNREACH and its kin): nobody answered the
 * question whose address it is (ARP), or a router says so (ICMP). Who polls gets POLLERR instead,
 * and what woke it was no packet of TCP.
 *
 * Place: net/, called by questions.c. Source: tcp(7), arp(7), tcp_keepalive_timer() and
 * tcp_write_timeout() of Linux.
 */
#ifndef WHYLATE_NET_GIVEN_UP_H
#define WHYLATE_NET_GIVEN_UP_H

#include "state/state.h"

#define GIVEN_UP (-110) /* ETIMEDOUT of the traced kernel */

/* The call of `thread` on that talk returns GIVEN_UP, or that no host is there. */
void connection_given_up(struct flow *flow, struct thread *thread, const struct talk *talk,
			 int64_t result);
/* The thread polled for the connection, and is told of an error. */
void connection_fails(struct flow *flow, struct thread *thread, const struct talk *talk);

#endif
