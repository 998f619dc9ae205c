/* SPDX-License-Identifier: MIT */
/* See replay.h.
 *
 * Every run re-times the trace without rules, too: if anything moves then, the replay is wrong,
 * and no answer is better than one that rests on it.
 */
#include "whatif/replay.h"

#include <string.h>

#include "locks/locks.h"
#include "ready/cpu_runs.h"
#include "run/option_values.h"
#include "util/error.h"
#include "whatif/best.h"
#include "whatif/lines.h"

/* False and an error where the scenario without rules and flags moves anything. */
static bool keeps_still(const struct replay *replay, GError **error)
{
	const struct session *session = replay->session;
	uint32_t first = NO_THREAD;
	int64_t first_at = 0;
	char time[48];

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		int64_t at;

		if (retimed_drift(replay->retimed, AS_RECORDED, i, &at) &&
		    (first == NO_THREAD || at < first_at)) {
			first = i;
			first_at = at;
		}
	}
	if (first == NO_THREAD)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
		    "--what-if has no answer from this trace: re-timed without any rule, %s (%d) "
		    "moves at %s; that is a fault of whylate, please report it",
		    session_thread_name(session, first),
		    model_thread(&session->trace.model, first)->tid,
		    when_time(time, first_at, session->asked.options->utc, false));
	return false;
}

/* --- rules that are of no use --------------------------------------------------------------- */

/* The rule picks all that the ways' threads did: the answer would be the rule itself. */
static bool picks_all(const struct replay *replay, guint rule, const GArray *ways, uint32_t *others)
{
	const struct session *session = replay->session;
	g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < ways->len; i++) {
		uint32_t thread = g_array_index(ways, struct way, i).thread;

		if (g_hash_table_add(met, GUINT_TO_POINTER(thread)) &&
		    !rules_pick_all(replay->rules, rule, thread, session->asked.from,
				    session->asked.to))
			return false;
	}
	*others = g_hash_table_size(met);
	return *others > 0;
}

static bool refuse_all(const struct replay *replay, guint rule, uint32_t thread, uint32_t count,
		       GError **error)
{
	const struct session *session = replay->session;
	g_autofree char *others =
		count < 2 ? g_strdup("")
			  : g_strdup_printf(" and %u other%s", count - 1, count == 2 ? "" : "s");

	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--what-if '%s' picks all that %s (%d)%s itself did, so it says nothing of it: "
		    "add what of it is to change, as leaf=working/user or on=device:vda",
		    (const char *) g_ptr_array_index(replay->texts, rule),
		    session_thread_name(session, thread),
		    model_thread(&session->trace.model, thread)->tid, others);
	return false;
}

/* What the rules picked; false if one of them picked nothing, or all that is asked about. */
static bool count_picked(struct replay *replay, const GArray *ways, GError **error)
{
	for (guint i = 0; i < replay->texts->len; i++) {
		uint64_t count;
		uint32_t threads = 0;
		int64_t ns;

		rules_picked(replay->rules, i, &count, &ns);
		if (!count)
			return rules_refuse_nothing(replay->rules, i, error);
		if (!replay->best && picks_all(replay, i, ways, &threads))
			return refuse_all(replay, i, g_array_index(ways, struct way, 0).thread,
					  threads, error);
		replay->count += count;
		replay->picked += ns;
	}
	return true;
}

/* --- what may be otherwise -------------------------------------------------------------------- */

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* "the lock /shared.dat", "the turns of nginx (213)". */
static GPtrArray *orders_of(const struct replay *replay)
{
	const struct session *session = replay->session;
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, retimed_orders(replay->retimed));
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		uint32_t number = (uint32_t) (GPOINTER_TO_SIZE(key) >> 1);

		if (key == order_of_lock(number)) {
			uint32_t what = lock_at(&session->trace.flow, number)->resource;

			g_ptr_array_add(
				list, g_strdup_printf("the lock %s",
						      resource_name(session_text(session, what))));
		} else {
			g_ptr_array_add(
				list,
				g_strdup_printf("the turns of %s (%d)%s",
						session_thread_name(session, number),
						model_thread(&session->trace.model, number)->tid,
						session_on(session, number)));
		}
	}
	g_ptr_array_sort(list, by_text);
	return list;
}

