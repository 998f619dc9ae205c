/* SPDX-License-Identifier: MIT */
/* Reading saved profiles; see saved.h.
 *
 * The file is a report as any program may have changed it: whatever is
 * missing or of another type is refused, naming the place.
 */
#include "profile/saved.h"

#include "run/anonymise.h"

#include <jansson.h>
#include <string.h>

#include "latencies/roots.h"
#include "util/error.h"
#include "util/pattern.h"

struct saved {
	char *option, *path;  /* owned */
	json_t *file, *list;  /* owned; borrowed from it */
	guint resolution;
};

#define VALUE_MAX (INT64_C(1) << 53) /* sums of these do not overflow */

#define REFUSE(saved, ...) refuse(saved, error, __VA_ARGS__)

static bool G_GNUC_PRINTF(3, 4)
	refuse(const struct saved *saved, GError **error, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--%s %s: %s", saved->option,
		    saved->path, text);
	g_free(text);
	return false;
}

static bool get_integer(const json_t *object, const char *key, int64_t least, int64_t *value)
{
	const json_t *member = json_object_get(object, key);

	*value = json_integer_value(member);
	return json_is_integer(member) && *value >= least && *value <= VALUE_MAX;
}

/* The one text in a scope, "" if there is none. */
static const char *scope_of(const json_t *profile)
{
	json_t *scope = json_object_get(profile, "scope"), *value;
	const char *key;

	json_object_foreach(scope, key, value) return json_is_string(value)
		? json_string_value(value)
		: "";
	return "";
}

static const char *operation_of(const json_t *profile)
{
	return json_string_value(json_object_get(profile, "operation"));
}

/* What a profile is known by in both places. */
static char *name_of(const char *operation, const char *scope)
{
	return g_strconcat(operation, "\n", scope, NULL);
}

static enum per per_of(const json_t *profile)
{
	static const char *const keys[] = {"thread", "process", "resource", "cpu"};

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (json_object_get(json_object_get(profile, "scope"), keys[i]))
			return (enum per)(i + PER_THREAD);
	return PER_NOTHING;
}

static bool counts_of(const json_t *profile, uint64_t *counts, guint length)
{
	const json_t *buckets = json_object_get(profile, "buckets");
	int64_t bucket, count;

	memset(counts, 0, length * sizeof *counts);
	if (!json_is_array(buckets))
		return false;
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *at = json_array_get(buckets, i);

		if (!get_integer(at, "bucket", 0, &bucket) || bucket >= length ||
		    !get_integer(at, "count", 0, &count))
			return false;
		counts[bucket] += (uint64_t) count;
	}
	return true;
}

/* Anything below says that --limit left something out. */
static bool has_omitted(const json_t *from, int depth)
{
	json_t *value;
	const char *key;

	if (depth > 200)
		return false;
	if (json_is_array(from)) {
		for (size_t i = 0; i < json_array_size(from); i++)
			if (has_omitted(json_array_get(from, i), depth + 1))
				return true;
		return false;
	}
	json_object_foreach((json_t *) from, key,
			    value) if (g_str_has_suffix(key, "_omitted") ||
				       has_omitted(value, depth + 1)) return true;
	return false;
}

static bool check_profile(struct saved *saved, const json_t *profile, size_t at, GError **error)
{
	uint64_t counts[63 * 16];
	int64_t number, resolution;

	if (has_omitted(profile, 0))
		return REFUSE(saved, "is a report that --limit cut short: take what --save wrote");
	if (!json_is_string(json_object_get(profile, "operation")))
		return REFUSE(saved, "profile %zu has no operation", at);
	if (!get_integer(profile, "resolution", 1, &resolution) || resolution > 16 ||
	    (at && (guint) resolution != saved->resolution))
		return REFUSE(saved, "profile %zu has no resolution, or not that of the first one",
			      at);
	saved->resolution = (guint) resolution;
	if (!get_integer(profile, "count", 0, &number) ||
	    !get_integer(profile, "sum_ns", 0, &number) ||
	    !get_integer(profile, "min_ns", 0, &number) ||
	    !get_integer(profile, "max_ns", 0, &number) ||
	    !counts_of(profile, counts, 63 * saved->resolution))
		return REFUSE(saved, "profile %zu lacks count, sum_ns, min_ns, max_ns or buckets",
			      at);
	return true;
}

