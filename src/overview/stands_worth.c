/* SPDX-License-Identifier: MIT */
/* What the items that stand out would be worth if they were gone: how much sooner the thread that
 * lost most to each would be done; with all its turns together where it waits for requests between
 * them. Which stretches these are: as for --what-if 'finding=ID: 0' (rules/finding_stretches.h).
 *
 * Part of overview/.
 */
#include "overview/overview.h"
#include "rules/finding_stretches.h"
#include "whatif/worth.h"

#define ALIKE 0.05 /* of what was lost: so near is as much */

struct gone {
	struct finding_stretches *of[STANDS_MAX]; /* NULL: it has none */
	guint ways[STANDS_MAX + 1]; /* where each one's ways begin */
	guint count;
};

static uint64_t pick(const struct session *session, uint32_t thread, const struct span *span,
		     const void *data)
{
	const struct gone *gone = data;
	uint64_t picked = 0;

	for (guint i = 0; i < gone->count; i++)
		if (gone->of[i] && finding_has(gone->of[i], session, thread, span))
			picked |= UINT64_C(1) << i;
	return picked;
}

static int most_saved(gconstpointer a, gconstpointer b)
{
	const struct stand *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return x->weight != y->weight ? (x->weight > y->weight ? -1 : 1) : 0;
}

/* "…. Without it, kdeinit (224) would be done 81.96 ms sooner." */
static void say(const struct session *session, struct stand *item, const struct worth *worth,
		guint turns)
{
	uint32_t victim = item->fact->victim;
	const struct thread *life = model_thread(&session->trace.model, victim);
	double lost = (double) worth->ns;
	g_autofree char *range = worth_range(worth);
	g_autofree char *words = NULL;
	char *sentence;

	if (!range)
		words = g_strdup("Without it, no sooner: something else takes as long.");
	else if ((double) worth->from >= (1 - ALIKE) * lost)
		words = g_strdup("Without it, all that time is saved.");
	else if (turns > 1)
		words = g_strdup_printf("Without it, the %u turns of %s (%d) would take %s less.",
					turns, session_thread_name(session, victim), life->tid,
					range);
	else
		words = g_strdup_printf("Without it, %s (%d) would be %s%s sooner.",
					session_thread_name(session, victim), life->tid,
					life->end < session->asked.to ? "done " : "", range);
	sentence = g_strconcat(item->sentence, " ", words, NULL);
	g_free(item->sentence);
	item->sentence = sentence;
}

/* More than it took its victim would be of other parts of the waits, too: that is not told. */
static void take(const struct session *session, struct stand *item, const struct retimed *retimed,
		 guint scenario, const GArray *ways, guint from, guint to)
{
	struct worth worth = {.ns = item->fact->most};

	worth_take(&worth, retimed, scenario, ways, from, to);
	if ((double) worth.saved > (1 + ALIKE) * (double) worth.ns)
		return;
	item->saved = worth.saved;
	item->saved_from = worth.from;
	item->saved_to = worth.to;
	say(session, item, &worth, to - from);
}

static void gather(const struct session *session, const struct stands *stands, struct gone *gone,
		   GArray *ways)
{
	for (guint i = 0; i < gone->count; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);
		uint32_t victim = item->fact->victim;
		const struct thread *life;

		gone->ways[i] = ways->len;
		if (!is_thread(victim))
			continue;
		life = model_thread(&session->trace.model, victim);
		gone->of[i] = finding_stretches_of(session, item);
		if (gone->of[i])
			ways_of_turns(session, victim, MAX(life->begin, session->asked.from),
				      MIN(life->end, session->asked.to), ways);
	}
	gone->ways[gone->count] = ways->len;
}

void stands_add_worth(const struct session *session, struct stands *stands)
{
	struct scenario scenarios[1 + WORTH_SCENARIOS * STANDS_MAX] = {0};
	struct gone gone = {.count = MIN(stands->items->len, STANDS_MAX)};
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	struct rules *rules;
	struct retimed *retimed;

	if (!retime_holds(session))
		return;
	gather(session, stands, &gone, ways);
	if (!ways->len)
		return;
	for (guint i = 0; i < gone.count; i++)
		worth_scenarios(&scenarios[1 + WORTH_SCENARIOS * i], UINT64_C(1) << i);
	rules = rules_of_choice(session, pick, &gone, PICKS_WANTED, STANDS_MAX);
	retimed = retime_ways(session, rules, scenarios, 1 + WORTH_SCENARIOS * gone.count, ways,
			      session->asked.from, session->asked.to);
	for (guint i = 0; i < gone.count; i++)
		if (gone.ways[i] < gone.ways[i + 1])
			take(session, &g_array_index(stands->items, struct stand, i), retimed,
			     1 + WORTH_SCENARIOS * i, ways, gone.ways[i], gone.ways[i + 1]);
	for (guint i = 0; i < gone.count; i++)
		finding_stretches_free(gone.of[i]);
	retimed_free(retimed);
	rules_free(rules);
}

void stands_sort_by_worth(struct stands *stands)
{
	g_array_sort(stands->items, most_saved);
}
