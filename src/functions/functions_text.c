/* SPDX-License-Identifier: MIT */
/* Functions for people: the walk, the table, what stands out, and the timeline between two
 * events.
 */
#include <inttypes.h>
#include <string.h>

#include "functions/functions.h"
#include "functions/stand_outs.h"
#include "symbols/symbols.h"
#include "functions/functions_report.h"

static int64_t sum(const int64_t times[4])
{
	return times[0] + times[1] + times[2] + times[3];
}

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
		    sum(call_node_at(tree, child)->all) != sum(call_node_at(tree, place)->all))
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

	if (threads->len == 1)
		append_tid(functions, g_array_index(threads, uint32_t, 0), line);
	else
		g_string_append_printf(line, ", %u threads", threads->len);
	g_string_append_printf(
		line, ": %s, of which worked %s, interrupted or ready %s, blocked %s",
		when_duration(a, sum(node->all)), when_duration(b, node->all[WIB_WORKING]),
		when_duration(c, node->all[WIB_INTERRUPTED]),
		when_duration(d, node->all[WIB_BLOCKED]));
	if (node->all[WIB_UNKNOWN])
		g_string_append_printf(line, ", not known %s",
				       when_duration(a, node->all[WIB_UNKNOWN]));
	if (walk.whole < function_metric_of(session, node->all))
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
	if (walk.omitted)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n", walk.omitted);
}

static void walks(const struct functions *functions, struct output *output)
{
	const struct session *session = functions->session;
	const struct function_options *options = &session->asked.options->functions;
	const struct call_tree *tree = functions->tree;
	guint count = tree->roots->len, limit = session->asked.options->limit;
	g_autofree char *heading =
		g_strdup_printf("Where the %s%s%s went: calls that take %g %% of it or more",
				metric_words[options->metric], options->function ? " of " : "",
				options->function ? options->function : "", options->threshold);

	text_heading(output, heading);
	for (guint i = 0; i < count && (!limit || i < limit); i++)
		if (!options->function ||
		    sum(call_node_at(tree, g_array_index(tree->roots, uint32_t, i))->all))
			walk_root(functions, i, output);
	if (limit && count > limit)
		fprintf(output->file, "[... %u more threads; --limit 0 shows all ...]\n",
			count - limit);
}

/* --- callers -----------------------------------------------------------------------------------
 * */

static void callers(const struct functions *functions, struct output *output)
{
	const struct session *session = functions->session;
	guint limit = session->asked.options->limit, shown = 0;
	char all[32], worked[32], blocked[32];

	if (!functions->callers->len)
		return;
	text_heading(output, "Called from");
	fprintf(output->file, "  %8s %9s %9s %9s  %s\n", "CALLS", "WITH ALL", "WORKED", "BLOCKED",
		"IN");
	for (guint i = 0; i < functions->callers->len && (!limit || i < limit); i++, shown++) {
		const struct caller *at = &g_array_index(functions->callers, struct caller, i);
		g_autofree char *thread = call_node_name(functions->tree, at->root);
		g_autofree char *name = frame_name(session, at->what);
		g_autofree char *text = g_strdup_printf("%s%s%s > %s", thread,
							*at->path ? " > " : "", at->path, name);
		g_autofree char *safe = text_safe(text);

		when_duration(all, sum(at->times));
		when_duration(worked, at->times[WIB_WORKING]);
		when_duration(blocked, at->times[WIB_BLOCKED]);
		fprintf(output->file, "  %8" PRIu64 " %*s %*s %*s  %s\n", at->calls,
			text_width(9, all), all, text_width(9, worked), worked,
			text_width(9, blocked), blocked, safe);
	}
	if (shown < functions->callers->len)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			functions->callers->len - shown);
}

/* --- the table ------------------------------------------------------------------------------- */

