/* SPDX-License-Identifier: MIT */
/* See operation_pattern.h. */
#include "latencies/operation_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "event/results.h"

#define INSIDE " > "

static const struct {
	const char *text;
	enum field_test test;
} tests[] = {/* the longer ones first */
	     {"!=", TEST_IS_NOT}, {"<=", TEST_MOST}, {">=", TEST_LEAST}, {"=", TEST_IS},
	     {"<", TEST_LESS},    {">", TEST_MORE},  {"&", TEST_BITS}};

static void condition_clear(gpointer data)
{
	g_free(((struct field_condition *) data)->field);
}

void operation_pattern_free(struct operation_pattern *pattern)
{
	if (!pattern)
		return;
	g_free(pattern->name);
	g_strfreev(pattern->outer);
	if (pattern->conditions)
		g_array_free(pattern->conditions, TRUE);
	g_free(pattern);
}

static size_t field_length(const char *word)
{
	size_t length = 0;

	if (g_ascii_isdigit(*word))
		return 0;
	while (g_ascii_isalnum(word[length]) || word[length] == '_')
		length++;
	return length;
}

/* The word begins with a field's name and a test of it. */
static bool is_condition(const char *word, guint *test, size_t *length)
{
	*length = field_length(word);
	for (*test = 0; *length && *test < G_N_ELEMENTS(tests); ++*test)
		if (g_str_has_prefix(word + *length, tests[*test].text))
			return true;
	return false;
}

/* Where the conditions begin: names may have blanks, too. */
static const char *conditions_of(const char *text)
{
	size_t length;
	guint test;

	for (const char *at = strchr(text, ' '); at; at = strchr(at, ' ')) {
		at += strspn(at, " ");
		if (is_condition(at, &test, &length))
			return at;
	}
	return NULL;
}

/* All names, the outermost first. */
static char **names_of(const char *text)
{
	const char *conditions = conditions_of(text);
	g_autofree char *path =
		conditions ? g_strndup(text, (gsize) (conditions - text)) : g_strdup(text);
	char **names = g_strsplit(path, INSIDE, -1);

	for (char **name = names; *name; name++)
		g_strstrip(*name);
	return names;
}

char *operation_pattern_name(const char *text)
{
	g_auto(GStrv) names = names_of(text);
	guint count = g_strv_length(names);

	return g_strdup(count ? names[count - 1] : "");
}

char **operation_pattern_outer(const char *text)
{
	char **names = names_of(text);
	guint count = g_strv_length(names);

	if (count < 2) {
		g_strfreev(names);
		return NULL;
	}
	g_clear_pointer(&names[count - 1], g_free);
	return names;
}

static bool parse_value(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = *text == '-' ? strtoll(text, &end, 0) : (int64_t) strtoull(text, &end, 0);
	return g_ascii_isdigit(text[*text == '-']) && !*end && !errno;
}

static bool parse_condition(const char *text, const char *word, struct field_condition *condition,
			    GError **error)
{
	const char *value;
	size_t length;
	guint test;

	if (!is_condition(word, &test, &length)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--operation '%s': '%s' is no condition: FIELD=VALUE, or with !=, <, "
			    "<=, >, >= or &, as in 'syscall:read count>=4096 ret=0'",
			    text, word);
		return false;
	}
	condition->test = tests[test].test;
	value = word + length + strlen(tests[test].text);
	if (!parse_value(value, &condition->value) &&
	    !(strncmp(word, "ret", length) == 0 && length == 3 &&
	      result_number(value, &condition->value))) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--operation '%s': '%s' must be a whole number (also as 0x…), or of "
			    "ret an error's name, as ENOENT",
			    text, value);
		return false;
	}
	condition->field = g_strndup(word, length);
	return true;
}

struct operation_pattern *operation_pattern_new(const char *text, GError **error)
{
	struct operation_pattern *pattern = g_new0(struct operation_pattern, 1);
	const char *conditions = conditions_of(text);
	g_auto(GStrv) words = conditions ? g_strsplit(conditions, " ", -1) : NULL;

	pattern->name = operation_pattern_name(text);
	pattern->outer = operation_pattern_outer(text);
	for (guint i = 0; words && words[i]; i++) {
		struct field_condition condition;

		if (!*words[i])
			continue;
		if (!parse_condition(text, words[i], &condition, error)) {
			operation_pattern_free(pattern);
			return NULL;
		}
		if (!pattern->conditions) {
			pattern->conditions = g_array_new(FALSE, FALSE, sizeof condition);
			g_array_set_clear_func(pattern->conditions, condition_clear);
		}
		g_array_append_val(pattern->conditions, condition);
	}
	return pattern;
}

bool field_condition_holds(const struct field_condition *condition, int64_t value)
{
	switch (condition->test) {
	case TEST_IS:
		return value == condition->value;
	case TEST_IS_NOT:
		return value != condition->value;
	case TEST_LESS:
		return value < condition->value;
	case TEST_MOST:
		return value <= condition->value;
	case TEST_MORE:
		return value > condition->value;
	case TEST_LEAST:
		return value >= condition->value;
	default:
		return value & condition->value;
	}
}
