/* SPDX-License-Identifier: MIT */
/* What a round recorded: the reports that the choice is made of, and the one that is for people.
 *
 * Part of drill/. The program itself makes them, as a child.
 */
#ifndef WHYLATE_DRILL_ANALYSIS_H
#define WHYLATE_DRILL_ANALYSIS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Which part of which recording. */
struct analysed {
	const char *self;    /* borrowed; the program */
	const char *trace;   /* borrowed; its directory */
	const char *program; /* borrowed; what it is called; NULL: a running system */
	int64_t tid;         /* the program's; 0: the last thread of that name that ended */
	bool ended;          /* it did, while it was recorded */
	bool snapshot;       /* its birth may be lost */
	bool here;           /* it was recorded on this machine: its files are where they were */
};

/* The way to the program's end; NULL and `error`. Sets `tid` where it was not known. */
json_t *analysis_path(struct analysed *of, GError **error);
/* The functions of those threads on the path (NULL: of all) that worked `limit` ns or more. */
json_t *analysis_functions(const struct analysed *of, const json_t *path, int64_t limit,
			   GError **error);
/* The report for people, on standard output. */
void analysis_tell(const struct analysed *of);

#endif
