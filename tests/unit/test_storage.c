/* SPDX-License-Identifier: MIT */
/* Requests that something kept back, and whose data a wait was for. Expectations are worked out
 * by hand from the events; for each kind there is one that looks alike and is something else.
 */
#include "feed.h"

#define g_autofeed __attribute__((cleanup(feed_cleanup)))
#define FEED(cpus) g_autofeed struct feed *feed = feed_new(cpus)

#define DISK (8u << 20)
#define MAPPED (253u << 20)
#define MS INT64_C(1000000)

static void feed_cleanup(struct feed **feed)
{
	feed_free(*feed);
}

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
	return g_test_run();
}
