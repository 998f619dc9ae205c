/* SPDX-License-Identifier: MIT */
/* See chunked.h. */
#include "commands/chunked.h"

#include "commands/periodic.h"
#include "reader/reader.h"
#include "run/feed.h"
#include "run/stretches.h"
#include "util/error.h"

#define EVENTS_AT_ONCE 65536

struct chunked {
	struct session *session; /* owned */
	struct reader *reader;   /* owned */
};

struct chunked *chunked_new(struct options *options, GError **error)
{
	struct chunked *chunked = g_new0(struct chunked, 1);
	g_autoptr(GPtrArray) none = g_ptr_array_new();

	options->every = INT64_MAX; /* it is cut where chunks end */
	chunked->session = session_new(options);
	if (periodic_begin(chunked->session, error))
		chunked->reader = reader_new(&chunked->session->trace.sink, none, error);
	if (!chunked->reader)
		g_clear_pointer(&chunked, chunked_free);
	return chunked;
}

void chunked_free(struct chunked *chunked)
{
	reader_free(chunked->reader);
	periodic_end(chunked->session);
	session_free(chunked->session);
	g_free(chunked);
}

/* Damage is told of the chunk that has it. */
static void forget_damage(struct trace *trace)
{
	g_array_set_size(trace->damages, 0);
	g_clear_pointer(&trace->stopped, g_free);
}

/* All that is before `until` (ns), and a report of it. */
static bool report_until(struct chunked *chunked, int64_t until, GError **error)
{
	struct stretches *stretches = &chunked->session->asked.stretches;
	uint32_t before = stretches->reported;
	bool came;

	while (reader_run(chunked->reader, EVENTS_AT_ONCE, until))
		;
	reader_tell_chunk_damage(chunked->reader);
	came = stretches_cut(chunked->session, until);
	forget_damage(&chunked->session->trace);
	if (stretches->error) { /* what comes may be reported all the same */
		g_propagate_error(error, g_steal_pointer(&stretches->error));
		stretches->done = false;
	} else if (stretches->refused) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "%s", stretches->refused);
		g_clear_pointer(&stretches->refused, g_free);
	} else if (!came) {
		g_set_error_literal(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "it has no event behind those of the chunk before it");
	}
	return stretches->reported > before;
}

bool chunked_add(struct chunked *chunked, GPtrArray *directories, GError **error)
{
	bool ok;

	if (!reader_add_chunk(chunked->reader, directories, error))
		return false;
	ok = report_until(chunked, reader_settled(chunked->reader), error);
	reader_forget_chunks(chunked->reader);
	return ok;
}

bool chunked_end(struct chunked *chunked, GError **error)
{
	int64_t end = reader_end(chunked->reader);

	return reader_time(chunked->reader) != INT64_MIN &&
	       report_until(chunked, end == INT64_MAX ? end : end + 1, error);
}
