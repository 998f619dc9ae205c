/* SPDX-License-Identifier: MIT */
/* The critical path added up for the verdict: shares.h.
 *
 * Part of path/.
 */
#include "path/shares.h"

#include <string.h>

#include "contention/holders.h"
#include "ready/host_span.h"
#include "words/ending.h"
#include "words/handler.h"
#include "path/path_sums.h"
#include "path/siblings.h"
#include "path/tried.h"
#include "util/when.h"
#include "waits/idle.h"
#include "waits/reasons.h"

uint32_t waited_on(const struct session *session, const struct block *block)
{
	const struct reason *reason = block_reason(session, block);

	return reason && reason->object && reason_info(reason)->cause == CAUSE_TIMEOUT
		       ? reason->object
		       : session_resource(session, block);
}

const struct worked_on *main_object(const struct share *share)
{
	const struct worked_on *most = NULL;

	for (guint i = 0; i < share->objects->len; i++) {
		const struct worked_on *at = &g_array_index(share->objects, struct worked_on, i);

		if (!most || at->ns > most->ns)
			most = at;
	}
	return most;
}

static void share_free(gpointer data)
{
	struct share *share = data;

	g_array_free(share->objects, TRUE);
	g_array_free(share->waiters, TRUE);
	g_array_free(share->pieces, TRUE);
	g_free(share->cause_label);
	runners_clear(&share->runners);
	g_free(share);
}

void waiters_add(GArray *waiters, const struct waiter *fresh)
{
	for (guint i = 0; i < waiters->len; i++) {
		struct waiter *at = &g_array_index(waiters, struct waiter, i);

		if (at->thread == fresh->thread && at->leaf == fresh->leaf &&
		    at->resource == fresh->resource && at->ending == fresh->ending) {
			at->ns += fresh->ns;
			return;
		}
	}
	g_array_append_vals(waiters, fresh, 1);
}

