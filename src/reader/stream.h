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

#include "reader/stream_state.h"

struct stream *stream_new(void);
void stream_free(gpointer stream);

/* When its last packet ends, ns. */
int64_t stream_end_time(const struct stream *stream);
/* One of `count` that are read side by side, from the first packet to the last. */
void stream_begin(struct stream *stream, guint count);
/* Goes to the next item; STREAM_END when there is none. */
void stream_next(struct stream *stream);
/* STREAM_EVENT: fills `event`. False: the record is broken, and there is none. */
bool stream_take(struct stream *stream, struct event *event);
/* Goes back or on to the last packet that begins before `time`, which is next. */
void stream_seek(struct stream *stream, int64_t time);
/* The fields of the event that was just taken, when the cursor was at `at`, as text. */
void stream_text(const struct stream *stream, uint64_t at, GString *text);
/* Where the event is that was just taken, when the cursor was at `at`; its number is not
 * set. */
struct event_place stream_place(const struct stream *stream, uint64_t at);
/* Goes there and takes it. False: it is not there. */
bool stream_take_at(struct stream *stream, const struct event_place *place, struct event *event);

#endif
