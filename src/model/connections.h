/* SPDX-License-Identifier: MIT */
/* TCP connections of a host, as far as their packets and calls show them, while events pass.
 *
 *   struct tcp_connection: ways[0] client ─► server, ways[1] the other way; of each way
 *
 *   bytes   ──────────┬─────────────┬──────────────┬───────────────┬──────►  sequence numbers
 *                   acked        sent_end      written_end
 *          arrived and acked   under way    in the sender's       (not written yet)
 *                                            send queue
 *
 * Place: model/, filled by net/transport.c, which has the rules; of use only while events pass.
 * The table is bounded (TCP_CONNECTIONS_MAX, then the oldest place is given again), as are the
 * rings in it: what is not in them any more is not known.
 */
#ifndef WHYLATE_MODEL_CONNECTIONS_H
#define WHYLATE_MODEL_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define TCP_CONNECTIONS_MAX 1024
#define TCP_SEGMENTS 32 /* of a way: the last ones sent */
#define TCP_WRITES 8    /* … the last calls that wrote */
#define TCP_HOLES 4     /* … ranges that came before what is missing */
#define TCP_LISTENERS_MAX 64

/* Why bytes were sent later than they were written. */
enum tcp_held {
	HELD_NOT,
	HELD_NAGLE,       /* small, while others were not acknowledged */
	HELD_DELAYED_ACK, /* … and the peer's delayed-ACK timer put that off */
	HELD_WINDOW,      /* the peer's receive window was closed */
	HELD_QUEUE,       /* those before were held by the device's queue */
	HELD_LOSS,        /* those before had to be sent again */
	HELD_CORK,        /* for more to come: MSG_MORE, TCP_CORK */
	HELD_ACKS,        /* for acknowledgements: the congestion or the peer's window */
	HELD_KINDS
};

/* A call that wrote bytes up to `end`. */
struct tcp_write {
	int64_t time; /* it returned */
	uint32_t end, thread, call;
};

/* A range of bytes that was handed to the device; SYN and FIN count as one. */
struct tcp_segment {
	uint32_t seq, end;
	int64_t written; /* its last byte; = first: not later than it was sent */
	int64_t first, last; /* queued; `last`: the last time */
	int64_t left; /* the driver took it; 0: not seen */
	int64_t gap; /* longest time from one sending to the next */
	int64_t ack_delay; /* HELD_DELAYED_ACK: how long the peer put it off; else 0 */
	uint64_t skb;
	uint32_t thread, call; /* who wrote it */
	uint16_t again; /* sent so many times more */
	uint8_t held; /* enum tcp_held */
	uint8_t how; /* enum transport_how (timeline/reason.h): the longest gap's */
	bool needless; /* sent again though the receiver's kernel had acknowledged it */
	bool came; /* … though it had come to the receiver's host */
	bool awaited; /* … and who listens waited for whoever comes */
	bool unsent; /* … that sending never left the queue of its device, if `leaves_seen` */
	bool inferred; /* `held` */
	bool syn;
};

struct tcp_range {
	uint32_t seq, end;
};

/* One direction of a connection. */
struct tcp_way {
	uint64_t key; /* hash of addresses and ports, 0: not met */
	/* the sender's side */
	bool known; /* sent_end is */
	bool synced; /* written_end is */
	bool leaves_seen; /* the driver was seen to take its packets */
	bool timed_out; /* … and what is before `recover` is sent again since */
	uint32_t sent_end, written_end, acked, recover;
	uint32_t syns; /* handshake's segments sent */
	uint16_t duplicates; /* acknowledgements that told of nothing new */
	int32_t window, window_max; /* as headers have them; -1: not met */
	int64_t closed_since, closed_until; /* the peer's window; 0: never; INT64_MAX: still */
	int64_t was_closed_since, was_closed_until; /* … the time before, if that was long */
	uint16_t probes; /* for an acknowledgement of nothing new, since a packet came */
	int64_t loss_time; /* a segment was sent again last, 0 */
	int64_t queue_hold; /* of the newest packet seen to arrive: in the device's queue */
	int64_t round_trip; /* shortest seen, INT64_MAX */
	uint32_t writer, call; /* call under way that writes, NO_THREAD; else who wrote last */
	bool writing;
	int64_t write_begin;
	uint32_t write_next, segment_next; /* so many were put into the rings */
	struct tcp_write writes[TCP_WRITES];
	struct tcp_segment segments[TCP_SEGMENTS];
	/* the receiver's side */
	bool received; /* rcv_next is known */
	uint32_t rcv_next; /* all before has come */
	uint32_t ack_sent;
	int64_t unacked_since; /* what is not acknowledged yet came; 0: all is */
	int64_t ack_time, ack_delay; /* the last acknowledgement sent */
	bool ack_by_timer, ack_seen;
	uint32_t reader; /* thread that read last, or listens; NO_THREAD */
	int64_t read_time; /* … when; 0 */
	int64_t came; /* last packet, of whatever; 0 */
	int64_t first_came; /* first bytes, but for the handshake; 0 */
	int64_t early_since; /* bytes came before those that are missing; 0: none are */
	struct tcp_range holes[TCP_HOLES]; /* ranges behind what is missing; empty: seq = end */
	uint32_t local, remote; /* interned "socket:ADDR:PORT" of sender and receiver, 0 */
	uint32_t device; /* interned: the one that held a packet last, 0 */
	uint16_t local_port, remote_port;
};

struct tcp_connection {
	int64_t begin; /* first met */
	struct tcp_way ways[2]; /* [0]: of whoever was met first */
};

/* Who takes connections on a port. */
struct tcp_listener {
	int64_t accepted; /* last one, 0: none seen */
	int64_t waited_from, waited_until; /* for one to come: nobody was in the queue; 0 */
	uint32_t thread; /* NO_THREAD */
	uint16_t port;
};

/* The packet that a CPU has just handed to the protocols. */
struct tcp_arrival {
	uint64_t flow; /* key of its way; 0: none, or not TCP */
	int64_t queued, left; /* on this host; 0: not seen */
	int64_t missed_since; /* it filled a hole: since when bytes behind it had come; 0 */
	uint32_t seq, end;
	uint16_t flags;
};

#endif