static void table(const struct functions *functions, struct output *output)
{
	const struct session *session = functions->session;
	guint limit = session->asked.options->limit, shown = 0;
	char all[32], own[32], worked[32], interrupted[32], blocked[32];

	text_heading(output, "Functions and system calls, by the time they took themselves");
	fprintf(output->file, "  %8s %9s  %9s %9s %9s %9s  %s\n", "CALLS", "WITH ALL", "ITSELF",
		"WORKED", "INTERR.", "BLOCKED", "FUNCTION");
	for (guint i = 0; i < functions->rows->len; i++) {
		const struct function_row *row =
			&g_array_index(functions->rows, struct function_row, i);
		g_autofree char *name = text_safe(row->name), *place = NULL;

		if (limit && shown == limit)
			break;
		shown++;
		if (row->place) {
			g_autofree char *base = g_path_get_basename(row->place);
			g_autofree char *safe = text_safe(base);

			place = g_strdup_printf(" (%s)", safe);
		}
		when_duration(all, sum(row->all));
		when_duration(own, sum(row->own));
		when_duration(worked, row->own[WIB_WORKING]);
		when_duration(interrupted, row->own[WIB_INTERRUPTED]);
		when_duration(blocked, row->own[WIB_BLOCKED]);
		fprintf(output->file, "  %8" PRIu64 " %*s  %*s %*s %*s %*s  %s%s%s\n", row->calls,
			text_width(9, all), all, text_width(9, own), own, text_width(9, worked),
			worked, text_width(9, interrupted), interrupted, text_width(9, blocked),
			blocked, name, row->kind == NODE_SAMPLED ? " (at waits)" : "",
			place ? place : "");
	}
	if (shown < functions->rows->len)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			functions->rows->len - shown);
}

/* --- what stands out
 * ------------------------------------------------------------------------------ */

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

static void stand_outs(const struct functions *functions, const struct stand_outs *found,
		       struct output *output)
{
	const struct session *session = functions->session;
	guint limit = (session->asked.options->limit + 3) / 4, count = found->list->len;
	char when[48], ns[32], usual[32];

	if (!count)
		return;
	text_heading(output, "Calls that stand out from their function's others");
	for (guint i = 0; i < count && (!limit || i < limit); i++) {
		const struct stand_out *at = &g_array_index(found->list, struct stand_out, i);
		const struct frames *frames = call_tree_frames(functions->tree, at->thread);
		const struct call_frame *frame = frame_of(frames, at->frame);
		g_autofree char *name = frame_name(session, frame->what);
		g_autofree char *label = text_safe(name);
		g_autoptr(GString) line = g_string_new(NULL);

		g_string_append_printf(line, "%s %s %s in %s",
				       when_time(when, frame->begin, session->asked.options->utc,
						 false),
				       when_duration(ns, frame->end - frame->begin), label,
				       thread_names_get(functions->tree->namer->names, at->thread));
		append_tid(functions, at->thread, line);
		g_string_append_printf(line, "; the median of %" PRIu64 " calls is %s", at->calls,
				       when_duration(usual, at->median));
		text_wrapped(output, line->str, 2, 4);
		g_string_assign(line, "in ");
		stack_line(functions, at->thread, at->frame, line);
		if (frame->parent != NO_FRAME)
			text_wrapped(output, line->str, 4, 6);
		for (guint k = 0; k < at->differences->len; k++) {
			g_autofree char *text =
				difference_text(g_ptr_array_index(at->differences, k), at);

			text_wrapped(output, text, 4, 6);
		}
	}
	if (limit && (count > limit || found->omitted))
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			count + found->omitted - MIN(count, limit)); /* several lines each */
}

static void unreturned(const struct functions *functions, struct output *output)
{
	const struct session *session = functions->session;
	guint limit = session->asked.options->limit, shown = 0;
	char ns[32];

	if (!functions->unreturned->len)
		return;
	text_heading(output, "Calls that had not returned when the trace ended");
	for (guint i = 0; i < functions->unreturned->len; i++) {
		const struct unreturned *at =
			&g_array_index(functions->unreturned, struct unreturned, i);
		const struct frames *frames = call_tree_frames(functions->tree, at->thread);
		g_autofree char *who =
			text_safe(thread_names_get(functions->tree->namer->names, at->thread));
		g_autoptr(GString) line = g_string_new(NULL);

		if (limit && shown == limit)
			break;
		shown++;
		g_string_append(line, who);
		append_tid(functions, at->thread, line);
		g_string_append(line,
				at->strange ? " (longer than any such call that returned):" : ":");
		for (guint k = 0; k < at->frames->len; k++) {
			const struct call_frame *frame =
				frame_of(frames, g_array_index(at->frames, uint32_t, k));
			g_autofree char *name = frame_name(session, frame->what);
			g_autofree char *safe = text_safe(name);

			if (at->frames->len > 16 && k >= 6 && k < at->frames->len - 8) {
				if (k == 6)
					g_string_append_printf(line, " > (%u more)",
							       at->frames->len - 14);
				continue;
			}
			g_string_append_printf(line, "%s%s%s, for %s", k ? " > " : " ", safe,
					       frame_is_counted(frame) ? "" : " (begun before)",
					       when_duration(ns, frame->end - frame->begin));
		}
		if (at->cause)
			g_string_append_printf(line, "; %s", session_text(session, at->cause));
		text_wrapped(output, line->str, 2, 4);
	}
	if (shown < functions->unreturned->len)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			functions->unreturned->len - shown);
}

