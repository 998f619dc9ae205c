/* SPDX-License-Identifier: MIT */
/* Recording with perf: a child that writes perf.data; see tracer.h.
 *
 * It is started disabled and told when to begin (--control), so that all is recorded from then on;
 * SIGINT ends it as it should be ended. If we are killed, so is it (PR_SET_PDEATHSIG). The events
 * are the kernel's own, as ftrace has them, and so are the probes.
 */
#include "record/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/claim.h"
#include "record/ftrace.h"
#include "statedump/proc_dump.h"
#include "tracefs/kprobes.h"
#include "tracefs/tracefs.h"
#include "tracefs/tracepoints.h"
#include "util/error.h"

#define TRACE "perf.data"
#define SAID "perf.log" /* what perf said; removed if all went well */
#define BUFFERS "16M" /* of each CPU */
/* what perf reads it writes at once, by a call that it would read next, and would never rest: its
 * own calls are left out, and nothing else of it, as switches must be whole */
#define OWN_CALLS "raw_syscalls:"
/* the kernel lets nobody sample its exit: a sample raises it; so its entry is left out, too */
#define NOT_SAMPLED "irq_vectors:irq_work_"
#define STEP_MS 100
#define BEGIN_MS 60000 /* a hundred events of a hundred CPUs are many files to open */

struct perf {
	const char *root; /* borrowed; of tracefs */
	pid_t child; /* 0: none */
	int control, answers; /* -1 */
	bool probes;
};

static bool set_perf_error(GError **error, const char *text)
{
	g_set_error_literal(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, text);
	return false;
}

static void add(GPtrArray *line, const char *word)
{
	g_ptr_array_add(line, g_strdup(word));
}

static void add_event(GPtrArray *line, const char *event)
{
	add(line, "-e");
	add(line, event);
}

static void add_samples(GPtrArray *line, const struct recording *recording)
{
	g_autofree char *clock =
		g_strdup_printf("cpu-clock/freq=%u,call-graph=fp/",
				recording->hertz ? recording->hertz : clock_ticks());

	add_event(line, clock);
}

/* `probed`: events of probes that are there; `control`: how it is told to begin, NULL. Free with
 * g_strfreev(). */
static char **perf_line(const struct recording *recording, const char *root,
			const GPtrArray *probed, const char *control)
{
	GPtrArray *line = g_ptr_array_new();
	g_autoptr(GPtrArray) events = tracepoints_of(root, (int) recording->preset,
						     recording->network, recording->guests);
	g_autofree char *output = g_build_filename(recording->output, TRACE, NULL);
	const char *const words[] = {"perf", "record", "-a", "-k",  "CLOCK_MONOTONIC",
				     "-m",   BUFFERS,  "-o", output};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		add(line, words[i]);
	if (control) {
		add(line, "-D");
		add(line, "-1");
		add(line, control);
	}
	for (guint i = 0; i < events->len; i++) {
		const char *event = g_ptr_array_index(events, i);
		g_autofree char *stacks = g_strconcat(event, "/call-graph=fp/", NULL);
		bool switches = strcmp(event, "sched:sched_switch") == 0;

		if (g_str_has_prefix(event, NOT_SAMPLED))
			continue;
		add_event(line, switches && (recording->callstacks || recording->samples) ? stacks
											  : event);
		if (g_str_has_prefix(event, OWN_CALLS))
			add(line, "--exclude-perf");
	}
	for (guint i = 0; i < probed->len; i++)
		add_event(line, g_ptr_array_index(probed, i));
	if (recording->samples)
		add_samples(line, recording);
	g_ptr_array_add(line, NULL);
	return (char **) g_ptr_array_free(line, FALSE);
}

/* "whylate_77:connect" of a line; free with g_free(). */
static char *event_of(const char *line)
{
	return g_strdelimit(probe_name(line), "/", ':');
}

static GPtrArray *add_probes(struct run *run)
{
	g_autoptr(GPtrArray) lines = ftrace_probes(run->recording, run->perf->root);
	GPtrArray *events = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < lines->len; i++) {
		struct step step = {STEP_APPEND, false, (char *) PROBES_FILE,
				    g_ptr_array_index(lines, i)};

		run->perf->probes = true;
		if (tracefs_run_step(run->perf->root, &step, NULL))
			g_ptr_array_add(events, event_of(step.text));
	}
	return events;
}

/* --- the child ------------------------------------------------------------------------------ */

struct starting {
	pid_t parent;
	int control, answers, said; /* its ends */
};

static void set_up_child(gpointer data)
{
	const struct starting *starting = data;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0); /* a Ctrl-C is ours */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != starting->parent || fcntl(starting->control, F_SETFD, 0) < 0 ||
	    fcntl(starting->answers, F_SETFD, 0) < 0 || dup2(starting->said, STDOUT_FILENO) < 0 ||
	    dup2(starting->said, STDERR_FILENO) < 0)
		_exit(127);
}

static char *what_it_said(const struct run *run)
{
	g_autofree char *path = g_build_filename(run->recording->output, SAID, NULL);
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return g_strdup("it said nothing");
	g_strdelimit(g_strstrip(text), "\n", ' ');
	return text;
}

