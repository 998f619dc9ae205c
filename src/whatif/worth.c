/* SPDX-License-Identifier: MIT */
/* See worth.h. */
#include "whatif/worth.h"

#include "run/option_values.h"
#include "waits/idle.h"

#define ONLY_SHARE 0.75 /* saves less of what it took than that: "only" */

static const char *const orders[] = {"share", "worth", NULL};

const struct option option_sort = {
	"sort",
	"ORDER",
	"share (default): what others imposed, then what was its own, each by\nwhat it took; "
	"worth: what would save most if it were gone",
	option_word,
	AT(order),
	.words = orders};

/* --- re-timed ------------------------------------------------------------------------------- */

static int64_t saved_of(const struct retimed *retimed, guint scenario, const GArray *ways,
			guint from, guint to)
{
	int64_t saved = 0;

	for (guint i = from; i < to; i++)
		saved += retimed_saved(retimed, scenario, &g_array_index(ways, struct way, i));
	return saved;
}

void worth_scenarios(struct scenario *scenarios, uint64_t rules)
{
	scenarios[0] = (struct scenario) {rules, 0};
	scenarios[1] = (struct scenario) {rules, LOWEST};
	scenarios[2] = (struct scenario) {rules, HIGHEST};
}

void worth_take(struct worth *worth, const struct retimed *retimed, guint scenario,
		const GArray *ways, guint from, guint to)
{
	int64_t least = saved_of(retimed, scenario + 1, ways, from, to);
	int64_t most = saved_of(retimed, scenario + 2, ways, from, to);

	worth->saved = saved_of(retimed, scenario, ways, from, to);
	worth->from = MIN(worth->saved, MIN(least, most));
	/* beyond what it took only where others that were ready to run gain, too */
	worth->to = MAX(worth->saved, MIN(MAX(least, most), worth->ns));
}

/* Each place that something is counted of. */
static GArray *places_of(const GArray *counts)
{
	GArray *worths = g_array_new(FALSE, FALSE, sizeof(struct worth));
	int64_t ns[WORTHS_MAX] = {0};

	for (guint i = 0; i < counts->len; i++) {
		const struct counted *part = &g_array_index(counts, struct counted, i);

		if (part->sentence < WORTHS_MAX)
			ns[part->sentence] += part->end - part->begin;
	}
	for (guint i = 0; i < WORTHS_MAX; i++) {
		struct worth worth = {i, ns[i], 0, 0, 0};

		if (ns[i])
			g_array_append_val(worths, worth);
	}
	return worths;
}

#define EVENTS_A_THING 6000000 /* of so many events one thing is re-timed unasked */

guint worth_things(const struct session *session)
{
	uint64_t things = EVENTS_A_THING / MAX(session->trace.events, 1);

	return session->asked.options->order == BY_WORTH ? WORTHS_MAX
							 : (guint) CLAMP(things, 1, WORTHS_MAX);
}

void without_init(struct without *without, const struct session *session, struct gone *gone,
		  guint count, const GArray *ways, int64_t from, int64_t to)
{
	struct scenario scenarios[1 + WORTH_SCENARIOS * WORTHS_MAX] = {0};

	g_assert(count <= WORTHS_MAX);
	for (guint i = 0; i < count; i++)
		worth_scenarios(&scenarios[without_scenario(i)], UINT64_C(1) << i);
	gone_close(gone);
	without->gone = gone;
	without->rules = rules_of_gone(session, gone, count);
	without->retimed = retime_ways(session, without->rules, scenarios,
				       1 + WORTH_SCENARIOS * count, ways, from, to);
	without->drifts = !retime_holds(session);
	for (guint i = 0; i < ways->len; i++)
		without->drifts |= retimed_saved(without->retimed, 0,
						 &g_array_index(ways, struct way, i)) != 0;
}

void without_clear(struct without *without)
{
	retimed_free(without->retimed);
	rules_free(without->rules);
	gone_free(without->gone);
}

/* Of the sentences that are listed, the thing is the place in the list. */
static struct gone *gone_of(const struct session *session, const GArray *counts,
			    const GArray *worths)
{
	struct gone *gone = gone_new(session);
	guint thing[WORTHS_MAX] = {0};

	for (guint i = 0; i < worths->len; i++)
		thing[g_array_index(worths, struct worth, i).place] = i;
	for (guint i = 0; i < counts->len; i++) {
		const struct counted *part = &g_array_index(counts, struct counted, i);

		if (part->sentence < WORTHS_MAX)
			gone_add(gone, part->thread,
				 (struct gone_part) {part->begin, part->end,
						     UINT64_C(1) << thing[part->sentence]});
	}
	return gone;
}

