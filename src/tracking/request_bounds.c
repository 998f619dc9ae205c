/* SPDX-License-Identifier: MIT */
/* Where requests begin and end; see request_bounds.h. */
#include "tracking/request_bounds.h"

#include <string.h>

#include "latencies/operations.h"
#include "tracking/exchange_lists.h"
#include "tracking/following.h"

/* What is known of one end while its exchanges pass. */
struct open_request {
	uint32_t place; /* of the request, from 1; 0: none is open */
	bool answered;
	/* nothing was asked on it yet: */
	bool asked;
	int64_t connected; /* connect was called, 0; … by */
	int64_t connect_end;
	uint32_t thread, moved; /* … a thread that had moved bytes so many times */
};

/* --- order and pairs ------------------------------------------------------------ */

static int by_effect(gconstpointer a, gconstpointer b, gpointer data)
{
	guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
	int64_t time_x = exchange_time(exchange_at(data, x)),
		time_y = exchange_time(exchange_at(data, y));

	if (time_x != time_y)
		return time_x < time_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Clocks of several hosts have been brought together since they were stored; or they were not
 * in order then. */
static void sort_exchanges(struct user_requests *requests)
{
	uint32_t used = requests->session->trace.timeline.exchanges.used;

	if (requests->session->trace.model.hosts->len < 2 &&
	    !requests->session->trace.flow.odd[ODD_TIME_BACKWARDS])
		return;
	requests->order = g_new(guint32, used);
	for (uint32_t i = 0; i < used; i++)
		requests->order[i] = i;
	g_qsort_with_data(requests->order + 1, (gint) (used - 1), sizeof *requests->order,
			  by_effect, (gpointer) requests->session);
}

/* Of two ends' names; those of a loopback device mean another end on each host. */
static uint64_t name_pair(const struct session *session, const struct channel_end *end, uint32_t a,
			  uint32_t b)
{
	const char *name = session_text(session, a);
	uint64_t pair = (uint64_t) a << 32 | b;

	if (g_str_has_prefix(name, "socket:127.") || g_str_has_prefix(name, "socket:[::1]"))
		pair ^= (end->host + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	return pair;
}

/* The ends of one connection: each is named as the other's peer. Ports are used again: of
 * several ends with the same names the newest one that has no peer yet is taken. What
 * accept returned may not have told its own name: its peer's is enough then. */
static void find_peers(struct user_requests *requests)
{
	const struct session *session = requests->session;
	uint32_t used = session->trace.timeline.ends.used;
	struct idmap names; /* local and remote name, or local name alone -> newest end */

	requests->peers = g_new0(guint32, used);
	idmap_init(&names);
	for (uint32_t i = 1; i < used; i++) {
		const struct channel_end *end = end_at(session, i);
		uint32_t other;

		if (end->kind == CHANNEL_PIPE) {
			requests->peers[i] = i; /* the same for both sides */
			continue;
		}
		if (!end->remote)
			continue;
		other = idmap_get(&names, name_pair(session, end, end->remote, end->local));
		if (other != IDMAP_NONE && !requests->peers[other]) {
			requests->peers[i] = other;
			requests->peers[other] = i;
		}
		if (!end->local)
			continue;
		idmap_set(&names, name_pair(session, end, end->local, end->remote), i);
		if (end->role == ROLE_CLIENT)
			idmap_set(&names, name_pair(session, end, end->local, 0), i);
	}
	idmap_clear(&names);
}

/* As calls show it; else the one with the lower port serves: those of clients are given
 * by the system, from the upper range; else as what was written in turn lets infer. */
static enum channel_role role_of(const struct user_requests *requests, uint32_t number)
{
	const struct channel_end *end = end_at(requests->session, number);

	if (requests->roles[number])
		return requests->roles[number];
	if (end->role != ROLE_UNKNOWN || !end->local_port || !end->remote_port)
		return (enum channel_role) end->role;
	return end->local_port < end->remote_port ? ROLE_SERVER : ROLE_CLIENT;
}

/* --- presets ---------------------------------------------------------------------- */

static uint32_t begin_request(struct user_requests *requests, int64_t begin, uint32_t thread,
			      uint32_t channel)
{
	uint32_t place = pages_reserve(&requests->list, 1);

	*user_request_at(requests, place) = (struct user_request) {
		.begin = begin,
		.end = requests->session->trace.end,
		.first = thread,
		.last = thread,
		.channel = channel,
		.unfinished = true};
	return place + 1;
}

static void answer(struct user_requests *requests, struct open_request *open,
		   const struct exchange *exchange)
{
	struct user_request *request = user_request_at(requests, open->place - 1);

	request->last = exchange->thread;
	if (exchange->end_time == INT64_MAX) { /* still being written */
		request->unfinished = true;
		request->end = requests->session->trace.end;
	} else {
		request->unfinished = false;
		request->end =
			open->answered ? MAX(request->end, exchange->end_time) : exchange->end_time;
	}
	open->answered = true;
}

/* The connection is at its end: what is not answered will not be. */
static void close_request(struct user_requests *requests, struct open_request *open, int64_t time)
{
	if (open->place && !open->answered)
		user_request_at(requests, open->place - 1)->end =
			MAX(time, user_request_at(requests, open->place - 1)->begin);
	*open = (struct open_request) {.asked = true};
}

/* It slept by itself in [from, to). */
static bool napped(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, to);
	while (from < to && spans_next_off_cpu(&spans, &span)) {
		const char *call = PACK_KIND(span.leaf) == LEAF_BLOCK_SYSCALL
					   ? session_text(session, PACK_NUMBER(span.leaf))
					   : "";

		if (strcmp(call, "nanosleep") == 0 || strcmp(call, "clock_nanosleep") == 0)
			return true;
	}
	return false;
}

/* A client's begins with the connect, if the connection was made for it: whoever connected asks
 * first, and has neither spoken with anybody else nor slept in between. A server's first one
 * begins when its bytes come, though nobody accepts or reads them yet. */
static int64_t begin_of(const struct user_requests *requests, const struct open_request *open,
			const struct exchange *exchange, bool server, uint32_t moved)
{
	if (server)
		return !open->asked && exchange->came &&
				       end_at(requests->session, exchange->end)->role == ROLE_SERVER
			       ? MIN(exchange->came, exchange->end_time)
			       : exchange->end_time;
	if (open->asked || !open->connected || open->thread != exchange->thread ||
	    open->moved != moved ||
	    napped(requests->session, exchange->thread, open->connect_end, exchange->begin))
		return exchange->begin;
	return open->connected;
}

/* One exchange on the end of a server, or of a client; returns the request that it is of. */
static uint32_t pass_exchange(struct user_requests *requests, struct open_request *open,
			      const struct exchange *exchange, bool server, uint32_t *moved)
{
	bool asks = exchange->kind == (server ? EXCHANGE_READ : EXCHANGE_WRITE);

	if (exchange->kind == EXCHANGE_CLOSE) {
		close_request(requests, open, exchange->begin);
		return 0;
	}
	if (exchange->kind == EXCHANGE_READ && !exchange->bytes && !exchange->failed) {
		/* no more will be asked; the answer may still come */
		if (open->answered)
			close_request(requests, open, exchange->begin);
		return 0;
	}
	if (exchange->kind == EXCHANGE_CONNECT && !open->connected) {
		open->connected = exchange->begin;
		open->connect_end = exchange->end_time;
		open->thread = exchange->thread;
		open->moved = *moved;
	}
	if (exchange->kind != EXCHANGE_READ && exchange->kind != EXCHANGE_WRITE)
		return 0;
	/* a call that is under way at the end has moved what it will */
	if (!exchange->bytes && exchange->end_time != INT64_MAX)
		return 0;
	if (asks && (!open->place || open->answered)) {
		open->place =
			begin_request(requests, begin_of(requests, open, exchange, server, *moved),
				      exchange->thread, exchange->end);
		open->answered = false;
		open->asked = true;
	} else if (!asks && open->place) {
		answer(requests, open, exchange);
	} else if (asks) { /* who reads on has taken it over */
		user_request_at(requests, open->place - 1)->last = exchange->thread;
	}
	return open->place;
}

/* Who asked by datagrams has gone: what is not answered will not be. */
static void close_datagrams(struct user_requests *requests, struct open_request *open,
			    const struct exchange *exchange)
{
	uint32_t peer = requests->peers[exchange->end];

	if (peer && end_at(requests->session, peer)->datagrams)
		close_request(requests, &open[peer], exchange->begin);
}

static void find_on_connections(struct user_requests *requests, bool server)
{
	const struct session *session = requests->session;
	const struct pages *store = &session->trace.timeline.exchanges;
	g_autofree struct open_request *open =
		g_new0(struct open_request, session->trace.timeline.ends.used);
	/* so many times each thread moved bytes through a socket */
	g_autofree uint32_t *moved = g_new0(uint32_t, session->trace.model.thread_count);
	enum channel_role wanted = server ? ROLE_SERVER : ROLE_CLIENT;

	for (uint32_t i = 1; i < store->used; i++) {
		uint32_t at = requests->order ? requests->order[i] : i;
		const struct exchange *exchange = exchange_at(session, at);
		const struct channel_end *end;

		if (!requests->order)
			pages_pass(store, i);
		user_requests_read(requests, 1);
		if (exchange->kind >= EXCHANGE_DISK)
			continue;
		end = end_at(session, exchange->end);
		if (exchange->kind == EXCHANGE_CLOSE && end->kind == CHANNEL_SOCKET)
			close_datagrams(requests, open, exchange);
		if (end->kind == CHANNEL_SOCKET && role_of(requests, exchange->end) == wanted)
			requests->of_exchange[at] =
				pass_exchange(requests, &open[exchange->end], exchange, server,
					      &moved[exchange->thread]);
		if (end->kind == CHANNEL_SOCKET && exchange->bytes &&
		    (exchange->kind == EXCHANGE_READ || exchange->kind == EXCHANGE_WRITE))
			moved[exchange->thread]++;
	}
	for (uint32_t i = 1; i < session->trace.timeline.ends.used; i++)
		requests->unknown_ends += end_at(session, i)->kind == CHANNEL_SOCKET &&
					  role_of(requests, i) == ROLE_UNKNOWN;
}

/* After lost events a descriptor may be taken for a new connection: a request without an answer
 * ends where one that the same peer asked there begins. */
static void end_with_next(struct user_requests *requests)
{
	const struct session *session = requests->session;
	struct idmap last; /* peer's name -> place of its newest request */

	idmap_init(&last);
	for (guint i = 0; i < requests->list.used; i++) {
		struct user_request *request = user_request_at(requests, i), *before;
		const struct channel_end *end =
			request->channel ? end_at(session, request->channel) : NULL;
		uint64_t key;
		uint32_t place;

		if (!end || !end->remote)
			continue;
		user_requests_read(requests, READ_AT_RANDOM);
		key = name_pair(session, end, end->remote, end->local);
		place = idmap_get(&last, key);
		before = place == IDMAP_NONE ? NULL : user_request_at(requests, place);
		if (before && before->unfinished && before->channel != request->channel)
			before->end = MIN(before->end, request->begin);
		idmap_set(&last, key, i);
	}
	idmap_clear(&last);
}

/* The thread died in exit, and not in exit_group or of a signal: its process goes on without it. */
static bool ended_alone(const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	struct spans spans;
	struct span span;
	bool alone = false;

	spans_begin(&spans, session, thread, life->end - 1, life->end);
	while (spans_next(&spans, &span))
		alone = PACK_KIND(span.leaf) == LEAF_WORK_SYSCALL &&
			strcmp(session_text(session, PACK_NUMBER(span.leaf)), "exit") == 0;
	return alone;
}

/* The thread that the process ends with: its first one, unless that ended before. */
static uint32_t last_of_process(const struct session *session, uint32_t first)
{
	const struct model *model = &session->trace.model;
	uint32_t count, last = first;
	const uint32_t *threads =
		process_before(&session->trace.processes, model, first, INT64_MAX, &count);

	if (count < 2 || !ended_alone(session, first))
		return first;
	for (uint32_t k = 0; k < count; k++)
		if (model_thread(model, threads[k])->end > model_thread(model, last)->end)
			last = threads[k];
	return last;
}

/* "process (fork to exit)": of those that were seen to begin. */
static void find_processes(struct user_requests *requests)
{
	const struct model *model = &requests->session->trace.model;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);
		struct user_request *request;

		if (!thread->born || thread->pid != thread->tid)
			continue;
		request =
			user_request_at(requests, begin_request(requests, thread->begin, i, 0) - 1);
		request->last = last_of_process(requests->session, i);
		request->end =
			MIN(model_thread(model, request->last)->end, requests->session->trace.end);
		request->unfinished =
			model_thread(model, request->last)->end >= requests->session->trace.end;
	}
}