static void add_waiter(const struct telling *telling, struct share *share,
		       const struct piece *piece)
{
	const struct session *session = telling->session;
	const struct through *wait;
	struct waiter fresh = {.behalf = piece->behalf};

	if (piece->behalf < 0)
		return;
	wait = &g_array_index(telling->path->waits, struct through, piece->behalf);
	fresh.thread = siblings_first(&telling->siblings, session, wait->thread);
	fresh.leaf = wait->leaf;
	fresh.resource = waited_on(session, wait->block);
	fresh.ending = is_ending(session, wait->thread, wait->begin);
	fresh.ns = piece->end - piece->begin;
	waiters_add(share->waiters, &fresh);
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
	if (ns > 0 && piece->end - piece->begin >= share->times.longest)
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

/* What of its own code was in handlers of signals. */
static void add_handlers(const struct session *session, struct share *share,
			 const struct piece *piece)
{
	for (int64_t at = piece->begin, until; at < piece->end; at = until) {
		uint32_t words = handler_words(session, piece->thread, at, &until);

		until = MIN(until, piece->end);
		add_object(share, words, until - at);
	}
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
	       x->tried == y->tried && x->for_others == y->for_others;
}

/* What TCP did is one thing, however many connections it did it on. */
static uint32_t by_reason(const struct session *session, const struct piece *piece,
			  uint32_t resource)
{
	const struct reason *reason = piece->block ? block_reason(session, piece->block) : NULL;

	return reason && reason_is_transport(reason) ? reason->object : resource;
}

/* It tells for whose packets it was. */
static bool is_softirq(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_INT_SOFTIRQ || PACK_KIND(leaf) == LEAF_WORK_SOFTIRQ;
}

/* What tells shares apart of a state: whether it was preempted or waited to be put on a CPU is one,
 * if for one cause. */
static uint32_t leaf_told(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_PREEMPTED ? PACK(LEAF_WAIT_CPU, PACK_NUMBER(leaf)) : leaf;
}

static bool is_own_timer(const struct session *session, const struct piece *piece)
{
	const struct wake_detail *detail =
		piece->block ? block_detail(session, piece->block) : NULL;

	if (!piece->block)
		return false;
	if (piece->block->kind == WAKER_UNKNOWN || piece->block->kind == WAKER_NONE)
		return piece->block->why == WHY_TIME_LIMIT;
	return detail && detail->kind == DETAIL_TIMER && detail->thread == piece->thread;
}

#define BEGUN_BEFORE_MIN 1000000 /* ns */

/* The words of the cause of the share's longest wait. */
static void name_cause(const struct session *session, struct share *share,
		       const struct piece *piece)
{
	struct cause cause = piece_cause(session, piece);
	GString *label = cause.label ? g_string_new(cause.label) : NULL;
	char length[32];

	if (label)
		cause_append_times(label, &cause);
	/* begun before what is shown of the wait: it would look longer than that */
	if (label && !strstr(label->str, "before this wait") && cause.served > 0 &&
	    cause.served - (piece->end - piece->begin) >= BEGUN_BEFORE_MIN)
		g_string_append_printf(label, ", of which %s before this wait",
				       when_duration(length,
						     cause.served - (piece->end - piece->begin)));
	g_free(share->cause_label);
	share->cause_label = label ? g_string_free(label, FALSE) : NULL;
	share->inferred = cause.inferred;
	share->own_timer = is_own_timer(session, piece);
	cause_clear(&cause);
}

/* The wait of the outermost thread that the piece is part of was for its next request. */
static bool is_idle(const struct telling *telling, const struct piece *piece)
{
	const struct through *top = NULL;
	struct wait wait;

	for (int32_t at = piece->behalf; at >= 0; at = top->behalf)
		top = &g_array_index(telling->path->waits, struct through, at);
	if (!top)
		return false;
	wait = (struct wait) {.thread = top->thread,
			      .begin = top->begin,
			      .end = top->end,
			      .leaf = top->leaf,
			      .block = top->block,
			      .woken = true};
	/* on a futex it is a guess, too weak to say so */
	return !g_str_has_prefix(session_text(telling->session, top->block->resource), "futex:") &&
	       wait_is_idle(telling->session, &wait);
}

static void add_time(const struct session *session, struct share *share, const struct piece *piece)
{
	int64_t ns = piece->end - piece->begin;

	if (times_add(&share->times, ns, piece->block))
		name_cause(session, share, piece);
}

/* The path's piece `at`. `known`: the shares as a set, by what tells one from another. */
static void add_piece(const struct telling *telling, GPtrArray *shares, GHashTable *known, guint at,
		      uint32_t tried)
{
	const struct piece *piece = &g_array_index(telling->path->pieces, struct piece, at);
	const struct session *session = telling->session;
	bool ending = is_ending(session, piece->thread, piece->begin) &&
		      leaf_wib(piece->leaf) != WIB_INTERRUPTED;
	uint32_t named = piece->block && !ending ? session_resource(session, piece->block) : 0;
	uint32_t resource = by_reason(session, piece, named);
	bool hosts = span_is_hosts(piece->leaf);
	bool file_fault = is_file_fault(session, piece->leaf, resource);
	struct share key = {
		.thread = siblings_first(&telling->siblings, session, piece->thread),
		.leaf = leaf_told(piece->leaf),
		.resource = hosts        ? piece->ref
			    : file_fault ? 0
					 : resource,
		.named = named,
		.cause = piece_cause_kind(session, piece),
		.ending = ending,
		.tried = tried,
		.for_others = piece->behalf >= 0,
		.reclaim = PACK_KIND(piece->leaf) == LEAF_WORK_USER && piece->ref == REF_RECLAIM,
		.spun_for = NO_THREAD};
	struct share *share;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};

	share = g_hash_table_lookup(known, &key);
	if (!share) {
		share = g_memdup2(&key, sizeof key);
		g_hash_table_add(known, share);
		share->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
		share->objects = g_array_new(FALSE, FALSE, sizeof(struct worked_on));
		share->pieces = g_array_new(FALSE, FALSE, sizeof(guint));
		g_ptr_array_add(shares, share);
	}
	if (share->named != named)
		share->named = 0;
	g_array_append_val(share->pieces, at);
	add_waiter(telling, share, piece);
	add_spin(session, telling->path, share, piece);
	if (file_fault || PACK_KIND(piece->leaf) == LEAF_WORK_SYSCALL || is_softirq(piece->leaf))
		add_object(share, file_fault ? resource : piece->ref, piece->end - piece->begin);
	else if (PACK_KIND(piece->leaf) == LEAF_WORK_USER)
		add_handlers(session, share, piece);
	add_time(session, share, piece);
	share->idle += is_idle(telling, piece) ? piece->end - piece->begin : 0;
	share->spans_gap |= session_spans_gap(session, piece->thread, &span);
	if (piece_is_ready(piece))
		runners_add(&share->runners, session, piece->thread, &span);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct share *x = *(struct share *const *) a, *y = *(struct share *const *) b;

	if (x->times.ns != y->times.ns)
		return x->times.ns > y->times.ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

bool share_is_ready(const struct share *share)
{
	return PACK_KIND(share->leaf) == LEAF_WAIT_CPU;
}

bool share_is_sleep(const struct session *session, const struct share *share)
{
	return share->cause == CAUSE_TIMER &&
	       strcmp(session_text(session, share->resource), "sleep") == 0;
}

#define COPIES_MIN                                                                                 \
	10000000 /* ns: opening takes less than that, but for what the system call does */

bool share_copies_up(const struct share *share)
{
	const struct worked_on *most = main_object(share);

	return PACK_KIND(share->leaf) == LEAF_WORK_SYSCALL && most &&
	       most->ns * 2 >= share->times.ns && (most->ref & REF_FOR_WRITING) &&
	       most->ns >= COPIES_MIN;
}

GPtrArray *shares_new(const struct telling *telling, GArray *tries)
{
	GPtrArray *shares = g_ptr_array_new_with_free_func(share_free);
	g_autoptr(GHashTable) known = g_hash_table_new(share_hash, share_equal);
	const GArray *pieces = telling->path->pieces;

	for (guint i = 0; i < pieces->len; i++) {
		const struct piece *piece = &g_array_index(pieces, struct piece, i);
		uint32_t tried;

		if (piece->begin < telling->from || piece->end > telling->to)
			continue;
		tried = tried_add(tries, telling, piece);
		if (!tried ||
		    g_array_index(tries, struct tried, tried - 1).waiter !=
			    siblings_first(&telling->siblings, telling->session, piece->thread))
			add_piece(telling, shares, known, i, tried);
	}
	g_ptr_array_sort(shares, largest_first);
	return shares;
}
