/* SPDX-License-Identifier: MIT */
/* Waiting by trying again: what joins failures, pauses and the event that made the difference
 * (tries/tries.h), and what looks alike and is no wait for anybody. Worked out by hand from
 * the events: 5 tries on CPU 0, 6 works on CPU 1; both run unless they sleep.
 */
#include "feed.h"

#define O_CREAT_BIT 0100
#define O_EXCL_BIT 0200
#define NO_SUCH_FILE (-2)
#define TRY_AGAIN (-11)
#define FILE_EXISTS (-17)
#define BUSY (-16)
#define ADDRESS_IN_USE (-98)
#define TIMED_OUT (-110)
#define REFUSED (-111)
#define NO_ADDRESS (-99)
#define NO_ROUTE (-113)
#define NO_SUCH_PROCESS (-3)
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

/* "tries" (5) is a process of its own, "makes" (6) of process `pid`. */
static struct feed *start(int32_t pid)
{
	struct feed *feed = feed_new(3);

	sw(feed, 0, 0, "idle", 0, 0, "shell", 4);
	sw(feed, 0, 1, "idle", 0, 0, "shell2", 3);
	forks(feed, 1, 0, 4, 5, 5);
	forks(feed, 1, 1, 3, 6, pid);
	sw(feed, 2, 0, "shell", 4, SLEEPS, "tries", 5);
	sw(feed, 2, 1, "shell2", 3, SLEEPS, "makes", 6);
	leave(feed, 3, 0, "clone", 0);
	leave(feed, 3, 1, "clone", 0);
	return feed;
}

/* A call on a path that takes 1 ns. */
static void on_path(struct feed *feed, int64_t time, uint32_t cpu, const char *call,
		    const char *path, uint64_t flags, int64_t ret)
{
	g_autofree char *name = g_strconcat("syscall_entry_", call, NULL);
	struct event event = event_of(feed, time, cpu, name);

	event.syscall.filename = path;
	event.syscall.flags = flags;
	send(feed, &event);
	leave(feed, time + 1, cpu, call, ret);
}

static void looks(struct feed *feed, int64_t time, const char *path, int64_t ret)
{
	on_path(feed, time, 0, "newstat", path, 0, ret);
}

/* 5 is off the CPU in `call` from `time` + 1 on … */
static void sleeps_in(struct feed *feed, int64_t time, const char *call)
{
	entry(feed, time, 0, call, -1);
	sw(feed, time + 1, 0, "tries", 5, SLEEPS, "idle", 0);
}

/* … until a timer wakes it. */
static void rises_in(struct feed *feed, int64_t time, const char *call, int64_t ret)
{
	plain(feed, time, 0, "timer_hrtimer_expire_entry");
	waking(feed, time, 0, 5);
	plain(feed, time, 0, "timer_hrtimer_expire_exit");
	sw(feed, time + 1, 0, "idle", 0, 0, "tries", 5);
	leave(feed, time + 2, 0, call, ret);
}

static void sleeps(struct feed *feed, int64_t time)
{
	sleeps_in(feed, time, "clock_nanosleep");
}

static void rises(struct feed *feed, int64_t time)
{
	rises_in(feed, time, "clock_nanosleep", 0);
}

static void naps(struct feed *feed, int64_t begin, int64_t end)
{
	sleeps(feed, begin);
	rises(feed, end);
}

