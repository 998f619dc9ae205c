/* SPDX-License-Identifier: MIT */
/* Blocking causality for people: an indented tree of waits, what ended each, and what was done
 * meanwhile; rows of like waits are one. See waits/causality.h.
 */
#include "delay/delay.h"

#include "waits/deliveries.h"

#include <string.h>

#define ALIKE_SHOWN 2 /* waits shown of a row of like ones … */
#define ALIKE_MIN 4   /* … of at least so many */
#define FOLDED_PER_LINE 50u

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

static void blocked_line(const struct report *report, const struct wait *wait, int depth)
{
	const struct session *session = report->session;
	struct output *output = report->output;
	g_autofree char *stack =
		stack_text(session, wait->block->stack, is_kernel_thread(session, wait->thread));
	bool stopped = PACK_KIND(wait->leaf) == LEAF_BLOCK_STOPPED ||
		       PACK_KIND(wait->leaf) == LEAF_BLOCK_TRACED;
	GString *line = g_string_new(stopped ? "Stopped in " : "Blocked in ");

	g_string_append(line, stack);
	append_resource(line, session, wait->block);
	if (wait->block->fault)
		g_string_append_printf(line, ", in a page fault on %s",
				       session_text(session, wait->block->fault));
	g_string_append(line, ", (times: ");
	fprintf(output->file, "%*s", 2 * depth + 2, "");
	text_escaped(output, line->str);
	text_interval(report, wait->begin, wait->end);
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
	g_string_append_printf(line, ", %s ", when_duration(length, detail->way));
	if (detail->clock_error >= 0)
		g_string_append_printf(line, "(%s%s) ",
				       packet_is_undecidable(detail) ? "shorter than the clocks' "
								       "error of "
								     : "±",
				       when_duration(length, detail->clock_error));
	g_string_append(line, "on its way");
}

static void woken_line(const struct session *session, const struct wait *wait,
		       struct output *output, int depth)
{
	const struct block *block = wait->block;
	struct cause cause = wait_cause(session, wait);
	GString *line = g_string_new(NULL);
	g_autofree char *stack =
		stack_text(session, block->waker_stack, is_kernel_thread(session, block->waker));

	if (!wait->woken) {
		g_string_append_printf(line, "Still blocked: %s", cause.label);
	} else if (block->kind == WAKER_UNKNOWN) {
		g_string_append_printf(line, "Woken up, %s %s",
				       cause.kind == CAUSE_UNKNOWN ? "by whom is unknown:"
								   : "most likely by",
				       cause.label);
	} else if (wait_by_thread(wait)) {
		g_autofree char *who = thread_words(session, block->waker);
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
	text_escaped(output, line->str);
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

static void waits_text(const struct report *report, GPtrArray *waits, uint32_t omitted, int depth);

static void wait_text(const struct report *report, const struct wait *wait, int depth)
{
	blocked_line(report, wait, depth);
	if (wait->children)
		waits_text(report, wait->children, wait->omitted, depth + 1);
	woken_line(report->session, wait, report->output, depth);
	/* who had it in the whole wait has been said where the same lock is above */
	if (!wait->above || wait->above->block->lock != wait->block->lock)
		lock_text(report->session, wait, report->output, 2 * depth + 4);
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

/* Marks the rows to show: the longest, as many as the limit; of waits in waits each level has half
 * of that above it. */
static void choose(GArray *rows, uint32_t limit, int depth)
{
	uint32_t most = MAX(limit >> MIN(depth, 31), 1);
	g_autoptr(GPtrArray) order = g_ptr_array_new();

	for (guint i = 0; i < rows->len; i++)
		g_ptr_array_add(order, &g_array_index(rows, struct row, i));
	g_ptr_array_sort(order, longest_row);
	for (guint i = 0; i < order->len && (!limit || i < most); i++)
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

static void row_text(const struct report *report, GPtrArray *waits, const struct row *row,
		     int depth)
{
	bool fold = row->end - row->first >= ALIKE_MIN && report->session->asked.options->limit;
	guint shown = fold ? row->first + ALIKE_SHOWN : row->end;

	for (guint i = row->first; i < shown; i++)
		wait_text(report, g_ptr_array_index(waits, i), depth);
	if (fold)
		alike_line(waits, shown, row->end, report->output, depth);
}

static void waits_text(const struct report *report, GPtrArray *waits, uint32_t omitted, int depth)
{
	GArray *rows = rows_of(waits);

	choose(rows, report->session->asked.options->limit, depth);
	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);

		if (row->shown)
			row_text(report, waits, row, depth);
		else
			omitted += row->end - row->first;
	}
	if (omitted)
		fprintf(report->output->file,
			"%*s[... and %u shorter ones among these; --limit 0 shows all ...]\n",
			2 * depth + 2, "", omitted);
	g_array_free(rows, TRUE);
}

void causality_text(const struct report *report, const struct stretch *at)
{
	const struct session *session = report->session;
	g_autofree char *who = thread_words(session, at->thread);
	g_autofree char *heading = g_strconcat("Blocking causality of ", who, NULL);
	uint32_t omitted, limit = session->asked.options->limit;
	/* rows of like waits are folded below, so that more are worth collecting */
	GPtrArray *waits = causality_new(session, at->thread, at->begin, at->end,
					 limit * FOLDED_PER_LINE, &omitted);

	if (waits->len || omitted) {
		text_heading(report->output, heading);
		waits_text(report, waits, omitted, 0);
	}
	g_ptr_array_free(waits, TRUE);
}
