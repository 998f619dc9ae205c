/* SPDX-License-Identifier: MIT */
/* Finding calls that stand out; see stand_outs.h. */
#include "functions/stand_outs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "parts/make_parts.h"
#include "path/path.h"

#define DIFFERENCES_SHOWN 6
#define SHARE_TOLD 0.05 /* of the surplus: smaller differences of time are not told */

/* One function's calls, by threads of one name. */
struct group {
	uint32_t what;
	guint calls;
	GArray *shorter;        /* owned; uint32_t ns: their times, until the fence is known */
	GArray *longer;         /* owned; int64_t ns: … of those from UINT32_MAX on */
	int64_t median;
	double fence;           /* ns */
	uint32_t usual, usual_thread; /* frame and thread of the call nearest to the median */
	int64_t distance;       /* … its distance */
	GHashTable *callees;    /* owned; what -> calls of the group that call it */
};

/* Threads of one name, which are compared: no others' calls matter for them. */
struct search {
	struct call_tree *tree;
	const struct session *session;
	GHashTable *groups;     /* owned; struct group by what */
	const GArray *threads;  /* borrowed; uint32_t */
	uint32_t root;          /* what they are called */
	GArray *found;          /* owned; struct stand_out */
};

static guint group_hash(gconstpointer data)
{
	return ((const struct group *) data)->what * 2654435761u;
}

static gboolean group_equal(gconstpointer a, gconstpointer b)
{
	return ((const struct group *) a)->what == ((const struct group *) b)->what;
}

static void group_free(gpointer data)
{
	struct group *group = data;

	g_clear_pointer(&group->shorter, g_array_unref);
	g_clear_pointer(&group->longer, g_array_unref);
	g_hash_table_destroy(group->callees);
	g_free(group);
}

static int64_t length(const struct call_frame *frame)
{
	return frame->end - frame->begin;
}

/* Events were lost meanwhile: it may have been several calls. */
static bool spans_gap(const struct session *session, uint32_t thread,
		      const struct call_frame *frame)
{
	const struct host *host = model_host(&session->trace.model,
					     model_thread(&session->trace.model, thread)->host);

	return host_gap_over(host, frame->begin, frame->end) ||
	       (PACK_KIND(frame->what) == OPERATION_USER &&
		host_user_gap_over(host, frame->begin, frame->end));
}

static bool is_looked_at(const struct search *search, const struct frames *frames, uint32_t place)
{
	const struct session *session = search->session;
	const struct call_frame *frame = frame_of(frames, place);

	if ((!frame_is_call(frame) && !what_is_turn(frame->what)) || frame->in_interrupt ||
	    frame->half != OPERATION_WHOLE || frame->end > session->asked.to ||
	    !call_scope_has(&search->tree->scope, frames->thread, frame->begin))
		return false;
	return !frame_waits_for_others(session, frame) &&
	       !spans_gap(session, frames->thread, frame);
}

static struct group *group_of(struct search *search, uint32_t what)
{
	struct group key = {.what = what};
	struct group *group = g_hash_table_lookup(search->groups, &key);

	if (group)
		return group;
	group = g_new0(struct group, 1);
	*group = key;
	group->shorter = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	group->longer = g_array_new(FALSE, FALSE, sizeof(int64_t));
	group->callees = g_hash_table_new(NULL, NULL);
	group->distance = INT64_MAX;
	g_hash_table_add(search->groups, group);
	return group;
}

/* Where the calls right below a frame are: [*from, returned) of the list. */
static uint32_t calls_in(const struct search *search, const struct frames **frames, uint32_t place,
			 uint32_t *from)
{
	const struct call_frame *frame = frame_of(*frames, place);

	*from = place + 1;
	if (!what_is_turn(frame->what))
		return frame->after;
	*frames = call_tree_frames(search->tree, (*frames)->thread);
	*from = frames_from(*frames, frame->begin);
	return frames_from(*frames, frame->end);
}

/* The calls right below a frame, and how often each: what -> times. */
static GHashTable *callees_of(const struct search *search, const struct frames *frames,
			      uint32_t place)
{
	GHashTable *callees = g_hash_table_new(NULL, NULL);
	uint32_t at, end = calls_in(search, &frames, place, &at);

	while (at < end) {
		const struct call_frame *frame = frame_of(frames, at);
		gpointer key = GUINT_TO_POINTER(frame->what);

		if (!frame->in_interrupt)
			g_hash_table_insert(
				callees, key,
				GUINT_TO_POINTER(
					GPOINTER_TO_UINT(g_hash_table_lookup(callees, key)) + 1));
		at = frame->after;
	}
	return callees;
}

