/* SPDX-License-Identifier: MIT */
/* Guests and hosts: which traced host runs on which other's virtual CPUs, the time that was taken
 * from it, and what virtual CPUs' threads do. Expectations are worked out by hand from the
 * schedule below and from docs/semantics.md, "Guests and hosts".
 */
#include "hosts.h"

#include "coverage/stalls.h"
#include "event/kvm_exits.h"
#include "guests/machines.h"
#include "latencies/operations.h"

#define MS INT64_C(1000000)
#define KVM_RUN 0xae80
#define TURNS 60

enum { MACHINE = 20, OTHER_MACHINE = 40, HOG = 30, APP = 5, LOGGER = 6 };
enum { HOST, GUEST };

/* The virtual CPU's thread runs for 3 to 7 ms and is preempted for 2 to 8: the same again only
 * after 143 turns. */
static int64_t run_length(int turn)
{
	return (3 + turn * turn * 7 % 11 % 5) * MS;
}

static int64_t off_length(int turn)
{
	return (2 + turn * turn * turn * 5 % 13 % 7) * MS;
}

static int64_t turn_begin(int turn)
{
	int64_t time = 10 * MS;

	for (int i = 0; i < turn; i++)
		time += run_length(i) + off_length(i);
	return time;
}

/* The first `count` of them, at the same times. */
static void machines(struct feed *feed, uint32_t count)
{
	static const int32_t vcpus[] = {MACHINE, OTHER_MACHINE};

	for (int i = 0; i < TURNS; i++) {
		for (uint32_t cpu = 0; cpu < count; cpu++)
			sw(feed, turn_begin(i), cpu, "hog", HOG + (int32_t) cpu, 0, "CPU 0/KVM",
			   vcpus[cpu]);
		for (uint32_t cpu = 0; cpu < count; cpu++)
			sw(feed, turn_begin(i) + run_length(i), cpu, "CPU 0/KVM", vcpus[cpu], 0,
			   "hog", HOG + (int32_t) cpu);
	}
	plain(feed, turn_begin(TURNS), 0, "other");
}

/* In each turn from `first` on the guest's app calls twice, the first time a millisecond after the
 * virtual CPU's thread came to run, the second time a millisecond before it leaves. By its own
 * clock, which is ahead. */
static void guest(struct feed *feed, int first, int last)
{
	sw(feed, turn_begin(first) + MS + ahead, 0, "idle", 0, 0, "app", APP);
	for (int i = first; i < last; i++) {
		int64_t begin = turn_begin(i) + MS + ahead;
		int64_t end = turn_begin(i) + run_length(i) - MS + ahead;

		entry(feed, begin + 1000, 0, "getpid", -1);
		leave(feed, begin + 2000, 0, "getpid", APP);
		entry(feed, end - 1000, 0, "getpid", -1);
		leave(feed, end, 0, "getpid", APP);
	}
}

static struct feed *host_and_guest(void)
{
	struct feed *feed = feed_new(1); /* host 0: "h" */

	ahead = 0;
	machines(feed, 1);
	add_host(feed, "guest", AHEAD);
	on(feed, GUEST);
	return feed;
}

static int64_t sum_of(struct feed *feed, int32_t tid, uint32_t kind)
{
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	finish(feed);
	spans_begin(&spans, feed->session, life(feed, tid, 0), INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span))
		ns += PACK_KIND(span.leaf) == kind ? span.end - span.begin : 0;
	return ns;
}

static const struct host *guest_of(struct feed *feed)
{
	finish(feed);
	return model_host(&feed->session->trace.model, GUEST);
}

static int64_t off_sum(int first, int last)
{
	int64_t ns = 0;

	for (int i = first; i < last; i++)
		ns += off_length(i);
	return ns;
}

/* No packets: its clock is known by when its virtual CPU ran, to less than a millisecond, as each
 * turn has something a millisecond from its begin and from its end. All whole stretches off the
 * CPU are taken out of the app's work, and nothing else. */
static void test_found(void)
{
	FEED_FROM(host_and_guest());
	const struct host *host;
	int64_t taken = off_sum(10, 49);

	guest(feed, 10, 50);
	host = guest_of(feed);
	g_assert_cmpint(host->guest.known, ==, GUEST_SEEN);
	g_assert_cmpint(host->guest.outside, ==, 0);
	g_assert_cmpint(host->clock.known, ==, CLOCK_RUNS);
	g_assert_cmpint(host->clock.error, <=, 2 * MS);
	g_assert_cmpint(llabs(host->clock.line.offset + AHEAD), <=, host->clock.error);
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, taken);
	g_assert_cmpint(sum_of(feed, APP, LEAF_WORK_USER) + sum_of(feed, APP, LEAF_WORK_SYSCALL),
			==, turn_begin(49) + run_length(49) - MS - turn_begin(10) - MS - taken);
}

/* The states with the host, less what it took, are those of the guest alone. */
static void test_alone(void)
{
	FEED_FROM(host_and_guest());
	struct feed *alone __attribute__((cleanup(feed_cleanup))) = feed_new(1);

	guest(feed, 10, 50);
	guest(alone, 10, 50);
	g_assert_cmpint(sum_of(alone, APP, LEAF_HOST), ==, 0);
	g_assert_cmpint(sum_of(alone, APP, LEAF_WORK_USER) + sum_of(alone, APP, LEAF_WORK_SYSCALL),
			==,
			sum_of(feed, APP, LEAF_WORK_USER) + sum_of(feed, APP, LEAF_WORK_SYSCALL) +
				sum_of(feed, APP, LEAF_HOST));
	g_assert_cmpint(sum_of(alone, APP, LEAF_WORK_SYSCALL), ==, 40 * (1000 + 1000));
	g_assert_cmpint(sum_of(feed, APP, LEAF_WORK_SYSCALL), ==, 40 * (1000 + 1000));
}

