/* SPDX-License-Identifier: MIT */
/* Why one target, or one thread, of two runs took longer in one: both critical paths, piece by
 * piece put down to the same things, and what each thing took on either.
 *
 *   A  ├ xinit ┤ Xorg slept 30 ms ┤ Xorg ├ xinit ─┤     A less B:  Xorg slept   -30 ms
 *   B  ├ xinit ┤ Xorg ├ xinit ──┤                                  xinit ran    + 2 ms
 *
 * Place: diff/. Both windows begin with the same: what --from says, or the birth of the oldest
 * ancestor that was created in both traces. A part is what one thread (thread_match.h) spent in one
 * state, on one resource, for one kind of cause. As the pieces tile both windows, the differences
 * of all parts add up to that of the two times exactly.
 */
#ifndef WHYLATE_DIFF_TARGET_H
#define WHYLATE_DIFF_TARGET_H

#include "diff/target_part.h"

/* The one thread that is compared, of each; false: several are, or none is. */
bool target_threads(const struct session *a, const struct session *b, uint32_t threads[2]);
/* The thread that was created and ended in both runs and whose life differs most; false: none
 * differs by a tenth of the longer. */
bool target_changed_most(const struct thread_match *match, uint32_t threads[2]);
/* NULL and an error: they cannot be compared. `match` was made with the threads pinned. */
struct target *target_new(const struct thread_match *match, const uint32_t threads[2],
			  GError **error);
void target_free(struct target *target);

#endif
