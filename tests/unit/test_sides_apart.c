/* SPDX-License-Identifier: MIT */
/* What sets the operations of two sides apart, of calls as literals; see traits/sides_apart.h. */
#include "profile_feed.h"
#include "traits/sides_apart.h"

#define TURN 1000000 /* ns: calls of the sides take turns */

static void valued(struct feed *feed, int64_t time, const char *event_name, const char *names,
		   const int64_t *values, uint32_t count)
{
	struct event event = event_of(feed, time, 0, event_name);
	struct event_sink *sink = &feed->session->trace.sink;

	event.syscall.shape = sink->shape(sink->data, names);
	event.syscall.values = values;
	event.syscall.value_count = count;
	event.syscall.fd = 3;
	if (strcmp(names, "ret") == 0)
		event.syscall.ret = values[0];
	send(feed, &event);
}

static void reads(struct feed *feed, int64_t begin, int64_t ns, int64_t ret)
{
	const int64_t passed[] = {3, 4096};

	valued(feed, begin, "syscall_entry_read", "fd count*", passed, 2);
	valued(feed, begin + ns, "syscall_exit_read", "ret", &ret, 1);
}

static guint kind_of(void *data, guint side, const struct operation *operation)
{
	const struct session *session = data;

	(void) side;
	return strcmp(session_text(session, PACK_NUMBER(operation->what)), "read") == 0
		       ? 0
		       : UINT32_MAX;
}

/* Even turns are A's, odd ones B's. */
static bool of_side(void *data, guint side, const struct operation *operation, uint32_t number)
{
	(void) data, (void) number;
	return (guint) (operation->begin / TURN % 2) == side;
}

static const char *told(struct feed *feed)
{
	static const struct side_kind kinds[] = {{"syscall:read", 1}};
	struct sides_asked asked = {.name = {"A", "B"},
				    .kinds = kinds,
				    .count = 1,
				    .kind_of = kind_of,
				    .of_side = of_side};
	GPtrArray *list;
	const struct traits *traits;
	GString *text = g_string_new(NULL);

	finish(feed);
	asked.session[0] = asked.session[1] = asked.data = feed->session;
	list = sides_apart(&asked);
	traits = g_ptr_array_index(list, 0);
	for (guint i = 0; i < traits->told->len; i++)
		g_string_append_printf(
			text, "%s%s", i ? " | " : "",
			((const struct trait_told *) traits->told->pdata[i])->sentence);
	g_ptr_array_unref(list);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* `count` calls of each side, of which so many return 0, the others 512; B's take ten times as
 * long. */
static struct feed *both(guint count, guint a_zero, guint b_zero)
{
	struct feed *feed = profile_feed(1, "syscall:read");
	g_autoptr(GRand) random = g_rand_new_with_seed(3);
	guint zeros[2] = {a_zero, b_zero};

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (guint i = 0; i < 2 * count; i++) {
		guint side = i % 2, nth = i / 2;

		/* spread over the time: 7 has no divisor in common with the counts */
		reads(feed, TURN * (int64_t) (i + 2) + g_rand_int_range(random, 0, 900000),
		      side ? 50000 : 5000, nth * 7 % count < zeros[side] ? 0 : 512);
	}
	plain(feed, TURN * (int64_t) (2 * count + 4), 0, "other");
	return feed;
}

static void test_values(void)
{
	FEED_FROM(both(40, 6, 36));

	g_assert_cmpstr(told(feed), ==, "36 of B's 40 returned 0 (the end); of A's 40 6 did");
}

/* As many of both. */
static void test_unrelated(void)
{
	FEED_FROM(both(40, 20, 22));

	g_assert_cmpstr(told(feed), ==, "");
}

/* More than are sampled: what is told is counted again of all. */
static void test_sampled(void)
{
	FEED_FROM(both(3000, 450, 2700));

	g_assert_cmpstr(told(feed), ==,
			"2700 of B's 3000 returned 0 (the end); of A's 3000 450 did");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sides-apart/values", test_values);
	g_test_add_func("/sides-apart/unrelated", test_unrelated);
	g_test_add_func("/sides-apart/sampled", test_sampled);
	return g_test_run();
}