/* Two machines whose threads ran at the same times: which it is cannot be told, and nothing is
 * taken. What is given is believed. */
static void two_machines(struct feed *feed)
{
	ahead = 0;
	machines(feed, 2);
	add_host(feed, "guest", AHEAD);
	on(feed, GUEST);
	guest(feed, 10, 50);
}

static void test_unclear(void)
{
	FEED(2);

	two_machines(feed);
	g_assert_cmpint(guest_of(feed)->guest.known, ==, GUEST_UNCLEAR);
	g_assert_cmpint(guest_of(feed)->clock.known, ==, CLOCK_OWN);
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, 0);
}

static void test_given(void)
{
	FEED(2);
	const struct model *model = &feed->session->trace.model;

	g_ptr_array_add(feed->options.guests, g_strdup("guest=CPU 0/KVM"));
	two_machines(feed);
	g_assert_cmpint(guest_of(feed)->guest.known, ==, GUEST_GIVEN);
	g_assert_cmpint(model_thread(model, guest_of(feed)->guest.machine)->tid, ==, MACHINE);
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, off_sum(10, 49));
}

static void test_given_wrongly(void)
{
	FEED(2);
	GError *error = NULL;

	g_ptr_array_add(feed->options.guests, g_strdup("guest=4711"));
	two_machines(feed);
	feed->finished = true;
	g_assert_false(session_finish(feed->session, &error));
	g_assert_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE);
	g_error_free(error);
}

/* It works every millisecond, also while the virtual CPU of the only machine does not run: it is
 * another machine, traced at the same time or not. */
static void test_another(void)
{
	FEED_FROM(host_and_guest());

	sw(feed, turn_begin(10) + ahead, 0, "idle", 0, 0, "app", APP);
	for (int64_t time = turn_begin(10) + MS; time < turn_begin(50); time += MS) {
		entry(feed, time + ahead, 0, "getpid", -1);
		leave(feed, time + 1000 + ahead, 0, "getpid", APP);
	}
	g_assert_cmpint(guest_of(feed)->guest.known, ==, GUEST_NOT);
	g_assert_cmpint(guest_of(feed)->clock.known, ==, CLOCK_OWN);
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, 0);
}

/* Three turns fit at many times: nothing is concluded. */
static void test_short(void)
{
	FEED_FROM(host_and_guest());

	guest(feed, 10, 13);
	g_assert_true(guest_of(feed)->guest.known == GUEST_NOT ||
		      guest_of(feed)->guest.known == GUEST_UNCLEAR);
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, 0);
}

/* Who was ready while the virtual CPU did not run could not have run either: the logger, of which
 * the app had the CPU, waited for the host in these stretches, and for the app in between. */
static void test_ready(void)
{
	FEED_FROM(host_and_guest());
	int64_t from = turn_begin(20) + 2 * MS;

	guest(feed, 10, 20);
	sw(feed, turn_begin(20) + MS + ahead, 0, "app", APP, 0, "logger", LOGGER);
	sw(feed, from + ahead, 0, "logger", LOGGER, 0, "app", APP);
	for (int i = 21; i < 50; i++) {
		entry(feed, turn_begin(i) + MS + ahead, 0, "getpid", -1);
		leave(feed, turn_begin(i) + run_length(i) - MS + ahead, 0, "getpid", APP);
	}
	g_assert_cmpint(guest_of(feed)->guest.known, ==, GUEST_SEEN);
	g_assert_cmpint(sum_of(feed, LOGGER, LEAF_HOST), ==, off_sum(20, 49));
	g_assert_cmpint(sum_of(feed, LOGGER, LEAF_PREEMPTED), ==,
			turn_begin(49) + run_length(49) - MS - from - off_sum(20, 49));
}

/* The host's CPU is idle while the virtual CPU's thread is off it: let go each 100 ms, that is a
 * quota; else why it was is not known. */
static int64_t throttled(int64_t (*end)(int i), uint32_t number)
{
	FEED(1);
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	g_ptr_array_add(feed->options.clock_offsets, g_strdup("guest=-1s"));
	ahead = 0;
	for (int i = 0; i < 8; i++) {
		sw(feed, end(i), 0, "idle", 0, 0, "CPU 0/KVM", MACHINE);
		sw(feed, end(i) + 20 * MS, 0, "CPU 0/KVM", MACHINE, 0, "idle", 0);
	}
	sw(feed, end(8), 0, "idle", 0, 0, "CPU 0/KVM", MACHINE);
	plain(feed, end(8) + 20 * MS, 0, "other");
	add_host(feed, "guest", AHEAD);
	on(feed, GUEST);
	sw(feed, end(0) + MS + ahead, 0, "idle", 0, 0, "app", APP);
	for (int i = 0; i <= 8; i++)
		for (int k = 1; k < 8; k++) {
			entry(feed, end(i) + 2 * k * MS + ahead, 0, "getpid", -1);
			leave(feed, end(i) + (2 * k + 1) * MS + ahead, 0, "getpid", APP);
		}
	g_assert_cmpint(guest_of(feed)->guest.known, ==, GUEST_SEEN);
	spans_begin(&spans, feed->session, life(feed, APP, 0), INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span))
		ns += span.leaf == PACK(LEAF_HOST, number) ? span.end - span.begin : 0;
	return ns;
}

