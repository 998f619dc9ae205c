/* SPDX-License-Identifier: MIT */
/* See sentence.h. */
#include "stands/sentence.h"

#include <inttypes.h>
#include <string.h>

#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "stands/words.h"
#include "util/when.h"
#include "waits/causes.h"
#include "waits/reason_words.h"
#include "waits/state_names.h"

#define LINKS_TOLD 5
#define DEEDS_TOLD 2

/* Its name is its program's: the digits at its end are not its own ("python3"). */
static bool names_program(const struct session *session, uint32_t thread)
{
	const char *program =
		session_text(session, model_thread(&session->trace.model, thread)->program);
	const char *base = strrchr(program, '/');

	return !*program ||
	       g_str_has_prefix(base ? base + 1 : program, session_thread_name(session, thread));
}

/* "webclient (209)", "6 threads python3", "4 threads lock-N" */
static void append_victim(GString *text, const struct session *session, const struct fact *fact)
{
	const char *name = session_thread_name(session, fact->victim);
	guint length = names_program(session, fact->victim) ? (guint) strlen(name)
							    : stem_length(session, name);

	if (fact->threads < 2) {
		append_one(text, session, fact->victim);
		return;
	}
	g_string_append_printf(text, "%u threads %.*s%s", fact->threads, (int) length, name,
			       name[length] ? "N" : "");
}

/* "33.8 ms (45 % of its life, 12 times)" */
static void append_amount(GString *text, const struct fact *fact)
{
	char length[32], most[32];
	double share = 100.0 * (double) fact->most / (double) MAX(fact->life, 1);

	if (fact->threads > 1) {
		g_string_append_printf(text, "%s in all (up to %s, %.0f %% of its life, each)",
				       when_duration(length, fact->ns),
				       when_duration(most, fact->most), share);
		return;
	}
	g_string_append_printf(text, "%s (%.0f %% of its life", when_duration(length, fact->ns),
			       share);
	if (fact->count > 1)
		g_string_append_printf(text, ", %" PRIu64 " times", fact->count);
	g_string_append_c(text, ')');
}

static const struct chain *main_chain(const struct fact *fact)
{
	return fact->chains->len ? &g_array_index(fact->chains, struct chain, 0) : NULL;
}

/* "in recvfrom, for nginx (80), which waited in epoll_wait for app (95), which waited in
 * fdatasync": up to what the root is waited for in; false: the victim waited for the root itself,
 * which nothing is said of. */
static void append_chain(GString *text, const struct session *session, const struct chain *chain,
			 bool all)
{
	guint count = chain ? chain->links->len : 0;

	for (guint i = 0; i < count; i++) {
		const struct link *link = &g_array_index(chain->links, struct link, i);
		uint32_t next = i + 1 < count
					? g_array_index(chain->links, struct link, i + 1).thread
					: chain->last;

		if (!i && append_call(text, session, link->leaf))
			g_string_append_c(text, ' ');
		if (i + 1 == count && !all)
			return;
		if (i >= LINKS_TOLD && i + 1 < count)
			continue;
		g_string_append(text, "for ");
		append_one(text, session, next);
		if (i + 1 == count)
			return;
		link = &g_array_index(chain->links, struct link, i + 1);
		g_string_append(text, ", which waited ");
		if (append_call(text, session, link->leaf))
			g_string_append_c(text, ' ');
	}
}

/* What is worth a word of what was done meanwhile. */
static bool tells(const struct fact *fact, const struct deed *deed)
{
	return deed->did != DID_RUN && deed->did != DID_LIMIT && deed->thread != fact->victim &&
	       (deed->did != DID_OTHER || deed->call);
}

/* ": logd slept 30 ms and worked 3 ms; app (9) worked 2 ms". */
static void append_deeds(GString *text, const struct session *session, const struct fact *fact,
			 const char *before, uint32_t it)
{
	const struct deed *last = NULL;
	guint told = 0;

	for (guint i = 0; i < fact->deeds->len && told < DEEDS_TOLD + fact->children; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);
		bool same = last && last->name == deed->name;

		if (!tells(fact, deed))
			continue;
		if (told && deed->ns * 10 < fact->ns)
			break;
		g_string_append(text, !told ? before : same ? " and " : "; ");
		if (!same && deed->thread == it && !deed->several)
			g_string_append_printf(text, "%s ", session_thread_name(session, it));
		else if (!same) {
			append_doer(text, session, deed);
			g_string_append_c(text, ' ');
		}
		append_done(text, session, deed);
		last = deed;
		told++;
	}
}

/* "V waited A in C " */
static void append_waited(GString *text, const struct session *session, const struct fact *fact)
{
	append_victim(text, session, fact);
	g_string_append(text, " waited ");
	append_amount(text, fact);
	g_string_append_c(text, ' ');
}

