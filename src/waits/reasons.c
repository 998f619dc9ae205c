/* SPDX-License-Identifier: MIT */
/* The table of reasons, and their words; see reasons.h. */
#include "waits/reasons.h"

#include "waits/cause_kinds.h"
#include "waits/reason_words.h"

const struct reason_info *reason_info(const struct reason *reason)
{
	static const struct reason_info infos[REASON_KINDS] = {
		[REASON_NONE] = {CAUSE_UNKNOWN, NULL},
		[REASON_IO_LIMIT] = {CAUSE_THROTTLED, io_limit_label},
		[REASON_FLUSH] = {CAUSE_BLOCK_DEVICE, flush_label},
		[REASON_DIRTY] = {CAUSE_THROTTLED, dirty_label},
		[REASON_DEVICE_HOLDS] = {CAUSE_BLOCK_DEVICE, device_holds_label},
		[REASON_UNANSWERED] = {CAUSE_TIMEOUT, unanswered_label},
		[REASON_UNCONNECTED] = {CAUSE_TIMEOUT, unconnected_label},
		[REASON_GIVEN_UP] = {CAUSE_TIMEOUT, given_up_label},
		[REASON_UNENDED] = {CAUSE_TIMEOUT, unended_label},
		[REASON_UNLOCKED] = {CAUSE_TIMEOUT, unlocked_label},
		[REASON_MEMORY_HIGH] = {CAUSE_THROTTLED, memory_high_label},
		[REASON_RECLAIM] = {CAUSE_THROTTLED, reclaim_label},
		[REASON_FROZEN] = {CAUSE_STOPPED, frozen_label},
		[REASON_FILES_FROZEN] = {CAUSE_LOCK_OWNER, files_frozen_label},
		[REASON_FILE_APPEARS] = {CAUSE_RETRY, try_label},
		[REASON_FILE_GOES] = {CAUSE_RETRY, try_label},
		[REASON_LISTENS] = {CAUSE_RETRY, try_label},
		[REASON_INPUT] = {CAUSE_RETRY, try_label},
		[REASON_LOCK_TRIED] = {CAUSE_LOCK_OWNER, try_lock_label},
		[REASON_FAILS] = {CAUSE_RETRY, try_fails_label},
		[REASON_PROCESS_ENDS] = {CAUSE_RETRY, try_label},
		[REASON_ANSWER] = {CAUSE_RETRY, answer_label},
		[REASON_READ_LOCKED] = {CAUSE_LOCK_OWNER, read_locked_label},
		[REASON_FUTEX_TIMED] = {CAUSE_LOCK_OWNER, try_futex_label},
		[REASON_RETRANSMISSION] = {CAUSE_RETRANSMISSION, again_label},
		[REASON_DELAYED_ACK] = {CAUSE_DELAYED_ACK, delayed_label},
		[REASON_SEND_QUEUE] = {CAUSE_SEND_QUEUE, queue_label},
		[REASON_MACHINE] = {CAUSE_BLOCK_DEVICE, machine_label},
		[REASON_LATE_TIMER] = {CAUSE_TIMER, late_timer_label},
	};

	g_assert(reason->kind > REASON_NONE && reason->kind < REASON_KINDS);
	return &infos[reason->kind];
}