static int64_t each_period(int i)
{
	return (10 + 100 * i) * MS;
}

static int64_t at_any_time(int i)
{
	static const int ms[] = {10, 110, 190, 310, 360, 500, 560, 750, 800};

	return ms[i] * MS;
}

static void test_throttled(void)
{
	g_assert_cmpint(throttled(each_period, HOST_THROTTLED), ==, 8 * 80 * MS);
	g_assert_cmpint(throttled(each_period, HOST_PREEMPTED), ==, 0);
	g_assert_cmpint(throttled(at_any_time, HOST_THROTTLED), ==, 0);
	g_assert_cmpint(throttled(at_any_time, HOST_PREEMPTED), ==, 790 * MS - 8 * 20 * MS);
}

/* --- what was behind ------------------------------------------------------------------------ */

/* A timer that the app arms at `time` for `length`; it expires, and wakes the app, at `end`. */
static void sleep_until(struct feed *feed, int64_t time, int64_t length, int64_t end)
{
	struct event event;

	entry(feed, time + ahead, 0, "clock_nanosleep", -1);
	event = event_of(feed, time + ahead, 0, "timer_hrtimer_start");
	event.timer.timer = 0xaa;
	event.timer.expires = time + ahead + length;
	send(feed, &event);
	sw(feed, time + 1000 + ahead, 0, "app", APP, SLEEPS, "idle", 0);
	event = event_of(feed, end + ahead, 0, "timer_hrtimer_expire_entry");
	event.timer.timer = 0xaa;
	send(feed, &event);
	waking(feed, end + 1000 + ahead, 0, APP);
	event = event_of(feed, end + 2000 + ahead, 0, "timer_hrtimer_expire_exit");
	event.timer.timer = 0xaa;
	send(feed, &event);
	sw(feed, end + 3000 + ahead, 0, "idle", 0, 0, "app", APP);
	leave(feed, end + 4000 + ahead, 0, "clock_nanosleep", 0);
}

static const struct reason *reason_of(struct feed *feed, int32_t tid)
{
	const struct timeline *timeline = &feed->session->trace.timeline;
	struct spans spans;
	struct span span;
	const struct reason *found = NULL;

	finish(feed);
	spans_begin(&spans, feed->session, life(feed, tid, 0), INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span))
		if (leaf_is_blocked(span.leaf) && block_at(timeline, span.ref)->reason)
			found = reason_at(timeline, block_at(timeline, span.ref)->reason);
	return found;
}

static int32_t tid_of(const struct feed *feed, uint32_t thread)
{
	return is_thread(thread) ? model_thread(&feed->session->trace.model, thread)->tid : -1;
}

/* Due when the virtual CPU did not run, it came when that ran again: from when it was due on the
 * wait is that thread's. */
static void test_late_timer(void)
{
	FEED_FROM(host_and_guest());
	int64_t begin = turn_begin(50) + MS;
	int64_t end = turn_begin(51) + MS;
	const struct reason *reason;

	guest(feed, 10, 50);
	sleep_until(feed, begin, run_length(50), end);
	plain(feed, end + 5000 + ahead, 0, "other");
	reason = reason_of(feed, APP);
	g_assert_nonnull(reason);
	g_assert_cmpint(reason->kind, ==, REASON_LATE_TIMER);
	g_assert_cmpint(tid_of(feed, reason->thread), ==, MACHINE);
	g_assert_cmpint(reason->until - reason->from, ==, end + 1000 - begin - run_length(50));
	g_assert_cmpint(reason->ns, ==, run_length(50));
}

/* It came in time, or as late while the virtual CPU ran: the guest's own doing. */
static void test_timer_in_time(void)
{
	FEED_FROM(host_and_guest());
	int64_t begin = turn_begin(50) + MS;
	int64_t end = turn_begin(51) + MS;

	guest(feed, 10, 50);
	sleep_until(feed, begin, end - begin, end);
	g_assert_null(reason_of(feed, APP));
}

static void test_timer_guests_own(void)
{
	FEED_FROM(host_and_guest());
	int64_t begin = turn_begin(50) + MS / 2;

	g_assert_cmpint(run_length(50), >=, 3 * MS);
	guest(feed, 10, 50);
	sleep_until(feed, begin, MS / 2, begin + 2 * MS);
	g_assert_null(reason_of(feed, APP));
}

/* --- vhost ---------------------------------------------------------------------------------- */

enum { VHOST = 70 };

static void process(struct feed *feed, int32_t tid, int32_t pid, const char *name)
{
	struct event event = event_of(feed, 0, 0, "lttng_statedump_process_state");

	event.process.tid = tid;
	event.process.pid = pid;
	event.process.name = name;
	send(feed, &event);
}

/* Behind all turns the app waits 4 ms for a request. In the second and the third of them the host
 * runs a thread called `name`, of process `pid`. The reason of the app's wait. */
