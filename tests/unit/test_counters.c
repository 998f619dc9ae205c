/* SPDX-License-Identifier: MIT */
/* Hardware counters on switches: what each run of a thread counted, what is left out, and what is
 * said of two sides. Expectations are worked out by hand from docs/semantics.md, "Counters".
 */
#include "feed.h"
#include "samples/counter_factors.h"
#include "waits/summary.h"

enum whose { OF_CPU, OF_THREAD };

/* A switch that has instructions, cycles and cache misses. */
static void counted(struct feed *feed, enum whose whose, int64_t time, int32_t prev, int64_t state,
		    int32_t next, const uint64_t values[3])
{
	struct event event = event_of(feed, time, 0, "sched_switch");
	uint64_t *to = whose == OF_CPU ? event.sched_switch.cpu_counters
				       : event.sched_switch.thread_counters;

	event.sched_switch.prev_comm = prev ? "a" : "idle";
	event.sched_switch.prev_tid = prev;
	event.sched_switch.prev_state = state;
	event.sched_switch.next_comm = next ? "a" : "idle";
	event.sched_switch.next_tid = next;
	to[COUNTER_INSTRUCTIONS] = values[0];
	to[COUNTER_CYCLES] = values[1];
	to[COUNTER_CACHE_MISSES] = values[2];
	send(feed, &event);
}

#define COUNTED(whose, time, prev, state, next, ...)                                               \
	counted(feed, whose, time, prev, state, next, (const uint64_t[]) {__VA_ARGS__})

/* "RUNS NS: INSTRUCTIONS CYCLES CACHE-MISSES", - for what is not known. */
static const char *counters_said(struct feed *feed, int32_t tid, int64_t from, int64_t to)
{
	struct counters counters = counters_in(feed->session, life(feed, tid, 0), from, to);
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%u %d:", counters.runs, (int) counters.ns);
	for (guint i = 0; i <= COUNTER_BRANCH_MISSES; i++)
		if (counters_known(&counters, i))
			g_string_append_printf(text, " %d", (int) counters.values[i]);
		else
			g_string_append(text, " -");
	g_ptr_array_add(feed->texts, text->str);
	return g_string_free(text, FALSE);
}

static void two_threads(struct feed *feed)
{
	COUNTED(OF_CPU, 10, 0, 0, 5, 1000, 2000, 10);
	COUNTED(OF_CPU, 30, 5, SLEEPS, 6, 1800, 3000, 14);
}

/* 5 ran from 10 to 30 (800 of 1000 cycles) and from 50 to 80 (400 of 400), 6 in between; before the
 * first switch nothing is known. A window that cuts a run does not have it. */
static void test_runs(void)
{
	FEED(1);
	g_autoptr(GString) text = g_string_new(NULL);
	struct counters counters;
	struct node *summary;

	two_threads(feed);
	COUNTED(OF_CPU, 50, 6, 0, 5, 2100, 4000, 30);
	COUNTED(OF_CPU, 80, 5, SLEEPS, 0, 2500, 4400, 30);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(counters_said(feed, 5, 0, 100), ==, "2 50: 1200 1400 4 -");
	g_assert_cmpstr(counters_said(feed, 6, 0, 100), ==, "1 20: 300 1000 16 -");
	g_assert_cmpstr(counters_said(feed, 5, 15, 100), ==, "1 30: 400 400 0 -");
	g_assert_cmpstr(counters_said(feed, 5, 0, 79), ==, "1 20: 800 1000 4 -");
	counters = counters_in(feed->session, life(feed, 5, 0), 0, 100);
	append_counters(text, &counters);
	g_assert_cmpstr(
		text->str, ==,
		"1.20 k instructions, 0.86 a cycle; 3.3 cache misses per 1000 instructions");
	summary = summary_new(feed->session, life(feed, 5, 0), 0, 100);
	for (guint i = 0; i < summary->children->len; i++) {
		const struct node *node = g_ptr_array_index(summary->children, i);

		g_assert_cmpuint(node->counters.runs, ==,
				 strcmp(node->element, "working") == 0 ? 2 : 0);
	}
	node_free(summary);
}

/* Events were lost while 6 ran: who else ran meanwhile is not known. 5's run after that is
 * whole. */
static void test_lost(void)
{
	FEED(1);

	two_threads(feed);
	lost(feed, 0, 35, 45);
	COUNTED(OF_CPU, 50, 6, 0, 5, 2100, 4000, 30);
	COUNTED(OF_CPU, 80, 5, SLEEPS, 0, 2500, 4400, 30);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(counters_said(feed, 6, 0, 100), ==, "0 0: - - - -");
	g_assert_cmpstr(counters_said(feed, 5, 0, 100), ==, "2 50: 1200 1400 4 -");
}

