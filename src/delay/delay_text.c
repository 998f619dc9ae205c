/* SPDX-License-Identifier: MIT */
/* The delay report for people, in the shapes of the LTTV Delay Analyzer
 * (Fournier and Dagenais, section 2.4): lineage, state summary with node ids,
 * instances by node, blocking causality as an indented tree. First what
 * answers the question, then the details.
 */
#include "report/report.h"

#include "waits/deliveries.h"

#include <inttypes.h>
#include <string.h>

#include "run/containers.h"
#include "model/container.h"

#define ALIKE_SHOWN 2 /* waits shown of a row of like ones … */
#define ALIKE_MIN 4   /* … of at least so many */
#define FOLDED_PER_LINE 50u
#define SMALL_NODE 100 /* nodes under this part of the whole have no instances listed */

/* ", 5 in pid:[4026532201]": the TID in a container, "" on the host. */
static char *inner_text(const struct session *session, const struct thread *thread)
{
	g_autofree char *name = NULL;
	struct ids ids;
	uint32_t number;

	if (!thread_inner_ids(&session->trace.model, thread, &ids))
		return g_strdup("");
	number = thread_place(&session->trace.model, thread)->pid_ns;
	name = number ? namespace_text(NAMESPACE_PID, number) : g_strdup("a container");
	return ids.tid ? g_strdup_printf(", %d in %s", ids.tid, name)
		       : g_strdup_printf(", in %s", name);
}

static char *thread_text(const struct session *session, uint32_t index)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	g_autofree char *inner = inner_text(session, thread);

	const char *on = session_on(session, index);

	if (thread->pid == thread->tid || thread->pid < 0)
		return g_strdup_printf("%s (%s %d%s)%s", session_thread_name(session, index),
				       thread->pid < 0 ? "tid" : "pid", thread->tid, inner, on);
	return g_strdup_printf("%s (tid %d of pid %d%s)%s", session_thread_name(session, index),
			       thread->tid, thread->pid, inner, on);
}

static void print_safe(struct output *output, const char *text)
{
	g_autofree char *safe = text_safe(text);

	fputs(safe, output->file);
}

static void print_interval(struct output *output, const struct session *session, int64_t begin,
			   int64_t end)
{
	char from[48], to[48], length[32];
	bool utc = session->asked.options->utc;

	fprintf(output->file, "%s-%s (%s)", when_time(from, begin, utc, false),
		when_time(to, end, utc, false), when_duration(length, end - begin));
}

static void head(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	const struct match *match = &session->asked.matches[MATCH_TARGET];
	g_autoptr(GString) line = g_string_new(NULL);
	char from[48], to[48], length[32];
	bool utc = session->asked.options->utc;

	if (session->asked.target != NO_THREAD) {
		g_autofree char *who = thread_text(session, session->asked.target);

		g_string_append_printf(line, "Target: %s by %s at %s",
				       session_text(session, match->event), who,
				       when_time(to, match->time, utc, true));
		text_wrapped(output, line->str, 0, 2);
		g_string_truncate(line, 0);
	}
	g_string_append_printf(line, "Window: %s to %s, %s",
			       when_time(from, session->asked.from, utc, true),
			       when_time(to, session->asked.to, utc, true),
			       when_duration(length, session->asked.to - session->asked.from));
	text_wrapped(output, line->str, 0, 2);
	if (session->trace.model.hosts->len)
		for (guint i = 0; i < session->trace.model.hosts->len; i++) {
			const struct host *host = model_host(&session->trace.model, i);

			g_string_printf(line, "Host: %s, Linux %s, %s, %u CPU%s",
					trace_host_name(&session->trace, i),
					host->kernel ? host->kernel : "(version not said)",
					host->tracer ? host->tracer : "(tracer not said)",
					host->cpus->len, host->cpus->len == 1 ? "" : "s");
			text_clock(line, session, host);
			text_wrapped(output, line->str, 0, 2);
		}
}

static void verdict(const struct delay *delay, struct output *output)
{
	const struct stretch *at;
	g_autofree char *who = NULL, *heading = NULL;
	char length[32];

	if (!delay->verdict->len) {
		if (delay->threads->len > 1)
			text_wrapped(output,
				     "Several threads are asked for; lineage, critical path "
				     "and verdict are made for a --target or a single "
				     "--thread.",
				     0, 2);
		return;
	}
	if (delay->session->asked.target == NO_THREAD) {
		at = &g_array_index(delay->threads, struct stretch, 0);
		who = thread_text(delay->session, at->thread);
		heading = g_strdup_printf("Where the time of %s went: %s of its life in the window",
					  who, when_duration(length, at->end - at->begin));
	}
	text_heading(output, heading ? heading : "Why not sooner: where the window's time went");
	for (guint i = 0; i < delay->verdict->len; i++)
		text_wrapped(output, g_ptr_array_index(delay->verdict, i), 2, 2);
}

