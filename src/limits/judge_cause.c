/* SPDX-License-Identifier: MIT */
/* Why a limit is exceeded; see judge.h.
 *
 *   operations   the root cause that holds most of the time of the slowest peak (roots.h)
 *   requests     the largest cause of the requests beyond the limit (request_costs.h)
 *   states       the largest part of that state, of the thread with most of it, and its longest
 * wait;                of too little of one, what there was most of instead
 *   duration     the first sentence of the verdict over that stretch (path.h)
 */
#include "limits/judge_cause.h"

#include <string.h>

#include "waits/causes.h"
#include "waits/wait.h"
#include "tracking/request_costs.h"
#include "tracking/request_list.h"
#include "path/path.h"
#include "latencies/roots.h"
#include "run/command.h"
#include "waits/summary.h"
#include "util/pattern.h"

static bool is_too_little(const struct judgement *judgement)
{
	return judgement->limit->bound.comparison >= UNDER;
}

static char *path_words(const struct root *root, const struct peak *peak, bool of_all)
{
	g_autoptr(GPtrArray) path = root_path(root);
	g_autofree char *joined = NULL;

	for (guint i = 0; i < path->len; i++) {
		char *plain = g_ptr_array_index(path, i);

		path->pdata[i] = part_words(plain);
		g_free(plain);
	}
	if (path->len == 2 && part_is_own(root->part)) {
		g_free(path->pdata[1]);
		path->pdata[1] = g_strdup("its own work");
	}
	g_ptr_array_add(path, NULL);
	joined = g_strjoinv(" > ", (char **) path->pdata);
	return g_strdup_printf("%s: %.0f %% of the time of %s %" G_GUINT64_FORMAT, joined,
			       peak->sum > 0 ? 100.0 * (double) root->ns / (double) peak->sum : 0,
			       of_all ? "all" : "the slowest", peak->count);
}

static const struct root *largest_root(const struct peak *peak)
{
	const struct root *largest = NULL;

	for (guint i = 0; peak->roots && i < peak->roots->len; i++) {
		const struct root *at = &g_array_index(peak->roots, struct root, i);

		if (!largest || at->ns > largest->ns)
			largest = at;
	}
	return largest;
}

/* `per`: to that thread, or all of its process. */
static void narrow(struct measure_scope *scope, const struct session *session, uint32_t thread,
		   bool process)
{
	const struct thread *of = model_thread(&session->trace.model, thread);

	g_array_set_size(scope->selected, 0);
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *at = model_thread(&session->trace.model, i);

		if (i == thread ||
		    (process && of->pid >= 0 && at->pid == of->pid && at->host == of->host))
			g_array_append_val(scope->selected, i);
	}
	scope->session.asked.selected = scope->selected;
}

/* The operation (and thread) that the subject names, profiled again, with its roots. */
static char *of_operation(const struct session *session, const struct judgement *judgement)
{
	struct limit limit = *judgement->limit;
	g_autofree char *operation =
		g_strndup(judgement->subject, strcspn(judgement->subject, ","));
	struct measure_scope scope;
	struct profiles *profiles;
	char *words = NULL;

	limit.operation = operation;
	if (measure_scope_init(&scope, session, &limit)) {
		if (limit.per && is_thread(judgement->thread))
			narrow(&scope, session, judgement->thread, limit.per == LIMIT_PER_PROCESS);
		profiles = profiles_new(&scope.session, 1, NULL);
		if (profiles && profiles->list->len) {
			const struct profile *profile = g_ptr_array_index(profiles->list, 0);
			const struct peak *slow;
			const struct root *root = NULL;

			roots_search(profiles);
			slow = profile->peaks->len ? &g_array_index(profile->peaks, struct peak,
								    profile->peaks->len - 1)
						   : NULL;
			root = slow ? largest_root(slow) : NULL;
			if (root)
				words = path_words(root, slow, profile->peaks->len == 1);
		}
		profiles_free(profiles);
	}
	measure_scope_clear(&scope);
	return words;
}

static char *of_requests(const struct session *session, const struct judgement *judgement)
{
	g_autoptr(GPtrArray) picks = g_ptr_array_new();
	struct measure_scope scope;
	struct request_scope asked = {picks, "pick", session->asked.from, session->asked.to};
	struct user_requests *requests = NULL;
	const struct user_cause *first;
	struct costs *costs = NULL;
	char *words = NULL;

	if (measure_scope_init(&scope, session, judgement->limit)) {
		scope.options.requests.metric = METRIC_LATENCY;
		requests = user_requests_new(&scope.session, &asked, NULL);
		costs = requests ? costs_new(requests) : NULL;
	}
	if (costs && costs->causes->len && costs->total > 0) {
		first = &g_array_index(costs->causes, struct user_cause, 0);
		words = g_strdup_printf("%s%s%s: %.0f %% of the time of all %u requests",
					first->kind, *first->label ? " " : "", first->label,
					100.0 * (double) first->value / (double) costs->total,
					requests->listed->len);
	}
	costs_free(costs);
	user_requests_free(requests);
	measure_scope_clear(&scope);
	return words;
}

