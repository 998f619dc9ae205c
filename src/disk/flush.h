/* SPDX-License-Identifier: MIT */
/* Whose data a disk was busy with while a thread waited for it.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_DISK_FLUSH_H
#define WHYLATE_DISK_FLUSH_H

#include "state/state.h"

/* The call of `thread` (its number: `index`) ends, and it waited in it: what its waits for a disk,
 * and those of the kernel thread that it waited for, were for. */
void flush_explains(struct flow *flow, uint32_t index, struct thread *thread);

#endif