struct idle {
	GArray *list; /* struct point: from, to */
	bool seen; /* somebody ran there */
};

static void add_idle(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct idle *idle = data;

	if (is_thread(thread)) {
		idle->seen = true;
		return;
	}
	g_array_append_vals(idle->list, &(struct point) {begin, end}, 1);
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct point *x = a, *y = b;

	return (x->old > y->old) - (x->old < y->old);
}

/* Of [from, to), what is in none of the stretches. */
static int64_t rest_of(GArray *list, int64_t from, int64_t to)
{
	int64_t rest = 0;

	g_array_sort(list, by_begin);
	for (guint i = 0; i < list->len; i++) {
		const struct point *at = &g_array_index(list, struct point, i);

		rest += MAX(at->old - from, 0);
		from = MAX(from, at->new);
	}
	return rest + MAX(to - from, 0);
}

/* Of the host that has the largest share of it. */
static void find_busy(struct replay *replay)
{
	const struct session *session = replay->session;
	int64_t from = session->asked.from, to = session->asked.to;

	for (guint h = 0; h < session->trace.model.hosts->len && from < to; h++) {
		const struct host *host = model_host(&session->trace.model, h);
		struct idle idle = {g_array_new(FALSE, FALSE, sizeof(struct point)), false};
		int64_t ns;

		for (guint cpu = 0; cpu < host->cpus->len; cpu++)
			each_run(session, (uint16_t) h, cpu, from, to, add_idle, &idle);
		ns = idle.seen ? rest_of(idle.list, from, to) : 0;
		if (ns > replay->all_busy) {
			replay->all_busy = ns;
			replay->busy_share = (double) ns / (double) (to - from);
		}
		g_array_free(idle.list, TRUE);
	}
}

/* --- made ------------------------------------------------------------------------------------ */

bool replay_asks_for_best(const struct options *options)
{
	return options->what_if->len &&
	       strcmp(g_ptr_array_index(options->what_if, 0), RULE_BEST) == 0;
}

/* The rules are then the best that was found; none if nothing saves anything. */
static void choose_best(struct replay *replay, const GArray *ways)
{
	replay->best = best_find(replay->session, ways);
	g_ptr_array_unref(replay->texts);
	replay->texts = replay->best->len
				? g_ptr_array_ref(g_array_index(replay->best, struct best, 0).rules)
				: g_ptr_array_new();
}

struct replay *replay_new(const struct session *session, const GArray *ways, bool finds_best,
			  GError **error)
{
	static const struct scenario scenarios[REPLAYS] = {[CHANGED] = {ALL_RULES, 0},
							   [FREE] = {ALL_RULES, FREE_CPUS},
							   [LEAST] = {ALL_RULES, LOWEST},
							   [MOST] = {ALL_RULES, HIGHEST}};
	struct replay *replay;

	if (!finds_best && replay_asks_for_best(session->asked.options)) {
		options_refuse(error,
			       "--what-if best needs to know what is to be sooner: a thread "
			       "or an event (whylate delay), requests (whylate requests), or "
			       "operations (whylate profile --operation)");
		return NULL;
	}
	if (!retime_holds(session)) {
		options_refuse(
			error,
			"--what-if: a guest and its host together cannot be timed anew: what "
			"the host did would stay where it was; ask of one of the traces alone");
		return NULL;
	}
	replay = g_new0(struct replay, 1);
	replay->session = session;
	replay->texts = g_ptr_array_ref(session->asked.options->what_if);
	if (replay_asks_for_best(session->asked.options))
		choose_best(replay, ways);
	replay->rules =
		rules_new(session, (const char *const *) replay->texts->pdata, replay->texts->len);
	replay->retimed = retime_ways(session, replay->rules, scenarios, REPLAYS, ways,
				      session->asked.from, session->asked.to);
	replay->cycles = retimed_cycles(replay->retimed);
	replay->orders = orders_of(replay);
	find_busy(replay);
	if (!keeps_still(replay, error) || !count_picked(replay, ways, error)) {
		replay_free(replay);
		return NULL;
	}
	return replay;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	retimed_free(replay->retimed);
	rules_free(replay->rules);
	g_ptr_array_unref(replay->texts);
	if (replay->best)
		g_array_unref(replay->best);
	if (replay->orders)
		g_ptr_array_unref(replay->orders);
	g_free(replay);
}

