/* SPDX-License-Identifier: MIT */
/* Sweeping over the differences of two clocks; see fit.h. */
#include "guests/fit.h"
#include "util/when.h"

#include <stdlib.h>

#define MOMENTS_MAX 4096 /* of all CPUs of a guest */
#define MOMENTS_MIN 20
#define EDGES_MAX 4000000 /* moments are left out until there are no more */
#define SLACK 400 /* one moment of so many outside more does not make it another difference */
#define ANOTHER INT64_C(20000000) /* ns: differences that are further apart are others */

struct moment {
	int64_t time;
	uint32_t vcpu; /* which of the machine's */
};

struct off {
	int64_t begin, end;
	uint32_t vcpu;
};

/* From here on a difference has one moment outside, or inside the host's trace, more or less. */
struct edge {
	int64_t at;
	int8_t outside, inside;
};

/* --- what is compared --------------------------------------------------------------------- */

static const struct clock_line *line_of(const struct model *model, uint16_t host)
{
	return &model_host(model, host)->clock.line;
}

static void add_off(struct moments *moments, const struct model *model,
		    const struct timeline *timeline, const struct vcpu *vcpu, uint32_t number)
{
	const struct thread *thread = model_thread(model, vcpu->thread);
	const struct clock_line *line = line_of(model, thread->host);
	struct track_pos pos = {0, 0};
	struct span span;

	while (track_read(timeline, &thread->track, &pos, thread->end, &span)) {
		struct off off = {0, 0, number};

		if (!leaf_is_off_cpu(span.leaf))
			continue;
		off.begin = clock_line_at(line, span.begin);
		off.end = clock_line_at(line, MIN(span.end, model_host(model, thread->host)->end));
		moments->off_ns += MAX(off.end - off.begin, 0);
		g_array_append_val(moments->off, off);
	}
}

/* What the thread did while it ran on the CPU, besides the switches. */
static void add_states(struct moments *moments, const struct model *model,
		       const struct timeline *timeline, const struct run *run, int64_t end,
		       uint32_t number)
{
	const struct thread *thread = model_thread(model, run->thread);
	const struct clock_line *line = line_of(model, thread->host);
	struct track_pos pos;
	struct span span;

	if (!track_find(timeline, &thread->track, run->begin, &pos))
		return;
	while (track_read(timeline, &thread->track, &pos, thread->end, &span) && span.begin < end) {
		struct moment moment = {clock_line_at(line, span.begin), number};

		if (span.begin > run->begin && !leaf_is_off_cpu(span.leaf) &&
		    PACK_KIND(span.leaf) != LEAF_UNKNOWN)
			g_array_append_val(moments->at, moment);
	}
}

static void add_cpu(struct moments *moments, const struct model *model,
		    const struct timeline *timeline, uint16_t guest, const struct cpu *cpu,
		    uint32_t number)
{
	for (uint32_t i = 0; i < cpu->runs.used; i++) {
		const struct run *run = run_at(timeline, &cpu->runs, i);
		int64_t end = i + 1 < cpu->runs.used ? run_at(timeline, &cpu->runs, i + 1)->begin
						     : model_host(model, guest)->end;
		struct moment moment = {clock_line_at(line_of(model, guest), run->begin), number};

		if (run->thread == NO_THREAD)
			continue;
		g_array_append_val(moments->at, moment);
		if (is_thread(run->thread))
			add_states(moments, model, timeline, run, end, number);
	}
}

/* Leaves every so-many-th. */
static void thin(GArray *list, guint most)
{
	guint step = list->len / most + 1, kept = 0;

	for (guint i = 0; i < list->len; i += step)
		g_array_index(list, struct moment, kept++) = g_array_index(list, struct moment, i);
	g_array_set_size(list, kept);
}

bool moments_init(struct moments *moments, const struct model *model,
		  const struct timeline *timeline, uint16_t guest, const struct machine *machine)
{
	const struct host *host = model_host(model, machine->host);
	const struct host *inside = model_host(model, guest);
	guint found = 0;

	*moments = (struct moments) {.at = g_array_new(FALSE, FALSE, sizeof(struct moment)),
				     .off = g_array_new(FALSE, FALSE, sizeof(struct off)),
				     .begin = clock_line_at(&host->clock.line, host->begin),
				     .end = clock_line_at(&host->clock.line, host->end),
				     .vcpus = machine->vcpus->len};
	for (guint i = 0; i < machine->vcpus->len; i++) {
		const struct vcpu *vcpu = &g_array_index(machine->vcpus, struct vcpu, i);
		uint32_t at = idmap_get(&inside->cpu_index, vcpu->number);

		add_off(moments, model, timeline, vcpu, i);
		if (at == IDMAP_NONE)
			continue;
		found++;
		add_cpu(moments, model, timeline, guest, g_ptr_array_index(inside->cpus, at), i);
	}
	thin(moments->at, MOMENTS_MAX);
	return found && found == inside->cpus->len;
}

void moments_clear(struct moments *moments)
{
	g_array_free(moments->at, TRUE);
	g_array_free(moments->off, TRUE);
}