static const struct reason *served_by(struct feed *feed, const char *name, int32_t pid)
{
	int64_t begin = turn_begin(TURNS) + MS;

	g_ptr_array_add(feed->options.clock_offsets, g_strdup("guest=-1s"));
	ahead = 0;
	process(feed, MACHINE, MACHINE, "CPU 0/KVM");
	process(feed, VHOST, pid, name);
	machines(feed, 1);
	sw(feed, begin - MS / 2, 0, "hog", HOG, 0, "CPU 0/KVM", MACHINE);
	sw(feed, begin + MS, 1, "idle", 0, 0, name, VHOST);
	sw(feed, begin + 3 * MS, 1, name, VHOST, SLEEPS, "idle", 0);
	plain(feed, begin + 9 * MS, 1, "other");
	add_host(feed, "guest", AHEAD);
	on(feed, GUEST);
	guest(feed, 10, 50);
	begin += ahead;
	entry(feed, begin - 1000, 0, "pread64", -1);
	request(feed, begin, 0, "block_rq_issue", APP);
	sw(feed, begin + 1000, 0, "app", APP, SLEEPS, "idle", 0);
	irq(feed, begin + 4 * MS, 0, "irq_handler_entry", 25);
	request(feed, begin + 4 * MS + 1000, 0, "block_rq_complete", -1);
	waking(feed, begin + 4 * MS + 2000, 0, APP);
	irq(feed, begin + 4 * MS + 3000, 0, "irq_handler_exit", 25);
	sw(feed, begin + 4 * MS + 4000, 0, "idle", 0, 0, "app", APP);
	leave(feed, begin + 4 * MS + 5000, 0, "pread64", 1);
	return reason_of(feed, APP);
}

/* Since Linux 6.4 a thread of the machine's process, before one of the kernel's, of no process that
 * is known: it served the request up to when it last ran. */
static void check_vhost(int32_t pid)
{
	FEED(2);
	const struct reason *reason = served_by(feed, "vhost-20", pid);

	g_assert_nonnull(reason);
	g_assert_cmpint(reason->kind, ==, REASON_MACHINE);
	g_assert_cmpint(tid_of(feed, reason->thread), ==, VHOST);
	g_assert_cmpint(reason->until - reason->from, ==, 3 * MS - 1000);
}

/* That of another machine served another. */
static void test_vhost(void)
{
	FEED(2);

	check_vhost(MACHINE);
	check_vhost(VHOST);
	g_assert_null(served_by(feed, "vhost-40", VHOST));
}

/* --- a disk that two machines share --------------------------------------------------------- */

enum { WORKER = 71, OTHER_WORKER = 72, DISK = 254 << 20, SECOND_DISK = 254 << 20 | 16 };

struct asks {
	uint32_t dev;
	int32_t pid; /* of the process that OTHER_WORKER is of */
	int64_t issued, done; /* after the waiter's begins to wait */
};

static void disk_event(struct feed *feed, int64_t time, const char *name, uint32_t dev,
		       uint64_t sector, int32_t tid)
{
	struct event event = event_of(feed, time, 1, name);

	event.block.dev = dev;
	event.block.sector = sector;
	event.block.sectors = 8;
	event.block.tid = tid;
	send(feed, &event);
}

/* The thread asks in io_uring_enter, and waits there. */
static void asks(struct feed *feed, int64_t time, uint32_t dev, uint64_t sector, int32_t tid)
{
	sw(feed, time - 3000, 1, "idle", 0, 0, "worker", tid);
	entry(feed, time - 2000, 1, "io_uring_enter", -1);
	disk_event(feed, time - 1000, "block_rq_issue", dev, sector, tid);
	sw(feed, time, 1, "worker", tid, SLEEPS, "idle", 0);
}

static void is_done(struct feed *feed, int64_t time, uint32_t dev, uint64_t sector, int32_t tid)
{
	irq(feed, time, 1, "irq_handler_entry", 25);
	disk_event(feed, time, "block_rq_complete", dev, sector, -1);
	waking(feed, time, 1, tid);
	irq(feed, time, 1, "irq_handler_exit", 25);
	sw(feed, time + 1000, 1, "idle", 0, 0, "worker", tid);
	leave(feed, time + 2000, 1, "io_uring_enter", 1);
	sw(feed, time + 3000, 1, "worker", tid, SLEEPS, "idle", 0);
}

/* Of WORKER's wait of 6 ms for its own request, beside that of OTHER_WORKER. */
static const struct reason *beside(struct feed *feed, struct asks other)
{
	int64_t begin = turn_begin(TURNS) + 20 * MS;

	ahead = 0;
	process(feed, MACHINE, MACHINE, "CPU 0/KVM");
	process(feed, OTHER_MACHINE, OTHER_MACHINE, "CPU 0/KVM");
	process(feed, WORKER, MACHINE, "worker");
	process(feed, OTHER_WORKER, other.pid, "worker");
	machines(feed, 2);
	if (other.issued < 0)
		asks(feed, begin + other.issued, other.dev, 100, OTHER_WORKER);
	if (other.done < 0)
		is_done(feed, begin + other.done, other.dev, 100, OTHER_WORKER);
	asks(feed, begin, DISK, 8, WORKER);
	if (other.issued >= 0)
		asks(feed, begin + other.issued, other.dev, 100, OTHER_WORKER);
	if (other.done >= 0)
		is_done(feed, begin + other.done, other.dev, 100, OTHER_WORKER);
	is_done(feed, begin + 6 * MS, DISK, 8, WORKER);
	return reason_of(feed, WORKER);
}