/* The nth wait of 5: "KIND 6 FROM-UNTIL: LABEL", with whom it is led to and over what time. */
static const char *wait_at(struct feed *feed, guint nth)
{
	uint32_t thread = life(feed, 5, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	struct cause cause = wait_cause(feed->session, wait);
	GString *text = g_string_new(cause_kind_text(cause.kind));
	struct lead lead;

	if (wait_lead(feed->session, wait, &lead))
		g_string_append_printf(text, " %d %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT,
				       model_thread(&feed->session->trace.model, lead.thread)->tid,
				       lead.from, lead.until);
	if (cause.kind != CAUSE_TIMER)
		g_string_append_printf(text, ": %s", cause.label);
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#define WAIT(nth, expected) g_assert_cmpstr(wait_at(feed, nth), ==, expected)

/* --- files ------------------------------------------------------------------------- */

static void test_file_appears(void)
{
	FEED_FROM(start(6));

	looks(feed, 10, "/run/ready", NO_SUCH_FILE);
	naps(feed, 20, 119);
	looks(feed, 130, "/run/ready", NO_SUCH_FILE);
	sleeps(feed, 140);
	on_path(feed, 200, 1, "openat", "/run/ready", O_CREAT_BIT, 3);
	rises(feed, 240);
	looks(feed, 250, "/run/ready", 0);
	plain(feed, 300, 0, "other");
	WAIT(0, "retry 6 21-119: no /run/ready until makes (6) made it; newstat failed 2 times "
		"with ENOENT, pauses of up to 99 ns");
	/* the file was there from 201 on, but 5 slept until 240 */
	WAIT(1, "retry 6 141-201: no /run/ready until makes (6) made it; newstat failed 2 times "
		"with ENOENT, pauses of up to 99 ns");
}

/* Made under another name, and moved there; the waiter calls it by a relative one. */
static void test_file_moved(void)
{
	struct event event;
	FEED_FROM(start(6));

	looks(feed, 10, "spool/job", NO_SUCH_FILE);
	naps(feed, 20, 120);
	looks(feed, 130, "spool/job", NO_SUCH_FILE);
	sleeps(feed, 140);
	event = event_of(feed, 200, 1, "syscall_entry_rename");
	event.syscall.filename = "/var/spool/.tmp";
	event.syscall.newname = "/var/spool/job";
	send(feed, &event);
	leave(feed, 201, 1, "rename", 0);
	rises(feed, 240);
	looks(feed, 250, "spool/job", 0);
	plain(feed, 300, 0, "other");
	WAIT(1, "retry 6 141-201: no spool/job until makes (6) made it; newstat failed 2 times "
		"with ENOENT, pauses of up to 99 ns");
}

/* Nobody makes it: the thread sleeps, and looks each time. */
static void test_file_never(void)
{
	FEED_FROM(start(6));

	for (int i = 0; i < 5; i++) {
		looks(feed, 100 * i + 10, "/etc/optional", NO_SUCH_FILE);
		naps(feed, 100 * i + 20, 100 * i + 90);
	}
	on_path(feed, 550, 1, "openat", "/etc/another", O_CREAT_BIT, 3);
	plain(feed, 600, 0, "other");
	for (guint i = 0; i < 5; i++)
		WAIT(i, "timer");
}

/* It goes on looking after the file is there: a clock of its own. */
static void test_file_watched(void)
{
	FEED_FROM(start(6));

	looks(feed, 10, "/run/state", NO_SUCH_FILE);
	naps(feed, 20, 110);
	looks(feed, 120, "/run/state", NO_SUCH_FILE);
	on_path(feed, 125, 1, "openat", "/run/state", O_CREAT_BIT, 3);
	naps(feed, 130, 220);
	looks(feed, 230, "/run/state", 0);
	naps(feed, 240, 330);
	looks(feed, 340, "/run/state", 0);
	plain(feed, 400, 0, "other");
	for (guint i = 0; i < 3; i++)
		WAIT(i, "timer");
}

/* A look at each job's begin, with work between: no wait for who makes the file meanwhile. */
static void test_file_by_the_way(void)
{
	FEED_FROM(start(6));

	looks(feed, 10, "/run/journal", NO_SUCH_FILE);
	for (int i = 0; i < 40; i++)
		on_path(feed, 20 + 2 * i, 0, "pread64", NULL, 0, 100);
	sleeps(feed, 110);
	on_path(feed, 150, 1, "openat", "/run/journal", O_CREAT_BIT, 3);
	rises(feed, 300);
	looks(feed, 310, "/run/journal", 0);
	plain(feed, 400, 0, "other");
	WAIT(0, "timer");
}

static void test_lock_file(void)
{
	FEED_FROM(start(6));

	on_path(feed, 10, 1, "openat", "/run/lock", O_CREAT_BIT | O_EXCL_BIT, 3);
	on_path(feed, 20, 0, "openat", "/run/lock", O_CREAT_BIT | O_EXCL_BIT, FILE_EXISTS);
	naps(feed, 30, 130);
	on_path(feed, 140, 0, "openat", "/run/lock", O_CREAT_BIT | O_EXCL_BIT, FILE_EXISTS);
	sleeps(feed, 150);
	on_path(feed, 180, 1, "unlink", "/run/lock", 0, 0);
	rises(feed, 250);
	on_path(feed, 260, 0, "openat", "/run/lock", O_CREAT_BIT | O_EXCL_BIT, 3);
	naps(feed, 270, 370); /* it has it, and sleeps on its own account */
	plain(feed, 400, 0, "other");
	WAIT(0,
	     "retry 6 31-130: /run/lock was in the way until makes (6) removed it; openat failed "
	     "2 times with EEXIST, pauses of up to 99 ns");
	WAIT(1, "retry 6 151-181: /run/lock was in the way until makes (6) removed it; openat "
		"failed 2 times with EEXIST, pauses of up to 99 ns");
	WAIT(2, "timer");
}

/* Events were lost between two tries: what was done there is not known. */
static void test_gap(void)
{
	FEED_FROM(start(6));

	looks(feed, 10, "/run/ready", NO_SUCH_FILE);
	naps(feed, 20, 120);
	looks(feed, 130, "/run/ready", NO_SUCH_FILE);
	sleeps(feed, 140);
	on_path(feed, 200, 1, "openat", "/run/ready", O_CREAT_BIT, 3);
	lost(feed, 2, 205, 210);
	rises(feed, 240);
	looks(feed, 250, "/run/ready", 0);
	plain(feed, 300, 0, "other");
	WAIT(0, "timer");
	WAIT(1, "timer");
}

/* --- locks ------------------------------------------------------------------------- */

static void opens(struct feed *feed, int64_t time, uint32_t cpu, const char *path)
{
	on_path(feed, time, cpu, "openat", path, 0, 7);
}

static void flocks(struct feed *feed, int64_t time, uint32_t cpu, int32_t how, int64_t ret)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_flock");

	event.syscall.fd = 7;
	event.syscall.cmd = how;
	send(feed, &event);
	leave(feed, time + 1, cpu, "flock", ret);
}

static void test_flock(void)
{
	FEED_FROM(start(6));

	opens(feed, 5, 0, "/a");
	opens(feed, 5, 1, "/a");
	flocks(feed, 10, 1, 2, 0);
	flocks(feed, 20, 0, 6, TRY_AGAIN);
	naps(feed, 30, 130);
	flocks(feed, 140, 0, 6, TRY_AGAIN);
	sleeps(feed, 150);
	flocks(feed, 180, 1, 8, 0);
	rises(feed, 250);
	flocks(feed, 260, 0, 6, 0);
	plain(feed, 300, 0, "other");
	WAIT(0, "lock-owner 6 31-130: held by makes (6) for 99 ns");
	WAIT(1, "lock-owner 6 151-181: held by makes (6) for 30 ns");
}

/* The other's lock is of another file. */
static void test_flock_elsewhere(void)
{
	FEED_FROM(start(6));

	opens(feed, 5, 0, "/a");
	opens(feed, 5, 1, "/b");
	flocks(feed, 10, 1, 2, 0);
	flocks(feed, 20, 0, 6, TRY_AGAIN);
	naps(feed, 30, 130);
	flocks(feed, 140, 0, 6, TRY_AGAIN);
	naps(feed, 150, 250);
	flocks(feed, 260, 0, 6, 0);
	plain(feed, 300, 0, "other");
	WAIT(0, "timer");
	WAIT(1, "timer");
}

static void fcntls(struct feed *feed, int64_t time, uint32_t cpu, int64_t ret)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_fcntl");

	event.syscall.fd = 7;
	event.syscall.cmd = 6; /* F_SETLK: takes or gives up, the trace does not say */
	send(feed, &event);
	leave(feed, time + 1, cpu, "fcntl", ret);
}

