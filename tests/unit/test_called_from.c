/* SPDX-License-Identifier: MIT */
/* Which functions operations were called from, on small hand-made sequences: stacks of their own
 * events set peaks apart, those of samples meanwhile do not. Expectations are worked out by hand
 * from docs/semantics.md, "What sets the slow ones apart".
 */
#include <unistd.h>

#include "profile_feed.h"
#include "traits/peaks_apart.h"

#define TRACER UINT64_C(0xffffffffc0000100) /* lttng's own, of the symbols below */
#define TICK UINT64_C(0xffffffff81000110)   /* in asm_sysvec_apic_timer_interrupt */
#define PUT UINT64_C(0xffffffff81000210)    /* in fn_put, the traced function */
#define FLUSH UINT64_C(0xffffffff81000310)  /* in flush_all */
#define ADD UINT64_C(0xffffffff81000410)    /* in add_one */

#define LIBC UINT64_C(0x7f0000001000)
#define GET UINT64_C(0x7f1000001000)  /* in libget.so, which makes all calls */
#define INDEX UINT64_C(0x7f2000001000)
#define CACHE UINT64_C(0x7f3000001000)

static const char kallsyms[] =
	"ffffffff81000100 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81000200 T fn_put\n"
	"ffffffff81000300 T flush_all\n"
	"ffffffff81000400 T add_one\n"
	"ffffffff81000500 T other\n"
	"ffffffffc0000000 t lttng_callstack [lttng_tracer]\n";

struct words {
	uint64_t words[4];
	uint32_t count;
};
static const struct words none = {{0}, 0};

static void with_stacks(struct feed *feed, int64_t time, const char *name,
			const struct words *kernel, const struct words *user)
{
	struct event event = event_of(feed, time, 0, name);

	event.has_callstacks = true;
	event.callstack = (struct event_bytes) {(const uint8_t *) kernel->words,
						kernel->count * (uint32_t) sizeof(uint64_t)};
	event.user_callstack = (struct event_bytes) {(const uint8_t *) user->words,
						     user->count * (uint32_t) sizeof(uint64_t)};
	send(feed, &event);
}

static struct feed *called_feed(const char *operation)
{
	struct feed *feed = profile_feed(1, operation);
	char *place = NULL;

	close(g_file_open_tmp("kallsyms-XXXXXX", &place, NULL));
	g_assert_true(g_file_set_contents(place, kallsyms, -1, NULL));
	feed->options.kallsyms = place;
	sw(feed, 0, 0, "idle", 0, 0, "parent", 4);
	forks(feed, 10, 0, 4, 5, 5);
	sw(feed, 20, 0, "parent", 4, SLEEPS, "a", 5);
	return feed;
}

/* The sentences of what sets the slower peak apart. */
static const char *told(struct feed *feed)
{
	struct profiles *profiles = profiles_of(feed);
	const struct profile *profile = g_ptr_array_index(profiles->list, 0);
	struct peaks_apart *apart = peaks_apart_new(profiles);
	const struct traits *traits;
	GString *text = g_string_new(NULL);

	unlink(feed->options.kallsyms);
	g_assert_cmpuint(profile->peaks->len, ==, 2);
	traits = peak_traits(apart, &g_array_index(profile->peaks, struct peak, 1));
	g_assert_nonnull(traits);
	for (guint i = 0; i < traits->told->len; i++)
		g_string_append_printf(
			text, "%s%s", i ? " | " : "",
			((struct trait_told *) g_ptr_array_index(traits->told, i))->sentence);
	peaks_apart_free(apart);
	profiles_free(profiles);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* A third of them, in no order. */
static bool is_slow(guint number)
{
	return number * 2654435761u >> 8 & 1 && number * 2246822519u >> 9 & 1;
}

/* When the next one begins. */
static int64_t next_time(int64_t time, guint number)
{
	return time + 200000 + (int64_t) (number * 3266489917u >> 12) % 100000;
}

static guint slow_ones(guint count)
{
	guint slow = 0;

	for (guint i = 0; i < count; i++)
		slow += is_slow(i);
	return slow;
}

static int64_t length_of(guint number)
{
	return (is_slow(number) ? 100000 : 1000) + (int64_t) (number * 7 % 13);
}

#define CALLS 90

static void maps(struct feed *feed, int64_t time, const char *path, uint64_t at)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_openat");

	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, time + 1, 0, "openat", 9);
	event = event_of(feed, time + 2, 0, "syscall_entry_mmap");
	event.syscall.op = 5; /* to be read and run */
	event.syscall.length = 0x10000;
	event.syscall.flags = 2;
	event.syscall.fd = 9;
	send(feed, &event);
	leave(feed, time + 3, 0, "mmap", (int64_t) (at & ~UINT64_C(0xffff)));
}

