/* SPDX-License-Identifier: MIT */
/* The verdict: where the time went, as sentences.
 *
 * Part of path/ (path.h). Each item (items.h) becomes a sentence: who waited for whom in what, and
 * what that one did meanwhile. All amounts are parts of the time that the verdict is of.
 */
#include "path/path.h"

#include <string.h>

#include "path/asides.h"
#include "words/ending.h"
#include "path/items.h"
#include "path/path_sums.h"
#include "path/share_words.h"
#include "path/tried.h"
#include "samples/counter_sums.h"
#include "samples/function_words.h"
#include "waits/reason_words.h"
#include "waits/reasons.h"
#include "words/chain.h"
#include "words/names.h"

#define SENTENCES_MAX 5
#define SENTENCES_MORE 8 /* … as long as what is not told is more than each that is, */
#define MORE_MIN 20      /* … of items of 1/20 of the time */
#define DEEDS_MAX 4
#define DEED_MIN 20  /* 1/20 of the item: less is part of the rest */
#define REST_MIN 10  /* … which is named from 1/10 of it on */
#define CAUTION_MIN 0.05 /* of the path through event loops: less is not worth a word */
#define LOSERS_AT 2    /* behind so many sentences stands who lost most */
#define LOSERS_MAX 2   /* of several threads, that are named */
#define SHARE_MIN 0.01 /* smaller shares are in the critical path's list */
#define ALL_ELSE_MIN 0.0005 /* what no sentence tells: 0.1 %, rounded */

static bool through_spans_gap(const struct session *session, const struct through *wait)
{
	struct span span = {wait->begin, wait->end, wait->leaf, 0};

	return session_spans_gap(session, wait->thread, &span);
}

/* "25.0 % (892.9 ms): " */
static GString *sentence_new(const struct telling *telling, int64_t ns)
{
	GString *text = g_string_new(NULL);
	char length[32];

	g_string_append_printf(text, "%.1f %% (%s): ", 100.0 * (double) ns / (double) telling->ns,
			       when_duration(length, ns));
	return text;
}

/* ": 61 % of its own code in burn (work.c:29), called from load_theme", by samples that were taken
 * meanwhile; one of several things that the thread did has it in brackets. */
static void append_sampled(GString *text, const struct telling *telling, const struct share *share,
			   bool one)
{
	struct function_sums *sums;
	struct functions_sampled sampled;

	if (leaf_is_off_cpu(share->leaf) || !telling->session->trace.timeline.samples.used)
		return;
	sums = function_sums_new(telling->session);
	for (guint i = 0; i < share->pieces->len; i++) {
		const struct piece *piece = &g_array_index(telling->path->pieces, struct piece,
							   g_array_index(share->pieces, guint, i));

		function_sums_add_all(sums, piece->thread, piece->begin, piece->end);
	}
	sampled = function_sums_take(sums, share->times.ns, true);
	if (sampled.samples) {
		g_string_append(text, one ? ": " : " (");
		append_functions(text, &sampled, sampled_whole(share->leaf));
		g_string_append(text, one ? "" : ")");
	}
	sampled_clear(&sampled);
	function_sums_free(sums);
}

/* "; 3.21 M instructions, 0.80 a cycle; …", where counters tell most of it. */
static void append_counted(GString *text, const struct telling *telling, const struct share *share)
{
	struct counters counters = {0};

	if (leaf_is_off_cpu(share->leaf) || !telling->session->trace.timeline.counts.used)
		return;
	for (guint i = 0; i < share->pieces->len; i++) {
		const struct piece *piece = &g_array_index(telling->path->pieces, struct piece,
							   g_array_index(share->pieces, guint, i));
		struct counters one =
			counters_in(telling->session, piece->thread, piece->begin, piece->end);

		counters_add(&counters, &one);
	}
	if (!counters.known || counters.ns < share->times.ns / 2)
		return;
	g_string_append(text, "; ");
	append_counters(text, &counters);
}

/* "ran its own code for 1.2 s, worked for 0.3 s in read and slept 0.2 s by its own timer": what one
 * thread did in `ns`, from `first` of `shares` on. Returns how much of it is told. */
