/* SPDX-License-Identifier: MIT */
/* Functions: what their records are made of, and JSON (whylate-functions-1) and CSV of them. */
#include "functions/functions_report.h"

#include "functions/sample_tree.h"

#include "functions/call_timeline.h"
#include "symbols/symbols.h"
#include "waits/state_names.h"

static const struct functions *functions_of(const struct report *report)
{
	return ((const struct functions_report *) report->data)->functions;
}

static struct call_tree *tree_of(const struct report *report)
{
	return functions_of(report)->tree;
}

/* --- times ---------------------------------------------------------------------------------- */

int64_t times_sum(const int64_t times[4])
{
	return times[0] + times[1] + times[2] + times[3];
}

/* What arrays by enum wib are read as. */
struct times {
	int64_t wib[4];
};

GETTER(int64_t, times_ns, struct times, times_sum(row->wib));

static const struct column times_columns[] = {
	{"ns", COLUMN_NS, .number = times_ns}, COLUMNS_WIB(struct times, wib), {0}};

/* --- trees ---------------------------------------------------------------------------------- */

static uint32_t node_place(const struct report *report, const struct call_node *node)
{
	return (uint32_t) (node - call_node_at(tree_of(report), 0));
}

GETTER(const char *, node_kind, struct call_node, call_node_kind_text(row));
GETTER(char *, node_name, struct call_node,
       call_node_name(tree_of(report), node_place(report, row)));
GETTER(const void *, node_at, uint32_t, call_node_at(tree_of(report), *row));
GETTER(bool, has_children, struct call_node, row->children->len > 0);
GETTER(bool, has_waits, struct call_node, row->waits->len > 0);

static const struct column node_columns[] = {
	{"kind", COLUMN_TEXT, .text = node_kind},
	{"name", COLUMN_TEXT, .owned = node_name},
	{"calls", COLUMN_WHOLE, FIELD(struct call_node, calls)},
	{"open", COLUMN_WHOLE, FIELD(struct call_node, open)},
	{"inclusive", COLUMN_OBJECT, FIELD_HERE(struct call_node, all), .columns = times_columns},
	{"exclusive", COLUMN_OBJECT, FIELD_HERE(struct call_node, own), .columns = times_columns},
	{"children", COLUMN_LIST, FIELD(struct call_node, children), .row = node_at,
	 .when = has_children},
	{"waits", COLUMN_LIST, FIELD(struct call_node, waits), .row = node_at, .when = has_waits},
	{0}};

GETTER(int64_t, life_begin, uint32_t,
       MAX(model_thread(&report->session->trace.model, *row)->begin, report->session->asked.from));
GETTER(int64_t, life_end, uint32_t,
       MIN(model_thread(&report->session->trace.model, *row)->end, report->session->asked.to));
GETTER(const void *, threads_of, struct call_node,
       g_ptr_array_index(tree_of(report)->threads, node_place(report, row)));

static const struct column life_columns[] = {{NULL, COLUMN_THREAD, ROW_NUMBER},
					     {"begin", COLUMN_TIME, .number = life_begin},
					     {"end", COLUMN_TIME, .number = life_end},
					     {0}};

static const struct column root_columns[] = {
	{"name", COLUMN_TEXT, .owned = node_name},
	{"threads", COLUMN_LIST, .at = threads_of, .columns = life_columns},
	{"tree", COLUMN_OBJECT, .columns = node_columns},
	{0}};

/* From the threads down to the node. */
static void put_names(const struct report *report, uint32_t place)
{
	g_autofree char *name = NULL;

	if (place == NO_NODE)
		return;
	put_names(report, call_node_at(tree_of(report), place)->parent);
	name = call_node_name(tree_of(report), place);
	json_put_text(report->output, NULL, name);
}

static void put_kinds(const struct report *report, uint32_t place)
{
	const struct call_node *node;

	if (place == NO_NODE)
		return;
	node = call_node_at(tree_of(report), place);
	put_kinds(report, node->parent);
	json_put_text(report->output, NULL, call_node_kind_text(node));
}