/* A processor without counters records zeros; then no number of misses is told either. A counter
 * that goes back was begun anew. */
static void test_nothing(void)
{
	FEED(1);

	COUNTED(OF_CPU, 10, 0, 0, 5, 0, 0, 0);
	COUNTED(OF_CPU, 30, 5, SLEEPS, 6, 0, 0, 0);
	COUNTED(OF_CPU, 50, 6, SLEEPS, 5, 900, 2000, 7);
	COUNTED(OF_CPU, 70, 5, SLEEPS, 0, 100, 2300, 9);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(counters_said(feed, 5, 0, 40), ==, "0 0: - - - -");
	g_assert_cmpstr(counters_said(feed, 6, 0, 100), ==, "1 20: 900 2000 7 -");
	g_assert_cmpstr(counters_said(feed, 5, 0, 100), ==, "1 20: - 300 2 -");
}

/* The thread's own go on where it left: 6's are other ones. Its first run has no begin. */
static void test_own(void)
{
	FEED(1);

	COUNTED(OF_THREAD, 10, 0, 0, 5, 0, 0, 0);
	COUNTED(OF_THREAD, 30, 5, SLEEPS, 6, 800, 1000, 4);
	COUNTED(OF_THREAD, 50, 6, 0, 5, 77, 78, 79);
	COUNTED(OF_THREAD, 80, 5, SLEEPS, 0, 1200, 1400, 5);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(counters_said(feed, 5, 0, 100), ==, "1 30: 400 400 1 -");
	g_assert_cmpstr(counters_said(feed, 6, 0, 100), ==, "0 0: - - - -");
}

/* --- two sides -------------------------------------------------------------------------- */

static struct counters side(uint64_t instructions, uint64_t cycles, int64_t misses, int64_t ns)
{
	struct counters counters = {.values = {instructions, cycles, (uint64_t) MAX(misses, 0)},
				    .known = misses < 0 ? 3 : 7,
				    .ns = ns,
				    .runs = 1};

	return counters;
}

static void assert_cause(struct counters b, int64_t misses, enum counted_factor factor,
			 const char *words)
{
	const struct counters sides[2] = {side(1000000, 1000000, misses, 1000000), b};
	g_autofree char *said = counted_cause(sides);
	double share;

	g_assert_cmpint(counted_factor(sides, &share), ==, factor);
	g_assert_cmpstr(said, ==, words);
}

/* A: a million instructions in as many cycles and ns, with 1000 cache misses. */
static void test_causes(void)
{
	assert_cause(side(2000000, 2000000, 2000, 2000000), 1000, FACTOR_WORK,
		     "more work: 2.00 times the instructions");
	/* a cycle more for each, and one miss more for a hundred of them: 100 cycles a miss */
	assert_cause(
		side(1000000, 2000000, 11000, 2000000), 1000, FACTOR_MEMORY,
		"slower because of memory: 2.00 times the cycles for each instruction, with 11 "
		"times the cache misses; as many instructions");
	/* looks alike: twice the misses, but each would have cost 2000 cycles */
	assert_cause(side(1000000, 3000000, 2000, 3000000), 1000, FACTOR_SPEED,
		     "slower for each instruction: 3.00 times the cycles, which cache misses do "
		     "not explain; as many instructions");
	/* … and fewer misses are no reason to be slower */
	assert_cause(side(1000000, 2000000, 500, 2000000), 1000, FACTOR_SPEED,
		     "slower for each instruction: 2.00 times the cycles, which cache misses do "
		     "not explain; as many instructions");
	assert_cause(side(1000000, 2000000, -1, 2000000), -1, FACTOR_SPEED,
		     "slower for each instruction: 2.00 times the cycles; cache misses, which may "
		     "tell why, were not counted; as many instructions");
	assert_cause(side(1000000, 1000000, 1000, 2000000), 1000, FACTOR_CLOCK,
		     "fewer cycles a second, 0.50 G instead of 1.00 G: the CPU's clock, or what a "
		     "hypervisor took; as many instructions");
	assert_cause(side(1000000, 500000, 400, 500000), 1000, FACTOR_MEMORY,
		     "faster because of memory: 0.50 times the cycles for each instruction, with "
		     "0.4 times the cache misses; as many instructions");
	assert_cause(side(4000000, 8000000, 44000, 8000000), 1000, FACTOR_WORK,
		     "more work: 4.00 times the instructions; and slower because of memory: 2.00 "
		     "times the cycles for each instruction, with 11 times the cache misses");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/counters/runs", test_runs);
	g_test_add_func("/counters/lost", test_lost);
	g_test_add_func("/counters/nothing", test_nothing);
	g_test_add_func("/counters/own", test_own);
	g_test_add_func("/counters/causes", test_causes);
	return g_test_run();
}
