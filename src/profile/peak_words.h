/* SPDX-License-Identifier: MIT */
/* What the operations of a peak spent their time on, as a person would say it.
 *
 *   blocked on socket > by:db > blocked on device:vda > served
 *   they waited for db, which waited for the disk vda
 *
 * Part of profile/. The path itself stands below, in the peak's root causes.
 */
#ifndef WHYLATE_PROFILE_PEAK_WORDS_H
#define WHYLATE_PROFILE_PEAK_WORDS_H

#include "latencies/root_tree.h"
#include "latencies/profile.h"

/* "waited for nginx, which waited for app, which ran its own code": down to `last`, of the peak's
 * operations. */
void append_way(GString *text, const struct peak *peak, const struct part *last);

#endif
