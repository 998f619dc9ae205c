/* SPDX-License-Identifier: MIT */
/* From what threads lost to the few items that matter; see stands.h.
 *
 *   facts of one root ─► of each name of victims one fact ─► the name that lost most tells it
 *
 * An item's weight is the time that its victim lost, times the square root of the share of its
 * life that this is: who lost most of a short life comes before who lost the same of a long one.
 */
#include "stands/stands.h"

#include <math.h>
#include <string.h>

#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "imposed/imposers.h"
#include "ready/cpu_runs.h"
#include "stands/circumstances.h"
#include "stands/clauses.h"
#include "stands/extra_items.h"
#include "stands/hangs.h"
#include "stands/killed.h"
#include "stands/victims.h"
#include "stands/sentence.h"
#include "stands/stuck.h"
#include "stands/unexplained.h"
#include "words/names.h"

#define LIFE_SHARE_MIN 0.05 /* of the victim's life: less does not stand out, … */
#define PLAIN_SHARE_MIN 0.1 /* … of what healthy systems have too, … */
#define SHORT_SHARE_MIN 0.02 /* … and of what they do not; … */
#define WINDOW_SHARE_MIN 0.02 /* … nor less of the window, */
#define LONGEST_MIN INT64_C(40000000) /* ns; a shorter wait is no pause that anybody notices, … */
#define LONGEST_SHARE 0.5 /* … nor one of many: of all that the thread lost so */
#define FIRST_SHARE_MIN 0.04 /* … nor what has less than this of the first item's weight */
#define DIFFUSE_MIN 0.05 /* of the window: a CPU that many had a little each, … */
#define DIFFUSE_WEIGHT 0.4 /* … which is no news */
#define INVERSION_MIN 0.2 /* of the wait: less of it the owner was kept off */
#define SERVICE_WEIGHT 0.3
#define FILLS_MIN 0.6 /* of the requests that were waited for there: who fills a device; */
#define FILLERS_MIN 2 /* … threads of one name, */
#define MEANWHILE_MIN 0.8 /* … while they did so others lost so much of their time there */
#define FILLED_MIN 0.1 /* of the life of who is late by that */
#define FILLER_WEIGHT 0.01
#define SENDER_WEIGHT 0.1 /* its own packets are what it sends so fast */
#define EVEN_WEIGHT 0.5 /* work for one request as for the other: what a service is there for */
#define EVEN_MAX 3 /* times as long as the mean … */
#define LONGER_MAX 0.4 /* … are not more of it than that */
#define EVEN_MIN 20 /* such works */
#define EVEN_GAP INT64_C(2000000) /* ns: an interrupt, or another thread, in between */
#define GIVES_WAY_WEIGHT 0.05 /* nobody is in a hurry there */
#define PARENT_WEIGHT 0.3 /* what its children wait for themselves is the story */
#define OTHER_MIN 0.1 /* of what the told victim lost: who lost less is not worth a word */
#define TICKS_MIN 0.4 /* of the victim's life: less is what ticks of an emulated machine take */
#define CHILD_MIN 0.4 /* of the parent's life: commands that a script runs are its own work */
#define PLAIN_MIN 0.8 /* of the wait for children: so much of it they worked */
#define BESIDE_MIN 0.1 /* of it: so long two of them lived at once */
#define PIPELINE_LIFE 0.2 /* of the window: a stage that lives longer may be too slow a one */
#define CHILDREN_MIN 30 /* so many are news themselves */
#define FIRST_MIN 0.4 /* of what one lost: so much of it another was served first */
#define HANDOVERS_MIN 8 /* of a convoy */
#define OTHERS_LATE 0.2 /* of what who gives way lost: others lose so much by it */

static bool like_named(const struct session *session, const struct losses *losses, uint32_t a,
		       uint32_t b)
{
	return model_thread(&session->trace.model, a)->host ==
		       model_thread(&session->trace.model, b)->host &&
	       losses->stems[a] == losses->stems[b];
}

/* A parent's wait for what it started. */
static bool is_for_children(const struct fact *fact)
{
	return 2 * fact->child > fact->ns;
}

/* Whom the victim waited for most of the time itself. */
enum waited_for_whom { FOR_NO_PROGRAM, FOR_ONE_LIKE_IT, FOR_ANOTHER };

static enum waited_for_whom for_whom(const struct session *session, const struct losses *losses,
				     const struct fact *fact)
{
	const struct chain *most = NULL;
	uint32_t thread;

	for (guint i = 0; i < fact->chains->len; i++) {
		const struct chain *chain = &g_array_index(fact->chains, struct chain, i);

		most = !most || chain->ns > most->ns ? chain : most;
	}
	thread = most ? chain_waits_for(session, most) : NO_THREAD;
	return !is_thread(thread) ? FOR_NO_PROGRAM
	       : like_named(session, losses, thread, fact->victim)
		       ? FOR_ONE_LIKE_IT
		       : FOR_ANOTHER;
}

/* One sentence does for both victims. Who waited for the other one is late by it. Who waits for a
 * lock waits for all that are before it, whoever they are. */
