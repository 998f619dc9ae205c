/* SPDX-License-Identifier: MIT */
/* See cpu_runs.h. */
#include "ready/cpu_runs.h"

#include <string.h>

#include "ready/host_span.h"
#include "util/idmap.h"
#include "util/when.h"

#define NICE_0 20 /* as sched_switch tells a priority */
#define GIVES_WAY 10 /* nice from here on is to give way */

void each_run(const struct session *session, uint16_t host_index, uint32_t cpu_id, int64_t begin,
	      int64_t end, void (*visit)(int64_t begin, int64_t end, uint32_t thread, void *data),
	      void *data)
{
	const struct host *host = model_host(&session->trace.model, host_index);
	uint32_t index = cpu_id == NO_CPU ? IDMAP_NONE : idmap_get(&host->cpu_index, cpu_id);
	const struct cpu *cpu;
	const struct run *at;
	uint32_t run;

	if (index == IDMAP_NONE || *session->found.runs_read >= RUNS_READ_MAX) {
		visit(begin, end, NO_THREAD, data);
		return;
	}
	cpu = g_ptr_array_index(host->cpus, index);
	run = run_find(&session->trace.timeline, &cpu->runs, begin);
	if (run == cpu->runs.used) {
		run = 0;
		if (!cpu->runs.used ||
		    run_at(&session->trace.timeline, &cpu->runs, 0)->begin >= end) {
			visit(begin, end, NO_THREAD, data);
			return;
		}
		visit(begin, run_at(&session->trace.timeline, &cpu->runs, 0)->begin, NO_THREAD,
		      data);
		begin = run_at(&session->trace.timeline, &cpu->runs, 0)->begin;
	}
	at = begin < end ? run_at(&session->trace.timeline, &cpu->runs, run) : NULL;
	while (begin < end && run < cpu->runs.used) {
		const struct run *next =
			++run < cpu->runs.used ? run_at(&session->trace.timeline, &cpu->runs, run)
					       : NULL;
		int64_t until = next ? MIN(next->begin, end) : end;

		if (until > begin)
			visit(begin, until, at->thread, data);
		begin = MAX(begin, until);
		at = next;
		++*session->found.runs_read;
	}
}

int64_t of_length(int64_t ns, const struct span *was, const struct span *span)
{
	int64_t length = was->end - was->begin, now = span->end - span->begin;

	return length == now || length <= 0 ? ns : (int64_t) ((int128) ns * now / length);
}

/* Visits pieces of what was recorded as pieces of what became of it. */
struct moved {
	const struct span *was, *span;
	void (*visit)(int64_t begin, int64_t end, uint32_t thread, void *data);
	void *data;
};

static void visit_moved(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	const struct moved *moved = data;
	int64_t from = of_length(begin - moved->was->begin, moved->was, moved->span);
	int64_t to = of_length(end - moved->was->begin, moved->was, moved->span);

	if (from < to)
		moved->visit(moved->span->begin + from, moved->span->begin + to, thread,
			     moved->data);
}

void each_run_beside(const struct session *session, uint32_t thread, const struct span *span,
		     void (*visit)(int64_t begin, int64_t end, uint32_t thread, void *data),
		     void *data)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	struct moved moved = {NULL, span, visit, data};
	const struct session *recorded = session->recorded ? session->recorded->session : session;
	struct span was = *span, outside;

	if (session->recorded)
		was = session->recorded->span(session->recorded->data, thread, span);
	outside = was;
	if (span_is_hosts_ready(span->leaf)) {
		thread = host_span(recorded, thread, &was, &outside);
		if (!is_thread(thread)) {
			visit(span->begin, span->end, NO_THREAD, data);
			return;
		}
		host = model_thread(&session->trace.model, thread)->host;
	}
	moved.was = &was;
	each_run(recorded, host, outside.ref, was.begin, was.end,
		 session->recorded ? visit_moved : visit,
		 session->recorded ? (void *) &moved : data);
}

int64_t run_began(const struct session *session, uint16_t host_index, uint32_t cpu_id, int64_t time)
{
	const struct host *host = model_host(&session->trace.model, host_index);
	uint32_t index = cpu_id == NO_CPU ? IDMAP_NONE : idmap_get(&host->cpu_index, cpu_id);
	const struct cpu *cpu;
	uint32_t run;

	if (index == IDMAP_NONE)
		return time;
	cpu = g_ptr_array_index(host->cpus, index);
	run = run_find(&session->trace.timeline, &cpu->runs, time);
	return run == cpu->runs.used ? time
				     : run_at(&session->trace.timeline, &cpu->runs, run)->begin;
}

static bool is_ordinary(const struct run *run)
{
	return run->thread == IDLE_THREAD || (run->priority != NO_PRIORITY && run->priority >= 0);
}

int64_t ran_ordinary(const struct session *session, uint16_t host_index, uint32_t cpu_id,
		     int64_t begin, int64_t end)
{
	const struct timeline *timeline = &session->trace.timeline;
	const struct host *host = model_host(&session->trace.model, host_index);
	uint32_t index = cpu_id == NO_CPU ? IDMAP_NONE : idmap_get(&host->cpu_index, cpu_id);
	const struct cpu *cpu;
	uint32_t at;
	int64_t ns = 0;

	if (index == IDMAP_NONE || *session->found.runs_read >= RUNS_READ_MAX)
		return 0;
	cpu = g_ptr_array_index(host->cpus, index);
	at = run_find(timeline, &cpu->runs, begin);
	for (at = at == cpu->runs.used ? 0 : at; at < cpu->runs.used; at++) {
		const struct run *run = run_at(timeline, &cpu->runs, at);
		int64_t from = MAX(run->begin, begin), until = end;
		bool counts = is_ordinary(run);

		if (from >= end)
			break;
		if (at + 1 < cpu->runs.used)
			until = MIN(run_at(timeline, &cpu->runs, at + 1)->begin, end);
		ns += counts && until > from ? until - from : 0;
		++*session->found.runs_read;
	}
	return ns;
}

int32_t priority_before(const struct session *session, uint32_t thread, int64_t time)
{
	const struct host *host = model_host(&session->trace.model,
					     model_thread(&session->trace.model, thread)->host);
	int64_t newest = INT64_MIN;
	int32_t priority = NO_PRIORITY;

	for (guint i = 0; i < host->cpus->len; i++) {
		const struct cpu *cpu = g_ptr_array_index(host->cpus, i);
		uint32_t at = run_find(&session->trace.timeline, &cpu->runs, time - 1);

		for (int back = 0; at < cpu->runs.used && back < 64; at--, back++) {
			const struct run *run = run_at(&session->trace.timeline, &cpu->runs, at);

			if (run->begin < newest)
				break;
			if (run->thread == thread) {
				newest = run->begin;
				priority = run->priority;
				break;
			}
			if (at == 0)
				break;
		}
	}
	return priority;
}

bool thread_gives_way(const struct session *session, uint32_t thread)
{
	int64_t came = INT64_MIN; /* onto a CPU, after it had waited for one */
	int32_t priority;
	struct spans spans;
	struct span span;

	if (model_thread(&session->trace.model, thread)->only_if_idle ||
	    strcmp(session_thread_name(session, thread), "sleep") == 0)
		return true;
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span))
		if (!leaf_is_blocked(span.leaf) && span.end < session->asked.to)
			came = span.end;
	if (came == INT64_MIN)
		return false;
	priority = priority_before(session, thread, came + 1);
	return priority != NO_PRIORITY && priority >= NICE_0 + GIVES_WAY;
}
