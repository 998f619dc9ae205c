/* SPDX-License-Identifier: MIT */
/* What sets peaks apart, of operations as literals; durations and fields are chosen so that the
 * tables can be counted by hand. */
#include "profile_feed.h"
#include "traits/known_of.h"
#include "traits/peaks_apart.h"

static void valued(struct feed *feed, int64_t time, const char *event_name, const char *names,
		   const int64_t *values, uint32_t count, int64_t fd)
{
	struct event event = event_of(feed, time, 0, event_name);
	struct event_sink *sink = &feed->session->trace.sink;

	event.syscall.shape = sink->shape(sink->data, names);
	event.syscall.values = values;
	event.syscall.value_count = count;
	event.syscall.fd = (int32_t) fd;
	if (strcmp(names, "ret") == 0)
		event.syscall.ret = values[0];
	send(feed, &event);
}

static void call(struct feed *feed, int64_t begin, int64_t ns, const char *name, int64_t fd,
		 int64_t count, int64_t ret)
{
	g_autofree char *entry = g_strconcat("syscall_entry_", name, NULL),
			*leave = g_strconcat("syscall_exit_", name, NULL);
	const int64_t passed[] = {fd, count};

	valued(feed, begin, entry, "fd count*", passed, 2, fd);
	valued(feed, begin + ns, leave, "ret", &ret, 1, -1);
}

/* A seek of `fd` to `to`. */
static void seek(struct feed *feed, int64_t time, int64_t fd, int64_t to)
{
	const int64_t passed[] = {fd, to, 0};

	valued(feed, time, "syscall_entry_lseek", "fd offset whence", passed, 3, fd);
	valued(feed, time + 1, "syscall_exit_lseek", "ret", &to, 1, -1);
}

static struct feed *traits_feed(const char *operation)
{
	struct feed *feed = profile_feed(1, operation);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	return feed;
}

#define ANY_PEAK UINT32_MAX /* of two the one that was asked about */

static const struct traits *traits_at(const struct peaks_apart *apart,
				      const struct profile *profile, guint peak)
{
	g_assert_true(peak == ANY_PEAK || peak < profile->peaks->len);
	for (guint i = 0; i < profile->peaks->len; i++) {
		const struct traits *traits =
			peak_traits(apart, &g_array_index(profile->peaks, struct peak, i));

		if (traits && (peak == i || peak == ANY_PEAK))
			return traits;
	}
	return NULL;
}

