/* SPDX-License-Identifier: MIT */
/* Block requests and those who work for others: from a thread's bio to the
 * wake-up that its completion makes, and the ways this goes wrong. Expectations
 * are worked out by hand: queued is from the first bio (or insert) to the issue,
 * served from there to the completion; who asked is who queued the bio.
 */
#include "feed.h"

#define DISK (8u << 20)
#define MAPPED (253u << 20)
#define FLUSH (256 | 1024) /* rwbs of a flush of the cache, as recorded with Linux 6.1 */

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

#define BLOCK(time, cpu, name, first, count, who)                                                  \
	block(feed, time, cpu, name,                                                               \
	      (struct at) {.sector = (first), .sectors = (count), .tid = (who)})
#define BLOCK_OF(time, cpu, name, ...) block(feed, time, cpu, name, (struct at) {__VA_ARGS__})

/* 5 is in pread64 on CPU 0, 6 in none on CPU 1; 7 may follow on CPU 2. */
static void begins(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "pread64", 3);
}

static void sleeps(struct feed *feed)
{
	sw(feed, 20, 0, "a", 5, 2, "idle", 0);
}

/* At `time` + 1 the request completes, and 5 is woken; on CPU 1. */
static void completes(struct feed *feed, int64_t time, uint64_t sector, uint32_t sectors)
{
	irq(feed, time, 1, "irq_handler_entry", 9);
	BLOCK(time + 1, 1, "rq_complete", sector, sectors, 0);
	waking(feed, time + 2, 1, 5);
	irq(feed, time + 3, 1, "irq_handler_exit", 9);
}

static void runs(struct feed *feed, int64_t time)
{
	sw(feed, time, 0, "idle", 0, 0, "a", 5);
	plain(feed, time + 10, 0, "other");
}

/* The nth wait of `tid`: its cause, "?" where inferred, and the request's times. */
static const char *told(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause = wait_cause(feed->session, g_ptr_array_index(waits, nth));

	g_ptr_array_add(feed->texts,
			g_strdup_printf("%s%s: %s; %d, %d", cause_kind_text(cause.kind),
					cause.inferred ? "?" : "", cause.label, (int) cause.queued,
					(int) cause.served));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* The waits below the nth of `tid`: "TID BEGIN-END, …". */
static const char *below(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	GString *text = g_string_new(NULL);

	for (guint i = 0; wait->children && i < wait->children->len; i++) {
		const struct wait *child = g_ptr_array_index(wait->children, i);

		g_string_append_printf(
			text, "%s%d %d-%d", i ? ", " : "",
			model_thread(&feed->session->trace.model, child->thread)->tid,
			(int) child->begin, (int) child->end);
	}
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* The thread's pieces on the critical path to the end: "TID BEGIN-END, …". */
static const char *path_of(struct feed *feed, int32_t tid)
{
	uint32_t thread = life(feed, tid, 0);
	struct path *path =
		path_new(feed->session, thread, feed->session->asked.from, feed->session->asked.to);
	GString *text = g_string_new(NULL);
	int64_t at = feed->session->asked.from;

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		g_assert_cmpint(piece->begin, ==, at); /* they tile the window */
		at = piece->end;
		if (leaf_is_blocked(piece->leaf))
			g_string_append_printf(
				text, "%s%d %d-%d", text->len ? ", " : "",
				model_thread(&feed->session->trace.model, piece->thread)->tid,
				(int) piece->begin, (int) piece->end);
	}
	g_assert_cmpint(at, ==, feed->session->asked.to);
	path_free(path);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* --- requests -------------------------------------------------------------------- */

/* From the bio, not from the insert, to the issue; whoever issues it. */
static void test_bio(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", 64, 8, 5);
	BLOCK(12, 0, "getrq", 64, 8, 5);
	BLOCK(14, 0, "rq_insert", 64, 8, 5);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 64, 8, 6);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, "
			"issued by itself; 19, 71");
}

/* Inserted by 5, issued by 6: 5 asked. No bio: from the insert on. */
static void test_insert(void)
{
	FEED(2);

	begins(feed);
	BLOCK(14, 0, "rq_insert", 64, 8, 5);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 64, 8, 6);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, "
			"issued by itself; 16, 71");
}

/* Only a kernel worker's issue was seen, in the wait: inferred. Only the
 * completion was: by an unknown thread. */
static void test_issuer_only(void)
{
	FEED(2);

	begins(feed);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1H", 7);
	BLOCK(30, 1, "rq_issue", 64, 8, 7);
	completes(feed, 100, 64, 8);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	sw(feed, 120, 0, "a", 5, 2, "idle", 0);
	completes(feed, 130, 64, 8);
	runs(feed, 140);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device?: device 8:0, sector 64, 4 KiB, issued by kworker/1:1H (7), "
			"inferred to be for a (its completion woke it); -1, 71");
	g_assert_cmpstr(told(feed, 5, 1), ==,
			"block-device?: device 8:0, sector 64, by whom it "
			"was issued is not known; -1, -1");
}

