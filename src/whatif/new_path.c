/* SPDX-License-Identifier: MIT */
/* See new_path.h. */
#include "whatif/new_path.h"

#include "path/path.h"
#include "waits/wait.h"

struct walker {
	const struct session *session;
	const struct retimed *retimed;
	guint scenario;
	GArray *pieces;  /* struct new_piece, in falling order while it is made */
	GArray *on_path; /* uint32_t threads being walked */
};

static int64_t new_time(const struct walker *walker, uint32_t thread, int64_t old)
{
	return retimed_at(walker->retimed, walker->scenario, thread, old);
}

static void add_piece(struct walker *walker, uint32_t thread, const struct span *span,
		      int64_t begin, int64_t end)
{
	struct new_piece piece = {thread, *span, begin, end};

	if (begin < end)
		g_array_append_val(walker->pieces, piece);
}

static void walk(struct walker *walker, uint32_t thread, int64_t from, int64_t old_to);

/* The part of a wait before it was for lead->thread: [begin, end) of the new times. */
static void walk_first(struct walker *walker, uint32_t thread, const struct span *span,
		       const struct lead *lead, int64_t begin, int64_t end)
{
	bool first = is_thread(lead->first) && !path_is_walked(walker->on_path, lead->first);
	int64_t there = first ? new_time(walker, lead->first, lead->first_until) : begin;

	if (there > end || there < begin)
		there = begin;
	add_piece(walker, thread, span, there, end);
	if (begin < there)
		walk(walker, lead->first, begin, lead->first_until);
}

/* A wait, of which [begin, end) of the new times is on the path. */
static void walk_wait(struct walker *walker, uint32_t thread, const struct span *span,
		      int64_t begin, int64_t end)
{
	struct wait wait = wait_of(walker->session, thread, span);
	struct lead lead;
	int64_t there, handed;

	if (session_spans_gap(walker->session, thread, span) ||
	    !wait_lead(walker->session, &wait, &lead) ||
	    path_is_walked(walker->on_path, lead.thread)) {
		add_piece(walker, thread, span, begin, end);
		return;
	}
	there = new_time(walker, lead.thread, lead.until);
	if (there + (span->end - lead.until) != end || there <= begin) {
		add_piece(walker, thread, span, begin, end); /* a rule made it as long as it is */
		return;
	}
	add_piece(walker, thread, span, there, end);
	handed = lead.from > span->begin ? new_time(walker, lead.thread, lead.from) : begin;
	handed = CLAMP(handed, begin, there);
	walk(walker, lead.thread, handed, lead.until);
	walk_first(walker, thread, span, &lead, begin, handed);
}

/* Pieces from the new time `from` up to what the thread reached at `old_to`, in falling order. */
static void walk(struct walker *walker, uint32_t thread, int64_t from, int64_t old_to)
{
	const struct thread *life = model_thread(&walker->session->trace.model, thread);
	int64_t since = retimed_when(walker->retimed, walker->scenario, thread, from),
		until = old_to;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct span));
	int64_t next; /* the new time of `until` */
	struct spans spans;
	struct span span;

	g_array_append_val(walker->on_path, thread);
	spans_begin(&spans, walker->session, thread, since, old_to);
	while (spans_next(&spans, &span))
		g_array_append_val(list, span);
	next = new_time(walker, thread, until);
	for (guint i = list->len; i-- > 0;) {
		const struct span *at = &g_array_index(list, struct span, i);
		int64_t end = at->end == until ? next : new_time(walker, thread, at->end), begin;

		until = at->begin;
		next = new_time(walker, thread, until);
		begin = MAX(next, from);
		if (begin >= end)
			continue;
		if (leaf_is_blocked(at->leaf))
			walk_wait(walker, thread, at, begin, end);
		else
			add_piece(walker, thread, at, begin, end);
	}
	g_array_free(list, TRUE);
	if (next > from) {
		struct span nothing = {life->begin, until, PACK(LEAF_UNKNOWN, 0), 0};

		if (life->born && is_thread(life->parent) &&
		    !path_is_walked(walker->on_path, life->parent))
			walk(walker, life->parent, from, until);
		else
			add_piece(walker, thread, &nothing, from, next);
	}
	g_array_set_size(walker->on_path, walker->on_path->len - 1);
}

GArray *new_path(const struct session *session, const struct retimed *retimed, guint scenario,
		 uint32_t thread, int64_t from, int64_t to)
{
	struct walker walker = {session, retimed, scenario,
				g_array_new(FALSE, FALSE, sizeof(struct new_piece)),
				g_array_new(FALSE, FALSE, sizeof(uint32_t))};

	walk(&walker, thread, from, to);
	g_array_free(walker.on_path, TRUE);
	for (guint i = 0, j = walker.pieces->len; i + 1 < j; i++) {
		struct new_piece *a = &g_array_index(walker.pieces, struct new_piece, i);
		struct new_piece *b = &g_array_index(walker.pieces, struct new_piece, --j);
		struct new_piece swap = *a;

		*a = *b;
		*b = swap;
	}
	return walker.pieces;
}
