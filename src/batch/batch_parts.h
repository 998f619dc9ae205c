/* SPDX-License-Identifier: MIT */
/* Lines of `whylate batch`: one JSON object for each trace, and what many of them add up to.
 *
 * Place: batch/; batch_line.c makes a trace's line (the map half; line_settings.c
 * its settings), batch_merge.c (settings: batch_settings.h) adds lines up,
 * those of traces and those that are sums already (the merge half), batch_index.c shows the sum as
 * a page. Adding is exact, and neither order nor grouping matters: counts are integers, buckets
 * are the finest that profiles have, lists are sorted by what is in them. Schema: whylate-batch-1.
 *
 * Each trace is a process of its own (cli/batch_run.c): what ends one analysis costs one line.
 * How a member is added up stands on its column (`merged`); tests/batch.t merges in random orders
 * and groups.
 */
#ifndef WHYLATE_BATCH_BATCH_PARTS_H
#define WHYLATE_BATCH_BATCH_PARTS_H

#include <jansson.h>
#include <stdio.h>

#include "batch/batch_settings.h"
#include "limits/judge.h"
#include "report/columns.h"

#define BATCH_SCHEMA "whylate-batch-1"

struct batch {
	json_t *traces;       /* owned; array: a short entry for each */
	json_t *profiles;     /* owned; operation -> sums */
	json_t *findings;     /* owned; id -> sums */
	GPtrArray *limits;    /* owned; struct batch_limit, sorted by text */
	struct batch_settings *settings; /* owned */
	guint bad_lines;      /* that were none */
};

/* A limit over all traces. */
struct batch_limit {
	char *key;            /* owned; name and text */
	struct limit *limit;  /* owned */
	struct measures *measures; /* owned; given to the judgement in the end */
	guint exceeded, not_judged; /* traces */
	struct judgement *judgement; /* owned; in the end */
};

/* All of a trace that is kept, as one line of JSON. */
void batch_line_write(const struct session *session, struct output *output);

struct batch *batch_new(void);
void batch_free(struct batch *batch);
/* Adds a line, of a trace or merged. False: it is none; what is wrong with it into `error`. */
bool batch_add(struct batch *batch, const json_t *line, GError **error);
/* Sorts what was added, and judges the limits over all: a new reference, the merged line. The
 * batch is not added to after it. */
json_t *batch_merged(struct batch *batch);
/* Of the merged line: interface.md, "Exit status". */
int batch_status(const json_t *merged);
/* A trace of it lost events; how many of those that are good otherwise did. */
bool batch_lost_some(const json_t *trace);
json_int_t batch_lossy(const json_t *merged);
/* The page of them all; links to pages of traces are relative to its place, `path`. */
void batch_index_write(const json_t *merged, const char *path, FILE *file);

/* batch_line.c: a line; a profile in it; of struct judgement, what was measured. */
extern const struct column batch_line_columns[], batch_profile_columns[], batch_measured_columns[];

#endif
