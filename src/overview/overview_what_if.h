/* SPDX-License-Identifier: MIT */
/* overview --what-if: what would stand out in the re-timed run, of what stands out in the recorded
 * one and besides, and which threads would be done sooner.
 *
 * Place: overview/, over whatif/retimed_run.h: the same analysis is made of the re-timed run. An
 * item is the same in both if its finding's id is.
 */
#ifndef WHYLATE_OVERVIEW_OVERVIEW_WHAT_IF_H
#define WHYLATE_OVERVIEW_OVERVIEW_WHAT_IF_H

#include "overview/overview.h"
#include "whatif/retimed_run.h"

/* A thread's way through the window. */
struct sooner {
	uint32_t thread;
	int64_t recorded, saved; /* ns; below 0: later */
	bool stands_out; /* it is told of as it was recorded: it waited much */
};

/* An item in both runs. */
struct item_then {
	const struct stand *recorded, *then; /* borrowed; NULL: it does not stand out there */
};

struct overview_what_if {
	struct retimed_run *run; /* owned */
	struct waiting *waiting; /* owned; of the re-timed run, … */
	struct stands *stands;   /* … too */
	GArray *findings;        /* … and its stands' */
	GArray *items;           /* struct item_then; as they stand out then, the others behind */
	GArray *threads; /* struct sooner; those that stand out, what changes most first */
	const struct stands *recorded; /* borrowed */
};

/* NULL and an error as retimed_run_new() has it. `recorded`: what stands out, with ids. */
struct overview_what_if *
overview_what_if_new(const struct session *session, const struct stands *recorded, GError **error);
void overview_what_if_free(struct overview_what_if *what_if);

void overview_what_if_text(const struct overview_what_if *what_if, struct output *output);
/* Of struct overview_what_if. */
extern const struct column overview_what_if_columns[];

#endif