static bool check_file(struct saved *saved, GError **error)
{
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const char *schema = json_string_value(json_object_get(saved->file, "schema"));

	if (!schema || strcmp(schema, "whylate-profile-1") != 0)
		return REFUSE(saved, "is not a file that whylate profile --save wrote");
	saved->list = json_object_get(saved->file, "profiles");
	if (!json_is_array(saved->list))
		return REFUSE(saved, "has no profiles");
	if (json_object_get(saved->file, "profiles_omitted"))
		return REFUSE(saved, "is a report that --limit cut short: take what --save wrote");
	for (size_t i = 0; i < json_array_size(saved->list); i++) {
		const json_t *profile = json_array_get(saved->list, i);

		if (!check_profile(saved, profile, i, error))
			return false;
		if (!g_hash_table_add(names, name_of(operation_of(profile), scope_of(profile))))
			return REFUSE(saved, "has two profiles of %s", operation_of(profile));
	}
	return true;
}

struct saved *saved_new(const char *option, const char *path, GError **error)
{
	struct saved *saved = g_new0(struct saved, 1);
	json_error_t wrong;
	bool ok;

	saved->option = g_strdup(option);
	saved->path = g_strdup(path);
	saved->resolution = 1;
	saved->file = json_load_file(path, 0, &wrong);
	if (saved->file)
		ok = check_file(saved, error);
	else if (wrong.line > 0)
		ok = REFUSE(saved, "is not JSON: line %d: %s", wrong.line, wrong.text);
	else
		ok = REFUSE(saved, "%s", wrong.text);
	if (ok)
		return saved;
	saved_free(saved);
	return NULL;
}

void saved_free(struct saved *saved)
{
	if (!saved)
		return;
	json_decref(saved->file);
	g_free(saved->option);
	g_free(saved->path);
	g_free(saved);
}

/* The text of what narrows the operations down besides their names. */
char *saved_filters(const struct options *options)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < options->threads->len; i++)
		g_string_append_printf(text, " --thread %s",
				       option_shown(options, ANONYMOUS_THREAD,
						    g_ptr_array_index(options->threads, i)));
	for (guint i = 0; i < options->processes->len; i++)
		g_string_append_printf(text, " --process %s",
				       option_shown(options, ANONYMOUS_THREAD,
						    g_ptr_array_index(options->processes, i)));
	if (options->profile.resource)
		g_string_append_printf(text, " --resource %s",
				       option_shown(options, ANONYMOUS_NAME,
						    options->profile.resource));
	if (options->container)
		g_string_append_printf(text, " --container %s",
				       option_shown(options, ANONYMOUS_THREAD, options->container));
	if (options->host)
		g_string_append_printf(text, " --host %s",
				       option_shown(options, ANONYMOUS_HOST, options->host));
	return g_string_free(text, FALSE);
}

char *saved_other_filters(const struct saved *saved, const struct options *options)
{
	const char *theirs = json_string_value(json_object_get(saved->file, "filters"));
	g_autofree char *ours = saved_filters(options);

	if (!theirs || strcmp(theirs, ours) == 0)
		return NULL;
	return g_strdup_printf("it was saved with%s, and this run is with%s: the operations are "
			       "not of the same threads or resources",
			       *theirs ? theirs : " everything", *ours ? ours : " everything");
}

bool saved_check_options(const struct saved *saved, const struct options *options, GError **error)
{
	static const char *const words[] = {"without --per", "--per thread", "--per process",
					    "--per resource", "--per cpu"};
	enum per per;

	if (options->profile.resolution && options->profile.resolution != saved->resolution)
		return REFUSE(saved, "its resolution is %u, and --resolution asks for %u",
			      saved->resolution, options->profile.resolution);
	for (size_t i = 0; i < json_array_size(saved->list); i++) {
		per = per_of(json_array_get(saved->list, i));
		if (per != options->profile.per)
			return REFUSE(saved, "it was saved %s, and this run is %s", words[per],
				      words[options->profile.per]);
	}
	return true;
}