static int64_t append_deeds(GString *text, const struct telling *telling, const GPtrArray *shares,
			    uint32_t thread, int64_t ns)
{
	const struct share *told[DEEDS_MAX] = {NULL};
	int64_t sum = 0;
	guint count = 0;

	for (guint i = 0; i < shares->len && count < DEEDS_MAX; i++) {
		const struct share *share = g_ptr_array_index(shares, i);

		if (share->thread != thread || (count && share->times.ns * DEED_MIN < ns))
			continue;
		told[count++] = share;
		sum += share->times.ns;
	}
	for (guint i = 0; i < count; i++) {
		if (i)
			g_string_append(text, i + 1 < count ? ", "
					      : count > 2   ? ", and "
							    : " and ");
		append_share(text, telling->session, told[i],
			     count > 1 || told[i]->times.ns * DEED_MIN < ns * (DEED_MIN - 1),
			     i ? told[i - 1] : NULL);
		append_sampled(text, telling, told[i], count == 1);
		if (count == 1)
			append_counted(text, telling, told[i]);
	}
	return sum;
}

static void append_rest(GString *text, const struct item *item, int64_t rest)
{
	const char *what = item->kind == ITEM_WORK          ? "other system calls"
			   : item->kind == ITEM_INTERRUPTED ? "other interrupts"
							    : "other things";
	char length[32];

	if (rest * REST_MIN >= item->ns)
		g_string_append_printf(text, "; %s took %s", what, when_duration(length, rest));
}

static bool same_name(const struct telling *telling, uint32_t a, uint32_t b)
{
	return siblings_first(&telling->siblings, telling->session, a) ==
	       siblings_first(&telling->siblings, telling->session, b);
}

/* struct naming's: of the siblings of who waits "another of them". */
static void append_named(GString *text, const void *of, uint32_t thread, uint32_t waiter)
{
	const struct telling *telling = of;

	if (is_thread(waiter) && same_name(telling, waiter, thread))
		g_string_append(text, "another of them");
	else
		append_thread(text, telling, thread);
}

/* "app (3) waited for db (4) in read on socket x, which waited for log (5) in futex on …": from the
 * one at the top, which nobody waits for, down to who waited for `thread`. */
static void append_waits(GString *text, const struct telling *telling, int32_t lowest,
			 uint32_t thread)
{
	const struct session *session = telling->session;
	struct naming naming = {append_named, telling};
	g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(struct link));

	for (int32_t at = lowest; at >= 0;) {
		const struct through *wait =
			&g_array_index(telling->path->waits, struct through, at);
		struct link link = {wait->thread, through_leaf(session, wait),
				    waited_on(session, wait->block),
				    is_ending(session, wait->thread, wait->begin), wait->block};

		g_array_prepend_val(links, link);
		at = wait->behalf;
	}
	append_thread(text, telling, g_array_index(links, struct link, 0).thread);
	append_chain(text, session, &naming, &g_array_index(links, struct link, 0), links->len,
		     thread, "");
}

/* Who else waited, or in what other call, if it is not small. */
static void append_second_waiter(GString *text, const struct telling *telling,
				 const struct item *item)
{
	const struct waiter *first = &g_array_index(item->waiters, struct waiter, 0);
	const struct waiter *second = &g_array_index(item->waiters, struct waiter, 1);
	char length[32];

	if (item->waiters->len < 2 || second->ns * REST_MIN < item->ns ||
	    (second->thread == first->thread && second->leaf == first->leaf))
		return;
	g_string_append_printf(text, " (%s), and ", when_duration(length, first->ns));
	if (second->thread != first->thread) {
		append_thread(text, telling, second->thread);
		g_string_append(text, " did ");
	}
	g_string_append(text, "in ");
	append_where(text, telling->session, second->leaf, second->resource, second->ending);
	g_string_append_printf(text, " (%s)", when_duration(length, second->ns));
}

