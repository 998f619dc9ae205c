/* SPDX-License-Identifier: MIT */
/* How much of a time a CPU was idle.
 *
 * Place: ready/, over cpu_runs.h.
 */
#ifndef WHYLATE_READY_IDLING_H
#define WHYLATE_READY_IDLING_H

#include "run/session.h"

#define IDLE_SHARE 0.9 /* of a time: the CPU was idle then */

struct idling {
	int64_t idle, unknown; /* ns; who ran was not known */
	bool any, began_idle;
};

struct idling idling_of_cpu(const struct session *session, uint16_t host, uint32_t cpu,
			    int64_t begin, int64_t end);
static inline bool is_idle(const struct idling *idling, const struct span *span)
{
	return (double) idling->idle >= IDLE_SHARE * (double) (span->end - span->begin);
}

#endif