guint saved_resolution(const struct saved *saved)
{
	return saved->resolution;
}

/* This trace's profiles by name. */
static GHashTable *by_name(const struct profiles *profiles)
{
	GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < profiles->list->len; i++) {
		struct profile *profile = g_ptr_array_index(profiles->list, i);

		g_hash_table_insert(table, name_of(profile->operation, profile->scope), profile);
	}
	return table;
}

static struct profile *find_profile(GHashTable *table, const json_t *saved)
{
	g_autofree char *name = name_of(operation_of(saved), scope_of(saved));

	return g_hash_table_lookup(table, name);
}

bool saved_counts(const struct saved *saved, const struct profile *profile, uint64_t *counts,
		  guint length)
{
	g_autofree char *wanted = name_of(profile->operation, profile->scope);

	for (size_t i = 0; i < json_array_size(saved->list); i++) {
		const json_t *at = json_array_get(saved->list, i);
		g_autofree char *name = name_of(operation_of(at), scope_of(at));

		if (strcmp(name, wanted) == 0)
			return counts_of(at, counts, length);
	}
	return false;
}

/* Patterns that do not name it leave a saved operation out too. */
static bool asked_for(const struct session *session, const char *operation)
{
	const GPtrArray *patterns = session->asked.options->profile.operations;

	for (guint i = 0; i < patterns->len; i++)
		if (pattern_match(g_ptr_array_index(patterns, i), operation))
			return true;
	return !patterns->len;
}

static int farthest_first(gconstpointer a, gconstpointer b)
{
	const struct compared *x = a, *y = b;
	int order = strcmp(x->operation, y->operation);

	if (x->changed != y->changed)
		return x->changed ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance > y->distance ? -1 : 1;
	return order ? order : strcmp(x->scope, y->scope);
}

GArray *saved_compare(const struct saved *saved, const struct profiles *profiles)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct compared));
	g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) here_by_name = by_name(profiles);
	guint length = profiles->buckets.count;
	double threshold = profiles->session->asked.options->profile.threshold;
	g_autofree uint64_t *counts = g_new(uint64_t, length);

	for (size_t i = 0; i < json_array_size(saved->list); i++) {
		const json_t *there = json_array_get(saved->list, i);
		struct profile *here = find_profile(here_by_name, there);
		struct compared compared = {.operation = operation_of(there),
					    .scope = scope_of(there),
					    .per = per_of(there),
					    .distance = -1,
					    .noise = -1};

		if (!asked_for(profiles->session, compared.operation))
			continue;
		counts_of(there, counts, length);
		for (guint b = 0; b < length; b++)
			compared.saved_count += counts[b];
		if (here) {
			g_hash_table_add(met, here);
			compared.count = here->count;
			compared.distance = profile_distance(here->counts, counts, length,
							     profiles->buckets.resolution);
			compared.noise = profile_noise(here->counts, counts, length,
						       profiles->buckets.resolution);
			compared.slower = profile_slower(here->counts, counts, length,
							 profiles->buckets.resolution);
			compared.changed =
				compared.distance > threshold && compared.distance > compared.noise;
		}
		g_array_append_val(list, compared);
	}
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *here = g_ptr_array_index(profiles->list, i);
		struct compared compared = {.operation = here->operation,
					    .scope = here->scope,
					    .per = here->per,
					    .distance = -1,
					    .noise = -1,
					    .count = here->count};

		if (!g_hash_table_contains(met, here))
			g_array_append_val(list, compared);
	}
	g_array_sort(list, farthest_first);
	return list;
}

/* --- going on with a search ------------------------------------------------ */

