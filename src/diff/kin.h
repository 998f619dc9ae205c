/* SPDX-License-Identifier: MIT */
/* Which thread of one run is which of another, by what they are: TIDs are others in each run.
 *
 *   A   bash ─┬─ ls            B   bash ─┬─ cat          bash = bash, cat = cat, kit = kit,
 *             ├─ cat                     └─ kit          the kit below = the kit below; ls is
 *             └─ kit ── kit                  └─ kit      only in A
 *
 * From those that nobody was seen to create down: the children of two that are one are matched
 * with each other, by their names first, then (processes) by their programs, then (the kernel's
 * threads, and a process's) by their names but for numbers. Equals are told apart by their program,
 * then by what they talk to, then by who was created before and after them, then by their order;
 * that TIDs are equal decides last. Whose parents are not one is matched in the end, by name, with
 * who has the most ancestors in common.
 *
 * Place: diff/, under thread_match.h, which says what is known of the threads of a trace.
 */
#ifndef WHYLATE_DIFF_KIN_H
#define WHYLATE_DIFF_KIN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "timeline/timeline.h"

/* What is known of a thread. Texts are borrowed, "" if not known. */
struct kin {
	uint32_t host;    /* the same number in both runs if it is the same host */
	const char *name; /* its last */
	const char *program;
	bool kernel, leads; /* its process */
	uint32_t parent;  /* place in its run, NO_THREAD: not seen */
	int64_t begin;
	int32_t tid;
	GArray *contacts; /* owned; uint32_t, sorted, each once: hashes of what it talks to; NULL */
};

/* `partner`: of each thread of `a` and of `b` its place in the other run, NO_THREAD: none. Those
 * that are set before stay, and their ancestors are matched up from them. */
struct kindred {
	const struct kin *of[2];
	guint count[2];
	uint32_t *partner[2];
};

/* A resource's key without the numbers that another run has not: "socket:10.0.0.1:*", "pipe:[*]";
 * free with g_free(). */
char *kin_lasting(const char *key);

void kin_match(const struct kindred *kindred);

#endif
