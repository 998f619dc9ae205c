/* SPDX-License-Identifier: MIT */
/* Turns that stand out in `functions`, on small hand-made sequences; semantics.md, "Busy
 * stretches". "a" (5) has a turn between each two sleeps: of 31, by hand, from the wake-up at its
 * timer to the switch that begins the next sleep, unless something holds it up.
 */
#include "functions/functions.h"
#include "functions/stand_outs.h"
#include "profile_feed.h"

#define TURNS 12

enum late { NOT_LATE, LATE_PREEMPTED, LATE_READ };

static struct feed *turns_feed(void)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &functions_command);
	return feed_start(feed, 2, "6.1.0", 2, 13);
}

/* Reads for `ns` from `at`. */
static void read_file(struct feed *feed, int64_t at, int64_t ns)
{
	entry(feed, at, 0, "read", 3);
	leave(feed, at + ns, 0, "read", 1);
}

/* Sleeps until 100, 200, … and works 30 behind each; the seventh takes 200 more. Of those that
 * read, each reads for 5. */
static void play(struct feed *feed, enum late late, bool reads)
{
	int64_t at = 10;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (int i = 1; i <= TURNS + 1; i++) {
		int64_t wakes = 1000 * i;

		timed_sleep(feed, at, wakes, "a");
		at = wakes + 30;
		if (reads)
			read_file(feed, wakes + 10, i == 7 && late == LATE_READ ? 205 : 5);
		if (i == 7 && late == LATE_PREEMPTED) {
			sw(feed, wakes + 20, 0, "a", 5, 0, "hog", 9);
			sw(feed, wakes + 220, 0, "hog", 9, 0, "a", 5);
		}
		if (i == 7 && late != NOT_LATE)
			at += 200;
	}
	timed_sleep(feed, at, 1000 * (TURNS + 2), "a");
	plain(feed, 1000 * (TURNS + 3), 0, "other");
}

/* "turn 231 of 31: 200 more wait-cpu: CPU taken by hog", of each that stands out. */
static const char *stand_outs(struct feed *feed)
{
	struct functions *functions;
	struct stand_outs *found;
	GString *text = g_string_new(NULL);

	finish(feed);
	functions = functions_new(feed->session, NULL);
	found = stand_outs_new(functions->tree);
	for (guint i = 0; i < found->list->len; i++) {
		const struct stand_out *at = &g_array_index(found->list, struct stand_out, i);
		const struct call_frame *frame =
			frame_of(call_tree_frames_of(functions->tree, at->thread, at->what),
				 at->frame);
		g_autofree char *name = frame_name(feed->session, at->what);

		g_string_append_printf(text, "%s%s %d of %d", i ? "; " : "", name,
				       (int) (frame->end - frame->begin), (int) at->median);
		for (guint k = 0; k < at->differences->len; k++) {
			const struct instance_difference *difference =
				g_ptr_array_index(at->differences, k);

			if (difference->kind == DIFFERENCE_TIME)
				g_string_append_printf(text, ", %d more %s", (int) difference->ns,
						       difference->what);
		}
	}
	stand_outs_free(found);
	functions_free(functions);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* 31 from the wake-up to the switch away; 200 of the late one are the hog's. */
static void test_preempted(void)
{
	FEED_FROM(turns_feed());

	play(feed, LATE_PREEMPTED, false);
	g_assert_cmpstr(stand_outs(feed), ==,
			"busy 231 of 31, 200 more wait-cpu: CPU taken by hog");
}

/* The same 200 in one of its reads, of which there are as many: that is the story. */
static void test_read(void)
{
	FEED_FROM(turns_feed());

	play(feed, LATE_READ, true);
	g_assert_cmpstr(stand_outs(feed), ==, "syscall:read 205 of 5, 200 more own work");
}

static void test_regular(void)
{
	FEED_FROM(turns_feed());

	play(feed, NOT_LATE, true);
	g_assert_cmpstr(stand_outs(feed), ==, "");
}

/* With --function there are only calls of that. */
static void test_function(void)
{
	FEED_FROM(turns_feed());

	set(feed, "function", "syscall:read");
	play(feed, LATE_PREEMPTED, true);
	g_assert_cmpstr(stand_outs(feed), ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/turns/preempted", test_preempted);
	g_test_add_func("/turns/read", test_read);
	g_test_add_func("/turns/regular", test_regular);
	g_test_add_func("/turns/function", test_function);
	return g_test_run();
}
