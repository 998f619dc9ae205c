/* SPDX-License-Identifier: MIT */
/* See names.h. */
#include "words/names.h"

#include <string.h>

#include "waits/state_names.h"

void append_one(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

guint stem_length(const struct session *session, const char *name)
{
	if (session->asked.options->anonymiser) /* numbers are all that tells names apart */
		return (guint) strlen(name);
	return name_stem(name);
}

/* --- where --------------------------------------------------------------------------- */

/* "/data.bin", "socket 127.0.0.1:80", "futex 0x55aa": the key as one says it. */
static char *said(const char *key)
{
	char *words = g_strdup(resource_words(key)), *colon = strchr(words, ':');

	if (g_str_has_prefix(words, "file:"))
		memmove(words, words + strlen("file:"), strlen(words) - strlen("file:") + 1);
	else if (colon && colon[1])
		*colon = ' ';
	return words;
}

void append_on(GString *text, const struct session *session, uint32_t resource)
{
	static const char *const in_the_call[] = {"sleep", "poll", "timeout", "several"};
	const char *key = session_text(session, resource);
	g_autofree char *words = NULL;

	if (!resource || g_str_has_prefix(key, "child:"))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(in_the_call); i++)
		if (strcmp(key, in_the_call[i]) == 0)
			return;
	words = said(key);
	g_string_append_printf(text, " on %s", words);
}

void append_where(GString *text, const struct session *session, uint32_t leaf, uint32_t resource,
		  bool ending)
{
	if (ending) {
		g_string_append(text, "its end");
		return;
	}
	switch (PACK_KIND(leaf)) {
	case LEAF_BLOCK_SYSCALL:
		g_string_append(text, session_text(session, PACK_NUMBER(leaf)));
		append_on(text, session, resource);
		break;
	case LEAF_BLOCK_FAULT:
		g_string_append(text, "a page fault");
		append_on(text, session, resource);
		break;
	case LEAF_BLOCK_STOPPED:
	case LEAF_BLOCK_TRACED:
		g_string_append(text, "a stop");
		break;
	case LEAF_BLOCK_KTHREAD:
		g_string_append(text, "kernel code");
		break;
	case LEAF_BLOCK_OTHER:
		if (PACK_NUMBER(leaf))
			g_string_append_printf(text, "%s, on the way back from it",
					       session_text(session, PACK_NUMBER(leaf)));
		else
			g_string_append(text, "a trap, or on the way in or out of a call");
		break;
	default:
		g_string_append(text, "an unknown state");
		break;
	}
}

void append_in(GString *text, const struct session *session, uint32_t leaf, bool ending)
{
	if (PACK_KIND(leaf) == LEAF_WORK_SYSCALL)
		leaf = PACK(LEAF_BLOCK_SYSCALL, PACK_NUMBER(leaf));
	if (PACK_KIND(leaf) != LEAF_BLOCK_SYSCALL && PACK_KIND(leaf) != LEAF_BLOCK_FAULT)
		return;
	g_string_append(text, "in ");
	append_where(text, session, leaf, 0, ending);
	g_string_append_c(text, ' ');
}

/* --- for what ------------------------------------------------------------------------ */

static const struct {
	const char *prefix, *words;
	bool name; /* what stands behind the prefix is told */
} objects[] = {
	{"device:", "", true},
	{"swap:", "swap on ", true},
	{"cpu:quota", "its cgroup's CPU quota", false},
	{"cpu:real-time", "the kernel's limit for real-time threads", false},
	{"cpu:deadline", "the runtime that SCHED_DEADLINE gives it", false},
	{"cpu:host", "the host, which did not run its virtual CPU", false},
	{"cpu:vcpu", "a CPU for a virtual one", false},
	{"cpu:affinity", "a CPU that it is pinned to", false},
	{"retransmission:", "", true},
	{"delayed-ack:", "", true},
	{"send-queue:", "", true},
	{"queue:", "", true},
	{"socket:unix", "a unix socket", false},
	{"socket:", "", true},
	{"child:", "its child ", true},
	{"work:", "", true},
	{"irq:", "IRQ ", true},
	{"softirq:", "softIRQ ", true},
	{"vector:", "the interrupt ", true},
	{"limit:", "the limit ", true},
	{"eventfd", "an eventfd", false},
	{"timerfd", "a timerfd", false},
	{"epoll", "an epoll descriptor", false},
};

static bool is_disk(const char *device)
{
	static const char *const names[] = {"vd", "sd", "nvme", "dm-", "md", "loop", "mmcblk"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_has_prefix(device, names[i]))
			return true;
	return false;
}

void append_object(GString *text, const struct session *session, uint32_t object, bool lock)
{
	const char *key = session_text(session, object);

	if (lock && !*key) {
		g_string_append(text, "the lock of a file whose name was not recorded");
		return;
	}
	if (lock && g_str_has_prefix(key, "fd:")) {
		g_string_append_printf(text, "the lock of a file whose name was not recorded (%s)",
				       key);
		return;
	}
	if (lock) {
		g_string_append_printf(text, "%s %s",
				       g_str_has_prefix(key, "futex:") ? "the lock" : "the lock of",
				       resource_name(key));
		return;
	}
	if (g_str_has_prefix(key, "device:") && is_disk(key + strlen("device:")))
		g_string_append(text, "the disk ");
	for (size_t i = 0; i < G_N_ELEMENTS(objects); i++) {
		if (!g_str_has_prefix(key, objects[i].prefix))
			continue;
		g_string_append_printf(text, "%s%s", objects[i].words,
				       objects[i].name ? key + strlen(objects[i].prefix) : "");
		return;
	}
	g_string_append(text,
			g_str_has_prefix(key, "file:") ? resource_name(key) : resource_words(key));
}
