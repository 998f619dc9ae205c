/* SPDX-License-Identifier: MIT */
/* Marks: of each thread the time in which something holds that its states do not tell: it had a
 * lock, or was in a function.
 *
 *   states  ├── working/user ─────────────┤ blocked ├──
 *   marks           ├───────────────────────┤            cuts the first one, and what begins in it
 *                                                        off the CPU is in it
 *
 * Part of rules/. Source: semantics.md, "What if".
 */
#ifndef WHYLATE_RULES_MARKS_H
#define WHYLATE_RULES_MARKS_H

#include "run/session.h"

struct marks;

/* The time in which threads held a lock whose key (file:PATH, futex:ADDR) the pattern fits; as far
 * as it is known, within the window. */
struct marks *marks_of_locks(const struct session *session, const char *pattern);
/* … in which they were in a call that the pattern fits: a function of user space or of the kernel
 * by its name, a system call as syscall:NAME. Of a function that no traced call was of, by samples:
 * one is of what ran since the one before in that stretch of work, or to its end if it is the last;
 * of a stretch without samples so much is marked, from its begin, as the function's share of all
 * samples in such stretches of the thread is. */
struct marks *marks_of_calls(const struct session *session, const char *pattern);
void marks_free(struct marks *marks);

/* Of some thread there is a mark. */
bool marks_any(const struct marks *marks);
/* `thread` is in a mark at `time`; `until`: when that changes, INT64_MAX. */
bool marks_at(const struct marks *marks, uint32_t thread, int64_t time, int64_t *until);

#endif
