/* SPDX-License-Identifier: MIT */
/* Splitting operations into parts; see split.h.
 *
 * The operation's frames (the records before it in its list) are walked from
 * the latest to the earliest, the off-CPU stretches of its thread beside them,
 * and each gives its time to a part.
 *
 * Interrupts inside interrupts are parts of the thread's frame, not of each
 * other: "the innermost of these takes the time" (semantics.md), so that the
 * parts are the leaves of the states' tree.
 */
#include "latencies/split.h"

#include <string.h>

#include "latencies/root_tree.h"
#include "ready/cpu_runs.h"
#include "waits/idle.h"
#include "waits/state_names.h"
#include "waits/wait.h"
#include "symbols/symbols.h"

#define DEPTH_MAX 64

void split_init(struct split *split, const struct profiles *profiles)
{
	*split = (struct split) {.session = profiles->session,
				 .buckets = &profiles->buckets,
				 .options = profiles->session->asked.options};
	split->frames = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	split->spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	split->path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	split->callpaths = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	split->tracers = session_tracers(split->session);
	idmap_init(&split->by_thread);
}

void split_clear(struct split *split)
{
	idmap_clear(&split->by_thread);
	g_free(split->tracers);
	g_array_free(split->frames, TRUE);
	g_array_free(split->spans, TRUE);
	g_array_free(split->path, TRUE);
	g_array_free(split->callpaths, TRUE);
}

static struct part *add_child(const struct split *split, struct part *parent, enum part_kind kind,
			      uint64_t tag, char *node)
{
	return part_add(parent, kind, tag, node, NULL,
			split->peak->range.last - split->peak->range.first + 1);
}

/* May `parent` have parts? If not, remembers that it would. */
static bool may_descend(const struct split *split, struct part *parent)
{
	guint limit = split->options->depth ? split->options->depth : DEPTH_MAX;

	if (!parent)
		return false;
	if (parent->kind == PART_OTHER)
		return false;
	if (parent->depth < limit)
		return true;
	parent->cut = true;
	return false;
}

/* --- stretches that are asked for ------------------------------------------ */

static void note_of(struct split *split, uint8_t thing, uint32_t thread, int64_t begin, int64_t end)
{
	if (thing && begin < end && is_thread(thread))
		split->note(thing, thread, begin, end, split->turns > 0, split->data);
}

/* All of the part's. */
static void note(struct split *split, const struct part *part, uint32_t thread, int64_t begin,
		 int64_t end)
{
	if (split->note && part)
		note_of(split, part->thing, thread, begin, end);
}

/* Whose waits are being followed: the operation's thread, or who ended its wait. */
static uint32_t current(const struct split *split)
{
	return split->path->len ? g_array_index(split->path, uint32_t, split->path->len - 1)
				: NO_THREAD;
}

/* While frames are walked back: what lies behind `begin` and is not told yet is the part's own. */
static void note_own(struct split *split, const struct part *part, int64_t begin)
{
	if (split->note && part)
		note_of(split, part->own_thing, current(split), begin, split->until);
	split->until = MIN(split->until, begin);
}

/* --- who ran, who woke ---------------------------------------------------- */

struct running {
	struct split *split;
	struct part *part;
};

static struct part *part_by_thread(struct split *split, struct part *part, uint32_t thread)
{
	uint32_t id = idmap_get(&split->by_thread, thread);
	struct part *child;
	uint64_t tag;

	if (id == IDMAP_NONE) {
		g_autofree char *node =
			g_strconcat("by:", session_thread_name(split->session, thread),
				    session_on(split->session, thread), NULL);

		id = intern_id(split->session->trace.model.names, node);
		idmap_set(&split->by_thread, thread, id);
	}
	tag = part_tag(PART_BY, id);
	child = part_find(part, tag);
	return child ? child
		     : add_child(split, part, PART_BY, tag,
				 g_strdup(session_text(split->session, id)));
}

static struct part *named(struct split *split, struct part *part, enum part_kind kind,
			  const char *node)
{
	uint64_t tag = part_tag(kind, intern_id(split->session->trace.model.names, node));
	struct part *child = part_find(part, tag);

	return child ? child : add_child(split, part, kind, tag, g_strdup(node));
}

