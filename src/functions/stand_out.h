/* SPDX-License-Identifier: MIT */
/* A call that stands out, and what was different in it. Place: functions/, what stand_outs.h finds.
 */
#ifndef WHYLATE_FUNCTIONS_STAND_OUT_H
#define WHYLATE_FUNCTIONS_STAND_OUT_H

#include <glib.h>
#include <stdint.h>

enum difference_kind {
	DIFFERENCE_TIME, /* `what` took `ns` more than in the usual call */
	DIFFERENCE_NEW, /* calls `what` `times` times, which the usual one does not */
	DIFFERENCE_MISSING, /* does not call `what`, which the usual one does */
	DIFFERENCE_COUNT, /* calls `what` `times` times, the usual one `usually` */
};

struct instance_difference {
	enum difference_kind kind;
	char *what; /* owned; "block-device: vda, fsync of /x", "own work", "work in f" */
	int64_t ns;
	uint32_t times, usually;
	uint64_t having; /* of the function's calls, so many call it; NEW, MISSING */
};

struct stand_out {
	uint32_t thread, frame; /* its place in the thread's frames */
	uint32_t what; /* that frame's */
	uint32_t root; /* node of its thread's name */
	int64_t excess, median; /* ns; of it beyond the median */
	uint64_t calls; /* of that function, looked at */
	int64_t usual_begin; /* the call it is compared with, */
	uint32_t usual_thread; /* … of this thread */
	GPtrArray *differences; /* owned; struct instance_difference, largest time first */
};

#endif