static char *for_sentence(const struct telling *telling, const struct item *item)
{
	const struct session *session = telling->session;
	const struct waiter *waiter = &g_array_index(item->waiters, struct waiter, 0);
	const struct through *wait =
		&g_array_index(telling->path->waits, struct through, waiter->behalf);
	GString *text = sentence_new(telling, item->ns);
	int64_t told;

	append_waits(text, telling, waiter->behalf, item->thread);
	if (item->idle)
		g_string_append(text, model_thread(&session->trace.model, wait->thread)->vcpu
					      ? ", its guest halted until then"
					      : ", idle until its next request");
	append_second_waiter(text, telling, item);
	g_string_append(text, ": ");
	append_name(text, telling, item->thread);
	g_string_append_c(text, ' ');
	told = append_deeds(text, telling, item->shares, item->thread, item->ns);
	append_rest(text, item, item->ns - told);
	if (through_spans_gap(session, wait))
		g_string_append(text, " [the wait spans lost events: it may not be real]");
	return g_string_free(text, FALSE);
}

static char *own_sentence(const struct telling *telling, const struct item *item)
{
	GString *text = sentence_new(telling, item->ns);
	int64_t told;

	append_thread(text, telling, item->thread);
	g_string_append_c(text, ' ');
	told = append_deeds(text, telling, item->shares, item->thread, item->ns);
	append_rest(text, item, item->ns - told);
	return g_string_free(text, FALSE);
}

/* "; meanwhile nightly slept …, and ran its own code for …": the largest parts of the time that was
 * tried for, thread by thread. */
static int64_t append_meanwhile(GString *text, const struct telling *telling,
				const struct item *item)
{
	int64_t told = 0;

	for (guint i = 0; i < item->shares->len && i < DEEDS_MAX; i++) {
		const struct share *share = g_ptr_array_index(item->shares, i);
		bool again = false;

		for (guint k = 0; k < i; k++)
			again |= ((struct share *) item->shares->pdata[k])->thread == share->thread;
		if (again || share->times.ns * DEED_MIN < item->ns)
			continue;
		g_string_append(text, told ? "; " : "; meanwhile ");
		append_name(text, telling, share->thread);
		g_string_append_c(text, ' ');
		told += append_deeds(text, telling, item->shares, share->thread, item->ns);
	}
	return told;
}

/* Waits that were one try: for whom, what they did, and what of it was but the pause. */
static char *tried_sentence(const struct telling *telling, const struct item *item,
			    const struct tried *tried)
{
	const struct session *session = telling->session;
	g_autofree char *clause = reason_clause(session, tried->reason);
	GString *text = sentence_new(telling, item->ns);
	char length[32];

	if (tried->above >= 0) {
		append_waits(text, telling, tried->above, tried->waiter);
		g_string_append(text, ", which");
	} else {
		append_thread(text, telling, tried->waiter);
	}
	g_string_append(text, " waited");
	if (is_thread(tried->reason->thread)) {
		g_string_append(text, " for ");
		append_named(text, telling, tried->reason->thread, tried->waiter);
		if (tried->more && tried->reason->kind == REASON_LISTENS &&
		    siblings_count(&telling->siblings, session, tried->reason->thread) == 1)
			g_string_append_printf(text, " and %u more of that name", tried->more);
	}
	g_string_append(text, " in ");
	append_where(text, session, tried->leaf, tried->resource, false);
	g_string_append(text, clause ? clause : "");
	append_meanwhile(text, telling, item);
	if (tried->rest * DEED_MIN >= tried->ns && tried->rest < tried->ns)
		g_string_append_printf(text, "; %s passed after that, before the next try",
				       when_duration(length, tried->rest));
	return g_string_free(text, FALSE);
}

