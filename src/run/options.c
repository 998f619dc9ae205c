/* SPDX-License-Identifier: MIT */
/* The table of options and how each is read; see options.h. */
#include "run/options.h"

#include <string.h>

#include "run/anonymise.h"
#include "limits/limits.h"
#include "findings/findings.h"
#include "latencies/operations.h"
#include "tracking/request_filter.h"
#include "trace/clocks.h"
#include "util/error.h"

#define DELAY (1u << COMMAND_DELAY)
#define PROFILE (1u << COMMAND_PROFILE)
#define ALL (DELAY | PROFILE | 1u << COMMAND_OVERVIEW) /* that analyse */
#define REQUESTS (1u << COMMAND_REQUESTS)
#define DIFF (1u << COMMAND_DIFF)
#define FUNCTIONS (1u << COMMAND_FUNCTIONS)
#define EXPORT (1u << COMMAND_EXPORT)
#define EXPLAIN (1u << COMMAND_EXPLAIN)
#define BATCH (1u << COMMAND_BATCH)
#define MADE (EXPLAIN | BATCH) /* of the others, and have some of their options */
#define REPORTS (ALL | REQUESTS | DIFF | FUNCTIONS | EXPLAIN) /* that can have a window */
#define ANY (REPORTS | EXPORT) /* … in another tool's format too */
#define EACH (ANY | 1u << COMMAND_CHECK)