static void lineage(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	char length[32];

	if (!delay->lineage->len || session->asked.target == NO_THREAD)
		return;
	text_heading(output, "Lineage: after the window's begin");
	for (guint i = 0; i < delay->lineage->len; i++) {
		const struct stretch *at = &g_array_index(delay->lineage, struct stretch, i);
		g_autofree char *who = thread_text(session, at->thread);
		bool last = i + 1 == delay->lineage->len;

		fputs("  ", output->file);
		print_safe(output, who);
		fprintf(output->file, "%s ran for %s before %s\n", i ? " which" : "",
			when_duration(length, at->end - at->begin),
			last ? "reaching the target" : "creating");
	}
}

static void summary_node(const struct node *node, struct output *output, int depth)
{
	char length[32];

	fprintf(output->file, "%*s", 2 * depth + 2, "");
	print_safe(output, node->label);
	fprintf(output->file, " (%s) <%u>%s\n", when_duration(length, node->ns), node->id,
		node->spans_gap ? " [spans lost events]" : "");
	for (guint i = 0; i < node->children->len; i++)
		summary_node(g_ptr_array_index(node->children, i), output, depth + 1);
}

/* The child that has all of the node's time, in the same intervals; or NULL. */
static const struct node *only_child(const struct node *node)
{
	const struct node *child =
		node->children->len == 1 ? g_ptr_array_index(node->children, 0) : NULL;

	return child && child->count == node->count ? child : NULL;
}

static void instances(const struct session *session, const struct node *node, int64_t shortest,
		      struct output *output, guint *left_out)
{
	const struct node *same = only_child(node);

	if (node->ns < shortest) {
		++*left_out;
		return;
	}
	fprintf(output->file, "  Node id: <%u> ", node->id);
	{
		g_autofree char *key = node_key(node);

		print_safe(output, key);
	}
	fprintf(output->file, ", %" PRIu64 " instance%s", node->count, node->count == 1 ? "" : "s");
	if (same)
		fprintf(output->file, ", the same as <%u>", same->id);
	fputc('\n', output->file);
	for (guint i = 0; i < node->instances->len && !same; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		fputs("  ", output->file);
		print_interval(output, session, at->begin, at->end);
		fputs(at->spans_gap ? " [spans lost events]\n" : "\n", output->file);
	}
	if (node->count > node->instances->len && !same)
		fprintf(output->file, "  [... %" PRIu64 " more; --limit 0 shows all ...]\n",
			node->count - node->instances->len);
	for (guint i = 0; i < node->children->len; i++)
		instances(session, g_ptr_array_index(node->children, i), shortest, output,
			  left_out);
}

static char *stack_text(const struct session *session, uint32_t number, bool kernel)
{
	const GArray *frames = flow_stack(&session->trace.flow, number);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < frames->len; i++) {
		g_autofree char *frame =
			frame_text(session, g_array_index(frames, uint32_t, i), kernel);

		g_string_append_printf(text, "%s%s", i ? ", " : "", frame);
	}
	return g_string_free(text, FALSE);
}

static bool is_kernel(const struct session *session, uint32_t thread)
{
	return is_thread(thread) &&
	       thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread));
}

static void append_resource(GString *line, const struct session *session, const struct block *block)
{
	const char *key = session_text(session, session_resource(session, block));
	const char *operation = futex_operation(block->operation);
	char length[32];

	if (!block->resource)
		return;
	if (strcmp(key, "poll") == 0) /* still in it: what it would find is not known */
		key = NULL;
	if (key && strcmp(key, "sleep") == 0) {
		if (block->timer >= 0)
			g_string_append_printf(line, " for %s",
					       when_duration(length, block->timer));
		return;
	}
	if (key)
		g_string_append_printf(line, " on %s", key);
	if (key && block->fd >= 0 && !g_str_has_prefix(key, "fd:"))
		g_string_append_printf(line, " (fd %d)", block->fd);
	if (operation)
		g_string_append_printf(line, " (%s)", operation);
	if (block->timer >= 0)
		g_string_append_printf(line, ", timeout %s", when_duration(length, block->timer));
}

