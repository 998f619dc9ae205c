/* SPDX-License-Identifier: MIT */
/* Counting operations into profiles; see profile.h. */
#include "latencies/profile.h"
#include "latencies/rhythm.h"

#include <math.h>
#include <string.h>

#include "latencies/root_tree.h"
#include "util/error.h"
#include "run/command.h"
#include "util/pattern.h"

#define LAPSES_MAX 10000
#define TURNS_MIN 10 /* of a thread: it loops */

static guint key_hash(gconstpointer key)
{
	const struct profile *profile = key;

	return profile->what * 2654435761u ^ profile->split * 40503u;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct profile *x = a, *y = b;

	return x->what == y->what && x->split == y->split;
}

static void lapse_clear(gpointer data)
{
	g_free(((struct lapse *) data)->counts);
}

static void peak_clear(gpointer data)
{
	struct peak *peak = data;

	part_free(peak->tree);
	rhythm_free(peak->rhythm);
	sampled_clear(&peak->most_sampled);
	if (peak->roots)
		g_array_free(peak->roots, TRUE);
}

void profile_free(gpointer data)
{
	struct profile *profile = data;

	g_free(profile->operation);
	g_free(profile->label);
	g_free(profile->scope);
	g_free(profile->counts);
	if (profile->peaks)
		g_array_free(profile->peaks, TRUE);
	if (profile->lapses)
		g_array_free(profile->lapses, TRUE);
	g_free(profile);
}

/* What its profiles are of: turns of different threads have little in common. */
static enum per per_of(const struct session *session, const struct operation *operation)
{
	const struct options *options = session->asked.options;

	return PACK_KIND(operation->what) == OPERATION_BUSY && turns_unasked(options)
		       ? PER_THREAD
		       : options->profile.per;
}

/* "nginx (1234)", "/etc/passwd", "CPU 1": what the profile is of; with the
 * host where there are several. Two lives of one TID and name are one. */
static char *scope_text(const struct session *session, const struct operation *operation)
{
	const struct thread *thread =
		operation_has_thread(operation)
			? model_thread(&session->trace.model, operation->thread)
			: NULL;
	uint16_t host = model_operation_host(&session->trace.model, operation);
	const char *hostname = session->trace.model.hosts->len > 1
				       ? model_host(&session->trace.model, host)->hostname
				       : NULL;
	const char *on = hostname ? " of " : "", *name = hostname ? hostname : "";
	uint32_t resource, leader;

	switch (per_of(session, operation)) {
	case PER_THREAD:
		return thread ? g_strdup_printf("%s (%d)%s%s",
						session_thread_name(session, operation->thread),
						thread->tid, on, name)
			      : g_strdup_printf("no thread%s%s", on, name);
	case PER_PROCESS:
		if (!thread || thread->pid < 0)
			return g_strdup_printf("%s%s%s",
					       thread ? "process not known" : "no process", on,
					       name);
		leader = idmap_get(&model_host(&session->trace.model, host)->tids,
				   (uint32_t) thread->pid); /* its newest life */
		return g_strdup_printf(
			"%s (%d)%s%s",
			session_thread_name(session,
					    leader == IDMAP_NONE ? operation->thread : leader),
			thread->pid, on, name);
	case PER_RESOURCE:
		resource = operation_resource(session, operation);
		return g_strdup(resource ? session_text(session, resource) : "no resource");
	case PER_CPU:
		if (operation->cpu == OPERATION_CPU_UNKNOWN)
			return g_strdup_printf("CPU not known%s%s", on, name);
		return g_strdup_printf("CPU %u%s%s%s", (guint) operation->cpu,
				       operation->cpu == OPERATION_CPU_MAX ? " or higher" : "", on,
				       name);
	default:
		return g_strdup("");
	}
}

/* What tells the profiles of one operation apart: the interned text of their
 * scope; one of a thread is made once. */
