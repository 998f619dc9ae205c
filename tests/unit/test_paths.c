/* SPDX-License-Identifier: MIT */
/* One file has one name, whichever way a program names it: relative names are resolved by the
 * current directory (chdir, fchdir, fork) and by openat's directory.
 *
 * 5 and 6 are processes by themselves that run on CPUs 0 and 1. Each opens a file as descriptor 9
 * and sleeps in an fsync of it; what it waits for is the file's name.
 */
#include "feed.h"

static struct feed *two(void)
{
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	for (int i = 0; i < 2; i++) {
		struct event event = event_of(feed, 0, 0, "lttng_statedump_process_state");

		event.process.tid = event.process.pid = 5 + i;
		event.process.name = i ? "b" : "a";
		event.process.status = 1;
		send(feed, &event);
	}
	return feed;
}

static void calls(struct feed *feed, int64_t time, uint32_t cpu, const char *call, int32_t fd,
		  const char *path, int64_t ret)
{
	g_autofree char *name = g_strconcat("syscall_entry_", call, NULL);
	struct event event = event_of(feed, time, cpu, name);

	event.syscall.filename = path;
	if (strcmp(call, "openat") == 0)
		event.syscall.dfd = fd;
	else
		event.syscall.fd = fd;
	send(feed, &event);
	leave(feed, time + 1, cpu, call, ret);
}

#define CWD (-100)

static void dumped_as(struct feed *feed, int64_t time, int32_t pid, int32_t fd, const char *name,
		      uint32_t mode)
{
	struct event event = event_of(feed, time, 0, "lttng_statedump_file_descriptor");

	event.file.mode = mode;
	event.file.pid = pid;
	event.file.fd = fd;
	event.file.filename = name;
	send(feed, &event);
}

static void dumped(struct feed *feed, int64_t time, int32_t pid, int32_t fd, const char *name)
{
	dumped_as(feed, time, pid, fd, name, 0);
}

/* Sleeps in fsync(9) for 5 from `time` + 1 on. */
static void syncs(struct feed *feed, int64_t time, uint32_t cpu)
{
	const char *name = cpu ? "b" : "a";
	int32_t tid = cpu ? 6 : 5;

	entry(feed, time, cpu, "fsync", 9);
	sw(feed, time + 1, cpu, name, tid, SLEEPS, "idle", 0);
	waking(feed, time + 6, cpu, tid);
	sw(feed, time + 7, cpu, "idle", 0, 0, name, tid);
	leave(feed, time + 8, cpu, "fsync", 0);
}

/* What the thread's first wait in an fsync was for. */
static const char *synced(struct feed *feed, int32_t tid)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, 0);
	const char *text =
		session_text(feed->session, session_resource(feed->session, wait->block));

	g_ptr_array_free(waits, TRUE);
	return text;
}

/* The modes that Linux 6.1 had of a FIFO and of a regular file, each to be read; a terminal is a
 * stream, too. Before LTTng 2.5 there are none. */
static void test_streams(void)
{
	static const struct {
		const char *name, *key;
		uint32_t mode;
	} cases[] = {
		{"/tmp/f", "pipe:/tmp/f", 0x2A0001},
		{"/tmp/f", "file:/tmp/f", 0xF801F},
		{"/dev/pts/0", "file:/dev/pts/0", 0xA0003},
		{"/tmp/f", "file:/tmp/f", 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED_FROM(two());

		dumped_as(feed, 10, 5, 9, cases[i].name, cases[i].mode);
		syncs(feed, 30, 0);
		plain(feed, 100, 0, "other");
		g_assert_cmpstr(synced(feed, 5), ==, cases[i].key);
	}
}

/* chdir, then a relative name; the other process has the absolute one. */
static void test_chdir(void)
{
	FEED_FROM(two());

	calls(feed, 10, 0, "chdir", -1, "/pg/d", 0);
	calls(feed, 20, 0, "openat", CWD, "pg_wal/0001", 9);
	calls(feed, 20, 1, "openat", CWD, "/pg/d/pg_wal/0001", 9);
	syncs(feed, 30, 0);
	syncs(feed, 50, 1);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 5), ==, "file:/pg/d/pg_wal/0001");
	g_assert_cmpstr(synced(feed, 6), ==, "file:/pg/d/pg_wal/0001");
}

