/* SPDX-License-Identifier: MIT */
/* Gathering what rhythm.h compares; see rhythms.h. */
#include "latencies/rhythms.h"

#include <stdlib.h>
#include <string.h>

#include "util/when.h"

#define PEAKS_MAX 10       /* that are looked at, those with most time */
#define CHANCE 0.01        /* of the whole report */
#define SLOW_MAX 1000      /* operations of a peak that are looked at: the first ones */
#define ALL_MAX 100000     /* begins of a profile's, one of so many if there are more */
#define NOTHING_BETWEEN                                                                            \
	2 /* periods are so many times what the slow ones take: else one just
			    follows the other */
#define OTHERS (1u << OPERATION_SYSCALL | 1u << OPERATION_FUNCTION | 1u << OPERATION_USER)
#define STREAMS_MAX 400    /* others' */
#define STREAM_MAX 10000   /* operations of one of them: what is more frequent tells nothing */
#define BEGINS_MAX (UINT32_C(1) << 20) /* of all streams: of those beyond that another pass tells */

/* When an operation began, and the name of its thread. */
struct named_begin {
	int64_t begin;
	uint32_t name;
};

/* A peak that is looked at. */
struct watched {
	struct profile *profile;
	struct peak *peak;
	GArray *slow; /* owned; struct named_begin: of the slow ones */
	GArray *all; /* owned; struct named_begin: of the whole profile */
	uint64_t seen; /* operations of the profile so far */
	int64_t last; /* slow ones that began later are not among the first */
};

/* What threads of one name do of one kind. */
struct other {
	uint32_t name, what, thread;
	uint32_t count;
	GArray *begins; /* owned; int64_t; NULL: dropped */
};

struct gathering {
	struct profiles *profiles;
	GArray *watched; /* owned; struct watched */
	GArray *others; /* owned; struct other */
	uint32_t begins; /* that these have */
	struct idmap places; /* name and what -> place in others */
	uint64_t key; /* … looked up last */
	uint32_t place; /* … its place, IDMAP_NONE */
	bool *tracers; /* owned; nobody's trouble */
};

/* --- whom to look at ------------------------------------------------------------ */

static int most_time_first(gconstpointer a, gconstpointer b)
{
	const struct watched *x = a, *y = b;

	return (x->peak->sum < y->peak->sum) - (x->peak->sum > y->peak->sum);
}

/* Those that are slow and have been searched; not what most operations do. */
static GArray *watch(const struct profiles *profiles)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct watched));

	for (guint i = 0; i < profiles->list->len; i++) {
		struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint k = 1; k < profile->peaks->len; k++) {
			struct watched at = {.profile = profile,
					     .peak = &g_array_index(profile->peaks, struct peak,
								    k)};

			if (at.peak->roots && at.peak->count >= OCCASIONS_MIN &&
			    at.peak->count <= profile->count / 2)
				g_array_append_val(list, at);
		}
	}
	g_array_sort(list, most_time_first);
	g_array_set_size(list, MIN(list->len, PEAKS_MAX));
	for (guint i = 0; i < list->len; i++) {
		struct watched *at = &g_array_index(list, struct watched, i);

		at->last = INT64_MAX;
		at->slow = g_array_new(FALSE, FALSE, sizeof(struct named_begin));
		at->all = g_array_new(FALSE, FALSE, sizeof(struct named_begin));
	}
	return list;
}

/* --- what there is -------------------------------------------------------------- */

static uint32_t name_of(const struct session *session, uint32_t thread)
{
	return session->found.thread_names[thread];
}

/* The place among the others; IDMAP_NONE. Most look for the same as the one before. */
static uint32_t place_of(struct gathering *all, uint64_t key)
{
	if (key != all->key) {
		all->key = key;
		all->place = idmap_get(&all->places, key);
	}
	return all->place;
}

static void unref_begins(GArray *begins)
{
	g_array_free(begins, TRUE);
}

static void add_begin(struct gathering *all, struct other *other, int64_t begin)
{
	if (other->count++ == STREAM_MAX && other->begins) { /* it tells nothing */
		all->begins -= other->begins->len;
		g_clear_pointer(&other->begins, unref_begins);
	}
	if (!other->begins)
		return;
	if (all->begins == BEGINS_MAX) {
		all->begins -= other->begins->len;
		g_clear_pointer(&other->begins, unref_begins);
		return;
	}
	g_array_append_val(other->begins, begin);
	all->begins++;
}

