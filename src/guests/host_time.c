/* SPDX-License-Identifier: MIT */
/* Taking the host's time out of guests' states; see host_time.h. */
#include "guests/host_time.h"

/* The virtual CPU did not run. */
struct away {
	int64_t begin, end;
	uint32_t leaf; /* PACK(LEAF_HOST, enum host_taken) */
};

/* A thread of the guest ran. */
struct stay {
	int64_t begin, end;
	uint32_t thread, cpu; /* cpu: place in host.cpus */
};

struct taking {
	const struct model *model;
	struct timeline *timeline;
	const struct host *host; /* the guest */
	GArray **away; /* struct away, by CPU; NULL: no virtual CPU is known for it */
	GArray *stays; /* struct stay, by thread and time */
	struct track *track; /* being written */
};

static enum host_taken why(uint32_t leaf)
{
	if (PACK_KIND(leaf) == LEAF_HOST) /* of a guest in a guest */
		return (enum host_taken) PACK_NUMBER(leaf);
	return leaf_is_blocked(leaf) ? HOST_BLOCKED : HOST_PREEMPTED;
}

/* --- quotas of the host ------------------------------------------------------------------- */

#define KEPT_MIN INT64_C(1000000) /* ns; a move to another CPU takes some µs */
#define PERIOD_MAX INT64_C(1000000000) /* ns: of a quota; the kernel's limit */
#define OFF_PART 16 /* of the period: ends may be off by that */
#define IDLE_OF 10 /* the CPU may have run others one part of so many */

/* Preempted, and nobody ran there. */
static bool is_kept_off(const struct timeline *timeline, const struct host *host,
			const struct span *span)
{
	uint32_t at = idmap_get(&host->cpu_index, span->ref);
	const struct cpu *cpu;
	int64_t idle = 0;

	if (PACK_KIND(span->leaf) != LEAF_PREEMPTED || span->ref == NO_CPU || at == IDMAP_NONE ||
	    span->end - span->begin < KEPT_MIN)
		return false;
	cpu = g_ptr_array_index(host->cpus, at);
	for (uint32_t i = run_find(timeline, &cpu->runs, span->begin); i < cpu->runs.used; i++) {
		const struct run *run = run_at(timeline, &cpu->runs, i);
		int64_t end = i + 1 < cpu->runs.used ? run_at(timeline, &cpu->runs, i + 1)->begin
						     : host->end;

		if (run->begin >= span->end)
			break;
		if (run->thread == IDLE_THREAD)
			idle += MAX(MIN(end, span->end) - MAX(run->begin, span->begin), 0);
	}
	return idle * IDLE_OF >= (span->end - span->begin) * (IDLE_OF - 1);
}

/* Of those that are marked (`kept`: places in the list), three let go one period after the other
 * show a quota; then that is what kept it off the other times, too: whoever else has the quota may
 * have used it up, so that a period, or several, give it none. */
static void mark_throttled(GArray *list, const GArray *kept)
{
	bool shown = false;

	for (guint i = 0; i + 2 < kept->len; i++) {
		struct away *at[3];
		int64_t period, next;

		for (guint k = 0; k < 3; k++)
			at[k] = &g_array_index(list, struct away,
					       g_array_index(kept, guint, i + k));
		period = at[1]->end - at[0]->end;
		next = at[2]->end - at[1]->end;
		if (period > PERIOD_MAX || ABS(next - period) > period / OFF_PART)
			continue;
		shown = true;
	}
	for (guint i = 0; shown && i < kept->len; i++)
		g_array_index(list, struct away, g_array_index(kept, guint, i)).leaf =
			PACK(LEAF_HOST, HOST_THROTTLED);
}

static GArray *away_new(const struct model *model, const struct timeline *timeline, uint32_t vcpu)
{
	const struct thread *thread = model_thread(model, vcpu);
	const struct host *host = model_host(model, thread->host);
	g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(guint));
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct away));
	struct track_pos pos = {0, 0};
	struct span span;

	while (track_read(timeline, &thread->track, &pos, thread->end, &span)) {
		struct away away = {span.begin, span.end, PACK(LEAF_HOST, why(span.leaf))};

		away.end = MIN(away.end, host->end);
		if (!leaf_is_off_cpu(span.leaf) || away.begin >= away.end ||
		    (thread->backfilled && span.begin == thread->backfill_begin))
			continue;
		if (is_kept_off(timeline, host, &span))
			g_array_append_vals(kept, &list->len, 1);
		g_array_append_val(list, away);
	}
	mark_throttled(list, kept);
	return list;
}