/* 5's bio and then 6's behind it are one request; 5, 6 and 8 wait for it. */
static void merged(struct feed *feed, bool events, bool front)
{
	uint64_t first = front ? 72 : 64, second = front ? 64 : 72;

	begins(feed);
	BLOCK(11, 0, "bio_queue", first, 8, 5);
	entry(feed, 12, 1, "write", 4);
	BLOCK(13, 1, "bio_queue", second, 8, 6);
	if (events)
		BLOCK(14, 1, front ? "bio_frontmerge" : "bio_backmerge", second, 8, 6);
	BLOCK(15, 1, "rq_issue", 64, 16, 6);
	sleeps(feed);
	sw(feed, 21, 1, "b", 6, 2, "c", 8);
	entry(feed, 22, 1, "read", 4);
	sw(feed, 23, 1, "c", 8, 2, "idle", 0);
	irq(feed, 100, 1, "irq_handler_entry", 9);
	BLOCK(101, 1, "rq_complete", 64, 16, 0);
	waking(feed, 102, 1, 5);
	waking(feed, 103, 1, 6);
	waking(feed, 104, 1, 8);
	irq(feed, 105, 1, "irq_handler_exit", 9);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 8 KiB of 2 "
			"bios, issued by itself and 1 other; 4, 86");
	g_assert_cmpstr(told(feed, 6, 0), ==,
			"block-device: device 8:0, sector 64, 8 KiB of 2 "
			"bios, issued by itself and 1 other; 4, 86");
	g_assert_cmpstr(told(feed, 8, 0), ==,
			"block-device: device 8:0, sector 64, 8 KiB of 2 bios, issued by a (5) in "
			"pread64 and 1 other 12 ns before this wait began; 4, 86");
}

static void test_merged(void)
{
	for (int events = 0; events < 2; events++)
		for (int front = 0; front < 2; front++) {
			FEED(2);

			merged(feed, events, front);
		}
}

/* One bio, two requests, the second issued first. */
static void test_split(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", 64, 16, 5);
	BLOCK_OF(12, 0, "split", .sector = 64, .sectors = 16, .other = 72);
	BLOCK(13, 0, "getrq", 64, 8, 5);
	BLOCK(14, 0, "getrq", 72, 8, 5);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 72, 8, 6);
	BLOCK(40, 1, "rq_issue", 64, 8, 6);
	irq(feed, 50, 1, "irq_handler_entry", 9);
	BLOCK(51, 1, "rq_complete", 72, 8, 0);
	irq(feed, 53, 1, "irq_handler_exit", 9);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, "
			"issued by itself; 29, 61");
}

/* The same with nothing said of the split: what is issued is a part, the rest
 * waits on. */
static void test_split_unsaid(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", 64, 16, 5);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 64, 8, 6);
	BLOCK(40, 1, "rq_issue", 72, 8, 6);
	irq(feed, 50, 1, "irq_handler_entry", 9);
	BLOCK(51, 1, "rq_complete", 64, 8, 0);
	irq(feed, 53, 1, "irq_handler_exit", 9);
	completes(feed, 100, 72, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 72, 4 KiB, "
			"issued by itself; 29, 61");
}

/* The device does half of it first: one request, served until the rest is done. */
static void test_in_parts(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", 64, 16, 5);
	BLOCK(15, 0, "rq_issue", 64, 16, 5);
	sleeps(feed);
	irq(feed, 50, 1, "irq_handler_entry", 9);
	BLOCK(51, 1, "rq_complete", 64, 8, 0);
	irq(feed, 53, 1, "irq_handler_exit", 9);
	completes(feed, 100, 72, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 72, 8 KiB, "
			"issued by itself; 4, 86");
}

/* The driver gives it back once: queued until its last issue. */
static void test_requeue(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", 64, 8, 5);
	BLOCK(12, 0, "rq_issue", 64, 8, 5);
	BLOCK(13, 0, "rq_requeue", 64, 8, 0);
	BLOCK(14, 0, "rq_insert", 64, 8, 5);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 64, 8, 6);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, "
			"issued by itself; 19, 71");
}

/* A sector is used again after its completion: nothing of the first remains. */
static void test_sector_again(void)
{
	FEED(2);

	begins(feed);
	BLOCK(11, 0, "bio_queue", 64, 8, 5);
	BLOCK(12, 0, "rq_issue", 64, 8, 5);
	sleeps(feed);
	completes(feed, 100, 64, 8);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	sw(feed, 120, 0, "a", 5, 2, "idle", 0);
	BLOCK(130, 1, "rq_issue", 64, 16, 6);
	completes(feed, 200, 64, 16);
	runs(feed, 210);
	g_assert_cmpstr(told(feed, 5, 1), ==,
			"block-device: device 8:0, sector 64, 8 KiB, "
			"issued by b (6); -1, 71");
}

/* Issued twice with no completion seen between (lost, or two threads at once):
 * who of them it was is not known, nor how long it took. A larger completion than
 * what was issued is of another request. */
static void test_doubt(void)
{
	FEED(2);

	begins(feed);
	BLOCK(12, 0, "rq_issue", 64, 8, 5);
	lost(feed, 1, 13, 14);
	sw(feed, 16, 1, "x", 1, SLEEPS, "b", 6);
	sleeps(feed);
	entry(feed, 25, 1, "read", 4);
	BLOCK(30, 1, "rq_issue", 64, 8, 6);
	completes(feed, 100, 64, 8);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	BLOCK(112, 0, "rq_issue", 64, 8, 5);
	sw(feed, 120, 0, "a", 5, 2, "idle", 0);
	completes(feed, 200, 64, 16);
	runs(feed, 210);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, issued by itself and 1 other; "
			"two requests for that sector were on their way, so its times are not "
			"known; -1, -1");
	g_assert_cmpstr(told(feed, 5, 1), ==,
			"block-device?: device 8:0, sector 64, by whom it "
			"was issued is not known; -1, -1");
}

/* A mapped device hands on; the other device's request is still of who asked. */
static void test_remap(void)
{
	FEED(2);

	begins(feed);
	BLOCK_OF(11, 0, "bio_queue", .sector = 8, .sectors = 8, .tid = 5, .dev = MAPPED);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/u4:1", 7);
	BLOCK_OF(30, 1, "bio_remap", .sector = 64, .sectors = 8, .other = 8, .other_dev = MAPPED);
	BLOCK(31, 1, "bio_queue", 64, 8, 7);
	BLOCK(35, 1, "rq_issue", 64, 8, 7);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0 (of device 253:0), "
			"sector 64, 4 KiB, issued by itself; 24, 66");
}

