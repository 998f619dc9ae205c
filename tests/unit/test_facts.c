/* SPDX-License-Identifier: MIT */
/* What is known of operations: stored and found again, and asked for in --operation. */
#include "profile_feed.h"

#include "event/results.h"
#include "timeline/facts.h"

/* A call whose fields are `entry` ("fd count*" with those values) and `leave`. */
static void valued(struct feed *feed, int64_t time, const char *event_name, const char *names,
		   const int64_t *values, uint32_t count)
{
	struct event event = event_of(feed, time, 0, event_name);
	struct event_sink *sink = &feed->session->trace.sink;

	event.syscall.shape = sink->shape(sink->data, names);
	event.syscall.values = values;
	event.syscall.value_count = count;
	send(feed, &event);
}

static void read_call(struct feed *feed, int64_t begin, int64_t end, int64_t fd, int64_t count,
		      int64_t ret)
{
	const int64_t passed[] = {fd, 0x7fff12345678, count}, back[] = {ret, 0x7fff12345678};

	valued(feed, begin, "syscall_entry_read", "fd buf* count*", passed, 3);
	valued(feed, end, "syscall_exit_read", "ret buf*", back, 2);
}

/* Three reads of thread 5, of 10, 20 and 30 ns. */
static struct feed *reads(const char *pattern)
{
	struct feed *feed = profile_feed(1, pattern);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	read_call(feed, 100, 110, 3, 4096, 4096);
	read_call(feed, 200, 220, 3, 512, 0);
	read_call(feed, 300, 330, 4, 4096, -11);
	plain(feed, 400, 0, "other");
	return feed;
}

/* "2 from 10 to 30" */
static char *found(struct feed *feed)
{
	struct profiles *profiles = profiles_of(feed);
	const struct profile *profile =
		profiles->list->len ? g_ptr_array_index(profiles->list, 0) : NULL;
	char *text = profile ? g_strdup_printf("%d from %d to %d", (int) profile->count,
					       (int) profile->min, (int) profile->max)
			     : g_strdup("none");

	profiles_free(profiles);
	g_ptr_array_add(feed->texts, text);
	return text;
}

static void test_conditions(void)
{
	static const struct {
		const char *pattern, *found;
	} cases[] = {
		{"syscall:read", "3 from 10 to 30"},
		{"syscall:read ret=0", "1 from 20 to 20"},
		{"syscall:read ret!=0", "2 from 10 to 30"},
		{"syscall:read ret=EAGAIN", "1 from 30 to 30"},
		{"syscall:read ret=-EAGAIN", "1 from 30 to 30"},
		{"syscall:read ret<0", "1 from 30 to 30"},
		{"syscall:read ret<=0", "2 from 20 to 30"},
		{"syscall:read count>=4096", "2 from 10 to 30"},
		{"syscall:read count>4096", "none"},
		{"syscall:re* fd=3  count=0x200", "1 from 20 to 20"},
		{"syscall:read count&0x200", "1 from 20 to 20"},
		{"syscall:read buf=0x7fff12345678", "3 from 10 to 30"},
		{"syscall:read cpu=0", "3 from 10 to 30"},
		{"syscall:read cpu=1", "none"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED_FROM(reads(cases[i].pattern));

		g_assert_cmpstr(found(feed), ==, cases[i].found);
	}
}

/* One pattern with a condition, and one without. */
static void test_patterns(void)
{
	FEED_FROM(reads("syscall:read ret=0"));

	set(feed, "operation", "syscall:read fd=4");
	g_assert_cmpstr(found(feed), ==, "2 from 20 to 30");
}

static void test_errors(void)
{
	static const char *const wrong[] = {"syscall:read ret=", "syscall:read ret=EWHAT",
					    "syscall:read fd=ENOENT", "syscall:read ret=0 fd",
					    "syscall:read count>=1k"};
	GError *error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_assert_false(operation_pattern_check(wrong[i], &error));
		g_assert_nonnull(strstr(error->message, wrong[i]));
		g_clear_error(&error);
	}
	{
		FEED_FROM(reads("syscall:read size=0"));

		finish(feed);
		g_assert_null(profiles_new(feed->session, 1, &error));
		g_assert_nonnull(strstr(error->message, "no field 'size'; they have "));
		g_assert_nonnull(strstr(error->message, "'count'"));
		g_clear_error(&error);
	}
}