static bool are_alike(const struct session *session, const struct losses *losses,
		      const struct fact *a, const struct fact *b)
{
	return like_named(session, losses, a->victim, b->victim) &&
	       (a->kind == STAND_LOCK ||
		for_whom(session, losses, a) == for_whom(session, losses, b));
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct lost_part *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Parts that overlap become one: what is left lies one behind the other. */
static void merge_parts(GArray *parts)
{
	guint merged = 0;

	g_array_sort(parts, by_begin);
	for (guint i = 0; i < parts->len; i++) {
		const struct lost_part *part = &g_array_index(parts, struct lost_part, i);
		struct lost_part *last =
			merged ? &g_array_index(parts, struct lost_part, merged - 1) : NULL;

		if (last && part->begin <= last->end)
			last->end = MAX(last->end, part->end);
		else
			g_array_index(parts, struct lost_part, merged++) = *part;
	}
	g_array_set_size(parts, merged);
}

/* Nearly all of it was while one of these waited, too: `parts` as merge_parts() leaves them. */
static bool lies_within(const struct fact *fact, const GArray *parts)
{
	int64_t within = 0;
	guint k = 0;

	/* one victim's parts are in order, as its path is */
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		while (k < parts->len &&
		       g_array_index(parts, struct lost_part, k).end <= part->begin)
			k++;
		for (guint n = k; n < parts->len; n++) {
			const struct lost_part *at = &g_array_index(parts, struct lost_part, n);

			if (at->begin >= part->end)
				break;
			within += MIN(at->end, part->end) - MAX(at->begin, part->begin);
		}
	}
	return (double) within >= MEANWHILE_MIN * (double) fact->ns;
}

static bool waited_itself(const struct fact *fact)
{
	for (guint i = 0; i < fact->parts->len; i++)
		if (g_array_index(fact->parts, struct lost_part, i).thread != fact->victim)
			return false;
	return true;
}

/* … or for what the kernel's threads did for it. */
static bool waited_for_kernel(const struct session *session, const struct fact *fact)
{
	for (guint i = 0; i < fact->parts->len; i++) {
		uint32_t thread = g_array_index(fact->parts, struct lost_part, i).thread;

		if (thread != fact->victim &&
		    !thread_is_kernel(&session->trace.model,
				      model_thread(&session->trace.model, thread)))
			return false;
	}
	return true;
}

/* Each once, however many waited for it. */
static void add_requests(GHashTable *set, const struct fact *fact)
{
	for (guint i = 0; i < fact->requests->len; i++)
		g_hash_table_add(set, g_array_index(fact->requests, gpointer, i));
}

static bool has_root_and_name(const struct session *session, const struct losses *losses,
			      const struct fact *a, const struct fact *b)
{
	return facts_have_one_root(a, b) && like_named(session, losses, a->victim, b->victim);
}

/* So many threads of that name waited there, each for what it asked for itself; 0: it was not the
 * first of them that was asked after, or one waited for another. */
static guint count_fillers(const struct session *session, const struct losses *losses, guint place)
{
	const struct fact *fact = g_ptr_array_index(losses->facts, place);
	guint count = 0;

	for (guint i = 0; i < losses->facts->len; i++) {
		const struct fact *at = g_ptr_array_index(losses->facts, i);

		if (!has_root_and_name(session, losses, at, fact))
			continue;
		if (i < place || !waited_itself(at))
			return 0;
		count++;
	}
	return count;
}

/* `parts`: of the fillers, `fact` one of them. */
static bool is_late_by(const struct session *session, const struct losses *losses,
		       const struct fact *at, const struct fact *fact, const GArray *parts)
{
	const uint32_t *process = session->trace.processes.first;
	int64_t window = session->asked.to - session->asked.from;

	if (!facts_have_one_root(at, fact) || process[at->victim] == process[fact->victim] ||
	    (double) at->most < FILLED_MIN * (double) at->life ||
	    (double) at->most < WINDOW_SHARE_MIN * (double) window)
		return false;
	for (guint i = 0; i < at->parts->len; i++)
		if (like_named(session, losses,
			       g_array_index(at->parts, struct lost_part, i).thread, fact->victim))
			return false; /* by what one of these read for it */
	return lies_within(at, parts);
}

/* Several of one name have most requests to a device that were waited for, and other programs
 * were late there meanwhile: that is by the first, which are at what they are for (a backup). */
static void find_filler(const struct session *session, const struct losses *losses,
			struct fact *fact)
{
	g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(struct lost_part));
	g_autoptr(GHashTable) all = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) own = g_hash_table_new(NULL, NULL);
	bool others = false;

	for (guint i = 0; i < losses->facts->len; i++) {
		const struct fact *at = g_ptr_array_index(losses->facts, i);

		if (!facts_have_one_root(at, fact))
			continue;
		add_requests(all, at);
		if (!like_named(session, losses, at->victim, fact->victim))
			continue;
		add_requests(own, at);
		g_array_append_vals(parts, at->parts->data, at->parts->len);
	}
	if ((double) g_hash_table_size(own) < FILLS_MIN * (double) g_hash_table_size(all))
		return;
	merge_parts(parts);
	for (guint i = 0; i < losses->facts->len; i++) {
		struct fact *at = g_ptr_array_index(losses->facts, i);

		if (has_root_and_name(session, losses, at, fact) ||
		    !is_late_by(session, losses, at, fact, parts))
			continue;
		others = true;
		at->filler = fact->victim;
		at->filling = g_hash_table_size(own);
		at->filled = g_hash_table_size(all);
	}
	for (guint i = 0; i < losses->facts->len && others; i++) {
		struct fact *at = g_ptr_array_index(losses->facts, i);

		at->fills |= has_root_and_name(session, losses, at, fact);
	}
}

