/* SPDX-License-Identifier: MIT */
/* The failures that are the user's or the system's, as GErrors.
 *
 * Part of util/. Each code is one exit status of the command (interface:
 * 2 usage, 3 no trace, 4 damaged input, 5 output not written, 125 not recorded), so that the
 * place that knows the cause decides the status and nobody translates.
 *
 * Four kinds of trouble are never mixed. Our bug: an assertion. Odd trace data: counted by kind
 * (enum odd), with a documented assumption, and on. The user's or the system's failure: a GError,
 * returned upward and shown once, with what to do. Out of memory: GLib aborts, with one line
 * (cli/process.c).
 */
#ifndef WHYLATE_UTIL_ERROR_H
#define WHYLATE_UTIL_ERROR_H

#include <glib.h>

#define WHYLATE_ERROR whylate_error_quark()

enum whylate_error {
	WHYLATE_ERROR_USAGE = 2,
	WHYLATE_ERROR_NO_TRACE = 3,
	WHYLATE_ERROR_DAMAGE = 4,
	WHYLATE_ERROR_OUTPUT = 5,
	WHYLATE_ERROR_RECORD = 125, /* record failed: the program's status is not known */
};

GQuark whylate_error_quark(void);
/* The exit status of an error. One of another domain (a file that cannot be opened or listed) is
 * "no trace that can be read": never "limit exceeded", which is 1. */
int error_status(const GError *error);

#endif
