/* SPDX-License-Identifier: MIT */
/* Which function an operation was called from, where its event carries call stacks.
 *
 *   syscall_entry_read, user space's stack:     function vfs_read's entry, the kernel's stack:
 *   read (libc.so.6) ◄ load_theme ◄ main        vfs_read ◄ ksys_read ◄ …
 *                      ▲                                   ▲
 *                      user space's                        the kernel's
 *
 * Of a system call the first function of user space that is not the C library's, and by which
 * functions that was called, as what makes calls is often one function for all; of a function of
 * the kernel's also who called it there. Only the stack of the operation's own first event counts,
 * of a system call else of its last one: samples meanwhile are the more the longer it takes.
 *
 * Place: traits/, over samples/sample_stacks.h, which says what a stack tells and what not.
 */
#ifndef WHYLATE_TRAITS_CALLED_FROM_H
#define WHYLATE_TRAITS_CALLED_FROM_H

#include "latencies/operations.h"

/* Interned "load_theme()", of a file without names that file's: "app"; 0: not known. */
struct called_from {
	uint32_t user, kernel;
	uint32_t path; /* "main() > load_theme()", of user space; 0: there is one alone */
};
struct called_from called_from(const struct session *session, const struct operation *operation);

#endif
