/* SPDX-License-Identifier: MIT */
/* Whether a thread that was asked something worked on it, or waited for the next to ask.
 *
 * Place: net/. Seen while events pass, over the little time in which a question was open.
 */
#ifndef WHYLATE_NET_IDLE_PEER_H
#define WHYLATE_NET_IDLE_PEER_H

#include "state/state.h"

/* Since `since`, the thread spent more than half of the time in calls in which threads wait for
 * whoever comes. */
bool peer_idles(const struct flow *flow, uint32_t thread, int64_t since);

#endif
