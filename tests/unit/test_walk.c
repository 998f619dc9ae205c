/* SPDX-License-Identifier: MIT */
/* The walk of the exports, from hand-made events: frames around states, cut where frames begin
 * and end, with the wake-ups. Expectations are worked out by hand from export_walk.h and
 * semantics.md ("The control-flow stack of a thread", "Woken up").
 */
#include "commands/commands.h"
#include "feed.h"

#include <string.h>

#include "export/export_walk.h"

static struct feed *walk_feed(int cpus)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &export_command);
	return feed_start(feed, cpus, "6.1.0", 2, 13);
}

struct shown {
	int32_t tid;
	GString *text;
};

static bool of_thread(const struct walk *walk, const struct shown *shown)
{
	return model_thread(&walk->session->trace.model, walk->current->thread)->tid == shown->tid;
}

/* "read(", "<read(": the entry was not seen, "read>(": the exit was not. */
static void on_enter(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	struct shown *shown = data;

	if (of_thread(walk, shown))
		g_string_append_printf(shown->text, "%s%s%s( ",
				       frame->entered == NOT_SEEN ? "<" : "",
				       walk_frame_name(walk->session, frame),
				       frame->left == NOT_SEEN ? ">" : "");
}

static void on_leave(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	struct shown *shown = data;

	(void) frame;
	if (of_thread(walk, shown))
		g_string_append(shown->text, ") ");
}

static void on_state(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct shown *shown = data;
	g_autofree char *key = leaf_key(walk->session, state->span.leaf);

	if (of_thread(walk, shown))
		g_string_append_printf(shown->text, "%s %d-%d ", strchr(key, '/') + 1,
				       (int) state->span.begin, (int) state->span.end);
}

/* "!TID": the waker; "!cpuN": where, if no thread of the export. */
static void on_wake(const struct walk *walk, const struct walk_wake *wake, void *data)
{
	struct shown *shown = data;

	if (!of_thread(walk, shown))
		return;
	if (wake->waker)
		g_string_append_printf(shown->text, "!%d ",
				       model_thread(&walk->session->trace.model,
						    g_array_index(walk->threads, struct walk_thread,
								  wake->waker - 1)
							    .thread)
					       ->tid);
	else
		g_string_append_printf(shown->text, "!cpu%u ", wake->cpu);
}

static void expect(struct feed *feed, int32_t tid, const char *expected)
{
	static const struct walk_visitor visitor = {
		.enter = on_enter, .leave = on_leave, .state = on_state, .wake = on_wake};
	struct shown shown = {tid, g_string_new(NULL)};
	struct walk walk;

	finish(feed);
	walk_init(&walk, feed->session);
	walk_all(&walk, &visitor, &shown);
	walk_clear(&walk);
	g_strchomp(shown.text->str);
	g_assert_cmpstr(shown.text->str, ==, expected);
	g_string_free(shown.text, TRUE);
}

static void run_a(struct feed *feed, int64_t time)
{
	sw(feed, time, 0, "swapper/0", 0, 0, "a", 100);
}

static void end_a(struct feed *feed, int64_t time)
{
	sw(feed, time, 0, "a", 100, 0, "swapper/0", 0);
}

/* A function that begins with its call is inside it. */
static void test_equal_stamps(void)
{
	FEED_FROM(walk_feed(1));

	run_a(feed, 10);
	entry(feed, 20, 0, "read", 3);
	plain(feed, 20, 0, "fn_vfs_read_entry");
	plain(feed, 30, 0, "fn_vfs_read_exit");
	leave(feed, 40, 0, "read", 1);
	end_a(feed, 50);
	expect(feed, 100,
	       "user 10-20 read( fn_vfs_read( syscall:read 20-30 ) syscall:read 30-40 ) "
	       "user 40-50");
}

/* Two calls with no time between them are two, though their states are one. */
static void test_touching(void)
{
	FEED_FROM(walk_feed(1));

	run_a(feed, 10);
	entry(feed, 20, 0, "read", 3);
	leave(feed, 30, 0, "read", 1);
	entry(feed, 30, 0, "read", 3);
	leave(feed, 40, 0, "read", 1);
	end_a(feed, 50);
	expect(feed, 100,
	       "user 10-20 read( syscall:read 20-30 ) read( syscall:read 30-40 ) "
	       "user 40-50");
}

