/* The table of options and how each is read; see options.h. */
#include "analysis/options.h"

#include <string.h>

#include "util/error.h"

#define DELAY (1u << COMMAND_DELAY)
#define ALL (DELAY | 1u << COMMAND_OVERVIEW)

const struct option_spec option_specs[] = {
	{"target", "EVENT", "the event that was late: 'NAME [key=value]... [nth=N|last]';\nits thread is analysed, its time ends the window", DELAY, true, false},
	{"thread", "TID|NAME", "analyse this thread ('all': every one); may be repeated", DELAY, true, true},
	{"process", "PID|NAME", "analyse all threads of this process; may be repeated", DELAY, true, true},
	{"host", "NAME", "only this host's threads", ALL, true, false},
	{"from", "WHEN", "begin of the window: hh:mm:ss[.n], SECONDS, Nns, +OFFSET,\n-OFFSET, or an event", ALL, true, false},
	{"to", "WHEN", "end of the window, the same (+OFFSET counts from --from)", ALL, true, false},
	{"last", "DURATION", "the last DURATION of the trace, as --from -DURATION", ALL, true, false},
	{"format", "FORMAT", "text (default), json; delay also csv: the state instances", ALL, true, false},
	{"output", "FILE", "write to FILE instead of standard output", ALL, true, false},
	{"limit", "N", "entries of a list (default 20; 0: all)", ALL, true, false},
	{"depth", "N", "levels of blocking causality (default 0: all)", DELAY, true, false},
	{"min-duration", "DURATION", "leave out waits and instances shorter than this", DELAY, true, false},
	{"utc", NULL, "times of day are UTC, not local time", ALL, true, false},
	{"strict", NULL, "exit with 4 if the tracer lost events", ALL, false, false},
	{"color", "WHEN", "auto (default), always, never", ALL, true, false},
	{"progress", "WHEN", "progress on stderr: auto (default), always, never", ALL, false, false},
	{"quiet", NULL, "no warnings on standard error", ALL, true, false},
	{"verbose", NULL, "list gaps, small nodes and idle threads too, and what was odd", ALL, true, false},
	{0}};

static const char *const commands[] = {"overview", "delay"};

const char *command_name(enum command command)
{
	return commands[command];
}

const struct option_spec *option_find(const char *name)
{
	for (const struct option_spec *spec = option_specs; spec->name; spec++)
		if (strcmp(spec->name, name) == 0)
			return spec;
	return NULL;
}

void options_init(struct options *options, enum command command)
{
	*options = (struct options) {.command = command, .limit = 20};
	options->threads = g_ptr_array_new_with_free_func(g_free);
	options->processes = g_ptr_array_new_with_free_func(g_free);
}

void options_clear(struct options *options)
{
	event_filter_free(options->target);
	event_filter_free(options->from_event);
	event_filter_free(options->to_event);
	g_ptr_array_free(options->threads, TRUE);
	g_ptr_array_free(options->processes, TRUE);
	g_free(options->host);
	g_free(options->output);
	memset(options, 0, sizeof *options);
}

/* One of `words`, or an error that lists them. */
static bool pick(const char *name, const char *value, const char *const *words, int *chosen,
		 GError **error)
{
	g_autofree char *list = NULL;

	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], value) == 0) {
			*chosen = i;
			return true;
		}
	list = g_strjoinv(", ", (char **) words);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--%s '%s': must be one of %s", name,
		    value, list);
	return false;
}

static bool set_number(const char *name, const char *value, uint32_t *number, GError **error)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(value, 10, 0, 1000000000, &n, NULL)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--%s '%s': must be a whole number from 0 to 1000000000", name, value);
		return false;
	}
	*number = (uint32_t) n;
	return true;
}

static bool set_switch(const char *name, const char *value, bool *on, GError **error)
{
	static const char *const words[] = {"yes", "no", NULL};
	int chosen = 0;

	if (*value && !pick(name, value, words, &chosen, error))
		return false;
	*on = chosen == 0;
	return true;
}

static bool set_choice(const char *name, const char *value, enum choice *choice, GError **error)
{
	static const char *const words[] = {"auto", "always", "never", NULL};
	int chosen = 0;

	if (!pick(name, value, words, &chosen, error))
		return false;
	*choice = (enum choice) chosen;
	return true;
}