static void put_bottleneck(const struct report *report, uint32_t root, uint32_t place)
{
	int64_t whole = functions_scope(functions_of(report), root);
	int64_t ns = functions_node_time(functions_of(report), place);
	struct output *output = report->output;

	json_begin(output, NULL, '{', LINES_NOT);
	json_begin(output, "path", '[', LINES_NOT);
	put_names(report, place);
	json_end(output, ']');
	json_begin(output, "kinds", '[', LINES_NOT);
	put_kinds(report, place);
	json_end(output, ']');
	json_put_whole(output, "ns", ns);
	json_put_real(output, "share", whole ? (double) ns / (double) whole : 0.0);
	json_put_whole(output, "calls", (int64_t) call_node_at(tree_of(report), place)->calls);
	json_end(output, '}');
}

/* The walk: each call path that is a bottleneck, before what is below it. */
static void put_bottlenecks(const struct report *report, uint32_t root, uint32_t place)
{
	const struct call_node *node = call_node_at(tree_of(report), place);
	const GArray *below[] = {node->children, node->waits};

	if (place != root) /* the threads are no call */
		put_bottleneck(report, root, place);
	for (size_t k = 0; k < G_N_ELEMENTS(below); k++)
		for (guint i = 0; i < below[k]->len; i++) {
			uint32_t at = g_array_index(below[k], uint32_t, i);

			if (functions_is_bottleneck(functions_of(report), root, at))
				put_bottlenecks(report, root, at);
		}
}

static guint write_bottlenecks(const struct report *report, const void *row)
{
	const GArray *roots = tree_of(report)->roots;
	guint shown = rows_limited(report->session, roots->len);

	(void) row;
	for (guint i = 0; i < shown; i++) {
		uint32_t root = g_array_index(roots, uint32_t, i);

		put_bottlenecks(report, root, root);
	}
	return 0;
}

/* --- functions ------------------------------------------------------------------------------ */

/* "read_all (io.c:12)" */
static char *function_text(const struct report *report, const void *data)
{
	const struct function_row *row = data;
	g_autofree char *base = row->place ? g_path_get_basename(row->place) : NULL;

	(void) report;
	return g_strconcat(row->name, row->kind == NODE_SAMPLED ? " (at waits)" : "",
			   base ? " (" : "", base ? base : "", base ? ")" : "", NULL);
}

static const char *function_kind(const struct report *report, const void *data)
{
	const struct function_row *row = data;
	struct call_node node = {.kind = row->kind, .what = row->what};

	(void) report;
	return call_node_kind_text(&node);
}

GETTER(int64_t, all_ns, struct function_row, times_sum(row->all));
GETTER(int64_t, own_ns, struct function_row, times_sum(row->own));
GETTER(int64_t, own_blocked_ns, struct function_row, row->own[WIB_BLOCKED] - row->idle);

#define ALL_NS(which) COLUMN_NS, FIELD(struct function_row, all[which])
#define OWN_NS(which) COLUMN_NS, FIELD(struct function_row, own[which])

const struct column function_columns[] = {
	{"kind", COLUMN_TEXT, .text = function_kind, .csv = {1}},
	{"name", COLUMN_TEXT, FIELD(struct function_row, name), .csv = {2, "function"}},
	{"place", COLUMN_TEXT, FIELD(struct function_row, place), .csv = {3}},
	{"calls", COLUMN_WHOLE, FIELD(struct function_row, calls), .csv = {4},
	 .table = {1, "CALLS", 8}},
	{"open", COLUMN_WHOLE, FIELD(struct function_row, open), .csv = {5}},
	{"inclusive", COLUMN_OBJECT, FIELD_HERE(struct function_row, all),
	 .columns = times_columns},
	{"exclusive", COLUMN_OBJECT, FIELD_HERE(struct function_row, own),
	 .columns = times_columns},
	{NULL, COLUMN_NS, .number = all_ns, .table = {2, "WITH ALL", 9}},
	{NULL, COLUMN_NS, .number = own_ns, .table = {3, "ITSELF", 9, "  "}},
	{NULL, ALL_NS(WIB_WORKING), .csv = {6, "working_ns"}},
	{NULL, ALL_NS(WIB_INTERRUPTED), .csv = {7, "interrupted_ns"}},
	{NULL, ALL_NS(WIB_BLOCKED), .csv = {8, "blocked_ns"}},
	{NULL, ALL_NS(WIB_UNKNOWN), .csv = {9, "unknown_ns"}},
	{NULL, OWN_NS(WIB_WORKING), .csv = {10, "own_working_ns"}, .table = {4, "WORKED", 9}},
	{NULL, OWN_NS(WIB_INTERRUPTED), .csv = {11, "own_interrupted_ns"},
	 .table = {5, "INTERR.", 9}},
	{NULL, OWN_NS(WIB_BLOCKED), .csv = {12, "own_blocked_ns"}},
	{NULL, OWN_NS(WIB_UNKNOWN), .csv = {13, "own_unknown_ns"}},
	{NULL, COLUMN_NS, .number = own_blocked_ns, .table = {6, "BLOCKED", 9}},
	{"idle_ns", COLUMN_NS, FIELD(struct function_row, idle), .csv = {14, "own_idle_ns"},
	 .table = {7, "IDLE", 9}},
	{NULL, COLUMN_TEXT, .owned = function_text, .table = {8, "FUNCTION", 0, "  "}},
	{0}};

