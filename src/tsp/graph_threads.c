/* SPDX-License-Identifier: MIT */
/* The time graph of threads: states with causes, and wake-ups as arrows; and that of a critical
 * path, which is made of the same states.
 *
 * Part of tsp/. A state is as the timeline has it and as spans_next() reads it; its cause is
 * wait_cause()'s. A path's pieces are clipped to the path; `span` in struct shown is the piece.
 */
#include "tsp/outputs.h"

#include <string.h>

#include "ready/runners.h"
#include "util/when.h"
#include "waits/causes.h"
#include "waits/state_names.h"

int64_t thread_entry(uint32_t thread)
{
	return (int64_t) thread * 2 + 2;
}

static int64_t process_entry(uint32_t thread)
{
	return (int64_t) thread * 2 + 1;
}

/* --- tree ------------------------------------------------------------------------------------ */

static void put_headers(struct asking *asking, const char *const *names)
{
	json_begin(&asking->out, "headers", '[', LINES_NOT);
	for (; *names; names++) {
		json_begin(&asking->out, NULL, '{', LINES_NOT);
		json_put_text(&asking->out, "name", *names);
		json_put_text(&asking->out, "tooltip", "");
		json_put_text(&asking->out, "dataType",
			      strcmp(*names, "Name") == 0 ? "STRING" : "NUMBER");
		json_end(&asking->out, '}');
	}
	json_end(&asking->out, ']');
}

static void put_labels(struct asking *asking, const char *name, int32_t tid, int32_t pid)
{
	g_autofree char *number = tid >= 0 ? g_strdup_printf("%d", tid) : g_strdup("");
	g_autofree char *process = pid >= 0 ? g_strdup_printf("%d", pid) : g_strdup("");

	json_begin(&asking->out, "labels", '[', LINES_NOT);
	json_put_text(&asking->out, NULL, name);
	json_put_text(&asking->out, NULL, number);
	json_put_text(&asking->out, NULL, process);
	json_end(&asking->out, ']');
}

static char *name_on_host(const struct session *session, const char *name, uint32_t thread)
{
	return g_strconcat(name, session_on(session, thread), NULL);
}

static void put_process(struct asking *asking, const struct walk_process *process, uint32_t first,
			int64_t begin, int64_t end)
{
	const struct session *session = asking->server->session;
	g_autofree char *name = name_on_host(session, session_text(session, process->name), first);

	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "id", process_entry(first));
	json_put_whole(&asking->out, "parentId", -1);
	put_labels(asking, name, -1, process->pid);
	json_put_whole(&asking->out, "start", begin);
	json_put_whole(&asking->out, "end", end);
	json_put_bool(&asking->out, "hasData", false);
	json_end(&asking->out, '}');
}

static void put_numbers(struct asking *asking, const char *key, int64_t number)
{
	json_begin(&asking->out, key, '[', LINES_NOT);
	json_put_whole(&asking->out, NULL, number);
	json_end(&asking->out, ']');
}

/* Other outputs' rows of the same thread are found by its "tid" (a name of the protocol's). */
static void put_thread(struct asking *asking, uint32_t thread, int64_t parent, int64_t begin,
		       int64_t end)
{
	const struct session *session = asking->server->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	g_autofree char *name = name_on_host(session, session_thread_name(session, thread), thread);

	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "id", thread_entry(thread));
	json_put_whole(&asking->out, "parentId", parent);
	put_labels(asking, name, life->tid, thread_process(life));
	json_put_whole(&asking->out, "start", begin);
	json_put_whole(&asking->out, "end", end);
	json_put_bool(&asking->out, "hasData", true);
	json_begin(&asking->out, "metadata", '{', LINES_NOT);
	put_numbers(asking, "tid", life->tid);
	put_numbers(asking, "hostNumber", life->host);
	json_end(&asking->out, '}');
	json_end(&asking->out, '}');
}