/* A node and all below it; false: something is missing. */
static bool read_part(const json_t *from, struct part *part, const struct peak *peak, int depth)
{
	const json_t *children = json_object_get(from, "children");
	const json_t *by_bucket = json_object_get(from, "ns_by_bucket");
	const json_t *functions = json_object_get(from, "functions");
	const json_t *resources = json_object_get(from, "resources");
	int64_t maxcount, operations;

	if (!get_integer(from, "maxcount", 0, &maxcount) ||
	    !get_integer(from, "operations", 0, &operations) ||
	    !get_integer(from, "ns", 0, &part->ns) || depth > 80)
		return false;
	part->maxcount = (uint64_t) maxcount;
	part->operations = (uint64_t) operations;
	/* a leaf was all its own */
	part->own_maxcount = get_integer(from, "own_maxcount", 0, &maxcount) ? (uint64_t) maxcount
									     : part->operations;
	if (get_integer(from, "loops", 0, &maxcount))
		part->loops = (uint64_t) maxcount;
	if (!get_integer(from, "own_ns", 0, &part->own_ns))
		part->own_ns = part->ns;
	part->cut = json_is_true(json_object_get(from, "cut"));
	part->spans_gap = json_is_true(json_object_get(from, "spans_gap"));
	part->label = g_strdup(json_string_value(json_object_get(from, "label")));
	if (depth <= 1)
		part->by_bucket = g_new0(int64_t, peak->range.last - peak->range.first + 1);
	for (guint b = peak->range.first; part->by_bucket && b <= peak->range.last; b++) {
		char key[16];

		g_snprintf(key, sizeof key, "%u", b);
		if (json_object_get(by_bucket, key) &&
		    !get_integer(by_bucket, key, 0, &part->by_bucket[b - peak->range.first]))
			return false;
	}
	for (size_t i = 0; i < json_array_size(resources); i++) {
		const json_t *at = json_array_get(resources, i);
		const char *key = json_string_value(json_object_get(at, "resource"));
		int64_t ns, waits;

		if (!key || !get_integer(at, "ns", 0, &ns) || !get_integer(at, "waits", 0, &waits))
			return false;
		part_add_resource(part, key, ns, (uint64_t) waits);
	}
	for (size_t i = 0; i < json_array_size(functions); i++) {
		const char *text = json_string_value(json_array_get(functions, i));

		if (!part->functions)
			part->functions = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(part->functions, g_strdup(text ? text : "?"));
	}
	for (size_t i = 0; i < json_array_size(children); i++) {
		const json_t *child = json_array_get(children, i);
		const char *node = json_string_value(json_object_get(child, "node"));

		if (!node || !read_part(child, part_saved(part, node), peak, depth + 1))
			return false;
	}
	return true;
}

static bool read_peak(const json_t *from, struct peak *peak, const struct profile *profile,
		      guint length)
{
	const json_t *tree = json_object_get(from, "tree");
	int64_t first, mode, last, count, spans_gap = 0;

	if (!get_integer(from, "first_bucket", 0, &first) ||
	    !get_integer(from, "count", 0, &count) ||
	    !get_integer(from, "mode_bucket", first, &mode) ||
	    !get_integer(from, "last_bucket", mode, &last) || last >= length)
		return false;
	*peak = (struct peak) {.range = {(guint) first, (guint) mode, (guint) last}};
	for (guint b = peak->range.first; b <= peak->range.last; b++)
		peak->count += profile->counts[b]; /* both together */
	get_integer(from, "spans_gap", 0, &spans_gap);
	peak->spans_gap = (uint64_t) spans_gap;
	peak->tree = part_saved(NULL, profile->operation);
	return tree && get_integer(from, "sum_ns", 0, &peak->sum) &&
	       read_part(tree, peak->tree, peak, 0);
}

/* Adds the saved counts; the saved peaks take the place of the found ones. */
static bool add_profile(const struct saved *saved, const json_t *from, struct profiles *profiles,
			struct profile *profile, GError **error)
{
	const json_t *peaks = json_object_get(from, "peaks");
	g_autofree uint64_t *counts = g_new(uint64_t, profiles->buckets.count);

