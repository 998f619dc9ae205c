/* SPDX-License-Identifier: MIT */
/* Two sides, and how their causes differ; see diff.h. */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/call_forks.h"
#include "parts/make_parts.h"
#include "run/option_values.h"
#include "tracking/request_list.h"
#include "tracking/request_options.h"
#include "util/error.h"
#include "util/when.h"

#define DEVIATIONS 2.576 /* 99 % of a normal distribution */

/* --- sides ------------------------------------------------------------------------- */

/* "FROM..TO": a window, and no range of percentiles. */
static bool is_window(const char *text)
{
	return strstr(text, "..") && !(text[0] == 'p' && g_ascii_isdigit(text[1]));
}

static bool window_of(const struct session *session, const char *option, const char *text,
		      int64_t *from, int64_t *to, GError **error)
{
	const char *dots = strstr(text, "..");
	g_autofree char *first = g_strndup(text, (gsize) (dots - text));
	struct when begin = {.kind = WHEN_NONE}, end = {.kind = WHEN_NONE};
	bool utc = session->asked.options->utc;

	*from = session->asked.from;
	*to = session->asked.to;
	if ((*first && !when_parse(first, &begin, error)) ||
	    (dots[2] && !when_parse(dots + 2, &end, error))) {
		g_prefix_error(error, "--%s: ", option);
		return false;
	}
	if (begin.kind == WHEN_EVENT || end.kind == WHEN_EVENT) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--%s '%s': a window begins and ends at times, as in "
			    "10:00:01..10:00:02 or +100ms..+300ms",
			    option, text);
		return false;
	}
	if (*first)
		*from = when_resolve(&begin, session->trace.begin, session->trace.end,
				     session->trace.begin, utc);
	if (dots[2]) /* both offsets count from the trace's begin */
		*to = when_resolve(&end, session->trace.begin, session->trace.end,
				   session->trace.begin, utc);
	if (*from < *to && *from < session->trace.end && *to > session->trace.begin)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--%s '%s': no part of the trace lies in that window", option, text);
	return false;
}

/* What is asked of one side. */
struct side_asked {
	const char *option, *what; /* --a, --b or --slow-fast, what it says, NULL: nothing */
	GError *error;             /* why there are no requests */
};

struct making_sides {
	struct diff *diff;
	struct side_asked asked[2];
};

/* The requests of one side. The first side's serve for one of the same session and window. */
static struct user_requests *
find_requests(struct diff *diff, struct side *side, struct side_asked *asked)
{
	const struct side *like = side == diff->sides ? NULL : diff->sides;
	const struct session *session = side->session;
	g_autoptr(GPtrArray) picks = g_ptr_array_new();
	struct request_scope scope = {picks, asked->option, session->asked.from, session->asked.to};

	if (asked->what && is_window(asked->what)) {
		if (!window_of(session, asked->option, asked->what, &scope.from, &scope.to,
			       &asked->error))
			return NULL;
	} else if (asked->what) {
		g_ptr_array_add(picks, (char *) asked->what);
		side->of_requests = true;
	}
	side->from = scope.from;
	side->to = scope.to;
	if (like && diff->retimed)
		return like->requests ? user_requests_moved(like->requests, session,
							    retimed_run_time, diff->retimed)
				      : NULL;
	if (like && like->session == session && like->from == scope.from && like->to == scope.to)
		return like->requests ? user_requests_repick(like->requests, &scope, &asked->error)
				      : NULL;
	return user_requests_new(session, &scope, &asked->error);
}

static void make_side(const struct session *session, guint part, void *data)
{
	struct making_sides *making = data;
	struct diff *diff = making->diff;
	struct side *side = &diff->sides[part];
	struct piece_namer *namer;

	*side = (struct side) {.session = session};
	side->requests = find_requests(diff, side, &making->asked[part]);
	if (!side->requests)
		return;
	namer = piece_namer_new(session, side->requests);
	thread_match_name(diff->match, (int) part, namer->names);
	side->costs = costs_new_named(side->requests, namer);
}

/* Of two sides that cannot be, the first one is told. */
static bool make_sides(struct making_sides *making, const struct session *const of[2],
		       GError **error)
{
	parts_make_sides(of, make_side, making);
	if (making->asked[0].error) {
		g_clear_error(&making->asked[1].error);
		g_propagate_error(error, making->asked[0].error);
		return false;
	}
	if (making->asked[1].error)
		g_propagate_error(error, making->asked[1].error);
	return making->diff->sides[0].requests && making->diff->sides[1].requests;
}