/* Processes whose threads lived in the range, each with those. */
static void threads_tree(struct asking *asking, const struct derived *derived,
			 const struct times *range)
{
	static const char *const headers[] = {"Name", "TID", "PID", NULL};
	const struct walk *walk = &asking->server->walk;
	guint end;

	(void) derived;
	put_headers(asking, headers);
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	for (guint i = 0; i < walk->threads->len; i = end) {
		const struct walk_thread *first =
			&g_array_index(walk->threads, struct walk_thread, i);
		int64_t from = INT64_MAX, to = INT64_MIN;

		for (end = i; end < walk->threads->len; end++) {
			const struct walk_thread *at =
				&g_array_index(walk->threads, struct walk_thread, end);

			if (at->process != first->process)
				break;
			if (at->begin >= range->to || at->end <= range->from)
				continue;
			from = MIN(from, at->begin);
			to = MAX(to, at->end);
		}
		if (from > to)
			continue;
		put_process(asking,
			    &g_array_index(walk->processes, struct walk_process, first->process),
			    first->thread, from, to);
		for (guint j = i; j < end; j++) {
			const struct walk_thread *at =
				&g_array_index(walk->threads, struct walk_thread, j);

			if (at->begin < range->to && at->end > range->from)
				put_thread(asking, at->thread, process_entry(first->thread),
					   at->begin, at->end);
		}
	}
	json_end(&asking->out, ']');
}

/* --- states ---------------------------------------------------------------------------------- */

static bool threads_row(struct graph_row *row)
{
	const struct session *session = row->server->session;

	if (row->id < 2 || row->id % 2 ||
	    (uint64_t) row->id / 2 - 1 >= session->trace.model.thread_count)
		return false;
	row->thread = (uint32_t) (row->id / 2 - 1);
	return true;
}

static bool threads_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	const struct session *session = row->server->session;
	struct spans spans;

	spans_begin(&spans, session, row->thread, session->asked.from, session->asked.to);
	if (time > spans.from)
		track_find(&session->trace.timeline, &spans.thread->track, time, &spans.pos);
	while (spans_next(&spans, &shown->span))
		if (shown->span.end > time) {
			shown->begin = shown->span.begin;
			shown->end = shown->span.end;
			shown->thread = row->thread;
			shown->hold = NULL;
			return true;
		}
	return false;
}

static const struct block *block_of(const struct graph_row *row, const struct span *span)
{
	return leaf_is_blocked(span->leaf)
		       ? block_at(&row->server->session->trace.timeline, span->ref)
		       : NULL;
}

static void put_state(struct asking *asking, const struct graph_row *row, const struct shown *shown,
		      bool wide)
{
	const struct session *session = row->server->session;
	struct walk_state state = {.span = shown->span, .block = block_of(row, &shown->span)};
	g_autofree char *key = NULL, *label = NULL;
	struct wait wait;

	if (!state.block || !wide) {
		put_style(asking, state_style(shown->span.leaf));
		if (wide && PACK_KIND(shown->span.leaf) == LEAF_WORK_SYSCALL)
			label = leaf_label(session, shown->span.leaf);
		if (wide)
			json_put_text(&asking->out, "label",
				      label ? label
					    : session_text(session,
							   state_name(&asking->server->states,
								      &state)));
		return;
	}
	wait = wait_of(session, shown->thread, &shown->span);
	wait_cut_at(&wait, session, session->asked.to);
	key = g_strconcat("cause-", cause_kind_text(wait_cause_kind(session, &wait)), NULL);
	put_style(asking, key);
	json_put_text(&asking->out, "label",
		      session_text(session, state_name(&asking->server->states, &state)));
}

/* --- arrows ---------------------------------------------------------------------------------- */

static void put_arrow(struct asking *asking, uint32_t from, int64_t begin, uint32_t to, int64_t end)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "sourceId", thread_entry(from));
	json_put_whole(&asking->out, "start", begin);
	json_put_whole(&asking->out, "targetId", thread_entry(to));
	json_put_whole(&asking->out, "end", end);
	put_style(asking, "blocked");
	json_end(&asking->out, '}');
}

#define ARROWS_MAX 20000
#define LOOKED_AT_MAX 4000000

/* Of one thread at most one wake-up a step. */
static void wakes_of(struct asking *asking, uint32_t thread, const struct times *range,
		     guint *count, guint *looked_at)
{
	const struct session *session = asking->server->session;
	int64_t next = -1;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, range->from, range->to);
	while (*count < ARROWS_MAX && ++*looked_at < LOOKED_AT_MAX &&
	       spans_next_off_cpu(&spans, &span)) {
		const struct block *block =
			leaf_is_blocked(span.leaf) ? block_at(&session->trace.timeline, span.ref)
						   : NULL;
		int64_t step;

		if (!block || !is_thread(block->waker) || block->kind == WAKER_UNKNOWN ||
		    block->kind == WAKER_NONE || span.end >= range->to)
			continue;
		step = times_step(range, span.end);
		if (step == next)
			continue;
		next = step;
		++*count;
		put_arrow(asking, block->waker, span.end, thread, span.end);
	}
}

