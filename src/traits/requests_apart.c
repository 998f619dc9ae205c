/* SPDX-License-Identifier: MIT */
/* See requests_apart.h. */
#include "traits/requests_apart.h"

#include <inttypes.h>
#include <string.h>

#include "apart/draw.h"
#include "tracking/request_filter.h"
#include "traits/request_known.h"
#include "traits/request_words.h"
#include "util/peaks.h"

#define SAMPLE 2048            /* rows of a search at most … */
#define SAMPLE_SLOW (SAMPLE / 2) /* … of them slow ones, if the others are as many */
#define BLOCKS_APART 20        /* of time, where sides follow one another */

/* Marks `count` of the rows that are slow, or of the others; any of them as likely. */
static void choose(const bool *slow, bool which, guint rows, guint count, bool *chosen)
{
	uint64_t random = 1;
	guint left = 0;

	for (guint i = 0; i < rows; i++)
		left += slow[i] == which;
	for (guint i = 0; i < rows && count; i++) {
		if (slow[i] != which)
			continue;
		if (draw(&random, left) < count) {
			chosen[i] = true;
			count--;
		}
		left--;
	}
}

static guint choose_rows(const struct request_known *known, const bool *slow, bool *chosen)
{
	guint rows = known->rows->len, in = 0, out, take;

	for (guint i = 0; i < rows; i++)
		in += slow[i];
	out = rows - in;
	take = rows <= SAMPLE ? in : MIN(in, MAX(SAMPLE_SLOW, SAMPLE - MIN(out, SAMPLE)));
	choose(slow, true, rows, take, chosen);
	choose(slow, false, rows, rows <= SAMPLE ? out : MIN(out, SAMPLE - take), chosen);
	return rows <= SAMPLE ? rows : take + MIN(out, SAMPLE - take);
}

/* What the sides differ in by what they are. */
static bool tells_sides_apart(guint column)
{
	return column == REQUEST_WHEN || column == REQUEST_HOST || column == REQUEST_NTH ||
	       column == REQUEST_NTH_ON;
}

struct apart_question {
	const struct request_known *known; /* borrowed */
	const bool *slow; /* borrowed; by row */
	bool separate;
	int64_t sign; /* -1: the "slow" ones are the faster group */
	guint groups; /* searches of the report */
	const char *const *who; /* borrowed; NULL: "others" */
};

/* Of traits that pick the same requests the first column is told: which file it used says more than
 * who asked, and that more than which call was made. */
static guint field_of(const struct request_known *known, guint column)
{
	if (column < known->objects)
		return REQUEST_FIXED + column;
	return column < known->objects + REQUEST_FIXED ? column - known->objects : column;
}

static struct search_table *table_of(const struct apart_question *question)
{
	const struct request_known *known = question->known;
	g_autofree bool *chosen = g_new0(bool, known->rows->len + 1);
	guint count = choose_rows(known, question->slow, chosen), at = 0,
	      columns = REQUEST_FIXED + known->touched->len;
	struct search_table *table = search_table_new(count, columns);

	table->blocks = question->separate ? BLOCKS_APART : 0;
	for (guint i = 0; i < known->rows->len; i++) {
		const struct request_row *row = &g_array_index(known->rows, struct request_row, i);

		if (!chosen[i])
			continue;
		table->slow[at] = question->slow[i];
		table->ns[at] = question->sign * row->ns;
		for (guint c = 0; c < columns; c++) {
			guint field = field_of(known, c);
			int64_t value = request_value(row, field);

			if (value != FIELD_NONE &&
			    !(question->separate && tells_sides_apart(field)))
				search_column(table, c, request_type(field))[at] = value;
		}
		at++;
	}
	return table;
}

static void count_all(const struct apart_question *question, const struct trait *trait,
		      struct trait_told *told)
{
	const struct request_known *known = question->known;

	for (guint i = 0; i < known->rows->len; i++) {
		const struct request_row *row = &g_array_index(known->rows, struct request_row, i);
		uint64_t *counts = question->slow[i] ? told->in : told->out;
		bool has = true;

		for (guint k = 0; k < trait->part_count; k++)
			has &= trait_has(&trait->parts[k],
					 request_value(row, trait->parts[k].field));
		counts[0] += has;
		counts[1]++;
	}
}

static struct traits *answer_to(const struct apart_question *question)
{
	struct search_table *table = table_of(question);
	struct search_answer answer = search(table, question->groups);
	struct traits *traits = traits_new(&answer);

	traits->sampled = table->rows < question->known->rows->len;
	for (guint i = 0; i < answer.traits->len; i++) {
		struct trait *trait = &g_array_index(answer.traits, struct trait, i);
		struct trait_told *told;
		struct phrase phrases[2];

		for (guint k = 0; k < trait->part_count; k++)
			trait->parts[k].field = field_of(question->known, trait->parts[k].field);
		told = request_told(question->known, trait);
		count_all(question, trait, told);
		told->explained =
			(int64_t) (trait->explained / MAX(trait->in_all, 1) * (double) told->in[1]);
		for (guint k = 0; k < trait->part_count; k++)
			phrases[k] = request_phrase(question->known, &trait->parts[k]);
		told->sentence = trait_sentence(phrases, trait->part_count, told->in, told->out,
						question->who);
		g_ptr_array_add(traits->told, told);
	}
	g_array_free(answer.traits, TRUE);
	search_table_free(table);
	return traits;
}

/* --- groups of one list --------------------------------------------------------------------- */

static void group_clear(gpointer data)
{
	traits_free(((struct request_group *) data)->traits);
}