static void test_fcntl(void)
{
	FEED_FROM(start(6));

	opens(feed, 5, 0, "/db");
	opens(feed, 5, 1, "/db");
	fcntls(feed, 10, 1, 0);
	fcntls(feed, 20, 0, TRY_AGAIN);
	naps(feed, 30, 130);
	fcntls(feed, 140, 0, 0); /* another range */
	fcntls(feed, 142, 0, TRY_AGAIN);
	sleeps(feed, 150);
	fcntls(feed, 180, 1, 0);
	rises(feed, 250);
	fcntls(feed, 260, 0, 0);
	naps(feed, 300, 400); /* its own */
	fcntls(feed, 410, 0, TRY_AGAIN);
	plain(feed, 500, 0, "other");
	WAIT(0, "lock-owner 6 31-130: held by makes (6); fcntl failed 2 times with EAGAIN, pauses "
		"of up to 99 ns");
	WAIT(1, "lock-owner 6 151-181: held by makes (6); fcntl failed 2 times with EAGAIN, pauses "
		"of up to 99 ns");
	WAIT(2, "timer");
}

/* --- peers and processes ----------------------------------------------------------- */

static const uint8_t address[4] = {127, 0, 0, 1};

static void connects(struct feed *feed, int64_t time, int64_t ret)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_connect");

	event.syscall.fd = 3;
	event.syscall.v4 = (struct event_bytes) {address, 4};
	event.syscall.port = 80;
	send(feed, &event);
	leave(feed, time + 1, 0, "connect", ret);
}