/* Two directories: one relative name is two files. A chdir that failed changes nothing. */
static void test_two_directories(void)
{
	FEED_FROM(two());

	calls(feed, 10, 0, "chdir", -1, "/one", 0);
	calls(feed, 10, 1, "chdir", -1, "/two", 0);
	calls(feed, 15, 0, "chdir", -1, "/three", -2);
	calls(feed, 20, 0, "openat", CWD, "log", 9);
	calls(feed, 20, 1, "openat", CWD, "../two/./log", 9);
	syncs(feed, 30, 0);
	syncs(feed, 50, 1);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 5), ==, "file:/one/log");
	g_assert_cmpstr(synced(feed, 6), ==, "file:/two/log");
}

/* By a descriptor: of openat, and of fchdir. */
static void test_descriptors(void)
{
	FEED_FROM(two());

	dumped(feed, 2, 5, 3, "/pg/d");
	dumped(feed, 2, 6, 3, "/pg/d");
	calls(feed, 10, 0, "openat", 3, "pg_wal/0001", 9);
	calls(feed, 10, 1, "fchdir", 3, NULL, 0);
	calls(feed, 20, 1, "openat", CWD, "pg_wal/0001", 9);
	syncs(feed, 30, 0);
	syncs(feed, 50, 1);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 5), ==, "file:/pg/d/pg_wal/0001");
	g_assert_cmpstr(synced(feed, 6), ==, "file:/pg/d/pg_wal/0001");
}

/* A child is where its parent was; what that does later is its own. */
static void test_fork(void)
{
	FEED_FROM(two());

	calls(feed, 10, 0, "chdir", -1, "/pg/d", 0);
	forks(feed, 15, 0, 5, 7, 7);
	calls(feed, 16, 0, "chdir", -1, "/", 0);
	sw(feed, 17, 1, "b", 6, SLEEPS, "child", 7);
	calls(feed, 20, 1, "openat", CWD, "x", 9);
	entry(feed, 30, 1, "fsync", 9);
	sw(feed, 31, 1, "child", 7, SLEEPS, "idle", 0);
	waking(feed, 36, 0, 7);
	sw(feed, 37, 1, "idle", 0, 0, "child", 7);
	leave(feed, 38, 1, "fsync", 0);
	calls(feed, 40, 0, "openat", CWD, "x", 9);
	syncs(feed, 50, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 7), ==, "file:/pg/d/x");
	g_assert_cmpstr(synced(feed, 5), ==, "file:/x");
}

/* The current directory is not known, but the statedump names what was opened since: it is known
 * from then on. */
static void test_statedump_tells(void)
{
	FEED_FROM(two());

	calls(feed, 1, 0, "openat", CWD, "base/5/1", 8);
	dumped(feed, 5, 5, 8, "/pg/d/base/5/1");
	calls(feed, 20, 0, "openat", CWD, "pg_wal/0001", 9);
	syncs(feed, 30, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 5), ==, "file:/pg/d/pg_wal/0001");
}

/* It has one open file whose name ends so: that one. Of two, neither. */
static void test_ends_so(void)
{
	FEED_FROM(two());

	dumped(feed, 2, 5, 3, "/pg/d/pg_wal/0001");
	dumped(feed, 2, 5, 4, "/pg/d/xpg_wal/0001");
	dumped(feed, 2, 6, 3, "/pg/d/pg_wal/0001");
	dumped(feed, 2, 6, 4, "/pg/e/pg_wal/0001");
	calls(feed, 20, 0, "openat", CWD, "pg_wal/0001", 9);
	calls(feed, 20, 1, "openat", CWD, "pg_wal/0001", 9);
	syncs(feed, 30, 0);
	syncs(feed, 50, 1);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 5), ==, "file:/pg/d/pg_wal/0001");
	g_assert_cmpstr(synced(feed, 6), ==, "file:pg_wal/0001");
}

