/* SPDX-License-Identifier: MIT */
/* The list of parts, and its report as text and JSON (whylate-self-1); see selftest.h. */
#include "selftest/selftest.h"

#include <stdio.h>

#include "config.h"
#include "report/report.h"

static void part_clear(gpointer part)
{
	g_free(((struct part *) part)->says);
}

static void library_clear(gpointer library)
{
	g_free(((struct library *) library)->version);
}

void selftest_init(struct selftest *test)
{
	*test = (struct selftest) {.libraries = g_array_new(FALSE, FALSE, sizeof(struct library)),
				   .parts = g_array_new(FALSE, FALSE, sizeof(struct part))};
	g_array_set_clear_func(test->libraries, library_clear);
	g_array_set_clear_func(test->parts, part_clear);
}

void selftest_clear(struct selftest *test)
{
	g_array_unref(test->libraries);
	g_array_unref(test->parts);
	g_free(test->program);
	g_free(test->system);
}

void selftest_add(struct selftest *test, const char *name, enum part_state state, char *says)
{
	struct part part = {.name = name, .state = state, .says = says};

	g_array_append_val(test->parts, part);
}

void selftest_library(struct selftest *test, const char *name, const char *version)
{
	struct library library = {name, g_strdup(version)};

	g_array_append_val(test->libraries, library);
}

guint selftest_failures(const struct selftest *test)
{
	guint count = 0;

	for (guint i = 0; i < test->parts->len; i++)
		count += g_array_index(test->parts, struct part, i).state == PART_FAILS;
	return count;
}

/* --- text ------------------------------------------------------------------------------------ */

static char *answer_of(const struct selftest *test)
{
	GString *text = g_string_new("whylate " PACKAGE_VERSION);
	guint failures = selftest_failures(test), named = 0;

	if (!failures) {
		g_string_append(text, " works: all that analysing needs is there.");
		return g_string_free(text, FALSE);
	}
	g_string_append_printf(text, ": %u of %u parts %s not work: ", failures, test->parts->len,
			       failures == 1 ? "does" : "do");
	for (guint i = 0; i < test->parts->len; i++) {
		const struct part *part = &g_array_index(test->parts, struct part, i);

		if (part->state == PART_FAILS)
			g_string_append_printf(text, "%s%s", named++ ? ", " : "", part->name);
	}
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

static void libraries_text(const struct selftest *test, struct output *output)
{
	g_autoptr(GString) line = g_string_new("With");

	for (guint i = 0; i < test->libraries->len; i++) {
		const struct library *library = &g_array_index(test->libraries, struct library, i);

		g_string_append_printf(line, "%s %s %s", i ? "," : "", library->name,
				       library->version);
	}
	text_wrapped(output, line->str, 0, 2);
}

static void parts_text(const struct selftest *test, bool records, struct output *output)
{
	static const char *const words[] = {"yes", "no", "fails"};

	for (guint i = 0; i < test->parts->len; i++) {
		const struct part *part = &g_array_index(test->parts, struct part, i);
		g_autofree char *line = g_strdup_printf("%-10s  %-5s  %s", part->name,
							words[part->state], part->says);

		if (part->records == records)
			text_wrapped(output, line, 2, 19);
	}
}

void selftest_text(const struct selftest *test, struct output *output)
{
	g_autofree char *answer = answer_of(test);
	g_autofree char *where = g_strconcat(test->program, ", on ", test->system, NULL);

	text_wrapped(output, answer, 0, 2);
	text_wrapped(output, where, 0, 2);
	libraries_text(test, output);
	text_heading(output, "What works for analysing?");
	parts_text(test, false, output);
	text_heading(output, "What could record here?");
	parts_text(test, true, output);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static const char *const states[] = {"works", "without", "fails"};

static const struct column library_columns[] = {
	{"name", COLUMN_TEXT, FIELD(struct library, name)},
	{"version", COLUMN_TEXT, FIELD(struct library, version)},
	{0}};

static const struct column part_columns[] = {
	{"name", COLUMN_TEXT, FIELD(struct part, name)},
	{"state", COLUMN_TEXT, FIELD(struct part, state), .names = states},
	{"says", COLUMN_TEXT, FIELD(struct part, says)},
	{"records", COLUMN_BOOL, FIELD(struct part, records)},
	{0}};

GETTER(int64_t, works, struct selftest, !selftest_failures(row));

static const struct column columns[] = {
	{"works", COLUMN_BOOL, .number = works},
	{"program", COLUMN_TEXT, FIELD(struct selftest, program)},
	{"system", COLUMN_TEXT, FIELD(struct selftest, system)},
	{"libraries", COLUMN_LIST, FIELD(struct selftest, libraries), .columns = library_columns},
	{"parts", COLUMN_LIST, FIELD(struct selftest, parts), .columns = part_columns},
	{0}};

void selftest_json(const struct selftest *test, struct output *output)
{
	struct report report = {NULL, test, output};

	json_report(&report, "whylate-self-1", columns, test);
}