/* One occurrence of a part that is made for it; nothing where it took no time. */
static struct part *take(struct split *split, struct part *part, enum part_kind kind,
			 const char *node, int64_t ns)
{
	struct part *child = ns > 0 ? named(split, part, kind, node) : NULL;

	part_take(child, ns);
	return child;
}

static void take_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct running *running = data;
	struct part *part =
		is_thread(thread) ? part_by_thread(running->split, running->part, thread)
		: thread == IDLE_THREAD
			? named(running->split, running->part, PART_IDLE, "idle")
			: named(running->split, running->part, PART_UNKNOWN, "unknown");

	note(running->split, part, current(running->split), begin, end);
	part_take(part, end - begin);
}

/* Who had the CPU that a thread was waiting for. */
static void split_by_runners(struct split *split, struct part *part, uint16_t host,
			     const struct span *span)
{
	struct running running = {split, part};

	if (may_descend(split, part))
		each_run(split->session, host, span->ref, span->begin, span->end, take_run,
			 &running);
}

static void split_wait(struct split *split, struct part *part, const struct span *span);

/* What a wait's part is called: by the kind of what it was for, as an operation
 * may wait for a thousand files; a device or a lock has a name of its own. */
static char *wait_node(const struct session *session, uint32_t key, uint32_t leaf)
{
	const char *text = session_text(session, key);

	if (!key)
		return leaf_key(session, leaf);
	if (g_str_has_prefix(text, "device:") || g_str_has_prefix(text, "lock:"))
		return g_strconcat("blocked/", text, NULL);
	return g_strdup_printf("blocked/%.*s", (int) strcspn(text, ":"), text);
}

/* A wait, after `functions` (taken), whose interned text is `way`. */
static void add_wait(struct split *split, struct part *part, uint32_t way, GPtrArray *functions,
		     const struct span *span)
{
	const struct session *session = split->session;
	uint32_t key = block_waits_for(session, block_at(&session->trace.timeline, span->ref));
	g_autofree char *node = wait_node(session, key, span->leaf);
	uint64_t tag = part_tag(PART_BLOCKED, (uint64_t) way << PACK_BITS |
						      intern_id(session->trace.model.names, node));
	struct part *child = part_find(part, tag);
	bool by_turns = split->path->len > 1 && wait_is_for_whichever(session, span->leaf);

	if (child && functions)
		g_ptr_array_free(functions, TRUE);
	else if (!child)
		child = part_add(part, PART_BLOCKED, tag, g_steal_pointer(&node), functions,
				 split->peak->range.last - split->peak->range.first + 1);
	note(split, child, current(split), span->begin, span->end);
	if (key && child->kind == PART_BLOCKED && !split->note)
		part_add_resource(child, session_text(session, key), span->end - span->begin, 1);
	part_take(child, span->end - span->begin);
	split->turns += by_turns;
	split_wait(split, child, span);
	split->turns -= by_turns;
}

/* Time of a thread by its leaf, with what can be said of it further. */
static void add_leaf(struct split *split, struct part *part, uint32_t thread,
		     const struct span *span)
{
	const struct session *session = split->session;
	uint64_t tag = part_tag(PART_LEAF, span->leaf);
	struct part *child;

	if (leaf_is_blocked(span->leaf)) {
		add_wait(split, part, 0, NULL, span);
		return;
	}
	child = part_find(part, tag);
	if (!child) {
		child = add_child(split, part, PART_LEAF, tag, leaf_key(session, span->leaf));
		if (!child->label && leaf_wib(span->leaf) == WIB_INTERRUPTED)
			child->label = leaf_label(session, span->leaf);
	}
	note(split, child, thread, span->begin, span->end);
	part_take(child, span->end - span->begin);
	if (leaf_is_off_cpu(span->leaf))
		split_by_runners(split, child, model_thread(&session->trace.model, thread)->host,
				 span);
}

static bool on_path(const struct split *split, uint32_t thread)
{
	for (guint i = 0; i < split->path->len; i++)
		if (g_array_index(split->path, uint32_t, i) == thread)
			return true;
	return false;
}

