/* SPDX-License-Identifier: MIT */
/* Putting the time of threads down to their calls; see call_tree.h. */
#include "calls/call_tree.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>

#include "calls/call_threads.h"
#include "parts/make_parts.h"
#include "run/command.h"
#include "waits/causes.h"
#include "path/path.h"
#include "waits/idle.h"
#include "symbols/symbols.h"

#define SLICE 4096 /* times off the CPU, of which a thread's path is looked at at once */
#define FRAMES_HELD 400000 /* 13 MB */
#define FRAMES_TAKEN (FRAMES_HELD / 3) /* … from parts: their own come on top */
#define FRAMES_IN_PART (FRAMES_HELD / 8)

/* --- nodes ------------------------------------------------------------------------- */

struct node_key {
	uint32_t parent, what;
	uint8_t kind;
};

static guint key_hash(gconstpointer data)
{
	const struct node_key *key = data;

	return (key->parent * 2654435761u ^ key->what) * 40503u + key->kind;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct node_key *x = a, *y = b;

	return x->parent == y->parent && x->what == y->what && x->kind == y->kind;
}

static struct call_node *node_of(const struct call_tree *tree, uint32_t place)
{
	return &g_array_index(tree->nodes, struct call_node, place);
}

static void node_clear(gpointer data)
{
	struct call_node *node = data;

	g_array_free(node->children, TRUE);
	g_array_free(node->waits, TRUE);
}

static bool explains(uint8_t kind)
{
	return kind == NODE_WAITS_FOR || kind == NODE_CAUSE;
}

/* The child of `parent` (NO_NODE: a root) that is so; `thread` is there at `at`. */
static uint32_t node_find(struct call_tree *tree, uint32_t parent, enum call_node_kind kind,
			  uint32_t what, uint32_t thread, uint32_t ref, int64_t at)
{
	struct node_key key = {parent, what, (uint8_t) kind};
	gpointer known;
	uint32_t place = tree->nodes->len, *latest = NULL;
	struct call_node node = {.kind = (uint8_t) kind,
				 .what = what,
				 .parent = parent,
				 .thread = thread,
				 .ref = ref,
				 .at = at};

	if (parent != NO_NODE) {
		node.depth = node_of(tree, parent)->depth + 1;
		node.elsewhere = kind == NODE_WAITS_FOR || node_of(tree, parent)->elsewhere;
		if (node.depth > CALL_TREE_DEPTH &&
		    (!explains(node.kind) ||
		     (kind == NODE_WAITS_FOR && node_of(tree, parent)->elsewhere)))
			return parent;
		latest = &node_of(tree, parent)->latest[explains(node.kind)];
		if (*latest && node_of(tree, *latest)->what == what &&
		    node_of(tree, *latest)->kind == node.kind)
			return *latest;
	}
	known = g_hash_table_lookup(tree->index, &key);
	if (known) {
		place = GPOINTER_TO_UINT(known) - 1;
		if (latest)
			*latest = place;
		return place;
	}
	node.children = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	node.waits = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(tree->nodes, node);
	g_hash_table_insert(tree->index, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(place + 1));
	if (parent != NO_NODE)
		g_array_append_val(explains((uint8_t) kind) ? node_of(tree, parent)->waits
							    : node_of(tree, parent)->children,
				   place);
	return place;
}

/* --- where a thread is --------------------------------------------------------------- */

const struct frames *call_tree_frames(struct call_tree *tree, uint32_t thread)
{
	const struct session *session = tree->session;

	struct frames *frames = g_ptr_array_index(tree->frames, thread);

	if (frames)
		return frames;
	frames = frames_new(session, thread, session->asked.from, session->asked.to);
	tree->frames_held += frames->list->len;
	tree->longest_list = MAX(tree->longest_list, frames->list->len);
	/* passes go from thread to thread, several times: the first ones are met again */
	frames->stays = tree->frames_held <= tree->frames_most / 3 * 2;
	g_ptr_array_index(tree->frames, thread) = frames;
	return frames;
}

const struct frames *call_tree_frames_of(struct call_tree *tree, uint32_t thread, uint32_t what)
{
	const struct session *session = tree->session;
	struct frames *turns;

	if (!what_is_turn(what))
		return call_tree_frames(tree, thread);
	turns = g_ptr_array_index(tree->turns, thread);
	if (!turns) {
		turns = frames_of_turns(session, thread, session->asked.from, session->asked.to);
		tree->frames_held += turns->list->len;
		g_ptr_array_index(tree->turns, thread) = turns;
	}
	return turns;
}

