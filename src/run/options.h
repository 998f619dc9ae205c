/* SPDX-License-Identifier: MIT */
/* What the words on the command line, or the parameters of a component class, ask for.
 *
 * Place: run/, as an analysis is what they describe. The words themselves are rows of commands:
 * command.h. What one command alone has stands here too, in a struct of its own: lower rooms read
 * much of it. Source: interface.md, "Options common to the analyses".
 */
#ifndef WHYLATE_RUN_OPTIONS_H
#define WHYLATE_RUN_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/filter.h"
#include "util/when.h"

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_DOT,
	FORMAT_FOLDED,
	FORMAT_HTML,
	FORMAT_COUNT
};
enum reader_choice { READER_AUTO, READER_DIRECT, READER_BABELTRACE };
enum choice { CHOICE_AUTO, CHOICE_ALWAYS, CHOICE_NEVER };
enum per { PER_NOTHING, PER_THREAD, PER_PROCESS, PER_RESOURCE, PER_CPU };

enum request_preset { PRESET_SERVER, PRESET_CLIENT, PRESET_PROCESS, PRESET_SYSCALL, PRESET_EVENTS };
enum follow { FOLLOW_FLOW, FOLLOW_THREAD };
enum metric {
	METRIC_LATENCY,
	METRIC_CPU,
	METRIC_WAIT,
	METRIC_DISK_BYTES,
	METRIC_DISK_TIME,
	METRIC_NET_BYTES,
	METRIC_CALLS,
};

/* What `requests` and `diff` have. */
struct request_options {
	enum request_preset preset;
	bool preset_said;
	enum follow follow;
	enum metric metric;
	GPtrArray *picks;            /* owned strings: request_filter.h */
	struct event_filter *begin, *end; /* owned; PRESET_EVENTS */
	GPtrArray *captures;         /* owned strings: names that both capture, sorted; NULL */
	char *a, *b, *slow_fast;     /* owned; diff's sides: diff.h; NULL */
};

/* Other tools' formats: export/export.h. */
enum export_format {
	EXPORT_PERFETTO,
	EXPORT_TRACE_EVENT,
	EXPORT_FOLDED,
	EXPORT_SPEEDSCOPE,
	EXPORT_PPROF,
	EXPORT_CSV,
	EXPORT_SQLITE,
	EXPORT_CTF,
	EXPORT_NOT_SAID,
};
enum stacks { STACKS_OFF_CPU, STACKS_WAKER, STACKS_CRITICAL_PATH, STACKS_ON_CPU, STACKS_ALL };

/* What only `export` has. */
struct export_options {
	enum export_format as;
	enum stacks stacks;          /* folded, pprof */
	bool stacks_said;
	char *table;                 /* owned; csv: only this one; NULL: all */
	char *around;                /* owned; ctf: id of the finding to cut around; NULL */
};

/* What only `profile` has. */
struct profile_options {
	GPtrArray *operations;       /* owned strings: patterns; none: system calls */
	char *resource;              /* owned pattern; NULL: any */
	enum per per;
	uint32_t resolution;         /* buckets per factor of two; 0: not said */
	uint32_t peak;               /* 0: each */
	uint32_t maxcount_percentage;
	uint32_t min_operations;     /* fewer in a peak: too few */
	int64_t time_lapse;          /* ns, 0: none */
	char *save, *compare, *resume; /* owned; NULL */
	double threshold;            /* octaves */
	bool force;
};

enum function_metric { BY_WALL, BY_CPU, BY_BLOCKED, BY_INTERRUPTED };

/* What only `functions` has. */
struct function_options {
	char *function;              /* owned pattern; NULL: whole threads */
	enum function_metric metric;
	double threshold;            /* percent of the scope */
	bool timeline;
};

/* What only `serve` has. */
struct serve_options {
	uint32_t port;               /* 0: any that is free */
	char *listen;                /* owned; an address of this machine; NULL: 127.0.0.1 */
	GPtrArray *origins;          /* owned strings: whose pages may ask too */
	bool open;
};

/* What causes are sorted by: how much of the time they take, or what it would be worth if they were
 * gone. */
enum order { BY_SHARE, BY_WORTH };

