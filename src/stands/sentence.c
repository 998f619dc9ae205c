/* SPDX-License-Identifier: MIT */
/* See sentence.h. */
#include "stands/sentence.h"

#include <inttypes.h>
#include <string.h>

#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "lives/restarts.h"
#include "path/spins.h"
#include "ready/cpu_runs.h"
#include "ready/offline.h"
#include "ready/quota.h"
#include "stands/clauses.h"
#include "stands/circumstances.h"
#include "stands/hangs.h"
#include "stands/killed.h"
#include "stands/stuck.h"
#include "util/when.h"
#include "waits/causes.h"
#include "waits/state_names.h"
#include "words/names.h"

#define QUEUED_MIN 4 /* 1/4 of what requests took: less time in the queue is not worth a word */

static void lock_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct reason *reason = told_reason(session, fact);

	append_waits_to_root(text, session, fact, true);
	if (reason && reason->kind == REASON_FUTEX_TIMED && !fact->told.block->lock) {
		append_object(text, session, fact->object, true);
		g_string_append(text, ", until ");
		append_doers(text, session, fact->holders, DID_OTHER, 3);
		g_string_append(text, " woke it");
	} else if (reason && reason->kind == REASON_FILES_FROZEN) {
		g_string_append(text, "the file system ");
		if (fact->object)
			g_string_append_printf(text, "of %s ",
					       resource_name(session_text(session, fact->object)));
		g_string_append(text, "to be thawed, which ");
		append_doers(text, session, fact->holders, DID_OTHER, 3);
		g_string_append(text, " had frozen");
	} else if (reason && reason->kind == REASON_FILE_GOES) {
		g_string_append_printf(text, "the lock file %s of ",
				       resource_name(session_text(session, fact->object)));
		append_doers(text, session, fact->holders, DID_OTHER, 3);
	} else {
		append_object(text, session, fact->object, true);
		if (fact->holders->len)
			g_string_append(text, ", which ");
		append_doers(text, session, fact->holders, DID_OTHER, 3);
		g_string_append(text, fact->holders->len ? " held" : "");
	}
	if (fact->told.block && wait_is_cut_off(session, &fact->told)) {
		g_string_append(text, ", until it ");
		append_death(text, session, fact->told.thread);
	}
	append_deeds(text, session, fact, "; meanwhile ", NO_THREAD);
	append_disk_filler(text, session, fact);
	append_left_lock(text, session, fact);
}

static const struct contention *
contention_at(const struct session *session, const GArray *locks, uint32_t resource)
{
	for (guint i = 0; i < locks->len; i++) {
		const struct contention *at = &g_array_index(locks, struct contention, i);

		if (lock_at(&session->trace.flow, at->lock)->resource == resource)
			return at;
	}
	return NULL;
}

/* "low (212, real-time 10)" */
static void append_urgent(GString *text, const struct session *session, uint32_t thread,
			  int32_t priority)
{
	g_autofree char *words = priority_text(priority);

	g_string_append_printf(text, "%s (%d, %s)", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid, words);
}

static void inversion_sentence(GString *text, const struct session *session,
			       const struct fact *fact)
{
	const struct inversion *inversion = &fact->inversion;
	char length[32], off[32];

	append_urgent(text, session, fact->victim, inversion->waiter);
	g_string_append_printf(text, " waited %s for ",
			       when_duration(length, fact->end - fact->begin));
	append_object(text, session, fact->object, true);
	g_string_append(text, " while its owner ");
	append_urgent(text, session, inversion->thread, inversion->owner);
	g_string_append_printf(text, " was kept off the CPU for %s",
			       when_duration(off, inversion->kept_off));
	if (is_thread(inversion->instead)) {
		g_string_append(text, " by ");
		append_one(text, session, inversion->instead);
	}
}

static void convoy_sentence(GString *text, const struct session *session, const struct fact *fact,
			    const GArray *locks)
{
	const struct contention *at = contention_at(session, locks, fact->object);
	char length[32], sum[32];

	g_string_append_printf(text,
			       "%u threads waited %s in all, each one's time counted (%" PRIu64
			       " times), for ",
			       at->waiters, when_duration(sum, at->ns), at->waits);
	append_object(text, session, fact->object, true);
	g_string_append_printf(text,
			       ", which went from one to the next %u times in %s without "
			       "becoming free; ",
			       at->convoy.handovers,
			       when_duration(length, at->convoy.end - at->convoy.begin));
	append_victim(text, session, fact);
	g_string_append(text, " lost ");
	append_amount(text, session, fact);
	append_deeds(text, session, fact, ", while ", NO_THREAD);
}

static void deadlock_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct deadlock *deadlock = deadlock_of(session, fact->victim);
	g_autofree char *words = deadlock_words(session, deadlock);
	char length[32];

	g_string_append_printf(text, "%s; none of them has gone on for %s, up to the trace's end",
			       words, when_duration(length, fact->ns));
}

