/* SPDX-License-Identifier: MIT */
/* See feed.h. */
#include "run/feed.h"

#include <stddef.h>
#include <unistd.h>

#include "run/command.h"
#include "run/matches.h"
#include "run/stretches.h"
#include "symbols/binaries.h"
#include "symbols/symbols.h"
#include "trace/image.h"
#include "util/error.h"
#include "util/spill.h"

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
		matches_note(session, event);
	trace_event(&session->trace, event);
}

static void note_fields(void *data, unsigned filter, uint64_t conditions, const char *names)
{
	matches_note_fields(data, filter, conditions, names);
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

static struct makings *makings_new(void)
{
	struct makings *makings = g_new0(struct makings, 1);
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&makings->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	return makings;
}

static void makings_free(struct makings *makings)
{
	struct made *made = makings->first;

	while (made) {
		struct made *next = made->next;

		made->free(made->data);
		g_free(made);
		made = next;
	}
	pthread_mutex_destroy(&makings->lock);
	g_free(makings);
}

/* All but the trace. */
static void begin_question(struct session *session, struct options *options)
{
	session->asked.options = options;
	session->asked.boundaries = g_array_new(FALSE, FALSE, sizeof(struct boundary));
	session->asked.selected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	session->asked.target = NO_THREAD;
	session->found.made = makings_new();
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
	sink_init(session);
	stretches_init(session);
}

struct session *session_new(struct options *options)
{
	struct session *session = g_new0(struct session, 1);
	struct wanted wanted = {0};

	trace_init(&session->trace);
	if (options->command->want)
		options->command->want(options, &wanted);
	session->trace.flow.operations_wanted = wanted.operations;
	session->trace.flow.exchanges_wanted = wanted.exchanges;
	session->trace.flow.resources_wanted = wanted.resources;
	session->trace.flow.facts_wanted = session->trace.sink.values = wanted.facts;
	begin_question(session, options);
	return session;
}

struct relay *session_relay(struct session *session)
{
	const struct options *options = session->asked.options;

	/* a filter keeps what it captured of the event that was compared last */
	if (options_jobs(options) / MAX(session->asked.beside, 1) < 2 || options->every ||
	    (options->requests.captures && options->requests.captures->len))
		return NULL;
	return relay_new(&session->trace.sink, options->jobs ? 0 : EVENTS_FOR_THREADS);
}

static void end_question(struct session *session)
{
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
	g_free(session->found.alike);
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
	makings_free(session->found.made);
	session->asked = (struct question) {0};
	session->found = (struct results) {0};
}

void session_free(struct session *session)
{
	if (!session)
		return;
	trace_clear(&session->trace);
	end_question(session);
	g_free(session);
}

/* Threads' turns are made of their states, whatever else was recorded. */
static uint32_t read_for(uint32_t operations)
{
	return operations & ~(1u << OPERATION_BUSY);
}

/* What was recorded for more serves for less, but for operations: those that were recorded besides
 * would be among the parts of others. */
bool session_bears(const struct session *session, const struct options *options)
{
	const struct flow *flow = &session->trace.flow;
	struct wanted wanted = {0};

	if (options->command->want)
		options->command->want(options, &wanted);
	return (!wanted.exchanges || flow->exchanges_wanted) &&
	       (!wanted.operations ||
		(read_for(wanted.operations) == read_for(flow->operations_wanted) &&
		 (!wanted.resources || flow->resources_wanted) &&
		 (!wanted.facts || flow->facts_wanted)));
}

void session_ask_again(struct session *session, struct options *options)
{
	struct wanted wanted = {0};

	g_return_if_fail(session->trace.names_gathered);
	end_question(session);
	processes_clear(&session->trace.processes);
	session->trace.processes = (struct processes) {0};
	session->trace.restored = session->trace.sink.only_matches = true;
	begin_question(session, options);
	if (options->command->want)
		options->command->want(options, &wanted);
	if (!wanted.operations)
		trace_forget_operations(&session->trace);
	session->trace.flow.operations_wanted = wanted.operations;
}

/* --- copies --------------------------------------------------------------------- */

static bool always(void)
{
	return true;
}

static bool copy_trace(struct trace *copy, const struct trace *trace)
{
	g_autoptr(GPtrArray) directories = g_ptr_array_new();
	struct image_of of = {.directories = directories};
	int fd = spill_open();
	bool done = fd >= 0 && image_write(trace, &of, fd, always) && image_load(copy, &of, fd);

	if (fd >= 0)
		close(fd); /* what was mapped of it stays */
	return done;
}

/* What was resolved; the filters' own lists are empty by then. */
static void copy_match(struct match *copy, const struct match *match)
{
	GArray *candidates = copy->candidates, *of_host = copy->of_host;

	*copy = *match;
	copy->fields = g_strdup(match->fields);
	copy->candidates = candidates;
	copy->of_host = of_host;
}

static void copy_asked(struct question *copy, const struct question *asked)
{
	for (int i = 0; i < MATCH_COUNT; i++)
		copy_match(&copy->matches[i], &asked->matches[i]);
	g_array_append_vals(copy->boundaries, asked->boundaries->data, asked->boundaries->len);
	g_array_append_vals(copy->selected, asked->selected->data, asked->selected->len);
	copy->chosen = asked->chosen ? g_array_copy(asked->chosen) : NULL;
	copy->interrupted = asked->interrupted;
	copy->interrupted_data = asked->interrupted_data;
	copy->from = asked->from;
	copy->to = asked->to;
	copy->target = asked->target;
}

struct session *session_copy(const struct session *session, GError **error)
{
	struct session *copy = session_new(session->asked.options);
	uint32_t count = session->trace.model.thread_count;

	if (!copy_trace(&copy->trace, &session->trace)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "no copy of the trace could be made in %s, for the run with other "
			    "lengths: it takes as much room there as what was read takes",
			    spill_place());
		session_free(copy);
		return NULL;
	}
	copy->trace.begin = session->trace.begin;
	copy->trace.end = session->trace.end;
	copy_asked(&copy->asked, &session->asked);
	copy->found.thread_names =
		g_memdup2(session->found.thread_names, (count + 1) * sizeof(uint32_t));
	if (session->found.alike)
		copy->found.alike = g_memdup2(session->found.alike, count * sizeof(uint32_t));
	copy->found.symbols = session->found.symbols;
	copy->found.binaries = session->found.binaries;
	processes_init(&copy->trace.processes, &copy->trace.model);
	return copy;
}

void session_copy_free(struct session *copy)
{
	if (!copy)
		return;
	copy->found.symbols = NULL;
	copy->found.binaries = NULL;
	session_free(copy);
}