static char *caller_text(const struct report *report, const void *data)
{
	const struct caller *row = data;
	g_autofree char *thread = call_node_name(tree_of(report), row->root);
	g_autofree char *name = frame_name(report->session, row->what);

	return g_strconcat(thread, *row->path ? " > " : "", row->path, " > ", name, NULL);
}

GETTER(char *, caller_threads, struct caller, call_node_name(tree_of(report), row->root));
GETTER(char *, called_name, struct caller, frame_name(report->session, row->what));
GETTER(int64_t, called_ns, struct caller, times_sum(row->times));

const struct column caller_columns[] = {
	{"threads", COLUMN_TEXT, .owned = caller_threads},
	{"path", COLUMN_TEXT, FIELD(struct caller, path)},
	{"name", COLUMN_TEXT, .owned = called_name},
	{"calls", COLUMN_WHOLE, FIELD(struct caller, calls), .table = {1, "CALLS", 8}},
	{"inclusive", COLUMN_OBJECT, FIELD_HERE(struct caller, times), .columns = times_columns},
	{NULL, COLUMN_NS, .number = called_ns, .table = {2, "WITH ALL", 9}},
	{NULL, COLUMN_NS, FIELD(struct caller, times[WIB_WORKING]), .table = {3, "WORKED", 9}},
	{NULL, COLUMN_NS, FIELD(struct caller, times[WIB_BLOCKED]), .table = {4, "BLOCKED", 9}},
	{NULL, COLUMN_TEXT, .owned = caller_text, .table = {5, "IN", 0, "  "}},
	{0}};

static char *interrupt_name(const struct report *report, const struct interrupt_call *call,
			    const char *idle)
{
	return call->interrupt == UINT32_MAX ? g_strdup(idle)
					     : frame_name(report->session, call->interrupt);
}

static char *interrupt_text(const struct report *report, const void *row)
{
	g_autofree char *name = frame_name(report->session,
					   ((const struct interrupt_call *) row)->what),
			*in = interrupt_name(report, row, "the idle loop");

	return g_strconcat(name, " in ", in, NULL);
}

GETTER(char *, called_there, struct interrupt_call, frame_name(report->session, row->what));
GETTER(char *, called_in, struct interrupt_call, interrupt_name(report, row, "idle"));

const struct column interrupt_call_columns[] = {
	{"name", COLUMN_TEXT, .owned = called_there},
	{"in", COLUMN_TEXT, .owned = called_in},
	{"calls", COLUMN_WHOLE, FIELD(struct interrupt_call, calls), .table = {1, "CALLS", 8}},
	{"inclusive_ns", COLUMN_NS, FIELD(struct interrupt_call, all), .table = {2, "WITH ALL", 9}},
	{"exclusive_ns", COLUMN_NS, FIELD(struct interrupt_call, own), .table = {3, "ITSELF", 9}},
	{NULL, COLUMN_TEXT, .owned = interrupt_text, .table = {4, "FUNCTION", 0, "  "}},
	{0}};

/* --- single calls --------------------------------------------------------------------------- */

static const char *const halves[] = {"whole", "entry-unseen", "open"};

