/* SPDX-License-Identifier: MIT */
/* What a setting touches, and what that cost in a trace: a disk, the CPUs, the network, memory, a
 * program.
 *
 * Part of settings/ (recorded.h). The costs are times of threads of user space in the window:
 * waits for the disk; ready without a CPU; waits for peers and packets; the program's own time,
 * at work or waiting, but for what it spent at leisure (waits/idle.h) or asleep.
 */
#ifndef WHYLATE_SETTINGS_COSTS_TOUCHED_H
#define WHYLATE_SETTINGS_COSTS_TOUCHED_H

#include "run/session.h"

struct touched;

struct touched *touched_new(const struct session *session);
void touched_free(struct touched *touched);

/* The files below /etc that processes opened or looked for: `add` with the programs. */
void touched_each_file(const struct touched *touched, GHashTable *table, const char *kind,
		       void (*add)(GHashTable *table, const char *kind, const char *name,
				   const char *value));

/* "the disk vda", "CPUs", "postgres"; NULL: nothing that this trace has. Free with g_free(). */
char *touched_what(const struct touched *touched, const char *kind, const char *name);
/* ns of that, by its name. */
int64_t touched_cost(const struct touched *touched, const char *what);

#endif
