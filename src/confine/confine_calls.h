/* SPDX-License-Identifier: MIT */
/* Which system calls this process can make: a seccomp filter; see confine.h.
 *
 * Three answers: what the set needs is allowed; what libraries try and do without is refused, as a
 * kernel would that lacks it; all else that libseccomp knows ends the process at once (SIGSYS).
 * What it does not know is newer than it, and is refused with ENOSYS: C libraries of tomorrow have
 * an older call to fall back to.
 */
#ifndef WHYLATE_CONFINE_CALLS_H
#define WHYLATE_CONFINE_CALLS_H

#include <stdbool.h>

#include "confine/sets.h"

/* This kernel has filters. */
bool calls_offered(void);
/* False: it could not be, and nothing has changed. The process must have no new privileges. */
bool calls_confine(enum confine_set set);

#endif
