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
	GArray *list; /* struct alike */
};

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

/* s-… */
static void add_stands(GArray *list, const struct session *session, const char *id)
{
	struct waiting *waiting = waiting_new(session);
	struct stands *stands = stands_new(session, waiting);
	g_autoptr(GArray) findings = findings_new();

	findings_add_stands(findings, session, stands);
	for (guint i = 0; i < stands->items->len; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);

		if (strcmp(item->id, id) == 0)
			add_fact(list, session, item);
	}
	stands_free(stands);
	waiting_free(waiting);
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

struct finding_stretches *finding_stretches_new(const struct session *session, const char *id)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct alike));

	switch (*id) {
	case 'w':
		add_waits(list, session, id);
		break;
	case 'i':
		add_imposed(list, session, id);
		break;
	case 's':
		add_stands(list, session, id);
		break;
	default:
		add_best(list, session, id);
		break;
	}
	return stretches_of(list);
}

struct finding_stretches *
finding_stretches_of(const struct session *session, const struct stand *item)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct alike));

	add_fact(list, session, item);
	return stretches_of(list);
}

void finding_stretches_free(struct finding_stretches *stretches)
{
	if (stretches)
		g_array_free(stretches->list, TRUE);
	g_free(stretches);
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

bool finding_has(const struct finding_stretches *stretches, const struct session *session,
		 uint32_t thread, const struct span *span)
{
	for (guint i = 0; i < stretches->list->len && leaf_is_off_cpu(span->leaf); i++)
		if (is_alike(session, &g_array_index(stretches->list, struct alike, i), thread,
			     span))
			return true;
	return false;
}