void call_tree_let_go(struct call_tree *tree, uint32_t keep)
{
	guint count = tree->only ? tree->only->len : tree->frames->len;

	timeline_ease(&tree->session->trace.timeline);
	if (tree->frames_held <= tree->frames_most)
		return;
	tree->frames_held = 0;
	for (guint k = 0; k < count; k++) {
		guint i = tree->only ? g_array_index(tree->only, uint32_t, k) : k;
		struct frames *frames = g_ptr_array_index(tree->frames, i);

		if (frames && (i == keep || frames->stays))
			tree->frames_held += frames->list->len;
		else
			g_clear_pointer((struct frames **) &tree->frames->pdata[i], frames_free);
		g_clear_pointer((struct frames **) &tree->turns->pdata[i], frames_free);
	}
}

static uint64_t held_of(const struct call_tree *tree, const GArray *threads)
{
	uint64_t held = 0;

	for (guint k = 0; k < threads->len; k++) {
		uint32_t i = g_array_index(threads, uint32_t, k);
		const struct frames *frames = g_ptr_array_index(tree->frames, i);
		const struct frames *turns = g_ptr_array_index(tree->turns, i);

		held += (frames ? frames->list->len : 0) + (turns ? turns->list->len : 0);
	}
	return held;
}

struct call_tree *call_tree_part_new(struct call_tree *tree, const struct session *session,
				     const GArray *threads)
{
	struct call_tree *part = g_memdup2(tree, sizeof *part);

	part->session = session;
	part->only = threads;
	part->frames_held = part->held_before = held_of(tree, threads);
	part->frames_most = parts_in_one() ? FRAMES_IN_PART : FRAMES_HELD;
	return part;
}

void call_tree_part_end(struct call_tree *tree, struct call_tree *part)
{
	tree->longest_list = MAX(tree->longest_list, part->longest_list);
	tree->frames_held += held_of(tree, part->only);
	tree->frames_held -= part->held_before;
	g_free(part);
}

/* The node of `frame` below `base`; with `scoped`, from the outermost frame on that --function
 * asks for, NO_NODE outside of them. */
static uint32_t frame_node(struct call_tree *tree, const struct frames *frames, uint32_t frame,
			   uint32_t base, bool scoped)
{
	const struct call_frame *at;
	uint32_t node;

	if (frame == NO_FRAME)
		return scoped && tree->session->asked.options->functions.function ? NO_NODE : base;
	if (scoped && tree->node_of_frame[frame])
		return tree->node_of_frame[frame] - 1;
	at = frame_of(frames, frame);
	node = frame_node(tree, frames, at->parent, base, scoped);
	if (node == NO_NODE && frame_is_wanted(tree->session, at))
		node = base;
	if (node != NO_NODE && !at->in_interrupt)
		node = node_find(tree, node, NODE_CALL, at->what, frames->thread,
				 PACK_KIND(at->what) == OPERATION_USER ? at->ref : 0, at->begin);
	if (scoped)
		tree->node_of_frame[frame] = node + 1;
	return node;
}

/* A call that no frame shows, as its entry was not seen: the state says which it is. */
static uint32_t unseen_call(struct call_tree *tree, const struct frames *frames, uint32_t frame,
			    uint32_t node, uint32_t leaf, int64_t at)
{
	uint32_t kind = PACK_KIND(leaf);

	if (kind != LEAF_WORK_SYSCALL && kind != LEAF_BLOCK_SYSCALL)
		return node;
	for (; frame != NO_FRAME; frame = frame_of(frames, frame)->parent)
		if (PACK_KIND(frame_of(frames, frame)->what) == OPERATION_SYSCALL)
			return node;
	return node_find(tree, node, NODE_CALL, PACK(OPERATION_SYSCALL, PACK_NUMBER(leaf)),
			 frames->thread, 0, at);
}

