/* SPDX-License-Identifier: MIT */
/* Limits: which texts are limits, and verdicts on measures made by hand. Expected values follow
 * from the grammar in limits.h, and from counting on fingers.
 */
#include "limits/judge.h"
#include "run/options.h"
#include "timeline/timeline.h"

static void test_good(void)
{
	static const char *const good[] = {
		"p99(syscall:fsync) > 20ms",
		"p99.9( syscall:* , thread=nginx )>=1.5s",
		"count(irq:*) < 5",
		"blocked(thread=nginx) > 30%",
		"blocked/syscall:read > 1 s",
		"working(process='a, b') per thread > 30 % if working > 10ms and blocked < 1s",
		"duration > 3s",
		"duration(process=make) <= 100us",
		"lost > 0",
		"lost()>0",
		"name of it: max(requests) > 20ms",
		"p50(requests:client) > 20ms if count >= 100",
		"sum(wait-cpu) per process > 0",
		"mean(block-served:vda) > 2 ms",
		"interrupted/wait-cpu(thread=x) per thread > 5%"};

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_autoptr(GError) error = NULL;
		struct limit *limit = limit_parse(good[i], &error);

		g_assert_no_error(error);
		g_assert_nonnull(limit);
		limit_free(limit);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {{"", "must be a function"},
		   {"p99", "must be >"},
		   {"p99 > 5ms", "of what?"},
		   {"p99(syscall:read)", "must be >"},
		   {"p99(syscall:read) > ", "must be a number"},
		   {"p99(syscall:read) > 20", "a unit is missing"},
		   {"p99(syscall:read) > 20%", "share"},
		   {"p99(syscall:read) > -5ms", "must be a number"},
		   {"p99(syscall:read) > 20msx", "unit"},
		   {"p101(syscall:read) > 1ms", "must be a function"},
		   {"p0(syscall:read) > 1ms", "must be a function"},
		   {"p99(read) > 1ms", "no operation"},
		   {"p99(syscall:read > 1ms", "')' is missing"},
		   {"p99(syscall:a, syscall:b) > 1ms", "two of"},
		   {"count(syscall:read) > 5ms", "plain"},
		   {"blocked(syscall:read) > 1ms", "not of operations"},
		   {"lost(thread=x) > 0", "lost by"},
		   {"lost > 0 if count > 1", "same operations"},
		   {"p99(requests:http) > 1s", "requests:server"},
		   {"p99(requests) per thread > 1s", "'per' is for"},
		   {"lost > 0 lost", "too much"},
		   {"blocked(thread=) > 1%", "nothing is there"},
		   {"blocked(thread='a) > 1%", "nothing is there"},
		   {"max(syscall:read) = 5ms", "must be >"},
		   {"max(syscall:read) > infs", "must be a number"},
		   {"max(syscall:read) > 0x10ms", "must be a number"},
		   {"blocked per cpu > 1%", "per thread"}};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		struct limit *limit = limit_parse(bad[i].text, &error);

		g_assert_null(limit);
		g_assert_nonnull(error);
		if (!strstr(error->message, bad[i].why))
			g_error("%s: %s, not '%s'", bad[i].text, error->message, bad[i].why);
	}
}

static void test_parts(void)
{
	struct limit *limit =
		limit_parse("a b: p99.9(syscall:*, thread=\"x, y\") per thread >= 1.5ms "
			    "if count >= 3 and max > 2ms",
			    NULL);
	const struct bound *condition;

	g_assert_nonnull(limit);
	g_assert_cmpstr(limit->name, ==, "a b");
	g_assert_cmpint(limit->bound.function, ==, LIMIT_PERCENTILE);
	g_assert_cmpuint(limit->bound.percent, ==, 9990);
	g_assert_cmpstr(limit->operation, ==, "syscall:*");
	g_assert_cmpstr(limit->thread, ==, "x, y");
	g_assert_cmpint(limit->per, ==, LIMIT_PER_THREAD);
	g_assert_cmpint(limit->bound.comparison, ==, OVER_OR_EQUAL);
	g_assert_cmpfloat(limit->bound.number, ==, 1500000);
	g_assert_cmpuint(limit->conditions->len, ==, 2);
	condition = &g_array_index(limit->conditions, struct bound, 1);
	g_assert_cmpint(condition->function, ==, LIMIT_MAX);
	g_assert_cmpfloat(condition->number, ==, 2000000);
	limit_free(limit);
}

