/* SPDX-License-Identifier: MIT */
/* How the text of a delay report writes threads, intervals and names. Place: delay/, under the
 * files that write its sections. */
#include "delay/delay.h"

#include "model/container.h"
#include "run/containers.h"

/* ", 5 in pid:[4026532201]": the TID in a container, "" on the host. */
static char *inner_text(const struct session *session, const struct thread *thread)
{
	g_autofree char *name = NULL;
	struct ids ids;
	uint32_t number;

	if (!thread_inner_ids(&session->trace.model, thread, &ids))
		return g_strdup("");
	number = thread_place(&session->trace.model, thread)->pid_ns;
	name = number ? namespace_text(NAMESPACE_PID, number) : g_strdup("a container");
	return ids.tid ? g_strdup_printf(", %d in %s", ids.tid, name)
		       : g_strdup_printf(", in %s", name);
}

char *thread_words(const struct session *session, uint32_t index)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	g_autofree char *inner = inner_text(session, thread);
	const char *on = session_on(session, index);

	if (thread->pid == thread->tid || thread->pid < 0)
		return g_strdup_printf("%s (%s %d%s)%s", session_thread_name(session, index),
				       thread->pid < 0 ? "tid" : "pid", thread->tid, inner, on);
	return g_strdup_printf("%s (tid %d of pid %d%s)%s", session_thread_name(session, index),
			       thread->tid, thread->pid, inner, on);
}

void text_interval(const struct report *report, int64_t begin, int64_t end)
{
	char from[48], to[48], length[32];
	bool utc = report->session->asked.options->utc;

	fprintf(report->output->file, "%s-%s (%s)", when_time(from, begin, utc, false),
		when_time(to, end, utc, false), when_duration(length, end - begin));
}

void text_escaped(struct output *output, const char *text)
{
	g_autofree char *safe = text_safe(text);

	fputs(safe, output->file);
}
