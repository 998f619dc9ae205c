/* SPDX-License-Identifier: MIT */
/* See batch_groups.h.
 *
 * A setting gives each recording the number of its value, in the order in which values come; those
 * that give the same numbers are one difference.
 */
#include "batch/batch_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apart/groups.h"
#include "apart/search.h"
#include "settings/costs_touched.h"
#include "util/when.h"

#define GROUP_NONE UINT16_MAX /* not one of those that could have it */
#define NAMES 0.9 /* values by recordings: more, and it is a name */
#define SETTINGS_TOLD 30 /* of a difference, in JSON */
#define DIFFERENCES_TOLD 100
#define GROUPS_TOLD 4 /* in a sentence */
#define VALUE_SHOWN 48 /* characters */
#define DIFFER_LEAST 0.05 /* of the larger: less is not worth a word */

/* What recordings cost by the groups of a difference. */
struct trial {
	const char *what; /* borrowed, of the table of all costs */
	bool per_call; /* a mean of operations; else of each second */
	guint groups; /* those that have it */
	guint *number; /* owned; of such a group, its number in the difference */
	guint *members; /* owned */
	double *medians; /* owned */
	double p, least, gap;
};

struct difference {
	uint16_t *group; /* owned; of each recording */
	guint groups;
	GPtrArray *keys; /* owned; of texts that are borrowed */
	GArray *trials; /* owned; struct trial */
	guint told; /* the trial that is told */
};

struct comparing {
	const GPtrArray *recordings;
	struct touched *touched; /* owned; of all */
	GPtrArray *differences; /* owned; struct difference */
	GHashTable *found; /* owned; their numbers (GBytes) -> one of them */
	GPtrArray *means; /* owned; names (owned) of operations whose means there are */
};

bool recording_could_have(const struct recording *recording, const char *key)
{
	return recording->recorded || g_str_has_prefix(key, SETTINGS_HOST "\t") ||
	       g_str_has_prefix(key, SETTINGS_READ "\t");
}

const char setting_none[] = "";

const char *recording_value(const struct recording *recording, const char *key)
{
	const char *value = g_hash_table_lookup(recording->own, key);

	if (!value && recording->base)
		value = g_hash_table_lookup(recording->base, key);
	return value == setting_none ? NULL : value;
}

static const struct recording *recording_at(const struct comparing *comparing, guint i)
{
	return g_ptr_array_index(comparing->recordings, i);
}

static char *kind_of(const char *key)
{
	return g_strndup(key, strcspn(key, "\t"));
}

static const char *name_of(const char *key)
{
	return strchr(key, '\t') + 1;
}

static void trial_clear(gpointer data)
{
	struct trial *trial = data;

	g_free(trial->number);
	g_free(trial->members);
	g_free(trial->medians);
}

static void difference_free(gpointer data)
{
	struct difference *at = data;

	g_free(at->group);
	g_ptr_array_free(at->keys, TRUE);
	g_array_free(at->trials, TRUE);
	g_free(at);
}

/* --- which there are -------------------------------------------------------------------------- */

/* Of a file that was read only whether it was. */
static const void *value_of(const struct recording *recording, const char *key)
{
	const void *value = recording_value(recording, key);

	return value && g_str_has_prefix(key, SETTINGS_READ "\t") ? SETTINGS_READ : value;
}

/* The numbers of a setting's values; returns how many values there are, of so many recordings. */
static guint number_values(const struct comparing *comparing, const char *key, uint16_t *group,
			   guint *could)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();

	*could = 0;
	for (guint i = 0; i < comparing->recordings->len; i++) {
		const struct recording *recording = recording_at(comparing, i);
		const void *value = value_of(recording, key);
		guint number = 0;

		group[i] = GROUP_NONE;
		if (!recording_could_have(recording, key))
			continue;
		while (number < values->len && values->pdata[number] != value)
			number++;
		if (number == values->len)
			g_ptr_array_add(values, (gpointer) value);
		group[i] = (uint16_t) MIN(number, GROUP_NONE - 1);
		++*could;
	}
	return values->len;
}