/* " (25 files, /lib/x.so most of all)" */
static void append_files(GString *text, const struct session *session, const struct fact *fact)
{
	const struct deed *most = NULL;
	guint count = 0;

	for (guint i = 0; i < fact->files->len; i++) {
		const struct deed *at = &g_array_index(fact->files, struct deed, i);

		if (!g_str_has_prefix(session_text(session, at->object), "file:") ||
		    g_str_has_prefix(session_text(session, at->object), "file:/dev/"))
			continue;
		most = most ? most : at;
		count++;
	}
	if (!most)
		return;
	if (count > 1)
		g_string_append_printf(text, " (%u files, %s most of all)", count,
				       resource_name(session_text(session, most->object)));
	else
		g_string_append_printf(text, " (%s)",
				       resource_name(session_text(session, most->object)));
}

static int by_place(gconstpointer a, gconstpointer b)
{
	const struct wake_detail *x = *(const struct wake_detail *const *) a,
				 *y = *(const struct wake_detail *const *) b;

	return (x > y) - (x < y);
}

/* Each once: how long the device took. Returns how long they had waited for it before. */
static int64_t sum_requests(const struct fact *fact, struct times *served)
{
	g_autoptr(GArray) requests = g_array_copy(fact->requests);
	const struct wake_detail *last = NULL;
	int64_t queued = 0;

	g_array_sort(requests, by_place);
	for (guint i = 0; i < requests->len; i++) {
		const struct wake_detail *request =
			g_array_index(requests, const struct wake_detail *, i);

		if (request == last)
			continue;
		times_add(served, request->served, NULL);
		queued += MAX(request->queued, 0);
		last = request;
	}
	return queued;
}

/* "; 30 requests, 0.2 to 46 ms each at the device, after 1.2 s in all in queues" */
static void append_requests(GString *text, const struct fact *fact)
{
	struct times served = {0};
	int64_t before = sum_requests(fact, &served);
	char queued[32];

	if (!served.count)
		return;
	if (served.count > 1)
		g_string_append_printf(text, "; %" PRIu64 " requests, ", served.count);
	else
		g_string_append(text, "; one request, ");
	append_range(text, MIN(served.shortest, served.current), served.longest);
	g_string_append_printf(text, "%s at the device", served.count > 1 ? " each" : "");
	if (before * QUEUED_MIN > served.ns + before)
		g_string_append_printf(text, ", after %s%s in queues",
				       when_duration(queued, before),
				       served.count > 1 ? " in all" : "");
}

/* An overlay file system's copy of what was opened for writing. */
static void copied_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);

	if (has_chain(fact)) {
		append_waits(text, session, fact, chain->links->len, chain->last);
		g_string_append(text, ", which opened ");
	} else {
		append_victim(text, session, fact);
		g_string_append(text, " took ");
		append_amount(text, session, fact);
		g_string_append(text, " to open ");
	}
	append_object(text, session, fact->object, false);
	g_string_append(text, " for writing: an overlay file system copies it up first");
}

/* "; janitor (264) had emptied the page cache before (/proc/sys/vm/drop_caches)" */
static void append_dropped(GString *text, const struct session *session, const struct fact *fact)
{
	uint32_t by = cache_dropped_before(session, fact);

	if (!is_thread(by))
		return;
	g_string_append(text, "; ");
	append_one(text, session, by);
	g_string_append(text, " had emptied the page cache before (/proc/sys/vm/drop_caches)");
}

static void device_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct reason *reason = told_reason(session, fact);
	bool dirty = 2 * fact->dirty > fact->ns;

	if (!g_str_has_prefix(session_text(session, fact->object), "device:") &&
	    fact_did(fact, DID_WORK)) {
		copied_sentence(text, session, fact);
		return;
	}
	append_waits_to_root(text, session, fact, false);
	append_object(text, session, fact->object, false);
	append_files(text, session, fact);
	if (is_thread(fact->subject)) {
		g_string_append(text,
				dirty ? ", kept back by the kernel for too many dirty pages of "
				      : ", busy with data of ");
		append_one(text, session, fact->subject);
	} else if (dirty) {
		g_string_append_printf(
			text, ", kept back by the kernel for too many dirty pages of %s own",
			fact->threads > 1 ? "their" : "its");
	}
	if (is_thread(fact->subject) && reason && reason->call && reason->thread == fact->subject &&
	    (reason->kind == REASON_FLUSH || reason->kind == REASON_DIRTY)) {
		g_string_append(text, " for ");
		append_object(text, session, reason->call, false);
	}
	if (is_thread(fact->filler) && !fact->fills && !is_thread(fact->subject)) {
		g_string_append(text, ", kept busy by ");
		append_one(text, session, fact->filler);
		g_string_append_printf(text, " and its like (%u of %u requests)", fact->filling,
				       fact->filled);
	}
	if (reason && reason->kind == REASON_DEVICE_HOLDS)
		g_string_append(text, ", which kept them back by a timer of its own");
	else if (!dirty)
		append_requests(text, fact);
	append_dropped(text, session, fact);
}

/* ", while its guest (that of qemu-system-x86 (265)) could not go on": of a virtual CPU's thread;
 * of a guest that is traced, too, its own name tells. */
