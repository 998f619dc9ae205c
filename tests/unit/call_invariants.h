/* SPDX-License-Identifier: MIT */
/* What holds for the calls of any session, however odd its events: a frame lies in the one around
 * it, and is listed behind it; the exclusive times of all calls are the threads' lives.
 */
#ifndef CALL_INVARIANTS_H
#define CALL_INVARIANTS_H

#include "functions/functions.h"
#include "functions/stand_outs.h"

static inline void check_frames(const struct frames *frames)
{
	for (uint32_t i = 0; i < frames->list->len; i++) {
		const struct call_frame *frame = frame_of(frames, i), *above;

		g_assert_cmpint(frame->begin, <=, frame->end);
		g_assert_cmpuint(frame->after, >, i);
		g_assert_cmpuint(frame->after, <=, frames->list->len);
		g_assert_true(!i || frame_of(frames, i - 1)->begin <= frame->begin);
		if (frame->parent == NO_FRAME)
			continue;
		g_assert_cmpuint(frame->parent, <, i);
		above = frame_of(frames, frame->parent);
		g_assert_cmpint(above->begin, <=, frame->begin);
		g_assert_cmpint(frame->end, <=, above->end);
		g_assert_cmpuint(frame->after, <=, above->after);
	}
}

/* The states of a thread in the window, summed. */
static inline void add_life(const struct session *session, uint32_t thread, int64_t times[4])
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span))
		times[leaf_wib(span.leaf)] += span.end - span.begin;
}

static inline void check_calls(const struct session *session)
{
	struct functions *functions = functions_new(session, NULL);
	struct call_tree *tree = functions->tree;
	int64_t lives[4] = {0}, rows[4] = {0};

	for (guint i = 0; i < tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++) {
			add_life(session, g_array_index(threads, uint32_t, k), lives);
			check_frames(call_tree_frames(tree, g_array_index(threads, uint32_t, k)));
		}
	}
	for (guint i = 0; i < functions->rows->len; i++)
		for (int k = 0; k < 4; k++)
			rows[k] += g_array_index(functions->rows, struct function_row, i).own[k];
	for (int k = 0; k < 4; k++) {
		g_assert_cmpint(rows[k], ==, functions->total[k]);
		if (!session->asked.options->functions.function)
			g_assert_cmpint(rows[k], ==, lives[k]);
	}
	stand_outs_free(stand_outs_new(tree));
	functions_free(functions);
}

#endif
