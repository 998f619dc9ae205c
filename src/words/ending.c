/* SPDX-License-Identifier: MIT */
/* The words for the end of a thread; see ending.h. */
#include "words/ending.h"

#include <string.h>

#include "event/signals.h"
#include "waits/wait.h"

bool is_ending(const struct session *session, uint32_t thread, int64_t time)
{
	return time >= model_thread(&session->trace.model, thread)->ends_from;
}

/* Who read what the kernel wrote: the program that is given core dumps (core(5), "Piping core
 * dumps to a program"). NO_THREAD: the dump went to a file. */
static uint32_t dump_reader(const struct session *session, uint32_t thread)
{
	const struct thread *ended = model_thread(&session->trace.model, thread);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, ended->ends_from, ended->end);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(session, thread, &span);
		if (wait_by_thread(&wait) && PACK_KIND(wait.block->context) == FRAME_SYSCALL &&
		    strstr(session_text(session, PACK_NUMBER(wait.block->context)), "read"))
			return wait.block->waker;
	}
	return NO_THREAD;
}

void append_ending(GString *text, const struct session *session, uint32_t thread, bool blocked)
{
	const struct thread *ended = model_thread(&session->trace.model, thread);
	uint32_t reader;

	g_string_append(text, blocked ? "blocked while it was ended by " : "ended by ");
	if (ended->ended_by)
		append_signal(text, ended->ended_by);
	else
		g_string_append(text, "the exit of its process");
	if (!ended->dumped) {
		g_string_append(text, ": the kernel gave back its memory and files");
		return;
	}
	reader = dump_reader(session, thread);
	g_string_append(text, ": the kernel dumped its core");
	if (is_thread(reader))
		g_string_append_printf(text, " through a pipe to %s (%d)",
				       session_thread_name(session, reader),
				       model_thread(&session->trace.model, reader)->tid);
	else
		g_string_append(text, " to a file");
}