static void append_guest(GString *text, const struct session *session, uint32_t vcpu)
{
	const struct model *model = &session->trace.model;
	const struct thread *thread = model_thread(model, vcpu);
	uint32_t leader =
		thread->pid < 0
			? IDMAP_NONE
			: idmap_get(&model_host(model, thread->host)->tids, (uint32_t) thread->pid);

	bool traced = strcmp(session_thread_name(session, vcpu), session_own_name(session, vcpu));

	g_string_append(text, traced ? ", while the guest" : ", while its guest");
	if (leader != IDMAP_NONE && !traced)
		g_string_append_printf(text, " (that of %s (%d))",
				       session_thread_name(session, leader), thread->pid);
	g_string_append(text, " could not go on");
}

/* "; CPU 1 was offline for 731.7 ms (taken offline by powerd (12))": of a host, most of whose
 * CPUs' time that was lost fell there. */
static void append_offline(GString *text, const struct session *session, const struct fact *fact)
{
	const GArray *list = offline_times(session);
	const struct offline *longest = NULL;
	int64_t meanwhile = 0, all = 0;
	char length[32];
	guint count = 0;

	for (guint i = 0; i < list->len; i++) {
		const struct offline *at = &g_array_index(list, struct offline, i);
		int64_t here =
			at->host == fact->host ? fact_meanwhile(fact, at->begin, at->end) : 0;

		if (!here)
			continue;
		meanwhile += here;
		all += at->end - at->begin;
		count++;
		if (!longest || at->end - at->begin > longest->end - longest->begin)
			longest = at;
	}
	if (!longest || 2 * meanwhile < fact->ns)
		return;
	g_string_append_printf(text, "; meanwhile CPU %u was offline for %s", longest->cpu,
			       when_duration(length, longest->end - longest->begin));
	if (count > 1)
		g_string_append_printf(text, " (CPUs were offline %u times, %s in all)", count,
				       when_duration(length, all));
	if (is_thread(longest->by)) {
		g_string_append(text, ", taken offline by ");
		append_one(text, session, longest->by);
	}
}

#define MORE_URGENT 5 /* levels of nice */

/* As it had last, where that is near enough to be found: it may have asked for that as it ran,
 * and a run has the priority with which it begins. Else as it had then. */
static int32_t priority_of(const struct session *session, uint32_t thread, int64_t then)
{
	const struct thread *at = model_thread(&session->trace.model, thread);
	int32_t last = session->asked.to >= MIN(at->end, session->trace.end)
			       ? at->priority
			       : priority_before(session, thread, session->asked.to);

	return last != NO_PRIORITY ? last : priority_before(session, thread, then);
}

/* "; rtloop is more urgent (real-time 50 against nice 0)": of who ran most of the time, where he is
 * much more urgent. */
static void append_priority(GString *text, const struct session *session, const struct fact *fact)
{
	uint32_t victim = has_chain(fact) ? main_chain(fact)->last : fact->victim;
	int32_t own = priority_of(session, victim, fact->end), his;
	int64_t all = fact_did(fact, DID_RUN);

	for (guint i = 0; i < fact->deeds->len; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);
		g_autofree char *words = NULL, *than = NULL;

		if (deed->did != DID_RUN || 2 * deed->times.ns < all)
			continue;
		his = priority_of(session, deed->thread, fact->end);
		if (his == NO_PRIORITY || own == NO_PRIORITY || his + MORE_URGENT > own)
			return;
		words = priority_text(his);
		than = priority_text(own);
		g_string_append_printf(text, "; %s is more urgent (%s against %s)",
				       session_thread_name(session, deed->thread), words, than);
		return;
	}
}

#define STARTED_MIN 3 /* processes */

/* "; agentm (265) started these 70 processes chkpart": who ran most, if one started them all. */
static void append_starter(GString *text, const struct session *session, const struct fact *fact)
{
	const struct deed *deed = &g_array_index(fact->deeds, struct deed, 0);
	const char *name = session_thread_name(session, deed->thread);
	const struct model *model = &session->trace.model;
	uint32_t starter = NO_THREAD;
	unsigned count = 0;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);

		if (thread->pid != thread->tid || thread->host != fact->host ||
		    thread->begin >= session->asked.to || thread->end <= session->asked.from ||
		    strcmp(session_thread_name(session, i), name) != 0)
			continue;
		if (!thread->born || !is_thread(thread->parent) ||
		    (count++ && thread->parent != starter))
			return;
		starter = thread->parent;
	}
	if (count < STARTED_MIN)
		return;
	g_string_append(text, "; ");
	append_one(text, session, starter);
	g_string_append_printf(text, " started these %u processes %s", count, name);
}

/* Who was ready, and had no CPU: the victims themselves, and whom they waited for. */
struct kept {
	int64_t own, others;
	uint32_t who; /* of the others most, … */
	int64_t most; /* … so long */
};

static struct kept ready_time(const struct fact *fact)
{
	g_autoptr(GHashTable) sums = g_hash_table_new(NULL, NULL);
	struct kept kept = {.who = NO_THREAD};

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		gpointer key = GUINT_TO_POINTER(part->thread + 1);
		int64_t ns = part->end - part->begin;

