/* SPDX-License-Identifier: MIT */
/* Reading back what was stored; see session.h. */
#include "run/session.h"

#include "locks/locks.h"
#include "model/container.h"
#include "model/images.h"
#include "symbols/binaries.h"
#include "symbols/symbols.h"

#include <string.h>

bool session_uses_user(const struct session *session)
{
	for (int i = 0; i < MATCH_COUNT; i++)
		if (session->asked.matches[i].found && session->asked.matches[i].user)
			return true;
	return session->trace.user_events &&
	       session->trace.flow.operations_wanted & 1u << OPERATION_USER;
}

/* A handful, asked for with each wait. */
static const struct made *find_made(const struct makings *makings, session_maker *make)
{
	const struct made *made = __atomic_load_n(&makings->first, __ATOMIC_ACQUIRE);

	while (made && made->make != make)
		made = made->next;
	return made;
}

const void *session_make_once(const struct session *session, session_maker *make,
			      GDestroyNotify free)
{
	struct makings *makings = session->found.made;
	const struct made *found = find_made(makings, make);
	struct made *made;

	if (found)
		return found->data;
	pthread_mutex_lock(&makings->lock);
	found = find_made(makings, make);
	if (!found) {
		found = made = g_new(struct made, 1);
		*made = (struct made) {.make = make, .data = make(session), .free = free};
		made->next = makings->first; /* make() may have added others */
		__atomic_store_n(&makings->first, made, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&makings->lock);
	return found->data;
}

bool session_interrupted(const struct session *session)
{
	return session->asked.interrupted &&
	       session->asked.interrupted(session->asked.interrupted_data);
}

void spans_begin(struct spans *spans, const struct session *session, uint32_t thread, int64_t from,
		 int64_t to)
{
	const struct model *model = &session->trace.model;

	*spans = (struct spans) {.session = session, .thread = model_thread(model, thread)};
	spans->from = MAX(from, spans->thread->begin);
	spans->to =
		G_UNLIKELY(session_interrupted(session)) ? INT64_MIN : MIN(to, spans->thread->end);
	spans->known =
		thread_backfilled_from(model_host(model, spans->thread->host), spans->thread);
	spans->kernel = thread_is_kernel(model, spans->thread);
	spans->ksoftirqd = thread_is_ksoftirqd(model, spans->thread);
	track_find(&session->trace.timeline, &spans->thread->track, spans->from, &spans->pos);
}

/* "… was so since S": what was found off CPU says nothing of the time before. */
static void cut_at_known(struct spans *spans, struct span *span)
{
	if (span->begin >= spans->known)
		return;
	if (span->end > spans->known) {
		spans->rest = *span;
		spans->rest.begin = spans->known;
		spans->has_rest = true;
		span->end = spans->known;
	}
	span->leaf = PACK(LEAF_UNKNOWN, 0);
	span->ref = 0;
}

static inline bool next(struct spans *spans, struct span *span, bool off_cpu)
{
	const struct timeline *timeline = &spans->session->trace.timeline;
	const struct thread *thread = spans->thread;

	for (;;) {
		if (G_UNLIKELY(spans->has_rest)) {
			*span = spans->rest;
			spans->has_rest = false;
		} else {
			if (!(off_cpu ? track_read_off_cpu : track_read)(
				    timeline, &thread->track, &spans->pos, thread->end, span))
				return false;
			if (G_UNLIKELY(thread->backfilled) &&
			    span->begin == thread->backfill_begin && leaf_is_off_cpu(span->leaf))
				cut_at_known(spans, span);
		}
		if (span->begin >= spans->to)
			return false;
		span->begin = MAX(span->begin, spans->from);
		span->end = MIN(span->end, spans->to);
		if (span->begin >= span->end)
			continue;
		span->leaf = leaf_seen_as(span->leaf, spans->kernel, spans->ksoftirqd);
		if (!off_cpu || leaf_is_off_cpu(span->leaf))
			return true;
	}
}

bool spans_next(struct spans *spans, struct span *span)
{
	return next(spans, span, false);
}

bool spans_next_off_cpu(struct spans *spans, struct span *span)
{
	return next(spans, span, true);
}

guint name_stem(const char *name)
{
	size_t length = strlen(name);

	while (length > 1 && g_ascii_isdigit(name[length - 1]))
		length--;
	return (guint) (length >= 2 ? length : strlen(name));
}

bool session_names_alike(const struct session *session, uint32_t one, uint32_t other)
{
	const char *a = session_thread_name(session, one), *b = session_thread_name(session, other);

	if (session->found.alike)
		return session->found.alike[one] == session->found.alike[other];
	return name_stem(a) == name_stem(b) && strncmp(a, b, name_stem(a)) == 0;
}

const char *session_own_name(const struct session *session, uint32_t thread)
{
	const char *name;

	if (!is_thread(thread))
		return session_thread_name(session, thread);
	name = session_text(session, thread_name_at(model_thread(&session->trace.model, thread),
						    session->asked.to));
	return *name ? name : "?";
}

const char *session_thread_name(const struct session *session, uint32_t thread)
{
	const char *name;

	if (thread == IDLE_THREAD)
		return "idle";
	if (!is_thread(thread))
		return "?";
	/* asked for each run of a CPU: threads themselves lie far apart */
	if (session->found.thread_names)
		name = session_text(session, session->found.thread_names[thread]);
	else
		name = session_text(session,
				    thread_name_at(model_thread(&session->trace.model, thread),
						   session->asked.to));
	return *name ? name : "?";
}

const char *session_on(const struct session *session, uint32_t thread)
{
	char text[128];

	if (session->trace.model.hosts->len < 2 || !is_thread(thread) ||
	    strcmp(session_thread_name(session, thread), session_own_name(session, thread)) != 0)
		return ""; /* a guest's machine is where its host is */
	g_snprintf(text, sizeof text, " on %s",
		   trace_host_name(&session->trace,
				   model_thread(&session->trace.model, thread)->host));
	return intern_text(session->trace.model.names, intern_id(session->trace.model.names, text));
}

const char *session_text(const struct session *session, uint32_t interned)
{
	return intern_text(session->trace.model.names, interned);
}

const char *session_function(const struct session *session, uint32_t address)
{
	const char *text = session_text(session, address), *name;

	if (!g_str_has_prefix(text, "0x"))
		return text; /* a name, or nothing */
	name = symbol_at(session->found.symbols, g_ascii_strtoull(text, NULL, 16), NULL);
	return name ? name : text;
}

const char *session_user_function(const struct session *session, uint16_t host, int32_t pid,
				  uint64_t address, int64_t time)
{
	const struct loaded_image *image =
		model_image_at(&session->trace.model, host, pid, address, time);

	if (!image)
		return binaries_address(session->found.binaries, address);
	return binaries_function(session->found.binaries, session_text(session, image->path),
				 image->build_id, image->build_id_length, image->base, address);
}

const struct code *session_user_code(const struct session *session, uint16_t host, int32_t pid,
				     uint64_t address, int64_t time)
{
	const struct loaded_image *image =
		model_image_at(&session->trace.model, host, pid, address, time);

	return image ? binaries_code(session->found.binaries, session_text(session, image->path),
				     image->build_id, image->build_id_length, address - image->base)
		     : NULL;
}

uint32_t session_resource(const struct session *session, const struct block *block)
{
	g_autofree char *key = NULL;

	if (!block->resource && block->lock) /* its call began before the trace */
		return lock_at(&session->trace.flow, block->lock)->resource;
	if (!is_thread(block->child))
		return block->resource;
	key = g_strconcat("child:", session_thread_name(session, block->child), NULL);
	return intern_id(session->trace.model.names, key);
}

/* Where the stretch off the CPU that `span` is part of begins: who waits for a CPU may be moved
 * from one's queue to another's. */
static int64_t stretch_begin(const struct session *session, const struct thread *thread,
			     const struct span *span)
{
	const struct interval *interval;
	struct track_pos pos;
	int64_t begin = span->begin, at;

	if (leaf_is_blocked(span->leaf) ||
	    !track_find(&session->trace.timeline, &thread->track, span->begin, &pos))
		return begin;
	while ((interval = track_step_back(&session->trace.timeline, &thread->track, &pos, &at)) &&
	       PACK_KIND(interval->leaf) == PACK_KIND(span->leaf))
		begin = at;
	return begin;
}

bool session_spans_gap(const struct session *session, uint32_t thread, const struct span *span)
{
	const struct thread *of;
	const struct host *host;
	struct span recorded;

	if (session->recorded) {
		recorded = session->recorded->span(session->recorded->data, thread, span);
		return session_spans_gap(session->recorded->session, thread, &recorded);
	}
	if (!leaf_is_off_cpu(span->leaf)) /* asked for each span */
		return false;
	of = model_thread(&session->trace.model, thread);
	host = model_host(&session->trace.model, of->host);
	return host->gaps->len && host_gap_over(host, stretch_begin(session, of, span), span->end);
}

bool session_blocked_at(const struct session *session, uint32_t thread, int64_t time)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, time, time + 1);
	return spans_next(&spans, &span) && leaf_is_blocked(span.leaf);
}

