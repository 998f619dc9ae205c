/* SPDX-License-Identifier: MIT */
/* The whylate command: options, finding traces, reading them,
 * exit status. Place: src/cli/, the only folder of src/ that knows
 * Babeltrace.
 */
#ifndef WHYLATE_CLI_CLI_H
#define WHYLATE_CLI_CLI_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/record_options.h"
#include "commands/commands.h"
#include "event/relay.h"
#include "input/traces.h"
#include "report/output.h"
#include "run/session.h"
#include "sandbox/sandbox.h"

struct event_list;

/* Reads all traces into the session, directly or through Babeltrace. False and
 * WHYLATE_ERROR_NO_TRACE if nothing could be read; if reading stops early,
 * session->trace.stopped says why, and session->trace.damages what could not be read. */
bool traces_read(struct session *session, GPtrArray *traces, GError **error);
/* They will be, or were, read directly. */
bool traces_are_read_directly(const struct options *options, GPtrArray *traces);
/* Only what they declare, of traces that are read directly. */
bool traces_declare(struct session *session, GPtrArray *traces, GError **error);
/* Finds the events that the options name, for a session that has everything else. */
bool traces_match(struct session *session, GPtrArray *traces, GError **error);
/* Goes through their events as they were recorded, without changing what the session has. */
bool traces_go_through(struct session *session, GPtrArray *traces, const struct event_list *list,
		       GError **error);
/* Babeltrace can read the kernel traces; else WHYLATE_ERROR_NO_TRACE: 2.0 reads no CTF 2, and does
 * not end on metadata cut inside a packet. */
bool traces_fit_babeltrace(GPtrArray *traces, GError **error);
/* The same as traces_read() through Babeltrace. */
bool graph_run(struct session *session, GPtrArray *traces, GError **error);

/* A program named whylate-lami-NAME: `name` is what follows; returns the exit status. */
int lami_command(const char *name, int argc, char **argv);
/* Cuts [from, to], in the session's time, out of the traces at `paths`, which the session was read
 * from, into the new directory `output`. Errors are WHYLATE_ERROR_OUTPUT, _USAGE (there is
 * something already), _NO_TRACE (Babeltrace cannot read them), or _DAMAGE: it is written, but does
 * not say which events were lost. */
bool cut_window(const struct session *session, GPtrArray *paths, int64_t from, int64_t to,
		const char *output, GError **error);

/* "whylate: MESSAGE" on standard error. It may hold names from the trace: nothing in it is
 * acted upon by a terminal. `heard` not NULL: it is kept there instead (owned by the caller, the
 * last one only), for a caller that says it in its own way. */
void tell(char **heard, const char *message);
/* What is wrong; returns its exit status. */
int tell_error(char **heard, const GError *error);

/* Signals, closed standard streams, and what is told when memory ends. */
void process_begin(void);
/* Before an analysis: memory that is quick to touch, instead of memory that is given back. */
void process_use_huge_pages(void);
/* The other way round, for what comes: the trace has more than memory is to hold. */
void process_spare_memory(void);
/* All that was printed is written, or that is said. Returns the exit status. */
int process_end(int status);

/* Progress on standard error, if the options want it, or as lines on standard output. */
struct progress {
	struct session *session;       /* borrowed */
	const struct source *source;   /* borrowed; NULL: through Babeltrace */
	struct relay *relay;           /* borrowed; NULL: none */
	double done;                   /* told last */
	gint64 began;                  /* µs */
	bool shown, lines;
	uint64_t next; /* events at which it is shown next */
};
void progress_begin(struct progress *progress, struct session *session);
void progress_show(struct progress *progress);
void progress_end(const struct progress *progress);

/* Place of the first word that is neither an option nor its value; -1: none, or an option before
 * it is no command's. */
int arguments_first_word(int argc, char **argv);
/* Parses the command line, without the program's name and the command.
 * Returns -1 to go on, else the exit status (help, version, errors told). */
int arguments_parse(int argc, char **argv, struct options *options, GPtrArray *paths, char **heard);
/* The JSON Schema that the program has in that place, and what it is of; NULL: no more. */
const char *schema_at(size_t number, const char **text);
/* help.c: what a word names that comes first, NULL: no command. */
const struct command *word_find(const char *word);
/* "; did you mean 'delay'", or nothing; free with g_free(). */
char *word_nearest(const char *word);
void help_print(const struct command *command);
/* To standard output, as a report in text is written there. */
void help_begin(struct output *output, FILE **plain);
void help_finish(struct output *output, FILE *plain);
/* All the commands. */
void help_print_words(void);

/* One trace, or several that belong together: read and reported as the options say; returns the
 * exit status. What was wrong is told. */
int run(struct options *options, GPtrArray *paths, char **heard);
/* Gives up what the command does not need to answer (sandbox.h); run() does it by itself. */
void enter_sandbox(const struct options *options, const GPtrArray *paths, enum confine_set set);

/* --- whylate batch: batch_jobs.c; and what comes while it waits: batch_follow.c --------------- */

struct job {
	const char *trace; /* borrowed */
	pid_t pid; /* 0: not begun, or over */
	int out, err; /* files in memory: what the child writes */
	json_t *line; /* owned; NULL: not over yet */
	char *page; /* owned; its page, that a second child writes; NULL: none */
};

struct mapping {
	struct options *options; /* borrowed */
	struct job *jobs; /* owned */
	guint count, begun, printed, running;
	guint pages_lost; /* could not be written */
	struct output output;
	FILE *lines; /* borrowed; all lines, for the sum; NULL: only mapped */
};

/* Begins the process; false: it could not be, and `job->line` says so. */
bool job_begin(struct mapping *all, struct job *job);
/* Its process has ended: it has its line then, or another process writes its page. */
void job_end(struct mapping *all, struct job *job, int wait_status);
/* Writes the line, and says what is wrong. */
void job_print(const struct mapping *all, const json_t *line);

/* A process that analyses has options of its own. */
void job_options(struct options *options);
/* All that was written to a file in memory, which is empty then. Free with g_free(). */
char *job_text(int fd);
/* The line of a trace: `status` of its analysis, what that said (`end`: and how it ended, NULL),
 * its report, or "". */
json_t *job_line(const struct options *options, const char *trace, int status, const char *said,
		 const char *end, const char *report);
guint job_cores(const struct options *options);

/* `whylate batch --follow`: until a signal comes. */
bool batch_follow(struct options *options, GPtrArray *paths, FILE *lines, GError **error);

/* check --self: says what of the installation works; returns the exit status. */
int self_run(const struct options *options);

/* Those that do it in another way: their arguments to their exit status. */
int batch_run(int argc, char **argv);
int serve_run(int argc, char **argv);
int record_command_run(int argc, char **argv);
int snapshot_command_run(int argc, char **argv);

#endif
