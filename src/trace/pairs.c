/* SPDX-License-Identifier: MIT */
/* Matching packets; see pairs.h.
 *
 *   all packets, ordered by what they are ─► groups that share everything
 *   group ─► of each two hosts: sent on one, received on the other ─► pairs
 *   received ones left over ─► the sent one that has their last byte
 */
#include "trace/pairs.h"

#include <stdlib.h>

struct matcher {
	const struct timeline *timeline;
	GArray *order;     /* uint32_t packets, by what they are */
	GArray *list;      /* struct pair */
	guint8 *matched;   /* by packet */
	guint same_id, other_id; /* of packets that are sure without it */
	bool ids;          /* the header's number arrives as it was sent */
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Of the same packet: equal but for host, direction and time. */
static int by_identity(const struct packet *a, const struct packet *b)
{
	int order = compare(a->flow, b->flow);

	order = order ? order : compare(a->seq, b->seq);
	order = order ? order : compare(a->ack_seq, b->ack_seq);
	order = order ? order : compare(a->flags, b->flags);
	return order ? order : compare(a->length, b->length);
}

static int in_order(gconstpointer x, gconstpointer y, gpointer data)
{
	const struct timeline *timeline = data;
	uint32_t i = *(const uint32_t *) x, j = *(const uint32_t *) y;
	const struct packet *a = packet_at(timeline, i), *b = packet_at(timeline, j);
	int order = by_identity(a, b);

	order = order ? order : compare(a->host, b->host);
	order = order ? order : (int) a->received - (int) b->received;
	return order ? order : compare(i, j); /* as they came */
}

/* A run of `order`: packets of one identity, host and direction. */
struct run_of {
	guint first, count;
	uint16_t host;
	bool received;
};

static const struct packet *nth(const struct matcher *matcher, const struct run_of *run, guint i)
{
	return packet_at(matcher->timeline,
			 g_array_index(matcher->order, uint32_t, run->first + i));
}

static void add_pair(struct matcher *matcher, const struct run_of *sent, guint s,
		     const struct run_of *received, guint r)
{
	struct pair pair = {g_array_index(matcher->order, uint32_t, sent->first + s),
			    g_array_index(matcher->order, uint32_t, received->first + r)};

	if (matcher->matched[pair.received])
		return;
	matcher->matched[pair.received] = 1;
	g_array_append_val(matcher->list, pair);
}

/* By the header's number: seen several times on one host (bridges, virtual
 * links) a packet was sent first as the first. */
static void match_by_id(struct matcher *matcher, const struct run_of *sent,
			const struct run_of *received)
{
	for (guint r = 0; r < received->count; r++) {
		uint16_t id = nth(matcher, received, r)->id;
		guint earlier = 0, found = 0, last = 0;

		for (guint i = 0; i < r; i++)
			earlier += nth(matcher, received, i)->id == id;
		for (guint s = 0; s < sent->count && found <= earlier; s++)
			if (nth(matcher, sent, s)->id == id) {
				last = s;
				found++;
			}
		if (found)
			add_pair(matcher, sent, last, received, r);
	}
}

#define GROUP_MAX 64u /* equal packets; more of them are no help to anybody */

static void match_runs(struct matcher *matcher, const struct run_of *sent,
		       const struct run_of *received)
{
	bool ids = matcher->ids && nth(matcher, sent, 0)->id && nth(matcher, received, 0)->id;

	if (ids && sent->count <= GROUP_MAX && received->count <= GROUP_MAX)
		match_by_id(matcher, sent, received);
	else if (sent->count >= received->count)
		for (guint i = 0; i < received->count; i++)
			add_pair(matcher, sent, i, received, i);
}

/* One sent, one received: whether their numbers agree tells if numbers can be
 * trusted. */
static void judge_ids(struct matcher *matcher, const struct run_of *sent,
		      const struct run_of *received)
{
	uint16_t a = nth(matcher, sent, 0)->id, b = nth(matcher, received, 0)->id;

	if (sent->count != 1 || received->count != 1 || !a || !b)
		return;
	if (a == b)
		matcher->same_id++;
	else
		matcher->other_id++;
}

/* The runs of one identity, from `first` on; returns where the next begins. */
static guint gather(const struct matcher *matcher, guint first, GArray *runs)
{
	const GArray *order = matcher->order;
	const struct packet *head =
		packet_at(matcher->timeline, g_array_index(order, uint32_t, first));
	guint i = first;

	g_array_set_size(runs, 0);
	for (; i < order->len; i++) {
		const struct packet *at =
			packet_at(matcher->timeline, g_array_index(order, uint32_t, i));
		struct run_of *last =
			runs->len ? &g_array_index(runs, struct run_of, runs->len - 1) : NULL;
		struct run_of run = {i, 1, at->host, at->received};

		if (by_identity(head, at))
			break;
		if (last && last->host == at->host && last->received == at->received)
			last->count++;
		else
			g_array_append_val(runs, run);
	}
	return i;
}

static void
each_group(struct matcher *matcher,
	   void (*visit)(struct matcher *, const struct run_of *, const struct run_of *))
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct run_of));

	for (guint i = 0; i < matcher->order->len;) {
		i = gather(matcher, i, runs);
		for (guint s = 0; s < runs->len; s++)
			for (guint r = 0; r < runs->len; r++) {
				const struct run_of *sent = &g_array_index(runs, struct run_of, s);
				const struct run_of *received =
					&g_array_index(runs, struct run_of, r);

				if (!sent->received && received->received &&
				    sent->host != received->host)
					visit(matcher, sent, received);
			}
	}
	g_array_free(runs, TRUE);
}

