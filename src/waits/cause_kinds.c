/* SPDX-License-Identifier: MIT */
/* The table of the kinds of causes; see cause_kinds.h. */
#include "waits/cause_kinds.h"

#include <glib.h>

const struct cause_info *cause_info(enum cause_kind kind)
{
#define CAUSE_ROW(kind, name, before, joint, naming, flags) {name, before, joint, naming, flags},
	static const struct cause_info infos[] = {CAUSE_KINDS(CAUSE_ROW)};
#undef CAUSE_ROW

	g_assert(kind < CAUSE_KIND_COUNT);
	return &infos[kind];
}

const char *cause_kind_text(enum cause_kind kind)
{
	return cause_info(kind)->name;
}

const char *time_words(const char *kind)
{
	static const struct {
		enum cause_kind kind;
		const char *words;
	} words[] = {
		{CAUSE_CPU, "work"},
		{CAUSE_BLOCK_DEVICE, "waiting for a disk"},
		{CAUSE_LOCK_OWNER, "waiting for a lock"},
		{CAUSE_WAIT_CPU, "ready but without a CPU"},
		{CAUSE_THROTTLED, "held back by a limit"},
		{CAUSE_HOST, "taken by the host of the virtual machine"},
		{CAUSE_TIMER, "asleep, by a timer"},
		{CAUSE_TIMEOUT, "waiting for an answer that did not come"},
		{CAUSE_NETWORK, "waiting for a peer"},
		{CAUSE_IRQ, "in interrupts"},
		{CAUSE_SOFTIRQ, "in softIRQs"},
		{CAUSE_PROCESS, "waiting for another process"},
		{CAUSE_CHILD, "waiting for a child"},
		{CAUSE_RETRY, "pauses between two tries"},
		{CAUSE_RETRANSMISSION, "waiting for lost packets"},
		{CAUSE_DELAYED_ACK, "waiting for a delayed acknowledgement"},
		{CAUSE_SEND_QUEUE, "waiting in a device's queue"},
		{CAUSE_STOPPED, "stopped"},
		{CAUSE_DEADLOCK, "in a deadlock"},
		{CAUSE_STILL_BLOCKED, "a wait that had not ended"},
		{CAUSE_UNKNOWN, "for what is not known"},
	};

	if (strcmp(kind, "other-request") == 0)
		return "waiting for another request's turn";
	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(kind, cause_kind_text(words[i].kind)) == 0)
			return words[i].words;
	return kind;
}
