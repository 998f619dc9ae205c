/* SPDX-License-Identifier: MIT */
/* The course of a recording; see record.h. */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/clock.h"
#include "record/lttng.h"
#include "record/maps.h"
#include "record/settings.h"
#include "util/error.h"

#define KALLSYMS "/proc/kallsyms"
#define FULL_PART 500 /* less than this part of a disk left: LTTng writes in packets */
#define OURS "whylate-" /* what sessions are called, before the PID */
#define MS INT64_C(1000000) /* ns */
#define LOOK_FIRST (20 * MS) /* until the first look for new processes, … */
#define LOOK_MOST (1000 * MS) /* … and between two later ones, each twice as far */
#define SAMPLE_US 5 /* that a sample takes, about: two stacks are walked */
#define SAMPLE_BYTES 300 /* … and has, in the trace */

struct run {
	const struct recording *recording; /* borrowed */
	struct lttng_daemon daemon;
	pid_t program;
	struct sample_clock clock;
	struct maps *maps; /* owned; NULL: not kept */
	bool made_directory, made_session;
	int signal; /* that ended it; 0: none */
	int told; /* … that the program was told of */
};

static void watched(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

/* The next signal, up to `ns` from now (negative: however long it takes); 0: none came. */
static int next_signal(gint64 ns)
{
	struct timespec timeout = {ns / 1000000000, ns % 1000000000};
	sigset_t set;
	int number;

	watched(&set);
	do
		number = ns < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &timeout);
	while (number < 0 && errno == EINTR);
	return MAX(number, 0);
}

/* Ctrl-C and the like came meanwhile. */
static bool interrupted(struct run *run)
{
	for (int number; !run->signal && (number = next_signal(0)) != 0;)
		if (number != SIGCHLD)
			run->signal = number;
	return run->signal != 0;
}

void record_take_signals(void)
{
	sigset_t set;

	watched(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void record_leave_signals(void)
{
	sigset_t set;

	watched(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void) status;
	(void) type;
	(void) ftw;
	return remove(path);
}

void record_remove(const char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Nothing of ours stays: session, trigger, directory, daemon. */
static void undo(struct run *run)
{
	const struct recording *recording = run->recording;
	const char *const trigger[] = {"lttng", "remove-trigger", recording->session, NULL};
	const char *const destroy[] = {"lttng", "destroy", recording->session, NULL};

	clock_stop(&run->clock);
	g_clear_pointer(&run->maps, maps_end);
	if (run->made_session && recording->trigger)
		lttng_run(trigger, NULL, NULL);
	if (run->made_session)
		lttng_run(destroy, NULL, NULL);
	if (run->made_directory)
		record_remove(recording->output);
	lttng_end_daemon(&run->daemon);
}

static bool make_directory(struct run *run, GError **error)
{
	const char *path = run->recording->output;
	g_autoptr(GError) cause = NULL;
	GDir *dir;
	bool empty;

	if (g_mkdir_with_parents(path, 0755) != 0) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "cannot make the directory %s: %s", path, g_strerror(errno));
		return false;
	}
	dir = g_dir_open(path, 0, &cause);
	empty = dir && !g_dir_read_name(dir);
	if (dir)
		g_dir_close(dir);
	if (!empty) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "%s: %s; name another one with --output", path,
			    cause ? cause->message : "is not empty");
		return false;
	}
	run->made_directory = true;
	return true;
}

/* Whether the kernel has the trigger's event: LTTng takes any name, and waits for it in vain. A
 * list that does not even have the switches is not one that is understood here. */
static bool has_trigger(const struct recording *recording, GError **error)
{
	const char *const line[] = {"lttng", "list", "--kernel", NULL};
	g_autofree char *said = NULL, *name = NULL;
	g_auto(GStrv) words = NULL;
	bool listed = false;

	if (!recording->trigger || !lttng_run(line, &said, NULL))
		return true;
	name = g_strndup(recording->trigger, strcspn(recording->trigger, " "));
	words = g_strsplit_set(said, " \n", -1);
	for (char **word = words; *word; word++) {
		if (fnmatch(name, *word, 0) == 0)
			return true;
		listed |= strcmp(*word, "sched_switch") == 0;
	}
	if (listed)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "--trigger '%s': the kernel's tracer has no event of that name; 'lttng "
			    "list --kernel' shows those it has",
			    name);
	return !listed;
}

/* A session is called after the process that made it; one that was killed could not end it. */
static void tell_left(void)
{
	g_autoptr(GPtrArray) names = lttng_sessions("", NULL);

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		char *rest = NULL;
		long pid =
			g_str_has_prefix(name, OURS) ? strtol(name + strlen(OURS), &rest, 10) : 0;

		if (pid > 1 && !*rest && kill((pid_t) pid, 0) != 0 && errno == ESRCH)
			fprintf(stderr,
				"whylate: session %s was left behind by a 'whylate record' that "
				"was killed; "
				"'lttng destroy %s' ends it\n",
				name, name);
	}
}

