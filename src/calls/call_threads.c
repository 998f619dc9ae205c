/* SPDX-License-Identifier: MIT */
/* See call_threads.h. */
#include "calls/call_threads.h"

/* It has a call of one of these kinds of operation (bits) in [from, to). */
static bool has_kinds(const struct session *session, uint32_t thread, uint32_t kinds, int64_t from,
		      int64_t to)
{
	uint32_t at = model_thread(&session->trace.model, thread)->flow.operation, count = 0;

	while (at) {
		const struct operation *operation =
			operation_at(&session->trace.timeline.operations, at);

		if (operation_end(operation) < from)
			return false;
		if (kinds & 1u << PACK_KIND(operation->what) && operation->begin < to)
			return true;
		at = operation->previous;
		timeline_ease_now_and_then(&session->trace.timeline, ++count);
	}
	return false;
}

bool calls_are_functions(const struct session *session)
{
	return session->trace.kinds[EV_FUNCTION_ENTRY] || session->trace.kinds[EV_FUNCTION_EXIT] ||
	       session->trace.flow.user.entries || session->trace.flow.user.exits;
}

static bool has_functions(const struct session *session, uint32_t thread)
{
	return calls_are_functions(session) &&
	       has_kinds(session, thread, 1u << OPERATION_FUNCTION | 1u << OPERATION_USER,
			 session->asked.from, session->asked.to);
}

/* Functions of user space say best which program is meant, in whatever window; the kernel's are in
 * all of them. */
static bool has_user_functions(const struct session *session, uint32_t thread)
{
	return session->trace.flow.user.entries + session->trace.flow.user.exits > 0 &&
	       has_kinds(session, thread, 1u << OPERATION_USER, INT64_MIN, INT64_MAX);
}

/* A program's, that did not sleep all the time. */
static bool is_awake(const struct session *session, uint32_t thread)
{
	struct spans spans;
	struct span span;

	if (thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread)))
		return false;
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span))
		if (leaf_wib(span.leaf) == WIB_WORKING)
			return true;
	return false;
}

/* Those that worked on requests, whatever they are. */
static bool is_any(const struct session *session, uint32_t thread)
{
	(void) session;
	(void) thread;
	return true;
}

static void add_threads_with(GArray *threads, const struct session *session,
			     const struct call_scope *scope,
			     bool (*has)(const struct session *, uint32_t), const bool *tracers)
{
	const char *wanted = session->asked.options->host;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct host *host = model_host(&session->trace.model,
						     model_thread(&session->trace.model, i)->host);

		if (!tracers[i] && (!wanted || g_strcmp0(wanted, host->hostname) == 0) &&
		    call_scope_ns(scope, i) && has(session, i))
			g_array_append_val(threads, i);
	}
}

GArray *call_threads_new(const struct session *session, const struct call_scope *scope,
			 bool of_requests)
{
	const struct options *options = session->asked.options;
	const GArray *selected = session->asked.selected;
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree bool *tracers = NULL;

	for (guint i = 0; i < selected->len; i++)
		if (call_scope_ns(scope, g_array_index(selected, uint32_t, i)))
			g_array_append_vals(threads, &g_array_index(selected, uint32_t, i), 1);
	if (options->threads->len || options->processes->len || selected->len)
		return threads;
	tracers = session_tracers(session);
	if (of_requests) {
		add_threads_with(threads, session, scope, is_any, tracers);
		return threads;
	}
	add_threads_with(threads, session, scope, has_user_functions, tracers);
	if (!threads->len)
		add_threads_with(threads, session, scope, has_functions, tracers);
	if (!threads->len)
		add_threads_with(threads, session, scope, is_awake, tracers);
	return threads;
}
