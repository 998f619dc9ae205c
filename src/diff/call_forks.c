/* SPDX-License-Identifier: MIT */
/* Finding where calls part; see call_forks.h. */
#include "diff/call_forks.h"

#include <string.h>

#include "calls/call_tree.h"

/* A thread's functions that begin in the window, in order. */
struct sequence {
	const struct session *session; /* borrowed */
	struct frames *frames;         /* owned */
	GArray *calls;                 /* owned; uint32_t: places in frames */
	GArray *depths;                /* owned; uint32_t: functions around each */
};

static void fork_clear(gpointer data)
{
	struct call_fork *fork = data;

	g_ptr_array_free(fork->stack, TRUE);
	g_free(fork->next[0]);
	g_free(fork->next[1]);
	g_free(fork->last);
}

static bool is_function(const struct call_frame *frame)
{
	return PACK_KIND(frame->what) == OPERATION_USER;
}

static void sequence_init(struct sequence *sequence, const struct side *side, uint32_t thread)
{
	sequence->session = side->session;
	sequence->frames = frames_new(side->session, thread, side->from, side->to);
	sequence->calls = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	sequence->depths = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < sequence->frames->list->len; i++) {
		const struct call_frame *frame = frame_of(sequence->frames, i);
		uint32_t depth = 0;

		if (!is_function(frame) || frame->begin < side->from || frame->begin >= side->to)
			continue;
		for (uint32_t at = frame->parent; at != NO_FRAME;
		     at = frame_of(sequence->frames, at)->parent)
			depth += is_function(frame_of(sequence->frames, at));
		g_array_append_val(sequence->calls, i);
		g_array_append_val(sequence->depths, depth);
	}
}

static void sequence_clear(struct sequence *sequence)
{
	frames_free(sequence->frames);
	g_array_free(sequence->calls, TRUE);
	g_array_free(sequence->depths, TRUE);
}

static const struct call_frame *call_at(const struct sequence *sequence, uint64_t i)
{
	return frame_of(sequence->frames, g_array_index(sequence->calls, uint32_t, i));
}

static const char *name_at(const struct sequence *sequence, uint64_t i)
{
	return session_text(sequence->session, PACK_NUMBER(call_at(sequence, i)->what));
}

static bool is_alike(const struct sequence *a, const struct sequence *b, uint64_t i)
{
	return g_array_index(a->depths, uint32_t, i) == g_array_index(b->depths, uint32_t, i) &&
	       strcmp(name_at(a, i), name_at(b, i)) == 0;
}

/* Around the call where they part: of the one that goes deeper, what both have. */
static void add_stack(struct call_fork *fork, const struct sequence *a, const struct sequence *b)
{
	const struct sequence *of = fork->next[0] ? a : b;
	uint32_t depth = UINT32_MAX, at;

	if (fork->next[0])
		depth = g_array_index(a->depths, uint32_t, fork->alike);
	if (fork->next[1])
		depth = MIN(depth, g_array_index(b->depths, uint32_t, fork->alike));
	for (at = call_at(of, fork->alike)->parent; at != NO_FRAME;
	     at = frame_of(of->frames, at)->parent)
		if (is_function(frame_of(of->frames, at)))
			g_ptr_array_insert(fork->stack, 0,
					   frame_name(of->session, frame_of(of->frames, at)->what));
	if (fork->stack->len > depth)
		g_ptr_array_set_size(fork->stack, (gint) depth);
}

static void compare(GArray *forks, const struct side sides[2], uint32_t a, uint32_t b)
{
	struct call_fork fork = {.thread = {a, b}};
	struct sequence sequences[2];

	sequence_init(&sequences[0], &sides[0], a);
	sequence_init(&sequences[1], &sides[1], b);
	for (int side = 0; side < 2; side++)
		fork.calls[side] = sequences[side].calls->len;
	while (fork.alike < MIN(fork.calls[0], fork.calls[1]) &&
	       is_alike(&sequences[0], &sequences[1], fork.alike))
		fork.alike++;
	fork.same = fork.calls[0] == fork.calls[1] && fork.alike == fork.calls[0];
	fork.stack = g_ptr_array_new_with_free_func(g_free);
	if (fork.alike)
		fork.last = g_strdup(name_at(&sequences[0], fork.alike - 1));
	for (int side = 0; side < 2; side++)
		if (fork.alike < fork.calls[side]) {
			fork.next[side] = g_strdup(name_at(&sequences[side], fork.alike));
			fork.at[side] = call_at(&sequences[side], fork.alike)->begin;
		}
	if (!fork.same)
		add_stack(&fork, &sequences[0], &sequences[1]);
	if (fork.calls[0] && fork.calls[1])
		g_array_append_val(forks, fork);
	else
		fork_clear(&fork);
	sequence_clear(&sequences[0]);
	sequence_clear(&sequences[1]);
}

