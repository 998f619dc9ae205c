/* SPDX-License-Identifier: MIT */
/* Walking back from the target; see path.h.
 *
 *   T  ──work──┤ blocked, woken by P ├──work──▶ end
 *                                     │ jump
 *   P      ──work──┤ disk wait ├──work┘
 *                                       pieces, from the end:
 *   T work, P work, P disk wait, P work (down to the wait's begin), T work
 *
 * Where the thread was born inside the part looked at, its parent goes on
 * from the fork; so the lineage is part of the path.
 */
#include "path/path.h"

#include "path/several.h"

#define FEW 16 /* most paths and walks have no more parts */
#define PENDING 64
#define AT_ONCE 32 /* spans */
#define WAY_BACK_MAX INT64_C(5000000) /* ns from a call's exit to user mode, on a slow machine */
#define WAY_BACK_STEPS 10000

struct walker {
	const struct session *session;
	struct path *path;
	GArray *on_path; /* uint32_t threads being walked */
	struct piece pending[PENDING]; /* go to the path together */
	guint count;     /* … so many */
	struct span some[AT_ONCE]; /* spans_of(): not on the stack, where walks are nested */
	bool needed;     /* it is for what was reached at its end */
	bool own_states; /* path_new_of_states() */
};

GArray *lineage_new(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	GArray *stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));

	for (;;) {
		const struct thread *life = model_thread(&session->trace.model, thread);
		struct stretch stretch = {thread, MAX(from, life->begin), to};

		/* a parent that was not seen: the thread's own stretch is all there is */
		if (!life->born || !is_thread(life->parent))
			stretch.begin = from;
		if (stretch.begin < stretch.end)
			g_array_prepend_val(stretches, stretch);
		if (stretch.begin <= from)
			return stretches;
		to = stretch.begin;
		thread = life->parent;
	}
}

bool path_is_walked(const GArray *on_path, uint32_t thread)
{
	if (on_path->len >= CHAIN_LONGEST)
		return true;
	for (guint i = 0; i < on_path->len; i++)
		if (g_array_index(on_path, uint32_t, i) == thread)
			return true;
	return false;
}

static void hand_on(struct walker *walker)
{
	g_array_append_vals(walker->path->pieces, walker->pending, walker->count);
	walker->count = 0;
}

/* The piece may be changed until the next one is added. */
static struct piece *add_piece(struct walker *walker, uint32_t thread, const struct span *span,
			       bool woken, int32_t behalf)
{
	struct piece *piece;

	if (walker->count == PENDING)
		hand_on(walker);
	piece = &walker->pending[walker->count++];
	*piece = (struct piece) {.thread = thread,
				 .begin = span->begin,
				 .end = span->end,
				 .leaf = span->leaf,
				 .ref = span->ref,
				 .woken = woken,
				 .behalf = behalf};
	if (leaf_is_blocked(span->leaf))
		piece->block = block_at(&walker->session->trace.timeline, span->ref);
	return piece;
}

static void walk(struct walker *walker, uint32_t thread, int64_t from, int64_t to, int32_t behalf,
		 bool cut_short);

/* A wait that a thread ended: on from there, down to the wait's begin. What a
 * messenger or a device took stays a wait for that. */
static void walk_waker(struct walker *walker, uint32_t thread, const struct span *span,
		       const struct block *block, const struct lead *lead, int32_t behalf)
{
	struct through through = {thread,    block,     span->leaf, span->begin,
				  span->end, INT64_MIN, behalf};
	bool first = is_thread(lead->first) && !path_is_walked(walker->on_path, lead->first);
	struct span rest = *span;
	int32_t wait;

	g_array_append_val(walker->path->waits, through);
	wait = (int32_t) walker->path->waits->len - 1;
	rest.begin = lead->until;
	if (rest.begin < rest.end)
		add_piece(walker, thread, &rest, true, behalf);
	walk(walker, lead->thread, lead->from, lead->until, wait, false);
	rest.begin = first ? lead->first_until : span->begin;
	rest.end = lead->from;
	if (rest.begin < rest.end)
		add_piece(walker, thread, &rest, true, behalf);
	if (first)
		walk(walker, lead->first, span->begin, lead->first_until, wait, false);
}

