/* SPDX-License-Identifier: MIT */
/* Requests of literal events, and what is found of them as text, beside feed.h.
 *
 * Threads 5 to 8, named a to d, each run on a CPU of their own (0 to 3) unless they sleep;
 * 5 and 6 are processes by themselves, 8 is a thread of process 7.
 */
#ifndef WHYLATE_TESTS_REQUEST_FEED_H
#define WHYLATE_TESTS_REQUEST_FEED_H

#include "commands/commands.h"
#include "feed.h"

#include "request_invariants.h"

static inline struct feed *feed_requests(enum request_preset preset)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &requests_command);
	feed->options.requests.preset = preset;
	feed_start(feed, 4, "6.1.0", 2, 13);
	for (int i = 0; i < 4; i++) {
		struct event event = event_of(feed, 1, 0, "lttng_statedump_process_state");

		event.process.tid = 5 + i;
		event.process.pid = i == 3 ? 7 : 5 + i;
		event.process.name = names[i];
		event.process.status = 1;
		send(feed, &event);
	}
	for (uint32_t i = 0; i < 4; i++)
		sw(feed, 2, i, "swapper", 0, 0, names[i], 5 + (int32_t) i);
	return feed;
}

/* accept(listener 3) = fd, from 10.0.0.9:port; returns at `time` + 1. */
static inline void accepts(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd, uint32_t port)
{
	static const uint8_t peer[4] = {10, 0, 0, 9};
	struct event event;

	entry(feed, time, cpu, "accept4", 3);
	event = event_of(feed, time + 1, cpu, "syscall_exit_accept4");
	event.syscall.ret = fd;
	event.syscall.family = 2;
	event.syscall.port = port;
	event.syscall.v4 = (struct event_bytes) {peer, 4};
	send(feed, &event);
}

/* Calls that return one later. */
static inline void moves(struct feed *feed, int64_t time, uint32_t cpu, const char *call,
			 int32_t fd, int64_t ret)
{
	entry(feed, time, cpu, call, fd);
	leave(feed, time + 1, cpu, call, ret);
}

/* connect() to 10.0.0.1:80 from 10.0.0.2:port, whose SYN it queues. */
static inline void connects(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd,
			    uint32_t port)
{
	static const uint8_t from[4] = {10, 0, 0, 2}, to[4] = {10, 0, 0, 1};
	struct event event = event_of(feed, time, cpu, "syscall_entry_connect");

	event.syscall.fd = fd;
	event.syscall.port = 80;
	event.syscall.v4 = (struct event_bytes) {to, 4};
	send(feed, &event);
	event = event_of(feed, time + 1, cpu, "net_dev_queue");
	event.net.saddr = (struct event_bytes) {from, 4};
	event.net.daddr = (struct event_bytes) {to, 4};
	event.net.source_port = port;
	event.net.dest_port = 80;
	event.net.skb = 0x1000 + port;
	send(feed, &event);
	leave(feed, time + 2, cpu, "connect", -115);
}

/* accept4 from that client. */
static inline void accepts_client(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd,
				  uint32_t port)
{
	static const uint8_t peer[4] = {10, 0, 0, 2};
	struct event event;

	entry(feed, time, cpu, "accept4", 3);
	event = event_of(feed, time + 1, cpu, "syscall_exit_accept4");
	event.syscall.ret = fd;
	event.syscall.family = 2;
	event.syscall.port = port;
	event.syscall.v4 = (struct event_bytes) {peer, 4};
	send(feed, &event);
}

static inline struct user_requests *requests_of(struct feed *feed)
{
	static GPtrArray *none;
	struct request_scope scope;

	if (!none)
		none = g_ptr_array_new();
	finish(feed);
	scope = (struct request_scope) {none, "pick", feed->session->asked.from,
					feed->session->asked.to};
	check_requests(feed->session);
	return user_requests_new(feed->session, &scope, NULL);
}

/* "BEGIN-END TID[ in PARENT][ open]; …" of all, in order. */
static inline const char *found(struct feed *feed)
{
	struct user_requests *requests = requests_of(feed);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *at = user_request_at(requests, i);

		g_string_append_printf(text, "%s%d-%d %d", i ? "; " : "", (int) at->begin,
				       (int) at->end,
				       model_thread(&feed->session->trace.model, at->last)->tid);
		if (at->parent)
			g_string_append_printf(text, " in %u", at->parent);
		if (at->unfinished)
			g_string_append(text, " open");
	}
	user_requests_free(requests);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* "TID BEGIN-END #REQUEST; …": who worked on which. */
static inline const char *working(struct feed *feed)
{
	struct user_requests *requests = requests_of(feed);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < requests->working.used; i++) {
		const struct working *at = working_at(requests, i);

		g_string_append_printf(text, "%s%d %d-%d #%u", i ? "; " : "",
				       model_thread(&feed->session->trace.model, at->thread)->tid,
				       (int) at->begin, (int) at->end, at->request);
	}
	user_requests_free(requests);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* "NS KIND LABEL; …": what the nth request's time is put down to, largest first. */
static inline const char *causes(struct feed *feed, guint listed)
{
	struct user_requests *requests = requests_of(feed);
	struct costs *costs = costs_new(requests);
	GString *text = g_string_new(NULL);
	guint first, end;

	costs_of(costs, listed, &first, &end);
	for (guint i = first; i < end; i++) {
		const struct cost *at = &g_array_index(costs->costs, struct cost, i);
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, at->cause);

		g_string_append_printf(text, "%s%d %s %s", i > first ? "; " : "", (int) at->value,
				       cause->kind, cause->label);
	}
	costs_free(costs);
	user_requests_free(requests);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#endif