static void find_calls(struct user_requests *requests)
{
	const struct session *session = requests->session;
	const struct pages *store = &session->trace.timeline.operations;
	struct operation_scope scope;

	operation_scope_init(&scope, session);
	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct user_request *request;

		pages_pass(store, i);
		if (PACK_KIND(operation->what) != OPERATION_SYSCALL || operation->half ||
		    !operation_has_thread(operation) || !operation_in_scope(&scope, operation, i))
			continue;
		request = user_request_at(
			requests,
			begin_request(requests, operation->begin, operation->thread, 0) - 1);
		request->name = PACK_NUMBER(operation->what);
		request->end = operation_end(operation);
		request->unfinished = false;
	}
	operation_scope_clear(&scope);
}

static void forget_nobodys(struct user_requests *requests)
{
	guint kept = 0;

	for (guint i = 0; i < requests->list.used; i++)
		if (is_thread(user_request_at(requests, i)->first))
			*user_request_at(requests, kept++) = *user_request_at(requests, i);
	requests->list.used = kept;
}

/* "EVENT patterns with keys joined by captured fields"; without any, by thread. One begin
 * after another with the same key, and no end between: the first had none. An event of the idle
 * loop, as of an interrupt there, is of no thread: the other one says whose request it is. */
static void find_events(struct user_requests *requests)
{
	const struct session *session = requests->session;
	bool captures = session->asked.options->requests.captures->len > 0;
	struct idmap open; /* key, or thread -> request's place, from 0 */

	idmap_init(&open);
	for (guint i = 0; i < session->asked.boundaries->len; i++) {
		const struct boundary *at =
			&g_array_index(session->asked.boundaries, struct boundary, i);
		uint32_t thread = session_event_thread(session, at->host, at->cpu, at->tid,
						       at->user, at->time);
		uint64_t key = captures ? at->key : thread;
		struct user_request *request;
		uint32_t place;

		if (!is_thread(thread) && !captures)
			continue;
		place = idmap_get(&open, key);
		if (place != IDMAP_NONE) {
			request = user_request_at(requests, place);
			request->end = at->time;
			request->unfinished = !at->end;
			if (at->end && is_thread(thread))
				request->last = thread;
			if (!is_thread(request->first))
				request->first = request->last;
			idmap_remove(&open, key);
		}
		if (!at->end)
			idmap_set(&open, key, begin_request(requests, at->time, thread, 0) - 1);
	}
	idmap_clear(&open);
	forget_nobodys(requests);
}

