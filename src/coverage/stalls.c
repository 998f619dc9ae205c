/* SPDX-License-Identifier: MIT */
/* See stalls.h. */
#include "coverage/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "parts/make_parts.h"
#include "ready/offline.h"
#include "util/when.h"

#define TICK_MIN INT64_C(900000) /* ns: 1000 a second, the fastest there is */
#define TICK_MAX INT64_C(11000000) /* … the slowest: 100 */
#define TICKS_MIN 20 /* seen one after the other, or the period is not known */
#define MISSED(tick) ((tick) * 5 / 2)
#define RUNS_MAX 200000 /* of a CPU that are looked at */
#define TOLD_OF 20 /* of the busy time: one part of so many is worth a word */
#define TOLD_MIN INT64_C(100000000) /* ns */

struct looking {
	const struct session *session;
	uint16_t number; /* of the host */
	const GArray *offline; /* struct offline */
	uint32_t tick; /* PACK of the leaf */
	GArray *ticks; /* int64_t: from one to the next */
	int64_t period; /* 0: being found out */
	struct stalls *stalls;
};

static void look_at(struct looking *looking, int64_t from, int64_t to)
{
	struct stalls *stalls = looking->stalls;

	if (to - from <= MISSED(looking->period))
		return;
	stalls->ns += to - from - looking->period;
	stalls->count++;
	if (to - from > stalls->longest) {
		stalls->longest = to - from;
		stalls->begin = from;
	}
}

/* What the thread did in one run, from one change of its state to the next. */
static void look_at_run(struct looking *looking, uint32_t thread, int64_t begin, int64_t end)
{
	int64_t at = begin, tick = INT64_MIN;
	struct spans spans;
	struct span span;

	spans_begin(&spans, looking->session, thread, begin, end);
	while (spans_next(&spans, &span)) {
		if (looking->period && span.begin > at)
			look_at(looking, at, span.begin);
		at = MAX(at, span.begin);
		if (span.leaf != looking->tick)
			continue;
		if (!looking->period && tick != INT64_MIN) {
			int64_t distance = span.begin - tick;

			g_array_append_val(looking->ticks, distance);
		}
		tick = span.begin;
	}
	if (looking->period) {
		look_at(looking, at, end);
		looking->stalls->busy += end - begin;
	}
}

static void look_at_cpu(struct looking *looking, const struct host *host, const struct cpu *cpu)
{
	const struct timeline *timeline = &looking->session->trace.timeline;
	int64_t shortest = MISSED(looking->period ? looking->period : TICK_MIN);

	for (uint32_t i = 0; i < cpu->runs.used && i < RUNS_MAX; i++) {
		const struct run *run = run_at(timeline, &cpu->runs, i);
		int64_t begin = run->begin, end = host->end;
		uint32_t thread = run->thread;

		if (i + 1 < cpu->runs.used)
			end = run_at(timeline, &cpu->runs, i + 1)->begin;
		if (is_thread(thread) && end - begin > shortest && !host_unseen(host, begin, end) &&
		    !was_offline(looking->offline, looking->number, cpu->id, begin, end))
			look_at_run(looking, thread, begin, end);
	}
}

static int by_length(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median of what lies between two, if that may be a period; else 0. */
static int64_t period_of(GArray *ticks)
{
	int64_t median;

	if (ticks->len < TICKS_MIN)
		return 0;
	qsort(ticks->data, ticks->len, sizeof(int64_t), by_length);
	median = g_array_index(ticks, int64_t, ticks->len / 2);
	return median >= TICK_MIN && median <= TICK_MAX ? median : 0;
}

struct looking_at_host {
	const struct host *host;
	uint16_t number;
	const GArray *offline;
	uint32_t tick;
	struct stalls *of; /* each CPU */
};

static void look_at_part(const struct session *session, guint part, void *data)
{
	struct looking_at_host *all = data;
	const struct cpu *cpu = g_ptr_array_index(all->host->cpus, part);
	struct looking looking = {.session = session,
				  .number = all->number,
				  .offline = all->offline,
				  .tick = all->tick,
				  .ticks = g_array_new(FALSE, FALSE, sizeof(int64_t)),
				  .stalls = &all->of[part]};

	look_at_cpu(&looking, all->host, cpu);
	looking.period = period_of(looking.ticks);
	if (looking.period)
		look_at_cpu(&looking, all->host, cpu);
	looking.stalls->missed = MISSED(looking.period);
	g_array_free(looking.ticks, TRUE);
}

struct stalls stalls_of(const struct session *session, guint number)
{
	const struct host *host = model_host(&session->trace.model, number);
	struct looking_at_host all = {
		.host = host,
		.number = (uint16_t) number,
		.offline = offline_times(session),
		.tick = PACK(LEAF_INT_VECTOR, intern_id(session->trace.model.names, "local_timer")),
		.of = g_new0(struct stalls, host->cpus->len)};
	struct stalls stalls = {0};

	parts_make(session, host->cpus->len, look_at_part, &all);
	for (guint i = 0; i < host->cpus->len; i++) {
		const struct stalls *at = &all.of[i];

		stalls.ns += at->ns;
		stalls.busy += at->busy;
		stalls.missed = MAX(stalls.missed, at->missed);
		stalls.count += at->count;
		if (at->longest > stalls.longest) {
			stalls.longest = at->longest;
			stalls.begin = at->begin;
		}
	}
	g_free(all.of);
	return stalls;
}

/* Those that are worth a word; else none. A guest whose host's trace is there needs no guess. */
static struct stalls stalls_told(const struct session *session, guint index)
{
	const struct host *host = model_host(&session->trace.model, index);
	struct stalls stalls = {0};

	if (session->trace.kinds[EV_VECTOR_ENTRY] && !is_thread(host->guest.machine))
		stalls = stalls_of(session, index);
	return stalls.ns < TOLD_MIN || stalls.ns * TOLD_OF < stalls.busy
		       ? (struct stalls) {0}
		       : stalls;
}

struct stalled stalls_troubles(const struct session *session, GPtrArray *list)
{
	char length[32], longest[32];
	struct stalled stalled = {0};

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		struct stalls stalls = stalls_told(session, i);

		if (!stalls.ns)
			continue;
		stalled.ns += stalls.ns;
		stalled.hosts++;
		stalled.host = i;
		g_ptr_array_add(
			list,
			g_strdup_printf("what %s did for %s of its CPUs' time: nothing ran, and "
					"nothing was idle "
					"(%u times, up to %s; its timer's interrupts were due and "
					"did not come): steal, as its host ran others if it is a "
					"virtual machine, or interrupts were off; only its host's "
					"trace can tell",
					trace_host_name(&session->trace, i),
					when_duration(length, stalls.ns), stalls.count,
					when_duration(longest, stalls.longest)));
	}
	return stalled;
}