/* Below a wait in a page fault that, and below it what it was on, if it is known. */
static uint32_t fault_node(struct call_tree *tree, const struct frames *frames, uint32_t node,
			   uint32_t leaf, const struct block *block, int64_t at)
{
	bool in_call = PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL;
	uint32_t key;

	if (!block || (PACK_KIND(leaf) != LEAF_BLOCK_FAULT && !in_call))
		return node;
	key = in_call ? block->fault : block->resource;
	if (in_call && !key)
		return node;
	node = node_find(tree, node, NODE_CALL, PACK(OPERATION_FAULT, 0), frames->thread, 0, at);
	return key ? node_find(tree, node, NODE_CALL, PACK(OPERATION_FAULT, key), frames->thread, 0,
			       at)
		   : node;
}

/* Below a wait the functions that led to it, as far as no probes show them. */
static uint32_t sampled_node(struct call_tree *tree, const struct frames *frames, uint32_t frame,
			     uint32_t node, const struct block *block, int64_t at)
{
	const struct session *session = tree->session;
	uint32_t number =
		block ? callpaths_at(&session->trace.flow.callstacks, block->callpaths)->kernel : 0;
	const char *inner = NULL;
	uint64_t words[CALLSTACK_WORDS];
	GPtrArray *path;
	guint count, first = 0;

	if (!number)
		return node;
	count = callstack_words(&session->trace.flow.callstacks, number, words);
	path = callpath_new(session->found.symbols, words, count);
	if (frame != NO_FRAME && PACK_KIND(frame_of(frames, frame)->what) == OPERATION_FUNCTION)
		inner = session_text(session, PACK_NUMBER(frame_of(frames, frame)->what));
	for (guint i = 0; inner && i < path->len; i++)
		if (strcmp(g_ptr_array_index(path, i), inner) == 0)
			first = i + 1;
	for (guint i = first; i < path->len; i++)
		node = node_find(tree, node, NODE_SAMPLED,
				 intern_id(session->trace.model.names, g_ptr_array_index(path, i)),
				 frames->thread, 0, at);
	g_ptr_array_free(path, TRUE);
	return node;
}

/* --- pieces of the critical path -------------------------------------------------------- */

/* What the piece is put down to; the same leaf of a thread is so always, but for waits. */
uint32_t call_tree_cause(struct call_tree *tree, const struct path *path, const struct piece *piece)
{
	bool same = PACK_KIND(piece->leaf) >= LEAF_INT_IRQ &&
		    PACK_KIND(piece->leaf) <= LEAF_INT_HRTIMER && piece->behalf < 0;
	uint64_t key = (uint64_t) piece->leaf << 32 | piece->ref;
	struct user_request none = {0};
	uint32_t known = same ? idmap_get(&tree->causes, key) : IDMAP_NONE;
	GString *label = tree->label;
	enum user_change change;
	const char *kind;

	if (known != IDMAP_NONE)
		return known;
	g_string_truncate(label, 0);
	kind = piece_put_down_to(tree->namer, &none, path, piece, label, &change);
	/* the call and the file are told by the nodes above, or differ from call to call */
	if (strcmp(kind, cause_kind_text(CAUSE_BLOCK_DEVICE)) == 0 && strstr(label->str, ", "))
		g_string_truncate(label, (gsize) (strstr(label->str, ", ") - label->str));
	g_string_prepend(label, ": ");
	g_string_prepend(label, kind);
	known = GPOINTER_TO_UINT(g_hash_table_lookup(tree->labels, label->str));
	if (!known) {
		known = intern_id(tree->session->trace.model.names, label->str);
		g_hash_table_insert(tree->labels, g_strdup(label->str), GUINT_TO_POINTER(known));
	}
	if (same)
		idmap_set(&tree->causes, key, known);
	return known;
}

/* The thread's name, interned. */
static uint32_t name_of(struct call_tree *tree, uint32_t thread)
{
	struct intern *names = tree->session->trace.model.names;

	if (!is_thread(thread))
		return intern_id(names, thread_names_get(tree->namer->names, thread));
	if (!tree->names[thread])
		tree->names[thread] =
			intern_id(names, thread_names_get(tree->namer->names, thread));
	return tree->names[thread];
}

static uint32_t waits_for_node(struct call_tree *tree, uint32_t node, uint32_t thread, int64_t at)
{
	return node_find(tree, node, NODE_WAITS_FOR, name_of(tree, thread), thread, 0, at);
}