/* --- comparing ---------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_stretch(GArray *edges, int64_t begin, int64_t end, int64_t from, int64_t to,
			int8_t outside, int8_t inside)
{
	struct edge first = {MAX(begin, from), outside, inside};
	struct edge last = {end, (int8_t) -outside, (int8_t) -inside};

	if (first.at >= end || first.at > to)
		return;
	g_array_append_val(edges, first);
	if (last.at <= to)
		g_array_append_val(edges, last);
}

/* The first stretch off that ends behind `time`. */
static guint off_from(const GArray *list, uint32_t vcpu, int64_t time)
{
	guint low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct off *off = &g_array_index(list, struct off, middle);

		if (off->vcpu < vcpu || (off->vcpu == vcpu && off->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static GArray *edges_new(const struct moments *moments, int64_t from, int64_t to)
{
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	guint step = moments->off->len && to - from > ANOTHER
			     ? (guint) ((uint64_t) moments->at->len * moments->off->len /
						(EDGES_MAX / 2) +
					1)
			     : 1;

	for (guint i = 0; i < moments->at->len; i += step) {
		const struct moment *moment = &g_array_index(moments->at, struct moment, i);

		add_stretch(edges, moments->begin - moment->time, moments->end - moment->time, from,
			    to, 0, 1);
		for (guint k = off_from(moments->off, moment->vcpu, moment->time + from);
		     k < moments->off->len; k++) {
			const struct off *off = &g_array_index(moments->off, struct off, k);

			if (off->vcpu != moment->vcpu || off->begin - moment->time > to)
				break;
			add_stretch(edges, off->begin - moment->time, off->end - moment->time, from,
				    to, 1, 0);
		}
	}
	if (edges->len) /* else there are no data */
		qsort(edges->data, edges->len, sizeof(struct edge), by_place);
	return edges;
}

/* One difference after the other: [begin, end) have so many moments. */
struct sweep {
	const GArray *edges;
	guint next;
	int64_t begin, end, to;
	int32_t outside, inside;
};

static bool sweep_next(struct sweep *sweep)
{
	const struct edge *edge;

	if (sweep->next >= sweep->edges->len)
		return false;
	edge = &g_array_index(sweep->edges, struct edge, sweep->next);
	sweep->begin = edge->at;
	while (sweep->next < sweep->edges->len) {
		edge = &g_array_index(sweep->edges, struct edge, sweep->next);
		if (edge->at != sweep->begin)
			break;
		sweep->outside += edge->outside;
		sweep->inside += edge->inside;
		sweep->next++;
	}
	sweep->end = sweep->next < sweep->edges->len ? edge->at : sweep->to + 1;
	return true;
}

static struct sweep sweep_of(const GArray *edges, int64_t to)
{
	return (struct sweep) {.edges = edges, .to = to};
}

/* Fewer of all outside; among equals more of them. */
static bool is_better(int64_t outside, int64_t inside, int64_t best_outside, int64_t best_inside)
{
	int64_t a = outside * best_inside, b = best_outside * inside;

	return a != b ? a < b : inside > best_inside;
}

/* The best stretch, and what is as good beside it. */
static bool find_best(const GArray *edges, int64_t to, int32_t least, struct fit *fit)
{
	struct sweep sweep = sweep_of(edges, to);
	int64_t from = 0, until = 0, begin = 0;
	int32_t outside = 0, inside = 0, slack;
	bool open = false, holds = false;

	while (sweep_next(&sweep))
		if (sweep.inside >= least &&
		    (!inside || is_better(sweep.outside, sweep.inside, outside, inside))) {
			outside = sweep.outside;
			inside = sweep.inside;
			from = sweep.begin;
		}
	if (!inside)
		return false;
	slack = outside + 1 + inside / SLACK;
	sweep = sweep_of(edges, to);
	for (begin = until = from; sweep_next(&sweep);) {
		bool good = sweep.outside <= slack && sweep.inside >= least;

		if (good && !open)
			begin = sweep.begin;
		open = good;
		holds |= good && sweep.begin == from;
		if (holds && !good)
			break;
		until = good ? sweep.end : until;
	}
	fit->difference = begin + (until - begin) / 2;
	fit->error = (until - begin + 1) / 2;
	fit->moments = (uint32_t) inside;
	fit->outside = (uint32_t) outside;
	return true;
}

static uint32_t second_best(const GArray *edges, int64_t to, int32_t least, const struct fit *best)
{
	struct sweep sweep = sweep_of(edges, to);
	int32_t outside = 0, inside = 0;

	while (sweep_next(&sweep))
		if (sweep.inside >= least &&
		    (sweep.end < best->difference - best->error - ANOTHER ||
		     sweep.begin > best->difference + best->error + ANOTHER) &&
		    (!inside || is_better(sweep.outside, sweep.inside, outside, inside))) {
			outside = sweep.outside;
			inside = sweep.inside;
		}
	return inside ? (uint32_t) ((int64_t) outside * best->moments / inside) : UINT32_MAX;
}

bool fit_find(const struct moments *moments, int64_t from, int64_t to, struct fit *fit)
{
	GArray *edges = edges_new(moments, from, to);
	struct sweep sweep = sweep_of(edges, to);
	int64_t whole = (moments->end - moments->begin) * moments->vcpus;
	int32_t most = 0;
	bool ok;

	while (sweep_next(&sweep))
		most = MAX(most, sweep.inside);
	*fit = (struct fit) {.second = UINT32_MAX};
	ok = most >= MOMENTS_MIN && find_best(edges, to, MAX(most / 2, MOMENTS_MIN), fit);
	if (ok) {
		fit->chance = whole > 0
				      ? (uint32_t) ((int128) moments->off_ns * fit->moments / whole)
				      : 0;
		fit->second = second_best(edges, to, MAX(most / 2, MOMENTS_MIN), fit);
	}
	g_array_free(edges, TRUE);
	return ok;
}
