/* SPDX-License-Identifier: MIT */
/* See requests_what_if.h. */
#include "requests/requests_what_if.h"

#include <stdlib.h>

#include "limits/limits.h"
#include "util/error.h"
#include "whatif/what_if.h"

enum { AS_RECORDED, CHANGED, FREE, MOVED, SURE_ONLY, SCENARIOS };

static bool is_told(const struct user_request *request)
{
	return !request->unfinished && is_thread(request->first) && is_thread(request->last);
}

static const struct user_request *request_at(const struct user_requests *requests, guint i)
{
	return user_request_at(requests, g_array_index(requests->listed, uint32_t, i));
}

static int64_t latency(const struct retimed *retimed, guint scenario,
		       const struct user_request *request)
{
	return retimed_at(retimed, scenario, request->last, request->end) -
	       retimed_at(retimed, scenario, request->first, request->begin);
}

/* ns that a request may take, by the first limit that says so; 0. */
static int64_t limit_of(const struct options *options)
{
	for (guint i = 0; i < options->limits->len; i++) {
		const struct limit *limit = g_ptr_array_index(options->limits, i);

		if (limit->requests && limit->bound.unit == LIMIT_NS)
			return (int64_t) limit->bound.number;
	}
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The nearest rank of `count` sorted lengths. */
static int64_t percentile(const int64_t *lengths, guint count, unsigned percent)
{
	return lengths[MAX(((uint64_t) count * percent + 99) / 100, 1) - 1];
}

/* Sorts them. */
static struct latencies latencies_of(int64_t *lengths, guint count, int64_t limit)
{
	struct latencies latencies = {.within = -1};
	guint within = 0;
	int64_t sum = 0;

	qsort(lengths, count, sizeof *lengths, by_length);
	for (guint i = 0; i < count; i++) {
		sum += lengths[i];
		within += lengths[i] <= limit;
	}
	latencies.mean = sum / count;
	latencies.p50 = percentile(lengths, count, 50);
	latencies.p90 = percentile(lengths, count, 90);
	latencies.p99 = percentile(lengths, count, 99);
	latencies.max = lengths[count - 1];
	if (limit)
		latencies.within = (double) within / count;
	return latencies;
}

static void fill(struct requests_what_if *what_if, const struct user_requests *requests,
		 const struct retimed *retimed)
{
	g_autofree int64_t *old = g_new(int64_t, requests->listed->len);
	g_autofree int64_t *new = g_new(int64_t, requests->listed->len);
	int64_t saved[SCENARIOS] = {0};
	guint count = 0;

	for (guint i = 0; i < requests->listed->len; i++) {
		const struct user_request *request = request_at(requests, i);

		if (!is_told(request))
			continue;
		old[count] = request->end - request->begin;
		new[count] = latency(retimed, CHANGED, request);
		what_if->sooner += new[count] < old[count];
		what_if->later += new[count] > old[count];
		for (guint k = 0; k < SCENARIOS; k++)
			saved[k] += old[count] - latency(retimed, k, request);
		count++;
	}
	what_if->requests = count;
	what_if->saved = saved[CHANGED];
	what_if->saved_at_most = saved[FREE];
	what_if->saved_from = MIN(saved[CHANGED], MIN(saved[MOVED], saved[SURE_ONLY]));
	what_if->saved_to = MAX(saved[CHANGED], MAX(saved[MOVED], saved[SURE_ONLY]));
	what_if->recorded = latencies_of(old, count, what_if->limit);
	what_if->changed = latencies_of(new, count, what_if->limit);
}

static bool any_is_told(const struct user_requests *requests, GError **error)
{
	for (guint i = 0; i < requests->listed->len; i++)
		if (is_told(request_at(requests, i)))
			return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--what-if: no request was answered in the window");
	return false;
}

/* What the rules picked; false if one of them picked nothing. */
static bool count_picked(struct rules *rules, struct requests_what_if *what_if, GError **error)
{
	for (guint i = 0; i < what_if->rules->len; i++) {
		uint64_t count;
		int64_t ns;

		rules_picked(rules, i, &count, &ns);
		if (!count)
			return rules_refuse_nothing(rules, i, error);
		what_if->count += count;
		what_if->picked += ns;
	}
	return true;
}

struct requests_what_if *requests_what_if_new(const struct user_requests *requests, GError **error)
{
	static const struct scenario scenarios[SCENARIOS] = {
		[CHANGED] = {ALL_RULES, 0},
		[FREE] = {ALL_RULES, FREE_CPUS},
		[MOVED] = {ALL_RULES, ANCHORS_MOVE},
		[SURE_ONLY] = {ALL_RULES, NO_INFERRED}};
	const struct session *session = requests->session;
	GPtrArray *texts = session->asked.options->what_if;
	struct requests_what_if *what_if;
	struct rules *rules;
	struct retimed *retimed;
	bool good;

	if (!any_is_told(requests, error))
		return NULL;
	what_if = g_new0(struct requests_what_if, 1);
	what_if->rules = texts;
	what_if->limit = limit_of(session->asked.options);
	rules = rules_new(session, (const char *const *) texts->pdata, texts->len);
	retimed = retime(session, rules, scenarios, SCENARIOS, session->asked.from,
			 session->asked.to);
	good = what_if_keeps_still(session, retimed, AS_RECORDED, error) &&
	       count_picked(rules, what_if, error);
	if (good)
		fill(what_if, requests, retimed);
	retimed_free(retimed);
	rules_free(rules);
	if (!good)
		g_clear_pointer(&what_if, g_free);
	return what_if;
}

/* --- told ----------------------------------------------------------------------------------- */

static void length_line(struct output *output, const char *name, int64_t recorded, int64_t changed)
{
	char old[32], new[32], saved[32];
	int64_t ns = recorded - changed;

	fprintf(output->file, "  %-6s%12s%12s%12s%s\n", name, when_duration(old, recorded),
		when_duration(new, changed), when_duration(saved, ns < 0 ? -ns : ns),
		ns < 0 ? " later" : " sooner");
}

void requests_what_if_text(const struct requests_what_if *what_if, struct output *output)
{
	g_autoptr(GString) heading = g_string_new("What if");
	g_autofree char *note = NULL;
	char length[32], most[32];

	for (guint i = 0; i < what_if->rules->len; i++)
		g_string_append_printf(heading, "%s '%s'", i ? " and" : "",
				       (const char *) g_ptr_array_index(what_if->rules, i));
	g_string_append_printf(heading, " (%" G_GUINT64_FORMAT " stretches, %s)", what_if->count,
			       when_duration(length, what_if->picked));
	text_heading(output, heading->str);
	fprintf(output->file, "  %-6s%12s%12s\n", "", "RECORDED", "THEN");
	length_line(output, "mean", what_if->recorded.mean, what_if->changed.mean);
	length_line(output, "p50", what_if->recorded.p50, what_if->changed.p50);
	length_line(output, "p90", what_if->recorded.p90, what_if->changed.p90);
	length_line(output, "p99", what_if->recorded.p99, what_if->changed.p99);
	length_line(output, "max", what_if->recorded.max, what_if->changed.max);
	if (what_if->limit)
		fprintf(output->file, "  within %s: %.1f %% of them, then %.1f %%\n",
			when_duration(length, what_if->limit), 100 * what_if->recorded.within,
			100 * what_if->changed.within);
	note = g_strdup_printf(
		"Of %u requests %u would be sooner and %u later. Each thread does the same in the "
		"recorded order, and requests come when what they hang on lets them; nothing is "
		"said of caches, frequency, or a queue that would be served in another order.",
		what_if->requests, what_if->sooner, what_if->later);
	text_wrapped(output, note, 2, 2);
	if (what_if->saved_from != what_if->saved_to) {
		g_autofree char *range = g_strdup_printf(
			"Not sure: what is inferred, or hangs on nothing that was recorded, makes "
			"it %s to %s in all.",
			when_duration(length, what_if->saved_from),
			when_duration(most, what_if->saved_to));

		text_wrapped(output, range, 2, 2);
	}
}

GETTER(bool, has_limit, struct requests_what_if, row->limit != 0);

static const struct column picked_columns[] = {
	{"count", COLUMN_WHOLE, FIELD(struct requests_what_if, count)},
	{"ns", COLUMN_NS, FIELD(struct requests_what_if, picked)},
	{0}};

static const struct column latency_columns[] = {
	{"mean_ns", COLUMN_NS, FIELD(struct latencies, mean)},
	{"p50_ns", COLUMN_NS, FIELD(struct latencies, p50)},
	{"p90_ns", COLUMN_NS, FIELD(struct latencies, p90)},
	{"p99_ns", COLUMN_NS, FIELD(struct latencies, p99)},
	{"max_ns", COLUMN_NS, FIELD(struct latencies, max)},
	{0}};

GETTER(double, within_recorded, struct requests_what_if, row->recorded.within);
GETTER(double, within_changed, struct requests_what_if, row->changed.within);

static const struct column limit_columns[] = {
	{"ns", COLUMN_NS, FIELD(struct requests_what_if, limit)},
	{"recorded", COLUMN_SHARE, .real = within_recorded},
	{"changed", COLUMN_SHARE, .real = within_changed},
	{0}};

static const void *limit_row(const struct report *report, const void *row)
{
	return has_limit(report, row) ? row : NULL;
}

const struct column requests_what_if_columns[] = {
	{"rules", COLUMN_LIST, FIELD(struct requests_what_if, rules), .item = COLUMN_TEXT},
	{"picked", COLUMN_OBJECT, .columns = picked_columns},
	{"requests", COLUMN_WHOLE, FIELD(struct requests_what_if, requests)},
	{"sooner", COLUMN_WHOLE, FIELD(struct requests_what_if, sooner)},
	{"later", COLUMN_WHOLE, FIELD(struct requests_what_if, later)},
	{"saved_ns", COLUMN_NS, FIELD(struct requests_what_if, saved)},
	{"saved_from_ns", COLUMN_NS, FIELD(struct requests_what_if, saved_from)},
	{"saved_to_ns", COLUMN_NS, FIELD(struct requests_what_if, saved_to)},
	{"saved_at_most_ns", COLUMN_NS, FIELD(struct requests_what_if, saved_at_most)},
	{"recorded", COLUMN_OBJECT, FIELD_HERE(struct requests_what_if, recorded),
	 .columns = latency_columns},
	{"changed", COLUMN_OBJECT, FIELD_HERE(struct requests_what_if, changed),
	 .columns = latency_columns},
	{"within", COLUMN_OBJECT, .at = limit_row, .columns = limit_columns, .absent = true},
	{0}};
