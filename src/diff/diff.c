/* SPDX-License-Identifier: MIT */
/* Two sides, and how their causes differ; see diff.h. */
#include "diff/diff.h"

#include <math.h>
#include <string.h>

#include "diff/call_forks.h"
#include "tracking/request_list.h"
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

/* What --a, --b or --slow-fast say of a side. Of `like`'s session and window, its requests serve.
 * */
static bool side_init(struct side *side, const struct session *session, const struct side *like,
		      const char *option, const char *what, GError **error)
{
	g_autoptr(GPtrArray) picks = g_ptr_array_new();
	struct request_scope scope = {picks, option, session->asked.from, session->asked.to};

	*side = (struct side) {.session = session};
	if (what && is_window(what)) {
		if (!window_of(session, option, what, &scope.from, &scope.to, error))
			return false;
	} else if (what) {
		g_ptr_array_add(picks, (char *) what);
		side->of_requests = true;
	}
	side->from = scope.from;
	side->to = scope.to;
	if (like && like->session == session && like->from == scope.from && like->to == scope.to)
		side->requests = user_requests_repick(like->requests, &scope, error);
	else
		side->requests = user_requests_new(session, &scope, error);
	if (!side->requests)
		return false;
	side->costs = costs_new(side->requests);
	return true;
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
		at->significant = at->error >= 0 && fabs(at->mean[1] - at->mean[0]) > at->error;
	}
	g_array_sort(diff->causes, largest_first);
}

/* --- one request of each --------------------------------------------------------------- */

static gint by_latency(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct user_request *x = user_request_at(data, *(const uint32_t *) a),
				  *y = user_request_at(data, *(const uint32_t *) b);
	int64_t ns_x = x->end - x->begin, ns_y = y->end - y->begin;

	if (ns_x != ns_y)
		return ns_x < ns_y ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The median by latency; false: there is none. */
static bool median_of(const struct side *side, uint32_t *place)
{
	GArray *sorted = g_array_copy(side->requests->listed);
	bool any = sorted->len > 0;

	g_array_sort_with_data(sorted, by_latency, side->requests);
	if (any)
		*place = g_array_index(sorted, uint32_t, (sorted->len - 1) / 2);
	g_array_free(sorted, TRUE);
	return any;
}

static void align_medians(struct diff *diff)
{
	if (!median_of(&diff->sides[0], &diff->aligned[0]) ||
	    !median_of(&diff->sides[1], &diff->aligned[1]))
		return;
	diff->alignment = alignment_new(
		diff->sides[0].costs, user_request_at(diff->sides[0].requests, diff->aligned[0]),
		diff->sides[1].costs, user_request_at(diff->sides[1].requests, diff->aligned[1]));
}

/* --- all ---------------------------------------------------------------------------- */

static void difference_clear(gpointer data)
{
	g_free(((struct difference *) data)->label);
}

static char *trace_label(const struct session *session)
{
	g_autofree char *base =
		session->trace.place ? g_path_get_basename(session->trace.place) : NULL;
	g_autofree char *above =
		session->trace.place ? g_path_get_dirname(session->trace.place) : NULL;

	/* LTTng's own folder says nothing: the one around it is the recording's */
	if (base && strcmp(base, "kernel") == 0)
		return g_path_get_basename(above);
	return g_strdup(base ? base : "trace");
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
	const char *a = options->a, *b = options->b;

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
	if (!side_init(&diff->sides[0], session, NULL, options->slow_fast ? "slow-fast" : "a", a,
		       error) ||
	    !side_init(&diff->sides[1], other ? other : session, &diff->sides[0],
		       options->slow_fast ? "slow-fast" : "b", b, error))
		return false;
	diff->sides[0].label =
		options->slow_fast ? g_strdup_printf("fast (up to %s)", options->slow_fast)
		: a                ? g_strdup(a)
				   : trace_label(session);
	diff->sides[1].label =
		options->slow_fast ? g_strdup_printf("slow (above %s)", options->slow_fast)
		: b                ? g_strdup(b)
				   : trace_label(other ? other : session);
	name_request(&diff->sides[0]);
	name_request(&diff->sides[1]);
	return true;
}

struct diff *diff_new(const struct session *session, const struct session *other, GError **error)
{
	struct diff *diff = g_new0(struct diff, 1);

	diff->causes = g_array_new(FALSE, FALSE, sizeof(struct difference));
	g_array_set_clear_func(diff->causes, difference_clear);
	diff->calls = g_array_new(FALSE, FALSE, sizeof(struct call_difference));
	if (!sides_init(diff, session, other, error)) {
		diff_free(diff);
		return NULL;
	}
	compare_causes(diff);
	align_medians(diff);
	diff_calls(diff);
	diff->forks = call_forks_new(diff->sides);
	return diff;
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	alignment_free(diff->alignment);
	g_array_free(diff->causes, TRUE);
	g_array_free(diff->calls, TRUE);
	if (diff->forks)
		g_array_free(diff->forks, TRUE);
	side_clear(&diff->sides[1]); /* it may use the first one's requests */
	side_clear(&diff->sides[0]);
	g_free(diff);
}