static void wakes(struct asking *asking, const struct derived *derived, const struct times *range)
{
	const struct walk *walk = &asking->server->walk;
	guint count = 0, looked_at = 0;

	(void) derived;
	for (guint i = 0; i < walk->threads->len; i++) {
		const struct walk_thread *at = &g_array_index(walk->threads, struct walk_thread, i);

		if (at->begin < range->to && at->end > range->from)
			wakes_of(asking, at->thread, range, &count, &looked_at);
	}
	timeline_let_go(&asking->server->session->trace.timeline);
}

/* --- tooltips -------------------------------------------------------------------------------- */

static void tell_wait(struct asking *asking, const struct graph_row *row, const struct shown *shown)
{
	const struct session *session = row->server->session;
	struct wait wait = wait_of(session, shown->thread, &shown->span);
	struct cause cause;

	wait_cut_at(&wait, session, session->asked.to);
	cause = wait_cause(session, &wait);
	tell_text(asking, "Cause", cause.label);
	tell_text(asking, "Kind", cause_kind_text(cause.kind));
	tell_text(asking, "Certainty", cause.inferred ? "inferred" : "seen");
	if (is_thread(wait.block->waker))
		tell_text(asking, "Woken by", run_name(session, wait.block->waker));
	cause_clear(&cause);
}

static void tell_state(struct asking *asking, const struct graph_row *row,
		       const struct shown *shown)
{
	const struct session *session = row->server->session;
	uint32_t kind = PACK_KIND(shown->span.leaf);
	g_autofree char *state = leaf_key(session, shown->span.leaf);

	tell_text(asking, "State", state);
	if (leaf_is_blocked(shown->span.leaf)) {
		tell_wait(asking, row, shown);
	} else if (kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU) {
		g_autoptr(GString) words = g_string_new(NULL);
		struct runners runners = {0};

		runners_add(&runners, session, shown->thread, &shown->span);
		runners_append(&runners, words);
		runners_clear(&runners);
		tell_text(asking, "Ran instead", words->str);
	}
	if (session_spans_gap(session, shown->thread, &shown->span))
		tell_text(asking, "Note", "events were lost meanwhile");
}

const struct graph graph_threads = {.tree = threads_tree,
				    .row = threads_row,
				    .at = threads_at,
				    .put = put_state,
				    .arrows = wakes,
				    .tell = tell_state};

/* --- a critical path ------------------------------------------------------------------------- */

static void path_tree(struct asking *asking, const struct derived *derived,
		      const struct times *range)
{
	static const char *const headers[] = {"Name", "TID", "PID", NULL};

	(void) range;
	put_headers(asking, headers);
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	for (guint i = 0; i < derived->rows->len; i++)
		put_thread(asking, g_array_index(derived->rows, struct path_row, i).thread, -1,
			   derived->from, derived->to);
	json_end(&asking->out, ']');
}

static bool path_row_of(struct graph_row *row)
{
	return threads_row(row) && derived_row(row->derived, row->thread);
}

static bool path_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	const struct path_row *of = derived_row(row->derived, row->thread);
	const struct piece *piece;
	guint low = 0, high = of->pieces->len;

	while (low < high) { /* the first that ends after `time` */
		guint middle = low + (high - low) / 2;

		piece = &g_array_index(row->derived->path->pieces, struct piece,
				       g_array_index(of->pieces, guint, middle));
		if (piece->end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == of->pieces->len)
		return false;
	piece = &g_array_index(row->derived->path->pieces, struct piece,
			       g_array_index(of->pieces, guint, low));
	*shown = (struct shown) {.begin = piece->begin,
				 .end = piece->end,
				 .thread = piece->thread,
				 .span = {piece->begin, piece->end, piece->leaf, piece->ref}};
	return true;
}

/* Where the path goes on in another thread. */
static void hops(struct asking *asking, const struct derived *derived, const struct times *range)
{
	const GArray *pieces = derived->path->pieces;
	guint count = 0;

	for (guint i = 1; i < pieces->len && count < ARROWS_MAX; i++) {
		const struct piece *from = &g_array_index(pieces, struct piece, i - 1);
		const struct piece *to = &g_array_index(pieces, struct piece, i);

		if (from->thread == to->thread || from->end < range->from || from->end > range->to)
			continue;
		put_arrow(asking, from->thread, from->end, to->thread, to->begin);
		count++;
	}
}

const struct graph graph_path = {.tree = path_tree,
				 .row = path_row_of,
				 .at = path_at,
				 .put = put_state,
				 .arrows = hops,
				 .tell = tell_state};
