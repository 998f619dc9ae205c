/* SPDX-License-Identifier: MIT */
/* See ftrace.h. */
#include "record/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/claim.h"
#include "statedump/proc_dump.h"
#include "record/tracer.h"
#include "tracefs/kprobes.h"
#include "tracefs/rings.h"
#include "tracefs/trace_dat.h"
#include "tracefs/tracefs.h"
#include "tracefs/tracepoints.h"
#include "util/error.h"

#define TRACE "trace.dat"
#define MEMORY_PART 8 /* the rings of all CPUs take that part of the memory at most */

struct ftrace {
	const char *root; /* borrowed */
	struct rings *rings;
	bool made, probes; /* the instance is there; so may be probes */
};

/* kB of each CPU, by preset: about a second of a busy one, and what a flight recorder keeps. */
static const unsigned ring_sizes[PRESET_COUNT] = {16384, 32768, 32768};
static const unsigned flight_sizes[PRESET_COUNT] = {16384, 32768, 65536};

static char *instance_of(const char *session)
{
	return g_build_filename(TRACEFS_INSTANCES, session, NULL);
}

char *ftrace_group(void)
{
	return g_strdup_printf("whylate_%d", (int) getpid());
}

GPtrArray *ftrace_probes(const struct recording *recording, const char *root)
{
	g_autofree char *symbols = NULL, *group = ftrace_group();
	struct utsname system;

	if (recording->preset < PRESET_NORMAL || uname(&system) != 0 ||
	    !g_file_get_contents("/proc/kallsyms", &symbols, NULL, NULL))
		return g_ptr_array_new_with_free_func(g_free);
	return probes_of(root, group, symbols, system.machine);
}

/* --- the plan -------------------------------------------------------------------------- */

static unsigned ring_size(const struct recording *recording)
{
	const unsigned *sizes = recording->snapshot ? flight_sizes : ring_sizes;
	gint64 memory = (gint64) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 1024;
	gint64 most = memory / MEMORY_PART / MAX(sysconf(_SC_NPROCESSORS_CONF), 1);

	return (unsigned) CLAMP(most, 1024, (gint64) sizes[recording->preset]);
}

/* A step about a file of the instance; `format`: what is written. */
static void add_step(GPtrArray *steps, const struct recording *recording, enum step_kind kind,
		     bool tries, const char *file, const char *text)
{
	g_autofree char *instance = instance_of(recording->session);

	tracefs_add_step(steps, kind, tries, g_build_filename(instance, file, NULL),
			 g_strdup(text));
}

static void add_probes(GPtrArray *steps, const struct recording *recording, const char *root)
{
	g_autoptr(GPtrArray) lines = ftrace_probes(recording, root);

	for (guint i = 0; i < lines->len; i++) {
		const char *line = g_ptr_array_index(lines, i);
		g_autofree char *event = g_strdelimit(probe_name(line), "/", ':');

		tracefs_add_step(steps, STEP_APPEND, true, g_strdup(PROBES_FILE), g_strdup(line));
		add_step(steps, recording, STEP_APPEND, true, "set_event", event);
	}
}

static void add_events(GPtrArray *steps, const struct recording *recording, const char *root)
{
	g_autoptr(GPtrArray) events = tracepoints_of(root, (int) recording->preset,
						     recording->network, recording->guests);

	for (guint i = 0; i < events->len; i++) /* without the first, switches, nothing is told */
		add_step(steps, recording, STEP_APPEND, i > 0, "set_event",
			 g_ptr_array_index(events, i));
}

GPtrArray *ftrace_begin_steps(const struct recording *recording, const char *root)
{
	g_autofree char *size = g_strdup_printf("%u", ring_size(recording));
	GPtrArray *steps = tracefs_steps();

	tracefs_add_step(steps, STEP_MAKE, false, instance_of(recording->session), NULL);
	add_step(steps, recording, STEP_WRITE, false, "tracing_on", "0");
	add_step(steps, recording, STEP_WRITE, false, "trace_clock", "mono");
	add_step(steps, recording, STEP_WRITE, false, "options/overwrite",
		 recording->snapshot ? "1" : "0");
	add_step(steps, recording, STEP_WRITE, false, "buffer_size_kb", size);
	add_events(steps, recording, root);
	add_probes(steps, recording, root);
	add_step(steps, recording, STEP_WRITE, false, "tracing_on", "1");
	return steps;
}

static char **probes_there(const char *root)
{
	g_autofree char *text = tracefs_read(root, PROBES_FILE, NULL);

	return g_strsplit(text ? text : "", "\n", -1);
}