GETTER(char *, name_of_frame, struct call_frame, frame_name(report->session, row->what));
GETTER(int64_t, frame_length, struct call_frame, row->end - row->begin);
GETTER(const char *, frame_seen, struct call_frame, halves[row->half]);

static const struct column frame_columns[] = {
	{"name", COLUMN_TEXT, .owned = name_of_frame},
	{"begin", COLUMN_TIME, FIELD(struct call_frame, begin)},
	{"end", COLUMN_TIME, FIELD(struct call_frame, end)},
	{"ns", COLUMN_NS, .number = frame_length},
	{"seen", COLUMN_TEXT, .text = frame_seen},
	{0}};

static const char *const difference_kinds[] = {"time", "new-call", "missing-call",
					       "number-of-calls"};

static const struct column difference_columns[] = {
	{"kind", COLUMN_TEXT, FIELD(struct instance_difference, kind), .names = difference_kinds},
	{"what", COLUMN_TEXT, FIELD(struct instance_difference, what)},
	{"ns", COLUMN_NS, FIELD(struct instance_difference, ns)},
	{"times", COLUMN_WHOLE, FIELD(struct instance_difference, times)},
	{"usually", COLUMN_WHOLE, FIELD(struct instance_difference, usually)},
	{"having", COLUMN_WHOLE, FIELD(struct instance_difference, having)},
	{0}};

/* The calls around one, and itself. */
static void put_stack(const struct report *report, const struct frames *frames, uint32_t place)
{
	if (place == NO_FRAME)
		return;
	put_stack(report, frames, frame_of(frames, place)->parent);
	json_put_row(report, NULL, frame_columns, frame_of(frames, place));
}

static guint write_stack(const struct report *report, const void *row)
{
	const struct stand_out *at = row;

	put_stack(report, call_tree_frames_of(tree_of(report), at->thread, at->what), at->frame);
	return 0;
}

GETTER(const void *, call_of, struct stand_out,
       frame_of(call_tree_frames_of(tree_of(report), row->thread, row->what), row->frame));

static const struct column stand_out_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct stand_out, thread)},
	{"call", COLUMN_OBJECT, .at = call_of, .columns = frame_columns},
	{"median_ns", COLUMN_NS, FIELD(struct stand_out, median)},
	{"excess_ns", COLUMN_NS, FIELD(struct stand_out, excess)},
	{"calls", COLUMN_WHOLE, FIELD(struct stand_out, calls)},
	{"compared_with", COLUMN_TIME, FIELD(struct stand_out, usual_begin)},
	{"stack", COLUMN_LIST, .each = write_stack},
	{"differences", COLUMN_LIST, FIELD(struct stand_out, differences),
	 .columns = difference_columns},
	{0}};

static guint write_stand_outs(const struct report *report, const void *row)
{
	const struct stand_outs *found = ((const struct functions_report *) report->data)->found;

	(void) row;
	for (guint i = 0; i < found->list->len; i++)
		json_put_row(report, NULL, stand_out_columns,
			     &g_array_index(found->list, struct stand_out, i));
	return found->omitted;
}

static guint write_open_calls(const struct report *report, const void *row)
{
	const struct unreturned *at = row;
	const struct frames *frames = call_tree_frames(tree_of(report), at->thread);

	for (guint i = 0; i < at->frames->len; i++)
		json_put_row(report, NULL, frame_columns,
			     frame_of(frames, g_array_index(at->frames, uint32_t, i)));
	return 0;
}

static const struct column unreturned_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct unreturned, thread)},
	{"longest_of_its_kind", COLUMN_BOOL, FIELD(struct unreturned, strange)},
	{"stack", COLUMN_LIST, .each = write_open_calls},
	{"cause", COLUMN_NAME, FIELD(struct unreturned, cause), .none = NONE_ZERO},
	{0}};

/* --- waits ---------------------------------------------------------------------------------- */

static GPtrArray *kernel_path(const struct session *session, uint32_t number)
{
	uint64_t words[CALLSTACK_WORDS];
	guint count = callstack_words(&session->trace.flow.callstacks, number, words);

	return callpath_new(session->found.symbols, words, count);
}