static void count_other(struct gathering *all, const struct operation *operation)
{
	const struct session *session = all->profiles->session;
	struct other other = {.name = name_of(session, operation->thread),
			      .what = operation->what,
			      .thread = operation->thread};
	uint64_t key = (uint64_t) other.name << 32 | other.what;
	uint32_t place = place_of(all, key);

	if (place == IDMAP_NONE) {
		all->place = place = all->others->len;
		other.begins = g_array_new(FALSE, FALSE, sizeof(int64_t));
		g_array_append_val(all->others, other);
		idmap_set(&all->places, key, place);
	}
	add_begin(all, &g_array_index(all->others, struct other, place), operation->begin);
}

/* Of one whose begins were dropped. */
static void keep_other(struct gathering *all, const struct operation *operation)
{
	uint64_t key = (uint64_t) name_of(all->profiles->session, operation->thread) << 32 |
		       operation->what;
	uint32_t place = place_of(all, key);

	if (place != IDMAP_NONE)
		g_array_append_val(g_array_index(all->others, struct other, place).begins,
				   operation->begin);
}

static bool is_in_peak(const struct watched *at, const struct buckets *buckets, int64_t latency)
{
	return latency >= buckets->from[at->peak->range.first] &&
	       latency < buckets->from[at->peak->range.last + 1];
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct named_begin *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Of millions only the first ones are kept. */
static void add_slow(struct watched *at, const struct named_begin *begin)
{
	if (begin->begin > at->last)
		return;
	g_array_append_val(at->slow, *begin);
	if (at->slow->len < 2 * SLOW_MAX)
		return;
	g_array_sort(at->slow, by_begin);
	g_array_set_size(at->slow, SLOW_MAX);
	at->last = g_array_index(at->slow, struct named_begin, SLOW_MAX - 1).begin;
}

static void keep_slow(struct gathering *all, const struct operation *operation, uint32_t number)
{
	struct profile *profile = profile_of(all->profiles, operation, number);

	struct named_begin begin = {operation->begin,
				    operation_has_thread(operation)
					    ? name_of(all->profiles->session, operation->thread)
					    : 0};

	for (guint i = 0; profile && i < all->watched->len; i++) {
		struct watched *at = &g_array_index(all->watched, struct watched, i);

		if (at->profile != profile)
			continue;
		if (at->seen++ % (profile->count / ALL_MAX + 1) == 0)
			g_array_append_val(at->all, begin);
		if (is_in_peak(at, &all->profiles->buckets, (int64_t) operation->duration))
			add_slow(at, &begin);
	}
}

static bool is_tracers(const struct gathering *all, const struct operation *operation)
{
	return operation_has_thread(operation) && all->tracers[operation->thread];
}

static bool in_window(const struct session *session, const struct operation *operation)
{
	return operation->begin >= session->asked.from && operation->begin < session->asked.to;
}

static bool is_others_call(const struct gathering *all, const struct operation *operation)
{
	return 1u << PACK_KIND(operation->what) & OTHERS && !operation->half &&
	       operation_has_thread(operation) && !is_tracers(all, operation) &&
	       in_window(all->profiles->session, operation);
}

static int rarest_first(gconstpointer a, gconstpointer b)
{
	const struct other *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->name != y->name ? (x->name < y->name ? -1 : 1)
				  : (x->what > y->what) - (x->what < y->what);
}

/* Keeps the others that are neither too rare nor too frequent to tell. Those whose begins were
 * dropped are looked for by `places`, if there are any: true. */
static bool choose_others(struct gathering *all)
{
	guint kept = 0;
	bool dropped = false;

	g_array_sort(all->others, rarest_first);
	idmap_clear(&all->places);
	idmap_init(&all->places);
	for (guint i = 0; i < all->others->len; i++) {
		struct other at = g_array_index(all->others, struct other, i);

		if (kept == STREAMS_MAX || at.count < OCCASIONS_MIN - 1 || at.count > STREAM_MAX) {
			if (at.begins)
				unref_begins(at.begins);
			continue;
		}
		if (!at.begins) {
			at.begins = g_array_new(FALSE, FALSE, sizeof(int64_t));
			idmap_set(&all->places, (uint64_t) at.name << 32 | at.what, kept);
			dropped = true;
		}
		g_array_index(all->others, struct other, kept++) = at;
	}
	g_array_set_size(all->others, kept);
	all->key = UINT64_MAX;
	return dropped;
}

static int by_value(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

static void gather(struct gathering *all)
{
	const struct session *session = all->profiles->session;
	const struct pages *store = &session->trace.timeline.operations;

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);

		pages_pass(store, i);
		if (!is_tracers(all, operation))
			keep_slow(all, operation, i);
		if (is_others_call(all, operation))
			count_other(all, operation);
	}
	if (choose_others(all))
		for (uint32_t i = 1; i < store->used; i++) {
			const struct operation *operation = operation_at(store, i);

			pages_pass(store, i);
			if (is_others_call(all, operation))
				keep_other(all, operation);
		}
	for (guint i = 0; i < all->others->len; i++)
		g_array_sort(g_array_index(all->others, struct other, i).begins, by_value);
}

