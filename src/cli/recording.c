/* SPDX-License-Identifier: MIT */
/* The command lines of record and snapshot, whose rows are cli/record_options.c's; see cli.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "record/clock.h"
#include "record/plan.h"
#include "config.h"
#include "record/record.h"
#include "remote/remote.h"
#include "util/error.h"
#include "util/when.h"

static int usage_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
static int usage_error(const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list list;

	va_start(list, format);
	message = g_strdup_vprintf(format, list);
	va_end(list);
	tell(NULL, message);
	return WHYLATE_ERROR_USAGE;
}

/* Returns -1 to go on, else the exit status. `takes_program`: one may stand after "--". */
static int parse(int argc, char **argv, const struct command *command, bool takes_program,
		 struct record_asked *asked)
{
	struct recording *recording = &asked->recording;

	for (int i = 0; i < argc; i++) {
		g_autofree char *name = NULL;
		g_autoptr(GError) error = NULL;
		const char *word = argv[i], *equals = strchr(word, '='), *value = "";
		const struct option *option;

		if (strcmp(word, "--") == 0 && takes_program) {
			recording->program = i + 1 < argc ? argv + i + 1 : NULL;
			return recording->program
				       ? -1
				       : usage_error(
						 "record --: no program follows; leave the -- out "
						 "to record until Ctrl-C");
		}
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			help_print(command);
			return 0;
		}
		if (strcmp(word, "--version") == 0) {
			printf("whylate %s\n", PACKAGE_VERSION);
			return 0;
		}
		if (!g_str_has_prefix(word, "--") && takes_program) {
			g_autofree char *line = plan_line((const char *const *) argv + i);

			return usage_error("record: what is '%s'? A program to run stands "
					   "after --: whylate record -- %s",
					   word, line);
		}
		if (!g_str_has_prefix(word, "--"))
			return usage_error("snapshot: what is '%s'? It takes options only; "
					   "--session %s names a session",
					   word, word);
		name = equals ? g_strndup(word + 2, (gsize) (equals - word - 2))
			      : g_strdup(word + 2);
		option = command_option(command, name);
		if (!option)
			return usage_error("unknown option '--%s' (see whylate %s --help)", name,
					   command->name);
		if (equals && !option->argument)
			return usage_error("--%s takes no value", name);
		if (equals)
			value = equals + 1;
		else if (option->argument && *option->argument == '[')
			value = "";
		else if (option->argument && i + 1 < argc)
			value = argv[++i];
		else if (option->argument)
			return usage_error("--%s needs a value: --%s %s", name, name,
					   option->argument);
		if (!option->set(asked, option, value, &error))
			return tell_error(NULL, error);
	}
	return -1;
}

static void set_defaults(struct recording *recording)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_local();
	g_autofree char *name = g_date_time_format(now, "whylate-%Y%m%d-%H%M%S");

	if (!recording->session)
		recording->session = g_strdup_printf("whylate-%d", (int) getpid());
	if (!recording->output)
		recording->output = g_canonicalize_filename(name, NULL);
	if (recording->hertz)
		recording->clock_function = clock_function();
}

static int check_drill(const struct record_asked *asked)
{
	const struct drilling *drilling = &asked->drilling;

	if (!drilling->limit && (drilling->every || drilling->after))
		return usage_error("--%s goes with --drill LIMIT",
				   drilling->every ? "every" : "after");
	if (drilling->limit && asked->recording.analyse)
		return usage_error("--drill ends with a report; --analyse is without it");
	if (drilling->every && (asked->recording.program || asked->recording.snapshot))
		return usage_error("--every is for services that run already: a program is run "
				   "anew at once, and a flight recorder waits for snapshots");
	return 0;
}

/* They are recorded once, from begin to end. */
static int check_guests(const struct record_asked *asked)
{
	if (asked->guests->len && (asked->drilling.limit || asked->recording.snapshot))
		return usage_error("--guests=NAME=COMMAND does not go with --%s; --guests alone "
				   "shows what to run there",
				   asked->drilling.limit ? "drill" : "snapshot");
	return 0;
}

/* What an option needs that this tracer does not have. */
static int check_tracer(const struct record_asked *asked)
{
	const struct recording *recording = &asked->recording;
	enum tracer_name tracer = recording->tracer;

	if (tracer != TRACER_FTRACE && tracer != TRACER_PERF)
		return 0;
	if (asked->drilling.limit || recording->trigger || recording->functions->len)
		return usage_error("--%s goes with --tracer lttng",
				   recording->trigger          ? "trigger"
				   : recording->functions->len ? "functions"
							       : "drill");
	if (tracer == TRACER_PERF && recording->snapshot)
		return usage_error("--snapshot goes with --tracer lttng or ftrace");
	if (tracer == TRACER_FTRACE && (recording->samples || recording->callstacks))
		return usage_error("--%s goes with --tracer lttng or perf",
				   recording->samples ? "samples" : "callstacks");
	return 0;
}

