/* SPDX-License-Identifier: MIT */
/* See known.h. */
#include "settings/known.h"

#include <string.h>

#include "known_settings_text.h"
#include "run/command.h"
#include "run/option_values.h"
#include "util/error.h"
#include "util/pattern.h"

#define BUILT_IN "known-settings.conf"
#define LEAST 3

static const char *const members[] = {"program", "call",  "object", "ender", "cause", "behind",
				      "between", "works", "least",  "does",  "set",   NULL};

static void known_free(gpointer data)
{
	struct known_setting *known = data;

	g_free(known->name);
	g_strfreev(known->programs);
	g_strfreev(known->calls);
	g_strfreev(known->objects);
	g_strfreev(known->enders);
	g_strfreev(known->causes);
	g_strfreev(known->behind);
	g_strfreev(known->between);
	g_free(known->does);
	g_free(known->set);
	g_free(known);
}

GPtrArray *known_settings_empty(void)
{
	return g_ptr_array_new_with_free_func(known_free);
}

bool known_fits(char *const *patterns, const char *text)
{
	bool fits = !patterns;

	for (guint i = 0; patterns && patterns[i] && !fits; i++)
		fits = pattern_match(patterns[i], text);
	return fits;
}

static bool refuse(const char *path, const char *name, GError **error, const char *what)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--settings %s: [%s]: %s", path,
		    name, what);
	return false;
}

static bool check(GKeyFile *file, const char *name, const char *path, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, name, NULL, NULL);

	for (char **key = keys; key && *key; key++) {
		g_autofree char *what = NULL;

		if (g_strv_contains(members, *key))
			continue;
		what = g_strdup_printf("'%s' is none of program, call, object, ender, cause, "
				       "behind, between, works, least, does, set",
				       *key);
		return refuse(path, name, error, what);
	}
	if (!g_key_file_has_key(file, name, "does", NULL))
		return true; /* takes one away */
	if (!g_key_file_has_key(file, name, "set", NULL))
		return refuse(path, name, error, "set= must say what to change");
	if (g_key_file_has_key(file, name, "least", NULL) &&
	    g_key_file_get_integer(file, name, "least", NULL) < 1)
		return refuse(path, name, error, "least= must be a number from 1 on");
	if (!g_key_file_has_key(file, name, "object", NULL) &&
	    !g_key_file_has_key(file, name, "ender", NULL))
		return refuse(path, name, error, "object= or ender= must say how a trace shows it");
	if (g_key_file_get_boolean(file, name, "works", NULL) &&
	    !g_key_file_has_key(file, name, "object", NULL))
		return refuse(path, name, error, "works= needs object=: the files");
	return true;
}

static char **patterns_of(GKeyFile *file, const char *name, const char *key)
{
	return g_key_file_get_string_list(file, name, key, NULL, NULL);
}

static struct known_setting *read_known(GKeyFile *file, const char *name)
{
	struct known_setting *known = g_new0(struct known_setting, 1);
	int least = g_key_file_get_integer(file, name, "least", NULL);

	known->name = g_strdup(name);
	known->programs = patterns_of(file, name, "program");
	known->calls = patterns_of(file, name, "call");
	known->objects = patterns_of(file, name, "object");
	known->enders = patterns_of(file, name, "ender");
	known->causes = patterns_of(file, name, "cause");
	known->behind = patterns_of(file, name, "behind");
	known->between = patterns_of(file, name, "between");
	known->works = g_key_file_get_boolean(file, name, "works", NULL);
	known->least = least ? (guint) least : LEAST;
	known->does = g_key_file_get_string(file, name, "does", NULL);
	known->set = g_key_file_get_string(file, name, "set", NULL);
	return known;
}

static void put(GPtrArray *list, struct known_setting *known)
{
	for (guint i = 0; i < list->len; i++) {
		struct known_setting *at = g_ptr_array_index(list, i);

		if (strcmp(at->name, known->name) != 0)
			continue;
		known_free(at);
		list->pdata[i] = known;
		return;
	}
	g_ptr_array_add(list, known);
}

bool known_settings_add(GPtrArray *list, const char *text, const char *path, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) cause = NULL;
	g_auto(GStrv) names = NULL;

	if (!g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, &cause)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--settings %s: %s", path,
			    cause->message);
		return false;
	}
	names = g_key_file_get_groups(file, NULL);
	for (char **name = names; *name; name++)
		if (!check(file, *name, path, error))
			return false;
	for (char **name = names; *name; name++)
		put(list, read_known(file, *name));
	return true;
}

/* What the file has in it is kept, as it may be a pipe. */
static bool set_settings(void *into, const struct option *option, const char *value, GError **error)
{
	g_autoptr(GPtrArray) list = known_settings_empty();
	g_autofree char *text = NULL;
	g_autoptr(GError) cause = NULL;

	if (!g_file_get_contents(value, &text, NULL, &cause)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--settings: %s",
			    cause->message);
		return false;
	}
	return known_settings_add(list, text, value, error) &&
	       option_texts(into, option, text, error);
}

const struct option option_settings = {
	"settings",
	"FILE",
	"more of what settings make known programs do, in the form of\nknown-settings.conf; may "
	"be repeated",
	set_settings,
	AT(settings),
	.repeatable = true};

static void *make(const struct session *session)
{
	GPtrArray *list = known_settings_empty();
	const GPtrArray *texts = session->asked.options->settings;

	known_settings_add(list, page_known_settings, BUILT_IN, NULL);
	for (guint i = 0; i < texts->len; i++)
		known_settings_add(list, g_ptr_array_index(texts, i), BUILT_IN, NULL);
	for (guint i = list->len; i-- > 0;) /* without does=: taken away */
		if (!((struct known_setting *) g_ptr_array_index(list, i))->does)
			g_ptr_array_remove_index(list, i);
	return list;
}

static void list_free(void *list)
{
	g_ptr_array_unref(list);
}

const GPtrArray *known_settings(const struct session *session)
{
	return session_make_once(session, make, list_free);
}
