/* SPDX-License-Identifier: MIT */
/* TCP packets that left a traced host or came to one: what clocks of several
 * hosts are brought together from, and waits are followed by from one host to
 * another.
 *
 * Place: timeline/, written by flow/ (network.c) while reading, only where
 * there is more than one host; matched and read by the analyses afterwards
 * (pairs.h). A received packet is known by the struct wake_detail of whom it
 * woke: its `number`. Packets within a host (same address, loopback) are not
 * among them.
 */
#ifndef WHYLATE_TIMELINE_PACKET_H
#define WHYLATE_TIMELINE_PACKET_H

#include <stdbool.h>
#include <stdint.h>

struct packet {
	int64_t time;      /* handed to the device, or by it to the protocols: host's ns */
	int64_t handed;    /* sent: when `thread` sent what it is of; host's ns */
	uint64_t flow;     /* hash of addresses and ports, in this direction */
	uint32_t seq, ack_seq, length; /* bytes of payload */
	uint32_t thread;   /* sent: who did; NO_THREAD */
	uint32_t call;     /* sent: interned system call of that thread, 0 */
	uint32_t again;    /* sent: so many times before, or late for those that were; 0 */
	uint32_t service;  /* … interned "retransmission:ADDR:PORT" of its connection */
	uint32_t dropped_by; /* … interned: the device in whose queue the one before stayed; 0 */
	int64_t first;     /* … when it was sent, or could have been, first; host's ns */
	int64_t gap;       /* … longest time between two sendings, ns */
	uint16_t host, flags, id;
	uint8_t how;       /* … enum transport_how (reason.h) */
	bool received;
};

#endif