static uint32_t split_of(struct profiles *profiles, const struct operation *operation)
{
	const struct session *session = profiles->session;
	enum per per = per_of(session, operation);
	bool by_thread = per == PER_THREAD || per == PER_PROCESS;
	uint32_t place = operation_has_thread(operation) ? operation->thread + 1 : 0, *known = NULL;
	g_autofree char *text = NULL;

	if (per == PER_NOTHING)
		return 0;
	if (by_thread) {
		if (place >= profiles->splits->len)
			g_array_set_size(profiles->splits, place + 1);
		known = &g_array_index(profiles->splits, uint32_t, place);
		if (*known && place)
			return *known;
	}
	text = scope_text(session, operation);
	place = intern_id(session->trace.model.names, text);
	if (known)
		*known = place;
	return place;
}

struct profile *profile_add(struct profiles *profiles, const char *operation, enum per per,
			    const char *scope)
{
	struct profile *profile = g_new0(struct profile, 1);

	profile->operation = g_strdup(operation);
	profile->what = UINT32_MAX;
	profile->thread = NO_THREAD;
	profile->per = per;
	profile->scope = g_strdup(scope);
	profile->min = INT64_MAX;
	profile->counts = g_new0(uint64_t, profiles->buckets.count);
	profile->peaks = g_array_new(FALSE, TRUE, sizeof(struct peak));
	g_array_set_clear_func(profile->peaks, peak_clear);
	if (profiles->lapse_step) {
		profile->lapses = g_array_new(FALSE, TRUE, sizeof(struct lapse));
		g_array_set_clear_func(profile->lapses, lapse_clear);
	}
	profile->place = profiles->by_place->len;
	g_ptr_array_add(profiles->by_place, profile);
	g_ptr_array_add(profiles->list, profile);
	return profile;
}

static struct profile *profile_new(struct profiles *profiles, const struct operation *operation)
{
	const struct session *session = profiles->session;
	uint32_t what = operation_what(session, operation);
	g_autofree char *name = operation_name(session, what);
	uint32_t split = split_of(profiles, operation);
	struct profile *profile = profile_add(profiles, name, per_of(session, operation),
					      session_text(session, split));

	profile->label = operation_label(session, operation);
	profile->what = what;
	profile->split = split;
	profile->thread = operation_has_thread(operation) ? operation->thread : NO_THREAD;
	g_hash_table_insert(profiles->index, profile, profile);
	return profile;
}

/* The profile of an operation in scope; NULL if there is none yet. */
static struct profile *look_up(struct profiles *profiles, const struct operation *operation)
{
	uint32_t what = operation_what(profiles->session, operation);
	guint place = (what ^ what >> PACK_BITS) % SCOPE_RECENT;
	struct profile *profile = profiles->recent[place], key = {.what = what};

	key.split = split_of(profiles, operation);
	if (profile && key_equal(profile, &key))
		return profile;
	profile = g_hash_table_lookup(profiles->index, &key);
	profiles->recent[place] = profile;
	return profile;
}

/* Most records are of kinds that were only recorded to be parts of others. */
static bool kind_wanted(const struct profiles *profiles, const struct operation *operation)
{
	return profiles->session->trace.flow.operations_wanted & 1u << PACK_KIND(operation->what);
}

#define PLACES_BYTES (4u << 20) /* in memory; more leaves it */

/* What is kept of an operation: 0: not looked up, 1: it is in no profile, else its profile's place
 * and 2. */
static uint32_t *kept_of(struct profiles *profiles, uint32_t number)
{
	while (profiles->places.used <= number)
		pages_reserve(&profiles->places, PAGES_SEGMENT);
	pages_pass(&profiles->places, number);
	return pages_at(&profiles->places, number);
}

struct profile *profile_of(struct profiles *profiles, const struct operation *operation,
			   uint32_t number)
{
	struct profile *profile = NULL;
	uint32_t *kept;

	if (!kind_wanted(profiles, operation))
		return NULL;
	kept = kept_of(profiles, number);
	if (*kept)
		return *kept == 1 ? NULL : g_ptr_array_index(profiles->by_place, *kept - 2);
	if (operation_in_scope(&profiles->scope, operation, number))
		profile = look_up(profiles, operation);
	*kept = profile ? profile->place + 2 : 1;
	return profile;
}

