/* SPDX-License-Identifier: MIT */
/* The words of the verdict's sentences: share_words.h.
 *
 * Part of path/.
 */
#include "path/share_words.h"

#include <string.h>

#include "path/ending.h"
#include "path/spins.h"
#include "waits/state_names.h"
#include "waits/reason_words.h"
#include "waits/reasons.h"
#include "waits/summary.h"

/* " (on that CPU: hog-0 52 %, hog-1 47 %)" */
static void append_runners(GString *text, const struct share *share)
{
	g_string_append(text, " (meanwhile on that CPU: ");
	runners_append(&share->runners, text);
	g_string_append_c(text, ')');
}

/* "waited for CPU 0 (which dbproc 99 % had), while CPU 1 was idle for …: webproc is pinned to …" */
static bool append_pinned(GString *text, const struct session *session, const struct share *share)
{
	g_autoptr(GString) why = g_string_new(NULL);

	if (!runners_append_pinned(&share->runners, session, share->thread, why))
		return false;
	g_string_append_printf(text, "was ready but waited for CPU %u", share->runners.worst.cpu);
	append_runners(text, share);
	g_string_append_printf(text, ", while %s", why->str);
	return true;
}

static void append_resource(GString *text, const struct session *session, uint32_t resource)
{
	const char *key = session_text(session, resource);

	if (resource && strcmp(key, "sleep") != 0 && strcmp(key, "poll") != 0)
		g_string_append_printf(text, " on %s", resource_words(key));
}

/* ", 12.3 ms of it spinning for a lock that flusher (226) had (inferred)" */
static void append_spin(GString *text, const struct session *session, const struct share *share)
{
	char length[32];

	if (share->spun * 20 < share->ns || !is_thread(share->spun_for))
		return;
	g_string_append_printf(text, ", %s of it spinning for a lock that %s (%d)%s had (inferred)",
			       when_duration(length, share->spun),
			       session_thread_name(session, share->spun_for),
			       model_thread(&session->trace.model, share->spun_for)->tid,
			       session_on(session, share->spun_for));
}

/* "on file:/lib/x.so and 7 other files" */
static void append_files(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);

	if (!most)
		return;
	append_resource(text, session, most->ref);
	if (share->objects->len > 1)
		g_string_append_printf(text, " and %u other file%s", share->objects->len - 1,
				       share->objects->len == 2 ? "" : "s");
}

#define COPIES_MIN                                                                                 \
	10000000 /* ns: opening takes less than that, but for what the system call does */

/* What the work in a call was on, if most of it was on one file. */
static void append_object(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);

	if (!most || most->ns * 2 < share->ns)
		return;
	append_resource(text, session, most->ref & ~REF_FOR_WRITING);
	if ((most->ref & REF_FOR_WRITING) && most->ns >= COPIES_MIN)
		g_string_append(text, ", opened for writing (so an overlay file system copies it "
				      "up first)");
}

/* " for packets from 10.0.0.2 to port 5001 of iperf (123)": those that took most of the time. */
static void append_packets(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);
	g_autofree char *words = most ? packet_words(session, share->thread, most->ref) : NULL;
	char length[32];

	if (!words)
		return;
	g_string_append_printf(text, " %s", words);
	if (most->ns * 10 < share->ns * 9)
		g_string_append_printf(text, " (%s of it) and others",
				       when_duration(length, most->ns));
}

#define TOO_LITTLE " (too little memory: its cgroup's memory.max, or the host's)"