		if (part->did != DID_READY)
			continue;
		if (part->thread == part->victim) {
			kept.own += ns;
			continue;
		}
		kept.others += ns;
		ns += (int64_t) GPOINTER_TO_SIZE(g_hash_table_lookup(sums, key));
		g_hash_table_insert(sums, key, GSIZE_TO_POINTER(ns));
		if (ns > kept.most) {
			kept.most = ns;
			kept.who = part->thread;
		}
	}
	return kept;
}

static void cpu_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	struct kept kept = ready_time(fact);
	int64_t least = (kept.own + kept.others) / 10;
	bool both = kept.others && kept.own >= least && kept.others >= least;
	char length[32];

	append_doers(text, session, fact->deeds, DID_RUN, 3);
	g_string_append(text, " kept ");
	if (both && kept.others > kept.own) {
		append_one(text, session, kept.who);
		g_string_append(text, " and ");
		append_victim(text, session, fact);
		g_string_append(text, ", which waited for it,");
	} else if (both || !has_chain(fact)) {
		append_victim(text, session, fact);
	} else {
		append_one(text, session, main_chain(fact)->last);
	}
	g_string_append(text, " off the CPU for ");
	append_amount(text, session, fact);
	if (both)
		g_string_append_printf(text, ", %s of it %s%s", when_duration(length, kept.most),
				       session_thread_name(session, kept.who),
				       kept.others > kept.own ? "" : ", which it waited for");
	else if (has_chain(fact))
		append_while(text, session, fact);
	if (strcmp(session_text(session, fact->object), "cpu:host") == 0)
		g_string_append(text, ": the host ran them, and not its virtual CPU");
	if (strcmp(session_text(session, fact->object), "cpu:vcpu") == 0)
		append_guest(text, session, fact->victim);
	append_priority(text, session, fact);
	append_starter(text, session, fact);
	if (2 * fact->pinned > fact->ns)
		g_string_append(text, "; other CPUs were idle, but it is pinned to this one");
	append_offline(text, session, fact);
	if (fact->tracing_beside)
		g_string_append_printf(
			text, "; the tracer itself had this CPU or another one for %s of that",
			when_duration(length, fact->tracing_beside));
	else if (fact->tracing)
		g_string_append_printf(text, "; the tracer itself (%s) had it for %s of that",
				       session_thread_name(session, fact->tracer),
				       when_duration(length, fact->tracing));
}

#define END_STEPS INT64_C(50000000) /* ns: from the last work to the end */

/* It crashed there: of a signal that nobody else sent. */
static bool crashed_in(const struct session *session, const struct lost_part *part)
{
	const struct thread *thread = model_thread(&session->trace.model, part->thread);

	return thread->ended_by && thread->pid == thread->tid &&
	       !was_killed(session, part->thread) && part->end <= thread->end &&
	       part->end > thread->end - END_STEPS;
}

/* "; batchk (262) ended by signal 24 (SIGXCPU), as did 2 more": of those that were waited for. */
static void append_crashes(GString *text, const struct session *session, const struct fact *fact)
{
	g_autoptr(GHashTable) crashed = g_hash_table_new(NULL, NULL);
	uint32_t first = NO_THREAD;

	if (10 * fact_did(fact, DID_END) >= fact->ns)
		return; /* that tells it */
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (!crashed_in(session, part))
			continue;
		g_hash_table_add(crashed, GUINT_TO_POINTER(part->thread));
		first = is_thread(first) ? first : part->thread;
	}
	if (!is_thread(first))
		return;
	g_string_append(text, "; ");
	append_one(text, session, first);
	g_string_append_c(text, ' ');
	append_death(text, session, first);
	if (g_hash_table_size(crashed) > 1)
		g_string_append_printf(text, ", as did %u more", g_hash_table_size(crashed) - 1);
}

static void append_traced(GString *text, const struct session *session, const struct fact *fact)
{
	if (!is_thread(fact->traced_by))
		return;
	g_string_append_printf(text,
			       ", with what it took itself to stop %" G_GUINT64_FORMAT
			       " times for ",
			       fact->traced);
	append_one(text, session, fact->traced_by);
	g_string_append(text, ", which traced it");
}

static void thread_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);

	if (fact->children > 1) {
		append_waits(text, session, fact, 0, NO_THREAD);
		append_deeds(text, session, fact,
			     " for its children, of which these took longest: ", NO_THREAD);
		return;
	}
	append_waits(text, session, fact, chain ? chain->links->len : 0,
		     chain ? chain->last : NO_THREAD);
	append_deeds(text, session, fact, ": ", chain ? chain->last : NO_THREAD);
	append_traced(text, session, fact);
	append_address_space(text, session, fact);
	append_crashes(text, session, fact);
	append_clock_set(text, session, fact);
	append_left_lock(text, session, fact);
}

