/* SPDX-License-Identifier: MIT */
/* The end of reading.
 *
 * Place: trace/, the last that changes what was recorded. What depends on the options comes after
 * it (session_finish()).
 */
#ifndef WHYLATE_TRACE_GATHER_H
#define WHYLATE_TRACE_GATHER_H

#include "trace/trace.h"

struct gather_options {
	const GPtrArray *clock_offsets; /* strings: clocks.h */
	const GPtrArray *guests; /* the same: guests/guests.h; NULL: none */
};

/* When all has been read: ends all lives, brings the hosts to one time, and guests' states
 * together with their hosts'. */
bool trace_gather(struct trace *trace, const struct gather_options *options, GError **error);

#endif
