/* SPDX-License-Identifier: MIT */
/* The kernel's files about tracing: where they are, and what is written to them.
 *
 *   mkdir instances/whylate-77 ─► its clock, buffers, events ─► tracing_on 1 … 0 ─► rmdir
 *
 * Place: tracefs/. All that is recorded is recorded in an instance of its own, which has its own
 * rings and its own set of events: whoever else traces notices nothing. What is done to it is a
 * list of steps, so that it can be shown as a shell would do it. Source:
 * Documentation/trace/ftrace.rst, "Instances".
 */
#ifndef WHYLATE_TRACEFS_TRACEFS_H
#define WHYLATE_TRACEFS_TRACEFS_H

#include <glib.h>
#include <stdbool.h>

#define TRACEFS_INSTANCES "instances"

enum step_kind { STEP_MAKE, STEP_REMOVE, STEP_WRITE, STEP_APPEND };

struct step {
	enum step_kind kind;
	bool tries; /* that it fails is no failure: this kernel does not have it */
	char *path; /* owned; below the root */
	char *text; /* owned; NULL: of directories */
};

/* Where it is mounted: $WHYLATE_TRACEFS, else where kernels and their tools put it. NULL and an
 * error that says what to do, if it cannot be used. */
const char *tracefs_root(GError **error);
/* That this place is where it would be, to be shown; never fails. */
const char *tracefs_usual(void);

GPtrArray *tracefs_steps(void);
/* Both become the list's. */
void tracefs_add_step(GPtrArray *steps, enum step_kind kind, bool tries, char *path, char *text);
/* One step; an error names the file and what the kernel said. */
bool tracefs_run_step(const char *root, const struct step *step, GError **error);
/* As a shell would do it; free with g_free(). */
char *tracefs_step_line(const char *root, const struct step *step);

/* All that a file has, to its end: these have no size. NULL: it cannot be read. */
char *tracefs_read(const char *root, const char *path, gsize *length);

#endif
