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
#include <stddef.h>
#include <stdint.h>

/* The directory: $TMPDIR, else /tmp. */
const char *spill_place(void);

/* A new file, open for reading and writing; -1 and errno. */
int spill_open(void);
/* Takes room for `size` bytes from `offset` on, which read as zeros; 0 or an error number. */
int spill_reserve(int fd, uint64_t offset, uint64_t size);

/* What is to be mapped is written in pieces: what is written at once may lie in one folio of the
 * page cache, and one fault bring in all of that (Linux 6.18), which resident memory has no room
 * for. */
#define SPILL_PIECE ((size_t) 64 << 10)

/* Writes and reads back all of it; false and errno. */
bool spill_write(int fd, const void *bytes, uint64_t size, uint64_t offset);
bool spill_read(int fd, void *bytes, uint64_t size, uint64_t offset);

/* Memory, all zeros, that can leave memory: a temporary file's from so many bytes on. */
#define SPILL_BLOCK_LEAST ((size_t) 8 << 20)
struct spill_block {
	void *bytes;
	size_t size; /* of the file's mapping, 0: it is none */
};
void spill_block_make(struct spill_block *block, size_t size);
void spill_block_let_go(const struct spill_block *block);
void spill_block_clear(struct spill_block *block);

/* Why a file could not be had, the first time in this process; 0: never. */
int spill_trouble(void);

#endif
