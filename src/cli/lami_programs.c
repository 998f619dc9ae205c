/* SPDX-License-Identifier: MIT */
/* The programs whylate-lami-NAME: links to the command, which looks at the name that it was
 * called by, as Trace Compass asks a program for its version by its first word alone.
 *
 *   --mi-version                            one line
 *   --metadata                              a JSON object, or an error object
 *   --test-compatibility TRACE              nothing, or an error object and status 1
 *   [--output-progress] [--begin NS] [--end NS] [--limit N|unlimited] [OPTION]... TRACE
 *                                           progress lines, then tables, or an error object
 *
 * In the first three nothing is written to standard error, which Trace Compass reads as part of
 * the answer; in the last one errors are told there too, as it shows that and not the object.
 * A trace that is damaged or lost events is analysed with status 0: a table says so.
 *
 * Place: src/cli/; tables and metadata are lami/lami.c's. Source: see lami/lami.h.
 */
#include "cli/cli.h"
#include "run/feed.h"

#include <stdio.h>
#include <string.h>

#include "lami/lami.h"
#include "util/error.h"

#define LAMI_FAILED 1 /* status of --test-compatibility that says no */

struct asked {
	bool version, metadata, test, progress, help;
	char *begin, *end, *limit; /* owned; NULL: not said */
	GPtrArray *rest;           /* borrowed words: what is the command's */
	char *heard;               /* owned; what went wrong, for the error object; NULL */
};

static int print_error(const char *message, int code)
{
	lami_error(message, code, stdout);
	return code;
}

/* --- arguments ----------------------------------------------------------------------------- */

/* The switch `name`, or with a value (`text` not NULL) as the next word or behind `=`. */
static bool takes(char **argv, int *at, const char *name, bool *on, char **text)
{
	size_t length = strlen(name);

	if (strncmp(argv[*at], name, length) != 0)
		return false;
	if (on && !argv[*at][length]) {
		*on = true;
		return true;
	}
	if (!text || (argv[*at][length] && argv[*at][length] != '='))
		return false;
	g_free(*text);
	if (argv[*at][length])
		*text = g_strdup(argv[*at] + length + 1);
	else
		*text = g_strdup(argv[*at + 1] ? argv[++*at] : "");
	return true;
}

static void parse(int argc, char **argv, struct asked *asked)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			while (i < argc)
				g_ptr_array_add(asked->rest, argv[i++]);
			break;
		}
		if (takes(argv, &i, "--mi-version", &asked->version, NULL) ||
		    takes(argv, &i, "--metadata", &asked->metadata, NULL) ||
		    takes(argv, &i, "--test-compatibility", &asked->test, NULL) ||
		    takes(argv, &i, "--output-progress", &asked->progress, NULL) ||
		    takes(argv, &i, "--help", &asked->help, NULL) ||
		    takes(argv, &i, "-h", &asked->help, NULL) ||
		    takes(argv, &i, "--begin", NULL, &asked->begin) ||
		    takes(argv, &i, "--end", NULL, &asked->end) ||
		    takes(argv, &i, "--limit", NULL, &asked->limit))
			continue;
		g_ptr_array_add(asked->rest, argv[i]);
	}
}

/* What the command has, but a table cannot: other forms, several reports, other times. */
static bool refused(const char *word)
{
	static const char *const names[] = {
		"--format",      "--output", "--every",   "--from",     "--to",    "--last",
		"--json-schema", "--save",   "--compare", "--resume",   "--force", "--threshold",
		"--time-lapse",  "--per",    "--metric",  "--progress", "--color"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_has_prefix(word, names[i]) &&
		    (!word[strlen(names[i])] || word[strlen(names[i])] == '='))
			return true;
	return false;
}

static bool set_time(struct when *when, const char *option, const char *text, GError **error)
{
	gint64 ns;

	if (!text)
		return true;
	if (!g_ascii_string_to_signed(text, 10, 0, G_MAXINT64, &ns, NULL)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "%s '%s': must be a whole number: nanoseconds since 1970", option,
			    text);
		return false;
	}
	*when = (struct when) {.kind = WHEN_ABSOLUTE, .ns = ns};
	return true;
}

/* --begin, --end and --limit, and what the command has by itself here. */
static bool set_own(const struct asked *asked, struct options *options, GError **error)
{
	guint64 limit = 0;

	if (!set_time(&options->from, "--begin", asked->begin, error) ||
	    !set_time(&options->to, "--end", asked->end, error))
		return false;
	if (asked->begin && asked->end && options->from.ns > options->to.ns) {
		struct when from = options->from;

		options->from = options->to;
		options->to = from;
	}
	if (asked->limit && strcmp(asked->limit, "unlimited") != 0 &&
	    !g_ascii_string_to_unsigned(asked->limit, 10, 1, G_MAXINT32, &limit, NULL)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--limit '%s': must be a whole number from 1 on, or unlimited",
			    asked->limit);
		return false;
	}
	options->limit = (uint32_t) limit;
	options->progress_lines = asked->progress;
	return true;
}

/* What is analysed if nothing is asked for. */
static void set_defaults(const struct lami_analysis *analysis, struct options *options)
{
	if (analysis->of_threads)
		options->depth = 2; /* a wait, and what whom it led to did; no table has more */
	if (analysis->operations && !options->profile.operations->len) {
		g_auto(GStrv) words = g_strsplit(analysis->operations, " ", -1);

		for (char **word = words; *word; word++)
			g_ptr_array_add(options->profile.operations, g_strdup(*word));
		options->assumed = true;
	}
}

/* Words for the parser of the command's arguments: what was given, and all threads where
 * some must be named. */
