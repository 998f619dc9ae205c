/* SPDX-License-Identifier: MIT */
/* The words of the verdict's sentences: share_words.h.
 *
 * Part of path/.
 */
#include "path/share_words.h"

#include <string.h>

#include "event/softirqs.h"
#include "path/ending.h"
#include "path/spins.h"
#include "waits/state_names.h"
#include "util/when.h"
#include "waits/reason_words.h"
#include "waits/reasons.h"
#include "waits/summary.h"

#define TOO_LITTLE " (too little memory: its cgroup's memory.max, or the host's)"

/* --- how long, on what -------------------------------------------------------------- */

/* " for 12.3 ms" */
static void append_for(GString *text, const struct share *share, bool amount)
{
	char length[32];

	if (!amount)
		return;
	if (text->len && text->str[text->len - 1] == ' ')
		g_string_truncate(text, text->len - 1);
	g_string_append_printf(text, " for %s", when_duration(length, share->ns));
}

/* "10 to 30 ms", "213 µs to 34 ms", "500 ms" */
static void append_range(GString *text, int64_t least, int64_t most)
{
	char a[32], b[32];
	char *unit;

	when_rough(a, least);
	when_rough(b, most);
	unit = strchr(a, ' ');
	if (strcmp(a, b) == 0) {
		g_string_append(text, a);
		return;
	}
	if (unit && g_str_has_suffix(b, unit))
		*unit = 0;
	g_string_append_printf(text, "%s to %s", a, b);
}

/* " 25 times, 1.0 to 2.0 ms each, 30.1 ms in all" */
static void append_times(GString *text, const struct share *share, bool amount)
{
	char length[32];

	when_duration(length, share->ns);
	if (share->count == 1) {
		if (amount)
			g_string_append_printf(text, " %s", length);
		return;
	}
	g_string_append_printf(text, " %" G_GUINT64_FORMAT " times, ", share->count);
	append_range(text, MIN(share->shortest, share->current), share->longest);
	g_string_append(text, " each");
	if (amount)
		g_string_append_printf(text, ", %s in all", length);
}

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

/* " on /data.bin"; nothing where the call says it all. */
static void append_resource(GString *text, const struct session *session, uint32_t resource)
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

/* " on /lib/x.so and 7 other files" */
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

/* What the work in a call was on, if most of it was on one file. */
static void append_object(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);

	if (!most || most->ns * 2 < share->ns)
		return;
	append_resource(text, session, most->ref & ~REF_FOR_WRITING);
	if (share_copies_up(share))
		g_string_append(text, ", opened for writing (so an overlay file system copies it "
				      "up first)");
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

/* --- without a CPU ------------------------------------------------------------------ */

/* " (on it ran hog-0 52 %, hog-1 47 %)" */
static void append_runners(GString *text, const struct share *share)
{
	g_string_append(text, " (on it ran ");
	runners_append_brief(&share->runners, text);
	g_string_append_c(text, ')');
}

/* "was ready to run but waited for CPU 0 (…), while CPU 1 was idle for …: webproc is pinned to …"
 */
static bool append_pinned(GString *text, const struct session *session, const struct share *share,
			  bool amount)
{
	g_autoptr(GString) why = g_string_new(NULL);

	if (!runners_append_pinned(&share->runners, session, share->thread, why))
		return false;
	g_string_append(text, "was ready to run but waited");
	append_for(text, share, amount);
	g_string_append_printf(text, " for CPU %u", share->runners.worst.cpu);
	append_runners(text, share);
	g_string_append_printf(text, ", while %s", why->str);
	return true;
}

static void append_ready(GString *text, const struct session *session, const struct share *share,
			 bool amount)
{
	if (share->cause == CAUSE_THROTTLED) {
		g_string_append(text, "was throttled");
		append_times(text, share, amount);
		g_string_append(text, " (inferred: ready, yet kept off an idle CPU, as when its "
				      "cgroup's quota is used up)");
		return;
	}
	if (append_pinned(text, session, share, amount))
		return;
	g_string_append(text, "was ready to run but kept off the CPU");
	append_for(text, share, amount);
	append_runners(text, share);
}