static void find_fillers(const struct session *session, const struct losses *losses)
{
	for (guint i = 0; i < losses->facts->len; i++) {
		struct fact *fact = g_ptr_array_index(losses->facts, i);

		if (fact->kind == STAND_DEVICE && fact->requests->len &&
		    count_fillers(session, losses, i) >= FILLERS_MIN)
			find_filler(session, losses, fact);
	}
}

static bool is_even_work(const struct fact *fact)
{
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(int64_t));
	int64_t sum = 0, longer = 0, last = INT64_MIN;

	if (fact->kind != STAND_PROCESS || 3 * fact_did(fact, DID_WORK) < 2 * fact->ns)
		return false;
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		int64_t none = 0, ns = part->end - part->begin;

		if (part->victim != fact->victim || part->did != DID_WORK)
			continue;
		if (last == INT64_MIN || part->begin - last > EVEN_GAP)
			g_array_append_val(pieces, none);
		g_array_index(pieces, int64_t, pieces->len - 1) += ns;
		sum += ns;
		last = part->end;
	}
	for (guint i = 0; i < pieces->len; i++) {
		int64_t ns = g_array_index(pieces, int64_t, i);

		longer += (double) ns * pieces->len > EVEN_MAX * (double) sum ? ns : 0;
	}
	return pieces->len >= EVEN_MIN && (double) longer <= LONGER_MAX * (double) sum;
}

/* Its waits are for data of its own, which others waited behind longer than it did itself. */
static void find_own_fillers(const struct session *session, const struct losses *losses,
			     const struct waiting *waiting)
{
	g_autofree int64_t *in_way = g_new0(int64_t, session->trace.model.thread_count);

	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *at = &g_array_index(waiting->imposers, struct imposer, i);

		if (is_thread(at->thread))
			in_way[at->thread] = at->by[IMPOSED_IN_WAY];
	}
	for (guint i = 0; i < losses->facts->len; i++) {
		struct fact *fact = g_ptr_array_index(losses->facts, i);

		if (fact->kind == STAND_DEVICE && !is_thread(fact->subject) &&
		    in_way[fact->victim] > fact->most && waited_for_kernel(session, fact))
			fact->fills = true;
	}
}

static double weight_of(const struct session *session, const struct fact *fact)
{
	double weight =
		(double) fact->most * sqrt((double) fact->most / (double) MAX(fact->life, 1));

	if (is_service(session, fact->victim))
		weight *= SERVICE_WEIGHT;
	if (fact->fills)
		weight *= FILLER_WEIGHT;
	if (fact->gives_way)
		weight *= GIVES_WAY_WEIGHT;
	if (fact->kind == STAND_NETWORK && !fact->object)
		weight *= SENDER_WEIGHT;
	if (fact->even)
		weight *= EVEN_WEIGHT;
	return is_for_children(fact) ? PARENT_WEIGHT * weight : weight;
}

static int heaviest_fact(gconstpointer a, gconstpointer b, gpointer session)
{
	const struct fact *x = *(struct fact *const *) a, *y = *(struct fact *const *) b;
	double of_x = weight_of(session, x), of_y = weight_of(session, y);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	if (x->victim != y->victim)
		return x->victim < y->victim ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(session_text(session, x->object), session_text(session, y->object));
}

static bool has_victim(const struct stand *item, uint32_t thread)
{
	for (guint i = 0; i < item->victims->len; i++)
		if (g_array_index(item->victims, uint32_t, i) == thread)
			return true;
	return false;
}

/* One that stands for all its threads: what the item is told of. */
static void add_like(const struct session *session, struct stand *item, const struct fact *fact)
{
	fact_add(item->fact, fact);
	if (has_victim(item, fact->victim))
		return;
	item->fact->numbered |= strcmp(session_thread_name(session, item->fact->victim),
				       session_thread_name(session, fact->victim)) != 0;
	g_array_append_val(item->victims, fact->victim);
	item->fact->threads++;
}

/* What one thread did while two waited for it: for whom it did that shows who went on first.
 *
 *   server  ├──── works for A ────┤ answers A ├── works for B ──┤ answers B
 *   A       ─asks─┤ waits ········├
 *   B       ───asks─┤ waits ··································· ├   behind A up to there
 */
struct precedence {
	int64_t first, last; /* ns while both waited and `other` went on first, last */
};

/* A wait of it was through a wait of that thread. */
static bool waited_through(const struct fact *fact, uint32_t thread)
{
	for (guint i = 0; i < fact->chains->len; i++) {
		const GArray *links = g_array_index(fact->chains, struct chain, i).links;

		for (guint k = 1; k < links->len; k++)
			if (g_array_index(links, struct link, k).thread == thread)
				return true;
	}
	return false;
}

static struct precedence precedence_of(const struct session *session, const struct fact *told,
				       const struct fact *other)
{
	struct precedence both = {0};
	guint k = 0;

	for (guint i = 0; i < told->parts->len; i++) {
		const struct lost_part *part = &g_array_index(told->parts, struct lost_part, i);

		if (part->victim != told->victim || part->thread == part->victim ||
		    part->did != DID_WORK)
			continue;
		/* one victim's parts are in order, as its path is */
		while (k < other->parts->len &&
		       g_array_index(other->parts, struct lost_part, k).end <= part->begin)
			k++;
		for (guint n = k; n < other->parts->len; n++) {
			const struct lost_part *at =
				&g_array_index(other->parts, struct lost_part, n);

			if (at->begin >= part->end)
				break;
			if (at->thread != part->thread || at->did != DID_WORK)
				continue;
			*(wait_until(session, at->victim, at->begin) <
					  wait_until(session, part->victim, part->begin)
				  ? &both.first
				  : &both.last) +=
				MIN(at->end, part->end) - MAX(at->begin, part->begin);
		}
	}
	return both;
}

