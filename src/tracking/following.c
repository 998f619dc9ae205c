/* SPDX-License-Identifier: MIT */
/* Who works on which request; see requests.h.
 *
 *   T  ─┤read: R├── works on R ──┤write upstream: R's├── R waits ──┤read answer: R├── R ──
 *   U                                ─┤read├── works on R's inner request ──┤write├─
 *
 * Part of tracking/, one pass over the exchanges in order of time.
 */
#include "tracking/following.h"

#include "tracking/exchange_lists.h"

#define PASSED 65536 /* exchanges, until spilled records leave resident memory */

/* What a thread does while the exchanges pass. */
struct doing {
	uint32_t request; /* place from 1, 0: none */
	int64_t since;    /* it works on that since */
	int64_t free;     /* done with the one before since */
};

struct follower {
	struct user_requests *requests;
	struct doing *doing; /* owned; by thread */
	guint32 *owners;     /* owned; by end: whose bytes were written to it last */
	guint8 *fresh; /* owned; by end: `owners` made the connection, nothing is written yet */
};

static void add_working(struct user_requests *requests, const struct working *working)
{
	*working_at(requests, pages_reserve(&requests->working, 1)) = *working;
}

/* Ends what the thread does, at `time` at the latest. */
static void stop_working(struct follower *follower, uint32_t thread, int64_t time)
{
	struct doing *doing = &follower->doing[thread];
	const struct user_request *request;
	struct working working;

	if (!doing->request)
		return;
	request = user_request_at(follower->requests, doing->request - 1);
	working = (struct working) {doing->since, MIN(time, request->end), thread, doing->request};
	if (working.begin < working.end)
		add_working(follower->requests, &working);
	doing->free = MAX(doing->since, MIN(time, request->end));
	doing->request = 0;
}

/* The request that the thread works on at `time`, 0: none, or it is over. */
static uint32_t current(struct follower *follower, uint32_t thread, int64_t time)
{
	struct doing *doing = &follower->doing[thread];

	if (doing->request && user_request_at(follower->requests, doing->request - 1)->end < time)
		stop_working(follower, thread, time);
	return doing->request;
}

/* From `time` on, when its call that began at `call` returned, the thread works on it. */
static void take_up(struct follower *follower, uint32_t thread, uint32_t request, int64_t call,
		    int64_t time)
{
	if (current(follower, thread, time) == request)
		return;
	stop_working(follower, thread, call);
	follower->doing[thread].request = request;
	follower->doing[thread].since = time;
}

/* Since when the thread, which had read nothing of it, worked on the request that it gives
 * an answer to: its last wake-up by a thread that did, else since it was free. */
static int64_t joined_at(struct follower *follower, uint32_t thread, uint32_t request, int64_t from,
			 int64_t to)
{
	const struct session *session = follower->requests->session;
	struct spans spans;
	struct span span;
	int64_t joined = from;

	spans_begin(&spans, session, thread, from, to);
	while (spans_next_off_cpu(&spans, &span)) {
		const struct block *block;

		if (!leaf_is_blocked(span.leaf) || span.end >= to)
			continue;
		block = block_at(&session->trace.timeline, span.ref);
		if (block->kind == WAKER_THREAD && is_thread(block->waker) &&
		    follower->doing[block->waker].request == request)
			joined = span.end;
	}
	return joined;
}

/* An answer was written to a request that the thread may have had from another. */
static void take_up_at_answer(struct follower *follower, uint32_t thread, uint32_t request,
			      int64_t time)
{
	int64_t from;

	if (current(follower, thread, time) == request)
		return;
	from = follower->doing[thread].request ? follower->doing[thread].since
					       : follower->doing[thread].free;
	from = MAX(from, user_request_at(follower->requests, request - 1)->begin);
	from = joined_at(follower, thread, request, from, time);
	stop_working(follower, thread, from);
	follower->doing[thread].request = request;
	follower->doing[thread].since = from;
}

static void set_parent(struct follower *follower, uint32_t request, uint32_t parent)
{
	struct user_request *inner = user_request_at(follower->requests, request - 1);

	/* an inner one begins within the outer, which comes first in the list */
	if (parent && parent < request && !inner->parent &&
	    user_request_at(follower->requests, parent - 1)->end >= inner->begin)
		inner->parent = parent;
}

/* A request begins where that read returned, or where its bytes came. */
static bool is_first_read(const struct user_request *request, const struct exchange *exchange)
{
	return request->begin == exchange->end_time ||
	       (exchange->came && request->begin == exchange->came);
}

