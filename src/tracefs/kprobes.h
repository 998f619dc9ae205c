/* SPDX-License-Identifier: MIT */
/* What system calls point to: file names and addresses, by probes of the kernel's functions.
 *
 *   raw_syscalls:sys_enter   openat, args: -100, 7ffd10c0, …
 *   whylate_77:file_name     name="/etc/hostname"          ◄── of the call that the thread is in
 *
 * Place: tracefs/. The kernel's own events tell pointers only. A probe (kprobe event) sits where
 * the kernel has copied what they point to: what it reads is there, while the program's own page
 * may not be. It is global, but recorded only where it is enabled. Source:
 * Documentation/trace/kprobetrace.rst.
 */
#ifndef WHYLATE_TRACEFS_KPROBES_H
#define WHYLATE_TRACEFS_KPROBES_H

#include <glib.h>

#define PROBES_FILE "kprobe_events"

/* What is written to PROBES_FILE for each probe that the kernel below `root` can have, in the
 * group of that name; free with g_ptr_array_unref(). Empty: none. `symbols`: the text of kallsyms,
 * `machine`: uname's. */
GPtrArray *probes_of(const char *root, const char *group, const char *symbols, const char *machine);
/* "GROUP/NAME" of such a line; free with g_free(). */
char *probe_name(const char *line);

#endif
