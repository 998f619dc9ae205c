/* SPDX-License-Identifier: MIT */
/* Traces of `whylate batch`, each analysed in a process of its own; see cli.h.
 *
 * The process does what `whylate` does with one trace: its report is the line, its standard error
 * the messages, its exit status the status. So a trace that ends the analysis, by whatever, costs
 * its own line only.
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

#include "batch/batch_parts.h"
#include "cli/cli.h"
#include "input/identity.h"
#include "limits/judge.h"
#include "report/output.h"
#include "run/anonymise.h"
#include "util/error.h"

#define MESSAGES_MAX 20 /* of one trace */
#define PAGE_NAME_BYTES 80 /* of a trace's path */

/* --- the child -------------------------------------------------------------- */

void job_options(struct options *options)
{
	options->output = NULL;
	options->junit = NULL;
	options->quiet = true;
	options->jobs = 1; /* there is one such process for each processor */
	options->progress = CHOICE_NEVER;
	g_free(options->cache);
	options->cache = g_strdup("off");
}

static void child(struct options *options, const struct job *job)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();

	/* nobody would read the line; who follows has blocked the other */
	prctl(PR_SET_PDEATHSIG, options->batch.follow ? SIGKILL : SIGTERM);
	dup2(job->out, STDOUT_FILENO);
	dup2(job->err, STDERR_FILENO);
	job_options(options);
	options->output = job->page;
	if (job->page) {
		options->command = command_find(options->commands, "overview");
		options->format = FORMAT_HTML;
		options->depth = 0; /* as overview has it */
	}
	g_ptr_array_add(paths, (gpointer) job->trace);
	_exit(process_end(run(options, paths, NULL)));
}

bool job_begin(struct mapping *all, struct job *job)
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

char *job_text(int fd)
{
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char *text = g_malloc((gsize) MAX(size, 0) + 1);
	ssize_t got = size > 0 ? pread(fd, text, (size_t) size, 0) : 0;

	text[MAX(got, 0)] = '\0';
	if (fd >= 0 && (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0))
		g_error("a file in memory cannot be emptied: %s", g_strerror(errno));
	return text;
}

static char *take_text(int fd)
{
	char *text = job_text(fd);

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
json_t *job_line(const struct options *options, const char *trace, int status, const char *said,
		 const char *end, const char *text)
{
	json_t *messages = messages_of(options, trace, said, end);
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
	if (!job_begin(all, job))
		g_clear_pointer(&job->page, g_free);
}

static void end_page(struct mapping *all, struct job *job)
{
	g_autofree char *said = take_text(job->err);
	json_t *messages = json_object_get(job->line, "messages");

	g_free(take_text(job->out)); /* its standard output is in the page */
	if (g_file_test(job->page, G_FILE_TEST_IS_REGULAR)) {
		g_autofree char *valid = g_utf8_make_valid(job->page, -1);

		json_object_set_new(job->line, "page", json_string(valid));
	} else {
		json_t *why =
			messages_of(all->options, job->trace, said, "its page was not written");

		all->pages_lost++;

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
	job->line = job_line(all->options, job->trace, status, said, why, why ? "" : text);
}

void job_end(struct mapping *all, struct job *job, int wait_status)
{
	job->pid = 0;
	all->running--;
	if (job->page) {
		end_page(all, job);
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
static void write_line(const struct mapping *all, const json_t *line)
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

void job_print(const struct mapping *all, const json_t *line)
{
	write_line(all, line);
	tell_line(all, line);
}

guint job_cores(const struct options *options)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return options->batch.jobs ? options->batch.jobs : online > 0 ? (guint) online : 1;
}