static void add_key(struct comparing *comparing, const char *key, const uint16_t *group,
		    guint groups)
{
	gsize size = comparing->recordings->len * sizeof *group;
	GBytes *numbers = g_bytes_new(group, size);
	struct difference *new = g_hash_table_lookup(comparing->found, numbers);

	if (new) {
		g_ptr_array_add(new->keys, (gpointer) key);
		g_bytes_unref(numbers);
		return;
	}
	new = g_new0(struct difference, 1);
	g_hash_table_insert(comparing->found, numbers, new);
	new->group = g_memdup2(group, size);
	new->groups = groups;
	new->keys = g_ptr_array_new();
	new->trials = g_array_new(FALSE, TRUE, sizeof(struct trial));
	g_array_set_clear_func(new->trials, trial_clear);
	g_ptr_array_add(new->keys, (gpointer) key);
	g_ptr_array_add(comparing->differences, new);
}

/* --- what they cost --------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double median(double *values, guint count)
{
	qsort(values, count, sizeof *values, by_number);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* What it cost in a recording; negative: it has no such operation, or no time. */
static double cost_of(const struct recording *recording, const char *what, bool per_call)
{
	const json_t *cost = json_object_get(per_call ? recording->means : recording->costs, what);

	if (per_call)
		return cost ? (double) json_integer_value(cost) : -1;
	return recording->seconds > 0 && recording->costs
		       ? (double) json_integer_value(cost) / recording->seconds
		       : -1;
}

static void set_medians(struct trial *trial, const double *values, const guint *group, guint count)
{
	g_autofree double *some = g_new(double, count + 1);
	double highest = 0, lowest = INFINITY;

	trial->members = g_new0(guint, trial->groups + 1);
	trial->medians = g_new0(double, trial->groups + 1);
	for (guint g = 0; g < trial->groups; g++) {
		for (guint i = 0; i < count; i++)
			if (group[i] == g)
				some[trial->members[g]++] = values[i];
		trial->medians[g] = median(some, trial->members[g]);
		highest = MAX(highest, trial->medians[g]);
		lowest = MIN(lowest, trial->medians[g]);
	}
	trial->gap = trial->groups ? highest - lowest : 0;
}

static void try_cost(const struct comparing *comparing, struct difference *difference,
		     const char *what, bool per_call)
{
	guint all = comparing->recordings->len, count = 0;
	g_autofree double *values = g_new(double, all + 1);
	g_autofree guint *group = g_new(guint, all + 1);
	struct trial trial = {.what = what, .per_call = per_call};

	for (guint i = 0; i < difference->trials->len; i++)
		if (g_array_index(difference->trials, struct trial, i).what == what)
			return;
	trial.number = g_new(guint, difference->groups + 1);
	for (guint i = 0; i < all; i++) {
		double cost = cost_of(recording_at(comparing, i), what, per_call);
		guint g = 0;

		if (difference->group[i] == GROUP_NONE || cost < 0)
			continue;
		while (g < trial.groups && trial.number[g] != difference->group[i])
			g++;
		if (g == trial.groups)
			trial.number[trial.groups++] = difference->group[i];
		group[count] = g;
		values[count++] = cost;
	}
	set_medians(&trial, values, group, count);
	trial.p = groups_apart(values, group, count, trial.groups, &trial.least);
	g_array_append_val(difference->trials, trial);
}

static void try_difference(const struct comparing *comparing, struct difference *difference)
{
	for (guint i = 0; i < comparing->means->len; i++)
		try_cost(comparing, difference, comparing->means->pdata[i], true);
	for (guint i = 0; i < difference->keys->len && !comparing->means->len; i++) {
		const char *key = difference->keys->pdata[i], *what;
		g_autofree char *kind = kind_of(key);
		g_autofree char *touches = touched_what(comparing->touched, kind, name_of(key));

		if (!touches && touched_is_special(kind, name_of(key)))
			continue;
		what = touched_name(comparing->touched, touches ? touches : TOUCHED_ALL);
		if (what)
			try_cost(comparing, difference, what, false);
	}
}

