/* SPDX-License-Identifier: MIT */
/* How far one name is from another, for "did you mean" in errors. Part of util/. */
#ifndef WHYLATE_UTIL_DISTANCE_H
#define WHYLATE_UTIL_DISTANCE_H

/* How many letters must change, insertions and deletions included. */
unsigned text_distance(const char *a, const char *b);

#endif