static void pass_read(struct follower *follower, uint32_t index, const struct exchange *exchange)
{
	struct user_requests *requests = follower->requests;
	uint32_t peer = requests->peers[exchange->end];
	uint32_t from = peer ? follower->owners[peer] : 0;
	uint32_t request = requests->of_exchange[index];
	bool server = requests->session->asked.options->requests.preset == PRESET_SERVER;

	if (!request || !server) {
		/* its bytes are of who wrote them, else of who had asked for them */
		if (!from)
			from = follower->owners[exchange->end];
		if (!request)
			request = from;
		requests->of_exchange[index] = request;
	} else if (is_first_read(user_request_at(requests, request - 1), exchange)) {
		set_parent(follower, request, from);
	}
	if (request)
		take_up(follower, exchange->thread, request, exchange->begin, exchange->end_time);
}

/* A client that connected for the request works on it since then. */
static int64_t connecting_since(const struct follower *follower, const struct exchange *exchange,
				uint32_t request)
{
	int64_t begin = user_request_at(follower->requests, request - 1)->begin;

	return CLAMP(begin, MIN(follower->doing[exchange->thread].free, exchange->begin),
		     exchange->begin);
}

static void pass_write(struct follower *follower, uint32_t index, const struct exchange *exchange)
{
	struct user_requests *requests = follower->requests;
	uint32_t request = requests->of_exchange[index];
	uint32_t doing = current(follower, exchange->thread, exchange->begin);
	uint32_t owner = follower->fresh[exchange->end] ? follower->owners[exchange->end] : 0;

	/* an event loop may have taken up another while the connection was made */
	if (owner && owner != doing &&
	    user_request_at(requests, owner - 1)->end >= exchange->begin) {
		take_up(follower, exchange->thread, owner, exchange->begin, exchange->begin);
		doing = owner;
	}
	if (request && requests->session->asked.options->requests.preset == PRESET_SERVER) {
		take_up_at_answer(follower, exchange->thread, request, exchange->begin);
	} else if (request) { /* a client's request begins, or goes on */
		set_parent(follower, request, doing);
		if (!doing)
			take_up(follower, exchange->thread, request, exchange->begin,
				connecting_since(follower, exchange, request));
	} else {
		request = doing;
		requests->of_exchange[index] = request;
	}
	follower->fresh[exchange->end] = 0;
	follower->owners[exchange->end] = request;
}

static void pass_exchange(struct follower *follower, uint32_t index)
{
	const struct exchange *exchange = exchange_at(follower->requests->session, index);

	switch (exchange->kind) {
	case EXCHANGE_READ:
		if (exchange->bytes)
			pass_read(follower, index, exchange);
		break;
	case EXCHANGE_WRITE:
		if (exchange->bytes || exchange->end_time == INT64_MAX)
			pass_write(follower, index, exchange);
		break;
	case EXCHANGE_CONNECT:
		follower->owners[exchange->end] =
			current(follower, exchange->thread, exchange->begin);
		follower->fresh[exchange->end] = 1;
		break;
	}
}

/* Of each request the thread that finished it, all of its time. */
static void whole_threads(struct user_requests *requests)
{
	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *request = user_request_at(requests, i);
		struct working working = {request->begin, request->end, request->last, i + 1};

		pages_pass(&requests->list, i);
		if (working.begin < working.end)
			add_working(requests, &working);
	}
}

