/* SPDX-License-Identifier: MIT */
/* session_finish(): from what the user named to a window and threads.
 *
 * Part of run/. A name that matches nothing and a window outside the
 * trace are the user's failures, with the nearest thing that exists.
 * Source: semantics.md, "Window, target and lineage"; interface.md.
 */
#include "waits/deadlocks.h"
#include "run/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/binaries.h"
#include "trace/gather.h"
#include "run/containers.h"
#include "run/anonymise.h"
#include "run/command.h"
#include "symbols/symbols.h"
#include "util/distance.h"
#include "util/error.h"
#include "util/pattern.h"
#include "model/container.h"

#define FAIL(...) (g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, __VA_ARGS__), false)

static void trace_bounds(struct session *session)
{
	bool any = false;

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		if (!host->any)
			continue;
		session->trace.begin = any ? MIN(session->trace.begin, host->begin) : host->begin;
		session->trace.end = any ? MAX(session->trace.end, host->end) : host->end;
		any = true;
	}
}

static const char *nearest_event(const struct session *session, const char *name)
{
	GHashTableIter iter;
	gpointer key;
	const char *best = NULL;
	unsigned best_distance = UINT_MAX;

	g_hash_table_iter_init(&iter, session->trace.class_names);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const char *text = session_text(session, GPOINTER_TO_UINT(key));
		unsigned d = text_distance(name, text);

		if (d < best_distance || (d == best_distance && strcmp(text, best) < 0)) {
			best = text;
			best_distance = d;
		}
	}
	return best;
}

static bool event_declared(const struct session *session, const struct event_filter *filter)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, session->trace.class_names);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (event_filter_wants(filter, session_text(session, GPOINTER_TO_UINT(key))))
			return true;
	return false;
}

/* The event exists, but none is as the conditions say. */
static bool no_match(const char *option, const struct match *match, GError **error)
{
	const GArray *conditions = match->filter->conditions;

	if (!match->met)
		return FAIL("--%s '%s': such events were recorded, but none happened", option,
			    match->filter->text);
	for (guint i = 0; i < conditions->len && i < 64; i++)
		if (!(match->keys & (UINT64_C(1) << i)))
			return FAIL("--%s '%s': these events have no field '%s'; they have: %s",
				    option, match->filter->text,
				    g_array_index(conditions, struct filter_condition, i).key,
				    match->fields);
	return FAIL("--%s '%s': such events happened, but none with these values", option,
		    match->filter->text);
}

static bool check_match(const struct session *session, const char *option,
			const struct match *match, GError **error)
{
	const char *near;

	if (!match->filter || match->found)
		return true;
	if (event_declared(session, match->filter)) {
		if (match->seen)
			return FAIL("--%s '%s': the trace has only %" PRId64
				    " such events; lower nth, or use nth=last",
				    option, match->filter->text, match->seen);
		return no_match(option, match, error);
	}
	near = nearest_event(session, match->filter->event);
	return FAIL("--%s '%s': the trace has no event '%s'%s%s%s", option, match->filter->text,
		    match->filter->event, near ? "; the nearest it has is '" : "", near ? near : "",
		    near ? "'" : "");
}