static void block(struct feed *feed, int64_t time, const char *name, uint64_t sector)
{
	struct event event = event_of(feed, time, 0, name);

	event.block.dev = 254 << 20;
	event.block.sector = sector;
	event.block.sectors = 8;
	event.block.tid = 5;
	send(feed, &event);
}

/* Three requests: the second one is issued while the first is at the disk, and goes on where that
 * ends; the third comes when both are done, 884 sectors further on. */
static void test_requests(void)
{
	static const struct {
		const char *pattern, *found;
	} cases[] = {
		{"block-served:* depth=0", "2 from 30 to 50"},
		{"block-served:* depth>=1", "1 from 60 to 60"},
		{"block-served:* distance=0", "1 from 60 to 60"},
		{"block-served:* distance=884", "1 from 50 to 50"},
		{"block-served:* sectors=8 write=0", "3 from 30 to 60"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED_FROM(profile_feed(1, cases[i].pattern));

		sw(feed, 0, 0, "idle", 0, 0, "a", 5);
		block(feed, 100, "block_rq_issue", 100);
		block(feed, 110, "block_rq_issue", 108);
		block(feed, 130, "block_rq_complete", 100);
		block(feed, 170, "block_rq_complete", 108);
		block(feed, 200, "block_rq_issue", 1000);
		block(feed, 250, "block_rq_complete", 1000);
		plain(feed, 400, 0, "other");
		g_assert_cmpstr(found(feed), ==, cases[i].found);
	}
}

/* Names with blanks are no conditions. */
static void test_names(void)
{
	g_autofree char *name = operation_pattern_name("trap:page_fault on /lib/x y ret=0");
	g_autofree char *bare = operation_pattern_name("trap:page_fault on /lib/x y");

	g_assert_cmpstr(name, ==, "trap:page_fault on /lib/x y");
	g_assert_cmpstr(bare, ==, "trap:page_fault on /lib/x y");
}

/* Values of every length come back as they went in; operations without any have none. */
static void test_store(void)
{
	static const int64_t values[] = {0, -1, 1, 127, -128, 1 << 20, INT64_MAX, INT64_MIN};
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct timeline timeline = {0}, other = {0};
	struct facts facts;

	timeline_init(&timeline, 1 << 20);
	timeline_init(&other, 1 << 20);
	facts_put(bytes, 70000, values, G_N_ELEMENTS(values));
	facts_put(bytes, 3, values + 1, 1);
	for (uint32_t i = 1; i < 100000; i += 2) /* more than a segment */
		facts_append(&timeline, i, bytes);
	g_assert_false(facts_of(&timeline, 2, &facts));
	g_assert_false(facts_of(&timeline, 1000000, &facts));
	facts_keep(&timeline, 99999, &other, 7);
	g_assert_false(facts_of(&other, 6, &facts));
	g_assert_true(facts_of(&other, 7, &facts));
	for (int turn = 0; turn < 2; turn++) {
		g_assert_cmpuint(facts.count, ==, G_N_ELEMENTS(values) + 1);
		for (uint32_t i = 0; i < G_N_ELEMENTS(values); i++) {
			g_assert_cmpuint(facts.at[i].shape, ==, 70000);
			g_assert_cmpuint(facts.at[i].member, ==, i);
			g_assert_cmpint(facts.at[i].value, ==, values[i]);
		}
		g_assert_cmpuint(facts.at[8].shape, ==, 3);
		g_assert_cmpint(facts.at[8].value, ==, -1);
		g_assert_true(facts_of(&timeline, 54321, &facts));
	}
	timeline_clear(&timeline);
	timeline_clear(&other);
}

/* Facts that were written a little before are not written again; those that differ in one value,
 * or in their number, are, and so are those that were written long before. */
static void test_same(void)
{
	static const int64_t values[] = {3, 4096, 1};
	g_autoptr(GByteArray) same = g_byte_array_new();
	g_autoptr(GByteArray) shorter = g_byte_array_new();
	g_autoptr(GByteArray) other = g_byte_array_new();
	struct timeline timeline = {0};
	struct facts facts;

	timeline_init(&timeline, 1 << 20);
	facts_put(same, 5, values, 3);
	facts_put(shorter, 5, values, 2);
	facts_append(&timeline, 1, same);
	facts_append(&timeline, 2, shorter);
	facts_append(&timeline, 3, same);
	g_assert_cmpuint(facts_place(&timeline, 1), !=, 0);
	g_assert_cmpuint(facts_place(&timeline, 1), ==, facts_place(&timeline, 3));
	g_assert_cmpuint(facts_place(&timeline, 1), !=, facts_place(&timeline, 2));
	g_assert_true(facts_of(&timeline, 2, &facts));
	g_assert_cmpuint(facts.count, ==, 2);
	for (int64_t i = 0; i < 2 * PAGES_SEGMENT; i++) { /* each has another value */
		other->len = 0;
		facts_put(other, 5, &i, 1);
		facts_append(&timeline, 4 + (uint32_t) i, other);
	}
	facts_append(&timeline, 4 + 2 * PAGES_SEGMENT, same);
	g_assert_cmpuint(facts_place(&timeline, 4 + 2 * PAGES_SEGMENT), !=,
			 facts_place(&timeline, 1));
	g_assert_true(facts_of(&timeline, 4 + 2 * PAGES_SEGMENT, &facts));
	g_assert_cmpuint(facts.count, ==, 3);
	g_assert_cmpint(facts.at[1].value, ==, 4096);
	for (uint32_t i = 0; i < 2 * PAGES_SEGMENT; i++) {
		g_assert_true(facts_of(&timeline, 4 + i, &facts));
		g_assert_cmpint(facts.at[0].value, ==, i);
	}
	timeline_clear(&timeline);
}

static void test_results(void)
{
	int64_t number;

	g_assert_cmpstr(result_name(-2), ==, "ENOENT");
	g_assert_cmpstr(result_name(-11), ==, "EAGAIN");
	g_assert_null(result_name(0));
	g_assert_null(result_name(2));
	g_assert_true(result_number("ETIMEDOUT", &number));
	g_assert_cmpint(number, ==, -110);
	g_assert_false(result_number("ret", &number));
	g_assert_cmpstr(result_meaning("getdents64", 0), ==, "no more entries");
	g_assert_null(result_meaning("getdents64", 1));
	g_assert_null(result_meaning("write", 0));
	g_assert_cmpstr(result_limit("clone3", -11), ==,
			"no more processes allowed: pids.max or RLIMIT_NPROC");
	g_assert_null(result_limit("read", -11));
	g_assert_cmpstr(result_limit("inotify_add_watch", -28), ==, "fs.inotify.max_user_watches");
	g_assert_cmpstr(result_limit("write", -28), ==, "no space left");
	g_assert_null(result_limit("write", 28));
}

/* Members 1 and 2 of the first shape, and the second's only one, whose place is taken. */
static const struct fact_slots *some_slots(void *data, uint32_t shape)
{
	static const struct fact_slots first = {3, {0, 1 << 1, 1 << 0}, 1 << 1},
				       second = {1, {1 << 1}, 0};

	(void) data;
	return shape == 70000 ? &first : &second;
}

/* Of several values only some: the first of a place, behind and between others of any length. */
static void test_pick(void)
{
	static const int64_t values[] = {INT64_MAX, -300, 5, INT64_MIN}, other = 9;
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct timeline timeline = {0};
	int64_t got[2] = {0, 0};
	uint32_t wide;

	timeline_init(&timeline, 1 << 20);
	facts_put(bytes, 70000, values, G_N_ELEMENTS(values));
	facts_put(bytes, 3, &other, 1);
	facts_append(&timeline, 7, bytes);
	g_assert_cmpuint(facts_pick(&timeline, 7, 7, some_slots, NULL, got, &wide), ==, 3);
	g_assert_cmpint(got[0], ==, 5);
	g_assert_cmpint(got[1], ==, -300);
	g_assert_cmpuint(wide, ==, 2);
	g_assert_cmpuint(facts_pick(&timeline, 6, 7, some_slots, NULL, got, &wide), ==, 0);
	timeline_clear(&timeline);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/facts/store", test_store);
	g_test_add_func("/facts/same", test_same);
	g_test_add_func("/facts/pick", test_pick);
	g_test_add_func("/facts/conditions", test_conditions);
	g_test_add_func("/facts/patterns", test_patterns);
	g_test_add_func("/facts/errors", test_errors);
	g_test_add_func("/facts/requests", test_requests);
	g_test_add_func("/facts/names", test_names);
	g_test_add_func("/facts/results", test_results);
	return g_test_run();
}
