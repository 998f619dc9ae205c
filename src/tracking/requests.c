/* SPDX-License-Identifier: MIT */
/* What requests are called, and whose time is whose; see requests.h. */
#include "tracking/requests.h"

#include <string.h>

#include "tracking/exchange_lists.h"

uint32_t user_request_root(const struct user_requests *requests, uint32_t place)
{
	while (place && user_request_at(requests, place - 1)->parent)
		place = user_request_at(requests, place - 1)->parent;
	return place;
}

guint32 *user_requests_listed_places(const struct user_requests *requests)
{
	guint32 *places = g_new0(guint32, requests->list->len + 1);

	for (guint i = 0; i < requests->listed->len; i++)
		places[g_array_index(requests->listed, uint32_t, i) + 1] = i + 1;
	for (guint i = 1; i <= requests->list->len; i++) {
		uint32_t parent = user_request_at(requests, i - 1)->parent;

		if (!places[i] && parent)
			places[i] = places[parent];
	}
	return places;
}

uint32_t user_request_of(const struct user_requests *requests, uint32_t thread, int64_t time,
			 int64_t *until)
{
	const GArray *list = requests->working;
	guint low = 0, high = list->len; /* the first that ends after `time`, or a later thread's */

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct working *at = &g_array_index(list, struct working, middle);

		if (at->thread < thread || (at->thread == thread && at->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	*until = INT64_MAX;
	if (low == list->len || g_array_index(list, struct working, low).thread != thread)
		return 0;
	if (g_array_index(list, struct working, low).begin > time) {
		*until = g_array_index(list, struct working, low).begin;
		return 0;
	}
	*until = g_array_index(list, struct working, low).end;
	return g_array_index(list, struct working, low).request;
}

void user_requests_free(struct user_requests *requests)
{
	if (!requests)
		return;
	if (requests->listed)
		g_array_free(requests->listed, TRUE);
	g_free(requests->effort);
	if (!requests->base || requests->list != requests->base->list) {
		g_array_free(requests->list, TRUE);
		g_array_free(requests->working, TRUE);
	}
	if (!requests->base) {
		exchange_lists_free(requests->reads);
		exchange_lists_free(requests->writes);
		g_free(requests->of_exchange);
		g_free(requests->order);
		g_free(requests->peers);
		g_free(requests->roles);
	}
	g_free(requests);
}

const char *user_request_kind(const struct user_requests *requests)
{
	static const char *const kinds[] = {"server", "client", "process", "syscall", "events"};

	return kinds[requests->session->asked.options->requests.preset];
}

char *user_request_label(const struct user_requests *requests, const struct user_request *request)
{
	const struct session *session = requests->session;
	bool is_process = session->asked.options->requests.preset == PRESET_PROCESS;
	uint32_t who = is_process ? request->first : request->last;
	const struct thread *thread = model_thread(&session->trace.model, who);
	const char *name = session_thread_name(session, who);
	const struct channel_end *end;
	const char *peer;

	if (request->name)
		return g_strdup_printf("%s of %s (%d)%s", session_text(session, request->name),
				       name, thread->tid, session_on(session, who));
	if (!request->channel)
		return g_strdup_printf("%s (%d)%s", name, thread->tid, session_on(session, who));
	end = end_at(session, request->channel);
	peer = session_text(session, end->remote ? end->remote : end->key);
	if (g_str_has_prefix(peer, "socket:"))
		peer += strlen("socket:");
	return g_strdup_printf(
		"%s (%d)%s, %s %s", name, thread->tid, session_on(session, who),
		session->asked.options->requests.preset == PRESET_SERVER ? "asked by" : "asked",
		peer);
}
