/* SPDX-License-Identifier: MIT */
/* Functions of which only the entries were recorded: how often, and how far apart.
 *
 *   probe on parse    ▼          ▼     ▼                 4 entries; to the next one 20, 12, 31 ms
 *                     ├── 20 ms ─┼─ 12 ┼──── 31 ms ───▼
 *
 * Place: calls/, behind `whylate functions`. A uprobe or kprobe event ({ ip } alone: kinds.c) tells
 * when a function began, of its end nothing: LTTng 2.13 has no return probes in user space. From
 * one entry to the thread's next of the same function is a bound of what a call can have taken,
 * unless it calls itself; how much of that it ran, samples tell. So these are no calls of the tree.
 * Rejected: to take the next entry of anything as the end (what it calls is entered too).
 */
#ifndef WHYLATE_CALLS_REACHES_H
#define WHYLATE_CALLS_REACHES_H

#include "calls/call_tree.h"

struct reached {
	uint32_t root; /* node: by which threads */
	uint32_t what;
	uint64_t count;
	int64_t first, last;
	int64_t shortest, median, longest; /* ns to the same thread's next; 0: there is none */
};

/* Of the threads of the tree in its scope: struct reached, most entries first. */
GArray *reaches_new(const struct call_tree *tree);
/* Its name, demangled; free with g_free(). */
char *reached_text(const struct session *session, uint32_t what);

#endif
