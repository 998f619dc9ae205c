/* SPDX-License-Identifier: MIT */
/* Feeding, and reading back what was stored; see session.h. */
#include "run/session.h"

#include "run/anonymise.h"
#include "symbols/binaries.h"
#include "run/command.h"
#include "symbols/symbols.h"
#include "model/images.h"

#include <stddef.h>
#include <string.h>

bool session_uses_user(const struct session *session)
{
	for (int i = 0; i < MATCH_COUNT; i++)
		if (session->asked.matches[i].found && session->asked.matches[i].user)
			return true;
	return session->trace.user_events &&
	       session->trace.flow.operations_wanted & 1u << OPERATION_USER;
}

/* "The thread analysed is the event's subject: the woken thread of a wake-up,
 * the new one of a fork or exec, next of a switch, else the thread current there." */
static int32_t subject(const struct event *event)
{
	switch (event->kind) {
	case EV_SCHED_SWITCH:
		return event->sched_switch.next_tid;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		return event->wake.tid;
	case EV_PROCESS_FORK:
		return event->fork.child_tid;
	case EV_PROCESS_EXEC:
		return event->exec.tid;
	default:
		return event->has_tid ? event->tid : 0;
	}
}

/* Which is the nth of all hosts is known only by their common time: the first n
 * of each host, or the last one. */
static void note_candidate(struct match *match, const struct event *event)
{
	struct candidate candidate = {event->time,    event->host,          event->cpu,
				      subject(event), event_is_user(event), event->name};
	bool last = match->filter->nth == FILTER_LAST;
	uint32_t *of_host;

	if (match->of_host->len <= event->host)
		g_array_set_size(match->of_host, event->host + 1u);
	of_host = &g_array_index(match->of_host, uint32_t, event->host);
	if (last && *of_host) {
		g_array_index(match->candidates, struct candidate, *of_host - 1) = candidate;
		return;
	}
	if (!last && *of_host >= match->filter->nth)
		return;
	g_array_append_val(match->candidates, candidate);
	*of_host = last ? match->candidates->len : *of_host + 1;
}

static void note_match(struct match *match, const struct event *event)
{
	if (match->filter->nth != FILTER_LAST && match->seen != match->filter->nth)
		return;
	match->found = true;
	match->time = event->time;
	match->host = event->host;
	match->cpu = event->cpu;
	match->tid = subject(event);
	match->user = event_is_user(event);
	match->event = event->name;
}

/* All of them are of use, with what was captured. Source of the hash: FNV-1a. */
static void note_boundary(struct session *session, const struct event *event, bool end)
{
	const struct request_options *options = &session->asked.options->requests;
	struct boundary mark = {.time = event->time,
				.host = event->host,
				.end = end,
				.cpu = event->cpu,
				.tid = subject(event),
				.user = event_is_user(event)};

	for (guint i = 0; options->captures && i < options->captures->len; i++)
		mark.key = ((i ? mark.key : UINT64_C(14695981039346656037)) ^
			    event_filter_captured(end ? options->end : options->begin,
						  g_ptr_array_index(options->captures, i))) *
			   UINT64_C(1099511628211);
	g_array_append_val(session->asked.boundaries, mark);
}

bool session_wants_host(const struct session *session, const struct host *host)
{
	const struct options *options = session->asked.options;

	return !options->host || g_strcmp0(options->host, host->hostname) == 0 ||
	       (options->anonymiser &&
		g_strcmp0(anonymous_text(options->anonymiser, ANONYMOUS_HOST, options->host),
			  host->hostname) == 0);
}

static void note_matches(struct session *session, const struct event *event)
{
	const char *host = session->asked.options->host;

	if (host && g_strcmp0(host, model_host(&session->trace.model, event->host)->hostname) != 0)
		return;
	for (int i = 0; i < MATCH_COUNT; i++) {
		struct match *match = &session->asked.matches[i];

		if (!(event->matches & (1u << i)))
			continue;
		if (i == MATCH_BEGIN || i == MATCH_END)
			note_boundary(session, event, i == MATCH_END);
		match->seen++;
		if (session->trace.model.hosts->len > 1)
			note_candidate(match, event);
		else
			note_match(match, event);
	}
}

static void note_fields(void *data, unsigned filter, uint64_t conditions, const char *names)
{
	struct session *session = data;
	struct match *match = &session->asked.matches[filter];

	match->met = true;
	match->keys |= conditions;
	if (!match->fields)
		match->fields = g_strdup(names);
}