/* --- waits -------------------------------------------------------------------------- */

/* What ended the wait: " for block device vda, …", ", ended by …". */
static void append_cause(GString *text, const struct session *session, const struct share *share)
{
	struct cause cause = {.kind = share->cause,
			      .label = share->cause_label,
			      .inferred = share->inferred};
	const char *comma = share->count > 1 ? "," : "";
	g_autofree char *words = NULL;

	if (!share->cause_label)
		return;
	words = cause_words(&cause);
	if (share->cause == CAUSE_TIMER && share->own_timer) {
		g_string_append_printf(text, "%s until its own time-out", comma);
		if (strcmp(session_text(session, share->resource), "timeout") == 0)
			g_string_append(text, ", as no event came");
		return;
	}
	if (share->cause == CAUSE_BLOCK_DEVICE)
		g_string_append_printf(text, "%s for block device %s", comma, share->cause_label);
	else if (share->cause == CAUSE_TIMEOUT)
		g_string_append_printf(text, "%s until %s", comma, share->cause_label);
	else
		g_string_append_printf(text, "%s %s", cause_info(share->cause)->joint, words);
	if (share->count > 1)
		g_string_append(text, " (the longest)");
}

static void append_fault(GString *text, const struct session *session, const struct share *share)
{
	g_string_append(text, share->count > 1 ? " in page faults" : " in a page fault");
	if (!share->resource) {
		append_files(text, session, share);
		return;
	}
	append_resource(text, session, share->resource);
	if (strcmp(session_text(session, share->resource), "swap") == 0)
		g_string_append(text, TOO_LITTLE);
}

static void append_wait(GString *text, const struct session *session, const struct share *share,
			bool amount)
{
	const char *call = PACK_KIND(share->leaf) == LEAF_BLOCK_SYSCALL
				   ? session_text(session, PACK_NUMBER(share->leaf))
				   : NULL;
	bool stopped = PACK_KIND(share->leaf) == LEAF_BLOCK_STOPPED ||
		       PACK_KIND(share->leaf) == LEAF_BLOCK_TRACED;

	if (call && share_is_sleep(session, share)) {
		g_string_append(text, "slept");
		append_times(text, share, amount);
		g_string_append_printf(text, "%s by its own timer (%s)",
				       share->count > 1 ? "," : "", call);
		return;
	}
	g_string_append(text, stopped ? "was stopped" : "waited");
	append_times(text, share, amount);
	if (call) {
		g_string_append_printf(text, "%s in %s", share->count > 1 ? "," : "", call);
		append_resource(text, session, share->named);
	} else if (PACK_KIND(share->leaf) == LEAF_BLOCK_FAULT) {
		g_string_append(text, share->count > 1 ? "," : "");
		append_fault(text, session, share);
	}
	append_cause(text, session, share);
}

/* --- all that a thread does --------------------------------------------------------- */

/* "worked in read on /data.bin"; behind another of that kind only " in read on …". */
static void append_call(GString *text, const struct session *session, const struct share *share,
			bool amount, const struct share *before)
{
	if (!before || PACK_KIND(before->leaf) != LEAF_WORK_SYSCALL || before->ending)
		g_string_append(text, "worked");
	append_for(text, share, amount);
	g_string_append_printf(text, " in %s", session_text(session, PACK_NUMBER(share->leaf)));
	append_object(text, session, share);
	append_spin(text, session, share);
	if (strcmp(session_text(session, PACK_NUMBER(share->leaf)), "sched_yield") == 0)
		append_spinning(text, session, share->thread, share->leaf);
}

