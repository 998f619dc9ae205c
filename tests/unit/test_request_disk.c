/* SPDX-License-Identifier: MIT */
/* --metric disk-bytes names files: whose data the block requests of a request were.
 *
 * a accepts and reads a question, and answers at 90; its block requests are of 8 sectors of the
 * device 254:0, which nothing names.
 */
#include "request_feed.h"

static struct feed *asked(void)
{
	struct feed *feed = feed_requests(PRESET_SERVER);

	feed->options.requests.metric = METRIC_DISK_BYTES;
	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 20, 0, "recvfrom", 4, 100);
	return feed;
}

static const char *answered(struct feed *feed)
{
	moves(feed, 90, 0, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
	return causes(feed, 0);
}

static void opens(struct feed *feed, int64_t time, const char *path, int32_t fd)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_openat");

	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, time + 1, 0, "openat", fd);
}

/* a's thread asks for it at `time`, in the call it is in; it is there 5 later. */
static void disk(struct feed *feed, int64_t time, int32_t tid)
{
	request(feed, time, 0, "block_rq_issue", tid);
	request(feed, time + 5, 1, "block_rq_complete", -1);
}

static void test_read(void)
{
	FEED_FROM(asked());

	opens(feed, 30, "/data/a", 7);
	entry(feed, 40, 0, "pread64", 7);
	disk(feed, 42, 5);
	leave(feed, 50, 0, "pread64", 4096);
	g_assert_cmpstr(answered(feed), ==, "4096 block-device /data/a, pread64 on 254:0");
}

/* Two files: each by itself. */
static void test_two_files(void)
{
	FEED_FROM(asked());

	for (int i = 0; i < 2; i++) {
		opens(feed, 30 + 20 * i, i ? "/data/b" : "/data/a", 7);
		entry(feed, 33 + 20 * i, 0, "fsync", 7);
		disk(feed, 34 + 20 * i, 5);
		leave(feed, 40 + 20 * i, 0, "fsync", 0);
	}
	g_assert_cmpstr(answered(feed), ==,
			"4096 block-device /data/a, fsync on 254:0; "
			"4096 block-device /data/b, fsync on 254:0");
}

/* What a call asks for that is on no file: only the call is known. */
static void test_no_file(void)
{
	FEED_FROM(asked());

	entry(feed, 40, 0, "sync", -1);
	disk(feed, 42, 5);
	leave(feed, 50, 0, "sync", 0);
	g_assert_cmpstr(answered(feed), ==, "4096 block-device 254:0, sync");
}

/* A page fault on memory without a file: swap. */
static void test_swap(void)
{
	FEED_FROM(asked());
	struct event event = event_of(feed, 30, 0, "syscall_entry_mmap");

	event.syscall.length = 0x10000;
	event.syscall.flags = 0x22; /* private, anonymous */
	event.syscall.fd = -1;
	send(feed, &event);
	leave(feed, 31, 0, "mmap", 0x7000000);
	event = event_of(feed, 40, 0, "x86_exceptions_page_fault_user");
	event.fault.address = 0x7001000;
	send(feed, &event);
	disk(feed, 42, 5);
	g_assert_cmpstr(answered(feed), ==, "4096 block-device swap, page fault on 254:0");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/request-disk/read", test_read);
	g_test_add_func("/request-disk/two-files", test_two_files);
	g_test_add_func("/request-disk/no-file", test_no_file);
	g_test_add_func("/request-disk/swap", test_swap);
	return g_test_run();
}