/* "What the waker was doing while we were blocked." */
static void split_by_waker(struct split *split, struct part *part, uint32_t waker,
			   const struct span *wait)
{
	struct part *child = part_by_thread(split, part, waker);
	struct spans spans;
	struct span span;

	note(split, child, waker, wait->begin, wait->end);
	part_take(child, wait->end - wait->begin);
	if (!may_descend(split, child))
		return;
	if (on_path(split, waker)) {
		take(split, child, PART_ENDED, "cycle", wait->end - wait->begin);
		return;
	}
	g_array_append_val(split->path, waker);
	spans_begin(&spans, split->session, waker, wait->begin, wait->end);
	take(split, child, PART_UNKNOWN, "before its birth",
	     MIN(spans.from, wait->end) - wait->begin);
	while (spans_next(&spans, &span))
		add_leaf(split, child, waker, &span);
	g_array_set_size(split->path, split->path->len - 1);
}

static int64_t overlap(int64_t begin, int64_t end, const struct span *span)
{
	return MAX(MIN(end, span->end) - MAX(begin, span->begin), 0);
}

static void note_overlap(struct split *split, const struct part *part, int64_t begin, int64_t end,
			 const struct span *span)
{
	note(split, part, current(split), MAX(begin, span->begin), MIN(end, span->end));
}

/* A block request's time in the queue and in the device, as far as it was
 * waited for. */
static void split_request(struct split *split, struct part *part, const struct block *block,
			  const struct wake_detail *detail, const struct span *span)
{
	g_autofree char *context = NULL;
	struct part *served;
	int64_t issued = detail->begin, ns;

	if (detail->served < 0) {
		part_take(named(split, part, PART_UNKNOWN, "request's issue not recorded"),
			  span->end - span->begin);
		return;
	}
	if (detail->queued >= 0)
		note_overlap(split,
			     take(split, part, PART_QUEUED, "queued",
				  overlap(issued - detail->queued, issued, span)),
			     issued - detail->queued, issued, span);
	ns = overlap(issued, issued + detail->served, span);
	served = take(split, part, PART_SERVED, "served", ns);
	note_overlap(split, served, issued, issued + detail->served, span);
	if (!served || block->kind == WAKER_THREAD || !may_descend(split, served))
		return;
	context = frame_text(split->session, block->context, false);
	served = take(split, served, PART_ENDED, context, ns);
	note_overlap(split, served, issued, issued + detail->served, span);
	if (!served->label && block->label)
		served->label = g_strdup(session_text(split->session, block->label));
}

static void split_hardware(struct split *split, struct part *part, const struct block *block,
			   const struct wake_detail *detail, const struct span *span)
{
	g_autofree char *text = NULL;
	struct part *child;

	if (detail && detail->kind == DETAIL_TIMER)
		text = detail->text
			       ? g_strconcat("timer:", session_text(split->session, detail->text),
					     NULL)
			       : g_strdup("timer");
	else if (detail && detail->kind == DETAIL_PACKET)
		text = g_strdup("packet");
	else
		text = frame_text(split->session, block->context, false);
	child = named(split, part, PART_ENDED, text);
	if (!child->label && block->label)
		child->label = g_strdup(session_text(split->session, block->label));
	note(split, child, current(split), span->begin, span->end);
	if (detail && detail->kind == DETAIL_PACKET && detail->text && !split->note)
		part_add_resource(child, session_text(split->session, detail->text),
				  span->end - span->begin, 1);
	part_take(child, span->end - span->begin);
}

/* What nobody was answerable for, but a device or a messenger. */
static void split_rest(struct split *split, struct part *part, const struct block *block,
		       const struct span *rest)
{
	const struct session *session = split->session;
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
	const struct wake_detail *request = block_request(session, block);
	struct part *child;

	if (detail && detail->kind == DETAIL_WORK && detail->behind)
		detail = detail_at(&session->trace.timeline, detail->behind);
	if (rest->begin >= rest->end)
		return;
	if (request) {
		split_request(split, part, block, request, rest);
	} else if (block->kind == WAKER_NONE || block->kind == WAKER_UNKNOWN ||
		   (block->kind == WAKER_THREAD && (!detail || detail->kind == DETAIL_WORK))) {
		child = named(split, part, PART_UNKNOWN, "unknown");
		if (!child->label)
			child->label = g_strdup(block->kind == WAKER_THREAD
							? "before the worker's item was queued"
							: waker_why_text(block->why));
		part_take(child, rest->end - rest->begin);
	} else {
		split_hardware(split, part, block, detail, rest);
	}
}

