/* SPDX-License-Identifier: MIT */
/* See periodic.h. */
#include "commands/periodic.h"
#include "run/finish.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"
#include "limits/judge.h"
#include "report/report.h"
#include "util/error.h"
#include "util/when.h"

struct periodic {
	FILE *file;       /* stdout, or owned */
	const char *path; /* borrowed; NULL: standard output */
};

/* --- in the child ------------------------------------------------------- */

/* A line of its own for each JSON object: the newlines between its members, the only
 * ones that JSON has, become spaces. */
static ssize_t write_in_line(void *cookie, const char *bytes, size_t size)
{
	FILE *file = cookie;
	size_t at = 0;

	while (at < size) {
		const char *newline = memchr(bytes + at, '\n', size - at);
		size_t part = newline ? (size_t) (newline - bytes) - at : size - at;

		if (fwrite(bytes + at, 1, part, file) != part ||
		    (newline && fputc(' ', file) == EOF))
			return 0;
		at += part + (newline != NULL);
	}
	return (ssize_t) size;
}

static int end_line(void *cookie)
{
	FILE *file = cookie;

	return fputc('\n', file) != EOF && fflush(file) == 0 ? 0 : -1;
}

static void heading(const struct session *session, struct output *output)
{
	char from[48], to[48], length[32];

	if (session->asked.stretches.reported)
		fputs("\n\n", output->file);
	fprintf(output->file, "==== Report %u: %s to %s, %s ====\n\n",
		session->asked.stretches.reported + 1,
		when_time(from, session->asked.from, session->asked.options->utc, true),
		when_time(to, session->asked.to, session->asked.options->utc, true),
		when_duration(length, session->asked.to - session->asked.from));
}

static bool write_report(const struct periodic *periodic, struct session *session, GError **error)
{
	static const cookie_io_functions_t in_line = {.write = write_in_line, .close = end_line};
	struct output output;
	bool ok;

	output_begin(&output, periodic->file, periodic->path);
	output.continued = session->asked.stretches.reported > 0;
	if (session->asked.options->format == FORMAT_JSON) {
		output.file = fopencookie(periodic->file, "w", in_line);
		if (!output.file)
			g_error("out of memory");
	} else if (session->asked.options->format == FORMAT_TEXT) {
		heading(session, &output);
	}
	ok = report_write_to(session, &output, error) && output_commit(&output, error);
	output_clear(&output);
	return ok;
}

/* The trace has gone on to `to` at least. */
static bool make_report(const struct periodic *periodic, struct session *session, int64_t from,
			int64_t to, GError **error)
{
	timeline_detach(&session->trace.timeline, false);
	session->asked.interrupted = NULL; /* what was begun is finished */
	session->asked.of_stretch = true;
	session->asked.from = from;
	session->asked.to = to;
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		struct host *host = model_host(&session->trace.model, i);

		if (host->any)
			host->end = MAX(host->end, to);
	}
	if (!session_finish(session, error))
		return false;
	if (session->asked.options->limits->len) /* of a chunk (chunked.h): --every has none */
		session->found.judged = judgements_new(session);
	return write_report(periodic, session, error);
}

/* The exit status is the error's; its message goes to `message`. */
static void child(const struct periodic *periodic, struct session *session, int64_t from,
		  int64_t to, int message)
{
	GError *error = NULL;
	size_t length;

	if (make_report(periodic, session, from, to, &error))
		_exit(0);
	length = strlen(error->message);
	while (length) {
		ssize_t written = write(message, error->message, length);

		if (written <= 0)
			break;
		length -= (size_t) written;
		memmove(error->message, error->message + written, length);
	}
	_exit(error_status(error));
}

/* --- in the parent ------------------------------------------------------ */

static char *read_all(int fd)
{
	GString *text = g_string_new(NULL);
	char buffer[512];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			g_string_append_len(text, buffer, got);
	return g_string_free(text, FALSE);
}

/* What became of the child, as if the report had been written here. */
static bool reap(pid_t pid, const char *message, GError **error)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
				    "cannot wait for a report: %s", g_strerror(errno));
			return false;
		}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (WIFEXITED(status)) {
		g_set_error(error, WHYLATE_ERROR, WEXITSTATUS(status), "%s", message);
		return false;
	}
	/* nobody reads what is written: that ends a process, unless it said otherwise */
	if (WTERMSIG(status) == SIGPIPE)
		raise(SIGPIPE);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
		    "a report is incomplete: its process was ended by signal %d (%s)",
		    WTERMSIG(status), g_strsignal(WTERMSIG(status)));
	return false;
}

static bool report(struct session *session, int64_t from, int64_t to, void *data, GError **error)
{
	const struct periodic *periodic = data;
	g_autofree char *message = NULL;
	int ends[2];
	pid_t pid;

	fflush(NULL); /* else the child would write it again */
	if (pipe(ends) != 0 || (pid = fork()) < 0) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot make a report: %s",
			    g_strerror(errno));
		return false;
	}
	if (pid == 0) {
		close(ends[0]);
		child(periodic, session, from, to, ends[1]);
	}
	close(ends[1]);
	message = read_all(ends[0]);
	close(ends[0]);
	return reap(pid, message, error);
}

bool periodic_begin(struct session *session, GError **error)
{
	const char *path = session->asked.options->output;
	struct periodic *periodic;
	FILE *file = stdout;

	if (!session->asked.options->every)
		return true;
	if (path && strcmp(path, "-") != 0) {
		file = fopen(path, "we");
		if (!file) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
				    "cannot write %s: %s", path, g_strerror(errno));
			return false;
		}
	}
	periodic = g_new0(struct periodic, 1);
	*periodic = (struct periodic) {file, file == stdout ? NULL : path};
	session->asked.stretches.report = report;
	session->asked.stretches.data = periodic;
	return true;
}

void periodic_end(struct session *session)
{
	struct periodic *periodic = session->asked.stretches.data;

	if (!periodic)
		return;
	if (periodic->file != stdout)
		fclose(periodic->file);
	g_free(periodic);
	session->asked.stretches.data = NULL;
}
