/* SPDX-License-Identifier: MIT */
/* See command.h. */
#include "util/pattern.h"
#include "run/command.h"

#include <string.h>

#include "run/anonymise.h"
#include "run/option_values.h"

const struct command *command_find(const struct command *const *commands, const char *name)
{
	while (*commands && strcmp((*commands)->name, name) != 0)
		commands++;
	return *commands;
}

const struct option *command_option(const struct command *command, const char *name)
{
	const struct option *const *options = command->options;

	while (*options && strcmp((*options)->name, name) != 0)
		options++;
	return *options;
}

const char *format_name(enum format format)
{
	static const char *const names[FORMAT_COUNT] = {
		[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json",     [FORMAT_CSV] = "csv",
		[FORMAT_DOT] = "dot",   [FORMAT_FOLDED] = "folded", [FORMAT_HTML] = "html"};

	return names[format];
}

static void given_free(gpointer data)
{
	struct given *given = data;

	g_free(given->name);
	g_free(given->value);
	g_free(given);
}

void options_init(struct options *options, const struct command *command)
{
	*options = (struct options) {.command = command, .limit = 20, .lead_in = -1};
	options->profile =
		(struct profile_options) {.operations = g_ptr_array_new_with_free_func(g_free),
					  .maxcount_percentage = 20,
					  .min_operations = 3,
					  .threshold = 0.25};
	options->functions.threshold = 25;
	options->requests.picks = g_ptr_array_new_with_free_func(g_free);
	options->binary_paths = g_ptr_array_new_with_free_func(g_free);
	options->export.as = EXPORT_NOT_SAID;
	options->threads = g_ptr_array_new_with_free_func(g_free);
	options->processes = g_ptr_array_new_with_free_func(g_free);
	options->guests = g_ptr_array_new_with_free_func(g_free);
	options->clock_offsets = g_ptr_array_new_with_free_func(g_free);
	options->settings = g_ptr_array_new_with_free_func(g_free);
	options->what_if = g_ptr_array_new_with_free_func(g_free);
	options->limits = g_ptr_array_new();
	options->given = g_ptr_array_new_with_free_func(given_free);
	options->serve.origins = g_ptr_array_new_with_free_func(g_free);
	if (command->init)
		command->init(options);
}

void options_clear(struct options *options)
{
	g_ptr_array_free(options->given, TRUE);
	g_free(options->trace);
	event_filter_free(options->target);
	event_filter_free(options->from_event);
	event_filter_free(options->to_event);
	g_ptr_array_free(options->threads, TRUE);
	g_ptr_array_free(options->processes, TRUE);
	g_ptr_array_free(options->guests, TRUE);
	g_ptr_array_free(options->clock_offsets, TRUE);
	g_ptr_array_free(options->settings, TRUE);
	g_ptr_array_free(options->what_if, TRUE);
	g_ptr_array_free(options->limits, TRUE);
	g_free(options->junit);
	g_free(options->anonymise_key);
	anonymiser_free(options->anonymiser);
	g_free(options->batch.index);
	g_free(options->batch.merged);
	g_free(options->batch.expect);
	g_free(options->batch.pages);
	g_free(options->batch.tables);
	g_ptr_array_free(options->profile.operations, TRUE);
	g_ptr_array_free(options->requests.picks, TRUE);
	event_filter_free(options->requests.begin);
	event_filter_free(options->requests.end);
	if (options->requests.captures)
		g_ptr_array_free(options->requests.captures, TRUE);
	g_free(options->requests.a);
	g_free(options->requests.b);
	g_free(options->requests.slow_fast);
	g_free(options->functions.function);
	g_free(options->export.table);
	g_free(options->export.around);
	g_free(options->serve.listen);
	g_ptr_array_free(options->serve.origins, TRUE);
	g_free(options->profile.resource);
	g_free(options->profile.save);
	g_free(options->profile.compare);
	g_free(options->profile.resume);
	g_free(options->kallsyms);
	g_ptr_array_free(options->binary_paths, TRUE);
	g_free(options->cache);
	g_free(options->host);
	g_free(options->container);
	g_free(options->output);
	memset(options, 0, sizeof *options);
}

/* The last one counts, where not each adds something. */
static void note_given(struct options *options, const char *name, const char *value)
{
	const struct option *option = command_option(options->command, name);
	struct given *given = g_new(struct given, 1);

	for (guint i = options->given->len; !option->repeatable && i > 0; i--)
		if (strcmp(((struct given *) options->given->pdata[i - 1])->name, name) == 0)
			g_ptr_array_remove_index(options->given, i - 1);
	*given = (struct given) {g_strdup(name), g_strdup(value)};
	g_ptr_array_add(options->given, given);
}

bool options_set(struct options *options, const char *name, const char *value, GError **error)
{
	const struct option *option = command_option(options->command, name);

	struct nearest nearest = {.wanted = name};
	g_autofree char *near = NULL;

	if (option) {
		if (!option->set(options, option, value, error))
			return false;
		note_given(options, name, value);
		return true;
	}
	for (const struct option *const *at = options->command->options; *at; at++)
		nearest_offer(&nearest, (*at)->name);
	near = nearest_words(&nearest, "; did you mean ");
	return options_refuse(error, "%s has no option '%s'%s (see whylate %s --help)",
			      options->command->name, name, near, options->command->name);
}

/* Where windows begin and end must be known before the trace has ended. */
static bool check_every(const struct options *options, GError **error)
{
	if (options->from.kind == WHEN_FROM_END || options->to.kind == WHEN_FROM_END)
		return options_exclude(
			"--every", options->to.kind == WHEN_FROM_END ? "--to -OFFSET" : "--last",
			"a time before the trace's end is known only at its end", error);
	if (options->from.kind == WHEN_EVENT || options->to.kind == WHEN_EVENT)
		return options_exclude(
			"--every", options->to.kind == WHEN_EVENT ? "--to EVENT" : "--from EVENT",
			"reports begin and end at times", error);
	if (options->format == FORMAT_HTML)
		return options_exclude("--every", "--format html", "a page is of one report",
				       error);
	if (options->profile.save || options->profile.resume)
		return options_exclude("--every", options->profile.save ? "--save" : "--resume",
				       "a saved search is of one report", error);
	if (options->limits->len)
		return options_exclude("--every", "--fail-if and --budget",
				       "a verdict is of one report", error);
	return true;
}

uint32_t options_jobs(const struct options *options)
{
	return options->jobs ? options->jobs : g_get_num_processors();
}

bool options_name_events(const struct options *options)
{
	return options->target || options->from_event || options->to_event ||
	       options->requests.begin || options->requests.end;
}

bool options_check(struct options *options, GError **error)
{
	bool anonymises = options->anonymise || options->anonymise_key;

	if (anonymises && !options->anonymiser)
		options->anonymiser = anonymiser_new(options->anonymise_key, error);
	if (anonymises && !options->anonymiser)
		return false;
	if (options->lead_in >= 0 && options->from.kind == WHEN_NONE &&
	    options->to.kind == WHEN_NONE)
		return options_refuse(error,
				      "--lead-in is read before and after a window: it needs "
				      "--from, --to or --last");
	if (options->every && !check_every(options, error))
		return false;
	return !options->command->check || options->command->check(options, error);
}

bool command_report(const struct command *command, enum format format,
		    const struct session *session,
		    void (*before)(const struct session *session, struct output *output),
		    struct output *output, GError **error)
{
	report_writer *write = command->writers[format];
	void *made = command->make ? command->make(session, error) : NULL;

	g_assert(write);
	if (command->make && !made)
		return false;
	if (before)
		before(session, output);
	write(command->make ? made : (const void *) session, output);
	if (command->free)
		command->free(made);
	return true;
}