static void named_at(struct feed *feed, int64_t time, uint32_t dev, const char *name)
{
	struct event event = event_of(feed, time, 0, "lttng_statedump_block_device");

	event.device.dev = dev;
	event.device.name = name;
	send(feed, &event);
}

static void named(struct feed *feed, uint32_t dev, const char *name)
{
	named_at(feed, 1, dev, name);
}

/* The statedump comes after what was asked first: it is one disk all the same. Not where the name
 * is that of another one already. */
static void test_named_late(void)
{
	for (int taken = 0; taken < 2; taken++) {
		FEED(3);

		begins(feed);
		if (taken)
			named(feed, DISK + 16, "sda");
		BLOCK(11, 0, "bio_queue", 64, 8, 5);
		sleeps(feed);
		BLOCK(30, 1, "rq_issue", 64, 8, 7);
		completes(feed, 100, 64, 8);
		named_at(feed, 110, DISK, "sda");
		runs(feed, 120);
		g_assert_cmpstr(
			told(feed, 5, 0), ==,
			taken ? "block-device: device 8:0, sector 64, 4 KiB, issued by itself; "
				"19, 71"
			      : "block-device: sda, sector 64, 4 KiB, issued by itself; 19, 71");
	}
}

/* Since Linux 5.12 bios are of the partition, with the disk's sectors. */
static void test_partition(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	named(feed, DISK, "sda");
	named(feed, DISK + 1, "sda1");
	named(feed, DISK + 16, "sdaa"); /* no partition of sda */
	entry(feed, 10, 0, "pread64", 3);
	BLOCK_OF(11, 0, "bio_remap", .sector = 2112, .sectors = 8, .dev = DISK + 1, .other = 64,
		 .other_dev = DISK + 1);
	BLOCK_OF(11, 0, "bio_queue", .sector = 2112, .sectors = 8, .tid = 5, .dev = DISK + 1);
	BLOCK_OF(12, 0, "bio_queue", .sector = 2112, .sectors = 8, .tid = 6, .dev = DISK + 16);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 2112, 8, 6);
	completes(feed, 100, 2112, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: sda (of sda1), sector 2112, 4 KiB, "
			"issued by itself; 19, 71");
}

/* A mapped device on a partition: two remappings, the second of the sector only.
 * Before Linux 5.12 the second one names the disk; what waits there on the sector
 * that the partition's had is another's. */
static void test_remap_twice(void)
{
	for (int old = 0; old < 2; old++) {
		FEED(2);

		sw(feed, 0, 0, "idle", 0, 0, "a", 5);
		sw(feed, 0, 1, "idle", 0, 0, "b", 6);
		named(feed, DISK, "sda");
		named(feed, DISK + 1, "sda1");
		named(feed, MAPPED, "dm-0");
		entry(feed, 10, 0, "pread64", 3);
		BLOCK(10, 1, "bio_queue", 64, 8, 6);
		BLOCK_OF(11, 0, "bio_queue", .sector = 8, .sectors = 8, .tid = 5, .dev = MAPPED);
		BLOCK_OF(12, 0, "bio_remap", .sector = 72, .sectors = 8,
			 .dev = old ? DISK : DISK + 1, .other = 8, .other_dev = MAPPED);
		BLOCK_OF(13, 0, "bio_remap", .sector = 2112, .sectors = 8,
			 .dev = old ? DISK : DISK + 1, .other = old ? 64 : 72,
			 .other_dev = DISK + 1);
		BLOCK_OF(14, 0, "bio_queue", .sector = 2112, .sectors = 8, .tid = 5,
			 .dev = old ? DISK : DISK + 1);
		sleeps(feed);
		BLOCK(30, 1, "rq_issue", 2112, 8, 6);
		completes(feed, 100, 2112, 8);
		runs(feed, 110);
		g_assert_cmpstr(told(feed, 5, 0), ==,
				old ? "block-device: sda (of sda1), sector 2112, 4 KiB, issued by "
				      "itself; 17, 71"
				    : "block-device: sda (of dm-0), sector 2112, 4 KiB, issued by "
				      "itself; 19, 71");
	}
}

/* 6 asked before 5 began to wait for the same block: by read-ahead. */
static void test_begun_before(void)
{
	FEED(2);

	begins(feed);
	entry(feed, 11, 1, "readahead", 4);
	BLOCK_OF(12, 1, "bio_queue", .sector = 64, .sectors = 8, .tid = 6, .rwbs = 4 | 8);
	BLOCK_OF(13, 1, "rq_issue", .sector = 64, .sectors = 8, .tid = 6, .rwbs = 4 | 8);
	sleeps(feed);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, read-ahead, issued by b (6) "
			"in readahead 8 ns before this wait began; 1, 88");
	g_assert_cmpstr(path_of(feed, 5), ==, "5 20-102");
}

/* What never completes does not pile up, and does not harm what does. */
static void test_pile(void)
{
	FEED(2);

	begins(feed);
	for (int i = 0; i < 50000; i++)
		BLOCK_OF(11, 0, "bio_queue", .sector = 1000 + 8 * (uint64_t) i, .sectors = 8,
			 .tid = 5, .dev = MAPPED);
	BLOCK(11, 0, "bio_queue", 64, 8, 5);
	for (int i = 0; i < 8000; i++)
		BLOCK(12, 1, "rq_issue", 5000000 + 8 * (uint64_t) i, 8, 6);
	sleeps(feed);
	BLOCK(30, 1, "rq_issue", 64, 8, 6);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpuint(model_host(&feed->session->trace.model, 0)->on_way->len, <=, 16384);
	g_assert_cmpuint(model_host(&feed->session->trace.model, 0)->requests.count, <=, 16384);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, "
			"issued by itself; 19, 71");
}

/* A journal's commit block: the cache is flushed, by a worker, before it is
 * issued; it completes a second time when the flush after it has. */
