/* SPDX-License-Identifier: MIT */
/* Writers that the kernel puts to sleep since too many pages are dirty.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_DISK_PAUSES_H
#define WHYLATE_DISK_PAUSES_H

#include "state/state.h"

void flow_dirty_pause(struct flow *flow, struct cpu *cpu, const struct event *event);
/* The wait of `woken` ends: if it was such a pause, why. */
void pause_explains(struct flow *flow, struct thread *woken, struct block *block);

#endif