static void process(struct feed *feed, int32_t pid, int32_t ppid, const char *name)
{
	struct event event = event_of(feed, 1, 0, "lttng_statedump_process_state");

	event.process.tid = event.process.pid = pid;
	event.process.ppid = ppid;
	event.process.name = name;
	event.process.status = 1;
	send(feed, &event);
}

/* A server `name` (20) and its workers, which were there before: one has the file open by its
 * whole name, a's process is another, of `name` or not, and opens it by a relative one. */
static const char *of_a_worker(struct feed *feed, const char *name, bool second)
{
	process(feed, 20, 1, name);
	process(feed, 21, 20, name);
	process(feed, 22, 20, name);
	dumped(feed, 2, 21, 3, "/pg/d/pg_wal/0001");
	if (second)
		dumped(feed, 2, 22, 3, "/pg/e/pg_wal/0001");
	sw(feed, 10, 1, "b", 6, SLEEPS, name, 22);
	calls(feed, 20, 1, "openat", CWD, "pg_wal/0001", 9);
	entry(feed, 30, 1, "fsync", 9);
	sw(feed, 31, 1, name, 22, SLEEPS, "idle", 0);
	waking(feed, 36, 0, 22);
	sw(feed, 37, 1, "idle", 0, 0, name, 22);
	leave(feed, 38, 1, "fsync", 0);
	plain(feed, 100, 0, "other");
	return synced(feed, 22);
}

static void test_family(void)
{
	FEED_FROM(two());

	g_assert_cmpstr(of_a_worker(feed, "postgres", false), ==, "file:/pg/d/pg_wal/0001");
}

/* It has one of that name too, elsewhere: which one is meant its own tells. */
static void test_family_of_two(void)
{
	FEED_FROM(two());

	g_assert_cmpstr(of_a_worker(feed, "postgres", true), ==, "file:/pg/e/pg_wal/0001");
}

/* a has /pg/d/base/0001 open, and opens it again by another name; then a file that nobody had. */
static const char *after(struct feed *feed, const char *name)
{
	dumped(feed, 2, 5, 3, "/pg/d/base/0001");
	calls(feed, 10, 0, "openat", CWD, name, 8);
	calls(feed, 20, 0, "openat", CWD, "pg_wal/0002", 9);
	syncs(feed, 30, 0);
	plain(feed, 100, 0, "other");
	return synced(feed, 5);
}

/* What is before that in the whole name is the current directory. */
static void test_directory_of_a_file(void)
{
	FEED_FROM(two());

	g_assert_cmpstr(after(feed, "base/0001"), ==, "file:/pg/d/pg_wal/0002");
}

/* A last part alone may be of any directory. */
static void test_no_directory_of_a_file(void)
{
	FEED_FROM(two());

	g_assert_cmpstr(after(feed, "0001"), ==, "file:pg_wal/0002");
}

/* Who is no relative has a file of its own. */
static void test_stranger(void)
{
	FEED_FROM(two());

	process(feed, 21, 1, "postgres");
	dumped(feed, 2, 21, 3, "/pg/d/pg_wal/0001");
	calls(feed, 20, 0, "openat", CWD, "pg_wal/0001", 9);
	syncs(feed, 30, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(synced(feed, 5), ==, "file:pg_wal/0001");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/paths/streams", test_streams);
	g_test_add_func("/paths/chdir", test_chdir);
	g_test_add_func("/paths/two-directories", test_two_directories);
	g_test_add_func("/paths/descriptors", test_descriptors);
	g_test_add_func("/paths/fork", test_fork);
	g_test_add_func("/paths/statedump-tells", test_statedump_tells);
	g_test_add_func("/paths/ends-so", test_ends_so);
	g_test_add_func("/paths/family", test_family);
	g_test_add_func("/paths/family-of-two", test_family_of_two);
	g_test_add_func("/paths/directory-of-a-file", test_directory_of_a_file);
	g_test_add_func("/paths/no-directory-of-a-file", test_no_directory_of_a_file);
	g_test_add_func("/paths/stranger", test_stranger);
	return g_test_run();
}
