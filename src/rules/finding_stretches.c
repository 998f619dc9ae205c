/* SPDX-License-Identifier: MIT */
/* See finding_stretches.h. */
#include "rules/finding_stretches.h"

#include <string.h>

#include "findings/findings.h"
#include "imposed/wait_groups.h"
#include "imposed/waiting.h"
#include "stands/stands.h"

/* Stretches off the CPU that are alike. */
struct alike {
	uint32_t thread;   /* whose; NO_THREAD: anybody's */
	uint32_t leaf;     /* 0: any */
	uint32_t resource; /* as session_resource() has it, with a leaf; 0: none there */
	uint32_t on;       /* waits for this key; 0: for any */
	uint32_t lead;     /* waits that are led to this thread; NO_THREAD: to anybody */
	bool ready;        /* ready to run only */
	int64_t begin, end;
};

struct finding_stretches {
	GArray *list;  /* owned; struct alike */
	GArray *parts; /* owned; struct lost_part by thread and begin: these instead; NULL */
};

#define FITS 0.95 /* of what was lost, so much is in the waits that are alike: they are it */
#define MORE 1.05 /* … and so much its victim waited in all of them, at most */
#define PARTS_ASKED 1000 /* of what was lost, so many parts tell that */

static struct alike alike_of(const struct session *session, uint32_t thread)
{
	return (struct alike) {.thread = thread,
			       .lead = NO_THREAD,
			       .begin = session->asked.from,
			       .end = session->asked.to};
}

/* The only one of these findings has that id. */
static bool is_only(const GArray *findings, const char *id)
{
	return findings->len && strcmp(g_array_index(findings, struct finding, 0).id, id) == 0;
}

/* w-…: threads of one name waited in one call for one resource. */
static void add_waits(GArray *list, const struct session *session, const char *id)
{
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) groups = NULL;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		g_array_append_val(threads, i);
	groups = wait_groups_new(session, threads);
	for (guint i = 0; i < groups->len; i++) {
		const struct wait_group *group = &g_array_index(groups, struct wait_group, i);
		struct alike one = alike_of(session, group->thread);
		g_autoptr(GArray) single = g_array_new(FALSE, FALSE, sizeof *group);
		g_autoptr(GArray) findings = findings_new();

		g_array_append_vals(single, group, 1);
		findings_add_waits(findings, session, single, NULL);
		one.leaf = group->leaf;
		one.resource = group->resource;
		if (is_only(findings, id))
			g_array_append_val(list, one);
	}
}

/* i-…: others waited for a thread, or for a resource. */
static void add_imposed(GArray *list, const struct session *session, const char *id)
{
	struct waiting *waiting = waiting_new(session);

	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *imposer =
			&g_array_index(waiting->imposers, struct imposer, i);
		struct alike one = alike_of(session, NO_THREAD);
		g_autoptr(GArray) single = g_array_new(FALSE, FALSE, sizeof *imposer);
		g_autoptr(GArray) findings = findings_new();
		struct waiting of_one = *waiting;

		g_array_append_vals(single, imposer, 1);
		of_one.imposers = single;
		findings_add_imposers(findings, session, &of_one);
		one.lead = imposer->thread;
		one.on = imposer->thread == NO_THREAD ? imposer->resource : 0;
		if (is_only(findings, id) && (one.on || is_thread(one.lead)))
			g_array_append_val(list, one);
	}
	waiting_free(waiting);
}

/* Of what stands out: the waits for its object, else its victims' waits for whom it names, else
 * their time without a CPU. */
static void add_fact(GArray *list, const struct session *session, const struct stand *item)
{
	const struct fact *fact = item->fact;
	struct alike one = alike_of(session, NO_THREAD);

	if (fact->object && fact->kind != STAND_CPU) {
		one.on = fact->object;
		g_array_append_val(list, one);
		return;
	}
	for (guint i = 0; i < item->victims->len; i++) {
		one = alike_of(session, g_array_index(item->victims, uint32_t, i));
		one.ready = fact->kind == STAND_CPU || !is_thread(fact->subject);
		one.lead = one.ready ? NO_THREAD : fact->subject;
		g_array_append_val(list, one);
	}
}

