/* SPDX-License-Identifier: MIT */
/* Requests that something kept back, and whose data a wait was for. Expectations are worked out
 * by hand from the events; for each kind there is one that looks alike and is something else.
 */
#include "feed.h"

#define DISK (8u << 20)
#define MAPPED (253u << 20)
#define MS INT64_C(1000000)

struct at {
	uint64_t sector;
	uint32_t sectors;
	int32_t tid;
	uint32_t dev, rwbs;
	uint64_t other;
	uint32_t other_dev;
};

static void block(struct feed *feed, int64_t time, uint32_t cpu, const char *name, struct at at)
{
	g_autofree char *full = g_strconcat("block_", name, NULL);
	struct event event = event_of(feed, time, cpu, full);

	event.block.sector = at.sector;
	event.block.sectors = at.sectors;
	event.block.tid = at.tid ? at.tid : -1;
	event.block.dev = at.dev ? at.dev : DISK;
	event.block.rwbs = at.rwbs;
	event.block.other = at.other;
	event.block.other_dev = at.other_dev;
	send(feed, &event);
}

#define BLOCK(time, cpu, name, ...) block(feed, time, cpu, name, (struct at) {__VA_ARGS__})

static void named(struct feed *feed, uint32_t dev, const char *name)
{
	struct event event = event_of(feed, 1, 0, "lttng_statedump_block_device");

	event.device.dev = dev;
	event.device.name = name;
	send(feed, &event);
}

static void work(struct feed *feed, int64_t time, const char *name, uint64_t item)
{
	g_autofree char *full = g_strconcat("workqueue_", name, NULL);
	struct event event = event_of(feed, time, 1, full);

	event.work.item = item;
	event.work.function = 0xabc;
	send(feed, &event);
}

/* The nth wait of `tid`: its cause, "?" where inferred. */
static const char *told(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause = wait_cause(feed->session, g_ptr_array_index(waits, nth));

	g_ptr_array_add(feed->texts, g_strdup_printf("%s%s: %s", cause_kind_text(cause.kind),
						     cause.inferred ? "?" : "", cause.label));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* --- kept back --------------------------------------------------------------------- */

/* 5 waits in pread64 on CPU 0 from 1 ms on; the worker 7 idles on CPU 1. */
static void begins(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "kworker/1:1", 7);
	named(feed, DISK, "sda");
	named(feed, MAPPED, "dm-0");
	sw(feed, 2, 1, "kworker/1:1", 7, IDLE_SLEEP, "idle", 0);
	entry(feed, 10, 0, "pread64", 3);
}

/* At `time` a timer's function gives the worker an item, which it does 1 ms later. */
static void timer_queues(struct feed *feed, int64_t time, uint64_t timer, uint64_t item)
{
	struct event event;

	softirq(feed, time, 1, "irq_softirq_entry", 1);
	if (timer) {
		event = event_of(feed, time + 1, 1, "timer_expire_entry");
		event.timer.timer = timer;
		event.timer.function = 0xfee;
		send(feed, &event);
	}
	work(feed, time + 2, "queue_work", item);
	waking(feed, time + 3, 1, 7);
	if (timer)
		plain(feed, time + 4, 1, "timer_expire_exit");
	softirq(feed, time + 5, 1, "irq_softirq_exit", 1);
	sw(feed, time + MS, 1, "idle", 0, 0, "kworker/1:1", 7);
	work(feed, time + MS, "execute_start", item);
}

static void completes(struct feed *feed, int64_t time, uint64_t sector)
{
	irq(feed, time, 1, "irq_handler_entry", 9);
	BLOCK(time, 1, "rq_complete", .sector = sector, .sectors = 8);
	waking(feed, time, 1, 5);
	irq(feed, time, 1, "irq_handler_exit", 9);
	sw(feed, time + MS, 0, "idle", 0, 0, "a", 5);
	leave(feed, time + 2 * MS, 0, "pread64", 4096);
}

/* The bio's first event is the worker's: it was kept from 1 to 51 ms. */
static void kept_back(struct feed *feed, uint64_t timer, uint64_t item)
{
	begins(feed);
	sw(feed, MS, 0, "a", 5, 2, "idle", 0);
	timer_queues(feed, 50 * MS, timer, item);
	BLOCK(51 * MS, 1, "bio_queue", .sector = 64, .sectors = 8, .tid = 7);
	BLOCK(51 * MS, 1, "rq_issue", .sector = 64, .sectors = 8, .tid = 7);
	work(feed, 52 * MS, "execute_end", item);
	completes(feed, 53 * MS, 64);
}

