/* SPDX-License-Identifier: MIT */
/* See peaks_apart.h. */
#include "traits/peaks_apart.h"

#include <stdlib.h>
#include <string.h>

#include "apart/draw.h"
#include "traits/known_of.h"
#include "traits/known_words.h"

#define PROFILES_SEARCHED 16 /* those with most time */
#define SAMPLE 2048 /* operations of a peak, and of a search in all … */
#define SAMPLE_SLOW (SAMPLE / 2) /* … of it the peak's */

/* A sampled operation. */
struct row {
	uint32_t operation;
	guint stratum;
	struct known_history history;
	int64_t ns;
	int64_t values[KNOWN_COLUMNS];
};

/* An operation as the first pass met it. */
struct met {
	uint32_t operation;
	struct known_history history;
};

/* The operations of one peak, or those of none. */
struct stratum {
	uint64_t count;
	double sum; /* ns */
	uint32_t kept;
	struct met *met; /* owned; SAMPLE at most, any of them as likely */
	guint *rows; /* owned; the same, as places among the rows */
};

/* A trait that is told, counted again. */
struct recount {
	struct trait trait;
	guint peak;
	uint64_t in, out;
};

struct sampled {
	struct profile *profile; /* borrowed */
	struct stratum *strata; /* owned; of each peak, and the others behind */
	guint peaks;
	struct known_fields fields;
	GArray *rows; /* owned; struct row, in the order of their operations */
	int64_t *from; /* owned; of each peak: where it begins, and where it ends: ns */
	GArray *recounts; /* owned; struct recount */
	uint64_t told; /* bits: columns that these test */
	GPtrArray *correlations; /* owned; struct correlation */
	struct traits **traits; /* owned list; borrowed; by peak; NULL: not searched */
};

struct peaks_apart {
	struct profiles *profiles; /* borrowed */
	GPtrArray *sampled; /* owned; struct sampled */
	guint *by_profile; /* owned; by the profile's place: place in `sampled` + 1; 0: none */
	GHashTable *by_peak; /* owned; struct peak -> struct traits, owned */
	struct file_kinds *kinds; /* owned */
	uint64_t random;
	uint64_t operations; /* in the profiles that are searched */
};

/* --- sampling ------------------------------------------------------------------------------- */

static void correlation_free(gpointer data)
{
	struct correlation *correlation = data;

	g_free(correlation->field);
	g_free(correlation->sentence);
	g_array_free(correlation->points, TRUE);
	g_free(correlation);
}

static void sampled_free(gpointer data)
{
	struct sampled *sampled = data;

	g_ptr_array_free(sampled->correlations, TRUE);

	for (guint i = 0; i <= sampled->peaks; i++) {
		g_free(sampled->strata[i].met);
		g_free(sampled->strata[i].rows);
	}
	g_free(sampled->strata);
	g_free(sampled->from);
	g_array_free(sampled->rows, TRUE);
	g_array_free(sampled->recounts, TRUE);
	g_free(sampled->traits);
	g_free(sampled);
}

/* Some peak is to be compared with the others, or there are enough operations for a line. */
static bool is_searched(const struct profile *profile)
{
	bool any = profile->count >= FIT_LEAST;

	for (guint i = 0; i < profile->peaks->len; i++) {
		const struct peak *peak = &g_array_index(profile->peaks, struct peak, i);

		any |= peak->searched && 2 * peak->count <= profile->count;
	}
	return any && profile->what != UINT32_MAX;
}

static void add_profile(struct peaks_apart *apart, struct profile *profile)
{
	struct sampled *sampled = g_new0(struct sampled, 1);

	sampled->profile = profile;
	sampled->peaks = profile->peaks->len;
	sampled->strata = g_new0(struct stratum, sampled->peaks + 1);
	for (guint i = 0; i <= sampled->peaks; i++)
		sampled->strata[i].met = g_new(struct met, SAMPLE);
	sampled->from = g_new(int64_t, 2 * sampled->peaks + 1);
	for (guint i = 0; i < sampled->peaks; i++) {
		const struct peak_range *range =
			&g_array_index(profile->peaks, struct peak, i).range;

		sampled->from[2 * i] = apart->profiles->buckets.from[range->first];
		sampled->from[2 * i + 1] = apart->profiles->buckets.from[range->last + 1];
	}
	sampled->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	sampled->correlations = g_ptr_array_new_with_free_func(correlation_free);
	sampled->recounts = g_array_new(FALSE, TRUE, sizeof(struct recount));
	sampled->traits = g_new0(struct traits *, sampled->peaks + 1);
	g_ptr_array_add(apart->sampled, sampled);
	apart->by_profile[profile->place] = apart->sampled->len;
}

