/* SPDX-License-Identifier: MIT */
/* Each sentence that is made of facts, of a literal fact, as one would say it: what threads did
 * (words/deed.h), chains of waits (words/chain.h), and what stands out (stands/sentence.h). How
 * things are called: docs/style.md. Times are nanoseconds.
 */
#include "feed.h"

#include "contention/contention.h"
#include "locks/locks.h"
#include "stands/sentence.h"
#include "words/chain.h"
#include "words/deed.h"
#include "words/names.h"
#include "words/terms.h"

#define MS 1000000
#define APP 5
#define DB 6
#define LOG 7
#define HOG 8
#define APP_2 9

/* Five threads that ran once. */
static struct feed *threads(void)
{
	struct feed *feed = feed_new(1);

	sw(feed, 0, 0, "idle", 0, 0, "app-1", APP);
	sw(feed, 10, 0, "app-1", APP, SLEEPS, "db", DB);
	sw(feed, 20, 0, "db", DB, SLEEPS, "log", LOG);
	sw(feed, 30, 0, "log", LOG, SLEEPS, "hog", HOG);
	sw(feed, 40, 0, "hog", HOG, SLEEPS, "app-2", APP_2);
	sw(feed, 50, 0, "app-2", APP_2, SLEEPS, "idle", 0);
	finish(feed);
	return feed;
}

static uint32_t named(const struct feed *feed, const char *name)
{
	return intern_id(feed->session->trace.model.names, name);
}

static uint32_t waits_in(const struct feed *feed, const char *call)
{
	return PACK(LEAF_BLOCK_SYSCALL, named(feed, call));
}

/* `text` is freed. */
static void says(GString *text, const char *expected)
{
	g_assert_cmpstr(text->str, ==, expected);
	g_string_free(text, TRUE);
}

/* --- deeds --------------------------------------------------------------------------------- */

/* Of `count` times, 10, 20, 30 … ms each. */
static struct deed deed_of(struct feed *feed, enum did did, const char *call, guint count)
{
	struct deed deed = {.thread = life(feed, DB, 0),
			    .name = named(feed, "db"),
			    .did = (uint8_t) did,
			    .call = call ? named(feed, call) : 0};

	for (guint i = 0; i < count; i++)
		times_add(&deed.times, (i + 1) * 10 * MS, NULL);
	return deed;
}

static void did(struct feed *feed, enum did did, const char *call, guint count,
		const char *expected)
{
	struct deed deed = deed_of(feed, did, call, count);
	GString *text = g_string_new(NULL);

	append_deed(text, feed->session, &deed, true, false);
	says(text, expected);
}

static void test_deeds(void)
{
	FEED_FROM(threads());
	struct deed disk = deed_of(feed, DID_DEVICE, NULL, 3);
	GString *text = g_string_new(NULL);

	did(feed, DID_WORK, NULL, 1, "worked for 10.00 ms");
	did(feed, DID_WORK, "read", 3, "worked for 60.00 ms in read");
	did(feed, DID_OWN_CODE, NULL, 1, "ran its own code for 10.00 ms");
	did(feed, DID_KERNEL, NULL, 1, "worked in the kernel for 10.00 ms");
	did(feed, DID_SLEEP, "clock_nanosleep", 1,
	    "slept 10.00 ms by its own timer (clock_nanosleep)");
	did(feed, DID_SLEEP, "clock_nanosleep", 3,
	    "slept 3 times, 10 to 30 ms each, 60.00 ms in all, by its own timer (clock_nanosleep)");
	did(feed, DID_SLEEP, "futex", 3,
	    "waited 3 times, 10 to 30 ms each, 60.00 ms in all, until its own time limit (futex)");
	did(feed, DID_READY, NULL, 1, "was ready to run but kept off the CPU for 10.00 ms");
	did(feed, DID_THROTTLED, NULL, 2,
	    "was throttled 2 times, 10 to 20 ms each, 30.00 ms in all");
	did(feed, DID_WAIT, "read", 1, "waited 10.00 ms in read");
	did(feed, DID_WAIT, "read", 2,
	    "waited 2 times, 10 to 20 ms each, 30.00 ms in all, in read");
	did(feed, DID_STOP, NULL, 1, "was stopped 10.00 ms");
	did(feed, DID_INTERRUPTED, NULL, 1, "was interrupted for 10.00 ms");
	did(feed, DID_OTHER, NULL, 1, "was in an unknown state for 10.00 ms");
	disk.object = named(feed, "device:vda");
	append_deed(text, feed->session, &disk, true, false);
	says(text, "waited 3 times, 10 to 30 ms each, 60.00 ms in all, for the disk vda");
}