const struct option_spec option_specs[] = {
	{"target", "EVENT",
	 "the event that was late: 'NAME [key=value]... [nth=N|last]';\nits thread is analysed, "
	 "its time ends the window",
	 DELAY | EXPORT | EXPLAIN, true, false},
	{"as", "FORMAT",
	 "write this format: perfetto, trace-event, folded,\nspeedscope, pprof, csv, sqlite, ctf",
	 EXPORT, true, false},
	{"around", "ID",
	 "ctf: cut around where this finding of a report is seen\nbest, with half its length on "
	 "both sides",
	 EXPORT, false, false},
	{"stacks", "KIND", "folded, pprof: off-cpu (default), waker, critical-path", EXPORT, true,
	 false},
	{"table", "NAME",
	 "csv: only this table: hosts, threads, intervals,\nblocks, wakeups, syscalls", EXPORT,
	 true, false},
	{"operation", "PATTERN",
	 "profile these: 'syscall:read', 'irq:*', '*'; may be repeated\n(default 'syscall:*')",
	 PROFILE | MADE, true, true},
	{"preset", "KIND", "what is a request: server (default), client, process,\nsyscall:NAME",
	 REQUESTS | DIFF, true, false},
	{"begin", "EVENT",
	 "a request begins at this event: 'NAME [KEY=VALUE]...';\na value $NAME captures: its "
	 "--end is the next with the\nsame values; without any, of the same thread",
	 REQUESTS | DIFF, true, false},
	{"end", "EVENT", "… and ends at this one, written the same way", REQUESTS | DIFF, true,
	 false},
	{"follow", "HOW",
	 "flow (default): by what was read and written; thread:\nthe one that finished it worked "
	 "on it from its begin",
	 REQUESTS | DIFF, true, false},
	{"metric", "METRIC",
	 "requests, diff: what they cost, latency (default),\ncpu, wait, disk-bytes, disk-time, "
	 "net-bytes, calls;\nfunctions: which time, wall (default), cpu, blocked,\ninterrupted",
	 REQUESTS | DIFF | FUNCTIONS, true, false},
	{"pick", "WHICH",
	 "only these requests: a number, a pattern for labels,\np90 (the slowest tenth), p10..p50, "
	 "peak:N; may be\nrepeated",
	 REQUESTS, true, true},
	{"a", "WHAT", "one side: requests as in --pick of 'requests', or a\nwindow FROM..TO", DIFF,
	 true, false},
	{"b", "WHAT", "the other side, the same", DIFF, true, false},
	{"slow-fast", "PERCENTILE", "the requests above this percentile (p90) against the\nothers",
	 DIFF, true, false},
	{"function", "PATTERN", "only the calls of these functions: the walk begins\nthere",
	 FUNCTIONS, true, false},
	{"timeline", NULL, "each call from --from to --to, with the interrupts and\nwaits in it",
	 FUNCTIONS, true, false},
	{"thread", "TID|NAME", "analyse this thread ('all': every one); may be\nrepeated",
	 DELAY | PROFILE | REQUESTS | DIFF | FUNCTIONS | EXPORT | MADE, true, true},
	{"process", "PID|NAME", "analyse all threads of this process; may be repeated",
	 DELAY | PROFILE | REQUESTS | DIFF | FUNCTIONS | EXPORT | MADE, true, true},
	{"resource", "PATTERN",
	 "only operations on this file, device, …, or that waited for it:\n'/etc/*', 'device:vda'",
	 PROFILE, true, false},
	{"per", "WHAT", "a profile for each thread, process, resource or cpu", PROFILE, true,
	 false},
	{"host", "NAME", "only this host's threads", ANY | BATCH, true, false},
	{"container", "ID|NS",
	 "only this container: a PID or cgroup namespace\n(4026532201), a process in it, its first "
	 "one's name;\nTIDs, PIDs are its own",
	 ANY | BATCH, true, false},
	{"clock-offset", "[HOST=]DURATION",
	 "add this to HOST's clock (may be negative)\ninstead of what its packets tell; may be "
	 "repeated",
	 EACH, true, true},
	{"from", "WHEN",
	 "begin of the window: hh:mm:ss[.n], SECONDS, Nns,\n+OFFSET, -OFFSET, or an event",
	 ANY | BATCH, true, false},
	{"to", "WHEN", "end of the window, the same (+OFFSET counts from\n--from)", ANY | BATCH,
	 true, false},
	{"last", "DURATION", "the last DURATION of the trace, as --from -DURATION", ANY | BATCH,
	 true, false},
	{"every", "DURATION",
	 "a report each DURATION of the trace (from --from to --to), of the\ntime since the last "
	 "one; json: one object a line",
	 ALL, true, false},
	{"resolution", "R", "buckets per factor of two, 1 to 16 (default 1)", PROFILE, true, false},
	{"peak", "N", "root causes of peak N only (default: each)", PROFILE, true, false},
	{"maxcount-percentage", "P",
	 "parts with P % of the highest maxcount are roots (default 20)", PROFILE, true, false},
	{"min-operations", "N", "a peak of fewer operations is too small to judge (default 3)",
	 PROFILE, true, false},
	{"time-lapse", "STEP", "the profile of each STEP of time", PROFILE, true, false},
	{"save", "FILE", "write profiles and searches to FILE, for --compare and --resume", PROFILE,
	 true, false},
	{"compare", "FILE", "distance of each operation's latencies to those saved in FILE",
	 PROFILE, true, false},
	{"threshold", "NUMBER",
	 "profile: octaves from which behaviour counts as\nchanged (default 0.25); functions: "
	 "percent of the time\nfrom which a function is a bottleneck (default 25)",
	 PROFILE | FUNCTIONS, true, false},
	{"resume", "FILE", "add this trace's operations to the searches saved in FILE", PROFILE,
	 true, false},
	{"force", NULL, "resume although the behaviour changed", PROFILE, true, false},
	{"kallsyms", "FILE", "symbols of the traced kernel (default: 'kallsyms'\nbeside the trace)",
	 EACH, true, false},
	{"binary-path", "DIR[:DIR]...",
	 "where the traced programs and libraries are: below DIR as on the\ntraced machine, or in "
	 "DIR; may be repeated (always: beside the\ntrace, and where they were traced; build-ids "
	 "are compared)",
	 PROFILE | FUNCTIONS | EXPORT, true, true},
	{"format", "FORMAT",
	 "text (default), json; overview, delay, profile: html (a page\nfor browsers); delay: csv "
	 "(its state instances, with\n--path its steps); requests: csv (a row each), dot "
	 "(the\ngraph of their ways); functions: csv (a row each), folded\n(stacks)",
	 EACH & ~EXPORT, true, false},
	{"output", "FILE", "write to FILE instead of standard output", EACH | BATCH, true, false},
	{"limit", "N", "entries of a list (default 20; 0: all)", REPORTS | BATCH, true, false},
	{"depth", "N",
	 "levels of causes (default: profile 8, delay 0: all);\nrequests: of the tree of their "
	 "ways (default 0: all);\nfunctions: of nested calls in a --timeline (default 0:\nall)",
	 DELAY | PROFILE | REQUESTS | FUNCTIONS, true, false},
	{"min-duration", "DURATION",
	 "leave out waits, instances and calls (of a --timeline)\nshorter than this",
	 DELAY | FUNCTIONS | EXPORT, true, false},
	{"path", NULL,
	 "only the critical path: every step of it, and tables of its times\n(with csv: its steps, "
	 "one a row)",
	 DELAY, true, false},
	{"fail-if", "LIMIT",
	 "exit with 1 if this is true: 'p99(syscall:fsync) > 20ms',\n'blocked(thread=nginx) > "
	 "30%'; may be repeated",
	 ALL | REQUESTS | BATCH, true, true},
	{"budget", "FILE", "limits as in --fail-if, one a line: 'NAME: LIMIT'",
	 ALL | REQUESTS | BATCH, true, true},
	{"junit", "FILE", "write the limits' outcome to FILE, as JUnit's XML", ALL | REQUESTS, true,
	 false},
	{"jobs", "N",
	 "analyse so many traces at once (default: as many as\nthere are cores; with --map 1)",
	 BATCH, false, false},
	{"map", NULL,
	 "a line for each trace that is named, on standard input\nif none is; no directory is "
	 "searched",
	 BATCH, false, false},
	{"merge", NULL,
	 "read such lines from files or standard input, and write\nwhat they add up to", BATCH,
	 false, false},
	{"merged", "FILE", "write what all lines add up to, too", BATCH, false, false},
	{"index", "FILE", "write a page (HTML) that lists the traces", BATCH, false, false},
	{"anonymise", NULL, "replace names of threads, programs, hosts and files,\nand addresses",
	 EACH | BATCH, true, false},
	{"anonymise-key", "FILE",
	 "… by the same text in every trace that is read with\nthe secret in FILE", EACH | BATCH,
	 true, false},
	{"utc", NULL, "times of day are UTC, not local time", EACH | BATCH, true, false},
	{"strict", NULL, "exit with 4 if the tracer lost events", EACH | BATCH, false, false},
	{"color", "WHEN", "auto (default), always, never", EACH & ~EXPORT, true, false},
	{"reader", "HOW", "how to read the trace: auto (default), direct,\nbabeltrace",
	 EACH | BATCH, false, false},
	{"cache", "WHERE",
	 "keep what was read of long traces for further\nquestions: auto (default: in "
	 "~/.cache/whylate), off,\nor a directory",
	 EACH, false, false},
	{"progress", "WHEN", "progress on stderr: auto (default), always, never", EACH, false,
	 false},
	{"quiet", NULL, "no warnings on standard error", EACH | BATCH, true, false},
	{"verbose", NULL, "list gaps, small nodes and idle threads too, and what\nwas odd", EACH,
	 true, false},
	{0}};

