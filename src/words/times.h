/* SPDX-License-Identifier: MIT */
/* Times of one kind in a sentence: how often, how long each, how long in all.
 *
 *   slept 40 times, 10 to 30 ms each, 799.3 ms in all
 *
 * Part of words/. A wait of which several pieces are added one after the other counts once.
 */
#ifndef WHYLATE_WORDS_TIMES_H
#define WHYLATE_WORDS_TIMES_H

#include "timeline/timeline.h"

struct times {
	int64_t ns, shortest, longest;
	uint64_t count;
	const struct block *last; /* the wait of the piece before, NULL */
	int64_t current; /* … and so much of it is here */
};

/* Adds a piece, of a wait if `block` is not NULL. True: none was longer so far. */
bool times_add(struct times *times, int64_t ns, const struct block *block);
void times_merge(struct times *to, const struct times *from);

/* "7,138" */
const char *count_text(char buffer[32], uint64_t count);
/* " for 12.3 ms" */
void append_for(GString *text, int64_t ns);
/* "10 to 30 ms", "213 µs to 34 ms", "500 ms" */
void append_range(GString *text, int64_t least, int64_t most);
/* " 25 times, 1.0 to 2.0 ms each, 30.1 ms in all"; of one " 12.3 ms"; without `sum` not how long
 * in all. */
void append_times(GString *text, const struct times *times, bool sum);
/* " (the longest)", behind what was said of one of several; into brackets that say "inferred".
 * `part`: it is much less than the longest of those that were counted. */
void append_longest(GString *text, bool part);

#endif