static guint stratum_of(const struct sampled *sampled, const struct operation *operation)
{
	int64_t ns = (int64_t) operation->duration;

	for (guint i = 0; i < sampled->peaks; i++)
		if (ns >= sampled->from[2 * i] && ns < sampled->from[2 * i + 1])
			return i;
	return sampled->peaks;
}

/* Its profile, where that is searched; `place`: which it is. */
static struct sampled *sampled_of(const struct peaks_apart *apart, uint32_t number, guint *place)
{
	const struct operation *operation =
		operation_at(&apart->profiles->session->trace.timeline.operations, number);
	const struct profile *profile = profile_of(apart->profiles, operation, number);

	*place = profile ? apart->by_profile[profile->place] : 0;
	return *place ? g_ptr_array_index(apart->sampled, *place - 1) : NULL;
}

/* Any subset of so many is as likely (Vitter's algorithm R). */
static struct met *place_of_sample(struct peaks_apart *apart, struct stratum *stratum)
{
	uint64_t at = stratum->count < SAMPLE ? stratum->count
					      : draw(&apart->random, (guint) stratum->count + 1);

	stratum->count++;
	stratum->kept = (uint32_t) MIN(stratum->count, SAMPLE);
	return at < SAMPLE ? &stratum->met[at] : NULL;
}

#define HISTORY                                                                                    \
	(KNOWN_BIT(KNOWN_OWN + KNOWN_BEFORE) | KNOWN_BIT(KNOWN_OWN + KNOWN_DISTANCE) |             \
	 KNOWN_BIT(KNOWN_OWN + KNOWN_NTH_ON) | KNOWN_BIT(KNOWN_OWN + KNOWN_NTH) |                  \
	 KNOWN_BIT(KNOWN_OWN + KNOWN_SINCE)) /* columns */

/* Whatever only a pass over all can tell is kept of those that are drawn. */
static void sample(struct peaks_apart *apart)
{
	const struct session *session = apart->profiles->session;
	const struct pages *store = &session->trace.timeline.operations;
	struct known_walk *walk = known_walk_new(session, HISTORY, NULL);

	for (uint32_t i = 1; i < store->used; i++) {
		struct sampled *sampled;
		guint place;

		pages_pass(store, i);
		sampled = sampled_of(apart, i, &place);
		if (sampled) {
			const struct operation *operation = operation_at(store, i);
			struct stratum *stratum = &sampled->strata[stratum_of(sampled, operation)];
			struct met *met = place_of_sample(apart, stratum);

			stratum->sum += (double) operation->duration;
			known_history(walk, place, i, met ? &met->history : NULL);
			if (met)
				met->operation = i;
		}
		file_kinds_meet(apart->kinds, i);
		known_pass(walk, i);
	}
	known_walk_free(walk);
}

static int by_operation(gconstpointer a, gconstpointer b)
{
	const struct row *x = a, *y = b;

	return x->operation < y->operation ? -1 : x->operation > y->operation;
}

/* A row for each sampled operation; in each stratum in any order. */
static void make_rows(struct peaks_apart *apart, struct sampled *sampled)
{
	for (guint s = 0; s <= sampled->peaks; s++) {
		struct stratum *stratum = &sampled->strata[s];

		for (guint i = 0; i < stratum->kept; i++) {
			struct row row = {.operation = stratum->met[i].operation,
					  .stratum = s,
					  .history = stratum->met[i].history};

			g_array_append_val(sampled->rows, row);
		}
		g_clear_pointer(&stratum->met, g_free);
		stratum->rows = g_new(guint, stratum->kept + 1);
		stratum->kept = 0;
	}
	g_array_sort(sampled->rows, by_operation);
	for (guint i = 0; i < sampled->rows->len; i++) {
		struct stratum *stratum =
			&sampled->strata[g_array_index(sampled->rows, struct row, i).stratum];
		guint at = draw(&apart->random, stratum->kept + 1);

		stratum->rows[stratum->kept++] = stratum->rows[at];
		stratum->rows[at] = i;
	}
}

