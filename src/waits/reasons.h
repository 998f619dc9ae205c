/* SPDX-License-Identifier: MIT */
/* What reasons (timeline/reason.h) mean: which kind of cause, in which words.
 *
 * Place: waits/, under causes.h, which asks here first. For whom a wait with a reason is led to,
 * and what took the rest of it: wait.h.
 */
#ifndef WHYLATE_WAITS_REASONS_H
#define WHYLATE_WAITS_REASONS_H

#include "waits/wait.h"

/* A row of each kind of reason. */
struct reason_info {
	uint8_t cause; /* enum cause_kind */
	/* What stands behind the kind's first words (causes.h); free with g_free(). */
	char *(*label)(const struct session *session, const struct wait *wait,
		       const struct reason *reason);
};

const struct reason_info *reason_info(const struct reason *reason);

#endif
