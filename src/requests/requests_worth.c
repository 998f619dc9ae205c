/* SPDX-License-Identifier: MIT */
/* See requests_worth.h. */
#include "requests/requests_worth.h"

#include <stdlib.h>
#include <string.h>

#include "waits/causes.h"

#define BATCHES_MAX 5    /* of WORTHS_MAX causes, each in a pass of its own: with --sort worth */
#define P90_FROM 10      /* requests: of fewer it would be the slowest one */
#define MOST 2           /* of a thing's scenarios */
#define LEAST_TOLD 0.005 /* of all requests' time: of less nothing is said */

/* The requests that are asked: those that stand for all, and those that are listed. */
struct asked {
	GArray *ones; /* struct asked_one */
	GArray *ways;   /* struct way, of each */
	guint count;    /* that stand for all */
	int64_t *lengths[WORTH_SCENARIOS]; /* owned; of these, without a thing */
	int64_t mean, p90; /* as recorded */
};

struct asked_one {
	guint listed; /* its place in requests->listed */
	bool for_all;
	bool mixed; /* threads of its way did something for others meanwhile, and so might have
		       done it in another order */
};

/* --- who is asked ---------------------------------------------------------------------------- */

static bool is_kept(const struct costs *costs, guint listed)
{
	return !costs->kept || costs->kept[listed];
}

static bool is_told(const struct user_request *request)
{
	return !request->unfinished && is_thread(request->first) && is_thread(request->last) &&
	       request->begin < request->end;
}

static bool does_others(const struct user_requests *requests, const struct user_request *request,
			uint32_t thread)
{
	uint32_t root = user_request_root(requests, request->id);

	for (int64_t at = request->begin, until; at < request->end; at = until) {
		uint32_t place = user_request_of(requests, thread, at, &until);

		if (place && user_request_root(requests, place) != root)
			return true;
	}
	return false;
}

static bool is_mixed(const struct costs *costs, guint listed)
{
	const struct user_request *request = listed_request(costs, listed);
	guint first, end;

	thread_costs_of(costs, listed, &first, &end);
	for (; first < end; first++)
		if (does_others(costs->requests, request,
				g_array_index(costs->threads, struct thread_cost, first).thread))
			return true;
	return false;
}

