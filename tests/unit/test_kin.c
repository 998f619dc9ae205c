/* SPDX-License-Identifier: MIT */
/* Which thread of one run is which of another: families as literals, and two small traces.
 * Expectations follow from kin.h's rules by hand.
 */
#include "feed.h"

#include "diff/kin.h"
#include "diff/thread_match.h"

#define NOBODY NO_THREAD
#define THREADS_MAX 16

/* A thread by name, of the parent at that place (NOBODY), begun after those above it. */
struct one {
	const char *name, *program;
	uint32_t parent;
	int32_t tid;
	uint32_t talks_to; /* 0: to nothing */
	bool thread; /* of its parent's process */
	bool kernel;
};

struct pair {
	uint32_t a, b; /* NOBODY: set by nobody before */
};

static guint fill(struct kin *kin, const struct one *ones)
{
	guint count = 0;

	for (; ones[count].name; count++) {
		const struct one *one = &ones[count];

		kin[count] = (struct kin) {.name = one->name,
					   .program = one->program,
					   .kernel = one->kernel,
					   .leads = !one->thread,
					   .parent = one->parent,
					   .begin = count,
					   .tid = one->tid};
		if (one->talks_to) {
			kin[count].contacts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_array_append_val(kin[count].contacts, one->talks_to);
		}
	}
	return count;
}

/* "0=1 2=0": A's place and B's, of those that are one; both ways say the same. */
static char *matched_as(const struct one *a, const struct one *b, struct pair pinned)
{
	struct kin kin[2][THREADS_MAX];
	uint32_t partner[2][THREADS_MAX];
	struct kindred kindred = {{kin[0], kin[1]},
				  {fill(kin[0], a), fill(kin[1], b)},
				  {partner[0], partner[1]}};
	GString *text = g_string_new(NULL);

	for (int side = 0; side < 2; side++)
		for (guint i = 0; i < THREADS_MAX; i++)
			partner[side][i] = NOBODY;
	if (pinned.a != NOBODY) {
		partner[0][pinned.a] = pinned.b;
		partner[1][pinned.b] = pinned.a;
	}
	kin_match(&kindred);
	for (uint32_t i = 0; i < kindred.count[0]; i++) {
		if (partner[0][i] == NOBODY)
			continue;
		g_assert_cmpuint(partner[1][partner[0][i]], ==, i);
		g_string_append_printf(text, "%s%u=%u", text->len ? " " : "", i, partner[0][i]);
	}
	for (int side = 0; side < 2; side++)
		for (guint i = 0; i < kindred.count[side]; i++)
			if (kin[side][i].contacts)
				g_array_free(kin[side][i].contacts, TRUE);
	return g_string_free(text, FALSE);
}

static void matches(const struct one *a, const struct one *b, const char *expected)
{
	g_autofree char *found = matched_as(a, b, (struct pair) {NOBODY, NOBODY});

	g_assert_cmpstr(found, ==, expected);
}

/* kdeinit's child is a kdeinit too: by their places in the lineage, though one TID is in both. */
static void lineage(void)
{
	static const struct one a[] = {{"bash", "", NOBODY, 195},
				       {"kdeinit", "kdeinit", 0, 251},
				       {"kdeinit", "kdeinit", 1, 252},
				       {NULL}};
	static const struct one b[] = {{"bash", "", NOBODY, 200},
				       {"kdeinit", "kdeinit", 0, 252},
				       {"kdeinit", "kdeinit", 1, 253},
				       {NULL}};

	matches(a, b, "0=0 1=1 2=2");
}

/* Swapped orders: names decide before them. */
static void swapped(void)
{
	static const struct one a[] = {
		{"sh", "", NOBODY, 1}, {"ls", "", 0, 2}, {"cat", "", 0, 3}, {NULL}};
	static const struct one b[] = {
		{"sh", "", NOBODY, 1}, {"cat", "", 0, 2}, {"ls", "", 0, 3}, {NULL}};

	matches(a, b, "0=0 1=2 2=1");
}

