/* SPDX-License-Identifier: MIT */
/* Tries of any call that fails for what may be otherwise soon: no space, busy, too many.
 *
 *   T ── write = ENOSPC ──┤ naps ├── write = ENOSPC ──┤ naps ├── write = 4096 ──
 *
 * What is looked for, listened at, read or locked is in files of its own (path_tries.h,
 * peer_tries.h, locks/lock_tries.h), which know who makes the difference; here nobody does, but for
 * an address in use, of which somebody closes a listening socket, and a directory that is busy, of
 * which somebody closes a file, and a full disk, on which somebody removes a file (in the same
 * directory of the root; inferred: between the last failure and the success; of several processes
 * that do it is none).
 * A call that goes on failing explains no pause, as who looks once a second has a period: but where
 * something is short (processes, ports, descriptors), which nobody only looks for.
 *
 * Place: tries/, over tries.h. Errors: asm-generic/errno.h.
 */
#ifndef WHYLATE_TRIES_CALL_TRIES_H
#define WHYLATE_TRIES_CALL_TRIES_H

#include "model/files.h"
#include "tries/tries.h"

/* The thread closes `file`, or ends, and nobody else has it open: an address that was listened at
 * is free, and what is below a directory is not in use by that any more. */
void call_releases(struct flow *flow, uint32_t index, const struct open_file *file);
/* The thread has removed the file of that name (interned): there is room on its disk again. */
void call_frees_space(struct flow *flow, uint32_t index, uint32_t path);
/* Interned key of what the thread's call acts on: a name, an address, a descriptor; else "call:"
 * and its name. */
uint32_t call_object(struct flow *flow, struct thread *thread);
/* The call of the thread has ended with `ret`. */
void call_tried(struct flow *flow, uint32_t index, int64_t ret);

#endif
