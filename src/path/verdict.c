/* SPDX-License-Identifier: MIT */
/* The verdict: the critical path's largest shares as sentences.
 *
 * Part of path/ (path.h). Each share (shares.h) becomes a sentence that says
 * who, what, how often, what ended it, and who waited for it.
 */
#include "path/path.h"

#include "path/asides.h"
#include "path/ending.h"
#include "path/share_words.h"
#include "path/tried.h"
#include "waits/reasons.h"
#include "waits/reason_words.h"

#define SENTENCES_MAX 6
#define WAITERS_MAX 2
#define CHAIN_MAX 3
#define MEANWHILE_MAX 3
#define CAUTION_MIN 0.05 /* of the path through event loops: less is not worth a word */
#define SHARE_MIN 0.01 /* smaller shares are in the critical path's list */

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
		if (tried->more && tried->reason->kind == REASON_LISTENS)
			g_string_append_printf(text, " and %u more of that name", tried->more);
		g_string_append(text, " in ");
	} else {
		g_string_append(text, " waited in ");
	}
	append_where(text, session, tried->leaf, tried->resource, false);
	g_string_append(text, clause ? clause : "");
	append_above(text, session, path, tried->above);
	append_meanwhile(text, session, shares, place, tried->ns);
	if (tried->rest * 20 >= tried->ns && tried->rest < tried->ns)
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
