/* SPDX-License-Identifier: MIT */
/* What is said on standard error; see cli.h. */
#include "cli/cli.h"

#include <stdio.h>

#include "report/report.h"
#include "util/error.h"

void tell(char **heard, const char *message)
{
	g_autofree char *safe = text_safe(message);
	g_autofree char *shown = locale_has_utf8() ? g_strdup(safe) : text_ascii(safe);

	if (heard) {
		g_free(*heard);
		*heard = g_strdup(message);
	} else {
		fprintf(stderr, "whylate: %s\n", shown);
	}
}

int tell_error(char **heard, const GError *error)
{
	if (*error->message)
		tell(heard, error->message);
	return error_status(error);
}