static void count_lapse(const struct profiles *profiles, struct profile *profile, guint bucket,
			int64_t begin)
{
	guint row = (guint) ((begin - profiles->session->asked.from) / profiles->lapse_step);
	struct lapse *lapse;

	if (row >= profile->lapses->len)
		g_array_set_size(profile->lapses, row + 1);
	lapse = &g_array_index(profile->lapses, struct lapse, row);
	if (!lapse->counts)
		lapse->counts = g_new0(uint64_t, profiles->buckets.count);
	lapse->counts[bucket]++;
}

static int64_t length_of(const struct profiles *profiles, const struct operation *operation)
{
	return profiles->lengths ? profiles->lengths->of(operation, profiles->lengths->data)
				 : (int64_t) operation->duration;
}

static void count_in(struct profiles *profiles, struct profile *profile,
		     const struct operation *operation)
{
	int64_t latency = length_of(profiles, operation);
	guint bucket = bucket_of(&profiles->buckets, latency);

	profile->count++;
	profile->spans_gap += operation_spans_gap(profiles->session, operation);
	profile->sum += latency;
	profile->min = MIN(profile->min, latency);
	profile->max = MAX(profile->max, latency);
	profile->counts[bucket]++;
	if (profiles->lapse_step)
		count_lapse(profiles, profile, bucket, operation->begin);
}

/* What is looked up is kept, of those in no profile as well: several threads ask then (parts/). */
static void count_operation(struct profiles *profiles, uint32_t number)
{
	const struct operation *operation =
		operation_at(&profiles->session->trace.timeline.operations, number);
	struct profile *profile;

	if (!operation_in_scope(&profiles->scope, operation, number)) {
		if (kind_wanted(profiles, operation))
			*kept_of(profiles, number) = 1;
		return;
	}
	profile = look_up(profiles, operation);
	if (!profile)
		profile = profile_new(profiles, operation);
	count_in(profiles, profile, operation);
	*kept_of(profiles, number) = profile->place + 2;
}

/* The search for one percentile: the value of `rank` lies in [low, low + 2^bits). Each
 * pass over the operations tells so many bits more as its bins count. */
struct quantile {
	uint64_t rank; /* 1-based, among those from `low` on */
	int64_t low;
	int bits;
};

#define PASS_BITS_MIN 8
#define PASS_BITS_MAX 13
#define BINS_BYTES (4u << 20) /* of all quantiles, if PASS_BITS_MIN allows */

/* The percentiles of all profiles at once. */
struct search {
	struct quantile *quantiles; /* owned; 3 a profile */
	uint32_t *bins;             /* owned; 2^pass_bits a quantile */
	guint count;
	int pass_bits;
};

static const unsigned percents[] = {50, 90, 99};

static int quantile_shift(const struct search *search, const struct quantile *quantile)
{
	return MAX(quantile->bits - search->pass_bits, 0);
}

static void quantile_count(const struct search *search, guint place, int64_t latency)
{
	const struct quantile *quantile = &search->quantiles[place];
	int64_t offset = latency - quantile->low;

	if (offset >= 0 && quantile->bits > 0 && offset < INT64_C(1) << quantile->bits)
		search->bins[((size_t) place << search->pass_bits) +
			     (size_t) (offset >> quantile_shift(search, quantile))]++;
}

/* One pass is over: into the bin that holds the rank. False: found. */
static bool quantile_narrow(const struct search *search, guint place)
{
	struct quantile *quantile = &search->quantiles[place];
	const uint32_t *bins = search->bins + ((size_t) place << search->pass_bits);
	int shift = quantile_shift(search, quantile);
	guint bin = 0;

	if (quantile->bits <= 0)
		return false;
	while (quantile->rank > bins[bin])
		quantile->rank -= bins[bin++];
	quantile->low += (int64_t) bin << shift;
	quantile->bits = shift;
	return shift > 0;
}