static const char *const commands[COMMAND_ALL] = {
	[COMMAND_OVERVIEW] = "overview",   [COMMAND_DELAY] = "delay",
	[COMMAND_PROFILE] = "profile",     [COMMAND_CHECK] = "check",
	[COMMAND_REQUESTS] = "requests",   [COMMAND_DIFF] = "diff",
	[COMMAND_FUNCTIONS] = "functions", [COMMAND_EXPORT] = "export",
	[COMMAND_EXPLAIN] = "explain",     [COMMAND_BATCH] = "batch"};

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
	if (command == COMMAND_BATCH)
		options->format = FORMAT_JSON;
	options->depth = command == COMMAND_PROFILE || command >= COMMAND_COUNT ? 8 : 0;
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
	options->clock_offsets = g_ptr_array_new_with_free_func(g_free);
	options->limits = g_ptr_array_new_with_free_func(limit_free);
}

void options_clear(struct options *options)
{
	event_filter_free(options->target);
	event_filter_free(options->from_event);
	event_filter_free(options->to_event);
	g_ptr_array_free(options->threads, TRUE);
	g_ptr_array_free(options->processes, TRUE);
	g_ptr_array_free(options->clock_offsets, TRUE);
	g_ptr_array_free(options->limits, TRUE);
	g_free(options->junit);
	g_free(options->anonymise_key);
	anonymiser_free(options->anonymiser);
	g_free(options->batch.index);
	g_free(options->batch.merged);
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

static bool set_within(const char *name, const char *value, guint64 least, guint64 most,
		       uint32_t *number, GError **error)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(value, 10, least, most, &n, NULL)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--%s '%s': must be a whole number from %" G_GUINT64_FORMAT
			    " to %" G_GUINT64_FORMAT,
			    name, value, least, most);
		return false;
	}
	*number = (uint32_t) n;
	return true;
}