GPtrArray *wait_path_new(const struct session *session, const struct wait_stack *wait,
			 enum wait_path which)
{
	const struct callpaths *paths =
		callpaths_at(&session->trace.flow.callstacks, wait->block->callpaths);
	uint32_t waker = wait->block->waker;

	switch (which) {
	case PATH_KERNEL:
		return wait->kernel ? kernel_path(session, wait->kernel) : NULL;
	case PATH_USER:
		return wait->user
			       ? user_callpath_new(session, wait->thread, wait->begin, wait->user)
			       : NULL;
	case PATH_WAKER_KERNEL:
		return paths->waker_kernel ? waker_callpath_new(session, paths->waker_kernel)
					   : NULL;
	default:
		return paths->waker_user && is_thread(waker)
			       ? user_callpath_new(session, waker, wait->begin + wait->longest,
						   paths->waker_user)
			       : NULL;
	}
}

static void put_wait_path(const struct report *report, const char *key,
			  const struct wait_stack *wait, enum wait_path which)
{
	g_autoptr(GPtrArray) path = wait_path_new(report->session, wait, which);

	if (!path) {
		json_put_null(report->output, key);
		return;
	}
	json_begin(report->output, key, '[', LINES_NOT);
	for (guint i = 0; i < path->len; i++)
		json_put_text(report->output, NULL, g_ptr_array_index(path, i));
	json_end(report->output, ']');
}

static void write_paths(const struct report *report, const void *row)
{
	put_wait_path(report, "kernel", row, PATH_KERNEL);
	put_wait_path(report, "user", row, PATH_USER);
}

static void write_waker_paths(const struct report *report, const void *row)
{
	put_wait_path(report, "woken_kernel", row, PATH_WAKER_KERNEL);
	put_wait_path(report, "woken_user", row, PATH_WAKER_USER);
}

GETTER(char *, wait_threads, struct wait_stack, call_node_name(tree_of(report), row->root));
GETTER(int64_t, wait_tid, struct wait_stack,
       model_thread(&report->session->trace.model, row->thread)->tid);

static const struct column longest_columns[] = {
	{"begin", COLUMN_TIME, FIELD(struct wait_stack, begin)},
	{"ns", COLUMN_NS, FIELD(struct wait_stack, longest)},
	{"tid", COLUMN_WHOLE, .number = wait_tid},
	{NULL, COLUMN_WRITTEN, .write = write_waker_paths},
	{0}};

static const struct column wait_columns[] = {
	{"name", COLUMN_TEXT, .owned = wait_threads},
	{"leaf", COLUMN_LEAF, FIELD(struct wait_stack, leaf)},
	{"count", COLUMN_WHOLE, FIELD(struct wait_stack, count)},
	{"ns", COLUMN_NS, FIELD(struct wait_stack, ns)},
	{NULL, COLUMN_WRITTEN, .write = write_paths},
	{"longest", COLUMN_OBJECT, .columns = longest_columns},
	{0}};

/* --- the timeline --------------------------------------------------------------------------- */

static const char *const rectangle_kinds[] = {"call", "interrupt", "wait", "ready"};

GETTER(int64_t, rectangle_length, struct rectangle, row->end - row->begin);
GETTER(char *, rectangle_name, struct rectangle,
       rectangle_is_call(row) ? frame_name(report->session, row->what)
			      : leaf_key(report->session, row->span.leaf));
GETTER(bool, is_call, struct rectangle, rectangle_is_call(row));

static const struct column rectangle_columns[] = {
	{"kind", COLUMN_TEXT, FIELD(struct rectangle, kind), .names = rectangle_kinds},
	{"begin", COLUMN_TIME, FIELD(struct rectangle, begin)},
	{"end", COLUMN_TIME, FIELD(struct rectangle, end)},
	{"ns", COLUMN_NS, .number = rectangle_length},
	{"depth", COLUMN_WHOLE, FIELD(struct rectangle, depth)},
	{"name", COLUMN_TEXT, .owned = rectangle_name},
	{"seen", COLUMN_TEXT, FIELD(struct rectangle, half), .names = halves, .when = is_call},
	{0}};

