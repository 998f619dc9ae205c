/* SPDX-License-Identifier: MIT */
/* The table of reasons, and their words; see reasons.h. */
#include "waits/reasons.h"

#include "waits/cause_kinds.h"

const struct reason_info *reason_info(const struct reason *reason)
{
	static const struct reason_info infos[REASON_KINDS] = {
		[REASON_NONE] = {CAUSE_UNKNOWN, NULL},
	};

	g_assert(reason->kind > REASON_NONE && reason->kind < REASON_KINDS);
	return &infos[reason->kind];
}
