/* SPDX-License-Identifier: MIT */
/* Functions as JSON (whylate-functions-1). */
#include <inttypes.h>
#include <string.h>

#include "functions/call_timeline.h"
#include "functions/functions.h"
#include "functions/stand_outs.h"
#include "symbols/symbols.h"
#include "functions/functions_report.h"

static json_t *times_json(const int64_t times[4])
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "ns",
			 (json_int_t) (times[0] + times[1] + times[2] + times[3]), "working_ns",
			 (json_int_t) times[WIB_WORKING], "interrupted_ns",
			 (json_int_t) times[WIB_INTERRUPTED], "blocked_ns",
			 (json_int_t) times[WIB_BLOCKED], "unknown_ns",
			 (json_int_t) times[WIB_UNKNOWN]);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

/* `at` is the array's length that the limit leaves. */
static guint limited(const struct functions *functions, guint count)
{
	guint limit = functions->session->asked.options->limit;

	return limit ? MIN(limit, count) : count;
}

static void put_list(const struct functions *functions, FILE *file, const char *name, guint count,
		     json_t *(*one)(const struct functions *, guint))
{
	json_t *list = json_array();
	guint shown = limited(functions, count);
	g_autofree char *omitted = g_strconcat(name, "_omitted", NULL);

	for (guint i = 0; i < shown; i++)
		json_array_append_new(list, one(functions, i));
	json_member(file, name, list, false);
	if (shown < count)
		json_member(file, omitted, json_integer(count - shown), false);
}

/* --- trees ------------------------------------------------------------------------------ */

static json_t *node_json(const struct functions *functions, uint32_t place);

static json_t *nodes_json(const struct functions *functions, const GArray *places)
{
	json_t *list = json_array();

	for (guint i = 0; i < places->len; i++)
		json_array_append_new(list,
				      node_json(functions, g_array_index(places, uint32_t, i)));
	return list;
}

static json_t *node_json(const struct functions *functions, uint32_t place)
{
	const struct call_node *node = call_node_at(functions->tree, place);
	g_autofree char *name = call_node_name(functions->tree, place);
	json_t *object = json_pack("{s:s,s:o,s:I,s:I,s:o,s:o}", "kind", call_node_kind_text(node),
				   "name", json_text(name), "calls", (json_int_t) node->calls,
				   "open", (json_int_t) node->open, "inclusive",
				   times_json(node->all), "exclusive", times_json(node->own));

	if (node->children->len)
		json_object_set_new(object, "children", nodes_json(functions, node->children));
	if (node->waits->len)
		json_object_set_new(object, "waits", nodes_json(functions, node->waits));
	return object;
}

static json_t *thread_json(const struct functions *functions, guint i)
{
	uint32_t root = g_array_index(functions->tree->roots, uint32_t, i);
	const GArray *threads = g_ptr_array_index(functions->tree->threads, root);
	json_t *list = json_array();
	g_autofree char *name = call_node_name(functions->tree, root);

	for (guint k = 0; k < threads->len; k++) {
		uint32_t thread = g_array_index(threads, uint32_t, k);
		const struct thread *life = model_thread(&functions->session->trace.model, thread);
		json_t *head = json_thread_head(functions->session, thread);

		json_object_set_new(head, "begin",
				    json_integer(MAX(life->begin, functions->session->asked.from)));
		json_object_set_new(head, "end",
				    json_integer(MIN(life->end, functions->session->asked.to)));
		json_array_append_new(list, head);
	}
	return json_pack("{s:o,s:o,s:o}", "name", json_text(name), "threads", list, "tree",
			 node_json(functions, root));
}

/* The walk: each call path that is a bottleneck, before what is below it. */
static void add_bottlenecks(const struct functions *functions, uint32_t root, uint32_t place,
			    json_t *list)
{
	const struct call_tree *tree = functions->tree;
	const struct call_node *node = call_node_at(tree, place);
	const GArray *below[] = {node->children, node->waits};
	int64_t whole = functions_scope(functions, root);
	int64_t ns = functions_node_time(functions, place);
	json_t *path = json_array(), *kinds = json_array();

	for (uint32_t at = place; at != NO_NODE; at = call_node_at(tree, at)->parent) {
		g_autofree char *name = call_node_name(tree, at);

		json_array_insert_new(path, 0, json_text(name));
		json_array_insert_new(kinds, 0,
				      json_string(call_node_kind_text(call_node_at(tree, at))));
	}
	if (place == root) { /* the threads are no call */
		json_decref(path);
		json_decref(kinds);
	} else {
		json_array_append_new(list,
				      json_pack("{s:o,s:o,s:I,s:f,s:I}", "path", path, "kinds",
						kinds, "ns", (json_int_t) ns, "share",
						whole ? (double) ns / (double) whole : 0.0, "calls",
						(json_int_t) node->calls));
	}
	for (size_t k = 0; k < G_N_ELEMENTS(below); k++)
		for (guint i = 0; i < below[k]->len; i++) {
			uint32_t at = g_array_index(below[k], uint32_t, i);

			if (functions_is_bottleneck(functions, root, at))
				add_bottlenecks(functions, root, at, list);
		}
}

