/* SPDX-License-Identifier: MIT */
/* Reading traces into the session: directly where LTTng wrote them, through
 * Babeltrace where somebody else did or where that is asked for; see cli.h.
 */
#include "trace/clocks.h"
#include "run/feed.h"
#include "run/matches.h"
#include "cli/cli.h"
#include "tsp/serve_trace.h"
#include "util/error.h"

#include <string.h>

#define EVENTS_AT_ONCE 65536

static bool all_of_lttng(GPtrArray *traces)
{
	for (guint i = 0; i < traces->len; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);

		if (!trace->lttng && !trace->user)
			return false;
	}
	return true;
}

bool traces_fit_babeltrace(GPtrArray *traces, GError **error)
{
	for (guint i = 0; i < traces->len; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);
		const char *directory =
			((struct trace_directory *) g_ptr_array_index(trace->directories, 0))->path;

		if (trace->user)
			continue;
		if (trace->ctf2) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "%s is a CTF 2 trace, which Babeltrace 2.0 cannot read; "
				    "--reader direct can",
				    directory);
			return false;
		}
		if (trace->trouble) {
			g_set_error(
				error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				"%s/metadata is damaged: %s; --reader direct reads what there is "
				"of it",
				directory, trace->trouble);
			return false;
		}
	}
	return true;
}

static GPtrArray *trace_directories(GPtrArray *traces)
{
	GPtrArray *directories = g_ptr_array_new();

	for (guint i = 0; i < traces->len; i++)
		g_ptr_array_add(directories,
				((struct found_trace *) g_ptr_array_index(traces, i))->directories);
	return directories;
}

static struct reader *direct_reader(const struct event_sink *sink, GPtrArray *traces,
				    GError **error)
{
	g_autoptr(GPtrArray) directories = trace_directories(traces);

	return reader_new(sink, directories, error);
}

/* --- events as they were recorded ------------------------------------------------------------ */

static void leave_nothing(void *data)
{
	(void) data;
}

static void hear_place(void *data, const char *directory)
{
	(void) data;
	(void) directory;
}

static void hear_damage(void *data, const char *path, const char *what)
{
	(void) data;
	(void) path;
	(void) what;
}

static void go_through(struct session *session, struct reader *reader,
		       const struct event_list *list)
{
	g_autoptr(GString) text = g_string_new(NULL);
	enum list_wish wish = LIST_ON;
	struct reader_record record;

	reader_seek(reader, list->from);
	while (wish != LIST_ENOUGH && reader_next_record(reader, &record)) {
		const struct host *host = model_host(&session->trace.model, record.host);
		struct event_line line = {.at = record.time,
					  .time = clock_line_at(&host->clock.line, record.time),
					  .host = record.host,
					  .cpu = record.cpu,
					  .name = record.name};

		wish = list->visit(&line, list->data);
		if (wish != LIST_FIELDS)
			continue;
		g_string_truncate(text, 0);
		reader_record_text(reader, text);
		line.fields = text->str;
		wish = list->visit(&line, list->data);
	}
}

/* The sink tells which host is which, and takes nothing. */
bool traces_go_through(struct session *session, GPtrArray *traces, const struct event_list *list,
		       GError **error)
{
	g_autoptr(GPtrArray) directories = trace_directories(traces);
	struct event_sink sink = session->trace.sink;
	struct reader *reader;

	memset(sink.filters, 0, sizeof sink.filters);
	sink.values = false;
	sink.places = NULL;
	sink.leave_user = leave_nothing;
	sink.place = hear_place;
	sink.damage_user = hear_damage;
	reader = reader_new(&sink, directories, error);
	if (!reader)
		return false;
	go_through(session, reader, list);
	reader_free(reader);
	return true;
}

static bool read_directly(struct session *session, GPtrArray *traces, GError **error)
{
	struct relay *relay = session_relay(session);
	struct reader *reader =
		direct_reader(relay ? relay_sink(relay) : &session->trace.sink, traces, error);
	struct progress progress;
	bool ok;

	if (!reader) {
		relay_free(relay);
		return false;
	}
	progress_begin(&progress, session);
	progress.reader = reader;
	progress.relay = relay;
	while (!session->asked.stretches.done && reader_run(reader, EVENTS_AT_ONCE))
		progress_show(&progress);
	relay_wait(relay);
	progress_end(&progress);
	reader_tell_damage(reader);
	relay_free(relay);
	ok = session_has_events(session);
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    session->trace.damages->len
				    ? "the trace has no event that could be read: its "
				      "files are damaged"
				    : "the trace has no events");
	reader_free(reader);
	return ok;
}

bool traces_are_read_directly(const struct options *options, GPtrArray *traces)
{
	return options->reader == READER_DIRECT ||
	       (options->reader == READER_AUTO && all_of_lttng(traces));
}

bool traces_declare(struct session *session, GPtrArray *traces, GError **error)
{
	struct reader *reader = direct_reader(&session->trace.sink, traces, error);

	if (!reader)
		return false;
	reader_free(reader);
	return true;
}

bool traces_match(struct session *session, GPtrArray *traces, GError **error)
{
	struct reader *reader = direct_reader(&session->trace.sink, traces, error);
	g_autoptr(GArray) places = NULL;
	bool ok = true;

	if (!reader)
		return false;
	places = session_named_places(session);
	for (guint i = 0; places && i < places->len && ok && !session_has_matches(session); i++)
		ok = reader_take_at(reader, &g_array_index(places, struct event_place, i), error);
	while (!places && reader_run(reader, EVENTS_AT_ONCE) && !session_has_matches(session))
		;
	reader_free(reader);
	session_shift_matches(session);
	return ok;
}

bool traces_read(struct session *session, GPtrArray *traces, GError **error)
{
	const struct found_trace *first = g_ptr_array_index(traces, 0);

	session->trace.user_traces = first->user_traces;
	session->trace.user_apart = first->user_apart;
	if (traces_are_read_directly(session->asked.options, traces))
		return read_directly(session, traces, error);
	return traces_fit_babeltrace(traces, error) && graph_run(session, traces, error);
}