static void blocked_piece(struct walker *walker, uint32_t thread, const struct span *span,
			  bool woken, int32_t behalf)
{
	struct wait wait = wait_of(walker->session, thread, span);
	struct lead lead;

	wait.woken &= woken;
	if (wait_lead(walker->session, &wait, &lead) &&
	    !path_is_walked(walker->on_path, lead.thread))
		walk_waker(walker, thread, span, wait.block, &lead, behalf);
	else
		add_piece(walker, thread, span, wait.woken, behalf);
}

/* The part before the thread's birth is its parent's. */
static void walk_parent(struct walker *walker, uint32_t thread, int64_t from, int64_t to,
			int32_t behalf)
{
	const struct thread *life = model_thread(&walker->session->trace.model, thread);
	struct span nothing = {from, to, PACK(LEAF_UNKNOWN, 0), 0};

	if (is_thread(life->parent) && !path_is_walked(walker->on_path, life->parent))
		walk(walker, life->parent, from, to, behalf, false);
	else if (is_thread(life->parent) && behalf >= 0) {
		/* the parent is the one that waits: it waited for its own child to be */
		const struct through *wait =
			&g_array_index(walker->path->waits, struct through, behalf);

		nothing.leaf = wait->thread == life->parent ? wait->leaf : nothing.leaf;
		add_piece(walker, life->parent, &nothing, false, behalf)->block =
			leaf_is_blocked(nothing.leaf) ? wait->block : NULL;
	} else {
		add_piece(walker, thread, &nothing, false, behalf);
	}
}

/* struct span of [from, to), until one so deep is asked for again. */
static GArray *spans_of(struct walker *walker, uint32_t thread, int64_t from, int64_t to)
{
	GPtrArray *lists = walker->path->scratch;
	guint depth = walker->on_path->len, count = 0;
	struct spans spans;
	GArray *list;

	while (lists->len <= depth)
		g_ptr_array_add(lists, g_array_new(FALSE, FALSE, sizeof(struct span)));
	list = g_ptr_array_index(lists, depth);
	g_array_set_size(list, 0);
	spans_begin(&spans, walker->session, thread, from, to);
	while (spans_next(&spans, &walker->some[count]))
		if (++count == AT_ONCE) {
			g_array_append_vals(list, walker->some, count);
			count = 0;
		}
	g_array_append_vals(list, walker->some, count);
	return list;
}

/* Pieces of [from, to) in falling order. `cut_short`: a wait that reaches `to`
 * was not over then. */
static void walk(struct walker *walker, uint32_t thread, int64_t from, int64_t to, int32_t behalf,
		 bool cut_short)
{
	const struct thread *life = model_thread(&walker->session->trace.model, thread);
	GArray *list = spans_of(walker, thread, from, to);
	struct span span;
	int64_t until = to, undecided;

	g_array_append_val(walker->on_path, thread);
	undecided = (behalf < 0 && walker->own_states ? several_redirect : several_join)(
		walker->session, thread, list,
		behalf >= 0 || walker->needed || several_needed(walker->session, thread));
	if (undecided != INT64_MIN && behalf >= 0) {
		struct through *above = &g_array_index(walker->path->waits, struct through, behalf);

		above->undecided = MAX(above->undecided, undecided);
	}
	if (life->end < to) { /* it was over before: nothing is known of the rest */
		span = (struct span) {MAX(life->end, from), to, PACK(LEAF_UNKNOWN, 0), 0};
		add_piece(walker, thread, &span, false, behalf);
		until = span.begin;
	}
	for (guint i = list->len; i-- > 0;) {
		struct span *at = &g_array_index(list, struct span, i);

		until = at->begin;
		if (PACK_KIND(at->leaf) == LEAF_WORK_USER && at->begin < life->ends_from &&
		    at->end > life->ends_from) { /* its own code, and then the kernel's */
			struct span end = *at;

			end.begin = at->end = life->ends_from;
			add_piece(walker, thread, &end, false, behalf);
		}
		if (leaf_is_blocked(at->leaf))
			blocked_piece(walker, thread, at, !(cut_short && at->end == to), behalf);
		else
			add_piece(walker, thread, at, false, behalf);
	}
	if (until > from)
		walk_parent(walker, thread, from, until, behalf);
	g_array_set_size(walker->on_path, walker->on_path->len - 1);
}

static void reverse(GArray *pieces)
{
	for (guint i = 0, j = pieces->len; i + 1 < j; i++) {
		struct piece swap = g_array_index(pieces, struct piece, i);

		j--;
		g_array_index(pieces, struct piece, i) = g_array_index(pieces, struct piece, j);
		g_array_index(pieces, struct piece, j) = swap;
	}
}