/* The bucket that holds the rank is where the search begins. */
static void quantile_begin(struct quantile *quantile, const struct profile *profile,
			   const struct buckets *buckets, unsigned percent)
{
	guint bucket = 0;

	quantile->rank = MAX((profile->count * percent + 99) / 100, 1);
	while (quantile->rank > profile->counts[bucket])
		quantile->rank -= profile->counts[bucket++];
	quantile->low = buckets->from[bucket];
	quantile->bits = 0;
	while ((INT64_C(1) << quantile->bits) < buckets->from[bucket + 1] - quantile->low &&
	       quantile->bits < 62)
		quantile->bits++;
}

static void search_pass(struct profiles *profiles, struct search *search)
{
	const struct pages *store = &profiles->session->trace.timeline.operations;

	memset(search->bins, 0, (sizeof *search->bins * search->count) << search->pass_bits);
	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct profile *profile = profile_of(profiles, operation, i);
		int64_t length = profile ? length_of(profiles, operation) : 0;

		pages_pass(store, i);
		for (guint q = 0; profile && q < G_N_ELEMENTS(percents); q++)
			quantile_count(search, profile->place * G_N_ELEMENTS(percents) + q, length);
	}
}

static void find_percentiles(struct profiles *profiles)
{
	guint each = G_N_ELEMENTS(percents);
	struct search search = {.count = profiles->list->len * each, .pass_bits = PASS_BITS_MAX};
	bool more = search.count > 0;

	while (search.pass_bits > PASS_BITS_MIN &&
	       (sizeof *search.bins * search.count) << search.pass_bits > BINS_BYTES)
		search.pass_bits--;
	search.quantiles = g_new(struct quantile, search.count + 1);
	search.bins = g_malloc((sizeof *search.bins * search.count) << search.pass_bits);
	for (guint i = 0; i < search.count; i++)
		quantile_begin(&search.quantiles[i], g_ptr_array_index(profiles->list, i / each),
			       &profiles->buckets, percents[i % each]);
	while (more) {
		more = false;
		search_pass(profiles, &search);
		for (guint i = 0; i < search.count; i++)
			more |= quantile_narrow(&search, i);
	}
	for (guint i = 0; i < search.count; i++)
		((struct profile *) g_ptr_array_index(profiles->list, i / each))
			->percentiles[i % each] = search.quantiles[i].low;
	g_free(search.quantiles);
	g_free(search.bins);
}

void profile_find_peaks(struct profile *profile, const struct buckets *buckets)
{
	GArray *ranges = peaks_find(profile->counts, buckets->count, buckets->resolution);

	g_array_set_size(profile->peaks, 0);
	for (guint i = 0; i < ranges->len; i++) {
		struct peak peak = {.range = g_array_index(ranges, struct peak_range, i)};

		for (guint b = peak.range.first; b <= peak.range.last; b++)
			peak.count += profile->counts[b];
		g_array_append_val(profile->peaks, peak);
	}
	g_array_free(ranges, TRUE);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct profile *x = *(struct profile *const *) a, *y = *(struct profile *const *) b;
	int order = strcmp(x->operation, y->operation);

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return order ? order : strcmp(x->scope, y->scope);
}

void profiles_sort(struct profiles *profiles)
{
	g_ptr_array_sort(profiles->list, largest_first);
}

/* Of turns that nobody asked for, those of a thread that loops and at times takes longer are worth
 * a profile; the tracer's are not. */
static bool is_unasked(const struct profiles *profiles, const struct profile *profile,
		       const bool *tracers)
{
	if (!turns_unasked(profiles->session->asked.options) ||
	    PACK_KIND(profile->what) != OPERATION_BUSY)
		return false;
	return profile->count < TURNS_MIN || profile->peaks->len < 2 ||
	       (is_thread(profile->thread) && tracers[profile->thread]);
}

static void leave_out_unasked(struct profiles *profiles)
{
	g_autofree bool *tracers = session_tracers(profiles->session);

	for (guint i = profiles->list->len; i-- > 0;) {
		struct profile *profile = g_ptr_array_index(profiles->list, i);

		if (!is_unasked(profiles, profile, tracers))
			continue;
		g_hash_table_remove(profiles->index, profile);
		g_ptr_array_index(profiles->by_place, profile->place) = NULL;
		g_ptr_array_remove_index(profiles->list, i);
	}
	memset(profiles->recent, 0, sizeof profiles->recent);
}

