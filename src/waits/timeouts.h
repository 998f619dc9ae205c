/* SPDX-License-Identifier: MIT */
/* The words of waits that the waiter's own time limit ended, though they were for somebody.
 *
 * Part of waits/, for the table in reasons.c.
 */
#ifndef WHYLATE_WAITS_TIMEOUTS_H
#define WHYLATE_WAITS_TIMEOUTS_H

#include "waits/wait.h"

char *unanswered_label(const struct session *session, const struct wait *wait,
		       const struct reason *reason);
char *unconnected_label(const struct session *session, const struct wait *wait,
			const struct reason *reason);
char *unended_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason);

#endif