/* What is to run in each guest, as only its own kernel knows what it does. */
static void tell_guests(const struct recording *recording)
{
	char duration[64] = "";

	if (recording->duration)
		g_snprintf(duration, sizeof duration, " --duration %" G_GINT64_FORMAT "ms",
			   recording->duration / 1000000);
	fprintf(stderr,
		"whylate: in each guest, at the same time:\n"
		"  whylate record --preset %s%s --output GUEST\n"
		"whylate: then, with both here:\n"
		"  whylate delay %s GUEST --thread NAME\n",
		preset_names[recording->preset], duration, recording->output);
}

static void show_guests(const struct record_asked *asked)
{
	g_autofree char *line = remote_line(&asked->recording);

	for (guint i = 0; i < asked->guests->len; i++) {
		g_autofree char *quoted = g_shell_quote(line);

		printf("%s %s\n", strchr(asked->guests->pdata[i], '=') + 1, quoted);
	}
}

struct beside {
	struct remotes *remotes;
	const char *output;
	bool failed;
};

static void end_guests(void *data)
{
	struct beside *beside = data;

	beside->failed = !remotes_end(beside->remotes, beside->output);
}

/* … and in the guests, which begin before and end after it. */
static int run_with_guests(struct record_asked *asked, const char *self, GError **error)
{
	struct recording *recording = &asked->recording;
	g_autofree char *host = NULL;
	struct beside beside = {.output = recording->output};
	int status;

	if (!asked->guests->len)
		return record_run(recording, self, error);
	fprintf(stderr, "whylate: recording begins in the guests\n");
	beside.remotes = remotes_begin(recording, asked->guests, error);
	if (!beside.remotes)
		return -1;
	if (g_file_get_contents("/proc/sys/kernel/hostname", &host, NULL, NULL))
		g_strchomp(host);
	recording->whole = end_guests;
	recording->whole_data = &beside;
	recording->host = host;
	status = record_run(recording, self, error);
	recording->host = NULL;
	remotes_free(beside.remotes);
	return beside.failed && status == 0 ? WHYLATE_ERROR_RECORD : status;
}

static int record(struct record_asked *asked)
{
	struct recording *recording = &asked->recording;
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *program = NULL;
	g_autoptr(GError) error = NULL;
	int status;

	if (asked->cleanup)
		return record_cleanup() ? 0 : WHYLATE_ERROR_RECORD;
	if ((status = check_drill(asked)) != 0 || (status = check_tracer(asked)) != 0 ||
	    (status = check_guests(asked)) != 0)
		return status;
	if (recording->trigger && !recording->snapshot)
		return usage_error(
			"--trigger goes with --snapshot: it writes a flight recorder's rings out");
	if (recording->program && !recording->dry_run) {
		program = g_find_program_in_path(recording->program[0]);
		if (!program) {
			usage_error("cannot run %s: no such program", recording->program[0]);
			return 127; /* as a shell has it */
		}
	}
	set_defaults(recording);
	if (recording->guests && !asked->guests->len)
		tell_guests(recording);
	if (recording->dry_run && !asked->drilling.limit) {
		show_guests(asked);
		record_show(recording);
		return 0;
	}
	if (recording->dry_run)
		status = drill_show(recording, &asked->drilling, self ? self : "whylate", &error)
				 ? 0
				 : -1;
	else if (asked->drilling.limit)
		status = drill_run(recording, &asked->drilling, self ? self : "whylate", &error);
	else
		status = run_with_guests(asked, self ? self : "whylate", &error);
	if (status >= 0)
		return status;
	tell(NULL, error ? error->message : "interrupted");
	return WHYLATE_ERROR_RECORD;
}

static int snapshot(struct record_asked *asked)
{
	struct recording *recording = &asked->recording;
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *written = NULL;
	g_autoptr(GError) error = NULL;

	if (!record_snapshot(recording->session, !recording->no_settings, recording->dry_run,
			     &written, &error)) {
		tell(NULL, error->message);
		return WHYLATE_ERROR_RECORD;
	}
	if (written && recording->analyse) {
		const char *const line[] = {"whylate", "overview", written, NULL};

		execv(self ? self : "whylate", (char **) line);
	}
	if (written)
		fprintf(stderr, "whylate: written to %s; next:\n  whylate %s\n", written, written);
	return 0;
}

static int carry_out(int argc, char **argv, const struct command *command, bool takes_program,
		     int (*begin)(struct record_asked *asked))
{
	struct record_asked asked = {
		.recording = {.preset = PRESET_NORMAL,
			      .functions = g_ptr_array_new_with_free_func(g_free),
			      .entries = g_ptr_array_new_with_free_func(g_free)},
		.guests = g_ptr_array_new_with_free_func(g_free)};
	struct recording *recording = &asked.recording;
	int status = parse(argc, argv, command, takes_program, &asked);

	if (status < 0)
		status = begin(&asked);
	g_ptr_array_unref(recording->functions);
	g_ptr_array_unref(recording->entries);
	g_free(recording->session);
	g_free(recording->output);
	g_free(recording->trigger);
	g_free(recording->hooks);
	g_ptr_array_unref(asked.guests);
	g_free(asked.drilling.after);
	return status;
}

int record_command_run(int argc, char **argv)
{
	return carry_out(argc, argv, &record_command, true, record);
}

int snapshot_command_run(int argc, char **argv)
{
	return carry_out(argc, argv, &snapshot_command, false, snapshot);
}
