/* SPDX-License-Identifier: MIT */
/* See common_options.h. */
#include "run/common_options.h"

#include <string.h>

#include "guests/guests.h"
#include "run/command.h"
#include "run/option_values.h"
#include "trace/clocks.h"

static bool set_when(struct when *when, struct options *options, size_t filter,
		     const struct option *option, const char *value, GError **error)
{
	struct option event = *option;

	if (!when_parse(value, when, error)) {
		g_prefix_error(error, "--%s: ", option->name);
		return false;
	}
	event.at = filter;
	return when->kind != WHEN_EVENT || option_event(options, &event, value, error);
}

static bool set_from(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;

	return set_when(&options->from, options, offsetof(struct options, from_event), option,
			value, error);
}

static bool set_to(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;

	return set_when(&options->to, options, offsetof(struct options, to_event), option, value,
			error);
}

static bool set_last(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;

	options->from = (struct when) {.kind = WHEN_FROM_END};
	return option_duration(into, option, value, error);
}

#define EVERY_MIN 1000000 /* ns */

static bool set_every(void *into, const struct option *option, const char *value, GError **error)
{
	const struct options *options = into;

	return option_duration(into, option, value, error) &&
	       (options->every >= EVERY_MIN ||
		option_refuse(option, value, error, "must be a millisecond or longer"));
}

static bool add_clock_offset(void *into, const struct option *option, const char *value,
			     GError **error)
{
	g_autofree char *host = NULL;
	int64_t ns;

	if (clock_offset_parse(value, &host, &ns, error))
		return option_texts(into, option, value, error);
	g_prefix_error(error,
		       "--%s '%s': must be [HOST=]DURATION, as in server=816ms or server=-1.5s: ",
		       option->name, value);
	return false;
}

static bool add_guest(void *into, const struct option *option, const char *value, GError **error)
{
	g_autofree char *guest = NULL, *process = NULL;

	if (guest_parse(value, &guest, &process, error))
		return option_texts(into, option, value, error);
	g_prefix_error(error, "--%s '%s': ", option->name, value);
	return false;
}

/* DIR[:DIR]...; a directory that is not there would be a mistake that nobody sees. */
static bool add_directories(void *into, const struct option *option, const char *value,
			    GError **error)
{
	g_auto(GStrv) all = g_strsplit(value, G_SEARCHPATH_SEPARATOR_S, -1);

	if (!*value)
		return option_texts(into, option, value, error);
	for (char **one = all; *one; one++) {
		const char *wrong = NULL;

		if (!**one)
			wrong = "a directory's name is empty";
		else if (!g_file_test(*one, G_FILE_TEST_EXISTS))
			wrong = "there is no such directory";
		else if (!g_file_test(*one, G_FILE_TEST_IS_DIR))
			wrong = "is not a directory";
		if (wrong)
			return option_refuse(option, **one ? *one : value, error, "%s", wrong);
		option_texts(into, option, *one, NULL);
	}
	return true;
}

/* One of those that the command writes. */
static bool set_format(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;
	const char *words[FORMAT_COUNT + 1] = {NULL};
	enum format formats[FORMAT_COUNT];
	int count = 0, chosen;

	for (int i = 0; i < FORMAT_COUNT; i++)
		if (options->command->writers[i]) {
			formats[count] = (enum format) i;
			words[count++] = format_name((enum format) i);
		}
	chosen = option_choose(option, value, words, error);
	if (chosen >= 0)
		options->format = formats[chosen];
	return chosen >= 0;
}

bool options_set_cache(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;

	g_clear_pointer(&options->cache, g_free);
	return strcmp(value, "auto") == 0 || option_text(into, option, value, error);
}

#define JOBS_MAX 1024

#define WORDS(...) ((const char *const[]) {__VA_ARGS__, NULL})

const struct option option_target = {
	"target", "EVENT",
	"the event that was late: 'NAME [key=value]... [nth=N|last]';\nits thread is analysed, "
	"its time ends the window",
	option_event, AT(target)};
const struct option option_thread = {
	"thread",          "TID|NAME",  "analyse this thread ('all': every one); may be\nrepeated",
	option_texts,      AT(threads), .words = WORDS("all"),
	.repeatable = true};
const struct option option_process = {
	"process",    "PID|NAME",    "analyse all threads of this process; may be repeated",
	option_texts, AT(processes), .repeatable = true};
const struct option option_host = {"host", "NAME", "only this host's threads", option_text,
				   AT(host)};
const struct option option_container = {
	"container", "ID|NS",
	"only this container: a PID or cgroup namespace\n(4026532201), a process in it, its first "
	"one's name;\nTIDs, PIDs are its own",
	option_text, AT(container)};
const struct option option_clock_offset = {
	"clock-offset",
	"[HOST=]DURATION",
	"add this to HOST's clock (may be negative)\ninstead of what its packets tell; may be "
	"repeated",
	add_clock_offset,
	AT(clock_offsets),
	.repeatable = true};
const struct option option_guest = {
	"guest",
	"NAME=PID|PROCESS",
	"host NAME is the guest that this process of another\nhost runs, instead of finding it "
	"out; "
	"may be repeated",
	add_guest,
	AT(guests),
	.repeatable = true};
