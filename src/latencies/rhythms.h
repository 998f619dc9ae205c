/* SPDX-License-Identifier: MIT */
/* When a peak's operations happen: every so often, or soon after what other threads do.
 *
 * Place: latencies/, on profiles; the tests are rhythm.h's. Slow are the operations of a peak that
 * is not the one with most of them. The others' operations are all that were recorded, by name
 * of thread and what they did: each of them, and the first of each cluster. Of a whole report at
 * most one in a hundred says anything where slow ones happen by chance: that is shared among the
 * peaks that are looked at.
 */
#ifndef WHYLATE_LATENCIES_RHYTHMS_H
#define WHYLATE_LATENCIES_RHYTHMS_H

#include "latencies/profile.h"
#include "latencies/rhythm.h"

/* Sets `rhythm` of the peaks that have one. Call after roots_search(). */
void rhythms_search(struct profiles *profiles);

#endif
