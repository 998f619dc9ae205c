/* SPDX-License-Identifier: MIT */
/* Functions for people: the walk, the table, what stands out, and the timeline between two
 * events.
 */
#include <inttypes.h>
#include <string.h>

#include "functions/functions_report.h"
#include "functions/sample_tree.h"

static const char *const metric_words[] = {"time", "processor time", "time blocked",
					   "time interrupted"};

/* --- the walk ------------------------------------------------------------------------------ */

struct walk {
	const struct functions *functions;
	struct output *output;
	uint32_t root;
	int64_t whole;
	guint left;     /* lines that may still be printed; with --limit 0 UINT_MAX */
	guint omitted;
	bool shown;     /* a line was */
};

/* Functions that only call stacks at waits show often have all their time in one other: the
 * last of such a way. */
static uint32_t last_of_way(const struct walk *walk, uint32_t place)
{
	const struct call_tree *tree = walk->functions->tree;

	while (call_node_at(tree, place)->kind == NODE_SAMPLED &&
	       call_node_at(tree, place)->children->len == 1) {
		uint32_t child = g_array_index(call_node_at(tree, place)->children, uint32_t, 0);

		if (call_node_at(tree, child)->kind != NODE_SAMPLED ||
		    times_sum(call_node_at(tree, child)->all) !=
			    times_sum(call_node_at(tree, place)->all))
			break;
		place = child;
	}
	return place;
}

/* "  main                           3 x   5.29 s  99.6 %"; returns what to go on below of. */
static uint32_t walk_line(struct walk *walk, uint32_t place, int level)
{
	const struct call_tree *tree = walk->functions->tree;
	const struct call_node *node = call_node_at(tree, place);
	uint32_t last = last_of_way(walk, place);
	g_autofree char *first = call_node_name(tree, place), *end = call_node_name(tree, last);
	g_autofree char *name = last == place ? g_strdup(first)
				: call_node_at(tree, last)->parent == place
					? g_strconcat(first, " > ", end, NULL)
					: g_strconcat(first, " > ... > ", end, NULL);
	g_autofree char *safe = text_safe(name);
	const char *before = node->kind == NODE_WAITS_FOR ? "waits for "
			     : node->kind == NODE_CAUSE   ? "- "
							  : "";
	g_autofree char *left = g_strdup_printf("%*s%s%s", 2 * level, "", before, safe);
	int64_t ns = functions_node_time(walk->functions, place);
	int room = MAX(walk->output->width - 32, 40);
	char calls[32] = "", duration[32];

	if (node->calls)
		g_snprintf(calls, sizeof calls, "%" PRIu64 " x", node->calls);
	when_duration(duration, ns);
	if ((int) g_utf8_strlen(left, -1) > room)
		fprintf(walk->output->file, "%s\n%*s", left, room, "");
	else
		fprintf(walk->output->file, "%-*s", text_width(room, left), left);
	fprintf(walk->output->file, " %9s %*s %6.1f %%\n", calls, text_width(10, duration),
		duration, walk->whole ? 100.0 * (double) ns / (double) walk->whole : 0.0);
	return last;
}

/* No call takes so much: which takes most? */
static void walk_nothing(struct walk *walk)
{
	const struct call_tree *tree = walk->functions->tree;
	const GArray *children = call_node_at(tree, walk->root)->children;
	uint32_t most = NO_NODE;
	char ns[32];

	for (guint i = 0; i < children->len; i++) {
		uint32_t at = g_array_index(children, uint32_t, i);

		if (most == NO_NODE || functions_node_time(walk->functions, at) >
					       functions_node_time(walk->functions, most))
			most = at;
	}
	if (most != NO_NODE && walk->whole) {
		g_autofree char *name = call_node_name(tree, most), *safe = text_safe(name);
		int64_t time = functions_node_time(walk->functions, most);

		fprintf(walk->output->file, "  No call takes that much; most: %s, %s (%.1f %%)\n",
			safe, when_duration(ns, time),
			100.0 * (double) time / (double) walk->whole);
	}
}