static void add_other(const struct session *session, struct stand *item, const struct fact *fact)
{
	const struct chain *chain =
		fact->chains->len ? &g_array_index(fact->chains, struct chain, 0) : NULL;
	struct late late = {.thread = fact->victim, .through = NO_THREAD, .ns = fact->most};
	struct precedence both = {0};

	if ((double) fact->most < OTHER_MIN * (double) item->fact->most ||
	    (is_service(session, fact->victim) && !is_service(session, item->fact->victim)))
		return; /* a snapshot may have nothing but services */
	if (fact->kind == STAND_CPU && fact->gives_way)
		return;
	for (guint i = 0; i < item->all_late->len; i++)
		if (g_array_index(item->all_late, struct late, i).thread == fact->victim)
			return;
	if (fact->kind == STAND_PROCESS && !is_for_children(fact) && chain &&
	    chain->links->len == 1 && !waited_through(item->fact, fact->victim))
		both = precedence_of(session, item->fact, fact);
	if ((double) both.first >= FIRST_MIN * (double) item->fact->most &&
	    3 * both.last <= both.first && !item->first.ns) {
		item->first = late;
		item->first.ns = both.first;
		g_array_append_val(item->all_late, late);
		return;
	}
	late.after = (double) both.last >= FIRST_MIN * (double) fact->most &&
		     3 * both.first <= both.last;
	item->others++;
	g_array_append_val(item->all_late, late);
	if (chain && chain->links->len > 1)
		late.through = g_array_index(chain->links, struct link, 1).thread;
	for (guint i = 0; i < LATE_TOLD; i++) {
		struct late next = item->late[i];

		if (late.ns <= next.ns)
			continue;
		item->late[i] = late;
		late = next;
	}
}

/* The facts come heaviest first: so the first of a root is of whom it is told. */
static void add_fact(GArray *items, const struct session *session, const struct losses *losses,
		     guint i)
{
	GPtrArray *facts = losses->facts;
	struct fact *fact = g_ptr_array_index(facts, i);
	struct stand fresh;

	for (guint k = 0; k < items->len; k++) {
		struct stand *item = &g_array_index(items, struct stand, k);

		if (!facts_have_one_root(item->fact, fact))
			continue;
		if (are_alike(session, losses, item->fact, fact))
			add_like(session, item, fact);
		else
			add_other(session, item, fact);
		return;
	}
	fresh = stand_of(fact, weight_of(session, fact));
	g_array_append_val(items, fresh);
	facts->pdata[i] = NULL;
}

static int heaviest_item(gconstpointer a, gconstpointer b, gpointer session)
{
	const struct stand *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return heaviest_fact(&x->fact, &y->fact, session);
}

static void item_clear(gpointer data)
{
	struct stand *item = data;

	if (!item->fact) /* another list has it now */
		return;
	fact_free(item->fact);
	g_array_free(item->victims, TRUE);
	g_array_free(item->all_late, TRUE);
	g_free(item->sentence);
}

static GArray *items_new(void)
{
	GArray *items = g_array_new(FALSE, FALSE, sizeof(struct stand));

	g_array_set_clear_func(items, item_clear);
	return items;
}

/* Who was to end and did not, as it was kept from it: that is the story. */
static bool is_subjects_story(const struct session *session, const struct losses *losses,
			      const struct fact *fact)
{
	const struct reason *reason =
		fact->told.block ? block_reason(session, fact->told.block) : NULL;

	return fact->kind == STAND_TIMEOUT && reason && reason->kind == REASON_UNENDED &&
	       is_thread(fact->subject) && 2 * losses->lost[fact->subject] > fact->ns;
}

/* What the tracer did is not the traced programs' trouble. */
static bool is_tracers(const struct losses *losses, const struct fact *fact)
{
	int64_t tracers = 0, all = 0;

	if (is_thread(fact->subject))
		return losses->tracers[fact->subject];
	for (guint i = 0; i < fact->deeds->len && fact->kind == STAND_CPU; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);

		if (deed->did != DID_RUN)
			continue;
		all += deed->times.ns;
		tracers += losses->tracers[deed->thread] ? deed->times.ns : 0;
	}
	return 2 * tracers > all;
}

#define HELD_OPEN_MIN 0.7 /* of the victim's life */
#define HELD_OPEN_TIMES 3
#define HELD_OPEN_WEIGHT 0.3

/* Nearly all its life, again and again, for who was in an event loop until a time of his own: so
 * is who keeps a request open until there is news. Or whose answers are put off, by a loop's timer:
 * that looks the same. */
static bool is_held_open(const struct session *session, const struct fact *fact)
{
	int64_t slept = 0, in_loops = 0;

	if (fact->kind != STAND_TIMER || fact->count < HELD_OPEN_TIMES ||
	    (double) fact->most < HELD_OPEN_MIN * (double) fact->life)
		return false;
	for (guint i = 0; i < fact->deeds->len; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);

		if (deed->did != DID_SLEEP)
			continue;
		slept += deed->times.ns;
		if (deed->call &&
		    wait_is_for_whichever(session, PACK(LEAF_BLOCK_SYSCALL, deed->call)))
			in_loops += deed->times.ns;
	}
	return slept && in_loops == slept;
}