#define LIMITED                                                                                    \
	"throttled?: kept back for 50.00 ms by the limit io.max of its cgroup for sda (inferred: " \
	"a timer let the request go to the device); sda itself took 2.000 ms"

static void test_limit(void)
{
	FEED(2);

	kept_back(feed, 0x99, 0x7700);
	g_assert_cmpstr(told(feed, 5, 0), ==, LIMITED);
}

/* Timers not recorded: the softIRQ that runs them is. */
static void test_limit_by_softirq(void)
{
	FEED(2);

	kept_back(feed, 0, 0x7700);
	g_assert_cmpstr(told(feed, 5, 0), ==, LIMITED);
}

/* The timer lies in the item, 32 bytes behind its begin: work that is delayed by itself. */
static void test_delayed_work(void)
{
	FEED(2);

	kept_back(feed, 0x7720, 0x7700);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: sda, sector 64, 4 KiB, issued by kworker/1:1 (7)");
}

/* A worker that nobody's timer told to: it was given the item by another thread. */
static void test_given_work(void)
{
	FEED(2);

	begins(feed);
	sw(feed, 20, 1, "idle", 0, 0, "b", 6);
	sw(feed, MS, 0, "a", 5, 2, "idle", 0);
	work(feed, 50 * MS, "queue_work", 0x7700);
	waking(feed, 50 * MS, 1, 7);
	sw(feed, 51 * MS, 1, "b", 6, SLEEPS, "kworker/1:1", 7);
	work(feed, 51 * MS, "execute_start", 0x7700);
	BLOCK(51 * MS, 1, "bio_queue", .sector = 64, .sectors = 8, .tid = 7);
	BLOCK(51 * MS, 1, "rq_issue", .sector = 64, .sectors = 8, .tid = 7);
	work(feed, 52 * MS, "execute_end", 0x7700);
	completes(feed, 53 * MS, 64);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: sda, sector 64, 4 KiB, issued by kworker/1:1 (7) for b (6)");
}

/* It was let go before the wait began: the limit took no time of it. */
static void test_limit_before(void)
{
	FEED(2);

	begins(feed);
	timer_queues(feed, 50 * MS, 0x99, 0x7700);
	BLOCK(51 * MS, 1, "bio_queue", .sector = 64, .sectors = 8, .tid = 7);
	BLOCK(51 * MS, 1, "rq_issue", .sector = 64, .sectors = 8, .tid = 7);
	sw(feed, 52 * MS, 0, "a", 5, 2, "idle", 0);
	work(feed, 52 * MS, "execute_end", 0x7700);
	completes(feed, 53 * MS, 64);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: sda, sector 64, 4 KiB, issued by kworker/1:1 (7) 1.000 ms "
			"before this wait began");
}

/* A target that delays: its bio is known at once, and handed on at 51 ms. */
static void test_target_holds(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", .sector = 8, .sectors = 8, .tid = 5, .dev = MAPPED);
	sw(feed, MS, 0, "a", 5, 2, "idle", 0);
	timer_queues(feed, 50 * MS, 0x99, 0x7700);
	BLOCK(51 * MS, 1, "bio_remap", .sector = 8, .sectors = 8, .other = 8, .other_dev = MAPPED);
	BLOCK(51 * MS, 1, "bio_queue", .sector = 8, .sectors = 8, .tid = 7);
	BLOCK(52 * MS, 1, "bio_complete", .sector = 8, .sectors = 8);
	BLOCK(52 * MS, 1, "bio_complete", .sector = 8, .sectors = 8, .dev = MAPPED);
	waking(feed, 52 * MS, 1, 5);
	work(feed, 53 * MS, "execute_end", 0x7700);
	sw(feed, 54 * MS, 0, "idle", 0, 0, "a", 5);
	leave(feed, 55 * MS, 0, "pread64", 4096);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device?: dm-0, sector 8, 4 KiB, issued by itself, completed by "
			"kworker/1:1 (7); dm-0 kept it back by a timer of its own, before sda had "
			"it");
}

