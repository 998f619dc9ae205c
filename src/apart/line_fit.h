/* SPDX-License-Identifier: MIT */
/* A straight line through points, and how much of what they vary it explains: latency against a
 * size.
 *
 *   ns │            ·  ·/          slope   the median of the slopes of all pairs (Theil and Sen):
 *      │        · /·            one point that lies elsewhere moves it little
 *      │     ·/ ·                  share   1 - what the points are off the line / off their mean,
 *      │  ·/·                   squared and added up; without the point that is furthest off
 *      └─────────────── x          the line, and not more than without the one furthest out in x
 *
 * Neighbours in time are alike: the latencies are moved against the sizes, in a circle, 199 times;
 * never may their ranks go together as well.
 *
 * Place: apart/; knows nothing of traces. Source: Theil 1950, Sen 1968, Spearman 1904.
 */
#ifndef WHYLATE_APART_LINE_FIT_H
#define WHYLATE_APART_LINE_FIT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FIT_LEAST 20 /* points */
#define FIT_SHARE 0.2 /* of the variance: less is not worth a word */

struct point {
	double x, y;
};

struct line_fit {
	double slope, middle; /* y = middle + slope x */
	double share;
};

/* Points in the order of time. False: too few, or nothing holds. */
bool line_fit(const struct point *points, guint count, struct line_fit *fit);

#endif