/* "p:whylate_77/connect __sys_connect_file family=…", "r8:…" of what returns. */
static bool is_of_group(const char *line, const char *group)
{
	const char *colon = strchr(line, ':');

	return colon && g_str_has_prefix(colon + 1, group) && colon[1 + strlen(group)] == '/';
}

void ftrace_remove_probes(const char *root, const char *group)
{
	g_auto(GStrv) lines = probes_there(root);

	for (char **line = lines; *line; line++) {
		g_autofree char *name = is_of_group(*line, group) ? probe_name(*line) : NULL;
		struct step step = {STEP_APPEND, true, (char *) PROBES_FILE, NULL};

		if (!name)
			continue;
		step.text = g_strconcat("-:", name, NULL);
		tracefs_run_step(root, &step, NULL);
		g_free(step.text);
	}
}

GPtrArray *ftrace_end_steps(const struct recording *recording, const char *root)
{
	g_autoptr(GPtrArray) begun = ftrace_begin_steps(recording, root);
	GPtrArray *steps = tracefs_steps();

	add_step(steps, recording, STEP_WRITE, false, "tracing_on", "0");
	tracefs_add_step(steps, STEP_REMOVE, false, instance_of(recording->session), NULL);
	for (guint i = 0; i < begun->len; i++) {
		const struct step *step = g_ptr_array_index(begun, i);
		g_autofree char *name =
			strcmp(step->path, PROBES_FILE) == 0 ? probe_name(step->text) : NULL;

		if (name)
			tracefs_add_step(steps, STEP_APPEND, true, g_strdup(PROBES_FILE),
					 g_strconcat("-:", name, NULL));
	}
	return steps;
}

static void ftrace_show(const struct recording *recording, bool end)
{
	const char *root = tracefs_usual();
	g_autoptr(GPtrArray) steps =
		end ? ftrace_end_steps(recording, root) : ftrace_begin_steps(recording, root);

	for (guint i = 0; i < steps->len; i++) {
		g_autofree char *line = tracefs_step_line(root, g_ptr_array_index(steps, i));

		puts(line);
		if (i == 0 && end)
			printf("# whylate itself writes what the rings hold to %s/" TRACE "\n",
			       recording->output);
	}
	if (!end)
		printf("# whylate itself writes " STATEDUMP "%s\n",
		       recording->snapshot ? " at the end" : ", and drains the rings");
}

/* --- carried out ------------------------------------------------------------------------- */

static bool write_on(const char *root, const char *session, const char *text, GError **error)
{
	g_autofree char *instance = instance_of(session);
	struct step step = {STEP_WRITE, false, g_build_filename(instance, "tracing_on", NULL),
			    (char *) text};
	bool ok = tracefs_run_step(root, &step, error);

	g_free(step.path);
	return ok;
}

/* The rings of an instance that does not trace now become DIRECTORY/trace.dat. */
static bool write_trace(const char *root, const char *session, struct rings *rings,
			const char *directory, GError **error)
{
	g_autofree char *instance = instance_of(session);
	g_autofree char *path = g_build_filename(directory, TRACE, NULL);
	GError *full = NULL;

	trace_dat_release(path);
	rings_finish(rings, &full); /* what was written until then is worth to be kept */
	if (!trace_dat_write(root, instance, rings, path, full ? NULL : &full) || full) {
		g_propagate_error(error, full);
		return false;
	}
	return true;
}

static bool take_steps(struct run *run, GError **error)
{
	struct ftrace *ftrace = run->ftrace;
	g_autoptr(GPtrArray) steps = ftrace_begin_steps(run->recording, ftrace->root);

	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = g_ptr_array_index(steps, i);

		if (run_interrupted(run))
			return false;
		ftrace->probes |= strcmp(step->path, PROBES_FILE) == 0;
		if (!tracefs_run_step(ftrace->root, step, error))
			return false;
		ftrace->made |= step->kind == STEP_MAKE;
	}
	return true;
}

static bool open_rings(struct run *run, GError **error)
{
	struct ftrace *ftrace = run->ftrace;
	g_autofree char *name = instance_of(run->recording->session);
	g_autofree char *instance = g_build_filename(ftrace->root, name, NULL);
	g_autofree char *path = g_build_filename(run->recording->output, TRACE, NULL);

	ftrace->rings = rings_open(instance, run->recording->output, error);
	if (!ftrace->rings)
		return false;
	trace_dat_reserve(path);
	return run->recording->snapshot || rings_drain(ftrace->rings, error);
}