static bool set_number(const char *name, const char *value, uint32_t *number, GError **error)
{
	return set_within(name, value, 0, 1000000000, number, error);
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

static bool set_reader(const char *name, const char *value, enum reader_choice *reader,
		       GError **error)
{
	static const char *const words[] = {"auto", "direct", "babeltrace", NULL};
	int chosen = 0;

	if (!pick(name, value, words, &chosen, error))
		return false;
	*reader = (enum reader_choice) chosen;
	return true;
}

/* In the order of enum format; each command has some of them. */
static bool set_format(const struct options *options, const char *value, enum format *format,
		       GError **error)
{
	static const struct {
		const char *name;
		unsigned commands;
	} formats[] = {[FORMAT_TEXT] = {"text", EACH},
		       [FORMAT_JSON] = {"json", EACH},
		       [FORMAT_CSV] = {"csv", DELAY | REQUESTS | FUNCTIONS},
		       [FORMAT_DOT] = {"dot", REQUESTS},
		       [FORMAT_FOLDED] = {"folded", FUNCTIONS},
		       [FORMAT_HTML] = {"html", ALL}};
	const char *words[G_N_ELEMENTS(formats) + 1] = {NULL};
	enum format of_word[G_N_ELEMENTS(formats)];
	int chosen = 0, count = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
		if (formats[i].commands & 1u << options->command) {
			of_word[count] = (enum format) i;
			words[count++] = formats[i].name;
		}
	if (!pick("format", value, words, &chosen, error))
		return false;
	*format = of_word[chosen];
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

static bool set_cache(const char *name, const char *value, char **cache, GError **error)
{
	g_clear_pointer(cache, g_free);
	return strcmp(value, "auto") == 0 || set_text(name, value, cache, error);
}

/* DIR[:DIR]...; a directory that is not there would be a mistake that nobody sees. */
static bool add_directories(const char *name, const char *value, GPtrArray *list, GError **error)
{
	g_auto(GStrv) all = g_strsplit(value, G_SEARCHPATH_SEPARATOR_S, -1);

	if (!*value)
		return set_text(name, value, NULL, error);
	for (char **one = all; *one; one++) {
		const char *wrong = NULL;

		if (!**one)
			wrong = "a directory's name is empty";
		else if (!g_file_test(*one, G_FILE_TEST_EXISTS))
			wrong = "there is no such directory";
		else if (!g_file_test(*one, G_FILE_TEST_IS_DIR))
			wrong = "is no directory";
		if (wrong) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--%s '%s': %s",
				    name, **one ? *one : value, wrong);
			return false;
		}
		g_ptr_array_add(list, g_strdup(*one));
	}
	return true;
}

static bool add_clock_offset(const char *name, const char *value, GPtrArray *list, GError **error)
{
	g_autofree char *host = NULL;
	int64_t ns;

	if (!clock_offset_parse(value, &host, &ns, error)) {
		g_prefix_error(error,
			       "--%s '%s': must be [HOST=]DURATION, as in server=816ms or "
			       "server=-1.5s: ",
			       name, value);
		return false;
	}
	g_ptr_array_add(list, g_strdup(value));
	return true;
}

static bool add_limit(const char *name, const char *value, GPtrArray *limits, GError **error)
{
	struct limit *limit = limit_parse(value, error);

	if (!limit) {
		g_prefix_error(error, "--%s ", name);
		return false;
	}
	limit->number = limits->len;
	g_ptr_array_add(limits, limit);
	return true;
}

/* A file beside the report, which may be standard output. */
static bool set_file(const char *name, const char *value, char **path, GError **error)
{
	if (strcmp(value, "-") != 0)
		return set_text(name, value, path, error);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--%s '-': needs a file, standard output is the report's", name);
	return false;
}

static bool set_per(const char *name, const char *value, enum per *per, GError **error)
{
	static const char *const words[] = {"thread", "process", "resource", "cpu", NULL};
	int chosen = 0;

	if (!pick(name, value, words, &chosen, error))
		return false;
	*per = (enum per)(chosen + PER_THREAD);
	return true;
}

static bool set_threshold(const char *name, const char *value, double *threshold, GError **error)
{
	char *end = NULL;
	double number = g_ascii_strtod(value, &end);

	if (end == value || *end || !(number > 0 && number <= 64)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--%s '%s': must be a number above 0, at most 64: octaves (factors of "
			    "two)",
			    name, value);
		return false;
	}
	*threshold = number;
	return true;
}

static bool set_step(const char *name, const char *value, int64_t *ns, GError **error)
{
	if (!set_duration(name, value, ns, error))
		return false;
	if (*ns > 0)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--%s '%s': must be longer than 0",
		    name, value);
	return false;
}

#define EVERY_MIN 1000000 /* ns */

static bool set_every(const char *name, const char *value, int64_t *ns, GError **error)
{
	if (!set_duration(name, value, ns, error))
		return false;
	if (*ns >= EVERY_MIN)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--%s '%s': must be a millisecond or longer", name, value);
	return false;
}