static void test_flush(void)
{
	FEED(2);

	begins(feed);
	BLOCK_OF(11, 0, "bio_queue", .sector = 64, .sectors = 8, .tid = 5, .rwbs = 1 | 512 | 1024);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1H", 7);
	BLOCK_OF(30, 1, "rq_issue", .tid = 7, .rwbs = FLUSH);
	irq(feed, 40, 1, "irq_handler_entry", 9);
	BLOCK_OF(41, 1, "rq_complete", .sector = UINT64_MAX, .rwbs = FLUSH);
	irq(feed, 43, 1, "irq_handler_exit", 9);
	BLOCK(50, 1, "rq_issue", 64, 8, 7);
	irq(feed, 60, 1, "irq_handler_entry", 9);
	BLOCK(61, 1, "rq_complete", 64, 8, 0);
	irq(feed, 63, 1, "irq_handler_exit", 9);
	BLOCK_OF(70, 1, "rq_issue", .tid = 7, .rwbs = FLUSH);
	irq(feed, 100, 1, "irq_handler_entry", 9);
	BLOCK_OF(100, 1, "rq_complete", .sector = UINT64_MAX, .rwbs = FLUSH);
	BLOCK(101, 1, "rq_complete", 64, 0, 0);
	waking(feed, 102, 1, 5);
	irq(feed, 103, 1, "irq_handler_exit", 9);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, "
			"issued by itself; 39, 51");
}

/* A write of nothing, which is never issued, completes behind the flush that it was made for (as
 * recorded with Linux 6.1: rwbs 33); on another disk, or in an interrupt without a flush, it is
 * none. */
static void test_flush_alone(void)
{
	for (int i = 0; i < 3; i++) {
		FEED(2);

		begins(feed);
		sleeps(feed);
		sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1H", 7);
		BLOCK_OF(30, 1, "rq_issue", .tid = 7, .rwbs = FLUSH);
		irq(feed, 40, 1, "irq_handler_entry", 9);
		BLOCK_OF(41, 1, "rq_complete", .sector = UINT64_MAX, .rwbs = FLUSH);
		if (i == 1) {
			irq(feed, 42, 1, "irq_handler_exit", 9);
			irq(feed, 43, 1, "irq_handler_entry", 9);
		}
		BLOCK_OF(44, 1, "rq_complete", .dev = i == 2 ? DISK + 1 : DISK, .rwbs = 1 | 32);
		waking(feed, 45, 1, 5);
		irq(feed, 46, 1, "irq_handler_exit", 9);
		runs(feed, 50);
		g_assert_cmpstr(told(feed, 5, 0), ==,
				i ? "irq: dev; -1, -1"
				  : "block-device?: device 8:0, flush of its cache, issued by "
				    "kworker/1:1H (7), inferred to be for a (its completion woke "
				    "it); -1, 11");
	}
}

/* The driver's interrupt is a thread: what it completes and whom it wakes are of the
 * request as in an interrupt. Woken before anything completed, 6 is woken by the thread. */
static void test_threaded(void)
{
	FEED(2);

	begins(feed);
	BLOCK(12, 0, "rq_issue", 64, 8, 5);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "irq/25-ahci", 7);
	waking(feed, 30, 1, 6);
	BLOCK(31, 1, "rq_complete", 64, 8, 0);
	waking(feed, 32, 1, 5);
	sw(feed, 40, 1, "irq/25-ahci", 7, SLEEPS, "b", 6);
	runs(feed, 50);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, issued "
			"by itself, completed by irq/25-ahci (7); -1, 19");
	g_assert_cmpstr(told(feed, 6, 0), ==, "process: irq/25-ahci (7); -1, -1");
	g_assert_cmpstr(below(feed, 5, 0), ==, "");
	g_assert_cmpstr(path_of(feed, 5), ==, "5 20-32");
}

/* 6 waits for a flush of the cache; a command without sectors, as smartctl's, that 5
 * waits for, completes in the middle of it: that is no flush, and ends none. */
static void test_command(void)
{
	FEED(2);

	begins(feed);
	BLOCK(12, 0, "rq_issue", 0, 0, 5);
	sleeps(feed);
	entry(feed, 25, 1, "fsync", 4);
	BLOCK_OF(30, 1, "rq_issue", .tid = 6, .rwbs = FLUSH);
	sw(feed, 32, 1, "b", 6, 2, "idle", 0);
	completes(feed, 40, 0, 0);
	runs(feed, 50);
	irq(feed, 90, 1, "irq_handler_entry", 9);
	BLOCK_OF(91, 1, "rq_complete", .sector = UINT64_MAX, .rwbs = FLUSH);
	waking(feed, 92, 1, 6);
	irq(feed, 93, 1, "irq_handler_exit", 9);
	sw(feed, 100, 1, "idle", 0, 0, "b", 6);
	g_assert_cmpstr(told(feed, 5, 0), ==, "irq: dev; -1, -1");
	g_assert_cmpstr(told(feed, 6, 0), ==,
			"block-device: device 8:0, flush of its cache, "
			"issued by itself; -1, 61");
}

/* The issue of the second flush was lost: it is not the first, which is done. */
static void test_flush_unseen(void)
{
	FEED(2);

	begins(feed);
	BLOCK_OF(12, 0, "rq_issue", .tid = 5, .rwbs = FLUSH);
	BLOCK_OF(14, 1, "rq_complete", .sector = UINT64_MAX, .rwbs = FLUSH);
	sleeps(feed);
	irq(feed, 90, 1, "irq_handler_entry", 9);
	BLOCK_OF(91, 1, "rq_complete", .sector = UINT64_MAX, .rwbs = FLUSH);
	waking(feed, 92, 1, 5);
	irq(feed, 93, 1, "irq_handler_exit", 9);
	runs(feed, 100);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device?: device 8:0, flush of its cache, by "
			"whom it was issued is not known; -1, -1");
}