/* Of the rows whose latencies are in it; left out where it is most of them, or all. */
static void add_group(GArray *groups, const struct request_known *known, guint peak, int64_t from,
		      int64_t to)
{
	struct request_group group = {.peak = peak, .from = INT64_MAX, .all = known->rows->len};
	double sums[2] = {0, 0};

	for (guint i = 0; i < known->rows->len; i++) {
		int64_t ns = g_array_index(known->rows, struct request_row, i).ns;
		bool in = ns >= from && ns < to;

		sums[in] += (double) ns;
		if (!in)
			continue;
		group.from = MIN(group.from, ns);
		group.to = MAX(group.to, ns);
		group.count++;
	}
	if (!group.count || 2 * group.count > group.all ||
	    (2 * group.count == group.all && sums[1] < sums[0]))
		return;
	g_array_append_val(groups, group);
}

static int slowest_first(gconstpointer a, gconstpointer b)
{
	const struct request_group *x = a, *y = b;

	return x->from > y->from ? -1 : x->from < y->from;
}

static int by_ns(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

static int64_t median_of(const struct request_known *known)
{
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (guint i = 0; i < known->rows->len; i++) {
		int64_t ns = g_array_index(known->rows, struct request_row, i).ns;

		g_array_append_val(sorted, ns);
	}
	g_array_sort(sorted, by_ns);
	return sorted->len ? g_array_index(sorted, int64_t, (sorted->len - 1) / 2) : 0;
}

static void find_groups(GArray *groups, const struct user_requests *requests,
			const struct request_known *known)
{
	struct buckets buckets;
	GArray *peaks;

	buckets_init(&buckets, 1);
	peaks = request_peaks(requests, requests->listed, &buckets);
	for (guint i = 0; peaks->len > 1 && i < peaks->len; i++) {
		const struct peak_range *at = &g_array_index(peaks, struct peak_range, i);

		add_group(groups, known, i + 1, buckets.from[at->first],
			  buckets.from[at->last + 1]);
	}
	if (peaks->len == 1 && known->rows->len)
		add_group(groups, known, 0, SLOW_FACTOR * MAX(median_of(known), 1), INT64_MAX);
	g_array_free(peaks, TRUE);
	buckets_clear(&buckets);
	g_array_sort(groups, slowest_first);
}

static void ask_about(const struct request_known *known, struct request_group *group, guint groups)
{
	g_autofree bool *slow = g_new0(bool, known->rows->len + 1);
	struct apart_question question = {
		.known = known, .slow = slow, .sign = 1, .groups = groups};
	double in = 0, out = 0;

	for (guint i = 0; i < known->rows->len; i++) {
		int64_t ns = g_array_index(known->rows, struct request_row, i).ns;

		slow[i] = ns >= group->from && ns <= group->to;
		*(slow[i] ? &in : &out) += (double) ns;
	}
	if (in / (double) group->count < out / (double) (group->all - group->count))
		question.sign = -1;
	group->traits = answer_to(&question);
}

struct requests_apart *requests_apart_new(const struct user_requests *requests)
{
	struct requests_apart *apart = g_new0(struct requests_apart, 1);
	struct request_known *known = request_known_new(&requests, 1);

	apart->spread = known->spread;
	apart->groups = g_array_new(FALSE, FALSE, sizeof(struct request_group));
	g_array_set_clear_func(apart->groups, group_clear);
	find_groups(apart->groups, requests, known);
	for (guint i = 0; i < apart->groups->len; i++)
		ask_about(known, &g_array_index(apart->groups, struct request_group, i),
			  apart->groups->len);
	request_known_free(known);
	return apart;
}

void requests_apart_free(struct requests_apart *apart)
{
	if (!apart)
		return;
	g_array_free(apart->groups, TRUE);
	g_free(apart);
}

const struct request_group *requests_apart_told(const struct requests_apart *apart)
{
	for (guint i = 0; apart && i < apart->groups->len; i++) {
		const struct request_group *at =
			&g_array_index(apart->groups, struct request_group, i);

		if (at->traits->told->len)
			return at;
	}
	return NULL;
}

char *request_group_title(const struct request_group *group)
{
	char from[32], to[32];
	g_autofree char *name =
		group->peak ? g_strdup_printf("Peak %u", group->peak) : g_strdup("Slow ones");

	bool same;

	when_duration(from, group->from);
	when_duration(to, group->to);
	same = strcmp(from, to) == 0;
	return g_strdup_printf("%s: %" PRIu64 " of %" PRIu64 " requests, %s%s%s", name,
			       group->count, group->all, from, same ? "" : " to ", same ? "" : to);
}

/* --- two sides ------------------------------------------------------------------------------ */

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct request_row *x = a, *y = b;

	if (x->values[REQUEST_WHEN] != y->values[REQUEST_WHEN])
		return x->values[REQUEST_WHEN] < y->values[REQUEST_WHEN] ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

struct traits *request_sides_apart(const struct user_requests *const sides[2], guint slow,
				   bool separate, const char *const who[2])
{
	struct request_known *known = request_known_new(sides, 2);
	g_autofree bool *is_slow = g_new0(bool, known->rows->len + 1);
	struct apart_question question = {.known = known,
					  .slow = is_slow,
					  .separate = separate,
					  .sign = 1,
					  .groups = 1,
					  .who = who};
	guint in = 0;
	struct traits *traits = NULL;

	if (!separate) /* neighbours in time */
		g_array_sort(known->rows, by_begin);
	for (guint i = 0; i < known->rows->len; i++) {
		is_slow[i] = g_array_index(known->rows, struct request_row, i).side == slow;
		in += is_slow[i];
	}
	if (in && in < known->rows->len)
		traits = answer_to(&question);
	request_known_free(known);
	return traits;
}
