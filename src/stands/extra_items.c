/* SPDX-License-Identifier: MIT */
/* See extra_items.h. */
#include "stands/extra_items.h"

#include <math.h>
#include <string.h>

#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "objects/calls.h"
#include "path/spins.h"
#include "run/choosing.h"
#include "util/intern.h"

struct stand stand_of(struct fact *fact, double weight)
{
	struct stand item = {.fact = fact,
			     .saved = INT64_MIN,
			     .saved_from = INT64_MIN,
			     .saved_to = INT64_MIN,
			     .weight = weight,
			     .victims = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
			     .all_late = g_array_new(FALSE, FALSE, sizeof(struct late)),
			     .late = {{.thread = NO_THREAD}, {.thread = NO_THREAD}}};

	g_array_append_val(item.victims, fact->victim);
	return item;
}

static void add_deadlocks(const struct session *session, GArray *items)
{
	const GPtrArray *deadlocks = deadlocks_of(session);

	for (guint i = 0; i < deadlocks->len; i++) {
		const struct deadlock *deadlock = g_ptr_array_index(deadlocks, i);
		const struct stuck *first = &g_array_index(deadlock->members, struct stuck, 0);
		const struct thread *thread = model_thread(&session->trace.model, first->thread);
		int64_t from = MAX(session->asked.from, thread->begin);
		struct fact one = {.kind = STAND_DEADLOCK,
				   .inferred = !deadlock->proved,
				   .host = thread->host,
				   .victim = first->thread,
				   .subject = first->owner,
				   .object = lock_at(&session->trace.flow, first->lock)->resource,
				   .threads = deadlock->members->len,
				   .life = session->asked.to - from,
				   .begin = MAX(first->since, from),
				   .end = session->asked.to,
				   .count = 1};
		struct stand item;

		if (one.begin >= one.end)
			continue;
		one.ns = one.most = one.longest = one.end - one.begin;
		item = stand_of(fact_new(&one),
				2 * (double) (session->asked.to - session->asked.from));
		g_array_append_val(items, item);
	}
}

/* Takes the fact. */
static struct stand item_of(struct fact *fact)
{
	return stand_of(fact,
			(double) fact->ns * sqrt((double) fact->ns / (double) MAX(fact->life, 1)));
}

static bool is_wanted(const struct session *session, uint32_t thread)
{
	const struct model *model = &session->trace.model;

	return session_wants_host(session, model_host(model, model_thread(model, thread)->host));
}

/* What a thread lost by itself. */
static struct fact *fact_of_own(const struct session *session, enum stand_kind kind,
				uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	return fact_new(&(struct fact) {
		.kind = kind,
		.host = life->host,
		.victim = thread,
		.subject = NO_THREAD,
		.name = NO_THREAD,
		.threads = 1,
		.leaders = life->pid == life->tid,
		.shortest = INT64_MAX,
		.life = MIN(life->end, session->asked.to) - MAX(life->begin, session->asked.from)});
}

/* How long of the window some of the host's events were lost; counts the gaps. */
static int64_t lost_ns(const struct session *session, const struct host *host, struct fact *fact)
{
	int64_t until = session->asked.from, ns = 0;

	for (guint i = 0; i < host->gaps->len; i++) {
		const struct gap *gap = &g_array_index(host->gaps, struct gap, i);
		int64_t begin = MAX(gap->begin, until), end = MIN(gap->end, session->asked.to);

		if (gap->begin >= session->asked.to || gap->end <= session->asked.from)
			continue;
		fact->count++;
		if (begin >= end)
			continue; /* another CPU's, at the same time */
		ns += end - begin;
		until = end;
		if (end - begin > fact->longest) {
			fact->longest = end - begin;
			fact->begin = begin;
			fact->end = end;
		}
	}
	return ns;
}

/* Lost events that hide a good part of the window. */
static void add_lost(const struct session *session, GArray *items)
{
	struct fact one = {.kind = STAND_LOST,
			   .victim = NO_THREAD,
			   .subject = NO_THREAD,
			   .threads = 1,
			   .life = session->asked.to - session->asked.from};
	struct stand item;

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		int64_t ns = lost_ns(session, host, &one);

		one.ns = MAX(one.ns, ns);
		one.lost += host->discarded_events;
	}
	if (!one.ns)
		return;
	one.most = one.ns;
	item = item_of(fact_new(&one));
	g_array_set_size(item.victims, 0);
	g_array_append_val(items, item);
}

