/* SPDX-License-Identifier: MIT */
/* Reading traces into the session: directly where LTTng wrote them, through
 * Babeltrace where somebody else did or where that is asked for; see cli.h.
 */
#include "trace/clocks.h"
#include "run/feed.h"
#include "run/matches.h"
#include "cli/cli.h"
#include "foreign/source.h"
#include "skim/skim.h"
#include "tsp/serve_trace.h"
#include "util/error.h"

#include <string.h>

#define EVENTS_AT_ONCE 65536

/* … and of those whose files Babeltrace does not know. */
static bool all_of_lttng(GPtrArray *traces)
{
	for (guint i = 0; i < traces->len; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);

		if (!trace->lttng && !trace->user && !trace->file)
			return false;
	}
	return true;
}

bool traces_fit_babeltrace(GPtrArray *traces, GError **error)
{
	for (guint i = 0; i < traces->len; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);
		const char *directory;

		if (trace->file) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "%s is of a form that Babeltrace cannot read", trace->file);
			return false;
		}
		if (trace->user)
			continue;
		directory =
			((struct trace_directory *) g_ptr_array_index(trace->directories, 0))->path;
		if (trace->ctf2) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "%s is a CTF 2 trace, which cannot be read through "
				    "Babeltrace; --reader direct can",
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

static struct source *open_source(const struct event_sink *sink, GPtrArray *traces, GError **error)
{
	g_autoptr(GPtrArray) directories = g_ptr_array_new(), files = g_ptr_array_new();

	for (guint i = 0; i < traces->len; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);

		if (trace->file)
			g_ptr_array_add(files, trace->file);
		else
			g_ptr_array_add(directories, trace->directories);
	}
	return source_new(sink, directories, files, error);
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

static void go_through(struct session *session, struct source *source,
		       const struct event_list *list)
{
	g_autoptr(GString) text = g_string_new(NULL);
	enum list_wish wish = LIST_ON;
	struct source_record record;

	source_seek(source, list->from);
	while (wish != LIST_ENOUGH &&
	       source_next_record(source, session->trace.model.names, &record)) {
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
		source_record_text(source, text);
		line.fields = text->str;
		wish = list->visit(&line, list->data);
	}
}

/* The sink tells which host is which, and takes nothing. */
bool traces_go_through(struct session *session, GPtrArray *traces, const struct event_list *list,
		       GError **error)
{
	struct event_sink sink = session->trace.sink;
	struct source *source;

	memset(sink.filters, 0, sizeof sink.filters);
	sink.values = false;
	sink.places = NULL;
	sink.leave_user = leave_nothing;
	sink.place = hear_place;
	sink.damage_user = hear_damage;
	source = open_source(&sink, traces, error);
	if (!source)
		return false;
	go_through(session, source, list);
	source_free(source);
	return true;
}

/* --- a window of a long trace ---------------------------------------------------------------- */

#define LONG_BYTES (UINT64_C(32) << 20) /* what is shorter is read as fast as it is passed over */
#define LEAD_IN INT64_C(1000000000) /* ns: requests, packets and timers are on their way so long */

/* Nothing that happened before the window is asked for but how things are when it begins. */
static bool is_of_window(const struct session *session)
{
	const struct options *options = session->asked.options;

	if (!command_option(options->command, "lead-in"))
		return false;
	for (int i = 0; i < SINK_FILTERS; i++)
		if (session->trace.sink.filters[i])
			return false;
	/* where each host's clock is, is known when all is read */
	return session->trace.model.hosts->len == 1 && !options->every &&
	       options->lead_in != INT64_MAX &&
	       (options->from.kind != WHEN_NONE || options->to.kind != WHEN_NONE) &&
	       !session->trace.flow.operations_wanted && !session->trace.flow.exchanges_wanted;
}

/* How long (ns) before and after the window events are read, -1: from the trace's begin to its
 * end. */