/* Of each thread, whether a function of it began in the side's window; owned. */
static bool *functions_called(const struct side *side)
{
	const struct pages *store = &side->session->trace.timeline.operations;
	bool *called = g_new0(bool, side->session->trace.model.thread_count + 1);

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);

		pages_pass(store, i);
		if (PACK_KIND(operation->what) == OPERATION_USER &&
		    operation_has_thread(operation) && operation->begin >= side->from &&
		    operation->begin < side->to)
			called[operation->thread] = true;
	}
	return called;
}

static gint by_name(gconstpointer a, gconstpointer b, gpointer data)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int order = strcmp(session_thread_name(data, x), session_thread_name(data, y));

	return order ? order : x < y ? -1 : x > y;
}

/* The threads of a side that call functions, by name and in the order in which they began. */
static GArray *threads_of(const struct side *side)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree bool *called = functions_called(side);

	for (uint32_t i = 0; i < side->session->trace.model.thread_count; i++)
		if (called[i])
			g_array_append_val(all, i);
	g_array_sort_with_data(all, by_name, (gpointer) side->session);
	return all;
}

static bool is_in(const GArray *list, uint32_t thread)
{
	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, uint32_t, i) == thread)
			return true;
	return false;
}

/* Which thread of B each of A's is compared with, NO_THREAD. */
static GArray *partners_of(const struct diff *diff, const GArray *of_a, const GArray *of_b)
{
	const struct session *a = diff->sides[0].session, *b = diff->sides[1].session;
	GArray *partners = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree bool *taken = g_new0(bool, of_b->len + 1);

	for (guint i = 0; i < of_a->len; i++) {
		uint32_t partner =
			thread_match_partner(diff->match, 0, g_array_index(of_a, uint32_t, i));

		partner = is_in(of_b, partner) ? partner : NO_THREAD;
		g_array_append_val(partners, partner);
		for (guint k = 0; k < of_b->len; k++)
			taken[k] |= g_array_index(of_b, uint32_t, k) == partner;
	}
	for (guint i = 0; a == b && i < of_a->len; i++) {
		uint32_t *partner = &g_array_index(partners, uint32_t, i);
		const char *name = session_thread_name(a, g_array_index(of_a, uint32_t, i));

		for (guint k = 0; k < of_b->len && *partner == NO_THREAD; k++) {
			uint32_t other = g_array_index(of_b, uint32_t, k);

			if (taken[k] || strcmp(name, session_thread_name(b, other)) != 0)
				continue;
			*partner = other;
			taken[k] = true;
		}
	}
	return partners;
}

GArray *call_forks_new(const struct diff *diff)
{
	const struct side *a = &diff->sides[0], *b = &diff->sides[1];
	GArray *forks = g_array_new(FALSE, FALSE, sizeof(struct call_fork));
	g_autoptr(GArray) of_a = NULL, of_b = NULL, partners = NULL;

	g_array_set_clear_func(forks, fork_clear);
	if (a->session == b->session && a->from == b->from && a->to == b->to)
		return forks;
	of_a = threads_of(a);
	of_b = threads_of(b);
	partners = partners_of(diff, of_a, of_b);
	for (guint i = 0; i < of_a->len; i++) {
		uint32_t partner = g_array_index(partners, uint32_t, i);

		if (partner != NO_THREAD)
			compare(forks, diff->sides, g_array_index(of_a, uint32_t, i), partner);
	}
	return forks;
}
