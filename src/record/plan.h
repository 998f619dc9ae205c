/* SPDX-License-Identifier: MIT */
/* What is recorded, as the lttng command's lines.
 *
 *   --preset, --callstacks, --network, --functions ─► lttng create, enable-channel,
 *                                  enable-event, add-context … ─► lttng.c runs them
 *
 * Place: record/, below record.c. Two channels: `hot` has what comes in masses, `cold` what is
 * rare and must stay (lives, the statedump), so that a flight recorder's ring keeps it for
 * long; with call stacks `switches` has the switches alone, as a context is paid for with each
 * event of its channel, and `ticks` what samples are made of. What each event is for:
 * coverage/needs.c and lttng-events.md, section 6.
 */
#ifndef WHYLATE_RECORD_PLAN_H
#define WHYLATE_RECORD_PLAN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum preset { PRESET_MINIMAL, PRESET_NORMAL, PRESET_FULL, PRESET_COUNT };

#define SAMPLES_LEAST 10 /* a second, of --samples=HZ */
#define SAMPLES_MOST 10000

/* Any: the first that can. */
enum tracer_name { TRACER_ANY, TRACER_LTTNG, TRACER_FTRACE, TRACER_PERF };

/* What the command line asks for. */
struct recording {
	enum preset preset;
	enum tracer_name tracer;
	bool callstacks, network, snapshot;
	bool guests; /* entries and exits of virtual machines besides */
	bool samples; /* call stacks of what runs: at the kernel's ticks, or … */
	uint32_t hertz; /* … so many a second, of a clock of our own (clock.h); 0: ticks */
	uint64_t clock_function; /* the kernel's address of that clock's expiry; 0: not known */
	GPtrArray *functions;  /* owned strings: kernel functions */
	GPtrArray *entries;    /* owned strings "PATH:SYMBOL": entries of programs' functions */
	bool tries;            /* functions and entries that cannot be probed are left out */
	char *hooks;           /* owned; lttng-ust's library for the hooks of functions; NULL */
	char *session;         /* owned; LTTng's name of the session, ftrace's of the instance */
	char *output;          /* owned; directory, absolute */
	char *trigger;         /* owned; EVENT[ FILTER] that writes a snapshot; NULL: none */
	int64_t duration;       /* ns; 0: until it is ended */
	void (*look)(void *data); /* called now and then while it records; NULL */
	void *look_data;
	/* called when the trace is whole, before what to do next is told; NULL */
	void (*whole)(void *data);
	void *whole_data;
	const char *host; /* borrowed; its name, where others' traces are beside; NULL */
	bool analyse, dry_run;
	bool no_settings; /* the system's are not kept beside the trace */
	char **program;        /* borrowed; NULL: none */
};

/* "minimal", "normal", "full", NULL. */
extern const char *const preset_names[];
/* What a preset is for and costs, for people. */
extern const char *const preset_texts[];

/* The lines that set the session up, up to and with `lttng start`; and those that end it.
 * Each a NULL-terminated argument vector (GStrv); free with g_ptr_array_unref(). */
GPtrArray *plan_begin(const struct recording *recording);
GPtrArray *plan_end(const struct recording *recording);
/* Those of `functions` and `entries`, which may also be given while it records. */
GPtrArray *plan_probes(const struct recording *recording);
/* Those that write a flight recorder's rings out. */
GPtrArray *plan_snapshot(const char *session);

/* One line as a shell would read it; free with g_free(). */
char *plan_line(const char *const *arguments);

#endif