/* The disk was at the other machine's request until 4 ms of the wait were over. */
static void test_shared_disk(void)
{
	FEED(2);
	const struct reason *reason =
		beside(feed, (struct asks) {DISK, OTHER_MACHINE, -MS, 4 * MS});

	g_assert_nonnull(reason);
	g_assert_cmpint(reason->kind, ==, REASON_FLUSH);
	g_assert_cmpint(tid_of(feed, reason->thread), ==, OTHER_MACHINE);
	g_assert_cmpint(reason->ns, ==, 4 * MS);
	g_assert_cmpint(reason->amount, ==, 4096);
	g_assert_cmpint(reason->number, ==, 2 * 4096);
}

/* Another disk; done before the wait; the same machine; a process of the host's own; less than the
 * disk was at the waiter's own. */
static void test_disk_not_shared(void)
{
	static const struct asks others[] = {
		{SECOND_DISK, OTHER_MACHINE, -MS, 4 * MS},
		{DISK, OTHER_MACHINE, -5 * MS, -MS},
		{DISK, MACHINE, -MS, 4 * MS},
		{DISK, OTHER_WORKER, -MS, 4 * MS},
		{DISK, OTHER_MACHINE, MS, 2 * MS},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		FEED(2);

		g_assert_null(beside(feed, others[i]));
	}
}

/* --- a guest in a guest --------------------------------------------------------------------- */

enum { INNER = 2, INNER_VCPU = 50, INNER_HOG = 61 };

/* The guest has a machine itself, whose virtual CPU (50) has its CPU but for the 30th turn: from a
 * millisecond behind the turn's begin to one behind the next one's another thread runs there. In
 * the machine an app works in all turns but that. */
static void guest_in_guest(struct feed *feed)
{
	ahead = 0;
	machines(feed, 1);
	add_host(feed, "guest", AHEAD);
	on(feed, GUEST);
	sw(feed, turn_begin(10) + MS / 2 + ahead, 0, "idle", 0, 0, "fc_vcpu 0", INNER_VCPU);
	sw(feed, turn_begin(30) + MS + ahead, 0, "fc_vcpu 0", INNER_VCPU, 0, "hog2", INNER_HOG);
	sw(feed, turn_begin(31) + MS + ahead, 0, "hog2", INNER_HOG, 0, "fc_vcpu 0", INNER_VCPU);
	plain(feed, turn_begin(50) + MS + ahead, 0, "other");
	add_host(feed, "inner", 2 * AHEAD);
	on(feed, INNER);
	sw(feed, turn_begin(10) + MS + ahead, 0, "idle", 0, 0, "app", APP);
	for (int i = 10; i < 50; i++) {
		int64_t end = turn_begin(i) + run_length(i) - MS + ahead;

		if (i == 30)
			continue;
		entry(feed, end - 1000, 0, "getpid", -1);
		leave(feed, end, 0, "getpid", APP);
	}
}

/* Both are said. What was taken from the outer one's thread is taken from the inner one's app,
 * together with what the other thread of the guest had in the 30th turn. */
static void test_inner(void)
{
	FEED(1);
	const struct model *model = &feed->session->trace.model;

	g_ptr_array_add(feed->options.guests, g_strdup("guest=CPU 0/KVM"));
	g_ptr_array_add(feed->options.guests, g_strdup("inner=fc_vcpu 0"));
	g_ptr_array_add(feed->options.clock_offsets, g_strdup("guest=-1s"));
	g_ptr_array_add(feed->options.clock_offsets, g_strdup("inner=-2s"));
	guest_in_guest(feed);
	g_assert_cmpint(tid_of(feed, guest_of(feed)->guest.machine), ==, MACHINE);
	g_assert_cmpint(tid_of(feed, model_host(model, INNER)->guest.machine), ==, INNER_VCPU);
	g_assert_cmpint(sum_of(feed, INNER_VCPU, LEAF_HOST), ==, off_sum(10, 50));
	g_assert_cmpint(sum_of(feed, INNER_VCPU, LEAF_PREEMPTED), ==, run_length(30));
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, off_sum(10, 49) + run_length(30));
	g_assert_cmpint(sum_of(feed, APP, LEAF_WORK_SYSCALL), ==, 39 * 1000);
}

/* Whoever runs in the guest's guest runs while the outer virtual CPU does: by that alone it might
 * be a guest of either. Nothing is put down to one of them. */
static void test_inner_unclear(void)
{
	FEED(1);
	const struct model *model = &feed->session->trace.model;

	guest_in_guest(feed);
	finish(feed);
	g_assert_cmpint(model_host(model, INNER)->guest.known, !=, GUEST_SEEN);
	g_assert_cmpint(sum_of(feed, APP, LEAF_HOST), ==, 0);
}

/* --- a guest alone -------------------------------------------------------------------------- */

#define TICK (4 * MS)

/* 40 ticks while the app runs, then nothing for `silent`, then ten more; in between a call each
 * millisecond if it `calls`. */
static struct stalls stalls_with(int64_t silent, bool calls)
{
	FEED(1);
	int64_t time = 0;