static void count_callees(const struct search *search, struct group *group,
			  const struct frames *frames, uint32_t place)
{
	const struct frames *of = frames;
	uint32_t from, end = calls_in(search, &of, place, &from);
	GHashTable *callees;
	GHashTableIter iter;
	gpointer key;

	if (from >= end)
		return;
	callees = callees_of(search, frames, place);
	g_hash_table_iter_init(&iter, callees);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_hash_table_insert(
			group->callees, key,
			GUINT_TO_POINTER(
				GPOINTER_TO_UINT(g_hash_table_lookup(group->callees, key)) + 1));
	g_hash_table_destroy(callees);
}

/* Calls, and turns. */
static const uint32_t sorts[] = {PACK(OPERATION_SYSCALL, 0), PACK(OPERATION_BUSY, 0)};

static void each_frame(struct search *search,
		       void (*take)(struct search *, const struct frames *, uint32_t))
{
	for (guint i = 0; i < search->threads->len; i++) {
		uint32_t thread = g_array_index(search->threads, uint32_t, i);

		for (guint of = 0; of < G_N_ELEMENTS(sorts); of++) {
			const struct frames *frames =
				call_tree_frames_of(search->tree, thread, sorts[of]);

			for (uint32_t k = 0; k < frames->list->len; k++)
				if (is_looked_at(search, frames, k))
					take(search, frames, k);
		}
		call_tree_let_go(search->tree, NO_THREAD);
	}
}

static void note_time(struct search *search, const struct frames *frames, uint32_t place)
{
	const struct call_frame *frame = frame_of(frames, place);
	struct group *group = group_of(search, frame->what);
	int64_t time = length(frame);
	uint32_t narrow = (uint32_t) time;

	if (time < UINT32_MAX)
		g_array_append_val(group->shorter, narrow);
	else
		g_array_append_val(group->longer, time);
	group->calls++;
	count_callees(search, group, frames, place);
}

static int shorter_first(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

static int longer_last(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

/* Of the times, when they are sorted. */
static int64_t quantile(const struct group *group, guint quarter)
{
	guint place = MAX((group->calls * quarter + 3) / 4, 1) - 1, shorter = group->shorter->len;

	return place < shorter ? g_array_index(group->shorter, uint32_t, place)
			       : g_array_index(group->longer, int64_t, place - shorter);
}

/* In logarithms: log Q3 + 1.5 (log Q3 - log Q1). */
static void find_fences(struct search *search)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, search->groups);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct group *group = value;
		double low, high;

		g_array_sort(group->shorter, shorter_first);
		g_array_sort(group->longer, longer_last);
		low = (double) MAX(quantile(group, 1), 1);
		high = (double) MAX(quantile(group, 3), 1);
		group->median = quantile(group, 2);
		group->fence = MAX(high * pow(high / low, 1.5),
				   (what_is_turn(group->what) ? STAND_OUT_TURNS
							      : (double) STAND_OUT_TIMES) *
					   (double) group->median);
		g_clear_pointer(&group->shorter, g_array_unref);
		g_clear_pointer(&group->longer, g_array_unref);
	}
}

static void find_usual(struct search *search, const struct frames *frames, uint32_t place)
{
	struct group *group = group_of(search, frame_of(frames, place)->what);
	int64_t distance = llabs(length(frame_of(frames, place)) - group->median);

	if (distance >= group->distance)
		return;
	group->distance = distance;
	group->usual = place;
	group->usual_thread = frames->thread;
}

/* Of system calls there are many of all lengths: those that cost the thread next to
 * nothing are not told. */
static bool is_beyond(const struct group *group, const struct call_frame *frame, int64_t life)
{
	if (group->calls < STAND_OUT_CALLS || (double) length(frame) <= group->fence)
		return false;
	return (PACK_KIND(frame->what) != OPERATION_SYSCALL && !what_is_turn(frame->what)) ||
	       (length(frame) - group->median) * STAND_OUT_LIFE >= life;
}

static void add_stand_out(struct search *search, const struct group *group,
			  const struct frames *frames, uint32_t place)
{
	const struct call_frame *frame = frame_of(frames, place);
	struct stand_out one = {.thread = frames->thread,
				.root = search->root,
				.frame = place,
				.what = frame->what,
				.excess = length(frame) - group->median,
				.median = group->median,
				.calls = group->calls};

	g_array_append_val(search->found, one);
}