/* A target that hands on at once, to a disk that is slow: the disk. */
static void test_target_hands_on(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", .sector = 8, .sectors = 8, .tid = 5, .dev = MAPPED);
	BLOCK(12, 0, "bio_remap", .sector = 64, .sectors = 8, .other = 8, .other_dev = MAPPED);
	BLOCK(13, 0, "bio_queue", .sector = 64, .sectors = 8, .tid = 5);
	BLOCK(14, 0, "rq_issue", .sector = 64, .sectors = 8, .tid = 5);
	sw(feed, MS, 0, "a", 5, 2, "idle", 0);
	irq(feed, 52 * MS, 1, "irq_handler_entry", 9);
	BLOCK(52 * MS, 1, "rq_complete", .sector = 64, .sectors = 8);
	BLOCK(52 * MS, 1, "bio_complete", .sector = 8, .sectors = 8, .dev = MAPPED);
	waking(feed, 52 * MS, 1, 5);
	irq(feed, 52 * MS, 1, "irq_handler_exit", 9);
	sw(feed, 54 * MS, 0, "idle", 0, 0, "a", 5);
	leave(feed, 55 * MS, 0, "pread64", 4096);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: sda (of dm-0), sector 64, 4 KiB, issued by itself");
}

/* --- whose data -------------------------------------------------------------------- */

#define WRITE_SYNC 33
#define META 64

static void opens(struct feed *feed, int64_t time, uint32_t cpu, const char *path, int32_t fd)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_openat");

	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, time + 1, cpu, "openat", fd);
}

static void writes(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd, int64_t bytes)
{
	entry(feed, time, cpu, "write", fd);
	leave(feed, time + 1, cpu, "write", bytes);
}

/* 5 has `log` open on CPU 0, 6 `big` on CPU 1, both as 3; 6 writes 8 MiB. */
static void two_writers(struct feed *feed, const char *log, const char *big)
{
	sw(feed, 0, 0, "idle", 0, 0, "ledger", 5);
	sw(feed, 0, 1, "idle", 0, 0, "bulk", 6);
	named(feed, DISK, "sda");
	opens(feed, 10, 0, log, 3);
	opens(feed, 20, 1, big, 3);
	writes(feed, 30, 1, 3, 8 << 20);
}

/* `tid` queues and issues a request on `cpu` that takes until `end`, in an interrupt there. */
static void issues(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid, uint64_t sector,
		   uint32_t rwbs)
{
	BLOCK(time, cpu, "bio_queue", .sector = sector, .sectors = 2048, .tid = tid, .rwbs = rwbs);
	BLOCK(time, cpu, "rq_issue", .sector = sector, .sectors = 2048, .tid = tid, .rwbs = rwbs);
}

static void done(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid, uint64_t sector)
{
	irq(feed, time, cpu, "irq_handler_entry", 9);
	BLOCK(time, cpu, "rq_complete", .sector = sector, .sectors = 2048, .rwbs = 1);
	waking(feed, time, cpu, tid);
	irq(feed, time, cpu, "irq_handler_exit", 9);
}

/* 5's fsync writes 1 MiB of its own for 1 ms, and then waits for the journal, which writes 1 MiB
 * for 98 ms. */
static void commits(struct feed *feed, uint32_t rwbs)
{
	entry(feed, MS, 0, "fsync", 3);
	issues(feed, MS, 0, 5, 4096, WRITE_SYNC);
	sw(feed, MS + 1, 0, "ledger", 5, 2, "idle", 0);
	done(feed, 2 * MS, 0, 5, 4096);
	sw(feed, 2 * MS, 0, "idle", 0, 0, "ledger", 5);
	waking(feed, 2 * MS, 0, 7);
	sw(feed, 2 * MS, 0, "ledger", 5, 2, "jbd2/sda-8", 7);
	issues(feed, 2 * MS, 0, 7, 8192, rwbs);
	sw(feed, 2 * MS + 1, 0, "jbd2/sda-8", 7, 2, "idle", 0);
	done(feed, 100 * MS, 0, 7, 8192);
	sw(feed, 100 * MS, 0, "idle", 0, 0, "jbd2/sda-8", 7);
	waking(feed, 100 * MS, 0, 5);
	sw(feed, 101 * MS, 0, "jbd2/sda-8", 7, SLEEPS, "ledger", 5);
	leave(feed, 101 * MS, 0, "fsync", 0);
}

