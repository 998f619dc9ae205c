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

void user_requests_place(struct user_requests *requests)
{
	uint32_t threads = requests->session->trace.model.thread_count;
	guint at = 0;

	requests->places = g_new(struct working_place, threads + 1);
	for (uint32_t t = 0; t <= threads; t++) {
		while (at < requests->working->len &&
		       g_array_index(requests->working, struct working, at).thread < t)
			at++;
		requests->places[t] = (struct working_place) {at, at};
	}
}

/* The first in [low, high), of one thread, that ends after `time`; `high`: none. */
static guint first_to_end(const struct working *working, guint low, guint high, int64_t time)
{
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (working[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t user_request_of(const struct user_requests *requests, uint32_t thread, int64_t time,
			 int64_t *until)
{
	const struct working *working = (const void *) requests->working->data;
	struct working_place *place;
	guint first, end, at;

	*until = INT64_MAX;
	if (thread >= requests->session->trace.model.thread_count)
		return 0;
	place = &requests->places[thread];
	first = place->first;
	end = place[1].first;
	at = place->at; /* mostly it is that, or the next */
	if (at > first && working[at - 1].end > time)
		at = first_to_end(working, first, at - 1, time);
	else if (at < end && working[at].end <= time && ++at < end && working[at].end <= time)
		at = first_to_end(working, at + 1, end, time);
	place->at = at;
	if (at == end)
		return 0;
	*until = working[at].begin > time ? working[at].begin : working[at].end;
	return working[at].begin > time ? 0 : working[at].request;
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
		g_free(requests->places);
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