static char *sentence(const struct telling *telling, const struct item *item, const GArray *tries)
{
	g_autofree char *text = NULL;
	bool spans_gap = false;

	if (item->kind == ITEM_TRIED)
		text = tried_sentence(telling, item,
				      &g_array_index(tries, struct tried, item->tried - 1));
	else
		text = item->kind == ITEM_FOR ? for_sentence(telling, item)
					      : own_sentence(telling, item);
	for (guint i = 0; i < item->shares->len; i++)
		spans_gap |= ((struct share *) item->shares->pdata[i])->spans_gap;
	return g_strconcat(text, spans_gap ? " [spans lost events: it may not be real]" : "", ".",
			   NULL);
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
static char *caution(const struct telling *telling)
{
	const struct path *path = telling->path;
	GString *text;
	uint32_t longest = NO_THREAD, detour;
	int64_t ns = 0, most = 0;
	char length[32];

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		if (piece->begin < telling->from || piece->end > telling->to ||
		    !detour_of(path, piece, &detour))
			continue;
		ns += piece->end - piece->begin;
		if (piece->end - piece->begin > most) {
			most = piece->end - piece->begin;
			longest = detour;
		}
	}
	if (longest == NO_THREAD || (double) ns < CAUTION_MIN * (double) telling->ns)
		return NULL;
	text = g_string_new(NULL);
	g_string_append_printf(text, "Not sure: %.1f %% (%s) was reached through ",
			       100.0 * (double) ns / (double) telling->ns,
			       when_duration(length, ns));
	append_thread(text, telling, longest);
	g_string_append(text, ", which waits for several things at once; what it waited for "
			      "meanwhile need not have been for this thread.");
	return g_string_free(text, FALSE);
}

/* What ended some of the waits that are told of, and was not what they were for. */
static char *asides(const struct telling *telling, const GPtrArray *items, guint told)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (guint i = 0; i < told; i++) {
		const struct item *item = g_ptr_array_index(items, i);
		g_autofree char *words = NULL;

		if (item->kind != ITEM_FOR)
			continue;
		words = asides_words(
			telling->session,
			&g_array_index(telling->path->waits, struct through,
				       g_array_index(item->waiters, struct waiter, 0).behalf));
		if (words && !strstr(list->str, words))
			g_string_append_printf(list, "%s%s", list->len ? ", " : "", words);
	}
	return list->len ? g_strdup_printf("Also woke these waits, but changed nothing: %s.",
					   list->str)
			 : NULL;
}

static void add(GPtrArray *list, char *sentence)
{
	if (sentence)
		g_ptr_array_add(list, sentence);
}

/* It could be gone, and all else be as it was: not waits that never ended, and not tries, whose
 * number would be another. */
static bool may_be_gone(const struct item *item)
{
	const struct share *share = item->shares->len ? item->shares->pdata[0] : NULL;

	return share && item->kind != ITEM_TRIED && !item->idle &&
	       share->cause != CAUSE_STILL_BLOCKED && share->cause != CAUSE_DEADLOCK;
}

/* What the sentence at `place` counts. */
static void add_counts(const struct telling *telling, const struct item *item, guint place,
		       GArray *counts)
{
	for (guint i = 0; i < item->shares->len; i++) {
		const struct share *share = g_ptr_array_index(item->shares, i);

		for (guint k = 0; k < share->pieces->len; k++) {
			const struct piece *piece =
				&g_array_index(telling->path->pieces, struct piece,
					       g_array_index(share->pieces, guint, k));
			struct counted counted = {place, piece->thread, piece->begin, piece->end};

			g_array_append_val(counts, counted);
		}
	}
}

/* "3.1 % (156.2 ms): everything else.": so that the parts add up to the whole. */
static char *all_else(const struct telling *telling, int64_t ns)
{
	GString *text;

	if (telling->ns <= 0 || (double) ns < ALL_ELSE_MIN * (double) telling->ns)
		return NULL;
	text = sentence_new(telling, ns);
	g_string_append(text, "everything else.");
	return g_string_free(text, FALSE);
}

