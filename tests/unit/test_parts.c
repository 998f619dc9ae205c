/* SPDX-License-Identifier: MIT */
/* Parts that are made beside each other: what make_parts.h promises, with one thread and several.
 * Expectations follow from what each part does, worked out beside it.
 */
#include "feed.h"

#include "parts/make_parts.h"
#include "util/intern.h"

#define PARTS 1000

struct seen_parts {
	gint times[PARTS]; /* each was made */
	gint ended[PARTS];
	uint64_t before[PARTS]; /* runs that were read before it, as it saw them */
	uint32_t names[PARTS];
	const void *once[PARTS];
	bool nested; /* one within another kept to its order */
};

static gint onces;

static void *make_once(const struct session *session)
{
	g_atomic_int_inc(&onces);
	return intern_known(session->trace.model.names, "none such") ? NULL : g_new0(char, 1);
}

static void make_nested(const struct session *session, guint part, void *data)
{
	guint *next = data;

	(void) session;
	g_assert_true(parts_in_one());
	g_assert_cmpuint(part, ==, (*next)++);
}

static void make(const struct session *session, guint part, void *data)
{
	struct seen_parts *seen = data;
	char text[32];
	guint next = 0;

	for (guint i = 0; i + PARTS_AHEAD <= part; i++)
		g_assert_true(g_atomic_int_get(&seen->ended[i]));
	g_atomic_int_inc(&seen->times[part]);
	seen->before[part] = *session->found.runs_read;
	*session->found.runs_read += part;
	/* ten parts have a name in common, new to the session */
	g_snprintf(text, sizeof text, "name %u", part / 10);
	seen->names[part] = intern_id(session->trace.model.names, text);
	g_assert_cmpstr(session_text(session, seen->names[part]), ==, text);
	seen->once[part] = session_make_once(session, make_once, g_free);
	if (part == 500) {
		parts_make(session, 3, make_nested, &next);
		seen->nested = next == 3;
	}
	g_atomic_int_set(&seen->ended[part], 1);
}

static void expect(guint jobs)
{
	FEED(1);
	struct seen_parts *seen = g_new0(struct seen_parts, 1);
	uint64_t sum = 7;
	guint first = 0;

	onces = 0;
	feed->options.jobs = jobs;
	*feed->session->found.runs_read = 7;
	parts_make(feed->session, PARTS, make, seen);
	for (guint i = 0; i < PARTS; i++) {
		char text[32];

		g_assert_cmpint(seen->times[i], ==, 1);
		/* what those had read that had ended for certain: the same with any threads */
		if (i >= PARTS_AHEAD)
			sum += i - PARTS_AHEAD;
		g_assert_cmpuint(seen->before[i], ==, sum);
		first = i % 10 ? first : i;
		g_assert_cmpuint(seen->names[i], ==, seen->names[first]);
		g_snprintf(text, sizeof text, "name %u", i / 10);
		g_assert_cmpstr(session_text(feed->session, seen->names[i]), ==, text);
		g_assert_true(seen->once[i] && seen->once[i] == seen->once[0]);
	}
	g_assert_true(seen->nested);
	g_assert_cmpint(onces, ==, 1);
	g_assert_cmpuint(*feed->session->found.runs_read, ==, 7 + PARTS * (PARTS - 1) / 2);
	g_assert_false(parts_in_one());
	g_free(seen);
}

static void one(void)
{
	expect(1);
}

static void several(void)
{
	expect(2);
	expect(3);
	expect(16);
	expect(1024); /* more than are begun */
}

static void none(void)
{
	FEED(1);

	feed->options.jobs = 4;
	parts_make(feed->session, 0, make, NULL);
	g_assert_cmpuint(*feed->session->found.runs_read, ==, 0);
}

/* --- taken in order --------------------------------------------------------------------------- */

#define TAKEN 300

struct seen_taken {
	gint made[TAKEN];
	guint next; /* what takes it knows it alone */
	gint begun, taken;
};

static void make_one(const struct session *session, guint part, void *data)
{
	struct seen_taken *seen = data;
	gint waits = g_atomic_int_add(&seen->begun, 1) + 1 - g_atomic_int_get(&seen->taken);

	(void) session;
	g_assert_cmpint(waits, <=, PARTS_AHEAD);
	if (part % 7 == 0) /* the others are made meanwhile */
		g_usleep(200);
	g_atomic_int_set(&seen->made[part], 1);
}

static void take_one(guint part, void *data)
{
	struct seen_taken *seen = data;

	g_assert_cmpuint(part, ==, seen->next);
	g_assert_true(g_atomic_int_get(&seen->made[part]));
	if (part % 11 == 0)
		g_usleep(200);
	seen->next = part + 1;
	g_atomic_int_inc(&seen->taken);
}

static void taken(void)
{
	FEED(1);

	for (guint jobs = 1; jobs <= 8; jobs *= 2) {
		struct seen_taken seen = {0};

		feed->options.jobs = jobs;
		parts_make_and_take(feed->session, TAKEN, make_one, take_one, &seen);
		g_assert_cmpuint(seen.next, ==, TAKEN);
	}
}

struct seen_sides {
	const struct session *session[2];
	bool in_one[2], nested[2];
	GThread *thread[2];
};

static void make_side(const struct session *session, guint part, void *data)
{
	struct seen_sides *seen = data;
	guint next = 0;

	seen->session[part] = session;
	seen->in_one[part] = parts_in_one();
	seen->thread[part] = g_thread_self();
	if (seen->in_one[part])
		parts_make(session, 3, make_nested, &next);
	seen->nested[part] = next == 3;
}

/* Each is given its own session itself; of one, or for one processor, one after the other. */
static void sides(void)
{
	FEED(1);
	struct session *other = session_new(&feed->options);
	const struct session *const two[2] = {feed->session, other};
	const struct session *const same[2] = {feed->session, feed->session};
	struct seen_sides seen = {0};

	feed->options.jobs = 2;
	parts_make_sides(two, make_side, &seen);
	for (int i = 0; i < 2; i++) {
		g_assert_true(seen.session[i] == two[i]);
		g_assert_true(seen.in_one[i] && seen.nested[i]);
	}
	g_assert_true(seen.thread[0] != seen.thread[1]);
	g_assert_false(parts_in_one());
	parts_make_sides(same, make_side, &seen);
	g_assert_true(seen.session[0] == seen.session[1] && seen.thread[0] == seen.thread[1]);
	g_assert_false(seen.in_one[0] || seen.in_one[1]);
	feed->options.jobs = 1;
	parts_make_sides(two, make_side, &seen);
	g_assert_true(seen.session[1] == other && seen.thread[0] == seen.thread[1]);
	session_free(other);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/parts/one thread", one);
	g_test_add_func("/parts/several threads", several);
	g_test_add_func("/parts/no parts", none);
	g_test_add_func("/parts/taken in order", taken);
	g_test_add_func("/parts/sides", sides);
	return g_test_run();
}