static bool is_bottleneck(const struct walk *walk, uint32_t place)
{
	return functions_is_bottleneck(walk->functions, walk->root, place);
}

/* Down the parts that are bottlenecks; what a call waited for itself comes below it. */
static void walk_below(struct walk *walk, uint32_t place, int level)
{
	const struct call_tree *tree = walk->functions->tree;
	const GArray *lists[] = {call_node_at(tree, place)->children,
				 call_node_at(tree, place)->waits};

	for (size_t k = 0; k < G_N_ELEMENTS(lists); k++)
		for (guint i = 0; i < lists[k]->len; i++) {
			uint32_t below = g_array_index(lists[k], uint32_t, i);

			if (!is_bottleneck(walk, below))
				continue;
			if (!walk->left) {
				walk->omitted++;
				continue;
			}
			walk->left--;
			walk->shown = true;
			walk_below(walk, walk_line(walk, below, level), level + 1);
		}
}

/* " (tid 7)", where the name does not have it. */
static void append_tid(const struct functions *functions, uint32_t thread, GString *line)
{
	g_autofree char *tid = functions_tid_text(functions, thread);

	g_string_append(line, tid);
}

static void walk_root(const struct functions *functions, guint number, struct output *output)
{
	const struct session *session = functions->session;
	const struct call_tree *tree = functions->tree;
	uint32_t root = g_array_index(tree->roots, uint32_t, number);
	const struct call_node *node = call_node_at(tree, root);
	const GArray *threads = g_ptr_array_index(tree->threads, root);
	struct walk walk = {functions,
			    output,
			    root,
			    functions_scope(functions, root),
			    session->asked.options->limit
				    ? MAX(session->asked.options->limit * 4, 40)
				    : G_MAXUINT,
			    0,
			    false};
	g_autofree char *name = call_node_name(tree, root), *safe = text_safe(name);
	g_autoptr(GString) line = g_string_new(safe);
	char a[32], b[32], c[32], d[32];
	int64_t idle;

	if (threads->len == 1)
		append_tid(functions, g_array_index(threads, uint32_t, 0), line);
	else
		g_string_append_printf(line, ", %u threads", threads->len);
	g_string_append_printf(
		line, ": %s, of which worked %s, interrupted or ready %s, blocked %s",
		when_duration(a, times_sum(node->all)), when_duration(b, node->all[WIB_WORKING]),
		when_duration(c, node->all[WIB_INTERRUPTED]),
		when_duration(d, node->all[WIB_BLOCKED]));
	if (node->all[WIB_UNKNOWN])
		g_string_append_printf(line, ", not known %s",
				       when_duration(a, node->all[WIB_UNKNOWN]));
	idle = function_metric_of(session, node->all) - functions_busy_time(functions, root);
	if (idle)
		g_string_append_printf(line,
				       "; %s of it idle, for a next request: not counted here",
				       when_duration(a, idle));
	if (walk.whole < functions_busy_time(functions, root))
		g_string_append_printf(
			line,
			"; shares are of the %s (%s) in its outermost functions, %s "
			"were outside of them",
			when_duration(a, walk.whole),
			metric_words[session->asked.options->functions.metric],
			when_duration(b, function_metric_of(session, node->all) - walk.whole));
	text_wrapped(output, line->str, 0, 2);
	walk_below(&walk, root, 1);
	if (!walk.shown)
		walk_nothing(&walk);
	text_omitted(output, walk.omitted);
}

static void walks(const struct functions *functions, struct output *output)
{
	const struct session *session = functions->session;
	const struct function_options *options = &session->asked.options->functions;
	const struct call_tree *tree = functions->tree;
	guint count = tree->roots->len, shown = rows_limited(session, count);
	g_autofree char *heading =
		g_strdup_printf("Where the %s%s%s went: calls that take %g %% of it or more",
				metric_words[options->metric], options->function ? " of " : "",
				options->function ? options->function : "", options->threshold);

	text_heading(output, heading);
	for (guint i = 0; i < shown; i++)
		if (!options->function ||
		    times_sum(call_node_at(tree, g_array_index(tree->roots, uint32_t, i))->all))
			walk_root(functions, i, output);
	text_omitted_of(output, 0, count - shown, " threads");
}