static void add_own(struct call_tree *tree, uint32_t node, uint32_t leaf, int64_t ns)
{
	node_of(tree, node)->own[leaf_wib(leaf)] += ns;
}

/* The calls of a thread that was waited for. Where there are no functions, its states tell which
 * system call it was in, and its frames are not needed. */
static struct frames frames_of_other(struct call_tree *tree, uint32_t thread)
{
	if (calls_are_functions(tree->session))
		return *call_tree_frames(tree, thread);
	return (struct frames) {.list = tree->no_frames, .thread = thread};
}

/* Another thread's part of a wait: its calls meanwhile, and what it was itself put down to. */
static void add_other(struct call_tree *tree, const struct path *path, const struct piece *piece,
		      uint32_t node, int64_t begin, int64_t end)
{
	const struct frames other = frames_of_other(tree, piece->thread), *frames = &other;
	uint32_t base = waits_for_node(tree, node, piece->thread, begin), frame, at, place = 0;
	uint32_t cause =
		leaf_wib(piece->leaf) == WIB_WORKING ? 0 : call_tree_cause(tree, path, piece);
	int64_t until;

	for (; begin < end; begin = until) {
		frame = frames_on(frames, &place, begin, &until);
		until = MIN(until, end);
		at = frame_node(tree, frames, frame, base, false);
		at = unseen_call(tree, frames, frame, at, piece->leaf, begin);
		at = fault_node(tree, frames, at, piece->leaf, piece->block, begin);
		at = sampled_node(tree, frames, frame, at, piece->block, begin);
		add_own(tree, at, piece->leaf, until - begin);
		if (cause)
			add_own(tree,
				node_find(tree, at, NODE_CAUSE, cause, piece->thread, 0, begin),
				piece->leaf, until - begin);
	}
}

/* Down the waits that led to the piece, below the outermost, which is the thread's own. */
static uint32_t descend(struct call_tree *tree, const struct path *path, int32_t wait,
			uint32_t node, int64_t begin)
{
	const struct through *at = &g_array_index(path->waits, struct through, wait);
	const struct frames other = frames_of_other(tree, at->thread), *frames = &other;
	uint32_t frame;
	int64_t until;

	if (at->behalf < 0)
		return node;
	node = descend(tree, path, at->behalf, node, begin);
	node = waits_for_node(tree, node, at->thread, begin);
	frame = frames_at(frames, begin, &until);
	node = frame_node(tree, frames, frame, node, false);
	node = unseen_call(tree, frames, frame, node, at->leaf, begin);
	node = fault_node(tree, frames, node, at->leaf, at->block, begin);
	return sampled_node(tree, frames, frame, node, at->block, begin);
}

static const struct through *outermost(const struct path *path, const struct piece *piece)
{
	const struct through *at = NULL;

	for (int32_t i = piece->behalf; i >= 0; i = at->behalf)
		at = &g_array_index(path->waits, struct through, i);
	return at;
}

/* A wait of the thread's own that the piece is, or is inside of, delays nobody. Of a request
 * nothing is idle: it waits. */
static bool is_at_leisure(const struct call_tree *tree, const struct piece *piece,
			  const struct through *through)
{
	struct wait wait = {.thread = piece->thread,
			    .begin = piece->begin,
			    .end = piece->end,
			    .leaf = piece->leaf,
			    .block = piece->block,
			    .woken = piece->woken};

	if (through)
		wait = (struct wait) {.thread = through->thread,
				      .begin = through->begin,
				      .end = through->end,
				      .leaf = through->leaf,
				      .block = through->block,
				      .woken = true};
	return wait.block && !tree->of_requests && wait_is_at_leisure(tree->session, &wait);
}

/* What came of it is nothing to look into. */
static void add_idle(struct call_tree *tree, uint32_t node, uint32_t leaf, uint32_t thread,
		     int64_t begin, int64_t ns)
{
	uint32_t cause;

	if (!tree->idle_text)
		tree->idle_text =
			intern_id(tree->session->trace.model.names, "idle: for a next request");
	cause = node_find(tree, node, NODE_CAUSE, tree->idle_text, thread, 0, begin);
	node_of(tree, node)->idle += ns;
	node_of(tree, node)->own_idle += ns;
	node_of(tree, cause)->idle += ns;
	add_own(tree, cause, leaf, ns);
}

