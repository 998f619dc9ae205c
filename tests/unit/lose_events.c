/* SPDX-License-Identifier: MIT */
/* Takes events out of a sound trace at random, tells the session of the holes, and
 * compares what it then says with what it says of the whole trace:
 *
 *   lose_events TRACE SEED HOLES LONGEST      (LONGEST hole in ns)
 *
 * "Lost events … make uncertain only what they can touch" (semantics.md, "Gaps"): what is
 * said without the mark "spans a gap" must be so in the whole trace too. Prints what is
 * not, one line each, then a line of sums; tests/gaps.t wants none. It stands between the
 * reader and the session's own sink.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "run/finish.h"
#include "run/feed.h"
#include "waits/causality.h"
#include "latencies/operations.h"
#include "run/session.h"
#include "waits/summary.h"
#include "cli/cli.h"

struct hole {
	uint32_t cpu;
	int64_t begin, end;
	bool told;
};

static struct hole *holes;
static guint hole_count;
static uint64_t dropped, kept;
static uint32_t cpu_max;
static void (*take_event)(void *data, const struct event *event); /* the session's */

static void lose_or_take(void *data, const struct event *event)
{
	const struct session *session = data;
	bool lost = false;

	cpu_max = MAX(cpu_max, event->cpu);
	for (guint i = 0; i < hole_count; i++) {
		struct hole *hole = &holes[i];

		if (!hole->told && hole->begin <= event->time) {
			struct lost_events told = {.cpu = hole->cpu,
						   .begin = hole->begin,
						   .end = hole->end,
						   .count = -1};

			session->trace.sink.lose(data, &told);
			hole->told = true;
		}
		lost |= event->cpu == hole->cpu && event->time > hole->begin &&
			event->time < hole->end;
	}
	dropped += lost;
	kept += !lost;
	if (!lost)
		take_event(data, event);
}

static struct session *read_trace(struct options *options, char *path)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	g_autoptr(GPtrArray) traces = NULL;
	g_autoptr(GError) error = NULL;
	struct session *session;

	g_ptr_array_add(paths, path);
	command_options(options, &profile_command);
	options->quiet = true;
	session = session_new(options);
	take_event = session->trace.sink.event;
	session->trace.sink.event = lose_or_take;
	traces = traces_find(paths, &error);
	if (!traces || !traces_read(session, traces, &error) || !session_finish(session, &error)) {
		fprintf(stderr, "lose_events: %s\n", error->message);
		exit(2);
	}
	return session;
}

/* --- comparing ---------------------------------------------------------------- */

/* CALL: the state is right, but not in which call, after a time off the CPU that spans a gap:
 * the call's name stands until the thread's next call event, which may be lost as well. */
enum problem { STATE, LEAF, LIFE, OPERATION, WAKER, LEAD, CALL, PROBLEMS };
static const char *const problem_names[] = {"state", "leaf", "life", "operation",
					    "waker", "lead", "call"};
static uint64_t problems[PROBLEMS];
static int64_t same_ns, unknown_ns, marked_ns;
static bool behind_gap; /* the thread being compared has been in one */

struct comparison {
	const struct session *whole, *holed;
	GHashTable *lives; /* TID -> GArray of the whole trace's threads */
};

static void differs(const struct comparison *compare, enum problem problem, uint32_t thread,
		    int64_t begin, int64_t end, const char *said, const char *is)
{
	const struct session *session = compare->holed;

	if (problems[problem]++ < 20)
		printf("# %s: %s (%d) from %" PRId64 " to %" PRId64 ": %s, is %s\n",
		       problem_names[problem], session_thread_name(session, thread),
		       model_thread(&session->trace.model, thread)->tid, begin, end, said, is);
}

static GHashTable *lives_of(const struct session *session)
{
	GHashTable *lives = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		gpointer tid = GINT_TO_POINTER(model_thread(&session->trace.model, i)->tid);
		GArray *list = g_hash_table_lookup(lives, tid);

		if (!list) {
			list = g_array_new(FALSE, FALSE, sizeof i);
			g_hash_table_insert(lives, tid, list);
		}
		g_array_append_val(list, i);
	}
	return lives;
}

static int32_t tid_of(const struct session *session, uint32_t thread)
{
	return is_thread(thread) ? model_thread(&session->trace.model, thread)->tid : -1;
}