/* --- what stands out ------------------------------------------------------------------------ */

static void stack_line(const struct functions *functions, uint32_t thread, uint32_t frame,
		       GString *line)
{
	const struct frames *frames = call_tree_frames(functions->tree, thread);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t at = frame; at != NO_FRAME; at = frame_of(frames, at)->parent)
		if (!frame_of(frames, at)->in_interrupt)
			g_ptr_array_insert(names, 0,
					   frame_name(functions->session,
						      frame_of(frames, at)->what));
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *safe = text_safe(g_ptr_array_index(names, i));

		if (names->len > 12 && i == 4)
			g_string_append_printf(line, " > (%u more)", names->len - 10);
		if (names->len > 12 && i >= 4 && i < names->len - 6)
			continue;
		g_string_append_printf(line, "%s%s", i ? " > " : "", safe);
	}
	g_ptr_array_free(names, TRUE);
}

static void stand_out_lines(const struct functions *functions, const struct stand_out *at,
			    struct output *output)
{
	const struct session *session = functions->session;
	const struct frames *frames = call_tree_frames_of(functions->tree, at->thread, at->what);
	const struct call_frame *frame = frame_of(frames, at->frame);
	g_autofree char *name =
		what_is_turn(at->what) ? g_strdup("turn") : frame_name(session, frame->what);
	g_autofree char *label = text_safe(name);
	g_autoptr(GString) line = g_string_new(NULL);
	char when[48], ns[32], usual[32];

	g_string_append_printf(line, "%s %s %s in %s",
			       when_time(when, frame->begin, session->asked.options->utc, false),
			       when_duration(ns, frame->end - frame->begin), label,
			       thread_names_get(functions->tree->namer->names, at->thread));
	append_tid(functions, at->thread, line);
	g_string_append_printf(line, "; the median of %" PRIu64 " %s is %s", at->calls,
			       what_is_turn(at->what) ? "turns" : "calls",
			       when_duration(usual, at->median));
	text_wrapped(output, line->str, 2, 4);
	g_string_assign(line, "in ");
	stack_line(functions, at->thread, at->frame, line);
	if (frame->parent != NO_FRAME)
		text_wrapped(output, line->str, 4, 6);
	for (guint k = 0; k < at->differences->len; k++) {
		g_autofree char *text = difference_text(g_ptr_array_index(at->differences, k), at);

		text_wrapped(output, text, 4, 6);
	}
}

static void stand_outs(const struct functions *functions, const struct stand_outs *found,
		       struct output *output)
{
	guint limit = (functions->session->asked.options->limit + 3) / 4; /* several lines each */
	guint count = found->list->len, shown = limit ? MIN(limit, count) : count;

	if (!count)
		return;
	text_heading(output, "Calls and turns that stand out from their others");
	for (guint i = 0; i < shown; i++)
		stand_out_lines(functions, &g_array_index(found->list, struct stand_out, i),
				output);
	text_omitted(output, count - shown + found->omitted);
}

/* "main > parse, for 1.2 ms > ..." */
static void append_open_calls(const struct functions *functions, const struct unreturned *at,
			      GString *line)
{
	const struct frames *frames = call_tree_frames(functions->tree, at->thread);
	guint count = at->frames->len;
	char ns[32];

	for (guint k = 0; k < count; k++) {
		const struct call_frame *frame =
			frame_of(frames, g_array_index(at->frames, uint32_t, k));
		g_autofree char *name = frame_name(functions->session, frame->what);
		g_autofree char *safe = text_safe(name);

		if (count > 16 && k == 6)
			g_string_append_printf(line, " > (%u more)", count - 14);
		if (count > 16 && k >= 6 && k < count - 8)
			continue;
		g_string_append_printf(line, "%s%s%s, for %s", k ? " > " : " ", safe,
				       frame_is_counted(frame) ? "" : " (begun before)",
				       when_duration(ns, frame->end - frame->begin));
	}
}