/* --- what is told ----------------------------------------------------------------------------- */

enum outcome { GOES_WITH, CHANCE, TOO_FEW, NO_COST };
static const char *const outcomes[] = {"goes-with", "chance", "too-few", "no-cost"};

static enum outcome outcome_of(const struct trial *trial, guint tried)
{
	double highest = 0;

	for (guint g = 0; g < trial->groups; g++)
		highest = MAX(highest, trial->medians[g]);
	if (trial->least * tried > SEARCH_ALPHA)
		return TOO_FEW;
	return trial->p <= SEARCH_ALPHA && trial->gap >= DIFFER_LEAST * highest
		       ? GOES_WITH
		       : CHANCE;
}

/* Corrects all trials, and chooses of each difference the one that is told. Returns how many. */
static guint correct(struct comparing *comparing)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
	guint at = 0, tried;

	for (guint i = 0; i < comparing->differences->len; i++) {
		const struct difference *each = g_ptr_array_index(comparing->differences, i);

		for (guint k = 0; k < each->trials->len; k++)
			g_array_append_val(all, g_array_index(each->trials, struct trial, k).p);
	}
	tried = all->len;
	holm((double *) (void *) all->data, tried);
	for (guint i = 0; i < comparing->differences->len; i++) {
		struct difference *each = g_ptr_array_index(comparing->differences, i);
		const struct trial *best = NULL;

		for (guint k = 0; k < each->trials->len; k++) {
			struct trial *trial = &g_array_index(each->trials, struct trial, k);
			enum outcome outcome;

			trial->p = g_array_index(all, double, at++);
			outcome = outcome_of(trial, tried);
			if (best &&
			    (outcome > outcome_of(best, tried) ||
			     (outcome == outcome_of(best, tried) && trial->gap <= best->gap)))
				continue;
			best = trial;
			each->told = k;
		}
	}
	return tried;
}

static const struct trial *told(const struct difference *difference)
{
	return difference->trials->len
		       ? &g_array_index(difference->trials, struct trial, difference->told)
		       : NULL;
}

static enum outcome outcome_told(const struct difference *difference, guint tried)
{
	const struct trial *trial = told(difference);

	return trial ? outcome_of(trial, tried) : NO_COST;
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct difference *x = *(struct difference *const *) a,
				*y = *(struct difference *const *) b;
	const guint *tried = data;
	enum outcome first = outcome_told(x, *tried), second = outcome_told(y, *tried);
	double gap = told(x) ? told(x)->gap : 0, other = told(y) ? told(y)->gap : 0;

	if (first != second)
		return first < second ? -1 : 1;
	if (gap != other)
		return gap > other ? -1 : 1;
	return strcmp(x->keys->pdata[0], y->keys->pdata[0]);
}

/* The value that a group has; NULL: none. */
static const char *value_in(const struct comparing *comparing, const struct difference *difference,
			    const char *key, guint group)
{
	guint i = 0;

	while (difference->group[i] != group)
		i++;
	return recording_value(recording_at(comparing, i), key);
}

/* All recordings of a group come before all of the next one. */
static bool are_in_order(const struct comparing *comparing, const struct difference *difference)
{
	guint before = GROUP_NONE, runs = 0;

	for (guint i = 0; i < comparing->recordings->len; i++) {
		if (difference->group[i] == GROUP_NONE)
			continue;
		runs += difference->group[i] != before;
		before = difference->group[i];
	}
	return runs == difference->groups;
}

