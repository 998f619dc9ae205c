/* SPDX-License-Identifier: MIT */
/* whylate batch: a process for each trace, a line for each process; see batch/batch_parts.h.
 *
 * Each trace is analysed in a child that does what `whylate` does with one trace: its report is the
 * line, its standard error the messages, its exit status the status. So a trace that ends the
 * analysis, by whatever, costs its own line only. Lines are printed in the order of the traces,
 * whichever child ends first.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/anonymise.h"
#include "cli/batch_find.h"
#include "cli/cli.h"
#include "cli/identity.h"
#include "batch/batch_parts.h"
#include "fleet/fleet_sum.h"
#include "engines/job_plan.h"
#include "limits/judge.h"
#include "report/output.h"
#include "util/error.h"

#define MESSAGES_MAX 20 /* of one trace */
#define PAGE_NAME_BYTES 80 /* of a trace's path */

struct job {
	const char *trace;  /* borrowed */
	pid_t pid;          /* 0: not begun, or over */
	int out, err;       /* files in memory: what the child writes */
	json_t *line;       /* owned; NULL: not over yet */
	char *page;         /* owned; its page, that a second child writes; NULL: none */
};

struct mapping {
	struct options *options; /* borrowed */
	struct job *jobs;        /* owned */
	guint count, begun, printed, running;
	struct output output;
	FILE *lines;             /* borrowed; all lines, for the sum; NULL: only mapped */
};

/* --- the child -------------------------------------------------------------- */

static void child(struct options *options, const struct job *job)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();

	prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would read the line */
	dup2(job->out, STDOUT_FILENO);
	dup2(job->err, STDERR_FILENO);
	options->output = job->page;
	options->junit = NULL;
	options->quiet = true;
	options->jobs = 1; /* there is one such process for each processor */
	options->progress = CHOICE_NEVER;
	options->cache = g_strdup("off");
	if (job->page) {
		options->command = command_find(options->commands, "overview");
		options->format = FORMAT_HTML;
		options->depth = 0; /* as overview has it */
	}
	g_ptr_array_add(paths, (gpointer) job->trace);
	_exit(process_end(run(options, paths, NULL)));
}

static bool begin(struct mapping *all, struct job *job)
{
	fflush(stdout);
	job->out = memfd_create("whylate-line", MFD_CLOEXEC);
	job->err = memfd_create("whylate-messages", MFD_CLOEXEC);
	job->pid = job->out < 0 || job->err < 0 ? -1 : fork();
	if (job->pid == 0)
		child(all->options, job);
	if (job->pid > 0) {
		all->running++;
		return true;
	}
	job->pid = 0;
	return false;
}

/* --- the parent --------------------------------------------------------------- */

/* All that was written to a file in memory; closes it. Free with g_free(). */
static char *take_text(int fd)
{
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char *text = g_malloc((gsize) MAX(size, 0) + 1);
	ssize_t got = size > 0 ? pread(fd, text, (size_t) size, 0) : 0;

	text[MAX(got, 0)] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

/* The trace as its line names it. Free with g_free(). */
static char *trace_shown(const struct options *options, const char *trace)
{
	return options->anonymiser ? anonymous_path(options->anonymiser, trace) : g_strdup(trace);
}

/* What the child said, without the program's name. */
static json_t *messages_of(const struct options *options, const char *trace, const char *text,
			   const char *end)
{
	g_autofree char *shown = trace_shown(options, trace);
	g_auto(GStrv) parts = g_strsplit(text, trace, -1);
	g_autofree char *said = g_strjoinv(shown, parts);
	g_auto(GStrv) lines = g_strsplit(said, "\n", MESSAGES_MAX + 1);
	json_t *list = json_array();

	for (guint i = 0; lines[i] && i < MESSAGES_MAX; i++) {
		const char *line = lines[i];
		g_autofree char *valid = NULL;

		if (g_str_has_prefix(line, "whylate: "))
			line += strlen("whylate: ");
		valid = g_utf8_make_valid(line, -1);
		if (*valid)
			json_array_append_new(list, json_string(valid));
	}
	if (end)
		json_array_append_new(list, json_string(end));
	return list;
}

/* What status 4 means for a trace: it, or its limits, or that there is no answer at all. */
static void put_trouble(json_t *line, json_t *messages)
{
	json_t *trouble = json_array(), *limit;
	bool report = json_object_get(line, "events") != NULL;
	bool whole = !json_is_true(json_object_get(line, "damaged"));
	size_t i;

	json_array_foreach(json_object_get(line, "limits"), i, limit)
	{
		const char *why = json_string_value(json_object_get(limit, "why"));
		g_autofree char *message = NULL;

		if (g_strcmp0(json_string_value(json_object_get(limit, "outcome")),
			      outcome_text(OUTCOME_NOT_JUDGED)) != 0)
			continue;
		if (!json_array_size(trouble))
			json_array_append_new(trouble, json_string("limit-not-judged"));
		message = g_strdup_printf("limit not judged: %s%s%s",
					  json_string_value(json_object_get(limit, "limit")),
					  why ? ": " : "", why ? why : "");
		json_array_append_new(messages, json_string(message));
	}
	if (!report)
		json_array_insert_new(trouble, 0, json_string("no-answer"));
	else if (!whole || !json_array_size(trouble))
		json_array_insert_new(trouble, 0, json_string("not-whole"));
	json_object_set_new(line, "trouble", trouble);
}

/* What the trace is known by, wherever it lies; NULL: it cannot be read. With names replaced it is,
 * too. */
static char *identity_shown(const struct options *options, const char *trace)
{
	char *identity = identity_of_content(trace);

	if (identity && options->anonymiser) {
		const char *other = anonymous_text(options->anonymiser, ANONYMOUS_NAME, identity);
		g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, other, -1);

		memcpy(identity, sum, strlen(identity));
	}
	return identity;
}

