/* SPDX-License-Identifier: MIT */
/* See requests_what_if.h. */
#include "requests/requests_what_if.h"

#include <stdlib.h>

#include "limits/limits.h"
#include "util/error.h"

static bool is_told(const struct user_request *request)
{
	return !request->unfinished && is_thread(request->first) && is_thread(request->last);
}

static const struct user_request *request_at(const struct user_requests *requests, guint i)
{
	return user_request_at(requests, g_array_index(requests->listed, uint32_t, i));
}

static struct way way_of(const struct user_request *request)
{
	return (struct way) {request->first, request->last, request->begin, request->end};
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

static void fill(struct requests_what_if *what_if, const struct user_requests *requests)
{
	const struct retimed *retimed = what_if->replay->retimed;
	g_autofree int64_t *old = g_new(int64_t, requests->listed->len);
	g_autofree int64_t *new = g_new(int64_t, requests->listed->len);
	guint count = 0;

	for (guint i = 0; i < requests->listed->len; i++) {
		const struct user_request *request = request_at(requests, i);
		struct way way;

		if (!is_told(request))
			continue;
		way = way_of(request);
		old[count] = request->end - request->begin;
		new[count] = old[count] - retimed_saved(retimed, CHANGED, &way);
		what_if->sooner += new[count] < old[count];
		what_if->later += new[count] > old[count];
		count++;
	}
	what_if->requests = count;
	what_if->recorded = latencies_of(old, count, what_if->limit);
	what_if->changed = latencies_of(new, count, what_if->limit);
}

/* Of all that were answered; empty: none was. */
static GArray *ways_of(const struct user_requests *requests)
{
	GArray *ways = g_array_new(FALSE, FALSE, sizeof(struct way));

	for (guint i = 0; i < requests->listed->len; i++) {
		const struct user_request *request = request_at(requests, i);
		struct way way = way_of(request);

		if (is_told(request))
			g_array_append_val(ways, way);
	}
	return ways;
}

struct requests_what_if *requests_what_if_new(const struct user_requests *requests, GError **error)
{
	const struct session *session = requests->session;
	g_autoptr(GArray) ways = ways_of(requests);
	struct requests_what_if *what_if;
	struct replay *replay;

	if (!ways->len) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--what-if: no request was answered in the window");
		return NULL;
	}
	replay = replay_new(session, ways, true, error);
	if (!replay)
		return NULL;
	what_if = g_new0(struct requests_what_if, 1);
	what_if->replay = replay;
	what_if->limit = limit_of(session->asked.options);
	what_if->gain = replay_gain(replay, ways);
	fill(what_if, requests);
	return what_if;
}

void requests_what_if_free(struct requests_what_if *what_if)
{
	if (what_if)
		replay_free(what_if->replay);
	g_free(what_if);
}

/* --- told ----------------------------------------------------------------------------------- */

static void length_line(struct output *output, const char *name, int64_t recorded, int64_t changed)
{
	char old[32], new[32], saved[32];
	int64_t ns = recorded - changed;

	fprintf(output->file, "  %-6s%12s%12s%12s%s\n", name, when_duration(old, recorded),
		when_duration(new, changed), when_duration(saved, ns < 0 ? -ns : ns),
		ns < 0 ? " longer" : " shorter");
}

void requests_what_if_text(const struct requests_what_if *what_if, struct output *output)
{
	g_autofree char *limits = replay_limits(what_if->replay);
	g_autofree char *all = g_strdup_printf("%u request%s", what_if->requests,
					       what_if->requests == 1 ? "" : "s in all");
	g_autofree char *gain = gain_words(&what_if->gain, all), *note = NULL;
	char length[32];

	replay_heading(what_if->replay, what_if->gain.recorded, output);
	text_wrapped(output, gain, 2, 2);
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
	note = g_strdup_printf("%u would be shorter and %u longer; requests come when what they "
			       "hang on lets them.",
			       what_if->sooner, what_if->later);
	text_wrapped(output, note, 2, 2);
	text_wrapped(output, limits, 2, 2);
}

GETTER(const void *, replay, struct requests_what_if, row->replay);
GETTER(bool, has_limit, struct requests_what_if, row->limit != 0);

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
	{NULL, COLUMN_OBJECT, .at = replay, .columns = replay_columns},
	{"requests", COLUMN_WHOLE, FIELD(struct requests_what_if, requests)},
	{"sooner", COLUMN_WHOLE, FIELD(struct requests_what_if, sooner)},
	{"later", COLUMN_WHOLE, FIELD(struct requests_what_if, later)},
	{NULL, COLUMN_OBJECT, FIELD_HERE(struct requests_what_if, gain), .columns = gain_columns},
	{"recorded", COLUMN_OBJECT, FIELD_HERE(struct requests_what_if, recorded),
	 .columns = latency_columns},
	{"changed", COLUMN_OBJECT, FIELD_HERE(struct requests_what_if, changed),
	 .columns = latency_columns},
	{"within", COLUMN_OBJECT, .at = limit_row, .columns = limit_columns, .absent = true},
	{0}};