static void unreturned_line(const struct report *report, const void *row)
{
	const struct functions *functions =
		((const struct functions_report *) report->data)->functions;
	const struct unreturned *at = row;
	g_autofree char *name =
		text_safe(thread_names_get(functions->tree->namer->names, at->thread));
	g_autoptr(GString) line = g_string_new(name);

	append_tid(functions, at->thread, line);
	g_string_append(line, at->strange ? " (longer than any such call that returned):" : ":");
	append_open_calls(functions, at, line);
	if (at->cause)
		g_string_append_printf(line, "; %s", session_text(report->session, at->cause));
	text_wrapped(report->output, line->str, 2, 4);
}

static void path_line(const GPtrArray *path, const char *what, struct output *output)
{
	g_autoptr(GString) line = g_string_new(what);

	for (guint i = 0; i < path->len; i++) {
		g_autofree char *safe = text_safe(g_ptr_array_index(path, i));

		g_string_append_printf(line, "%s%s", i ? " > " : "", safe);
	}
	if (path->len)
		text_wrapped(output, line->str, 4, 6);
}

static void wait_lines(const struct report *report, const void *row)
{
	static const char *const before[PATH_COUNT] = {
		[PATH_USER] = "user: ",
		[PATH_KERNEL] = "kernel: ",
		[PATH_WAKER_KERNEL] = "the longest was woken in: ",
		[PATH_WAKER_USER] = "... of user code: "};
	const struct functions *functions =
		((const struct functions_report *) report->data)->functions;
	const struct session *session = report->session;
	const struct wait_stack *at = row;
	g_autofree char *name = call_node_name(functions->tree, at->root);
	g_autofree char *safe = text_safe(name), *leaf = leaf_key(session, at->leaf);
	g_autoptr(GString) line = g_string_new(NULL);
	char ns[32], longest[32], when[48];

	g_string_append_printf(line, "%s in %s, %u time%s, %s in all; the longest %s at %s", safe,
			       strchr(leaf, '/') ? strchr(leaf, '/') + 1 : leaf, at->count,
			       at->count == 1 ? "" : "s", when_duration(ns, at->ns),
			       when_duration(longest, at->longest),
			       when_time(when, at->begin, session->asked.options->utc, false));
	text_wrapped(report->output, line->str, 2, 4);
	for (int which = 0; which < PATH_COUNT; which++) {
		g_autoptr(GPtrArray) path = wait_path_new(session, at, (enum wait_path) which);

		if (path)
			path_line(path, before[which], report->output);
	}
}

/* --- what could not be known ----------------------------------------------------------------- */

static void notes(const struct functions *functions, struct output *output)
{
	const struct user_counts *counts = &functions->session->trace.flow.user;
	g_autoptr(GString) line = g_string_new(NULL);

	if (counts->entries_unseen)
		g_string_append_printf(line,
				       "; %" PRIu64 " functions were left whose entry was not seen",
				       counts->entries_unseen);
	if (counts->exits_unseen)
		g_string_append_printf(line,
				       "; %" PRIu64 " were entered, and one around them was left "
				       "(longjmp, an exception): their time is their callers'",
				       counts->exits_unseen);
	if (counts->dropped)
		g_string_append_printf(line,
				       "; %" PRIu64 " were open when events were lost, and are "
				       "not believed after that",
				       counts->dropped);
	if (counts->no_thread)
		g_string_append_printf(line, "; %" PRIu64 " events are of no known thread",
				       counts->no_thread);
	if (counts->deep)
		g_string_append_printf(line, "; %" PRIu64 " stacks were too deep", counts->deep);
	if (functions->session->trace.flow.odd[ODD_FUNCTION])
		g_string_append_printf(line,
				       "; %" PRIu64 " calls of kernel functions were seen by half "
				       "(probes miss some): their time is their callers'",
				       functions->session->trace.flow.odd[ODD_FUNCTION]);
	if (!line->len && !functions->notes->len && !(counts->entries || counts->exits))
		return;
	text_heading(output, "Of the functions");
	if (counts->entries || counts->exits) {
		g_autofree char *text =
			g_strdup_printf("%" PRIu64 " entries of functions and %" PRIu64
					" exits were recorded%s.",
					counts->entries, counts->exits, line->str);

		text_wrapped(output, text, 2, 4);
	} else if (line->len) {
		text_wrapped(output, line->str + 2, 2, 4);
	}
	for (guint i = 0; i < functions->notes->len; i++) {
		const struct binary_note *note = g_ptr_array_index(functions->notes, i);
		g_autofree char *safe = text_safe(note->text);

		text_wrapped(output, safe, 2, 4);
	}
}

