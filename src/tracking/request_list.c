/* SPDX-License-Identifier: MIT */
/* From all requests to those that are asked for; see request_list.h. */
#include "tracking/request_list.h"
#include "run/choosing.h"

#include "tracking/following.h"
#include "tracking/request_bounds.h"

static bool thread_asked_for(const struct session *session, const guint8 *selected, uint32_t thread)
{
	const struct host *host = model_host(&session->trace.model,
					     model_thread(&session->trace.model, thread)->host);

	if (!session_wants_host(session, host))
		return false;
	return !selected || selected[thread];
}

static void find_scope(struct user_requests *requests, const struct request_scope *scope)
{
	const struct session *session = requests->session;
	const struct options *options = session->asked.options;
	g_autofree guint8 *selected = NULL;
	g_autofree bool *tracers = session_tracers(session);

	if (options->threads->len || options->processes->len || options->container) {
		selected = g_new0(guint8, session->trace.model.thread_count + 1);
		for (guint i = 0; i < session->asked.selected->len; i++)
			selected[g_array_index(session->asked.selected, uint32_t, i)] = 1;
	}
	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *request = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		request->in_scope = request->begin >= scope->from && request->end <= scope->to &&
				    thread_asked_for(session, selected, request->last);
		if (!selected && request->in_scope && tracers[request->last]) {
			request->in_scope = false;
			requests->of_tracer++;
		}
	}
}

/* "only the outermost are listed unless --process names an inner server" */
static bool is_inside_another(const struct user_requests *requests,
			      const struct user_request *request)
{
	for (uint32_t at = request->parent; at; at = user_request_at(requests, at - 1)->parent)
		if (user_request_at(requests, at - 1)->in_scope)
			return true;
	return false;
}

static bool gap_over(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	return host_gap_over(model_host(&session->trace.model,
					model_thread(&session->trace.model, thread)->host),
			     from, to);
}

/* What was lost may have been the end of it, or the begin of another. */
static void find_gaps(struct user_requests *requests)
{
	const struct session *session = requests->session;

	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *at = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		at->spans_gap = gap_over(session, at->first, at->begin, at->end) ||
				gap_over(session, at->last, at->begin, at->end);
	}
	for (guint i = 0; i < requests->working.used; i++) {
		const struct working *at = working_at(requests, i);

		pages_pass(&requests->working, i);
		if (gap_over(session, at->thread, at->begin, at->end))
			user_request_at(requests, at->request - 1)->spans_gap = true;
	}
}

static bool list_requests(struct user_requests *requests, const struct request_scope *scope,
			  GError **error)
{
	g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint kept;

	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *request = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		if (request->in_scope && !is_inside_another(requests, request))
			g_array_append_val(candidates, i);
	}
	kept = candidates->len;
	requests->listed = picks_apply(requests, candidates, scope, error);
	if (!requests->listed)
		return false;
	requests->omitted = kept - requests->listed->len;
	return true;
}

/* Time of the window's threads that is no request's. */
static void sum_unassigned(struct user_requests *requests, const struct request_scope *scope)
{
	const struct session *session = requests->session;

	for (uint32_t t = 0; t < session->trace.model.thread_count; t++) {
		struct spans spans;
		struct span span;

		spans_begin(&spans, session, t, scope->from, scope->to);
		while (spans_next(&spans, &span))
			for (int64_t at = span.begin, until; at < span.end; at = until) {
				uint32_t place = user_request_of(requests, t, at, &until);

				until = MIN(until, span.end);
				if (place)
					continue;
				requests->unassigned_ns += until - at;
				if (leaf_wib(span.leaf) == WIB_WORKING)
					requests->unassigned_working_ns += until - at;
			}
	}
}

struct user_requests *
user_requests_new(const struct session *session, const struct request_scope *scope, GError **error)
{
	struct user_requests *requests = g_new0(struct user_requests, 1);

	requests->session = session;
	requests->effort = g_malloc0(sizeof *requests->effort);
	timeline_let_go(&session->trace.timeline); /* what reading left there */
	pages_init(&requests->list, sizeof(struct user_request), REQUESTS_MEMORY);
	pages_init(&requests->working, sizeof(struct working), REQUESTS_MEMORY);
	user_requests_find(requests);
	user_requests_follow(requests);
	requests_end_with_threads(requests);
	user_requests_place(requests);
	find_scope(requests, scope);
	find_gaps(requests);
	if (!list_requests(requests, scope, error)) {
		user_requests_free(requests);
		return NULL;
	}
	sum_unassigned(requests, scope);
	return requests;
}

struct user_requests *user_requests_repick(const struct user_requests *base,
					   const struct request_scope *scope, GError **error)
{
	struct user_requests *requests = g_memdup2(base, sizeof *base);

	requests->base = base;
	requests->listed = NULL;
	requests->effort = g_malloc0(sizeof *requests->effort);
	if (list_requests(requests, scope, error))
		return requests;
	user_requests_free(requests);
	return NULL;
}

struct user_requests *
user_requests_moved(const struct user_requests *base, const struct session *session,
		    moved_time *moved, const void *data)
{
	struct user_requests *requests = g_memdup2(base, sizeof *base);

	requests->base = base;
	requests->session = session;
	pages_copy(&requests->list, &base->list, REQUESTS_MEMORY);
	pages_copy(&requests->working, &base->working, REQUESTS_MEMORY);
	requests->listed = g_array_copy(base->listed);
	requests->effort = g_malloc0(sizeof *requests->effort);
	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *request = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		request->begin = moved(data, request->first, request->begin);
		request->end = moved(data, request->last, request->end);
	}
	for (guint i = 0; i < requests->working.used; i++) {
		struct working *working = working_at(requests, i);

		pages_pass(&requests->working, i);
		working->begin = moved(data, working->thread, working->begin);
		working->end = moved(data, working->thread, working->end);
	}
	return requests;
}
