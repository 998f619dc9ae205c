/* SPDX-License-Identifier: MIT */
/* A what-if's answer, and what it says in sentences.
 *
 * Part of whatif/.
 */
#ifndef WHYLATE_WHATIF_ANSWER_H
#define WHYLATE_WHATIF_ANSWER_H

#include "whatif/replay.h"

/* What the answer rests on: of the re-timed critical path, ns, and how many. */
struct doubts {
	int64_t ready;    /* ready to run, and kept off the CPU as long as it was recorded */
	int64_t anchored; /* waits that kept their time of day: nothing tells what they hang on */
	int64_t inferred; /* waits for whom is concluded only */
	int64_t gaps;     /* waits across lost events, which kept their length */
	int64_t tries; /* pauses between tries and waits given up: how many there are is kept */
	int64_t limits; /* kept back by a limit, whose allowance grows while others compute */
	uint32_t anchors;
};

struct what_if {
	struct replay *replay; /* owned */
	int64_t begin, time; /* ns: from when on, and when the thread gets there now */
	int64_t recorded_begin, recorded_end; /* the same as recorded */
	struct gain gain;
	struct doubts doubts;
	GPtrArray *verdict; /* owned strings */
	GArray *path; /* owned; struct new_piece: the re-timed critical path, in its new times */
};

/* How much sooner, what limits next by `path` (struct new_piece), and what is not sure; owned
 * strings. */
GPtrArray *answer_verdict(const struct session *session, const struct what_if *what_if,
			  const GArray *path);

#endif