/* A piece of a thread's path; several are of one wait. */
struct part {
	const struct piece *piece;
	const struct through *wait; /* the outermost; NULL: none */
	bool asked, at_leisure; /* … is at leisure, once that was asked */
};

static bool part_is_at_leisure(const struct call_tree *tree, struct part *part)
{
	if (!part->asked)
		part->at_leisure = is_at_leisure(tree, part->piece, part->wait);
	part->asked = true;
	return part->at_leisure;
}

/* [begin, end) of a piece, in which the thread is in one call. */
static void add_stretch(struct call_tree *tree, const struct path *path, struct part *part,
			const struct frames *frames, uint32_t frame, uint32_t root, int64_t begin,
			int64_t end)
{
	const struct piece *piece = part->piece;
	const struct through *wait = part->wait;
	uint32_t leaf = wait ? wait->leaf : piece->leaf;
	uint32_t node = frame_node(tree, frames, frame, root, true), cause;

	if (node == NO_NODE)
		return;
	node = unseen_call(tree, frames, frame, node, leaf, begin);
	node = fault_node(tree, frames, node, leaf, wait ? wait->block : piece->block, begin);
	node = sampled_node(tree, frames, frame, node, wait ? wait->block : piece->block, begin);
	add_own(tree, node, leaf, end - begin);
	if (part_is_at_leisure(tree, part)) {
		add_idle(tree, node, leaf, piece->thread, begin, end - begin);
	} else if (wait) {
		add_other(tree, path, piece, descend(tree, path, piece->behalf, node, begin), begin,
			  end);
	} else if (leaf_wib(leaf) != WIB_WORKING) {
		cause = call_tree_cause(tree, path, piece);
		add_own(tree, node_find(tree, node, NODE_CAUSE, cause, piece->thread, 0, begin),
			leaf, end - begin);
	}
}

static void note_longest(struct call_tree *tree, uint32_t what, int64_t ns)
{
	int64_t *longest = g_hash_table_lookup(tree->longest, GUINT_TO_POINTER(what));

	if (!longest) {
		longest = g_new0(int64_t, 1);
		g_hash_table_insert(tree->longest, GUINT_TO_POINTER(what), longest);
	}
	*longest = MAX(*longest, ns);
}

static void count_calls(struct call_tree *tree, const struct frames *frames, uint32_t root)
{
	for (uint32_t i = 0; i < frames->list->len; i++) {
		const struct call_frame *frame = frame_of(frames, i);
		uint32_t node;

		if (!frame->in_interrupt)
			note_longest(tree, frame->what,
				     frame->half == OPERATION_WHOLE ? frame->end - frame->begin
								    : 0);
		if (frame->in_interrupt || !frame_is_counted(frame) ||
		    !call_scope_has(&tree->scope, frames->thread, frame->begin))
			continue;
		node = frame_node(tree, frames, i, root, true);
		if (node == NO_NODE)
			continue;
		node_of(tree, node)->calls++;
		node_of(tree, node)->open += frame->half == OPERATION_OPEN;
	}
}

/* The critical path of [from, to), which the thread does not begin or end in a wait. */
static void add_slice(struct call_tree *tree, const struct frames *frames, uint32_t root,
		      int64_t from, int64_t to)
{
	struct path *path = path_new_of_states(tree->session, frames->thread, from, to);
	uint32_t place = 0;
	int64_t until;
	struct part part = {0};

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		const struct through *wait = outermost(path, piece);

		part.asked = part.asked && wait && wait == part.wait;
		part.piece = piece;
		part.wait = wait;
		for (int64_t at = piece->begin; at < piece->end; at = until) {
			uint32_t frame = frames_on(frames, &place, at, &until);

			until = MIN(until, piece->end);
			add_stretch(tree, path, &part, frames, frame, root, at, until);
		}
	}
	path_free(path);
	call_tree_let_go(tree, frames->thread);
}

/* A thread's path is as long as its life: it is looked at slice by slice, each of which ends
 * when the thread has got a CPU. */
static void add_slices(struct call_tree *tree, const struct frames *frames, uint32_t root,
		       int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;
	int64_t begin = from;
	guint count = 0;

	spans_begin(&spans, tree->session, frames->thread, from, to);
	while (spans_next_off_cpu(&spans, &span)) {
		if (++count < SLICE || leaf_is_blocked(span.leaf) || span.end >= to)
			continue;
		add_slice(tree, frames, root, begin, span.end);
		begin = span.end;
		count = 0;
	}
	add_slice(tree, frames, root, begin, to);
}