/* io_submit by one thread, io_getevents by another. */
static void test_aio(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 1, "io_submit", 0);
	BLOCK(12, 1, "rq_issue", 64, 8, 6);
	leave(feed, 14, 1, "io_submit", 1);
	entry(feed, 16, 0, "io_getevents", 0);
	sleeps(feed);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, issued by b (6) in io_submit "
			"8 ns before this wait began; -1, 89");
}

/* --- workers ------------------------------------------------------------------------ */

static void work(struct feed *feed, int64_t time, uint32_t cpu, const char *name, uint64_t item)
{
	g_autofree char *full = g_strconcat("workqueue_", name, NULL);
	struct event event = event_of(feed, time, cpu, full);

	event.work.item = item;
	event.work.function = 0xabc;
	send(feed, &event);
}

/* 5's request completes, a worker finishes it; before, the worker had waited for
 * 6's: that is no part of the wait. */
static void finished_by_worker(struct feed *feed, bool events, const char *call)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, call, 3);
	BLOCK(11, 0, "rq_issue", 64, 8, 5);
	BLOCK(12, 1, "rq_issue", 800, 8, 6);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1", 7);
	sw(feed, 26, 1, "kworker/1:1", 7, IDLE_SLEEP, "idle", 0);
	irq(feed, 40, 1, "irq_handler_entry", 9);
	BLOCK(41, 1, "rq_complete", 800, 8, 0);
	if (events)
		work(feed, 42, 1, "queue_work", 0x66);
	waking(feed, 43, 1, 7);
	irq(feed, 44, 1, "irq_handler_exit", 9);
	sw(feed, 50, 1, "idle", 0, 0, "kworker/1:1", 7);
	if (events)
		work(feed, 51, 1, "execute_start", 0x66);
	if (events)
		work(feed, 52, 1, "execute_end", 0x66);
	sw(feed, 53, 1, "kworker/1:1", 7, IDLE_SLEEP, "idle", 0);
	irq(feed, 100, 1, "irq_handler_entry", 9);
	BLOCK(101, 1, "rq_complete", 64, 8, 0);
	if (events)
		work(feed, 102, 1, "queue_work", 0x77);
	waking(feed, 103, 1, 7);
	irq(feed, 104, 1, "irq_handler_exit", 9);
	sw(feed, 110, 1, "idle", 0, 0, "kworker/1:1", 7);
	if (events)
		work(feed, 111, 1, "execute_start", 0x77);
	waking(feed, 120, 1, 5);
	runs(feed, 130);
}

static void test_finished_by_worker(void)
{
	FEED(2);

	finished_by_worker(feed, true, "pread64");
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device: device 8:0, sector 64, 4 KiB, issued by itself, finished by "
			"kworker/1:1 (7) doing 0xabc; -1, 90");
	g_assert_cmpstr(below(feed, 5, 0), ==, "7 102-103");
	g_assert_cmpstr(path_of(feed, 5), ==, "5 20-102, 7 102-103");
}

static void test_finished_inferred(void)
{
	FEED(2);

	finished_by_worker(feed, false, "pread64");
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"block-device?: device 8:0, sector 64, 4 KiB, issued by itself, finished "
			"by kworker/1:1 (7) (inferred); -1, 90");
	g_assert_cmpstr(below(feed, 5, 0), ==, "7 101-103");
}

/* In poll it may have waited for anything that workers do. */
static void test_finished_not_inferred(void)
{
	FEED(2);

	finished_by_worker(feed, false, "poll");
	g_assert_cmpstr(told(feed, 5, 0), ==, "process: kworker/1:1 (7); -1, -1");
}

/* No request of 5's, and none that woke the worker: nothing is said. */
static void test_worker_unknown(void)
{
	FEED(2);

	begins(feed);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1", 7);
	waking(feed, 120, 1, 5);
	runs(feed, 130);
	g_assert_cmpstr(told(feed, 5, 0), ==, "process: kworker/1:1 (7); -1, -1");
}

/* 6 sleeps, then queues the item in 5's wait: 6 until then, the worker after it,
 * whatever that did before. */
static void test_queued_in_wait(void)
{
	FEED(3);

	begins(feed);
	sw(feed, 0, 2, "idle", 0, 0, "kworker/2:1", 7);
	sleeps(feed);
	sw(feed, 22, 2, "kworker/2:1", 7, IDLE_SLEEP, "idle", 0);
	sw(feed, 25, 1, "b", 6, SLEEPS, "idle", 0);
	irq(feed, 35, 1, "irq_handler_entry", 9);
	waking(feed, 36, 1, 6);
	irq(feed, 37, 1, "irq_handler_exit", 9);
	sw(feed, 40, 1, "idle", 0, 0, "b", 6);
	work(feed, 50, 1, "queue_work", 0x77);
	waking(feed, 52, 1, 7);
	sw(feed, 60, 2, "idle", 0, 0, "kworker/2:1", 7);
	work(feed, 61, 2, "execute_start", 0x77);
	waking(feed, 90, 2, 5);
	runs(feed, 100);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"process: kworker/2:1 (7), doing 0xabc queued by b (6); -1, -1");
	g_assert_cmpstr(below(feed, 5, 0), ==, "6 25-36, 7 50-52");
	/* the worker's wait until 52 was ended by 6, who worked */
	g_assert_cmpstr(path_of(feed, 5), ==, "6 25-36");
}

static void writeback(struct feed *feed, int64_t time, uint32_t cpu, const char *name)
{
	g_autofree char *full = g_strconcat("writeback_", name, NULL);
	struct event event = event_of(feed, time, cpu, full);

	if (event.kind != EV_WRITEBACK_END)
		event.writeback.name = "8:0";
	send(feed, &event);
}

/* No work queue events, but those of the writeback: 6 wanted it written, 5 waits
 * for one of the pages. */