/* Of a thread's calls those beyond their fences, but for those that one inside explains. `inside`:
 * of each place becomes the largest excess of what is in it. */
static void find_calls(struct search *search, const struct frames *frames, int64_t lived,
		       int64_t *inside)
{
	for (uint32_t i = frames->list->len; i-- > 0;) {
		const struct call_frame *frame = frame_of(frames, i);
		const struct group *group =
			is_looked_at(search, frames, i) ? group_of(search, frame->what) : NULL;

		if (group && is_beyond(group, frame, lived)) {
			int64_t excess = length(frame) - group->median;

			if (inside[i] * 2 < excess)
				add_stand_out(search, group, frames, i);
			inside[i] = MAX(inside[i], excess);
		}
		if (frame->parent != NO_FRAME)
			inside[frame->parent] = MAX(inside[frame->parent], inside[i]);
	}
}

/* The same of its turns: what stands out in a call of a turn is told of the call. */
static void find_turns(struct search *search, const struct frames *frames, int64_t lived,
		       const int64_t *inside)
{
	const struct frames *turns =
		call_tree_frames_of(search->tree, frames->thread, PACK(OPERATION_BUSY, 0));

	for (uint32_t i = 0; i < turns->list->len; i++) {
		const struct call_frame *turn = frame_of(turns, i);
		uint32_t end = frames_from(frames, turn->end);
		const struct group *group;
		int64_t most = 0;

		if (!is_looked_at(search, turns, i))
			continue;
		group = group_of(search, turn->what);
		if (!is_beyond(group, turn, lived))
			continue;
		for (uint32_t at = frames_from(frames, turn->begin); at < end; at++)
			most = MAX(most, inside[at]);
		if (most * 2 < length(turn) - group->median)
			add_stand_out(search, group, turns, i);
	}
}

static void find_in_thread(struct search *search, uint32_t thread)
{
	const struct frames *frames = call_tree_frames(search->tree, thread);
	int64_t lived = call_scope_ns(&search->tree->scope, thread);
	g_autofree int64_t *inside = g_new0(int64_t, frames->list->len + 1);

	find_calls(search, frames, lived, inside);
	find_turns(search, frames, lived, inside);
	call_tree_let_go(search->tree, NO_THREAD);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct stand_out *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (what_is_turn(x->what) != what_is_turn(y->what))
		return what_is_turn(y->what) ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* --- what is different --------------------------------------------------------------------- */

static void difference_free(gpointer data)
{
	struct instance_difference *difference = data;

	g_free(difference->what);
	g_free(difference);
}

/* The call right below `place` that the thread is in at `time`; NO_FRAME: none. */
static uint32_t callee_at(const struct frames *frames, uint32_t place, int64_t time, int64_t *until)
{
	uint32_t at = frames_at(frames, time, until), below = NO_FRAME;

	for (; at != NO_FRAME && at != place; at = frame_of(frames, at)->parent)
		if (!frame_of(frames, at)->in_interrupt)
			below = at;
	return below;
}

static void add_time(GHashTable *parts, const char *what, int64_t ns)
{
	int64_t *at = g_hash_table_lookup(parts, what);

	if (!at) {
		at = g_new0(int64_t, 1);
		g_hash_table_insert(parts, g_strdup(what), at);
	}
	*at += ns;
}

static void add_work(const struct search *search, GHashTable *parts, const struct frames *frames,
		     uint32_t place, const struct piece *piece)
{
	int64_t until;

	for (int64_t at = piece->begin; at < piece->end; at = until) {
		uint32_t below = callee_at(frames, place, at, &until);
		g_autofree char *name = NULL, *label = NULL;

		until = MIN(until, piece->end);
		if (below != NO_FRAME) {
			name = frame_name(search->session, frame_of(frames, below)->what);
			label = g_strconcat("work in ", name, NULL);
		}
		add_time(parts, label ? label : "own work", until - at);
	}
}

/* What a call's time was spent on: "own work", "work in f", causes -> ns. */
static GHashTable *parts_of(struct search *search, uint32_t thread, uint32_t place, uint32_t what)
{
	const struct frames *frames = call_tree_frames(search->tree, thread);
	const struct call_frame *frame =
		frame_of(call_tree_frames_of(search->tree, thread, what), place);
	GHashTable *parts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	struct path *path = path_new(search->session, thread, frame->begin, frame->end);

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		if (piece->behalf < 0 && leaf_wib(piece->leaf) == WIB_WORKING)
			add_work(search, parts, frames, what_is_turn(what) ? NO_FRAME : place,
				 piece);
		else
			add_time(parts,
				 session_text(search->session,
					      call_tree_cause(search->tree, path, piece)),
				 piece->end - piece->begin);
	}
	path_free(path);
	return parts;
}