/* Waited for, not interrupted by: what ends in softIRQ RCU. */
static bool is_grace_period(const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);

	return fact->kind == STAND_SOFTIRQ && chain && leaf_is_blocked(chain->leaf) &&
	       strcmp(session_text(session, fact->object), "work:softIRQ RCU") == 0;
}

/* In the victim's own call, which has no time limit. */
static bool is_kernels_timer(const struct fact *fact)
{
	return fact->kind == STAND_TIMER && fact->subject == fact->victim;
}

/* " for packets from 10.0.0.2 to port 5001 of iperf (123)" */
static void append_packets(GString *text, const struct session *session, const struct fact *fact,
			   const struct deed *deed)
{
	uint32_t on = deed_was_on(fact, deed, false);
	g_autofree char *words = on ? packet_words(session, fact->victim, on) : NULL;

	if (words)
		g_string_append_printf(text, " %s", words);
}

static void interrupt_sentence(GString *text, const struct session *session,
			       const struct fact *fact)
{
	const struct deed *deed = &g_array_index(fact->deeds, struct deed, 0);
	const struct chain *chain = main_chain(fact);

	if (chain && leaf_is_blocked(chain->leaf)) { /* for what it ends, as a grace period */
		append_waits_to_root(text, session, fact, false);
		if (is_grace_period(session, fact))
			g_string_append(text, "the end of an RCU grace period, by ");
		append_object(text, session, fact->object, false);
		return;
	}
	append_object(text, session, fact->object, false);
	if (deed->object && fact->kind == STAND_INTERRUPT)
		g_string_append_printf(text, " (%s)", session_text(session, deed->object));
	g_string_append(text, " took ");
	append_amount(text, session, fact);
	if (fact->kind == STAND_SOFTIRQ)
		append_packets(text, session, fact, deed);
	g_string_append(text, " from ");
	if (!has_chain(fact)) {
		append_victim(text, session, fact);
	} else {
		append_one(text, session, main_chain(fact)->last);
		append_while(text, session, fact);
	}
	append_nothing_recorded(text, session, fact);
}

/* ", of which logship (266) took 93 %": the quota that `thread` shares with others. */
static void append_quota_users(GString *text, const struct session *session,
			       const struct fact *fact, uint32_t thread)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(int64_t)), users = NULL;
	int64_t from = INT64_MAX, to = INT64_MIN, all = 0;
	const struct quota_user *most;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (part->thread != thread || part->victim != fact->victim)
			continue;
		g_array_append_val(times, part->end);
		from = MIN(from, part->begin);
		to = MAX(to, part->end);
	}
	users = quota_users(session, thread, times, from, to);
	if (!users->len)
		return;
	for (guint i = 0; i < users->len; i++)
		all += g_array_index(users, struct quota_user, i).ns;
	most = &g_array_index(users, struct quota_user, 0);
	if (2 * most->ns <= all)
		return;
	if (most->thread == thread) {
		g_string_append_printf(text, ", %.0f %% of it itself",
				       100.0 * (double) most->ns / (double) all);
		return;
	}
	g_string_append(text, ", of which ");
	append_one(text, session, most->thread);
	g_string_append_printf(text, " took %.0f %%", 100.0 * (double) most->ns / (double) all);
}

static void quota_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);
	const char *object = session_text(session, fact->object);
	bool several = !has_chain(fact) && fact->threads > 1;

	if (!g_str_has_prefix(object, "cpu:")) {
		append_waits(text, session, fact, chain ? chain->links->len : 0,
			     chain ? chain->last : NO_THREAD);
		g_string_append(text, has_chain(fact) ? ", which waited " : " ");
		if (chain)
			append_in(text, session, chain->leaf, chain->ending);
		g_string_truncate(text, text->len - 1);
		append_told(text, session, fact, ", ");
		return;
	}
	if (has_chain(fact)) {
		append_waits(text, session, fact, chain->links->len, chain->last);
		g_string_append_printf(text, ": %s was", session_thread_name(session, chain->last));
	} else {
		append_victim(text, session, fact);
		g_string_append_printf(text, " %s", fact_was(fact));
	}
	g_string_append(text, " throttled");
	if (!has_chain(fact)) {
		g_string_append(text, " for ");
		append_amount(text, session, fact);
	}
	if (strcmp(object, "cpu:real-time") == 0)
		g_string_append(text, ", as real-time threads had used up the kernel's limit "
				      "(sched_rt_runtime_us)");
	else if (strcmp(object, "cpu:deadline") == 0)
		g_string_append_printf(text,
				       ", as %s had used up the runtime that SCHED_DEADLINE "
				       "gives %s in each period",
				       several ? "they" : "it", several ? "them" : "it");
	else
		g_string_append_printf(text, ", as %s cgroup had used up its CPU quota",
				       several ? "their" : "its");
	if (strcmp(object, "cpu:quota") == 0 && !several)
		append_quota_users(text, session, fact, chain ? chain->last : fact->victim);
}