static bool explain(const struct run *run, GError **error)
{
	g_autofree char *said = what_it_said(run);

	if (geteuid() != 0 && (strstr(said, "paranoid") || strstr(said, "ermission")))
		return set_perf_error(error, "perf may not record this: as root, or with "
					     "kernel.perf_event_paranoid -1 and a readable "
					     "/sys/kernel/tracing");
	if (strstr(said, "perf not found for kernel") || strstr(said, "linux-tools"))
		return set_perf_error(error,
				      "there is no perf for this kernel: as root 'apt-get "
				      "install linux-perf' (Ubuntu: linux-tools-$(uname -r))");
	if (strstr(said, "unknown option") || strstr(said, "--control"))
		return set_perf_error(error, "perf is older than 5.10 and cannot be told when to "
					     "begin: --tracer ftrace");
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "perf record failed: %s", said);
	return false;
}

static bool spawn(struct run *run, const GPtrArray *probed, GError **error)
{
	struct perf *perf = run->perf;
	g_autofree char *said = g_build_filename(run->recording->output, SAID, NULL);
	struct starting starting = {getpid(), -1, -1,
				    open(said, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
	g_autofree char *control = NULL;
	g_autoptr(GError) cause = NULL;
	g_auto(GStrv) line = NULL;
	int to[2], from[2];
	bool ok;

	if (starting.said < 0 || pipe2(to, O_CLOEXEC) != 0)
		return set_perf_error(error, g_strerror(errno));
	starting.control = to[0];
	perf->control = to[1];
	if (pipe2(from, O_CLOEXEC) != 0)
		return set_perf_error(error, g_strerror(errno));
	starting.answers = from[1];
	perf->answers = from[0];
	control = g_strdup_printf("--control=fd:%d,%d", starting.control, starting.answers);
	line = perf_line(run->recording, perf->root, probed, control);
	ok = g_spawn_async(NULL, line, NULL,
			   G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
				   G_SPAWN_LEAVE_DESCRIPTORS_OPEN,
			   set_up_child, &starting, &perf->child, &cause);
	close(starting.control);
	close(starting.answers);
	close(starting.said);
	return ok || set_perf_error(error, cause->message);
}

/* Until it answers "ack". */
static bool enable(struct run *run, GError **error)
{
	static const char word[] = "enable\n";
	struct perf *perf = run->perf;
	struct pollfd answer = {.fd = perf->answers, .events = POLLIN};
	char said[8];

	if (write(perf->control, word, strlen(word)) < 0)
		return explain(run, error);
	for (int waited = 0; waited < BEGIN_MS && !run_interrupted(run); waited += STEP_MS) {
		if (poll(&answer, 1, STEP_MS) > 0)
			return read(perf->answers, said, sizeof said) > 0 || explain(run, error);
	}
	return !run->signal && set_perf_error(error, "perf was started and does not answer");
}

/* It writes what it has and ends; true: as it should. */
static bool end_child(struct perf *perf)
{
	int status = 0;

	if (!perf->child)
		return true;
	kill(perf->child, SIGINT);
	while (waitpid(perf->child, &status, 0) < 0 && errno == EINTR)
		continue;
	perf->child = 0;
	return (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void perf_undo(struct run *run)
{
	struct perf *perf = run->perf;
	g_autofree char *group = ftrace_group();

	if (!perf)
		return;
	end_child(perf);
	if (perf->control >= 0)
		close(perf->control);
	if (perf->answers >= 0)
		close(perf->answers);
	if (perf->probes)
		ftrace_remove_probes(perf->root, group);
	g_clear_pointer(&run->perf, g_free);
	g_clear_pointer(&run->claim, claim_end);
}

static bool perf_begin(struct run *run, GError **error)
{
	const struct recording *recording = run->recording;
	g_autofree char *group = ftrace_group(), *program = g_find_program_in_path("perf");
	g_autoptr(GPtrArray) probed = NULL;
	const char *root;

	if (!program)
		return set_perf_error(error, "perf is not installed: as root 'apt-get install "
					     "linux-perf' (Ubuntu: linux-tools-$(uname -r))");
	if (!(root = tracefs_root(error)))
		return false;
	fprintf(stderr, "whylate: perf is being set up …\n");
	if (!run_make_directory(run, error))
		return false;
	run->claim = claim_make(recording->session, group, recording->output, false, error);
	if (!run->claim)
		return false;
	run->perf = g_new(struct perf, 1);
	*run->perf = (struct perf) {.root = root, .control = -1, .answers = -1};
	probed = add_probes(run);
	return !run_interrupted(run) && spawn(run, probed, error) && enable(run, error) &&
	       statedump_record(recording->output, "perf", error) && !run_interrupted(run);
}

static bool perf_end(struct run *run, GError **error)
{
	g_autofree char *said = g_build_filename(run->recording->output, SAID, NULL);
	bool ok = end_child(run->perf) || explain(run, error);

	if (ok)
		unlink(said);
	return ok;
}

static void perf_show(const struct recording *recording, bool end)
{
	const char *root = tracefs_usual();
	g_autoptr(GPtrArray) lines = ftrace_probes(recording, root);
	g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) line = NULL;
	g_autofree char *text = NULL;

	for (guint i = 0; i < lines->len; i++) {
		g_autofree char *name = probe_name(g_ptr_array_index(lines, i));
		struct step step = {STEP_APPEND, true, (char *) PROBES_FILE,
				    end ? g_strconcat("-:", name, NULL)
					: g_strdup(g_ptr_array_index(lines, i))};
		g_autofree char *shown = tracefs_step_line(root, &step);

		puts(shown);
		g_ptr_array_add(events, event_of(g_ptr_array_index(lines, i)));
		g_free(step.text);
	}
	if (end)
		return;
	line = perf_line(recording, root, events, NULL);
	text = plan_line((const char *const *) line);
	printf("%s &\n# whylate itself writes " STATEDUMP "\n", text);
}

const struct tracer perf_tracer = {"perf", perf_begin, perf_end, perf_undo, perf_show};
