/* SPDX-License-Identifier: MIT */
/* The system calls of two sides, by name: how far their latency profiles are from each other,
 * and what their time is made of; see diff.h.
 *
 * A profile has 16 buckets a factor of two here. The distance is the earth mover's, the area
 * between the two distributions over the logarithm of the latency, in octaves: in ns the few
 * longest calls would decide alone.
 * How much of it chance gives is told by bootstrap: both sides are drawn anew from all calls
 * of both together, and their distance is taken, again and again. The numbers are drawn from
 * a fixed seed: the same input gives the same output.
 */
#include "diff/diff_calls.h"

#include <math.h>
#include <string.h>

#include "contention/holders.h"
#include "latencies/operations.h"
#include "path/path_sums.h"
#include "latencies/profile.h"
#include "parts/make_parts.h"

#define TURNS_LEAST 10 /* of a thread that loops */
#define RESOLUTION 16
#define DRAWS 200          /* of the bootstrap; the second largest is the floor */
#define DRAWN_MAX 5000     /* calls drawn at once: of more, the floor is scaled */
#define SLICES 1024        /* of what is drawn from; a power of two: exact */
#define LOOKED_AT_MAX 2000 /* calls of one name and side whose path is followed */
#define LEAST_CHANGE 0.07  /* octaves, 5 %: less is no finding, however sure */

struct call_profile {
	uint32_t name;         /* interned in the side's session */
	uint64_t count;
	double sum;
	uint64_t *counts;      /* owned; by bucket */
	double parts[CALL_PARTS];
	uint32_t looked_at;
	uint64_t every, next;  /* each so manieth call's path is followed */
};

struct call_profiles {
	const struct side *side;
	struct buckets *buckets;
	GHashTable *by_name;   /* name's text (borrowed) -> struct call_profile (owned) */
};

static void call_profile_free(gpointer data)
{
	struct call_profile *profile = data;

	g_free(profile->counts);
	g_free(profile);
}

const char *call_part_text(enum call_part part)
{
	static const char *const texts[] = {
		"own work in the kernel",
		"others' work",
		"preempted",
		"waiting for CPU",
		"interrupts",
		"block devices",
		"network",
		"timers",
		"locks",
		"other waits"};

	return texts[part];
}

static struct call_profile *
call_profile_of(struct call_profiles *profiles, uint32_t name, bool make)
{
	const char *text = session_text(profiles->side->session, name);
	struct call_profile *profile = g_hash_table_lookup(profiles->by_name, text);

	if (profile || !make)
		return profile;
	profile = g_new0(struct call_profile, 1);
	profile->name = name;
	profile->counts = g_new0(uint64_t, profiles->buckets->count);
	g_hash_table_insert(profiles->by_name, (gpointer) text, profile);
	return profile;
}

/* The thread worked on a listed request then, or on one inside it. */
static bool is_for_listed(const struct taking *taking, const struct operation *operation)
{
	const struct user_requests *requests = taking->side->requests;
	int64_t until;
	uint32_t place = user_request_of(requests, operation->thread, operation->begin, &until);

	for (; place; place = user_request_at(requests, place - 1)->parent)
		if (taking->listed[place - 1])
			return true;
	return false;
}

bool operation_taken(struct taking *taking, const struct operation *operation, uint32_t number)
{
	const struct side *side = taking->side;

	if ((PACK_KIND(operation->what) != OPERATION_SYSCALL &&
	     (PACK_KIND(operation->what) != OPERATION_BUSY || side->of_requests)) ||
	    operation->half || !operation_has_thread(operation) || operation->begin < side->from ||
	    operation_end(operation) > side->to ||
	    (taking->tracers && taking->tracers[operation->thread]) ||
	    !operation_in_scope(&taking->scope, operation, number))
		return false;
	return !side->of_requests || is_for_listed(taking, operation);
}