/* What a wait was made of: by what ended it. */
static void split_wait(struct split *split, struct part *part, const struct span *span)
{
	const struct session *session = split->session;
	uint32_t waiter = split->path->len == 1 ? g_array_index(split->path, uint32_t, 0)
						: NO_THREAD; /* or one who is waited for */
	struct wait wait = wait_of(session, waiter, span);
	const struct block *block = wait.block;
	struct span before = *span, rest = *span;
	struct lead lead;

	if (!may_descend(split, part))
		return;
	if (is_thread(waiter) && wait_is_at_leisure(session, &wait)) {
		part_take(named(split, part, PART_IDLE, PART_AT_LEISURE), span->end - span->begin);
		return; /* nobody is to blame, and nothing to make faster */
	}
	if (wait_lead(session, &wait, &lead) &&
	    (!lead.handed_over || !on_path(split, lead.thread))) {
		/* up to there somebody was answerable, then the messenger */
		before.begin = lead.from;
		before.end = lead.until;
		split_by_waker(split, part, lead.thread, &before);
		rest.begin = lead.until;
		split_rest(split, part, block, &rest);
		rest = (struct span) {span->begin, lead.from, span->leaf, span->ref};
		if (is_thread(lead.first) && !on_path(split, lead.first)) {
			before.begin = span->begin;
			before.end = lead.first_until;
			split_by_waker(split, part, lead.first, &before);
			rest.begin = lead.first_until;
		}
	}
	split_rest(split, part, block, &rest);
}

/* --- frames and what the thread was off CPU for ---------------------------- */

/* The functions on the way to a wait, as one interned text; 0: not recorded. */
static uint32_t callpath(struct split *split, uint32_t number)
{
	const struct session *session = split->session;
	uint64_t words[CALLSTACK_WORDS];
	g_autofree char *text = NULL;
	GPtrArray *path;
	uint32_t id;
	guint count;

	if (!number)
		return 0;
	if (number < split->callpaths->len) {
		id = g_array_index(split->callpaths, uint32_t, number);
		if (id)
			return id;
	} else {
		g_array_set_size(split->callpaths, number + 1);
	}
	count = callstack_words(&session->trace.flow.callstacks, number, words);
	path = callpath_new(session->found.symbols, words, count);
	g_ptr_array_add(path, NULL);
	text = g_strjoinv("\n", (char **) path->pdata);
	g_ptr_array_free(path, TRUE);
	id = intern_id(session->trace.model.names, text);
	g_array_index(split->callpaths, uint32_t, number) = id;
	return id;
}

/* What of the call path lies inside the frame: after its own function. */
static GPtrArray *functions_inside(const struct split *split, const struct part *frame,
				   uint32_t callpath)
{
	g_auto(GStrv) all = g_strsplit(session_text(split->session, callpath), "\n", -1);
	GPtrArray *functions = g_ptr_array_new_with_free_func(g_free);
	guint first = 0;

	for (guint i = 0; all[i]; i++)
		if (g_str_has_prefix(frame->node, "function:") &&
		    strcmp(all[i], frame->node + strlen("function:")) == 0)
			first = i + 1;
	for (guint i = first; all[0] && *all[0] && all[i]; i++)
		g_ptr_array_add(functions, g_strdup(all[i]));
	return functions;
}

/* A wait of the operation itself. The part is known by what is shown: two ways
 * that differ above the frame are one. */
static void add_blocked(struct split *split, struct part *part, const struct span *span)
{
	const struct block *block = block_at(&split->session->trace.timeline, span->ref);
	uint32_t way = callpath(
		split,
		callpaths_at(&split->session->trace.flow.callstacks, block->callpaths)->kernel);
	GPtrArray *functions = way ? functions_inside(split, part, way) : NULL;
	g_autofree char *text = NULL;

	if (functions && functions->len) {
		g_ptr_array_add(functions, NULL);
		text = g_strjoinv("\n", (char **) functions->pdata);
		g_ptr_array_set_size(functions, (gint) functions->len - 1);
		way = intern_id(split->session->trace.model.names, text);
	} else {
		g_clear_pointer(&functions, g_ptr_array_unref);
		way = 0;
	}
	add_wait(split, part, way, functions, span);
}