/* The options that only `profile` has. */
static bool set_profile(struct profile_options *profile, const char *name, const char *value,
			GError **error)
{
	if (strcmp(name, "operation") == 0)
		return add_text(name, value, profile->operations, error);
	if (strcmp(name, "resource") == 0)
		return set_text(name, value, &profile->resource, error);
	if (strcmp(name, "per") == 0)
		return set_per(name, value, &profile->per, error);
	if (strcmp(name, "resolution") == 0)
		return set_within(name, value, 1, 16, &profile->resolution, error);
	if (strcmp(name, "peak") == 0)
		return set_within(name, value, 1, 1000, &profile->peak, error);
	if (strcmp(name, "maxcount-percentage") == 0)
		return set_within(name, value, 1, 100, &profile->maxcount_percentage, error);
	if (strcmp(name, "min-operations") == 0)
		return set_within(name, value, 1, 1000000000, &profile->min_operations, error);
	if (strcmp(name, "time-lapse") == 0)
		return set_step(name, value, &profile->time_lapse, error);
	if (strcmp(name, "save") == 0)
		return set_file(name, value, &profile->save, error);
	if (strcmp(name, "compare") == 0)
		return set_text(name, value, &profile->compare, error);
	if (strcmp(name, "threshold") == 0)
		return set_threshold(name, value, &profile->threshold, error);
	if (strcmp(name, "resume") == 0)
		return set_text(name, value, &profile->resume, error);
	return set_switch(name, value, &profile->force, error);
}

/* "syscall:NAME": the operations that it means are named as those of a profile. */
static bool set_preset(struct options *options, const char *value, GError **error)
{
	static const char *const words[] = {"server", "client", "process", NULL};
	bool is_call = g_str_has_prefix(value, "syscall:") && value[strlen("syscall:")];
	int chosen = PRESET_SYSCALL;

	for (int i = 0; !is_call && words[i]; i++)
		if (strcmp(words[i], value) == 0) {
			is_call = true;
			chosen = i;
		}
	if (!is_call) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--preset '%s': must be one of server, client, process, or "
			    "syscall:NAME",
			    value);
		return false;
	}
	options->requests.preset = (enum request_preset) chosen;
	options->requests.preset_said = true;
	g_ptr_array_set_size(options->profile.operations, 0);
	if (chosen == PRESET_SYSCALL)
		g_ptr_array_add(options->profile.operations, g_strdup(value));
	return true;
}

/* The options that only `requests` and `diff` have. */
static bool set_request(struct options *options, const char *name, const char *value,
			GError **error)
{
	static const char *const follows[] = {"flow", "thread", NULL};
	static const char *const metrics[] = {"latency",   "cpu",       "wait",  "disk-bytes",
					      "disk-time", "net-bytes", "calls", NULL};
	int chosen = 0;

	if (strcmp(name, "preset") == 0)
		return set_preset(options, value, error);
	if (strcmp(name, "pick") == 0)
		return pick_check(name, value, error) &&
		       add_text(name, value, options->requests.picks, error);
	if (strcmp(name, "a") == 0 || strcmp(name, "b") == 0)
		return ((strstr(value, "..") && !(*value == 'p' && g_ascii_isdigit(value[1]))) ||
			pick_check(name, value, error)) &&
		       set_text(name, value,
				*name == 'a' ? &options->requests.a : &options->requests.b, error);
	if (strcmp(name, "begin") == 0 || strcmp(name, "end") == 0) {
		options->requests.preset = PRESET_EVENTS;
		return set_event(*name == 'b' ? &options->requests.begin : &options->requests.end,
				 name, value, error);
	}
	if (strcmp(name, "slow-fast") == 0)
		return percentile_check(name, value, error) &&
		       set_text(name, value, &options->requests.slow_fast, error);
	if (!pick(name, value, strcmp(name, "follow") == 0 ? follows : metrics, &chosen, error))
		return false;
	if (strcmp(name, "follow") == 0)
		options->requests.follow = (enum follow) chosen;
	else
		options->requests.metric = (enum metric) chosen;
	return true;
}