static int by_candidate_time(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* The nth of all hosts, by their common time. */
static void choose_match(struct match *match)
{
	GArray *list = match->candidates;
	const struct candidate *chosen;
	int64_t nth;

	if (!match->filter || !list->len)
		return;
	g_array_sort(list, by_candidate_time);
	nth = match->filter->nth == FILTER_LAST ? list->len : match->filter->nth;
	if (nth > list->len)
		return;
	chosen = &g_array_index(list, struct candidate, nth - 1);
	match->found = true;
	match->time = chosen->time;
	match->host = chosen->host;
	match->cpu = chosen->cpu;
	match->tid = chosen->tid;
	match->user = chosen->user;
	match->event = chosen->event;
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

static uint32_t match_thread(const struct session *session, const struct match *match)
{
	return session_event_thread(session, match->host, match->cpu, match->tid, match->user,
				    match->time);
}

static bool resolve_when(const struct session *session, const struct when *when,
			 const struct match *match, int64_t base, int64_t fallback, int64_t *time)
{
	if (when->kind == WHEN_NONE) {
		*time = fallback;
		return false;
	}
	*time = when->kind == WHEN_EVENT
			? match->time
			: when_resolve(when, session->trace.begin, session->trace.end, base,
				       session->asked.options->utc);
	return true;
}

static bool resolve_window(struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	const struct match *target = &session->asked.matches[MATCH_TARGET];
	char a[48], b[48], c[48];
	bool has_from;

	if (session->asked.of_stretch) {
		session->asked.to = target->filter ? target->time : session->asked.to;
		return session->asked.from < session->asked.to ||
		       FAIL("--target '%s': it happened as the stretch began",
			    target->filter->text);
	}
	has_from = resolve_when(session, &options->from, &session->asked.matches[MATCH_FROM],
				session->trace.begin, session->trace.begin, &session->asked.from);
	if (options->from.kind == WHEN_FROM_END && session->asked.from < session->trace.begin)
		session->asked.from =
			session->trace.begin; /* --last longer than the trace: all of it */
	if (options->to.kind != WHEN_NONE && target->filter)
		return FAIL("--to and --target exclude each other: the target's time is the end "
			    "of the window");
	if (target->filter)
		session->asked.to = target->time;
	else
		resolve_when(session, &options->to, &session->asked.matches[MATCH_TO],
			     has_from ? session->asked.from : session->trace.begin,
			     session->trace.end, &session->asked.to);
	if (options->to.kind == WHEN_FROM_BEGIN && session->asked.to > session->trace.end)
		session->asked.to = session->trace.end;
	if (options->lami) {
		session->asked.from = MAX(session->asked.from, session->trace.begin);
		session->asked.to = MIN(session->asked.to, session->trace.end);
	}
	if (has_from && (session->asked.from < session->trace.begin ||
			 session->asked.from >= session->trace.end)) {
		bool date =
			llabs(session->asked.from - session->trace.begin) > INT64_C(86400000000000);

		return FAIL("--from is %s, which is not inside the trace: it runs from %s to %s "
			    "(%" PRId64 "ns to %" PRId64 "ns)",
			    when_time(a, session->asked.from, options->utc, date),
			    when_time(b, session->trace.begin, options->utc, date),
			    when_time(c, session->trace.end, options->utc, date),
			    session->trace.begin, session->trace.end);
	}
	if (session->asked.from < session->trace.begin || session->asked.to > session->trace.end ||
	    session->asked.from > session->trace.end || session->asked.to < session->trace.begin) {
		bool date = session->trace.end - session->trace.begin > INT64_C(86400000000000) ||
			    session->asked.from < session->trace.begin - INT64_C(86400000000000) ||
			    session->asked.to > session->trace.end + INT64_C(86400000000000);

		return FAIL("the window %s to %s is not inside the trace, which runs from %s to "
			    "%s (%" PRId64 "ns to %" PRId64 "ns)",
			    when_time(a, session->asked.from, options->utc, date),
			    when_time(b, session->asked.to, options->utc, date),
			    when_time(c, session->trace.begin, options->utc, date),
			    when_time((char[48]) {0}, session->trace.end, options->utc, date),
			    session->trace.begin, session->trace.end);
	}
	if (session->asked.from >= session->asked.to)
		return FAIL("the window is empty: it begins at %s and ends at %s%s",
			    when_time(a, session->asked.from, options->utc, false),
			    when_time(b, session->asked.to, options->utc, false),
			    target->filter ? ", the target's time; nth=2 or nth=last may mean a "
					     "later one"
					   : "");
	return true;
}

static bool lived_in_window(const struct session *session, const struct thread *thread)
{
	return MAX(thread->begin, session->asked.from) < MIN(thread->end, session->asked.to);
}

static bool host_wanted(const struct session *session, const struct thread *thread)
{
	const char *wanted = session->asked.options->host;
	const struct host *host = model_host(&session->trace.model, thread->host);

	return !wanted || g_strcmp0(wanted, host->hostname) == 0;
}

/* How a name that the user gave is to be understood. */
enum naming { BY_NUMBER, BY_NAME, BY_PROGRAM };

static bool name_matches(const struct session *session, uint32_t index, const char *wanted)
{
	return pattern_match(wanted, session_thread_name(session, index));
}

/* The base name of the thread's program. */
static bool program_matches(const struct session *session, uint32_t index, const char *wanted)
{
	const char *program =
		session_text(session, model_thread(&session->trace.model, index)->program);
	const char *base = strrchr(program, '/');

	return *program && pattern_match(wanted, base ? base + 1 : program);
}

/* A number is a TID or PID; a name, with * and ?, a thread's in the window;
 * only if no thread has such a name, its program's. */
static enum naming naming_of(const struct session *session, const char *wanted)
{
	gint64 n;

	if (g_ascii_string_to_signed(wanted, 10, 0, INT32_MAX, &n, NULL))
		return BY_NUMBER;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (name_matches(session, i, wanted) && container_has(session, i, NULL))
			return BY_NAME;
	return BY_PROGRAM;
}

static bool named(const struct session *session, uint32_t index, int32_t number, const char *wanted,
		  enum naming naming)
{
	switch (naming) {
	case BY_NUMBER:
		return number == g_ascii_strtoll(wanted, NULL, 10);
	case BY_NAME:
		return name_matches(session, index, wanted);
	default:
		return program_matches(session, index, wanted);
	}
}

static int by_host_tid_begin(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct session *session = data;
	const struct thread *x = model_thread(&session->trace.model, *(const uint32_t *) a);
	const struct thread *y = model_thread(&session->trace.model, *(const uint32_t *) b);

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The thread itself or, for a process, the thread that leads it; numbers are those
 * of the container, if one was asked for. */
static bool is_wanted(const struct session *session, uint32_t index, const char *wanted,
		      bool process, enum naming naming)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	uint32_t leader = index;
	struct ids ids;

	if (!container_has(session, index, &ids))
		return false;
	if (strcmp(wanted, "all") == 0 && !process)
		return true;
	if (!process)
		return named(session, index, ids.tid, wanted, naming);
	if (thread->pid < 0)
		return false;
	if (thread->pid != thread->tid)
		leader = session_thread_at(session, thread->host, thread->pid, thread->begin);
	return named(session, leader == NO_THREAD ? index : leader, ids.pid, wanted, naming);
}

static const char *nearest_thread(const struct session *session, const char *wanted)
{
	const char *best = NULL;
	unsigned best_distance = UINT_MAX;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const char *name = session_thread_name(session, i);
		unsigned d = text_distance(wanted, name);

		if (d < best_distance && strcmp(name, "?") != 0 &&
		    container_has(session, i, NULL)) {
			best = name;
			best_distance = d;
		}
	}
	return best_distance <= strlen(wanted) / 2 ? best : NULL;
}

void session_threads_named(const struct session *session, const char *wanted, bool process,
			   GArray *list)
{
	enum naming naming = naming_of(session, wanted);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (host_wanted(session, thread) && lived_in_window(session, thread) &&
		    is_wanted(session, i, wanted, process, naming))
			g_array_append_val(list, i);
	}
}