/* --- the report ----------------------------------------------------------------------------- */

static void table(const struct report *report, const char *heading, const struct column *columns,
		  const GArray *rows)
{
	const struct text_table table = {.columns = columns};

	text_heading(report->output, heading);
	text_table(report, &table, ROWS(rows));
}

#define SAMPLED_MIN 20 /* a function that is on one of so many samples has a line */

static void sampled_lines(const struct report *report, const struct sample_node *node,
			  const struct sample_node *root, int depth)
{
	FILE *file = report->output->file;
	char length[32];

	for (guint i = 0; i < node->children->len; i++) {
		const struct sample_node *at = g_ptr_array_index(node->children, i);
		g_autofree char *name = text_safe(at->function->name);

		if (at->samples * SAMPLED_MIN < root->samples)
			continue;
		fprintf(file, "  %5.1f %%  %9s  %*s%s%s%s\n",
			100.0 * (double) at->ns / (double) MAX(root->ns, 1),
			when_duration(length, at->ns), 2 * depth, "", name,
			at->function->kernel && *name != '[' ? " [kernel]" : "",
			!at->inferred                 ? ""
			: at->inferred == at->samples ? " (inferred)"
						      : " (inferred in part)");
		sampled_lines(report, at, root, depth + 1);
	}
}

/* Who called whom where it worked, of each thread's name; below it what is on few samples is left
 * out. */
static void sampled_text(const struct report *report, const struct functions *functions)
{
	char sampled[32], unsampled[32];

	for (guint i = 0; i < functions->sampled->len; i++) {
		const struct sample_tree *tree = g_ptr_array_index(functions->sampled, i);
		g_autofree char *line = g_strdup_printf(
			"%s (%d)%s: all its work of %s by %u samples; %s more has none",
			session_thread_name(functions->session, tree->thread),
			model_thread(&functions->session->trace.model, tree->thread)->tid,
			session_on(functions->session, tree->thread),
			when_duration(sampled, tree->root->ns), tree->root->samples,
			when_duration(unsampled, tree->unsampled));

		if (i == 0)
			text_heading(report->output,
				     "What ran, by samples: functions on 5 % of them or more, "
				     "with what they call, of all its work");
		if (i && i >= rows_limited(functions->session, functions->sampled->len))
			break;
		text_wrapped(report->output, line, 0, 2);
		sampled_lines(report, tree->root, tree->root, 0);
	}
	if (functions->sampled->len)
		text_wrapped(report->output,
			     "'whylate delay' has shares of one's own code, or of one call, and of "
			     "the path to what was late; what less of one would save: its "
			     "--what-if 'function=NAME: x0.5'.",
			     0, 2);
}

/* "worker (100): 60.0 M instructions, 1.50 a cycle; … (2 runs of 20.0 ms)" */
static void counted_line(const struct report *report, const char *name,
			 const struct counters *counters, int indent)
{
	g_autofree char *safe = text_safe(name);
	g_autoptr(GString) line = g_string_new(safe);
	char ns[32];

	g_string_append(line, ": ");
	append_counters(line, counters);
	g_string_append_printf(line, " (%u run%s, %s)", counters->runs,
			       counters->runs == 1 ? "" : "s", when_duration(ns, counters->ns));
	text_wrapped(report->output, line->str, indent, indent + 2);
}

