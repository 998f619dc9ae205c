/* SPDX-License-Identifier: MIT */
/* What settings make programs do, on small hand-made sequences: expectations are worked out by
 * hand from share/known-settings.conf's rules. The settings of these tests are of programs "db":
 * it syncs /wal/1 for each question that came through a pipe.
 */
#include <glib/gstdio.h>
#include <unistd.h>

#include "profile_feed.h"
#include "settings/configuration.h"
#include "tracking/requests.h"

static const char commit[] =
	"[commit]\nprogram=d?\ncall=fsync\nobject=file:/wal/*\nbetween=pipe:*\n"
	"least=3\ndoes=syncs at each commit\nset=commit_sync = off\n";

static struct feed *settings_feed(const char *text)
{
	struct feed *feed = g_new0(struct feed, 1);
	g_autofree char *path = NULL;
	int file = g_file_open_tmp("settings-XXXXXX", &path, NULL);

	g_assert_cmpint(file, >=, 0);
	close(file);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	command_options(&feed->options, &overview_command);
	set(feed, "settings", path);
	g_unlink(path);
	return feed_start(feed, 2, "6.1.0", 2, 13);
}

/* 5 is `name`, with a pipe at 3 and 4, which 6 of its process writes to, and `path` at 7. */
static void start(struct feed *feed, const char *name, const char *path)
{
	struct event event = event_of(feed, 0, 0, "lttng_statedump_process_state");

	sw(feed, 0, 0, "idle", 0, 0, name, 5);
	sw(feed, 0, 1, "idle", 0, 0, "asker", 6);
	event.process.tid = event.process.pid = 5;
	event.process.name = name;
	event.process.files = 0xf0;
	send(feed, &event);
	event.process.tid = 6;
	event.process.pid = 6;
	event.process.name = "asker";
	send(feed, &event);
	plain(feed, 1, 0, "syscall_entry_pipe2");
	event = event_of(feed, 2, 0, "syscall_exit_pipe2");
	event.syscall.pair[0] = 3;
	event.syscall.pair[1] = 4;
	send(feed, &event);
	event = event_of(feed, 3, 0, "syscall_entry_openat");
	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, 4, 0, "openat", 7);
}

/* 5 reads the pipe from `at` to at + 20. */
static void is_asked(struct feed *feed, int64_t at, const char *name)
{
	entry(feed, at, 0, "read", 3);
	sw(feed, at + 1, 0, name, 5, SLEEPS, "idle", 0);
	entry(feed, at + 15, 1, "write", 4);
	waking(feed, at + 16, 1, 5);
	leave(feed, at + 17, 1, "write", 1);
	sw(feed, at + 18, 0, "idle", 0, 0, name, 5);
	leave(feed, at + 20, 0, "read", 1);
}

/* … and waits in `call` of the file from at + 2 to at + 52. */
static void syncs(struct feed *feed, int64_t at, const char *name, const char *call)
{
	entry(feed, at, 0, call, 7);
	sw(feed, at + 2, 0, name, 5, SLEEPS, "idle", 0);
	irq(feed, at + 51, 0, "irq_handler_entry", 9);
	waking(feed, at + 52, 0, 5);
	irq(feed, at + 53, 0, "irq_handler_exit", 9);
	sw(feed, at + 54, 0, "idle", 0, 0, name, 5);
	leave(feed, at + 55, 0, call, 0);
}

