/* SPDX-License-Identifier: MIT */
/* What requests are called, and whose time is whose; see requests.h. */
#include "tracking/requests.h"

#include <stdlib.h>
#include <string.h>

#include "tracking/exchange_lists.h"

#define READ 4096 /* records, until what was spilled leaves resident memory */

uint32_t user_request_root(const struct user_requests *requests, uint32_t place)
{
	while (place && user_request_at(requests, place - 1)->parent)
		place = user_request_at(requests, place - 1)->parent;
	return place;
}

guint32 *user_requests_listed_places(const struct user_requests *requests)
{
	guint32 *places = g_new0(guint32, requests->list.used + 1);

	for (guint i = 0; i < requests->listed->len; i++)
		places[g_array_index(requests->listed, uint32_t, i) + 1] = i + 1;
	for (guint i = 1; i <= requests->list.used; i++) {
		uint32_t parent = user_request_at(requests, i - 1)->parent;

		pages_pass(&requests->list, i);
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
		for (; at < requests->working.used && working_at(requests, at)->thread < t; at++)
			pages_pass(&requests->working, at);
		requests->places[t] = (struct working_place) {at, at};
	}
}

/* The first in [low, high), of one thread, that ends after `time`; `high`: none. */
static guint first_to_end(const struct user_requests *requests, guint low, guint high, int64_t time)
{
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (working_at(requests, middle)->end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void user_requests_ease(const struct user_requests *requests)
{
	const struct timeline *timeline = &requests->session->trace.timeline;

	if (!pages_much_read(&requests->effort->faults, timeline->memory))
		return;
	timeline_let_go(timeline);
	pages_let_go(&requests->list);
	pages_let_go(&requests->working);
	spill_block_let_go(&requests->places_of_exchanges);
	if (requests->reads)
		spill_block_let_go(&requests->reads->block);
	if (requests->writes)
		spill_block_let_go(&requests->writes->block);
}

void user_requests_read(const struct user_requests *requests, uint32_t records)
{
	requests->effort->read += records;
	if (requests->effort->read < READ)
		return;
	requests->effort->read = 0;
	user_requests_ease(requests);
}

uint32_t user_request_of(const struct user_requests *requests, uint32_t thread, int64_t time,
			 int64_t *until)
{
	const struct working *working;
	struct working_place *place;
	guint first, end, at;

	user_requests_read(requests, 1);
	*until = INT64_MAX;
	if (thread >= requests->session->trace.model.thread_count)
		return 0;
	place = &requests->places[thread];
	first = place->first;
	end = place[1].first;
	at = __atomic_load_n(&place->at, __ATOMIC_RELAXED); /* mostly it is that, or the next */
	if (at > first && working_at(requests, at - 1)->end > time)
		at = first_to_end(requests, first, at - 1, time);
	else if (at < end && working_at(requests, at)->end <= time && ++at < end &&
		 working_at(requests, at)->end <= time)
		at = first_to_end(requests, at + 1, end, time);
	__atomic_store_n(&place->at, at, __ATOMIC_RELAXED);
	if (at == end)
		return 0;
	working = working_at(requests, at);
	*until = working->begin > time ? working->begin : working->end;
	return working->begin > time ? 0 : working->request;
}

struct user_requests *
user_requests_in_part(const struct user_requests *requests, const struct session *session)
{
	struct user_requests *part = g_memdup2(requests, sizeof *part);

	part->session = session;
	part->effort = g_memdup2(requests->effort, sizeof *part->effort);
	part->effort->faults = 0;
	return part;
}

void user_requests_part_free(struct user_requests *part)
{
	g_free(part->effort);
	g_free(part);
}

void user_requests_free(struct user_requests *requests)
{
	if (!requests)
		return;
	if (requests->listed)
		g_array_free(requests->listed, TRUE);
	g_free(requests->effort);
	if (!requests->base || requests->list.segments != requests->base->list.segments) {
		pages_clear(&requests->list);
		pages_clear(&requests->working);
	}
	if (!requests->base) {
		exchange_lists_free(requests->reads);
		exchange_lists_free(requests->writes);
		spill_block_clear(&requests->places_of_exchanges);
		g_free(requests->order);
		g_free(requests->places);
		g_free(requests->peers);
		g_free(requests->roles);
	}
	g_free(requests);
}

/* Sorted are these, as requests may have spilled. */
struct taken {
	int64_t ns;
	guint at;
};

static int by_ns(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

GArray *requests_by_latency(const struct user_requests *requests, const GArray *places,
			    bool slowest_first)
{
	g_autofree struct taken *taken = g_new(struct taken, places->len + (gsize) 1);
	GArray *order = g_array_sized_new(FALSE, FALSE, sizeof(guint), places->len);
	uint32_t passed = 0;

	for (guint i = 0; i < places->len; i++) {
		uint32_t place = g_array_index(places, uint32_t, i);
		const struct user_request *at = user_request_at(requests, place);
		int64_t ns = at->end - at->begin;

		taken[i] = (struct taken) {slowest_first ? -ns : ns, i};
		pages_pass_to(&requests->list, &passed, place);
	}
	qsort(taken, places->len, sizeof *taken, by_ns);
	for (guint i = 0; i < places->len; i++)
		g_array_append_val(order, taken[i].at);
	return order;
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