static bool set_function(struct function_options *functions, const char *name, const char *value,
			 GError **error)
{
	static const char *const metrics[] = {"wall", "cpu", "blocked", "interrupted", NULL};
	int chosen = 0;
	char *end;

	if (strcmp(name, "function") == 0)
		return set_text(name, value, &functions->function, error);
	if (strcmp(name, "timeline") == 0)
		return set_switch(name, value, &functions->timeline, error);
	if (strcmp(name, "metric") == 0) {
		if (!pick(name, value, metrics, &chosen, error))
			return false;
		functions->metric = (enum function_metric) chosen;
		return true;
	}
	functions->threshold = g_ascii_strtod(value, &end);
	if (end != value && (!*end || strcmp(end, "%") == 0) && functions->threshold >= 0 &&
	    functions->threshold <= 100)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--threshold '%s': must be a number of percent, from 0 (all) to 100", value);
	return false;
}

static const char *const export_formats[] = {
	"perfetto", "trace-event", "folded", "speedscope", "pprof", "csv", "sqlite", "ctf", NULL};

static bool set_finding(const char *name, const char *value, char **id, GError **error)
{
	if (finding_is_id(value))
		return set_text(name, value, id, error);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--%s '%s': must be the id of a finding, as reports list them (w-k3f7qa)", name,
		    value);
	return false;
}

/* The options that only `export` has. */
static bool set_export(struct export_options *export, const char *name, const char *value,
		       GError **error)
{
	static const char *const stacks[] = {"off-cpu", "waker", "critical-path", NULL};
	static const char *const tables[] = {"hosts",   "threads",  "intervals", "blocks",
					     "wakeups", "syscalls", NULL};
	int chosen = 0;

	if (strcmp(name, "as") == 0) {
		if (!pick(name, value, export_formats, &chosen, error))
			return false;
		export->as = (enum export_format) chosen;
		return true;
	}
	if (strcmp(name, "around") == 0)
		return set_finding(name, value, &export->around, error);
	if (strcmp(name, "table") == 0)
		return pick(name, value, tables, &chosen, error) &&
		       set_text(name, value, &export->table, error);
	if (!pick(name, value, stacks, &chosen, error))
		return false;
	export->stacks = (enum stacks) chosen;
	export->stacks_said = true;
	return true;
}

static bool set_batch(struct batch_options *batch, const char *name, const char *value,
		      GError **error)
{
	if (strcmp(name, "jobs") == 0)
		return set_within(name, value, 1, 1024, &batch->jobs, error);
	if (strcmp(name, "map") == 0)
		return set_switch(name, value, &batch->map, error);
	if (strcmp(name, "merge") == 0)
		return set_switch(name, value, &batch->merge, error);
	return set_file(name, value, strcmp(name, "index") == 0 ? &batch->index : &batch->merged,
			error);
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
	if (spec->commands == BATCH)
		return set_batch(&options->batch, name, value, error);
	if (options->command == COMMAND_FUNCTIONS &&
	    (!(spec->commands & ~FUNCTIONS) || strcmp(name, "metric") == 0 ||
	     strcmp(name, "threshold") == 0))
		return set_function(&options->functions, name, value, error);
	if (strcmp(name, "binary-path") == 0)
		return add_directories(name, value, options->binary_paths, error);
	if (spec->commands & PROFILE && !(spec->commands & ~(PROFILE | FUNCTIONS | MADE)))
		return set_profile(&options->profile, name, value, error);
	if (spec->commands == EXPORT && !set_export(&options->export, name, value, error))
		return false;
	options->finding = options->export.around ? options->export.around : options->finding;
	if (spec->commands == EXPORT)
		return true;
	if (!(spec->commands & ~(REQUESTS | DIFF | FUNCTIONS)))
		return set_request(options, name, value, error);
	if (strcmp(name, "target") == 0)
		return set_event(&options->target, name, value, error);
	if (strcmp(name, "thread") == 0)
		return add_text(name, value, options->threads, error);
	if (strcmp(name, "process") == 0)
		return add_text(name, value, options->processes, error);
	if (strcmp(name, "host") == 0)
		return set_text(name, value, &options->host, error);
	if (strcmp(name, "container") == 0)
		return set_text(name, value, &options->container, error);
	if (strcmp(name, "clock-offset") == 0)
		return add_clock_offset(name, value, options->clock_offsets, error);
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
		return set_within(name, value, 0,
				  options->command == COMMAND_PROFILE ? 64 : 1000000000,
				  &options->depth, error);
	if (strcmp(name, "min-duration") == 0)
		return set_duration(name, value, &options->min_duration, error);
	if (strcmp(name, "every") == 0)
		return set_every(name, value, &options->every, error);
	if (strcmp(name, "fail-if") == 0)
		return add_limit(name, value, options->limits, error);
	if (strcmp(name, "budget") == 0)
		return limits_read(options->limits, value, error);
	if (strcmp(name, "junit") == 0)
		return set_file(name, value, &options->junit, error);
	if (strcmp(name, "anonymise") == 0)
		return set_switch(name, value, &options->anonymise, error);
	if (strcmp(name, "anonymise-key") == 0)
		return set_text(name, value, &options->anonymise_key, error);
	if (strcmp(name, "kallsyms") == 0)
		return set_text(name, value, &options->kallsyms, error);
	if (strcmp(name, "path") == 0)
		return set_switch(name, value, &options->path, error);
	if (strcmp(name, "utc") == 0)
		return set_switch(name, value, &options->utc, error);
	if (strcmp(name, "strict") == 0)
		return set_switch(name, value, &options->strict, error);
	if (strcmp(name, "color") == 0)
		return set_choice(name, value, &options->color, error);
	if (strcmp(name, "reader") == 0)
		return set_reader(name, value, &options->reader, error);
	if (strcmp(name, "cache") == 0)
		return set_cache(name, value, &options->cache, error);
	if (strcmp(name, "progress") == 0)
		return set_choice(name, value, &options->progress, error);
	if (strcmp(name, "quiet") == 0)
		return set_switch(name, value, &options->quiet, error);
	return set_switch(name, value, &options->verbose, error);
}