/* The line of a trace: what the child wrote, with what became of it in front. */
static json_t *line_of(const struct options *options, const char *trace, int status,
		       json_t *messages, const char *text)
{
	g_autofree char *shown = trace_shown(options, trace), *valid = g_utf8_make_valid(shown, -1);
	g_autofree char *identity = identity_shown(options, trace);
	json_t *line = json_object(), *report = *text ? json_loads(text, 0, NULL) : NULL;

	json_object_set_new(line, "schema", json_string(BATCH_SCHEMA));
	json_object_set_new(line, "kind", json_string("trace"));
	json_object_set_new(line, "trace", json_string(valid));
	if (identity)
		json_object_set_new(line, "identity", json_string(identity));
	json_object_set_new(line, "status", json_integer(status));
	json_object_set_new(line, "messages", messages);
	if (report)
		json_object_update_missing(line, report);
	if (status == WHYLATE_ERROR_DAMAGE)
		put_trouble(line, messages);
	json_decref(report);
	return line;
}

/* Where the page of a trace is: named by its last directories, and so that no two are the same,
 * whichever process makes them. Free with g_free(). */
static char *page_path(const struct options *options, const char *trace)
{
	g_autofree char *whole = g_canonicalize_filename(trace, NULL);
	g_autofree char *shown = trace_shown(options, whole);
	g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, shown, -1);
	const char *last = shown + strlen(shown) - MIN(strlen(shown), PAGE_NAME_BYTES);
	g_autofree char *name = NULL;

	last += strspn(last, "/");
	name = g_strdup_printf("%s-%.8s.html", last, hash);
	g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-", '_');
	return g_build_filename(options->batch.pages, name, NULL);
}

/* A second child writes the page of what could be read. */
static void begin_page(struct mapping *all, struct job *job)
{
	if (!all->options->batch.pages || !json_object_get(job->line, "events"))
		return;
	job->page = page_path(all->options, job->trace);
	unlink(job->page); /* of an earlier run: it would be taken for this one's */
	if (!begin(all, job))
		g_clear_pointer(&job->page, g_free);
}

static void end_page(const struct options *options, struct job *job)
{
	g_autofree char *said = take_text(job->err);
	json_t *messages = json_object_get(job->line, "messages");

	g_free(take_text(job->out)); /* its standard output is in the page */
	if (g_file_test(job->page, G_FILE_TEST_IS_REGULAR)) {
		g_autofree char *valid = g_utf8_make_valid(job->page, -1);

		json_object_set_new(job->line, "page", json_string(valid));
	} else {
		json_t *why = messages_of(options, job->trace, said, "its page was not written");

		json_array_extend(messages, why);
		json_decref(why);
	}
	g_clear_pointer(&job->page, g_free);
}

static void end_line(struct mapping *all, struct job *job, int wait_status)
{
	g_autofree char *text = take_text(job->out), *said = take_text(job->err), *why = NULL;
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : WHYLATE_ERROR_DAMAGE;

	if (WIFSIGNALED(wait_status))
		why = g_strdup_printf("the analysis was ended by signal %d (%s)",
				      WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	job->line = line_of(all->options, job->trace, status,
			    messages_of(all->options, job->trace, said, why), why ? "" : text);
}

static void end(struct mapping *all, struct job *job, int wait_status)
{
	job->pid = 0;
	all->running--;
	if (job->page) {
		end_page(all->options, job);
	} else {
		end_line(all, job, wait_status);
		begin_page(all, job);
	}
}

/* What is wrong with a trace is said at once too, not only in its line. */
static void tell_line(const struct mapping *all, const json_t *line)
{
	const char *trace = json_string_value(json_object_get(line, "trace"));
	const json_t *first = json_array_get(json_object_get(line, "messages"), 0);
	json_int_t status = json_integer_value(json_object_get(line, "status"));
	g_autofree char *message = NULL;

	if (all->options->quiet || !status || !first)
		return;
	message = g_strdup_printf("%s: %s", trace, json_string_value(first));
	tell(NULL, message);
}

/* In one write(2), as the stream has no buffer: other processes may write to the same file. What is
 * opened for appending (`>>`) gets it whole, on file systems that grant that: local ones do, NFS
 * does not. */
static void write_line(struct mapping *all, const json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(6));
	size_t size = strlen(text);

	text[size++] = '\n'; /* in place of its end */
	if (all->output.file)
		fwrite(text, 1, size, all->output.file);
	if (all->lines)
		fwrite(text, 1, size, all->lines);
	free(text);
}