static void append_interrupted(GString *text, const struct session *session,
			       const struct share *share, bool amount, const struct share *before)
{
	g_autofree char *label = leaf_label(session, share->leaf);
	const char *softirq = PACK_KIND(share->leaf) == LEAF_INT_SOFTIRQ
				      ? softirq_name(PACK_NUMBER(share->leaf))
				      : NULL;

	if (!before || leaf_wib(before->leaf) != WIB_INTERRUPTED || share_is_ready(before))
		g_string_append(text, "was interrupted");
	append_for(text, share, amount);
	if (PACK_KIND(share->leaf) == LEAF_INT_VECTOR)
		g_string_append_printf(text, " by the interrupt %s",
				       session_text(session, PACK_NUMBER(share->leaf)));
	else if (softirq)
		g_string_append_printf(text, " by softIRQ %s", softirq);
	else
		g_string_append_printf(text, " by %s", label);
	append_packets(text, session, share);
}

static void append_own_code(GString *text, const struct share *share, bool amount)
{
	g_string_append(text, share->reclaim ? "freed memory for its page faults in the kernel"
					     : "ran its own code");
	append_for(text, share, amount);
	if (share->reclaim)
		g_string_append(text, ", by writing it to swap" TOO_LITTLE);
}

void append_deed(GString *text, const struct session *session, const struct share *share,
		 bool amount, const struct share *before)
{
	char length[32];

	if (share->ending) {
		append_ending(text, session, share->thread, leaf_is_blocked(share->leaf));
		if (amount)
			g_string_append_printf(text, " (%s)", when_duration(length, share->ns));
		return;
	}
	if (leaf_is_blocked(share->leaf)) {
		append_wait(text, session, share, amount);
		return;
	}
	switch (PACK_KIND(share->leaf)) {
	case LEAF_WORK_USER:
		append_own_code(text, share, amount);
		break;
	case LEAF_WORK_KTHREAD:
	case LEAF_WORK_SOFTIRQ:
		g_string_append(text, "worked in the kernel");
		append_for(text, share, amount);
		append_packets(text, session, share);
		break;
	case LEAF_WORK_SYSCALL:
		append_call(text, session, share, amount, before);
		break;
	case LEAF_WAIT_CPU:
		append_ready(text, session, share, amount);
		break;
	case LEAF_UNKNOWN:
		g_string_append(text, "was in a state that is not known");
		append_for(text, share, amount);
		break;
	default:
		append_interrupted(text, session, share, amount, before);
		break;
	}
}

/* --- who, where --------------------------------------------------------------------- */

void append_name(GString *text, const struct telling *telling, uint32_t thread)
{
	const struct session *session = telling->session;

	if (siblings_differ(&telling->siblings, thread))
		g_string_append(text, "one of them");
	else
		g_string_append_printf(text, "%s%s", session_thread_name(session, thread),
				       session_on(session, thread));
}

void append_thread(GString *text, const struct telling *telling, uint32_t thread)
{
	const struct session *session = telling->session;
	guint count = siblings_count(&telling->siblings, session, thread);
	const struct thread *at;

	thread = siblings_first(&telling->siblings, session, thread);
	at = model_thread(&session->trace.model, thread);
	if (siblings_differ(&telling->siblings, thread))
		g_string_append_printf(text, "%s (with %u others)%s",
				       session_thread_name(session, thread), count - 1,
				       session_on(session, thread));
	else if (count == 1)
		g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
				       at->tid, session_on(session, thread));
	else
		g_string_append_printf(text, "%s (%u %s)%s", session_thread_name(session, thread),
				       count, at->pid == at->tid ? "processes" : "threads",
				       session_on(session, thread));
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
	case LEAF_BLOCK_KTHREAD:
		g_string_append(text, "kernel code");
		break;
	default:
		g_string_append(text, "an unknown state");
		break;
	}
}

void append_clause(GString *text, const struct session *session, const struct block *block)
{
	const struct reason *reason = block_reason(session, block);
	g_autofree char *clause = NULL;

	if (reason && (reason->kind == REASON_GIVEN_UP ||
		       (reason->kind == REASON_UNCONNECTED && reason->result)))
		clause = g_strdup(" until TCP gave it up");
	else if (reason && reason_info(reason)->cause == CAUSE_TIMEOUT)
		clause = g_strdup(reason->flags & REASON_LATE ? "" : " until its own time limit");
	else if (reason)
		clause = reason_clause(session, reason);
	if (clause)
		g_string_append(text, clause);
}
