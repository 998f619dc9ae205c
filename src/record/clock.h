/* SPDX-License-Identifier: MIT */
/* A clock that interrupts every CPU so many times a second, so that there are samples at that rate.
 *
 *   perf's cpu-clock, one on each CPU ─► timer_hrtimer_expire_entry, with the stacks of what ran
 *
 * Place: record/, below record.c. The kernel's ticks come as often as it is built for, and stop on
 * a CPU that is told to be without (nohz_full). LTTng has no clock; perf's counter of time has a
 * timer of the kernel, whose expiry LTTng sees. Nothing is read of perf, so it keeps nothing. A
 * timer of POSIX or a timerfd would not do: they wake somebody, or stop until somebody reads them.
 */
#ifndef WHYLATE_RECORD_CLOCK_H
#define WHYLATE_RECORD_CLOCK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_clock {
	GArray *files; /* owned; int: one of each CPU; NULL: it does not run */
};

bool clock_start(struct sample_clock *clock, uint32_t hertz, GError **error);
void clock_stop(struct sample_clock *clock);

/* Where in the kernel its expiry is; 0: addresses may not be seen. */
uint64_t clock_function(void);
/* So many ticks a second has this kernel. */
uint32_t clock_ticks(void);

#endif