/* What a root is called depends on all that was put down to it. */
static void settle_kind(const struct session *session, struct fact *fact)
{
	const struct model *model = &session->trace.model;

	if (fact->kind == STAND_PROCESS && is_thread(fact->subject) &&
	    model_thread(model, fact->subject)->host != model_thread(model, fact->victim)->host) {
		fact->kind = STAND_HOST;
		return;
	}
	if (fact->kind == STAND_PROCESS && 2 * fact_did(fact, DID_SLEEP) > fact->ns)
		fact->kind = STAND_TIMER;
	else if (fact->kind == STAND_PROCESS && is_for_children(fact))
		fact->kind = STAND_CHILD;
	else if (fact->kind == STAND_DEVICE && 2 * fact->faults > fact->ns)
		fact->kind = STAND_FAULT;
}

/* What the same parent waited for, child after child, is one thing. */
static void join_children(GArray *items)
{
	for (guint i = 0; i < items->len; i++) {
		struct fact *fact = g_array_index(items, struct stand, i).fact;

		if (!is_for_children(fact))
			continue;
		fact->children = 1;
		for (guint k = items->len; --k > i;) {
			struct fact *at = g_array_index(items, struct stand, k).fact;

			if (at->victim != fact->victim || !is_for_children(at))
				continue;
			fact_add(fact, at);
			fact->most += at->most;
			fact->children++;
			if (at->longest > fact->longest) {
				fact->longest = at->longest;
				fact->begin = at->begin;
				fact->end = at->end;
			}
			g_array_remove_index(items, k);
		}
		fact_sort(fact);
	}
}

static int first_born(gconstpointer a, gconstpointer b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* How long two or more of a parent's children lived at once; their number. */
static int64_t side_by_side(const struct session *session, uint32_t parent, guint *count)
{
	const struct model *model = &session->trace.model;
	g_autoptr(GArray) lives = g_array_new(FALSE, FALSE, sizeof(struct span));
	int64_t both = 0, until = INT64_MIN;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *at = model_thread(model, i);
		struct span life = {.begin = at->begin, .end = at->end};

		if (at->born && at->parent == parent)
			g_array_append_val(lives, life);
	}
	g_array_sort(lives, first_born);
	for (guint i = 0; i < lives->len; i++) {
		const struct span *life = &g_array_index(lives, struct span, i);

		both += i ? MAX(MIN(life->end, until) - life->begin, 0) : 0;
		until = MAX(until, life->end);
	}
	*count = lives->len;
	return both;
}

/* Stages of a pipeline that a shell ran and that were soon over: they worked, one for the next. */
static bool is_short_pipeline(const struct session *session, const struct fact *fact)
{
	const struct model *model = &session->trace.model;
	const struct thread *reader = model_thread(model, fact->victim), *writer;
	int64_t window = session->asked.to - session->asked.from;

	if (fact->kind != STAND_PROCESS || !is_thread(fact->subject) || !reader->born)
		return false;
	writer = model_thread(model, fact->subject);
	return writer->born && is_thread(reader->parent) && reader->parent == writer->parent &&
	       reader->pid != writer->pid && 2 * fact->piped > fact->ns &&
	       (double) fact->life < PIPELINE_LIFE * (double) window &&
	       (double) (fact_did(fact, DID_WORK) + fact_did(fact, DID_READY)) >=
		       PLAIN_MIN * (double) fact->ns;
}

/* It ran one program after the other, and they worked: that is its own work, done by programs;
 * as a script's, or a compiler's. Which of several at once took the time is news, and so is it
 * that they were many. */
static bool is_plain_work(const struct session *session, const struct stand *item)
{
	const struct fact *fact = item->fact;

	if (!is_for_children(fact) ||
	    (double) (fact_did(fact, DID_WORK) + fact_did(fact, DID_READY)) <
		    PLAIN_MIN * (double) fact->ns)
		return false;
	for (guint i = 0; i < item->victims->len; i++) {
		guint count;
		int64_t both =
			side_by_side(session, g_array_index(item->victims, uint32_t, i), &count);

		if (count >= CHILDREN_MIN || (double) both >= BESIDE_MIN * (double) fact->most)
			return false;
	}
	return true;
}

/* In the longest wait of its victim the owner was kept off the CPU by who is less urgent than the
 * victim; of the tracer nobody wants to know. */
static bool is_inverted(const struct session *session, const bool *tracers, struct fact *fact,
			uint32_t lock)
{
	struct inversion *inversion = &fact->inversion;
	struct block block = {.lock = lock};
	g_autoptr(lock_wait)
		held = lock_wait_new(session, &block, fact->victim, fact->begin, fact->end);

	return held &&
	       lock_wait_inversion(session, held, fact->victim, fact->begin, fact->end,
				   inversion) &&
	       (double) inversion->kept_off >= INVERSION_MIN * (double) (fact->end - fact->begin) &&
	       !(is_thread(inversion->instead) && tracers[inversion->instead]);
}

/* What is worse than to wait for a lock; or a queue that does not dissolve. */
static void settle_locks(const struct session *session, const bool *tracers, GArray *items,
			 const GArray *locks)
{
	for (guint i = 0; i < items->len; i++) {
		struct fact *fact = g_array_index(items, struct stand, i).fact;

		for (guint k = 0; fact->kind == STAND_LOCK && k < locks->len; k++) {
			const struct contention *at = &g_array_index(locks, struct contention, k);

			if (lock_at(&session->trace.flow, at->lock)->resource != fact->object)
				continue;
			if (is_inverted(session, tracers, fact, at->lock))
				fact->kind = STAND_INVERSION;
			else if (at->convoy.handovers >= HANDOVERS_MIN)
				fact->kind = STAND_CONVOY;
		}
	}
}