/* Equal names, created in another order: each talks to something else. */
static void contacts(void)
{
	static const struct one a[] = {{"app", "app", NOBODY, 1},
				       {"worker", "app", 0, 2, 70, true},
				       {"worker", "app", 0, 3, 80, true},
				       {NULL}};
	static const struct one b[] = {{"app", "app", NOBODY, 11},
				       {"worker", "app", 0, 12, 80, true},
				       {"worker", "app", 0, 13, 70, true},
				       {NULL}};

	matches(a, b, "0=0 1=2 2=1");
}

/* Equals in all: by their order, whatever their TIDs. */
static void order(void)
{
	static const struct one a[] = {
		{"app", "", NOBODY, 1}, {"worker", "", 0, 2}, {"worker", "", 0, 3}, {NULL}};
	static const struct one b[] = {
		{"app", "", NOBODY, 1}, {"worker", "", 0, 3}, {"worker", "", 0, 2}, {NULL}};

	matches(a, b, "0=0 1=1 2=2");
}

/* One is missing in B: which one, who was created before and after it says. */
static void missing(void)
{
	static const struct one a[] = {{"sh", "", NOBODY, 1}, {"ls", "", 0, 2}, {"cc", "", 0, 3},
				       {"ls", "", 0, 4},      {"ld", "", 0, 5}, {NULL}};
	static const struct one b[] = {{"sh", "", NOBODY, 1},
				       {"cc", "", 0, 2},
				       {"ls", "", 0, 3},
				       {"ld", "", 0, 4},
				       {NULL}};

	matches(a, b, "0=0 2=1 3=2 4=3");
}

/* Nobody in B is like it, or another program has its name. */
static void only_in_one(void)
{
	static const struct one a[] = {
		{"sh", "", NOBODY, 1}, {"ls", "", 0, 2}, {"x", "", NOBODY, 3}, {NULL}};
	static const struct one b[] = {{"sh", "", NOBODY, 1}, {"cat", "", 0, 2}, {NULL}};
	static const struct one equal[] = {
		{"sh", "", NOBODY, 1}, {"main", "perl", 0, 2}, {"main", "java", 0, 3}, {NULL}};
	static const struct one twins[] = {{"sh", "", NOBODY, 1}, {"main", "java", 0, 2}, {NULL}};

	matches(a, b, "0=0");
	matches(equal, twins, "0=0 2=1");
}

/* Their parents are not one: by name, with who has more ancestors in common. */
static void moved(void)
{
	static const struct one a[] = {{"init", "", NOBODY, 1}, {"cron", "", 0, 2},
				       {"sh", "", 1, 3},        {"job", "", 2, 4},
				       {"job", "", 0, 5},       {NULL}};
	static const struct one b[] = {{"init", "", NOBODY, 1}, {"wrap", "", 0, 2},
				       {"job", "", 0, 3},       {"sh", "", 1, 4},
				       {"job", "", 3, 5},       {NULL}};

	matches(a, b, "0=0 2=3 3=4 4=2");
}

/* The kernel's threads, and a process's, have numbers in their names; processes' names are what
 * they are. Renamed processes are the same by their program. */
static void numbers(void)
{
	static const struct one a[] = {{"kthreadd", "", NOBODY, 2, 0, false, true},
				       {"kworker/0:2", "", 0, 50, 0, false, true},
				       {"app", "app", NOBODY, 60},
				       {"pool-1", "app", 2, 61, 0, true},
				       {"hog-0", "", 2, 62},
				       {"srv: 7", "srv", 2, 63},
				       {NULL}};
	static const struct one b[] = {{"kthreadd", "", NOBODY, 2, 0, false, true},
				       {"kworker/1:0", "", 0, 51, 0, false, true},
				       {"app", "app", NOBODY, 70},
				       {"pool-22", "app", 2, 71, 0, true},
				       {"hog-1", "", 2, 72},
				       {"srv: idle", "srv", 2, 73},
				       {NULL}};

	matches(a, b, "0=0 1=1 2=2 3=3 5=5");
}