static void test_writeback(void)
{
	FEED(3);

	begins(feed);
	sw(feed, 0, 2, "idle", 0, 0, "kworker/u4:1", 7);
	entry(feed, 11, 1, "sync", -1);
	writeback(feed, 12, 1, "queue");
	writeback(feed, 14, 2, "exec");
	BLOCK(15, 2, "bio_queue", 64, 8, 7);
	writeback(feed, 16, 2, "pages_written");
	BLOCK(17, 2, "bio_queue", 72, 8, 7); /* nobody's */
	BLOCK(18, 2, "rq_issue", 64, 8, 7);
	BLOCK(18, 2, "rq_issue", 72, 8, 7);
	sleeps(feed);
	completes(feed, 100, 64, 8);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	sw(feed, 120, 0, "a", 5, 2, "idle", 0);
	completes(feed, 130, 72, 8);
	runs(feed, 140);
	g_assert_cmpstr(
		told(feed, 5, 0), ==,
		"block-device: device 8:0, sector 64, 4 KiB, issued by kworker/u4:1 (7) for "
		"b (6) 5 ns before this wait began; 3, 83");
	g_assert_cmpstr(told(feed, 5, 1), ==,
			"block-device: device 8:0, sector 72, 4 KiB, issued by kworker/u4:1 (7) "
			"103 ns before this wait began; 1, 113");
}

/* Two want the same disk's pages written before a worker begins: whose it does then
 * is not known, nor whose is next. */
static void test_writeback_of_two(void)
{
	FEED(4);

	begins(feed);
	sw(feed, 0, 2, "idle", 0, 0, "kworker/u4:1", 7);
	sw(feed, 0, 3, "idle", 0, 0, "c", 8);
	entry(feed, 11, 1, "sync", -1);
	entry(feed, 11, 3, "sync", -1);
	writeback(feed, 12, 1, "queue");
	writeback(feed, 13, 3, "queue");
	writeback(feed, 14, 2, "exec");
	BLOCK(15, 2, "bio_queue", 64, 8, 7);
	writeback(feed, 16, 2, "pages_written");
	BLOCK(18, 2, "rq_issue", 64, 8, 7);
	sleeps(feed);
	completes(feed, 100, 64, 8);
	runs(feed, 110);
	g_assert_cmpstr(
		told(feed, 5, 0), ==,
		"block-device: device 8:0, sector 64, 4 KiB, issued by kworker/u4:1 (7) 5 ns "
		"before this wait began; 3, 83");
}

/* Queued again while it is done: the second time is of who queued it then. */
static void test_queued_again(void)
{
	FEED(3);

	begins(feed);
	sw(feed, 0, 2, "idle", 0, 0, "c", 8);
	work(feed, 12, 1, "queue_work", 0x77);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1", 7);
	work(feed, 26, 1, "execute_start", 0x77);
	work(feed, 30, 2, "queue_work", 0x77);
	waking(feed, 40, 1, 5);
	work(feed, 45, 1, "execute_end", 0x77);
	sw(feed, 50, 0, "idle", 0, 0, "a", 5);
	sw(feed, 55, 0, "a", 5, 2, "idle", 0);
	work(feed, 60, 1, "execute_start", 0x77);
	waking(feed, 70, 1, 5);
	runs(feed, 80);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"process: kworker/1:1 (7), doing 0xabc queued by b (6); -1, -1");
	g_assert_cmpstr(told(feed, 5, 1), ==,
			"process: kworker/1:1 (7), doing 0xabc queued by c (8); -1, -1");
}

/* The worker sleeps in the middle of an item, and events of another CPU are lost before
 * it comes back: it may have run there, and be at another item by now. Where nothing is
 * lost it is at the same. */
static void test_item_over_gap(void)
{
	for (int gap = 0; gap < 2; gap++) {
		FEED(3);

		begins(feed);
		sw(feed, 0, 2, "idle", 0, 0, "c", 8);
		work(feed, 12, 1, "queue_work", 0x77);
		sleeps(feed);
		sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/u4:1", 7);
		work(feed, 26, 1, "execute_start", 0x77);
		sw(feed, 30, 1, "kworker/u4:1", 7, 2, "idle", 0);
		if (gap)
			lost(feed, 2, 40, 50);
		waking(feed, 60, 1, 7);
		sw(feed, 65, 1, "idle", 0, 0, "kworker/u4:1", 7);
		waking(feed, 70, 1, 5);
		runs(feed, 80);
		g_assert_cmpstr(
			told(feed, 5, 0), ==,
			gap ? "process: kworker/u4:1 (7); -1, -1"
			    : "process: kworker/u4:1 (7), doing 0xabc queued by b (6); -1, -1");
	}
}

/* Delayed work: queued by a timer that somebody armed. */
static void test_delayed_work(void)
{
	FEED(2);
	struct event event;

	begins(feed);
	event = event_of(feed, 12, 1, "timer_start");
	event.timer.timer = 0x99;
	send(feed, &event);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, "kworker/1:1", 7);
	softirq(feed, 40, 1, "irq_softirq_entry", 1);
	event = event_of(feed, 41, 1, "timer_expire_entry");
	event.timer.timer = 0x99;
	send(feed, &event);
	work(feed, 42, 1, "queue_work", 0x77);
	event = event_of(feed, 43, 1, "timer_expire_exit");
	event.timer.timer = 0x99;
	send(feed, &event);
	softirq(feed, 44, 1, "irq_softirq_exit", 1);
	work(feed, 50, 1, "execute_start", 0x77);
	waking(feed, 60, 1, 5);
	runs(feed, 70);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"process: kworker/1:1 (7), doing 0xabc queued by a "
			"timer armed by b (6); -1, -1");
	g_assert_cmpstr(path_of(feed, 5), ==, "5 20-42");
}

/* A tasklet that 6 raised, run in ksoftirqd; one that an interrupt raised; RCU,
 * which whoever runs there raises. */
