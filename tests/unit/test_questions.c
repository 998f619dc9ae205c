/* SPDX-License-Identifier: MIT */
/* Waits that the waiter's own time limit ended, though something was asked of somebody: what they
 * are put down to, and what looks alike and is its own timer. Each case follows the list in
 * net/questions.h (threads/endings.h for signals); expectations are read off the events here.
 *
 * Thread 5 ("a") asks on CPU 0; 6 ("b", of another process) is on CPU 1.
 */
#include "causes.h"

#define DATAGRAM 2
#define STREAM 1

/* Whom the nth wait of `tid` leads to: "6 30-90", or "nobody". */
static const char *led_to(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct lead lead;
	char *text = g_strdup("nobody");

	if (wait_lead(feed->session, g_ptr_array_index(waits, nth), &lead)) {
		g_free(text);
		text = g_strdup_printf("%d %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT,
				       model_thread(&feed->session->trace.model, lead.thread)->tid,
				       lead.from, lead.until);
	}
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, text);
	return text;
}

static void process(struct feed *feed, int32_t tid, const char *name)
{
	struct event event = event_of(feed, 1, 0, "lttng_statedump_process_state");

	event.process.tid = event.process.pid = tid;
	event.process.name = name;
	event.process.files = (uint64_t) tid;
	send(feed, &event);
}

static void begin(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	process(feed, 5, "a");
	process(feed, 6, "b");
}

static void makes_socket(struct feed *feed, int64_t time, int32_t fd, int32_t type)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_socket");

	event.syscall.family = 2;
	event.syscall.type = type;
	send(feed, &event);
	leave(feed, time + 1, 0, "socket", fd);
}

static void connects_to(struct feed *feed, int64_t time, int32_t fd, uint8_t last, uint16_t port,
			int64_t ret)
{
	uint8_t address[4] = {10, 0, 0, last};
	struct event event = event_of(feed, time, 0, "syscall_entry_connect");

	event.syscall.fd = fd;
	event.syscall.port = port;
	event.syscall.v4 = (struct event_bytes) {address, 4};
	send(feed, &event);
	leave(feed, time + 1, 0, "connect", ret);
}

static void connects(struct feed *feed, int64_t time, int32_t fd, int64_t ret)
{
	connects_to(feed, time, fd, 9, 80, ret);
}

static void moves(struct feed *feed, int64_t time, uint32_t cpu, const char *call, int32_t fd,
		  int64_t ret)
{
	entry(feed, time, cpu, call, fd);
	leave(feed, time + 1, cpu, call, ret);
}

static void polls(struct feed *feed, int64_t time, int32_t fd)
{
	struct event_ready ready = {.fd = fd, .events = 1};
	struct event event = event_of(feed, time, 0, "syscall_entry_poll");

	event.syscall.fds = &ready;
	event.syscall.fd_count = 1;
	send(feed, &event);
	sw(feed, time + 2, 0, "a", 5, SLEEPS, "idle", 0);
}

static void comes_back(struct feed *feed, int64_t time)
{
	sw(feed, time, 0, "idle", 0, 0, "a", 5);
}

/* The timer that `a` has armed in its call wakes it at `time`. */
static void time_is_over(struct feed *feed, int64_t time)
{
	struct event event = event_of(feed, time, 0, "timer_hrtimer_expire_entry");

	event.timer.timer = 0xabc;
	send(feed, &event);
	waking(feed, time + 1, 0, 5);
	event = event_of(feed, time + 2, 0, "timer_hrtimer_expire_exit");
	event.timer.timer = 0xabc;
	send(feed, &event);
	comes_back(feed, time + 3);
}

/* poll of `fd` from `time` on times out, blocked from time + 2 to time + 101. */
static void polls_in_vain(struct feed *feed, int64_t time, int32_t fd)
{
	polls(feed, time, fd);
	time_is_over(feed, time + 100);
	leave(feed, time + 104, 0, "poll", 0);
}

/* Asked, not answered, given up: the peer's silence. */
static void test_given_up(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, 0);
	moves(feed, 20, 0, "write", 3, 8);
	polls_in_vain(feed, 30, 3);
	moves(feed, 140, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit of 99 ns: 10.0.0.9:80 did not answer");
	g_assert_cmpstr(led_to(feed, 5, 0), ==, "nobody");
}

/* Asked by a datagram, and after the time limit another host on that port: the next name server.
 * The first socket stays open. */
static void turns_to(struct feed *feed, uint8_t last, uint16_t port)
{
	begin(feed);
	makes_socket(feed, 10, 3, DATAGRAM);
	connects_to(feed, 12, 3, 9, 53, 0);
	moves(feed, 20, 0, "sendto", 3, 8);
	polls_in_vain(feed, 30, 3);
	makes_socket(feed, 140, 4, DATAGRAM);
	connects_to(feed, 142, 4, last, port, 0);
	moves(feed, 150, 0, "sendto", 4, 8);
}

