/* SPDX-License-Identifier: MIT */
/* The verdict: the critical path's largest shares as sentences.
 *
 * Part of path/ (path.h). Pieces of one thread in one state and for one
 * cause are added up; each sum becomes a sentence that says who, what, how
 * often, what ended it, and who waited for it.
 */
#include "path/path.h"

#include <string.h>

#include "waits/causality.h"
#include "waits/reason_words.h"
#include "waits/reasons.h"
#include "contention/holders.h"
#include "path/asides.h"
#include "path/ending.h"
#include "path/path_sums.h"
#include "path/siblings.h"
#include "path/tried.h"
#include "ready/runners.h"
#include "waits/summary.h"

#define SENTENCES_MAX 6
#define WAITERS_MAX 2
#define CHAIN_MAX 3
#define MEANWHILE_MAX 3
#define CAUTION_MIN 0.05 /* of the path through event loops: less is not worth a word */
#define SHARE_MIN 0.01 /* smaller shares are in the critical path's list */

struct share {
	uint32_t thread, leaf; /* of siblings the first */
	GHashTable *siblings; /* owned; the others: siblings.h; NULL: none */
	uint32_t resource; /* what these pieces are added up by, besides: a reason's object */
	uint32_t named; /* the resource to be named, 0: several */
	enum cause_kind cause;
	char *cause_label;   /* owned; of the longest piece */
	bool inferred;       /* that */
	GArray *waiters;     /* owned; struct waiter: who waited for it, in what */
	GArray *objects;     /* owned; struct worked_on: of faults the files that they read */
	uint64_t count;
	int64_t ns, shortest, longest; /* a wait of which several pieces are here counts once */
	const struct block *last; /* … the wait of the piece before, NULL */
	int64_t current; /* … and so much of it is here */
	struct runners runners; /* of a share off CPU but ready */
	int64_t spun;        /* of work in a call: for a lock that somebody else had */
	uint32_t spun_for;   /* who had it, in the longest piece */
	bool ending; /* the kernel ended the thread meanwhile: ending.h */
	bool reclaim; /* it freed memory for a page fault */
	bool spans_gap;
	uint32_t tried; /* part of waits that were one try: their place in the list, from 1 */
};

/* What becomes a sentence: a share, or waits that were one try, with their shares. */
struct item {
	const struct share *share; /* NULL: a try's */
	uint32_t tried;
	int64_t ns;
};

/* Waits of one thread in one state, for the share's thread or above it. */
struct waiter {
	uint32_t thread, leaf, resource;
	bool ending;
	int32_t behalf;      /* the first of these waits, in path.waits */
	bool several;
	int64_t ns;          /* of the share's time */
};

/* A file that a share's time went to. */
struct worked_on {
	uint32_t ref; /* as struct interval.ref */
	int64_t ns;
};

static void share_free(gpointer data)
{
	struct share *share = data;

	if (share->siblings)
		g_hash_table_destroy(share->siblings);
	g_array_free(share->objects, TRUE);
	g_array_free(share->waiters, TRUE);
	g_free(share->cause_label);
	runners_clear(&share->runners);
	g_free(share);
}

/* What the wait was on; one that timed out on several, on what it was for. */
static uint32_t waited_on(const struct session *session, const struct block *block)
{
	const struct reason *reason = block_reason(session, block);

	return reason && reason->object && reason_info(reason)->cause == CAUSE_TIMEOUT
		       ? reason->object
		       : session_resource(session, block);
}

static void add_waiter(const struct session *session, const struct path *path, struct share *share,
		       const struct piece *piece)
{
	const struct through *wait;
	struct waiter fresh = {.behalf = piece->behalf};

	if (piece->behalf < 0)
		return;
	wait = &g_array_index(path->waits, struct through, piece->behalf);
	fresh.thread = wait->thread;
	fresh.leaf = wait->leaf;
	fresh.resource = waited_on(session, wait->block);
	fresh.ending = is_ending(session, wait->thread, wait->begin);
	fresh.ns = piece->end - piece->begin;
	for (guint i = 0; i < share->waiters->len; i++) {
		struct waiter *at = &g_array_index(share->waiters, struct waiter, i);

		if (at->thread == fresh.thread && at->leaf == fresh.leaf &&
		    at->resource == fresh.resource && at->ending == fresh.ending) {
			at->ns += fresh.ns;
			at->several |= at->behalf != fresh.behalf;
			return;
		}
	}
	g_array_append_val(share->waiters, fresh);
}