static void listens(struct feed *feed, int64_t time, uint32_t cpu)
{
	entry(feed, time, cpu, "listen", 3);
	leave(feed, time + 1, cpu, "listen", 0);
}

static void refused(struct feed *feed, int64_t first)
{
	connects(feed, 10, first);
	naps(feed, 20, 120);
	connects(feed, 130, REFUSED);
	sleeps(feed, 140);
}

static void test_connect(void)
{
	FEED_FROM(start(6));

	refused(feed, REFUSED);
	listens(feed, 200, 1);
	rises(feed, 240);
	connects(feed, 250, 0);
	plain(feed, 300, 0, "other");
	WAIT(1, "retry 6 141-201: nobody listened at 127.0.0.1:80 until makes (6) did; connect "
		"failed 2 times with ECONNREFUSED, pauses of up to 99 ns");
}

/* Two began to listen, at addresses that are not recorded: it may be either. */
static void test_connect_either(void)
{
	FEED_FROM(start(6));

	refused(feed, REFUSED);
	listens(feed, 200, 1);
	sw(feed, 210, 2, "idle", 0, 0, "third", 9);
	listens(feed, 220, 2);
	rises(feed, 240);
	connects(feed, 250, 0);
	plain(feed, 300, 0, "other");
	WAIT(1, "retry: nobody listened at 127.0.0.1:80; connect failed 2 times with ECONNREFUSED, "
		"pauses of up to 99 ns");
}

/* At 10, 130, 250 and 370, a nap behind each. */
static void fails_four_times(struct feed *feed, int64_t ret)
{
	for (int64_t at = 10; at < 400; at += 120) {
		connects(feed, at, ret);
		naps(feed, at + 10, at + 110);
	}
}