/* The commit writes the pages that 6 has written, beside 5's file. */
static void test_data_of_another(void)
{
	FEED(2);

	two_writers(feed, "/d/log", "/d/big");
	commits(feed, WRITE_SYNC);
	g_assert_cmpstr(
		told(feed, 7, 1), ==,
		"block-device?: sda, sector 8192, 1024 KiB, issued by itself for ledger (5) "
		"(inferred); meanwhile sda was busy for 98.00 ms with 1.0 MiB of bulk (6), "
		"written to /d/big (inferred)");
	g_assert_cmpstr(told(feed, 5, 1), ==,
			"process?: jbd2/sda-8 (7), which wrote the journal of sda for it");
}

/* What 6 has written lies on a disk that is not this one. */
static void test_data_elsewhere(void)
{
	FEED(2);

	two_writers(feed, "/d/log", "/e/big");
	named(feed, DISK + 16, "sdb");
	entry(feed, 100, 1, "fsync", 3);
	BLOCK(101, 1, "bio_queue", .sector = 8, .sectors = 8, .tid = 6, .rwbs = 1,
	      .dev = DISK + 16);
	leave(feed, 102, 1, "fsync", 0);
	commits(feed, WRITE_SYNC);
	g_assert_cmpstr(told(feed, 7, 1), ==,
			"block-device: sda, sector 8192, 1024 KiB, issued by itself for ledger (5) "
			"(inferred)");
}

/* The journal's own blocks are of who wants it written, however much somebody else wrote. */
static void test_data_own(void)
{
	FEED(2);

	two_writers(feed, "/d/log", "/d/big");
	commits(feed, WRITE_SYNC | META);
	g_assert_cmpstr(told(feed, 7, 1), ==,
			"block-device: sda, sector 8192, 1024 KiB, issued by itself for ledger (5) "
			"(inferred); sda did hardly anything else meanwhile: 99.00 ms for "
			"2.0 MiB of ledger (5)");
}

/* Events are lost meanwhile: what the disk did is not known. */
static void test_data_over_gap(void)
{
	FEED(3);

	two_writers(feed, "/d/log", "/d/big");
	lost(feed, 2, 500000, 90 * MS);
	commits(feed, WRITE_SYNC);
	g_assert_null(strstr(told(feed, 7, 0), "busy"));
}

/* --- dirty pages ------------------------------------------------------------------- */

/* 5's write sleeps from 1 to 21 ms, by a timer; `bdi`: the kernel's event before it. */
static void pauses(struct feed *feed, const char *bdi, int64_t pause)
{
	struct event event;

	entry(feed, MS - 10, 0, "write", 3);
	if (bdi) {
		event = event_of(feed, MS - 5, 0, "writeback_balance_dirty_pages");
		event.dirty.bdi = bdi;
		event.dirty.limit = 2560; /* pages: 10 MiB */
		event.dirty.dirty = 2048;
		event.dirty.pause = pause;
		send(feed, &event);
	}
	sw(feed, MS, 0, "ledger", 5, 2, "idle", 0);
	softirq(feed, 21 * MS, 0, "irq_softirq_entry", 1);
	waking(feed, 21 * MS, 0, 5);
	softirq(feed, 21 * MS, 0, "irq_softirq_exit", 1);
	sw(feed, 22 * MS, 0, "idle", 0, 0, "ledger", 5);
	leave(feed, 22 * MS, 0, "write", 4096);
}

static void test_pause(void)
{
	FEED(2);

	two_writers(feed, "/log", "/big");
	pauses(feed, "8:0", 20);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"throttled: kept back by the kernel as dirty pages reached their limit of "
			"10.0 MiB, with 8.0 MiB of bulk (6), written to /big (inferred); sda does "
			"0 KiB a second");
}

/* The event says that there is nothing to sleep for: the sleep was for something else. */
static void test_no_pause(void)
{
	FEED(2);

	two_writers(feed, "/log", "/big");
	pauses(feed, "8:0", 0);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"timer: timer (softIRQ TIMER; which one was not recorded)");
}

/* Without the event: a megabyte waits for the file's disk. */
static void test_pause_inferred(void)
{
	FEED(2);

	two_writers(feed, "/d/log", "/d/big");
	entry(feed, 100, 0, "read", 3); /* tells which disk /d is on */
	BLOCK(101, 0, "bio_queue", .sector = 8, .sectors = 8, .tid = 5);
	leave(feed, 102, 0, "read", 10);
	pauses(feed, NULL, 0);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"throttled?: kept back by the kernel as dirty pages reached their limit "
			"(inferred), with 8.0 MiB of bulk (6), written to /d/big (inferred); sda "
			"does 0 KiB a second");
}

