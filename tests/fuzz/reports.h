/* SPDX-License-Identifier: MIT */
/* Every report of a finished session, written to memory and looked at: the same bytes
 * twice, JSON that is JSON, text without control characters.
 */
#ifndef WHYLATE_FUZZ_REPORTS_H
#define WHYLATE_FUZZ_REPORTS_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/invariants.h"
#include "../unit/request_invariants.h"
#include "run/finish.h"
#include "whylate/whylate.h"

/* What is asked; free with free(). NULL: refused, which an option may cause. */
static inline char *report_of(const struct session *session, size_t *length)
{
	FILE *out = stdout;
	char *text = NULL;
	g_autoptr(GError) error = NULL;
	bool written;

	stdout = open_memstream(&text, length);
	written = report_write(session, &error);
	fclose(stdout);
	stdout = out;
	g_assert_true(written == !error);
	if (written)
		return text;
	g_assert_cmpint(error->code, ==, WHYLATE_ERROR_USAGE);
	g_assert_true(g_utf8_validate(error->message, -1, NULL) ||
		      session->asked.options->profile.compare);
	free(text);
	return NULL;
}

/* Not g_error(): libFuzzer does not know of SIGTRAP. */
#define BROKEN(...) (fprintf(stderr, __VA_ARGS__), abort())

static inline void expect_json(const char *text, size_t length)
{
	json_error_t wrong;
	json_t *json = json_loadb(text, length, 0, &wrong);

	if (!json)
		BROKEN("line %d: %s: %s\n", wrong.line, wrong.text, text);
	json_decref(json);
}

/* Colours are the only control sequences, and there only if they are asked for. */
static inline size_t colour_at(const char *text, bool colour)
{
	size_t digits = strspn(text + 1, "[0123456789;");

	return colour && text[1] == '[' && text[1 + digits] == 'm' ? digits + 2 : 0;
}

static inline void expect_text(const char *text, size_t length, bool colour, bool csv)
{
	const char *bad = NULL;

	if (!g_utf8_validate(text, (gssize) length, &bad))
		BROKEN("byte %u is no UTF-8: %s\n", (unsigned) (bad - text), text);
	for (size_t i = 0; i < length; i++) {
		bool plain = (unsigned char) text[i] >= ' ' || text[i] == '\n';

		if (text[i] == '\033' && colour_at(text + i, colour))
			i += colour_at(text + i, colour) - 1;
		else if (!plain && !(csv && text[i] == '\r' && text[i + 1] == '\n'))
			BROKEN("byte %u is a control character: %s\n", (unsigned) i, text);
	}
}

/* Both blocks of data in a page are JSON, end where they should, and name nothing of HTML's. */
static inline void expect_page(const char *text, size_t length)
{
	static const char *const blocks[] = {
		"<script type=\"application/json\" id=\"report\">",
		"<script type=\"application/json\" id=\"timeline-data\">"};

	if (!g_utf8_validate(text, (gssize) length, NULL) || strlen(text) != length)
		BROKEN("no UTF-8, or a NUL: %s\n", text);
	for (int i = 0; i < 2; i++) {
		const char *begin = strstr(text, blocks[i]);
		const char *end = begin ? strchr(begin + strlen(blocks[i]), '<') : NULL;

		if (!end || !g_str_has_prefix(end, "</script>"))
			BROKEN("no block %s\n", blocks[i]);
		begin += strlen(blocks[i]);
		expect_json(begin, (size_t) (end - begin));
	}
}

static inline void check_report(struct session *session, enum format format, bool twice)
{
	size_t length, again;
	char *text, *same;

	session->asked.options->format = format;
	text = report_of(session, &length);
	if (!text)
		return;
	if (format == FORMAT_JSON)
		expect_json(text, length);
	else if (format == FORMAT_HTML)
		expect_page(text, length);
	else
		expect_text(text, length, session->asked.options->color == CHOICE_ALWAYS,
			    format == FORMAT_CSV);
	if (twice) {
		same = report_of(session, &again);
		g_assert_cmpmem(text, length, same, again);
		free(same);
	}
	free(text);
}

/* Requests of one kind and by one metric, whichever the number of events says, and what differs
 * between slow and fast ones. */
static inline void check_request_reports(struct session *session, bool twice)
{
	struct options *options = session->asked.options;

	check_requests(session);
	options->requests.preset = (enum request_preset)(session->trace.events % PRESET_EVENTS);
	options->command = &requests_command;
	check_report(session, FORMAT_TEXT, twice);
	check_report(session, FORMAT_JSON, twice);
	check_report(session, FORMAT_CSV, false);
	check_report(session, FORMAT_DOT, false);
	options->requests.metric = (enum metric)(
		METRIC_CPU + session->trace.events / 4 % (METRIC_CALLS - METRIC_LATENCY));
	check_report(session, FORMAT_JSON, false);
	options->requests.metric = METRIC_LATENCY;
	options->command = &diff_command;
	options->requests.slow_fast = (char *) "p50";
	check_report(session, FORMAT_TEXT, false);
	check_report(session, FORMAT_JSON, twice);
	options->requests.slow_fast = NULL;
	options->requests.preset = PRESET_SERVER;
}

/* All commands on it. Profiles have what was recorded for them. */
static inline void check_reports(struct session *session, bool twice)
{
	struct options *options = session->asked.options;
	const struct command *command = options->command;
	uint32_t depth = options->depth;

	options->command = &overview_command;
	check_report(session, FORMAT_TEXT, twice);
	check_report(session, FORMAT_JSON, twice);
	check_report(session, FORMAT_HTML, twice);
	options->command = &delay_command;
	check_report(session, FORMAT_HTML, twice);
	for (int path = 0; path < 2; path++) {
		options->path = path;
		check_report(session, FORMAT_TEXT, twice);
		check_report(session, FORMAT_JSON, twice);
		check_report(session, FORMAT_CSV, twice);
	}
	options->path = false;
	options->command = &check_command;
	check_report(session, FORMAT_TEXT, twice);
	check_report(session, FORMAT_JSON, twice);
	options->command = &profile_command;
	options->depth = MIN(depth, 64);
	check_report(session, FORMAT_TEXT, twice);
	check_report(session, FORMAT_JSON, twice);
	check_report(session, FORMAT_HTML, twice);
	if (session->trace.flow.exchanges_wanted)
		check_request_reports(session, twice);
	options->command = &functions_command;
	for (int timeline = 0; timeline < 2; timeline++) {
		options->functions.timeline = timeline;
		check_report(session, FORMAT_TEXT, twice);
		check_report(session, FORMAT_JSON, twice);
		check_report(session, FORMAT_CSV, false);
		check_report(session, FORMAT_FOLDED, false);
	}
	options->command = command;
	options->depth = depth;
}

/* What a reader has handed to a session, if it was anything; frees the session. */
static inline void check_what_was_read(struct session *session)
{
	g_autoptr(GError) error = NULL;

	if (session->trace.events && session_finish(session, &error)) {
		check_threads(session);
		check_reports(session, false);
	}
	session_free(session);
}

#endif
