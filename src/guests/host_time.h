/* SPDX-License-Identifier: MIT */
/* Time that the host took from its guests.
 *
 *   host    CPU 0/KVM      ├ guest ─────┤ preempted by hosthog ├ guest ──────
 *   guest   gapp, alone    ├ user ─────────────────────────────────┤ …
 *           gapp, with it  ├ user ──────┤ host:preempted       ├ user ┤ …
 *           logd, ready    ├ preempted ─┤ host:preempted       ├ preempted …
 *
 * A guest's kernel does not see that its virtual CPU does not run: its threads work, or wait for
 * others that do. So the time in which the virtual CPU did not run is taken out of the states of
 * who ran on it, and of who was ready to: nobody could. What is left is as it was. Threads that
 * were blocked stay so: what kept them is another question (behind.h).
 *
 * Place: guests/, when all clocks are one.
 */
#ifndef WHYLATE_GUESTS_HOST_TIME_H
#define WHYLATE_GUESTS_HOST_TIME_H

#include "model/model.h"
#include "timeline/timeline.h"

/* Rewrites the tracks of the guests' threads. */
void host_time_apply(const struct model *model, struct timeline *timeline);

#endif