static GPtrArray *sentences(const struct telling *telling, GArray *counts)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) tries = g_array_new(FALSE, FALSE, sizeof(struct tried));
	g_autoptr(GPtrArray) shares = shares_new(telling, tries);
	g_autoptr(GPtrArray) items = items_new(telling, shares, tries);
	int64_t rest = telling->ns, most = 0;
	guint told;

	for (guint i = 0; i < items->len && i < SENTENCES_MORE; i++) {
		const struct item *item = g_ptr_array_index(items, i);

		if (i && (double) item->ns < SHARE_MIN * (double) telling->ns)
			break;
		if (i >= SENTENCES_MAX && (rest <= most || item->ns * MORE_MIN < telling->ns))
			break;
		most = MAX(most, item->ns);
		g_ptr_array_add(list, sentence(telling, item, tries));
		rest -= item->ns;
		if (counts && may_be_gone(item))
			add_counts(telling, item, i, counts);
	}
	told = list->len;
	if (told)
		add(list, all_else(telling, rest));
	add(list, asides(telling, items, told));
	add(list, caution(telling));
	return list;
}

GPtrArray *verdict_new(const struct session *session, const struct path *path, int64_t from,
		       int64_t to, GArray *counts)
{
	struct telling telling = {
		.session = session, .path = path, .from = from, .to = to, .ns = to - from};
	GPtrArray *list;

	siblings_init(&telling.siblings, session, path);
	list = sentences(&telling, counts);
	siblings_clear(&telling.siblings);
	return list;
}

/* --- of several threads ------------------------------------------------------------- */

/* One of several threads, and how much of its time others took. */
struct loser {
	uint32_t thread;
	int64_t lost, life;
};

static bool is_lost(const struct session *session, const struct piece *piece)
{
	if (piece->behalf >= 0 || piece_is_ready(piece))
		return true;
	return piece->block && piece_cause_kind(session, piece) != CAUSE_TIMER;
}

static int most_lost(gconstpointer a, gconstpointer b)
{
	const struct loser *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost > y->lost ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* "dig (262) lost most: it waited, or had no CPU, for 1.02 s of 1.62 s; then dig (270), 1.01 s of
 * 1.55 s." */
static char *losers_sentence(const struct telling *telling, GArray *losers)
{
	GString *text = g_string_new(NULL);
	char lost[32], life[32];

	g_array_sort(losers, most_lost);
	for (guint i = 0; i < losers->len && i < LOSERS_MAX; i++) {
		const struct loser *at = &g_array_index(losers, struct loser, i);

		g_string_append_printf(
			text,
			i ? "; then %s (%d)%s, %s of %s"
			  : "%s (%d)%s lost most: it waited, or had no CPU, for %s of %s",
			session_thread_name(telling->session, at->thread),
			model_thread(&telling->session->trace.model, at->thread)->tid,
			session_on(telling->session, at->thread), when_duration(lost, at->lost),
			when_duration(life, at->life));
	}
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

GPtrArray *verdict_of_several(const struct session *session, const GArray *lives, GArray *counts)
{
	struct path *path = path_empty();
	struct telling telling = {
		.session = session, .path = path, .from = INT64_MIN, .to = INT64_MAX};
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) losers = g_array_new(FALSE, FALSE, sizeof(struct loser));
	GPtrArray *list;

	for (guint i = 0; i < lives->len; i++) {
		const struct stretch *at = &g_array_index(lives, struct stretch, i);
		struct loser loser = {.thread = at->thread, .life = at->end - at->begin};
		guint first = path->pieces->len;

		path_extend_back(path, session, at->thread, at->begin, at->end);
		for (guint k = first; k < path->pieces->len; k++) {
			const struct piece *piece = &g_array_index(path->pieces, struct piece, k);

			loser.lost += is_lost(session, piece) ? piece->end - piece->begin : 0;
		}
		telling.ns += loser.life;
		g_array_append_val(threads, at->thread);
		g_array_append_val(losers, loser);
	}
	path_whole(path);
	siblings_init(&telling.siblings, session, path);
	siblings_add_crowd(&telling.siblings, session, path, threads);
	list = sentences(&telling, counts);
	g_ptr_array_insert(list, MIN(LOSERS_AT, (int) list->len),
			   losers_sentence(&telling, losers));
	for (guint i = 0; counts && i < counts->len; i++) {
		struct counted *counted = &g_array_index(counts, struct counted, i);

		counted->sentence += counted->sentence >= LOSERS_AT;
	}
	siblings_clear(&telling.siblings);
	path_free(path);
	return list;
}