static void put(struct histogram *to, GArray **values, int64_t ns, bool exact)
{
	struct buckets buckets;

	buckets_init(&buckets, MEASURE_RESOLUTION);
	histogram_count(to, &buckets, ns);
	if (!*values && exact)
		*values = g_array_new(FALSE, FALSE, sizeof(int64_t));
	if (exact)
		g_array_append_val(*values, ns);
	buckets_clear(&buckets);
}

/* The verdict on latencies of 1 … `sure` ms, and `doubtful` of 1 s that may not be real. */
static struct judgement *judge(const char *text, int sure, int doubtful, bool exact)
{
	struct limit *limit = limit_parse(text, NULL);
	struct measures *measures = measures_empty();
	struct measure *measure = measures_find(measures, "syscall:x");

	g_assert_nonnull(limit);
	for (int i = 1; i <= sure; i++)
		put(&measure->sure, &measure->sure_values, i * 1000000, exact);
	for (int i = 0; i < doubtful; i++)
		put(&measure->doubtful, &measure->doubtful_values, 1000000000, exact);
	measures->merged = !exact;
	return judgement_new(limit, measures);
}

static void check(const char *text, int sure, int doubtful, bool exact, enum outcome outcome,
		  double low, double high)
{
	struct judgement *judgement = judge(text, sure, doubtful, exact);
	struct limit *limit = (struct limit *) judgement->limit;

	if (judgement->outcome != outcome || judgement->low < low || judgement->high > high)
		g_error("%s: %s, %.0f to %.0f", text, outcome_text(judgement->outcome),
			judgement->low, judgement->high);
	judgement_free(judgement);
	limit_free(limit);
}

#define MS 1e6

static void test_exact(void)
{
	/* of 1 … 100 ms the 99th percentile is the 99th value, the median the 50th */
	check("p99(syscall:x) > 98ms", 100, 0, true, OUTCOME_EXCEEDED, 99 * MS, 99 * MS);
	check("p99(syscall:x) > 99ms", 100, 0, true, OUTCOME_KEPT, 99 * MS, 99 * MS);
	check("p99(syscall:x) >= 99ms", 100, 0, true, OUTCOME_EXCEEDED, 99 * MS, 99 * MS);
	check("p50(syscall:x) < 51ms", 100, 0, true, OUTCOME_EXCEEDED, 50 * MS, 50 * MS);
	check("mean(syscall:x) > 50ms", 100, 0, true, OUTCOME_EXCEEDED, 50.5 * MS, 50.5 * MS);
	check("count(syscall:x) > 100", 100, 0, true, OUTCOME_KEPT, 100, 100);
	check("sum(syscall:x) > 5s", 100, 0, true, OUTCOME_EXCEEDED, 5050 * MS, 5050 * MS);
	check("min(syscall:x) <= 1ms", 100, 0, true, OUTCOME_EXCEEDED, MS, MS);
	/* floors */
	check("p99(syscall:x) > 1ms if count >= 101", 100, 0, true, OUTCOME_NOT_APPLIED, 0, 1e9);
	check("p99(syscall:x) > 1ms if count >= 100 and max > 99ms", 100, 0, true, OUTCOME_EXCEEDED,
	      99 * MS, 99 * MS);
	check("p99(syscall:x) > 1ms if count >= 1", 0, 0, true, OUTCOME_NOT_APPLIED, 0, 0);
	/* of none there is a number and a sum, but no percentile */
	check("count(syscall:x) < 1", 0, 0, true, OUTCOME_EXCEEDED, 0, 0);
	check("max(syscall:x) > 1ms", 0, 0, true, OUTCOME_NOT_JUDGED, 0, 0);
}

static void test_doubtful(void)
{
	/* the long one overlaps a hole: it alone does not decide */
	check("max(syscall:x) > 500ms", 100, 1, true, OUTCOME_NOT_JUDGED, 0, 1e9);
	check("max(syscall:x) > 2s", 100, 1, true, OUTCOME_KEPT, 0, 1e9);
	check("max(syscall:x) > 99ms", 100, 1, true, OUTCOME_EXCEEDED, 100 * MS, 100 * MS);
	/* without it the 50th of 100, with it the 51st of 101: 50 ms and 51 ms */
	check("p50(syscall:x) > 50ms", 100, 1, true, OUTCOME_NOT_JUDGED, 0, 1e9);
	check("p50(syscall:x) > 49ms", 100, 1, true, OUTCOME_EXCEEDED, 50 * MS, 50 * MS);
	check("max(syscall:x) > 500ms", 0, 1, true, OUTCOME_NOT_JUDGED, 0, 1e9);
}

