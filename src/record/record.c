/* SPDX-License-Identifier: MIT */
/* The course of a recording; see record.h. */
#include "record/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/folder.h"
#include "record/leftovers.h"
#include "record/lttng.h"
#include "record/maps.h"
#include "record/settings.h"
#include "record/tracer.h"
#include "util/error.h"

#define FULL_PART 500 /* less than this part of a disk left: LTTng writes in packets */
#define MS INT64_C(1000000) /* ns */
#define LOOK_FIRST (20 * MS) /* until the first look for new processes, … */
#define LOOK_MOST (1000 * MS) /* … and between two later ones, each twice as far */

void record_take_signals(void)
{
	sigset_t set;

	run_watched(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void record_leave_signals(void)
{
	sigset_t set;

	run_watched(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Nothing of ours stays: what the tracer made, and the directory. */
static void undo(struct run *run)
{
	run->tracer->undo(run);
	if (run->made_directory)
		folder_remove(run->recording->output);
	run->made_directory = false;
}

void record_as_anybody(gpointer data)
{
	(void) data;
	record_leave_signals();
}

/* With lttng-ust's hooks before what else is preloaded. */
static char **environment_of(const struct recording *recording)
{
	static const char name[] = "LD_PRELOAD";
	char **environment = g_get_environ();
	const char *before = g_environ_getenv(environment, name);
	g_autofree char *all = NULL;

	if (!recording->hooks)
		return environment;
	all = g_strconcat(recording->hooks, before ? ":" : NULL, before, NULL);
	return g_environ_setenv(environment, name, all, TRUE);
}

static bool start_program(struct run *run, GError **error)
{
	g_autoptr(GError) cause = NULL;
	g_auto(GStrv) environment = NULL;

	if (!run->recording->program)
		return true;
	environment = environment_of(run->recording);
	if (g_spawn_async(NULL, run->recording->program, environment,
			  G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
				  G_SPAWN_CHILD_INHERITS_STDIN,
			  record_as_anybody, NULL, &run->program, &cause))
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "cannot run %s: %s",
		    run->recording->program[0], cause->message);
	return false;
}

/* The next signal, up to `until` (negative: however long it takes); 0: none came. Meanwhile what
 * new processes have mapped is kept. */
static int next_signal_or_look(struct run *run, gint64 until)
{
	for (gint64 look = LOOK_FIRST;; look = MIN(2 * look, LOOK_MOST)) {
		gint64 left = until < 0 ? -1 : MAX(until - g_get_monotonic_time() * 1000, 0);
		bool looks = (run->maps || run->recording->look) && (left < 0 || left > look);
		int number = run_signal(looks ? look : left);

		if (number || !looks)
			return number;
		if (run->maps)
			maps_look(run->maps);
		if (run->recording->look)
			run->recording->look(run->recording->look_data);
	}
}

/* Until the program ends (true, and its status), or the time or a Ctrl-C does. */
static bool wait_for_end(struct run *run, int *status)
{
	gint64 until = run->recording->duration
			       ? g_get_monotonic_time() * 1000 + run->recording->duration
			       : -1;

	for (;;) {
		int number = next_signal_or_look(run, until);

		if (number == 0)
			return false;
		if (number == SIGCHLD && run->program &&
		    waitpid(run->program, status, WNOHANG) == run->program)
			return true;
		if (number == SIGCHLD)
			continue;
		run->told = number;
		if (!run->program)
			return false;
		if (number != SIGINT) /* the terminal tells the program itself of that one */
			kill(run->program, number);
	}
}

/* LTTng says "Rotation failure" or the like where the disk is full. */
static void explain_full_disk(const char *output, GError **error)
{
	struct statvfs space;
	g_autofree char *said = NULL;

	if (strstr((*error)->message, "is full") || statvfs(output, &space) != 0 ||
	    space.f_bavail > space.f_blocks / FULL_PART)
		return;
	said = g_strdup((*error)->message);
	g_clear_error(error);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
		    "the disk of %s is full (%s): what was recorded until then can be read: "
		    "whylate %s",
		    output, said, output);
}

static bool end(struct run *run, GError **error)
{
	const char *output = run->recording->output;
	GError *failed = NULL;

	if (run->maps)
		maps_look(run->maps);
	g_clear_pointer(&run->maps, maps_end);
	run->tracer->end(run, &failed);
	output = run->result ? run->result : output;
	folder_add_symbols(output);
	folder_add_copy(output, "/proc/interrupts", "interrupts");
	if (!run->recording->no_settings)
		settings_record(output, run->recording->program);
	folder_add_copy(output, "/proc/sys/kernel/hostname", "hostname");
	run->tracer->undo(run);
	if (failed) {
		explain_full_disk(output, &failed);
		g_propagate_error(error, failed);
	}
	return !failed;
}

/* The command to run next; or runs it, unless somebody lost patience meanwhile. `ended`: so
 * did the program while it was recorded. */
static void tell_next(const struct recording *recording, const struct record_end *recorded,
		      const char *self)
{
	g_autofree char *tid = g_strdup_printf("%d", (int) recorded->program);
	g_autofree char *target = g_strconcat("sched_process_exit tid=", tid, NULL);
	g_autofree char *birth = g_strconcat("sched_process_fork child_tid=", tid, NULL);
	/* a ring may have lost its birth; before that it is whylate's own work */
	const char *delay[] = {self,       "delay", recording->output,
			       "--target", target,  recording->snapshot ? NULL : "--from",
			       birth,      NULL,    NULL,
			       NULL};
	const char *thread[] = {self, "delay", recording->output, "--thread", tid, NULL,
				NULL, NULL};
	const char *overview[] = {self, "overview", recording->output, NULL};
	const char **line = recorded->ended ? delay : recorded->program ? thread : overview;

	if (recording->host && line != overview) {
		const char **end = line;

		while (*end)
			end++;
		end[0] = "--host";
		end[1] = recording->host;
	}
	if (recording->analyse && !recorded->late) {
		fflush(stdout);
		g_spawn_sync(NULL, (char **) line, NULL,
			     G_SPAWN_LEAVE_DESCRIPTORS_OPEN | G_SPAWN_CHILD_INHERITS_STDIN,
			     record_as_anybody, NULL, NULL, NULL, NULL, NULL);
	} else {
		g_autofree char *shown = NULL;

		line[0] = "whylate";
		shown = plan_line(line);
		fprintf(stderr, "whylate: recorded %s; next:\n  %s\n", recording->output, shown);
	}
}

/* Those that may record this, in order; NULL: no more. ftrace has no stacks of programs, perf does.
 */
static const struct tracer *tracer_of(const struct recording *recording, guint place)
{
	static const struct tracer *const all[] = {NULL, &lttng_tracer, &ftrace_tracer,
						   &perf_tracer};
	bool stacks = recording->samples || recording->callstacks;
	bool only_lttng = recording->trigger || recording->hooks || recording->entries->len ||
			  recording->functions->len || recording->tries || recording->look ||
			  (stacks && recording->snapshot);

	if (place == 0)
		return recording->tracer ? all[recording->tracer] : &lttng_tracer;
	if (place > 1 || recording->tracer || only_lttng)
		return NULL;
	return stacks ? &perf_tracer : &ftrace_tracer;
}

void record_show(const struct recording *recording)
{
	const struct tracer *tracer = tracer_of(recording, 0);
	g_autofree char *line =
		recording->program ? plan_line((const char *const *) recording->program) : NULL;

	tracer->show(recording, false);
	if (line)
		puts(line);
	else
		puts(recording->duration ? "# for that long" : "# until Ctrl-C");
	tracer->show(recording, true);
}

/* With the first that can. */
static bool begin(struct run *run, GError **error)
{
	const struct tracer *second = tracer_of(run->recording, 1);
	GError *first = NULL;

	run->tracer = tracer_of(run->recording, 0);
	if (run->tracer != &lttng_tracer || second)
		leftovers_tell();
	if (run->tracer->begin(run, &first))
		return true;
	undo(run);
	if (!second || !lttng_is_missing(first) || run->signal) {
		g_propagate_error(error, first);
		return false;
	}
	run->tracer = second;
	if (second->begin(run, error)) {
		fprintf(stderr,
			"whylate: LTTng cannot record here, so %s does ('whylate record --tracer "
			"lttng' says what is missing)\n",
			second->name);
		g_error_free(first);
		return true;
	}
	undo(run);
	if (error && *error)
		g_prefix_error(error, "%s; and without LTTng: ", first->message);
	g_error_free(first);
	return false;
}

bool record_cleanup(void)
{
	return leftovers_remove();
}

bool record_once(const struct recording *recording, struct record_end *recorded, GError **error)
{
	struct run run = {.recording = recording};
	int status = 0;

	*recorded = (struct record_end) {0};
	if (!begin(&run, error)) {
		recorded->signal = run.signal;
		return false;
	}
	if (!start_program(&run, error)) {
		undo(&run);
		recorded->signal = run.signal;
		return false;
	}
	fprintf(stderr, "whylate: recording to %s%s\n", recording->output,
		run.program ? "" : "; Ctrl-C ends it");
	recorded->ended = wait_for_end(&run, &status);
	recorded->program = run.program;
	if (!end(&run, error)) {
		recorded->signal = 0;
		return false;
	}
	if (run.program && !recorded->ended) /* --duration was over first */
		while (waitpid(run.program, &status, 0) < 0 && errno == EINTR)
			continue;
	run_interrupted(&run); /* while it ended: it has */
	recorded->late = run.signal;
	recorded->signal = run.signal ? run.signal : run.told;
	recorded->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

int record_run(const struct recording *recording, const char *self, GError **error)
{
	struct record_end recorded;
	bool done;

	record_take_signals();
	done = record_once(recording, &recorded, error);
	record_leave_signals();
	if (!done && recorded.signal)
		raise(recorded.signal);
	if (!done)
		return -1;
	if (recording->whole)
		recording->whole(recording->whole_data);
	tell_next(recording, &recorded, self);
	return recorded.status;
}

int record_interrupted(int64_t ns)
{
	gint64 until = g_get_monotonic_time() * 1000 + ns;
	int number;

	do
		number = run_signal(MAX(until - g_get_monotonic_time() * 1000, 0));
	while (number == SIGCHLD);
	return number;
}
