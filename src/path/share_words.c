/* SPDX-License-Identifier: MIT */
/* The words of the verdict's sentences: share_words.h.
 *
 * Part of path/.
 */
#include "path/share_words.h"

#include <string.h>

#include "event/softirqs.h"
#include "path/spins.h"
#include "ready/host_span.h"
#include "waits/state_names.h"
#include "util/when.h"
#include "waits/summary.h"
#include "words/deed.h"
#include "words/names.h"

#define TOO_LITTLE " (too little memory: its cgroup's memory.max, or the host's)"

/* --- on what --------------------------------------------------------------------------- */

/* " on /lib/x.so and 7 other files" */
static void append_files(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);

	if (!most)
		return;
	append_on(text, session, most->ref);
	if (share->objects->len > 1)
		g_string_append_printf(text, " and %u other file%s", share->objects->len - 1,
				       share->objects->len == 2 ? "" : "s");
}

/* What the work in a call was on, if most of it was on one file. */
static void append_file(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);

	if (!most || most->ns * 2 < share->times.ns)
		return;
	append_on(text, session, most->ref & ~REF_FOR_WRITING);
	if (share_copies_up(share))
		g_string_append(text, ", opened for writing (so an overlay file system copies it "
				      "up first)");
}

/* ", 12.3 ms of it spinning for a lock that flusher (226) had (inferred)" */
static void append_spin(GString *text, const struct session *session, const struct share *share)
{
	char length[32];

	if (share->spun * 20 < share->times.ns || !is_thread(share->spun_for))
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
	if (most->ns * 10 < share->times.ns * 9)
		g_string_append_printf(text, " (%s of it) and others",
				       when_duration(length, most->ns));
}

/* --- without a CPU ------------------------------------------------------------------ */

/* " (on it ran hog-0 52 %, hog-1 47 %)" */
static void append_runners(GString *text, const struct share *share)
{
	g_string_append(text, " (");
	runners_append_brief(&share->runners, span_is_hosts(share->leaf) ? "its CPU" : "it", text);
	g_string_append_c(text, ')');
}

/* "was ready to run but waited for CPU 0 (…), while CPU 1 was idle for …: webproc is pinned to …"
 */
static bool append_pinned(GString *text, const struct session *session, const struct share *share,
			  bool sum)
{
	g_autoptr(GString) why = g_string_new(NULL);

	if (!runners_append_pinned(&share->runners, session, share->thread, why))
		return false;
	g_string_append(text, "was ready to run but waited");
	if (sum)
		append_for(text, share->times.ns);
	g_string_append_printf(text, " for CPU %u", share->runners.worst.cpu);
	append_runners(text, share);
	g_string_append_printf(text, ", while %s", why->str);
	return true;
}

/* --- waits -------------------------------------------------------------------------- */

/* What ended the wait: " for block device vda, …", ", ended by …". */
static void append_cause(GString *text, const struct session *session, const struct share *share)
{
	struct cause cause = {.kind = share->cause,
			      .label = share->cause_label,
			      .inferred = share->inferred};
	const char *comma = share->times.count > 1 ? "," : "";
	g_autofree char *words = NULL;

	if (!share->cause_label)
		return;
	words = cause_words(&cause);
	if (share->cause == CAUSE_TIMER && share->own_timer) {
		/* KVM_RUN has no time limit */
		g_string_append_printf(text, "%s until %s", comma,
				       model_thread(&session->trace.model, share->thread)->vcpu
					       ? "a timer of its guest"
					       : "its own time-out");
		if (strcmp(session_text(session, share->resource), "timeout") == 0)
			g_string_append(text, ", as no event came");
		return;
	}
	if (share->cause == CAUSE_BLOCK_DEVICE)
		g_string_append_printf(text, "%s for block device %s", comma, share->cause_label);
	else if (share->cause == CAUSE_TIMEOUT)
		g_string_append_printf(text, "%s until %s", comma, share->cause_label);
	else if (g_str_has_prefix(words, "until ")) /* it was killed */
		g_string_append_printf(text, "%s %s", comma, words);
	else
		g_string_append_printf(text, "%s %s", cause_info(share->cause)->joint, words);
	if (share->times.count > 1)
		append_longest(text, false);
}