void taking_init(struct taking *taking, const struct side *side)
{
	const struct options *options = side->session->asked.options;

	*taking = (struct taking) {.side = side};
	operation_scope_init(&taking->scope, side->session);
	if (side->of_requests) {
		taking->listed = g_new0(guint8, side->requests->list.used + 1);
		for (guint i = 0; i < side->requests->listed->len; i++)
			taking->listed[g_array_index(side->requests->listed, uint32_t, i)] = 1;
	}
	if (!options->threads->len && !options->processes->len)
		taking->tracers = session_tracers(side->session);
}

void taking_clear(struct taking *taking)
{
	operation_scope_clear(&taking->scope);
	g_free(taking->tracers);
	g_free(taking->listed);
}

static enum call_part part_of(const struct session *session, const struct path *path,
			      const struct piece *piece, uint32_t caller)
{
	for (int32_t i = piece->behalf; i >= 0;
	     i = g_array_index(path->waits, struct through, i).behalf)
		if (block_lock(session, g_array_index(path->waits, struct through, i).block))
			return CALL_LOCK;
	switch (PACK_KIND(piece->leaf)) {
	case LEAF_PREEMPTED:
		return CALL_PREEMPTED;
	case LEAF_WAIT_CPU:
		return CALL_WAIT_CPU;
	default:
		break;
	}
	if (leaf_wib(piece->leaf) == WIB_WORKING)
		return piece->thread == caller ? CALL_WORK : CALL_OTHERS;
	if (leaf_wib(piece->leaf) == WIB_INTERRUPTED)
		return CALL_INTERRUPTS;
	if (!piece->block)
		return CALL_BLOCKED;
	switch (piece_cause_kind(session, piece)) {
	case CAUSE_BLOCK_DEVICE:
		return CALL_DEVICE;
	case CAUSE_NETWORK:
		return CALL_NETWORK;
	case CAUSE_TIMER:
		return CALL_TIMER;
	case CAUSE_LOCK_OWNER:
		return CALL_LOCK;
	default:
		return CALL_BLOCKED;
	}
}

static void look_at(struct call_profiles *profiles, struct call_profile *profile,
		    const struct operation *operation)
{
	const struct session *session = profiles->side->session;
	struct path *path =
		path_new(session, operation->thread, operation->begin, operation_end(operation));

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		profile->parts[part_of(session, path, piece, operation->thread)] +=
			(double) (piece->end - piece->begin);
	}
	profile->looked_at++;
	path_free(path);
}

/* A system call's, or whose turn it is: "busy:worker". */
static uint32_t name_of(const struct session *session, const struct operation *operation)
{
	g_autofree char *name = NULL;

	if (PACK_KIND(operation->what) == OPERATION_SYSCALL)
		return PACK_NUMBER(operation->what);
	name = g_strconcat(DIFF_TURN, session_thread_name(session, operation->thread), NULL);
	return intern_id(session->trace.model.names, name);
}

/* Few turns tell of no loop; of a re-timed run (`data`) none are known. */
static gboolean is_no_loop(gpointer name, gpointer value, gpointer data)
{
	return g_str_has_prefix(name, DIFF_TURN) &&
	       (GPOINTER_TO_UINT(data) || ((struct call_profile *) value)->count < TURNS_LEAST);
}

/* First how many there are of each, then what they are made of: evenly spread ones. */
static void take_calls(struct call_profiles *profiles, struct taking *taking, bool look)
{
	const struct pages *store = &profiles->side->session->trace.timeline.operations;

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct call_profile *profile;
		guint bucket;

		pages_pass(store, i);
		if (!operation_taken(taking, operation, i))
			continue;
		profile = call_profile_of(profiles, name_of(profiles->side->session, operation),
					  !look);
		if (!profile) /* no loop */
			continue;
		if (look) {
			if (profile->next++ % profile->every == 0)
				look_at(profiles, profile, operation);
			continue;
		}
		bucket = bucket_of(profiles->buckets, (int64_t) operation->duration);
		profile->count++;
		profile->sum += (double) operation->duration;
		profile->counts[bucket]++;
	}
}

