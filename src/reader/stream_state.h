/* SPDX-License-Identifier: MIT */
/* One stream: where its reading is, and the next thing that it has to tell.
 *
 * Place: reader/, what header.c, salvage.c and stream.c work on, each below the next.
 */
#ifndef WHYLATE_READER_STREAM_STATE_H
#define WHYLATE_READER_STREAM_STATE_H

#include "reader/directory.h"

enum stream_item {
	STREAM_END,
	STREAM_BEGINS,
	STREAM_LOST_EVENTS,
	STREAM_LOST_PACKETS,
	STREAM_EVENT
};

struct stream {
	uint32_t number;           /* of the reader's */
	uint32_t host, cpu;
	bool user;                 /* of a user-space trace, */
	uint32_t trace;            /* … the one with this number */
	uint64_t class_id, id;
	bool begun;                /* its first packet was told */
	GArray *packets;           /* owned; struct ctf_packet by time */
	GPtrArray *directories; /* owned; struct stream_directory * (borrowed) of each packet */
	guint next; /* packet to come */

	/* what is told next */
	enum stream_item item;
	int64_t time; /* ns */
	int64_t lost_begin, lost_end, lost_count;

	/* inside a packet */
	const struct ctf_packet *packet;
	const struct stream_directory *directory;
	struct class_table *table;
	uint64_t clock; /* raw, widened */
	uint64_t latest; /* the clock's, in this packet; UINT64_MAX: it does not say */
	bool whole_clock; /* a header had all its bits, since this was cleared */
	uint64_t wrap; /* what a header's piece of it counts to */
	uint64_t sound_until; /* bits: leaps before have been looked at */
	int walks; /* what they led to was not sound, so often in this packet */
	uint64_t event_id, event_at, event_clock; /* the record, and what was before it */
	struct cursor cursor;
	int stage; /* before the next packet: what has been told */
	bool tail_told; /* that the file is cut short has been */
	bool goes_on; /* in a chunk to come: its end is none */
	int64_t until; /* ns: when the trace ends, as far as its packets say */
	struct stream_file *file; /* borrowed; read last, NULL */
	uint64_t released; /* its bytes let go */
	uint64_t copied_max; /* bytes: packets up to this are copied to be read */
	uint8_t *copy;     /* owned, from malloc(); NULL: none */
	uint64_t room;     /* bytes of it */
};

/* Of two with things at one time, which comes first: "the lower CPU first (hosts in the order
 * given), … by stream class and stream id" */
static inline bool stream_rank(const struct stream *a, const struct stream *b)
{
	if (a->host != b->host)
		return a->host < b->host;
	if (a->user != b->user)
		return b->user;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	if (a->trace != b->trace)
		return a->trace < b->trace;
	if (a->class_id != b->class_id)
		return a->class_id < b->class_id;
	return a->id < b->id;
}

static inline bool stream_before(const struct stream *a, const struct stream *b)
{
	return a->time != b->time ? a->time < b->time : stream_rank(a, b);
}

/* Makes the time from `begin` to `end` (ns) the next item: lost, nobody knows how much. */
static inline void stream_lose(struct stream *stream, int64_t begin, int64_t end)
{
	stream->item = STREAM_LOST_EVENTS;
	stream->time = stream->lost_begin = begin;
	stream->lost_end = MAX(begin, end);
	stream->lost_count = -1;
}

#endif