static void put_rectangle(const struct report *report, uint32_t thread, const struct rectangle *at)
{
	json_begin(report->output, NULL, '{', LINES_NOT);
	json_put_members(report, rectangle_columns, at);
	if (!rectangle_is_call(at)) {
		struct cause cause = rectangle_cause(report->session, thread, at);

		json_put_row(report, "cause", cause_columns, &cause);
		cause_clear(&cause);
	}
	json_end(report->output, '}');
}

static guint write_rectangles(const struct report *report, const void *row)
{
	const uint32_t *thread = row;
	g_autoptr(GArray) list = call_timeline_new(tree_of(report), *thread);

	for (guint i = 0; i < list->len; i++) {
		if (json_is_full(report, i))
			return list->len - i;
		put_rectangle(report, *thread, &g_array_index(list, struct rectangle, i));
	}
	return 0;
}

static const struct column timeline_columns[] = {
	{NULL, COLUMN_THREAD, ROW_NUMBER},
	{"rectangles", COLUMN_LIST, .each = write_rectangles},
	{0}};

static guint write_timelines(const struct report *report, const void *row)
{
	const GPtrArray *all = tree_of(report)->threads;
	guint written = 0, omitted = 0;

	(void) row;
	for (guint i = 0; i < all->len; i++) {
		struct rows threads = ROWS((const GArray *) g_ptr_array_index(all, i));

		for (guint k = 0; k < threads.count; k++)
			if (json_is_full(report, written)) {
				omitted++;
			} else {
				json_put_row(report, NULL, timeline_columns, rows_at(&threads, k));
				written++;
			}
	}
	return omitted;
}

/* --- the report ----------------------------------------------------------------------------- */

static const char *const binary_states[] = {
	[BINARY_NAMED] = "named",          [BINARY_UNCHECKED] = "unchecked",
	[BINARY_EXPORTS] = "exports-only", [BINARY_MISSING] = "missing",
	[BINARY_OTHER] = "other-build",    [BINARY_STRIPPED] = "stripped",
	[BINARY_UNREADABLE] = "unreadable"};

static const struct column binary_columns[] = {
	{"path", COLUMN_TEXT, FIELD(struct binary_note, path)},
	{"state", COLUMN_TEXT, FIELD(struct binary_note, state), .names = binary_states},
	{"text", COLUMN_TEXT, FIELD(struct binary_note, text)},
	{0}};

static const struct column user_columns[] = {
	{"entries", COLUMN_WHOLE, FIELD(struct user_counts, entries)},
	{"exits", COLUMN_WHOLE, FIELD(struct user_counts, exits)},
	{"entries_unseen", COLUMN_WHOLE, FIELD(struct user_counts, entries_unseen)},
	{"exits_unseen", COLUMN_WHOLE, FIELD(struct user_counts, exits_unseen)},
	{"dropped", COLUMN_WHOLE, FIELD(struct user_counts, dropped)},
	{"no_thread", COLUMN_WHOLE, FIELD(struct user_counts, no_thread)},
	{"too_deep", COLUMN_WHOLE, FIELD(struct user_counts, deep)},
	{"lost_events", COLUMN_WHOLE, FIELD(struct user_counts, lost)},
	{0}};

static const struct function_options *asked(const struct report *report)
{
	return &report->session->asked.options->functions;
}

static const char *const metrics[] = {"wall", "cpu", "blocked", "interrupted"};

GETTER(const char *, metric, void, metrics[asked(report)->metric]);
GETTER(double, threshold, void, asked(report)->threshold);
GETTER(const char *, function, void, asked(report)->function);
GETTER(bool, timeline, void, asked(report)->timeline);
GETTER(const void *, roots, void, tree_of(report)->roots);
GETTER(bool, is_limited, void, functions_of(report)->requests != NULL);
GETTER(const void *, requests, void, functions_of(report)->requests);
GETTER(const char *, request_kind, struct user_requests, user_request_kind(row));
GETTER(int64_t, request_count, struct user_requests, row->listed->len);
GETTER(const void *, user_counts, void, &report->session->trace.flow.user);

static const struct column limit_columns[] = {
	{"kind", COLUMN_TEXT, .text = request_kind},
	{"count", COLUMN_WHOLE, .number = request_count},
	{"not_picked", COLUMN_WHOLE, FIELD(struct user_requests, omitted)},
	{0}};

