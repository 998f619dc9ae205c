/* SPDX-License-Identifier: MIT */
/* See worth.h.
 *
 * A stretch that is counted in part is gone as a whole: a nap of which somebody waited for the
 * half.
 */
#include "whatif/worth.h"

#include "run/option_values.h"

#define ONLY_SHARE 0.75 /* saves less of what it took than that: "only" */

static const char *const orders[] = {"share", "worth", NULL};

const struct option option_sort = {
	"sort",
	"ORDER",
	"share (default): what took most first; worth: what would save\nmost if it were gone",
	option_word,
	AT(order),
	.words = orders};

/* --- what is gone --------------------------------------------------------------------------- */

/* Parts of one thread's time that are counted for the same things; they do not overlap. */
struct gone {
	int64_t begin, end;
	uint64_t things; /* a bit for each place */
};

struct things {
	GArray **threads; /* owned; of each thread struct gone by begin, NULL: nothing */
};

/* Adds a part behind the last one, of which the last may already have the beginning: paths give
 * their parts in order of time, and several paths the same ones again. */
static void add_gone(GArray *list, struct gone part)
{
	struct gone *last = list->len ? &g_array_index(list, struct gone, list->len - 1) : NULL;

	if (last && last->things == part.things && part.begin >= last->begin &&
	    part.begin <= last->end) {
		last->end = MAX(last->end, part.end);
		return;
	}
	g_array_append_val(list, part);
}

/* Where a part of `things` begins, or ends. */
struct edge {
	int64_t time;
	uint64_t things;
	int by; /* 1, -1 */
};

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct edge *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Where parts overlap, that is a part of its own, for the things of all of them. */
static void split_overlaps(GArray *list)
{
	g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	guint open[WORTHS_MAX] = {0};
	uint64_t things = 0;

	for (guint i = 0; i < list->len; i++) {
		const struct gone *part = &g_array_index(list, struct gone, i);
		struct edge begin = {part->begin, part->things, 1};
		struct edge end = {part->end, part->things, -1};

		g_array_append_val(edges, begin);
		g_array_append_val(edges, end);
	}
	g_array_sort(edges, by_time);
	g_array_set_size(list, 0);
	for (guint i = 0; i < edges->len; i++) {
		const struct edge *edge = &g_array_index(edges, struct edge, i);
		const struct edge *before = i ? edge - 1 : edge;

		if (things && before->time < edge->time)
			add_gone(list, (struct gone) {before->time, edge->time, things});
		for (guint k = 0; k < WORTHS_MAX; k++)
			if (edge->things >> k & 1)
				open[k] += (guint) edge->by;
		things = 0;
		for (guint k = 0; k < WORTHS_MAX; k++)
			things |= open[k] ? UINT64_C(1) << k : 0;
	}
}

static bool overlap(const GArray *list)
{
	for (guint i = 1; i < list->len; i++)
		if (g_array_index(list, struct gone, i - 1).end >
		    g_array_index(list, struct gone, i).begin)
			return true;
	return false;
}

static void things_init(struct things *things, const struct session *session, const GArray *counts)
{
	uint32_t count = session->trace.model.thread_count;

	things->threads = g_new0(GArray *, count + 1);
	for (guint i = 0; i < counts->len; i++) {
		const struct counted *part = &g_array_index(counts, struct counted, i);
		GArray **list = &things->threads[part->thread];

		if (part->sentence >= WORTHS_MAX || part->begin >= part->end)
			continue;
		if (!*list)
			*list = g_array_new(FALSE, FALSE, sizeof(struct gone));
		add_gone(*list,
			 (struct gone) {part->begin, part->end, UINT64_C(1) << part->sentence});
	}
	for (uint32_t i = 0; i < count; i++)
		if (things->threads[i] && overlap(things->threads[i]))
			split_overlaps(things->threads[i]);
}