	sw(feed, 1000, 0, "idle", 0, 0, "app", APP);
	for (int i = 0; i < 50; i++) {
		int64_t next = time + (i == 40 ? silent : TICK);

		for (int64_t at = time + MS; calls && at < next; at += MS) {
			entry(feed, at, 0, "getpid", -1);
			leave(feed, at + 1000, 0, "getpid", APP);
		}
		time = next;
		plain(feed, time, 0, "x86_irq_vectors_local_timer_entry");
		plain(feed, time + 1000, 0, "x86_irq_vectors_local_timer_exit");
	}
	sw(feed, time + MS, 0, "app", APP, SLEEPS, "idle", 0);
	plain(feed, time + 50 * MS, 0, "other");
	finish(feed);
	return stalls_of(feed->session, 0);
}

/* The ticks did not come, and nothing else did: the CPU did not run. Where calls were made it did,
 * whatever became of its ticks; and one that is late is no stall. */
static void test_stalls(void)
{
	struct stalls stalls = stalls_with(31 * MS, false);

	g_assert_cmpint(stalls.count, ==, 1);
	g_assert_cmpint(stalls.longest, ==, 31 * MS - 1000); /* from the end of the tick before */
	g_assert_cmpint(stalls.ns, ==, 31 * MS - 1000 - TICK);
	g_assert_cmpint(stalls_with(31 * MS, true).count, ==, 0);
	g_assert_cmpint(stalls_with(2 * TICK, false).count, ==, 0);
}

/* --- virtual CPUs' threads ------------------------------------------------------------------ */

static void ioctl_of(struct feed *feed, int64_t time, int32_t cmd)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_ioctl");

	event.syscall.fd = 15;
	event.syscall.cmd = cmd;
	send(feed, &event);
}

static void kvm(struct feed *feed, int64_t time, const char *name, int64_t reason)
{
	struct event event = event_of(feed, time, 0, name);

	event.kvm.vcpu = 3;
	event.kvm.isa = 1;
	event.kvm.reason = reason;
	send(feed, &event);
}

/* Without events of entries all work in ioctl KVM_RUN is the guest's; in another ioctl it is not,
 * nor in between. */
static void test_by_ioctl(void)
{
	FEED(1);

	sw(feed, 10, 0, "idle", 0, 0, "runs", 7);
	ioctl_of(feed, 20, KVM_RUN);
	leave(feed, 50, 0, "ioctl", 0);
	ioctl_of(feed, 60, KVM_RUN + 1);
	leave(feed, 70, 0, "ioctl", 0);
	plain(feed, 80, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"10 working/user, 20 working/guest, 50 working/user, "
			"60 working/syscall:ioctl, 70 working/user, 80");
}

/* What is called as such threads are, and was never seen outside, is in the guest. */
static void test_by_name(void)
{
	FEED(1);

	sw(feed, 10, 0, "idle", 0, 0, "CPU 0/KVM", 7);
	sw(feed, 30, 0, "CPU 0/KVM", 7, 0, "CPU 0/TCG", 8);
	sw(feed, 50, 0, "CPU 0/TCG", 8, 0, "CPU 0/KVM", 7);
	plain(feed, 80, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"10 working/guest, 30 interrupted/preempted, 50 working/guest, "
			"80");
	g_assert_cmpstr(states(feed, 8), ==,
			"10 interrupted/wait-cpu, 30 working/user, 50 interrupted/preempted, 80");
}

/* With them: between an entry and the next exit. It is in ioctl all the time. */
static void test_by_entries(void)
{
	FEED(1);

	sw(feed, 10, 0, "idle", 0, 0, "runs", 7);
	kvm(feed, 20, "kvm_x86_entry", -1);
	kvm(feed, 40, "kvm_x86_exit", 31);
	kvm(feed, 50, "kvm_x86_entry", -1);
	plain(feed, 80, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"10 working/syscall:ioctl, 20 working/guest, "
			"40 working/syscall:ioctl, 50 working/guest, 80");
	g_assert_cmpint(model_thread(&feed->session->trace.model, life(feed, 7, 0))->vcpu_number,
			==, 3);
}

/* Halted: to kvm_vcpu_wakeup where that is recorded (at 48: it polled), else until its thread
 * sleeps (65) or enters (115), preempted meanwhile or not (111); not once that is back from its
 * sleep (90), nor after another exit (97). */
static void test_halted(void)
{
	FEED(1);

	sw(feed, 10, 0, "idle", 0, 0, "runs", 7);
	kvm(feed, 20, "kvm_x86_entry", -1);
	kvm(feed, 40, "kvm_x86_exit", 12);
	plain(feed, 48, 0, "kvm_vcpu_wakeup");
	kvm(feed, 55, "kvm_x86_entry", -1);
	kvm(feed, 60, "kvm_x86_exit", 12);
	sw(feed, 65, 0, "runs", 7, SLEEPS, "other", 8);
	sw(feed, 90, 0, "other", 8, 0, "runs", 7);
	plain(feed, 92, 0, "kvm_vcpu_wakeup");
	kvm(feed, 95, "kvm_x86_entry", -1);
	kvm(feed, 97, "kvm_x86_exit", 48);
	kvm(feed, 100, "kvm_x86_entry", -1);
	kvm(feed, 110, "kvm_x86_exit", 12);
	sw(feed, 111, 0, "runs", 7, 0, "other", 8);
	sw(feed, 113, 0, "other", 8, 0, "runs", 7);
	kvm(feed, 115, "kvm_x86_entry", -1);
	plain(feed, 120, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"10 working/syscall:ioctl, 20 working/guest, 40 working/halted, "
			"48 working/syscall:ioctl, 55 working/guest, 60 working/halted, "
			"65 blocked/syscall:ioctl, 90 working/syscall:ioctl, 95 working/guest, "
			"97 working/syscall:ioctl, 100 working/guest, 110 working/halted, "
			"111 interrupted/preempted, 113 working/halted, 115 working/guest, 120");
	g_assert_true(kvm_exit_is_halt(2, 0x78));
	g_assert_false(kvm_exit_is_halt(2, 12));
	g_assert_false(kvm_exit_is_halt(0, 12));
}