static void add_thread(struct call_tree *tree, uint32_t thread)
{
	const struct session *session = tree->session;
	guint count;
	const struct call_slice *slices =
		call_scope_slices(&tree->scope, thread, INT64_MIN, &count);
	const char *name = thread_names_get(tree->namer->names, thread);
	const struct frames *frames;
	uint32_t root;

	if (!count)
		return;
	root = node_find(tree, NO_NODE, NODE_THREADS, intern_id(session->trace.model.names, name),
			 thread, 0, slices[0].begin);
	while (tree->threads->len <= root)
		g_ptr_array_add(tree->threads, NULL);
	if (!g_ptr_array_index(tree->threads, root))
		g_ptr_array_index(tree->threads, root) =
			g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(g_ptr_array_index(tree->threads, root), thread);
	frames = call_tree_frames(tree, thread);
	tree->node_of_frame = g_new0(uint32_t, frames->list->len + 1);
	count_calls(tree, frames, root);
	for (guint i = 0; i < count; i++)
		add_slices(tree, frames, root, slices[i].begin, slices[i].end);
	g_clear_pointer(&tree->node_of_frame, g_free);
}

/* --- sums ----------------------------------------------------------------------------- */

static int64_t sum(const int64_t times[4])
{
	return times[0] + times[1] + times[2] + times[3];
}

int64_t function_metric_of(const struct session *session, const int64_t times[4])
{
	switch (session->asked.options->functions.metric) {
	case BY_CPU:
		return times[WIB_WORKING];
	case BY_BLOCKED:
		return times[WIB_BLOCKED];
	case BY_INTERRUPTED:
		return times[WIB_INTERRUPTED];
	default:
		return sum(times);
	}
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct call_tree *tree = data;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int64_t first = sum(call_node_at(tree, x)->all), second = sum(call_node_at(tree, y)->all);

	if (first != second)
		return first > second ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Of threads, those first that did most, and not those that slept longest. */
static int busiest_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct call_tree *tree = data;
	const struct session *session = tree->session;
	const struct call_node *x = call_node_at(tree, *(const uint32_t *) a),
			       *y = call_node_at(tree, *(const uint32_t *) b);
	bool by_work = session->asked.options->functions.metric == BY_WALL;
	int64_t first = by_work ? x->all[WIB_WORKING] : function_metric_of(session, x->all);
	int64_t second = by_work ? y->all[WIB_WORKING] : function_metric_of(session, y->all);

	if (first != second)
		return first > second ? -1 : 1;
	return most_first(a, b, data);
}

static void add_up(struct call_node *above, const struct call_node *node)
{
	for (int k = 0; k < 4; k++)
		above->all[k] += node->all[k];
	above->idle += node->idle;
}

/* Nodes stand behind those they are below. What explains time has its own sums. */
static void sum_up(struct call_tree *tree)
{
	for (uint32_t i = tree->nodes->len; i-- > 0;) {
		struct call_node *node = node_of(tree, i), *above;

		for (int k = 0; k < 4; k++)
			node->all[k] += node->own[k];
		if (node->parent == NO_NODE)
			continue;
		above = node_of(tree, node->parent);
		/* a thread that was waited for is no part of who waited, but of another such */
		if (node->kind != NODE_CAUSE && (node->kind != NODE_WAITS_FOR || above->elsewhere))
			add_up(above, node);
	}
	for (uint32_t i = 0; i < tree->nodes->len; i++) {
		struct call_node *node = node_of(tree, i);

		if (node->parent == NO_NODE)
			g_array_append_val(tree->roots, i);
		g_array_sort_with_data(node->children, most_first, tree);
		g_array_sort_with_data(node->waits, most_first, tree);
	}
	g_array_sort_with_data(tree->roots, busiest_first, tree);
}

/* --- threads beside each other ------------------------------------------------------------ */

#define PARTS_MOST 64
#define PARTS_A_JOB 4 /* where parts make the same frames, each for itself */