/* The lock of a file that the wait above was for: this thread's call needs it too. */
static uint32_t file_lock_above(const struct session *session, const struct path *path,
				const struct piece *piece)
{
	const struct block *block;

	if (piece->behalf < 0)
		return 0;
	block = g_array_index(path->waits, struct through, piece->behalf).block;
	return block->lock && lock_at(&session->trace.flow, block->lock)->kind == LOCK_INODE
		       ? block->lock
		       : 0;
}

static void add_spin(const struct session *session, const struct path *path, struct share *share,
		     const struct piece *piece)
{
	uint32_t lock = file_lock_above(session, path, piece);
	uint32_t owner = NO_THREAD;
	int64_t ns;

	if (PACK_KIND(piece->leaf) != LEAF_WORK_SYSCALL)
		return;
	if (!lock && strcmp(session_text(session, PACK_NUMBER(piece->leaf)), "futex") != 0)
		return;
	ns = lock_spin(session, piece->thread, lock, piece->begin, piece->end, &owner);
	share->spun += ns;
	if (ns > 0 && piece->end - piece->begin >= share->longest)
		share->spun_for = owner;
}

static void add_object(struct share *share, uint32_t ref, int64_t ns)
{
	struct worked_on fresh = {ref, ns};

	for (guint i = 0; i < share->objects->len; i++) {
		struct worked_on *at = &g_array_index(share->objects, struct worked_on, i);

		if (at->ref == ref) {
			at->ns += ns;
			return;
		}
	}
	if (ref)
		g_array_append_val(share->objects, fresh);
}

/* The one that took most, NULL. */
static const struct worked_on *main_object(const struct share *share)
{
	const struct worked_on *most = NULL;

	for (guint i = 0; i < share->objects->len; i++) {
		const struct worked_on *at = &g_array_index(share->objects, struct worked_on, i);

		if (!most || at->ns > most->ns)
			most = at;
	}
	return most;
}

/* Faults on a program's many files are one share: they come of its start as a whole. */
static bool is_file_fault(const struct session *session, uint32_t leaf, uint32_t resource)
{
	return PACK_KIND(leaf) == LEAF_BLOCK_FAULT &&
	       g_str_has_prefix(session_text(session, resource), "file:");
}

static guint share_hash(gconstpointer data)
{
	const struct share *share = data;

	return (((share->thread * 31 + share->leaf) * 31 + share->resource) * 31 + share->cause) *
		       31 +
	       share->tried;
}

static gboolean share_equal(gconstpointer a, gconstpointer b)
{
	const struct share *x = a, *y = b;

	return x->thread == y->thread && x->leaf == y->leaf && x->resource == y->resource &&
	       x->cause == y->cause && x->ending == y->ending && x->reclaim == y->reclaim &&
	       x->tried == y->tried;
}

/* What TCP did is one thing, however many connections it did it on. */
static uint32_t by_reason(const struct session *session, const struct piece *piece,
			  uint32_t resource)
{
	const struct reason *reason = piece->block ? block_reason(session, piece->block) : NULL;

	return reason && reason_is_transport(reason) ? reason->object : resource;
}

