/* SPDX-License-Identifier: MIT */
/* Which settings and inputs differ between many recordings, and what cost goes with each.
 *
 *   recording   redis.conf   swappiness   host      redis-server took, of each second
 *   1           A            60           alpha     812 ms
 *   2           B            60           alpha      12 ms
 *   3           A            10           alpha     790 ms        A: 801 ms, B: 12 ms, parted
 *   4           B            10           alpha      13 ms  ──►   beyond chance: goes with it
 *
 * Place: batch/. A trace's line has what its settings are (settings/recorded.h), which files below
 * /etc its processes opened, and what it cost (settings/costs_touched.h; with --operation the means
 * of those). Settings that part the recordings in the same way are one difference: which of them it
 * is, such recordings cannot tell. Each difference is tried once for each cost that its settings
 * touch: medians of the groups, of each second recorded, and whether their ranks are parted beyond
 * chance (apart/groups.h), after Holm's correction for all that was tried. Ranked by the time by
 * which the medians differ, never by p. A setting that nearly each recording has its own value of
 * is a name, and not tried.
 *
 * A sum has for each trace only what not all have in common, so that sums can be added up again.
 * Of more than SETTINGS_MOST recordings it is a sample: those whose keys are lowest, which is
 * chance, and the same whatever the order and grouping.
 *
 * Rejected: sums of time in place of those of each second: a longer recording would seem dear.
 */
#ifndef WHYLATE_BATCH_BATCH_SETTINGS_H
#define WHYLATE_BATCH_BATCH_SETTINGS_H

#include <jansson.h>

#include "batch/batch_entries.h"
#include "latencies/profile.h"
#include "report/output.h"

/* Member "settings" of a trace's line; nothing where names are replaced. */
void line_settings_write(const struct session *session, const struct profiles *profiles,
			 struct output *output);

#define SETTINGS_MOST 2000 /* recordings */

struct batch_settings;

struct batch_settings *batch_settings_new(void);
void batch_settings_free(struct batch_settings *settings);
/* Of a trace's line, or of one in a sum; `of`: what it has; `common`: what all those of that sum
 * have, or NULL. */
void batch_settings_add(struct batch_settings *settings, const char *trace,
			const struct trace_key *key, const json_t *window, const json_t *of,
			const json_t *common);
/* A new reference, NULL if no trace has any. */
json_t *batch_settings_sum(struct batch_settings *settings);
/* After that: what the entry of a trace has besides what is common; borrowed, NULL: nothing. */
json_t *batch_settings_own(const struct batch_settings *settings, const struct trace_key *key);
/* … the values of it that at most a tenth of all have, three at most: a new reference. */
json_t *batch_settings_rare(const struct batch_settings *settings, const struct trace_key *key);

#endif
