/* SPDX-License-Identifier: MIT */
/* One report: traces read, what was asked of them answered, and what was wrong with them told; see
 * cli.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "limits/judge.h"
#include "run/matches.h"
#include "run/finish.h"
#include "run/feed.h"
#include "run/command.h"
#include "findings/findings.h"
#include "cli/cli.h"
#include "input/cache.h"
#include "commands/periodic.h"
#include "report/report.h"
#include "sandbox/sandbox.h"
#include "util/error.h"
#include "util/spill.h"
#include "limits/limits_report.h"
#include "serve/serve.h"
#include "tsp/serve_trace.h"

static bool lost_events(const struct session *session)
{
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (model_host(&session->trace.model, i)->gaps->len)
			return true;
	return false;
}

/* All events into the session, or those that the options name if it has the others. */
static bool read_traces(struct session *session, GPtrArray *paths, struct cache **cache,
			GError **error)
{
	g_autoptr(GPtrArray) traces = NULL;
	bool kept = session->trace.restored;

	if (kept && !session_wants_match(session))
		return true;
	traces = traces_find(paths, error);
	if (!traces)
		return false;
	if (!traces_are_read_directly(session->asked.options, traces))
		g_clear_pointer(cache, cache_free);
	return kept ? traces_match(session, traces, error) : traces_read(session, traces, error);
}

/* The report is whole all the same, and its coverage says so too. */
static void tell_spill(const struct options *options, int status)
{
	if (spill_trouble() && !options->quiet && (!status || status == WHYLATE_ERROR_DAMAGE))
		fprintf(stderr,
			"whylate: no room for a temporary file in %s: %s; all was kept in "
			"memory. TMPDIR=DIRECTORY names another place\n",
			spill_place(), g_strerror(spill_trouble()));
}

/* The kernel's report is whole; one of user space's events is not. */
static int tell_user_trouble(const struct session *session, char **heard)
{
	for (guint i = 0; i < session->trace.user_damages->len && !session->asked.options->quiet;
	     i++) {
		g_autofree char *message =
			g_strconcat("a user-space trace is damaged, and only what could be read of "
				    "it is used: ",
				    (char *) g_ptr_array_index(session->trace.user_damages, i),
				    NULL);

		tell(heard, message);
	}
	return session->trace.user_damages->len && session_uses_user(session)
		       ? WHYLATE_ERROR_DAMAGE
		       : 0;
}

/* What is to be said of a trace that was read, and its part in the exit status. */
static int tell_trouble(const struct session *session, char **heard)
{
	const struct options *options = session->asked.options;
	int status = tell_user_trouble(session, heard);

	if (session->trace.stopped) {
		g_autofree char *message = g_strconcat(
			"the trace could not be read to its end, the report is of what came "
			"before: ",
			session->trace.stopped, NULL);

		tell(heard, message);
		return WHYLATE_ERROR_DAMAGE;
	}
	if (session->trace.damages->len) {
		fprintf(stderr,
			"whylate: the trace is damaged; the report is of what could be read, "
			"and its coverage says what could not\n");
		return WHYLATE_ERROR_DAMAGE;
	}
	if (!lost_events(session))
		return status;
	if (!options->quiet)
		fprintf(stderr, "whylate: the tracer lost events; the report's coverage says "
				"when, and marks what it touches\n");
	return options->strict ? WHYLATE_ERROR_DAMAGE : status;
}

/* A trace, or several that belong together, read and to be reported. */
struct input {
	struct cache *cache;     /* owned; NULL: none */
	struct session *session; /* owned */
	bool kept;               /* it was taken from the cache */
	guint beside;            /* so many are read at the same time */
};

static bool input_read(struct input *input, struct options *options, GPtrArray *paths,
		       GError **error)
{
	input->cache = cache_new(options, paths);
	input->session = input->cache ? cache_session(input->cache, options) : NULL;
	input->kept = input->session != NULL;
	if (!input->session)
		input->session = session_new(options);
	input->session->asked.beside = input->beside;
	if (input->beside > 1 && !input->kept)
		timeline_share(&input->session->trace.timeline, input->beside);
	if (input->cache && !input->kept)
		trace_note_places(&input->session->trace);
	return periodic_begin(input->session, error) &&
	       read_traces(input->session, paths, &input->cache, error);
}

