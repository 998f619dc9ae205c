/* SPDX-License-Identifier: MIT */
/* Names that people see, which are the same in all formats: of states, of who ran, of what woke.
 *
 * Place: export/, between the walk and the formats.
 */
#ifndef WHYLATE_EXPORT_EXPORT_NAMES_H
#define WHYLATE_EXPORT_EXPORT_NAMES_H

#include <stdio.h>

#include "export/export_walk.h"

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
/* The same as a text; free with g_free(). */
char *export_json_quoted(const char *text);

#endif
