/* SPDX-License-Identifier: MIT */
/* Requests that a timer kept back before the device had them: limits of I/O, and devices that
 * delay by themselves.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_DISK_HELD_H
#define WHYLATE_DISK_HELD_H

#include "state/state.h"

/* `thread` goes on with the request: if it is a worker that a timer has given work to, the
 * request was held until now. */
void held_until_now(const struct flow *flow, const struct host *host, uint32_t thread,
		    struct request *request);
/* The number of the reason why the completed request came late to its device, 0. */
uint32_t held_reason(struct flow *flow, struct host *host, const struct request *request);
/* … becomes that of the wait of `woken`, which its completion has just ended, if it was held
 * meanwhile. */
void held_explains(struct flow *flow, const struct thread *woken, struct block *block);

#endif
