/* SPDX-License-Identifier: MIT */
/* What the items that stand out would be worth if they were gone: how much sooner the thread that
 * lost most to each would be done; with all its turns together where it waits for requests between
 * them. Which stretches these are: as for --what-if 'finding=ID: 0' (rules/finding_stretches.h).
 *
 * Part of overview/.
 */
#include "lives/restarts.h"
#include "objects/calls.h"
#include "overview/overview.h"
#include "rules/finding_stretches.h"
#include "whatif/worth.h"

#define ALIKE 0.05 /* of what was lost: so near is as much */
#define DELAYS_MIN 0.1 /* of what an interrupt took */
#define MOST 0.75 /* of it: less is not told of what others did */

static int most_saved(gconstpointer a, gconstpointer b)
{
	const struct stand *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return x->weight != y->weight ? (x->weight > y->weight ? -1 : 1) : 0;
}

#define RESTS_MIN 3 /* sleeps by its own timer */

struct rests {
	unsigned count, until_times; /* so many, of those until a time of day */
	int64_t ns;
};

static struct rests rests_of(const struct session *session, uint32_t thread)
{
	struct rests rests = {0};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span)) {
		if (PACK_KIND(span.leaf) != LEAF_BLOCK_SYSCALL ||
		    flow_call_info(&session->trace.flow, PACK_NUMBER(span.leaf))->wait !=
			    WAIT_SLEEP)
			continue;
		rests.ns += span.end - span.begin;
		rests.count++;
		rests.until_times += block_at(&session->trace.timeline, span.ref)->deadline;
	}
	return rests;
}

/* "…. Without it, kdeinit (224) would be done 81.96 ms sooner." */
static void say(const struct session *session, struct stand *item, const struct worth *worth,
		const char *range, guint turns)
{
	uint32_t victim = item->fact->victim;
	const struct thread *life = model_thread(&session->trace.model, victim);
	double lost = (double) worth->ns;
	g_autofree char *words = NULL;
	char *sentence;

	if (!range && rests_of(session, victim).until_times >= RESTS_MIN)
		words = g_strdup_printf("Without it, no sooner: %s (%d) goes on at set times.",
					session_thread_name(session, victim), life->tid);
	else if (!range)
		words = g_strdup("Without it, no sooner: something else takes as long.");
	else if ((double) worth->from >= (1 - ALIKE) * lost)
		words = g_strdup("Without it, all that time is saved.");
	else if (turns > 1)
		words = g_strdup_printf("Without it, the %u turns of %s (%d) would take %s less.",
					turns, session_thread_name(session, victim), life->tid,
					range);
	else
		words = g_strdup_printf("Without it, %s (%d) would be %s%s sooner.",
					session_thread_name(session, victim), life->tid,
					life->end < session->asked.to ? "done " : "", range);
	sentence = g_strconcat(item->sentence, " ", words, NULL);
	g_free(item->sentence);
	item->sentence = sentence;
}

/* An item's stretches, and the ways of the thread that lost most to it. */
struct asked {
	bool others; /* what others did, on the way */
	guint from, to;
};

/* What others, or the network, did or did not, and tries: what they did besides, in the recorded
 * order, may be all that takes the rest of it in the replay, and would have been done at another
 * time. */
static bool is_others_doing(const struct stand *item)
{
	switch (item->fact->kind) {
	case STAND_PROCESS:
	case STAND_TIMER:
	case STAND_CHILD:
	case STAND_STOPPED:
	case STAND_HOST:
	case STAND_NETWORK:
	case STAND_RETRANSMISSION:
	case STAND_DELAYED_ACK:
	case STAND_TIMEOUT:
	case STAND_FAILURE:
		return true;
	default:
		return false;
	}
}

/* More than it took its victim would be of other parts of the waits, too: that is not told. Nor is
 * that something else takes most of it, of what others did. */
static void take(const struct session *session, struct stand *item, const struct without *without,
		 guint thing, const GArray *ways, const struct asked *asked)
{
	struct worth worth = {.ns = item->fact->most};
	g_autofree char *range = NULL;

	if (item->fact->kind == STAND_LOCK && item->fact->told.block && !item->fact->told.woken)
		return; /* it never got it */
	for (guint i = asked->from; i < asked->to; i++)
		if (retimed_saved(without->retimed, 0, &g_array_index(ways, struct way, i)))
			return; /* the replay moves it by itself */
	worth_take(&worth, without->retimed, without_scenario(thing), ways, asked->from, asked->to);
	if (item->fact->even && (double) worth.to < DELAYS_MIN * (double) worth.ns) {
		item->saved = worth.saved;
		item->saved_from = worth.from;
		item->saved_to = worth.to;
		return;
	}
	if ((double) worth.saved > (1 + ALIKE) * (double) worth.ns ||
	    ((asked->others || is_others_doing(item)) &&
	     (double) worth.to < MOST * (double) worth.ns))
		return;
	range = worth_range(&worth);
	if (!range &&
	    (model_thread(&session->trace.model, item->fact->victim)->end >= session->asked.to ||
	     is_thread(item->fact->clock_set_by)))
		return; /* it goes on: what it does next has times of its own, or others then */
	item->saved = worth.saved;
	item->saved_from = worth.from;
	item->saved_to = worth.to;
	say(session, item, &worth, range, asked->to - asked->from);
}