void append_what(GString *text, const struct session *session, const struct share *share)
{
	g_autofree char *label = leaf_label(session, share->leaf);
	uint32_t number = PACK_NUMBER(share->leaf); /* a name's only for some */

	if (share->ending) {
		append_ending(text, session, share->thread, leaf_is_blocked(share->leaf));
		return;
	}
	switch (PACK_KIND(share->leaf)) {
	case LEAF_WORK_USER:
		g_string_append(text,
				share->reclaim
					? "freed memory for its page faults in the kernel, by "
					  "writing it to swap" TOO_LITTLE
					: "ran its own code");
		break;
	case LEAF_WORK_KTHREAD:
	case LEAF_WORK_SOFTIRQ:
		g_string_append(text, "worked in the kernel");
		append_packets(text, session, share);
		break;
	case LEAF_WORK_SYSCALL:
		g_string_append_printf(text, "worked in system call %s",
				       session_text(session, number));
		append_object(text, session, share);
		append_spin(text, session, share);
		if (strcmp(session_text(session, number), "sched_yield") == 0)
			append_spinning(text, session, share->thread, share->leaf);
		break;
	case LEAF_PREEMPTED:
	case LEAF_WAIT_CPU:
		if (append_pinned(text, session, share))
			break;
		if (share->cause == CAUSE_THROTTLED) {
			g_string_append(text,
					"was throttled (inferred: ready, yet kept off an idle "
					"CPU, as when its cgroup's quota is used up)");
			break;
		}
		g_string_append(text, PACK_KIND(share->leaf) == LEAF_PREEMPTED
					      ? "was preempted"
					      : "was ready but waited for a CPU");
		append_runners(text, share);
		break;
	case LEAF_UNKNOWN:
		g_string_append(text, "did what is not known");
		break;
	case LEAF_BLOCK_SYSCALL:
		g_string_append_printf(text, "was blocked in %s", session_text(session, number));
		append_resource(text, session, share->named);
		break;
	case LEAF_BLOCK_FAULT:
		g_string_append(text, "was blocked in a page fault");
		if (share->resource)
			append_resource(text, session, share->resource);
		if (strcmp(session_text(session, share->resource), "swap") == 0)
			g_string_append(text, TOO_LITTLE);
		if (!share->resource)
			append_files(text, session, share);
		break;
	case LEAF_BLOCK_STOPPED:
	case LEAF_BLOCK_TRACED:
		g_string_append(text, "was stopped");
		break;
	default:
		if (leaf_is_blocked(share->leaf))
			g_string_append(text, "was blocked");
		else
			g_string_append_printf(text, "was interrupted: %s", label);
		append_packets(text, session, share);
		break;
	}
}

void append_times(GString *text, const struct share *share)
{
	char a[32], b[32];

	if (share->count > 1 && (leaf_is_blocked(share->leaf) || share->cause == CAUSE_THROTTLED))
		g_string_append_printf(text, " %" G_GUINT64_FORMAT " times (%s to %s)",
				       share->count,
				       when_duration(a, MIN(share->shortest, share->current)),
				       when_duration(b, share->longest));
}

void append_cause(GString *text, const struct session *session, const struct share *share)
{
	struct cause cause = {.kind = share->cause,
			      .label = share->cause_label,
			      .inferred = share->inferred};
	g_autofree char *words = NULL;

	if (!leaf_is_blocked(share->leaf) || !share->cause_label)
		return;
	words = cause_words(&cause);
	g_string_append_printf(text, "%s %s%s", cause_info(share->cause)->joint, words,
			       share->count > 1 ? " (the longest)" : "");
	if (share->cause == CAUSE_TIMER &&
	    strcmp(session_text(session, share->resource), "timeout") == 0)
		g_string_append(text, ": nothing came of what it waited for there");
}

void append_thread(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

void append_where(GString *text, const struct session *session, uint32_t leaf, uint32_t resource,
		  bool ending)
{
	g_autofree char *label = leaf_label(session, leaf);

	if (ending) {
		g_string_append(text, "its end");
		return;
	}
	switch (PACK_KIND(leaf)) {
	case LEAF_BLOCK_SYSCALL:
		g_string_append(text, session_text(session, PACK_NUMBER(leaf)));
		append_resource(text, session, resource);
		break;
	case LEAF_BLOCK_FAULT:
		g_string_append(text, "a page fault");
		append_resource(text, session, resource);
		break;
	case LEAF_BLOCK_STOPPED:
	case LEAF_BLOCK_TRACED:
		g_string_append(text, "a stop");
		break;
	default:
		g_string_append_printf(text, "[%s]", label);
		break;
	}
}

void append_clause(GString *text, const struct session *session, const struct block *block)
{
	const struct reason *reason = block_reason(session, block);
	g_autofree char *clause = NULL;

	if (reason && reason_info(reason)->cause == CAUSE_TIMEOUT)
		clause = g_strdup(reason->flags & REASON_LATE ? "" : " until its own time limit");
	else if (reason)
		clause = reason_clause(session, reason);
	if (clause)
		g_string_append(text, clause);
}
