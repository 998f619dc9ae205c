/* SPDX-License-Identifier: MIT */
/* What tells the slow ones from the others, on tables made by hand and at random. Expectations
 * are counted by hand, or follow from how the table was made; see apart/search.h.
 */
#include <glib.h>
#include <math.h>

#include "apart/search.h"

static struct search_table *random_table(guint rows, guint fields, guint slow, guint32 seed)
{
	struct search_table *table = search_table_new(rows, fields);
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);

	for (guint f = 0; f < fields; f++) {
		int64_t *values = search_column(table, f, f % 2 ? FIELD_NUMBER : FIELD_VALUE);

		for (guint i = 0; i < rows; i++)
			values[i] = g_rand_int_range(random, 0, f % 2 ? 100000 : 6);
	}
	for (guint i = 0; i < rows; i++) {
		table->slow[i] = (guint) g_rand_int_range(random, 0, (gint32) rows) < slow;
		table->ns[i] = table->slow[i] ? 1000000 : 1000;
	}
	return table;
}

/* getdents64: 29 slow ones, all of which returned 0; of 104 others 46 did. */
static void test_value(void)
{
	struct search_table *table = search_table_new(133, 2);
	int64_t *ret = search_column(table, 0, FIELD_NUMBER);
	int64_t *cpu = search_column(table, 1, FIELD_VALUE);
	struct search_answer answer;
	const struct trait *trait;

	for (guint i = 0, slow = 0, zero = 0; i < 133; i++) {
		bool is_slow = i % 9 < 2 && slow < 29; /* spread over the time */

		slow += is_slow;
		table->slow[i] = is_slow;
		table->ns[i] = is_slow ? 5000 : 100;
		ret[i] = is_slow || (i % 2 && zero++ < 46) ? 0 : 400 + 24 * (i % 40);
		cpu[i] = i / 3 % 2;
	}
	answer = search(table, 1);
	g_assert_cmpint(answer.outcome, ==, SEARCH_FOUND);
	trait = &g_array_index(answer.traits, struct trait, 0);
	g_assert_cmpuint(trait->part_count, ==, 1);
	g_assert_cmpuint(trait->parts[0].field, ==, 0);
	/* of a value and the threshold that picks the same, the first is told */
	g_assert_cmpint(trait->parts[0].value, ==, 0);
	g_assert_cmpuint(trait->in, ==, trait->in_all);
	g_assert_cmpuint(trait->in_all, ==, 29);
	g_assert_cmpuint(trait->out_all, ==, 104);
	g_assert_cmpuint(answer.traits->len, ==, 1);
	g_array_free(answer.traits, TRUE);
	search_table_free(table);
}

/* Slow are those of 64 KiB and more. The time that this explains is the whole gap: all slow ones
 * have it, no other does. */
static void test_threshold(void)
{
	struct search_table *table = random_table(400, 3, 0, 7);
	int64_t *size = search_column(table, 1, FIELD_NUMBER);
	guint slow = 0;
	struct search_answer answer;
	const struct trait *trait;

	for (guint i = 0; i < 400; i++) {
		size[i] = 4096 * (1 + i * 7 % 32);
		table->slow[i] = size[i] >= 65536;
		table->ns[i] = table->slow[i] ? 3000 : 1000;
		slow += table->slow[i];
	}
	answer = search(table, 1);
	g_assert_cmpint(answer.outcome, ==, SEARCH_FOUND);
	trait = &g_array_index(answer.traits, struct trait, 0);
	g_assert_cmpuint(trait->parts[0].field, ==, 1);
	g_assert_cmpint(trait->parts[0].test, ==, TRAIT_FROM);
	g_assert_cmpuint(trait->out, ==, 0);
	g_assert_cmpuint(trait->in, >=, slow * 9 / 10); /* a quantile near it */
	g_assert_cmpfloat(trait->explained, <=, 2000.0 * slow + 1);
	g_assert_cmpfloat(trait->explained, >=, 0.85 * 2000.0 * slow);
	g_array_free(answer.traits, TRUE);
	search_table_free(table);
}

/* Slow where both hold, neither alone. */
static void test_pair(void)
{
	struct search_table *table = search_table_new(800, 2);
	int64_t *a = search_column(table, 0, FIELD_VALUE),
		*b = search_column(table, 1, FIELD_VALUE);
	struct search_answer answer;

	for (guint i = 0; i < 800; i++) {
		a[i] = i * 5 / 3 % 4;
		b[i] = i * 7 / 4 % 4;
		table->slow[i] = a[i] == 1 && b[i] == 2;
		table->ns[i] = table->slow[i] ? 9000 : 1000;
	}
	answer = search(table, 1);
	g_assert_cmpint(answer.outcome, ==, SEARCH_FOUND);
	g_assert_cmpuint(g_array_index(answer.traits, struct trait, 0).part_count, ==, 2);
	g_assert_cmpuint(g_array_index(answer.traits, struct trait, 0).out, ==, 0);
	g_array_free(answer.traits, TRUE);
	search_table_free(table);
}

/* Nothing goes with labels drawn by chance: at most one run in a hundred may say so. */
static void test_chance(void)
{
	guint claims = 0;

	for (guint32 seed = 1; seed <= 1000; seed++) {
		struct search_table *table = random_table(120, 8, 30, seed);
		struct search_answer answer = search(table, 1);

		claims += answer.outcome == SEARCH_FOUND;
		g_array_free(answer.traits, TRUE);
		search_table_free(table);
	}
	g_assert_cmpuint(claims, <=, 10);
}

/* The slow ones came in bursts, and a field that has nothing to do with it changes slowly: every
 * test that takes operations for independent ones would be fooled. */
static void test_bursts(void)
{
	guint claims = 0;

	for (guint32 seed = 1; seed <= 1000; seed++) {
		struct search_table *table = random_table(256, 4, 0, seed);
		g_autoptr(GRand) random = g_rand_new_with_seed(seed + 5000);
		int64_t *phase = search_column(table, 0, FIELD_VALUE), now = 0;
		struct search_answer answer;
		bool burst = false;

		for (guint i = 0; i < 256; i++) {
			if (g_rand_int_range(random, 0, 12) == 0)
				burst = !burst;
			if (g_rand_int_range(random, 0, 24) == 0)
				now = g_rand_int_range(random, 0, 4);
			table->slow[i] = burst;
			table->ns[i] = burst ? 9000 : 1000;
			phase[i] = now;
		}
		answer = search(table, 1);
		claims += answer.outcome == SEARCH_FOUND;
		g_array_free(answer.traits, TRUE);
		search_table_free(table);
	}
	g_test_message("%u claims", claims);
	g_assert_cmpuint(claims, <=, 10);
}

static void test_few(void)
{
	struct search_table *table = random_table(20, 2, 0, 3);
	struct search_answer answer;

	for (guint i = 0; i < 4; i++)
		table->slow[i] = true;
	answer = search(table, 1);
	g_assert_cmpint(answer.outcome, ==, SEARCH_TOO_FEW);
	g_array_free(answer.traits, TRUE);
	search_table_free(table);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/apart/value", test_value);
	g_test_add_func("/apart/threshold", test_threshold);
	g_test_add_func("/apart/pair", test_pair);
	g_test_add_func("/apart/chance", test_chance);
	g_test_add_func("/apart/bursts", test_bursts);
	g_test_add_func("/apart/few", test_few);
	return g_test_run();
}