/* What opening a file for writing took, a copy: its reading of disks would be gone, too. And who
 * asks, or spins, without a pause does not wait: when he would have gone on, nothing tells. Nor
 * what who was killed, or hangs, would have done. */
static bool is_not_asked(const struct fact *fact)
{
	return (fact->kind == STAND_DEVICE && !fact->told.block) ||
	       (fact->kind == STAND_FAILURE && !fact->parts->len) || fact->killed || fact->stuck ||
	       fact->held_open;
}

/* Who was killed would have been then, too, as by timeout(1): of what it was at nothing is said,
 * nor of what is left without it, if that is less. */
static void drop_killed(GArray *ways, guint from)
{
	const struct way *last;
	int64_t others = 0;

	if (ways->len == from)
		return;
	last = &g_array_index(ways, struct way, ways->len - 1);
	for (guint i = from; i + 1 < ways->len; i++) {
		const struct way *at = &g_array_index(ways, struct way, i);

		others += at->to - at->from;
	}
	g_array_set_size(ways, others > last->to - last->from ? ways->len - 1 : from);
}

static void add_item(const struct session *session, const struct stand *item, guint thing,
		     struct gone *gone, GArray *ways, struct asked *asked)
{
	uint32_t victim = item->fact->victim;
	struct finding_stretches *of;
	const struct thread *life;

	if (!is_thread(victim) || is_not_asked(item->fact))
		return;
	of = finding_stretches_of(session, item);
	if (!of)
		return;
	finding_gone(of, session, gone, thing);
	asked->others = finding_is_others(of);
	finding_stretches_free(of);
	life = model_thread(&session->trace.model, victim);
	ways_of_turns(session, victim, MAX(life->begin, session->asked.from),
		      MIN(life->end, session->asked.to), ways);
	if (life->end <= session->asked.to && was_killed(session, victim))
		drop_killed(ways, asked->from);
	asked->to = ways->len;
}

/* It sleeps by its own timer again and again, half as long as it waited or more. */
static bool has_a_pace(const struct session *session, uint32_t thread, int64_t waited)
{
	struct rests of = rests_of(session, thread);

	return of.count >= RESTS_MIN && 2 * of.ns >= waited;
}

/* All whom the same delays have a pace of their own, and rest when they are ready for their next
 * turn. */
static bool have_a_pace(const struct session *session, const struct stand *item)
{
	for (guint i = 0; i < item->victims->len; i++)
		if (!has_a_pace(session, g_array_index(item->victims, uint32_t, i),
				item->fact->most))
			return false;
	for (guint i = 0; i < item->all_late->len; i++) {
		const struct late *late = &g_array_index(item->all_late, struct late, i);

		if (!has_a_pace(session, late->thread, late->ns))
			return false;
	}
	return true;
}

/* What interrupts took is of everybody's life: where it delayed nothing, it is no news. Nor is what
 * a disk takes of who would only rest sooner, if nobody waits for that one (a flusher); nor what a
 * server does for clients that would rest until their next turn. */
static bool is_no_news(const struct session *session, const struct stand *item)
{
	if (item->fact->even)
		return item->saved != INT64_MIN &&
		       (double) item->saved_to < DELAYS_MIN * (double) item->fact->most &&
		       have_a_pace(session, item);
	if (item->fact->kind == STAND_DEVICE)
		return !item->others && item->fact->threads == 1 && item->saved != INT64_MIN &&
		       item->saved_to <= 0 &&
		       has_a_pace(session, item->fact->victim, item->fact->most);
	return (item->fact->kind == STAND_INTERRUPT || item->fact->kind == STAND_SOFTIRQ) &&
	       item->saved != INT64_MIN &&
	       (double) item->saved_to < DELAYS_MIN * (double) item->fact->most;
}

void stands_add_worth(const struct session *session, struct stands *stands)
{
	guint count = MIN(stands->items->len, WORTHS_MAX);
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	struct asked asked[WORTHS_MAX];
	struct without without;
	struct gone *gone;

	if (!retime_holds(session))
		return;
	gone = gone_new(session);
	for (guint i = 0; i < count; i++) {
		asked[i] = (struct asked) {.from = ways->len, .to = ways->len};
		add_item(session, &g_array_index(stands->items, struct stand, i), i, gone, ways,
			 &asked[i]);
	}
	if (!ways->len) {
		gone_free(gone);
		return;
	}
	without_init(&without, session, gone, count, ways, session->asked.from, session->asked.to);
	for (guint i = 0; i < count; i++)
		if (asked[i].from < asked[i].to)
			take(session, &g_array_index(stands->items, struct stand, i), &without, i,
			     ways, &asked[i]);
	without_clear(&without);
	/* what is left unexplained is said of those that follow */
	for (guint i = count; i-- > 0 && (stands->items->len > 1 || !stands->unexplained);)
		if (is_no_news(session, &g_array_index(stands->items, struct stand, i)))
			stands_move(stands->items, i, stands->no_news);
}

void stands_sort_by_worth(struct stands *stands)
{
	g_array_sort(stands->items, most_saved);
}
