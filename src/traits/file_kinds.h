/* SPDX-License-Identifier: MIT */
/* What kind of file an object is, where its name or what was done with it shows that.
 *
 *   /proc/…, /sys/…, /dev/…      by name; below /dev/shm, /dev/mqueue and /dev/hugepages are files
 *   getdents64(), fchdir()       succeed on a directory alone
 *   pread64(), ftruncate() …     succeed on a regular file, never on a pipe or a directory
 *
 * Of any other file it is not known: open(), read() and write() look the same of a named pipe, and
 * lseek() of a directory. Pipes, sockets and the like are called so in the object itself.
 *
 * Place: traits/. Source: getdents(2), pread(2), ftruncate(2), fallocate(2), open(2).
 */
#ifndef WHYLATE_TRAITS_FILE_KINDS_H
#define WHYLATE_TRAITS_FILE_KINDS_H

#include "latencies/operation_fields.h"

struct file_kinds;
struct file_kinds *file_kinds_new(const struct session *session);
void file_kinds_free(struct file_kinds *kinds);

/* For each operation of the store, in a pass before anybody asks. */
void file_kinds_meet(struct file_kinds *kinds, uint32_t operation);
/* Interned: "regular file", "directory", "device", "proc", "sys"; 0: not known, or no file. */
uint32_t file_kind(const struct file_kinds *kinds, uint32_t object);

#endif