/* Gives the off-CPU stretches from `from` on to the frame. */
static void take_spans(struct split *split, struct part *part, int64_t from)
{
	while (split->span) {
		const struct span *span =
			&g_array_index(split->spans, struct span, split->span - 1);

		if (span->begin < from)
			return;
		split->span--;
		note_own(split, part, span->end);
		split->until = span->begin;
		if (!may_descend(split, part))
			continue;
		if (leaf_is_blocked(span->leaf))
			add_blocked(split, part, span);
		else
			add_leaf(split, part, split->operation->thread, span);
	}
}

/* The thread called it; a system call is one only below a function of user space. */
static bool is_called(const struct operation *frame)
{
	return PACK_KIND(frame->what) <= OPERATION_USER ||
	       PACK_KIND(frame->what) == OPERATION_KVM_EXIT;
}

static struct part *frame_part(struct split *split, struct part *parent,
			       const struct operation *frame)
{
	enum part_kind kind = is_called(frame)                              ? PART_FUNCTION
			      : PACK_KIND(frame->what) == OPERATION_HRTIMER ? PART_HRTIMER
									    : PART_INTERRUPT;
	uint32_t what = operation_what(split->session, frame);
	uint64_t tag = part_tag(kind, what);
	g_autofree char *name = NULL;
	struct part *child;
	bool direct = kind == PART_INTERRUPT ||
		      (kind == PART_HRTIMER && parent->kind != PART_INTERRUPT);

	if (!may_descend(split, parent))
		return NULL;
	child = part_find(parent, tag);
	if (child)
		return child;
	name = operation_name(split->session, what);
	child = add_child(split, parent, kind, tag,
			  direct ? g_strconcat("interrupted/", name, NULL) : g_strdup(name));
	if (!child->label)
		child->label = operation_label(split->session, frame);
	return child;
}

/* Splits what began at `begin` and is `part` (NULL: only steps over it).
 * `outer` is the thread's frame that interrupts belong to. Returns the time
 * that went to `outer` from inside. */
static int64_t split_frame(struct split *split, struct part *part, int64_t begin,
			   struct part *outer)
{
	const struct pages *store = &split->session->trace.timeline.operations;
	int64_t outside = 0;

	while (split->frame < split->frames->len) {
		const struct operation *frame =
			operation_at(store, g_array_index(split->frames, uint32_t, split->frame));
		bool function = is_called(frame);
		bool hoisted =
			!function && PACK_KIND(frame->what) != OPERATION_HRTIMER && part != outer;
		struct part *child;
		int64_t inside;

		if (frame->begin < begin)
			break;
		split->frame++;
		take_spans(split, part, operation_end(frame));
		/* one without a length has nothing inside, whatever has its stamp */
		if (!frame->duration)
			continue;
		note_own(split, part, operation_end(frame));
		child = frame_part(split, hoisted ? outer : part, frame);
		note(split, child, current(split), frame->begin, operation_end(frame));
		inside = split_frame(split, child, frame->begin,
				     function && part == outer ? child : outer);
		part_take(child, (int64_t) frame->duration - inside);
		outside += inside + (hoisted ? (int64_t) frame->duration - inside : 0);
	}
	take_spans(split, part, begin);
	note_own(split, part, begin);
	return outside;
}

static void gather_frames(struct split *split)
{
	const struct pages *store = &split->session->trace.timeline.operations;

	g_array_set_size(split->frames, 0);
	for (uint32_t i = split->operation->previous; i;) {
		const struct operation *frame = operation_at(store, i);

		if (frame->begin < split->operation->begin)
			break;
		g_array_append_val(split->frames, i);
		i = frame->previous;
	}
	split->frame = 0;
}

