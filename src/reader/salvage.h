/* SPDX-License-Identifier: MIT */
/* What to do about damage inside a packet.
 *
 * Place: reader/, beside stream.c, which asks when a record makes no sense.
 *
 * A record has a piece of the clock only. One that is damaged, or bytes that are no record, set
 * the clock too far for all behind them, until one tells the whole clock. So where the clock
 * leaps it is looked what follows, up to there; each record once.
 */
#ifndef WHYLATE_READER_SALVAGE_H
#define WHYLATE_READER_SALVAGE_H

#include "reader/stream_state.h"

/* The record that began at `from` (bits), when the clock was at `clock`, is broken: the next
 * item is a hole up to what makes sense again. */
void salvage_give_up(struct stream *stream, uint64_t from, uint64_t clock);

/* Whether to believe the record that began at `from` and whose header has been read: it set the
 * clock on by much, from `clock`; the record before it, from `before`. If not, a hole is the
 * next item. */
bool salvage_believe(struct stream *stream, uint64_t from, uint64_t clock, uint64_t before);

#endif