/* --- which of them are asked for --------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct user_request *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end) /* the one around first */
		return x->end > y->end ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Numbers them by their begin; what refers to them follows. */
static void sort_requests(struct user_requests *requests)
{
	guint count = requests->list.used;
	g_autofree guint32 *places = g_new0(guint32, count + 1);
	g_autofree uint32_t *before = NULL;

	for (guint i = 0; i < count; i++) {
		struct user_request *at = user_request_at(requests, i);

		pages_pass(&requests->list, i);
		at->end = MAX(at->begin, at->end); /* where times went backwards */
	}
	user_requests_ease(requests);
	before = pages_sort(&requests->list, by_begin, REQUESTS_MEMORY);
	for (guint i = 0; i < count; i++) {
		pages_pass(&requests->list, i);
		places[before[i] + 1] = i + 1;
		user_request_at(requests, i)->id = i + 1;
	}
	for (uint32_t i = 0;
	     requests->of_exchange && i < requests->session->trace.timeline.exchanges.used; i++)
		requests->of_exchange[i] = places[requests->of_exchange[i]];
	user_requests_ease(requests);
}

void user_requests_find(struct user_requests *requests)
{
	const struct session *session = requests->session;
	enum request_preset preset = session->asked.options->requests.preset;

	if (preset == PRESET_SERVER || preset == PRESET_CLIENT) {
		spill_block_make(&requests->places_of_exchanges,
				 sizeof(guint32) * (size_t) session->trace.timeline.exchanges.used);
		requests->of_exchange = requests->places_of_exchanges.bytes;
		sort_exchanges(requests);
		find_peers(requests);
		old_connections_find(requests);
		requests->reads =
			exchange_lists_new(session, requests->order, EXCHANGE_READ, false);
		requests->writes =
			exchange_lists_new(session, requests->order, EXCHANGE_WRITE, true);
		find_on_connections(requests, preset == PRESET_SERVER);
		requests_end_with_processes(requests);
	} else if (preset == PRESET_EVENTS) {
		find_events(requests);
		requests_end_with_processes(requests);
	} else if (preset == PRESET_PROCESS) {
		find_processes(requests);
	} else {
		find_calls(requests);
	}
	sort_requests(requests);
	end_with_next(requests);
}