/* Of `data`'s sides one (part_maker). */
static void profiles_fill(const struct session *session, guint part, void *data)
{
	struct call_profiles *profiles = &((struct call_profiles *) data)[part];
	const struct options *options = session->asked.options;
	struct taking taking;
	GHashTableIter iter;
	gpointer value;

	taking_init(&taking, profiles->side);
	take_calls(profiles, &taking, false);
	g_hash_table_foreach_remove(profiles->by_name, is_no_loop,
				    GUINT_TO_POINTER(options->what_if->len));
	g_hash_table_iter_init(&iter, profiles->by_name);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct call_profile *profile = value;

		profile->every = (profile->count + LOOKED_AT_MAX - 1) / LOOKED_AT_MAX;
	}
	take_calls(profiles, &taking, true);
	taking_clear(&taking);
}

/* --- distances ----------------------------------------------------------------------- */

/* Area between the two distributions, each of a total of 1: what has to be moved, how far.
 */
static double distance(const double *a, double total_a, const double *b, double total_b,
		       guint first, guint last)
{
	double below_a = 0, below_b = 0, area = 0;

	for (guint i = first; i < last; i++) {
		below_a += a[i] / total_a;
		below_b += b[i] / total_b;
		area += fabs(below_a - below_b) / RESOLUTION;
	}
	return area;
}

