/* SPDX-License-Identifier: MIT */
/* The way of a request's time; see requests.h.
 *
 *   T   … ──┤write├── waits ─────────────────┤read answer├── work ──┤write answer├ end
 *            s'  ╲                           ╱ r
 *   U             ┤read├── work ──┤write answer├
 *                  r'              s
 *
 *   pieces, from the end: T's in [r, end), T's in [s, r), U's in [r', s), U's in [s', r'),
 *   T's before s'.
 *
 * Each part is the critical path of its thread (path.h): what it waited for in it is followed
 * to who or what ended the wait. Part of tracking/.
 */
#include "tracking/requests.h"

static const struct exchange *exchange_at(const struct user_requests *requests, uint32_t index)
{
	return pages_at(&requests->session->trace.timeline.exchanges, index);
}

int64_t exchange_time(const struct exchange *exchange)
{
	return exchange->kind == EXCHANGE_READ || exchange->kind == EXCHANGE_ACCEPT
		       ? exchange->end_time
		       : exchange->begin;
}

struct exchange_lists *
exchange_lists_new(const struct user_requests *requests, enum exchange_kind kind, bool by_end)
{
	const struct session *session = requests->session;
	const struct pages *store = &session->trace.timeline.exchanges;
	uint32_t count =
		by_end ? session->trace.timeline.ends.used : session->trace.model.thread_count;
	struct exchange_lists *lists = g_new0(struct exchange_lists, 1);
	uint32_t *next = NULL;

	lists->first = g_new0(uint32_t, count + 2);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 1; i < store->used; i++) {
			uint32_t at = requests->order ? requests->order[i] : i, number;
			const struct exchange *exchange = exchange_at(requests, at);

			if (!requests->order)
				pages_pass(store, i);
			if (exchange->kind != kind ||
			    (!exchange->bytes && exchange->end_time != INT64_MAX))
				continue;
			number = by_end ? exchange->end : exchange->thread;
			if (pass)
				lists->list[next[number]++] = at;
			else
				lists->first[number + 1]++;
		}
		if (pass)
			break;
		for (uint32_t i = 0; i <= count; i++)
			lists->first[i + 1] += lists->first[i];
		lists->list = g_new(uint32_t, lists->first[count + 1] + 1);
		next = g_memdup2(lists->first, (count + 1) * sizeof *next);
	}
	g_free(next);
	return lists;
}

void exchange_lists_free(struct exchange_lists *lists)
{
	if (!lists)
		return;
	g_free(lists->first);
	g_free(lists->list);
	g_free(lists);
}

uint32_t exchange_before(const struct user_requests *requests, const struct exchange_lists *lists,
			 uint32_t of, int64_t time)
{
	uint32_t low = lists->first[of], high = lists->first[of + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (exchange_time(exchange_at(requests, lists->list[middle])) <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low > lists->first[of] ? lists->list[low - 1] : 0;
}

/* The last thing of this request that the thread read in (from, to], which another wrote
 * since `from`; `sent`: that write. False: none. */
static bool last_received(const struct user_requests *requests, uint32_t root, uint32_t thread,
			  int64_t from, int64_t to, const struct exchange **read,
			  const struct exchange **sent)
{
	for (int64_t time = to;;) {
		uint32_t index = exchange_before(requests, requests->reads, thread, time);
		uint32_t peer, write;

		if (!index)
			return false;
		*read = exchange_at(requests, index);
		if ((*read)->end_time <= from || (*read)->end_time > time)
			return false;
		time = (*read)->end_time - 1;
		if (!requests->effort->left)
			return false;
		requests->effort->left--;
		if (user_request_root(requests, requests->of_exchange[index]) != root)
			continue;
		peer = requests->peers[(*read)->end];
		write = peer ? exchange_before(requests, requests->writes, peer, (*read)->end_time)
			     : 0;
		if (!write)
			continue;
		*sent = exchange_at(requests, write);
		if ((*sent)->thread != thread && (*sent)->begin > from)
			return true;
	}
}

void requests_renew_effort(const struct user_requests *requests)
{
	requests->effort->left = PIECES_LEAST + PIECES_AN_EVENT * requests->session->trace.events;
	requests->effort->ways = 0;
}

struct path *user_request_path(const struct user_requests *requests,
			       const struct user_request *request)
{
	const struct session *session = requests->session;
	struct path *path = path_empty();
	uint32_t root = user_request_root(requests, request->id), thread = request->last;
	int64_t end = request->end;
	const struct exchange *read, *sent;
	struct piece unknown = {
		.thread = thread, .begin = request->begin, .end = end, .behalf = -1};

	if (!requests->effort->left) {
		requests->effort->ways++;
		if (unknown.begin < unknown.end)
			g_array_append_val(path->pieces, unknown);
		return path;
	}
	while (requests->reads && session->asked.options->requests.follow == FOLLOW_FLOW &&
	       last_received(requests, root, thread, request->begin, end, &read, &sent)) {
		/* at one time a thread may read and write much: the path goes back, always */
		path_extend_back(path, session, thread, read->end_time, end);
		path_extend_back(path, session, thread, sent->begin, read->end_time);
		thread = sent->thread;
		end = sent->begin;
		if (path->pieces->len > requests->effort->left)
			break;
	}
	path_extend_back(path, session, thread, request->begin, end);
	path_whole(path);
	requests->effort->left -= MIN(requests->effort->left, path->pieces->len);
	return path;
}