static bool is_of(const struct fact *fact, const struct spin *spin)
{
	return fact->victim == spin->thread && fact->spin->call == spin->call &&
	       fact->spin->object == spin->object && fact->spin->result == spin->result;
}

static struct fact *fact_of_spin(const struct session *session, GPtrArray *facts,
				 const struct spin *spin)
{
	struct fact *fact;

	for (guint i = facts->len; i-- > 0;)
		if (is_of(facts->pdata[i], spin))
			return facts->pdata[i];
	fact = fact_of_own(session, STAND_FAILURE, spin->thread);
	fact->subject = spin->maker;
	fact->object = spin->object;
	fact->spin = spin;
	g_ptr_array_add(facts, fact);
	return fact;
}

static void add_spin(const struct session *session, GPtrArray *facts, const struct spin *spin)
{
	int64_t begin = MAX(spin->begin, session->asked.from);
	int64_t end = MIN(spin->end, session->asked.to), ns = end - begin;
	struct fact *fact;

	if (ns <= 0 || !is_thread(spin->thread))
		return;
	fact = fact_of_spin(session, facts, spin);
	fact->count++;
	fact->tries += spin->count;
	fact->ns += ns;
	fact->most = fact->ns;
	fact->shortest = MIN(fact->shortest, ns);
	if (ns <= fact->longest)
		return;
	fact->longest = ns;
	fact->begin = begin;
	fact->end = end;
	fact->spin = spin;
	fact->subject = spin->maker;
}

/* Who asks without a pause waits, though no state says so. */
static int most_lost(gconstpointer a, gconstpointer b)
{
	const struct fact *x = *(struct fact *const *) a, *y = *(struct fact *const *) b;

	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return x->victim < y->victim ? -1 : x->victim > y->victim;
}

/* As what threads of one name do. Takes the fact; items from `first` on are of such. */
static void add_spinner(const struct session *session, GArray *items, guint first,
			struct fact *fact)
{
	struct stand item;

	for (guint i = first; i < items->len; i++) {
		const struct stand *at = &g_array_index(items, struct stand, i);
		struct fact *of = at->fact;

		if (of->host != fact->host || of->spin->call != fact->spin->call ||
		    of->object != fact->object || of->spin->result != fact->spin->result ||
		    strcmp(session_thread_name(session, of->victim),
			   session_thread_name(session, fact->victim)) != 0)
			continue;
		fact_add(of, fact);
		of->threads++;
		g_array_append_val(at->victims, fact->victim);
		fact_free(fact);
		return;
	}
	item = item_of(fact);
	g_array_append_val(items, item);
}

static void add_spins(const struct session *session, GArray *items)
{
	g_autoptr(GPtrArray) facts = g_ptr_array_new();
	guint before = items->len;

	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const struct host *host = model_host(&session->trace.model, h);

		for (guint i = 0; session_wants_host(session, host) && i < host->spins->len; i++)
			add_spin(session, facts, &g_array_index(host->spins, struct spin, i));
	}
	g_ptr_array_sort(facts, most_lost);
	for (guint i = 0; i < facts->len; i++)
		add_spinner(session, items, before, facts->pdata[i]);
}

static struct fact *fact_of_yields(const struct session *session, uint32_t thread, uint32_t call)
{
	struct spinning spinning = spinning_of(session, thread, PACK(LEAF_WORK_SYSCALL, call));
	struct fact *fact;

	if (!spinning.times)
		return NULL;
	fact = fact_of_own(session, STAND_FAILURE, thread);
	fact->inferred = true;
	fact->subject = spinning.most;
	fact->spinning = spinning;
	fact->ns = fact->most = spinning.ns;
	fact->count = spinning.times;
	fact->tries = spinning.calls;
	fact->longest = spinning.longest;
	fact->shortest = spinning.shortest;
	fact->begin = spinning.begin;
	fact->end = spinning.end;
	return fact;
}

/* Threads of one process with one name, but for a number, spin for the same. Takes the fact; items
 * from `first` on are of such. */
static void add_yielder(const struct session *session, GArray *items, guint first,
			struct fact *fact)
{
	const uint32_t *process = session->trace.processes.first;
	struct stand item;

