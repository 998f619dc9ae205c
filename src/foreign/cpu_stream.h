/* SPDX-License-Identifier: MIT */
/* What one CPU recorded, in order of time: what the readers of trace.dat and perf.data have in
 * common, and all that the merge (foreign.c) knows of them.
 *
 * Place: foreign/. Whoever implements one puts it first in a structure of his own.
 */
#ifndef WHYLATE_FOREIGN_CPU_STREAM_H
#define WHYLATE_FOREIGN_CPU_STREAM_H

#include "event/sink.h"

enum stream_item {
	ITEM_EVENT,
	ITEM_LOST, /* events, before `time` */
	ITEM_END,
};

struct foreign_stream {
	int64_t time;           /* ns: of the item */
	uint32_t host, cpu;
	uint32_t order;         /* among those of one CPU: as the files were given */
	uint8_t item;           /* enum stream_item */
	bool begun;
	/* ITEM_LOST; end INT64_MAX: of all that was left; count -1: not said */
	int64_t lost_begin, lost_end, lost_count;
	/* Goes on to the next item. */
	void (*next)(struct foreign_stream *stream);
	/* Fills all of the event but time, host and CPU, which are set. False: it is none that
	 * could be read. */
	bool (*take)(struct foreign_stream *stream, struct event *event);
	/* The next event that the item, taken, brought besides, true or false; NULL: none ever. */
	bool (*more)(struct foreign_stream *stream, struct event *event);
	/* Appends its fields, as "name = value, ...". */
	void (*text)(struct foreign_stream *stream, GString *text);
	void (*free)(struct foreign_stream *stream);
};

#endif