/* The sentences of that peak, and how the search ended; NULL: it was not asked about. */
static const char *told(struct feed *feed, guint peak)
{
	struct profiles *profiles = profiles_of(feed);
	struct peaks_apart *apart = peaks_apart_new(profiles);
	const struct traits *traits = traits_at(apart, g_ptr_array_index(profiles->list, 0), peak);
	GString *text = traits ? g_string_new(NULL) : NULL;

	for (guint i = 0; traits && i < traits->told->len; i++)
		g_string_append_printf(
			text, "%s%s", i ? " | " : "",
			((struct trait_told *) g_ptr_array_index(traits->told, i))->sentence);
	if (traits && traits->outcome == SEARCH_TOO_FEW)
		g_string_append(text, "too few");
	peaks_apart_free(apart);
	profiles_free(profiles);
	if (!text)
		return NULL;
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Of seven calls two at the end of a directory, in no order: these take 1 µs, of the others one as
 * well, four a hundred. */
static struct feed *listing(guint calls)
{
	struct feed *feed = traits_feed("syscall:getdents64");
	g_autoptr(GRand) random = g_rand_new_with_seed(7);
	int64_t time = 1000;

	for (guint i = 0; i < calls; i++) {
		guint sort = i % 7;
		bool end = sort < 2, slow = sort > 2;

		if (sort == 0)
			time += g_rand_int_range(random, 0, 50) * 1000;
		call(feed, time, (slow ? 100000 : 1000) + (int64_t) (i * 7 % 13), "getdents64", 3,
		     32768, end ? 0 : 500 + (int64_t) (i * 31 % 17));
		time += 200000 + g_rand_int_range(random, 0, 1000) * 100;
		if (g_rand_int_range(random, 0, 3) == 0)
			call(feed, time, 500, "fcntl", 3, 0, 0);
		time += 5000;
	}
	plain(feed, time + 1000, 0, "other");
	return feed;
}

static void test_returned(void)
{
	FEED_FROM(listing(140));
	const char *text = told(feed, 0);

	g_assert_nonnull(
		strstr(text, "40 of 60 returned 0 (no more entries); of the 80 others none did"));
}

/* What sets most of them apart is what the others have not: nothing is said of those 80. */
static void test_most(void)
{
	FEED_FROM(listing(140));

	g_assert_null(told(feed, 1));
}

/* 7 calls, 3 of them fast: too few. */
static void test_few(void)
{
	FEED_FROM(listing(7));

	g_assert_cmpstr(told(feed, 0), ==, "too few");
}

/* More operations than a search takes: what is told is counted of all. */
static void test_sampled(void)
{
	FEED_FROM(listing(10500));
	const char *text = told(feed, 0);

	g_assert_nonnull(
		strstr(text,
		       "3000 of 4500 returned 0 (no more entries); of the 6000 others none did"));
}

/* Reads of 4,096 bytes; half of them, by chance, begin elsewhere than where the one before ended,
 * 100 KiB or more off, and take longer. */
static void test_distance(void)
{
	FEED_FROM(traits_feed("syscall:read"));
	g_autoptr(GRand) random = g_rand_new_with_seed(3);
	int64_t time = 1000, at = 0, far = 0, least = INT64_MAX;
	g_autofree char *expected = NULL;

	seek(feed, time, 3, 0);
	for (guint i = 0; i < 200; i++) {
		bool jump = i && g_rand_int_range(random, 0, 2);

		time += 50000 + g_rand_int_range(random, 0, 1000) * 100;
		if (jump) {
			int64_t distance = 102400 + g_rand_int_range(random, 0, 1000000);

			at += distance;
			least = MIN(least, distance);
		}
		seek(feed, time, 3, at); /* always: a seek alone tells nothing */
		time += 100;
		call(feed, time, jump ? 900000 : 3000, "read", 3, 4096, 4096);
		time += 1000000;
		at += 4096;
		far += jump;
	}
	plain(feed, time, 0, "other");
	expected = g_strdup_printf("%d of %d began %d bytes or more from where the previous one on "
				   "their file ended; of the %d others none did",
				   (int) far, (int) far, (int) least, 200 - (int) far);
	g_assert_nonnull(strstr(told(feed, ANY_PEAK), expected));
}

/* Durations that have nothing to do with anything: of 1,000 at most ten claim something. */
static void test_shuffled(void)
{
	guint claims = 0;

	for (guint32 seed = 1; seed <= 1000; seed++) {
		FEED_FROM(traits_feed("syscall:read"));
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		int64_t time = 1000;
		bool burst = false;

		for (guint i = 0; i < 100; i++) {
			if (g_rand_int_range(random, 0, 6) == 0)
				burst = !burst; /* slow ones come together, too */
			if (i % 3 == 0)
				call(feed, time, 300, i % 2 ? "write" : "fcntl", 4, 10, 10);
			time += 1000 + (i / 10 % 2) * 90000;
			call(feed, time, burst ? 900000 : 3000 + (int64_t) i, "read",
			     3 + (int64_t) (i / 20), 4096 << i % 3, i % 5 ? 512 : 0);
			time += (burst ? 900000 : 3000 + (int64_t) i) + 50000;
		}
		plain(feed, time, 0, "other");
		claims += *told(feed, ANY_PEAK) != 0;
	}
	g_test_message("%u claims", claims);
	g_assert_cmpuint(claims, <=, 10);
}

/* 12 of 60 calls are preempted by hog for 500 µs; three others by a thread that leaves at once. */
static void test_taken(void)
{
	FEED_FROM(traits_feed("syscall:read"));
	static const char places[] = "..h...h..o.h....h.h...o..h...h.....h..h.o..h...h..........h.";
	g_autoptr(GRand) random = g_rand_new_with_seed(9);
	int64_t time = 1000;

	for (guint i = 0; places[i]; i++) {
		const int64_t passed[] = {3, 4096}, ret = 4096;
		int64_t away = places[i] == 'h' ? 500000 : places[i] == 'o' ? 300 : 0;
		const char *who = places[i] == 'h' ? "hog" : "other";
		int32_t tid = places[i] == 'h' ? 6 : 7;

		valued(feed, time, "syscall_entry_read", "fd count*", passed, 2, 3);
		if (away) {
			sw(feed, time + 100, 0, "a", 5, PREEMPTED, who, tid);
			sw(feed, time + 100 + away, 0, who, tid, PREEMPTED, "a", 5);
		}
		valued(feed, time + away + 2000, "syscall_exit_read", "ret", &ret, 1, -1);
		time += away + 100000 + g_rand_int_range(random, 0, 900000);
	}
	plain(feed, time, 0, "other");
	g_assert_cmpstr(told(feed, 1), ==,
			"12 of 12 lost the CPU mostly to hog; of the 48 others none did");
}

static void opens(struct feed *feed, int64_t time, const char *name, int64_t fd)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_openat");

	event.syscall.filename = name;
	event.syscall.fd = -100;
	send(feed, &event);
	leave(feed, time + 1, 0, "openat", (int) fd);
}

