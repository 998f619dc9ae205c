/* SPDX-License-Identifier: MIT */
/* The table of reasons, and their words; see reasons.h. */
#include "waits/reasons.h"

#include "waits/cause_kinds.h"
#include "waits/disk_reasons.h"
#include "waits/timeouts.h"

const struct reason_info *reason_info(const struct reason *reason)
{
	static const struct reason_info infos[REASON_KINDS] = {
		[REASON_NONE] = {CAUSE_UNKNOWN, NULL},
		[REASON_IO_LIMIT] = {CAUSE_THROTTLED, io_limit_label},
		[REASON_DEVICE_HOLDS] = {CAUSE_BLOCK_DEVICE, device_holds_label},
		[REASON_UNANSWERED] = {CAUSE_TIMEOUT, unanswered_label},
		[REASON_UNCONNECTED] = {CAUSE_TIMEOUT, unconnected_label},
		[REASON_UNENDED] = {CAUSE_TIMEOUT, unended_label},
	};

	g_assert(reason->kind > REASON_NONE && reason->kind < REASON_KINDS);
	return &infos[reason->kind];
}