/* --- what is found -------------------------------------------------------------- */

static void sort_begins(struct watched *at)
{
	g_array_sort(at->slow, by_begin);
	g_array_sort(at->all, by_begin);
	if (at->slow->len <= SLOW_MAX)
		return;
	g_array_set_size(at->slow, SLOW_MAX);
	/* of the time that the first ones are in */
	while (at->all->len &&
	       by_begin(&g_array_index(at->all, struct named_begin, at->all->len - 1),
			&g_array_index(at->slow, struct named_begin, SLOW_MAX - 1)) > 0)
		g_array_set_size(at->all, at->all->len - 1);
}

static int64_t *times_in(GArray *list)
{
	return (int64_t *) (void *) list->data;
}

/* When they began, but for those of threads of that name (0: of all), each `later`. */
static GArray *begins_of(const GArray *from, uint32_t but, int64_t later)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (guint i = 0; i < from->len; i++) {
		const struct named_begin *at = &g_array_index(from, struct named_begin, i);
		int64_t begin = at->begin + later;

		if (!but || at->name != but)
			g_array_append_val(list, begin);
	}
	return list;
}

static GArray *occasions_of(const struct watched *at, uint32_t but, int64_t later)
{
	GArray *list = begins_of(at->slow, but, later);

	g_array_set_size(list, occasions_keep(times_in(list), list->len));
	g_array_set_size(list, MIN(list->len, OCCASIONS_KEPT));
	return list;
}

/* The first of each cluster. */
static GArray *bursts_of(const GArray *begins)
{
	GArray *list = g_array_copy((GArray *) begins);

	g_array_set_size(list, occasions_keep(times_in(list), list->len));
	return list;
}

/* An operation that was under way when the other's began is late by that, as if it had come
 * behind it: what it usually takes. */
static int64_t usual(const struct profile *profile)
{
	return MAX(profile->percentiles[0], 0);
}

/* What the streams of one name are compared with. */
struct beside {
	GArray *slow, *all; /* owned; int64_t */
};

static void beside_free(gpointer data)
{
	struct beside *beside = data;

	g_array_free(beside->slow, TRUE);
	g_array_free(beside->all, TRUE);
	g_free(beside);
}

static const struct beside *beside_of(GHashTable *by_name, const struct watched *at, uint32_t name)
{
	struct beside *beside = g_hash_table_lookup(by_name, GUINT_TO_POINTER(name));

	if (beside)
		return beside;
	beside = g_new(struct beside, 1);
	beside->slow = occasions_of(at, name, usual(at->profile));
	beside->all = begins_of(at->all, name, usual(at->profile));
	g_hash_table_insert(by_name, GUINT_TO_POINTER(name), beside);
	return beside;
}

static void add_stream(GArray *streams, GArray *begins, const struct beside *beside)
{
	struct stream stream = {times_in(begins),  begins->len,           times_in(beside->slow),
				beside->slow->len, times_in(beside->all), beside->all->len};

	g_array_append_val(streams, stream);
}