static void side_clear(struct side *side)
{
	costs_free(side->costs);
	user_requests_free(side->requests);
	g_free(side->label);
}

/* --- causes -------------------------------------------------------------------------- */

/* Variance of the mean over `n` requests; < 0: too few. */
static double variance_of_mean(const struct user_cause *cause, guint n)
{
	double mean;

	if (n < 2)
		return -1;
	if (!cause)
		return 0;
	mean = (double) cause->value / n;
	return MAX(0, (cause->squares - n * mean * mean) / (n - 1)) / n;
}

static struct difference *
difference_of(struct diff *diff, GHashTable *index, const struct user_cause *cause)
{
	char *key = g_strdup_printf("%s %s", cause->kind, cause->label);
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));
	struct difference fresh = {.kind = cause->kind};

	if (place) {
		g_free(key);
		return &g_array_index(diff->causes, struct difference, place - 1);
	}
	fresh.label = g_strdup(cause->label);
	g_array_append_val(diff->causes, fresh);
	g_hash_table_insert(index, key, GUINT_TO_POINTER(diff->causes->len));
	return &g_array_index(diff->causes, struct difference, diff->causes->len - 1);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct difference *x = a, *y = b;
	double size_x = fabs(x->mean[1] - x->mean[0]), size_y = fabs(y->mean[1] - y->mean[0]);
	int kind;

	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	kind = strcmp(x->kind, y->kind);
	return kind ? kind : strcmp(x->label, y->label);
}

/* A request that a cause did not touch counts as 0, so variances are over all requests. */
static void compare_causes(struct diff *diff)
{
	g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	guint n[2];

	for (int side = 0; side < 2; side++) {
		const struct costs *costs = diff->sides[side].costs;

		n[side] = diff->sides[side].requests->listed->len;
		for (guint i = 0; i < costs->causes->len; i++) {
			const struct user_cause *cause =
				&g_array_index(costs->causes, struct user_cause, i);
			struct difference *at = difference_of(diff, index, cause);

			at->mean[side] = n[side] ? (double) cause->value / n[side] : 0;
			at->requests[side] = cause->requests;
			at->seen[side] = cause;
			if (cause->change)
				at->change = cause->change;
		}
		diff->mean[side] = n[side] ? (double) costs->total / n[side] : 0;
	}
	for (guint i = 0; i < diff->causes->len; i++) {
		struct difference *at = &g_array_index(diff->causes, struct difference, i);
		double variance[2];

		for (int side = 0; side < 2; side++)
			variance[side] = variance_of_mean(at->seen[side], n[side]);
		at->error = variance[0] < 0 || variance[1] < 0
				    ? -1
				    : DEVIATIONS * sqrt(variance[0] + variance[1]);
		if (diff->retimed) /* of the same requests: nothing is chance */
			at->error = 0;
		at->significant = at->error >= 0 && fabs(at->mean[1] - at->mean[0]) > at->error;
	}
	g_array_sort(diff->causes, largest_first);
}

/* --- one request of each --------------------------------------------------------------- */

/* The median by latency; false: there is none. */
static bool median_of(const struct side *side, uint32_t *place)
{
	const GArray *listed = side->requests->listed;
	g_autoptr(GArray) order = requests_by_latency(side->requests, listed, false);

	if (!order->len)
		return false;
	*place = g_array_index(listed, uint32_t, g_array_index(order, guint, (order->len - 1) / 2));
	return true;
}

/* The request that the rules change most; false: there is none. */
static bool most_changed(const struct diff *diff, uint32_t *place)
{
	const struct user_requests *requests = diff->sides[0].requests;
	int64_t most = -1;

	for (guint i = 0; i < requests->listed->len; i++) {
		uint32_t at = g_array_index(requests->listed, uint32_t, i);
		const struct user_request *request = user_request_at(requests, at);
		struct way way = {request->first, request->last, request->begin, request->end};
		int64_t saved = is_thread(way.first) && is_thread(way.thread)
					? llabs(retimed_saved(diff->retimed->replay->retimed,
							      CHANGED, &way))
					: -1;

		if (saved > most) {
			most = saved;
			*place = at;
		}
	}
	return most >= 0;
}

