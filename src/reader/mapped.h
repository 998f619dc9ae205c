/* SPDX-License-Identifier: MIT */
/* Files mapped for reading, of which bytes may go away while they are read.
 *
 * Place: reader/, below packets.h. A trace may be cut, overwritten or removed under its reader,
 * and disks and servers fail: to touch a mapped page that is then not there is SIGBUS (mmap(2)).
 * While any file is mapped a handler is installed that lays zeros over such a page, notes it, and
 * lets the reading go on; who reads asks afterwards whether what was read was there. SIGBUS from
 * anywhere else does what it did before. Any thread may read.
 *
 * Rejected: to jump out of the handler, which the code that reads would have to be written for.
 */
#ifndef WHYLATE_READER_MAPPED_H
#define WHYLATE_READER_MAPPED_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mapped;

/* Some page, of any file, was laid over with zeros; hardly ever. */
extern atomic_bool mapped_faulted;

/* Maps a file of any length for reading; NULL and errno. */
struct mapped *mapped_new(const char *path);
/* No thread reads it any more. */
void mapped_free(struct mapped *mapped);

/* NULL: empty. */
const uint8_t *mapped_bytes(const struct mapped *mapped);
uint64_t mapped_length(const struct mapped *mapped);

/* Opens it once more, for reading; -1: it cannot be, or there is another one of that name. */
int mapped_open(const struct mapped *mapped, const char *path);

/* How long the file is now; as it was, if there is another one of that name, or none. */
uint64_t mapped_size_now(const struct mapped *mapped, const char *path);

/* Some of the bytes [from, to), read before, were not there: what was read is no good. */
bool mapped_gone_slowly(const struct mapped *mapped, uint64_t from, uint64_t to);
static inline bool mapped_gone(const struct mapped *mapped, uint64_t from, uint64_t to)
{
	return G_UNLIKELY(atomic_load_explicit(&mapped_faulted, memory_order_relaxed)) &&
	       mapped_gone_slowly(mapped, from, to);
}

/* The first byte from `at` on that is not known to be gone, at most its length. */
uint64_t mapped_behind_gone(const struct mapped *mapped, uint64_t at);

#endif