/* Calls of read; who made them by `from`, of the calls' numbers. `ticks`: the stacks are those of
 * ticks in them, not of their own. */
static struct feed *reads(bool (*from_index)(guint number), bool ticks)
{
	struct feed *feed = called_feed("syscall:read");
	int64_t time = 1000;

	with_stacks(feed, 50, "syscall_entry_brk", &none, &(struct words) {{LIBC}, 1});
	leave(feed, 60, 0, "brk", 0);
	maps(feed, 100, "/lib/libc.so.6", LIBC);
	maps(feed, 200, "/opt/libget.so", GET);
	maps(feed, 300, "/opt/libindex.so", INDEX);
	maps(feed, 400, "/opt/libcache.so", CACHE);
	for (guint i = 0; i < CALLS; i++) {
		struct words user = {{LIBC, GET, from_index(i) ? INDEX : CACHE}, 3},
			     kernel = {{TRACER, TICK}, 2};

		if (ticks)
			entry(feed, time, 0, "read", 3);
		else
			with_stacks(feed, time, "syscall_entry_read", &none, &user);
		if (ticks && is_slow(i)) {
			with_stacks(feed, time + 500, "x86_irq_vectors_local_timer_entry", &kernel,
				    &user);
			plain(feed, time + 600, 0, "x86_irq_vectors_local_timer_exit");
		}
		leave(feed, time + length_of(i), 0, "read", 1);
		time = next_time(time, i);
	}
	plain(feed, time, 0, "other");
	return feed;
}

static bool by_slowness(guint number)
{
	return is_slow(number);
}

static bool by_another(guint number)
{
	return number * 668265263u >> 10 & 1;
}

/* libget.so makes all calls: those that libindex.so asked it for are slow. */
static void test_user(void)
{
	FEED_FROM(reads(by_slowness, false));
	g_autofree char *expected = g_strdup_printf(
		"%u of %u were called through libindex.so > libget.so; of the %u others none were",
		slow_ones(CALLS), slow_ones(CALLS), CALLS - slow_ones(CALLS));

	g_assert_cmpstr(told(feed), ==, expected);
}

/* Both libraries' calls are slow as often. */
static void test_user_alike(void)
{
	FEED_FROM(reads(by_another, false));

	g_assert_null(strstr(told(feed), "called"));
}

/* Where only ticks have stacks, the slow calls have some as they are long. */
static void test_ticks(void)
{
	FEED_FROM(reads(by_slowness, true));

	g_assert_null(strstr(told(feed), "called"));
}

/* flush_all() calls fn_put() when it is slow, add_one() else; `known`: the stack has fn_put(). */
static struct feed *puts_by(bool known)
{
	struct feed *feed = called_feed("function:fn_put");
	int64_t time = 1000;

	for (guint i = 0; i < CALLS; i++) {
		struct words kernel = {{TRACER, PUT, is_slow(i) ? FLUSH : ADD}, 3};

		if (!known)
			kernel.words[1] = TRACER + 0x10;
		with_stacks(feed, time, "fn_put_entry", &kernel, &none);
		plain(feed, time + length_of(i), 0, "fn_put_exit");
		time = next_time(time, i);
	}
	plain(feed, time, 0, "other");
	return feed;
}

static void test_kernel(void)
{
	FEED_FROM(puts_by(true));
	g_autofree char *expected = g_strdup_printf(
		"%u of %u were called from flush_all() in the kernel; of the %u others none were",
		slow_ones(CALLS), slow_ones(CALLS), CALLS - slow_ones(CALLS));

	g_assert_cmpstr(told(feed), ==, expected);
}

/* A stack without the function itself does not tell which of its frames called it. */
static void test_kernel_unknown(void)
{
	FEED_FROM(puts_by(false));

	g_assert_null(strstr(told(feed), "called"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/called_from/user", test_user);
	g_test_add_func("/called_from/user alike", test_user_alike);
	g_test_add_func("/called_from/ticks", test_ticks);
	g_test_add_func("/called_from/kernel", test_kernel);
	g_test_add_func("/called_from/kernel unknown", test_kernel_unknown);
	return g_test_run();
}
