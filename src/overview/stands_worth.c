/* SPDX-License-Identifier: MIT */
/* What the items that stand out would be worth if they were gone: how much sooner the thread that
 * lost most to each would be at its end, or at the window's. Which stretches these are: as for
 * --what-if 'finding=ID: 0' (rules/finding_stretches.h).
 *
 * Part of overview/.
 */
#include "overview/overview.h"
#include "rules/finding_stretches.h"
#include "whatif/retime.h"

struct gone {
	struct finding_stretches *of[STANDS_MAX]; /* NULL: it has none */
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

static int64_t saved(const struct session *session, const struct retimed *retimed, guint scenario,
		     uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	int64_t from = MAX(life->begin, session->asked.from);
	int64_t to = MIN(life->end, session->asked.to);

	return (to - from) - (retimed_at(retimed, scenario, thread, to) -
			      retimed_at(retimed, scenario, thread, from));
}

static int most_saved(gconstpointer a, gconstpointer b)
{
	const struct stand *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return x->weight != y->weight ? (x->weight > y->weight ? -1 : 1) : 0;
}

/* "…. Without it, kdeinit (224) would be done 81.96 ms sooner." */
static void say(const struct session *session, struct stand *item)
{
	uint32_t victim = item->fact->victim;
	char length[32];
	char *words = item->saved > 0
			      ? g_strdup_printf("Without it, %s (%d) would be done %s sooner.",
						session_thread_name(session, victim),
						model_thread(&session->trace.model, victim)->tid,
						when_duration(length, item->saved))
			      : g_strdup("Without it, no sooner: something else takes as long.");
	char *sentence = g_strconcat(item->sentence, " ", words, NULL);

	g_free(item->sentence);
	g_free(words);
	item->sentence = sentence;
}

void stands_sort_by_worth(const struct session *session, struct stands *stands)
{
	struct scenario scenarios[1 + STANDS_MAX] = {0};
	struct gone gone = {.count = MIN(stands->items->len, STANDS_MAX)};
	struct rules *rules;
	struct retimed *retimed;

	for (guint i = 0; i < gone.count; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);

		scenarios[1 + i].rules = UINT64_C(1) << i;
		if (*item->id && is_thread(item->fact->victim))
			gone.of[i] = finding_stretches_new(session, item->id);
	}
	rules = rules_of_choice(session, pick, &gone, STANDS_MAX);
	retimed = retime(session, rules, scenarios, 1 + gone.count, session->asked.from,
			 session->asked.to);
	for (guint i = 0; i < gone.count; i++) {
		struct stand *item = &g_array_index(stands->items, struct stand, i);

		if (!gone.of[i])
			continue;
		item->saved = saved(session, retimed, 1 + i, item->fact->victim);
		say(session, item);
		finding_stretches_free(gone.of[i]);
	}
	g_array_sort(stands->items, most_saved);
	retimed_free(retimed);
	rules_free(rules);
}
