/* SPDX-License-Identifier: MIT */
/* A trace.dat of what an instance recorded, as trace-cmd writes them (version 6).
 *
 * Place: tracefs/, on top of rings.h. Written here, by the format that trace-cmd.dat.v6(5) fixes,
 * and neither by the trace-cmd program nor with its library: libtracecmd offers nothing that
 * writes, and of the program every recorded machine would need a package, its recorders are
 * processes that outlive whoever killed them, and it can neither write a ring out and go on nor
 * say what it did to tracefs.
 *
 * Formats of the events that were recorded are in it, no others; no symbols (kallsyms is beside
 * it), and each CPU's statistics, which say what was lost.
 */
#ifndef WHYLATE_TRACEFS_TRACE_DAT_H
#define WHYLATE_TRACEFS_TRACE_DAT_H

#include "tracefs/rings.h"

/* Room on the disk, which may get full meanwhile: for the begin of one, and for what the rings hold
 * in the end, which must not be taken before. */
void trace_dat_reserve(const char *path);
void trace_dat_release(const char *path);
/* Of what rings_finish() has put into files. `instance`: below `root`. */
bool trace_dat_write(const char *root, const char *instance, const struct rings *rings,
		     const char *path, GError **error);

#endif
