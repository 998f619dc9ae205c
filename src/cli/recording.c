/* SPDX-License-Identifier: MIT */
/* The command lines of record and snapshot; see cli.h. They are no analyses, so their options
 * are none of the table in run/options.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "config.h"
#include "record/record.h"
#include "util/error.h"
#include "util/when.h"

#define RECORD 1u
#define SNAPSHOT 2u

static const struct {
	const char *name, *argument, *help;
	unsigned commands;
} specs[] = {
	{"preset", "NAME", "minimal, normal (default) or full: which events", RECORD},
	{"network", NULL, "all network events besides", RECORD},
	{"callstacks", NULL, "the kernel's call stack at each switch", RECORD},
	{"functions", "NAME,...", "entries and exits of these kernel functions", RECORD},
	{"duration", "DURATION", "end after this long", RECORD},
	{"snapshot", NULL,
	 "flight recorder: keep the last seconds in memory, write them out at\n"
	 "the end, and at each 'whylate snapshot'",
	 RECORD},
	{"trigger", "'EVENT [FILTER]'", "with --snapshot: also whenever this kernel event comes",
	 RECORD},
	{"output", "DIR", "where to (default: whylate-DATE-TIME in the current directory)", RECORD},
	{"session", "NAME",
	 "LTTng's name of the session (default: whylate-PID; of snapshot the\n"
	 "newest of these)",
	 RECORD | SNAPSHOT},
	{"analyse", NULL, "report at once: why the program ended no sooner, or an overview",
	 RECORD | SNAPSHOT},
	{"dry-run", NULL, "only show the lttng commands", RECORD | SNAPSHOT},
};

static void print_help(unsigned command)
{
	if (command == RECORD)
		printf("Usage: whylate record [OPTIONS] [-- PROGRAM [ARGUMENT]...]\n\n"
		       "Records with LTTng what the analyses need: while PROGRAM runs, or until "
		       "Ctrl-C.\n\n"
		       "Options:\n");
	else
		printf("Usage: whylate snapshot [OPTIONS]\n\n"
		       "Writes out what a flight recorder that whylate record runs has in "
		       "memory.\n\n"
		       "Options:\n");
	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		g_autofree char *left = NULL;
		g_auto(GStrv) lines = g_strsplit(specs[i].help, "\n", -1);

		if (!(specs[i].commands & command))
			continue;
		left = g_strdup_printf("--%s%s%s", specs[i].name, specs[i].argument ? " " : "",
				       specs[i].argument ? specs[i].argument : "");
		for (char **line = lines; *line; line++)
			printf("  %-26s %s\n", line == lines ? left : "", *line);
	}
	printf("  %-26s %s\n  %-26s %s\n", "--help", "print this help", "--version",
	       "print the version");
	if (command == RECORD) {
		printf("\nPresets:\n");
		for (int i = 0; i < PRESET_COUNT; i++)
			printf("  %-9s %s\n", preset_names[i], preset_texts[i]);
	}
	printf("\nThe manual page whylate-record(1) says more.\n");
}

static int usage_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
static int usage_error(const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list list;

	va_start(list, format);
	message = g_strdup_vprintf(format, list);
	va_end(list);
	tell(message);
	return WHYLATE_ERROR_USAGE;
}

static bool is_symbol(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_.")] == 0;
}

static int add_functions(struct recording *recording, const char *value)
{
	g_auto(GStrv) names = g_strsplit(value, ",", -1);

	for (char **name = names; *name; name++) {
		if (!is_symbol(*name))
			return usage_error("--functions '%s': '%s' is no name of a kernel function",
					   value, *name);
		g_ptr_array_add(recording->functions, g_strdup(*name));
	}
	return -1;
}

/* Returns -1 to go on, else the exit status. */
static int set(struct recording *recording, const char *name, const char *value)
{
	GError *error = NULL;

	if (strcmp(name, "preset") == 0) {
		for (int i = 0; i < PRESET_COUNT; i++)
			if (strcmp(value, preset_names[i]) == 0) {
				recording->preset = (enum preset) i;
				return -1;
			}
		return usage_error("--preset '%s': must be minimal, normal or full", value);
	}
	if (strcmp(name, "functions") == 0)
		return add_functions(recording, value);
	if (strcmp(name, "duration") == 0) {
		if (when_parse_duration(value, &recording->duration, &error) &&
		    recording->duration > 0)
			return -1;
		g_clear_error(&error);
		return usage_error("--duration '%s': must be a time such as 500ms, 10s or 2min",
				   value);
	}
	if (strcmp(name, "output") == 0) {
		g_free(recording->output);
		recording->output = g_canonicalize_filename(value, NULL);
	} else if (strcmp(name, "session") == 0) {
		if (!is_symbol(value) &&
		    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_.-") != strlen(value))
			return usage_error("--session '%s': letters, digits, '-', '_' and '.' only",
					   value);
		g_free(recording->session);
		recording->session = g_strdup(value);
	} else if (strcmp(name, "trigger") == 0) {
		if (!g_ascii_isalpha(*value) && *value != '*')
			return usage_error(
				"--trigger '%s': must begin with a kernel event's name, as "
				"in 'sched_process_exec', or 'sched_switch prev_prio < 0'",
				value);
		g_free(recording->trigger);
		recording->trigger = g_strdup(value);
	} else if (strcmp(name, "network") == 0) {
		recording->network = true;
	} else if (strcmp(name, "callstacks") == 0) {
		recording->callstacks = true;
	} else if (strcmp(name, "snapshot") == 0) {
		recording->snapshot = true;
	} else if (strcmp(name, "analyse") == 0) {
		recording->analyse = true;
	} else {
		recording->dry_run = true;
	}
	return -1;
}

static int parse(int argc, char **argv, unsigned command, struct recording *recording)
{
	const char *of = command == RECORD ? "record" : "snapshot";

	for (int i = 0; i < argc; i++) {
		g_autofree char *name = NULL;
		const char *word = argv[i], *equals = strchr(word, '='), *value = NULL;
		int status;
		size_t k = 0;

		if (strcmp(word, "--") == 0 && command == RECORD) {
			recording->program = i + 1 < argc ? argv + i + 1 : NULL;
			return recording->program
				       ? -1
				       : usage_error(
						 "record --: no program follows; leave the -- out "
						 "to record until Ctrl-C");
		}
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			print_help(command);
			return 0;
		}
		if (strcmp(word, "--version") == 0) {
			printf("whylate %s\n", PACKAGE_VERSION);
			return 0;
		}
		if (!g_str_has_prefix(word, "--"))
			return usage_error(
				command == RECORD ? "record: what is '%s'? A program to run stands "
						    "after --: whylate record -- %s"
						  : "snapshot: what is '%s'? It takes options "
						    "only; --session %s names a session",
				word, word);
		name = equals ? g_strndup(word + 2, (gsize) (equals - word - 2))
			      : g_strdup(word + 2);
		while (k < G_N_ELEMENTS(specs) &&
		       (strcmp(specs[k].name, name) != 0 || !(specs[k].commands & command)))
			k++;
		if (k == G_N_ELEMENTS(specs))
			return usage_error("unknown option '--%s' (see whylate %s --help)", name,
					   of);
		if (specs[k].argument && equals)
			value = equals + 1;
		else if (specs[k].argument && i + 1 < argc)
			value = argv[++i];
		else if (specs[k].argument)
			return usage_error("--%s needs a value: --%s %s", name, name,
					   specs[k].argument);
		else if (equals)
			return usage_error("--%s takes no value", name);
		status = set(recording, name, value);
		if (status >= 0)
			return status;
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
}

static int record(struct recording *recording)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *program = NULL;
	g_autoptr(GError) error = NULL;
	int status;

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
	if (recording->dry_run) {
		record_show(recording);
		return 0;
	}
	status = record_run(recording, self ? self : "whylate", &error);
	if (status >= 0)
		return status;
	tell(error ? error->message : "interrupted");
	return WHYLATE_ERROR_RECORD;
}

static int snapshot(const struct recording *recording)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *written = NULL;
	g_autoptr(GError) error = NULL;

	if (!record_snapshot(recording->session, recording->dry_run, &written, &error)) {
		tell(error->message);
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

int recording_command(const char *word, int argc, char **argv)
{
	struct recording recording = {.preset = PRESET_NORMAL,
				      .functions = g_ptr_array_new_with_free_func(g_free)};
	bool records = strcmp(word, "record") == 0;
	int status = parse(argc, argv, records ? RECORD : SNAPSHOT, &recording);

	if (status < 0)
		status = records ? record(&recording) : snapshot(&recording);
	g_ptr_array_unref(recording.functions);
	g_free(recording.session);
	g_free(recording.output);
	g_free(recording.trigger);
	return status;
}