static void path_lines(GPtrArray *path, const char *what, struct output *output)
{
	GString *line = g_string_new(what);

	for (guint i = 0; i < path->len; i++) {
		g_autofree char *safe = text_safe(g_ptr_array_index(path, i));

		g_string_append_printf(line, "%s%s", i ? " > " : "", safe);
	}
	if (path->len)
		text_wrapped(output, line->str, 4, 6);
	g_string_free(line, TRUE);
	g_ptr_array_free(path, TRUE);
}

static GPtrArray *kernel_path(const struct session *session, uint32_t number)
{
	guint count;
	const uint64_t *words = callstack_words(&session->trace.flow.callstacks, number, &count);

	return callpath_new(session->found.symbols, words, count);
}

static void waits(const struct functions *functions, struct output *output)
{
	const struct session *session = functions->session;
	guint limit = session->asked.options->limit, shown = 0;
	char ns[32], longest[32], when[48];

	if (!functions->waits->len)
		return;
	text_heading(output, "Waits, by the functions that led to them");
	for (guint i = 0; i < functions->waits->len; i++) {
		const struct wait_stack *at =
			&g_array_index(functions->waits, struct wait_stack, i);
		const struct callpaths *paths =
			callpaths_at(&session->trace.flow.callstacks, at->block->callpaths);
		g_autofree char *name = call_node_name(functions->tree, at->root);
		g_autofree char *safe = text_safe(name), *leaf = leaf_key(session, at->leaf);
		g_autoptr(GString) line = g_string_new(NULL);

		if (limit && shown == limit)
			break;
		shown++;
		g_string_append_printf(
			line, "%s in %s, %u time%s, %s in all; the longest %s at %s", safe,
			strchr(leaf, '/') ? strchr(leaf, '/') + 1 : leaf, at->count,
			at->count == 1 ? "" : "s", when_duration(ns, at->ns),
			when_duration(longest, at->longest),
			when_time(when, at->begin, session->asked.options->utc, false));
		text_wrapped(output, line->str, 2, 4);
		if (at->user)
			path_lines(user_callpath_new(session, at->thread, at->begin, at->user),
				   "user: ", output);
		if (at->kernel)
			path_lines(kernel_path(session, at->kernel), "kernel: ", output);
		if (paths->waker_kernel)
			path_lines(waker_callpath_new(session, paths->waker_kernel),
				   "the longest was woken in: ", output);
		if (paths->waker_user && is_thread(at->block->waker))
			path_lines(user_callpath_new(session, at->block->waker,
						     at->begin + at->longest, paths->waker_user),
				   "... of user code: ", output);
	}
	if (shown < functions->waits->len)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			functions->waits->len - shown);
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
			g_strdup_printf("%" PRIu64 " entries and %" PRIu64 " exits%s.",
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

static void in_interrupts(const struct functions *functions, struct output *output)
{
	const GArray *list = functions->in_interrupts;
	guint limit = functions->session->asked.options->limit, shown = 0;
	char all[32], own[32];

	if (!list->len)
		return;
	text_heading(output,
		     "Functions that interrupts called (part of the threads' time interrupted)");
	fprintf(output->file, "  %8s %9s %9s  %s\n", "CALLS", "WITH ALL", "ITSELF", "FUNCTION");
	for (guint i = 0; i < list->len && (!limit || i < limit); i++, shown++) {
		const struct interrupt_call *at = &g_array_index(list, struct interrupt_call, i);
		g_autofree char *name = frame_name(functions->session, at->what);
		g_autofree char *interrupt =
			at->interrupt == UINT32_MAX ? g_strdup("the idle loop")
						    : frame_name(functions->session, at->interrupt);

		when_duration(all, at->all);
		when_duration(own, at->own);
		fprintf(output->file, "  %8" PRIu64 " %*s %*s  %s in %s\n", at->calls,
			text_width(9, all), all, text_width(9, own), own, name, interrupt);
	}
	if (shown < list->len)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			list->len - shown);
}

void functions_text(const struct functions *functions, const struct stand_outs *found,
		    struct output *output)
{
	const struct session *session = functions->session;
	struct coverage coverage;

	text_hosts(session, output);
	if (session->asked.options->functions.timeline) {
		functions_timeline_text(functions, output);
	} else {
		stand_outs(functions, found, output);
		callers(functions, output);
		walks(functions, output);
		table(functions, output);
		unreturned(functions, output);
		waits(functions, output);
		in_interrupts(functions, output);
	}
	notes(functions, output);
	coverage_init(&coverage, session);
	text_coverage(session, &coverage, output);
	coverage_clear(&coverage);
}