/* Ports are short, and stay so: whoever tries three times does not only look. */
static void test_connect_short(void)
{
	FEED_FROM(start(6));

	fails_four_times(feed, NO_ADDRESS);
	plain(feed, 500, 0, "other");
	/* the third failure tells of the two pauses before it, the fourth of the next; behind that
	 * nothing is known to have been tried */
	WAIT(0,
	     "retry: connect on 127.0.0.1:80 failed 4 times with EADDRNOTAVAIL (no local port was "
	     "free: net.ipv4.ip_local_port_range), and never succeeded; pauses of up to 99 ns");
	WAIT(2,
	     "retry: connect on 127.0.0.1:80 failed 4 times with EADDRNOTAVAIL (no local port was "
	     "free: net.ipv4.ip_local_port_range), and never succeeded; pauses of up to 99 ns");
	WAIT(3, "timer");
}

/* Once more, and it goes well. */
static void test_connect_short_then(void)
{
	FEED_FROM(start(6));

	fails_four_times(feed, NO_ADDRESS);
	connects(feed, 490, 0);
	plain(feed, 500, 0, "other");
	WAIT(3,
	     "retry: connect on 127.0.0.1:80 failed 4 times with EADDRNOTAVAIL (no local port was "
	     "free: net.ipv4.ip_local_port_range), then succeeded; pauses of up to 99 ns");
}

/* No file yet: "nobody listened", as where nobody does at one; told by the error that it gave. */
static void test_connect_no_file(void)
{
	FEED_FROM(start(6));

	refused(feed, NO_SUCH_FILE);
	listens(feed, 200, 1);
	rises(feed, 240);
	connects(feed, 250, 0);
	plain(feed, 300, 0, "other");
	WAIT(0, "retry 6 21-120: nobody listened at 127.0.0.1:80 until makes (6) did; connect "
		"failed 2 times with ENOENT, pauses of up to 99 ns");
}

static void calls_on(struct feed *feed, int64_t time, uint32_t cpu, const char *call, int64_t fd,
		     int64_t ret)
{
	entry(feed, time, cpu, call, fd);
	leave(feed, time + 1, cpu, call, ret);
}

/* 5 binds in vain at 20 and at 140, 6 closes `fd` at 200, and 5 binds at 260. */
static void binds_then(struct feed *feed, int32_t fd)
{
	calls_on(feed, 20, 0, "bind", 4, ADDRESS_IN_USE);
	naps(feed, 30, 130);
	calls_on(feed, 140, 0, "bind", 4, ADDRESS_IN_USE);
	sleeps(feed, 150);
	calls_on(feed, 200, 1, "close", fd, 0);
	rises(feed, 250);
	calls_on(feed, 260, 0, "bind", 4, 0);
	plain(feed, 300, 0, "other");
}

/* Who gave the address up listened at it. After that only the pause was still to pass. */
static void test_bind_in_use(void)
{
	FEED_FROM(start(6));

	calls_on(feed, 5, 1, "socket", -1, 3);
	listens(feed, 7, 1);
	binds_then(feed, 3);
	WAIT(0,
	     "retry 6 31-130: bind failed 2 times with EADDRINUSE (the address was in use), until "
	     "makes (6) closed the socket that it listened at (inferred); pauses of up to 99 ns");
	WAIT(1,
	     "retry 6 151-201: bind failed 2 times with EADDRINUSE (the address was in use), until "
	     "makes (6) closed the socket that it listened at (inferred); pauses of up to 99 ns");
}

/* A socket that nobody listened at says nothing. */
static void test_bind_other_socket(void)
{
	FEED_FROM(start(6));

	calls_on(feed, 5, 1, "socket", -1, 3);
	listens(feed, 7, 1);
	calls_on(feed, 9, 1, "socket", -1, 5);
	binds_then(feed, 5);
	WAIT(0,
	     "retry: bind failed 2 times with EADDRINUSE (the address was in use), then succeeded; "
	     "pauses of up to 99 ns");
}