static int64_t lead_in(const struct session *session, const struct reader *reader)
{
	const struct options *options = session->asked.options;

	if (!is_of_window(session) || (options->lead_in < 0 && reader_bytes(reader) < LONG_BYTES))
		return -1;
	return options->lead_in >= 0 ? options->lead_in : LEAD_IN;
}

/* Passes over what came before the window; returns the time (ns) at which reading may end. */
static int64_t pass_over(const struct session *session, struct reader *reader)
{
	const struct options *options = session->asked.options;
	int64_t lead = lead_in(session, reader), begin, end, from, to;

	if (lead < 0)
		return INT64_MAX;
	begin = reader_begin(reader);
	end = reader_end(reader);
	from = options->from.kind == WHEN_NONE
		       ? begin
		       : when_resolve(&options->from, begin, end, begin, options->utc);
	to = when_resolve(&options->to, begin, end, from, options->utc) + lead;
	if (from - begin > lead)
		skim_before(reader, from - lead, options_jobs(options));
	/* where the last event was is what the window is counted from */
	return options->to.kind == WHEN_NONE || options->to.kind == WHEN_FROM_END ||
			       options->from.kind == WHEN_FROM_END
		       ? INT64_MAX
		       : to;
}

static bool read_directly(struct session *session, GPtrArray *traces, GError **error)
{
	struct relay *relay = session_relay(session);
	struct source *source =
		open_source(relay ? relay_sink(relay) : &session->trace.sink, traces, error);
	struct progress progress;
	int64_t until;
	bool ok;

	if (!source) {
		relay_free(relay);
		return false;
	}
	until = source_reader(source) ? pass_over(session, source_reader(source)) : INT64_MAX;
	progress_begin(&progress, session);
	progress.source = source;
	progress.relay = relay;
	while (!session->asked.stretches.done && source_run(source, EVENTS_AT_ONCE, until))
		progress_show(&progress);
	if (until != INT64_MAX && reader_time(source_reader(source)) >= until)
		skim_after(source_reader(source), until, options_jobs(session->asked.options));
	while (!session->asked.stretches.done && source_run(source, EVENTS_AT_ONCE, INT64_MAX))
		progress_show(&progress);
	relay_wait(relay);
	progress_end(&progress);
	source_tell_damage(source);
	relay_free(relay);
	ok = session_has_events(session);
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    session->trace.damages->len
				    ? "the trace has no event that could be read: its "
				      "files are damaged"
				    : "the trace has no events");
	source_free(source);
	return ok;
}

bool traces_are_read_directly(const struct options *options, GPtrArray *traces)
{
	return options->reader == READER_DIRECT ||
	       (options->reader == READER_AUTO && all_of_lttng(traces));
}

bool traces_declare(struct session *session, GPtrArray *traces, GError **error)
{
	struct source *source = open_source(&session->trace.sink, traces, error);

	if (!source)
		return false;
	source_free(source);
	return true;
}

bool traces_match(struct session *session, GPtrArray *traces, GError **error)
{
	struct source *source = open_source(&session->trace.sink, traces, error);
	g_autoptr(GArray) places = NULL;
	bool ok = true;

	if (!source)
		return false;
	places = session_named_places(session);
	for (guint i = 0; places && i < places->len && ok && !session_has_matches(session); i++)
		ok = source_take_at(source, &g_array_index(places, struct event_place, i), error);
	while (!places && source_run(source, EVENTS_AT_ONCE, INT64_MAX) &&
	       !session_has_matches(session))
		;
	source_free(source);
	session_shift_matches(session);
	return ok;
}

bool traces_read(struct session *session, GPtrArray *traces, GError **error)
{
	static GMutex one_graph; /* Babeltrace's graphs run one at a time */
	const struct found_trace *first = g_ptr_array_index(traces, 0);
	bool read;

	session->trace.user_traces = first->user_traces;
	session->trace.user_apart = first->user_apart;
	if (traces_are_read_directly(session->asked.options, traces))
		return read_directly(session, traces, error);
	g_mutex_lock(&one_graph);
	read = traces_fit_babeltrace(traces, error) && graph_run(session, traces, error);
	g_mutex_unlock(&one_graph);
	return read;
}