	for (guint i = first; i < items->len; i++) {
		const struct stand *at = &g_array_index(items, struct stand, i);

		if (process[at->fact->victim] != process[fact->victim] ||
		    !session_names_alike(session, at->fact->victim, fact->victim))
			continue;
		fact_add(at->fact, fact);
		at->fact->longest = MAX(at->fact->longest, fact->longest);
		at->fact->threads++;
		g_array_append_val(at->victims, fact->victim);
		fact_free(fact);
		return;
	}
	item = item_of(fact);
	g_array_append_val(items, item);
}

/* Who yields without a pause waits, too. */
static void add_yields(const struct session *session, GArray *items)
{
	uint32_t call = intern_known(session->trace.model.names, "sched_yield");
	g_autofree bool *tracers = session_tracers(session);
	g_autoptr(GPtrArray) facts = g_ptr_array_new();
	guint before = items->len;

	for (uint32_t i = 0; call && i < session->trace.model.thread_count; i++) {
		struct fact *fact = tracers[i] || !is_wanted(session, i)
					    ? NULL
					    : fact_of_yields(session, i, call);

		if (fact)
			g_ptr_array_add(facts, fact);
	}
	g_ptr_array_sort(facts, most_lost);
	for (guint i = 0; i < facts->len; i++)
		add_yielder(session, items, before, facts->pdata[i]);
}

#define LATE_MIN 1000000 /* ns: what slack allows at least, to be asked about; 50 µs are usual */

/* How much longer it slept than it had asked for, as far as its timer's slack allowed that, or as
 * somebody set its clock; 0: it did not. */
static int64_t overslept(const struct session *session, uint32_t thread, const struct span *span)
{
	const struct wake_detail *detail;
	const struct block *block;
	int64_t late;

	if (PACK_KIND(span->leaf) != LEAF_BLOCK_SYSCALL)
		return 0;
	block = block_at(&session->trace.timeline, span->ref);
	detail = block_detail(session, block);
	if (!detail || detail->kind != DETAIL_TIMER ||
	    (detail->slack < LATE_MIN && !is_thread(detail->behalf)) || block->timer < 0 ||
	    block->reason || session_spans_gap(session, thread, span) ||
	    flow_call_info(&session->trace.flow, PACK_NUMBER(span->leaf))->wait != WAIT_SLEEP)
		return 0;
	late = span->end - span->begin - block->timer;
	return is_thread(detail->behalf) ? MAX(late, 0) : CLAMP(late, 0, detail->slack);
}

static void add_overslept(struct fact *fact, const struct session *session, const struct span *span,
			  int64_t late)
{
	const struct block *block = block_at(&session->trace.timeline, span->ref);
	struct lost_part part = {fact->victim, fact->victim, span->end - late, span->end};

	g_array_append_val(fact->parts, part);
	fact->count++;
	fact->ns += late;
	fact->most = fact->ns;
	fact->shortest = MIN(fact->shortest, late);
	if (late <= fact->longest)
		return;
	fact->longest = late;
	fact->begin = span->begin;
	fact->end = span->end;
	fact->asked = block->timer;
	fact->slack = block_detail(session, block)->slack;
	fact->clock_set_by = block_detail(session, block)->behalf;
}

/* One's own sleeps delay nobody, but for what they last beyond what was asked for. */
static void add_sleeps(const struct session *session, GArray *items)
{
	g_autofree bool *tracers = session_tracers(session);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		struct fact *fact = NULL;
		struct spans spans;
		struct span span;
		struct stand item;

		if (tracers[i] || !is_wanted(session, i))
			continue;
		spans_begin(&spans, session, i, session->asked.from, session->asked.to);
		while (spans_next_off_cpu(&spans, &span)) {
			int64_t late = overslept(session, i, &span);

			if (late && !fact)
				fact = fact_of_own(session, STAND_WAKEUP, i);
			if (late)
				add_overslept(fact, session, &span, late);
		}
		if (!fact)
			continue;
		item = item_of(fact);
		g_array_append_val(items, item);
	}
}

void extra_items(const struct session *session, GArray *items)
{
	add_deadlocks(session, items);
	add_lost(session, items);
	add_spins(session, items);
	add_yields(session, items);
	add_sleeps(session, items);
}