/* Everything asked for must exist: one name at a time. */
static bool select_names(struct session *session, const GPtrArray *names, const char *option,
			 bool process, GError **error)
{
	for (guint i = 0; i < names->len; i++) {
		const char *wanted = g_ptr_array_index(names, i), *near;
		enum naming naming = naming_of(session, wanted);
		bool found = false, lived = false;

		for (uint32_t t = 0; t < session->trace.model.thread_count; t++) {
			const struct thread *thread = model_thread(&session->trace.model, t);

			if (!host_wanted(session, thread) ||
			    !is_wanted(session, t, wanted, process, naming))
				continue;
			lived = true;
			if (!lived_in_window(session, thread))
				continue;
			found = true;
			g_array_append_val(session->asked.selected, t);
		}
		/* a damaged trace may have events, but no thread */
		if (found || (strcmp(wanted, "all") == 0 && !session->trace.model.thread_count))
			continue;
		if (lived)
			return FAIL("--%s '%s': it did not live in the window", option, wanted);
		near = nearest_thread(session, wanted);
		return FAIL("--%s '%s': the %s has no such %s%s%s%s; 'whylate overview "
			    "--limit 0 TRACE' lists them",
			    option, wanted, session->asked.chosen ? "container" : "trace", option,
			    near ? ", the nearest name is '" : "", near ? near : "",
			    near ? "'" : "");
	}
	return true;
}

/* --container alone: all its threads; an export is of all unless it says of which. */
static bool select_container(struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	bool all = options->command->every_thread;

	if ((!options->container && !all) || options->threads->len || options->processes->len)
		return true;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (host_wanted(session, thread) && container_has(session, i, NULL) &&
		    lived_in_window(session, thread))
			g_array_append_val(session->asked.selected, i);
	}
	if (session->asked.selected->len || !options->container)
		return true;
	return FAIL("--container '%s': no thread of it lived in the window%s%s", options->container,
		    options->host ? " on host " : "", options->host ? options->host : "");
}

static bool check_host(const struct session *session, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);

	if (!session->asked.options->host)
		return true;
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		if (g_strcmp0(host->hostname, session->asked.options->host) == 0)
			return true;
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       host->hostname ? host->hostname : "(no name)");
	}
	return FAIL("--host '%s': the traces are of %s", session->asked.options->host, names->str);
}

/* "in order of host, tid, begin", each once however often it was named. */
static void sort_selected(struct session *session)
{
	GArray *list = session->asked.selected;
	guint kept = 0;

	g_array_sort_with_data(list, by_host_tid_begin, session);
	for (guint i = 0; i < list->len; i++)
		if (!i ||
		    g_array_index(list, uint32_t, i) != g_array_index(list, uint32_t, kept - 1))
			g_array_index(list, uint32_t, kept++) = g_array_index(list, uint32_t, i);
	g_array_set_size(list, kept);
}