static bool check_peak(const struct profiles *profiles, GError **error)
{
	uint32_t wanted = profiles->session->asked.options->profile.peak, most = 0;

	for (guint i = 0; i < profiles->list->len; i++)
		most = MAX(most,
			   ((struct profile *) g_ptr_array_index(profiles->list, i))->peaks->len);
	if (wanted <= most || !profiles->list->len)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--peak '%u': no profile has more than %u peak%s", wanted, most,
		    most == 1 ? "" : "s");
	return false;
}

static bool check_lapses(const struct profiles *profiles, GError **error)
{
	int64_t window = profiles->session->asked.to - profiles->session->asked.from;

	if (!profiles->lapse_step || window / profiles->lapse_step < LAPSES_MAX)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--time-lapse: the window would have %" G_GINT64_FORMAT
		    " segments; at most %d: take a longer step, or --from and --to",
		    window / profiles->lapse_step + 1, LAPSES_MAX);
	return false;
}

/* Every pattern that was given names something that the trace has, be it out
 * of the window or of other threads. */
static bool check_patterns(const struct profiles *profiles, GError **error)
{
	const struct session *session = profiles->session;
	const GPtrArray *patterns = session->asked.options->profile.operations;

	/* of what nobody asked for the trace may have none */
	for (guint i = 0; i < patterns->len && !session->asked.options->assumed; i++) {
		g_autofree char *pattern = operation_pattern_name(g_ptr_array_index(patterns, i));
		struct nearest nearest = {.wanted = pattern};
		g_autofree char *near = NULL, *all = NULL;
		GHashTableIter iter;
		gpointer key;
		bool found = false;

		g_hash_table_iter_init(&iter, profiles->scope.wanted);
		while (!found && g_hash_table_iter_next(&iter, &key, NULL)) {
			g_autofree char *name = operation_name(session, GPOINTER_TO_UINT(key) - 1);

			found = pattern_match(pattern, name);
			nearest_offer(&nearest, name);
		}
		near = nearest_list(&nearest, "; it has ");
		if (found || !*near)
			continue; /* a trace without any has nothing to be wrong about */
		all = suggested_command(session, &(struct suggestion) {.command = "profile",
								       .option = "operation",
								       .value = "*"});
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--operation '%s': the trace has no such operation%s (%s lists them)",
			    pattern, near, all);
		return false;
	}
	return true;
}

struct profiles *profiles_new(const struct session *session, guint resolution, GError **error)
{
	const struct pages *store = &session->trace.timeline.operations;
	struct profiles *profiles = g_new0(struct profiles, 1);

	profiles->session = session;
	profiles->lapse_step = session->asked.options->profile.time_lapse;
	profiles->list = g_ptr_array_new_with_free_func(profile_free);
	profiles->index = g_hash_table_new(key_hash, key_equal);
	profiles->splits = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	profiles->by_place = g_ptr_array_new();
	pages_init(&profiles->places, sizeof(uint32_t), PLACES_BYTES);
	buckets_init(&profiles->buckets, resolution);
	operation_scope_init(&profiles->scope, session);
	if (!check_lapses(profiles, error)) {
		profiles_free(profiles);
		return NULL;
	}
	for (uint32_t i = 1; i < store->used; i++) {
		pages_pass(store, i);
		count_operation(profiles, i);
	}
	if (!check_patterns(profiles, error) || !operation_scope_check(&profiles->scope, error)) {
		profiles_free(profiles);
		return NULL;
	}
	find_percentiles(profiles);
	for (guint i = 0; i < profiles->list->len; i++)
		profile_find_peaks(g_ptr_array_index(profiles->list, i), &profiles->buckets);
	leave_out_unasked(profiles);
	if (!profiles->list->len && session->asked.options->profile.resource) {
		g_autofree char *near = operations_near_resources(session);

		g_set_error(
			error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			"--resource '%s': no operation that was asked for is on such a resource, "
			"or waited for it%s (--per resource shows them)",
			session->asked.options->profile.resource, near);
		profiles_free(profiles);
		return NULL;
	}
	if (!check_peak(profiles, error)) {
		profiles_free(profiles);
		return NULL;
	}
	profiles_sort(profiles);
	return profiles;
}