static void unmounts(struct feed *feed, int64_t time, int64_t ret)
{
	on_path(feed, time, 0, "umount", "/mnt/rel", 0, ret);
}

/* `path` is closed by 6, which had opened it, before the file system can be unmounted. */
static void unmounts_then(struct feed *feed, const char *path)
{
	on_path(feed, 5, 1, "open", path, 0, 3);
	unmounts(feed, 20, BUSY);
	naps(feed, 30, 130);
	unmounts(feed, 140, BUSY);
	sleeps(feed, 150);
	calls_on(feed, 200, 1, "close", 3, 0);
	rises(feed, 250);
	unmounts(feed, 260, 0);
	plain(feed, 300, 0, "other");
}

static void test_umount_busy(void)
{
	FEED_FROM(start(6));

	unmounts_then(feed, "/mnt/rel/doc");
	WAIT(0,
	     "retry 6 31-130: umount on /mnt/rel failed 2 times with EBUSY (it was in use), until "
	     "makes (6) closed /mnt/rel/doc (inferred); pauses of up to 99 ns");
}

/* Its name begins so, but it is another directory. */
static void test_umount_other(void)
{
	FEED_FROM(start(6));

	unmounts_then(feed, "/mnt/release");
	WAIT(0,
	     "retry: umount on /mnt/rel failed 2 times with EBUSY (it was in use), then succeeded; "
	     "pauses of up to 99 ns");
}

/* A route that is not there may be looked for with a period: nothing is concluded. */
static void test_connect_never(void)
{
	FEED_FROM(start(6));

	fails_four_times(feed, NO_ROUTE);
	plain(feed, 500, 0, "other");
	WAIT(0, "timer");
	WAIT(2, "timer");
}

static void asks(struct feed *feed, int64_t time, int64_t ret)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_kill");

	event.syscall.upid = 6;
	send(feed, &event);
	leave(feed, time + 1, 0, "kill", ret);
}

static void test_kill_0(void)
{
	FEED_FROM(start(6));

	asks(feed, 10, 0);
	naps(feed, 20, 120);
	asks(feed, 130, 0);
	sleeps(feed, 140);
	sw(feed, 200, 1, "makes", 6, DEAD, "idle", 0);
	rises(feed, 240);
	asks(feed, 250, NO_SUCH_PROCESS);
	plain(feed, 300, 0, "other");
	WAIT(0, "retry 6 21-120: makes (6) had not ended; kill said so 2 times, pauses of up to "
		"99 ns");
	WAIT(1, "retry 6 141-200: makes (6) had not ended; kill said so 2 times, pauses of up to "
		"99 ns");
}

/* A watchdog: the process is there each time. */
static void test_watchdog(void)
{
	FEED_FROM(start(6));

	for (int i = 0; i < 4; i++) {
		asks(feed, 100 * i + 10, 0);
		naps(feed, 100 * i + 20, 100 * i + 90);
	}
	plain(feed, 500, 0, "other");
	for (guint i = 0; i < 4; i++)
		WAIT(i, "timer");
}

/* --- futexes ----------------------------------------------------------------------- */

static void futex(struct feed *feed, int64_t time, uint32_t cpu, int32_t op)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_futex");

	event.syscall.uaddr = 0x1000;
	event.syscall.op = op;
	send(feed, &event);
}

/* 5 waits on the word in [time + 1, end), until its time is over. */
static void expires(struct feed *feed, int64_t time, int64_t end)
{
	futex(feed, time, 0, FUTEX_WAIT_PRIVATE);
	sw(feed, time + 1, 0, "tries", 5, SLEEPS, "idle", 0);
	rises_in(feed, end, "futex", TIMED_OUT);
}

