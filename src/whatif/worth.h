/* SPDX-License-Identifier: MIT */
/* What it would be worth if something were gone: how much sooner somebody would be there.
 *
 *   job  ┤ waits for left, 40 ms         ├──     left gone: 12 ms sooner, as right limits then
 *        ┤ right, 28 ms     ├
 *
 * Often less than its share, as something else limits next. A thing is the stretches that a report
 * has counted for it; all things are re-timed in one pass.
 *
 * Place: whatif/, over retime.h. Only what is counted is gone, of a stretch that is counted in part
 * as much. Source: semantics.md, "What if".
 */
#ifndef WHYLATE_WHATIF_WORTH_H
#define WHYLATE_WHATIF_WORTH_H

#include "path/path.h"
#include "report/report.h"
#include "run/option.h"
#include "whatif/retime.h"

#define WORTHS_MAX 20 /* things that are re-timed at once: as many as a list shows */

extern const struct option option_sort; /* options.order */

/* One thing, gone. */
struct worth {
	guint place;   /* of what it is told with: a sentence of the verdict, an item of a list */
	int64_t ns;    /* its share */
	int64_t saved; /* ns sooner */
	int64_t from, to; /* … what is not sure leaves room for; `saved` is in it */
};

/* What it takes to tell what a thing is worth: these scenarios for the rules that remove it. */
#define WORTH_SCENARIOS 3
void worth_scenarios(struct scenario *scenarios, uint64_t rules);
/* … of which `scenario` is the first: how much sooner ways (struct way) [from, to) are done. */
void worth_take(struct worth *worth, const struct retimed *retimed, guint scenario,
		const GArray *ways, guint from, guint to);

/* How many things may be re-timed unasked: as each takes its time in long windows, the fewer the
 * longer; all of WORTHS_MAX with --sort worth. */
guint worth_things(const struct session *session);

/* Things gone, one at a time: of [from, to) the threads that the ways (struct way) hang on. */
struct without {
	struct gone *gone;       /* owned */
	struct rules *rules;     /* owned */
	struct retimed *retimed; /* owned; scenario 0: as recorded; thing i: without_scenario(i) */
	bool drifts; /* nothing may be told: the replay without rules moves one of the ways, or not
			retime_holds() */
};

/* Takes `gone`, whose things are 0 to `count` - 1, WORTHS_MAX at most; closes it. */
void without_init(struct without *without, const struct session *session, struct gone *gone,
		  guint count, const GArray *ways, int64_t from, int64_t to);
void without_clear(struct without *without);
static inline guint without_scenario(guint thing)
{
	return 1 + WORTH_SCENARIOS * thing;
}

/* struct worth: of each place below WORTHS_MAX that `counts` (struct counted) has stretches of,
 * how much sooner all the ways (struct way) are done together if these are gone; empty if
 * the replay without rules moves anything. Free with g_array_free(). */
GArray *worths_new(const struct session *session, const GArray *counts, const GArray *ways);

/* Sentences of most worth first, the others as they were behind them; `worths` get their new
 * places. */
void worths_sort(GArray *worths, GPtrArray *sentences);

/* Appends ways (struct way) of a thread's time in [from, to): from the end of each wait for a next
 * request, which delays nobody, to the begin of the next one; of a thread without such waits all of
 * it. */
void ways_of_turns(const struct session *session, uint32_t thread, int64_t from, int64_t to,
		   GArray *ways);

/* The one of that place, NULL. */
const struct worth *worth_at(const GArray *worths, guint place);
/* "799.2 ms", "only 12.1 ms", "12.1 to 30 ms" where not all of that is sure; NULL: nothing. Free
 * with g_free(). */
char *worth_range(const struct worth *worth);
/* "Without it, 799.2 ms sooner."; free with g_free(). */
char *worth_words(const struct worth *worth);

/* Of struct worth: of the sentences of a verdict. */
extern const struct column worth_columns[];

#endif