static struct call_tree *tree_new(const struct session *session, const struct call_scope *scope,
				  bool of_requests)
{
	struct call_tree *tree = g_new0(struct call_tree, 1);

	tree->session = session;
	tree->scope = *scope;
	tree->frames_most = parts_in_one() ? FRAMES_IN_PART : FRAMES_HELD;
	tree->of_requests = of_requests;
	tree->nodes = g_array_new(FALSE, FALSE, sizeof(struct call_node));
	g_array_set_clear_func(tree->nodes, node_clear);
	tree->roots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	tree->threads = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);
	tree->frames = g_ptr_array_new_with_free_func((GDestroyNotify) frames_free);
	g_ptr_array_set_size(tree->frames, (gint) session->trace.model.thread_count);
	tree->turns = g_ptr_array_new_with_free_func((GDestroyNotify) frames_free);
	g_ptr_array_set_size(tree->turns, (gint) session->trace.model.thread_count);
	tree->no_frames = g_array_new(FALSE, FALSE, sizeof(struct call_frame));
	tree->longest = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	tree->index = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	tree->namer = piece_namer_new(session, NULL);
	idmap_init(&tree->causes);
	tree->labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	tree->label = g_string_new(NULL);
	tree->names = g_new0(uint32_t, session->trace.model.thread_count + 1);
	return tree;
}

/* No more threads will be added. */
static void tree_close(struct call_tree *tree)
{
	g_clear_pointer(&tree->frames, g_ptr_array_unref);
	g_clear_pointer(&tree->turns, g_ptr_array_unref);
	g_clear_pointer(&tree->namer, piece_namer_free);
	g_clear_pointer(&tree->names, g_free);
}

/* But for `scope`, which the trees of parts share. */
static void tree_free(struct call_tree *tree)
{
	for (guint i = 0; i < tree->threads->len; i++)
		if (!g_ptr_array_index(tree->threads, i))
			g_ptr_array_index(tree->threads, i) =
				g_array_new(FALSE, FALSE, sizeof(uint32_t));
	tree_close(tree);
	g_array_free(tree->nodes, TRUE);
	g_array_free(tree->roots, TRUE);
	g_ptr_array_free(tree->threads, TRUE);
	g_hash_table_destroy(tree->index);
	g_hash_table_destroy(tree->longest);
	g_array_free(tree->no_frames, TRUE);
	idmap_clear(&tree->causes);
	g_hash_table_destroy(tree->labels);
	g_string_free(tree->label, TRUE);
	g_free(tree);
}

struct adding {
	struct call_tree *tree;
	const GArray *threads; /* uint32_t */
	guint parts;
	pthread_mutex_t lock; /* of the whole tree's frames, and of … */
	guint longest; /* list of them: what long ones leave in the threads' heaps is given back */
	struct call_tree *of[PARTS_MOST]; /* owned, once they are made */
};

/* Frames are met again by the passes that come next: they go to the whole tree, as far as they
 * may stay there. */
static void take_frames(struct call_tree *tree, struct call_tree *part)
{
	for (guint i = 0; i < part->frames->len; i++) {
		struct frames *frames = g_ptr_array_index(part->frames, i);

		if (!frames || g_ptr_array_index(tree->frames, i) ||
		    tree->frames_held + frames->list->len > FRAMES_TAKEN)
			continue;
		tree->frames_held += frames->list->len;
		frames->stays = true;
		g_ptr_array_index(tree->frames, i) = frames;
		part->frames->pdata[i] = NULL;
	}
}

/* As many threads in each part. */
static void add_part(const struct session *session, guint part, void *data)
{
	struct adding *adding = data;
	guint count = adding->threads->len;
	guint end = (guint) ((uint64_t) count * (part + 1) / adding->parts);
	struct call_tree *tree = tree_new(session, &adding->tree->scope, adding->tree->of_requests);

	for (guint i = (guint) ((uint64_t) count * part / adding->parts); i < end; i++)
		add_thread(tree, g_array_index(adding->threads, uint32_t, i));
	pthread_mutex_lock(&adding->lock);
	take_frames(adding->tree, tree);
	adding->longest = MAX(adding->longest, tree->longest_list);
	pthread_mutex_unlock(&adding->lock);
	tree_close(tree);
	adding->of[part] = tree;
}

