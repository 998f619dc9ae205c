/* SPDX-License-Identifier: MIT */
/* See unexplained.h. */
#include "stands/unexplained.h"

#include <math.h>

#include "ready/cpu_runs.h"
#include "stands/victims.h"
#include "util/when.h"
#include "words/names.h"

#define LOST_MIN 0.25 /* of its life, and … */
#define WINDOW_MIN 0.05 /* … of the window: a smaller loss needs no explanation */

static int64_t life_of(const struct session *session, uint32_t thread)
{
	const struct thread *at = model_thread(&session->trace.model, thread);

	return MIN(at->end, session->asked.to) - MAX(at->begin, session->asked.from);
}

/* What a parent waits for its children is theirs. */
static int64_t lost_by(const struct losses *losses, uint32_t thread)
{
	return losses->lost[thread] - losses->for_children[thread];
}

/* Who lost most. There all the time is what others ask for something: its clients lose. */
static uint32_t victim_of(const struct session *session, const struct losses *losses)
{
	uint32_t victim = NO_THREAD;
	double most = 0;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *at = model_thread(&session->trace.model, i);
		double lost = (double) lost_by(losses, i);
		double weight;

		if (lost <= 0 || (!at->born && at->state != THREAD_DEAD))
			continue;
		weight = lost * sqrt(lost / (double) MAX(life_of(session, i), 1));
		if (weight > most && !thread_gives_way(session, i)) {
			most = weight;
			victim = i;
		}
	}
	return victim;
}

/* What an item says of a thread's loss, by its name or as one of "5 more"; of one of several, that
 * none lost more. */
static int64_t named_of(const struct losses *losses, const struct stand *item, uint32_t thread)
{
	for (guint i = 0; i < item->victims->len; i++)
		if (g_array_index(item->victims, uint32_t, i) == thread)
			return item->fact->most;
	for (guint i = 0; i < item->all_late->len; i++) {
		const struct late *late = &g_array_index(item->all_late, struct late, i);

		if (losses->stems[late->thread] == losses->stems[thread])
			return late->ns;
	}
	return 0;
}

struct taking {
	const struct losses *losses;
	int64_t ns, most;
	uint32_t tracer;
};

static void take(struct taking *taking, uint32_t thread, int64_t ns)
{
	if (!is_thread(thread) || !taking->losses->tracers[thread])
		return;
	taking->ns += ns;
	if (ns > taking->most) {
		taking->most = ns;
		taking->tracer = thread;
	}
}

/* What the tracer that made the recording took of a thread's time. */
static struct taking taken_by_tracer(const struct losses *losses, uint32_t victim)
{
	struct taking taking = {.losses = losses, .tracer = NO_THREAD};

	for (guint i = 0; i < losses->facts->len; i++) {
		const struct fact *fact = g_ptr_array_index(losses->facts, i);

		if (!fact || fact->victim != victim) /* NULL: an item has it */
			continue;
		take(&taking, fact->subject, fact->ns);
		for (guint j = 0; j < fact->deeds->len && fact->kind == STAND_CPU; j++) {
			const struct deed *deed = &g_array_index(fact->deeds, struct deed, j);

			if (deed->did == DID_RUN)
				take(&taking, deed->thread, deed->times.ns);
		}
	}
	return taking;
}

char *unexplained_sentence(const struct session *session, const struct losses *losses,
			   const GArray *items, const GArray *tracings)
{
	uint32_t victim = victim_of(session, losses);
	int64_t lost, named = 0, beside = 0;
	double share;
	struct taking taking;
	GString *text;
	char all[32], told[32];

	if (!is_thread(victim))
		return NULL;
	lost = lost_by(losses, victim);
	share = (double) lost / (double) MAX(life_of(session, victim), 1);
	for (guint i = 0; i < items->len; i++)
		named += named_of(losses, &g_array_index(items, struct stand, i), victim);
	for (guint i = 0; i < tracings->len; i++)
		beside += named_of(losses, &g_array_index(tracings, struct stand, i), victim);
	if (2 * named >= lost || share < LOST_MIN ||
	    (double) lost < WINDOW_MIN * (double) (session->asked.to - session->asked.from))
		return NULL;
	taking = taken_by_tracer(losses, victim);
	text = g_string_new(items->len ? NULL : "Nothing stands out: ");
	append_one(text, session, victim);
	g_string_append_printf(text, " lost %s (%.0f %% of its life) to others",
			       when_duration(all, lost), 100 * share);
	if (2 * taking.ns > lost - named) {
		g_string_append_printf(text, ", %s of it to the tracer that recorded this (",
				       when_duration(told, taking.ns));
		append_one(text, session, taking.tracer);
		g_string_append_c(text, ')');
	}
	if (beside)
		g_string_append_printf(text,
				       "; for %s of it others had the CPU, while the tracer had "
				       "that or another one for much of the time",
				       when_duration(told, beside));
	if (named)
		g_string_append_printf(text, "; what follows explains %s of it",
				       when_duration(told, named));
	else if (2 * taking.ns <= lost && !beside)
		g_string_append(text, items->len ? "; what follows explains none of it"
						 : "; no single thing took much of it");
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}
