/* SPDX-License-Identifier: MIT */
/* See call_scope.h. */
#include "calls/call_scope.h"

static struct call_slice *slice_at(const struct call_scope *scope, guint place)
{
	return &g_array_index(scope->slices, struct call_slice, place);
}

/* [begin, end) of the thread, which is the last one so far, behind what it has. */
static void add_slice(struct call_scope *scope, const struct session *session, uint32_t thread,
		      int64_t begin, int64_t end)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	struct call_slice slice = {MAX(begin, MAX(session->asked.from, life->begin)),
				   MIN(end, MIN(session->asked.to, life->end))};
	struct call_slice *last = NULL;

	if (slice.begin >= slice.end)
		return;
	if (scope->slices->len > scope->first[thread])
		last = slice_at(scope, scope->slices->len - 1);
	if (last && last->end >= slice.begin)
		last->end = MAX(last->end, slice.end);
	else
		g_array_append_val(scope->slices, slice);
}

void call_scope_init(struct call_scope *scope, const struct session *session,
		     const struct user_requests *requests)
{
	g_autofree guint32 *listed = requests ? user_requests_listed_places(requests) : NULL;
	uint32_t threads = session->trace.model.thread_count;
	guint at = 0;

	scope->slices = g_array_new(FALSE, FALSE, sizeof(struct call_slice));
	scope->first = g_new0(guint, threads + 1);
	for (uint32_t t = 0; t < threads; t++) {
		scope->first[t] = scope->slices->len;
		if (!requests)
			add_slice(scope, session, t, INT64_MIN, INT64_MAX);
		for (; requests && at < requests->working.used; at++) {
			const struct working *one = working_at(requests, at);

			pages_pass(&requests->working, at);
			if (one->thread != t)
				break;
			if (listed[one->request])
				add_slice(scope, session, t, one->begin, one->end);
		}
	}
	scope->first[threads] = scope->slices->len;
}

void call_scope_clear(struct call_scope *scope)
{
	g_array_free(scope->slices, TRUE);
	g_free(scope->first);
}

const struct call_slice *
call_scope_slices(const struct call_scope *scope, uint32_t thread, int64_t from, guint *count)
{
	guint low = scope->first[thread], end = scope->first[thread + 1], high = end;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (slice_at(scope, middle)->end <= from)
			low = middle + 1;
		else
			high = middle;
	}
	*count = end - low;
	return *count ? slice_at(scope, low) : NULL;
}

bool call_scope_meets(const struct call_scope *scope, uint32_t thread, int64_t from, int64_t to)
{
	guint count;
	const struct call_slice *next = call_scope_slices(scope, thread, from, &count);

	return next && next->begin < to;
}

bool call_scope_has(const struct call_scope *scope, uint32_t thread, int64_t time)
{
	return call_scope_meets(scope, thread, time, time + 1);
}

int64_t call_scope_ns(const struct call_scope *scope, uint32_t thread)
{
	int64_t ns = 0;

	for (guint i = scope->first[thread]; i < scope->first[thread + 1]; i++)
		ns += slice_at(scope, i)->end - slice_at(scope, i)->begin;
	return ns;
}
