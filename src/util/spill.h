/* SPDX-License-Identifier: MIT */
/* Where what does not fit into memory goes: unnamed temporary files.
 *
 * Part of util/, for the stores (pages.h) and the queue of events. A file has no name from the
 * begin, so that no way of ending leaves it behind. Room is taken before it is written to: a full
 * disk or a limit on the size of files is an error here, never a signal or a short write later.
 * Who gets an error goes on in memory; spill_trouble() is told to the user.
 */
#ifndef WHYLATE_UTIL_SPILL_H
#define WHYLATE_UTIL_SPILL_H

#include <stdbool.h>
#include <stdint.h>

/* The directory: $TMPDIR, else /tmp. */
const char *spill_place(void);

/* A new file, open for reading and writing; -1 and errno. */
int spill_open(void);
/* Takes room for `size` bytes from `offset` on, which read as zeros; 0 or an error number. */
int spill_reserve(int fd, uint64_t offset, uint64_t size);

/* Writes and reads back all of it; false and errno. */
bool spill_write(int fd, const void *bytes, uint64_t size, uint64_t offset);
bool spill_read(int fd, void *bytes, uint64_t size, uint64_t offset);

/* Why a file could not be had, the first time in this process; 0: never. */
int spill_trouble(void);

#endif
