/* SPDX-License-Identifier: MIT */
/* Work in several threads (jobs/jobs.h), and the parts of an answer (session_make_all()): each part
 * is done once, and what may be looked up in one report is divided as one thread would.
 */
#include "feed.h"

#include "jobs/jobs.h"
#include "run/session.h"

#define PARTS 1000

static void count_part(void *data, guint index)
{
	g_atomic_int_inc((gint *) data + index);
}

static void each_once(void)
{
	static const guint threads[] = {1, 2, 3, 8, 2000};

	for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
		for (guint count = 0; count <= PARTS; count += 250) {
			gint done[PARTS] = {0};

			jobs_do(count, threads[i], count_part, done);
			for (guint k = 0; k < PARTS; k++)
				g_assert_cmpint(done[k], ==, k < count);
		}
}

struct made_part {
	bool knew; /* not all was used up when it was begun */
	gint *freed;
};

/* Uses two thirds of what may be looked up. */
static void *use(const struct session *session, guint index, const void *data)
{
	struct made_part *made = g_new(struct made_part, 1);

	(void) index;
	made->knew = session_runs_read(session) < RUNS_READ_MAX;
	made->freed = (gint *) data;
	session_add_runs_read(session, RUNS_READ_MAX / 3 * 2);
	return made;
}

static void unuse(guint index, void *data)
{
	struct made_part *made = data;

	(void) index;
	g_atomic_int_inc(made->freed);
	g_free(made);
}

/* Of four parts the first two are told, as in one thread, whoever was first in several: these are
 * dropped, and made again in order. */
static void used_up(void)
{
	for (guint jobs = 1; jobs <= 8; jobs++) {
		struct feed *feed = feed_new(1);
		void *made[4];
		gint freed = 0;

		feed->options.jobs = jobs;
		session_make_all(feed->session, 4, use, unuse, &freed, made);
		g_assert_cmpint(freed, ==, jobs > 1 ? 4 : 0);
		for (guint i = 0; i < 4; i++) {
			g_assert_cmpint(((struct made_part *) made[i])->knew, ==, i < 2);
			unuse(i, made[i]);
		}
		feed_free(feed);
	}
}

int main(int argc, char *argv[])
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/jobs/each-once", each_once);
	g_test_add_func("/jobs/used-up", used_up);
	return g_test_run();
}
