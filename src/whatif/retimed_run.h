/* SPDX-License-Identifier: MIT */
/* The re-timed run as a session of its own, for whatever reports on recorded ones: overview, diff.
 *
 *   recorded    T ──work──┤ waits for W          ├──     each time that is stored of T becomes
 *   re-timed    T ──work──┤ waits ├──                    N(T, time); what became empty is left out
 *
 * Threads, resources and reasons have the same numbers as in the recorded one. Why a thread was
 * ready and did not run, who ran meanwhile, and which events were lost, is looked up in the
 * recorded one (session->recorded): who runs where in the re-timed run is not known.
 *
 * Place: whatif/, over replay.h. Source: semantics.md, "What if".
 */
#ifndef WHYLATE_WHATIF_RETIMED_RUN_H
#define WHYLATE_WHATIF_RETIMED_RUN_H

#include "whatif/replay.h"

struct retimed_run {
	struct session *session; /* owned: the re-timed run */
	struct replay *replay;   /* owned */
	struct recorded recorded; /* the session's */
	uint32_t *near; /* owned; by thread: where its line was asked last */
};

/* By the rules asked for; of the threads asked for, or of all. NULL and an error as replay_new()
 * has it; 'best' is refused. */
struct retimed_run *retimed_run_new(const struct session *session, GError **error);
/* N(thread, time); `data`: a struct retimed_run. */
int64_t retimed_run_time(const void *data, uint32_t thread, int64_t time);
void retimed_run_free(struct retimed_run *run);

#endif
