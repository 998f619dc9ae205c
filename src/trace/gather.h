/* SPDX-License-Identifier: MIT */
/* The end of reading.
 *
 * Place: trace/, the last that changes what was recorded. What depends on the options comes after
 * it (session_finish()).
 */
#ifndef WHYLATE_TRACE_GATHER_H
#define WHYLATE_TRACE_GATHER_H

#include "trace/trace.h"

/* When all has been read: ends all lives, brings the hosts to one time. `clock_offsets`: strings,
 * see clocks.h. */
bool trace_gather(struct trace *trace, const GPtrArray *clock_offsets, GError **error);

#endif