static void fill_rows(const struct peaks_apart *apart, struct sampled *sampled)
{
	const struct session *session = apart->profiles->session;
	const struct timeline *timeline = &session->trace.timeline;
	struct known_walk *walk = known_walk_new(session, KNOWN_ALL, apart->kinds);
	uint32_t passed = 0, facts_passed[2] = {0, 0};

	for (guint i = 0; i < sampled->rows->len; i++) {
		struct row *row = &g_array_index(sampled->rows, struct row, i);

		pages_pass_to(&timeline->operations, &passed, row->operation);
		facts_pass(timeline, facts_passed, row->operation);
		row->ns = (int64_t) operation_at(&timeline->operations, row->operation)->duration;
		known_values(walk, &sampled->fields, row->operation, &row->history, row->values);
	}
	known_walk_free(walk);
}

/* --- searching ------------------------------------------------------------------------------ */

/* Of each peak as many as its share is, SAMPLE in all at most. */
static void choose_evenly(const struct sampled *sampled, bool *chosen)
{
	double rate = MIN(1, SAMPLE / MAX((double) sampled->profile->count, 1));

	for (guint i = 0; i <= sampled->peaks; i++) {
		const struct stratum *stratum = &sampled->strata[i];
		guint count =
			(guint) MIN((double) stratum->kept, rate * (double) stratum->count + 0.5);

		for (guint k = 0; k < count; k++)
			chosen[stratum->rows[k]] = true;
	}
}

/* Marks the rows that are searched: all of the peak or SAMPLE_SLOW, and of the others as many as
 * their peaks have of them. */
static guint choose_rows(const struct sampled *sampled, guint peak, bool *chosen)
{
	guint slow = MIN(sampled->strata[peak].kept, SAMPLE_SLOW), used = slow;
	double others = 0, rate = 1;

	for (guint i = 0; i <= sampled->peaks; i++)
		others += i == peak ? 0 : (double) sampled->strata[i].count;
	rate = MIN(rate, (SAMPLE - slow) / MAX(others, 1));
	if (sampled->strata[peak].count + others <= SAMPLE) {
		slow = used = sampled->strata[peak].kept; /* nothing is left out */
		rate = 1;
	}
	for (guint i = 0; i < slow; i++)
		chosen[sampled->strata[peak].rows[i]] = true;
	for (guint i = 0; i <= sampled->peaks; i++) {
		const struct stratum *stratum = &sampled->strata[i];
		guint count = i == peak ? 0
					: (guint) MIN((double) stratum->kept,
						      rate * (double) stratum->count + 0.5);

		for (guint k = 0; k < count; k++)
			chosen[stratum->rows[k]] = true;
		used += count;
	}
	return used;
}

/* The peak is the faster one: what goes with it makes things shorter. */
static bool is_fast(const struct sampled *sampled, guint peak)
{
	const struct stratum *in = &sampled->strata[peak];
	double sum = 0, count = 0;

	for (guint i = 0; i <= sampled->peaks; i++) {
		sum += i == peak ? 0 : sampled->strata[i].sum;
		count += i == peak ? 0 : (double) sampled->strata[i].count;
	}
	return in->sum / MAX((double) in->count, 1) < sum / MAX(count, 1);
}

static struct search_table *table_of(const struct sampled *sampled, guint peak)
{
	g_autofree bool *chosen = g_new0(bool, sampled->rows->len + 1);
	guint count = choose_rows(sampled, peak, chosen), at = 0;
	struct search_table *table = search_table_new(count, KNOWN_COLUMNS);
	int64_t sign = is_fast(sampled, peak) ? -1 : 1;

