/* SPDX-License-Identifier: MIT */
/* Recordings in groups by their settings, and what differs in cost between them; see
 * batch_settings.h. */
#ifndef WHYLATE_BATCH_BATCH_GROUPS_H
#define WHYLATE_BATCH_BATCH_GROUPS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "batch/batch_entries.h"

#define SETTINGS_HOST "host" /* kinds of what traces have without a file beside them, too */
#define SETTINGS_READ "read"

struct recording {
	char *trace; /* owned */
	struct trace_key key;
	json_t *said; /* owned reference; in the end, what its entry says of them */
	bool recorded; /* it has settings beside it */
	/* "KIND\tNAME" -> value, both one text for all recordings; but for those of `base`, … */
	GHashTable *own;  /* owned; … with a value of its own, or none (setting_none) */
	GHashTable *base; /* borrowed; of the first that has settings beside it; NULL: no other's */
	json_t *costs, *means; /* owned references; name -> ns; NULL */
	int64_t begin;
	double seconds;
};

/* `recordings` (struct recording *) in the order of their times: what differs, an array. `keys`
 * (texts, sorted): those that not all have the same value of. `tried`: becomes how many pairs of a
 * difference and a cost. `names`: … how many settings that are names. */
json_t *groups_differences(const GPtrArray *recordings, const GPtrArray *keys, guint *tried,
			   guint *names);

extern const char setting_none[];
/* What it has of a setting; NULL: nothing. */
const char *recording_value(const struct recording *recording, const char *key);
/* The recording could have it: what lies beside a trace only one that has that. */
bool recording_could_have(const struct recording *recording, const char *key);

#endif