static void gather_spans(struct split *split)
{
	struct spans spans;
	struct span span;

	g_array_set_size(split->spans, 0);
	if (operation_may_stop(split->session, split->operation)) {
		spans_begin(&spans, split->session, split->operation->thread,
			    split->operation->begin, operation_end(split->operation));
		while (spans_next(&spans, &span))
			if (leaf_is_off_cpu(span.leaf) || PACK_KIND(span.leaf) == LEAF_UNKNOWN)
				g_array_append_val(split->spans, span);
	}
	split->span = split->spans->len;
}

/* The operation's own work is a part like the others. */
struct part *split_own(struct split *split, struct part *top)
{
	uint64_t tag = part_tag(PART_OWN, 0);
	struct part *own = part_find(top, tag);

	return own ? own
		   : add_child(split, top, PART_OWN, tag, g_strconcat("working/", top->node, NULL));
}

/* Whom a request was for, as far as its issuing tells: the call, the thread. */
static void split_by_issuer(struct split *split, struct part *top)
{
	const struct operation *operation = split->operation;
	g_autofree char *text = NULL;

	if (operation->ref) {
		text = g_strconcat("for:syscall:", session_text(split->session, operation->ref),
				   NULL);
		top = named(split, top, PART_ENDED, text);
		part_take(top, (int64_t) operation->duration);
	}
	if (operation_has_thread(operation) && may_descend(split, top))
		part_take(part_by_thread(split, top, operation->thread),
			  (int64_t) operation->duration);
}

/* A stretch of a wait for CPU; of what was not known no CPU is known either. */
static void split_ready(struct split *split, struct part *top, const struct span *span)
{
	if (PACK_KIND(span->leaf) == LEAF_UNKNOWN)
		take(split, top, PART_UNKNOWN, "unknown", span->end - span->begin);
	else
		split_by_runners(
			split, top,
			model_operation_host(&split->session->trace.model, split->operation), span);
}

/* By its thread's states: a turn is no frame, its parts nobody calls. */
static void split_turn(struct split *split, struct part *top)
{
	const struct operation *operation = split->operation;
	struct spans spans;
	struct span span;

	top->sums = true;
	spans_begin(&spans, split->session, operation->thread, operation->begin,
		    operation_end(operation));
	while (spans_next(&spans, &span))
		if (leaf_is_blocked(span.leaf))
			add_blocked(split, top, &span);
		else
			add_leaf(split, top, operation->thread, &span);
}

void split_operation(struct split *split)
{
	const struct operation *operation = split->operation;
	struct part *top = split->peak->tree;
	/* of a wait: in what it was is not kept there */
	struct span span = {operation->begin, operation_end(operation), PACK(LEAF_BLOCK_UNKNOWN, 0),
			    operation->ref};

	switch (PACK_KIND(operation->what)) {
	case OPERATION_WAIT_CPU:
		top->sums = true; /* who ran there: nobody calls anybody */
		gather_spans(split); /* one for each CPU's queue that it was in */
		for (guint i = 0; i < split->spans->len; i++)
			split_ready(split, top, &g_array_index(split->spans, struct span, i));
		break;
	case OPERATION_BLOCKED:
	case OPERATION_FAULT:
		split_wait(split, top, &span);
		break;
	case OPERATION_BUSY:
	case OPERATION_GUEST_IRQ: /* why its virtual CPU did not take it */
		split_turn(split, top);
		break;
	case OPERATION_QUEUED:
	case OPERATION_SERVED:
		split_by_issuer(split, top);
		break;
	default:
		gather_frames(split);
		gather_spans(split);
		split->until = operation_end(operation);
		split_frame(split, top, operation->begin, top);
		break;
	}
}

static void forget_sums(struct part *part)
{
	struct part *next;

	for (struct part *child = part->touched; child; child = next) {
		next = child->next;
		forget_sums(child);
		child->sum = child->largest = 0;
		child->next = NULL;
	}
	part->touched = NULL;
}

void split_note(struct split *split)
{
	struct part *top = split->peak->tree;

	g_array_set_size(split->path, 0);
	g_array_append_val(split->path, split->operation->thread);
	note(split, top, split->operation->thread, split->operation->begin,
	     operation_end(split->operation));
	split_operation(split);
	forget_sums(top);
}