static void take_threads(struct call_tree *tree, uint32_t root, GArray *threads)
{
	while (tree->threads->len <= root)
		g_ptr_array_add(tree->threads, NULL);
	if (!g_ptr_array_index(tree->threads, root))
		g_ptr_array_index(tree->threads, root) =
			g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(g_ptr_array_index(tree->threads, root), threads->data, threads->len);
}

/* Nodes come in the order in which they were made, so that those of all threads have the order
 * that they would have in one part. */
static void take_nodes(struct call_tree *tree, struct call_tree *part)
{
	g_autofree uint32_t *places = g_new(uint32_t, part->nodes->len);
	GHashTableIter iter;
	gpointer what, length;

	for (uint32_t i = 0; i < part->nodes->len; i++) {
		const struct call_node *from = node_of(part, i);
		struct call_node *to;

		places[i] =
			node_find(tree, from->parent == NO_NODE ? NO_NODE : places[from->parent],
				  (enum call_node_kind) from->kind, from->what, from->thread,
				  from->ref, from->at);
		to = node_of(tree, places[i]);
		to->calls += from->calls;
		to->open += from->open;
		to->idle += from->idle;
		to->own_idle += from->own_idle;
		for (int k = 0; k < 4; k++)
			to->own[k] += from->own[k];
	}
	for (uint32_t i = 0; i < part->threads->len; i++)
		if (g_ptr_array_index(part->threads, i))
			take_threads(tree, places[i], g_ptr_array_index(part->threads, i));
	g_hash_table_iter_init(&iter, part->longest);
	while (g_hash_table_iter_next(&iter, &what, &length))
		note_longest(tree, GPOINTER_TO_UINT(what), *(int64_t *) length);
}

static void add_threads(struct call_tree *tree, const GArray *threads)
{
	const struct session *session = tree->session;
	guint jobs = options_jobs(session->asked.options);
	struct adding adding = {tree, threads, .parts = MIN(threads->len, PARTS_MOST)};
	bool beside;

	if (calls_are_functions(session))
		adding.parts = MIN(adding.parts, PARTS_A_JOB * jobs);
	beside = parts_are_beside(session, adding.parts);
	if (beside && session->asked.selected->len)
		beside = idle_know_for(session, threads->len);
	else if (beside)
		idle_know_all(session);
	if (!beside) {
		for (guint i = 0; i < threads->len; i++)
			add_thread(tree, g_array_index(threads, uint32_t, i));
		return;
	}
	pthread_mutex_init(&adding.lock, NULL);
	parts_make(session, adding.parts, add_part, &adding);
	for (guint i = 0; i < adding.parts; i++) {
		take_nodes(tree, adding.of[i]);
		tree_free(adding.of[i]);
	}
	pthread_mutex_destroy(&adding.lock);
#ifdef __GLIBC__
	if (adding.longest > FRAMES_HELD / 2)
		malloc_trim(0);
#endif
}

struct call_tree *call_tree_new(const struct session *session, const struct user_requests *requests)
{
	struct call_scope scope;
	struct call_tree *tree;
	g_autoptr(GArray) threads = NULL;

	call_scope_init(&scope, session, requests);
	tree = tree_new(session, &scope, requests != NULL);
	threads = call_threads_new(session, &scope, tree->of_requests);
	add_threads(tree, threads);
	sum_up(tree);
	return tree;
}

void call_tree_free(struct call_tree *tree)
{
	call_scope_clear(&tree->scope);
	tree_free(tree);
}

/* --- names ------------------------------------------------------------------------------ */

char *call_node_name(const struct call_tree *tree, uint32_t place)
{
	const struct call_node *node = call_node_at(tree, place);

	return node->kind == NODE_CALL ? frame_name(tree->session, node->what)
				       : g_strdup(session_text(tree->session, node->what));
}

const char *call_node_kind_text(const struct call_node *node)
{
	switch (node->kind) {
	case NODE_THREADS:
		return "thread";
	case NODE_SAMPLED:
		return "sampled";
	case NODE_WAITS_FOR:
		return "waits-for";
	case NODE_CAUSE:
		return "cause";
	default:
		switch (PACK_KIND(node->what)) {
		case OPERATION_USER:
			return "function";
		case OPERATION_FUNCTION:
			return "kernel-function";
		case OPERATION_FAULT:
			return "trap";
		default:
			return "syscall";
		}
	}
}
