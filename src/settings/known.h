/* SPDX-License-Identifier: MIT */
/* Known settings: what a setting makes a known program do, and how a trace shows it.
 *
 * Part of settings/. Read from share/known-settings.conf, which is in the program, and from files
 * of the same form that --settings names; that file says what each member is.
 */
#ifndef WHYLATE_SETTINGS_KNOWN_H
#define WHYLATE_SETTINGS_KNOWN_H

#include "run/session.h"

struct known_setting {
	char *name; /* owned, as all; lists of patterns are NULL where any will do */
	char **programs, **calls, **objects, **enders, **causes, **behind, **between;
	bool works;
	guint least;
	char *does, *set;
};

/* Those of the session's options: struct known_setting, owned by the session. */
const GPtrArray *known_settings(const struct session *session);

/* The text fits one of the patterns; `patterns` NULL: any text does. */
bool known_fits(char *const *patterns, const char *text);

/* Adds those in the text of a file called `path`, or puts them in the place of those of their
 * names; false: what is wrong in it. */
bool known_settings_add(GPtrArray *list, const char *text, const char *path, GError **error);
GPtrArray *known_settings_empty(void);

/* --settings FILE. */
extern const struct option option_settings;

#endif
