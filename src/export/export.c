/* SPDX-License-Identifier: MIT */
/* Choosing a format, and where it is written to; see export.h. */
#include "export/export.h"

#include <string.h>
#include <unistd.h>

#include "export/export_formats.h"
#include "report/output.h"
#include "util/error.h"

/* --- which, and where to ------------------------------------------------------ */

static const struct {
	export_writer *write;
	bool binary;
} formats[] = {
	[EXPORT_PERFETTO] = {export_perfetto, .binary = true},
	[EXPORT_TRACE_EVENT] = {export_trace_event, .binary = false},
	[EXPORT_FOLDED] = {export_folded, .binary = false},
	[EXPORT_SPEEDSCOPE] = {export_speedscope, .binary = false},
	[EXPORT_PPROF] = {export_pprof, .binary = true},
	[EXPORT_CSV] = {export_csv, .binary = false},
	[EXPORT_SQLITE] = {export_sqlite, .binary = true},
};

static bool refuse(GError **error, const char *why)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "%s", why);
	return false;
}

/* `straight`: to standard output. */
static bool check_place(const struct options *options, bool straight, GError **error)
{
	enum export_format as = options->export.as;

	if (as == EXPORT_CTF)
		return refuse(error, "--as ctf is for the command whylate only; here "
				     "filter.utils.trimmer and sink.ctf.fs do it");
	if (as == EXPORT_CSV && !options->export.table && straight)
		return refuse(error, "--as csv writes several tables: --output DIRECTORY for all "
				     "of them, or --table NAME for one");
	if (straight && formats[as].binary && isatty(STDOUT_FILENO))
		return refuse(error, "this format is not for a terminal: --output FILE");
	return true;
}

static bool write_to(const struct session *session, struct output *output, GError **error)
{
	const struct options *options = session->asked.options;
	FILE *file = output->file;
	struct walk walk;
	bool ok;

	if (!check_place(options, file == stdout, error))
		return false;
	walk_init(&walk, session);
	ok = formats[options->export.as].write(&walk, file, error);
	walk_clear(&walk);
	return ok && !session_interrupted(session);
}

static bool write_directory(const struct session *session, GError **error)
{
	struct walk walk;
	bool ok;

	walk_init(&walk, session);
	ok = export_csv_all(&walk, session->asked.options->output, error);
	walk_clear(&walk);
	return ok;
}

bool export_write(const struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	bool straight = !options->output || strcmp(options->output, "-") == 0;
	struct output output;
	bool ok;

	if (!check_place(options, straight, error))
		return false;
	if (options->export.as == EXPORT_CSV && !options->export.table)
		return write_directory(session, error);
	ok = output_open(&output, options->output, error) && write_to(session, &output, error) &&
	     output_commit(&output, error);
	output_clear(&output);
	return ok;
}