/* Of threads, and of those functions that whole runs were in. */
static void counted_text(const struct report *report, const struct functions *functions)
{
	guint shown = rows_limited(functions->session, functions->counted->len);

	if (shown)
		text_heading(report->output, "What processors counted, from switch to switch; of "
					     "functions, in runs whose samples are all in one");
	for (guint i = 0; i < shown; i++) {
		const struct counted_threads *at = g_ptr_array_index(functions->counted, i);
		g_autoptr(GString) name = g_string_new(NULL);

		g_string_append_printf(
			name, "%s (%d)%s", session_thread_name(functions->session, at->thread),
			model_thread(&functions->session->trace.model, at->thread)->tid,
			session_on(functions->session, at->thread));
		counted_line(report, name->str, &at->counters, 0);
		for (guint k = 0; k < rows_limited(functions->session, at->functions->len); k++) {
			const struct counted_function *function =
				&g_array_index(at->functions, struct counted_function, k);

			counted_line(report, function->function->name, &function->counters, 2);
		}
	}
	text_omitted_of(report->output, 0, functions->counted->len - shown, " threads");
}

static void lists(const struct report *report, const struct functions_report *made)
{
	const struct functions *functions = made->functions;
	struct output *output = report->output;

	stand_outs(functions, made->found, output);
	if (functions->callers->len)
		table(report, "Called from", caller_columns, functions->callers);
	walks(functions, output);
	table(report,
	      "Functions and system calls, by the time they took themselves, idle time apart",
	      function_columns, functions->rows);
	sampled_text(report, functions);
	counted_text(report, functions);
	if (functions->reached->len)
		table(report, "Entered, by probes that tell no exits; time to the next entry",
		      reached_columns, functions->reached);
	if (functions->unreturned->len)
		text_heading(output, "Calls that had not returned when the trace ended");
	text_lines(report, ROWS(functions->unreturned), unreturned_line);
	if (functions->waits->len)
		text_heading(output, "Waits, by the functions that led to them");
	text_lines(report, ROWS(functions->waits), wait_lines);
	if (functions->in_interrupts->len)
		table(report,
		      "Functions that interrupts called (part of the threads' time interrupted)",
		      interrupt_call_columns, functions->in_interrupts);
}

/* "Only the 1.474 s in which 45 threads worked on 40 server requests." */
static void limit_line(const struct functions *functions, struct output *output)
{
	const struct user_requests *requests = functions->requests;
	g_autoptr(GString) line = g_string_new(NULL);
	guint threads = 0, count;
	int64_t time = 0;
	char ns[32];

	if (!requests)
		return;
	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *list = g_ptr_array_index(functions->tree->threads, i);

		threads += list ? list->len : 0;
		for (guint k = 0; list && k < list->len; k++)
			time += call_scope_ns(&functions->tree->scope,
					      g_array_index(list, uint32_t, k));
	}
	count = requests->listed->len;
	g_string_append_printf(line, "Only the %s in which %u thread%s worked on %u request%s (%s)",
			       when_duration(ns, time), threads, threads == 1 ? "" : "s", count,
			       count == 1 ? "" : "s", user_request_kind(requests));
	if (requests->omitted)
		g_string_append_printf(line, "; %u others are not picked", requests->omitted);
	g_string_append_c(line, '.');
	text_wrapped(output, line->str, 0, 2);
}

void functions_text(const struct functions_report *made, struct output *output)
{
	const struct session *session = made->functions->session;
	struct report report = {session, made, output};

	text_hosts(session, output);
	limit_line(made->functions, output);
	if (session->asked.options->functions.timeline) {
		functions_timeline_text(made->functions, output);
	} else {
		text_answer(output, functions_answer(made));
		lists(&report, made);
	}
	notes(made->functions, output);
	text_coverage_now(session, output);
}
