/* SPDX-License-Identifier: MIT */
/* The corridor between two clocks that packets leave open.
 *
 * A packet sent at `s` by one clock and received at `r` by the other was not
 * received before it was sent. Each packet one way bounds the clocks'
 * difference from below, each the other way from above:
 *
 *   difference       x       x             x  upper points
 *                  ________________________       lines that pass between
 *                       o           o   o    lower points
 *                ──────────────────────────────▶ time
 *
 * Only straight lines (a constant difference, or a constant drift) that pass
 * below all upper and above all lower points are possible: what touches them
 * is on the convex hulls of the two sets. The line given is the middle of
 * those that are, the error how far the farthest of them is from it while
 * there were packets.
 *
 * Part of trace/. Source of the method: Duda, Harrus, Haddad and Bernard,
 * "Estimating global time in distributed systems" (ICDCS 1987); Poirier, Roy
 * and Dagenais, "Accurate offline synchronization of distributed traces using
 * kernel-level events" (2010).
 */
#ifndef WHYLATE_UTIL_CORRIDOR_H
#define WHYLATE_UTIL_CORRIDOR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Two clocks that NTP keeps differ in speed by no more: the kernel's limit is
 * 500 ppm for each (MAXFREQ in linux/timex.h). */
#define CORRIDOR_DRIFT_MAX 1e-3

/* At `time` of the clock that is to be set right, `difference` is to be added
 * to it at most (upper) or at least. */
struct corridor_point {
	int64_t time, difference; /* ns */
	bool upper;
};

/* time' = time + offset + drift * (time - base) */
struct clock_line {
	int64_t base, offset; /* ns */
	double drift;         /* 0 where none can be told */
};

struct corridor {
	struct clock_line line;
	int64_t error;     /* ns, for as long as there were points; -1: points of one kind only */
	uint32_t used;     /* points */
	uint32_t rejected; /* … that contradict the rest */
};

/* Fits a line to `points` (struct corridor_point; put in order of time).
 * Points that contradict the others are left out, those first that contradict
 * the most. False if there are none, or if more than an eighth (but one, of five or
 * more) had to go. */
bool corridor_fit(GArray *points, struct corridor *corridor);

int64_t clock_line_at(const struct clock_line *line, int64_t time);
/* The way back. */
struct clock_line clock_line_inverse(const struct clock_line *line);
/* First `inner`, then `outer`. */
struct clock_line clock_line_compose(const struct clock_line *outer,
				     const struct clock_line *inner);

#endif