/* Interrupts that a kernel has on its own account. */
static bool is_tick(const struct session *session, const struct fact *fact)
{
	static const char *const ticks[] = {"vector:local_timer", "vector:hrtimer",
					    "softirq:RCU",        "softirq:TIMER",
					    "softirq:SCHED",      "softirq:HRTIMER"};

	for (size_t i = 0; i < G_N_ELEMENTS(ticks); i++)
		if (strcmp(session_text(session, fact->object), ticks[i]) == 0)
			return true;
	return false;
}

/* Who works has a CPU to share, and somebody to ask; a lock is there not to be waited for, and
 * devices' interrupts are short. */
static double life_share_min(const struct session *session, const struct fact *fact)
{
	switch ((enum stand_kind) fact->kind) {
	case STAND_CPU:
	case STAND_WAKEUP:
		return PLAIN_SHARE_MIN;
	case STAND_PROCESS:
		return fact_is_of_address_space(session, fact) ? SHORT_SHARE_MIN : PLAIN_SHARE_MIN;
	case STAND_CHILD:
		return CHILD_MIN;
	case STAND_INTERRUPT:
	case STAND_LOCK:
	case STAND_CONVOY:
		return SHORT_SHARE_MIN;
	default:
		return LIFE_SHARE_MIN;
	}
}

/* Somebody else is late by it who was not made to give way: by much of what that lost, and of his
 * own life. */
static bool makes_others_late(const struct session *session, const struct stand *item)
{
	for (guint i = 0; i < MIN(item->others, LATE_TOLD); i++) {
		const struct late *late = &item->late[i];
		const struct thread *life;
		int64_t window;

		if (!is_thread(late->thread) || thread_gives_way(session, late->thread))
			continue;
		life = model_thread(&session->trace.model, late->thread);
		window = MIN(life->end, session->asked.to) - MAX(life->begin, session->asked.from);
		if ((double) late->ns >= OTHERS_LATE * (double) item->fact->most &&
		    (double) late->ns >= LIFE_SHARE_MIN * (double) window)
			return true;
	}
	return false;
}

/* Who was made to give way gave way, and nobody waited for that. */
static bool gives_way(const struct session *session, const struct stand *item)
{
	if (item->fact->kind != STAND_CPU || has_chain(item->fact) ||
	    makes_others_late(session, item))
		return false;
	for (guint i = 0; i < item->victims->len; i++)
		if (!thread_gives_way(session, g_array_index(item->victims, uint32_t, i)))
			return false;
	return true;
}

#define NAMED_SHARE 0.5 /* of the time that others ran */

/* It lacked the CPU itself: threads of one name are one. */
static bool is_late_too(const struct session *session, const struct stand *item, uint32_t thread)
{
	const char *name = session_thread_name(session, thread);
	bool found = false;

	for (guint i = 0; i < item->victims->len && !found; i++)
		found = strcmp(name, session_thread_name(session, g_array_index(item->victims,
										uint32_t, i))) == 0;
	for (guint i = 0; i < item->all_late->len && !found; i++)
		found = strcmp(name,
			       session_thread_name(
				       session,
				       g_array_index(item->all_late, struct late, i).thread)) == 0;
	return found;
}

/* The tracer left no room, and nobody is to be named for the rest: the recording's own doing. */
static bool is_tracings(const struct session *session, const struct stand *item)
{
	const struct fact *fact = item->fact;

	if (!fact->tracing_beside || 2 * fact->pinned > fact->ns)
		return false;
	for (guint i = 0; i < fact->deeds->len; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);

		if (deed->did == DID_RUN &&
		    (double) deed->times.ns >= NAMED_SHARE * (double) fact_did(fact, DID_RUN) &&
		    !is_late_too(session, item, deed->thread))
			return false;
	}
	return true;
}

/* Too little of the victim's life or of the window, or beside the first; or the recording's. */
static bool stands_out(const struct session *session, const struct stand *item, double first)
{
	const struct fact *fact = item->fact;
	double window = (double) (session->asked.to - session->asked.from);

	if ((is_tick(session, fact) && (double) fact->most < TICKS_MIN * (double) fact->life) ||
	    is_plain_work(session, item) || gives_way(session, item) || is_tracings(session, item))
		return false;
	return fact->kind == STAND_DEADLOCK || fact->kind == STAND_INVERSION || fact->killed ||
	       ((double) fact->most >= life_share_min(session, fact) * (double) fact->life &&
		(double) fact->most >= (fact->diffuse ? DIFFUSE_MIN : WINDOW_SHARE_MIN) * window &&
		item->weight >= FIRST_SHARE_MIN * first);
}

void stands_move(GArray *items, guint place, GArray *to)
{
	struct stand *item = &g_array_index(items, struct stand, place);

	g_array_append_vals(to, item, 1);
	*item = (struct stand) {0};
	g_array_remove_index(items, place);
}

/* What none of the items is, and takes as much as one: those are moved to `tracings`. */
static void move_tracings(const struct session *session, GArray *items, GArray *tracings)
{
	for (guint i = items->len; i-- > 0;) {
		struct stand *item = &g_array_index(items, struct stand, i);
		const struct fact *fact = item->fact;

		if (fact->kind != STAND_CPU || !is_tracings(session, item) ||
		    gives_way(session, item) ||
		    (double) fact->most < life_share_min(session, fact) * (double) fact->life)
			continue;
		stands_move(items, i, tracings);
	}
}