/* "The frame is taken to have begun at the start of the thread's known history"; one that is
 * open at the trace's end lasts as long as that. */
static void test_unseen(void)
{
	FEED_FROM(walk_feed(1));

	run_a(feed, 10);
	leave(feed, 20, 0, "write", 1);
	entry(feed, 30, 0, "poll", 3);
	sw(feed, 40, 0, "a", 100, 1, "swapper/0", 0);
	plain(feed, 60, 0, "power_cpu_idle");
	expect(feed, 100,
	       "<write>( syscall:write 10-20 ) user 20-30 "
	       "poll>( syscall:poll 30-40 syscall:poll 40-60 )");
}

/* a waits in read from 30 to 45, when b wakes it in write. */
static void wait_and_wake(struct feed *feed)
{
	sw(feed, 5, 1, "swapper/1", 0, 0, "b", 200);
	run_a(feed, 10);
	entry(feed, 20, 0, "read", 3);
	sw(feed, 30, 0, "a", 100, 1, "swapper/0", 0);
	entry(feed, 40, 1, "write", 4);
	waking(feed, 45, 1, 100);
	leave(feed, 50, 1, "write", 1);
	run_a(feed, 60);
	leave(feed, 70, 0, "read", 1);
	end_a(feed, 80);
}

static void test_woken(void)
{
	FEED_FROM(walk_feed(2));

	wait_and_wake(feed);
	expect(feed, 100,
	       "wait-cpu 5-10 user 10-20 read( syscall:read 20-30 syscall:read 30-45 "
	       "!200 wait-cpu 45-60 syscall:read 60-70 ) user 70-80");
}

/* The waker is not exported: its CPU is what is left. */
static void test_other_thread(void)
{
	FEED_FROM(walk_feed(2));

	g_ptr_array_add(feed->options.threads, g_strdup("a"));
	wait_and_wake(feed);
	expect(feed, 100,
	       "wait-cpu 5-10 user 10-20 read( syscall:read 20-30 syscall:read 30-45 "
	       "!cpu1 wait-cpu 45-60 syscall:read 60-70 ) user 70-80");
	expect(feed, 200, "");
}

static void test_window(void)
{
	FEED_FROM(walk_feed(2));

	g_assert_true(options_set(&feed->options, "from", "33ns", NULL));
	g_assert_true(options_set(&feed->options, "to", "65ns", NULL));
	wait_and_wake(feed);
	expect(feed, 100, "read( syscall:read 33-45 !200 wait-cpu 45-60 syscall:read 60-65 )");
}

/* read took 50, b's write 10; a waited for 15, and for its CPU as long. */
static void test_min_duration(void)
{
	FEED_FROM(walk_feed(2));

	g_assert_true(options_set(&feed->options, "min-duration", "12ns", NULL));
	wait_and_wake(feed);
	expect(feed, 100, "read( syscall:read 30-45 !200 wait-cpu 45-60 )");
	expect(feed, 200, "user 5-40 user 50-80");
}

/* Woken by an interrupt of the idle loop. */
static void test_woken_by_interrupt(void)
{
	FEED_FROM(walk_feed(1));

	run_a(feed, 10);
	entry(feed, 20, 0, "read", 3);
	sw(feed, 30, 0, "a", 100, 1, "swapper/0", 0);
	irq(feed, 40, 0, "irq_handler_entry", 25);
	waking(feed, 45, 0, 100);
	irq(feed, 46, 0, "irq_handler_exit", 25);
	run_a(feed, 60);
	leave(feed, 70, 0, "read", 1);
	end_a(feed, 80);
	expect(feed, 100,
	       "user 10-20 read( syscall:read 20-30 syscall:read 30-45 !cpu0 "
	       "wait-cpu 45-60 syscall:read 60-70 ) user 70-80");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/walk/equal-stamps", test_equal_stamps);
	g_test_add_func("/walk/touching", test_touching);
	g_test_add_func("/walk/unseen", test_unseen);
	g_test_add_func("/walk/woken", test_woken);
	g_test_add_func("/walk/other-thread", test_other_thread);
	g_test_add_func("/walk/window", test_window);
	g_test_add_func("/walk/min-duration", test_min_duration);
	g_test_add_func("/walk/woken-by-interrupt", test_woken_by_interrupt);
	return g_test_run();
}