/* The largest node under `node` whose key the pattern names. */
static const struct node *largest_named(const struct node *node, const char *pattern)
{
	const struct node *largest = NULL;

	for (guint i = 0; i < node->children->len; i++) {
		const struct node *child = g_ptr_array_index(node->children, i);
		const struct node *below = largest_named(child, pattern);
		g_autofree char *key = node_key(child);

		if (!below && pattern_match(pattern, key))
			below = child;
		if (below && (!largest || below->ns > largest->ns))
			largest = below;
	}
	return largest;
}

/* Waits of a thread in one call, as far as limits count them. */
struct call_waits {
	int64_t ns, longest;
	uint64_t count;
	struct wait wait; /* the longest */
};

/* Those that the pattern names and that took most; false: none. */
static bool largest_waits(const struct session *session, const struct judgement *judgement,
			  const char *pattern, struct call_waits *largest)
{
	g_autoptr(GHashTable) calls = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	struct spans spans;
	struct span span;
	GHashTableIter iter;
	gpointer leaf, value;

	*largest = (struct call_waits) {0};
	spans_begin(&spans, session, judgement->thread, judgement->begin, judgement->end);
	while (spans_next(&spans, &span)) {
		struct call_waits *call = g_hash_table_lookup(calls, GUINT_TO_POINTER(span.leaf));

		if (!leaf_is_blocked(span.leaf) ||
		    !measure_counts(session, judgement->thread, &span))
			continue;
		if (!call)
			g_hash_table_insert(calls, GUINT_TO_POINTER(span.leaf),
					    call = g_new0(struct call_waits, 1));
		call->ns += span.end - span.begin;
		call->count++;
		if (span.end - span.begin <= call->longest)
			continue;
		call->longest = span.end - span.begin;
		call->wait = wait_of(session, judgement->thread, &span);
		wait_cut_at(&call->wait, session, judgement->end);
	}
	g_hash_table_iter_init(&iter, calls);
	while (g_hash_table_iter_next(&iter, &leaf, &value)) {
		const struct call_waits *call = value;
		g_autofree char *key = leaf_key(session, GPOINTER_TO_UINT(leaf));

		if (pattern_match(pattern, key) &&
		    (call->ns > largest->ns || (call->ns == largest->ns && call->count &&
						call->wait.begin < largest->wait.begin)))
			*largest = *call;
	}
	return largest->count;
}

static void append_thread(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d): ", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid);
}

static char *of_waits(const struct session *session, const struct judgement *judgement)
{
	GString *text = g_string_new(NULL);
	struct call_waits largest;
	char length[32];

	if (largest_waits(session, judgement, judgement->limit->bound.state, &largest)) {
		g_autofree char *key = leaf_key(session, largest.wait.leaf);
		struct cause cause = wait_cause(session, &largest.wait);
		g_autofree char *words = cause_words(&cause);

		append_thread(text, session, judgement->thread);
		g_string_append_printf(text, "%s, %s", key, when_duration(length, largest.ns));
		if (largest.count > 1)
			g_string_append_printf(text, " in %" G_GUINT64_FORMAT " waits, %s at most",
					       largest.count,
					       when_duration(length, largest.longest));
		g_string_append_printf(text, "; %s", words);
		cause_clear(&cause);
	}
	return g_string_free(text, !text->len);
}

/* Too little of a state: what there was most of instead. */
static char *of_states(const struct session *session, const struct judgement *judgement)
{
	const char *state = is_too_little(judgement) ? "*" : judgement->limit->bound.state;
	GString *text;
	struct node *tree;
	const struct node *node;
	char length[32];

	if (g_str_has_prefix(state, "blocked"))
		return of_waits(session, judgement);
	text = g_string_new(NULL);
	tree = summary_new(session, judgement->thread, judgement->begin, judgement->end);
	node = largest_named(tree, state);
	if (node) {
		g_autofree char *key = node_key(node);

		append_thread(text, session, judgement->thread);
		g_string_append_printf(text, "%s, %s", key, when_duration(length, node->ns));
	}
	node_free(tree);
	return g_string_free(text, !text->len);
}

static char *of_duration(const struct session *session, const struct judgement *judgement)
{
	struct path *path = path_new(session, judgement->thread, judgement->begin, judgement->end);
	GPtrArray *verdict = verdict_new(session, path, judgement->begin, judgement->end, NULL);
	char *words = verdict->len ? g_strdup(g_ptr_array_index(verdict, 0)) : NULL;

	g_ptr_array_unref(verdict);
	path_free(path);
	return words;
}

static char *buffers_full(const struct session *session)
{
	g_autofree char *command =
		suggested_command(session, &(struct suggestion) {.command = "check"});

	return g_strdup_printf("the tracer's buffers were full; %s says how to make them larger",
			       command);
}

char *judgement_cause(const struct session *session, const struct judgement *judgement)
{
	const struct limit *limit = judgement->limit;
	enum limit_function function = limit->bound.function;

	/* how many there are, and that something was quick, has no cause in a trace's waits */
	if (function == LIMIT_COUNT || (function != LIMIT_STATE && is_too_little(judgement)))
		return NULL;

	if (function == LIMIT_LOST)
		return buffers_full(session);
	if (limit->requests)
		return of_requests(session, judgement);
	if (limit->operation)
		return of_operation(session, judgement);
	if (!is_thread(judgement->thread) || judgement->begin >= judgement->end)
		return NULL;
	return function == LIMIT_DURATION ? of_duration(session, judgement)
					  : of_states(session, judgement);
}