/* What the reason's own words tell best. */
static void told_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct reason *reason = told_reason(session, fact);
	const struct chain *chain = main_chain(fact);
	bool memory = fact->kind == STAND_MEMORY;

	append_waits(text, session, fact, chain ? chain->links->len : 0,
		     chain ? chain->last : NO_THREAD);
	if (!has_chain(fact)) {
		g_string_append_c(text, ' ');
		if (chain)
			append_in(text, session, chain->leaf, chain->ending);
		g_string_truncate(text, text->len - 1);
		append_control(text, session, fact);
	}
	if (memory && !reason)
		g_string_append(text, has_chain(fact)
					      ? ", which waited for the kernel to free memory"
					      : " for the kernel to free memory");
	if (reason)
		append_told(text, session, fact,
			    !memory           ? ": "
			    : has_chain(fact) ? ", which was "
					      : ", ");
	append_deeds(text, session, fact, "; meanwhile ", NO_THREAD);
}

/* How many links of the chain lead to who waited the told wait. */
static guint links_to_told(const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);
	guint count = chain ? chain->links->len : 0;

	for (guint i = 0; i < count; i++)
		if (g_array_index(chain->links, struct link, i).thread == fact->told.thread)
			return i;
	return count;
}

/* "…, which waited in recvfrom until its own time limit of 400 ms: 127.0.0.1:80 did not answer" */
static void timeout_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	guint count = links_to_told(fact);

	if (!told_reason(session, fact)) {
		told_sentence(text, session, fact);
		return;
	}
	append_waits(text, session, fact, count, fact->told.thread);
	g_string_append(text, count ? ", which waited " : " ");
	append_in(text, session, fact->told.leaf, false);
	append_told(text, session, fact, "until ");
	append_deeds(text, session, fact, "; meanwhile ", fact->told.thread);
}

static void wakeup_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	char asked[32], slack[32];

	append_victim(text, session, fact);
	if (fact->asked) {
		g_string_append(text, " overslept by ");
		append_amount(text, session, fact);
	}
	if (is_thread(fact->clock_set_by)) {
		g_string_append_printf(text, ": it had asked for %s, and ",
				       when_duration(asked, fact->asked));
		append_one(text, session, fact->clock_set_by);
		g_string_append(text, " set the clock by which it slept");
		return;
	}
	if (fact->slack) {
		g_string_append_printf(
			text,
			", as its timer slack (PR_SET_TIMERSLACK) allows: it had asked "
			"for %s, and for up to %s more (the longest time)",
			when_duration(asked, fact->asked), when_duration(slack, fact->slack));
		return;
	}
	g_string_append_printf(text, " %s ready to run for ", fact_was(fact));
	append_amount(text, session, fact);
	g_string_append(text, " before an idle CPU ran it");
}

static void stopped_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	guint count = links_to_told(fact);

	if (count) {
		append_waits(text, session, fact, count, fact->told.thread);
		g_string_append(text, ", which was stopped");
	} else {
		append_victim(text, session, fact);
		g_string_append_printf(text, " %s stopped for ", fact_was(fact));
		append_amount(text, session, fact);
	}
	append_told(text, session, fact, told_reason(session, fact) ? ": " : ", ");
}

/* ", still called legacyd,": before it began the program that it is named after. */
static void append_name_then(GString *text, const struct session *session, uint32_t thread,
			     int64_t time)
{
	const char *then =
		session_text(session,
			     thread_name_at(model_thread(&session->trace.model, thread), time));

	if (*then && strcmp(then, session_own_name(session, thread)) != 0)
		g_string_append_printf(text, ", still called %s,", then);
}

/* "backupd (259) waited 1.2 s (…) in openat on /tmp/doc, by a timer of the kernel's own: …" */
static void kernels_timer_sentence(GString *text, const struct session *session,
				   const struct fact *fact)
{
	append_waits(text, session, fact, 0, NO_THREAD);
	g_string_append_c(text, ' ');
	append_in(text, session, fact->told.leaf, false);
	g_string_truncate(text, text->len - 1);
	append_on(text, session, session_resource(session, fact->told.block));
	g_string_append(text, fact->count > 1 ? " (the longest)" : "");
	g_string_append(text, ", in which the kernel slept by a timer of its own; for what, no "
			      "event shows");
}

static void spin_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct spin *spin = fact->spin;
	char count[32];

	append_victim(text, session, fact);
	if (spin->result == SPIN_NOT_OPEN) {
		append_name_then(text, session, fact->victim, fact->end);
		g_string_append(text, " spent ");
		append_amount(text, session, fact);
		g_string_append_printf(text,
				       " on descriptors that are not open: %s failed %s times "
				       "(EBADF)",
				       session_text(session, spin->call),
				       count_text(count, fact->tries));
		return;
	}
	g_string_append(text, " asked without a pause for ");
	append_amount(text, session, fact);
	g_string_append_printf(text, ": %s", session_text(session, spin->call));
	if (spin->object) {
		g_string_append(text, " on ");
		append_object(text, session, spin->object, false);
	}
	g_string_append_printf(text, " found nothing %s times%s", count_text(count, fact->tries),
			       spin->result ? " (EAGAIN)" : "");
	if (!is_thread(spin->maker))
		return;
	g_string_append(text, ", until ");
	append_one(text, session, spin->maker);
	g_string_append(text, " wrote");
}