static void blocked_line(const struct session *session, const struct wait *wait,
			 struct output *output, int depth)
{
	g_autofree char *stack =
		stack_text(session, wait->block->stack, is_kernel(session, wait->thread));
	bool stopped = PACK_KIND(wait->leaf) == LEAF_BLOCK_STOPPED ||
		       PACK_KIND(wait->leaf) == LEAF_BLOCK_TRACED;
	GString *line = g_string_new(stopped ? "Stopped in " : "Blocked in ");

	g_string_append(line, stack);
	append_resource(line, session, wait->block);
	g_string_append(line, ", (times: ");
	fprintf(output->file, "%*s", 2 * depth + 2, "");
	print_safe(output, line->str);
	print_interval(output, session, wait->begin, wait->end);
	fputs(wait->spans_gap ? ") [spans lost events]\n" : ")\n", output->file);
	g_string_free(line, TRUE);
}

/* A packet from another host: how long it was on its way, as far as the clocks
 * tell. */
static void append_way(GString *line, const struct session *session, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
	char length[32];

	if (!detail || !packet_from_outside(detail))
		return;
	g_string_append_printf(line, ", %s ", when_duration(length, detail->served));
	if (detail->queued >= 0)
		g_string_append_printf(line, "(%s%s) ",
				       packet_is_undecidable(detail) ? "shorter than the clocks' "
								       "error of "
								     : "±",
				       when_duration(length, detail->queued));
	g_string_append(line, "on its way");
}

static void woken_line(const struct session *session, const struct wait *wait,
		       struct output *output, int depth)
{
	const struct block *block = wait->block;
	struct cause cause = wait_cause(session, wait);
	GString *line = g_string_new(NULL);
	g_autofree char *stack =
		stack_text(session, block->waker_stack, is_kernel(session, block->waker));

	if (!wait->woken) {
		g_string_append_printf(line, "Still blocked: %s", cause.label);
	} else if (block->kind == WAKER_UNKNOWN) {
		g_string_append_printf(line, "Woken up, %s %s",
				       cause.kind == CAUSE_UNKNOWN ? "by whom is unknown:"
								   : "most likely by",
				       cause.label);
	} else if (wait_by_thread(wait)) {
		g_autofree char *who = thread_text(session, block->waker);
		g_autofree char *plain = thread_label(session, block->waker);

		g_string_append_printf(line, "Woken up in context of %s in %s", who, stack);
		if (block->label)
			g_string_append_printf(line, " on %s", session_text(session, block->label));
		if (cause.kind == CAUSE_SIGNAL)
			g_string_append_printf(line, ", %s", cause.label);
		if (wait->cycle)
			g_string_append(line, " (explained above: a cycle)");
		else if (cause.kind == CAUSE_STOPPED)
			g_string_append_printf(line, " (%s)", cause.label);
		else if (cause.kind == CAUSE_BLOCK_DEVICE ||
			 (cause.kind == CAUSE_PROCESS &&
			  PACK_KIND(block->context) != FRAME_SYSCALL &&
			  strcmp(cause.label, plain) != 0))
			g_string_append_printf(line, ": %s", cause.label);
		else if (g_str_has_prefix(session_thread_name(session, block->waker), "kworker/"))
			g_string_append(line, " (a kernel worker: which of its work was for this "
					      "wait is not known)");
		cause_append_times(line, &cause);
	} else {
		g_autofree char *frame = frame_text(session, block->context, false);

		g_string_append_printf(line, "Woken up by %s", frame);
		if (block->label)
			g_string_append_printf(line, " [%s]", session_text(session, block->label));
		g_string_append_printf(line, ": %s", cause.label);
		cause_append_times(line, &cause);
		append_way(line, session, block);
		if (wait->has_share && wait->lead.handed_over)
			g_string_append(line, "; what that thread did before is above");
	}
	fprintf(output->file, "%*s", 2 * depth + 2, "");
	print_safe(output, line->str);
	fputc('\n', output->file);
	g_string_free(line, TRUE);
	cause_clear(&cause);
}

/* Waits that read the same but for their times. */
static bool alike(const struct wait *a, const struct wait *b)
{
	const struct block *x = a->block, *y = b->block;
	bool leaf = !(a->children && a->children->len) && !(b->children && b->children->len);

	return leaf && a->leaf == b->leaf && a->woken == b->woken && x->resource == y->resource &&
	       x->kind == y->kind && x->context == y->context && x->label == y->label &&
	       (x->kind != WAKER_THREAD || x->waker == y->waker);
}

static void waits_text(const struct session *session, GPtrArray *waits, uint32_t omitted,
		       struct output *output, int depth);