/* Behind the last packet of `order` of that flow whose first byte is at or before
 * `byte`. */
static guint packets_after(const struct matcher *matcher, uint64_t flow, uint32_t byte)
{
	guint low = 0, high = matcher->order->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct packet *at =
			packet_at(matcher->timeline,
				  g_array_index(matcher->order, uint32_t, middle));

		if (at->flow < flow || (at->flow == flow && at->seq <= byte))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define LOOK_BACK 64 /* packets of a flow that begin before a byte and may hold it */

/* How many sent packets before `end` in `order` hold the last byte of `packet`;
 * one of them. */
static guint holders(const struct matcher *matcher, const struct packet *packet, guint end,
		     uint32_t *found)
{
	uint32_t byte = packet->seq + packet->length - 1;
	guint count = 0;

	for (guint i = 1; i <= LOOK_BACK && i <= end; i++) {
		uint32_t index = g_array_index(matcher->order, uint32_t, end - i);
		const struct packet *sent = packet_at(matcher->timeline, index);

		if (sent->flow != packet->flow)
			break;
		if (sent->received || sent->host == packet->host ||
		    byte - sent->seq >= sent->length || !by_identity(sent, packet))
			continue; /* an equal one was found to be another */
		count++;
		*found = index;
	}
	return count;
}

/* Cut or joined on the way. If several sent packets hold the byte, it was sent
 * again: which of them arrived is not known. */
static void match_by_range(struct matcher *matcher, uint32_t index)
{
	const struct packet *packet = packet_at(matcher->timeline, index);
	uint32_t byte = packet->seq + packet->length - 1;
	struct pair pair = {0, index};
	guint count =
		holders(matcher, packet, packets_after(matcher, packet->flow, byte), &pair.sent);

	/* numbers begin anew after 2^32: one that holds it may have a higher one */
	if (!count)
		count = holders(matcher, packet, packets_after(matcher, packet->flow, UINT32_MAX),
				&pair.sent);
	if (count == 1) {
		matcher->matched[index] = 1;
		g_array_append_val(matcher->list, pair);
	}
}

static int by_received(gconstpointer x, gconstpointer y)
{
	return compare(((const struct pair *) x)->received, ((const struct pair *) y)->received);
}

void pairs_init(struct pairs *pairs, const struct timeline *timeline)
{
	uint32_t used = timeline->packets.used;
	struct matcher matcher = {.timeline = timeline};

	matcher.order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	matcher.list = g_array_new(FALSE, FALSE, sizeof(struct pair));
	matcher.matched = g_malloc0(used);
	for (uint32_t i = 1; i < used; i++)
		g_array_append_val(matcher.order, i);
	g_array_sort_with_data(matcher.order, in_order, (gpointer) timeline);
	each_group(&matcher, judge_ids);
	matcher.ids = matcher.same_id > matcher.other_id;
	each_group(&matcher, match_runs);
	*pairs = (struct pairs) {.list = matcher.list};
	for (uint32_t i = 1; i < used; i++) {
		const struct packet *packet = packet_at(timeline, i);

		if (packet->received && !matcher.matched[i] && packet->length)
			match_by_range(&matcher, i);
		pairs->unmatched += packet->received && !matcher.matched[i];
	}
	g_array_sort(matcher.list, by_received);
	g_array_free(matcher.order, TRUE);
	g_free(matcher.matched);
}

void pairs_clear(struct pairs *pairs)
{
	g_array_free(pairs->list, TRUE);
	pairs->list = NULL;
}

uint32_t pairs_sent(const struct pairs *pairs, uint32_t received)
{
	guint low = 0, high = pairs->list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct pair *at = &g_array_index(pairs->list, struct pair, middle);

		if (at->received == received)
			return at->sent;
		if (at->received < received)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}
