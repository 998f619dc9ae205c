/* SPDX-License-Identifier: MIT */
/* See profile_worth.h.
 *
 * The time of a peak's operations is split a second time, for the roots that are looked at: which
 * stretches are theirs. Then all these are re-timed at once, and the operations asked once more.
 */
#include "profile/profile_worth.h"

#include <string.h>

#include "whatif/worth.h"

#define TOLD_MIN 0.95 /* of what a root is known to take, so much must be found again */
#define BATCHES_MAX 3 /* of operations that were asked for by name; of others one */
#define OPERATIONS_MAX 20000 /* of a peak with more only with --sort worth */
#define STRETCHES_MAX (1 << 21) /* of more nothing is told */

/* One of the roots that are looked at. */
struct rooted {
	struct peak *peak;      /* borrowed */
	struct root *root; /* borrowed; NULL: the one that took most time, roots_most_time() */
	struct root most; /* … that one */
	int64_t noted; /* ns of its stretches */
	int64_t by_turns; /* … that others have led to, who serve whom comes first */
	struct worth worth; /* sums, while operations are asked */
};

struct search {
	const struct session *session;
	GArray *list; /* struct rooted, by peak */
	struct gone *gone;
	uint64_t stretches;
	GArray *ways; /* struct way of each thread, over all its operations that are asked */
	guint *of_thread; /* owned; its place in `ways` + 1; 0 */
	GArray *asked; /* struct asked, in the order of the store */
};

/* An operation of a peak whose roots are [first, end) of the list. */
struct asked {
	struct way way;
	guint16 first, end;
};

/* --- which roots ------------------------------------------------------------------------------ */

static const struct root *root_of(const struct rooted *rooted)
{
	return rooted->root ? rooted->root : &rooted->most;
}

/* It could be gone: not what nobody is to blame for, and not what is not known. */
static bool may_be_gone(const struct root *root)
{
	for (const struct part *part = root->part; part; part = part->parent)
		if (part->kind == PART_IDLE || part->kind == PART_UNKNOWN ||
		    part->kind == PART_OTHER || part->kind == PART_SAVED)
			return false;
	return root->ns > 0;
}

static void add(GArray *list, struct peak *peak, struct root *root, const struct root *most)
{
	struct rooted rooted = {.peak = peak, .root = root};

	if (most)
		rooted.most = *most;
	if (may_be_gone(root_of(&rooted)))
		g_array_append_val(list, rooted);
}

static int most_time_first(gconstpointer a, gconstpointer b)
{
	int64_t x = root_of(a)->ns, y = root_of(b)->ns;

	return (x < y) - (x > y);
}

static int by_peak(gconstpointer a, gconstpointer b)
{
	const struct rooted *x = a, *y = b;

	return (x->peak > y->peak) - (x->peak < y->peak);
}

static GArray *roots_to_ask(const struct profiles *profiles, uint64_t operations)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct rooted));

	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		if (PACK_KIND(profile->what) == OPERATION_QUEUED ||
		    PACK_KIND(profile->what) == OPERATION_SERVED)
			continue; /* of devices, which have no line */
		for (guint p = 0; p < profile->peaks->len; p++) {
			struct peak *peak = &g_array_index(profile->peaks, struct peak, p);
			struct root most;

			if (peak->count > operations)
				continue;
			for (guint k = 0; peak->roots && k < peak->roots->len; k++)
				add(list, peak, &g_array_index(peak->roots, struct root, k), NULL);
			if (peak->roots && roots_most_time(peak, &most))
				add(list, peak, NULL, &most);
		}
	}
	g_array_sort(list, most_time_first);
	return list;
}

/* Thing i is `i` + 1 in the trees. Two roots may be one and the same part. */
static void mark(GArray *list, bool asked)
{
	for (guint i = 0; i < list->len; i++) {
		const struct rooted *rooted = &g_array_index(list, struct rooted, i);
		struct part *part;
		bool all;

		part = root_whole(root_of(rooted), &all);
		*(all ? &part->thing : &part->own_thing) = asked ? (uint8_t) (i + 1) : 0;
		rooted->peak->noted = asked;
	}
}

/* --- what they are ---------------------------------------------------------------------------- */

static void note(guint thing, uint32_t thread, int64_t begin, int64_t end, bool by_turns,
		 void *data)
{
	struct search *search = data;
	struct rooted *rooted = &g_array_index(search->list, struct rooted, thing - 1);

	rooted->noted += end - begin;
	rooted->by_turns += by_turns ? end - begin : 0;
	if (search->stretches++ < STRETCHES_MAX)
		gone_add(search->gone, thread,
			 (struct gone_part) {begin, end, UINT64_C(1) << (thing - 1)});
}

static void each(const struct operation *operation, const struct peak *peak, void *data)
{
	struct search *search = data;
	struct asked asked = {{operation->thread, operation->thread, operation->begin,
			       operation_end(operation)},
			      0,
			      0};
	guint *place = &search->of_thread[operation->thread];

	while (g_array_index(search->list, struct rooted, asked.first).peak != peak)
		asked.first++;
	for (asked.end = asked.first;
	     asked.end < search->list->len &&
	     g_array_index(search->list, struct rooted, asked.end).peak == peak;)
		asked.end++;
	g_array_append_val(search->asked, asked);
	if (*place) {
		struct way *way = &g_array_index(search->ways, struct way, *place - 1);

		way->from = MIN(way->from, asked.way.from);
		way->to = MAX(way->to, asked.way.to);
		return;
	}
	g_array_append_val(search->ways, asked.way);
	*place = search->ways->len;
}

