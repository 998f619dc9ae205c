/* SPDX-License-Identifier: MIT */
/* Setting the stored times of hosts right, by the lines that clocks.h has found.
 *
 * The states of one host depend on no other's, so they are worked out by its
 * own clock and moved when that is known: all times of its threads, CPUs, locks …
 * once. Durations (a timer's length, a request's time in the device) stay as
 * the host measured them. Which members are times is said by the records' tables
 * (util/records.h), whose they are by a row HOST, or by who leads to the record.
 */
#ifndef WHYLATE_TRACE_SHIFT_H
#define WHYLATE_TRACE_SHIFT_H

#include "trace/trace.h"

void trace_shift(struct trace *trace);

#endif