struct path *path_empty(void)
{
	struct path *path = g_new0(struct path, 1);

	path->pieces = g_array_sized_new(FALSE, FALSE, sizeof(struct piece), FEW);
	path->waits = g_array_new(FALSE, FALSE, sizeof(struct through));
	path->scratch = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);
	return path;
}

static void extend_back(struct path *path, const struct session *session, uint32_t thread,
			int64_t from, int64_t to, bool own_states)
{
	struct walker walker;

	walker.session = session;
	walker.path = path;
	walker.on_path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	walker.count = 0;
	walker.needed = session->asked.target != NO_THREAD;
	walker.own_states = own_states;
	walk(&walker, thread, from, to, -1, session_blocked_at(session, thread, to));
	hand_on(&walker);
	g_array_free(walker.on_path, TRUE);
}

void path_extend_back(struct path *path, const struct session *session, uint32_t thread,
		      int64_t from, int64_t to)
{
	extend_back(path, session, thread, from, to, false);
}

void path_whole(struct path *path)
{
	reverse(path->pieces);
	g_ptr_array_set_size(path->scratch, 0);
}

struct path *path_new(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	struct path *path = path_empty();

	path_extend_back(path, session, thread, from, to);
	path_whole(path);
	return path;
}

void path_renew(struct path *path, const struct session *session, uint32_t thread, int64_t from,
		int64_t to)
{
	g_array_set_size(path->pieces, 0);
	g_array_set_size(path->waits, 0);
	path_extend_back(path, session, thread, from, to);
	reverse(path->pieces);
}

struct path *path_new_of_states(const struct session *session, uint32_t thread, int64_t from,
				int64_t to)
{
	struct path *path = path_empty();

	extend_back(path, session, thread, from, to, true);
	path_whole(path);
	return path;
}

void path_free(struct path *path)
{
	if (!path)
		return;
	g_array_free(path->pieces, TRUE);
	g_array_free(path->waits, TRUE);
	g_ptr_array_free(path->scratch, TRUE);
	g_free(path);
}

/* Calls whose last use of a file, or of what is mounted, is undone after their exit was recorded
 * (the kernel's task_work_add()). A wait behind others' exits may as well be before a next call. */
static bool leaves_work(const char *call)
{
	static const char *const calls[] = {"close",  "close_range", "dup2",   "dup3",
					    "munmap", "umount",      "umount2"};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strcmp(calls[i], call) == 0)
			return true;
	return false;
}

struct wait through_wait(const struct through *through)
{
	return (struct wait) {.thread = through->thread,
			      .begin = through->begin,
			      .end = through->end,
			      .leaf = through->leaf,
			      .block = through->block,
			      .woken = true};
}

struct wait piece_wait(const struct piece *piece)
{
	return (struct wait) {.thread = piece->thread,
			      .begin = piece->begin,
			      .end = piece->end,
			      .leaf = piece->leaf,
			      .block = piece->block,
			      .woken = piece->woken};
}

uint32_t through_leaf(const struct session *session, const struct through *through)
{
	const struct thread *life = model_thread(&session->trace.model, through->thread);
	const struct interval *at;
	struct track_pos pos;
	int64_t begin, until = through->begin, worked = 0;
	int i = 0;

	if (PACK_KIND(through->leaf) != LEAF_BLOCK_OTHER ||
	    !track_find(&session->trace.timeline, &life->track, through->begin, &pos))
		return through->leaf;
	for (; i < WAY_BACK_STEPS &&
	       (at = track_step_back(&session->trace.timeline, &life->track, &pos, &begin));
	     i++, until = begin) {
		enum leaf_kind kind = PACK_KIND(at->leaf);

		if (kind == LEAF_WORK_USER)
			worked += until - begin;
		else if (kind == LEAF_BLOCK_OTHER)
			worked = 0;
		else if (kind >= LEAF_BLOCK_STOPPED || kind == LEAF_WORK_SYSCALL)
			break;
	}
	if (i == WAY_BACK_STEPS || !at || worked > WAY_BACK_MAX ||
	    (PACK_KIND(at->leaf) != LEAF_WORK_SYSCALL &&
	     PACK_KIND(at->leaf) != LEAF_BLOCK_SYSCALL) ||
	    !leaves_work(session_text(session, PACK_NUMBER(at->leaf))))
		return through->leaf;
	return PACK(LEAF_BLOCK_OTHER, PACK_NUMBER(at->leaf));
}