/* One of each side: the medians, or what changes most and the same re-timed. */
static bool choose_aligned(struct diff *diff)
{
	if (diff->retimed) {
		if (!most_changed(diff, &diff->aligned[0]))
			return false;
		diff->aligned[1] = diff->aligned[0];
		return true;
	}
	return median_of(&diff->sides[0], &diff->aligned[0]) &&
	       median_of(&diff->sides[1], &diff->aligned[1]);
}

static void align_one(struct diff *diff)
{
	if (!choose_aligned(diff))
		return;
	diff->alignment = alignment_new(
		diff->sides[0].costs, user_request_at(diff->sides[0].requests, diff->aligned[0]),
		diff->sides[1].costs, user_request_at(diff->sides[1].requests, diff->aligned[1]));
}

/* --- all ---------------------------------------------------------------------------- */

static void call_difference_clear(gpointer data)
{
	traits_free(((struct call_difference *) data)->traits);
}

static void difference_clear(gpointer data)
{
	g_free(((struct difference *) data)->label);
}

/* NULL leaves it as it is. */
static void set_label(struct side *side, char *label)
{
	if (!label)
		return;
	g_free(side->label);
	side->label = label;
}

#define FOLDERS_MAX 8

/* The folder so many above the trace, without LTTng's own, which says nothing. */
static char *folder_name(const struct session *session, int above)
{
	g_autofree char *place = g_strdup(session->trace.place ? session->trace.place : "trace");

	for (int up = 0; up < above || g_str_has_suffix(place, "/kernel"); up++) {
		char *next = g_path_get_dirname(place);

		g_free(place);
		place = next;
	}
	return g_path_get_basename(place);
}

/* Traces are called by their folders, two by the last in which their places differ. */
static void label_traces(struct diff *diff)
{
	if (diff->retimed) {
		set_label(&diff->sides[0], g_strdup("as recorded"));
		set_label(&diff->sides[1], g_strdup("re-timed"));
		return;
	}
	for (int above = 0; above < FOLDERS_MAX; above++) {
		char *names[2];
		bool same;

		for (int side = 0; side < 2; side++)
			names[side] = folder_name(diff->sides[side].session, above);
		same = strcmp(names[0], names[1]) == 0 &&
		       diff->sides[0].session != diff->sides[1].session;
		for (int side = 0; side < 2; side++)
			if (!above || !same)
				set_label(&diff->sides[side], names[side]);
			else
				g_free(names[side]);
		if (!same)
			return;
	}
}

/* A side of one request is called by its number and name. */
static void name_request(struct side *side)
{
	const struct user_request *request;
	g_autofree char *label = NULL;

	if (!side->of_requests || side->requests->listed->len != 1)
		return;
	request =
		user_request_at(side->requests, g_array_index(side->requests->listed, uint32_t, 0));
	label = user_request_label(side->requests, request);
	g_free(side->label);
	side->label = g_strdup_printf("#%u %s", request->id, label);
}

static bool sides_init(struct diff *diff, const struct session *session,
		       const struct session *other, GError **error)
{
	const struct request_options *options = &session->asked.options->requests;
	g_autofree char *fast = NULL, *slow = NULL;
	const struct session *const of[2] = {session, other ? other : session};
	const char *a = options->a, *b = options->b;
	struct making_sides making = {.diff = diff};

	if (!other && !options->slow_fast && !(a && b)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "diff of one trace needs two sides: --slow-fast p90, or --a and --b, "
			    "each a request (--a 3 --b 5), several (--a p0..p50) or a window "
			    "(--a 10:00:01..10:00:02); or two traces: whylate diff A B");
		return false;
	}
	if (options->slow_fast) {
		fast = g_strdup_printf("p0..%s", options->slow_fast);
		slow = g_strdup_printf("%s..p100", options->slow_fast);
		a = fast;
		b = slow;
	}
	making.asked[0] = (struct side_asked) {options->slow_fast ? "slow-fast" : "a", a, NULL};
	making.asked[1] = (struct side_asked) {options->slow_fast ? "slow-fast" : "b", b, NULL};
	if (!make_sides(&making, of, error))
		return false;
	label_traces(diff);
	if (options->slow_fast) {
		set_label(&diff->sides[0], g_strdup_printf("fast (up to %s)", options->slow_fast));
		set_label(&diff->sides[1], g_strdup_printf("slow (above %s)", options->slow_fast));
	} else {
		set_label(&diff->sides[0], g_strdup(a));
		set_label(&diff->sides[1], g_strdup(b));
	}
	name_request(&diff->sides[0]);
	name_request(&diff->sides[1]);
	return true;
}