/* … and nothing waits. */
static void test_pause_of_nothing(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "ledger", 5);
	named(feed, DISK, "sda");
	opens(feed, 10, 0, "/d/log", 3);
	entry(feed, 100, 0, "read", 3);
	BLOCK(101, 0, "bio_queue", .sector = 8, .sectors = 8, .tid = 5);
	leave(feed, 102, 0, "read", 10);
	pauses(feed, NULL, 0);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"timer: timer (softIRQ TIMER; which one was not recorded)");
}

/* --- workers of several ---------------------------------------------------------- */

/* How long `tid` is on the critical path of 5 up to `to`, ms. */
static int on_path(struct feed *feed, int32_t tid, int64_t to)
{
	struct path *path = path_new(feed->session, life(feed, 5, 0), 0, to);
	int64_t ns = 0;

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		if (model_thread(&feed->session->trace.model, piece->thread)->tid == tid)
			ns += piece->end - piece->begin;
	}
	path_free(path);
	return (int) (ns / MS);
}

/* 5 waits from 1 ms on; 8 gives the worker something at 20 ms, 6 at 50, for 5. */
static void worker_of_two(struct feed *feed, int64_t sleep)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "kworker/u4:1", 7);
	sw(feed, 0, 2, "idle", 0, 0, "server", 6);
	sw(feed, 0, 3, "idle", 0, 0, "other", 8);
	sw(feed, 2, 1, "kworker/u4:1", 7, sleep, "idle", 0);
	entry(feed, 10, 0, "pread64", 3);
	sw(feed, MS, 0, "a", 5, 2, "idle", 0);
	waking(feed, 20 * MS, 3, 7);
	sw(feed, 20 * MS, 1, "idle", 0, 0, "kworker/u4:1", 7);
	sw(feed, 21 * MS, 1, "kworker/u4:1", 7, sleep, "idle", 0);
	waking(feed, 50 * MS, 2, 7);
	sw(feed, 50 * MS, 1, "idle", 0, 0, "kworker/u4:1", 7);
	waking(feed, 51 * MS, 1, 5);
	sw(feed, 51 * MS, 0, "idle", 0, 0, "a", 5);
	plain(feed, 52 * MS, 0, "other");
	finish(feed);
}

/* What the worker did for 8 was no part of what 5 waited for: 6, from 1 to 50 ms. */
static void test_worker_of_two(void)
{
	FEED(4);

	worker_of_two(feed, IDLE_SLEEP);
	g_assert_cmpint(on_path(feed, 6, 52 * MS), ==, 49);
	g_assert_cmpint(on_path(feed, 8, 52 * MS), ==, 0);
	g_assert_cmpint(on_path(feed, 7, 52 * MS), ==, 1);
}

/* It slept inside one item of work, which 8 and then 6 let go on: both count. */
static void test_worker_in_item(void)
{
	FEED(4);

	worker_of_two(feed, 2);
	g_assert_cmpint(on_path(feed, 6, 52 * MS), ==, 29);
	g_assert_cmpint(on_path(feed, 8, 52 * MS), ==, 19);
	g_assert_cmpint(on_path(feed, 7, 52 * MS), ==, 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/storage/limit", test_limit);
	g_test_add_func("/storage/limit-by-softirq", test_limit_by_softirq);
	g_test_add_func("/storage/delayed-work", test_delayed_work);
	g_test_add_func("/storage/given-work", test_given_work);
	g_test_add_func("/storage/limit-before", test_limit_before);
	g_test_add_func("/storage/target-holds", test_target_holds);
	g_test_add_func("/storage/target-hands-on", test_target_hands_on);
	g_test_add_func("/storage/data-of-another", test_data_of_another);
	g_test_add_func("/storage/data-elsewhere", test_data_elsewhere);
	g_test_add_func("/storage/data-own", test_data_own);
	g_test_add_func("/storage/data-over-gap", test_data_over_gap);
	g_test_add_func("/storage/pause", test_pause);
	g_test_add_func("/storage/no-pause", test_no_pause);
	g_test_add_func("/storage/pause-inferred", test_pause_inferred);
	g_test_add_func("/storage/pause-of-nothing", test_pause_of_nothing);
	g_test_add_func("/storage/worker-of-two", test_worker_of_two);
	g_test_add_func("/storage/worker-in-item", test_worker_in_item);
	return g_test_run();
}
