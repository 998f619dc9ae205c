/* SPDX-License-Identifier: MIT */
/* Calls that took much longer than their function's others, and what was different in them.
 *
 * Place: functions/, over call_tree.h. Nobody has to say where to look: each function and
 * system call that threads of one name called STAND_OUT_CALLS times or more is looked at. A call
 * stands out if its time lies beyond the upper fence of the logarithms of all its function's times
 * (third quartile and one and a half times the distance of the quartiles: J. W. Tukey, Exploratory
 * Data Analysis, 1977), and is at least STAND_OUT_TIMES the median; a system call has to take a
 * STAND_OUT_LIFE-th of its thread's time more than that, too. Calls over lost events are not
 * looked at. Where one call inside it stands out and makes half of the surplus, that one is told
 * instead. It is compared with the call whose time is the median. Turns of threads that loop
 * (busy.h) are looked at like system calls: so late frames are found where no function was traced.
 * They stand out at STAND_OUT_TURNS times the median.
 */
#ifndef WHYLATE_FUNCTIONS_STAND_OUTS_H
#define WHYLATE_FUNCTIONS_STAND_OUTS_H

#include "calls/call_tree.h"
#include "functions/stand_out_sums.h"

#define STAND_OUT_CALLS 8
#define STAND_OUT_TIMES 4
#define STAND_OUT_TURNS 2 /* the same of turns, which are alike where they are frames */
#define STAND_OUT_LIFE 1000

struct stand_outs {
	GArray *sums; /* struct stand_out_sum; largest excess first; of all, whatever the limit */
	GArray *list; /* struct stand_out; largest excess first */
	guint omitted; /* that the limit leaves out */
};

struct stand_outs *stand_outs_new(struct call_tree *tree);
void stand_outs_free(struct stand_outs *found);

/* For people: "24.5 ms more: block-device: vda"; free with g_free(). */
char *difference_text(const struct instance_difference *difference, const struct stand_out *of);

#endif
