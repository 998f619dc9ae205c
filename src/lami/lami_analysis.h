/* SPDX-License-Identifier: MIT */
/* What a LAMI analysis is, as data. A new one is a file lami_NAME.c with its columns, tables and
 * its `write`, a line below, and one in the list of lami.c.
 *
 * Place: lami/, between lami_table.h and the analyses.
 */
#ifndef WHYLATE_LAMI_LAMI_ANALYSIS_H
#define WHYLATE_LAMI_LAMI_ANALYSIS_H

#include "lami/lami_table.h"

struct lami_analysis {
	const char *name; /* whylate-lami-NAME */
	const char *title, *description;
	const char *tags[4];
	const char *command; /* that gathers what it needs */
	bool of_threads; /* … and must be told of which: of all, where none is named */
	const char *operations; /* profile: patterns if none are asked for, spaces between */
	enum event_kind needs[4]; /* it has nothing to say of a trace that has none of these */
	const struct lami_table *tables[6];
	/* False: an error, and nothing was written. */
	bool (*write)(struct lami_writer *writer, GError **error);
};

extern const struct lami_analysis lami_blocked, lami_waits, lami_states; /* lami_threads.c */
extern const struct lami_analysis lami_path, lami_locks, lami_requests;
extern const struct lami_analysis lami_latencies, lami_peaks, lami_interrupts; /* _operations.c */
extern const struct lami_analysis lami_block;

#endif
