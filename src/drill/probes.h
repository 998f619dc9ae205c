/* SPDX-License-Identifier: MIT */
/* What can be probed: functions of this kernel; programs with lttng-ust's hooks in them.
 *
 * Place: drill/. The kernel's own list of what ftrace can hook (available_filter_functions) has the
 * functions that it is safe and cheap to probe. Where it cannot be read (tracefs is not mounted,
 * nobody is root) kallsyms has all functions; what kprobes must not touch is left out by its
 * sections and by the kernel's own list (kprobes/blacklist), and the kernel refuses the rest. The
 * tracer's own functions are never probed: they run in each probe.
 */
#ifndef WHYLATE_DRILL_PROBES_H
#define WHYLATE_DRILL_PROBES_H

#include <glib.h>
#include <stdbool.h>

struct probes {
	GHashTable *functions; /* owned; names (owned); NULL: not known, all but the tracer's */
	GHashTable *hooked;    /* owned; path of a program -> GINT_TO_POINTER(has hooks) */
	bool runs_program; /* lttng-ust can be preloaded: a process that runs cannot be asked */
};

/* Of the kernel below `root` ("": this one's; tests have small ones). `kallsyms`: a copy of
 * another kernel's symbols, which then is the one; NULL. */
void probes_init(struct probes *probes, const char *root, const char *kallsyms);
void probes_clear(struct probes *probes);

/* As drill_known has them; `data`: struct probes. */
bool probes_can(const void *data, const char *function);
bool probes_has_calls(const void *data, const char *binary);

/* lttng-ust's library that makes events of the hooks; NULL: not installed. Free with g_free(). */
char *probes_library(void);

#endif