/* What it costs is said before it is paid. */
static void tell_samples(uint32_t rate)
{
	fprintf(stderr,
		"whylate: %u samples a second on each CPU that works: some %.1f %% of its time, "
		"%.0f MB a minute; each switch has a stack too\n",
		rate, rate * SAMPLE_US / 1e4, rate * SAMPLE_BYTES * 60 / 1e6);
}

static bool begin_samples(struct run *run, GError **error)
{
	const struct recording *recording = run->recording;

	if (!recording->samples)
		return true;
	tell_samples(recording->hertz ? recording->hertz : clock_ticks());
	if (recording->hertz && !recording->clock_function)
		fprintf(stderr, "whylate: " KALLSYMS " shows no addresses, so all timers that "
				"expire are samples, not only those of the clock\n");
	run->maps = maps_begin("", recording->output);
	return !recording->hertz || clock_start(&run->clock, recording->hertz, error);
}

/* A line of plan_probes(): the kernel may refuse it. */
static const char *probed(const char *const *line)
{
	for (; *line; line++)
		if (g_str_has_prefix(*line, "--function=") ||
		    g_str_has_prefix(*line, "--userspace-probe="))
			return strchr(*line, '=') + 1;
	return NULL;
}

void record_try(const char *const *line)
{
	if (!lttng_run(line, NULL, NULL))
		fprintf(stderr, "whylate: %s cannot be probed, and is left out\n", probed(line));
}

static bool run_line(const struct recording *recording, const char *const *line, GError **error)
{
	if (!recording->tries || !probed(line))
		return lttng_run(line, NULL, error);
	record_try(line);
	return true;
}

static bool begin(struct run *run, GError **error)
{
	g_autoptr(GPtrArray) plan = plan_begin(run->recording);

	if (!lttng_may_record(error))
		return false;
	fprintf(stderr, "whylate: LTTng is being set up, which takes a few seconds …\n");
	if (!lttng_ready(run->recording->session, &run->daemon, error) || interrupted(run) ||
	    !has_trigger(run->recording, error) || !make_directory(run, error))
		return false;
	tell_left();
	for (guint i = 0; i < plan->len; i++) {
		if (interrupted(run) ||
		    !run_line(run->recording, g_ptr_array_index(plan, i), error))
			return false;
		run->made_session = true;
	}
	return begin_samples(run, error) && !interrupted(run);
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
		int number = next_signal(looks ? look : left);

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

/* What helps later and is only to be had here: symbols, interrupts' devices. */
static void add_beside(const char *directory, const char *from, const char *name)
{
	g_autofree char *path = g_build_filename(directory, name, NULL), *text = NULL;
	gsize length;

	if (g_file_get_contents(from, &text, &length, NULL))
		g_file_set_contents(path, text, (gssize) length, NULL);
}

/* Who may not see the kernel's addresses reads zeros, which name nothing. */
static bool has_addresses(const char *text)
{
	for (const char *line = text; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "")
		if (line[strspn(line, "0")] != ' ')
			return true;
	return false;
}

static void add_symbols(const char *directory)
{
	g_autofree char *path = g_build_filename(directory, "kallsyms", NULL), *text = NULL;
	g_autoptr(GError) cause = NULL;
	gsize length;

	if (!g_file_get_contents(KALLSYMS, &text, &length, NULL) || !has_addresses(text))
		fprintf(stderr,
			"whylate: " KALLSYMS " shows no addresses, so kernel functions will be "
			"numbers; as root: cat " KALLSYMS " > %s\n",
			path);
	else if (!g_file_set_contents(path, text, (gssize) length, &cause)) /* a full disk */
		fprintf(stderr,
			"whylate: kernel functions will be numbers (%s); as root: cat " KALLSYMS
			" > FILE elsewhere, then --kallsyms FILE\n",
			cause->message);
}

/* LTTng says "Rotation failure" or the like where the disk is full. */
static void explain_full_disk(const char *output, GError **error)
{
	struct statvfs space;
	g_autofree char *said = NULL;

	if (statvfs(output, &space) != 0 || space.f_bavail > space.f_blocks / FULL_PART)
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
	g_autoptr(GPtrArray) plan = plan_end(run->recording);
	const char *output = run->recording->output;
	GError *first = NULL;

	if (run->maps)
		maps_look(run->maps);
	clock_stop(&run->clock);
	g_clear_pointer(&run->maps, maps_end);
	for (guint i = 0; i < plan->len; i++) /* each, so that no session is left */
		lttng_run(g_ptr_array_index(plan, i), NULL, first ? NULL : &first);
	add_symbols(output);
	add_beside(output, "/proc/interrupts", "interrupts");
	if (!run->recording->no_settings)
		settings_record(output, run->recording->program);
	add_beside(output, "/proc/sys/kernel/hostname", "hostname");
	lttng_end_daemon(&run->daemon);
	if (first) {
		explain_full_disk(output, &first);
		g_propagate_error(error, first);
	}
	return !first;
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
			       birth,      NULL};
	const char *thread[] = {self, "delay", recording->output, "--thread", tid, NULL};
	const char *overview[] = {self, "overview", recording->output, NULL};
	const char **line = recorded->ended ? delay : recorded->program ? thread : overview;

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

void record_show(const struct recording *recording)
{
	GPtrArray *plans[] = {plan_begin(recording), plan_end(recording)};

	for (int p = 0; p < 2; p++) {
		for (guint i = 0; i < plans[p]->len; i++) {
			g_autofree char *line = plan_line(g_ptr_array_index(plans[p], i));

			puts(line);
		}
		if (p == 0 && recording->hertz)
			printf("# whylate itself runs perf's cpu-clock on each CPU, %u times a "
			       "second\n",
			       recording->hertz);
		if (p == 0 && recording->program) {
			g_autofree char *line = plan_line((const char *const *) recording->program);

			puts(line);
		} else if (p == 0) {
			puts(recording->duration ? "# for that long" : "# until Ctrl-C");
		}
		g_ptr_array_unref(plans[p]);
	}
}

bool record_once(const struct recording *recording, struct record_end *recorded, GError **error)
{
	struct run run = {.recording = recording};
	int status = 0;

	*recorded = (struct record_end) {0};
	if (!begin(&run, error) || !start_program(&run, error)) {
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
	interrupted(&run); /* while it ended: it has */
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
	tell_next(recording, &recorded, self);
	return recorded.status;
}

int record_interrupted(int64_t ns)
{
	gint64 until = g_get_monotonic_time() * 1000 + ns;
	int number;

	do
		number = next_signal(MAX(until - g_get_monotonic_time() * 1000, 0));
	while (number == SIGCHLD);
	return number;
}

/* --- snapshot -------------------------------------------------------------------- */

/* "[1] snapshot-1: file:///tmp/mine (max-size: 0)" */
static char *output_of(const char *session, GError **error)
{
	g_autofree char *of = g_strconcat("--session=", session, NULL), *said = NULL;
	const char *const line[] = {"lttng", "snapshot", "list-output", of, NULL};
	char *begin, *end;

	if (!lttng_run(line, &said, error))
		return NULL;
	begin = strstr(said, "/");
	if (begin && g_str_has_prefix(begin, "///"))
		begin += 2;
	if (!begin) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "session %s writes no snapshots: it was not made with --snapshot",
			    session);
		return NULL;
	}
	end = strstr(begin, " (");
	return end ? g_strndup(begin, (gsize) (end - begin)) : g_strdup(g_strchomp(begin));
}