#define FILES 10 /* opened as 3 …: the even ones are directories */

/* Each file is synced ten times; of directories that takes long. `listed`: what a listing of the
 * directories returns before, all of them FILES; of the others a read succeeds. */
static struct feed *syncs(const char *place, int64_t listed)
{
	struct feed *feed = traits_feed("syscall:fsync");
	g_autoptr(GRand) random = g_rand_new_with_seed(5);
	int64_t time = 1000;

	for (int64_t fd = 3; fd < 3 + FILES; fd++) {
		g_autofree char *name = g_strdup_printf("%s/%d", place, (int) fd);

		opens(feed, time, name, fd);
		call(feed, time + 10, 5, fd % 2 ? "pread64" : "getdents64", fd, 100,
		     fd % 2 ? 100 : listed);
		time += 100;
	}
	for (guint i = 0; i < 10 * FILES; i++) {
		int64_t fd = 3 + g_rand_int_range(random, 0, FILES), ns = fd % 2 ? 3000 : 900000;

		call(feed, time, ns, "fsync", fd, 0, 0);
		time += ns + 50000 + g_rand_int_range(random, 0, 900000);
	}
	plain(feed, time, 0, "other");
	return feed;
}

/* Each directory is another object: what they have in common is their kind. */
static void test_directories(void)
{
	FEED_FROM(syncs("/d", 40));

	g_assert_nonnull(strstr(told(feed, ANY_PEAK), "were on a directory; of the "));
}

/* The same calls, but the listing failed, so that nothing is known of those; the read ones are
 * known, so that it is these that some are not. */
static void test_kind_unknown(void)
{
	FEED_FROM(syncs("/d", -20));

	g_assert_null(strstr(told(feed, ANY_PEAK), "directory"));
}

/* Of files below /proc the name tells, but not which are slow. */
static void test_proc(void)
{
	FEED_FROM(syncs("/proc/1", -20));

	g_assert_null(strstr(told(feed, ANY_PEAK), "/proc;"));
}

/* 60 calls, most of 2 µs: 'h' is interrupted for 500 µs, 'o' for 300 ns, 's' by another for as
 * long, 'w' works for 500 µs and is interrupted for 300 ns. */
static struct feed *interrupted(const char *places)
{
	struct feed *feed = traits_feed("syscall:read");
	g_autoptr(GRand) random = g_rand_new_with_seed(9);
	int64_t time = 1000;

	for (guint i = 0; places[i]; i++) {
		const int64_t passed[] = {3, 4096}, ret = 4096;
		bool is_long = places[i] == 'h' || places[i] == 's';
		int64_t away = is_long            ? 500000
			       : places[i] == '.' ? 0
						  : 300,
			work = places[i] == 'w' ? 500000 : 2000;

		valued(feed, time, "syscall_entry_read", "fd count*", passed, 2, 3);
		if (away && places[i] != 's') {
			irq(feed, time + 100, 0, "irq_handler_entry", 9);
			irq(feed, time + 100 + away, 0, "irq_handler_exit", 9);
		} else if (away) {
			softirq(feed, time + 100, 0, "irq_softirq_entry", 3);
			softirq(feed, time + 100 + away, 0, "irq_softirq_exit", 3);
		}
		valued(feed, time + away + work, "syscall_exit_read", "ret", &ret, 1, -1);
		time += away + work + 100000 + g_rand_int_range(random, 0, 900000);
	}
	plain(feed, time, 0, "other");
	return feed;
}

static void test_interrupted(void)
{
	FEED_FROM(interrupted("..h...h..o.h....h.h...o..h...h.....h..h.o..h...h..........h."));

	g_assert_cmpstr(told(feed, 1), ==,
			"12 of 12 were interrupted by irq:9 for a tenth of their time or more; of "
			"the 48 others 3 were");
}

