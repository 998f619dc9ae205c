/* SPDX-License-Identifier: MIT */
/* What must hold of the walk of the exports (export/export_walk.h) whatever was fed: pieces of
 * states tile each life and make up the spans, frames nest, a state lies in the innermost frame,
 * each wake-up comes right after the wait that it ended; and all formats can be written. For random
 * events (test_random.c) and fuzzed ones (tests/fuzz/).
 */
#ifndef WHYLATE_TESTS_WALK_INVARIANTS_H
#define WHYLATE_TESTS_WALK_INVARIANTS_H

#include <glib.h>
#include <stdio.h>

#include "export/export_walk.h"
#include "export/export_formats.h"
#include "whylate/whylate.h"

struct walk_check {
	const struct walk_thread *thread;
	int64_t at; /* states tell up to here */
	GArray *frames; /* struct walk_frame: open */
	struct walk_state last;
	uint64_t frames_seen, pieces, wakes;
	int64_t wib[4];
};

static inline void walk_check_begin(const struct walk *walk, const struct walk_thread *thread,
				    void *data)
{
	struct walk_check *check = data;

	g_assert_true(walk->current == thread);
	g_assert_cmpint(thread->begin, <, thread->end);
	check->thread = thread;
	check->at = thread->begin;
	check->last = (struct walk_state) {.end = INT64_MIN};
}

static inline const struct walk_frame *walk_check_inner(const struct walk_check *check)
{
	return check->frames->len
		       ? &g_array_index(check->frames, struct walk_frame, check->frames->len - 1)
		       : NULL;
}

static inline void walk_check_enter(const struct walk *walk, const struct walk_frame *frame,
				    void *data)
{
	struct walk_check *check = data;
	const struct walk_frame *around = walk_check_inner(check);

	(void) walk;
	g_assert_cmpint(frame->begin, <=, frame->end);
	g_assert_cmpint(frame->begin, >=, check->thread->begin);
	g_assert_cmpint(frame->end, <=, check->thread->end);
	g_assert_cmpint(frame->begin, ==, check->at); /* in order of time, with the states */
	if (around) {
		g_assert_cmpint(frame->begin, >=, around->begin);
		g_assert_cmpint(frame->end, <=, around->end);
	}
	g_array_append_vals(check->frames, frame, 1);
	check->frames_seen++;
}

static inline void walk_check_leave(const struct walk *walk, const struct walk_frame *frame,
				    void *data)
{
	struct walk_check *check = data;

	(void) walk;
	g_assert_nonnull(walk_check_inner(check));
	g_assert_cmpint(frame->what, ==, walk_check_inner(check)->what);
	g_assert_cmpint(frame->end, ==, walk_check_inner(check)->end);
	g_assert_cmpint(frame->end, ==, check->at);
	g_array_set_size(check->frames, check->frames->len - 1);
}

static inline void walk_check_state(const struct walk *walk, const struct walk_state *state,
				    void *data)
{
	struct walk_check *check = data;
	const struct walk_frame *around = walk_check_inner(check);

	g_assert_cmpuint(check->frames->len, ==, walk->frames->len);
	g_assert_cmpint(state->span.begin, ==, check->at);
	g_assert_cmpint(state->span.begin, <, state->span.end);
	g_assert_cmpint(state->begin, <=, state->span.begin);
	g_assert_cmpint(state->end, >=, state->span.end);
	g_assert_true((state->block != NULL) == leaf_is_blocked(state->span.leaf));
	if (around)
		g_assert_cmpint(state->span.end, <=, around->end);
	check->at = state->span.end;
	check->last = *state;
	check->pieces++;
	check->wib[leaf_wib(state->span.leaf)] += state->span.end - state->span.begin;
}

static inline void walk_check_wake(const struct walk *walk, const struct walk_wake *wake,
				   void *data)
{
	struct walk_check *check = data;

	g_assert_cmpint(wake->time, ==, check->last.span.end);
	g_assert_cmpint(wake->time, ==, check->at);
	g_assert_true(wake->block == check->last.block && check->last.woken);
	g_assert_cmpuint(wake->woken, ==, check->thread->number);
	g_assert_cmpuint(wake->number, ==, ++check->wakes);
	g_assert_cmpuint(wake->waker, <=, walk->threads->len);
}

/* By what spans_next() says, which has invariants of its own. */
static inline void walk_check_end(const struct walk *walk, const struct walk_thread *thread,
				  void *data)
{
	struct walk_check *check = data;
	struct spans spans;
	struct span span;

	g_assert_cmpint(check->at, ==, thread->end);
	g_assert_cmpuint(check->frames->len, ==, 0);
	spans_begin(&spans, walk->session, thread->thread, walk->session->asked.from,
		    walk->session->asked.to);
	while (spans_next(&spans, &span))
		check->wib[leaf_wib(span.leaf)] -= span.end - span.begin;
	for (int i = 0; i < 4; i++)
		g_assert_cmpint(check->wib[i], ==, 0);
}

static inline void walk_check_run(const struct walk *walk, uint16_t host, uint32_t cpu,
				  int64_t begin, int64_t end, uint32_t thread, void *data)
{
	(void) cpu;
	(void) data;
	g_assert_cmpint(begin, <, end);
	g_assert_cmpint(begin, >=, walk->session->asked.from);
	g_assert_cmpint(end, <=, walk->session->asked.to);
	g_assert_cmpuint(host, <, walk->session->trace.model.hosts->len);
	g_assert_true(!is_thread(thread) || thread < walk->session->trace.model.thread_count);
}

/* The threads that lived in the window, as if they had been asked for. */
static inline GArray *walk_check_select(const struct session *session)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (MAX(thread->begin, session->asked.from) < MIN(thread->end, session->asked.to))
			g_array_append_val(all, i);
	}
	return all;
}

static inline void walk_check_formats(struct session *session)
{
	struct export_options *asked = &session->asked.options->export;
	FILE *file = fopen("/dev/null", "w");
	char table[] = "blocks", *before = asked->table;
	struct walk walk;

	walk_init(&walk, session);
	g_assert_true(export_perfetto(&walk, file, NULL));
	g_assert_true(export_trace_event(&walk, file, NULL));
	g_assert_true(export_speedscope(&walk, file, NULL));
	asked->table = table;
	g_assert_true(export_csv(&walk, file, NULL));
	asked->table = before;
	for (int kind = STACKS_OFF_CPU; kind <= STACKS_CRITICAL_PATH; kind++) {
		asked->stacks = (enum stacks) kind;
		g_assert_true(export_folded(&walk, file, NULL));
		g_assert_true(export_pprof(&walk, file, NULL));
	}
	walk_clear(&walk);
	fclose(file);
}

/* Returns how many frames there were. */
static inline uint64_t check_walk(struct session *session, bool formats)
{
	static const struct walk_visitor visitor = {
		walk_check_run,  walk_check_begin, walk_check_enter, walk_check_state,
		walk_check_wake, walk_check_leave, walk_check_end};
	struct walk_check check = {.frames = g_array_new(FALSE, FALSE, sizeof(struct walk_frame))};
	GArray *asked = session->asked.selected;
	struct walk walk;

	session->asked.selected = walk_check_select(session);
	walk_init(&walk, session);
	walk_all(&walk, &visitor, &check);
	g_assert_cmpuint(walk.wakes, ==, check.wakes);
	walk_clear(&walk);
	if (formats)
		walk_check_formats(session);
	g_array_free(session->asked.selected, TRUE);
	session->asked.selected = asked;
	g_array_free(check.frames, TRUE);
	return check.frames_seen;
}

#endif
