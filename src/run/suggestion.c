/* SPDX-License-Identifier: MIT */
/* Suggested commands; see command.h. */
#include "run/command.h"

#include <inttypes.h>
#include <string.h>

#include "run/anonymise.h"
#include "run/session.h"
#include "util/when.h"

#define MICROSECOND INT64_C(1000)
#define MILLISECOND INT64_C(1000000)
#define ROUNDED_MIN 20 /* a window is at least so many of the units that its ends are rounded to */

/* The words of a command line, as they grow. */
struct words {
	const struct session *session;
	const struct command *command; /* NULL: what it takes is not known */
	GPtrArray *list; /* owned strings */
};

/* --- words as a shell takes them --------------------------------------------------------- */

static char *shell_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-/:=,+@%";

	return *text && !text[strspn(text, plain)] ? g_strdup(text) : g_shell_quote(text);
}

char *suggested_trace(const GPtrArray *paths)
{
	g_autoptr(GString) words = g_string_new(NULL);

	for (guint i = 0; i < paths->len; i++) {
		const char *path = g_ptr_array_index(paths, i);
		g_autofree char *word = shell_word(path);

		g_string_append_printf(words, "%s%s%s", i ? " " : "", *path == '-' ? "./" : "",
				       word);
	}
	return g_string_free(g_steal_pointer(&words), FALSE);
}

static void add_option(struct words *words, const char *name, const char *value)
{
	g_autofree char *word = value && *value ? shell_word(value) : NULL;

	if (!words->command || command_option(words->command, name))
		g_ptr_array_add(words->list,
				g_strconcat("--", name, word ? " " : NULL, word, NULL));
}

/* --- what was asked, again --------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* They decide what times and names mean. */
static const char *const meanings[] = {"utc", "clock-offset", "kallsyms", "binary-path", NULL};
static const char *const windows[] = {"host", "container", "from", "to", "last", NULL};
static const char *const subjects[] = {"target", "thread",   "process",   "operation", "resource",
				       "preset", "begin",    "end",       "follow",    "capture",
				       "pick",   "function", "threshold", NULL};

/* As a report that hides names may show it. */
static const char *shown(const struct options *options, const struct given *given)
{
	static const char *const names[] = {"target", "begin", "end",  "resource",
					    "from",   "to",    "pick", NULL};
	static const char *const threads[] = {"thread", "process", "container", NULL};

	if (strcmp(given->name, "host") == 0)
		return option_shown(options, ANONYMOUS_HOST, given->value);
	if (is_one_of(given->name, threads))
		return option_shown(options, ANONYMOUS_THREAD, given->value);
	if (is_one_of(given->name, names) && !g_ascii_isdigit(*given->value) &&
	    !strchr("+-[", *given->value))
		return option_shown(options, ANONYMOUS_NAME, given->value);
	return given->value;
}

/* Those of the names that the user gave, but `except`, which the suggestion itself has. */
static void add_given(struct words *words, const char *const *names, const char *except)
{
	const struct options *options = words->session->asked.options;

	for (guint i = 0; i < options->given->len; i++) {
		const struct given *given = g_ptr_array_index(options->given, i);

		if (is_one_of(given->name, names) && g_strcmp0(given->name, except) != 0)
			add_option(words, given->name, shown(options, given));
	}
}

/* --- times --------------------------------------------------------------------------------- */

/* The unit that both ends of a window are rounded to. */
static int64_t unit_for(int64_t length)
{
	return length >= ROUNDED_MIN * MILLISECOND   ? MILLISECOND
	       : length >= ROUNDED_MIN * MICROSECOND ? MICROSECOND
						     : 1;
}

static int64_t round_down(int64_t ns, int64_t unit)
{
	return ns - ((ns % unit) + unit) % unit;
}

static int64_t round_up(int64_t ns, int64_t unit)
{
	return ns > INT64_MAX - unit ? ns : round_down(ns + unit - 1, unit);
}