static void append_value(GString *text, const char *key, const char *value)
{
	g_autofree char *shown = NULL;

	if (g_str_has_prefix(key, SETTINGS_READ "\t")) {
		g_string_append(text, value ? "opened it" : "did not");
		return;
	}
	if (!value) {
		g_string_append(text, "none");
		return;
	}
	if (g_utf8_strlen(value, -1) > VALUE_SHOWN)
		shown = g_utf8_substring(value, 0, VALUE_SHOWN);
	g_string_append_printf(text, "'%s%s'", shown ? shown : value, shown ? "…" : "");
}

/* Groups by what they cost, most first. */
static guint *by_cost(const struct trial *trial)
{
	guint *order = g_new(guint, trial->groups + 1);

	for (guint g = 0; g < trial->groups; g++) {
		guint place = g;

		for (; place && trial->medians[order[place - 1]] < trial->medians[g]; place--)
			order[place] = order[place - 1];
		order[place] = g;
	}
	return order;
}

/* "file /etc/redis/a.conf: redis-server took 812 ms of each second in 6 recordings ('1f3a…'), 12 ms
 * in 6 ('77e2…')" */
static char *sentence(const struct comparing *comparing, const struct difference *difference,
		      guint tried)
{
	const struct trial *trial = told(difference);
	const char *key = difference->keys->pdata[0];
	g_autofree char *kind = kind_of(key);
	g_autofree guint *order = by_cost(trial);
	GString *text = g_string_new(NULL);
	enum outcome outcome = outcome_of(trial, tried);

	g_string_append_printf(text, "%s %s: %s took", kind, name_of(key), trial->what);
	for (guint i = 0; i < MIN(trial->groups, GROUPS_TOLD); i++) {
		guint g = order[i];
		char ns[32];

		g_string_append_printf(text, "%s %s%s in %u recording%s (", i ? "," : "",
				       when_duration(ns, (int64_t) llround(trial->medians[g])),
				       i || trial->per_call ? "" : " of each second",
				       trial->members[g], trial->members[g] == 1 ? "" : "s");
		append_value(text, key, value_in(comparing, difference, key, trial->number[g]));
		g_string_append_c(text, ')');
	}
	if (trial->groups > GROUPS_TOLD)
		g_string_append_printf(text, ", and %u more", trial->groups - GROUPS_TOLD);
	if (outcome == GOES_WITH)
		g_string_append_printf(text, "; goes with it (p = %.2g, of %u tried)", trial->p,
				       tried);
	else
		g_string_append(text, outcome == CHANCE ? "; may be chance"
							: "; too few recordings to tell");
	if (difference->keys->len > 1)
		g_string_append_printf(text,
				       "; %u more differ%s between the same recordings, and may "
				       "be what matters",
				       difference->keys->len - 1,
				       difference->keys->len == 2 ? "s" : "");
	if (outcome == GOES_WITH && are_in_order(comparing, difference))
		g_string_append(text, "; so may what else changed with time, as these were "
				      "recorded one group after the other");
	return g_string_free(g_string_append_c(text, '.'), FALSE);
}

static json_t *groups_json(const struct comparing *comparing, const struct difference *difference)
{
	const struct trial *trial = told(difference);
	g_autofree guint *order = by_cost(trial);
	json_t *groups = json_array();

	for (guint i = 0; i < trial->groups; i++) {
		json_t *values = json_array();
		guint g = order[i];

		for (guint k = 0; k < MIN(difference->keys->len, SETTINGS_TOLD); k++) {
			const char *value = value_in(comparing, difference,
						     difference->keys->pdata[k], trial->number[g]);

			json_array_append_new(values, value ? json_string(value) : json_null());
		}
		json_array_append_new(groups,
				      json_pack("{s:i,s:I,s:o}", "traces", (int) trial->members[g],
						"ns", (json_int_t) llround(trial->medians[g]),
						"values", values));
	}
	return groups;
}

