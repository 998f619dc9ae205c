/* SPDX-License-Identifier: MIT */
/* `whylate batch --plan ENGINE`: the files of a job that maps traces on many machines.
 *
 *   JOB/list       what --expect takes: an identity and a path for each trace
 *   JOB/tasks/N    the traces of a task, at most TASKS_MOST tasks
 *   JOB/task N     maps them into JOB/lines/N.jsonl, which appears whole or not at all: a task that
 *                  is killed leaves nothing, one that runs twice at once writes the same twice
 *   JOB/merge      sums up what is there; what is missing is told (--expect)
 *   JOB/…          what the engine takes: engines.c
 *
 * Place: engines/. All machines must see the traces and the job's directory under the same paths.
 */
#ifndef WHYLATE_ENGINES_JOB_PLAN_H
#define WHYLATE_ENGINES_JOB_PLAN_H

#include <glib.h>
#include <stdbool.h>

#include "run/options.h"

/* What it needs of whoever asks: to tell people (NULL: nothing is told), and the identity of what
 * lies at a path (NULL: there is nothing; freed with g_free()). */
typedef void plan_say(const char *text);
typedef char *plan_identify(const char *path);

/* Writes the job into options->output, a new directory, for traces that were found below the
 * roots; says what was done. */
bool engines_plan(const struct options *options, const GPtrArray *roots, const GPtrArray *traces,
		  plan_say *say, plan_identify *identify, GError **error);

#endif