static void wait_text(const struct session *session, const struct wait *wait, struct output *output,
		      int depth)
{
	blocked_line(session, wait, output, depth);
	if (wait->children)
		waits_text(session, wait->children, wait->omitted, output, depth + 1);
	woken_line(session, wait, output, depth);
	/* who had it in the whole wait has been said where the same lock is above */
	if (!wait->above || wait->above->block->lock != wait->block->lock)
		lock_text(session, wait, output, 2 * depth + 4);
}

/* A row of like waits, [first, end). */
struct row {
	guint first, end;
	int64_t ns;
	bool shown;
};

static GArray *rows_of(GPtrArray *waits)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct row));

	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);
		struct row *last =
			rows->len ? &g_array_index(rows, struct row, rows->len - 1) : NULL;
		struct row row = {.first = i, .end = i + 1, .ns = wait->end - wait->begin};

		if (last && alike(g_ptr_array_index(waits, last->first), wait)) {
			last->end++;
			last->ns += row.ns;
		} else {
			g_array_append_val(rows, row);
		}
	}
	return rows;
}

static int longest_row(gconstpointer a, gconstpointer b)
{
	const struct row *x = *(struct row *const *) a, *y = *(struct row *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Marks the rows to show: the longest, as many as the limit. */
static void choose(GArray *rows, uint32_t limit)
{
	g_autoptr(GPtrArray) order = g_ptr_array_new();

	for (guint i = 0; i < rows->len; i++)
		g_ptr_array_add(order, &g_array_index(rows, struct row, i));
	g_ptr_array_sort(order, longest_row);
	for (guint i = 0; i < order->len && (!limit || i < limit); i++)
		((struct row *) g_ptr_array_index(order, i))->shown = true;
}

static void alike_line(GPtrArray *waits, guint first, guint end, struct output *output, int depth)
{
	int64_t shortest = INT64_MAX, longest = 0, sum = 0;
	char a[32], b[32], c[32];

	for (guint i = first; i < end; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);
		int64_t ns = wait->end - wait->begin;

		shortest = MIN(shortest, ns);
		longest = MAX(longest, ns);
		sum += ns;
	}
	fprintf(output->file, "%*s[... %u more like it, lasting %s to %s, %s in all ...]\n",
		2 * depth + 2, "", end - first, when_duration(a, shortest),
		when_duration(b, longest), when_duration(c, sum));
}

static void row_text(const struct session *session, GPtrArray *waits, const struct row *row,
		     struct output *output, int depth)
{
	bool fold = row->end - row->first >= ALIKE_MIN && session->asked.options->limit;
	guint shown = fold ? row->first + ALIKE_SHOWN : row->end;

	for (guint i = row->first; i < shown; i++)
		wait_text(session, g_ptr_array_index(waits, i), output, depth);
	if (fold)
		alike_line(waits, shown, row->end, output, depth);
}

static void waits_text(const struct session *session, GPtrArray *waits, uint32_t omitted,
		       struct output *output, int depth)
{
	GArray *rows = rows_of(waits);

	choose(rows, session->asked.options->limit);
	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);

		if (row->shown)
			row_text(session, waits, row, output, depth);
		else
			omitted += row->end - row->first;
	}
	if (omitted)
		fprintf(output->file,
			"%*s[... and %u shorter ones among these; --limit 0 shows all ...]\n",
			2 * depth + 2, "", omitted);
	g_array_free(rows, TRUE);
}

static void thread_summary(const struct session *session, const struct stretch *at,
			   struct output *output)
{
	g_autofree char *who = thread_text(session, at->thread);
	g_autofree char *heading = g_strconcat("State summary of ", who, NULL);
	struct node *summary = summary_new(session, at->thread, at->begin, at->end);

	text_heading(output, heading);
	summary_node(summary, output, 0);
	node_free(summary);
}

static void thread_causality(const struct session *session, const struct stretch *at,
			     struct output *output)
{
	g_autofree char *who = thread_text(session, at->thread);
	g_autofree char *heading = g_strconcat("Blocking causality of ", who, NULL);
	uint32_t omitted, limit = session->asked.options->limit;
	/* rows of like waits are folded below, so that more are worth collecting */
	GPtrArray *waits = causality_new(session, at->thread, at->begin, at->end,
					 limit * FOLDED_PER_LINE, &omitted);

	if (waits->len || omitted) {
		text_heading(output, heading);
		waits_text(session, waits, omitted, output, 0);
	}
	g_ptr_array_free(waits, TRUE);
}

