/* SPDX-License-Identifier: MIT */
/* What processes have mapped, kept beside a trace with call stacks of user space: no event says
 * where a program was put, nor what a process had mapped before the recording began.
 *
 *   process  223  1790000000123456789              ◄── PID and when (ns, CLOCK_REALTIME), by tabs
 *   56302450c000-56302450d000 r--p 00000000 …      ◄── lines of /proc/223/maps: those of a file's
 *   56302450d000-56302450e000 r-xp 00001000 …          begin, and what can be run
 *
 * Place: record/. All processes are read when the recording begins, later those that are new, each
 * twice: at first sight one may still be what forked it, or be loading its libraries. Others are
 * not looked at again: that would cost what is being recorded its time. What comes and goes between
 * two looks is not in it. What reads it: samples/recorded_maps.h.
 */
#ifndef WHYLATE_RECORD_MAPS_H
#define WHYLATE_RECORD_MAPS_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

struct maps {
	const char *root; /* borrowed; of /proc, "" but in tests */
	FILE *file;       /* owned */
	GHashTable *known; /* owned; PID (owned string) -> how often it was read */
};

/* NULL: the file cannot be written. Reads all. */
struct maps *maps_begin(const char *root, const char *directory);
void maps_look(struct maps *maps);
void maps_end(struct maps *maps);

#endif
