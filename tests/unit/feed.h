/* SPDX-License-Identifier: MIT */
/* Events as literals, and threads' states as text: what the unit tests of the
 * state machine are written in.
 *
 *   FEED(2);                                    feed: two CPUs, known from time 0
 *   sw(feed, 10, 0, "idle", 0, 0, "a", 5);      time, CPU, prev, tid, state, next, tid
 *   entry(feed, 12, 0, "read", 3);              …
 *   g_assert_cmpstr(states(feed, 5), ==, "0 unknown, 10 working/user, …");
 *
 * Expectations are worked out by hand from semantics.md; each test names the
 * sentence it is of. Times are nanoseconds; the kernel is 6.1 with
 * lttng-modules 2.13 (report form of prev_state) unless a test says otherwise.
 */
#ifndef WHYLATE_TESTS_FEED_H
#define WHYLATE_TESTS_FEED_H

#include <glib.h>
#include <string.h>

#include "whylate/whylate.h"

#define PREEMPTED 0
#define SLEEPS 1
#define STOPPED 4
#define TRACED 8
#define DEAD 0x10
#define IDLE_SLEEP 0x80
#define PREEMPTED_FLAG 0x100

struct feed {
	struct options options;
	struct session *session;
	uint32_t host;
	bool finished;
	GPtrArray *texts; /* owned; what states() gave */
};

/* Its data are the session. */
static inline const struct event_sink *sink_of(const struct feed *feed)
{
	return &feed->session->trace.sink;
}

static inline struct feed *feed_start(struct feed *feed, int cpus, const char *kernel, int major,
				      int minor)
{
	struct host_info info = {.hostname = "h",
				 .kernel_release = kernel,
				 .tracer_major = major,
				 .tracer_minor = minor,
				 .has_clock_offset = true,
				 .abi = ABI_X86_64};

	feed->options.limit = 0;
	feed->session = session_new(&feed->options);
	feed->host = sink_of(feed)->add_host(feed->session, &info);
	feed->texts = g_ptr_array_new_with_free_func(g_free);
	for (int i = 0; i < cpus; i++)
		sink_of(feed)->begin(feed->session, feed->host, (uint32_t) i, 0);
	return feed;
}

static inline struct feed *feed_new_of(int cpus, const char *kernel, int major, int minor)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &delay_command);
	return feed_start(feed, cpus, kernel, major, minor);
}

static inline struct feed *feed_new(int cpus)
{
	return feed_new_of(cpus, "6.1.0", 2, 13);
}

static inline void feed_free(struct feed *feed)
{
	session_free(feed->session);
	options_clear(&feed->options);
	g_ptr_array_free(feed->texts, TRUE);
	g_free(feed);
}

static inline void feed_cleanup(struct feed **feed)
{
	feed_free(*feed);
}

/* `feed`, which the block that it is declared in frees; of so many CPUs, or begun in a test's own
 * way: FEED_FROM(two_processes()). */
#define FEED_FROM(start) struct feed *feed __attribute__((cleanup(feed_cleanup))) = start
#define FEED(cpus) FEED_FROM(feed_new(cpus))

static inline struct event event_of(struct feed *feed, int64_t time, uint32_t cpu, const char *name)
{
	/* fn_NAME_entry, fn_NAME_exit: probes */
	struct event_class class = sink_of(feed)->declare(
		feed->session, name, g_str_has_prefix(name, "fn_") ? ORIGIN_PROBE : ORIGIN_KERNEL);
	struct event event = {.time = time, .cpu = cpu, .host = (uint16_t) feed->host};

	event_init(&event, &class, ABI_UNKNOWN);
	return event;
}

static inline void send(struct feed *feed, struct event *event)
{
	sink_of(feed)->event(feed->session, event);
}

static inline void plain(struct feed *feed, int64_t time, uint32_t cpu, const char *name)
{
	struct event event = event_of(feed, time, cpu, name);

	send(feed, &event);
}

static inline void sw(struct feed *feed, int64_t time, uint32_t cpu, const char *prev_comm,
		      int32_t prev, int64_t state, const char *next_comm, int32_t next)
{
	struct event event = event_of(feed, time, cpu, "sched_switch");

	event.sched_switch.prev_comm = prev_comm;
	event.sched_switch.prev_tid = prev;
	event.sched_switch.prev_state = state;
	event.sched_switch.next_comm = next_comm;
	event.sched_switch.next_tid = next;
	send(feed, &event);
}

static inline void wake(struct feed *feed, int64_t time, uint32_t cpu, const char *name,
			int32_t tid)
{
	struct event event = event_of(feed, time, cpu, name);

	event.wake.comm = "";
	event.wake.tid = tid;
	send(feed, &event);
}

static inline void waking(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid)
{
	wake(feed, time, cpu, "sched_waking", tid);
}

static inline void wakeup(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid)
{
	wake(feed, time, cpu, "sched_wakeup", tid);
}

static inline void entry(struct feed *feed, int64_t time, uint32_t cpu, const char *call,
			 int32_t fd)
{
	g_autofree char *name = g_strconcat("syscall_entry_", call, NULL);
	struct event event = event_of(feed, time, cpu, name);

	event.syscall.fd = fd;
	send(feed, &event);
}