/* Of a stretch (--every) is what happens in it, but only the kernel's events begin the first. */
static void take_event(void *data, const struct event *event)
{
	struct session *session = data;
	bool user = event_is_user(event);
	struct event copy;

	if (G_UNLIKELY(event->time != trace_time(event->time))) {
		copy = *event;
		copy.time = trace_time(event->time);
		event = &copy;
	}
	if (event->time >= session->asked.stretches.next &&
	    (!user || session->asked.stretches.begun))
		stretches_reach(session, event->time);
	session->trace.has_tids |= event->has_tid && !user;
	if (event->matches)
		note_matches(session, event);
	trace_event(&session->trace, event);
}

static void pass_time(void *data, int64_t time)
{
	stretches_pass(data, time);
}

/* The trace is the sink; the question sees its events first. */
static void sink_init(struct session *session)
{
	struct event_sink *sink = &session->trace.sink;

	_Static_assert(offsetof(struct session, trace) == 0, "a sink's data are both");
	_Static_assert((int) MATCH_COUNT <= SINK_FILTERS, "a bit for each");
	for (int i = 0; i < MATCH_COUNT; i++)
		sink->filters[i] = session->asked.matches[i].filter;
	sink->event = take_event;
	sink->fields = note_fields;
	sink->pass = pass_time;
}

struct session *session_new(struct options *options)
{
	struct session *session = g_new0(struct session, 1);
	struct wanted wanted = {0};

	session->asked.options = options;
	trace_init(&session->trace);
	session->asked.boundaries = g_array_new(FALSE, FALSE, sizeof(struct boundary));
	session->asked.selected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	session->asked.target = NO_THREAD;
	session->found.runs_read = g_new0(uint64_t, 1);
	session->found.user_names = g_new(struct idmap, 1);
	idmap_init(session->found.user_names);
	session->asked.matches[MATCH_TARGET].filter = options->target;
	session->asked.matches[MATCH_FROM].filter = options->from_event;
	session->asked.matches[MATCH_TO].filter = options->to_event;
	session->asked.matches[MATCH_BEGIN].filter = options->requests.begin;
	session->asked.matches[MATCH_END].filter = options->requests.end;
	for (int i = 0; i < MATCH_COUNT; i++) {
		session->asked.matches[i].candidates =
			g_array_new(FALSE, FALSE, sizeof(struct candidate));
		session->asked.matches[i].of_host = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	}
	if (options->command->want)
		options->command->want(options, &wanted);
	session->trace.flow.operations_wanted = wanted.operations;
	session->trace.flow.exchanges_wanted = wanted.exchanges;
	session->trace.flow.resources_wanted = wanted.resources;
	sink_init(session);
	stretches_init(session);
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	trace_clear(&session->trace);
	g_array_free(session->asked.boundaries, TRUE);
	g_array_free(session->asked.selected, TRUE);
	if (session->asked.chosen)
		g_array_free(session->asked.chosen, TRUE);
	for (int i = 0; i < MATCH_COUNT; i++) {
		g_free(session->asked.matches[i].fields);
		g_array_free(session->asked.matches[i].candidates, TRUE);
		g_array_free(session->asked.matches[i].of_host, TRUE);
	}
	stretches_clear(&session->asked.stretches);
	g_free(session->found.thread_names);
	g_free(session->found.runs_read);
	idmap_clear(session->found.user_names);
	g_free(session->found.user_names);
	symbols_free(session->found.symbols);
	binaries_free(session->found.binaries);
	if (session->asked.limit_threads)
		g_ptr_array_free(session->asked.limit_threads, TRUE);
	if (session->found.judged)
		g_ptr_array_free(session->found.judged, TRUE);
	if (session->found.deadlocks)
		g_ptr_array_free(session->found.deadlocks, TRUE);
	if (session->found.deadlocked)
		g_hash_table_destroy(session->found.deadlocked);
	g_free(session);
}

