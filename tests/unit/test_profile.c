/* SPDX-License-Identifier: MIT */
/* Profiles, peaks and root causes on small hand-made sequences. Expectations
 * are worked out by hand from semantics.md ("Latency") and DARC, section 3, as
 * latencies/roots.h restates it; each test says what it is of.
 */
#include "profile_feed.h"
#include "util/when.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void append_part(GString *text, const struct part *part)
{
	g_string_append_printf(text, "%s %u/%d%s", part->node, (unsigned) part->maxcount,
			       (int) part->ns, part->root ? "*" : "");
	if (!part->children->len)
		return;
	g_string_append(text, " [");
	for (guint i = 0; i < part->children->len; i++) {
		g_string_append(text, i ? ", " : "");
		append_part(text, g_ptr_array_index(part->children, i));
	}
	g_string_append(text, "]");
}

/* The tree of the nth peak of the only profile: "NODE MAXCOUNT/NS* [PARTS]",
 * a star on roots. */
static const char *tree(struct feed *feed, guint nth)
{
	struct profiles *profiles = profiles_of(feed);
	const struct profile *profile = g_ptr_array_index(profiles->list, 0);
	GString *text = g_string_new(NULL);

	g_assert_cmpuint(profiles->list->len, ==, 1);
	append_part(text, g_array_index(profile->peaks, struct peak, nth).tree);
	profiles_free(profiles);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* "The profile bucket of latency d ns with resolution r is the largest k with
 * 2^k <= d^r (d = 0 goes to bucket 0)": compared in 128 bits. */
static void test_buckets(void)
{
	for (guint r = 1; r <= 4; r++) {
		struct buckets buckets;

		buckets_init(&buckets, r);
		g_assert_cmpuint(bucket_of(&buckets, 0), ==, 0);
		for (int64_t d = 1; d < INT64_C(1) << 30; d += 1 + d / 5) {
			guint k = bucket_of(&buckets, d);
			uint128 power = 1;

			for (guint i = 0; i < r; i++)
				power *= (uint128) d;
			g_assert_true((uint128) 1 << k <= power);
			g_assert_true(power < (uint128) 1 << (k + 1));
			if (k)
				g_assert_cmpint(buckets.from[k], <=, d);
			g_assert_cmpint(d, <, buckets.from[k + 1]);
		}
		buckets_clear(&buckets);
	}
}

static const char *peaks_text(struct feed *feed, const uint64_t *counts, guint length, guint r)
{
	GArray *peaks = peaks_find(counts, length, r);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < peaks->len; i++) {
		struct peak_range peak = g_array_index(peaks, struct peak_range, i);

		g_string_append_printf(text, "%s%u-%u(%u)", i ? " " : "", peak.first, peak.last,
				       peak.mode);
	}
	g_array_free(peaks, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#define PEAKS(r, ...)                                                                              \
	peaks_text(feed, (const uint64_t[]) {__VA_ARGS__},                                         \
		   sizeof((const uint64_t[]) {__VA_ARGS__}) / sizeof(uint64_t), r)

/* What a person sees, and the rule in peaks.c: prominence 1.5 in log2(1+n),
 * 1.5 standard deviations, three empty octaves. */
static void test_peaks(void)
{
	FEED_FROM(profile_feed(1, "*"));

	g_assert_cmpstr(PEAKS(1, 0, 0, 0), ==, "");
	g_assert_cmpstr(PEAKS(1, 0, 7, 0), ==, "1-1(1)");
	g_assert_cmpstr(PEAKS(1, 5, 5, 5, 5), ==, "0-3(0)"); /* flat: one, however wide */
	/* OSprof's first figure, as recorded: the valley at 2 belongs to the left */
	g_assert_cmpstr(PEAKS(1, 394, 581, 26, 146, 51, 7, 1), ==, "0-2(1) 3-6(3)");
	/* a ripple of chance: 100 against 90 */
	g_assert_cmpstr(PEAKS(1, 20, 100, 90, 100, 20), ==, "0-4(1)");
	/* a factor of two is no valley, a factor of four is */
	g_assert_cmpstr(PEAKS(1, 400, 200, 400), ==, "0-2(0)");
	g_assert_cmpstr(PEAKS(1, 400, 100, 400), ==, "0-1(0) 2-2(2)");
	/* few: 2 beside an empty bucket may be chance, 9 is not */
	g_assert_cmpstr(PEAKS(1, 50, 0, 2), ==, "0-2(0)");
	g_assert_cmpstr(PEAKS(1, 50, 0, 9), ==, "0-0(0) 2-2(2)");
	/* a single strong bucket, and a lone one three octaves away */
	g_assert_cmpstr(PEAKS(1, 5, 4, 300, 5), ==, "0-3(2)");
	g_assert_cmpstr(PEAKS(1, 300, 0, 0, 1), ==, "0-3(0)");
	g_assert_cmpstr(PEAKS(1, 300, 0, 0, 0, 1), ==, "0-0(0) 4-4(4)");
	g_assert_cmpstr(PEAKS(2, 300, 0, 0, 0, 0, 1), ==, "0-5(0)"); /* two octaves */
	/* ripples beside a wide gap are not drawn over it */
	g_assert_cmpstr(PEAKS(1, 1, 0, 1, 0, 0, 0, 0, 1, 1), ==, "0-2(0) 7-8(7)");
	/* the floor of the valley goes left as far as chance made it */
	g_assert_cmpstr(PEAKS(1, 600, 60, 7, 4, 6, 14, 30), ==, "0-4(0) 5-6(6)");
}

/* Mixtures of log-normal latencies with known modes, as counts without noise
 * and with it (a fixed sequence): the modes are found, at every resolution. */
static void test_mixtures(void)
{
	static const struct {
		double mode[3], weight[3];
		guint modes;
	} mixtures[] = {
		{{10}, {5000}, 1},
		{{10, 15}, {50000, 40}, 2},
		{{9, 13, 21}, {90000, 800, 60}, 3},
		{{12, 17.5}, {300, 2000}, 2},
	};
	GRand *random = g_rand_new_with_seed(1);

	for (size_t m = 0; m < G_N_ELEMENTS(mixtures); m++)
		for (guint r = 1; r <= 4; r++) {
			uint64_t counts[160] = {0};
			GArray *peaks;

			for (guint c = 0; c < mixtures[m].modes; c++)
				for (int n = 0; n < (int) mixtures[m].weight[c]; n++) {
					double normal = -6; /* sum of 12: variance 1 */

					for (int i = 0; i < 12; i++)
						normal += g_rand_double(random);
					counts[(int) ((mixtures[m].mode[c] + 0.6 * normal) * r)]++;
				}
			peaks = peaks_find(counts, G_N_ELEMENTS(counts), r);
			g_assert_cmpuint(peaks->len, ==, mixtures[m].modes);
			for (guint c = 0; c < mixtures[m].modes; c++)
				g_assert_cmpfloat(
					fabs(g_array_index(peaks, struct peak_range, c).mode /
						     (double) r +
					     0.5 / r - mixtures[m].mode[c]),
					<=, 1.0); /* 40 latencies scatter */
			g_array_free(peaks, TRUE);
		}
	g_rand_free(random);
}

/* DARC 3.4. Everything moved by one bucket is one octave at resolution 1; a
 * quarter moved by two is half of one; at resolution 4 a bucket is a quarter. */
static void test_distance(void)
{
	static const uint64_t a[] = {4, 0, 0, 0}, b[] = {0, 8, 0, 0}, c[] = {3, 0, 1, 0};

	g_assert_cmpfloat_with_epsilon(profile_distance(a, a, 4, 1), 0.0, 1e-12);
	g_assert_cmpfloat_with_epsilon(profile_distance(a, b, 4, 1), 1.0, 1e-12);
	g_assert_cmpfloat_with_epsilon(profile_distance(a, c, 4, 1), 0.5, 1e-12);
	g_assert_cmpfloat_with_epsilon(profile_distance(a, b, 4, 4), 0.25, 1e-12);
	/* both together have 4 of 12 up to bucket 0: 2 sqrt(1/3 2/3 (1/4 + 1/8)) */
	g_assert_cmpfloat_with_epsilon(profile_noise(a, b, 4, 1), 2 * sqrt(2.0 / 9 * 3 / 8), 1e-12);
}

/* Count, sum, extremes and exact percentiles: latencies 1 … 200 us. */
static void test_percentiles(void)
{
	FEED_FROM(profile_feed(1, "syscall:*"));
	struct profiles *profiles;
	const struct profile *profile;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (int i = 0; i < 200; i++) {
		int64_t latency =
			1000 * (1 + i * 7 % 200); /* 7 and 200 have no divisor: each once */

		entry(feed, 1000000 * (i + 1), 0, "read", 3);
		leave(feed, 1000000 * (i + 1) + latency, 0, "read", 0);
	}
	profiles = profiles_of(feed);
	profile = g_ptr_array_index(profiles->list, 0);
	g_assert_cmpuint(profile->count, ==, 200);
	g_assert_cmpint(profile->sum, ==, 1000 * 200 * 201 / 2);
	g_assert_cmpint(profile->min, ==, 1000);
	g_assert_cmpint(profile->max, ==, 200000);
	g_assert_cmpint(profile->percentiles[0], ==, 100000); /* nearest rank */
	g_assert_cmpint(profile->percentiles[1], ==, 180000);
	g_assert_cmpint(profile->percentiles[2], ==, 198000);
	profiles_free(profiles);
}

/* "Preemptions and interrupts of one kind are summed": 20 + 30 preempted and
 * 50 own are both in bucket 5 (32 … 63); by b 20 and by c 30 in bucket 4. */
static void test_preempted(void)
{
	FEED_FROM(profile_feed(1, "syscall:read"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 100, 0, "read", 3);
	sw(feed, 110, 0, "a", 5, PREEMPTED, "b", 6);
	sw(feed, 130, 0, "b", 6, SLEEPS, "a", 5);
	sw(feed, 150, 0, "a", 5, PREEMPTED, "c", 7);
	sw(feed, 180, 0, "c", 7, SLEEPS, "a", 5);
	leave(feed, 200, 0, "read", 1);
	plain(feed, 210, 0, "other");
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:read 1/100* [interrupted/preempted 1/50* [by:c 1/30*, "
			"by:b 1/20*], working/syscall:read 1/50*]");
}

/* "In the case of a function being called from a loop, only the maximum latency
 * is attributed to it, and the remainder to the caller": 3 calls of 20 in 100;
 * 20 against 80. The times shown are whole: 60 and 40. */
static void test_loop(void)
{
	FEED_FROM(profile_feed(1, "syscall:read"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 100, 0, "read", 3);
	for (int i = 0; i < 3; i++) {
		plain(feed, 110 + 30 * i, 0, "fn_f_entry");
		plain(feed, 130 + 30 * i, 0, "fn_f_exit");
	}
	leave(feed, 200, 0, "read", 1);
	plain(feed, 210, 0, "other");
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:read 1/100* [working/syscall:read 1/40*, function:fn_f 0/60]");
}

/* Any number of calls at one instant are side by side, not in each other. */
static void test_one_instant(void)
{
	FEED_FROM(profile_feed(1, "syscall:read"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 100, 0, "read", 3);
	for (int i = 0; i < 200000; i++) {
		plain(feed, 150, 0, "fn_f_entry");
		plain(feed, 150, 0, "fn_f_exit");
	}
	leave(feed, 200, 0, "read", 1);
	plain(feed, 210, 0, "other");
	g_assert_cmpstr(tree(feed, 0), ==, "syscall:read 1/100* [working/syscall:read 1/100*]");
}

/* Entries whose exits are missed must not lend their begins to later calls: a
 * latency has both its ends seen. */
static void test_missed_exits(void)
{
	FEED_FROM(profile_feed(1, "function:fn_f"));
	struct profiles *profiles;
	const struct profile *profile;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (int i = 0; i < 128; i++)
		plain(feed, 10 + i, 0, "fn_f_entry");
	for (int i = 0; i < 5; i++) {
		plain(feed, 1000000 + 100 * i, 0, "fn_f_entry");
		plain(feed, 1000010 + 100 * i, 0, "fn_f_exit");
	}
	plain(feed, 2000000, 0, "other");
	profiles = profiles_of(feed);
	profile = g_ptr_array_index(profiles->list, 0);
	g_assert_cmpuint(profile->count, ==, 5);
	g_assert_cmpint(profile->max, ==, 10);
	profiles_free(profiles);
}

/* Functions in functions; what interrupts them is theirs; one that is never
 * left is no operation, and what is in it belongs to what is around. */
static void test_functions(void)
{
	FEED_FROM(profile_feed(1, "syscall:read"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 100, 0, "read", 3);
	plain(feed, 101, 0, "fn_f_entry");
	plain(feed, 102, 0, "fn_lost_entry");
	plain(feed, 103, 0, "fn_g_entry");
	irq(feed, 110, 0, "irq_handler_entry", 9);
	irq(feed, 120, 0, "irq_handler_exit", 9);
	plain(feed, 190, 0, "fn_g_return"); /* as it is called until 2.12 */
	plain(feed, 195, 0, "fn_f_exit");
	leave(feed, 200, 0, "read", 1);
	plain(feed, 210, 0, "other");
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:read 1/100* [function:fn_f 1/94* [function:fn_g 1/87* "
			"[interrupted/irq:9 0/10]], working/syscall:read 0/6]");
	g_assert_cmpuint(feed->session->trace.flow.odd[ODD_FUNCTION], ==, 1);
}

/* "The innermost of these takes the time": an IRQ in a softIRQ is a part of
 * the call, not of the softIRQ. A callback of a timer is a part of its vector. */
static void test_interrupts(void)
{
	FEED_FROM(profile_feed(1, "syscall:read"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 1000, 0, "read", 3);
	softirq(feed, 1010, 0, "irq_softirq_entry", 3);
	irq(feed, 1100, 0, "irq_handler_entry", 9);
	irq(feed, 1140, 0, "irq_handler_exit", 9);
	softirq(feed, 1300, 0, "irq_softirq_exit", 3);
	plain(feed, 1400, 0, "x86_irq_vectors_local_timer_entry");
	plain(feed, 1410, 0, "timer_hrtimer_expire_entry");
	plain(feed, 1490, 0, "timer_hrtimer_expire_exit");
	plain(feed, 1500, 0, "x86_irq_vectors_local_timer_exit");
	leave(feed, 1600, 0, "read", 1);
	plain(feed, 1610, 0, "other");
	/* own: 600 - 250 - 40 - 100 = 210, in bucket 7 as 250 is */
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:read 1/600* [interrupted/softirq:3 1/250*, "
			"working/syscall:read 1/210*, interrupted/vector:local_timer 0/100 "
			"[hrtimer 1/80], interrupted/irq:9 0/40]");
}

/* Asynchronous paths: "its time in the queue and in the device are parts of
 * their own", clipped to the wait, under the IRQ that ended it. */
static void test_request(void)
{
	FEED_FROM(profile_feed(1, "syscall:read"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 1000, 0, "read", 3);
	request(feed, 1010, 0, "block_rq_insert", 5);
	sw(feed, 1020, 0, "a", 5, SLEEPS, "idle", 0);
	request(feed, 1100, 0, "block_rq_issue", 5);
	irq(feed, 1500, 0, "irq_handler_entry", 9);
	request(feed, 1510, 0, "block_rq_complete", -1);
	waking(feed, 1520, 0, 5);
	irq(feed, 1530, 0, "irq_handler_exit", 9);
	sw(feed, 1540, 0, "idle", 0, 0, "a", 5);
	leave(feed, 1550, 0, "read", 1);
	plain(feed, 1560, 0, "other");
	/* blocked 1020 … 1520, queued 1020 … 1100 of it, served 1100 … 1510 */
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:read 1/550* [blocked/device:device 254:0 1/500* [served 1/410* "
			"[irq:9 1/410*], queued 0/80], working/syscall:read 0/30, "
			"interrupted/wait-cpu 0/20 [idle 1/20]]");
}

/* "What the waker was doing while we were blocked": a waits for b, which
 * waited for c; the waker in a call on the same file gave up its lock. */
static void waker_chain(struct feed *feed)
{
	struct event event;

	for (int32_t tid = 5; tid <= 7; tid++) { /* one file, as descriptor 3 */
		event = event_of(feed, 0, 0, "lttng_statedump_process_state");
		event.process.tid = event.process.pid = tid;
		event.process.files = 99;
		event.process.name = "x";
		send(feed, &event);
	}
	event = event_of(feed, 0, 0, "lttng_statedump_file_descriptor");
	event.file.files = 99;
	event.file.fd = 3;
	event.file.filename = "/data";
	send(feed, &event);
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 900, 1, "write", 3);
	sw(feed, 950, 1, "b", 6, SLEEPS, "c", 7);
	entry(feed, 1000, 0, "pwrite64", 3);
	sw(feed, 1010, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 1800, 1, 6); /* c is in user code */
	sw(feed, 1810, 1, "c", 7, SLEEPS, "b", 6);
	waking(feed, 1900, 1, 5);
	sw(feed, 1910, 0, "idle", 0, 0, "a", 5);
	leave(feed, 1920, 0, "pwrite64", 1);
	leave(feed, 1930, 1, "write", 1);
	plain(feed, 2000, 0, "other");
}

static void test_waker(void)
{
	FEED_FROM(profile_feed(2, "syscall:pwrite64"));

	waker_chain(feed);
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:pwrite64 1/920* [blocked/lock:/data 1/890* [by:b 1/890* "
			"[blocked/file 1/790* [by:c 1/790* [working/user 1/790*]], "
			"working/syscall:write 0/90, interrupted/wait-cpu 0/10 [by:c 1/10]]], "
			"working/syscall:pwrite64 0/20, interrupted/wait-cpu 0/10 [idle 1/10]]");
}

static const char *statuses(struct feed *feed)
{
	static const char *const words[] = {"found", "depth", "few"};
	struct profiles *profiles = profiles_of(feed);
	const struct profile *profile = g_ptr_array_index(profiles->list, 0);
	const char *word = words[g_array_index(profile->peaks, struct peak, 0).status];

	profiles_free(profiles);
	return word;
}

/* The status words: deep enough, not deep enough, too few operations. */
static void test_status(void)
{
	FEED_FROM(profile_feed(2, "syscall:pwrite64"));

	waker_chain(feed);
	feed->options.profile.min_operations = 2;
	g_assert_cmpstr(statuses(feed), ==, "few");
	feed->options.profile.min_operations = 1;
	g_assert_cmpstr(statuses(feed), ==, "found");
	feed->options.depth = 2;
	g_assert_cmpstr(statuses(feed), ==, "depth");
	g_assert_cmpstr(tree(feed, 0), ==,
			"syscall:pwrite64 1/920* [blocked/lock:/data 1/890* [by:b 1/890*], "
			"working/syscall:pwrite64 0/20, interrupted/wait-cpu 0/10 [idle 1/10]]");
}

/* A wait for a CPU: who had it. A wake-up that moved to another CPU's queue is
 * one wait. Blocked episodes: by their cause. */
static void test_waits(void)
{
	FEED_FROM(profile_feed(2, "wait-cpu"));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 100, 1, 5);
	wakeup(feed, 100, 1, 5);
	sw(feed, 164, 1, "b", 6, SLEEPS, "a", 5);
	plain(feed, 200, 1, "other");
	/* target_cpu is not said; it waited for CPU 1 in the end, where b ran */
	g_assert_cmpstr(tree(feed, 0), ==, "wait-cpu 1/64* [by:b 1/64*]");
}

/* An operation around lost events is marked, not hidden. */
static void test_gap(void)
{
	FEED_FROM(profile_feed(2, "syscall:read"));
	struct profiles *profiles;
	const struct peak *peak;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 100, 0, "read", 3);
	sw(feed, 120, 0, "a", 5, SLEEPS, "idle", 0);
	lost(feed, 1, 200, 300);
	waking(feed, 400, 1, 5);
	sw(feed, 410, 0, "idle", 0, 0, "a", 5);
	leave(feed, 420, 0, "read", 1);
	entry(feed, 500, 0, "read", 3);
	leave(feed, 600, 0, "read", 1);
	plain(feed, 700, 0, "other");
	profiles = profiles_of(feed);
	peak = &g_array_index(((struct profile *) g_ptr_array_index(profiles->list, 0))->peaks,
			      struct peak, 0);
	g_assert_cmpuint(peak->count, ==, 2);
	g_assert_cmpuint(peak->spans_gap, ==, 1);
	profiles_free(profiles);
}

/* A switched-out function goes on; a system call that events were lost in is
 * no operation. */
static void test_lost_call(void)
{
	FEED_FROM(profile_feed(1, "*"));
	struct profiles *profiles;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 100, 0, "read", 3);
	lost(feed, 0, 150, 160);
	sw(feed, 170, 0, "a", 5, PREEMPTED, "b", 6);
	sw(feed, 180, 0, "b", 6, PREEMPTED, "a", 5);
	leave(feed, 200, 0, "read", 1);
	plain(feed, 210, 0, "other");
	profiles = profiles_of(feed);
	g_assert_cmpuint(profiles->list->len, ==, 0);
	profiles_free(profiles);
}

static char *write_file(const char *text)
{
	char *path = g_build_filename(g_get_tmp_dir(), "whylate-test-XXXXXX", NULL);
	int fd = g_mkstemp(path);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	return path;
}

/* Symbols and call paths: the tracer's own functions and the switch are left
 * out, what is unknown stays an address. */
static void test_symbols(void)
{
	g_autofree char *path = write_file(
		"0000000000000000 A zero\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000100 t vfs_read\n"
		"ffffffff81000200 T io_schedule\n"
		"ffffffff81000300 t __schedule\n"
		"ffffffff81000400 D data\n"
		"ffffffff81000500 T do_syscall_64\n"
		"ffffffffc0000000 t probe\t[lttng_tracer]\n"
		"ffffffffc0001000 t ext4_x\t[ext4]\n");
	static const uint64_t words[] = {0xffffffffc0000010, 0xffffffff81000310, 0xffffffff81000210,
					 0xffffffffc0001010, 0xffffffff81000110, 0xffffffff81000510,
					 UINT64_MAX};
	GError *error = NULL;
	struct symbols *symbols = symbols_new(path, &error);
	const char *module;
	GPtrArray *way;
	g_autofree char *joined = NULL;

	g_assert_no_error(error);
	g_assert_cmpstr(symbol_at(symbols, 0xffffffff810001ff, &module), ==, "vfs_read");
	g_assert_null(module);
	g_assert_cmpstr(symbol_at(symbols, 0xffffffffc0001000, &module), ==, "ext4_x");
	g_assert_cmpstr(module, ==, "ext4");
	g_assert_null(symbol_at(symbols, 0x1000, NULL));
	way = callpath_new(symbols, words, G_N_ELEMENTS(words));
	g_ptr_array_add(way, NULL);
	joined = g_strjoinv(" ", (char **) way->pdata);
	g_assert_cmpstr(joined, ==, "vfs_read ext4_x io_schedule");
	g_ptr_array_free(way, TRUE);
	way = callpath_new(NULL, words + 4, 1);
	g_assert_cmpstr(g_ptr_array_index(way, 0), ==, "0xffffffff81000110");
	g_ptr_array_free(way, TRUE);
	symbols_free(symbols);
	g_assert_true(g_file_set_contents(path, "0000000000000000 T vfs_read\n", -1, NULL));
	g_assert_null(symbols_new(path, &error));
	g_assert_nonnull(strstr(error->message, "others see only zeros"));
	g_clear_error(&error);
	remove(path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/profile/buckets", test_buckets);
	g_test_add_func("/profile/peaks", test_peaks);
	g_test_add_func("/profile/mixtures", test_mixtures);
	g_test_add_func("/profile/distance", test_distance);
	g_test_add_func("/profile/percentiles", test_percentiles);
	g_test_add_func("/profile/preempted", test_preempted);
	g_test_add_func("/profile/loop", test_loop);
	g_test_add_func("/profile/one-instant", test_one_instant);
	g_test_add_func("/profile/missed-exits", test_missed_exits);
	g_test_add_func("/profile/functions", test_functions);
	g_test_add_func("/profile/interrupts", test_interrupts);
	g_test_add_func("/profile/request", test_request);
	g_test_add_func("/profile/waker", test_waker);
	g_test_add_func("/profile/status", test_status);
	g_test_add_func("/profile/waits", test_waits);
	g_test_add_func("/profile/gap", test_gap);
	g_test_add_func("/profile/lost-call", test_lost_call);
	g_test_add_func("/profile/symbols", test_symbols);
	return g_test_run();
}
