/* SPDX-License-Identifier: MIT */
/* What `whylate record` and `whylate snapshot` are asked: rows about a struct recording, as they
 * read no trace; cli/recording.c carries them out.
 */
#include "cli/record_options.h"

#include <stdio.h>
#include <string.h>

#include "record/plan.h"
#include "report/report.h"
#include "run/command.h"
#include "run/option_values.h"
#include "util/when.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
#define OF(member) .at = offsetof(struct recording, member)

static bool set_preset(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;

	for (int i = 0; i < PRESET_COUNT; i++)
		if (strcmp(value, preset_names[i]) == 0) {
			recording->preset = (enum preset) i;
			return true;
		}
	return option_refuse(option, value, error, "must be minimal, normal or full");
}

static const char *const tracer_names[] = {"lttng", "ftrace", "perf", NULL};

static bool set_tracer(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;

	for (int i = 0; tracer_names[i]; i++)
		if (strcmp(value, tracer_names[i]) == 0) {
			recording->tracer = (enum tracer_name)(TRACER_LTTNG + i);
			return true;
		}
	return option_refuse(option, value, error, "must be lttng, ftrace or perf");
}

static bool add_functions(void *into, const struct option *option, const char *value,
			  GError **error)
{
	struct recording *recording = into;
	g_auto(GStrv) names = g_strsplit(value, ",", -1);

	for (char **name = names; *name; name++) {
		if (!**name || (*name)[strspn(*name, LETTERS)])
			return option_refuse(option, value, error,
					     "'%s' is not the name of a kernel function", *name);
		g_ptr_array_add(recording->functions, g_strdup(*name));
	}
	return true;
}

static bool set_samples(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;
	guint64 hertz = 0;

	if (*value &&
	    !g_ascii_string_to_unsigned(value, 10, SAMPLES_LEAST, SAMPLES_MOST, &hertz, NULL))
		return option_refuse(option, value, error,
				     "must be %d to %d a second; --samples alone takes the "
				     "kernel's ticks",
				     SAMPLES_LEAST, SAMPLES_MOST);
	recording->samples = true;
	recording->hertz = (uint32_t) hertz;
	return true;
}

static bool set_limit(void *into, const struct option *option, const char *value, GError **error)
{
	struct drilling *drilling = &((struct record_asked *) into)->drilling;

	return (when_parse_duration(value, &drilling->limit, NULL) && drilling->limit > 0) ||
	       option_refuse(option, value, error, "must be a time such as 500us, 10ms or 1s");
}

static bool set_every(void *into, const struct option *option, const char *value, GError **error)
{
	struct drilling *drilling = &((struct record_asked *) into)->drilling;

	return (when_parse_duration(value, &drilling->every, NULL) && drilling->every > 0) ||
	       option_refuse(option, value, error, "must be a time such as 30s or 5min");
}

static bool set_after(void *into, const struct option *option, const char *value, GError **error)
{
	struct drilling *drilling = &((struct record_asked *) into)->drilling;

	if (!g_file_test(value, G_FILE_TEST_IS_DIR))
		return option_refuse(option, value, error, "is no directory");
	g_free(drilling->after);
	drilling->after = g_canonicalize_filename(value, NULL);
	return true;
}

static bool add_guest(void *into, const struct option *option, const char *value, GError **error)
{
	struct record_asked *asked = into;
	size_t name = strspn(value, LETTERS "-");

	asked->recording.guests = true;
	if (!*value)
		return true;
	if (!name || *value == '.' || value[name] != '=' || !value[name + 1])
		return option_refuse(option, value, error,
				     "must be NAME=COMMAND, as in --guests='web=ssh root@web'");
	for (guint i = 0; i < asked->guests->len; i++)
		if (strncmp(asked->guests->pdata[i], value, name + 1) == 0)
			return option_refuse(option, value, error, "names a guest twice");
	g_ptr_array_add(asked->guests, g_strdup(value));
	return true;
}

static bool set_duration(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;

	return (when_parse_duration(value, &recording->duration, NULL) &&
		recording->duration > 0) ||
	       option_refuse(option, value, error, "must be a time such as 500ms, 10s or 2min");
}

static bool set_output(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;

	(void) option;
	(void) error;
	g_free(recording->output);
	recording->output = g_canonicalize_filename(value, NULL);
	return true;
}

static bool set_session(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;

	if (value[strspn(value, LETTERS "-")])
		return option_refuse(option, value, error,
				     "letters, digits, '-', '_' and '.' only");
	g_free(recording->session);
	recording->session = g_strdup(value);
	return true;
}