/* Two that are one by what was asked stay so, and their ancestors of one name are too. */
static void pinned(void)
{
	static const struct one a[] = {
		{"sh", "", NOBODY, 1}, {"sh", "", NOBODY, 2}, {"x", "", 1, 3}, {NULL}};
	static const struct one b[] = {
		{"sh", "", NOBODY, 1}, {"sh", "", NOBODY, 2}, {"y", "", 0, 3}, {NULL}};
	g_autofree char *found = matched_as(a, b, (struct pair) {2, 2});

	g_assert_cmpstr(found, ==, "0=1 1=0 2=2");
}

static void lasting(void)
{
	static const struct {
		const char *key, *expected;
	} cases[] = {{"pipe:[4711]", "pipe:[*]"},
		     {"socket:10.0.0.1:80", "socket:10.0.0.1:80"},
		     {"socket:10.0.0.1:40123", "socket:10.0.0.1:*"},
		     {"file:/tmp/x.7", "file:/tmp/x.7"},
		     {"", ""}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *found = kin_lasting(cases[i].key);

		g_assert_cmpstr(found, ==, cases[i].expected);
	}
}

/* sh forks one child, which calls itself sh, and that one another; TIDs are others in each run. */
static struct feed *run_of(int32_t first, bool second_child)
{
	struct feed *feed = feed_new(1);

	sw(feed, 10, 0, "idle", 0, 0, "sh", first);
	forks(feed, 20, 0, first, first + 1, first + 1);
	sw(feed, 30, 0, "sh", first, SLEEPS, "sh", first + 1);
	if (second_child)
		forks(feed, 40, 0, first + 1, first + 2, first + 2);
	plain(feed, 50, 0, "other");
	finish(feed);
	return feed;
}

static char *label(const struct thread_match *match, int side, struct feed *feed, int32_t tid)
{
	return thread_match_label(match, side, life(feed, tid, 0));
}

static void of_traces(void)
{
	struct feed *a = run_of(5, true), *b = run_of(6, false);
	static const uint32_t nobody[2] = {NOBODY, NOBODY};
	struct thread_match *match = thread_match_new(a->session, b->session, nobody);
	g_autofree char *parent = label(match, 0, a, 5), *child = label(match, 1, b, 7),
			*last = label(match, 0, a, 7);

	g_assert_cmpuint(thread_match_partner(match, 0, life(a, 5, 0)), ==, life(b, 6, 0));
	g_assert_cmpuint(thread_match_partner(match, 0, life(a, 6, 0)), ==, life(b, 7, 0));
	g_assert_cmpuint(thread_match_partner(match, 0, life(a, 7, 0)), ==, NOBODY);
	g_assert_cmpstr(parent, ==, "sh (5 in A, 6 in B)");
	g_assert_cmpstr(child, ==, "sh (6 in A, 7 in B)");
	g_assert_cmpstr(last, ==, "child (7 in A)");
	thread_match_free(match);
	match = thread_match_new(a->session, a->session, nobody);
	g_assert_cmpuint(thread_match_partner(match, 1, life(a, 7, 0)), ==, life(a, 7, 0));
	thread_match_free(match);
	feed_free(a);
	feed_free(b);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/kin/lineage", lineage);
	g_test_add_func("/kin/swapped", swapped);
	g_test_add_func("/kin/contacts", contacts);
	g_test_add_func("/kin/order", order);
	g_test_add_func("/kin/missing", missing);
	g_test_add_func("/kin/only_in_one", only_in_one);
	g_test_add_func("/kin/moved", moved);
	g_test_add_func("/kin/numbers", numbers);
	g_test_add_func("/kin/pinned", pinned);
	g_test_add_func("/kin/lasting", lasting);
	g_test_add_func("/kin/of_traces", of_traces);
	return g_test_run();
}