/* Several threads of a name sleep by timers of their own; one wait in two pieces is one. */
static void test_several(void)
{
	FEED_FROM(threads());
	struct deed slept = deed_of(feed, DID_SLEEP, "select", 2);
	struct times whole = {0};
	struct block wait = {0};
	GString *text = g_string_new(NULL);

	slept.several = true;
	append_doer(text, feed->session, &slept);
	g_string_append_c(text, ' ');
	append_deed(text, feed->session, &slept, true, false);
	says(text, "db (several threads) slept 2 times, 10 to 20 ms each, 30.00 ms in all, by "
		   "their own timer (select)");
	times_add(&whole, 10 * MS, &wait);
	times_add(&whole, 20 * MS, &wait);
	g_assert_cmpuint(whole.count, ==, 1);
	g_assert_cmpint(whole.longest, ==, 30 * MS);
}

/* --- chains -------------------------------------------------------------------------------- */

static void one(GString *text, const void *of, uint32_t thread, uint32_t waiter)
{
	(void) waiter;
	append_one(text, of, thread);
}

static void test_chains(void)
{
	FEED_FROM(threads());
	struct naming naming = {one, feed->session};
	struct link links[] = {
		{life(feed, APP, 0), waits_in(feed, "read"), named(feed, "socket:10.0.0.1:80"),
		 false, NULL},
		{life(feed, DB, 0), waits_in(feed, "fsync"), named(feed, "file:/data"), false,
		 NULL},
	};
	struct link many[7];
	GString *text = g_string_new("app-1 (5)");

	append_chain(text, feed->session, &naming, links, 2, life(feed, LOG, 0), " 12 ms");
	says(text, "app-1 (5) waited 12 ms for db (6) in read on socket 10.0.0.1:80, which waited "
		   "for log (7) in fsync on /data");
	for (guint i = 0; i < G_N_ELEMENTS(many); i++)
		many[i] = (struct link) {.thread = life(feed, i % 2 ? DB : APP, 0),
					 .leaf = waits_in(feed, "read")};
	text = g_string_new("app-1 (5)");
	append_chain(text, feed->session, &naming, many, 7, life(feed, LOG, 0), "");
	says(text, "app-1 (5) waited for db (6) in read, which waited for app-1 (5) in read, which "
		   "waited through 2 more for db (6), which waited for app-1 (5) in read, which "
		   "waited for log (7) in read");
}

/* --- what stands out ----------------------------------------------------------------------- */

/* app-1 lost 60 ms of 100 to it, in 3 waits in `call`. */
static struct fact *fact_of(struct feed *feed, enum stand_kind kind, const char *object)
{
	struct fact like = {.kind = (uint8_t) kind,
			    .victim = life(feed, APP, 0),
			    .subject = NO_THREAD,
			    .name = NO_THREAD,
			    .object = object ? named(feed, object) : 0,
			    .threads = 1,
			    .ns = 60 * MS,
			    .most = 60 * MS,
			    .life = 100 * MS,
			    .count = 3,
			    .shortest = 10 * MS,
			    .longest = 30 * MS};

	return fact_new(&like);
}

/* app-1 waits in `call`; with `through`, for it, which is in `inner`. */
static void chain_of(struct feed *feed, struct fact *fact, const char *call, int32_t through,
		     const char *inner)
{
	struct chain chain = {.links = g_array_new(FALSE, FALSE, sizeof(struct link)),
			      .last = life(feed, through ? through : APP, 0),
			      .leaf = waits_in(feed, inner ? inner : call)};
	struct link link = {.thread = life(feed, APP, 0), .leaf = waits_in(feed, call)};

	if (through)
		g_array_append_val(chain.links, link);
	g_array_append_val(fact->chains, chain);
}

static void deed_add(struct feed *feed, GArray *list, int32_t tid, enum did did, const char *call,
		     int64_t ns)
{
	struct deed deed = deed_of(feed, did, call, 0);

	deed.thread = life(feed, tid, 0);
	deed.name = intern_id(feed->session->trace.model.names,
			      session_thread_name(feed->session, deed.thread));
	times_add(&deed.times, ns, NULL);
	deeds_add(list, &deed);
}