static bool names_threads(const GPtrArray *rest)
{
	static const char *const names[] = {"--thread", "--process", "--target", "--container"};

	for (guint i = 0; i < rest->len; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
			if (g_str_has_prefix(g_ptr_array_index(rest, i), names[k]))
				return true;
	return false;
}

static int set_options(const struct lami_analysis *analysis, struct asked *asked,
		       struct options *options, GPtrArray *paths)
{
	g_autoptr(GError) error = NULL;
	int status;

	for (guint i = 0; i < asked->rest->len; i++) {
		const char *word = g_ptr_array_index(asked->rest, i);
		g_autofree char *message = NULL;

		if (strcmp(word, "--") == 0)
			break;
		if (!refused(word))
			continue;
		message =
			g_strdup_printf("%s has no meaning for tables (see whylate-lami(1))", word);
		tell(&asked->heard, message);
		return WHYLATE_ERROR_USAGE;
	}
	if (analysis->of_threads && !names_threads(asked->rest)) {
		g_ptr_array_insert(asked->rest, 0, (char *) "--thread=all");
		options->assumed = true;
	}
	options->lami = analysis;
	status = arguments_parse((int) asked->rest->len, (char **) asked->rest->pdata, options,
				 paths, &asked->heard);
	if (status >= 0)
		return status;
	if (!set_own(asked, options, &error))
		return tell_error(&asked->heard, error);
	set_defaults(analysis, options);
	return -1;
}

/* --- phases -------------------------------------------------------------------------------- */

static void print_help(const struct lami_analysis *analysis)
{
	printf("Usage: whylate-lami-%s [--begin NS] [--end NS] [--limit N] [OPTION]... TRACE\n\n"
	       "%s\n%s\n\n"
	       "  --mi-version           print the version of LAMI, 1.0\n"
	       "  --metadata             print what it is and which tables it has\n"
	       "  --test-compatibility   say nothing if TRACE can be analysed\n"
	       "  --output-progress      print progress lines before the result\n"
	       "  --begin NS, --end NS   of the window, in nanoseconds since 1970\n"
	       "  --limit N              rows of a table; unlimited (default)\n\n"
	       "Options that choose what is analysed are those of 'whylate %s'.\n"
	       "The manual page whylate-lami(1) says more.\n",
	       analysis->name, analysis->title, analysis->description, analysis->command);
}

/* Its metadata is there, and declares an event that the analysis is of. */
static bool test(const struct lami_analysis *analysis, GPtrArray *paths, GError **error)
{
	g_autoptr(GPtrArray) traces = traces_find(paths, error);
	struct options options;
	struct session *session;
	bool any = false, ok = traces != NULL;

	if (!ok)
		return false;
	command_options(&options, command_find(commands, analysis->command));
	session = session_new(&options);
	if (!traces_are_read_directly(&options, traces)) {
		any = true; /* what Babeltrace reads is known only when it has been read */
	} else {
		ok = traces_declare(session, traces, error);
		for (size_t i = 0; i < G_N_ELEMENTS(analysis->needs); i++)
			any |= analysis->needs[i] != EV_OTHER &&
			       session->trace.kinds[analysis->needs[i]];
	}
	if (ok && !any)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has none of the events that this is made from; 'whylate "
			    "check' names them");
	session_free(session);
	options_clear(&options);
	return ok && any;
}

static int run_test(const struct lami_analysis *analysis, struct asked *asked, GPtrArray *paths)
{
	g_autoptr(GError) error = NULL;
	struct options options;
	int status;

	command_options(&options, command_find(commands, analysis->command));
	status = set_options(analysis, asked, &options, paths);
	if (status < 0)
		enter_sandbox(&options, paths, CONFINE_ANALYSIS);
	options_clear(&options);
	if (status >= 0)
		return print_error(asked->heard ? asked->heard : "wrong usage", status);
	return test(analysis, paths, &error) ? 0 : print_error(error->message, LAMI_FAILED);
}

static int run_results(const struct lami_analysis *analysis, struct asked *asked, GPtrArray *paths)
{
	struct options options;
	int status;

	command_options(&options, command_find(commands, analysis->command));
	status = set_options(analysis, asked, &options, paths);
	if (status < 0) {
		status = run(&options, paths, &asked->heard);
		if (status == WHYLATE_ERROR_DAMAGE && !options.strict)
			status = 0;
	} else if (!status) {
		options_clear(&options); /* --version */
		return 0;
	}
	options_clear(&options);
	if (!status || status == WHYLATE_ERROR_DAMAGE || status == WHYLATE_ERROR_OUTPUT)
		return status;
	if (!asked->heard)
		asked->heard = g_strdup("it failed");
	tell(NULL, asked->heard);
	return print_error(asked->heard, status);
}

static int answer(const struct lami_analysis *analysis, struct asked *asked)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();

	if (asked->version)
		puts("1.0");
	else if (asked->metadata)
		lami_metadata(analysis, stdout);
	else if (asked->help)
		print_help(analysis);
	else if (asked->test)
		return run_test(analysis, asked, paths);
	else
		return run_results(analysis, asked, paths);
	return 0;
}

int lami_command(const char *name, int argc, char **argv)
{
	const struct lami_analysis *analysis = lami_find(name);
	struct asked asked = {.rest = g_ptr_array_new()};
	g_autofree char *unknown = NULL;
	int status;

	parse(argc, argv, &asked);
	if (analysis) {
		status = answer(analysis, &asked);
	} else {
		unknown = g_strdup_printf("there is no analysis '%s' (see whylate-lami(1))", name);
		status = print_error(unknown, WHYLATE_ERROR_USAGE);
	}
	g_ptr_array_free(asked.rest, TRUE);
	g_free(asked.begin);
	g_free(asked.end);
	g_free(asked.limit);
	g_free(asked.heard);
	return status;
}
