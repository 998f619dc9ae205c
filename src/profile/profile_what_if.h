/* SPDX-License-Identifier: MIT */
/* profile --what-if: the profiles of the re-timed run, beside those of the recorded one.
 *
 *   N(T, begin) ├── the same call, re-timed ──┤ N(T, end)     counted in a second histogram
 *
 * Place: profile/, over whatif/. Of the same operations of the same threads; what belongs to no
 * thread (requests of disks, interrupts on idle CPUs) keeps its length. Source: semantics.md, "What
 * if".
 */
#ifndef WHYLATE_PROFILE_PROFILE_WHAT_IF_H
#define WHYLATE_PROFILE_PROFILE_WHAT_IF_H

#include "latencies/profile.h"
#include "report/report.h"
#include "whatif/replay.h"

/* One operation's latencies, as they were and re-timed. */
struct profile_change {
	const struct profile *recorded, *changed; /* borrowed */
	struct gain gain;
};

struct profile_what_if {
	struct replay *replay;     /* owned */
	struct profiles *profiles; /* owned; re-timed, in the recorded ones' order */
	GArray *changes; /* struct profile_change; what changes most first */
	GArray *gains;   /* struct gain, in the profiles' order */
	guint alike;     /* profiles that do not change */
	bool kept;       /* some of these are of no thread */
	struct operation_lengths lengths;
};

/* NULL and an error as replay_new() has it, or if best is asked for of all operations. Of profiles
 * of this trace alone. */
struct profile_what_if *profile_what_if_new(const struct profiles *profiles, GError **error);
void profile_what_if_free(struct profile_what_if *what_if);
/* The re-timed one of it; NULL: it does not change, or nothing was asked. */
const struct profile *profile_then(const struct profile_what_if *what_if,
				   const struct profile *recorded);
void profile_what_if_text(const struct profile_what_if *what_if, const struct report *report);
extern const struct column profile_what_if_columns[];

#endif