static void woken_at(struct feed *feed, int64_t begin, int64_t time)
{
	futex(feed, begin, 0, FUTEX_WAIT_PRIVATE);
	sw(feed, begin + 1, 0, "tries", 5, SLEEPS, "idle", 0);
	futex(feed, time, 1, FUTEX_WAKE_PRIVATE);
	waking(feed, time + 1, 1, 5);
	leave(feed, time + 2, 1, "futex", 1);
	sw(feed, time + 3, 0, "idle", 0, 0, "tries", 5);
	leave(feed, time + 4, 0, "futex", 0);
	plain(feed, time + 50, 0, "other");
}

static void test_futex_timed(void)
{
	FEED_FROM(start(6));

	expires(feed, 10, 60);
	expires(feed, 70, 120);
	woken_at(feed, 130, 150);
	WAIT(0, "lock-owner 6 11-60: kept by makes (6), who gave it up in the end; 2 timed waits "
		"for it expired, the longest after 49 ns");
	WAIT(1, "lock-owner 6 71-120: kept by makes (6), who gave it up in the end; 2 timed waits "
		"for it expired, the longest after 49 ns");
	WAIT(2, "process 6 131-151: makes (6) in futex");
}

/* Nobody wakes it: a clock. */
static void test_futex_clock(void)
{
	FEED_FROM(start(6));

	for (int i = 0; i < 4; i++)
		expires(feed, 100 * i + 10, 100 * i + 90);
	plain(feed, 500, 0, "other");
	for (guint i = 0; i < 4; i++)
		WAIT(i, "timer");
}

/* It works each time its clock has run down; that it is told to end at last says nothing. */
static void test_futex_period(void)
{
	FEED_FROM(start(6));

	expires(feed, 10, 60);
	on_path(feed, 65, 0, "write", NULL, 0, 10);
	expires(feed, 70, 120);
	on_path(feed, 125, 0, "write", NULL, 0, 10);
	woken_at(feed, 130, 150);
	entry(feed, 201, 0, "exit", -1);
	sw(feed, 210, 0, "tries", 5, DEAD, "idle", 0);
	plain(feed, 220, 1, "other");
	WAIT(0, "timer");
	WAIT(1, "timer");
}

/* It notes that a wait is over, and waits again; once woken it goes about its work. */
static void test_futex_noted(void)
{
	FEED_FROM(start(6));

	expires(feed, 10, 60);
	on_path(feed, 65, 0, "write", NULL, 0, 10);
	expires(feed, 70, 120);
	woken_at(feed, 130, 150);
	plain(feed, 400, 0, "other");
	entry(feed, 405, 0, "exit", -1);
	WAIT(0, "lock-owner 6 11-60: kept by makes (6), who gave it up in the end; 2 timed waits "
		"for it expired, the longest after 49 ns");
}

/* 6 waits in read() … */
static void waits_to_read(struct feed *feed, int64_t begin)
{
	entry(feed, begin, 1, "read", -1);
	sw(feed, begin + 1, 1, "makes", 6, SLEEPS, "idle", 0);
}

/* … until 5 has something for it. */
static void has_for_it(struct feed *feed, int64_t end)
{
	entry(feed, end - 1, 0, "write", -1);
	waking(feed, end, 0, 6);
	leave(feed, end + 1, 0, "write", 10);
	sw(feed, end + 2, 1, "idle", 0, 0, "makes", 6);
	leave(feed, end + 3, 1, "read", 10);
}

/* Who gave it work waits until its time limit has passed: for that, and not the other way round. */
static void test_futex_batch(void)
{
	FEED_FROM(start(6));

	waits_to_read(feed, 5);
	expires(feed, 10, 60);
	has_for_it(feed, 64);
	woken_at(feed, 70, 90);
	WAIT(0, "timer");
	WAIT(1, "process 6 71-91: makes (6) in futex");
}

/* It had to wait a moment for who tries, as for a lock, when that looked again. */
static void test_futex_looked(void)
{
	FEED_FROM(start(6));

	expires(feed, 10, 60);
	waits_to_read(feed, 62);
	has_for_it(feed, 66);
	woken_at(feed, 70, 90);
	WAIT(0, "lock-owner 6 11-60: kept by makes (6), who gave it up in the end; 1 timed wait "
		"for it expired after 49 ns");
}