GArray *worths_new(const struct session *session, const GArray *counts, const GArray *ways)
{
	GArray *worths = places_of(counts);
	int64_t from = INT64_MAX, to = INT64_MIN;
	struct without without;

	if (!retime_holds(session))
		g_array_set_size(worths, 0);
	if (!worths->len || !ways->len)
		return worths;
	for (guint i = 0; i < ways->len; i++) {
		from = MIN(from, g_array_index(ways, struct way, i).from);
		to = MAX(to, g_array_index(ways, struct way, i).to);
	}
	without_init(&without, session, gone_of(session, counts, worths), worths->len, ways, from,
		     to);
	for (guint i = 0; i < worths->len; i++)
		worth_take(&g_array_index(worths, struct worth, i), without.retimed,
			   without_scenario(i), ways, 0, ways->len);
	if (without.drifts)
		g_array_set_size(worths, 0);
	without_clear(&without);
	return worths;
}

/* --- turns ---------------------------------------------------------------------------------- */

void ways_of_turns(const struct session *session, uint32_t thread, int64_t from, int64_t to,
		   GArray *ways)
{
	struct way way = {thread, thread, from, from};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, to);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(session, thread, &span);
		if (!wait_is_at_leisure(session, &wait))
			continue;
		way.to = span.begin;
		if (way.from < way.to)
			g_array_append_val(ways, way);
		way.from = span.end;
	}
	way.to = to;
	if (way.from < way.to)
		g_array_append_val(ways, way);
}

/* --- told ----------------------------------------------------------------------------------- */

const struct worth *worth_at(const GArray *worths, guint place)
{
	for (guint i = 0; worths && i < worths->len; i++)
		if (g_array_index(worths, struct worth, i).place == place)
			return &g_array_index(worths, struct worth, i);
	return NULL;
}

static int most_saved(gconstpointer a, gconstpointer b)
{
	const struct worth *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void worths_sort(GArray *worths, GPtrArray *sentences)
{
	g_autoptr(GPtrArray) rest = g_ptr_array_new();
	guint count = 0;

	g_array_sort(worths, most_saved);
	for (guint i = 0; i < sentences->len; i++)
		if (!worth_at(worths, i))
			g_ptr_array_add(rest, sentences->pdata[i]);
	for (guint i = 0; i < worths->len; i++) {
		struct worth *worth = &g_array_index(worths, struct worth, i);

		g_ptr_array_insert(rest, (int) count, sentences->pdata[worth->place]);
		worth->place = count++;
	}
	for (guint i = 0; i < sentences->len; i++)
		sentences->pdata[i] = rest->pdata[i];
}

#define ROOM 0.05 /* of what it took: so much that is not sure makes a range of the number */

char *worth_range(const struct worth *worth)
{
	int64_t from = MAX(worth->from, 0), to = MAX(worth->to, 0);
	char least[32], most[32];

	if (to <= 0 || (worth->saved <= 0 && (double) to <= ROOM * (double) worth->ns))
		return NULL;
	if ((double) (to - from) <= ROOM * (double) worth->ns)
		return g_strdup_printf("%s%s",
				       (double) to < ONLY_SHARE * (double) worth->ns ? "only " : "",
				       when_duration(most, MAX(worth->saved, 0)));
	if (from <= 0)
		return g_strdup_printf("up to %s", when_duration(most, to));
	return g_strdup_printf("%s to %s", when_duration(least, from), when_duration(most, to));
}

char *worth_words(const struct worth *worth)
{
	g_autofree char *range = worth_range(worth);

	return range ? g_strdup_printf("Without it, %s sooner.", range)
		     : g_strdup("Without it, no sooner: something else takes as long.");
}

const struct column worth_columns[] = {{"sentence", COLUMN_WHOLE, FIELD(struct worth, place)},
				       {"ns", COLUMN_NS, FIELD(struct worth, ns)},
				       {"saved_ns", COLUMN_NS, FIELD(struct worth, saved)},
				       {"saved_from_ns", COLUMN_NS, FIELD(struct worth, from)},
				       {"saved_to_ns", COLUMN_NS, FIELD(struct worth, to)},
				       {0}};
