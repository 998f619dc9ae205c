/* SPDX-License-Identifier: MIT */
/* What is to be said of guests and hosts where it is not known: another machine, another time, no
 * trace of one of them.
 *
 * Place: coverage/.
 */
#ifndef WHYLATE_COVERAGE_GUESTS_SAID_H
#define WHYLATE_COVERAGE_GUESTS_SAID_H

#include "run/session.h"

/* A sentence for each; strings to free. */
void guests_troubles(const struct session *session, GPtrArray *list);

#endif