/* As a clock shows it; with the date where it is not the one of the trace's first event. */
static char *time_text(const struct session *session, int64_t ns, int64_t unit)
{
	int decimals = unit == MILLISECOND ? 3 : unit == MICROSECOND ? 6 : 9;
	int64_t begin = session->trace.begin, seconds = round_down(ns, 1000 * MILLISECOND);
	bool utc = session->asked.options->utc;
	char text[48];

	for (int date = 0; date < 2; date++) {
		struct when when;

		if (when_parse(when_pasted(text, ns, utc, date, decimals), &when, NULL) &&
		    when_resolve(&when, begin, session->trace.end, begin, utc) == ns)
			return g_strdup(text);
	}
	/* an hour that the clock shows twice */
	return g_strdup_printf("%" PRId64 ".%09" PRId64, seconds / (1000 * MILLISECOND),
			       ns - seconds);
}

/* "+33ms", "+3.108ms" */
static char *offset_text(int64_t ns, int64_t unit)
{
	if (unit == MILLISECOND && ns >= 10000 * MILLISECOND)
		return g_strdup_printf("+%" PRId64 ".%03" PRId64 "s", ns / (1000 * MILLISECOND),
				       ns / MILLISECOND % 1000);
	if (unit == MICROSECOND && ns >= MILLISECOND)
		return g_strdup_printf("+%" PRId64 ".%03" PRId64 "ms", ns / MILLISECOND,
				       ns / MICROSECOND % 1000);
	return g_strdup_printf("+%" PRId64 "%s", ns / unit,
			       unit == MILLISECOND   ? "ms"
			       : unit == MICROSECOND ? "us"
						     : "ns");
}

/* Times outside the trace are refused: an end that is the trace's own is not said. */
static void add_window(struct words *words, int64_t from, int64_t to)
{
	const struct session *session = words->session;
	int64_t unit = unit_for(to - from), first = round_down(from, unit);
	int64_t base = session->trace.begin, last = round_up(to, unit);

	if (first > base) {
		g_autofree char *time = time_text(session, first, unit);

		add_option(words, "from", time);
		base = first;
	}
	if (last < session->trace.end) {
		g_autofree char *offset = offset_text(round_up(last - base, unit), unit);

		add_option(words, "to", offset);
	}
}

/* --- commands ------------------------------------------------------------------------------ */

/* TIDs are those of a host. */
static void add_thread(struct words *words, uint32_t index)
{
	const struct model *model = &words->session->trace.model;
	const struct thread *thread = model_thread(model, index);
	const struct host *host = model_host(model, thread->host);
	g_autofree char *tid = g_strdup_printf("%d", thread->tid);

	if (model->hosts->len > 1 && host->hostname)
		add_option(words, "host", host->hostname);
	add_option(words, "thread", tid);
}

GPtrArray *suggested_words(const struct session *session, const struct suggestion *suggestion)
{
	const struct options *options = session->asked.options;
	struct words words = {.session = session, .list = g_ptr_array_new_with_free_func(g_free)};
	bool hidden = options->anonymiser || !options->trace || suggestion->any_trace;

	if (options->commands)
		words.command = command_find(options->commands, suggestion->command);
	g_ptr_array_add(words.list, g_strdup("whylate"));
	g_ptr_array_add(words.list, g_strdup(suggestion->command));
	if (suggestion->word)
		g_ptr_array_add(words.list, g_strdup(suggestion->word));
	g_ptr_array_add(words.list, g_strdup(hidden ? "TRACE" : options->trace));
	if (suggestion->asked)
		add_given(&words, subjects, suggestion->option);
	if (suggestion->option)
		add_option(&words, suggestion->option, suggestion->value);
	if (suggestion->thread)
		add_thread(&words, *suggestion->thread);
	if (suggestion->from || suggestion->to)
		add_window(&words, suggestion->from, suggestion->to);
	else if (session->asked.of_stretch)
		add_window(&words, session->asked.from, session->asked.to);
	else
		add_given(&words, windows, suggestion->option);
	add_given(&words, meanings, suggestion->option);
	return words.list;
}

char *suggested_command(const struct session *session, const struct suggestion *suggestion)
{
	g_autoptr(GPtrArray) words = suggested_words(session, suggestion);

	g_ptr_array_add(words, NULL);
	return g_strjoinv(" ", (char **) words->pdata);
}
