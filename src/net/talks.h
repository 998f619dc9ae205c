/* SPDX-License-Identifier: MIT */
/* Talks: what is said on each socket and pipe, as far as it tells who waits for whose answer.
 *
 *   asker   ── connect ── write ─────────────── poll … ── read ──
 *                 │ packet    │ packet                      ▲ answered
 *   peer    ── accept ────── read ── …                         talk.peer, talk.read
 *
 * An open socket or pipe has a talk from its first use on, which its descriptors share
 * (open_file.talk). Who has the other end is known by accept(2), which tells the asker's port; by
 * whom a packet of the asker's flow woke; or by whom its write did. The last TALKS_MAX talks of
 * a host are kept: an older one is forgotten, and who asks for its number gets none.
 *
 * Place: net/, under network.c (packets) and questions.h (what became of what was asked). Cheap, as
 * it is done for every recording: a look into the table of descriptors for each call that reads
 * or writes, one by its flow for each packet.
 */
#ifndef WHYLATE_NET_TALKS_H
#define WHYLATE_NET_TALKS_H

#include "state/state.h"

enum talk_kind {
	TALK_STREAM,
	TALK_DATAGRAM,
	TALK_PIPE,
};

/* What `fd` is; made if it is a socket or pipe, or if `is_socket`: the call works on these only;
 * NULL: it is neither. */
struct talk *talk_of(struct flow *flow, struct thread *thread, int32_t fd, bool is_socket);
/* The talk that `fd` has already, NULL. */
struct talk *talk_found(struct flow *flow, struct thread *thread, int32_t fd);
/* A new one of what a call has just opened under `fd`, NULL: that is not known. */
struct talk *talk_open(struct flow *flow, struct thread *thread, int32_t fd, enum talk_kind kind);
/* The talk of the thread that connected from that address, NULL. */
struct talk *talk_from(struct host *host, uint32_t local);

/* A packet of that flow that `thread`, in its call, or an interrupt (NULL) queued: the number of
 * the talk whose question it is, a datagram; else 0. */
uint32_t talk_packet(struct flow *flow, const struct thread *thread, const struct event *event,
		     uint64_t key);
/* A device took such a packet of this talk's that was queued at that time. */
void talk_left(struct host *host, uint32_t number, int64_t queued);
/* A packet that came on this host: the number of the talk that it was sent on, 0. */
uint32_t talk_received(const struct host *host, uint64_t key);
/* The CPU's context wakes that thread: it may be who has the other end. */
void talk_wakes(struct flow *flow, struct cpu *cpu, uint32_t woken);
/* Who takes what comes for that address, NO_THREAD. */
uint32_t talk_listener(const struct host *host, uint32_t address);

#endif