/* As delay says it (path/spins.h). */
static void yield_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	char count[32];

	append_victim(text, session, fact);
	g_string_append(text, " spun for ");
	append_amount(text, session, fact);
	g_string_append_printf(text,
			       ", in %s calls of sched_yield, until another thread did something "
			       "in memory (inferred), which no event shows",
			       count_text(count, fact->tries));
	append_who_spun_for(text, session, &fact->spinning);
}

/* A CPU's stream that ends before the trace does, in the window; the first of them, NULL. */
static const struct gap *early_end(const struct session *session, guint *count)
{
	const struct gap *first = NULL;

	*count = 0;
	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const GArray *gaps = model_host(&session->trace.model, h)->gaps;

		for (guint i = 0; i < gaps->len; i++) {
			const struct gap *gap = &g_array_index(gaps, struct gap, i);

			if (!gap->to_the_end || gap->begin >= session->asked.to ||
			    gap->end <= session->asked.from)
				continue;
			++*count;
			if (!first || gap->begin < first->begin)
				first = gap;
		}
	}
	return first;
}

static void append_early_end(GString *text, const struct session *session)
{
	guint count;
	const struct gap *gap = early_end(session, &count);
	char length[32];

	if (!gap)
		return;
	g_string_append_printf(text,
			       "; the recording of CPU %u%s ends %s before the trace does, as when "
			       "a disk is full",
			       gap->cpu, count > 1 ? " and others" : "",
			       when_duration(length, gap->end - gap->begin));
}

static void lost_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	char length[32], count[32];
	double share = 100.0 * (double) fact->ns / (double) MAX(fact->life, 1);

	if (fact->lost)
		g_string_append_printf(text, "%s events were lost", count_text(count, fact->lost));
	else
		g_string_append(text, "events were lost");
	g_string_append_printf(text, " over %s (%.0f %% of the window",
			       when_duration(length, fact->ns), share);
	if (fact->count > 1)
		g_string_append_printf(text, ", %" PRIu64 " gaps", fact->count);
	g_string_append(text, "): what ran and what waited meanwhile is not known");
	append_early_end(text, session);
}

#define BACKLOG_MIN 0.3 /* of the amount */

/* "; for 760 ms of it they lay in the receive queue of CPU 1, …" */
static void append_backlog(GString *text, const struct session *session, const struct fact *fact)
{
	g_autoptr(GString) doers = g_string_new(NULL);
	char length[32];

	if ((double) fact->backlog < BACKLOG_MIN * (double) fact->ns)
		return;
	g_string_append_printf(text,
			       "; for %s of it they lay in the receive queue of CPU %u, until its "
			       "softIRQ NET_RX took them",
			       when_duration(length, fact->backlog), fact->backlog_cpu);
	append_doers(doers, session, fact->deeds, DID_RUN, 2);
	if (doers->len)
		g_string_append_printf(text, " (meanwhile %s ran there)", doers->str);
}

static void network_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	if (told_reason(session, fact)) {
		told_sentence(text, session, fact);
		return;
	}
	append_waits_to_root(text, session, fact, false);
	if (fact->object) {
		g_string_append(text, "packets from ");
		append_object(text, session, fact->object, false);
	} else {
		g_string_append_printf(text, "%s own packets to go",
				       fact->threads > 1 ? "their" : "its");
	}
	append_backlog(text, session, fact);
}

static void append_late(GString *text, const struct session *session, const struct late *late)
{
	char length[32];

	append_one(text, session, late->thread);
	if (is_thread(late->through)) {
		g_string_append(text, ", through ");
		append_one(text, session, late->through);
	}
	if (late->after)
		g_string_append(text, ", served after it");
	g_string_append_printf(text, " (%s)", when_duration(length, late->ns));
}

/* "; 486.7 ms of that went to report (284), which was served first". */
static void append_first(GString *text, const struct session *session, const struct stand *item)
{
	char length[32];

	if (!item->first.ns)
		return;
	g_string_append_printf(text, "; %s of that went to ",
			       when_duration(length, item->first.ns));
	append_one(text, session, item->first.thread);
	g_string_append(text, ", which was served first");
}

#define BEHIND_MIN 0.25 /* of the amount */

/* "; for 9.9 s of it they waited for one another first": threads of one name that the sentence
 * tells to wait for another. */
static void append_behind(GString *text, const struct fact *fact)
{
	char length[32];

	if (fact->kind == STAND_LOCK || fact->kind == STAND_CONVOY || !fact->chains->len ||
	    main_chain(fact)->links->len != 1 ||
	    (double) fact->behind < BEHIND_MIN * (double) fact->ns)
		return;
	g_string_append_printf(text, "; for %s of it they waited for one another first",
			       when_duration(length, fact->behind));
	if (2 * fact->turns > fact->behind)
		g_string_append(text, " (a semaphore or a pool: their turn)");
}

struct step {
	int64_t time;
	int by;
};

static int earlier_step(gconstpointer a, gconstpointer b)
{
	const struct step *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->by - y->by;
}