static void stands(struct feed *feed, struct fact *fact, const GArray *locks, const char *expected)
{
	struct stand item = {.fact = fact, .late = {{.thread = NO_THREAD}, {.thread = NO_THREAD}}};
	g_autofree char *sentence = stand_sentence(feed->session, &item, locks);

	g_assert_cmpstr(sentence, ==, expected);
	fact_free(fact);
}

static void test_threads(void)
{
	FEED_FROM(threads());
	struct fact *fact = fact_of(feed, STAND_PROCESS, NULL);

	chain_of(feed, fact, "recvfrom", DB, NULL);
	deed_add(feed, fact->deeds, DB, DID_WORK, NULL, 60 * MS);
	stands(feed, fact, NULL,
	       "Another thread: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms "
	       "each) for db (6) in recvfrom: db worked for 60.00 ms.");
	fact = fact_of(feed, STAND_TIMER, NULL);
	chain_of(feed, fact, "recvfrom", DB, NULL);
	deed_add(feed, fact->deeds, DB, DID_SLEEP, "select", 40 * MS);
	deed_add(feed, fact->deeds, DB, DID_WORK, NULL, 20 * MS);
	fact->inferred = true;
	stands(feed, fact, NULL,
	       "Another thread's sleep: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 "
	       "to 30 ms each) for db (6) in recvfrom: db slept 40.00 ms by its own timer (select) "
	       "and worked for 20.00 ms (inferred).");
	fact = fact_of(feed, STAND_CHILD, NULL);
	fact->children = 2;
	deed_add(feed, fact->deeds, DB, DID_WORK, NULL, 40 * MS);
	deed_add(feed, fact->deeds, LOG, DID_WORK, NULL, 20 * MS);
	stands(feed, fact, NULL,
	       "Child process: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms "
	       "each) for its children, of which these took longest: db (6) worked for 40.00 ms; "
	       "log (7) worked for 20.00 ms.");
}

/* Of several threads one name, the sum, and who lost most. */
static void test_several_victims(void)
{
	FEED_FROM(threads());
	struct fact *fact = fact_of(feed, STAND_CPU, NULL);

	fact->threads = 2;
	fact->ns = 90 * MS;
	fact->spans_gap = true;
	chain_of(feed, fact, "read", 0, NULL);
	deed_add(feed, fact->deeds, HOG, DID_RUN, NULL, 80 * MS);
	deed_add(feed, fact->deeds, LOG, DID_RUN, NULL, 1 * MS);
	stands(feed, fact, NULL,
	       "CPU: hog (8) and 1 other kept app-1 (2 threads) off the CPU for 90.00 ms in all "
	       "(app-1 (5) most: 60.00 ms, 60 % of its life) (spans lost events).");
}

