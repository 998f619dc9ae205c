/* SPDX-License-Identifier: MIT */
/* What the reasons say that disk/ finds: requests that were kept back.
 *
 * Place: waits/, under reasons.c, whose table names them.
 */
#ifndef WHYLATE_WAITS_DISK_REASONS_H
#define WHYLATE_WAITS_DISK_REASONS_H

#include "waits/wait.h"

char *io_limit_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason);
char *device_holds_label(const struct session *session, const struct wait *wait,
			 const struct reason *reason);
char *flush_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason);
char *dirty_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason);

#endif
