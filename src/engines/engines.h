/* SPDX-License-Identifier: MIT */
/* The files that engines take to run a job (job_plan.h). */
#ifndef WHYLATE_ENGINES_ENGINES_H
#define WHYLATE_ENGINES_ENGINES_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct plan {
	const char *directory;    /* absolute */
	const char *const *roots; /* NULL-ended; absolute: where the traces are */
	guint traces, tasks;
};

/* Of an engine: a file, and how it is written. */
struct engine_file {
	const char *name;
	bool runs;          /* is executable */
	const char *text;   /* with @WORDS@: job_plan.c; NULL: */
	json_t *(*make)(const struct plan *plan); /* as JSON; a new reference */
};

struct engine {
	const char *name;
	const struct engine_file *files; /* ended by one without a name */
};

/* In the order of the words of --plan; engines.c. */
extern const struct engine engines_known[];

#endif