/* p-…, c-…: what its thread waited where it is seen best. */
static void add_best(GArray *list, const struct session *session, const char *id)
{
	struct finding found;
	struct alike one;

	if (!finding_look_up(session, id, &found))
		return;
	one = alike_of(session, found.thread);
	one.begin = found.begin;
	one.end = found.end;
	g_free(found.title);
	if (is_thread(found.thread))
		g_array_append_val(list, one);
}

static bool is_alike(const struct session *session, const struct alike *one, uint32_t thread,
		     const struct span *span)
{
	const struct block *block =
		leaf_is_blocked(span->leaf) ? block_at(&session->trace.timeline, span->ref) : NULL;
	struct wait wait;
	struct lead lead;

	if ((one->thread != NO_THREAD && one->thread != thread) || span->begin >= one->end ||
	    span->end <= one->begin || (one->ready && block))
		return false;
	if (one->leaf && (one->leaf != span->leaf ||
			  one->resource != (block ? session_resource(session, block) : 0)))
		return false;
	if (one->on && !(block && block_waits_for(session, block) == one->on))
		return false;
	if (!is_thread(one->lead))
		return true;
	if (!block)
		return false;
	wait = wait_of(session, thread, span);
	return wait_lead(session, &wait, &lead) && lead.thread == one->lead;
}

static bool any_alike(const GArray *list, const struct session *session, uint32_t thread,
		      const struct span *span)
{
	for (guint i = 0; i < list->len && leaf_is_off_cpu(span->leaf); i++)
		if (is_alike(session, &g_array_index(list, struct alike, i), thread, span))
			return true;
	return false;
}

/* How much of [begin, end) the thread was in waits that are alike. */
static int64_t alike_ns(const GArray *list, const struct session *session, uint32_t thread,
			int64_t begin, int64_t end)
{
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, session, thread, begin, end);
	while (spans_next_off_cpu(&spans, &span))
		if (any_alike(list, session, thread, &span))
			ns += span.end - span.begin;
	return ns;
}

/* What was lost is in waits that are alike, of who lost it or of whom that one waited for; and who
 * lost most waited little more in all of them. */
static bool fits(const GArray *list, const struct session *session, const struct fact *fact)
{
	guint step = 1 + fact->parts->len / PARTS_ASKED;
	int64_t asked = 0, found = 0;

	for (guint i = 0; i < fact->parts->len; i += step) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		int64_t ns = alike_ns(list, session, part->thread, part->begin, part->end);

		if (part->thread != part->victim && ns < part->end - part->begin)
			ns = MAX(ns, alike_ns(list, session, part->victim, part->begin, part->end));
		asked += part->end - part->begin;
		found += ns;
	}
	return (double) found >= FITS * (double) asked &&
	       (double) alike_ns(list, session, fact->victim, session->asked.from,
				 session->asked.to) <= MORE * (double) fact->most;
}

static int by_thread(gconstpointer a, gconstpointer b)
{
	const struct lost_part *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Takes the list. */
static struct finding_stretches *stretches_of(GArray *list)
{
	struct finding_stretches *stretches;

	if (!list->len) {
		g_array_free(list, TRUE);
		return NULL;
	}
	stretches = g_new0(struct finding_stretches, 1);
	stretches->list = list;
	return stretches;
}

struct finding_stretches *
finding_stretches_of(const struct session *session, const struct stand *item)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct alike));
	struct finding_stretches *stretches;

	add_fact(list, session, item);
	stretches = stretches_of(list);
	if (stretches && item->fact->parts->len && !fits(list, session, item->fact)) {
		stretches->parts = g_array_new(FALSE, FALSE, sizeof(struct lost_part));
		g_array_append_vals(stretches->parts, item->fact->parts->data,
				    item->fact->parts->len);
		g_array_sort(stretches->parts, by_thread);
	}
	return stretches;
}