static bool set_trigger(void *into, const struct option *option, const char *value, GError **error)
{
	struct recording *recording = into;

	if (!g_ascii_isalpha(*value) && *value != '*')
		return option_refuse(option, value, error,
				     "must begin with a kernel event's name, as in "
				     "'sched_process_exec', or 'sched_switch prev_prio < 0'");
	g_free(recording->trigger);
	recording->trigger = g_strdup(value);
	return true;
}

static const struct option
	preset = {"preset", "NAME", "minimal, normal (default) or full: which events",
		  .set = set_preset, .words = preset_names},
	tracer = {"tracer", "NAME",
		  "lttng, ftrace or perf (default: LTTng, or ftrace if that is not there)",
		  .set = set_tracer, .words = tracer_names},
	network = {"network", NULL, "all network events besides", option_switch, OF(network)},
	guests = {"guests", "[=NAME=COMMAND]",
		  "of a host of virtual machines: when its guests run, besides; and\nrecord in "
		  "guest NAME, too, which COMMAND reaches (as 'ssh web'; may be\nrepeated), or "
		  "show what to run in each",
		  .set = add_guest},
	callstacks = {"callstacks", NULL, "the kernel's call stack at each switch", option_switch,
		      OF(callstacks)},
	samples = {"samples", "[=HZ]",
		   "call stacks of what runs, at the kernel's ticks or HZ times a second",
		   .set = set_samples},
	functions = {"functions", "NAME,...", "entries and exits of these kernel functions",
		     .set = add_functions},
	drill = {"drill", "LIMIT",
		 "record in rounds, each more of what the last could not explain, until\n"
		 "what takes LIMIT or more (as 10ms) is explained",
		 .set = set_limit},
	every = {"every", "DURATION",
		 "with --drill, of a service: begin a round this long after the last",
		 .set = set_every},
	after = {"after", "DIR", "with --drill: go on from this recording, or from its rounds",
		 .set = set_after},
	duration = {"duration", "DURATION", "end after this long", .set = set_duration},
	flight = {"snapshot", NULL,
		  "flight recorder: keep the last seconds in memory, write them out at\n"
		  "the end, and at each 'whylate snapshot'",
		  option_switch, OF(snapshot)},
	trigger = {"trigger", "'EVENT [FILTER]'",
		   "with --snapshot: also whenever this kernel event comes", .set = set_trigger},
	output = {"output", "DIR", "where to (default: whylate-DATE-TIME in the current directory)",
		  .set = set_output},
	session = {"session", "NAME",
		   "LTTng's name of the session, ftrace's of the instance (default:\n"
		   "whylate-PID; of snapshot the newest of these)",
		   .set = set_session},
	analyse = {"analyse", NULL,
		   "report at once: why the program ended no sooner, or an overview", option_switch,
		   OF(analyse)},
	no_settings = {"no-settings", NULL, "keep no settings of the system beside the trace",
		       option_switch, OF(no_settings)},
	cleanup = {"cleanup", NULL, "remove what recordings left that were killed", option_switch,
		   .at = offsetof(struct record_asked, cleanup)},
	dry_run = {"dry-run", NULL, "only show the tracer's commands", option_switch, OF(dry_run)};

static const struct option *const record_options[] = {
	&preset,  &tracer,  &network,     &guests,   &callstacks, &samples, &functions,
	&drill,   &every,   &after,       &duration, &flight,     &trigger, &output,
	&session, &analyse, &no_settings, &cleanup,  &dry_run,    NULL};
static const struct option *const snapshot_options[] = {&session, &analyse, &no_settings, &dry_run,
							NULL};

static void print_presets(struct output *to)
{
	fputs("\nPresets:\n", to->file);
	for (int i = 0; i < PRESET_COUNT; i++)
		text_described(to, 9, preset_names[i], preset_texts[i]);
}

const struct command record_command = {
	.name = "record",
	.usage = "[OPTIONS] [-- PROGRAM [ARGUMENT]...]",
	.summary = "Records with LTTng, ftrace or perf what the analyses need: while PROGRAM runs, "
		   "or until Ctrl-C.",
	.brief = "Records what the analyses need: whylate record -- PROGRAM",
	.options = record_options,
	.help_column = 26,
	.help_end = print_presets,
};

const struct command snapshot_command = {
	.name = "snapshot",
	.usage = "[OPTIONS]",
	.summary = "Writes out what a flight recorder that whylate record runs has in memory.",
	.brief = "Writes out a flight recorder's memory.",
	.manual = "record",
	.options = snapshot_options,
	.help_column = 26,
};