struct gain replay_gain(const struct replay *replay, const GArray *ways)
{
	struct gain gain = {0};
	int64_t least = 0, most = 0;

	for (guint i = 0; i < ways->len; i++) {
		const struct way *way = &g_array_index(ways, struct way, i);

		gain.recorded += way->to - way->from;
		gain.saved += retimed_saved(replay->retimed, CHANGED, way);
		gain.at_most += retimed_saved(replay->retimed, FREE, way);
		least += retimed_saved(replay->retimed, LEAST, way);
		most += retimed_saved(replay->retimed, MOST, way);
	}
	gain.from = MIN(gain.saved, MIN(least, most));
	gain.to = MAX(gain.saved, MAX(least, most));
	return gain;
}

/* --- told ------------------------------------------------------------------------------------ */

static void append_rules(GString *text, const GPtrArray *rules)
{
	for (guint i = 0; i < rules->len; i++)
		g_string_append_printf(text, "%s '%s'", i ? " and" : "",
				       (const char *) g_ptr_array_index(rules, i));
}

static void best_text(const struct replay *replay, int64_t recorded, struct output *output)
{
	char length[32];

	text_heading(output, "What would save most, of what was tried");
	for (guint i = 0; i < replay->best->len; i++) {
		const struct best *best = &g_array_index(replay->best, struct best, i);
		g_autoptr(GString) line = g_string_new(NULL);

		g_string_append_printf(line,
				       "%s (%.1f %%) sooner:", when_duration(length, best->saved),
				       100.0 * (double) best->saved / (double) recorded);
		append_rules(line, best->rules);
		if (best->rules->len > 1)
			g_string_append(line, ", together");
		text_wrapped(output, line->str, 2, 2);
	}
	if (!replay->best->len)
		text_wrapped(output,
			     "Nothing that the critical path was spent on would, if it were gone.",
			     2, 2);
}

void replay_heading(const struct replay *replay, int64_t recorded, struct output *output)
{
	g_autoptr(GString) heading = g_string_new("What if");
	char length[32];

	if (replay->best)
		best_text(replay, recorded, output);
	append_rules(heading, replay->texts);
	g_string_append_printf(heading, " (%" G_GUINT64_FORMAT " stretch%s, %s", replay->count,
			       replay->count == 1 ? "" : "es",
			       when_duration(length, replay->picked));
	g_string_append(heading,
			rules_pick_functions(replay->rules) ? " in it and what it calls)" : ")");
	text_heading(output, heading->str);
}

#define MATTERS 0.02 /* of the saving, so much is not sure: a range instead of a number */

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