static int by_length(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts the lengths; the mean, and the nearest rank of 90 %. */
static void measure(int64_t *lengths, guint count, int64_t *mean, int64_t *p90)
{
	int64_t sum = 0;

	for (guint i = 0; i < count; i++)
		sum += lengths[i];
	qsort(lengths, count, sizeof *lengths, by_length);
	*mean = sum / count;
	*p90 = lengths[((uint64_t) count * 90 + 99) / 100 - 1];
}

static void asked_init(struct asked *asked, const struct costs *costs)
{
	asked->ones = g_array_new(FALSE, FALSE, sizeof(struct asked_one));
	asked->ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	for (guint i = 0; i < costs->requests->listed->len; i++) {
		const struct user_request *request = listed_request(costs, i);
		struct way way = {request->first, request->last, request->begin, request->end};
		struct asked_one one = {i, costs_stand_for_all(costs, i), false};

		if (!is_kept(costs, i) || !is_told(request))
			continue;
		one.mixed = is_mixed(costs, i);
		asked->count += one.for_all;
		g_array_append_val(asked->ones, one);
		g_array_append_val(asked->ways, way);
	}
	for (guint i = 0; i < WORTH_SCENARIOS; i++)
		asked->lengths[i] = g_new(int64_t, asked->count + 1);
	for (guint i = 0, k = 0; i < asked->ones->len; i++) {
		const struct way *way = &g_array_index(asked->ways, struct way, i);

		if (g_array_index(asked->ones, struct asked_one, i).for_all)
			asked->lengths[0][k++] = way->to - way->from;
	}
	if (asked->count)
		measure(asked->lengths[0], asked->count, &asked->mean, &asked->p90);
}

static void asked_clear(struct asked *asked)
{
	g_array_free(asked->ones, TRUE);
	g_array_free(asked->ways, TRUE);
	for (guint i = 0; i < WORTH_SCENARIOS; i++)
		g_free(asked->lengths[i]);
}

/* --- which causes ---------------------------------------------------------------------------- */

/* It could be gone, and all else be as it was: not waits that never ended, not what is not known,
 * not tries, whose number would be another, and not other requests, which somebody asked for. */
static bool may_be_gone(const struct user_cause *cause)
{
	static const enum cause_kind never[] = {CAUSE_RETRY, CAUSE_STILL_BLOCKED, CAUSE_DEADLOCK,
						CAUSE_UNKNOWN};

	for (size_t i = 0; i < G_N_ELEMENTS(never); i++)
		if (strcmp(cause->kind, cause_kind_text(never[i])) == 0)
			return false;
	return cause->value > 0 && strcmp(cause->kind, "other-request") != 0;
}

/* Places of causes, the largest first. */
static GArray *causes_to_tell(const struct costs *costs)
{
	GArray *places = g_array_new(FALSE, FALSE, sizeof(guint));
	const struct session *session = costs->requests->session;
	guint most = session->asked.options->order == BY_WORTH ? BATCHES_MAX * WORTHS_MAX
							       : worth_things(session);

	for (guint i = 0; i < costs->causes->len && places->len < most; i++)
		if (may_be_gone(&g_array_index(costs->causes, struct user_cause, i)))
			g_array_append_val(places, i);
	return places;
}

/* The stretches of the causes [first, end) of the list, as things from 0 on. */
static struct gone *gone_of(const struct costs *costs, const GArray *places, guint first, guint end)
{
	struct gone *gone = gone_new(costs->requests->session);
	g_autofree int8_t *thing = g_new(int8_t, costs->causes->len + 1);

	memset(thing, -1, costs->causes->len + 1);
	for (guint i = first; i < end; i++)
		thing[g_array_index(places, guint, i)] = (int8_t) (i - first);
	for (guint i = 0; i < costs->stretches->len; i++) {
		const struct put_down *at = &g_array_index(costs->stretches, struct put_down, i);

		if (thing[at->cause] >= 0)
			gone_add(gone, at->thread,
				 (struct gone_part) {at->begin, at->end,
						     UINT64_C(1) << thing[at->cause]});
	}
	return gone;
}

/* --- what they are worth ---------------------------------------------------------------------- */

/* The request's cost for the cause; NULL: none. */
static struct cost *cost_of(struct costs *costs, guint listed, guint cause)
{
	guint first, end;

	costs_of(costs, listed, &first, &end);
	for (; first < end; first++) {
		struct cost *cost = &g_array_index(costs->costs, struct cost, first);

		if (cost->cause == cause)
			return cost;
	}
	return NULL;
}

/* By three ways to see it: the number, and what is not sure (worth_scenarios()); beyond what it
 * took only where others gain, too. */
static struct saving saving_of(int64_t recorded, const int64_t *lengths, int64_t took)
{
	int64_t saved = recorded - lengths[0];
	int64_t most = recorded - MIN(lengths[1], lengths[2]);

	return (struct saving) {true, saved,
				recorded - MAX(lengths[0], MAX(lengths[1], lengths[2])),
				MAX(saved, MIN(most, took))};
}

/* Each request, and all together. In another order it would save all that it spent on the cause. */
static void take(struct costs *costs, guint cause, const struct retimed *retimed, guint scenario,
		 struct asked *asked)
{
	struct user_cause *of_all = &g_array_index(costs->causes, struct user_cause, cause);
	int64_t mean[WORTH_SCENARIOS], p90[WORTH_SCENARIOS];

	for (guint i = 0, k = 0; i < asked->ones->len; i++) {
		const struct asked_one *one = &g_array_index(asked->ones, struct asked_one, i);
		const struct way *way = &g_array_index(asked->ways, struct way, i);
		struct cost *cost = cost_of(costs, one->listed, cause);
		int64_t lengths[WORTH_SCENARIOS], recorded = way->to - way->from;

		for (guint s = 0; s < WORTH_SCENARIOS; s++)
			lengths[s] = recorded - retimed_saved(retimed, scenario + s, way);
		if (cost && one->mixed)
			lengths[MOST] = MIN(lengths[MOST], recorded - cost->value);
		if (cost)
			cost->saving = saving_of(recorded, lengths, cost->value);
		for (guint s = 0; one->for_all && s < WORTH_SCENARIOS; s++)
			asked->lengths[s][k] = lengths[s];
		k += one->for_all;
	}
	for (guint s = 0; s < WORTH_SCENARIOS; s++)
		measure(asked->lengths[s], asked->count, &mean[s], &p90[s]);
	of_all->mean = saving_of(asked->mean, mean, of_all->value / costs->requests->listed->len);
	of_all->p90 = saving_of(asked->p90, p90, asked->p90);
}

static void take_batch(struct costs *costs, const GArray *places, guint first, guint end,
		       struct asked *asked)
{
	const struct session *session = costs->requests->session;
	struct without without;

	without_init(&without, session, gone_of(costs, places, first, end), end - first,
		     asked->ways, session->asked.from, session->asked.to);
	for (guint i = first; i < end && !without.drifts; i++)
		take(costs, g_array_index(places, guint, i), without.retimed,
		     without_scenario(i - first), asked);
	without_clear(&without);
}

void requests_add_worth(struct costs *costs)
{
	g_autoptr(GArray) places = NULL;
	struct asked asked = {0};

	if (!costs->stretches || !costs->stretches->len)
		return;
	places = causes_to_tell(costs);
	asked_init(&asked, costs);
	for (guint i = 0; asked.count && i < places->len; i += WORTHS_MAX)
		take_batch(costs, places, i, MIN(i + WORTHS_MAX, places->len), &asked);
	asked_clear(&asked);
	g_clear_pointer(&costs->stretches, g_array_unref);
}

/* --- told ------------------------------------------------------------------------------------- */

char *saving_words(const struct saving *saving, int64_t of)
{
	struct worth worth = {0, of, saving->ns, saving->from, saving->to};

	return saving->known ? worth_range(&worth) : NULL;
}

char *cause_worth_words(const struct costs *costs, const struct user_cause *cause)
{
	guint count = costs->requests->listed->len;
	g_autofree char *range = NULL, *p90 = NULL;

	if (!cause->mean.known || (double) cause->value < LEAST_TOLD * (double) costs->total)
		return NULL;
	range = saving_words(&cause->mean, cause->value / MAX(count, 1));
	if (!range)
		return g_strdup(count > 1 ? "without it no shorter: something else takes as long"
					  : "without it no sooner: something else takes as long");
	if (count == 1)
		return g_strdup_printf("without it %s sooner", range);
	p90 = count < P90_FROM ? NULL : saving_words(&cause->p90, cause->p90.to);
	return g_strdup_printf("without it %s shorter in the mean%s%s%s", range, p90 ? ", " : "",
			       p90 ? p90 : "", p90 ? " at p90" : "");
}
