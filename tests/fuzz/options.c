/* SPDX-License-Identifier: MIT */
/* libFuzzer target: options, times, durations, events named by the user.
 *
 *   input: command (1 byte) · lines: NAME=VALUE for an option, or @TEXT for each
 *          of the parsers below it
 */
#include <string.h>

#include <glib.h>

#include "target.h"
#include "whylate/whylate.h"

#include "latencies/operations.h"
#include "trace/clocks.h"

#define LINES_MAX 40

/* Good or bad, never both, and a bad one is the user's. `error` is what the call that
 * gave `good` set: C does not say which of two arguments comes first. */
#define JUDGE(good) (error = NULL, is_good = (good), judge(is_good, error))

static bool judge(bool good, GError *error)
{
	g_assert_true(good == !error);
	if (error) {
		g_assert_cmpint(error->code, ==, WHYLATE_ERROR_USAGE);
		g_assert_true(*error->message);
		g_error_free(error);
	}
	return good;
}

static void check_duration(const char *text)
{
	GError *error;
	char shown[32];
	int64_t ns, again;
	bool is_good;

	if (!JUDGE(when_parse_duration(text, &ns, &error)))
		return;
	g_assert_cmpint(ns, >=, 0);
	when_duration(shown, ns);
	g_assert_cmpuint(strlen(shown), <, sizeof shown);
	when_duration(shown, -ns);
	g_snprintf(shown, sizeof shown, "%" G_GINT64_FORMAT "ns", ns);
	g_assert_true(when_parse_duration(shown, &again, NULL));
	g_assert_cmpint(again, ==, ns);
}

static void check_when(const char *text)
{
	static const int64_t firsts[] = {0, 1, 1700000000000000000, INT64_C(1) << 61,
					 -(INT64_C(1) << 61)};
	struct when when;
	GError *error;
	char shown[48];
	bool is_good;

	if (!JUDGE(when_parse(text, &when, &error)) || when.kind == WHEN_EVENT)
		return;
	g_assert_cmpint(when.ns, >=, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(firsts); i++)
		for (int utc = 0; utc < 2; utc++) {
			int64_t first = firsts[i], last = first + 1000000000;
			int64_t at = when_resolve(&when, first, last, first, utc);

			when_time(shown, at, utc, true);
			g_assert_cmpuint(strlen(shown), <, sizeof shown);
			when_time(shown, at, utc, false);
		}
}

static void check_filter(const char *text)
{
	GError *error;
	struct event_filter *filter;
	bool is_good;

	if (!JUDGE((filter = event_filter_parse(text, &error)) != NULL))
		return;
	event_filter_wants(filter, "sched_switch");
	event_filter_wants(filter, text);
	g_assert_cmpint(filter->nth, >=, 1);
	for (guint i = 0; i < filter->conditions->len; i++) {
		const struct filter_condition *condition =
			&g_array_index(filter->conditions, struct filter_condition, i);

		filter_condition_text(condition, "/bin/sh");
		if (!strpbrk(condition->value, "*?"))
			g_assert_true(filter_condition_text(condition, condition->value));
		filter_condition_integer(condition, true, (uint64_t) -1);
		if (condition->numeric)
			g_assert_true(filter_condition_integer(condition, condition->negative,
							       condition->number));
	}
	event_filter_free(filter);
}

static void check_clock_offset(const char *text)
{
	GError *error;
	char *host = NULL;
	int64_t ns;
	bool is_good;

	JUDGE(clock_offset_parse(text, &host, &ns, &error));
	g_free(host);
}

static void check_line(struct options *options, char *line)
{
	GError *error;
	char *value = strchr(line, '=');
	bool is_good;

	if (*line == '@') {
		check_duration(line + 1);
		check_when(line + 1);
		check_filter(line + 1);
		check_clock_offset(line + 1);
		JUDGE(operation_pattern_check(line + 1, &error));
		return;
	}
	if (value)
		*value++ = 0;
	JUDGE(options_set(options, line, value ? value : "", &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *) data + (size > 0), size ? size - 1 : 0);
	g_auto(GStrv) lines = g_strsplit(text, "\n", LINES_MAX);
	struct options options;
	size_t count = 0;
	GError *error;
	bool is_good;

	while (commands[count])
		count++;
	command_options(&options, commands[size ? *data % count : 0]);
	for (char **line = lines; *line; line++)
		check_line(&options, *line);
	JUDGE(options_check(&options, &error));
	options_clear(&options);
	return 0;
}