/* Where nothing stands out: the one of them that took most. */
static char *tracings_sentence(const struct session *session, const GArray *tracings,
			       const GArray *locks)
{
	const struct stand *most = NULL;
	g_autofree char *sentence = NULL;

	for (guint i = 0; i < tracings->len; i++) {
		const struct stand *item = &g_array_index(tracings, struct stand, i);

		if (!most || item->fact->ns > most->fact->ns)
			most = item;
	}
	if (!most)
		return NULL;
	sentence = stand_sentence(session, most, locks);
	return g_strconcat(
		"Nothing stands out but what the recording itself may have made longer: ", sentence,
		NULL);
}

static void sort_and_cut(const struct session *session, GArray *items)
{
	double first;

	g_array_sort_with_data(items, heaviest_item, (gpointer) session);
	first = items->len ? g_array_index(items, struct stand, 0).weight : 0;
	for (guint i = items->len; i-- > 0;)
		if (!stands_out(session, &g_array_index(items, struct stand, i), first))
			g_array_remove_index(items, i);
	if (items->len > STANDS_MAX)
		g_array_set_size(items, STANDS_MAX);
}

#define TRACED_MIN 100 /* stops */

/* A tracer stopped it again and again. */
static bool is_traced(const struct fact *fact)
{
	return fact->kind == STAND_STOPPED && fact->told.block && fact->count >= TRACED_MIN &&
	       PACK_KIND(fact->told.leaf) == LEAF_BLOCK_TRACED &&
	       is_thread(fact->told.block->waker);
}

/* What a traced thread works is more by what each stop takes of it: who traces it comes first. */
static void put_tracing_first(GArray *items)
{
	for (guint i = 0; i < items->len; i++) {
		const struct fact *traced = g_array_index(items, struct stand, i).fact;
		guint to = i;

		if (!is_traced(traced))
			continue;
		for (guint k = 0; k < items->len; k++) {
			struct fact *fact = g_array_index(items, struct stand, k).fact;

			if (fact->kind != STAND_PROCESS || !fact->deeds->len ||
			    g_array_index(fact->deeds, struct deed, 0).thread !=
				    traced->told.thread)
				continue;
			fact->traced_by = traced->told.block->waker;
			fact->traced = traced->count;
			to = MIN(to, k);
		}
		if (to < i) {
			struct stand item = g_array_index(items, struct stand, i);

			memmove(&g_array_index(items, struct stand, to + 1),
				&g_array_index(items, struct stand, to),
				(i - to) * sizeof(struct stand));
			g_array_index(items, struct stand, to) = item;
		}
	}
}

/* Who can do something about it wants to know of the programs first. */
static void put_tracers_last(struct fact *fact, const bool *tracers)
{
	GArray *deeds = fact->deeds;
	int64_t all = 0, tracing = 0;
	guint programs = 0;

	for (guint i = 0; i < deeds->len; i++) {
		struct deed deed = g_array_index(deeds, struct deed, i);

		int64_t ran = deed.did == DID_RUN ? deed.times.ns : 0;

		all += ran;
		if (is_thread(deed.thread) && tracers[deed.thread]) {
			fact->tracer = tracing ? fact->tracer : deed.thread;
			tracing += ran;
			continue;
		}
		g_array_remove_index(deeds, i);
		g_array_insert_val(deeds, programs, deed);
		programs++;
	}
	fact->tracing = 5 * tracing >= all ? tracing : 0;
}

#define TRACED_SHARE 0.5 /* of what is lost to it: so long the tracer had that CPU or another, … */
#define TRACED_WEIGHT 0.4
#define TRACED_ALL 0.9 /* … or nearly always */
#define TRACED_ALL_WEIGHT 0.1

/* The tracer had the CPU, or another one on which there would have been room: the recording's own
 * doing, for a part. */
static void weigh_tracing(const struct session *session, const bool *tracers, struct stand *item,
			  GArray **runs)
{
	struct fact *fact = item->fact;
	int64_t beside;

	if ((double) fact->most <
	    WINDOW_SHARE_MIN * (double) (session->asked.to - session->asked.from))
		return;
	if (!runs[fact->host])
		runs[fact->host] = tracer_runs(session, tracers, fact->host);
	beside = fact_beside(fact, runs[fact->host]);
	if ((double) beside < TRACED_SHARE * (double) fact->ns)
		return;
	fact->tracing_beside = beside;
	item->weight *= (double) beside < TRACED_ALL * (double) fact->ns ? TRACED_WEIGHT
									 : TRACED_ALL_WEIGHT;
}

#define FEW 3
#define FEW_SHARE 0.6 /* of the time that others ran */

/* Many had the CPU a little each: nobody is to be named, and a busy machine has that always. */
static bool is_diffuse(const struct fact *fact)
{
	int64_t most[FEW] = {0}, all = 0, few = 0;

	for (guint i = 0; i < fact->deeds->len; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);
		int64_t ns = deed->did == DID_RUN ? deed->times.ns : 0;

		all += ns;
		for (guint k = 0; k < FEW; k++) {
			int64_t less = most[k];

			if (ns <= less)
				continue;
			most[k] = ns;
			ns = less;
		}
	}
	for (guint k = 0; k < FEW; k++)
		few += most[k];
	return (double) few < FEW_SHARE * (double) all;
}