static bool exclude(const char *a, const char *b, const char *why, GError **error)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "%s and %s exclude each other: %s",
		    a, b, why);
	return false;
}

static bool check_profile(const struct options *options, GError **error)
{
	const struct profile_options *profile = &options->profile;

	for (guint i = 0; i < profile->operations->len; i++)
		if (!operation_pattern_check(g_ptr_array_index(profile->operations, i), error))
			return false;
	if (profile->peak && (profile->save || profile->resume))
		return exclude(profile->save ? "--save" : "--resume", "--peak",
			       "a saved search is of every peak", error);
	if (profile->force && !profile->resume) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--force goes with --resume FILE");
		return false;
	}
	return true;
}

/* Where windows begin and end must be known before the trace has ended. */
static bool check_every(const struct options *options, GError **error)
{
	if (options->from.kind == WHEN_FROM_END || options->to.kind == WHEN_FROM_END)
		return exclude("--every",
			       options->to.kind == WHEN_FROM_END ? "--to -OFFSET" : "--last",
			       "a time before the trace's end is known only at its end", error);
	if (options->from.kind == WHEN_EVENT || options->to.kind == WHEN_EVENT)
		return exclude("--every",
			       options->to.kind == WHEN_EVENT ? "--to EVENT" : "--from EVENT",
			       "reports begin and end at times", error);
	if (options->format == FORMAT_HTML)
		return exclude("--every", "--format html", "a page is of one report", error);
	if (options->profile.save || options->profile.resume)
		return exclude("--every", options->profile.save ? "--save" : "--resume",
			       "a saved search is of one report", error);
	if (options->limits->len)
		return exclude("--every", "--fail-if and --budget", "a verdict is of one report",
			       error);
	return true;
}

/* Both events capture the same names, which are kept; options_check() may not change options
 * otherwise. */
static bool check_events(struct request_options *requests, GError **error)
{
	const char *lacks = !requests->begin ? "--begin" : !requests->end ? "--end" : NULL;
	GPtrArray *of_end;
	bool same;

	if (!requests->begin && !requests->end)
		return true;
	if (lacks) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--begin EVENT and --end EVENT go together: %s is missing", lacks);
		return false;
	}
	if (requests->preset_said)
		return exclude("--begin", "--preset", "both say what a request is", error);
	if (requests->begin->nth != 1 || requests->end->nth != 1) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--%s '%s': nth has no meaning here, every such event counts",
			    requests->begin->nth != 1 ? "begin" : "end",
			    (requests->begin->nth != 1 ? requests->begin : requests->end)->text);
		return false;
	}
	if (requests->captures)
		g_ptr_array_free(requests->captures, TRUE);
	requests->captures = event_filter_capture(requests->begin);
	of_end = event_filter_capture(requests->end);
	same = requests->captures->len == of_end->len;
	for (guint i = 0; same && i < of_end->len; i++)
		same = strcmp(g_ptr_array_index(of_end, i),
			      g_ptr_array_index(requests->captures, i)) == 0 &&
		       (!i || strcmp(g_ptr_array_index(of_end, i - 1),
				     g_ptr_array_index(of_end, i)) != 0);
	g_ptr_array_free(of_end, TRUE);
	if (!same)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--begin '%s' and --end '%s': both must capture the same $NAMEs, each "
			    "once: they say which end is of which begin",
			    requests->begin->text, requests->end->text);
	return same;
}

