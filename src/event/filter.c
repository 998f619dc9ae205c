/* SPDX-License-Identifier: MIT */
/* Parsing and matching of the events that users name; see filter.h. */
#include "event/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/pattern.h"

static void condition_clear(gpointer data)
{
	struct filter_condition *condition = data;

	g_free(condition->key);
	g_free(condition->value);
	g_free(condition->captured);
	if (condition->unmet)
		nearest_clear(condition->unmet);
	g_free(condition->unmet);
}

void event_filter_free(struct event_filter *filter)
{
	if (!filter)
		return;
	g_free(filter->text);
	g_free(filter->event);
	g_array_free(filter->conditions, TRUE);
	g_free(filter);
}

static bool parse_number(const char *text, bool *negative, uint64_t *number)
{
	char *end;

	*negative = text[0] == '-';
	if (!g_ascii_isdigit(text[*negative ? 1 : 0]))
		return false;
	errno = 0;
	*number = *negative ? (uint64_t) strtoll(text, &end, 0) : strtoull(text, &end, 0);
	*negative &= *number != 0;
	return errno == 0 && *end == 0;
}

static bool parse_nth(struct event_filter *filter, const char *value, GError **error)
{
	gint64 n;

	if (strcmp(value, "last") == 0) {
		filter->nth = FILTER_LAST;
		return true;
	}
	if (!g_ascii_string_to_signed(value, 10, 1, G_MAXINT64 - 1, &n, NULL)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "'nth=%s' in '%s': nth is a whole number from 1 on, or last", value,
			    filter->text);
		return false;
	}
	filter->nth = n;
	return true;
}

static bool parse_word(struct event_filter *filter, char *word, GError **error)
{
	char *equals = strchr(word, '=');
	struct filter_condition condition = {0};

	if (!equals || equals == word) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "'%s' in '%s' is not of the form key=value "
			    "(as in 'sched_process_exec filename=*/sh')",
			    word, filter->text);
		return false;
	}
	*equals = 0;
	if (strcmp(word, "nth") == 0)
		return parse_nth(filter, equals + 1, error);
	if (g_str_has_prefix(word, "$ctx.")) {
		condition.scope = FILTER_CONTEXT;
		word += strlen("$ctx.");
	}
	condition.key = g_strdup(word);
	condition.value = g_strdup(equals + 1);
	condition.numeric = parse_number(condition.value, &condition.negative, &condition.number);
	if (!condition.numeric) {
		condition.unmet = g_new0(struct nearest, 1);
		condition.unmet->wanted = condition.value;
	}
	g_array_append_val(filter->conditions, condition);
	return true;
}

struct event_filter *event_filter_parse(const char *text, GError **error)
{
	struct event_filter *filter = g_new0(struct event_filter, 1);
	GError *cause = NULL;
	char **words = NULL;

	if (!text[strspn(text, " \t\n")]) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "an event is needed: 'NAME [key=value]... [nth=N|last]'");
		g_free(filter);
		return NULL;
	}
	filter->text = g_strdup(text);
	filter->nth = 1;
	filter->conditions = g_array_new(FALSE, FALSE, sizeof(struct filter_condition));
	g_array_set_clear_func(filter->conditions, condition_clear);
	/* $ctx and * mean themselves here: only quotes and spaces are the shell's */
	if (!g_shell_parse_argv(text, NULL, &words, &cause)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "the event '%s' cannot be read: %s", text, cause->message);
		g_error_free(cause);
		goto fail;
	}
	filter->event = g_strdup(words[0]);
	for (char **word = words + 1; *word; word++)
		if (!parse_word(filter, *word, error))
			goto fail;
	g_strfreev(words);
	return filter;
fail:
	g_strfreev(words);
	event_filter_free(filter);
	return NULL;
}

bool event_filter_wants(const struct event_filter *filter, const char *event_name)
{
	return pattern_match(filter->event, event_name);
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

GPtrArray *event_filter_capture(struct event_filter *filter)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < filter->conditions->len; i++) {
		struct filter_condition *at =
			&g_array_index(filter->conditions, struct filter_condition, i);

		if (at->value[0] != '$' || !at->value[1])
			continue;
		at->captured = g_new0(uint64_t, 1);
		g_ptr_array_add(names, g_strdup(at->value + 1));
	}
	g_ptr_array_sort(names, by_name);
	return names;
}

uint64_t event_filter_captured(const struct event_filter *filter, const char *name)
{
	for (guint i = 0; i < filter->conditions->len; i++) {
		const struct filter_condition *at =
			&g_array_index(filter->conditions, struct filter_condition, i);

		if (at->captured && strcmp(at->value + 1, name) == 0)
			return *at->captured;
	}
	g_return_val_if_reached(0);
}

bool filter_condition_text(const struct filter_condition *condition, const char *text)
{
	if (condition->captured) {
		*condition->captured = g_str_hash(text);
		return true;
	}
	if (pattern_match(condition->value, text))
		return true;
	if (condition->unmet)
		nearest_offer(condition->unmet, text);
	return false;
}

bool filter_condition_integer(const struct filter_condition *condition, bool is_signed,
			      uint64_t value)
{
	char text[24];

	if (condition->captured) {
		*condition->captured = value;
		return true;
	}
	if (condition->numeric) {
		bool negative = is_signed && (int64_t) value < 0;

		return value == condition->number && negative == condition->negative;
	}
	if (is_signed)
		g_snprintf(text, sizeof text, "%" PRId64, (int64_t) value);
	else
		g_snprintf(text, sizeof text, "%" PRIu64, value);
	return filter_condition_text(condition, text);
}
