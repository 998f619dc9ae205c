/* SPDX-License-Identifier: MIT */
/* Lines of `whylate batch`: one JSON object for each trace, and what many of them add up to.
 *
 * Place: batch/; batch_line.c makes a trace's line (the map half; line_settings.c
 * its settings), batch_merge.c (settings: batch_settings.h, limits:
 * batch_limits.h) adds up those that count (batch_lines.h), those of traces and those that are sums
 * already (the merge half), fleet/ shows the sum. Adding is exact, and neither
 * order nor grouping matters: counts are integers, buckets are the finest that profiles have, lists
 * and members are sorted. Schema: whylate-batch-1.
 *
 * Each trace is a process of its own (cli/batch_run.c): what ends one analysis costs one line.
 * How a member is added up stands on its column (`merged`); tests/batch.t merges in random orders
 * and groups.
 */
#ifndef WHYLATE_BATCH_BATCH_PARTS_H
#define WHYLATE_BATCH_BATCH_PARTS_H

#include <jansson.h>
#include <stdio.h>

#include "batch/batch_entries.h"
#include "batch/batch_outliers.h"
#include "batch/batch_settings.h"
#include "report/columns.h"

#define BATCH_SCHEMA "whylate-batch-1"

struct batch {
	struct batch_entries *entries; /* owned; a short one for each trace */
	json_t *totals;       /* owned; events and the like of all */
	json_t *statuses;     /* owned; how many traces have each */
	json_t *profiles;     /* owned; operation -> sums */
	json_t *findings;     /* owned; id -> sums */
	GPtrArray *limits;    /* owned; batch_limits.h */
	struct batch_settings *settings; /* owned */
	struct batch_outliers *outliers; /* owned */
	json_int_t lossy;     /* traces that are good otherwise, and lost events */
	/* what batch_lines.h saw */
	json_int_t bad_lines; /* that are not lines, or cannot be counted */
	json_int_t repeated;  /* times that a trace came again */
	json_t *missing;      /* owned; names of traces that were expected; NULL: none were */
};

/* All of a trace that is kept, as one line of JSON. */
void batch_line_write(const struct session *session, struct output *output);

struct batch *batch_new(void);
void batch_free(struct batch *batch);
/* It is a line, of a trace or a sum. False: it is not; what is wrong with it into `error`. */
bool batch_check(const json_t *line, GError **error);
bool batch_is_sum(const json_t *line);
/* What the sum says of its trace: a new reference. */
json_t *batch_entry_of(const json_t *line);
/* Which lines count, once each, batch_lines.h tells. */
void batch_add_line(struct batch *batch, const json_t *line, const struct trace_key *key);
/* A sum without its traces, … */
void batch_add_sum(struct batch *batch, const json_t *sum);
/* … and those, one by one; `common`: settings that all of that sum have, NULL. */
void batch_add_entry(struct batch *batch, const json_t *entry, const struct trace_key *key,
		     const json_t *common);

/* Sorts what was added, and judges the limits over all: a new reference, the merged line but for
 * its traces. The batch is not added to after it. */
json_t *batch_merged(struct batch *batch);
/* After that: each trace, by name. False: some could not be read back. */
typedef void batch_take(void *data, const json_t *trace);
bool batch_each(struct batch *batch, batch_take *take, void *data);
/* The whole merged line; false as batch_each(). */
bool batch_write(struct batch *batch, const json_t *merged, FILE *file);
/* Of the merged line: interface.md, "Exit status". */
int batch_status(const json_t *merged);
/* Which list a finding belongs to: a wait may be in one of each. */
enum finding_group {
	FINDING_STANDS_OUT,
	FINDING_IMPOSED, /* who and what others waited for */
	FINDING_REST, /* slow operations, single waits */
};
enum finding_group batch_finding_group(const json_t *finding);
/* What became of it, in a few words; static. */
const char *batch_outcome(const json_t *trace);
/* A trace of it lost events. */
bool batch_lost_some(const json_t *trace);

/* batch_line.c: a line; a profile in it; of struct judgement, what was measured. */
extern const struct column batch_line_columns[], batch_profile_columns[], batch_measured_columns[];

#endif