static bool set_format(const struct options *options, const char *value, enum format *format,
		       GError **error)
{
	static const char *const words[] = {"text", "json", "csv", NULL};
	int chosen = 0;

	if (!pick("format", value, words, &chosen, error))
		return false;
	*format = (enum format) chosen;
	if (*format == FORMAT_CSV && options->command != COMMAND_DELAY) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--format 'csv': %s writes text or json",
			    command_name(options->command));
		return false;
	}
	return true;
}

static bool set_event(struct event_filter **filter, const char *name, const char *value,
		      GError **error)
{
	event_filter_free(*filter);
	*filter = event_filter_parse(value, error);
	if (!*filter)
		g_prefix_error(error, "--%s: ", name);
	return *filter != NULL;
}

static bool set_when(const char *name, const char *value, struct when *when,
		     struct event_filter **filter, GError **error)
{
	if (!when_parse(value, when, error)) {
		g_prefix_error(error, "--%s: ", name);
		return false;
	}
	return when->kind != WHEN_EVENT || set_event(filter, name, value, error);
}

static bool set_duration(const char *name, const char *value, int64_t *ns, GError **error)
{
	if (when_parse_duration(value, ns, error))
		return true;
	g_prefix_error(error, "--%s: ", name);
	return false;
}

static bool set_text(const char *name, const char *value, char **text, GError **error)
{
	if (!*value) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--%s needs a value", name);
		return false;
	}
	g_free(*text);
	*text = g_strdup(value);
	return true;
}

static bool add_text(const char *name, const char *value, GPtrArray *list, GError **error)
{
	char *text = NULL;

	if (!set_text(name, value, &text, error))
		return false;
	g_ptr_array_add(list, text);
	return true;
}

bool options_set(struct options *options, const char *name, const char *value, GError **error)
{
	const struct option_spec *spec = option_find(name);

	if (!spec || !(spec->commands & (1u << options->command))) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "%s has no option '%s' (see whylate %s --help)",
			    command_name(options->command), name, command_name(options->command));
		return false;
	}
	if (strcmp(name, "target") == 0)
		return set_event(&options->target, name, value, error);
	if (strcmp(name, "thread") == 0)
		return add_text(name, value, options->threads, error);
	if (strcmp(name, "process") == 0)
		return add_text(name, value, options->processes, error);
	if (strcmp(name, "host") == 0)
		return set_text(name, value, &options->host, error);
	if (strcmp(name, "from") == 0)
		return set_when(name, value, &options->from, &options->from_event, error);
	if (strcmp(name, "to") == 0)
		return set_when(name, value, &options->to, &options->to_event, error);
	if (strcmp(name, "last") == 0) {
		options->from = (struct when) {.kind = WHEN_FROM_END};
		return set_duration(name, value, &options->from.ns, error);
	}
	if (strcmp(name, "format") == 0)
		return set_format(options, value, &options->format, error);
	if (strcmp(name, "output") == 0)
		return set_text(name, value, &options->output, error);
	if (strcmp(name, "limit") == 0)
		return set_number(name, value, &options->limit, error);
	if (strcmp(name, "depth") == 0)
		return set_number(name, value, &options->depth, error);
	if (strcmp(name, "min-duration") == 0)
		return set_duration(name, value, &options->min_duration, error);
	if (strcmp(name, "utc") == 0)
		return set_switch(name, value, &options->utc, error);
	if (strcmp(name, "strict") == 0)
		return set_switch(name, value, &options->strict, error);
	if (strcmp(name, "color") == 0)
		return set_choice(name, value, &options->color, error);
	if (strcmp(name, "progress") == 0)
		return set_choice(name, value, &options->progress, error);
	if (strcmp(name, "quiet") == 0)
		return set_switch(name, value, &options->quiet, error);
	return set_switch(name, value, &options->verbose, error);
}

bool options_check(const struct options *options, GError **error)
{
	if (options->command != COMMAND_DELAY || options->target || options->threads->len ||
	    options->processes->len)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "delay needs to know what was late: --target 'EVENT [key=value]...' (as in "
		    "'sched_process_exec filename=*/sh'), --thread TID|NAME, or --thread all; "
		    "'whylate overview TRACE' shows what is there");
	return false;
}