/* The chain up to the root's waiter; then "for ". */
static void append_to_root(GString *text, const struct session *session, const struct fact *fact,
			   bool links_end)
{
	const struct chain *chain = main_chain(fact);
	guint count = chain ? chain->links->len : 0;

	if (!count) {
		if (chain && append_call(text, session, chain->leaf))
			g_string_append_c(text, ' ');
	} else if (links_end) { /* the last link is the wait for the root */
		append_chain(text, session, chain, false);
	} else {
		append_chain(text, session, chain, true);
		g_string_append(text, ", which waited ");
		if (append_call(text, session, chain->leaf))
			g_string_append_c(text, ' ');
	}
	g_string_append(text, "for ");
}

static void append_told(GString *text, const struct session *session, const struct fact *fact,
			const char *before)
{
	struct cause cause;

	if (!fact->told.block)
		return;
	cause = wait_cause(session, &fact->told);
	if (cause.label)
		g_string_append_printf(text, "%s%s", before, cause.label);
	cause_clear(&cause);
}

static const struct reason *told_reason(const struct session *session, const struct fact *fact)
{
	return fact->told.block ? block_reason(session, fact->told.block) : NULL;
}

static void lock_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct reason *reason = told_reason(session, fact);

	append_waited(text, session, fact);
	append_to_root(text, session, fact, true);
	if (reason && reason->kind == REASON_FUTEX_TIMED && !fact->told.block->lock) {
		append_object(text, session, fact->object, true);
		g_string_append(text, ", until ");
		append_doers(text, session, fact->holders, DID_OTHER, 3);
		g_string_append(text, " woke it");
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
	append_deeds(text, session, fact, "; meanwhile ", NO_THREAD);
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
			       const struct fact *fact, const GArray *locks)
{
	const struct contention *at = contention_at(session, locks, fact->object);
	char length[32], off[32];

	append_urgent(text, session, at->longest_thread, at->inversion.waiter);
	g_string_append_printf(text, " waited %s for ", when_duration(length, at->longest));
	append_object(text, session, fact->object, true);
	g_string_append(text, " while its owner ");
	append_urgent(text, session, at->inversion.thread, at->inversion.owner);
	g_string_append_printf(text, " was kept off the CPU for %s",
			       when_duration(off, at->inversion.kept_off));
	if (is_thread(at->inversion.instead)) {
		g_string_append(text, " by ");
		append_one(text, session, at->inversion.instead);
	}
}

static void convoy_sentence(GString *text, const struct session *session, const struct fact *fact,
			    const GArray *locks)
{
	const struct contention *at = contention_at(session, locks, fact->object);
	char length[32], sum[32];

	g_string_append_printf(text, "%u threads waited %s in all (%" PRIu64 " times) for ",
			       at->waiters, when_duration(sum, at->ns), at->waits);
	append_object(text, session, fact->object, true);
	g_string_append_printf(text,
			       ", which went from one to the next %u times in %s without "
			       "becoming free; ",
			       at->convoy.handovers,
			       when_duration(length, at->convoy.end - at->convoy.begin));
	append_victim(text, session, fact);
	g_string_append(text, " lost ");
	append_amount(text, fact);
	append_deeds(text, session, fact, ", while ", NO_THREAD);
}

static void deadlock_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct deadlock *deadlock = deadlock_of(session, fact->victim);
	g_autofree char *words = deadlock_words(session, deadlock);
	char length[32];

	g_string_append_printf(text, "%s; none of them goes on for the last %s", words,
			       when_duration(length, fact->ns));
}

/* ", reading 25 files, /lib/x.so most of all" */
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

static void device_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct reason *reason = told_reason(session, fact);
	bool dirty = 2 * fact->dirty > fact->ns;

	append_waited(text, session, fact);
	append_to_root(text, session, fact, false);
	append_object(text, session, fact->object, false);
	append_files(text, session, fact);
	if (is_thread(fact->subject)) {
		g_string_append(text,
				dirty ? ", kept back by the kernel for too many dirty pages of "
				      : ", busy with data of ");
		append_one(text, session, fact->subject);
	} else if (dirty) {
		g_string_append(text,
				", kept back by the kernel for too many dirty pages of its own");
	}
	if (is_thread(fact->subject) && reason && reason->call && reason->thread == fact->subject &&
	    (reason->kind == REASON_FLUSH || reason->kind == REASON_DIRTY)) {
		g_string_append(text, " for ");
		append_object(text, session, reason->call, false);
	}
}

static void cpu_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);
	char length[32];

	append_doers(text, session, fact->deeds, DID_RUN, 3);
	g_string_append(text, " kept ");
	if (!chain || !chain->links->len) {
		append_victim(text, session, fact);
		g_string_append(text, " off the CPU for ");
		append_amount(text, fact);
	} else {
		append_one(text, session, chain->last);
		g_string_append_printf(text, " off the CPU for %s, while ",
				       when_duration(length, fact->ns));
		append_victim(text, session, fact);
		g_string_append(text, " waited ");
		append_chain(text, session, chain, true);
	}
	if (2 * fact->pinned > fact->ns)
		g_string_append(text, "; other CPUs were idle, but it is pinned to this one");
}

