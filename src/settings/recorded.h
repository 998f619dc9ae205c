/* SPDX-License-Identifier: MIT */
/* In which settings and inputs two traces differ, and what cost goes with each.
 *
 *   settings beside A ─┐                         ┌─ what it touches: a disk, a program, the CPUs …
 *   settings beside B ─┼─► values that differ ──►│
 *   files below /etc ──┘   (or one side has)     └─ what that cost in A and in B
 *
 * Part of settings/. `whylate record` keeps the file `settings` beside a trace (record/settings.h);
 * without it what the trace itself shows is compared: files below /etc that its processes opened or
 * looked for, by their programs. Two traces differ in many things at once: nothing here says that a
 * setting made the difference, only which cost differs along with it. Source: X-ray's differential
 * summaries (Attariyan, Chow, Flinn, OSDI 2012).
 */
#ifndef WHYLATE_SETTINGS_RECORDED_H
#define WHYLATE_SETTINGS_RECORDED_H

#include "report/columns.h"
#include "run/session.h"

/* Hands on what the file beside the trace says; false: there is none. */
bool settings_beside(const struct session *session,
		     void (*add)(GHashTable *table, const char *kind, const char *name,
				 const char *value),
		     GHashTable *table);

struct setting_difference {
	char *kind, *name;  /* owned */
	char *value[2];     /* owned; of A and B; NULL: not there */
	char *touches;      /* owned; "the disk vda", "postgres"; NULL: nothing that was seen */
	int64_t cost[2];    /* ns: what that took in A and in B */
};

struct settings_compared {
	bool recorded[2];  /* there is such a file beside it */
	GPtrArray *list;   /* owned; struct setting_difference, the largest difference first */
};

struct settings_compared *settings_compare(const struct session *a, const struct session *b);
void settings_compared_free(struct settings_compared *compared);

/* Of struct settings_compared; a member of diff's JSON. */
extern const struct column settings_columns[];
void settings_text(const struct settings_compared *compared, guint most, struct output *output);

#endif
