/* SPDX-License-Identifier: MIT */
/* See option_values.h. */
#include "run/option_values.h"

#include <string.h>

#include "util/error.h"

bool options_refuse(GError **error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	g_propagate_error(error,
			  g_error_new_valist(WHYLATE_ERROR, WHYLATE_ERROR_USAGE, format, list));
	va_end(list);
	return false;
}

bool option_refuse(const struct option *option, const char *value, GError **error,
		   const char *format, ...)
{
	g_autofree char *why = NULL;
	va_list list;

	va_start(list, format);
	why = g_strdup_vprintf(format, list);
	va_end(list);
	return options_refuse(error, "--%s '%s': %s", option->name, value, why);
}

bool options_exclude(const char *a, const char *b, const char *why, GError **error)
{
	return options_refuse(error, "%s and %s exclude each other: %s", a, b, why);
}

int option_choose(const struct option *option, const char *value, const char *const *words,
		  GError **error)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0)
			return i;
		g_string_append_printf(list, "%s%s", i ? ", " : "", words[i]);
	}
	option_refuse(option, value, error, "must be one of %s", list->str);
	return -1;
}

bool option_word(void *into, const struct option *option, const char *value, GError **error)
{
	int chosen = option_choose(option, value, option->words, error);

	if (chosen >= 0)
		G_STRUCT_MEMBER(unsigned, into, option->at) =
			(unsigned) option->least + (unsigned) chosen;
	return chosen >= 0;
}

bool option_switch(void *into, const struct option *option, const char *value, GError **error)
{
	static const char *const words[] = {"yes", "no", NULL};
	int chosen = *value ? option_choose(option, value, words, error) : 0;

	if (chosen >= 0)
		G_STRUCT_MEMBER(bool, into, option->at) = chosen == 0;
	return chosen >= 0;
}

bool option_number(void *into, const struct option *option, const char *value, GError **error)
{
	guint64 number;

	g_assert(option->most && option->most <= UINT32_MAX);
	if (!g_ascii_string_to_unsigned(value, 10, option->least, option->most, &number, NULL))
		return option_refuse(option, value, error,
				     "must be a whole number from %" G_GUINT64_FORMAT
				     " to %" G_GUINT64_FORMAT,
				     option->least, option->most);
	G_STRUCT_MEMBER(uint32_t, into, option->at) = (uint32_t) number;
	return true;
}

bool option_duration(void *into, const struct option *option, const char *value, GError **error)
{
	if (g_ascii_isdigit(*value) && strcmp(value, "0") != 0 &&
	    g_ascii_isdigit(value[strlen(value) - 1]))
		return option_refuse(option, value, error, "needs a unit: ns, us, ms, s, m or h");
	if (when_parse_duration(value, &G_STRUCT_MEMBER(int64_t, into, option->at), error))
		return true;
	g_prefix_error(error, "--%s: ", option->name);
	return false;
}

bool option_text(void *into, const struct option *option, const char *value, GError **error)
{
	char **text = &G_STRUCT_MEMBER(char *, into, option->at);

	if (!*value)
		return options_refuse(error, "--%s needs a value", option->name);
	g_free(*text);
	*text = g_strdup(value);
	return true;
}

bool option_texts(void *into, const struct option *option, const char *value, GError **error)
{
	if (!*value)
		return options_refuse(error, "--%s needs a value", option->name);
	g_ptr_array_add(G_STRUCT_MEMBER(GPtrArray *, into, option->at), g_strdup(value));
	return true;
}

bool option_file(void *into, const struct option *option, const char *value, GError **error)
{
	if (strcmp(value, "-") != 0)
		return option_text(into, option, value, error);
	return option_refuse(option, value, error, "needs a file, standard output is the report's");
}

bool option_event(void *into, const struct option *option, const char *value, GError **error)
{
	struct event_filter **filter = &G_STRUCT_MEMBER(struct event_filter *, into, option->at);

	event_filter_free(*filter);
	*filter = event_filter_parse(value, error);
	if (!*filter)
		g_prefix_error(error, "--%s: ", option->name);
	return *filter != NULL;
}
