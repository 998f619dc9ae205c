/* SPDX-License-Identifier: MIT */
/* One stream: its packets in order, and the next thing that it has to tell.
 *
 *   packets: [begin … events … end] (events lost?) [begin … events … end] …
 *            └ STREAM_BEGINS, then STREAM_EVENT…      └ STREAM_LOST_EVENTS first
 *
 * Place: reader/. header.c reads the records' headers, salvage.c looks behind damage.
 *
 * Damage: a record whose class is not known, that does not fit, or whose time is past
 * the packet's end is given up. What follows is searched for the next run of records
 * that make sense; the time between is told as lost, without a count.
 */
#ifndef WHYLATE_READER_STREAM_H
#define WHYLATE_READER_STREAM_H

#include "reader/classes.h"
#include "reader/packets.h"

enum stream_item {
	STREAM_END,
	STREAM_BEGINS,
	STREAM_LOST_EVENTS,
	STREAM_LOST_PACKETS,
	STREAM_EVENT
};

/* A directory of stream files with one metadata. */
struct part {
	char *path;                /* owned */
	struct metadata *metadata; /* owned */
	GPtrArray *files;          /* owned; struct stream_file */
	GPtrArray *tables;         /* owned; struct class_table */
	uint32_t host;
	bool user;                 /* of a user-space trace */
	int64_t offset;            /* ns: raw clock at 1 GHz + this = time */
	uint64_t frequency;
	int64_t offset_cycles, offset_s;
	uint64_t slack;            /* raw: how far events may be past their packet's end */
	bool growth_asked, growing; /* a file had grown when a stream was at its end */
};

struct stream {
	uint32_t number;           /* of the reader's */
	uint32_t host, cpu;
	bool user;                 /* of a user-space trace, */
	uint32_t trace;            /* … the one with this number */
	uint64_t class_id, id;
	bool begun;                /* its first packet was told */
	GArray *packets;           /* owned; struct ctf_packet by time */
	GPtrArray *parts;          /* owned; struct part * (borrowed) of each packet */
	guint next;                /* packet to come */

	/* what is told next */
	enum stream_item item;
	int64_t time;              /* ns */
	int64_t lost_begin, lost_end, lost_count;

	/* inside a packet */
	const struct ctf_packet *packet;
	const struct part *part;
	const struct class_table *table;
	uint64_t clock;            /* raw, widened */
	bool whole_clock;          /* a header had all its bits, since this was cleared */
	uint64_t wrap;             /* what a header's piece of it counts to */
	uint64_t sound_until;      /* bits: leaps before have been looked at */
	int walks;                 /* what they led to was not sound, so often in this packet */
	uint64_t event_id, event_at, event_clock; /* the record, and what was before it */
	struct cursor cursor;
	int stage;                 /* before the next packet: what has been told */
	bool tail_told;            /* that the file is cut short has been */
	int64_t until;             /* ns: when the trace ends, as far as its packets say */
	const struct stream_file *file; /* borrowed; read last, NULL */
	uint64_t released;         /* its bytes let go */
};

struct stream *stream_new(void);
void stream_free(gpointer stream);

/* When its last packet ends, ns. */
int64_t stream_end_time(const struct stream *stream);
/* Goes to the next item; STREAM_END when there is none. */
void stream_next(struct stream *stream);
/* Makes the time from `begin` to `end` (ns) the next item: lost, nobody knows how much. */
void stream_lost(struct stream *stream, int64_t begin, int64_t end);
/* STREAM_EVENT: fills `event`. False: the record is broken, and there is none. */
bool stream_take(struct stream *stream, struct event *event);
/* Where the event is that was just taken, when the cursor was at `at`; its number is not
 * set. */
struct event_place stream_place(const struct stream *stream, uint64_t at);
/* Goes there and takes it. False: it is not there. */
bool stream_take_at(struct stream *stream, const struct event_place *place, struct event *event);

#endif