/* So many of them lost time to it at the same time, at most. */
static int most_at_once(const struct fact *fact)
{
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	int now = 0, most = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		struct step both[] = {{part->begin, 1}, {part->end, -1}};

		g_array_append_vals(steps, both, G_N_ELEMENTS(both));
	}
	g_array_sort(steps, earlier_step);
	for (guint i = 0; i < steps->len; i++) {
		now += g_array_index(steps, struct step, i).by;
		most = MAX(most, now);
	}
	return most;
}

#define AT_ONCE_MIN 3 /* that wait; fewer are no crowd */

/* "; up to 6 of them waited at once": in line at one thread, or it held up all of them. */
static void append_at_once(GString *text, const struct fact *fact)
{
	int most = 0;

	if (fact->kind == STAND_PROCESS && fact->threads >= AT_ONCE_MIN)
		most = most_at_once(fact);
	if (most >= AT_ONCE_MIN)
		g_string_append_printf(text, "; up to %d of them waited at once", most);
}

static void append_others(GString *text, const struct session *session, const struct stand *item)
{
	if (item->fact->held_open)
		g_string_append(text,
				"; perhaps as is meant: it keeps requests open until there is "
				"news (long polling)");
	append_behind(text, item->fact);
	append_at_once(text, item->fact);
	append_first(text, session, item);
	if (!item->others || item->fact->kind == STAND_CONVOY)
		return;
	g_string_append(text, "; also late: ");
	append_late(text, session, &item->late[0]);
	if (item->others == 2) {
		g_string_append(text, " and ");
		append_late(text, session, &item->late[1]);
	} else if (item->others > 1) {
		g_string_append_printf(text, " and %u more", item->others - 1);
	}
}

static const char *title_of(const struct session *session, const struct fact *fact)
{
	if (is_grace_period(session, fact))
		return "RCU";
	if (is_kernels_timer(fact))
		return "Kernel's sleep";
	if (is_thread(fact->clock_set_by))
		return "Clock set";
	if (fact->stuck && !(fact->kind == STAND_DEADLOCK && is_thread(fact->subject)))
		return "Hangs";
	if (fact->spin && fact->spin->result == SPIN_NOT_OPEN)
		return "Calls in vain";
	if (fact->kind == STAND_TIMER && fact->deeds->len &&
	    deed_is_time_limit(session, &g_array_index(fact->deeds, struct deed, 0)))
		return "Another thread's time limit";
	return stand_kind_title((enum stand_kind) fact->kind);
}

char *stand_sentence(const struct session *session, const struct stand *item, const GArray *locks)
{
	const struct fact *fact = item->fact;
	GString *text = g_string_new(title_of(session, fact));

	g_string_append(text, ": ");
	switch ((enum stand_kind) fact->kind) {
	case STAND_DEADLOCK:
		if (fact->stuck)
			hang_sentence(text, session, fact);
		else
			deadlock_sentence(text, session, fact);
		break;
	case STAND_INVERSION:
		inversion_sentence(text, session, fact);
		break;
	case STAND_CONVOY:
		convoy_sentence(text, session, fact, locks);
		break;
	case STAND_LOCK:
		lock_sentence(text, session, fact);
		break;
	case STAND_DEVICE:
	case STAND_FAULT:
	case STAND_SWAP:
		device_sentence(text, session, fact);
		break;
	case STAND_CPU:
		cpu_sentence(text, session, fact);
		break;
	case STAND_QUOTA:
		quota_sentence(text, session, fact);
		break;
	case STAND_INTERRUPT:
	case STAND_SOFTIRQ:
		interrupt_sentence(text, session, fact);
		break;
	case STAND_WAKEUP:
		wakeup_sentence(text, session, fact);
		break;
	case STAND_NETWORK:
		network_sentence(text, session, fact);
		break;
	case STAND_TIMEOUT:
		if (fact->stuck)
			stuck_sentence(text, session, fact);
		else
			timeout_sentence(text, session, fact);
		break;
	case STAND_FAILURE:
		if (fact->spin)
			spin_sentence(text, session, fact);
		else if (fact->tries)
			yield_sentence(text, session, fact);
		else
			told_sentence(text, session, fact);
		break;
	case STAND_LOST:
		lost_sentence(text, session, fact);
		break;
	case STAND_STOPPED:
		stopped_sentence(text, session, fact);
		break;
	case STAND_PROCESS:
	case STAND_HOST:
	case STAND_CHILD:
	case STAND_TIMER:
		if (is_kernels_timer(fact))
			kernels_timer_sentence(text, session, fact);
		else
			thread_sentence(text, session, fact);
		break;
	case STAND_MEMORY:
		if (fact->killed)
			killed_sentence(text, session, fact);
		else
			told_sentence(text, session, fact);
		break;
	default:
		told_sentence(text, session, fact);
	}
	if (fact->inferred && !strstr(text->str, "(inferred"))
		g_string_append(text, " (inferred)");
	if (fact->spans_gap)
		g_string_append(text, " (spans lost events)");
	append_others(text, session, item);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}
