/* SPDX-License-Identifier: MIT */
/* A recording while it runs, and what each tracer does for it.
 *
 *   begin ─► (program, Ctrl-C or time: record.c) ─► end     undo: a failure or an interruption
 *
 * Place: record/, below record.c. One file each: lttng_tracer.c, ftrace_tracer.c, perf_tracer.c.
 */
#ifndef WHYLATE_RECORD_TRACER_H
#define WHYLATE_RECORD_TRACER_H

#include <signal.h>

#include "record/clock.h"
#include "record/lttng.h"
#include "record/maps.h"
#include "record/plan.h"

struct ftrace;
struct perf;
struct claim;

struct run {
	const struct recording *recording; /* borrowed */
	const struct tracer *tracer;
	pid_t program;
	struct maps *maps;   /* owned; NULL: not kept */
	struct claim *claim; /* owned; NULL: nothing that could be left */
	char *result;        /* owned; where the trace is; NULL: in recording->output */
	bool made_directory;
	int signal; /* that ended it; 0: none */
	int told;   /* … that the program was told of */
	/* LTTng's */
	struct lttng_daemon daemon;
	struct sample_clock clock;
	bool made_session;
	struct ftrace *ftrace; /* owned; NULL */
	struct perf *perf;
};

struct tracer {
	const char *name;
	/* Until it records. False and an error, or none: an interruption; undo() follows. */
	bool (*begin)(struct run *run, GError **error);
	/* The trace is whole then, and nothing of it goes on; false: not all of it could be. */
	bool (*end)(struct run *run, GError **error);
	/* Nothing stays; also after an end that failed. */
	void (*undo)(struct run *run);
	/* The lines that it runs, on standard output: at the begin, at the end. */
	void (*show)(const struct recording *recording, bool end);
};

extern const struct tracer lttng_tracer, ftrace_tracer, perf_tracer;

/* Signals that end a recording, and SIGCHLD: blocked, and taken here. */
void run_watched(sigset_t *set);
bool run_make_directory(struct run *run, GError **error);
/* Ctrl-C and the like came meanwhile. */
bool run_interrupted(struct run *run);
/* The next signal, up to `ns` from now (negative: however long it takes); 0: none came. */
int run_signal(gint64 ns);

#endif