static void test_next_server(void)
{
	FEED(2);

	turns_to(feed, 10, 53);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit of 99 ns: 10.0.0.9:53 did not answer");
}

/* Another service's port: that says nothing of the first question. */
static void test_other_service(void)
{
	FEED(2);

	turns_to(feed, 10, 8125);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* The same, but it goes on to say something else there: it wanted no answer. */
static void test_said_more(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, 0);
	moves(feed, 20, 0, "write", 3, 8);
	polls_in_vain(feed, 30, 3);
	moves(feed, 140, 0, "write", 3, 8);
	moves(feed, 142, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* Asked and answered before it waits: what comes next is not asked for. */
static void test_answered_before(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, 0);
	moves(feed, 20, 0, "write", 3, 8);
	moves(feed, 22, 0, "read", 3, 8);
	polls_in_vain(feed, 30, 3);
	moves(feed, 140, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* Said, then a sleep of its own, then the end: nobody looked for an answer. */
static void test_sleeps(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, 0);
	moves(feed, 20, 0, "write", 3, 8);
	entry(feed, 30, 0, "clock_nanosleep", -1);
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
	time_is_over(feed, 130);
	leave(feed, 134, 0, "clock_nanosleep", 0);
	moves(feed, 140, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* Another descriptor is watched than that on which it asked. */
static void test_watches_another(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	makes_socket(feed, 14, 4, STREAM);
	connects(feed, 16, 3, 0);
	moves(feed, 20, 0, "write", 3, 8);
	polls_in_vain(feed, 30, 4);
	moves(feed, 140, 0, "close", 4, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* A server's read time-out: it has answered, and waits for the next question. */
static void test_server_waits(void)
{
	static const uint8_t address[4] = {10, 0, 0, 9};
	struct event event;
	FEED(2);

	begin(feed);
	entry(feed, 10, 0, "accept4", 7);
	event = event_of(feed, 11, 0, "syscall_exit_accept4");
	event.syscall.ret = 3;
	event.syscall.port = 40000;
	event.syscall.v4 = (struct event_bytes) {address, 4};
	send(feed, &event);
	moves(feed, 12, 0, "read", 3, 8);
	moves(feed, 20, 0, "write", 3, 8);
	polls_in_vain(feed, 30, 3);
	moves(feed, 140, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* recv() with a time-out; a datagram is asked again. */
static void test_datagram_again(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, DATAGRAM);
	connects(feed, 12, 3, 0);
	moves(feed, 20, 0, "sendto", 3, 8);
	entry(feed, 30, 0, "recvfrom", 3);
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
	time_is_over(feed, 130);
	leave(feed, 134, 0, "recvfrom", -11);
	moves(feed, 140, 0, "sendto", 3, 8);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit of 99 ns: 10.0.0.9:80 did not answer");
}

/* a sends to 10.0.0.9:80; the packet's buffer is `skb`. */
static void sends(struct feed *feed, int64_t time, uint64_t skb)
{
	static const uint8_t from[4] = {10, 0, 0, 1}, to[4] = {10, 0, 0, 9};
	struct event event;

	entry(feed, time, 0, "sendto", 3);
	event = event_of(feed, time + 1, 0, "net_dev_queue");
	event.net.saddr = (struct event_bytes) {from, 4};
	event.net.daddr = (struct event_bytes) {to, 4};
	event.net.source_port = 5000;
	event.net.dest_port = 80;
	event.net.skb = skb;
	event.net.device = "eth0";
	send(feed, &event);
	leave(feed, time + 3, 0, "sendto", 8);
}

static void driver_takes(struct feed *feed, int64_t time, uint64_t skb)
{
	struct event event = event_of(feed, time, 0, "net_dev_xmit");

	event.net.skb = skb;
	event.net.device = "eth0";
	send(feed, &event);
}

/* As above, with packets: the driver took the first, which was answered. */
static const char *asks_in_packets(struct feed *feed, bool taken)
{
	begin(feed);
	makes_socket(feed, 10, 3, DATAGRAM);
	connects(feed, 12, 3, 0);
	sends(feed, 20, 0xaaa);
	driver_takes(feed, 24, 0xaaa);
	moves(feed, 26, 0, "recvfrom", 3, 8);
	sends(feed, 30, 0xbbb);
	if (taken)
		driver_takes(feed, 34, 0xbbb);
	entry(feed, 40, 0, "recvfrom", 3);
	sw(feed, 42, 0, "a", 5, SLEEPS, "idle", 0);
	time_is_over(feed, 140);
	leave(feed, 144, 0, "recvfrom", -11);
	sends(feed, 150, 0xbbb);
	return cause_of(feed, 5, 0);
}

static void test_datagram_unsent(void)
{
	FEED(2);

	g_assert_cmpstr(asks_in_packets(feed, false), ==,
			"timeout: its own time limit of 99 ns: 10.0.0.9:80 did not answer, as the "
			"queueing discipline of eth0 dropped the question");
}

static void test_datagram_sent(void)
{
	FEED(2);

	g_assert_cmpstr(asks_in_packets(feed, true), ==,
			"timeout: its own time limit of 99 ns: 10.0.0.9:80 did not answer");
}

/* An attempt to connect wants an answer, whatever follows. */
static void test_connecting(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, -115);
	polls_in_vain(feed, 30, 3);
	polls_in_vain(feed, 140, 3);
	/* asked at 12, given up for good at 250 */
	moves(feed, 250, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit, 238 ns in all, kept by several waits: "
			"10.0.0.9:80 did not answer the attempt to connect");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, cause_of(feed, 5, 0));
}

/* … in one wait. */
static void test_connecting_once(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, -115);
	polls_in_vain(feed, 30, 3);
	moves(feed, 140, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit of 99 ns: 10.0.0.9:80 did not answer the "
			"attempt to connect in 128 ns");
}

static void pipes(struct feed *feed, int64_t time, int32_t in, int32_t out)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_pipe2");

	send(feed, &event);
	event = event_of(feed, time + 1, 0, "syscall_exit_pipe2");
	event.syscall.pair[0] = in;
	event.syscall.pair[1] = out;
	send(feed, &event);
}

/* 6, a child of 5, waits in a read of the pipe 3-4, that 5 writes to at 40. */
static void asks_child(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "idle", 0);
	process(feed, 5, "a");
	pipes(feed, 2, 3, 4);
	pipes(feed, 4, 7, 8);
	forks(feed, 10, 0, 5, 6, 6);
	wake(feed, 11, 0, "sched_wakeup_new", 6);
	sw(feed, 12, 1, "idle", 0, 0, "child", 6);
	entry(feed, 20, 1, "read", 3);
	sw(feed, 22, 1, "child", 6, SLEEPS, "idle", 0);
	entry(feed, 40, 0, "write", 4);
	waking(feed, 41, 0, 6);
	leave(feed, 42, 0, "write", 8);
	sw(feed, 45, 1, "idle", 0, 0, "child", 6);
	leave(feed, 46, 1, "read", 8);
}

/* Who has the other end is named; it waits for the next question, and is not followed. */
static void test_peer_idles(void)
{
	FEED(2);

	asks_child(feed);
	entry(feed, 47, 1, "read", 3);
	sw(feed, 48, 1, "child", 6, SLEEPS, "idle", 0);
	polls_in_vain(feed, 50, 7);
	moves(feed, 160, 0, "close", 4, 0);
	g_assert_cmpstr(
		cause_of(feed, 5, 0), ==,
		"timeout: its own time limit of 99 ns: pipe:#1 (child (6), which read the "
		"question 6 ns after it was sent and has been in read since) did not answer");
	g_assert_cmpstr(led_to(feed, 5, 0), ==, "nobody");
}

/* It is busy with the question: what it did from then on is what was waited for. */
static void test_peer_works(void)
{
	FEED(2);

	asks_child(feed);
	polls_in_vain(feed, 50, 7);
	moves(feed, 160, 0, "close", 4, 0);
	g_assert_cmpstr(led_to(feed, 5, 0), ==, "6 52-151");
}

/* The answer comes after two time limits: all of it was for that. */
static void test_answered_late(void)
{
	FEED(2);

	asks_child(feed);
	polls_in_vain(feed, 50, 7);
	polls(feed, 160, 7);
	entry(feed, 200, 1, "write", 8);
	waking(feed, 201, 1, 5);
	leave(feed, 202, 1, "write", 8);
	comes_back(feed, 205);
	leave(feed, 206, 0, "poll", 1);
	moves(feed, 210, 0, "read", 7, 8);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit of 99 ns: pipe:#1 (child (6), which read the "
			"question 6 ns after it was sent) had not answered yet");
	g_assert_cmpstr(led_to(feed, 5, 0), ==, "6 52-151");
}

/* What it reads comes from itself, or a third: no answer. */
static void test_own_pipe(void)
{
	FEED(2);

	asks_child(feed);
	polls_in_vain(feed, 50, 7);
	moves(feed, 160, 0, "write", 8, 1);
	moves(feed, 170, 0, "read", 7, 1);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* Events were lost since it asked: the answer may have been among them. */
static void test_gap(void)
{
	FEED(2);

	begin(feed);
	makes_socket(feed, 10, 3, STREAM);
	connects(feed, 12, 3, 0);
	moves(feed, 20, 0, "write", 3, 8);
	lost(feed, 1, 22, 28);
	polls_in_vain(feed, 30, 3);
	moves(feed, 140, 0, "close", 3, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

static void kills(struct feed *feed, int64_t time, int32_t tid, int32_t sig, int32_t result)
{
	struct event event;

	entry(feed, time, 0, "kill", -1);
	event = event_of(feed, time + 1, 0, "signal_generate");
	event.signal.sig = sig;
	event.signal.tid = tid;
	event.signal.result = result;
	send(feed, &event);
	leave(feed, time + 2, 0, "kill", 0);
}

static void test_grace(void)
{
	FEED(2);

	begin(feed);
	kills(feed, 10, 6, 15, 1);
	polls_in_vain(feed, 30, 9);
	kills(feed, 140, 6, 9, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"timeout: its own time limit of 99 ns: b (6) did not end after signal 15 "
			"(SIGTERM), which it ignores, and was killed by signal 9 (SIGKILL)");
	g_assert_cmpstr(led_to(feed, 5, 0), ==, "nobody");
}

/* It was not asked before, or was, and is left alone: the pause between is the sender's own. */
static void test_no_grace(void)
{
	FEED(2);

	begin(feed);
	polls_in_vain(feed, 30, 9);
	kills(feed, 140, 6, 9, 0);
	kills(feed, 150, 6, 15, 0);
	polls_in_vain(feed, 160, 9);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "timer: timer, not seen when it was armed");
}

static void opens(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd, const char *name)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_openat");

	event.syscall.filename = name;
	send(feed, &event);
	leave(feed, time + 1, cpu, "openat", fd);
}

static void flocks(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_flock");

	event.syscall.fd = fd;
	event.syscall.cmd = 2; /* LOCK_EX */
	send(feed, &event);
}

/* 5 waits for the lock of /one from 32 to 131, when its own alarm ends that. */
static void waits_for_lock(struct feed *feed)
{
	opens(feed, 20, 0, 3, "/one");
	flocks(feed, 30, 0, 3);
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
	time_is_over(feed, 130);
	leave(feed, 134, 0, "flock", -512);
}

static void test_lock_given_up(void)
{
	FEED(2);

	begin(feed);
	opens(feed, 4, 1, 3, "/one");
	flocks(feed, 10, 1, 3);
	leave(feed, 11, 1, "flock", 0);
	waits_for_lock(feed);
	g_assert_true(g_str_has_prefix(cause_of(feed, 5, 0), "lock-owner: held by b (6)"));
	g_assert_cmpstr(led_to(feed, 5, 0), ==, "6 32-131");
}

/* Who has another file's lock is not who has this one's. */
static void test_other_lock(void)
{
	FEED(2);

	begin(feed);
	opens(feed, 4, 1, 3, "/two");
	flocks(feed, 10, 1, 3);
	leave(feed, 11, 1, "flock", 0);
	waits_for_lock(feed);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/questions/given-up", test_given_up);
	g_test_add_func("/questions/next-server", test_next_server);
	g_test_add_func("/questions/other-service", test_other_service);
	g_test_add_func("/questions/said-more", test_said_more);
	g_test_add_func("/questions/answered-before", test_answered_before);
	g_test_add_func("/questions/sleeps", test_sleeps);
	g_test_add_func("/questions/watches-another", test_watches_another);
	g_test_add_func("/questions/server-waits", test_server_waits);
	g_test_add_func("/questions/datagram-again", test_datagram_again);
	g_test_add_func("/questions/datagram-unsent", test_datagram_unsent);
	g_test_add_func("/questions/datagram-sent", test_datagram_sent);
	g_test_add_func("/questions/connecting", test_connecting);
	g_test_add_func("/questions/connecting-once", test_connecting_once);
	g_test_add_func("/questions/peer-idles", test_peer_idles);
	g_test_add_func("/questions/peer-works", test_peer_works);
	g_test_add_func("/questions/answered-late", test_answered_late);
	g_test_add_func("/questions/own-pipe", test_own_pipe);
	g_test_add_func("/questions/gap", test_gap);
	g_test_add_func("/questions/grace", test_grace);
	g_test_add_func("/questions/no-grace", test_no_grace);
	g_test_add_func("/questions/lock-given-up", test_lock_given_up);
	g_test_add_func("/questions/other-lock", test_other_lock);
	return g_test_run();
}