static void print_ready(struct mapping *all)
{
	for (; all->printed < all->count && all->jobs[all->printed].line &&
	       !all->jobs[all->printed].pid;
	     all->printed++) {
		json_t *line = all->jobs[all->printed].line;

		write_line(all, line);
		tell_line(all, line);
		json_decref(line);
		all->jobs[all->printed].line = NULL;
	}
}

/* One child has ended. */
static void wait_one(struct mapping *all)
{
	int status = 0;
	pid_t pid = waitpid(-1, &status, 0);

	for (guint i = 0; i < all->begun && pid > 0; i++)
		if (all->jobs[i].pid == pid)
			end(all, &all->jobs[i], status);
}

static void map(struct mapping *all, guint most)
{
	while (all->printed < all->count) {
		struct job *job = &all->jobs[all->begun];

		if (all->begun < all->count && all->running < most && begin(all, job)) {
			all->begun++;
			continue;
		}
		if (all->running) {
			wait_one(all);
		} else { /* not even one process could be begun */
			g_autofree char *why =
				g_strdup_printf("cannot start a process: %s", g_strerror(errno));

			all->begun++;
			job->line = line_of(all->options, job->trace, WHYLATE_ERROR_DAMAGE,
					    messages_of(all->options, job->trace, "", why), "");
		}
		print_ready(all);
	}
}

/* --- which traces ----------------------------------------------------------------- */

/* Paths on standard input, one a line. */
static void read_paths(GPtrArray *traces)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&text, &room, stdin)) > 0) {
		text[strcspn(text, "\r\n")] = '\0';
		if (*text)
			g_ptr_array_add(traces, g_strdup(text));
	}
	free(text);
}

static guint cores(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (guint) online : 1;
}

static bool pages_begin(const char *directory, GError **error)
{
	if (!directory || g_mkdir_with_parents(directory, 0777) == 0)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot make %s: %s", directory,
		    g_strerror(errno));
	return false;
}

static bool map_all(struct mapping *all, GPtrArray *traces, GError **error)
{
	const struct batch_options *batch = &all->options->batch;
	bool prints = !batch_prints_text(all->options);
	bool ok = pages_begin(batch->pages, error) &&
		  (!prints || output_open(&all->output, all->options->output, error));

	all->count = traces->len;
	all->jobs = g_new0(struct job, traces->len + 1);
	for (guint i = 0; i < traces->len; i++)
		all->jobs[i].trace = traces->pdata[i];
	if (ok) {
		if (prints)
			setvbuf(all->output.file, NULL, _IONBF, 0);
		map(all, batch->jobs ? batch->jobs : batch->map ? 1 : cores());
		ok = !prints || output_commit(&all->output, error);
	}
	if (prints)
		output_clear(&all->output);
	g_free(all->jobs);
	return ok;
}

/* Those that are asked for, a line each, also into `lines`; or only planned. */
static bool analyse(struct options *options, GPtrArray *paths, FILE *lines,
		    const struct batch_host *host, GError **error)
{
	g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(g_free);
	struct mapping all = {.options = options, .lines = lines};

	if (options->batch.map && !paths->len)
		read_paths(traces);
	enter_sandbox(options, traces->len ? traces : paths, CONFINE_ANALYSIS);
	for (guint i = 0; i < paths->len; i++) {
		if (options->batch.map)
			g_ptr_array_add(traces, g_strdup(paths->pdata[i]));
		else
			batch_find(traces, paths->pdata[i]);
	}
	if (options->batch.plan)
		return engines_plan(options, paths, traces, host->say, host->identify, error);
	return map_all(&all, traces, error);
}

static void say(const char *text)
{
	tell(NULL, text);
}

int batch_run(int argc, char **argv)
{
	struct batch_host host = {say, identity_of_content};
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	struct options options;
	FILE *lines = NULL;
	int status;

	command_options(&options, &batch_command);
	status = arguments_parse(argc, argv, &options, paths, NULL);
	if (status >= 0) {
		options_clear(&options);
		return status;
	}
	status = 0;
	if (options.quiet)
		host.say = NULL;
	if (!options.batch.map && !options.batch.merge && !options.batch.plan)
		lines = batch_sum_lines(&error);
	if (!error && !options.batch.merge)
		analyse(&options, paths, lines, &host, &error);
	if (!error && !options.batch.map && !options.batch.plan)
		status = batch_sum(&options, paths, lines, &host, &error);
	else if (lines)
		fclose(lines);
	if (error)
		status = tell_error(NULL, error);
	options_clear(&options);
	return status;
}