static void test_softirq(void)
{
	FEED_FROM(interrupted("..s...s..o.s....s.s...o..s...s.....s..s.o..s...s..........s."));

	g_assert_cmpstr(told(feed, 1), ==,
			"12 of 12 were interrupted by softirq:3 (NET_RX) for a tenth of their time "
			"or more; of the 48 others "
			"none were");
}

/* As many interrupts, but so short that they are no part of why it takes long. */
static void test_met(void)
{
	FEED_FROM(interrupted("..w...w..o.w....w.w...o..w...w.....w..w.o..w...w..........w."));

	g_assert_null(strstr(told(feed, 1), "irq"));
}

#define CALLS 700
#define RENAMED "getdents" /* which nobody asks about */

/* A call as it is listed above. */
struct listed {
	bool end, slow;
	const char *name;
};

/* Calls of listing(), of which a random half changes places, or is called otherwise. */
static struct listed *calls_changed(bool permute, bool rename)
{
	struct listed *calls = g_new(struct listed, CALLS);
	g_autoptr(GRand) random = g_rand_new_with_seed(11);
	g_autoptr(GArray) half = g_array_new(FALSE, FALSE, sizeof(guint));

	for (guint i = 0; i < CALLS; i++) {
		calls[i] = (struct listed) {i % 7 < 2, i % 7 > 2, "getdents64"};
		if (g_rand_int_range(random, 0, 2))
			g_array_append_val(half, i);
	}
	for (guint i = 0; rename && i < half->len; i++)
		calls[g_array_index(half, guint, i)].name = RENAMED;
	for (guint i = half->len; permute && i-- > 1;) {
		guint a = g_array_index(half, guint, i),
		      b = g_array_index(half, guint, g_rand_int_range(random, 0, (gint32) i + 1));
		struct listed kept = calls[a];

		calls[a] = calls[b];
		calls[b] = kept;
	}
	return calls;
}

static struct feed *feed_of_calls(const struct listed *calls)
{
	struct feed *feed = traits_feed("syscall:getdents64");
	g_autoptr(GRand) random = g_rand_new_with_seed(7);
	int64_t time = 1000;

	for (guint i = 0; i < CALLS; i++) {
		int64_t ns = calls[i].slow ? 100000 : 1000;

		call(feed, time, ns, calls[i].name, 3, 32768,
		     calls[i].end ? 0 : 500 + (int64_t) (i * 31 % 17));
		time += ns + 200000 + g_rand_int_range(random, 0, 1000) * 100;
	}
	plain(feed, time, 0, "other");
	return feed;
}

/* Of the calls that are asked about: how many of the fast ones are at the end, and how many slow
 * ones there are. */
static char *expected_of(const struct listed *calls)
{
	guint fast = 0, ends = 0, slow = 0;

	for (guint i = 0; i < CALLS; i++) {
		if (strcmp(calls[i].name, RENAMED) == 0)
			continue;
		slow += calls[i].slow;
		fast += !calls[i].slow;
		ends += calls[i].end;
	}
	return g_strdup_printf("%u of %u returned 0 (no more entries); of the %u others none did",
			       ends, fast, slow);
}

/* Half of them in other places: nothing changes. Half of them renamed: what is told is of the
 * others, and of these the same. */
static void test_half(void)
{
	static const struct {
		bool permute, rename;
	} ways[] = {{false, false}, {true, false}, {false, true}};

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		g_autofree struct listed *calls = calls_changed(ways[i].permute, ways[i].rename);
		g_autofree char *expected = expected_of(calls);
		FEED_FROM(feed_of_calls(calls));

		if (!ways[i].rename)
			g_assert_cmpstr(expected, ==,
					"200 of 300 returned 0 (no more entries); of the 400 "
					"others none did");
		g_assert_cmpstr(told(feed, 0), ==, expected);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/traits/returned", test_returned);
	g_test_add_func("/traits/most", test_most);
	g_test_add_func("/traits/few", test_few);
	g_test_add_func("/traits/sampled", test_sampled);
	g_test_add_func("/traits/taken", test_taken);
	g_test_add_func("/traits/directories", test_directories);
	g_test_add_func("/traits/kind-unknown", test_kind_unknown);
	g_test_add_func("/traits/proc", test_proc);
	g_test_add_func("/traits/interrupted", test_interrupted);
	g_test_add_func("/traits/softirq", test_softirq);
	g_test_add_func("/traits/met", test_met);
	g_test_add_func("/traits/half", test_half);
	g_test_add_func("/traits/distance", test_distance);
	g_test_add_func("/traits/shuffled", test_shuffled);
	return g_test_run();
}
