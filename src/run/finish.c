/* SPDX-License-Identifier: MIT */
/* See finish.h. */
#include "run/finish.h"

#include <inttypes.h>
#include <stdlib.h>

#include "guests/machines.h"
#include "run/anonymise.h"
#include "run/choosing.h"
#include "run/command.h"
#include "run/matches.h"
#include "run/option_values.h"
#include "symbols/binaries.h"
#include "symbols/symbols.h"
#include "trace/gather.h"
#include "util/error.h"
#include "util/when.h"

static void set_bounds(struct session *session)
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
		       options_refuse(error, "--target '%s': it happened as the stretch began",
				      target->filter->text);
	}
	has_from = resolve_when(session, &options->from, &session->asked.matches[MATCH_FROM],
				session->trace.begin, session->trace.begin, &session->asked.from);
	if (options->from.kind == WHEN_FROM_END && session->asked.from < session->trace.begin)
		session->asked.from =
			session->trace.begin; /* --last longer than the trace: all of it */
	if (options->to.kind != WHEN_NONE && target->filter)
		return options_refuse(
			error, "--to and --target exclude each other: the target's time is the end "
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

		return options_refuse(
			error,
			"--from is %s, which is not inside the trace: it runs from %s to %s "
			"(%" PRId64 "ns to %" PRId64 "ns)",
			when_time(a, session->asked.from, options->utc, date),
			when_time(b, session->trace.begin, options->utc, date),
			when_time(c, session->trace.end, options->utc, date), session->trace.begin,
			session->trace.end);
	}
	if (session->asked.from < session->trace.begin || session->asked.to > session->trace.end ||
	    session->asked.from > session->trace.end || session->asked.to < session->trace.begin) {
		bool date = session->trace.end - session->trace.begin > INT64_C(86400000000000) ||
			    session->asked.from < session->trace.begin - INT64_C(86400000000000) ||
			    session->asked.to > session->trace.end + INT64_C(86400000000000);

		return options_refuse(
			error,
			"the window %s to %s is not inside the trace, which runs from %s to "
			"%s (%" PRId64 "ns to %" PRId64 "ns)",
			when_time(a, session->asked.from, options->utc, date),
			when_time(b, session->asked.to, options->utc, date),
			when_time(c, session->trace.begin, options->utc, date),
			when_time((char[48]) {0}, session->trace.end, options->utc, date),
			session->trace.begin, session->trace.end);
	}
	if (session->trace.begin == session->trace.end) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has no length: what could be read of it is all of one "
			    "moment, %s",
			    when_time(a, session->trace.begin, options->utc, true));
		return false;
	}
	if (session->asked.from >= session->asked.to)
		return options_refuse(
			error, "the window is empty: it begins at %s and ends at %s%s",
			when_time(a, session->asked.from, options->utc, false),
			when_time(b, session->asked.to, options->utc, false),
			target->filter ? ", the target's time; nth=2 or nth=last may mean a "
					 "later one"
				       : "");
	return true;
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
	    !flow_has_addresses(&session->trace.flow))
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

bool session_gather(struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	struct gather_options gather = {options->clock_offsets, options->guests};

	if (!trace_gather(&session->trace, &gather, error))
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

/* Of several machines on one host the names of their threads are the same: whose they are tells
 * them apart. In front, as what ends a name may be a number that does not (name_stem()). */
static void name_machine(struct session *session, guint guest)
{
	const struct model *model = &session->trace.model;
	const struct thread *machine = model_thread(model, model_host(model, guest)->guest.machine);
	const char *host = trace_host_name(&session->trace, guest);

	for (uint32_t i = 0; i < model->thread_count; i++) {
		g_autofree char *name = NULL;

		if (!machine_has(model, machine, model_thread(model, i)))
			continue;
		name = g_strdup_printf("%s%s's %s", g_str_has_prefix(host, "guest") ? "" : "guest ",
				       host, session_own_name(session, i));
		session->found.thread_names[i] = intern_id(model->names, name);
	}
}

static void name_threads(struct session *session)
{
	uint32_t count = session->trace.model.thread_count;

	session->found.thread_names = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++)
		session->found.thread_names[i] =
			thread_name_at(model_thread(&session->trace.model, i), session->asked.to);
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (is_thread(model_host(&session->trace.model, i)->guest.machine))
			name_machine(session, i);
}

/* What numbers tell of names is not to be seen in what stands for them. */
static void note_alike(struct session *session)
{
	uint32_t count = session->trace.model.thread_count;
	g_autoptr(GHashTable) stems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	session->found.alike = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = session_thread_name(session, i);
		char *stem = g_strndup(name, name_stem(name));
		gpointer first;

		if (g_hash_table_lookup_extended(stems, stem, NULL, &first)) {
			g_free(stem);
		} else {
			first = GUINT_TO_POINTER(i);
			g_hash_table_insert(stems, stem, first);
		}
		session->found.alike[i] = GPOINTER_TO_UINT(first);
	}
}

bool session_finish(struct session *session, GError **error)
{
	if (!session->trace.restored && !session_gather(session, error))
		return false;
	set_bounds(session);
	if (!session->trace.events) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has no kernel events%s%s",
			    session->trace.stopped ? ": " : "",
			    session->trace.stopped ? session->trace.stopped : "");
		return false;
	}
	if (!host_exists(session, error) || !matches_resolve(session, error) ||
	    !resolve_window(session, error) || !matches_find_target(session, error) ||
	    !threads_choose(session, error))
		return false;
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
		note_alike(session);
		session_anonymise(session);
		g_free(session->found.thread_names);
		name_threads(session);
	}
	processes_init(&session->trace.processes, &session->trace.model);
	if (session->asked.options->command->finish)
		session->asked.options->command->finish(session);
	return true;
}