/* --- read locks -------------------------------------------------------------------- */

static void futex_for(struct feed *feed, int64_t time, uint32_t cpu, int32_t op, uint32_t value)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_futex");

	event.syscall.uaddr = 0x1000;
	event.syscall.op = op;
	event.syscall.val = value;
	send(feed, &event);
}

/* 5 waits for `value` in [begin + 1, time]; 6 wakes `count` waiters. */
static void word_woken(struct feed *feed, int64_t begin, int64_t time, uint32_t value,
		       uint32_t count)
{
	futex_for(feed, begin, 0, FUTEX_WAIT_PRIVATE, value);
	sw(feed, begin + 1, 0, "tries", 5, SLEEPS, "idle", 0);
	futex_for(feed, time - 1, 1, FUTEX_WAKE_PRIVATE, count);
	waking(feed, time, 1, 5);
	leave(feed, time + 1, 1, "futex", 1);
	sw(feed, time + 3, 0, "idle", 0, 0, "tries", 5);
	leave(feed, time + 4, 0, "futex", 0);
	plain(feed, time + 50, 0, "other");
}

/* All waiters woken: no mutex, but a lock that several read. */
static void test_rwlock(void)
{
	FEED_FROM(start(5));

	word_woken(feed, 10, 100, 2, INT32_MAX);
	WAIT(0, "lock-owner 6 11-100: read-locked, last by makes (6); by turns or at once also by "
		"perhaps others; how long each had it is not recorded");
}

/* One waiter woken: the mutex was had by one, up to then. */
static void test_mutex(void)
{
	FEED_FROM(start(5));

	word_woken(feed, 10, 100, 2, 1);
	g_assert_true(g_str_has_prefix(wait_at(feed, 0), "lock-owner 6 11-100: held by makes (6)"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tries/file-appears", test_file_appears);
	g_test_add_func("/tries/file-moved", test_file_moved);
	g_test_add_func("/tries/file-never", test_file_never);
	g_test_add_func("/tries/file-watched", test_file_watched);
	g_test_add_func("/tries/file-by-the-way", test_file_by_the_way);
	g_test_add_func("/tries/lock-file", test_lock_file);
	g_test_add_func("/tries/gap", test_gap);
	g_test_add_func("/tries/flock", test_flock);
	g_test_add_func("/tries/flock-elsewhere", test_flock_elsewhere);
	g_test_add_func("/tries/fcntl", test_fcntl);
	g_test_add_func("/tries/connect", test_connect);
	g_test_add_func("/tries/connect-either", test_connect_either);
	g_test_add_func("/tries/connect-short", test_connect_short);
	g_test_add_func("/tries/connect-short-then", test_connect_short_then);
	g_test_add_func("/tries/connect-no-file", test_connect_no_file);
	g_test_add_func("/tries/bind-in-use", test_bind_in_use);
	g_test_add_func("/tries/bind-other-socket", test_bind_other_socket);
	g_test_add_func("/tries/umount-busy", test_umount_busy);
	g_test_add_func("/tries/umount-other", test_umount_other);
	g_test_add_func("/tries/connect-never", test_connect_never);
	g_test_add_func("/tries/kill-0", test_kill_0);
	g_test_add_func("/tries/watchdog", test_watchdog);
	g_test_add_func("/tries/futex-timed", test_futex_timed);
	g_test_add_func("/tries/futex-clock", test_futex_clock);
	g_test_add_func("/tries/futex-period", test_futex_period);
	g_test_add_func("/tries/futex-batch", test_futex_batch);
	g_test_add_func("/tries/futex-looked", test_futex_looked);
	g_test_add_func("/tries/futex-noted", test_futex_noted);
	g_test_add_func("/tries/rwlock", test_rwlock);
	g_test_add_func("/tries/mutex", test_mutex);
	return g_test_run();
}