static int most_time_first(gconstpointer a, gconstpointer b)
{
	const struct instance_difference *x = *(struct instance_difference *const *) a;
	const struct instance_difference *y = *(struct instance_difference *const *) b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->what, y->what);
}

static void compare_times(struct search *search, struct stand_out *one, const struct group *group)
{
	GHashTable *parts = parts_of(search, one->thread, one->frame, one->what);
	GHashTable *usual = parts_of(search, group->usual_thread, group->usual, one->what);
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, parts);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const int64_t *then = g_hash_table_lookup(usual, key);
		int64_t more = *(int64_t *) value - (then ? *then : 0);
		struct instance_difference *difference;

		if ((double) more < SHARE_TOLD * (double) one->excess)
			continue;
		difference = g_new0(struct instance_difference, 1);
		difference->kind = DIFFERENCE_TIME;
		difference->what = g_strdup(key);
		difference->ns = more;
		g_ptr_array_add(one->differences, difference);
	}
	g_hash_table_destroy(parts);
	g_hash_table_destroy(usual);
}

static void add_callee(struct search *search, struct stand_out *one, const struct group *group,
		       enum difference_kind kind, gpointer what, guint times, guint usually)
{
	struct instance_difference *difference = g_new0(struct instance_difference, 1);

	difference->kind = kind;
	difference->what = frame_name(search->session, GPOINTER_TO_UINT(what));
	difference->times = times;
	difference->usually = usually;
	difference->having = GPOINTER_TO_UINT(g_hash_table_lookup(group->callees, what));
	g_ptr_array_add(one->differences, difference);
}

/* New: at most a tenth of all calls have it; missing: nine tenths do. More of them: twice. */
static void compare_callees(struct search *search, struct stand_out *one, const struct group *group)
{
	GHashTable *callees =
		callees_of(search, call_tree_frames_of(search->tree, one->thread, one->what),
			   one->frame);
	GHashTable *usual =
		callees_of(search,
			   call_tree_frames_of(search->tree, group->usual_thread, one->what),
			   group->usual);
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, callees);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		guint times = GPOINTER_TO_UINT(value);
		guint usually = GPOINTER_TO_UINT(g_hash_table_lookup(usual, key));
		uint64_t having = GPOINTER_TO_UINT(g_hash_table_lookup(group->callees, key));

		if (!usually && having * 10 <= one->calls)
			add_callee(search, one, group, DIFFERENCE_NEW, key, times, 0);
		else if (usually && times >= 2 * usually && times > 2)
			add_callee(search, one, group, DIFFERENCE_COUNT, key, times, usually);
	}
	g_hash_table_iter_init(&iter, usual);
	while (g_hash_table_iter_next(&iter, &key, &value))
		if (!g_hash_table_contains(callees, key) &&
		    (uint64_t) GPOINTER_TO_UINT(g_hash_table_lookup(group->callees, key)) * 10 >=
			    one->calls * 9)
			add_callee(search, one, group, DIFFERENCE_MISSING, key, 0,
				   GPOINTER_TO_UINT(value));
	g_hash_table_destroy(callees);
	g_hash_table_destroy(usual);
}

static void explain(struct search *search, struct stand_out *one)
{
	const struct group *group;
	const struct frames *usual;

	group = group_of(search, one->what);
	usual = call_tree_frames_of(search->tree, group->usual_thread, one->what);

	one->usual_thread = group->usual_thread;
	one->usual_begin = frame_of(usual, group->usual)->begin;
	one->differences = g_ptr_array_new_with_free_func(difference_free);
	compare_times(search, one, group);
	compare_callees(search, one, group);
	g_ptr_array_sort(one->differences, most_time_first);
	if (one->differences->len > DIFFERENCES_SHOWN)
		g_ptr_array_set_size(one->differences, DIFFERENCES_SHOWN);
}