static void ftrace_undo(struct run *run)
{
	struct ftrace *ftrace = run->ftrace;
	g_autofree char *group = ftrace_group();
	struct step step = {STEP_REMOVE, true, NULL, NULL};

	if (!ftrace)
		return;
	g_clear_pointer(&ftrace->rings, rings_end);
	step.path = instance_of(run->recording->session);
	if (ftrace->made)
		tracefs_run_step(ftrace->root, &step, NULL);
	if (ftrace->probes)
		ftrace_remove_probes(ftrace->root, group);
	g_free(step.path);
	g_clear_pointer(&run->ftrace, g_free);
	g_clear_pointer(&run->claim, claim_end);
}

static bool ftrace_begin(struct run *run, GError **error)
{
	const struct recording *recording = run->recording;
	g_autofree char *group = ftrace_group();
	const char *root = tracefs_root(error);

	if (!root)
		return false;
	fprintf(stderr, "whylate: ftrace is being set up …\n");
	if (!run_make_directory(run, error))
		return false;
	run->claim = claim_make(recording->session, group, recording->output, recording->snapshot,
				error);
	if (!run->claim)
		return false;
	run->ftrace = g_new0(struct ftrace, 1);
	run->ftrace->root = root;
	return take_steps(run, error) && open_rings(run, error) &&
	       (recording->snapshot || statedump_record(recording->output, "ftrace", error)) &&
	       !run_interrupted(run);
}

/* Beside the snapshots that were written before it, if there are any. */
static char *next_snapshot(const char *output)
{
	g_autoptr(GDateTime) time = g_date_time_new_now_local();
	g_autofree char *date = g_date_time_format(time, "%Y%m%d-%H%M%S");
	GDir *dir = g_dir_open(output, 0, NULL);
	guint64 last = 0;
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_prefix(name, "snapshot-"))
			last = MAX(last, g_ascii_strtoull(strrchr(name, '-') + 1, NULL, 10));
	if (dir)
		g_dir_close(dir);
	return g_strdup_printf("%s/snapshot-1-%s-%" G_GUINT64_FORMAT, output, date, last + 1);
}

/* One at a time reads the rings; -1: not to be had. */
static int lock_output(const char *output)
{
	int lock = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR)
		continue;
	return lock;
}

static bool write_snapshot(const char *root, const char *session, struct rings *rings,
			   const char *directory, GError **error)
{
	return statedump_record(directory, "ftrace", error) &&
	       write_on(root, session, "0", error) &&
	       write_trace(root, session, rings, directory, error);
}

static bool ftrace_end(struct run *run, GError **error)
{
	const struct recording *recording = run->recording;
	struct ftrace *ftrace = run->ftrace;
	int lock = recording->snapshot ? lock_output(recording->output) : -1;
	bool ok;

	if (recording->snapshot) {
		ok = write_snapshot(ftrace->root, recording->session, ftrace->rings,
				    recording->output, error);
	} else {
		ok = write_on(ftrace->root, recording->session, "0", error) &&
		     write_trace(ftrace->root, recording->session, ftrace->rings, recording->output,
				 error);
	}
	run->made_directory = false; /* what was written is kept */
	ftrace_undo(run);
	if (lock >= 0)
		close(lock);
	return ok;
}

const struct tracer ftrace_tracer = {"ftrace", ftrace_begin, ftrace_end, ftrace_undo, ftrace_show};

/* --- a snapshot, by another process -------------------------------------------------------- */

static const struct claim *flight_of(const GPtrArray *all, const char *session)
{
	for (guint i = 0; i < all->len; i++) {
		const struct claim *claim = g_ptr_array_index(all, i);

		if (claim->alive && claim->flight &&
		    (!session || strcmp(claim->session, session) == 0))
			return claim;
	}
	return NULL;
}

bool ftrace_snapshot(const char *session, char **written, GError **error)
{
	g_autoptr(GPtrArray) all = claims();
	const struct claim *claim = flight_of(all, session);
	g_autofree char *name = claim ? instance_of(claim->session) : NULL, *instance = NULL;
	const char *root = claim ? tracefs_root(error) : NULL;
	g_autofree char *directory = NULL;
	struct rings *rings;
	bool ok = false;
	int lock;

	if (!root)
		return false;
	lock = lock_output(claim->output);
	directory = next_snapshot(claim->output);
	instance = g_build_filename(root, name, NULL);
	if (g_mkdir_with_parents(directory, 0755) != 0)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "cannot make the directory %s: %s", directory, g_strerror(errno));
	else if ((rings = rings_open(instance, directory, error))) {
		ok = write_snapshot(root, claim->session, rings, directory, error);
		write_on(root, claim->session, "1", NULL); /* it goes on in any case */
		rings_end(rings);
	}
	if (lock >= 0)
		close(lock);
	if (ok)
		*written = g_steal_pointer(&directory);
	return ok;
}