static json_t *difference_json(const struct comparing *comparing,
			       const struct difference *difference, guint tried)
{
	const struct trial *trial = told(difference);
	json_t *object = json_object(), *list = json_array();

	for (guint i = 0; i < MIN(difference->keys->len, SETTINGS_TOLD); i++) {
		const char *key = difference->keys->pdata[i];
		g_autofree char *kind = kind_of(key);

		json_array_append_new(list,
				      json_pack("{s:s,s:s}", "kind", kind, "name", name_of(key)));
	}
	json_object_set_new(object, "settings", list);
	if (difference->keys->len > SETTINGS_TOLD)
		json_object_set_new(object, "settings_omitted",
				    json_integer(difference->keys->len - SETTINGS_TOLD));
	json_object_set_new(object, "outcome",
			    json_string(outcomes[outcome_told(difference, tried)]));
	if (trial) {
		g_autofree char *said = sentence(comparing, difference, tried);

		json_object_set_new(object, "cost", json_string(trial->what));
		json_object_set_new(object, "of",
				    json_string(trial->per_call ? "operation" : "second"));
		json_object_set_new(object, "ns", json_integer((json_int_t) llround(trial->gap)));
		json_object_set_new(object, "p", json_real(trial->p));
		json_object_set_new(object, "in_order",
				    json_boolean(are_in_order(comparing, difference)));
		json_object_set_new(object, "groups", groups_json(comparing, difference));
		json_object_set_new(object, "sentence", json_string(said));
	}
	return object;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static void add_files(struct comparing *comparing, GHashTable *values)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, values);
	while (g_hash_table_iter_next(&iter, &key, &value))
		if (g_str_has_prefix(key, SETTINGS_READ "\t") && value != setting_none)
			touched_add_file(comparing->touched, name_of(key), value);
}

/* Costs, files and operations of all recordings. */
static void collect(struct comparing *comparing)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GHashTable *base = NULL;

	for (guint i = 0; i < comparing->recordings->len; i++) {
		const struct recording *at = recording_at(comparing, i);
		const char *name;
		json_t *ns;

		json_object_foreach(at->costs, name, ns)
			touched_add_cost(comparing->touched, name, json_integer_value(ns));
		json_object_foreach(at->means, name,
				    ns) if (g_hash_table_add(seen, (gpointer) name))
			g_ptr_array_add(comparing->means, g_strdup(name));
		add_files(comparing, at->own);
		if (at->base && !base)
			add_files(comparing, base = at->base);
	}
	g_ptr_array_sort(comparing->means, by_text);
}

json_t *groups_differences(const GPtrArray *recordings, const GPtrArray *keys, guint *tried,
			   guint *names)
{
	struct comparing comparing = {
		.recordings = recordings,
		.touched = touched_empty(),
		.differences = g_ptr_array_new_with_free_func(difference_free),
		.found = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					       (GDestroyNotify) g_bytes_unref, NULL),
		.means = g_ptr_array_new_with_free_func(g_free)};
	g_autofree uint16_t *group = g_new(uint16_t, recordings->len + 1);
	json_t *list = json_array();

	collect(&comparing);
	*names = 0;
	for (guint i = 0; i < keys->len; i++) {
		guint could, values = number_values(&comparing, keys->pdata[i], group, &could);

		if (values < 2)
			continue;
		if (values > NAMES * could && could > 2)
			++*names;
		else
			add_key(&comparing, keys->pdata[i], group, values);
	}
	for (guint i = 0; i < comparing.differences->len; i++)
		try_difference(&comparing, g_ptr_array_index(comparing.differences, i));
	*tried = correct(&comparing);
	g_ptr_array_sort_with_data(comparing.differences, most_first, tried);
	for (guint i = 0; i < MIN(comparing.differences->len, DIFFERENCES_TOLD); i++)
		json_array_append_new(
			list, difference_json(&comparing, comparing.differences->pdata[i], *tried));
	g_hash_table_destroy(comparing.found);
	g_ptr_array_free(comparing.differences, TRUE);
	g_ptr_array_free(comparing.means, TRUE);
	touched_free(comparing.touched);
	return list;
}