static inline void leave(struct feed *feed, int64_t time, uint32_t cpu, const char *call,
			 int64_t ret)
{
	g_autofree char *name = g_strconcat("syscall_exit_", call, NULL);
	struct event event = event_of(feed, time, cpu, name);

	event.syscall.ret = ret;
	send(feed, &event);
}

/* Thread 5 sleeps on CPU 0 by its own timer, which ends it at `end`. */
static inline void timed_sleep(struct feed *feed, int64_t begin, int64_t end, const char *comm)
{
	entry(feed, begin, 0, "clock_nanosleep", -1);
	sw(feed, begin + 1, 0, comm, 5, SLEEPS, "idle", 0);
	plain(feed, end, 0, "timer_hrtimer_expire_entry");
	waking(feed, end, 0, 5);
	plain(feed, end, 0, "timer_hrtimer_expire_exit");
	sw(feed, end + 1, 0, "idle", 0, 0, comm, 5);
	leave(feed, end + 2, 0, "clock_nanosleep", 0);
}

static inline void irq(struct feed *feed, int64_t time, uint32_t cpu, const char *name, int32_t n)
{
	struct event event = event_of(feed, time, cpu, name);

	event.irq.irq = n;
	event.irq.name = "dev";
	send(feed, &event);
}

static inline void softirq(struct feed *feed, int64_t time, uint32_t cpu, const char *name,
			   uint32_t vec)
{
	struct event event = event_of(feed, time, cpu, name);

	event.softirq.vec = vec;
	send(feed, &event);
}

/* The request at sector 8 of device 254:0. */
static inline void request(struct feed *feed, int64_t time, uint32_t cpu, const char *name,
			   int32_t tid)
{
	struct event event = event_of(feed, time, cpu, name);

	event.block.dev = 254 << 20;
	event.block.sector = event.block.sectors = 8;
	event.block.tid = tid;
	send(feed, &event);
}

static inline void forks(struct feed *feed, int64_t time, uint32_t cpu, int32_t parent,
			 int32_t child, int32_t child_pid)
{
	struct event event = event_of(feed, time, cpu, "sched_process_fork");

	event.fork.parent_tid = event.fork.parent_pid = parent;
	event.fork.child_tid = child;
	event.fork.child_pid = child_pid;
	event.fork.child_comm = "child";
	send(feed, &event);
}

static inline void lost(struct feed *feed, uint32_t cpu, int64_t begin, int64_t end)
{
	struct lost_events lost = {
		.host = feed->host, .cpu = cpu, .begin = begin, .end = end, .count = 7};

	sink_of(feed)->lose(feed->session, &lost);
}

static inline void finish(struct feed *feed)
{
	GError *error = NULL;

	if (feed->finished)
		return;
	feed->finished = true;
	session_finish(feed->session, &error);
	g_assert_no_error(error);
}

static inline uint32_t life(struct feed *feed, int32_t tid, int nth)
{
	finish(feed);
	for (uint32_t i = 0; i < feed->session->trace.model.thread_count; i++)
		if (model_thread(&feed->session->trace.model, i)->tid == tid && nth-- == 0)
			return i;
	g_error("no life %d of thread %d", nth, tid);
}

/* The states of the nth life of `tid`: "BEGIN LEAF, BEGIN LEAF, …, END". */
static inline const char *states_of(struct feed *feed, int32_t tid, int nth)
{
	uint32_t thread = life(feed, tid, nth);
	GString *text = g_string_new(NULL);
	struct spans spans;
	struct span span;
	int64_t end = 0;

	spans_begin(&spans, feed->session, thread, feed->session->asked.from,
		    feed->session->asked.to);
	while (spans_next(&spans, &span)) {
		g_autofree char *key = leaf_key(feed->session, span.leaf);

		g_string_append_printf(text, "%" G_GINT64_FORMAT " %s, ", span.begin, key);
		end = span.end;
	}
	g_string_append_printf(text, "%" G_GINT64_FORMAT, end);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static inline const char *states(struct feed *feed, int32_t tid)
{
	return states_of(feed, tid, 0);
}

/* What ended each wait of `tid`: "KIND TID CONTEXT; …". */
static inline const char *wakers(struct feed *feed, int32_t tid)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);
		g_autofree char *frame = frame_text(feed->session, wait->block->context, false);

		if (i)
			g_string_append(text, "; ");
		if (!wait->woken || wait->block->kind == WAKER_UNKNOWN) {
			g_string_append(text, wait->woken ? "unknown" : "none");
			continue;
		}
		g_string_append_printf(
			text, "%s %d %s", waker_kind_text(wait->block->kind),
			is_thread(wait->block->waker)
				? model_thread(&feed->session->trace.model, wait->block->waker)->tid
				: 0,
			frame);
	}
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* What the nth wait of the thread was for. */
static inline const char *resource_of(struct feed *feed, int32_t tid, uint32_t nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	const char *text =
		session_text(feed->session, session_resource(feed->session, wait->block));

	g_ptr_array_free(waits, TRUE);
	return text;
}

#endif
