/* SPDX-License-Identifier: MIT */
/* What a setting touches, and what that cost in a trace: a disk, the CPUs, the network, memory, a
 * program.
 *
 * Part of settings/ (recorded.h). The costs are times of threads of user space in the window:
 * waits for the disk; ready without a CPU; waits for peers and packets; the program's own time,
 * at work or waiting, but for what it spent at leisure (waits/idle.h) or asleep. A file that
 * nobody opened meanwhile is taken to be the program's whose name is in its path:
 * /etc/redis/a.conf, redis-server.
 */
#ifndef WHYLATE_SETTINGS_COSTS_TOUCHED_H
#define WHYLATE_SETTINGS_COSTS_TOUCHED_H

#include "run/session.h"

struct touched;

#define TOUCHED_ALL "all programs" /* what is of none in particular */

struct touched *touched_new(const struct session *session);
/* Of several traces, from what was told of each. */
struct touched *touched_empty(void);
void touched_add_cost(struct touched *touched, const char *name, int64_t ns);
void touched_add_file(struct touched *touched, const char *path, const char *programs);
void touched_free(struct touched *touched);

/* The files below /etc that processes opened or looked for: `add` with the programs. */
void touched_each_file(const struct touched *touched, GHashTable *table, const char *kind,
		       void (*add)(GHashTable *table, const char *kind, const char *name,
				   const char *value));

void touched_each_cost(const struct touched *touched,
		       void (*each)(void *data, const char *name, int64_t ns), void *data);

/* "the disk vda", "CPUs", "postgres"; NULL: nothing that this trace has. Free with g_free(). */
char *touched_what(const struct touched *touched, const char *kind, const char *name);
/* It is about what may be met or not, as a disk's queue; else about anything, as the kernel. */
bool touched_is_special(const char *kind, const char *name);
/* That name as the table has it; NULL: it was not met. */
const char *touched_name(const struct touched *touched, const char *what);
/* ns of that, by its name. */
int64_t touched_cost(const struct touched *touched, const char *what);

#endif