/* --- what they are worth ---------------------------------------------------------------------- */

static void ask(struct search *search, const struct without *without)
{
	guint things = search->list->len;
	g_autofree uint32_t *near =
		g_new0(uint32_t,
		       (gsize) search->session->trace.model.thread_count *without_scenario(things));

	for (guint i = 0; i < search->asked->len; i++) {
		const struct asked *asked = &g_array_index(search->asked, struct asked, i);
		uint32_t *points = &near[(gsize) asked->way.thread * without_scenario(things)];

		for (guint k = asked->first; k < asked->end; k++) {
			struct worth *worth = &g_array_index(search->list, struct rooted, k).worth;
			guint at = without_scenario(k);

			worth->saved +=
				retimed_saved_near(without->retimed, at, &asked->way, &points[at]);
			worth->from += retimed_saved_near(without->retimed, at + 1, &asked->way,
							  &points[at + 1]);
			worth->to += retimed_saved_near(without->retimed, at + 2, &asked->way,
							&points[at + 2]);
		}
	}
}

/* Had others taken their turns in another order, all of it might be saved. */
static void take(const struct rooted *rooted)
{
	const struct root *root = root_of(rooted);
	const struct worth *worth = &rooted->worth;
	int64_t most = MAX(MAX(worth->from, worth->to), rooted->by_turns);
	struct saving saving = {true, worth->saved, MIN(worth->saved, MIN(worth->from, worth->to)),
				MAX(worth->saved, MIN(most, root->ns))};

	if ((double) rooted->noted < TOLD_MIN * (double) root->ns)
		return;
	if (rooted->root)
		rooted->root->saving = saving;
	else
		rooted->peak->most_saving = saving;
}

static void find(struct search *search, struct profiles *profiles)
{
	struct without without;

	mark(search->list, true);
	roots_note(profiles, note, each, search);
	mark(search->list, false);
	if (search->stretches > STRETCHES_MAX || !search->ways->len) {
		gone_free(search->gone);
		return;
	}
	without_init(&without, search->session, search->gone, search->list->len, search->ways,
		     search->session->asked.from, search->session->asked.to);
	if (!without.drifts) {
		ask(search, &without);
		for (guint i = 0; i < search->list->len; i++)
			take(&g_array_index(search->list, struct rooted, i));
	}
	without_clear(&without);
}

static int most_saved(gconstpointer a, gconstpointer b)
{
	const struct root *x = a, *y = b;

	if (x->saving.known != y->saving.known)
		return x->saving.known ? -1 : 1;
	if (x->saving.known && x->saving.ns != y->saving.ns)
		return x->saving.ns > y->saving.ns ? -1 : 1;
	return (x->ns < y->ns) - (x->ns > y->ns);
}

static void sort(const struct profiles *profiles)
{
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			struct peak *peak = &g_array_index(profile->peaks, struct peak, p);

			if (peak->roots)
				g_array_sort(peak->roots, most_saved);
		}
	}
}

/* Of the roots [first, end) of `all`. */
static void find_some(struct profiles *profiles, const GArray *all, guint first, guint end)
{
	const struct session *session = profiles->session;
	struct search search = {.session = session};

	search.list = g_array_new(FALSE, FALSE, sizeof(struct rooted));
	g_array_append_vals(search.list, &g_array_index(all, struct rooted, first), end - first);
	g_array_sort(search.list, by_peak);
	search.gone = gone_new(session);
	search.ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	search.asked = g_array_new(FALSE, FALSE, sizeof(struct asked));
	search.of_thread = g_new0(guint, session->trace.model.thread_count + 1);
	find(&search, profiles);
	g_array_free(search.list, TRUE);
	g_array_free(search.ways, TRUE);
	g_array_free(search.asked, TRUE);
	g_free(search.of_thread);
}

void profile_add_worth(struct profiles *profiles)
{
	const struct options *options = profiles->session->asked.options;
	bool asked = options->profile.operations->len || options->order == BY_WORTH;
	guint things = worth_things(profiles->session);
	guint most = things < WORTHS_MAX ? things : (asked ? BATCHES_MAX : 1) * WORTHS_MAX;
	g_autoptr(GArray) all =
		roots_to_ask(profiles, options->order == BY_WORTH ? UINT64_MAX : OPERATIONS_MAX);

	for (guint i = 0; i < all->len && i < most; i += WORTHS_MAX)
		find_some(profiles, all, i, MIN(MIN(i + WORTHS_MAX, most), all->len));
	if (options->order == BY_WORTH)
		sort(profiles);
}

/* --- told ------------------------------------------------------------------------------------- */

char *root_worth_words(const struct root *root)
{
	struct worth worth = {0, root->ns, root->saving.ns, root->saving.from, root->saving.to};
	g_autofree char *range = NULL;

	if (!root->saving.known)
		return NULL;
	range = worth_range(&worth);
	return range ? g_strdup_printf("Without it, %s less.", range)
		     : g_strdup("Without it, nothing less: something else takes as long.");
}