/* `known`: the shares as a set, by what tells one from another. */
static void add_piece(const struct session *session, const struct path *path, GPtrArray *shares,
		      GHashTable *known, const struct siblings *siblings, const struct piece *piece,
		      uint32_t tried)
{
	bool ending = is_ending(session, piece->thread, piece->begin) &&
		      leaf_wib(piece->leaf) != WIB_INTERRUPTED;
	uint32_t named = piece->block && !ending ? session_resource(session, piece->block) : 0;
	uint32_t resource = by_reason(session, piece, named);
	int64_t ns = piece->end - piece->begin;
	bool file_fault = is_file_fault(session, piece->leaf, resource);
	struct share key = {
		.thread = siblings_first(siblings, session, piece->thread),
		.leaf = piece->leaf,
		.resource = file_fault ? 0 : resource,
		.named = named,
		.cause = piece_cause_kind(session, piece),
		.ending = ending,
		.tried = tried,
		.reclaim = PACK_KIND(piece->leaf) == LEAF_WORK_USER && piece->ref == REF_RECLAIM,
		.shortest = INT64_MAX,
		.spun_for = NO_THREAD};
	struct share *share;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};

	share = g_hash_table_lookup(known, &key);
	if (!share) {
		share = g_memdup2(&key, sizeof key);
		g_hash_table_add(known, share);
		share->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
		share->objects = g_array_new(FALSE, FALSE, sizeof(struct worked_on));
		g_ptr_array_add(shares, share);
	}
	if (share->named != named)
		share->named = 0;
	if (piece->thread != share->thread && !share->siblings)
		share->siblings = g_hash_table_new(NULL, NULL);
	if (piece->thread != share->thread)
		g_hash_table_add(share->siblings, GUINT_TO_POINTER(piece->thread));
	add_waiter(session, path, share, piece);
	add_spin(session, path, share, piece);
	if (file_fault || PACK_KIND(piece->leaf) == LEAF_WORK_SYSCALL)
		add_object(share, file_fault ? resource : piece->ref, ns);
	if (piece->block && piece->block == share->last) {
		share->current += ns;
	} else {
		share->shortest = share->count ? MIN(share->shortest, share->current) : INT64_MAX;
		share->current = ns;
		share->count++;
	}
	share->last = piece->block;
	if (share->current > share->longest) {
		struct cause cause = piece_cause(session, piece);
		GString *label = cause.label ? g_string_new(cause.label) : NULL;

		if (label)
			cause_append_times(label, &cause);
		g_free(share->cause_label);
		share->cause_label = label ? g_string_free(label, FALSE) : NULL;
		share->inferred = cause.inferred;
		cause_clear(&cause);
	}
	share->ns += ns;
	share->longest = MAX(share->longest, share->current);
	share->spans_gap |= session_spans_gap(session, piece->thread, &span);
	if (PACK_KIND(piece->leaf) == LEAF_PREEMPTED || PACK_KIND(piece->leaf) == LEAF_WAIT_CPU)
		runners_add(&share->runners, session, piece->thread, &span);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct share *x = *(struct share *const *) a, *y = *(struct share *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct item *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (!x->share || !y->share)
		return x->tried < y->tried ? -1 : x->tried > y->tried;
	return x->share->thread < y->share->thread ? -1 : x->share->thread > y->share->thread;
}

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

#define TOO_LITTLE " (too little memory: its cgroup's memory.max, or the host's)"

static void append_what(GString *text, const struct session *session, const struct share *share)
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
		break;
	case LEAF_WORK_SYSCALL:
		g_string_append_printf(text, "worked in system call %s",
				       session_text(session, number));
		append_object(text, session, share);
		append_spin(text, session, share);
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
		break;
	}
}

static void append_times(GString *text, const struct share *share)
{
	char a[32], b[32];

	if (share->count > 1 && (leaf_is_blocked(share->leaf) || share->cause == CAUSE_THROTTLED))
		g_string_append_printf(text, " %" G_GUINT64_FORMAT " times (%s to %s)",
				       share->count,
				       when_duration(a, MIN(share->shortest, share->current)),
				       when_duration(b, share->longest));
}

static void append_cause(GString *text, const struct session *session, const struct share *share)
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