bool session_wants_match(const struct session *session)
{
	for (int i = 0; i < MATCH_COUNT; i++)
		if (session->asked.matches[i].filter)
			return true;
	return false;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const struct event_place *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_named(const struct session *session, const char *event_name)
{
	for (int i = 0; i < MATCH_COUNT; i++)
		if (session->asked.matches[i].filter &&
		    event_filter_wants(session->asked.matches[i].filter, event_name))
			return true;
	return false;
}

GArray *session_named_places(const struct session *session)
{
	g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(struct event_place));
	GHashTableIter iter;
	gpointer name;

	if (!session->trace.places)
		return NULL;
	g_hash_table_iter_init(&iter, session->trace.class_names);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		const struct places_of_name *of_name;

		if (!is_named(session, session_text(session, GPOINTER_TO_UINT(name))))
			continue;
		of_name = event_places_of(session->trace.places, GPOINTER_TO_UINT(name));
		if (of_name->many)
			return NULL;
		if (of_name->list)
			g_array_append_vals(named, of_name->list->data, of_name->list->len);
	}
	g_array_sort(named, by_number);
	return g_steal_pointer(&named);
}

bool session_has_matches(const struct session *session)
{
	for (int i = 0; i < MATCH_COUNT; i++) {
		const struct match *match = &session->asked.matches[i];

		if (match->filter && (!match->found || match->filter->nth == FILTER_LAST ||
				      i == MATCH_BEGIN || i == MATCH_END))
			return false;
	}
	return true;
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
	spans->known = model_host(model, spans->thread->host)->known_from;
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

bool spans_next(struct spans *spans, struct span *span)
{
	for (;;) {
		if (spans->has_rest) {
			*span = spans->rest;
			spans->has_rest = false;
		} else {
			if (!track_read(&spans->session->trace.timeline, &spans->thread->track,
					&spans->pos, spans->thread->end, span))
				return false;
			if (spans->thread->backfilled &&
			    span->begin == spans->thread->backfill_begin &&
			    leaf_is_off_cpu(span->leaf))
				cut_at_known(spans, span);
		}
		if (span->begin >= spans->to)
			return false;
		span->begin = MAX(span->begin, spans->from);
		span->end = MIN(span->end, spans->to);
		if (span->begin >= span->end)
			continue;
		span->leaf = leaf_seen_as(span->leaf, spans->kernel, spans->ksoftirqd);
		return true;
	}
}

bool spans_next_off_cpu(struct spans *spans, struct span *span)
{
	do {
		if (!spans->has_rest)
			track_skip_on_cpu(&spans->session->trace.timeline, &spans->thread->track,
					  &spans->pos);
		if (!spans_next(spans, span))
			return false;
	} while (!leaf_is_off_cpu(span->leaf));
	return true;
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

	if (session->trace.model.hosts->len < 2 || !is_thread(thread))
		return "";
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
	const struct thread *of = model_thread(&session->trace.model, thread);
	const struct host *host = model_host(&session->trace.model, of->host);

	return leaf_is_off_cpu(span->leaf) && host->gaps->len &&
	       host_gap_over(host, stretch_begin(session, of, span), span->end);
}

bool session_blocked_at(const struct session *session, uint32_t thread, int64_t time)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, time, time + 1);
	return spans_next(&spans, &span) && leaf_is_blocked(span.leaf);
}

uint32_t session_thread_at(const struct session *session, uint16_t host, int32_t tid, int64_t time)
{
	uint32_t newest = idmap_get(&model_host(&session->trace.model, host)->tids, (uint32_t) tid);
	uint32_t best = NO_THREAD;

	if (newest != IDMAP_NONE && model_thread(&session->trace.model, newest)->tid == tid &&
	    model_thread(&session->trace.model, newest)->begin <= time)
		return model_thread(&session->trace.model, newest)->end >= time
			       ? newest
			       : NO_THREAD;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (thread->host == host && thread->tid == tid && thread->begin <= time &&
		    thread->end >= time)
			best = best == NO_THREAD || /* the newest of two that touch */
					       thread->begin >=
						       model_thread(&session->trace.model, best)
							       ->begin
				       ? i
				       : best;
	}
	return best;
}

bool *session_tracers(const struct session *session)
{
	const uint32_t *process = session->trace.processes.first;
	uint32_t count = session->trace.model.thread_count;
	bool *tracers = g_new0(bool, count + 1);

	for (uint32_t i = 0; i < count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		const char *program = session_text(session, thread->program);
		const char *base = strrchr(program, '/');
		const char *names[] = {session_thread_name(session, i), base ? base + 1 : program};

		for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
			tracers[process[i]] |= g_str_has_prefix(names[k], "lttng-") ||
					       strcmp(names[k], "lttng") == 0;
	}
	for (uint32_t i = 0; i < count; i++)
		tracers[i] = tracers[process[i]];
	return tracers;
}
