/* SPDX-License-Identifier: MIT */
/* What a thread did that a known setting may have asked for.
 *
 * Part of settings/ (configuration.h), which says when that counts.
 */
#ifndef WHYLATE_SETTINGS_DOINGS_H
#define WHYLATE_SETTINGS_DOINGS_H

#include "settings/known.h"

struct doing {
	int64_t begin, end;
	const struct known_setting *known; /* borrowed */
	uint32_t call;   /* interned */
	uint32_t object; /* interned key, 0 */
	bool first;      /* since the thread waited for what is `between`; without that, always */
};

/* struct doing by begin; empty where names are replaced, as none would fit. */
GArray *doings_new(const struct session *session, uint32_t thread, int64_t from, int64_t to);

#endif