/* What it does from an exit to the next entry is an operation with the exit's reason; an exit that
 * no entry follows, and an entry with no exit before, are none. */
static void test_exits(void)
{
	FEED(1);
	const struct pages *store = &feed->session->trace.timeline.operations;
	const struct operation *first, *second;
	g_autofree char *name = NULL;

	feed->session->trace.flow.operations_wanted = 1u << OPERATION_KVM_EXIT;
	sw(feed, 10, 0, "idle", 0, 0, "runs", 7);
	kvm(feed, 20, "kvm_x86_entry", -1);
	kvm(feed, 40, "kvm_x86_exit", 31);
	kvm(feed, 55, "kvm_x86_entry", -1);
	kvm(feed, 60, "kvm_x86_exit", 12);
	sw(feed, 65, 0, "runs", 7, SLEEPS, "idle", 0);
	sw(feed, 90, 0, "idle", 0, 0, "runs", 7);
	kvm(feed, 95, "kvm_x86_entry", -1);
	kvm(feed, 97, "kvm_x86_exit", 48);
	plain(feed, 99, 0, "other");
	finish(feed);
	g_assert_cmpint(store->used, ==, 3); /* number 0 is none */
	first = operation_at(store, 1);
	second = operation_at(store, 2);
	name = operation_name(feed->session, first->what);
	g_assert_cmpstr(name, ==, "kvm-exit:msr");
	g_assert_cmpint(first->begin, ==, 40);
	g_assert_cmpint(first->duration, ==, 15);
	g_assert_cmpstr(session_text(feed->session, PACK_NUMBER(second->what)), ==, "kvm-exit:hlt");
	g_assert_cmpint(second->duration, ==, 35);
	g_assert_true(second->off_cpu);
}

static void guest_irq(struct feed *feed, int64_t time, const char *name, int32_t apic,
		      int32_t vector)
{
	struct event event = event_of(feed, time, 0, name);

	event.kvm.apic = apic;
	event.kvm.vector = vector;
	send(feed, &event);
}

/* Of the virtual CPU that ends interrupts of APIC 5: due at 40 (again at 45: one), injected at 70.
 * Not told: before its first end (20), injected without having been due (75), another APIC's (80),
 * an exception's number (85), due before events were lost (95). */
static void test_guest_irqs(void)
{
	FEED(2);
	const struct pages *store = &feed->session->trace.timeline.operations;
	const struct operation *found;
	g_autofree char *name = NULL;

	feed->session->trace.flow.operations_wanted = 1u << OPERATION_GUEST_IRQ;
	process(feed, 7, 7, "runs");
	sw(feed, 10, 0, "idle", 0, 0, "runs", 7);
	sw(feed, 10, 1, "idle", 0, 0, "other", 8);
	guest_irq(feed, 15, "kvm_x86_apic_accept_irq", 5, 236);
	guest_irq(feed, 20, "kvm_x86_inj_virq", -1, 236);
	guest_irq(feed, 30, "kvm_x86_eoi", 5, 236);
	guest_irq(feed, 40, "kvm_x86_apic_accept_irq", 5, 251);
	guest_irq(feed, 45, "kvm_x86_apic_accept_irq", 5, 251);
	sw(feed, 50, 0, "runs", 7, 0, "other", 9);
	sw(feed, 65, 0, "other", 9, 0, "runs", 7);
	guest_irq(feed, 70, "kvm_x86_inj_virq", -1, 251);
	guest_irq(feed, 75, "kvm_x86_inj_virq", -1, 251);
	guest_irq(feed, 77, "kvm_x86_apic_accept_irq", 6, 236);
	guest_irq(feed, 80, "kvm_x86_inj_virq", -1, 236);
	guest_irq(feed, 83, "kvm_x86_apic_accept_irq", 5, 2);
	guest_irq(feed, 85, "kvm_x86_inj_virq", -1, 2);
	guest_irq(feed, 90, "kvm_x86_apic_accept_irq", 5, 251);
	lost(feed, 1, 91, 94);
	guest_irq(feed, 95, "kvm_x86_inj_virq", -1, 251);
	plain(feed, 99, 0, "other");
	finish(feed);
	g_assert_cmpint(store->used, ==, 2); /* number 0 is none */
	found = operation_at(store, 1);
	name = operation_name(feed->session, found->what);
	g_assert_cmpstr(name, ==, "guest-irq:251");
	g_assert_cmpint(found->begin, ==, 40);
	g_assert_cmpint(found->duration, ==, 30);
	g_assert_true(found->off_cpu);
	g_assert_cmpint(model_thread(&feed->session->trace.model, found->thread)->tid, ==, 7);
}

