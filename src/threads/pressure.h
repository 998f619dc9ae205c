/* SPDX-License-Identifier: MIT */
/* Sleeps that the kernel makes a thread take for the memory it uses.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_PRESSURE_H
#define WHYLATE_THREADS_PRESSURE_H

#include "state/state.h"

/* The wait of `block`, in state `leaf`, has just been ended by `waker`. */
void pressure_sleep_ends(struct flow *flow, struct thread *thread, struct block *block,
			 uint32_t leaf, const struct waker *waker);
/* The thread opened that path: of a cgroup's list of processes? */
void pressure_opens(struct flow *flow, struct thread *thread);

#endif
