/* SPDX-License-Identifier: MIT */
/* Going over what lies before and behind a window: of these events only those are told that say
 * how things are when the window begins, and how what was under way at its end ended.
 *
 *   begin                                 from       until                              end
 *   | open … fork … A's last time on a CPU | all events | B is woken, and runs … last event |
 *     what lasts (lasting.h)                              by whom, from which interrupt
 *
 * Place: skim/, over reader/, whose streams it moves on. Records are walked over by their sizes;
 * of each CPU it is noted who runs, of each thread where it last did, which system call it is in,
 * and who woke it. What is told are events of the trace, in order of time, each where its thread
 * is on its CPU: between those stretches CPUs are told to be idle. So whoever follows them finds
 * each thread as he would have, had he followed all: tests/windows.t compares.
 * Not found so: requests to disks, packets, and locks that are only on their way, or held, in the
 * time that is gone over; the events beside the window that are read have those (--lead-in).
 *
 * CPUs are gone over by several threads. Memory follows the number of threads and of events that
 * last. Damage and lost events are no case for this: all is to be read then.
 */
#ifndef WHYLATE_SKIM_SKIM_H
#define WHYLATE_SKIM_SKIM_H

#include "reader/reader.h"

/* Before anything was handed on: goes to the first event at or after `from` (ns), with `jobs`
 * threads at most. False: it has to be read, and nothing of it was handed on. */
bool skim_before(struct reader *reader, int64_t from, guint jobs);
/* The same from where the reader is, at `until` (ns), to the trace's end. */
bool skim_after(struct reader *reader, int64_t until, guint jobs);

#endif
