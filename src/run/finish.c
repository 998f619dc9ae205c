/* SPDX-License-Identifier: MIT */
/* See finish.h. */
#include "run/finish.h"

#include "run/anonymise.h"
#include "run/choosing.h"
#include "run/command.h"
#include "run/matches.h"
#include "run/window.h"
#include "symbols/binaries.h"
#include "symbols/symbols.h"
#include "trace/gather.h"
#include "util/error.h"

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
	if (!session->trace.restored && !session_gather(session, error))
		return false;
	window_bounds(session);
	if (!session->trace.events) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has no kernel events%s%s",
			    session->trace.stopped ? ": " : "",
			    session->trace.stopped ? session->trace.stopped : "");
		return false;
	}
	if (!host_exists(session, error) || !matches_resolve(session, error) ||
	    !window_resolve(session, error) || !matches_find_target(session, error) ||
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
		session_anonymise(session);
		g_free(session->found.thread_names);
		name_threads(session);
	}
	processes_init(&session->trace.processes, &session->trace.model);
	if (session->asked.options->command->finish)
		session->asked.options->command->finish(session);
	return true;
}