static json_t *bottlenecks_json(const struct functions *functions)
{
	json_t *list = json_array();
	guint count = limited(functions, functions->tree->roots->len);

	for (guint i = 0; i < count; i++) {
		uint32_t root = g_array_index(functions->tree->roots, uint32_t, i);

		add_bottlenecks(functions, root, root, list);
	}
	return list;
}

/* --- lists -------------------------------------------------------------------------------- */

static json_t *row_json(const struct functions *functions, guint i)
{
	const struct function_row *row = &g_array_index(functions->rows, struct function_row, i);
	struct call_node node = {.kind = row->kind, .what = row->what};

	return json_pack("{s:s,s:o,s:o,s:I,s:I,s:o,s:o}", "kind", call_node_kind_text(&node),
			 "name", json_text(row->name), "place", text_or_null(row->place), "calls",
			 (json_int_t) row->calls, "open", (json_int_t) row->open, "inclusive",
			 times_json(row->all), "exclusive", times_json(row->own));
}

static json_t *caller_json(const struct functions *functions, guint i)
{
	const struct caller *at = &g_array_index(functions->callers, struct caller, i);
	g_autofree char *thread = call_node_name(functions->tree, at->root);
	g_autofree char *name = frame_name(functions->session, at->what);

	return json_pack("{s:o,s:o,s:o,s:I,s:o}", "threads", json_text(thread), "path",
			 json_text(at->path), "name", json_text(name), "calls",
			 (json_int_t) at->calls, "inclusive", times_json(at->times));
}

static json_t *frame_json(const struct functions *functions, const struct call_frame *frame)
{
	static const char *const halves[] = {"whole", "entry-unseen", "open"};
	g_autofree char *name = frame_name(functions->session, frame->what);

	return json_pack("{s:o,s:I,s:I,s:I,s:s}", "name", json_text(name), "begin",
			 (json_int_t) frame->begin, "end", (json_int_t) frame->end, "ns",
			 (json_int_t) (frame->end - frame->begin), "seen", halves[frame->half]);
}

static json_t *unreturned_json(const struct functions *functions, guint i)
{
	const struct unreturned *at = &g_array_index(functions->unreturned, struct unreturned, i);
	const struct frames *frames = call_tree_frames(functions->tree, at->thread);
	json_t *object = json_thread_head(functions->session, at->thread), *list = json_array();

	for (guint k = 0; k < at->frames->len; k++)
		json_array_append_new(
			list, frame_json(functions,
					 frame_of(frames, g_array_index(at->frames, uint32_t, k))));
	json_object_set_new(object, "longest_of_its_kind", json_boolean(at->strange));
	json_object_set_new(object, "stack", list);
	json_object_set_new(object, "cause",
			    text_or_null(at->cause ? session_text(functions->session, at->cause)
						   : NULL));
	return object;
}

static json_t *strings_json(GPtrArray *strings)
{
	json_t *list = json_array();

	for (guint i = 0; i < strings->len; i++)
		json_array_append_new(list, json_text(g_ptr_array_index(strings, i)));
	g_ptr_array_free(strings, TRUE);
	return list;
}

static json_t *kernel_stack_json(const struct session *session, uint32_t number)
{
	guint count;
	const uint64_t *words = callstack_words(&session->trace.flow.callstacks, number, &count);

	return number ? strings_json(callpath_new(session->found.symbols, words, count))
		      : json_null();
}

static json_t *user_stack_json(const struct session *session, uint32_t thread, int64_t time,
			       uint32_t number)
{
	return number && is_thread(thread)
		       ? strings_json(user_callpath_new(session, thread, time, number))
		       : json_null();
}