static int by_thread(gconstpointer a, gconstpointer b)
{
	const struct stay *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void add_stays(struct taking *taking, guint number)
{
	const struct cpu *cpu = g_ptr_array_index(taking->host->cpus, number);

	for (uint32_t i = 0; i < cpu->runs.used; i++) {
		const struct run *run = run_at(taking->timeline, &cpu->runs, i);
		struct stay stay = {run->begin, taking->host->end, run->thread, number};

		if (i + 1 < cpu->runs.used)
			stay.end = run_at(taking->timeline, &cpu->runs, i + 1)->begin;
		if (is_thread(stay.thread))
			g_array_append_val(taking->stays, stay);
	}
}

/* The first of the thread's stays that ends behind `time`; the list's length: none. */
static guint stay_from(const GArray *stays, uint32_t thread, int64_t time)
{
	guint low = 0, high = stays->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct stay *stay = &g_array_index(stays, struct stay, middle);

		if (stay->thread < thread || (stay->thread == thread && stay->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static guint away_from(const GArray *list, int64_t time)
{
	guint low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(list, struct away, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* [from, to) of the span, where the thread ran or was ready on that CPU. */
static void write_on(struct taking *taking, const struct span *span, int64_t from, int64_t to,
		     guint cpu)
{
	const GArray *list = taking->away[cpu];
	uint32_t vcpu = ((struct cpu *) g_ptr_array_index(taking->host->cpus, cpu))->vcpu;

	for (guint i = list ? away_from(list, from) : 0; list && i < list->len; i++) {
		const struct away *away = &g_array_index(list, struct away, i);

		if (away->begin >= to)
			break;
		if (away->begin > from)
			track_append(taking->timeline, taking->track, from, span->leaf, span->ref);
		track_append(taking->timeline, taking->track, MAX(away->begin, from), away->leaf,
			     vcpu);
		from = MIN(away->end, to);
	}
	if (from < to)
		track_append(taking->timeline, taking->track, from, span->leaf, span->ref);
}

/* Of a stretch on the CPU: which, the CPUs' runs tell. */
static void write_running(struct taking *taking, uint32_t thread, const struct span *span)
{
	int64_t from = span->begin;

	for (guint i = stay_from(taking->stays, thread, from); i < taking->stays->len; i++) {
		const struct stay *stay = &g_array_index(taking->stays, struct stay, i);

		if (stay->thread != thread || stay->begin >= span->end)
			break;
		if (stay->begin > from)
			track_append(taking->timeline, taking->track, from, span->leaf, span->ref);
		from = MAX(from, stay->begin);
		write_on(taking, span, from, MIN(stay->end, span->end), stay->cpu);
		from = MIN(stay->end, span->end);
	}
	if (from < span->end)
		track_append(taking->timeline, taking->track, from, span->leaf, span->ref);
}

static void write_span(struct taking *taking, uint32_t thread, const struct span *span,
		       const struct thread *life)
{
	uint32_t kind = PACK_KIND(span->leaf);
	bool ready = leaf_is_ready(span->leaf);
	uint32_t cpu = ready ? idmap_get(&taking->host->cpu_index, span->ref) : IDMAP_NONE;

	if (ready && cpu != IDMAP_NONE && span->ref != NO_CPU &&
	    !(life->backfilled && span->begin == life->backfill_begin))
		write_on(taking, span, span->begin, span->end, cpu);
	else if (leaf_is_off_cpu(span->leaf) || kind == LEAF_UNKNOWN)
		track_append(taking->timeline, taking->track, span->begin, span->leaf, span->ref);
	else
		write_running(taking, thread, span);
}

static void rewrite(struct taking *taking, uint32_t index)
{
	struct thread *thread = model_thread(taking->model, index);
	struct track track = {0};
	struct track_pos pos = {0, 0};
	struct span span;

	taking->track = &track;
	while (track_read(taking->timeline, &thread->track, &pos,
			  MIN(thread->end, taking->host->end), &span))
		write_span(taking, index, &span, thread);
	track_clear(&thread->track);
	thread->track = track;
}

static void take_of_host(struct taking *taking, uint16_t number)
{
	bool any = false;

	taking->host = model_host(taking->model, number);
	taking->away = g_new0(GArray *, taking->host->cpus->len + 1);
	taking->stays = g_array_new(FALSE, FALSE, sizeof(struct stay));
	for (guint i = 0; i < taking->host->cpus->len; i++) {
		const struct cpu *cpu = g_ptr_array_index(taking->host->cpus, i);

		if (!is_thread(cpu->vcpu))
			continue;
		any = true;
		taking->away[i] = away_new(taking->model, taking->timeline, cpu->vcpu);
		add_stays(taking, i);
	}
	g_array_sort(taking->stays, by_thread);
	for (uint32_t i = 0; any && i < taking->model->thread_count; i++)
		if (model_thread(taking->model, i)->host == number)
			rewrite(taking, i);
	for (guint i = 0; i < taking->host->cpus->len; i++)
		if (taking->away[i])
			g_array_free(taking->away[i], TRUE);
	g_free(taking->away);
	g_array_free(taking->stays, TRUE);
}

/* In how many machines, one in the other, a host runs. */
static guint depth_of(const struct model *model, uint16_t number)
{
	guint depth = 0;

	while (depth < model->hosts->len && is_thread(model_host(model, number)->guest.machine)) {
		number = model_thread(model, model_host(model, number)->guest.machine)->host;
		depth++;
	}
	return depth;
}

/* The outer ones first: what is taken from a virtual CPU's thread is taken from its guest. */
void host_time_apply(const struct model *model, struct timeline *timeline)
{
	struct taking taking = {.model = model, .timeline = timeline};

	for (guint depth = 1; depth < model->hosts->len; depth++)
		for (uint16_t i = 0; i < model->hosts->len; i++)
			if (depth_of(model, i) == depth)
				take_of_host(&taking, i);
}