char *gain_words(const struct gain *gain, const char *of)
{
	GString *text = g_string_new(NULL);
	const char *less = of ? "shorter" : "sooner", *more = of ? "longer" : "later";
	char saved[32], recorded[32], from[32], to[32];

	if (gain->saved)
		g_string_append_printf(
			text, "%s (%.1f %%) %s", when_duration(saved, size_of(gain->saved)),
			100.0 * (double) size_of(gain->saved) / (double) MAX(gain->recorded, 1),
			gain->saved < 0 ? more : less);
	else
		g_string_append_printf(text, "No %s", less);
	g_string_append_printf(text, " than the recorded %s",
			       when_duration(recorded, gain->recorded));
	if (of)
		g_string_append_printf(text, " of %s", of);
	if ((double) (gain->to - gain->from) > MATTERS * (double) size_of(gain->saved))
		g_string_append_printf(text, "; from %s%s%s to %s %s, by what is not sure",
				       when_duration(from, size_of(gain->from)),
				       gain->from < 0 && gain->to >= 0 ? " " : "",
				       gain->from < 0 && gain->to >= 0 ? more : "",
				       when_duration(to, size_of(gain->to)),
				       gain->to < 0 ? more : less);
	if (gain->at_most > gain->saved && gain->saved >= 0)
		g_string_append_printf(text, "; up to %s %s, had a CPU been free always",
				       when_duration(to, gain->at_most), less);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

#define ORDERS_TOLD 3
#define BUSY_TOLD 0.05 /* of the window */

static void append_orders(GString *text, const GPtrArray *orders)
{
	if (!orders->len)
		return;
	for (guint i = 0; i < orders->len && i < ORDERS_TOLD; i++)
		g_string_append_printf(text, "%s%s",
				       !i                    ? "The order is kept of "
				       : i + 1 < orders->len ? ", "
							     : " and ",
				       (const char *) g_ptr_array_index(orders, i));
	if (orders->len > ORDERS_TOLD)
		g_string_append_printf(text, " and %u more", orders->len - ORDERS_TOLD);
	g_string_append(text, ", where others would now come first: the most that is told has them "
			      "served when they come. ");
}

char *replay_limits(const struct replay *replay)
{
	GString *text = g_string_new(NULL);
	char length[32];

	if (replay->busy_share >= BUSY_TOLD)
		g_string_append_printf(text,
				       "All CPUs were busy for %s (%.1f %%) of the window: who "
				       "waits for one no longer may do so elsewhere. ",
				       when_duration(length, replay->all_busy),
				       100 * replay->busy_share);
	append_orders(text, replay->orders);
	if (replay->cycles)
		g_string_append_printf(text,
				       "%" G_GUINT64_FORMAT " wait%s for who was waiting, too: "
				       "what %s waited by then is taken as recorded. ",
				       replay->cycles, replay->cycles == 1 ? " was" : "s were",
				       replay->cycles == 1 ? "that one" : "these");
	g_string_append(text, "Every thread does the same in the same order as recorded; caches, "
			      "memory, the CPU's frequency and queues served in another order are "
			      "left out.");
	return g_string_free(text, FALSE);
}

static const struct column best_columns[] = {
	{"rules", COLUMN_LIST, FIELD(struct best, rules), .item = COLUMN_TEXT},
	{"saved_ns", COLUMN_NS, FIELD(struct best, saved)},
	{0}};

static const struct column picked_columns[] = {{"count", COLUMN_WHOLE, FIELD(struct replay, count)},
					       {"ns", COLUMN_NS, FIELD(struct replay, picked)},
					       {0}};

const struct column gain_columns[] = {{"saved_ns", COLUMN_NS, FIELD(struct gain, saved)},
				      {"saved_from_ns", COLUMN_NS, FIELD(struct gain, from)},
				      {"saved_to_ns", COLUMN_NS, FIELD(struct gain, to)},
				      {"saved_at_most_ns", COLUMN_NS, FIELD(struct gain, at_most)},
				      {0}};

const struct column replay_columns[] = {
	{"rules", COLUMN_LIST, FIELD(struct replay, texts), .item = COLUMN_TEXT},
	{"picked", COLUMN_OBJECT, .columns = picked_columns},
	{"all_busy_ns", COLUMN_NS, FIELD(struct replay, all_busy)},
	{"cycles", COLUMN_WHOLE, FIELD(struct replay, cycles)},
	{"orders", COLUMN_LIST, FIELD(struct replay, orders), .item = COLUMN_TEXT},
	{"best", COLUMN_LIST, FIELD(struct replay, best), .columns = best_columns, .absent = true},
	{0}};