static int by_thread(const void *a, const void *b)
{
	const struct working *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* "At most one request": where two of one thread overlap, the one that began first ends. */
static void sort_working(struct user_requests *requests)
{
	guint used = 0;

	g_free(pages_sort(&requests->working, by_thread, REQUESTS_MEMORY));
	for (guint i = 0; i < requests->working.used; i++) {
		struct working *at = working_at(requests, i);
		struct working *last = used ? working_at(requests, used - 1) : NULL;

		pages_pass(&requests->working, i);
		if (last && last->thread == at->thread && last->end > at->begin)
			last->end = at->begin;
		if (last && last->begin == last->end)
			used--;
		*working_at(requests, used++) = *at;
	}
	requests->working.used = used;
}

void user_requests_follow(struct user_requests *requests)
{
	const struct session *session = requests->session;
	struct follower follower = {.requests = requests};

	if (!requests->of_exchange || session->asked.options->requests.follow == FOLLOW_THREAD) {
		whole_threads(requests);
		sort_working(requests);
		return;
	}
	follower.doing = g_new0(struct doing, session->trace.model.thread_count + 1);
	follower.owners = g_new0(guint32, session->trace.timeline.ends.used);
	follower.fresh = g_new0(guint8, session->trace.timeline.ends.used);
	for (uint32_t t = 0; t < session->trace.model.thread_count; t++)
		follower.doing[t].free = INT64_MIN;
	for (uint32_t i = 1; i < session->trace.timeline.exchanges.used; i++) {
		if (!requests->order)
			pages_pass(&session->trace.timeline.exchanges, i);
		pass_exchange(&follower, requests->order ? requests->order[i] : i);
		if (i % PASSED == 0)
			user_requests_ease(requests);
	}
	for (uint32_t t = 0; t < session->trace.model.thread_count; t++)
		stop_working(&follower, t, session->trace.end);
	g_free(follower.doing);
	g_free(follower.owners);
	g_free(follower.fresh);
	sort_working(requests);
}

/* --- until when ------------------------------------------------------------------------ */

/* The last thread that could still answer a request. */
struct last_thread {
	uint32_t thread;
	int64_t end; /* of its life */
};

static int64_t life_end(const struct user_requests *requests, uint32_t thread)
{
	return model_thread(&requests->session->trace.model, thread)->end;
}

void requests_end_with_processes(struct user_requests *requests)
{
	const struct session *session = requests->session;

	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *request = user_request_at(requests, i);
		const uint32_t *threads;
		int64_t end = request->begin;
		uint32_t count;

		pages_pass(&requests->list, i);
		if (!request->unfinished || request->end < session->trace.end)
			continue;
		threads = process_before(&session->trace.processes, &session->trace.model,
					 request->last, INT64_MAX, &count);
		for (uint32_t k = 0; k < count; k++)
			end = MAX(end, life_end(requests, threads[k]));
		request->end = MIN(request->end, end);
	}
}

static bool same_process(const struct user_requests *requests, uint32_t one, uint32_t other)
{
	const uint32_t *first = requests->session->trace.processes.first;

	return first[one] == first[other];
}

static void consider(const struct user_requests *requests, struct last_thread *last,
		     uint32_t thread)
{
	int64_t end = life_end(requests, thread);

	if (end > last->end)
		*last = (struct last_thread) {thread, end};
}

/* Of each request: who lived longest of those that worked on it. */
static struct last_thread *last_threads(const struct user_requests *requests)
{
	struct last_thread *last = g_new0(struct last_thread, requests->list.used + 1);

	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *request = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		last[i] = (struct last_thread) {NO_THREAD, INT64_MIN};
		consider(requests, &last[i], request->last);
		consider(requests, &last[i], request->first);
	}
	for (guint i = 0; i < requests->working.used; i++) {
		const struct working *at = working_at(requests, i);
		const struct user_request *request = user_request_at(requests, at->request - 1);

		pages_pass(&requests->working, i);
		if (same_process(requests, at->thread, request->first) ||
		    same_process(requests, at->thread, request->last))
			consider(requests, &last[at->request - 1], at->thread);
	}
	return last;
}

/* Nobody works on what has ended, and nothing is asked for it any more. */
static void cut(struct user_requests *requests)
{
	guint kept = 0;

	for (guint i = 0; i < requests->working.used; i++) {
		struct working at = *working_at(requests, i);

		pages_pass(&requests->working, i);
		at.end = MIN(at.end, user_request_at(requests, at.request - 1)->end);
		if (at.begin < at.end)
			*working_at(requests, kept++) = at;
	}
	requests->working.used = kept;
	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *at = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		if (at->parent && user_request_at(requests, at->parent - 1)->end < at->begin)
			at->parent = 0;
	}
}

void requests_end_with_threads(struct user_requests *requests)
{
	const struct request_options *asked = &requests->session->asked.options->requests;
	g_autofree struct last_thread *last = NULL;
	bool some = false;

	/* where events say by their fields what ends what, anybody's event may */
	if (asked->preset == PRESET_EVENTS && asked->captures->len)
		return;
	last = last_threads(requests);
	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *request = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		if (!request->unfinished)
			continue;
		if (life_end(requests, request->last) < request->end)
			request->last = last[i].thread;
		some |= last[i].end < request->end;
		request->end = MIN(request->end, MAX(request->begin, last[i].end));
	}
	if (some)
		cut(requests);
}