	counts_of(from, counts, profiles->buckets.count);
	for (guint b = 0; b < profiles->buckets.count; b++)
		profile->counts[b] += counts[b];
	profile->min = MIN(profile->min, json_integer_value(json_object_get(from, "min_ns")));
	profile->max = MAX(profile->max, json_integer_value(json_object_get(from, "max_ns")));
	profile->count += (uint64_t) json_integer_value(json_object_get(from, "count"));
	profile->sum += json_integer_value(json_object_get(from, "sum_ns"));
	profile->spans_gap +=
		(uint64_t) MAX(json_integer_value(json_object_get(from, "spans_gap")), 0);
	for (int i = 0; i < 3; i++)
		profile->percentiles[i] = -1; /* the values are not kept */
	g_array_set_size(profile->peaks, 0);
	for (size_t i = 0; i < json_array_size(peaks); i++) {
		struct peak peak = {0};
		bool ok = read_peak(json_array_get(peaks, i), &peak, profile,
				    profiles->buckets.count);

		g_array_append_val(profile->peaks, peak);
		if (!ok)
			return REFUSE(saved, "peak %zu of %s is not whole, or was not searched",
				      i + 1, profile->operation);
	}
	return true;
}

/* A recording counts once, unless its window is another. */
static bool not_in_it(const struct saved *saved, const struct session *session, GError **error)
{
	const json_t *runs = json_object_get(saved->file, "recordings");

	for (size_t i = 0; !session->asked.options->profile.force && i < json_array_size(runs);
	     i++) {
		const json_t *run = json_array_get(runs, i);
		const char *uuid = json_string_value(json_object_get(run, "trace_uuid"));
		/* times, which are no counts: they may be any number */
		json_int_t begin = json_integer_value(json_object_get(run, "begin")),
			   end = json_integer_value(json_object_get(run, "end"));

		if (!uuid || end <= session->asked.from || begin >= session->asked.to)
			continue;
		for (guint h = 0; h < session->trace.model.hosts->len; h++)
			if (g_strcmp0(model_host(&session->trace.model, h)->uuid, uuid) == 0)
				return REFUSE(saved, "it has this recording already, in a window "
						     "that overlaps (--force counts it again)");
	}
	return true;
}

json_t *saved_recordings(const struct saved *saved, const struct session *session)
{
	const json_t *before = saved ? json_object_get(saved->file, "recordings") : NULL;
	json_t *runs = json_is_array(before) ? json_deep_copy(before) : json_array();

	for (guint h = 0; h < session->trace.model.hosts->len; h++)
		json_array_append_new(runs, json_pack("{s:s?,s:I,s:I}", "trace_uuid",
						      model_host(&session->trace.model, h)->uuid,
						      "begin", (json_int_t) session->asked.from,
						      "end", (json_int_t) session->asked.to));
	return runs;
}

static bool unchanged(const struct saved *saved, const struct profiles *profiles, GError **error)
{
	const struct profile_options *options = &profiles->session->asked.options->profile;
	g_autoptr(GArray) list = NULL;

	if (options->force)
		return true;
	list = saved_compare(saved, profiles);
	for (guint i = 0; i < list->len; i++) {
		const struct compared *at = &g_array_index(list, struct compared, i);

		if (at->changed)
			return REFUSE(
				saved,
				"the latencies of %s%s%s are %.2f octaves from the saved "
				"ones, more than --threshold %.2f: it behaves differently here, "
				"and the searches should not be mixed (--force does)",
				at->operation, *at->scope ? ", " : "", at->scope, at->distance,
				options->threshold);
	}
	return true;
}

bool saved_resume(const struct saved *saved, struct profiles *profiles, GError **error)
{
	g_autofree char *other = saved_other_filters(saved, profiles->session->asked.options);
	g_autoptr(GHashTable) here_by_name = by_name(profiles);

	if (other && !profiles->session->asked.options->profile.force)
		return REFUSE(saved, "%s", other);
	if (!not_in_it(saved, profiles->session, error) || !unchanged(saved, profiles, error))
		return false;
	for (size_t i = 0; i < json_array_size(saved->list); i++) {
		const json_t *from = json_array_get(saved->list, i);
		struct profile *profile = find_profile(here_by_name, from);

		if (!profile)
			profile = profile_add(profiles, operation_of(from), per_of(from),
					      scope_of(from));
		if (!add_profile(saved, from, profiles, profile, error))
			return false;
	}
	profiles_sort(profiles);
	return true;
}