/* The same wait in both: who ended it, and whom it leads to. */
static void compare_wait(const struct comparison *compare, uint32_t thread, const struct span *span,
			 uint32_t other, const struct span *whole)
{
	const struct block *a = block_at(&compare->whole->trace.timeline, whole->ref);
	const struct block *b = block_at(&compare->holed->trace.timeline, span->ref);
	struct wait wait_a = wait_of(compare->whole, other, whole);
	struct wait wait_b = wait_of(compare->holed, thread, span);
	struct lead lead_a, lead_b;
	char said[64], is[64];

	if (b->kind == WAKER_UNKNOWN || b->kind == WAKER_NONE) /* none: the trace ends */
		return;
	if (a->kind != b->kind ||
	    (is_thread(b->waker) &&
	     tid_of(compare->whole, a->waker) != tid_of(compare->holed, b->waker))) {
		snprintf(said, sizeof said, "kind %d waker %d", b->kind,
			 tid_of(compare->holed, b->waker));
		snprintf(is, sizeof is, "kind %d waker %d", a->kind,
			 tid_of(compare->whole, a->waker));
		differs(compare, WAKER, thread, span->begin, span->end, said, is);
		return;
	}
	if (!wait_lead(compare->holed, &wait_b, &lead_b))
		return;
	if (!wait_lead(compare->whole, &wait_a, &lead_a))
		lead_a.thread = NO_THREAD;
	/* the whole shows what else the waker did, or for what it was: rule 2 is what is left */
	if (lead_a.thread == NO_THREAD && lead_b.thread == b->waker && a->kind == WAKER_THREAD)
		return;
	if (tid_of(compare->whole, lead_a.thread) == tid_of(compare->holed, lead_b.thread))
		return;
	snprintf(said, sizeof said, "leads to %d", tid_of(compare->holed, lead_b.thread));
	snprintf(is, sizeof is, "%d", tid_of(compare->whole, lead_a.thread));
	differs(compare, LEAD, thread, span->begin, span->end, said, is);
}

/* What begins before it is known to be a call is the thread's own; who has no call, or one
 * that is not known, is blocked for something. */
static bool says_less(uint32_t said, uint32_t is)
{
	return (PACK_KIND(said) == LEAF_WORK_USER && PACK_KIND(is) == LEAF_WORK_SYSCALL) ||
	       (PACK_KIND(said) == LEAF_WAIT_CPU && PACK_KIND(is) == LEAF_PREEMPTED) ||
	       (PACK_KIND(said) >= LEAF_BLOCK_OTHER && leaf_is_blocked(is));
}

static void compare_leaf(const struct comparison *compare, uint32_t thread, const struct span *span,
			 const struct span *whole)
{
	g_autofree char *said = leaf_key(compare->holed, span->leaf);
	g_autofree char *is = leaf_key(compare->whole, whole->leaf);
	int64_t begin = MAX(span->begin, whole->begin), end = MIN(span->end, whole->end);

	if (strcmp(said, is) == 0)
		same_ns += end - begin;
	else if (!says_less(span->leaf, whole->leaf))
		differs(compare,
			leaf_wib(span->leaf) != leaf_wib(whole->leaf)              ? STATE
			: behind_gap && PACK_KIND(span->leaf) == LEAF_WORK_SYSCALL ? CALL
										   : LEAF,
			thread, begin, end, said, is);
}

/* What the whole trace says of that time. */
static void compare_span(const struct comparison *compare, uint32_t thread, const struct span *span)
{
	const struct session *whole = compare->whole;
	int32_t tid = model_thread(&compare->holed->trace.model, thread)->tid;
	GArray *list = g_hash_table_lookup(compare->lives, GINT_TO_POINTER(tid));
	int64_t left = span->end - span->begin;

	for (guint i = 0; list && i < list->len; i++) {
		uint32_t other = g_array_index(list, uint32_t, i);
		struct spans spans;
		struct span at;

		spans_begin(&spans, whole, other, span->begin, span->end);
		while (spans_next(&spans, &at)) {
			compare_leaf(compare, thread, span, &at);
			left -= at.end - at.begin;
			if (leaf_is_blocked(span->leaf) && leaf_is_blocked(at.leaf) &&
			    at.begin == span->begin && at.end == span->end)
				compare_wait(compare, thread, span, other, &at);
		}
	}
	if (left)
		differs(compare, LIFE, thread, span->begin, span->end, "alive", "not");
}

