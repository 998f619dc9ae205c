/* SPDX-License-Identifier: MIT */
/* The time graph of locks: who held each. Part of tsp/: holds as contention/holders.h clips them.
 * Where several hold a lock at once, to read, the one who took it first is shown until he gives it
 * up.
 */
#include "tsp/outputs.h"

#include "contention/holders.h"
#include "waits/state_names.h"

static bool is_shown(const struct lock *lock)
{
	return !lock->free && (lock->holds.used || (lock->open && lock->open->len)) &&
	       lock_is_one(lock);
}

static void locks_tree(struct asking *asking, const struct derived *derived,
		       const struct times *range)
{
	const struct session *session = asking->server->session;
	const struct flow *flow = &session->trace.flow;

	(void) derived;
	(void) range;
	graph_header(asking, "Lock");
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	for (guint i = 1; i <= flow->locks->len; i++) {
		const struct lock *lock = lock_at(flow, i);
		g_autofree char *name = NULL;

		if (!is_shown(lock))
			continue;
		name = lock->pid >= 0
			       ? g_strdup_printf("%s %s of process %d", lock_kind_text(lock),
						 session_text(session, lock->resource), lock->pid)
			       : g_strdup_printf("%s %s", lock_kind_text(lock),
						 session_text(session, lock->resource));
		graph_entry(asking, i, -1, name, true);
	}
	json_end(&asking->out, ']');
}

static int earlier(gconstpointer a, gconstpointer b)
{
	const struct hold *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static void add_hold(struct graph_row *row, const struct hold *hold)
{
	const struct session *session = row->server->session;
	struct holding known = hold_clipped(session, row->lock, hold);
	struct hold clipped = *hold;

	clipped.begin = MAX(known.begin, session->asked.from);
	clipped.end = MIN(known.end, session->asked.to);
	if (clipped.begin < clipped.end)
		g_array_append_val(row->holds, clipped);
}

static bool locks_row(struct graph_row *row)
{
	const struct session *session = row->server->session;
	const struct flow *flow = &session->trace.flow;
	int64_t until = INT64_MIN;
	guint kept = 0;

	if (row->id < 1 || row->id > flow->locks->len ||
	    !is_shown(lock_at(flow, (uint32_t) row->id)))
		return false;
	row->lock = lock_at(flow, (uint32_t) row->id);
	row->holds = g_array_new(FALSE, FALSE, sizeof(struct hold));
	for (uint32_t i = 0; i < row->lock->holds.used; i++)
		add_hold(row, hold_at(&session->trace.timeline.holds, &row->lock->holds, i));
	for (guint i = 0; row->lock->open && i < row->lock->open->len; i++)
		add_hold(row, &g_array_index(row->lock->open, struct hold, i));
	g_array_sort(row->holds, earlier);
	for (guint i = 0; i < row->holds->len; i++) { /* one after the other */
		struct hold hold = g_array_index(row->holds, struct hold, i);

		hold.begin = MAX(hold.begin, until);
		if (hold.begin >= hold.end)
			continue;
		until = hold.end;
		g_array_index(row->holds, struct hold, kept++) = hold;
	}
	g_array_set_size(row->holds, kept);
	return true;
}

static bool locks_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	guint low = 0, high = row->holds->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(row->holds, struct hold, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == row->holds->len)
		return false;
	*shown = (struct shown) {.hold = &g_array_index(row->holds, struct hold, low)};
	shown->begin = shown->hold->begin;
	shown->end = shown->hold->end;
	shown->thread = shown->hold->thread;
	return true;
}

static void locks_put(struct asking *asking, const struct graph_row *row, const struct shown *shown,
		      bool wide)
{
	put_style(asking, shown->hold->proved ? "held" : "held-inferred");
	if (wide)
		json_put_text(&asking->out, "label", run_name(row->server->session, shown->thread));
}

static void locks_tell(struct asking *asking, const struct graph_row *row,
		       const struct shown *shown)
{
	tell_text(asking, "Held by", run_name(row->server->session, shown->thread));
	tell_text(asking, "Certainty", shown->hold->proved ? "seen" : "inferred");
	if (!shown->hold->taken)
		tell_text(asking, "Note", "when it was taken was not seen: this is the earliest");
}

const struct graph graph_locks = {
	.tree = locks_tree, .row = locks_row, .at = locks_at, .put = locks_put, .tell = locks_tell};