/* Numbers from 0 to 1: xorshift64* (Vigna 2016). */
static double draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double) ((*state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

/* Where numbers from k / SLICES on lie, at the least: the bucket is found by a step or two. */
static void slice(const double *below, guint first, guint last, guint *slices)
{
	for (guint i = 0, at = first; i < SLICES; i++) {
		while (at < last && below[at] <= (double) i / SLICES * below[last])
			at++;
		slices[i] = at;
	}
}

static void draw_calls(const double *below, const guint *slices, guint first, guint last,
		       guint count, double *into, uint64_t *state)
{
	memset(into + first, 0, (last - first + 1) * sizeof *into);
	for (guint i = 0; i < count; i++) {
		double part = draw(state), number = part * below[last];
		guint at = slices[(guint) (part * SLICES)];

		while (at < last && below[at] <= number)
			at++;
		into[at]++;
	}
}

static int ascending(gconstpointer a, gconstpointer b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* What chance gives: 99 % of distances between two sides drawn from all calls together. Of
 * many calls fewer are drawn; the distance falls with the root of their number. */
static double noise_floor(const double *a, uint64_t count_a, const double *b, uint64_t count_b,
			  guint first, guint last)
{
	guint length = last + 1;
	g_autofree double *below = g_new0(double, length), *drawn_a = g_new0(double, length),
			  *drawn_b = g_new0(double, length);
	double distances[DRAWS], scale, sum = 0;
	guint slices[SLICES];
	guint n_a = (guint) MIN(count_a, DRAWN_MAX), n_b = (guint) MIN(count_b, DRAWN_MAX);
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

	for (guint i = first; i <= last; i++)
		below[i] = sum += a[i] + b[i];
	slice(below, first, last, slices);
	for (guint i = 0; i < DRAWS; i++) {
		draw_calls(below, slices, first, last, n_a, drawn_a, &state);
		draw_calls(below, slices, first, last, n_b, drawn_b, &state);
		distances[i] = distance(drawn_a, n_a, drawn_b, n_b, first, last);
	}
	qsort(distances, DRAWS, sizeof *distances, ascending);
	scale = sqrt((1.0 / (double) count_a + 1.0 / (double) count_b) / (1.0 / n_a + 1.0 / n_b));
	return distances[DRAWS - 1 - DRAWS / 100] * scale;
}

static void compare(const struct call_profile *const profiles[2], const struct buckets *buckets,
		    struct call_difference *call)
{
	guint count = buckets->count, first = count, last = 0;
	g_autofree double *a = g_new0(double, count), *b = g_new0(double, count);

	for (guint i = 0; i < count; i++) {
		a[i] = (double) profiles[0]->counts[i];
		b[i] = (double) profiles[1]->counts[i];
		if (profiles[0]->counts[i] || profiles[1]->counts[i]) {
			first = MIN(first, i);
			last = i;
		}
	}
	call->distance = distance(a, (double) profiles[0]->count, b, (double) profiles[1]->count,
				  first, last);
	call->floor = noise_floor(a, profiles[0]->count, b, profiles[1]->count, first, last);
}

/* --- all ---------------------------------------------------------------------------- */

/* In the middle of its bucket. */
static double median_of(const struct call_profile *profile, const struct buckets *buckets)
{
	uint64_t below = 0;
	guint i = 0;

	while (i + 1 < buckets->count && 2 * (below + profile->counts[i]) < profile->count)
		below += profile->counts[i++];
	return sqrt((double) MAX(buckets->from[i], 1) * (double) buckets->from[i + 1]);
}

static void add_call(struct diff *diff, const struct call_profile *const profiles[2],
		     const struct buckets *buckets)
{
	struct call_difference call = {.floor = -1};

	for (int side = 0; side < 2; side++) {
		const struct call_profile *profile = profiles[side];
		double all = 0;

		if (!profile)
			continue;
		call.name[side] = profile->name;
		call.count[side] = profile->count;
		call.mean[side] = profile->sum / (double) profile->count;
		call.looked_at[side] = profile->looked_at;
		call.median[side] = median_of(profile, buckets);
		for (int part = 0; part < CALL_PARTS; part++)
			all += profile->parts[part];
		for (int part = 0; part < CALL_PARTS && all > 0; part++)
			call.parts[side][part] = profile->parts[part] / all * call.mean[side];
	}
	call.contribution =
		(double) call.count[1] * call.mean[1] - (double) call.count[0] * call.mean[0];
	if (profiles[0] && profiles[1]) {
		compare(profiles, buckets, &call);
		if (diff->retimed) /* the same calls: nothing is chance */
			call.floor = 0;
		call.significant = call.distance > call.floor && call.distance >= LEAST_CHANGE;
	}
	g_array_append_val(diff->calls, call);
}

static gint by_contribution(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct call_difference *x = a, *y = b;
	const struct diff *diff = data;
	double size_x = fabs(x->contribution), size_y = fabs(y->contribution);

	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	return strcmp(
		session_text(diff->sides[x->name[0] ? 0 : 1].session, x->name[x->name[0] ? 0 : 1]),
		session_text(diff->sides[y->name[0] ? 0 : 1].session, y->name[y->name[0] ? 0 : 1]));
}

void diff_calls(struct diff *diff)
{
	const struct session *const of[2] = {diff->sides[0].session, diff->sides[1].session};
	struct call_profiles profiles[2];
	struct buckets buckets;
	GHashTableIter iter;
	gpointer name, value;

	buckets_init(&buckets, RESOLUTION);
	for (int side = 0; side < 2; side++)
		profiles[side] = (struct call_profiles) {
			&diff->sides[side], &buckets,
			g_hash_table_new_full(g_str_hash, g_str_equal, NULL, call_profile_free)};
	parts_make_sides(of, profiles_fill, profiles);
	g_hash_table_iter_init(&iter, profiles[0].by_name);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		const struct call_profile *both[2] = {
			value, g_hash_table_lookup(profiles[1].by_name, name)};

		add_call(diff, both, &buckets);
	}
	g_hash_table_iter_init(&iter, profiles[1].by_name);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		const struct call_profile *only[2] = {NULL, value};

		if (!g_hash_table_contains(profiles[0].by_name, name))
			add_call(diff, only, &buckets);
	}
	g_array_sort_with_data(diff->calls, by_contribution, diff);
	g_hash_table_destroy(profiles[0].by_name);
	g_hash_table_destroy(profiles[1].by_name);
	buckets_clear(&buckets);
}