/* "nginx (80)" */
static void append_thread(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

static void append_where(GString *text, const struct session *session, uint32_t leaf,
			 uint32_t resource, bool ending)
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

/* ", until /run/ready was there": what the wait was for, if its reason says more; or that it was
 * given up. */
static void append_clause(GString *text, const struct session *session, const struct block *block)
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

static int longest_waiter(gconstpointer a, gconstpointer b)
{
	const struct waiter *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->behalf < y->behalf ? -1 : x->behalf > y->behalf;
}

static bool through_spans_gap(const struct session *session, const struct through *wait)
{
	struct span span = {wait->begin, wait->end, wait->leaf, 0};

	return session_spans_gap(session, wait->thread, &span);
}

/* ", and sh (9) for that one in wait4": who waited for who waited, and so on. */
static void append_above(GString *text, const struct session *session, const struct path *path,
			 int32_t above)
{
	for (int k = 0; above >= 0 && k < CHAIN_MAX; k++) {
		const struct through *wait = &g_array_index(path->waits, struct through, above);

		g_string_append(text, ", and ");
		append_thread(text, session, wait->thread);
		g_string_append(text, " for that one in ");
		append_where(text, session, wait->leaf, waited_on(session, wait->block),
			     is_ending(session, wait->thread, wait->begin));
		append_clause(text, session, wait->block);
		above = wait->behalf;
	}
}

/* Who waited for the share's thread: the one it cost most, and who waited for
 * that one in turn; then the next, if it is not small. */
static void append_waiters(GString *text, const struct session *session, const struct path *path,
			   const struct share *share)
{
	char length[32];

	g_array_sort(share->waiters, longest_waiter);
	for (guint i = 0; i < share->waiters->len && i < WAITERS_MAX; i++) {
		const struct waiter *waiter = &g_array_index(share->waiters, struct waiter, i);
		const struct through *wait =
			&g_array_index(path->waits, struct through, waiter->behalf);

		if (i && waiter->ns * 10 < share->ns)
			break;
		g_string_append_printf(text, "; %s (%d)%s waited for it in ",
				       session_thread_name(session, waiter->thread),
				       model_thread(&session->trace.model, waiter->thread)->tid,
				       session_on(session, waiter->thread));
		append_where(text, session, waiter->leaf, waiter->resource, waiter->ending);
		append_clause(text, session, wait->block);
		if (share->waiters->len > 1)
			g_string_append_printf(text, " for %s of this",
					       when_duration(length, waiter->ns));
		else if (!waiter->several)
			g_string_append_printf(
				text, ", %s in all%s",
				when_duration(length, wait->end - wait->begin),
				through_spans_gap(session, wait)
					? " (which spans lost events: it may not be real)"
					: "");
		append_above(text, session, path, wait->behalf);
		append_asides(text, session,
			      &g_array_index(path->waits, struct through, waiter->behalf));
	}
}

static char *sentence(const struct session *session, const struct path *path,
		      const struct share *share, int64_t window)
{
	GString *text = g_string_new(NULL);
	char length[32];

	g_string_append_printf(
		text, "%.1f %% (%s): %s (%d)%s ", 100.0 * (double) share->ns / (double) window,
		when_duration(length, share->ns), session_thread_name(session, share->thread),
		model_thread(&session->trace.model, share->thread)->tid,
		session_on(session, share->thread));
	if (share->siblings) {
		g_string_truncate(text, text->len - 1);
		g_string_append_printf(text, ", like %u more of that name, ",
				       g_hash_table_size(share->siblings));
	}
	append_what(text, session, share);
	append_times(text, share);
	append_cause(text, session, share);
	append_waiters(text, session, path, share);
	if (share->spans_gap)
		g_string_append(text, " [spans lost events: it may not be real]");
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

/* "; meanwhile nightly (9) was blocked in nanosleep …, and nightly (9) ran its own code": the
 * largest shares of the time that was tried for. */
static void append_meanwhile(GString *text, const struct session *session, const GPtrArray *shares,
			     uint32_t tried, int64_t ns)
{
	char length[32];
	guint count = 0;

	for (guint i = 0; i < shares->len && count < MEANWHILE_MAX; i++) {
		const struct share *share = g_ptr_array_index(shares, i);

		if (share->tried != tried || share->ns * 20 < ns)
			continue;
		g_string_append(text, count++ ? "; " : "; meanwhile ");
		append_thread(text, session, share->thread);
		g_string_append_c(text, ' ');
		append_what(text, session, share);
		append_times(text, share);
		append_cause(text, session, share);
		g_string_append_printf(text, ": %s", when_duration(length, share->ns));
	}
}

/* Waits that were one try: for whom, what they did, and what of it was but the pause. */
static char *tried_sentence(const struct session *session, const struct path *path,
			    const GPtrArray *shares, uint32_t place, const struct tried *tried,
			    int64_t window)
{
	g_autofree char *clause = reason_clause(session, tried->reason);
	GString *text = g_string_new(NULL);
	char length[32];

	g_string_append_printf(text, "%.1f %% (%s): ", 100.0 * (double) tried->ns / (double) window,
			       when_duration(length, tried->ns));
	append_thread(text, session, tried->waiter);
	if (is_thread(tried->reason->thread)) {
		g_string_append(text, " waited for ");
		append_thread(text, session, tried->reason->thread);
		g_string_append(text, " in ");
	} else {
		g_string_append(text, " waited in ");
	}
	append_where(text, session, tried->leaf, tried->resource, false);
	g_string_append(text, clause ? clause : "");
	if (tried->wait >= 0)
		append_above(text, session, path,
			     g_array_index(path->waits, struct through, tried->wait).behalf);
	append_meanwhile(text, session, shares, place, tried->ns);
	if (tried->rest * 20 >= tried->ns)
		g_string_append_printf(text, "; %s was only what the pauses lasted longer",
				       when_duration(length, tried->rest));
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

/* Who the piece was reached through and need not have been: `thread`, which waits for several
 * things at once. */
static bool detour_of(const struct path *path, const struct piece *piece, uint32_t *thread)
{
	*thread = piece->thread;
	for (int32_t at = piece->behalf; at >= 0;) {
		const struct through *wait = &g_array_index(path->waits, struct through, at);

		if (piece->end <= wait->undecided)
			return true;
		*thread = wait->thread;
		at = wait->behalf;
	}
	return false;
}

/* What ended a wait for several things is followed also where it is not known whether it was for
 * this thread (path/several.h): that is said. */
static char *caution(const struct session *session, const struct path *path, int64_t from,
		     int64_t to)
{
	uint32_t longest = NO_THREAD, detour;
	int64_t ns = 0, most = 0;
	char length[32];

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		if (piece->begin < from || piece->end > to || !detour_of(path, piece, &detour))
			continue;
		ns += piece->end - piece->begin;
		if (piece->end - piece->begin > most) {
			most = piece->end - piece->begin;
			longest = detour;
		}
	}
	if (longest == NO_THREAD || (double) ns < CAUTION_MIN * (double) (to - from))
		return NULL;
	return g_strdup_printf(
		"Mind: %.1f %% of this (%s) was reached through %s (%d)%s, which waits "
		"for several things at once: what it waited for meanwhile need "
		"not have been for this thread.",
		100.0 * (double) ns / (double) (to - from), when_duration(length, ns),
		session_thread_name(session, longest),
		model_thread(&session->trace.model, longest)->tid, session_on(session, longest));
}

/* The part of the path in [from, to) as shares, the largest first, and as `tries`. */
static GPtrArray *shares_new(const struct session *session, const struct path *path, int64_t from,
			     int64_t to, GArray *tries)
{
	GPtrArray *shares = g_ptr_array_new_with_free_func(share_free);
	g_autoptr(GHashTable) known = g_hash_table_new(share_hash, share_equal);
	struct siblings siblings;

	siblings_init(&siblings, session, path);
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		uint32_t tried;

		if (piece->begin < from || piece->end > to)
			continue;
		tried = tried_add(tries, session, path, piece);
		if (!tried || g_array_index(tries, struct tried, tried - 1).waiter != piece->thread)
			add_piece(session, path, shares, known, &siblings, piece, tried);
	}
	siblings_clear(&siblings);
	g_ptr_array_sort(shares, largest_first);
	return shares;
}

/* What the sentences are about, the largest first. */
static GArray *items_new(const GPtrArray *shares, const GArray *tries)
{
	GArray *items = g_array_new(FALSE, FALSE, sizeof(struct item));

	for (guint i = 0; i < shares->len; i++) {
		const struct share *share = g_ptr_array_index(shares, i);
		struct item item = {share, 0, share->ns};

		if (!share->tried)
			g_array_append_val(items, item);
	}
	for (guint i = 0; i < tries->len; i++) {
		struct item item = {NULL, i + 1, g_array_index(tries, struct tried, i).ns};

		g_array_append_val(items, item);
	}
	g_array_sort(items, longest_first);
	return items;
}

GPtrArray *verdict_new(const struct session *session, const struct path *path, int64_t from,
		       int64_t to)
{
	GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) tries = g_array_new(FALSE, FALSE, sizeof(struct tried));
	g_autoptr(GPtrArray) shares = shares_new(session, path, from, to, tries);
	g_autoptr(GArray) items = items_new(shares, tries);
	char *mind;

	for (guint i = 0; i < items->len && i < SENTENCES_MAX; i++) {
		const struct item *item = &g_array_index(items, struct item, i);

		if (i && (double) item->ns < SHARE_MIN * (double) (to - from))
			break;
		g_ptr_array_add(sentences,
				item->share ? sentence(session, path, item->share, to - from)
					    : tried_sentence(session, path, shares, item->tried,
							     &g_array_index(tries, struct tried,
									    item->tried - 1),
							     to - from));
	}
	mind = caution(session, path, from, to);
	if (mind)
		g_ptr_array_add(sentences, mind);
	return sentences;
}