#define LEVELS_UP 3 /* OUT/archives/CHUNK/kernel: beside the trace is beside OUT */

/* The symbols that the user named, else those beside the trace, if anything
 * of it is an address. What lies there and is no use is passed over. */
static bool load_symbols(struct session *session, GError **error)
{
	const char *given = session->asked.options->kallsyms;
	g_autofree char *directory = g_strdup(session->trace.place);

	if (given) {
		session->found.symbols = symbols_new(given, error);
		return session->found.symbols != NULL;
	}
	if (session->trace.model.hosts->len > 1 || /* of which of them? */
	    (session->trace.flow.callstacks.lists->len == 1 &&
	     !session->trace.flow.addresses.count))
		return true;
	for (int level = 0; directory && level <= LEVELS_UP && !session->found.symbols; level++) {
		g_autofree char *path = g_build_filename(directory, "kallsyms", NULL);
		char *above = g_path_get_dirname(directory);

		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			session->found.symbols = symbols_new(path, NULL);
		g_free(directory);
		directory = above;
	}
	return true;
}

static void shift_time(const struct session *session, uint16_t host, int64_t *time)
{
	*time = clock_line_at(&model_host(&session->trace.model, host)->clock.line, *time);
}

void session_shift_matches(struct session *session)
{
	for (guint i = 0; i < session->asked.boundaries->len; i++) {
		struct boundary *mark =
			&g_array_index(session->asked.boundaries, struct boundary, i);

		shift_time(session, mark->host, &mark->time);
	}
	for (int m = 0; m < MATCH_COUNT; m++)
		for (guint i = 0; i < session->asked.matches[m].candidates->len; i++) {
			struct candidate *at = &g_array_index(session->asked.matches[m].candidates,
							      struct candidate, i);

			shift_time(session, at->host, &at->time);
		}
}

bool session_gather(struct session *session, GError **error)
{
	if (!trace_gather(&session->trace, session->asked.options->clock_offsets, error))
		return false;
	session_shift_matches(session);
	return true;
}

/* Of several hosts by their common time; what ends comes before what begins. */
static int by_mark(gconstpointer a, gconstpointer b)
{
	const struct boundary *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->end != y->end ? (x->end ? -1 : 1) : 0;
}

static void name_threads(struct session *session)
{
	uint32_t count = session->trace.model.thread_count;

	session->found.thread_names = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++)
		session->found.thread_names[i] =
			thread_name_at(model_thread(&session->trace.model, i), session->asked.to);
}

bool session_finish(struct session *session, GError **error)
{
	static const char *const options[] = {"target", "from", "to", "begin", "end"};
	const struct match *target = &session->asked.matches[MATCH_TARGET];

	if (!session->trace.restored && !session_gather(session, error))
		return false;
	trace_bounds(session);
	if (!session->trace.events) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has no kernel events%s%s",
			    session->trace.stopped ? ": " : "",
			    session->trace.stopped ? session->trace.stopped : "");
		return false;
	}
	if (!check_host(session, error))
		return false;
	for (int i = 0; i < MATCH_COUNT; i++) {
		choose_match(&session->asked.matches[i]);
		if (!check_match(session, options[i], &session->asked.matches[i], error))
			return false;
	}
	if (!resolve_window(session, error))
		return false;
	if (target->filter) {
		session->asked.target = match_thread(session, target);
		if (!is_thread(session->asked.target))
			return FAIL("--target '%s': %s", target->filter->text,
				    session->asked.target == IDLE_THREAD
					    ? "it happened in the idle loop, where no thread "
					      "runs; name an event of the thread that was late"
					    : "which thread it happened in is not known");
	}
	if (!container_choose(session, error) || !select_container(session, error))
		return false;
	if (!select_names(session, session->asked.options->threads, "thread", false, error) ||
	    !select_names(session, session->asked.options->processes, "process", true, error))
		return false;
	sort_selected(session);
	if (!load_symbols(session, error))
		return false;
	if (!session->found.binaries && session->asked.options->anonymiser)
		session->found.binaries = binaries_new(NULL, NULL); /* functions have names too */
	if (!session->found.binaries)
		session->found.binaries =
			binaries_new(session->asked.options->binary_paths, session->trace.place);
	g_array_sort(session->asked.boundaries, by_mark);
	name_threads(session);
	if (session->asked.options->command->choose)
		session->asked.options->command->choose(session);
	if (session->asked.options->anonymiser) {
		session_anonymise(session);
		g_free(session->found.thread_names);
		name_threads(session);
	}
	processes_init(&session->trace.processes, &session->trace.model);
	deadlocks_find(session);
	if (session->asked.options->command->finish)
		session->asked.options->command->finish(session);
	return true;
}