/* The way to a target is compared: of --target, or of one thread where no requests are asked
 * for. */
static bool is_of_target(const struct session *session, const struct session *other)
{
	const struct options *options = session->asked.options;
	uint32_t threads[2];

	return other &&
	       (options->target ||
		(options->threads->len == 1 && !options->processes->len &&
		 !request_options_said(options) && target_threads(session, other, threads)));
}

static bool compare_target(struct diff *diff, const uint32_t threads[2], GError **error)
{
	diff->target = target_new(diff->match, threads, error);
	for (int side = 0; diff->target && side < 2; side++) {
		diff->sides[side] = (struct side) {.session = diff->match->session[side],
						   .from = diff->target->from[side],
						   .to = diff->target->to[side]};
		diff->mean[side] = (double) target_ns(diff->target, side);
	}
	if (diff->target)
		label_traces(diff);
	return diff->target != NULL;
}

static bool compare_requests(struct diff *diff, const struct session *session,
			     const struct session *other, GError **error)
{
	uint32_t threads[2];

	if (!sides_init(diff, session, other, error))
		return false;
	compare_causes(diff);
	align_one(diff);
	if (!diff->alignment && other && target_changed_most(diff->match, threads))
		diff->most = target_new(diff->match, threads, NULL);
	return true;
}

/* The second side is the run re-timed. */
static bool retime_other(struct diff *diff, const struct session *session,
			 const struct session **other, GError **error)
{
	if (!session->asked.options->what_if->len)
		return true;
	if (*other)
		return options_refuse(error, "--what-if compares one trace with its re-timed "
					     "self: name one trace, not two");
	diff->retimed = retimed_run_new(session, error);
	if (!diff->retimed)
		return false;
	*other = diff->retimed->session;
	return true;
}

static bool compare_both(struct diff *diff, const struct session *session,
			 const struct session *other, GError **error)
{
	uint32_t threads[2] = {NO_THREAD, NO_THREAD};
	bool of_target = is_of_target(session, other);

	if (of_target)
		target_threads(session, other, threads);
	diff->match = thread_match_new(session, other ? other : session, threads);
	if (session->asked.options->target && !other)
		return options_refuse(error, "--target of diff needs two traces, whylate diff A B "
					     "--target EVENT, or --what-if: it compares the ways "
					     "to that event");
	return of_target ? compare_target(diff, threads, error)
			 : compare_requests(diff, session, other, error);
}

struct diff *diff_new(const struct session *session, const struct session *other, GError **error)
{
	struct diff *diff = g_new0(struct diff, 1);

	diff->causes = g_array_new(FALSE, FALSE, sizeof(struct difference));
	g_array_set_clear_func(diff->causes, difference_clear);
	diff->calls = g_array_new(FALSE, FALSE, sizeof(struct call_difference));
	g_array_set_clear_func(diff->calls, call_difference_clear);
	if (!retime_other(diff, session, &other, error) ||
	    !compare_both(diff, session, other, error)) {
		diff_free(diff);
		return NULL;
	}
	diff_calls(diff);
	diff_apart(diff);
	diff->functions = diff_functions(diff);
	diff->counters = diff_counters(diff);
	diff->forks = call_forks_new(diff);
	if (other)
		diff->settings = settings_compare(session, other);
	return diff;
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	alignment_free(diff->alignment);
	g_array_free(diff->causes, TRUE);
	g_array_free(diff->calls, TRUE);
	traits_free(diff->traits);
	if (diff->functions)
		g_array_free(diff->functions, TRUE);
	if (diff->counters)
		g_ptr_array_free(diff->counters, TRUE);
	settings_compared_free(diff->settings);
	if (diff->forks)
		g_array_free(diff->forks, TRUE);
	side_clear(&diff->sides[1]); /* it may use the first one's requests */
	side_clear(&diff->sides[0]);
	target_free(diff->target);
	target_free(diff->most);
	if (diff->match)
		thread_match_free(diff->match);
	retimed_run_free(diff->retimed);
	g_free(diff);
}