static void compare_thread(const struct comparison *compare, uint32_t thread)
{
	struct spans spans;
	struct span span;

	behind_gap = false;
	spans_begin(&spans, compare->holed, thread, INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span)) {
		if (leaf_wib(span.leaf) == WIB_UNKNOWN)
			unknown_ns += span.end - span.begin;
		else if (session_spans_gap(compare->holed, thread, &span))
			marked_ns += span.end - span.begin;
		else
			compare_span(compare, thread, &span);
		behind_gap |= leaf_wib(span.leaf) == WIB_UNKNOWN ||
			      session_spans_gap(compare->holed, thread, &span);
	}
}

/* Of whom it was is not said where it has no thread: the idle loop, or not known. */
static char *operation_text(const struct session *session, const struct operation *operation,
			    bool threaded)
{
	uint32_t kind = PACK_KIND(operation->what);
	bool request = kind == OPERATION_QUEUED || kind == OPERATION_SERVED;
	g_autofree char *name = request ? g_strdup_printf("request %u", kind) /* a disk may lose
									 its name */
					: operation_name(session, operation->what);

	return g_strdup_printf("%s of %d from %" PRId64 " to %" PRId64, name,
			       threaded && operation_has_thread(operation)
				       ? tid_of(session, operation->thread)
				       : -1,
			       operation->begin, operation_end(operation));
}

static void compare_operations(const struct comparison *compare)
{
	const struct pages *whole = &compare->whole->trace.timeline.operations;
	const struct pages *holed = &compare->holed->trace.timeline.operations;
	g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t i = 1; i < whole->used; i++)
		for (int threaded = 0; threaded < 2; threaded++)
			g_hash_table_add(known, operation_text(compare->whole,
							       operation_at(whole, i), threaded));
	for (uint32_t i = 1; i < holed->used; i++) {
		const struct operation *operation = operation_at(holed, i);
		g_autofree char *text = operation_text(compare->holed, operation, true);

		if (g_hash_table_contains(known, text) ||
		    operation_spans_gap(compare->holed, operation))
			continue;
		if (problems[OPERATION]++ < 20)
			printf("# operation: %s\n", text);
	}
}

int main(int argc, char **argv)
{
	struct options options[2];
	struct comparison compare;
	g_autoptr(GRand) random = NULL;
	int64_t longest, length;
	uint64_t sum = 0;

	if (argc != 5)
		return 2;
	compare.whole = read_trace(&options[0], argv[1]);
	random = g_rand_new_with_seed((guint32) atoi(argv[2]));
	hole_count = (guint) atoi(argv[3]);
	longest = g_ascii_strtoll(argv[4], NULL, 10);
	holes = g_new0(struct hole, hole_count);
	length = compare.whole->trace.end - compare.whole->trace.begin;
	for (guint i = 0; i < hole_count; i++) {
		holes[i].cpu = (uint32_t) g_rand_int_range(random, 0, (gint32) cpu_max + 1);
		holes[i].begin = compare.whole->trace.begin +
				 (int64_t) (g_rand_double(random) * (double) length);
		holes[i].end =
			holes[i].begin + 1 + (int64_t) (g_rand_double(random) * (double) longest);
	}
	kept = dropped = 0;
	compare.holed = read_trace(&options[1], argv[1]);
	compare.lives = lives_of(compare.whole);
	for (uint32_t i = 0; i < compare.holed->trace.model.thread_count; i++)
		compare_thread(&compare, i);
	compare_operations(&compare);
	printf("dropped %" PRIu64 " of %" PRIu64 " events; ms same %" PRId64 " unknown %" PRId64
	       " marked %" PRId64 ";",
	       dropped, dropped + kept, same_ns / 1000000, unknown_ns / 1000000,
	       marked_ns / 1000000);
	for (int i = 0; i < PROBLEMS; i++) {
		printf(" %s %" PRIu64, problem_names[i], problems[i]);
		sum += i == CALL ? 0 : problems[i];
	}
	printf("\n");
	g_hash_table_destroy(compare.lives);
	session_free((struct session *) compare.whole);
	session_free((struct session *) compare.holed);
	options_clear(&options[0]);
	options_clear(&options[1]);
	g_free(holes);
	return sum != 0;
}