/* An option as it was given. */
struct given {
	char *name, *value; /* owned */
};

struct command;
struct session;
struct lami_analysis;

/* An engine that a job is planned for; in the order of engines_known (engines/engines.h). */
enum batch_format { BATCH_BY_PLACE, BATCH_TEXT, BATCH_JSON };
enum batch_plan_engine { PLAN_NONE, PLAN_SLURM, PLAN_PARALLEL, PLAN_K8S };

/* What only `batch` has. */
struct batch_options {
	uint32_t jobs; /* 0: as many as there are cores */
	bool map, merge, follow;
	enum batch_format format; /* BATCH_BY_PLACE: text in a terminal, else JSON */
	enum batch_plan_engine plan;
	char *index, *merged, *expect; /* owned; files; NULL */
	char *pages, *tables; /* owned; directories; NULL */
};

struct options {
	const struct command *command; /* static; that is asked */
	/* static, NULL-ended; all there are, for those that speak of others or use them; NULL: none
	 * but this one */
	const struct command *const *commands;
	const struct lami_analysis *lami; /* static; its tables instead of a report: lami/lami.h;
					     NULL. The window is clipped to the trace then */
	GPtrArray *given; /* owned; struct given, in order: what suggestions repeat */
	char *trace; /* owned; the traces as the user named them, quoted for a shell;
			      NULL: not known */
	const char *finding; /* borrowed; id of the finding that is asked for, NULL: what it
					takes to find it again is recorded */
	struct batch_options batch;
	bool standard_input; /* what is named may come there: no trace need be */
	bool self; /* it is about the installation, not about a trace */
	struct event_filter *target; /* owned; NULL */
	bool assumed; /* threads or operations are what is taken where nobody asked */
	GPtrArray *threads; /* owned strings: TIDs, names, "all" */
	GPtrArray *processes; /* owned strings */
	char *host; /* owned; NULL: all */
	char *container; /* owned; NULL: all; a namespace, process or name */
	GPtrArray *guests; /* owned strings: HOST=PID|PROCESS, checked */
	GPtrArray *clock_offsets; /* owned strings: [HOST=]DURATION, checked */
	struct when from, to;
	struct event_filter *from_event, *to_event; /* owned; for WHEN_EVENT */
	enum format format;
	char *output; /* owned; NULL: standard output */
	char *kallsyms; /* owned; NULL: beside the trace */
	GPtrArray *binary_paths; /* owned strings: directories that exist */
	uint32_t limit; /* 0: all */
	uint32_t depth; /* 0: any */
	int64_t min_duration; /* ns */
	int64_t every; /* ns of trace time between reports, 0: one at the end */
	bool utc, quiet, verbose, strict, force;
	bool path; /* only the critical path, in full */
	bool full; /* the overview's long form, not only its first screen */
	bool no_pager, glossary;
	enum choice color, progress;
	bool progress_lines; /* on standard output, in LAMI's form */
	enum reader_choice reader;
	uint32_t jobs; /* threads that work at a time; 0: one for each processor */
	int64_t lead_in; /* ns before --from that are read event by event; INT64_MAX: all; -1: by
			    the trace's length */
	enum order order;
	GPtrArray *settings; /* owned strings: known settings, checked (settings/known.h) */
	GPtrArray *what_if; /* owned strings: rules, checked (rules/rules.h) */
	GPtrArray *limits; /* owned; struct limit (limits.h): --fail-if, --budget */
	char *junit; /* owned; file; NULL */
	bool anonymise;
	char *anonymise_key; /* owned; file; NULL */
	struct anonymiser *anonymiser; /* owned; made by options_check(); NULL: names
					  stay */
	char *cache; /* owned; directory, "off"; NULL: auto */
	struct profile_options profile;
	struct request_options requests;
	struct function_options functions;
	struct export_options export;
	struct serve_options serve;
	/* told now and then while a trace is read: how much of it, of 1 (0: not known); false: read
	 * no more. NULL: nobody */
	bool (*reading)(struct session *session, double done, void *data);
	void *reading_data; /* borrowed */
	const char *served; /* static; where the server is, from the page that is made, such as
			       "../"; NULL: the page is a file */
};

#endif