static json_t *wait_json(const struct functions *functions, guint i)
{
	const struct session *session = functions->session;
	const struct wait_stack *at = &g_array_index(functions->waits, struct wait_stack, i);
	const struct callpaths *paths =
		callpaths_at(&session->trace.flow.callstacks, at->block->callpaths);
	g_autofree char *name = call_node_name(functions->tree, at->root),
			*leaf = leaf_key(session, at->leaf);

	return json_pack(
		"{s:o,s:o,s:I,s:I,s:o,s:o,s:o}", "name", json_text(name), "leaf", json_text(leaf),
		"count", (json_int_t) at->count, "ns", (json_int_t) at->ns, "kernel",
		kernel_stack_json(session, at->kernel), "user",
		user_stack_json(session, at->thread, at->begin, at->user), "longest",
		json_pack("{s:I,s:I,s:i,s:o,s:o}", "begin", (json_int_t) at->begin, "ns",
			  (json_int_t) at->longest, "tid",
			  (int) model_thread(&session->trace.model, at->thread)->tid,
			  "woken_kernel",
			  paths->waker_kernel
				  ? strings_json(waker_callpath_new(session, paths->waker_kernel))
				  : json_null(),
			  "woken_user",
			  user_stack_json(session, at->block->waker, at->begin + at->longest,
					  paths->waker_user)));
}

static json_t *interrupt_json(const struct functions *functions, guint i)
{
	const struct interrupt_call *at =
		&g_array_index(functions->in_interrupts, struct interrupt_call, i);
	g_autofree char *name = frame_name(functions->session, at->what);
	g_autofree char *interrupt =
		at->interrupt == UINT32_MAX ? g_strdup("idle")
					    : frame_name(functions->session, at->interrupt);

	return json_pack("{s:o,s:o,s:I,s:I,s:I}", "name", json_text(name), "in",
			 json_text(interrupt), "calls", (json_int_t) at->calls, "inclusive_ns",
			 (json_int_t) at->all, "exclusive_ns", (json_int_t) at->own);
}

static json_t *difference_json(const struct instance_difference *difference)
{
	static const char *const kinds[] = {"time", "new-call", "missing-call", "number-of-calls"};

	return json_pack("{s:s,s:o,s:I,s:I,s:I,s:I}", "kind", kinds[difference->kind], "what",
			 json_text(difference->what), "ns", (json_int_t) difference->ns, "times",
			 (json_int_t) difference->times, "usually",
			 (json_int_t) difference->usually, "having",
			 (json_int_t) difference->having);
}

static void put_stand_outs(const struct functions *functions, const struct stand_outs *found,
			   FILE *file)
{
	json_t *list = json_array();

	for (guint i = 0; i < found->list->len; i++) {
		const struct stand_out *at = &g_array_index(found->list, struct stand_out, i);
		const struct frames *frames = call_tree_frames(functions->tree, at->thread);
		json_t *object = json_thread_head(functions->session, at->thread);
		json_t *stack = json_array(), *differences = json_array();

		for (uint32_t k = at->frame; k != NO_FRAME; k = frame_of(frames, k)->parent)
			json_array_insert_new(stack, 0, frame_json(functions, frame_of(frames, k)));
		for (guint k = 0; k < at->differences->len; k++)
			json_array_append_new(differences,
					      difference_json(
						      g_ptr_array_index(at->differences, k)));
		json_object_set_new(object, "call",
				    frame_json(functions, frame_of(frames, at->frame)));
		json_object_set_new(object, "median_ns", json_integer(at->median));
		json_object_set_new(object, "excess_ns", json_integer(at->excess));
		json_object_set_new(object, "calls", json_integer((json_int_t) at->calls));
		json_object_set_new(object, "compared_with", json_integer(at->usual_begin));
		json_object_set_new(object, "stack", stack);
		json_object_set_new(object, "differences", differences);
		json_array_append_new(list, object);
	}
	json_member(file, "stand_outs", list, false);
	if (found->omitted)
		json_member(file, "stand_outs_omitted", json_integer(found->omitted), false);
}

/* --- the timeline ---------------------------------------------------------------------------- */

static json_t *rectangle_json(const struct session *session, uint32_t thread,
			      const struct rectangle *at)
{
	static const char *const kinds[] = {"call", "interrupt", "wait", "ready"};
	static const char *const halves[] = {"whole", "entry-unseen", "open"};
	json_t *object =
		json_pack("{s:s,s:I,s:I,s:I,s:I}", "kind", kinds[at->kind], "begin",
			  (json_int_t) at->begin, "end", (json_int_t) at->end, "ns",
			  (json_int_t) (at->end - at->begin), "depth", (json_int_t) at->depth);
	g_autofree char *name = NULL;
	struct cause cause;

	if (at->kind == RECTANGLE_CALL || at->kind == RECTANGLE_INTERRUPT) {
		name = frame_name(session, at->what);
		json_object_set_new(object, "name", json_text(name));
		json_object_set_new(object, "seen", json_string(halves[at->half]));
		return object;
	}
	name = leaf_key(session, at->span.leaf);
	cause = rectangle_cause(session, thread, at);
	json_object_set_new(object, "name", json_text(name));
	json_object_set_new(object, "cause", json_cause(&cause));
	cause_clear(&cause);
	return object;
}