static int by_tid(const void *a, const void *b, void *data)
{
	const struct model *model = data;
	const uint32_t *left = a, *right = b;
	const struct thread *one = model_thread(model, *left), *other = model_thread(model, *right);

	if (one->host != other->host)
		return one->host < other->host ? -1 : 1;
	if (one->tid != other->tid)
		return one->tid < other->tid ? -1 : 1;
	return *left < *right ? -1 : *left > *right;
}

/* All threads by host and TID: one that is not the newest of its TID is asked for by each of a
 * million others, where a process that was recorded has no leader. */
static void *lives_new(const struct session *session)
{
	GArray *lives = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		g_array_append_val(lives, i);
	g_array_sort_with_data(lives, by_tid, (void *) &session->trace.model);
	return lives;
}

static void lives_free(void *lives)
{
	g_array_unref(lives);
}

static guint first_life(const struct session *session, const GArray *lives, uint16_t host,
			int32_t tid)
{
	guint from = 0, to = lives->len;

	while (from < to) {
		guint middle = from + (to - from) / 2;
		const struct thread *thread =
			model_thread(&session->trace.model, g_array_index(lives, uint32_t, middle));

		if (thread->host < host || (thread->host == host && thread->tid < tid))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

uint32_t session_thread_at(const struct session *session, uint16_t host, int32_t tid, int64_t time)
{
	const GArray *lives;
	uint32_t newest = idmap_get(&model_host(&session->trace.model, host)->tids, (uint32_t) tid);
	uint32_t best = NO_THREAD;

	if (newest != IDMAP_NONE && model_thread(&session->trace.model, newest)->tid == tid &&
	    model_thread(&session->trace.model, newest)->begin <= time)
		return model_thread(&session->trace.model, newest)->end >= time
			       ? newest
			       : NO_THREAD;
	lives = session_make_once(session, lives_new, lives_free);
	for (guint at = first_life(session, lives, host, tid); at < lives->len; at++) {
		uint32_t i = g_array_index(lives, uint32_t, at);
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (thread->host != host || thread->tid != tid)
			break;
		if (thread->begin <= time && thread->end >= time)
			best = best == NO_THREAD || /* the newest of two that touch */
					       thread->begin >=
						       model_thread(&session->trace.model, best)
							       ->begin
				       ? i
				       : best;
	}
	return best;
}

/* Threads by whose names a process is the tracer's: LTTng's, trace-cmd, the one by which record
 * drains ftrace's rings; perf where it recorded: elsewhere it may be what is looked at. */
static bool is_tracers_name(const struct host *host, const char *name)
{
	return g_str_has_prefix(name, "lttng-") || strcmp(name, "lttng") == 0 ||
	       strcmp(name, "trace-cmd") == 0 || strcmp(name, "whylate-ring") == 0 ||
	       (strcmp(name, "perf") == 0 && host->tracer &&
		g_str_has_prefix(host->tracer, "perf"));
}

bool *session_tracers(const struct session *session)
{
	const uint32_t *process = session->trace.processes.first;
	uint32_t count = session->trace.model.thread_count;
	bool *tracers = g_new0(bool, count + 1);

	for (uint32_t i = 0; i < count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		const struct host *host = model_host(&session->trace.model, thread->host);
		const char *program = session_text(session, thread->program);
		const char *base = strrchr(program, '/');
		const char *names[] = {session_thread_name(session, i), base ? base + 1 : program};

		for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
			tracers[process[i]] |= is_tracers_name(host, names[k]);
	}
	for (uint32_t i = 0; i < count; i++)
		tracers[i] = tracers[process[i]];
	return tracers;
}

/* In a container the number is another: whom the CPU ran says which thread it is. */
static bool is_called(const struct session *session, uint32_t index, int32_t tid)
{
	const struct thread *thread =
		is_thread(index) ? model_thread(&session->trace.model, index) : NULL;
	struct ids ids;

	return thread && (thread_inner_ids(&session->trace.model, thread, &ids)
				  ? !ids.tid || ids.tid == tid
				  : thread->tid == tid);
}

uint32_t session_event_thread(const struct session *session, uint16_t host_index, uint32_t cpu,
			      int32_t tid, bool user, int64_t time)
{
	const struct host *host = model_host(&session->trace.model, host_index);
	uint32_t index = NO_THREAD;

	if (tid > 0 && user) {
		index = session_event_thread(session, host_index, cpu, 0, false, time);
		if (is_called(session, index, tid))
			return index;
		index = session_thread_at(session, host_index, tid, time);
		return is_called(session, index, tid) ? index : NO_THREAD;
	}
	if (tid > 0)
		return session_thread_at(session, host_index, tid, time);
	cpu = idmap_get(&host->cpu_index, cpu);
	if (tid == 0 && cpu != IDMAP_NONE) {
		const struct cpu *on = g_ptr_array_index(host->cpus, cpu);
		uint32_t run = run_find(&session->trace.timeline, &on->runs, time);

		if (run < on->runs.used)
			index = run_at(&session->trace.timeline, &on->runs, run)->thread;
	}
	return index;
}
