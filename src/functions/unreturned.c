/* SPDX-License-Identifier: MIT */
/* Calls that did not return; see found_calls.h. */
#include "functions/found_calls.h"

#include "objects/calls.h"
#include "path/path.h"
#include "waits/causes.h"
#include "contention/deadlocks.h"

void unreturned_clear(gpointer data)
{
	g_array_free(((struct unreturned *) data)->frames, TRUE);
}

/* Threads wait at leisure in some calls: for others to turn to them. For a futex they wait because
 * another has it. */
static bool is_leisure(const struct session *session, const struct call_frame *frame)
{
	return frame_waits_for_others(session, frame) &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(frame->what))->wait != WAIT_FUTEX;
}

/* No call of that kind that returned took as long. */
static bool is_longest(const struct functions *functions, const struct call_frame *frame)
{
	const int64_t *longest =
		g_hash_table_lookup(functions->tree->longest, GUINT_TO_POINTER(frame->what));

	return !longest || *longest < frame->end - frame->begin;
}

/* Who holds the lock that the thread waits for, as call_tree_cause() would say it of a wait that
 * has ended, or who is in a deadlock with it; 0: it is no lock, or that is not known. */
static uint32_t holder_at_end(struct functions *functions, uint32_t thread, const struct span *span)
{
	const struct session *session = functions->session;
	const struct block *block = block_at(&session->trace.timeline, span->ref);
	const struct deadlock *deadlock = deadlock_of(session, thread);
	enum cause_kind kind = deadlock ? CAUSE_DEADLOCK : CAUSE_LOCK_OWNER;
	g_autofree char *members = deadlock ? deadlock_words(session, deadlock) : NULL;
	g_autoptr(GString) label = g_string_new(members);

	if (!deadlock && !lock_holder_label(functions->tree->namer, block, thread, span->begin,
					    span->end, label))
		return 0;
	g_string_prepend(label, ": ");
	g_string_prepend(label, cause_kind_text(kind));
	return intern_id(session->trace.model.names, label->str);
}

/* What the thread waits for at the end of its life; 0: it does not wait. */
static uint32_t cause_at_end(struct functions *functions, uint32_t thread)
{
	const struct session *session = functions->session;
	int64_t end = model_thread(&session->trace.model, thread)->end;
	uint32_t cause = 0;
	struct path *path;
	struct spans spans;
	struct span span, last = {.begin = end};

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span))
		if (span.end == end && leaf_is_blocked(span.leaf))
			last = span;
	if (last.begin == end)
		return 0;
	cause = holder_at_end(functions, thread, &last);
	if (cause)
		return cause;
	path = path_new(session, thread, last.begin, end);
	if (path->pieces->len)
		cause = call_tree_cause(functions->tree, path,
					&g_array_index(path->pieces, struct piece,
						       path->pieces->len - 1));
	path_free(path);
	return cause;
}

/* Open when the thread's life ends. */
static bool is_open(const struct call_frame *frame, int64_t end)
{
	return frame->half == OPERATION_OPEN && frame->end == end && !frame->in_interrupt;
}

/* What is open at the end, from its last calls alone: of most threads there is nothing to tell. */
static bool is_told(const struct functions *functions, uint32_t thread, struct unreturned *found)
{
	const struct session *session = functions->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	struct frames *last = frames_new(session, thread, life->end - 1, life->end);
	const struct call_frame *inner = NULL;
	bool functions_open = false;

	for (uint32_t i = 0; i < last->list->len; i++)
		if (is_open(frame_of(last, i), life->end)) {
			inner = frame_of(last, i);
			functions_open |= PACK_KIND(inner->what) != OPERATION_SYSCALL;
		}
	if (inner) {
		found->since = inner->begin;
		found->died = life->state == THREAD_DEAD;
		found->strange =
			!found->died && !is_leisure(session, inner) && is_longest(functions, inner);
	}
	frames_free(last);
	return inner && (found->strange || (!found->died && functions_open));
}

static void add_unreturned(struct functions *functions, uint32_t thread)
{
	const struct session *session = functions->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	struct unreturned found = {.thread = thread};
	const struct frames *frames;

	if (session->asked.to < life->end ||
	    !call_scope_has(&functions->tree->scope, thread, life->end - 1) ||
	    !is_told(functions, thread, &found))
		return;
	found.frames = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	frames = call_tree_frames(functions->tree, thread);
	for (uint32_t i = 0; i < frames->list->len; i++)
		if (is_open(frame_of(frames, i), life->end))
			g_array_append_val(found.frames, i);
	found.cause = cause_at_end(functions, thread);
	g_array_append_val(functions->unreturned, found);
}

/* The longest first: by their innermost calls. */
static int longest_open_first(gconstpointer a, gconstpointer b)
{
	const struct unreturned *x = a, *y = b;

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void unreturned_add(struct functions *functions)
{
	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(functions->tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++) {
			add_unreturned(functions, g_array_index(threads, uint32_t, k));
			call_tree_let_go(functions->tree, NO_THREAD);
		}
	}
	g_array_sort(functions->unreturned, longest_open_first);
}