	for (guint i = 0; i < sampled->rows->len; i++) {
		const struct row *row = &g_array_index(sampled->rows, struct row, i);

		if (!chosen[i])
			continue;
		table->slow[at] = row->stratum == peak;
		table->ns[at] = sign * row->ns;
		for (guint c = 0; c < KNOWN_COLUMNS; c++)
			if (row->values[c] != FIELD_NONE)
				search_column(table, c, known_type(&sampled->fields, c))[at] =
					row->values[c];
		at++;
	}
	return table;
}

static void search_peak(struct peaks_apart *apart, struct sampled *sampled, guint peak,
			guint groups)
{
	struct search_table *table = table_of(sampled, peak);
	struct search_answer answer = search(table, groups);
	struct traits *traits = traits_new(&answer);

	traits->sampled = table->rows < sampled->profile->count;
	for (guint i = 0; i < answer.traits->len; i++) {
		struct recount recount = {.trait = g_array_index(answer.traits, struct trait, i),
					  .peak = peak};

		recount.in = recount.trait.in;
		recount.out = recount.trait.out;
		g_array_append_val(sampled->recounts, recount);
	}
	sampled->traits[peak] = traits;
	g_hash_table_insert(apart->by_peak,
			    &g_array_index(sampled->profile->peaks, struct peak, peak), traits);
	g_array_free(answer.traits, TRUE);
	search_table_free(table);
}

/* What sets most of the operations apart is what the others have not: it is told of those. */
static bool is_asked(const struct sampled *sampled, guint peak)
{
	const struct peak *at = &g_array_index(sampled->profile->peaks, struct peak, peak);
	uint64_t others = sampled->profile->count - at->count;

	return at->searched &&
	       (at->count < others || (at->count == others && !is_fast(sampled, peak)));
}

static void search_all(struct peaks_apart *apart)
{
	guint groups = 0;

	for (guint i = 0; i < apart->sampled->len; i++) {
		const struct sampled *sampled = g_ptr_array_index(apart->sampled, i);

		for (guint p = 0; p < sampled->peaks; p++)
			groups += is_asked(sampled, p);
	}
	for (guint i = 0; i < apart->sampled->len; i++) {
		struct sampled *sampled = g_ptr_array_index(apart->sampled, i);

		for (guint p = 0; p < sampled->peaks; p++)
			if (is_asked(sampled, p))
				search_peak(apart, sampled, p, groups);
	}
}

/* --- numbers that latencies follow ---------------------------------------------------------- */

/* The operations chosen that have that column. */
static GArray *points_of(const struct sampled *sampled, const bool *chosen, guint column)
{
	GArray *points = g_array_new(FALSE, FALSE, sizeof(struct point));

	for (guint i = 0; i < sampled->rows->len; i++) {
		const struct row *row = &g_array_index(sampled->rows, struct row, i);
		struct point point = {(double) row->values[column], (double) row->ns};

		if (chosen[i] && row->values[column] != FIELD_NONE &&
		    row->values[column] != KNOWN_ADDRESS && row->values[column] >= 0)
			g_array_append_val(points, point);
	}
	return points;
}

/* Evenly spread ones. */
static void thin(GArray *points)
{
	guint count = points->len;

	if (count <= CORRELATION_POINTS)
		return;
	for (guint i = 0; i < CORRELATION_POINTS; i++)
		g_array_index(points, struct point, i) =
			g_array_index(points, struct point,
				      (guint) ((guint64) i * count / CORRELATION_POINTS));
	g_array_set_size(points, CORRELATION_POINTS);
}

/* The same numbers under another name, as what was asked for and what was got. */
static bool is_told(const struct sampled *sampled, const struct line_fit *fit)
{
	for (guint i = 0; i < sampled->correlations->len; i++) {
		const struct correlation *at = g_ptr_array_index(sampled->correlations, i);

		if (at->slope == fit->slope && at->share == fit->share)
			return true;
	}
	return false;
}

static int most_share(gconstpointer a, gconstpointer b)
{
	const struct correlation *x = *(struct correlation *const *) a,
				 *y = *(struct correlation *const *) b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return strcmp(x->field, y->field);
}