static void test_raised(void)
{
	FEED(2);

	begins(feed);
	sleeps(feed);
	softirq(feed, 40, 1, "irq_softirq_raise", 6);
	sw(feed, 45, 1, "b", 6, PREEMPTED, "ksoftirqd/1", 7);
	softirq(feed, 50, 1, "irq_softirq_entry", 6);
	waking(feed, 51, 1, 5);
	softirq(feed, 52, 1, "irq_softirq_exit", 6);
	sw(feed, 60, 0, "idle", 0, 0, "a", 5);
	sw(feed, 70, 0, "a", 5, 2, "idle", 0);
	irq(feed, 80, 1, "irq_handler_entry", 9);
	softirq(feed, 81, 1, "irq_softirq_raise", 6);
	irq(feed, 82, 1, "irq_handler_exit", 9);
	softirq(feed, 90, 1, "irq_softirq_entry", 6);
	waking(feed, 91, 1, 5);
	softirq(feed, 92, 1, "irq_softirq_exit", 6);
	sw(feed, 100, 0, "idle", 0, 0, "a", 5);
	sw(feed, 110, 0, "a", 5, 2, "idle", 0);
	softirq(feed, 111, 1, "irq_softirq_raise", 9);
	softirq(feed, 120, 1, "irq_softirq_entry", 9);
	waking(feed, 121, 1, 5);
	softirq(feed, 122, 1, "irq_softirq_exit", 9);
	runs(feed, 130);
	g_assert_cmpstr(told(feed, 5, 0), ==, "softirq: softIRQ TASKLET, raised by b (6); -1, -1");
	g_assert_cmpstr(told(feed, 5, 1), ==, "softirq: softIRQ TASKLET; -1, -1");
	g_assert_cmpstr(told(feed, 5, 2), ==,
			"softirq?: softIRQ RCU, at the end of an RCU grace period; what held that "
			"up is not known; -1, -1");
	/* 6 until it raised it, the way after it */
	g_assert_cmpstr(path_of(feed, 5), ==, "5 40-51, 5 70-91, 5 110-121");
}

/* The timers' softIRQ, its timers not recorded: a timer all the same. */
static void test_timer_wheel(void)
{
	FEED(2);

	begins(feed);
	sleeps(feed);
	softirq(feed, 40, 1, "irq_softirq_entry", 1);
	waking(feed, 41, 1, 5);
	softirq(feed, 42, 1, "irq_softirq_exit", 1);
	runs(feed, 50);
	g_assert_cmpstr(told(feed, 5, 0), ==,
			"timer: timer (softIRQ TIMER; which one was not recorded); -1, -1");
}

/* --- those who work for others, by their names ------------------------------------- */

static void commits(struct feed *feed, int64_t t, const char *name)
{
	struct event commit = event_of(feed, t, 1, name);

	commit.journal.transaction = 6;
	send(feed, &commit);
}

static void woken_by(struct feed *feed, const char *name, const char *event)
{
	begins(feed);
	sleeps(feed);
	sw(feed, 25, 1, "b", 6, SLEEPS, name, 7);
	if (event)
		commits(feed, 30, event);
	waking(feed, 40, 1, 5);
	runs(feed, 50);
}