static void test_buckets(void)
{
	/* 16 buckets an octave: 99 ms lies in [2^(424/16), 2^(425/16)) ns = [94.9, 99.1) ms */
	check("p99(syscall:x) > 94ms", 100, 0, false, OUTCOME_EXCEEDED, 94 * MS, 99.2 * MS);
	check("p99(syscall:x) > 97ms", 100, 0, false, OUTCOME_NOT_JUDGED, 94 * MS, 99.2 * MS);
	check("p99(syscall:x) > 100ms", 100, 0, false, OUTCOME_KEPT, 94 * MS, 99.2 * MS);
	/* the last one is bounded by the longest */
	check("p100(syscall:x) > 100ms", 100, 0, false, OUTCOME_KEPT, 94 * MS, 100 * MS);
	check("max(syscall:x) > 99ms", 100, 0, false, OUTCOME_EXCEEDED, 100 * MS, 100 * MS);
}

/* Threads that were blocked for 30 of 100 ms, `unknown` of which nothing is known. */
static void check_states(const char *text, double unknown, enum outcome outcome)
{
	struct limit *limit = limit_parse(text, NULL);
	struct measures *measures = measures_empty();
	struct measure *measure = measures_find(measures, "x");
	double blocked = 30 * MS;
	struct judgement *judgement;

	for (guint i = 0; i <= limit->conditions->len; i++)
		g_array_append_val(measure->parts, blocked);
	measure->whole = 100 * MS;
	measure->unknown = unknown;
	judgement = judgement_new(limit, measures);
	if (judgement->outcome != outcome)
		g_error("%s: %s", text, outcome_text(judgement->outcome));
	judgement_free(judgement);
	limit_free(limit);
}

static void test_states(void)
{
	check_states("blocked(thread=x) > 29%", 0, OUTCOME_EXCEEDED);
	check_states("blocked(thread=x) > 30%", 0, OUTCOME_KEPT);
	check_states("blocked(thread=x) > 30%", MS, OUTCOME_NOT_JUDGED);
	check_states("blocked(thread=x) > 31%", MS, OUTCOME_KEPT);
	check_states("blocked(thread=x) > 29ms", MS, OUTCOME_EXCEEDED);
	check_states("blocked(thread=x) > 29% if blocked > 40ms", 0, OUTCOME_NOT_APPLIED);
}

/* Two traces added in either order are as one. */
static void test_added(void)
{
	struct judgement *a = judge("p50(syscall:x) > 1ms", 100, 1, false);
	struct judgement *b = judge("p50(syscall:x) > 1ms", 7, 2, false);
	struct judgement *both[2];

	for (int i = 0; i < 2; i++) {
		struct measures *sum = measures_empty();

		measures_add(sum, (i ? a : b)->measures, a->limit);
		measures_add(sum, (i ? b : a)->measures, a->limit);
		both[i] = judgement_new(a->limit, sum);
	}
	for (int i = 0; i < 2; i++) {
		const struct measure *measure = measures_find(both[i]->measures, "syscall:x");

		g_assert_cmpuint(measure->sure.count, ==, 107);
		g_assert_cmpuint(measure->doubtful.count, ==, 3);
		g_assert_cmpint(measure->sure.sum, ==, 5050000000 + 28000000);
		g_assert_cmpint(measure->sure.max, ==, 100000000);
	}
	g_assert_cmpfloat(both[0]->low, ==, both[1]->low);
	g_assert_cmpfloat(both[0]->high, ==, both[1]->high);
	for (int i = 0; i < 2; i++)
		judgement_free(both[i]);
	limit_free((struct limit *) a->limit);
	limit_free((struct limit *) b->limit);
	judgement_free(a);
	judgement_free(b);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/limits/good", test_good);
	g_test_add_func("/limits/bad", test_bad);
	g_test_add_func("/limits/parts", test_parts);
	g_test_add_func("/limits/exact", test_exact);
	g_test_add_func("/limits/doubtful", test_doubtful);
	g_test_add_func("/limits/buckets", test_buckets);
	g_test_add_func("/limits/states", test_states);
	g_test_add_func("/limits/added", test_added);
	return g_test_run();
}