/* The best of what others did, each as it is (even places) and its bursts (odd ones). */
static void find_lag(const struct gathering *all, const struct watched *at, double chance,
		     struct rhythm *rhythm)
{
	const struct session *session = all->profiles->session;
	g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);
	g_autoptr(GArray) streams = g_array_new(FALSE, FALSE, sizeof(struct stream));
	g_autoptr(GHashTable) by_name = g_hash_table_new_full(NULL, NULL, NULL, beside_free);
	const struct other *other;

	for (guint i = 0; i < all->others->len; i++) {
		const struct beside *beside;
		GArray *bursts;

		other = &g_array_index(all->others, struct other, i);
		beside = beside_of(by_name, at, other->name);
		bursts = bursts_of(other->begins);
		g_ptr_array_add(kept, bursts);
		add_stream(streams, other->begins, beside);
		add_stream(streams, bursts, beside);
	}
	rhythm->has_lag =
		lag_find((const struct stream *) (const void *) streams->data, streams->len,
			 session->asked.from, session->asked.to, chance, &rhythm->lag);
	if (!rhythm->has_lag)
		return;
	other = &g_array_index(all->others, struct other, rhythm->lag.stream / 2);
	rhythm->bursts = g_array_index(streams, struct stream, rhythm->lag.stream).count <
			 other->begins->len;
	rhythm->lag.least = MAX(rhythm->lag.least - usual(at->profile), 0);
	rhythm->lag.most = MAX(rhythm->lag.most - usual(at->profile), 0);
	rhythm->thread = other->thread;
	rhythm->what = other->what;
}

/* "slow every 528.9 ms (6 times, mostly 518.3 ms to 578.2 ms apart), each time up to 6.960 ms after
 * flusher's pwrite64 (6 of 6)" */
static char *sentence_of(const struct session *session, const struct rhythm *rhythm)
{
	const struct period *period = &rhythm->period;
	const struct lag *lag = &rhythm->lag;
	GString *text = g_string_new("slow");
	char a[32], b[32];

	if (rhythm->has_period)
		g_string_append_printf(text, " every %s (%u times, mostly %s to %s apart)",
				       when_duration(a, period->ns), period->times,
				       when_duration(b, period->least),
				       when_duration((char[32]) {0}, period->most));
	if (rhythm->has_lag) {
		g_autofree char *name = operation_name(session, rhythm->what);
		const char *what = strchr(name, ':') ? strchr(name, ':') + 1 : name;

		g_string_append(text, rhythm->has_period ? ", each time " : " ");
		if (lag->most < 1000)
			g_string_append(text, "right after");
		else if (lag->least * 2 > lag->most)
			g_string_append_printf(text, "%s after", when_duration(a, lag->most));
		else
			g_string_append_printf(text, "up to %s after", when_duration(a, lag->most));
		g_string_append_printf(text,
				       rhythm->bursts ? " %s began a series of %s (%u of %u)"
						      : " %s's %s (%u of %u)",
				       session_thread_name(session, rhythm->thread), what,
				       lag->hits, lag->times);
	}
	return g_string_free(text, FALSE);
}

static void find_rhythm(const struct gathering *all, struct watched *at, double chance)
{
	struct rhythm *rhythm = g_new0(struct rhythm, 1);
	g_autoptr(GArray) slow = NULL;
	g_autoptr(GArray) begins = NULL;

	sort_begins(at);
	slow = begins_of(at->slow, 0, 0);
	begins = begins_of(at->all, 0, 0);
	rhythm->has_period =
		period_find(times_in(slow), slow->len, times_in(begins), begins->len, chance,
			    &rhythm->period) &&
		rhythm->period.ns >= NOTHING_BETWEEN * at->peak->sum / (int64_t) at->peak->count;
	find_lag(all, at, chance, rhythm);
	rhythm->times = occasions_of(at, 0, 0);
	if (!rhythm->has_period && !rhythm->has_lag) {
		rhythm_free(rhythm);
		return;
	}
	rhythm->sentence = sentence_of(all->profiles->session, rhythm);
	at->peak->rhythm = rhythm;
}

void rhythms_search(struct profiles *profiles)
{
	struct gathering all = {profiles, watch(profiles),
				g_array_new(FALSE, FALSE, sizeof(struct other)), .key = UINT64_MAX};

	idmap_init(&all.places);
	all.tracers = session_tracers(profiles->session);
	if (all.watched->len)
		gather(&all);
	for (guint i = 0; i < all.watched->len; i++) {
		struct watched *at = &g_array_index(all.watched, struct watched, i);

		if (!session_interrupted(profiles->session))
			find_rhythm(&all, at, CHANCE / 2 / all.watched->len);
		g_array_free(at->slow, TRUE);
		g_array_free(at->all, TRUE);
	}
	for (guint i = 0; i < all.others->len; i++)
		if (g_array_index(all.others, struct other, i).begins)
			g_array_free(g_array_index(all.others, struct other, i).begins, TRUE);
	g_array_free(all.others, TRUE);
	g_array_free(all.watched, TRUE);
	idmap_clear(&all.places);
	g_free(all.tracers);
}