static void test_names(void)
{
	static const struct {
		const char *name, *event, *expected;
	} cases[] = {
		{"jbd2/sda1-8", NULL,
		 "process?: jbd2/sda1-8 (7), which wrote the journal of sda1 "
		 "for it; -1, -1"},
		{"jbd2/sda1-8", "jbd2_end_commit",
		 "process: jbd2/sda1-8 (7), which committed transaction 6 to the journal of sda1 "
		 "for it; -1, -1"},
		{"rcu_preempt", NULL,
		 "process?: rcu_preempt (7), at the end of an RCU grace "
		 "period; what held that up is not known; -1, -1"},
		{"iou-wrk-6", NULL,
		 "process: iou-wrk-6 (7), a worker of io_uring for b (6); "
		 "-1, -1"},
		{"jbd3", NULL, "process: jbd3 (7); -1, -1"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED(2);

		woken_by(feed, cases[i].name, cases[i].event);
		g_assert_cmpstr(told(feed, 5, 0), ==, cases[i].expected);
	}
}

/* jbd2 commits, then gives work to a worker: that waited for work, not for the commit,
 * unless it waited amid an item. */
static void test_journal_worker(void)
{
	static const struct {
		bool amid;
		const char *event, *expected;
	} cases[] = {
		{false, NULL, "process: jbd2/sda1-8 (7); -1, -1"},
		{false, "jbd2_end_commit", "process: jbd2/sda1-8 (7); -1, -1"},
		{true, "jbd2_end_commit",
		 "process: jbd2/sda1-8 (7), which committed transaction 6 "
		 "to the journal of sda1 for it; -1, -1"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED(2);

		sw(feed, 0, 0, "idle", 0, 0, "kworker/0:1H", 5);
		sw(feed, 0, 1, "idle", 0, 0, "b", 6);
		if (cases[i].amid)
			work(feed, 15, 0, "execute_start", 0x77);
		sw(feed, 20, 0, "kworker/0:1H", 5, 2, "idle", 0);
		sw(feed, 25, 1, "b", 6, SLEEPS, "jbd2/sda1-8", 7);
		if (cases[i].event)
			commits(feed, 30, cases[i].event);
		waking(feed, 40, 1, 5);
		sw(feed, 50, 0, "idle", 0, 0, "kworker/0:1H", 5);
		plain(feed, 60, 0, "other");
		g_assert_cmpstr(told(feed, 5, 0), ==, cases[i].expected);
	}
}

/* 5 wakes the journal's thread in fsync: what that then writes is for 5, which is
 * inferred; woken in another call it may be for anybody. */
static void test_journal_for(void)
{
	static const char *const calls[] = {"fsync", "unlink"};

	for (int i = 0; i < 2; i++) {
		FEED(2);

		sw(feed, 0, 0, "idle", 0, 0, "a", 5);
		sw(feed, 0, 1, "idle", 0, 0, "jbd2/sda1-8", 7);
		sw(feed, 5, 1, "jbd2/sda1-8", 7, SLEEPS, "idle", 0);
		entry(feed, 10, 0, calls[i], 3);
		waking(feed, 12, 0, 7);
		sleeps(feed);
		sw(feed, 30, 1, "idle", 0, 0, "jbd2/sda1-8", 7);
		BLOCK(31, 1, "bio_queue", 64, 8, 7);
		BLOCK(33, 1, "rq_issue", 64, 8, 7);
		sw(feed, 35, 1, "jbd2/sda1-8", 7, 2, "idle", 0);
		irq(feed, 100, 1, "irq_handler_entry", 9);
		BLOCK(101, 1, "rq_complete", 64, 8, 0);
		waking(feed, 102, 1, 7);
		irq(feed, 103, 1, "irq_handler_exit", 9);
		sw(feed, 110, 1, "idle", 0, 0, "jbd2/sda1-8", 7);
		waking(feed, 120, 1, 5);
		runs(feed, 130);
		g_assert_cmpstr(told(feed, 7, 1), ==,
				i == 0 ? "block-device: device 8:0, sector 64, 4 KiB, issued by "
					 "itself for a (5) (inferred); 2, 68"
				       : "block-device: device 8:0, sector 64, 4 KiB, issued by "
					 "itself; 2, 68");
		g_assert_cmpstr(below(feed, 5, 0), ==, "7 35-102");
	}
}

/* The request of 5 completes in a softIRQ that kworker 7, on CPU 2 from 30 on, has raised at 70. */
static const char *by_worker(struct feed *feed, uint32_t dev)
{
	struct event event;

	begins(feed);
	sw(feed, 0, 2, "idle", 0, 0, "kthreadd", 2);
	forks(feed, 1, 2, 2, 7, 7);
	BLOCK_OF(11, 0, "bio_queue", .sector = 100, .sectors = 8, .tid = 5, .dev = dev);
	BLOCK_OF(14, 0, "rq_issue", .sector = 100, .sectors = 8, .tid = 5, .dev = dev);
	sleeps(feed);
	sw(feed, 30, 2, "kthreadd", 2, 2, "kworker/2:1", 7);
	event = event_of(feed, 70, 2, "irq_softirq_raise");
	event.softirq.vec = 4;
	send(feed, &event);
	softirq(feed, 71, 2, "irq_softirq_entry", 4);
	BLOCK_OF(72, 2, "rq_complete", .sector = 100, .sectors = 8, .dev = dev);
	waking(feed, 73, 2, 5);
	softirq(feed, 74, 2, "irq_softirq_exit", 4);
	runs(feed, 80);
	return told(feed, 5, 0);
}

static void test_loop_device(void)
{
	FEED(3);

	g_assert_nonnull(strstr(by_worker(feed, 7u << 20), "kworker/2:1 (7)"));
}

/* An interrupt that was not recorded may have raised it in anybody's time. */
static void test_disk_raised_anywhere(void)
{
	FEED(3);

	g_assert_nonnull(strstr(by_worker(feed, DISK), "block-device: device 8:0"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/block/bio", test_bio);
	g_test_add_func("/block/insert", test_insert);
	g_test_add_func("/block/issuer-only", test_issuer_only);
	g_test_add_func("/block/merged", test_merged);
	g_test_add_func("/block/split", test_split);
	g_test_add_func("/block/split-unsaid", test_split_unsaid);
	g_test_add_func("/block/in-parts", test_in_parts);
	g_test_add_func("/block/requeue", test_requeue);
	g_test_add_func("/block/sector-again", test_sector_again);
	g_test_add_func("/block/doubt", test_doubt);
	g_test_add_func("/block/remap", test_remap);
	g_test_add_func("/block/partition", test_partition);
	g_test_add_func("/block/remap-twice", test_remap_twice);
	g_test_add_func("/block/begun-before", test_begun_before);
	g_test_add_func("/block/pile", test_pile);
	g_test_add_func("/block/flush", test_flush);
	g_test_add_func("/block/flush-alone", test_flush_alone);
	g_test_add_func("/block/flush-unseen", test_flush_unseen);
	g_test_add_func("/block/command", test_command);
	g_test_add_func("/block/threaded", test_threaded);
	g_test_add_func("/block/item-over-gap", test_item_over_gap);
	g_test_add_func("/block/writeback-of-two", test_writeback_of_two);
	g_test_add_func("/block/aio", test_aio);
	g_test_add_func("/block/finished-by-worker", test_finished_by_worker);
	g_test_add_func("/block/finished-inferred", test_finished_inferred);
	g_test_add_func("/block/finished-not-inferred", test_finished_not_inferred);
	g_test_add_func("/block/worker-unknown", test_worker_unknown);
	g_test_add_func("/block/queued-in-wait", test_queued_in_wait);
	g_test_add_func("/block/writeback", test_writeback);
	g_test_add_func("/block/queued-again", test_queued_again);
	g_test_add_func("/block/delayed-work", test_delayed_work);
	g_test_add_func("/block/raised", test_raised);
	g_test_add_func("/block/timer-wheel", test_timer_wheel);
	g_test_add_func("/block/names", test_names);
	g_test_add_func("/block/journal-worker", test_journal_worker);
	g_test_add_func("/block/journal-for", test_journal_for);
	g_test_add_func("/block/loop-device", test_loop_device);
	g_test_add_func("/block/named-late", test_named_late);
	g_test_add_func("/block/disk-raised-anywhere", test_disk_raised_anywhere);
	return g_test_run();
}
