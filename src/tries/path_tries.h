/* SPDX-License-Identifier: MIT */
/* Tries of files: not there yet, or still in the way; and who made or removed them.
 *
 *   stat, access, open = ENOENT … = 0       until somebody made it: open with O_CREAT, mkdir,
 *                                           link, symlink, rename to it
 *   open with O_EXCL, mkdir, link = EEXIST … = 0, and
 *   stat, access = 0 … = ENOENT             until somebody removed it: unlink, rmdir, rename;
 *                                           who had made it had it from then on
 *
 * A name is known by its last part; relative ones fit the absolute ones that end so.
 * Who goes on looking after it has got what it looked for only looks now and then: its
 * pauses are its own.
 *
 * Place: tries/, over tries.h.
 */
#ifndef WHYLATE_TRIES_PATH_TRIES_H
#define WHYLATE_TRIES_PATH_TRIES_H

#include "tries/tries.h"

/* A call on a file's name has ended with `ret`. */
void path_call_ended(struct flow *flow, uint32_t index, int64_t ret);
/* A socket (of the family of files) got a name of its own: perhaps that of a file. */
void path_socket_bound(struct flow *flow, uint32_t index);
void path_makers_clear(struct flow *flow);
void path_makers_forget(struct flow *flow, int64_t before);

#endif
