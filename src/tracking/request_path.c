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

#include <stdatomic.h>

#include "parts/make_parts.h"
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

static uint64_t whole_effort(const struct user_requests *requests)
{
	return PIECES_LEAST + PIECES_AN_EVENT * requests->session->trace.events;
}

void requests_renew_effort(const struct user_requests *requests)
{
	requests->effort->left = whole_effort(requests);
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

/* --- beside each other ----------------------------------------------------------------------- */

#define WAYS_A_PART 64

/* Of one part, in order. */
struct part_ways {
	struct path *paths[WAYS_A_PART]; /* owned; NULL: it has to be looked for again, when it is
					    known how much effort is left for it */
	uint64_t effort[WAYS_A_PART];
};

struct finding_ways {
	const struct user_requests *requests; /* borrowed; its effort is who takes the ways' */
	struct user_requests *like; /* owned; the same, for parts to copy */
	way_taker *take;
	void *data;
	struct part_ways parts[PARTS_AHEAD];
	_Atomic uint64_t spent; /* by all parts */
};

static const struct user_request *
request_of_part(const struct finding_ways *finding, guint part, guint i, guint *listed)
{
	const struct user_requests *requests = finding->requests;
	*listed = part * WAYS_A_PART + i;
	if (i == WAYS_A_PART || *listed >= requests->listed->len)
		return NULL;
	return user_request_at(requests, g_array_index(requests->listed, uint32_t, *listed));
}

/* With as much effort as is left over by all that was found by now, before it or behind it. */
static void find_ways(const struct session *session, guint part, void *data)
{
	struct finding_ways *finding = data;
	struct part_ways *ways = &finding->parts[part % PARTS_AHEAD];
	struct user_requests *own = user_requests_in_part(finding->like, session);
	const struct user_request *request;
	uint64_t *faults = session->trace.timeline.faults; /* of this thread */
	guint listed;

	own->effort->faults = faults ? *faults : 0;
	for (guint i = 0; (request = request_of_part(finding, part, i, &listed)); i++) {
		uint64_t spent = atomic_load(&finding->spent), whole = whole_effort(own), left;

		left = own->effort->left = whole - MIN(whole, spent);
		ways->paths[i] = left ? user_request_path(own, request) : NULL;
		ways->effort[i] = left - own->effort->left;
		atomic_fetch_add(&finding->spent, ways->effort[i]);
		if (left && !own->effort->left) /* it may have ended too early */
			g_clear_pointer(&ways->paths[i], path_free);
	}
	user_requests_ease(own);
	if (faults)
		*faults = own->effort->faults;
	user_requests_part_free(own);
}

static void take_ways(guint part, void *data)
{
	struct finding_ways *finding = data;
	struct part_ways *ways = &finding->parts[part % PARTS_AHEAD];
	const struct user_request *request;
	guint listed;

	for (guint i = 0; (request = request_of_part(finding, part, i, &listed)); i++) {
		struct path *path = ways->paths[i];
		uint64_t *left = &finding->requests->effort->left;

		if (path && ways->effort[i] < *left) {
			*left -= ways->effort[i];
		} else {
			if (path)
				path_free(path);
			path = user_request_path(finding->requests, request);
		}
		finding->take(listed, path, finding->data);
		path_free(path);
	}
}

void user_requests_ways(const struct user_requests *requests, way_taker *take, void *data)
{
	struct finding_ways *finding = g_new0(struct finding_ways, 1);
	guint count = requests->listed->len;

	finding->requests = requests;
	finding->take = take;
	finding->data = data;
	requests_renew_effort(requests);
	finding->like = user_requests_in_part(requests, requests->session);
	parts_make_and_take(requests->session, (count + WAYS_A_PART - 1) / WAYS_A_PART, find_ways,
			    take_ways, finding);
	user_requests_part_free(finding->like);
	g_free(finding);
}
