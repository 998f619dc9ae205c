/* SPDX-License-Identifier: MIT */
/* What system calls return: the names that C has for errors, and what 0 means.
 *
 * Place: event/. Numbers are Linux's, as most architectures have them (asm-generic/errno.h).
 */
#ifndef WHYLATE_EVENT_RESULTS_H
#define WHYLATE_EVENT_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

/* "ENOENT" for -2; NULL: no error that is known. */
const char *result_name(int64_t result);
/* -2 for "ENOENT" and "-ENOENT"; false: no such name. */
bool result_number(const char *name, int64_t *result);
/* ENETUNREACH, EHOSTDOWN, EHOSTUNREACH. */
bool result_is_unreachable(int64_t result);
/* "no more entries" for 0 of getdents64; NULL: nothing that goes without saying. */
const char *result_meaning(const char *call, int64_t result);
/* What an error of a call tells of the machine that it was made on, whoever made it. */
enum result_trouble {
	TROUBLE_NONE,   /* part of a healthy life, or of who asks what there is */
	TROUBLE_DENIED, /* may be one: not allowed, in use, nobody reads that pipe any more */
	TROUBLE_PEER,   /* a connection: refused, reset, not answered, no way there */
	TROUBLE_SHORT,  /* something is full, used up or broken */
};
enum result_trouble result_trouble(const char *call, int64_t result);
/* What there is no more of: "no space left" for -28 of write, "no more processes allowed: pids.max
 * or RLIMIT_NPROC" for -11 of clone. NULL: the error's name says as much. Source: the calls' manual
 * pages, ERRORS. */
const char *result_limit(const char *call, int64_t result);

#endif