static void test_things(void)
{
	static const struct wake_detail one = {.served = 8 * MS, .queued = 10 * MS};
	static const struct wake_detail other = {.served = 12 * MS, .queued = 20 * MS};
	const struct wake_detail *waited_for[] = {&one, &other, &one};
	FEED_FROM(threads());
	struct fact *fact = fact_of(feed, STAND_DEVICE, "device:vda");

	chain_of(feed, fact, "recvfrom", DB, "pread64");
	for (guint i = 0; i < G_N_ELEMENTS(waited_for); i++) /* two waited for the first one */
		g_array_append_val(fact->requests, waited_for[i]);
	stands(feed, fact, NULL,
	       "Device: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) "
	       "for db (6) in recvfrom, which waited in pread64 for the disk vda; 2 requests, 8.0 "
	       "to 12 ms each at the device, after 30.00 ms in all in queues.");
	fact = fact_of(feed, STAND_LOCK, "file:/run/x");
	chain_of(feed, fact, "flock", 0, NULL);
	deed_add(feed, fact->holders, DB, DID_OTHER, NULL, 60 * MS);
	deed_add(feed, fact->deeds, DB, DID_SLEEP, "select", 60 * MS);
	stands(feed, fact, NULL,
	       "Lock: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) in "
	       "flock for the lock of /run/x, which db (6) held; meanwhile db (6) slept 60.00 ms "
	       "by its own timer (select).");
	fact = fact_of(feed, STAND_QUOTA, "cpu:quota");
	chain_of(feed, fact, "read", 0, NULL);
	fact->count = 1;
	stands(feed, fact, NULL,
	       "Limit: app-1 (5) was throttled for 60.00 ms (60 % of its life), as its cgroup had "
	       "used up its CPU quota.");
	fact = fact_of(feed, STAND_SOFTIRQ, "softirq:NET_RX");
	chain_of(feed, fact, "read", 0, NULL);
	g_array_index(fact->chains, struct chain, 0).leaf = PACK(LEAF_INT_SOFTIRQ, 3);
	deed_add(feed, fact->deeds, APP, DID_OTHER, NULL, 60 * MS);
	stands(feed, fact, NULL,
	       "SoftIRQ: softIRQ NET_RX took 60.00 ms (60 % of its life; 3 times, 10 to 30 ms "
	       "each) from app-1 (5).");
	fact = fact_of(feed, STAND_SOFTIRQ, "work:softIRQ RCU");
	chain_of(feed, fact, "write", 0, NULL);
	deed_add(feed, fact->deeds, APP, DID_OTHER, NULL, 60 * MS);
	fact->count = 1;
	stands(feed, fact, NULL,
	       "RCU: app-1 (5) waited 60.00 ms (60 % of its life) in write for the end of an "
	       "RCU grace period, by softIRQ RCU.");
	fact = fact_of(feed, STAND_NETWORK, "socket:10.0.0.1:80");
	chain_of(feed, fact, "poll", 0, NULL);
	stands(feed, fact, NULL,
	       "Network: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) "
	       "in poll for packets from 10.0.0.1:80.");
	fact = fact_of(feed, STAND_WAKEUP, NULL);
	chain_of(feed, fact, "read", 0, NULL);
	stands(feed, fact, NULL,
	       "Slow wake-ups: app-1 (5) was ready to run for 60.00 ms (60 % of its life; 3 times, "
	       "10 to 30 ms each) before an idle CPU ran it.");
}

/* A wait whose reason tells: whose time limit, what was kept back, and that it is the longest. */
static void told_of(struct feed *feed, struct fact *fact, const struct block *block, int32_t waiter,
		    const char *call)
{
	fact->told = (struct wait) {.thread = life(feed, waiter, 0),
				    .begin = 0,
				    .end = 30 * MS,
				    .leaf = waits_in(feed, call),
				    .block = block,
				    .woken = true};
	fact->told_ns = 30 * MS;
}

static void test_reasons(void)
{
	FEED_FROM(threads());
	struct timeline *timeline = &feed->session->trace.timeline;
	struct block block = {.kind = WAKER_UNKNOWN, .timer = 30 * MS, .child = NO_THREAD};
	struct reason reason = {.kind = REASON_UNANSWERED,
				.thread = NO_THREAD,
				.other = NO_THREAD,
				.object = named(feed, "socket:10.0.0.1:80"),
				.ns = -1};
	struct fact *fact = fact_of(feed, STAND_TIMEOUT, NULL);

	block.reason = reason_new(timeline, &reason);
	chain_of(feed, fact, "recvfrom", DB, NULL);
	told_of(feed, fact, &block, DB, "epoll_wait");
	stands(feed, fact, NULL,
	       "No answer: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) "
	       "for db (6) in recvfrom, which waited in epoll_wait until its own time limit of "
	       "30.00 ms: 10.0.0.1:80 did not answer (the longest).");
	fact = fact_of(feed, STAND_TIMEOUT, NULL); /* of the waits no piece for it was 15 ms long */
	chain_of(feed, fact, "recvfrom", DB, NULL);
	told_of(feed, fact, &block, DB, "epoll_wait");
	fact->told_ns = 14 * MS;
	stands(feed, fact, NULL,
	       "No answer: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) "
	       "for db (6) in recvfrom, which waited in epoll_wait until its own time limit of "
	       "30.00 ms: 10.0.0.1:80 did not answer (the longest part).");
	fact = fact_of(feed, STAND_TIMEOUT, NULL);
	chain_of(feed, fact, "poll", 0, NULL);
	fact->count = 1;
	told_of(feed, fact, &block, APP, "poll");
	stands(feed, fact, NULL,
	       "No answer: app-1 (5) waited 60.00 ms (60 % of its life) in poll until its own time "
	       "limit of 30.00 ms: 10.0.0.1:80 did not answer.");
	reason = (struct reason) {.kind = REASON_MEMORY_HIGH, .thread = NO_THREAD};
	block.reason = reason_new(timeline, &reason);
	fact = fact_of(feed, STAND_MEMORY, NULL);
	chain_of(feed, fact, "poll", DB, "read");
	told_of(feed, fact, &block, DB, "read");
	stands(feed, fact, NULL,
	       "Memory: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) "
	       "for db (6) in poll, which was put to sleep by the kernel: its cgroup uses more "
	       "memory than its memory.high allows (inferred; the longest).");
	reason = (struct reason) {.kind = REASON_IO_LIMIT,
				  .thread = NO_THREAD,
				  .object = named(feed, "limit:io.max of vdd"),
				  .text = named(feed, "vdd"),
				  .begin = 25 * MS,
				  .ns = 2 * MS};
	block.reason = reason_new(timeline, &reason);
	fact = fact_of(feed, STAND_QUOTA, "limit:io.max of vdd");
	chain_of(feed, fact, "pread64", 0, NULL);
	told_of(feed, fact, &block, APP, "pread64");
	stands(feed, fact, NULL,
	       "Limit: app-1 (5) waited 60.00 ms (60 % of its life; 3 times, 10 to 30 ms each) in "
	       "pread64, kept back for 25.00 ms by the limit io.max of its cgroup for vdd "
	       "(inferred: a timer let the request go to the device); vdd itself took 2.000 ms "
	       "(the longest).");
}

