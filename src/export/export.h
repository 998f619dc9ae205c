/* SPDX-License-Identifier: MIT */
/* Exports: what the session knows of threads, in the formats of other tools.
 *
 * Place: export/. One file a format, all over the walk of export/export_walk.h:
 *
 *   perfetto, trace-event   timelines           export_perfetto.c, export_trace_event.c
 *   speedscope              flame charts        export_speedscope.c
 *   folded, pprof           sums of stacks      export_folded.c, export_pprof.c, over
 *                                               export_stacks.h
 *   csv, sqlite             tables              export_csv.c, export_sqlite.c, over
 *                                               export_tables.h
 *
 * The format ctf is no walk: it cuts the trace itself (cli/cut.c).
 * Words that people see (names of states) are the same in all of them.
 */
#ifndef WHYLATE_EXPORT_EXPORT_H
#define WHYLATE_EXPORT_EXPORT_H

#include "export/export_walk.h"
#include "report/output.h"

/* Writes it where the options say. False without an error: interrupted. */
bool export_write(const struct session *session, GError **error);

void export_perfetto(struct walk *walk, FILE *file);
void export_trace_event(struct walk *walk, FILE *file);
void export_speedscope(struct walk *walk, FILE *file);
void export_folded(struct walk *walk, FILE *file);
bool export_pprof(struct walk *walk, FILE *file, GError **error);
void export_csv_table(struct walk *walk, const char *table, FILE *file);
bool export_csv_all(struct walk *walk, const char *directory, GError **error);
bool export_sqlite(struct walk *walk, FILE *file, GError **error);

/* What a state is called: "Working", "Blocked: pipe:#3", "Ready: preempted", "IRQ 25 [eth0]".
 * An interned string. */
struct state_names {
	const struct session *session; /* borrowed */
	GHashTable *names; /* owned; leaf, and what was waited for -> interned name */
};
void state_names_init(struct state_names *names, const struct session *session);
void state_names_clear(struct state_names *names);
uint32_t state_name(struct state_names *names, const struct walk_state *state);

/* Its kind, for colours: "running", "ready", "interrupted", "blocked", "unknown". */
const char *state_category(const struct walk_state *state);
/* Of the runs of a CPU: an interned "stage-a (225)", "idle". */
const char *run_name(const struct session *session, uint32_t thread);
/* What woke: "irq:25", "softirq:3", "syscall:write", "thread", "unknown"; g_free() it. */
char *wake_context(const struct session *session, const struct block *block);

/* A JSON string, with its quotes. */
void export_json_text(FILE *file, const char *text);

#endif