/* s-… */
static struct finding_stretches *of_stand(const struct session *session, const char *id)
{
	struct finding_stretches *found = NULL;
	struct waiting *waiting = waiting_new(session);
	struct stands *stands = stands_new(session, waiting);
	g_autoptr(GArray) findings = findings_new();

	findings_add_stands(findings, session, stands);
	for (guint i = 0; i < stands->items->len && !found; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);

		if (strcmp(item->id, id) == 0)
			found = finding_stretches_of(session, item);
	}
	stands_free(stands);
	waiting_free(waiting);
	return found;
}

struct finding_stretches *finding_stretches_new(const struct session *session, const char *id)
{
	GArray *list;

	if (*id == 's')
		return of_stand(session, id);
	list = g_array_new(FALSE, FALSE, sizeof(struct alike));
	switch (*id) {
	case 'w':
		add_waits(list, session, id);
		break;
	case 'i':
		add_imposed(list, session, id);
		break;
	default:
		add_best(list, session, id);
		break;
	}
	return stretches_of(list);
}

void finding_stretches_free(struct finding_stretches *stretches)
{
	if (stretches) {
		g_array_free(stretches->list, TRUE);
		if (stretches->parts)
			g_array_free(stretches->parts, TRUE);
	}
	g_free(stretches);
}

static const struct lost_part *part_at(const GArray *parts, guint i)
{
	return &g_array_index(parts, struct lost_part, i);
}

/* Half of the span at least. */
static bool has_part(const GArray *parts, uint32_t thread, const struct span *span)
{
	struct lost_part sought = {.thread = thread, .begin = span->begin};
	guint low = 0, high = parts->len;
	int64_t ns = 0;

	while (low < high) { /* the first that begins behind its begin */
		guint middle = low + (high - low) / 2;

		if (by_thread(part_at(parts, middle), &sought) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (guint i = low ? low - 1 : 0; i < parts->len; i++) {
		const struct lost_part *part = part_at(parts, i);

		if (part->thread > thread || (part->thread == thread && part->begin >= span->end))
			break;
		if (part->thread == thread)
			ns += MAX(MIN(part->end, span->end) - MAX(part->begin, span->begin), 0);
	}
	return 2 * ns >= span->end - span->begin;
}

bool finding_has(const struct finding_stretches *stretches, const struct session *session,
		 uint32_t thread, const struct span *span)
{
	return stretches->parts ? has_part(stretches->parts, thread, span)
				: any_alike(stretches->list, session, thread, span);
}

bool finding_is_pieces(const struct finding_stretches *stretches)
{
	return stretches->parts;
}

bool finding_is_others(const struct finding_stretches *stretches)
{
	for (guint i = 0; stretches->parts && i < stretches->parts->len; i++)
		if (part_at(stretches->parts, i)->thread != part_at(stretches->parts, i)->victim)
			return true;
	return false;
}

static void thread_gone(const struct finding_stretches *stretches, const struct session *session,
			uint32_t thread, struct gone *gone, guint thing)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span))
		if (any_alike(stretches->list, session, thread, &span))
			gone_add(gone, thread,
				 (struct gone_part) {span.begin, span.end, UINT64_C(1) << thing});
}

void finding_gone(const struct finding_stretches *stretches, const struct session *session,
		  struct gone *gone, guint thing)
{
	bool anybodys = false;

	for (guint i = 0; stretches->parts && i < stretches->parts->len; i++) {
		const struct lost_part *part = part_at(stretches->parts, i);

		gone_add(gone, part->thread,
			 (struct gone_part) {part->begin, part->end, UINT64_C(1) << thing});
	}
	if (stretches->parts)
		return;
	for (guint i = 0; i < stretches->list->len; i++)
		anybodys |= g_array_index(stretches->list, struct alike, i).thread == NO_THREAD;
	for (uint32_t i = 0; anybodys && i < session->trace.model.thread_count; i++)
		thread_gone(stretches, session, i, gone, thing);
	for (guint i = 0; !anybodys && i < stretches->list->len; i++)
		thread_gone(stretches, session,
			    g_array_index(stretches->list, struct alike, i).thread, gone, thing);
}
