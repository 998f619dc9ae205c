/* SPDX-License-Identifier: MIT */
/* The way of a request's time; see request_path.h.
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
#include "tracking/request_path.h"

#include "tracking/exchange_lists.h"

/* The last thing of this request that the thread read in (from, to], which another wrote
 * since `from`; `sent`: that write. False: none. */
static bool last_received(const struct user_requests *requests, uint32_t root, uint32_t thread,
			  int64_t from, int64_t to, const struct exchange **read,
			  const struct exchange **sent)
{
	const struct session *session = requests->session;

	for (int64_t time = to;;) {
		uint32_t index = exchange_before(session, requests->reads, thread, time);
		uint32_t peer, write;

		if (!index)
			return false;
		*read = exchange_at(session, index);
		if ((*read)->end_time <= from || (*read)->end_time > time)
			return false;
		time = (*read)->end_time - 1;
		if (!requests->effort->left)
			return false;
		requests->effort->left--;
		if (user_request_root(requests, requests->of_exchange[index]) != root)
			continue;
		peer = requests->peers[(*read)->end];
		write = peer ? exchange_before(session, requests->writes, peer, (*read)->end_time)
			     : 0;
		if (!write)
			continue;
		*sent = exchange_at(session, write);
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
	user_requests_read(requests, READ_AT_RANDOM * (path->pieces->len + 1));
	return path;
}