static json_t *rectangles_json(const struct functions *functions, uint32_t thread)
{
	json_t *object = json_thread_head(functions->session, thread), *list = json_array();
	GArray *rectangles = call_timeline_new(functions->tree, thread);

	for (guint i = 0; i < rectangles->len; i++)
		json_array_append_new(
			list, rectangle_json(functions->session, thread,
					     &g_array_index(rectangles, struct rectangle, i)));
	g_array_free(rectangles, TRUE);
	json_object_set_new(object, "rectangles", list);
	return object;
}

static json_t *timeline_json(const struct functions *functions)
{
	json_t *list = json_array();

	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(functions->tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++)
			json_array_append_new(list,
					      rectangles_json(functions,
							      g_array_index(threads, uint32_t, k)));
	}
	return list;
}

/* --- all
 * ----------------------------------------------------------------------------------------- */

static json_t *user_json(const struct functions *functions)
{
	const struct user_counts *counts = &functions->session->trace.flow.user;

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "entries",
			 (json_int_t) counts->entries, "exits", (json_int_t) counts->exits,
			 "entries_unseen", (json_int_t) counts->entries_unseen, "exits_unseen",
			 (json_int_t) counts->exits_unseen, "dropped", (json_int_t) counts->dropped,
			 "no_thread", (json_int_t) counts->no_thread, "too_deep",
			 (json_int_t) counts->deep, "lost_events", (json_int_t) counts->lost);
}

static json_t *binaries_json(const struct functions *functions)
{
	static const char *const states[] = {
		[BINARY_NAMED] = "named",          [BINARY_UNCHECKED] = "unchecked",
		[BINARY_EXPORTS] = "exports-only", [BINARY_MISSING] = "missing",
		[BINARY_OTHER] = "other-build",    [BINARY_STRIPPED] = "stripped",
		[BINARY_UNREADABLE] = "unreadable"};
	json_t *list = json_array();

	for (guint i = 0; i < functions->notes->len; i++) {
		const struct binary_note *note = g_ptr_array_index(functions->notes, i);

		json_array_append_new(
			list, json_pack("{s:o,s:s,s:o}", "path", json_text(note->path), "state",
					states[note->state], "text", json_text(note->text)));
	}
	return list;
}

void functions_json(const struct functions *functions, const struct stand_outs *found,
		    struct output *output)
{
	static const char *const metrics[] = {"wall", "cpu", "blocked", "interrupted"};
	const struct session *session = functions->session;
	const struct function_options *options = &session->asked.options->functions;
	struct coverage coverage;
	FILE *file = output->file;

	coverage_init(&coverage, session);
	json_open(file, "whylate-functions-1");
	json_member(file, "hosts", json_hosts(session), false);
	json_member(file, "coverage", json_coverage(session, &coverage), false);
	coverage_clear(&coverage);
	json_member(file, "window", json_window(session), false);
	json_member(file, "metric", json_string(metrics[options->metric]), false);
	json_member(file, "threshold", json_real(options->threshold), false);
	json_member(file, "function", text_or_null(options->function), false);
	json_member(file, "total", times_json(functions->total), false);
	put_list(functions, file, "threads", functions->tree->roots->len, thread_json);
	json_member(file, "bottlenecks", bottlenecks_json(functions), false);
	put_list(functions, file, "functions", functions->rows->len, row_json);
	put_list(functions, file, "callers", functions->callers->len, caller_json);
	put_stand_outs(functions, found, file);
	put_list(functions, file, "unreturned", functions->unreturned->len, unreturned_json);
	put_list(functions, file, "waits", functions->waits->len, wait_json);
	put_list(functions, file, "in_interrupts", functions->in_interrupts->len, interrupt_json);
	if (options->timeline)
		json_member(file, "timeline", timeline_json(functions), false);
	json_member(file, "user", user_json(functions), false);
	json_member(file, "binaries", binaries_json(functions), false);
	fputs("}\n", file);
}