static void things_clear(struct things *things, const struct session *session)
{
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (things->threads[i])
			g_array_free(things->threads[i], TRUE);
	g_free(things->threads);
}

/* The first part that ends after `time`. */
static guint part_after(const GArray *list, int64_t time)
{
	guint low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(list, struct gone, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t pick(const struct session *session, uint32_t thread, const struct span *span,
		     const void *data)
{
	const GArray *list = ((const struct things *) data)->threads[thread];
	uint64_t picked = 0;

	(void) session;
	if (!list)
		return 0;
	for (guint i = part_after(list, span->begin); i < list->len; i++) {
		const struct gone *part = &g_array_index(list, struct gone, i);

		if (part->begin >= span->end)
			break;
		picked |= part->things;
	}
	return picked;
}

/* --- re-timed ------------------------------------------------------------------------------- */

static int64_t saved_of(const struct retimed *retimed, guint scenario, const GArray *errands)
{
	int64_t saved = 0;

	for (guint i = 0; i < errands->len; i++) {
		const struct errand *errand = &g_array_index(errands, struct errand, i);

		saved += errand->to - errand->from -
			 (retimed_at(retimed, scenario, errand->thread, errand->to) -
			  retimed_at(retimed, scenario, errand->first, errand->from));
	}
	return saved;
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
		struct worth worth = {i, ns[i], 0};

		if (ns[i])
			g_array_append_val(worths, worth);
	}
	return worths;
}

#define SWITCHES_MAX 100000 /* about 30 ms */

bool worths_are_cheap(const struct session *session, int64_t from, int64_t to)
{
	const struct pages *runs = timeline_stored(&session->trace.timeline, STORE_RUNS);
	int64_t begin = INT64_MAX, end = INT64_MIN;

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		begin = MIN(begin, host->begin);
		end = MAX(end, host->end);
	}
	return end <= begin ||
	       (double) runs->used * (double) (to - from) <= SWITCHES_MAX * (double) (end - begin);
}

GArray *worths_new(const struct session *session, const GArray *counts, const GArray *errands)
{
	GArray *worths = places_of(counts);
	struct scenario scenarios[1 + WORTHS_MAX] = {0};
	struct things things;
	struct rules *rules;
	struct retimed *retimed;
	int64_t from = INT64_MAX, to = INT64_MIN;

	if (!worths->len || !errands->len)
		return worths;
	for (guint i = 0; i < errands->len; i++) {
		from = MIN(from, g_array_index(errands, struct errand, i).from);
		to = MAX(to, g_array_index(errands, struct errand, i).to);
	}
	for (guint i = 0; i < worths->len; i++)
		scenarios[1 + i].rules =
			UINT64_C(1) << g_array_index(worths, struct worth, i).place;
	things_init(&things, session, counts);
	rules = rules_of_choice(session, pick, &things, WORTHS_MAX);
	retimed = retime(session, rules, scenarios, 1 + worths->len, from, to);
	for (guint i = 0; i < worths->len; i++)
		g_array_index(worths, struct worth, i).saved = saved_of(retimed, 1 + i, errands);
	if (saved_of(retimed, 0, errands) != 0)
		g_array_set_size(worths, 0);
	retimed_free(retimed);
	rules_free(rules);
	things_clear(&things, session);
	return worths;
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

char *worth_words(const struct worth *worth)
{
	char length[32];

	if (worth->saved <= 0)
		return g_strdup("Without it, no sooner: something else takes as long.");
	return g_strdup_printf(
		"Without it, %s%s sooner.",
		(double) worth->saved < ONLY_SHARE * (double) worth->ns ? "only " : "",
		when_duration(length, worth->saved));
}

const struct column worth_columns[] = {{"sentence", COLUMN_WHOLE, FIELD(struct worth, place)},
				       {"ns", COLUMN_NS, FIELD(struct worth, ns)},
				       {"saved_ns", COLUMN_NS, FIELD(struct worth, saved)},
				       {0}};