static void input_clear(struct input *input)
{
	if (!input->session)
		return;
	/* the answer comes first, and a wrong question is asked again; but what has other names now
	 * is not the trace */
	if (input->cache && !input->kept && !input->session->asked.options->anonymiser &&
	    trace_is_whole(&input->session->trace))
		cache_keep(input->cache, input->session);
	cache_free(input->cache);
	if (*input->session->found.runs_read >= RUNS_READ_MAX &&
	    !input->session->asked.options->quiet)
		fprintf(stderr,
			"whylate: so many threads were ready at once that some competing threads "
			"are unknown; a narrower window (--from, --to) shows them\n");
	periodic_end(input->session);
	session_free(input->session);
}

/* The second trace of a diff, and who reads it. */
struct other {
	struct input input;
	struct options *options; /* borrowed */
	GPtrArray *paths; /* owned; all of the others are one trace. NULL: there is none */
	GError *error; /* owned; why it could not be read */
	GThread *thread; /* NULL: who reads the first one reads it, before that */
};

static gpointer other_read(gpointer data)
{
	struct other *other = data;

	if (input_read(&other->input, other->options, other->paths, &other->error) &&
	    !session_finish(other->input.session, &other->error))
		g_prefix_error(&other->error, "in the second trace, %s: ",
			       (char *) g_ptr_array_index(other->paths, 0));
	return NULL;
}

static bool other_begin(struct other *other, struct options *options, GPtrArray *paths,
			GError **error)
{
	if (!options->command->two_traces || paths->len < 2)
		return true;
	if (paths->len > 2) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "%s compares two traces, %u are given; a directory may hold several "
			    "traces that belong together",
			    options->command->name, paths->len);
		return false;
	}
	other->options = options;
	other->paths = g_ptr_array_new();
	g_ptr_array_add(other->paths, g_ptr_array_remove_index(paths, 1));
	/* a filter keeps what it met of the trace that is read */
	if (options_jobs(options) > 1 && !options_name_events(options)) {
		other->input.beside = 2;
		other->thread = g_thread_try_new(NULL, other_read, other, NULL);
	}
	if (!other->thread)
		other_read(other);
	return true;
}

/* Of two traces that cannot be read, the second one is told. */
static bool read_all(struct input *input, struct other *other, struct options *options,
		     GPtrArray *paths, GError **error)
{
	bool read;

	if (!other_begin(other, options, paths, error))
		return false;
	input->beside = other->thread ? 2 : 1;
	read = !other->error && input_read(input, options, paths, error);
	if (other->thread)
		g_thread_join(other->thread);
	if (!other->error)
		return read;
	g_clear_error(error);
	g_propagate_error(error, other->error);
	return false;
}

static void other_clear(struct other *other)
{
	input_clear(&other->input);
	if (other->paths)
		g_ptr_array_unref(other->paths);
}

/* Cuts the window, or around the finding that is asked for: with half its length on both sides, and
 * a millisecond at least, so that what began and ended it is in the cut too. */
static bool cut(const struct session *session, GPtrArray *paths, GError **error)
{
	const struct options *options = session->asked.options;
	int64_t from = session->asked.from, to = session->asked.to, more;
	struct finding found;

	if (options->finding) {
		if (!finding_look_up(session, options->finding, &found) ||
		    found.end <= found.begin) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
				    "--around '%s': this trace has no such finding, or it is seen "
				    "at no "
				    "one time; reports list them",
				    options->finding);
			return false;
		}
		g_free(found.title);
		more = MAX((found.end - found.begin) / 2, 1000000);
		from = MAX(from, found.begin - more);
		to = MIN(to, found.end + more);
	}
	return cut_window(session, paths, from, to, options->output, error);
}

/* What was asked for, when all has been read. */
static bool answer(struct session *session, GPtrArray *paths, GError **error)
{
	const struct options *options = session->asked.options;

	if (options->export.as != EXPORT_CTF)
		return report_end(session, error);
	return session_finish(session, error) && cut(session, paths, error);
}

/* 1 for a limit that is exceeded wins over all else; 4 for one that was not judged. */
static int tell_limits(const struct session *session, int status, char **heard)
{
	int verdict = judgements_status(session->found.judged);

	for (guint i = 0; session->found.judged && i < session->found.judged->len; i++) {
		const struct judgement *at = g_ptr_array_index(session->found.judged, i);
		g_autofree char *text = NULL, *message = NULL;

		if (session->asked.options->quiet ||
		    (at->outcome != OUTCOME_EXCEEDED && at->outcome != OUTCOME_NOT_JUDGED))
			continue;
		text = judgement_text(at);
		message = g_strconcat(at->outcome == OUTCOME_EXCEEDED ? "limit exceeded: "
								      : "limit not judged: ",
				      text, NULL);
		tell(heard, message);
	}
	return verdict == 1 ? 1 : MAX(status, verdict);
}

/* When the run came to its stages, us. */
struct stages {
	int64_t begun, read, reported, kept;
};