static void write_answer(const struct report *report, const void *row)
{
	(void) row;
	json_put_answer(report->output, functions_answer(report->data));
}

/* --- samples -------------------------------------------------------------------------------- */

GETTER(const char *, sampled_name, struct sample_node, row->function->name);
GETTER(const char *, sampled_file, struct sample_node, row->function->file);
GETTER(int64_t, sampled_in_kernel, struct sample_node, row->function->kernel);
GETTER(const char *, sampled_binary, struct sample_node, row->function->binary);
GETTER(const char *, sampled_symbol, struct sample_node, row->function->symbol);
GETTER(char *, sampled_leaf, struct sample_node, leaf_key(report->session, row->leaf));
GETTER(bool, has_binary, struct sample_node, row->function->binary != NULL);
GETTER(bool, has_leaf, struct sample_node, row->function->kernel);

static const struct column sample_node_columns[] = {
	{"name", COLUMN_TEXT, .text = sampled_name},
	{"file", COLUMN_TEXT, .text = sampled_file},
	{"kernel", COLUMN_BOOL, .number = sampled_in_kernel},
	{"leaf", COLUMN_TEXT, .owned = sampled_leaf, .when = has_leaf},
	{"binary", COLUMN_TEXT, .text = sampled_binary, .when = has_binary},
	{"symbol", COLUMN_TEXT, .text = sampled_symbol, .when = has_binary},
	{"samples", COLUMN_WHOLE, FIELD(struct sample_node, samples)},
	{"self", COLUMN_WHOLE, FIELD(struct sample_node, self)},
	{"inferred", COLUMN_WHOLE, FIELD(struct sample_node, inferred), .none = NONE_ZERO,
	 .absent = true},
	{"ns", COLUMN_NS, FIELD(struct sample_node, ns)},
	{"self_ns", COLUMN_NS, FIELD(struct sample_node, self_ns)},
	{"children", COLUMN_LIST, FIELD(struct sample_node, children)},
	{0}};

GETTER(int64_t, tree_samples, struct sample_tree, row->root->samples);
GETTER(int64_t, tree_ns, struct sample_tree, row->root->ns);
GETTER(const void *, tree_children, struct sample_tree, row->root->children);

static const struct column sample_tree_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct sample_tree, thread)},
	{"samples", COLUMN_WHOLE, .number = tree_samples},
	{"ns", COLUMN_NS, .number = tree_ns},
	{"unsampled_ns", COLUMN_NS, FIELD(struct sample_tree, unsampled)},
	{"children", COLUMN_LIST, .at = tree_children, .stored = STORED_POINTERS,
	 .columns = sample_node_columns},
	{0}};

static bool is_sampled(const struct report *report, const void *row)
{
	(void) report;
	return row && ((const struct functions *) row)->sampled->len;
}

/* --- hardware counters ---------------------------------------------------------------------- */

GETTER(const char *, counted_name, struct counted_function, row->function->name);
GETTER(const char *, counted_file, struct counted_function, row->function->file);
GETTER(int64_t, counted_in_kernel, struct counted_function, row->function->kernel);

static const struct column counted_function_columns[] = {
	{"name", COLUMN_TEXT, .text = counted_name},
	{"file", COLUMN_TEXT, .text = counted_file},
	{"kernel", COLUMN_BOOL, .number = counted_in_kernel},
	{"counters", COLUMN_OBJECT, FIELD_HERE(struct counted_function, counters),
	 .columns = counters_columns},
	{0}};

static const struct column counted_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct counted_threads, thread)},
	{"counters", COLUMN_OBJECT, FIELD_HERE(struct counted_threads, counters),
	 .columns = counters_columns},
	{"functions", COLUMN_LIST, FIELD(struct counted_threads, functions),
	 .columns = counted_function_columns},
	{0}};

static bool is_counted(const struct report *report, const void *row)
{
	(void) report;
	return row && ((const struct functions *) row)->counted->len;
}

/* --- functions that were seen to be entered --------------------------------------------------- */

GETTER(char *, reached_threads, struct reached, call_node_name(tree_of(report), row->root));
GETTER(const char *, reached_name, struct reached,
       session_text(report->session, PACK_NUMBER(row->what)));