static void correlate(const struct peaks_apart *apart, struct sampled *sampled)
{
	const struct session *session = apart->profiles->session;
	g_autofree bool *chosen = g_new0(bool, sampled->rows->len + 1);

	choose_evenly(sampled, chosen);
	for (guint c = 0; c < KNOWN_COLUMNS; c++) {
		struct correlation *found;
		struct line_fit fit;
		GArray *points;

		if (!known_is_followed(session, &sampled->fields, c))
			continue;
		points = points_of(sampled, chosen, c);
		if (!line_fit((const struct point *) points->data, points->len, &fit) ||
		    is_told(sampled, &fit)) {
			g_array_free(points, TRUE);
			continue;
		}
		found = g_new0(struct correlation, 1);
		*found = (struct correlation) {
			.field = g_strdup(known_name(session, &sampled->fields, c)),
			.count = points->len,
			.slope = fit.slope,
			.middle = fit.middle,
			.share = fit.share,
			.points = points};
		found->sentence = known_slope(session, sampled->profile, &sampled->fields, c, &fit);
		thin(points);
		g_ptr_array_add(sampled->correlations, found);
	}
	g_ptr_array_sort(sampled->correlations, most_share);
}

/* --- telling -------------------------------------------------------------------------------- */

static bool trait_holds(const struct trait *trait, const int64_t *values)
{
	for (guint i = 0; i < trait->part_count; i++)
		if (!trait_has(&trait->parts[i], values[trait->parts[i].field]))
			return false;
	return true;
}

static bool needs_recount(const struct peaks_apart *apart)
{
	for (guint i = 0; i < apart->sampled->len; i++) {
		const struct sampled *sampled = g_ptr_array_index(apart->sampled, i);

		if (sampled->recounts->len && sampled->rows->len < sampled->profile->count)
			return true;
		for (guint k = 0; k < sampled->recounts->len; k++) {
			const struct recount *at =
				&g_array_index(sampled->recounts, struct recount, k);

			if (sampled->traits[at->peak]->sampled)
				return true;
		}
	}
	return false;
}

/* Bits: those that some trait that is told tests. */
static uint64_t columns_told(const struct peaks_apart *apart)
{
	uint64_t all = 0;

	for (guint i = 0; i < apart->sampled->len; i++) {
		struct sampled *sampled = g_ptr_array_index(apart->sampled, i);
		const GArray *recounts = sampled->recounts;
		uint64_t columns = 0;

		for (guint k = 0; k < recounts->len; k++) {
			const struct trait *trait =
				&g_array_index(recounts, struct recount, k).trait;

			for (guint p = 0; p < trait->part_count; p++)
				columns |= KNOWN_BIT(trait->parts[p].field);
		}
		sampled->told = columns;
		all |= columns;
	}
	return all;
}

static void count_again(struct peaks_apart *apart)
{
	const struct session *session = apart->profiles->session;
	const struct pages *store = &session->trace.timeline.operations;
	uint64_t wanted = columns_told(apart);
	struct known_walk *walk = known_walk_new(session, wanted, apart->kinds);
	struct known_history history = {FIELD_NONE, FIELD_NONE, FIELD_NONE, FIELD_NONE, FIELD_NONE};
	int64_t values[KNOWN_COLUMNS];

	for (guint i = 0; i < apart->sampled->len; i++) {
		GArray *recounts = ((struct sampled *) apart->sampled->pdata[i])->recounts;

		for (guint k = 0; k < recounts->len; k++)
			g_array_index(recounts, struct recount, k).in =
				g_array_index(recounts, struct recount, k).out = 0;
	}
	for (uint32_t i = 1; i < store->used; i++) {
		struct sampled *sampled;
		guint place, stratum;

		pages_pass(store, i);
		sampled = sampled_of(apart, i, &place);
		if (sampled && sampled->recounts->len) {
			known_ask(walk, sampled->told);
			if (wanted & HISTORY)
				known_history(walk, place, i, &history);
			known_values(walk, &sampled->fields, i, &history, values);
			stratum = stratum_of(sampled, operation_at(store, i));
			for (guint k = 0; k < sampled->recounts->len; k++) {
				struct recount *at =
					&g_array_index(sampled->recounts, struct recount, k);
				bool holds = trait_holds(&at->trait, values);

				at->in += holds && at->peak == stratum;
				at->out += holds && at->peak != stratum;
			}
		}
		known_pass(walk, i);
	}
	known_walk_free(walk);
}