/* "commit: 3 times, 150, thread 5", of all threads. */
static const char *said(struct feed *feed)
{
	GString *text = g_string_new(NULL);
	GArray *list;

	finish(feed);
	list = configuration_of_all(feed->session);
	for (guint i = 0; i < list->len; i++) {
		const struct configuration *at = &g_array_index(list, struct configuration, i);

		g_string_append_printf(text, "%s%s: %d times, %d, thread %d", i ? "; " : "",
				       at->known->name, (int) at->count, (int) at->ns,
				       model_thread(&feed->session->trace.model, at->thread)->tid);
	}
	configuration_free(list);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Three questions, each with its sync; the third has two, whose time counts, but not as another
 * time: 4 waits of 50. */
static void test_each(void)
{
	FEED_FROM(settings_feed(commit));

	start(feed, "db", "/wal/1");
	for (int64_t at = 100; at <= 300; at += 100) {
		is_asked(feed, at, "db");
		syncs(feed, at + 30, "db", "fsync");
	}
	syncs(feed, 400, "db", "fsync");
	plain(feed, 500, 0, "other");
	g_assert_cmpstr(said(feed), ==, "commit: 3 times, 200, thread 5");
}

/* A writer in the background syncs the same file as often, but nobody asked. */
static void test_background(void)
{
	FEED_FROM(settings_feed(commit));

	start(feed, "db", "/wal/1");
	for (int64_t at = 100; at <= 300; at += 100) {
		timed_sleep(feed, at, at + 20, "db");
		syncs(feed, at + 30, "db", "fsync");
	}
	plain(feed, 500, 0, "other");
	g_assert_cmpstr(said(feed), ==, "");
}

/* Asked once, at first: that is one time, whatever is synced after it. */
static void test_asked_once(void)
{
	FEED_FROM(settings_feed(commit));

	start(feed, "db", "/wal/1");
	is_asked(feed, 50, "db");
	for (int64_t at = 100; at <= 300; at += 100)
		syncs(feed, at, "db", "fsync");
	plain(feed, 500, 0, "other");
	g_assert_cmpstr(said(feed), ==, "");
}

static void three(struct feed *feed, const char *name, const char *path, const char *call)
{
	start(feed, name, path);
	for (int64_t at = 100; at <= 300; at += 100) {
		is_asked(feed, at, name);
		syncs(feed, at + 30, name, call);
	}
	plain(feed, 500, 0, "other");
}

/* Another program, another file, another call: each alone makes it something else. */
static void test_alike(void)
{
	static const char *const alike[][3] = {
		{"web", "/wal/1", "fsync"}, {"db", "/log/1", "fsync"}, {"db", "/wal/1", "write"}};

	for (size_t i = 0; i < G_N_ELEMENTS(alike); i++) {
		FEED_FROM(settings_feed(commit));

		three(feed, alike[i][0], alike[i][1], alike[i][2]);
		g_assert_cmpstr(said(feed), ==, "");
	}
}

/* What ended it must be so where the entry says: here an interrupt. */
static void test_cause(void)
{
	FEED_FROM(settings_feed("[a]\nobject=file:/wal/*\ncause=irq\ndoes=d\nset=s\n"
				"[b]\nobject=file:/wal/*\ncause=timer\ndoes=d\nset=s\n"));

	three(feed, "db", "/wal/1", "fsync");
	g_assert_cmpstr(said(feed), ==, "a: 3 times, 150, thread 5");
}

static void refused(const char *text, const char *why)
{
	g_autoptr(GPtrArray) list = known_settings_empty();
	g_autoptr(GError) error = NULL;

	g_assert_false(known_settings_add(list, text, "my.conf", &error));
	g_assert_nonnull(strstr(error->message, why));
	g_assert_cmpuint(list->len, ==, 0);
}

static void test_files(void)
{
	g_autoptr(GPtrArray) list = known_settings_empty();
	GError *error = NULL;

	refused("[a]\nobjekt=file:*\ndoes=d\nset=s\n", "'objekt' is none of");
	refused("[a]\nobject=file:*\ndoes=d\n", "set=");
	refused("[a]\ndoes=d\nset=s\n", "object= or ender=");
	refused("[a]\nobject=x\nleast=0\ndoes=d\nset=s\n", "least=");
	refused("what\n", "my.conf");
	known_settings_add(list, commit, "one", &error);
	known_settings_add(list,
			   "[commit]\nobject=x\ndoes=other\nset=s\n[new]\nender=y\ndoes=d\nset=s",
			   "two", &error);
	g_assert_no_error(error);
	g_assert_cmpuint(list->len, ==, 2);
	g_assert_cmpstr(((struct known_setting *) list->pdata[0])->does, ==, "other");
}

/* 5 waits in epoll_wait from `at` to at + 20, where a packet that 6 sent from `port` comes. */
static void waits_for_packet(struct feed *feed, int64_t at, uint32_t port, uint32_t to)
{
	static const uint8_t from[4] = {10, 0, 0, 9}, own[4] = {10, 0, 0, 1};
	struct event event = event_of(feed, at + 12, 1, "net_dev_queue"), comes;

	entry(feed, at, 0, "epoll_wait", 3);
	sw(feed, at + 1, 0, "relay", 5, SLEEPS, "idle", 0);
	entry(feed, at + 10, 1, "sendto", 4);
	event.net.saddr = (struct event_bytes) {from, 4};
	event.net.daddr = (struct event_bytes) {own, 4};
	event.net.source_port = port;
	event.net.dest_port = to;
	event.net.skb = 0x1000 + (uint64_t) at;
	send(feed, &event);
	softirq(feed, at + 13, 1, "irq_softirq_entry", 3);
	comes = event_of(feed, at + 14, 1, "net_if_receive_skb");
	comes.net = event.net;
	send(feed, &comes);
	waking(feed, at + 17, 1, 5);
	softirq(feed, at + 18, 1, "irq_softirq_exit", 3);
	leave(feed, at + 19, 1, "sendto", 10);
	sw(feed, at + 20, 0, "idle", 0, 0, "relay", 5);
	leave(feed, at + 21, 0, "epoll_wait", 1);
}

static const char lookup[] =
	"[lookup]\nprogram=relay\nobject=socket:*:53\nbetween=socket:*\nleast=3\n"
	"does=asks a name server\nset=s\n";

/* An event loop waits for many at once: whose packet ended it tells. Three questions (port 40000),
 * an answer of the name server's after each: 3 waits of 16, from the switch to the wake-up. */
static void test_packets(void)
{
	FEED_FROM(settings_feed(lookup));

	start(feed, "relay", "/x");
	for (int64_t at = 100; at <= 300; at += 100) {
		waits_for_packet(feed, at, 40000, 3128);
		waits_for_packet(feed, at + 40, 53, 50000);
	}
	plain(feed, 400, 0, "other");
	g_assert_cmpstr(said(feed), ==, "lookup: 3 times, 48, thread 5");
}

/* The same answers of another server's. */
static void test_other_packets(void)
{
	FEED_FROM(settings_feed(lookup));

	start(feed, "relay", "/x");
	for (int64_t at = 100; at <= 300; at += 100) {
		waits_for_packet(feed, at, 40000, 3128);
		waits_for_packet(feed, at + 40, 8081, 50000);
	}
	plain(feed, 400, 0, "other");
	g_assert_cmpstr(said(feed), ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/settings/each", test_each);
	g_test_add_func("/settings/background", test_background);
	g_test_add_func("/settings/asked-once", test_asked_once);
	g_test_add_func("/settings/alike", test_alike);
	g_test_add_func("/settings/cause", test_cause);
	g_test_add_func("/settings/files", test_files);
	g_test_add_func("/settings/packets", test_packets);
	g_test_add_func("/settings/other-packets", test_other_packets);
	return g_test_run();
}