char *difference_text(const struct instance_difference *difference, const struct stand_out *of)
{
	char ns[32];

	switch (difference->kind) {
	case DIFFERENCE_TIME:
		return g_strdup_printf("%s more: %s", when_duration(ns, difference->ns),
				       difference->what);
	case DIFFERENCE_NEW:
		return g_strdup_printf("calls %s, as %" PRIu64 " of the %" PRIu64 " calls do",
				       difference->what, difference->having, of->calls);
	case DIFFERENCE_MISSING:
		return g_strdup_printf("does not call %s, as %" PRIu64 " of the %" PRIu64
				       " calls do",
				       difference->what, difference->having, of->calls);
	default:
		return g_strdup_printf("calls %s %u times, the usual one %u", difference->what,
				       difference->times, difference->usually);
	}
}

/* --- all ----------------------------------------------------------------------------------------
 * */

static void stand_out_clear(gpointer data)
{
	struct stand_out *one = data;

	if (one->differences)
		g_ptr_array_free(one->differences, TRUE);
}

static bool is_wanted(const struct search *search, const struct stand_out *one)
{
	const struct frames *frames = call_tree_frames_of(search->tree, one->thread, one->what);
	uint32_t at = one->frame;

	while (at != NO_FRAME && !frame_is_wanted(search->session, frame_of(frames, at)))
		at = frame_of(frames, at)->parent;
	return at != NO_FRAME;
}

/* All names, each a part. */
struct searching {
	struct call_tree *tree;
	struct search *of; /* owned */
};

static void search_name(const struct session *session, guint part, void *data)
{
	struct searching *searching = data;
	struct search *search = &searching->of[part];
	guint kept = 0;

	search->session = session;
	search->tree = call_tree_part_new(searching->tree, session, search->threads);
	each_frame(search, note_time);
	find_fences(search);
	each_frame(search, find_usual);
	for (guint i = 0; i < search->threads->len; i++)
		find_in_thread(search, g_array_index(search->threads, uint32_t, i));
	for (guint i = 0; i < search->found->len; i++)
		if (is_wanted(search, &g_array_index(search->found, struct stand_out, i)))
			g_array_index(search->found, struct stand_out, kept++) =
				g_array_index(search->found, struct stand_out, i);
	g_array_set_size(search->found, kept);
}

static struct search *searches_new(struct call_tree *tree, guint *count)
{
	struct search *of = g_new0(struct search, tree->threads->len + 1);

	*count = 0;
	for (guint i = 0; i < tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(tree->threads, i);

		if (!threads || !threads->len)
			continue;
		of[(*count)++] = (struct search) {
			.groups = g_hash_table_new_full(group_hash, group_equal, NULL, group_free),
			.threads = threads,
			.root = i,
			.found = g_array_new(FALSE, FALSE, sizeof(struct stand_out))};
	}
	return of;
}

struct stand_outs *stand_outs_new(struct call_tree *tree)
{
	struct stand_outs *found = g_new0(struct stand_outs, 1);
	guint limit = tree->session->asked.options->limit, count;
	struct searching searching = {tree, searches_new(tree, &count)};
	g_autofree struct search **of = g_new0(struct search *, tree->threads->len + 1);

	found->list = g_array_new(FALSE, FALSE, sizeof(struct stand_out));
	g_array_set_clear_func(found->list, stand_out_clear);
	parts_make(tree->session, count, search_name, &searching);
	for (guint i = 0; i < count; i++) {
		struct search *search = &searching.of[i];

		call_tree_part_end(tree, search->tree);
		search->tree = tree;
		search->session = tree->session;
		of[search->root] = search;
		g_array_append_vals(found->list, search->found->data, search->found->len);
	}
	found->sums = stand_out_sums_new(found->list);
	g_array_sort(found->list, largest_first);
	if (limit && found->list->len > limit) {
		found->omitted = found->list->len - limit;
		g_array_set_size(found->list, limit);
	}
	for (guint i = 0; i < found->list->len; i++) {
		struct stand_out *one = &g_array_index(found->list, struct stand_out, i);

		explain(of[one->root], one);
		stand_out_sums_explain(found->sums, one);
		call_tree_let_go(tree, NO_THREAD);
	}
	for (guint i = 0; i < count; i++) {
		g_hash_table_destroy(searching.of[i].groups);
		g_array_free(searching.of[i].found, TRUE);
	}
	g_free(searching.of);
	return found;
}

void stand_outs_free(struct stand_outs *found)
{
	g_array_free(found->list, TRUE);
	g_array_free(found->sums, TRUE);
	g_free(found);
}