/* Two sides; of two traces, all of each is what nothing is said of. */
static bool check_diff(const struct options *options, GError **error)
{
	const struct request_options *requests = &options->requests;

	if (requests->slow_fast && (requests->a || requests->b))
		return exclude("--slow-fast", requests->a ? "--a" : "--b", "it names both sides",
			       error);
	return true;
}

/* What belongs to one format, with another one. */
static bool check_export(const struct options *options, GError **error)
{
	const struct export_options *export = &options->export;
	bool stacks = export->as == EXPORT_FOLDED || export->as == EXPORT_PPROF;
	const char *wrong = NULL;

	if (export->as == EXPORT_NOT_SAID) {
		g_autofree char *list = g_strjoinv(", ", (char **) export_formats);

		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "export needs to know the format: --as FORMAT, one of %s", list);
		return false;
	}
	if (export->stacks_said && !stacks)
		wrong = "--stacks goes with --as folded or pprof";
	else if (export->table && export->as != EXPORT_CSV)
		wrong = "--table goes with --as csv; sqlite has all tables";
	else if (export->as == EXPORT_CTF &&
		 (options->threads->len || options->processes->len || options->container ||
		  options->host || options->min_duration))
		wrong = "--as ctf cuts by time only (--from, --to, --last, --target): it takes no "
			"--thread, --process, --container, --host or --min-duration";
	else if (export->as == EXPORT_CTF && (options->anonymise || options->anonymise_key))
		wrong = "--anonymise cannot replace names in --as ctf, which has the trace's own "
			"events";
	else if (export->around && export->as != EXPORT_CTF)
		wrong = "--around goes with --as ctf; 'whylate explain ID TRACE' says when that is";
	else if (export->around && (options->from.kind || options->to.kind || options->target))
		wrong = "--around and --from, --to, --last or --target exclude each other: both "
			"say "
			"when";
	else if (export->as == EXPORT_CTF && !options->output)
		wrong = "--as ctf writes a trace: --output DIRECTORY, which must not exist yet";
	else if (stacks && export->stacks == STACKS_CRITICAL_PATH && !options->target &&
		 !options->threads->len && !options->processes->len)
		wrong = "--stacks critical-path needs to know whose: --target 'EVENT', "
			"--thread TID|NAME or --process PID|NAME";
	if (!wrong)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "%s", wrong);
	return false;
}

static bool check_batch(const struct options *options, GError **error)
{
	if (options->batch.map && options->batch.merge)
		return exclude("--map", "--merge", "they are the two halves", error);
	if (options->batch.map && (options->batch.index || options->batch.merged))
		return exclude("--map", options->batch.index ? "--index" : "--merged",
			       "they are made when lines are merged", error);
	return check_profile(options, error);
}

/* Numbers are of one trace: the second one's would be others. */
static bool check_anonymise(struct options *options, GError **error)
{
	if (options->command == COMMAND_BATCH && options->anonymise && !options->anonymise_key) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "batch --anonymise: needs --anonymise-key FILE, so that a name is "
			    "replaced by "
			    "the same text in every trace");
		return false;
	}
	if (!options->anonymiser && (options->anonymise || options->anonymise_key))
		options->anonymiser = anonymiser_new(options->anonymise_key, error);
	return options->anonymiser || !(options->anonymise || options->anonymise_key);
}

bool options_check(struct options *options, GError **error)
{
	if (!check_anonymise(options, error))
		return false;
	if (!check_events(&options->requests, error))
		return false;
	if (options->every && !check_every(options, error))
		return false;
	if (options->junit && !options->limits->len) {
		g_set_error(
			error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			"--junit %s: there is no limit to tell of; it goes with --fail-if LIMIT or "
			"--budget FILE",
			options->junit);
		return false;
	}
	if (options->command == COMMAND_PROFILE || options->command == COMMAND_EXPLAIN)
		return check_profile(options, error);
	if (options->command == COMMAND_BATCH)
		return check_batch(options, error);
	if (options->command == COMMAND_DIFF)
		return check_diff(options, error);
	if (options->command == COMMAND_EXPORT)
		return check_export(options, error);
	if (options->command != COMMAND_DELAY || options->target || options->threads->len ||
	    options->processes->len || options->container)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "delay needs to know what was late: --target 'EVENT [key=value]...' (as in "
		    "'sched_process_exec filename=*/sh'), --thread TID|NAME, or --thread all; "
		    "'whylate overview TRACE' shows what is there");
	return false;
}
