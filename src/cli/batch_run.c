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
#include "batch/batch_find.h"
#include "cli/cli.h"
#include "input/identity.h"
#include "batch/batch_parts.h"
#include "fleet/fleet_sum.h"
#include "engines/job_plan.h"
#include "limits/judge.h"
#include "report/output.h"
#include "util/error.h"

static void print_ready(struct mapping *all)
{
	for (; all->printed < all->count && all->jobs[all->printed].line &&
	       !all->jobs[all->printed].pid;
	     all->printed++) {
		json_t *line = all->jobs[all->printed].line;

		job_print(all, line);
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
			job_end(all, &all->jobs[i], status);
}

static void map(struct mapping *all, guint most)
{
	while (all->printed < all->count) {
		struct job *job = &all->jobs[all->begun];

		if (all->begun < all->count && all->running < most && job_begin(all, job)) {
			all->begun++;
			continue;
		}
		if (all->running) {
			wait_one(all);
		} else { /* not even one process could be begun */
			g_autofree char *why =
				g_strdup_printf("cannot start a process: %s", g_strerror(errno));

			all->begun++;
			job->line = job_line(all->options, job->trace, WHYLATE_ERROR_DAMAGE, "",
					     why, "");
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
		map(all, batch->map && !batch->jobs ? 1 : job_cores(all->options));
		ok = !prints || output_commit(&all->output, error);
	}
	if (prints)
		output_clear(&all->output);
	g_free(all->jobs);
	return ok;
}

/* Those that are asked for, a line each, also into `lines`; or only planned. */
static bool analyse(struct options *options, GPtrArray *paths, FILE *lines,
		    const struct batch_host *host, guint *pages_lost, GError **error)
{
	bool ok;

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
	ok = map_all(&all, traces, error);
	*pages_lost = all.pages_lost;
	return ok;
}

/* What the lines say stands; but that there is a page for each does not. */
static int tell_lost(guint pages_lost, int status)
{
	g_autofree char *text = NULL;

	if (!pages_lost)
		return status;
	text = g_strdup_printf("%u page%s could not be written: the trace's line says why",
			       pages_lost, pages_lost == 1 ? "" : "s");
	tell(NULL, text);
	return status == 1 /* a limit */ ? status : WHYLATE_ERROR_OUTPUT;
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
	guint pages_lost = 0;
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
	if (options.batch.follow || options.batch.merge)
		enter_sandbox(&options, paths, CONFINE_ANALYSIS);
	if (!error && options.batch.follow)
		batch_follow(&options, paths, lines, &error);
	else if (!error && !options.batch.merge)
		analyse(&options, paths, lines, &host, &pages_lost, &error);
	if (!error && !options.batch.map && !options.batch.plan)
		status = batch_sum(&options, paths, lines, &host, &error);
	else if (lines)
		fclose(lines);
	status = error ? tell_error(NULL, error) : tell_lost(pages_lost, status);
	options_clear(&options);
	return status;
}
