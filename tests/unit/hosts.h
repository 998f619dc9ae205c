/* SPDX-License-Identifier: MIT */
/* Two hosts for unit tests: packets between them as literals, beside feed.h.
 *
 * The true relation of the clocks is known, as the tests make it: the server's is
 * AHEAD of the client's, so that all of the client's events are fed before the
 * server's. Times in the tests are true ones, which are the client's.
 */
#ifndef WHYLATE_TESTS_HOSTS_H
#define WHYLATE_TESTS_HOSTS_H

#include <stdlib.h>

#include "feed.h"

#include "trace/clocks.h"

#define AHEAD INT64_C(1000000000)

enum { CLIENT, SERVER };

static int64_t ahead; /* of the host that is fed */

static inline uint32_t add_host(struct feed *feed, const char *name, int64_t begin)
{
	struct host_info info = {.hostname = name,
				 .kernel_release = "6.1.0",
				 .tracer_major = 2,
				 .tracer_minor = 13,
				 .has_clock_offset = true,
				 .abi = ABI_X86_64};
	uint32_t host = sink_of(feed)->add_host(feed->session, &info);

	sink_of(feed)->begin(feed->session, host, 0, begin);
	return host;
}

static inline struct feed *two_hosts(void)
{
	struct feed *feed = feed_new(1); /* host 0: "h" */

	add_host(feed, "server", AHEAD);
	ahead = 0;
	return feed;
}

/* From now on events are of that host. */
static inline void on(struct feed *feed, uint32_t host)
{
	feed->host = host;
	ahead = host * AHEAD;
}

struct segment {
	uint32_t seq, ack, length;
	uint16_t flags, id;
	uint64_t skb;
};

static const uint8_t addresses[][4] = {{10, 0, 0, 2}, {10, 0, 0, 1}, {10, 0, 0, 3}};

/* TCP from host `from` to host `to`, sent or received on the host that is fed. */
static inline void packet_of(struct feed *feed, int64_t time, const char *name, int from, int to,
			     const struct segment *segment)
{
	struct event event = event_of(feed, time + ahead, 0, name);

	event.net.saddr = (struct event_bytes) {addresses[from], 4};
	event.net.daddr = (struct event_bytes) {addresses[to], 4};
	event.net.source_port = from ? 80 : 5000;
	event.net.dest_port = to ? 80 : 5000;
	event.net.skb = segment->skb ? segment->skb : 0xf00;
	event.net.tcp = true;
	event.net.seq = segment->seq;
	event.net.ack_seq = segment->ack;
	event.net.length = segment->length;
	event.net.flags = segment->flags ? segment->flags : 24;
	event.net.id = segment->id;
	send(feed, &event);
}

#define SENT(time, from, to, ...)                                                                  \
	packet_of(feed, time, "net_dev_queue", from, to, &(struct segment) {__VA_ARGS__})
#define RECEIVED(time, from, to, ...)                                                              \
	packet_of(feed, time, "net_if_receive_skb", from, to, &(struct segment) {__VA_ARGS__})

/* The packet comes and, in the same softIRQ, wakes `tid`. */
#define DELIVERED(time, from, to, tid, ...)                                                        \
	do {                                                                                       \
		softirq(feed, (time) - 1 + ahead, 0, "irq_softirq_entry", 3);                      \
		RECEIVED(time, from, to, __VA_ARGS__);                                             \
		waking(feed, (time) + 1 + ahead, 0, tid);                                          \
		softirq(feed, (time) + 2 + ahead, 0, "irq_softirq_exit", 3);                       \
	} while (0)

static inline void sleeps(struct feed *feed, int64_t time, const char *comm, int32_t tid)
{
	sw(feed, time + ahead, 0, comm, tid, SLEEPS, "idle", 0);
}

static inline void runs(struct feed *feed, int64_t time, const char *comm, int32_t tid)
{
	sw(feed, time + ahead, 0, "idle", 0, 0, comm, tid);
}

/* "TID sent TIME" of each wait of `tid` that leads to somebody, with the time
 * of the way; "-" for the others. `late`: subtracted from the times. */
static inline const char *leads(struct feed *feed, int32_t tid, int64_t late)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);

		g_string_append(text, i ? ", " : "");
		if (!wait->has_share) {
			g_string_append_c(text, '-');
			continue;
		}
		g_assert_cmpint(wait->lead.until, <=, wait->end);
		g_string_append_printf(
			text, "%d sent %d",
			model_thread(&feed->session->trace.model, wait->lead.thread)->tid,
			(int) (wait->lead.until - late));
	}
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static inline const struct host_clock *clock_of(struct feed *feed, uint32_t host)
{
	finish(feed);
	return &model_host(&feed->session->trace.model, host)->clock;
}

#endif