static void append_fault(GString *text, const struct session *session, const struct share *share)
{
	g_string_append(text, share->times.count > 1 ? ", in page faults" : " in a page fault");
	if (!share->resource) {
		append_files(text, session, share);
		return;
	}
	append_on(text, session, share->resource);
	if (strcmp(session_text(session, share->resource), "swap") == 0)
		g_string_append(text, TOO_LITTLE);
}

/* ": hypervisor did not run CPU 0/KVM (277), its virtual CPU (on it ran hosthog 53 %, …)" */
static void append_host(GString *text, const struct session *session, const struct share *share)
{
	const struct model *model = &session->trace.model;
	uint32_t vcpu = share->resource;
	const struct thread *thread = is_thread(vcpu) ? model_thread(model, vcpu) : NULL;

	if (!thread)
		return;
	g_string_append_printf(text, ": %s did not run %s (%d), its virtual CPU",
			       trace_host_name(&session->trace, thread->host),
			       session_own_name(session, vcpu), thread->tid);
	if (share->cause == CAUSE_THROTTLED) {
		g_string_append(text, ", but throttled it (inferred)");
	} else if (span_is_hosts_ready(share->leaf)) {
		append_runners(text, share);
	} else {
		g_string_append(text, ", which waited");
		append_cause(text, session, share);
	}
}

/* --- all that a thread does --------------------------------------------------------- */

static void append_interrupts(GString *text, const struct session *session,
			      const struct share *share)
{
	g_autofree char *label = leaf_label(session, share->leaf);
	const char *softirq = PACK_KIND(share->leaf) == LEAF_INT_SOFTIRQ
				      ? softirq_name(PACK_NUMBER(share->leaf))
				      : NULL;

	if (PACK_KIND(share->leaf) == LEAF_INT_VECTOR)
		g_string_append_printf(text, " by the interrupt %s",
				       session_text(session, PACK_NUMBER(share->leaf)));
	else if (softirq)
		g_string_append_printf(text, " by softIRQ %s", softirq);
	else
		g_string_append_printf(text, " by %s", label);
	append_packets(text, session, share);
}

static enum did did_of(const struct session *session, const struct share *share)
{
	if (share->ending)
		return DID_END;
	if (leaf_is_blocked(share->leaf)) {
		bool stopped = PACK_KIND(share->leaf) == LEAF_BLOCK_STOPPED ||
			       PACK_KIND(share->leaf) == LEAF_BLOCK_TRACED;

		return PACK_KIND(share->leaf) == LEAF_BLOCK_SYSCALL &&
				       share_is_sleep(session, share)
			       ? DID_SLEEP
			       : (stopped ? DID_STOP : DID_WAIT);
	}
	switch (PACK_KIND(share->leaf)) {
	case LEAF_WORK_USER:
		return DID_OWN_CODE;
	case LEAF_WORK_KTHREAD:
	case LEAF_WORK_SOFTIRQ:
		return DID_KERNEL;
	case LEAF_WORK_SYSCALL:
		return DID_WORK;
	case LEAF_WORK_GUEST:
		return DID_GUEST;
	case LEAF_WORK_HALTED:
		return DID_HALTED;
	case LEAF_HOST:
		return DID_HOST;
	case LEAF_WAIT_CPU:
		return share->cause == CAUSE_THROTTLED ? DID_THROTTLED
		       : share->cause == CAUSE_TIMER   ? DID_SLEEP
						       : DID_READY;
	case LEAF_UNKNOWN:
		return DID_OTHER;
	default:
		return DID_INTERRUPTED;
	}
}

static bool has_call(const struct share *share)
{
	return PACK_KIND(share->leaf) == LEAF_BLOCK_SYSCALL ||
	       PACK_KIND(share->leaf) == LEAF_WORK_SYSCALL;
}

static struct deed deed_of(const struct session *session, const struct share *share)
{
	struct deed deed = {.thread = share->thread,
			    .did = (uint8_t) did_of(session, share),
			    .blocked = leaf_is_blocked(share->leaf),
			    .call = has_call(share) ? PACK_NUMBER(share->leaf) : 0,
			    .times = share->times};

