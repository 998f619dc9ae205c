/* SPDX-License-Identifier: MIT */
/* Trying traits; see search.h.
 *
 * Rows that have a trait are a set of bits: a shuffle moves the labels, and counts anew how many
 * slow ones have it.
 */
#include "apart/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apart/draw.h"

#define SUPPORT_SLOW 0.1   /* of the slow ones */
#define SUPPORT_MIN 5      /* operations, on either side of the label too */
#define VALUES_MAX 12      /* most frequent values of a field that are tried */
#define CUTS 15            /* thresholds of a number: at its quantiles */
#define UNIQUE 0.9         /* values by rows: more, and the field is a name */
#define PAIRED 8           /* best traits that are tried in pairs */
#define PAIR_GAIN 1.3      /* a pair explains so many times what either does alone */
#define ALIKE 0.8          /* of the rows of both together: they pick the same operations */
#define EXPLAINED_LEAST 0.1 /* of the gap between slow and others */
#define SHUFFLES 1000
#define SHUFFLES_PASSED 2 /* … that may do as well: blocks keep neighbours together only mostly */
#define BLOCKS_MIN 6       /* of time: fewer can hardly be put in another order */
#define BLOCK_ROWS 2       /* … rows each, at least, */
#define BLOCK_RUNS 3       /* … and so many runs of slow or other ones on average */
#define WORD_BITS 64

struct candidate {
	struct trait trait;
	uint64_t *rows; /* owned; bits: those that have it */
	guint count;
	double p;
	double mean, spread; /* of slow ones that have it, over the shuffles */
	bool fails; /* it is no finding */
};

struct searching {
	const struct search_table *table;
	double choices; /* pairs there were, for each that is tried: the best are chosen */
	guint fields; /* that were tried */
	guint slow; /* rows that are */
	double mean[2]; /* ns: of the others, of the slow ones */
	guint words;
	uint64_t *labels; /* owned; bits: the slow ones */
	GArray *candidates; /* struct candidate */
};

struct search_table *search_table_new(guint rows, guint fields)
{
	struct search_table *table = g_new0(struct search_table, 1);

	table->rows = rows;
	table->slow = g_new0(bool, rows + 1);
	table->ns = g_new0(int64_t, rows + 1);
	table->fields = g_array_new(FALSE, TRUE, sizeof(struct search_field));
	g_array_set_size(table->fields, fields);
	return table;
}

void search_table_free(struct search_table *table)
{
	for (guint i = 0; i < table->fields->len; i++)
		g_free(g_array_index(table->fields, struct search_field, i).values);
	g_array_free(table->fields, TRUE);
	g_free(table->slow);
	g_free(table->ns);
	g_free(table);
}

int64_t *search_column(struct search_table *table, guint field, enum field_type type)
{
	struct search_field *at = &g_array_index(table->fields, struct search_field, field);

	at->type = type;
	if (!at->values) {
		at->values = g_new(int64_t, table->rows + 1);
		for (guint i = 0; i < table->rows; i++)
			at->values[i] = FIELD_NONE;
	}
	return at->values;
}

bool trait_has(const struct trait_part *part, int64_t value)
{
	if (value == FIELD_NONE)
		return false;
	switch (part->test) {
	case TRAIT_FROM:
		return value >= part->value;
	case TRAIT_TO:
		return value <= part->value;
	default:
		return value == part->value;
	}
}

static inline guint count_both(const uint64_t *a, const uint64_t *b, guint words)
{
	guint count = 0;

	for (guint i = 0; i < words; i++)
		count += (guint) __builtin_popcountll(a[i] & b[i]);
	return count;
}

/* Most of a search is this: a processor that has an instruction for it is a third faster. */
#if defined(__x86_64__)
__attribute__((target("popcnt"))) static guint
count_both_at_once(const uint64_t *a, const uint64_t *b, guint words)
{
	guint count = 0;

	for (guint i = 0; i < words; i++)
		count += (guint) __builtin_popcountll(a[i] & b[i]);
	return count;
}
#define HAS_COUNT __builtin_cpu_supports("popcnt")
#else
#define count_both_at_once count_both
#define HAS_COUNT false
#endif