const struct option option_from = {
	"from", "WHEN",
	"begin of the window: hh:mm:ss[.n], SECONDS, Nns,\n+OFFSET, -OFFSET, or an event",
	.set = set_from};
const struct option option_to = {"to", "WHEN",
				 "end of the window, the same (+OFFSET counts from\n--from)",
				 .set = set_to};
const struct option option_last = {"last", "DURATION",
				   "the last DURATION of the trace, as --from -DURATION", set_last,
				   AT(from.ns)};
const struct option option_every = {
	"every", "DURATION",
	"a report each DURATION of the trace (from --from to --to), of the\ntime since the last "
	"one; json: one object a line",
	set_every, AT(every)};
const struct option option_kallsyms = {
	"kallsyms", "FILE", "symbols of the traced kernel (default: 'kallsyms'\nbeside the trace)",
	option_text, AT(kallsyms)};
const struct option option_binary_path = {
	"binary-path",
	"DIR[:DIR]...",
	"where the traced programs and libraries are: below DIR as on the\ntraced machine, or in "
	"DIR; may be repeated (always: beside the\ntrace, and where they were traced below\n"
	"/usr; build-ids are compared)",
	add_directories,
	AT(binary_paths),
	.repeatable = true};
const struct option option_format = {
	"format", "FORMAT",
	"text (default), json; html (a page for browsers);\ndelay: csv "
	"(its state instances, with\n--path its steps); requests: csv (a row each), dot "
	"(the\ngraph of their ways); functions: csv (a row each), folded\n(stacks)",
	.set = set_format};
const struct option option_output = {"output", "FILE", "write to FILE instead of standard output",
				     option_text, AT(output)};
const struct option option_limit = {
	"limit",       "N",       "entries of a list (default 20; 0: all)",
	option_number, AT(limit), .most = OPTION_NUMBER_MAX};
const struct option option_depth = {"depth",       "N",       DEPTH_HELP,
				    option_number, AT(depth), .most = OPTION_NUMBER_MAX};
const struct option option_min_duration = {
	"min-duration", "DURATION",
	"leave out waits, instances and calls (of a --timeline)\nshorter than this",
	option_duration, AT(min_duration)};
const struct option option_anonymise = {
	"anonymise", NULL, "replace names of threads, programs, hosts and files,\nand addresses",
	option_switch, AT(anonymise)};
const struct option option_anonymise_key = {
	"anonymise-key", "FILE", "replace names consistently across traces, using the\nkey in FILE",
	option_text, AT(anonymise_key)};
const struct option option_utc = {"utc", NULL, "times of day are UTC, not local time",
				  option_switch, AT(utc)};
const struct option option_strict = {
	"strict",      NULL,       "exit with 4 if the tracer lost events",
	option_switch, AT(strict), .terminal = true};
const struct option option_force = {"force", NULL,
				    "answer, even if the trace lacks what the answer rests\non",
				    option_switch, AT(force)};
const struct option option_color = {
	"color",     "WHEN",    "auto (default), always, never",
	option_word, AT(color), .words = WORDS("auto", "always", "never")};
const struct option option_no_pager = {
	"no-pager",    NULL,         "no pager, even if the terminal has too few rows",
	option_switch, AT(no_pager), .terminal = true};
const struct option option_glossary = {
	"glossary",    NULL,         "explain a report's words below it, as 'explain WORD' does",
	option_switch, AT(glossary), .terminal = true};
const struct option option_reader = {
	"reader",        "HOW",      "how to read the trace: auto (default), direct,\nbabeltrace",
	option_word,     AT(reader), .words = WORDS("auto", "direct", "babeltrace"),
	.terminal = true};
const struct option option_cache = {
	"cache",
	"WHERE",
	"keep what was read of long traces for further\nquestions: auto (default: in "
	"~/.cache/whylate), off,\nor a directory",
	options_set_cache,
	AT(cache),
	.words = WORDS("auto", "off"),
	.terminal = true};
static bool set_lead_in(void *into, const struct option *option, const char *value, GError **error)
{
	if (strcmp(value, "all") != 0)
		return option_duration(into, option, value, error);
	((struct options *) into)->lead_in = INT64_MAX;
	return true;
}

const struct option option_lead_in = {
	"lead-in",
	"DURATION",
	"read so much of the trace before --from event by event\n(default: 1s of long traces), or "
	"all; of what came before\nthat, only what lasts",
	set_lead_in,
	AT(lead_in),
	.terminal = true};
const struct option option_jobs = {
	"jobs",
	"N",
	"use so many processors at most (default: all); the\nreport is the same",
	option_number,
	AT(jobs),
	.least = 1,
	.most = JOBS_MAX};
const struct option option_progress = {
	"progress",      "WHEN",       "progress on stderr: auto (default), always, never",
	option_word,     AT(progress), .words = WORDS("auto", "always", "never"),
	.terminal = true};
const struct option option_quiet = {"quiet", NULL, "no warnings on standard error", option_switch,
				    AT(quiet)};
const struct option option_verbose = {
	"verbose", NULL, "list gaps, small nodes and idle threads too, and what\nwas odd",
	option_switch, AT(verbose)};