static void thread_instances(const struct session *session, const struct stretch *at,
			     struct output *output)
{
	g_autofree char *who = thread_text(session, at->thread);
	g_autofree char *heading = g_strconcat("State instances of ", who, NULL);
	bool all = session->asked.options->verbose || !session->asked.options->limit;
	guint left_out = 0;
	struct node *summary = summary_new(session, at->thread, at->begin, at->end);

	text_heading(output, heading);
	instances(session, summary, all ? 0 : summary->ns / SMALL_NODE, output, &left_out);
	if (left_out)
		fprintf(output->file,
			"  [... %u nodes under 1 %% of the time; --limit 0 or --verbose shows "
			"them ...]\n",
			left_out);
	node_free(summary);
}

/* One line of the critical path: one thread's pieces without a break. */
struct visit {
	uint32_t thread;
	int64_t begin, end;
	int64_t wib[4];
	bool over;     /* the thread had ended before */
	bool spans_gap;
	const struct piece *longest; /* that is not work */
};

static void print_visit(const struct session *session, const struct visit *visit,
			struct output *output)
{
	static const char *const words[] = {"unknown", "working", "interrupted", "blocked"};
	static const int order[] = {WIB_BLOCKED, WIB_INTERRUPTED, WIB_WORKING, WIB_UNKNOWN};
	g_autofree char *who = thread_text(session, visit->thread);
	g_autofree char *safe = text_safe(who);
	const char *comma = "";
	char from[48], length[32];

	fprintf(output->file,
		"  %s %9s  %s: ", when_time(from, visit->begin, session->asked.options->utc, false),
		when_duration(length, visit->end - visit->begin), safe);
	if (visit->over) {
		fputs("had ended\n", output->file);
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
		if (visit->wib[order[i]]) {
			fprintf(output->file, "%s%s %s", comma, words[order[i]],
				when_duration(length, visit->wib[order[i]]));
			comma = ", ";
		}
	if (visit->longest) {
		g_autofree char *key = leaf_key(session, visit->longest->leaf);
		g_autofree char *safe_key = text_safe(key);

		fprintf(output->file, "; longest %s %s", safe_key,
			when_duration(length, visit->longest->end - visit->longest->begin));
	}
	fputs(visit->spans_gap ? " [spans lost events]\n" : "\n", output->file);
}

static void critical_path(const struct delay *delay, struct output *output)
{
	const GArray *pieces = delay->path ? delay->path->pieces : NULL;
	struct visit visit = {.thread = NO_THREAD};

	if (!pieces || !pieces->len)
		return;
	text_heading(output, "Critical path: the way to the end, one line a thread in turn");
	for (guint i = 0; i < pieces->len; i++) {
		const struct piece *at = &g_array_index(pieces, struct piece, i);
		enum wib wib = leaf_wib(at->leaf);
		bool over =
			at->begin >= model_thread(&delay->session->trace.model, at->thread)->end;
		struct span span = {at->begin, at->end, at->leaf, at->ref};

		if (at->thread != visit.thread || over != visit.over) {
			if (visit.thread != NO_THREAD)
				print_visit(delay->session, &visit, output);
			visit = (struct visit) {.thread = at->thread,
						.begin = at->begin,
						.over = over};
		}
		visit.spans_gap |= session_spans_gap(delay->session, at->thread, &span);
		visit.end = at->end;
		visit.wib[wib] += at->end - at->begin;
		if (wib != WIB_WORKING &&
		    (!visit.longest ||
		     at->end - at->begin > visit.longest->end - visit.longest->begin))
			visit.longest = at;
	}
	print_visit(delay->session, &visit, output);
	path_totals_text(delay, output);
}

void delay_text(const struct delay *delay, struct output *output)
{
	const GArray *threads = delay->threads;

	head(delay, output);
	verdict(delay, output);
	if (delay->session->asked.options->path) {
		path_steps_text(delay, output);
		text_coverage(delay->session, &delay->coverage, output);
		return;
	}
	lineage(delay, output);
	for (guint i = 0; i < threads->len; i++)
		thread_summary(delay->session, &g_array_index(threads, struct stretch, i), output);
	critical_path(delay, output);
	locks_text(delay->session, delay->locks, output);
	for (guint i = 0; i < threads->len; i++)
		thread_causality(delay->session, &g_array_index(threads, struct stretch, i),
				 output);
	for (guint i = 0; i < threads->len; i++)
		thread_instances(delay->session, &g_array_index(threads, struct stretch, i),
				 output);
	text_findings(delay->session, delay->findings, output);
	text_coverage(delay->session, &delay->coverage, output);
}