	if (deed.did == DID_WAIT)
		deed.object = share->named;
	if (deed.did == DID_SLEEP && share_is_ready(share)) /* until its next period begins */
		deed.call = intern_id(session->trace.model.names, "sched_yield");
	return deed;
}

/* ", 409.2 ms of it in its handler of signal 14 (SIGALRM)" */
static void append_handler(GString *text, const struct session *session, const struct share *share)
{
	const struct worked_on *most = main_object(share);
	char length[32];

	if (most && most->ns * 20 >= share->times.ns)
		g_string_append_printf(text, ", %s of it in %s", when_duration(length, most->ns),
				       session_text(session, most->ref));
}

/* What stands behind what was done. */
static void append_more(GString *text, const struct session *session, const struct share *share,
			enum did did)
{
	switch (did) {
	case DID_THROTTLED:
		g_string_append_c(text, ' ');
		runners_append_throttled(&share->runners, text);
		break;
	case DID_READY:
		append_runners(text, share);
		break;
	case DID_HOST:
		append_host(text, session, share);
		break;
	case DID_KERNEL:
		append_packets(text, session, share);
		break;
	case DID_INTERRUPTED:
		append_interrupts(text, session, share);
		break;
	case DID_WORK:
		append_file(text, session, share);
		append_spin(text, session, share);
		if (strcmp(session_text(session, PACK_NUMBER(share->leaf)), "sched_yield") == 0)
			append_spinning(text, session, share->thread, share->leaf);
		append_asking(text, session, share->thread, share->times.ns / 2);
		break;
	case DID_OWN_CODE:
		append_handler(text, session, share);
		append_asking(text, session, share->thread, share->times.ns / 2);
		break;
	case DID_WAIT:
		if (PACK_KIND(share->leaf) == LEAF_BLOCK_FAULT)
			append_fault(text, session, share);
		append_cause(text, session, share);
		break;
	case DID_STOP:
		append_cause(text, session, share);
		break;
	default:
		break;
	}
}

static void append_reclaim(GString *text, const struct share *share, bool sum)
{
	g_string_append(text, "freed memory for its page faults in the kernel");
	if (sum)
		append_for(text, share->times.ns);
	g_string_append(text, ", by writing it to swap" TOO_LITTLE);
}

void append_share(GString *text, const struct session *session, const struct share *share, bool sum,
		  const struct share *before)
{
	struct deed deed = deed_of(session, share);

	if (deed.did == DID_READY && append_pinned(text, session, share, sum))
		return;
	if (deed.did == DID_OWN_CODE && share->reclaim) {
		append_reclaim(text, share, sum);
		return;
	}
	append_deed(text, session, &deed, sum, before && did_of(session, before) == deed.did);
	append_more(text, session, share, (enum did) deed.did);
}

/* --- who, where --------------------------------------------------------------------- */

/* " on web", if hosts are told apart and it is of one. */
static const char *on_host(const struct telling *telling, uint32_t thread)
{
	return siblings_hosts(&telling->siblings, thread) ? ""
							  : session_on(telling->session, thread);
}

void append_name(GString *text, const struct telling *telling, uint32_t thread)
{
	const struct session *session = telling->session;

	if (siblings_differ(&telling->siblings, thread))
		g_string_append(text, "one of them");
	else
		g_string_append_printf(text, "%s%s", session_thread_name(session, thread),
				       on_host(telling, thread));
}

void append_thread(GString *text, const struct telling *telling, uint32_t thread)
{
	const struct session *session = telling->session;
	guint count = siblings_count(&telling->siblings, session, thread);
	const char *on;
	const struct thread *at;

	thread = siblings_first(&telling->siblings, session, thread);
	at = model_thread(&session->trace.model, thread);
	on = on_host(telling, thread);
	if (siblings_differ(&telling->siblings, thread))
		g_string_append_printf(text, "%s (with %u others)%s",
				       session_thread_name(session, thread), count - 1, on);
	else if (count == 1)
		g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
				       at->tid, on);
	else
		g_string_append_printf(
			text, "%s (%u %s%s)%s", session_thread_name(session, thread), count,
			at->pid == at->tid ? "processes" : "threads",
			siblings_hosts(&telling->siblings, thread) ? " of several hosts" : "", on);
}