/* Most of its longest wait went to it, and not to what else happened meanwhile. */
static bool is_most_of_longest(const struct fact *fact)
{
	int64_t ns = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (part->victim == fact->victim)
			ns += MAX(MIN(part->end, fact->end) - MAX(part->begin, fact->begin), 0);
	}
	return !fact->parts->len || 2 * ns >= fact->longest;
}

/* Rare, and long: in a snapshot that was taken as something was late, what it was taken for. */
static const struct fact *find_longest(const struct session *session, const GArray *locks,
				       struct stands *stands)
{
	const struct stand *longest = NULL;

	for (guint i = 0; i < stands->items->len; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);

		if (item->fact->longest >= LONGEST_MIN &&
		    (double) item->fact->longest >= LONGEST_SHARE * (double) item->fact->most &&
		    !is_for_children(item->fact) && is_most_of_longest(item->fact) &&
		    (!longest || item->fact->longest > longest->fact->longest))
			longest = item;
	}
	if (!longest)
		return NULL;
	stands->longest.sentence = stand_sentence(session, longest, locks);
	stands->longest.thread = longest->fact->victim;
	stands->longest.begin = longest->fact->begin;
	stands->longest.end = longest->fact->end;
	return longest->fact;
}

#define BESIDES 0.5 /* of what the first item took: so long a wait is told beside the items */

/* It is an item itself, or short beside the first. */
static bool is_told_or_short(const struct fact *longest, int64_t length, const GArray *items)
{
	for (guint i = 0; i < items->len; i++)
		if (g_array_index(items, struct stand, i).fact == longest)
			return true;
	return items->len &&
	       (double) length <
		       BESIDES * (double) g_array_index(items, struct stand, 0).fact->most;
}

struct stands *stands_new(const struct session *session, const struct waiting *waiting)
{
	struct stands *stands = g_new0(struct stands, 1);
	const struct fact *longest;
	struct losses losses;
	g_autofree GArray **runs = g_new0(GArray *, session->trace.model.hosts->len);
	g_autoptr(GArray)
		locks = contention_new(session, NULL, session->asked.from, session->asked.to);
	g_autoptr(GArray) tracings = items_new();

	stands->items = items_new();
	stands->no_news = items_new();
	losses_init(&losses, session, waiting, stands);
	find_fillers(session, &losses);
	find_own_fillers(session, &losses, waiting);
	for (guint i = 0; i < losses.facts->len; i++) {
		struct fact *fact = g_ptr_array_index(losses.facts, i);

		fact->even = is_even_work(fact);
	}
	g_ptr_array_sort_with_data(losses.facts, heaviest_fact, (gpointer) session);
	for (guint i = 0; i < losses.facts->len; i++) {
		const struct fact *fact = g_ptr_array_index(losses.facts, i);

		if (is_short_pipeline(session, fact))
			losses.lost[fact->victim] -= fact->ns;
		else if (!is_tracers(&losses, fact) && !is_subjects_story(session, &losses, fact))
			add_fact(stands->items, session, &losses, i);
	}
	for (guint i = 0; i < stands->items->len; i++) {
		struct stand *item = &g_array_index(stands->items, struct stand, i);
		struct fact *fact = item->fact;

		fact_sort(fact);
		if (fact->kind == STAND_CPU) {
			runners_of_victims(session, &losses, fact);
			put_tracers_last(fact, losses.tracers);
			fact->diffuse = is_diffuse(fact);
			item->weight *= fact->diffuse ? DIFFUSE_WEIGHT : 1;
			weigh_tracing(session, losses.tracers, item, runs);
		}
		if (fact->holders->len)
			fact->subject = g_array_index(fact->holders, struct deed, 0).thread;
		settle_kind(session, fact);
		fact->held_open = is_held_open(session, fact);
		item->weight *= fact->held_open ? HELD_OPEN_WEIGHT : 1;
	}
	join_children(stands->items);
	settle_locks(session, losses.tracers, stands->items, locks);
	extra_items(session, stands->items);
	killed_items(session, stands->items);
	stuck_opposites(session, stands->items);
	hang_items(session, stands->items);
	move_tracings(session, stands->items, tracings);
	longest = find_longest(session, locks, stands);
	sort_and_cut(session, stands->items);
	put_tracing_first(stands->items);
	for (guint i = 0; i < stands->items->len; i++) {
		struct stand *item = &g_array_index(stands->items, struct stand, i);

		item->sentence = stand_sentence(session, item, locks);
	}
	stands->unexplained =
		stands->items->len || stands->longest.sentence
			? unexplained_sentence(session, &losses, stands->items, tracings)
			: tracings_sentence(session, tracings, locks);
	if (!stands->unexplained && !stands->items->len && !stands->longest.sentence)
		stands->unexplained =
			unexplained_sentence(session, &losses, stands->items, tracings);
	if (stands->unexplained ||
	    is_told_or_short(longest, stands->longest.end - stands->longest.begin, stands->items))
		g_clear_pointer(&stands->longest.sentence, g_free);
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (runs[i])
			g_array_unref(runs[i]);
	losses_clear(&losses);
	return stands;
}

void stands_free(struct stands *stands)
{
	g_array_free(stands->items, TRUE);
	g_array_free(stands->no_news, TRUE);
	g_free(stands->unexplained);
	g_free(stands->longest.sentence);
	g_free(stands);
}