/* An empty one of the same operations. */
static void add_like(struct profiles *profiles, const struct profile *like)
{
	struct profile *profile = profile_add(profiles, like->operation, like->per, like->scope);

	profile->label = g_strdup(like->label);
	profile->what = like->what;
	profile->split = like->split;
	profile->thread = like->thread;
	g_hash_table_insert(profiles->index, profile, profile);
}

struct profiles *profiles_of_lengths(const struct profiles *like,
				     const struct operation_lengths *lengths)
{
	const struct pages *store = &like->session->trace.timeline.operations;
	struct profiles *profiles = g_new0(struct profiles, 1);

	profiles->session = like->session;
	profiles->lengths = lengths;
	profiles->list = g_ptr_array_new_with_free_func(profile_free);
	profiles->index = g_hash_table_new(key_hash, key_equal);
	profiles->splits = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	profiles->by_place = g_ptr_array_new();
	pages_init(&profiles->places, sizeof(uint32_t), PLACES_BYTES);
	buckets_init(&profiles->buckets, like->buckets.resolution);
	operation_scope_init(&profiles->scope, like->session);
	for (guint i = 0; i < like->list->len; i++)
		add_like(profiles, g_ptr_array_index(like->list, i));
	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct profile *profile = profile_of(profiles, operation, i);

		pages_pass(store, i);
		if (!profile)
			continue;
		count_in(profiles, profile, operation);
		lengths->counted(profile->place, operation, lengths->data);
	}
	find_percentiles(profiles);
	for (guint i = 0; i < profiles->list->len; i++)
		profile_find_peaks(g_ptr_array_index(profiles->list, i), &profiles->buckets);
	return profiles;
}

void profiles_free(struct profiles *profiles)
{
	if (!profiles)
		return;
	g_ptr_array_free(profiles->list, TRUE);
	g_hash_table_destroy(profiles->index);
	g_array_free(profiles->splits, TRUE);
	g_ptr_array_free(profiles->by_place, TRUE);
	pages_clear(&profiles->places);
	operation_scope_clear(&profiles->scope);
	buckets_clear(&profiles->buckets);
	g_free(profiles);
}

static double sum_of(const uint64_t *counts, guint length)
{
	double sum = 0;

	for (guint i = 0; i < length; i++)
		sum += (double) counts[i];
	return sum;
}

double profile_distance(const uint64_t *a, const uint64_t *b, guint length, guint resolution)
{
	double sum_a = sum_of(a, length), sum_b = sum_of(b, length), area = 0, apart = 0;

	if (sum_a <= 0 || sum_b <= 0)
		return 0;
	for (guint i = 0; i < length; i++) {
		apart += (double) a[i] / sum_a - (double) b[i] / sum_b;
		area += fabs(apart);
	}
	return area / resolution;
}

double profile_slower(const uint64_t *a, const uint64_t *b, guint length, guint resolution)
{
	double sum_a = sum_of(a, length), sum_b = sum_of(b, length), moved = 0;

	if (sum_a <= 0 || sum_b <= 0)
		return 0;
	for (guint i = 0; i < length; i++)
		moved += i * ((double) a[i] / sum_a - (double) b[i] / sum_b);
	return moved / resolution;
}

double profile_noise(const uint64_t *a, const uint64_t *b, guint length, guint resolution)
{
	double sum_a = sum_of(a, length), sum_b = sum_of(b, length), share = 0, area = 0;

	if (sum_a <= 0 || sum_b <= 0)
		return 0;
	for (guint i = 0; i < length; i++) {
		share += ((double) a[i] + (double) b[i]) / (sum_a + sum_b);
		area += sqrt(MAX(share * (1 - share), 0) * (1 / sum_a + 1 / sum_b));
	}
	return 2 * area / resolution;
}

const char *peak_status_text(enum peak_status status)
{
	static const char *const texts[] = {"root cause found", "maximum depth reached",
					    "too few operations"};

	return texts[status];
}