/* For who asks where the time goes. */
static void tell_stages(const struct options *options, const struct stages *stages, uint64_t events)
{
	struct rusage usage;

	if (!options->verbose || options->quiet || !stages->reported ||
	    getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	fprintf(stderr,
		"whylate: reading %" PRIu64 " events took %.3f s, the report %.3f s, keeping for "
		"further questions %.3f s; %.3f s of processor time, %ld MB of memory at most\n",
		events, (double) (stages->read - stages->begun) / G_USEC_PER_SEC,
		(double) (stages->reported - stages->read) / G_USEC_PER_SEC,
		(double) (stages->kept - stages->reported) / G_USEC_PER_SEC,
		(double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / G_USEC_PER_SEC,
		usage.ru_maxrss / 1024);
}

void enter_sandbox(const struct options *options, const GPtrArray *paths, enum confine_set set)
{
	g_autofree char *cache = cache_place(options, paths);

	sandbox_enter(options, paths, cache, set);
}

int run(struct options *options, GPtrArray *paths, char **heard)
{
	struct input input = {0};
	struct other other = {0};
	struct stages stages = {.begun = g_get_monotonic_time()};
	g_autoptr(GError) error = NULL;
	uint64_t events = 0;
	int status, status_other;

	enter_sandbox(options, paths, CONFINE_ANALYSIS);
	process_use_huge_pages();
	if (!read_all(&input, &other, options, paths, &error)) {
		status = tell_error(heard, error);
	} else {
		stages.read = g_get_monotonic_time();
		if (input.session->trace.timeline.intervals.spilled)
			process_spare_memory();
		events = input.session->trace.events;
		input.session->asked.other = other.input.session;
		g_free(options->trace); /* of a diff the first trace alone is suggested */
		options->trace = suggested_trace(paths);
		if (!answer(input.session, paths, &error)) {
			status = tell_error(heard, error);
		} else {
			status = tell_trouble(input.session, heard);
			status_other =
				other.input.session ? tell_trouble(other.input.session, heard) : 0;
			status = MAX(status, status_other);
			status = tell_limits(input.session, status, heard);
			stages.reported = g_get_monotonic_time();
		}
	}
	input_clear(&input);
	other_clear(&other);
	stages.kept = g_get_monotonic_time();
	tell_stages(options, &stages, events);
	tell_spill(options, status);
	return status;
}

/* --- whylate serve --------------------------------------------------------------------------- */

/* For questions that name events: the trace is read again for them. */
static bool match(struct session *session, GPtrArray *paths, GError **error)
{
	g_autoptr(GPtrArray) traces = traces_find(paths, error);

	return traces && traces_match(session, traces, error);
}

static bool list(struct session *session, GPtrArray *paths, const struct event_list *wanted,
		 GError **error)
{
	g_autoptr(GPtrArray) traces = traces_find(paths, error);

	return traces && traces_go_through(session, traces, wanted, error);
}

static bool tell_reading(struct session *session, double done, void *data)
{
	return http_while_reading(data, session, done);
}

/* What was read is kept for the next time before it is served: reports change the session. */
static int read_to_serve(struct http *http, struct options *options, GPtrArray *paths)
{
	struct input input = {0};
	g_autoptr(GError) error = NULL;
	int status = 0;

	if (!input_read(&input, options, paths, &error)) {
		status = http_has_ended(http) ? 0 : tell_error(NULL, error);
	} else if (!http_has_ended(http) && !session_finish(input.session, &error)) {
		status = tell_error(NULL, error);
	} else if (!http_has_ended(http)) {
		struct serve_trace trace = {input.session, paths, match, list, run};

		tell_trouble(input.session, NULL);
		if (input.cache && !input.kept)
			cache_keep(input.cache, input.session);
		timeline_let_go(&input.session->trace.timeline);
		http_serve(http, &trace);
	}
	input.kept = true;
	input_clear(&input);
	return status;
}

static int read_and_serve(struct options *options, GPtrArray *paths)
{
	g_autoptr(GError) error = NULL;
	struct http *http = http_open(options, paths, &error);
	int status;

	if (!http)
		return tell_error(NULL, error);
	options->reading = tell_reading;
	options->reading_data = http;
	enter_sandbox(options, paths, CONFINE_SERVER);
	status = read_to_serve(http, options, paths);
	http_close(http);
	return status;
}

int serve_run(int argc, char **argv)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	struct options options;
	int status;

	command_options(&options, &serve_command);
	status = arguments_parse(argc, argv, &options, paths, NULL);
	if (status < 0)
		status = read_and_serve(&options, paths);
	options_clear(&options);
	return status;
}