static void tell_trait(const struct peaks_apart *apart, const struct sampled *sampled,
		       const struct recount *at)
{
	const struct session *session = apart->profiles->session;
	const struct profile *profile = sampled->profile;
	uint64_t slow = sampled->strata[at->peak].count;
	struct trait_told *told;
	struct phrase phrases[2];

	told = known_told(session, &sampled->fields, &at->trait);
	told->in[0] = at->in;
	told->in[1] = slow;
	told->out[0] = at->out;
	told->out[1] = profile->count - slow;
	told->explained =
		(int64_t) (at->trait.explained / MAX(at->trait.in_all, 1) * (double) slow);
	for (guint i = 0; i < at->trait.part_count; i++)
		phrases[i] = known_phrase(session, profile->operation, &sampled->fields,
					  &at->trait.parts[i]);
	told->sentence = trait_sentence(phrases, at->trait.part_count, told->in, told->out, NULL);
	g_ptr_array_add(sampled->traits[at->peak]->told, told);
}

static void tell_all(const struct peaks_apart *apart)
{
	for (guint i = 0; i < apart->sampled->len; i++) {
		const struct sampled *sampled = g_ptr_array_index(apart->sampled, i);

		for (guint k = 0; k < sampled->recounts->len; k++)
			tell_trait(apart, sampled,
				   &g_array_index(sampled->recounts, struct recount, k));
	}
}

static void compare(struct peaks_apart *apart)
{
	sample(apart);
	for (guint i = 0; i < apart->sampled->len; i++) {
		make_rows(apart, g_ptr_array_index(apart->sampled, i));
		fill_rows(apart, g_ptr_array_index(apart->sampled, i));
	}
	search_all(apart);
	for (guint i = 0; i < apart->sampled->len; i++)
		correlate(apart, g_ptr_array_index(apart->sampled, i));
	if (needs_recount(apart))
		count_again(apart);
	tell_all(apart);
}

struct peaks_apart *peaks_apart_new(struct profiles *profiles)
{
	struct peaks_apart *apart = g_new0(struct peaks_apart, 1);
	guint places = 1;

	apart->profiles = profiles;
	apart->random = 1;
	apart->kinds = file_kinds_new(profiles->session);
	apart->sampled = g_ptr_array_new_with_free_func(sampled_free);
	for (guint i = 0; i < profiles->list->len; i++)
		places = MAX(places, ((struct profile *) profiles->list->pdata[i])->place + 1);
	apart->by_profile = g_new0(guint, places);
	apart->by_peak = g_hash_table_new_full(NULL, NULL, NULL, traits_free);
	for (guint i = 0; i < profiles->list->len && apart->sampled->len < PROFILES_SEARCHED; i++)
		if (is_searched(g_ptr_array_index(profiles->list, i)))
			add_profile(apart, g_ptr_array_index(profiles->list, i));
	if (apart->sampled->len)
		compare(apart);
	apart->profiles = NULL;
	return apart;
}

void peaks_apart_free(struct peaks_apart *apart)
{
	if (!apart)
		return;
	g_ptr_array_free(apart->sampled, TRUE);
	file_kinds_free(apart->kinds);
	g_free(apart->by_profile);
	g_hash_table_destroy(apart->by_peak);
	g_free(apart);
}

const struct traits *peak_traits(const struct peaks_apart *apart, const struct peak *peak)
{
	return apart ? g_hash_table_lookup(apart->by_peak, peak) : NULL;
}

const GPtrArray *profile_correlations(const struct peaks_apart *apart,
				      const struct profile *profile)
{
	for (guint i = 0; apart && i < apart->sampled->len; i++) {
		const struct sampled *sampled = g_ptr_array_index(apart->sampled, i);

		if (sampled->profile == profile)
			return sampled->correlations;
	}
	return NULL;
}
