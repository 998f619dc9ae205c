/* SPDX-License-Identifier: MIT */
/* The words of tries that fail until somebody makes a difference (objects/tries.h).
 *
 * Place: waits/, under reasons.h.
 */
#ifndef WHYLATE_WAITS_TRY_REASONS_H
#define WHYLATE_WAITS_TRY_REASONS_H

#include "waits/wait.h"

/* struct reason_info */
char *try_label(const struct session *session, const struct wait *wait,
		const struct reason *reason);
char *try_lock_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason);
char *try_futex_label(const struct session *session, const struct wait *wait,
		      const struct reason *reason);

#endif