/* Two machines, 20 and 30, each with a virtual CPU of APIC 0: what thread 21 of the one sends is
 * for 22, though 31 is entered with the same vector first; what is sent from the idle loop (70)
 * may be for either, and is told of neither. */
static void test_guest_irqs_of_two(void)
{
	FEED(1);
	const struct pages *store = &feed->session->trace.timeline.operations;
	const struct operation *found;

	feed->session->trace.flow.operations_wanted = 1u << OPERATION_GUEST_IRQ;
	process(feed, 21, 20, "sends");
	process(feed, 22, 20, "runs");
	process(feed, 31, 30, "other");
	sw(feed, 10, 0, "idle", 0, 0, "runs", 22);
	guest_irq(feed, 11, "kvm_x86_eoi", 0, 236);
	sw(feed, 20, 0, "runs", 22, SLEEPS, "other", 31);
	guest_irq(feed, 21, "kvm_x86_eoi", 0, 236);
	sw(feed, 30, 0, "other", 31, SLEEPS, "sends", 21);
	guest_irq(feed, 31, "kvm_x86_apic_accept_irq", 0, 251);
	sw(feed, 40, 0, "sends", 21, SLEEPS, "other", 31);
	guest_irq(feed, 41, "kvm_x86_inj_virq", -1, 251);
	sw(feed, 50, 0, "other", 31, SLEEPS, "runs", 22);
	guest_irq(feed, 55, "kvm_x86_inj_virq", -1, 251);
	sw(feed, 60, 0, "runs", 22, SLEEPS, "idle", 0);
	guest_irq(feed, 70, "kvm_x86_apic_accept_irq", 0, 236);
	sw(feed, 80, 0, "idle", 0, 0, "runs", 22);
	guest_irq(feed, 85, "kvm_x86_inj_virq", -1, 236);
	plain(feed, 99, 0, "other");
	finish(feed);
	g_assert_cmpint(store->used, ==, 2); /* number 0 is none */
	found = operation_at(store, 1);
	g_assert_cmpint(found->begin, ==, 31);
	g_assert_cmpint(found->duration, ==, 24);
	g_assert_cmpint(model_thread(&feed->session->trace.model, found->thread)->tid, ==, 22);
}

static void check_exit(int32_t isa, int64_t reason, int64_t cause, const char *name)
{
	g_autofree char *text = kvm_exit_name(isa, reason, cause);

	g_assert_cmpstr(text, ==, name);
}

/* arch/x86/include/uapi/asm/vmx.h, svm.h; arch/arm64/include/asm/esr.h */
static void test_names(void)
{
	check_exit(1, 12, -1, "kvm-exit:hlt");
	check_exit(1, 48, -1, "kvm-exit:ept_violation");
	check_exit(1, 0x80000021, -1, "kvm-exit:33"); /* a failed entry */
	check_exit(2, 0x7b, -1, "kvm-exit:io");
	check_exit(2, 0x7c, -1, "kvm-exit:msr");
	check_exit(2, 0x4e, -1, "kvm-exit:exception");
	check_exit(0, 2, 0x18, "kvm-exit:sysreg");
	check_exit(0, 0, 0, "kvm-exit:irq");
	check_exit(0, -1, -1, "kvm-exit:unknown");
	g_assert_cmpint(vcpu_number_of("CPU 12/KVM"), ==, 12);
	g_assert_cmpint(vcpu_number_of("CPU 0/TCG"), ==, -1);
	g_assert_cmpint(vcpu_number_of("CPU /KVM"), ==, -1);
	g_assert_cmpint(vcpu_number_of("fc_vcpu 1"), ==, 1);
	g_assert_cmpint(vcpu_number_of("vcpu"), ==, -1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/guests/found", test_found);
	g_test_add_func("/guests/alone", test_alone);
	g_test_add_func("/guests/unclear", test_unclear);
	g_test_add_func("/guests/given", test_given);
	g_test_add_func("/guests/given-wrongly", test_given_wrongly);
	g_test_add_func("/guests/another", test_another);
	g_test_add_func("/guests/short", test_short);
	g_test_add_func("/guests/ready", test_ready);
	g_test_add_func("/guests/throttled", test_throttled);
	g_test_add_func("/guests/late-timer", test_late_timer);
	g_test_add_func("/guests/timer-in-time", test_timer_in_time);
	g_test_add_func("/guests/timer-guests-own", test_timer_guests_own);
	g_test_add_func("/guests/vhost", test_vhost);
	g_test_add_func("/guests/shared-disk", test_shared_disk);
	g_test_add_func("/guests/disk-not-shared", test_disk_not_shared);
	g_test_add_func("/guests/inner", test_inner);
	g_test_add_func("/guests/inner-unclear", test_inner_unclear);
	g_test_add_func("/guests/stalls", test_stalls);
	g_test_add_func("/guests/by-ioctl", test_by_ioctl);
	g_test_add_func("/guests/by-name", test_by_name);
	g_test_add_func("/guests/by-entries", test_by_entries);
	g_test_add_func("/guests/halted", test_halted);
	g_test_add_func("/guests/exits", test_exits);
	g_test_add_func("/guests/guest-irqs", test_guest_irqs);
	g_test_add_func("/guests/guest-irqs-of-two", test_guest_irqs_of_two);
	g_test_add_func("/guests/names", test_names);
	return g_test_run();
}