static void thread_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);

	append_waited(text, session, fact);
	if (fact->children > 1) {
		g_string_append(text, "for its children");
		append_deeds(text, session, fact, ": ", NO_THREAD);
		return;
	}
	append_chain(text, session, chain, true);
	append_deeds(text, session, fact, ": ", chain ? chain->last : NO_THREAD);
}

static void interrupt_sentence(GString *text, const struct session *session,
			       const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);
	const struct deed *deed = &g_array_index(fact->deeds, struct deed, 0);

	append_object(text, session, fact->object, false);
	if (deed->object && fact->kind == STAND_INTERRUPT)
		g_string_append_printf(text, " (%s)", session_text(session, deed->object));
	g_string_append(text, " took ");
	append_amount(text, fact);
	g_string_append(text, " from ");
	if (chain && chain->links->len) {
		append_one(text, session, chain->last);
		g_string_append(text, ", while ");
		append_victim(text, session, fact);
		g_string_append(text, " waited ");
		append_chain(text, session, chain, true);
	} else {
		append_victim(text, session, fact);
	}
}

static void quota_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);
	bool cpu = strcmp(session_text(session, fact->object), "cpu:quota") == 0;

	if (!cpu) {
		append_waited(text, session, fact);
		append_to_root(text, session, fact, false);
		append_object(text, session, fact->object, false);
		append_told(text, session, fact, ": ");
		return;
	}
	append_victim(text, session, fact);
	if (chain && chain->links->len) {
		g_string_append(text, " waited ");
		append_amount(text, fact);
		g_string_append_c(text, ' ');
		append_chain(text, session, chain, true);
		g_string_append(text, ", whose cgroup had used up its CPU quota (throttled)");
	} else {
		g_string_append(text, " was kept off idle CPUs for ");
		append_amount(text, fact);
		g_string_append(text, ": its cgroup had used up its CPU quota (throttled)");
	}
}

/* What the reason's own words tell best. */
static void told_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct reason *reason = told_reason(session, fact);
	const struct chain *chain = main_chain(fact);

	append_waited(text, session, fact);
	if (chain && chain->links->len) {
		append_chain(text, session, chain, true);
	} else if (chain) {
		append_call(text, session, chain->leaf);
	}
	if (fact->kind == STAND_MEMORY && !reason)
		g_string_append(text, "for the kernel to free memory");
	if (reason)
		append_told(text, session, fact, ": ");
	if (fact->kind != STAND_TIMEOUT || !reason)
		append_deeds(text, session, fact, "; meanwhile ", NO_THREAD);
}

static void wakeup_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	append_victim(text, session, fact);
	g_string_append(text, " was ready for ");
	append_amount(text, fact);
	g_string_append(text, " before an idle CPU ran it");
}

static void stopped_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	append_victim(text, session, fact);
	g_string_append(text, " was stopped for ");
	append_amount(text, fact);
	append_told(text, session, fact, ": ");
}

static void network_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	if (told_reason(session, fact)) {
		told_sentence(text, session, fact);
		return;
	}
	append_waited(text, session, fact);
	append_to_root(text, session, fact, false);
	g_string_append(text, "packets from ");
	append_object(text, session, fact->object, false);
}

static void append_others(GString *text, const struct session *session, const struct stand *item)
{
	char length[32];

	if (!item->others || item->fact->kind == STAND_CONVOY)
		return;
	g_string_append(text, "; also late: ");
	append_one(text, session, item->other);
	if (is_thread(item->through)) {
		g_string_append(text, ", through ");
		append_one(text, session, item->through);
	}
	g_string_append_printf(text, " (%s)", when_duration(length, item->other_ns));
	if (item->others > 1)
		g_string_append_printf(text, " and %u more", item->others - 1);
}

char *stand_sentence(const struct session *session, const struct stand *item, const GArray *locks)
{
	const struct fact *fact = item->fact;
	GString *text = g_string_new(stand_kind_title((enum stand_kind) fact->kind));

	g_string_append(text, ": ");
	switch ((enum stand_kind) fact->kind) {
	case STAND_DEADLOCK:
		deadlock_sentence(text, session, fact);
		break;
	case STAND_INVERSION:
		inversion_sentence(text, session, fact, locks);
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
	case STAND_STOPPED:
		stopped_sentence(text, session, fact);
		break;
	case STAND_PROCESS:
	case STAND_CHILD:
	case STAND_TIMER:
		thread_sentence(text, session, fact);
		break;
	default:
		told_sentence(text, session, fact);
	}
	if (fact->inferred && !strstr(text->str, "(inferred"))
		g_string_append(text, " (inferred)");
	if (fact->spans_gap)
		g_string_append(text, " [spans lost events: it may not be real]");
	append_others(text, session, item);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}
