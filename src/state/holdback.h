/* SPDX-License-Identifier: MIT */
/* Holdback: giving past intervals their meaning when it is learned.
 *
 * Place: state/.
 */
#ifndef WHYLATE_STATE_HOLDBACK_H
#define WHYLATE_STATE_HOLDBACK_H

#include "state/state.h"

/* Gives every interval of `thread` from `time` on to `change`, which may alter leaf and ref. */
void track_rewrite(struct flow *flow, struct thread *thread, int64_t time,
		   void (*change)(struct flow *flow, struct span *span, void *data), void *data);

#endif
