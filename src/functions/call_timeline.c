/* SPDX-License-Identifier: MIT */
/* Calls and states of a thread, side by side; see call_timeline.h. */
#include "functions/call_timeline.h"

#include "path/path_sums.h"

static uint32_t depth_of(const struct frames *frames, uint32_t place)
{
	uint32_t depth = 0;

	for (; place != NO_FRAME; place = frame_of(frames, place)->parent)
		depth++;
	return depth;
}

static void add_rectangle(GArray *list, const struct session *session,
			  const struct rectangle *rectangle)
{
	const struct options *options = session->asked.options;

	if (rectangle->end - rectangle->begin < options->min_duration ||
	    (options->depth && rectangle->depth >= options->depth))
		return;
	g_array_append_vals(list, rectangle, 1);
}

static void add_frame(GArray *list, const struct call_tree *tree, const struct frames *frames,
		      uint32_t place)
{
	const struct call_frame *frame = frame_of(frames, place);
	struct rectangle rectangle = {
		.begin = frame->begin,
		.end = frame->end,
		.half = frame->half,
		.what = frame->what,
		.depth = depth_of(frames, frame->parent),
		.kind = frame_is_call(frame) ? RECTANGLE_CALL : RECTANGLE_INTERRUPT};

	if (call_scope_meets(&tree->scope, frames->thread, frame->begin, frame->end))
		add_rectangle(list, tree->session, &rectangle);
}

static void add_span(GArray *list, const struct call_tree *tree, const struct frames *frames,
		     const struct span *span)
{
	int64_t until;
	struct rectangle rectangle = {
		.begin = span->begin,
		.end = span->end,
		.span = *span,
		.depth = depth_of(frames, frames_at(frames, span->begin, &until)),
		.kind = leaf_is_blocked(span->leaf) ? RECTANGLE_WAIT : RECTANGLE_READY};

	if (call_scope_meets(&tree->scope, frames->thread, span->begin, span->end))
		add_rectangle(list, tree->session, &rectangle);
}

/* What is written of a call outside of --function's is nothing. */
static bool is_inside(const struct session *session, const struct frames *frames, uint32_t place)
{
	if (!session->asked.options->functions.function)
		return true;
	while (place != NO_FRAME && !frame_is_wanted(session, frame_of(frames, place)))
		place = frame_of(frames, place)->parent;
	return place != NO_FRAME;
}

GArray *call_timeline_new(struct call_tree *tree, uint32_t thread)
{
	const struct session *session = tree->session;
	const struct frames *frames = call_tree_frames(tree, thread);
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct rectangle));
	struct spans spans;
	struct span span;
	bool more;
	int64_t until;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	more = spans_next_off_cpu(&spans, &span);
	for (uint32_t i = 0; i < frames->list->len || more;) {
		if (more && (i >= frames->list->len || span.begin < frame_of(frames, i)->begin)) {
			if (is_inside(session, frames, frames_at(frames, span.begin, &until)))
				add_span(list, tree, frames, &span);
			more = spans_next_off_cpu(&spans, &span);
		} else {
			if (is_inside(session, frames, i))
				add_frame(list, tree, frames, i);
			i++;
		}
	}
	return list;
}

struct cause rectangle_cause(const struct session *session, uint32_t thread,
			     const struct rectangle *rectangle)
{
	const struct span *span = &rectangle->span;
	struct piece piece = {.thread = thread,
			      .begin = span->begin,
			      .end = span->end,
			      .leaf = span->leaf,
			      .ref = span->ref,
			      .behalf = -1};

	if (leaf_is_blocked(span->leaf)) {
		piece.block = block_at(&session->trace.timeline, span->ref);
		piece.woken = piece.block->kind != WAKER_NONE && span->end < session->asked.to;
	}
	return piece_cause(session, &piece);
}