static void test_locks(void)
{
	FEED_FROM(threads());
	struct lock like = {.kind = LOCK_FUTEX, .resource = named(feed, "futex:0x1000")};
	struct contention at = {.lock = lock_findnew(&feed->session->trace.flow, &like, 1),
				.waits = 7,
				.ns = 90 * MS,
				.longest = 33 * MS,
				.longest_thread = life(feed, APP, 0),
				.waiters = 3,
				.convoy = {0, 50 * MS, 12, 3}};
	g_autoptr(GArray) locks = g_array_new(FALSE, FALSE, sizeof at);
	struct fact *fact = fact_of(feed, STAND_INVERSION, "futex:0x1000");

	g_array_append_val(locks, at);
	fact->begin = MS;
	fact->end = 34 * MS;
	fact->inversion = (struct inversion) {.waiter = -31,
					      .owner = -11,
					      .thread = life(feed, DB, 0),
					      .kept_off = 30 * MS,
					      .instead = life(feed, HOG, 0)};
	stands(feed, fact, locks,
	       "Priority inversion: app-1 (5, real-time 30) waited 33.00 ms for the lock 0x1000 "
	       "while its owner db (6, real-time 10) was kept off the CPU for 30.00 ms by hog "
	       "(8).");
	fact = fact_of(feed, STAND_CONVOY, "futex:0x1000");
	stands(feed, fact, locks,
	       "Lock convoy: 3 threads waited 90.00 ms in all, each one's time counted (7 times), "
	       "for the lock 0x1000, which went from one to the next 12 times in 50.00 ms without "
	       "becoming free; app-1 (5) lost 60.00 ms (60 % of its life; 3 times, 10 to 30 ms "
	       "each).");
}

/* --- words --------------------------------------------------------------------------------- */

/* In the order in which they are met; not inside other words; the kernel's in one sentence. */
static void test_terms(void)
{
	g_autoptr(GPtrArray)
		met = terms_met("jbd2/vda-8 waits in futex_wait, futexes, for softIRQ", false);
	g_autoptr(GPtrArray) none = terms_met("/usr/bin/swap myswap swapped", false);

	g_assert_cmpuint(met->len, ==, 2);
	g_assert_true(g_str_has_prefix(met->pdata[0], "jbd2: The kernel thread that"));
	g_assert_true(g_str_has_prefix(met->pdata[1], "softIRQ: Work that interrupts leave"));
	g_assert_cmpuint(none->len, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/words/deeds", test_deeds);
	g_test_add_func("/words/several", test_several);
	g_test_add_func("/words/chains", test_chains);
	g_test_add_func("/words/threads", test_threads);
	g_test_add_func("/words/several-victims", test_several_victims);
	g_test_add_func("/words/things", test_things);
	g_test_add_func("/words/reasons", test_reasons);
	g_test_add_func("/words/locks", test_locks);
	g_test_add_func("/words/terms", test_terms);
	return g_test_run();
}