static guint bits_of_both(const uint64_t *a, const uint64_t *b, guint words)
{
	return HAS_COUNT ? count_both_at_once(a, b, words) : count_both(a, b, words);
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Of `all` rows `slow` are slow and `have` have it: how likely at least `both` are both. Each term
 * is made of the one before; from the middle on they fall. 1 where chance gives as many. */
static double fisher(guint all, guint slow, guint have, guint both)
{
	double term, p = 0;

	if ((double) both * all <= (double) slow * have)
		return 1;
	term = exp(log_choose(have, both) + log_choose(all - have, slow - both) -
		   log_choose(all, slow));
	for (guint k = both; k <= MIN(slow, have) && term > 1e-12 * p; k++) {
		p += term;
		term *= (double) (have - k) * (slow - k) /
			((k + 1.0) * ((double) all - have - slow + k + 1));
	}
	return MIN(p, 1);
}

/* --- what is tried -------------------------------------------------------------------------- */

static void candidate_clear(gpointer data)
{
	g_free(((struct candidate *) data)->rows);
}

/* Takes `rows`. Left out where too few have it, or all do. */
static void offer(struct searching *searching, const struct trait *trait, uint64_t *rows)
{
	struct candidate candidate = {.trait = *trait, .rows = rows};
	struct trait *told = &candidate.trait;
	guint all = searching->table->rows;

	candidate.count = bits_of_both(rows, rows, searching->words);
	told->in = bits_of_both(rows, searching->labels, searching->words);
	told->in_all = searching->slow;
	told->out = candidate.count - told->in;
	told->out_all = all - searching->slow;
	if (candidate.count < SUPPORT_MIN || candidate.count == all ||
	    told->in < SUPPORT_SLOW * searching->slow) {
		g_free(rows);
		return;
	}
	candidate.p = fisher(all, searching->slow, candidate.count, told->in);
	if (trait->part_count == 2)
		candidate.p = MIN(candidate.p * searching->choices, 1);
	g_array_append_val(searching->candidates, candidate);
}

static void try_part(struct searching *searching, const struct trait_part *part)
{
	const struct search_table *table = searching->table;
	const int64_t *values =
		g_array_index(table->fields, struct search_field, part->field).values;
	struct trait trait = {.parts = {*part}, .part_count = 1};
	uint64_t *rows = g_new0(uint64_t, searching->words);

	for (guint i = 0; i < table->rows; i++)
		if (trait_has(part, values[i]))
			rows[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
	offer(searching, &trait, rows);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

struct often {
	int64_t value;
	guint count;
};

static int most_often(gconstpointer a, gconstpointer b)
{
	const struct often *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void try_values(struct searching *searching, guint field, const int64_t *sorted, guint count)
{
	g_autoptr(GArray) often = g_array_new(FALSE, FALSE, sizeof(struct often));

	for (guint i = 0, j; i < count; i = j) {
		struct often at = {sorted[i], 0};

		for (j = i; j < count && sorted[j] == sorted[i]; j++)
			at.count++;
		if (at.count >= SUPPORT_MIN)
			g_array_append_val(often, at);
	}
	g_array_sort(often, most_often);
	for (guint i = 0; i < often->len && i < VALUES_MAX; i++) {
		struct trait_part part = {field, TRAIT_IS,
					  g_array_index(often, struct often, i).value};

		try_part(searching, &part);
	}
}

static void try_threshold(struct searching *searching, guint field, int64_t below, int64_t at)
{
	struct trait_part from = {field, TRAIT_FROM, at}, to = {field, TRAIT_TO, below};

	try_part(searching, &from);
	try_part(searching, &to);
}

/* At quantiles, and above what many have; both sides end with a value that occurs. */
static void try_thresholds(struct searching *searching, guint field, const int64_t *sorted,
			   guint count)
{
	guint cut = 1, done = 0;

	for (guint i = 0, j; i < count; i = j) {
		bool is_cut = false;

		for (j = i; j < count && sorted[j] == sorted[i]; j++)
			;
		for (; cut <= CUTS && (uint64_t) count * cut / (CUTS + 1) < j; cut++)
			is_cut = true;
		if (is_cut && i > done)
			try_threshold(searching, field, sorted[i - 1], sorted[i]);
		if (j - i > count / (CUTS + 1) && j < count) {
			try_threshold(searching, field, sorted[i], sorted[j]);
			done = j;
		}
	}
}

static void try_field(struct searching *searching, guint field)
{
	const struct search_table *table = searching->table;
	const struct search_field *at = &g_array_index(table->fields, struct search_field, field);
	g_autofree int64_t *sorted = g_new(int64_t, table->rows + 1);
	guint count = 0, different = 0;

	for (guint i = 0; at->values && i < table->rows; i++)
		if (at->values[i] != FIELD_NONE)
			sorted[count++] = at->values[i];
	if (count < SUPPORT_MIN)
		return;
	searching->fields++;
	qsort(sorted, count, sizeof *sorted, ascending);
	for (guint i = 0; i < count; i++)
		different += !i || sorted[i] != sorted[i - 1];
	if (at->type == FIELD_NUMBER)
		try_thresholds(searching, field, sorted, count);
	if (different <= UNIQUE * count)
		try_values(searching, field, sorted, count);
}

/* --- what holds ----------------------------------------------------------------------------- */

static int smallest_p(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = *(struct candidate *const *) a,
			       *y = *(struct candidate *const *) b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/* Returns whether any is left. */
static bool correct(struct searching *searching, double alpha)
{
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	bool holds = true, any = false;
	double least = 0;

	for (guint i = 0; i < searching->candidates->len; i++)
		g_ptr_array_add(order, &g_array_index(searching->candidates, struct candidate, i));
	g_ptr_array_sort(order, smallest_p);
	for (guint i = 0; i < order->len; i++) {
		struct candidate *at = g_ptr_array_index(order, i);

		least = MAX(least, MIN(at->p * (order->len - i), 1));
		holds &= least <= alpha;
		at->trait.p = least;
		at->fails = !holds;
		any |= holds;
	}
	return any;
}

struct rows_from {
	guint begin, end;
};

/* `count` bits of `from`, from bit `at` on, become those of `to` from bit `place` on, where all are
 * 0 so far. */
static void copy_bits(uint64_t *to, guint place, const uint64_t *from, guint at, guint count)
{
	while (count) {
		guint step = MIN(count, WORD_BITS - place % WORD_BITS), shift = at % WORD_BITS;
		uint64_t bits = from[at / WORD_BITS] >> shift;

		if (shift)
			bits |= from[at / WORD_BITS + 1] << (WORD_BITS - shift);
		if (step < WORD_BITS)
			bits &= (UINT64_C(1) << step) - 1;
		to[place / WORD_BITS] |= bits << place % WORD_BITS;
		place += step;
		at += step;
		count -= step;
	}
}

/* The labels twice, one behind the other: turned in a circle, they are a stretch of that. */
static uint64_t *labels_twice(const struct search_table *table)
{
	uint64_t *twice = g_new0(uint64_t, 2 * table->rows / WORD_BITS + 2);

	for (guint i = 0; i < 2 * table->rows; i++)
		if (table->slow[i % table->rows])
			twice[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
	return twice;
}

/* Blocks in another order, cut from another row on. They are of different lengths: what alternates
 * would else stay in step with itself. `blocks`: room for as many as there are rows. */
static void shuffle_labels(uint64_t *shuffled, const uint64_t *twice, guint rows, guint block,
			   struct rows_from *blocks, uint64_t *random)
{
	guint count = 0, place = 0, turn = draw(random, rows);

	for (guint at = 0; at < rows; at = blocks[count++].end) {
		guint least = MAX(block / 2, 1);
		guint length = least + draw(random, block + block / 2 + 1 - least);

		blocks[count] = (struct rows_from) {at, MIN(at + length, rows)};
	}
	memset(shuffled, 0, (rows / WORD_BITS + 1) * sizeof *shuffled);
	for (; count; count--) {
		guint other = draw(random, count), length = blocks[other].end - blocks[other].begin;

		copy_bits(shuffled, place, twice, blocks[other].begin + turn, length);
		place += length;
		blocks[other] = blocks[count - 1];
	}
}

/* So long that what follows each other closely stays together. */
static guint block_rows(const struct search_table *table)
{
	guint runs = 1;

	if (table->blocks)
		return MAX(table->rows / table->blocks, BLOCK_ROWS);
	for (guint i = 1; i < table->rows; i++)
		runs += table->slow[i] != table->slow[i - 1];
	/* a run of one row is none: what alternates has no neighbours that are alike */
	return CLAMP(BLOCK_RUNS * (table->rows - runs) / runs, BLOCK_ROWS,
		     MAX(table->rows / BLOCKS_MIN, BLOCK_ROWS));
}

/* How many slow ones have each trait, after each shuffle. */
static guint16 *shuffled_counts(const struct searching *searching)
{
	const struct search_table *table = searching->table;
	guint block = block_rows(table), traits = searching->candidates->len;
	g_autofree uint64_t *shuffled = g_new(uint64_t, searching->words);
	g_autofree struct rows_from *blocks = g_new(struct rows_from, table->rows + 1);
	g_autofree uint64_t *twice = labels_twice(table);
	guint16 *counts = g_new(guint16, (gsize) SHUFFLES * traits);
	uint64_t random = 1;

	for (guint turn = 0; turn < SHUFFLES; turn++) {
		shuffle_labels(shuffled, twice, table->rows, block, blocks, &random);
		for (guint i = 0; i < traits; i++) {
			const struct candidate *at =
				&g_array_index(searching->candidates, struct candidate, i);

			counts[(gsize) turn * traits + i] =
				(guint16) bits_of_both(at->rows, shuffled, searching->words);
		}
	}
	return counts;
}

/* How widely the shuffles spread the count of a trait, but not less than chance alone does: a
 * trait that changes slowly goes with bursts of slow ones by chance more often than others. */
static void measure(const struct searching *searching, struct candidate *candidate,
		    const guint16 *counts, guint trait)
{
	guint traits = searching->candidates->len;
	double sum = 0, squares = 0, n = searching->table->rows,
	       share = (double) candidate->count / n,
	       chance = searching->slow * share * (1 - share) * (n - searching->slow) /
			MAX(n - 1, 1);

	for (guint turn = 0; turn < SHUFFLES; turn++) {
		double count = counts[(gsize) turn * traits + trait];

		sum += count;
		squares += count * count;
	}
	candidate->mean = sum / SHUFFLES;
	candidate->spread =
		sqrt(MAX(squares / SHUFFLES - candidate->mean * candidate->mean, chance));
}

static double beyond(const struct candidate *candidate, guint count)
{
	return candidate->spread > 0 ? (count - candidate->mean) / candidate->spread : 0;
}

/* Marks those that do no better than what neighbours in time give: in more than a few shuffles
 * some trait went as far beyond its own mean. */
static void shuffle(struct searching *searching)
{
	guint traits = searching->candidates->len;
	g_autofree guint16 *counts = shuffled_counts(searching);
	g_autofree guint *better = g_new0(guint, traits + 1);

	for (guint i = 0; i < traits; i++)
		measure(searching, &g_array_index(searching->candidates, struct candidate, i),
			counts, i);
	for (guint turn = 0; turn < SHUFFLES; turn++) {
		double most = 0;

		for (guint i = 0; i < traits; i++)
			most = MAX(most, beyond(&g_array_index(searching->candidates,
							       struct candidate, i),
						counts[(gsize) turn * traits + i]));
		for (guint i = 0; i < traits; i++) {
			const struct candidate *at =
				&g_array_index(searching->candidates, struct candidate, i);

			better[i] += most >= beyond(at, at->trait.in) - 1e-9;
		}
	}
	for (guint i = 0; i < traits; i++)
		g_array_index(searching->candidates, struct candidate, i).fails |=
			better[i] > SHUFFLES_PASSED;
}

/* --- what is told --------------------------------------------------------------------------- */

static void weigh(const struct searching *searching, struct candidate *candidate)
{
	const struct search_table *table = searching->table;
	struct trait *trait = &candidate->trait;
	double with = 0, without = 0, shares;
	guint rest = table->rows - candidate->count;

	for (guint i = 0; i < table->rows; i++)
		if (candidate->rows[i / WORD_BITS] & UINT64_C(1) << i % WORD_BITS)
			with += (double) table->ns[i];
		else
			without += (double) table->ns[i];
	shares = (double) trait->in / trait->in_all - (double) trait->out / trait->out_all;
	trait->explained = trait->in_all * shares * (with / candidate->count - without / rest);
	trait->ratio = ((trait->in + 0.5) / (candidate->count + 1.0)) /
		       ((trait->in_all - trait->in + 0.5) / (rest + 1.0));
}

/* What takes longer had more time to meet it. */
static bool is_met_by_length(const struct searching *searching, const struct trait *trait,
			     const struct trait_part *part)
{
	const struct search_field *field =
		&g_array_index(searching->table->fields, struct search_field, part->field);
	bool slow_longer = fabs(searching->mean[1]) > fabs(searching->mean[0]);
	double met[2], all[2], ratio, chance;

	if (field->type != FIELD_MET || trait->part_count != 1)
		return false;
	met[0] = part->value ? trait->out : trait->out_all - trait->out;
	met[1] = part->value ? trait->in : trait->in_all - trait->in;
	all[0] = trait->out_all;
	all[1] = trait->in_all;
	ratio = fabs(searching->mean[slow_longer]) / MAX(fabs(searching->mean[!slow_longer]), 1);
	chance = 1 - pow(1 - (met[!slow_longer] + 0.5) / (all[!slow_longer] + 1), ratio);
	return met[slow_longer] / all[slow_longer] <= chance;
}

/* Of the slow ones' excess, and of what they met for another reason than that they took longer. A
 * pair is no better than either half. */
static void drop_idle(struct searching *searching)
{
	double gap = searching->slow * (searching->mean[1] - searching->mean[0]);

	for (guint i = 0; i < searching->candidates->len; i++) {
		struct candidate *at = &g_array_index(searching->candidates, struct candidate, i);

		at->fails |= at->trait.explained < EXPLAINED_LEAST * gap ||
			     is_met_by_length(searching, &at->trait, &at->trait.parts[0]);
	}
	for (guint i = 0; i < searching->candidates->len; i++) {
		struct candidate *at = &g_array_index(searching->candidates, struct candidate, i);

		for (guint k = 0; at->trait.part_count == 2 && k < searching->candidates->len;
		     k++) {
			const struct candidate *half =
				&g_array_index(searching->candidates, struct candidate, k);
			const struct trait_part *part = &half->trait.parts[0];

			if (half->trait.part_count == 1 &&
			    (memcmp(part, &at->trait.parts[0], sizeof *part) == 0 ||
			     memcmp(part, &at->trait.parts[1], sizeof *part) == 0))
				at->fails |= is_met_by_length(searching, &half->trait, part);
		}
	}
}

static int most_explained(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;

	if (x->fails != y->fails)
		return x->fails ? 1 : -1;
	if (x->trait.explained != y->trait.explained)
		return x->trait.explained > y->trait.explained ? -1 : 1;
	if (x->trait.part_count != y->trait.part_count)
		return x->trait.part_count < y->trait.part_count ? -1 : 1;
	for (guint i = 0; i < x->trait.part_count; i++) {
		const struct trait_part *p = &x->trait.parts[i], *q = &y->trait.parts[i];

		if (p->field != q->field)
			return p->field < q->field ? -1 : 1;
		if (p->test != q->test)
			return p->test < q->test ? -1 : 1;
		if (p->value != q->value)
			return p->value < q->value ? -1 : 1;
	}
	return 0;
}

static bool picks_the_same(const struct searching *searching, const struct candidate *a,
			   const struct candidate *b)
{
	guint both = bits_of_both(a->rows, b->rows, searching->words);

	return both >= ALIKE * (a->count + b->count - both);
}

/* The best traits two by two: those that hold together. */
static void try_pairs(struct searching *searching)
{
	guint singles = searching->candidates->len, best[PAIRED], count = 0;

	g_array_sort(searching->candidates, most_explained);
	for (guint i = 0; i < singles && count < PAIRED; i++)
		best[count++] = i;
	searching->choices = (double) singles * (singles - 1) / MAX(count * (count - 1), 1);
	for (guint i = 0; i < count; i++)
		for (guint k = i + 1; k < count; k++) {
			const struct candidate *a = &g_array_index(searching->candidates,
								   struct candidate, best[i]),
					       *b = &g_array_index(searching->candidates,
								   struct candidate, best[k]);
			struct trait trait = {.parts = {a->trait.parts[0], b->trait.parts[0]},
					      .part_count = 2};
			uint64_t *rows;

			if (trait.parts[0].field == trait.parts[1].field)
				continue;
			rows = g_new(uint64_t, searching->words);
			for (guint w = 0; w < searching->words; w++)
				rows[w] = a->rows[w] & b->rows[w];
			offer(searching, &trait, rows);
		}
	for (guint i = singles; i < searching->candidates->len; i++)
		weigh(searching, &g_array_index(searching->candidates, struct candidate, i));
}

/* Another value of a field says little more than the first. */
static bool same_field(const struct trait *a, const struct trait *b)
{
	for (guint i = 0; i < a->part_count; i++)
		for (guint k = 0; k < b->part_count; k++)
			if (a->parts[i].field == b->parts[k].field)
				return true;
	return false;
}

/* A pair is worth more words only if neither half does nearly as well, nor what was told before
 * does better. */
static bool is_needless(const struct searching *searching, const struct candidate *candidate,
			const GPtrArray *told)
{
	for (guint i = 0; candidate->trait.part_count == 2 && i < told->len; i++) {
		const struct trait *at = &((struct candidate *) told->pdata[i])->trait;

		if (at->in >= candidate->trait.in && at->out <= candidate->trait.out)
			return true;
	}
	for (guint i = 0; candidate->trait.part_count == 2 && i < searching->candidates->len; i++) {
		const struct candidate *at =
			&g_array_index(searching->candidates, struct candidate, i);

		for (guint half = 0; at->trait.part_count == 1 && half < 2; half++)
			if (memcmp(&at->trait.parts[0], &candidate->trait.parts[half],
				   sizeof at->trait.parts[0]) == 0 &&
			    candidate->trait.explained < PAIR_GAIN * at->trait.explained)
				return true;
	}
	return false;
}

static void choose(const struct searching *searching, GArray *traits)
{
	g_autoptr(GPtrArray) told = g_ptr_array_new();

	for (guint i = 0; i < searching->candidates->len && traits->len < SEARCH_TOLD; i++) {
		struct candidate *at = &g_array_index(searching->candidates, struct candidate, i);
		bool again = false;

		if (at->fails || at->trait.explained <= 0)
			break;
		for (guint k = 0; k < told->len; k++)
			again |= same_field(&((struct candidate *) told->pdata[k])->trait,
					    &at->trait) ||
				 picks_the_same(searching, g_ptr_array_index(told, k), at);
		if (again || is_needless(searching, at, told))
			continue;
		g_ptr_array_add(told, at);
		g_array_append_val(traits, at->trait);
	}
}

struct search_answer search(const struct search_table *table, guint groups)
{
	struct search_answer answer = {.outcome = SEARCH_NOTHING,
				       .traits = g_array_new(FALSE, FALSE, sizeof(struct trait))};
	struct searching searching = {.table = table, .words = table->rows / WORD_BITS + 1};

	for (guint i = 0; i < table->rows; i++) {
		searching.slow += table->slow[i];
		searching.mean[table->slow[i]] += (double) table->ns[i];
	}
	if (searching.slow < SUPPORT_MIN || table->rows - searching.slow < SUPPORT_MIN) {
		answer.outcome = SEARCH_TOO_FEW;
		return answer;
	}
	searching.mean[0] /= table->rows - searching.slow;
	searching.mean[1] /= searching.slow;
	searching.labels = g_new0(uint64_t, searching.words);
	for (guint i = 0; i < table->rows; i++)
		if (table->slow[i])
			searching.labels[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
	searching.candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	g_array_set_clear_func(searching.candidates, candidate_clear);
	for (guint i = 0; i < table->fields->len; i++)
		try_field(&searching, i);
	for (guint i = 0; i < searching.candidates->len; i++)
		weigh(&searching, &g_array_index(searching.candidates, struct candidate, i));
	try_pairs(&searching);
	answer.tried = searching.candidates->len;
	answer.fields = searching.fields;
	if (correct(&searching, SEARCH_ALPHA / MAX(groups, 1))) {
		drop_idle(&searching);
		shuffle(&searching);
		g_array_sort(searching.candidates, most_explained);
		choose(&searching, answer.traits);
	}
	if (answer.traits->len)
		answer.outcome = SEARCH_FOUND;
	g_array_free(searching.candidates, TRUE);
	g_free(searching.labels);
	return answer;
}