/* The newest directory below `output`: LTTng numbers and dates its snapshots. */
static char *newest_below(const char *output)
{
	GDir *dir = g_dir_open(output, 0, NULL);
	char *newest = NULL;
	const char *name;
	struct stat status;
	gint64 at = 0;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(output, name, NULL);
		gint64 made;

		if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
			continue;
		made = (gint64) status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
		if (made < at)
			continue;
		at = made;
		g_free(newest);
		newest = g_steal_pointer(&path);
	}
	if (dir)
		g_dir_close(dir);
	return newest ? newest : g_strdup(output);
}

static char *newest_session(GError **error)
{
	g_autoptr(GPtrArray)
		names = lttng_runs(error) ? lttng_sessions("[active snapshot]", error) : NULL;

	if (!names)
		return NULL;
	for (guint i = 0; i < names->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(names, i), OURS))
			return g_strdup(g_ptr_array_index(names, i));
	g_set_error_literal(
		error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
		"no flight recorder that whylate started is running ('whylate record --snapshot' "
		"starts one); --session NAME names another");
	return NULL;
}

/* --samples made a channel of that name. */
static bool has_samples(const char *written)
{
	g_autofree char *pattern = g_build_filename(written, "kernel", "ticks_*", NULL);
	glob_t found;
	bool any = glob(pattern, 0, NULL, &found) == 0;

	globfree(&found);
	return any;
}

bool record_snapshot(const char *session, bool settings, bool dry_run, char **written,
		     GError **error)
{
	g_autofree char *name = session   ? g_strdup(session)
				: dry_run ? g_strdup("NAME")
					  : newest_session(error);
	g_autofree char *output = NULL;
	g_autoptr(GPtrArray) plan = NULL;
	GError *first = NULL;

	if (!name || (!dry_run && !lttng_runs(error)))
		return false;
	plan = plan_snapshot(name);
	for (guint i = 0; i < plan->len && dry_run; i++) {
		g_autofree char *line = plan_line(g_ptr_array_index(plan, i));

		puts(line);
	}
	if (dry_run)
		return true;
	output = output_of(name, error);
	if (!output)
		return false;
	for (guint i = 0; i < plan->len; i++) /* each, so that it goes on recording */
		lttng_run(g_ptr_array_index(plan, i), NULL, first ? NULL : &first);
	if (first) {
		g_propagate_error(error, first);
		return false;
	}
	*written = newest_below(output);
	add_symbols(*written);
	if (has_samples(*written))
		maps_end(maps_begin("", *written));
	if (settings)
		settings_record(*written, NULL);
	return true;
}