GETTER(char *, reached_shown, struct reached, reached_text(report->session, row->what));
GETTER(bool, is_again, struct reached, row->longest > 0);

const struct column reached_columns[] = {
	{"threads", COLUMN_TEXT, .owned = reached_threads},
	{"name", COLUMN_TEXT, .text = reached_name},
	{"count", COLUMN_WHOLE, FIELD(struct reached, count), .table = {1, "ENTRIES", 8}},
	{"first", COLUMN_TIME, FIELD(struct reached, first)},
	{"last", COLUMN_TIME, FIELD(struct reached, last)},
	{"shortest_ns", COLUMN_NS, FIELD(struct reached, shortest), .when = is_again},
	{"median_ns", COLUMN_NS, FIELD(struct reached, median), .when = is_again},
	{"longest_ns", COLUMN_NS, FIELD(struct reached, longest), .when = is_again},
	{NULL, COLUMN_NS, FIELD(struct reached, shortest), .table = {2, "SHORTEST", 9}},
	{NULL, COLUMN_NS, FIELD(struct reached, median), .table = {3, "MEDIAN", 9}},
	{NULL, COLUMN_NS, FIELD(struct reached, longest), .table = {4, "LONGEST", 9}},
	{NULL, COLUMN_TEXT, .owned = reached_shown, .table = {5, "FUNCTION", 0, "  "}},
	{0}};

static bool is_reached(const struct report *report, const void *row)
{
	(void) report;
	return row && ((const struct functions *) row)->reached->len;
}

static const struct column report_columns[] = {
	COLUMNS(report_head),
	{NULL, COLUMN_WRITTEN, .write = write_answer},
	{"metric", COLUMN_TEXT, .text = metric},
	{"threshold", COLUMN_REAL, .real = threshold},
	{"function", COLUMN_TEXT, .text = function},
	{"requests", COLUMN_OBJECT, .at = requests, .columns = limit_columns, .when = is_limited},
	{"total", COLUMN_OBJECT, FIELD_HERE(struct functions, total), .columns = times_columns},
	{"threads", COLUMN_LIST, .at = roots, .row = node_at, .columns = root_columns,
	 .limited = true},
	{"bottlenecks", COLUMN_LIST, .each = write_bottlenecks},
	{"functions", COLUMN_LIST, FIELD(struct functions, rows), .columns = function_columns,
	 .limited = true},
	{"callers", COLUMN_LIST, FIELD(struct functions, callers), .columns = caller_columns,
	 .limited = true},
	{"stand_outs", COLUMN_LIST, .each = write_stand_outs},
	{"unreturned", COLUMN_LIST, FIELD(struct functions, unreturned),
	 .columns = unreturned_columns, .limited = true},
	{"waits", COLUMN_LIST, FIELD(struct functions, waits), .columns = wait_columns,
	 .limited = true},
	{"in_interrupts", COLUMN_LIST, FIELD(struct functions, in_interrupts),
	 .columns = interrupt_call_columns, .limited = true},
	{"timeline", COLUMN_LIST, .each = write_timelines, .when = timeline},
	{"sampled", COLUMN_LIST, FIELD(struct functions, sampled), .columns = sample_tree_columns,
	 .limited = true, .when = is_sampled},
	{"counted", COLUMN_LIST, FIELD(struct functions, counted), .columns = counted_columns,
	 .limited = true, .when = is_counted},
	{"reached", COLUMN_LIST, FIELD(struct functions, reached), .columns = reached_columns,
	 .limited = true, .when = is_reached},
	{"user", COLUMN_OBJECT, .at = user_counts, .columns = user_columns},
	{"binaries", COLUMN_LIST, FIELD(struct functions, notes), .columns = binary_columns},
	{0}};

void functions_json(const struct functions_report *made, struct output *output)
{
	struct report report = {made->functions->session, made, output};

	json_report(&report, "whylate-functions-1", report_columns, made->functions);
}

void functions_csv(const struct functions_report *made, struct output *output)
{
	struct report report = {made->functions->session, made, output};

	csv_heading(&report, function_columns);
	csv_rows(&report, function_columns, ROWS(made->functions->rows));
}
