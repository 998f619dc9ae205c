/* SPDX-License-Identifier: MIT */
/* The root causes of a peak (DARC): what the operations in it spent their
 * time on, part by part, down to what ended their waits.
 *
 * Place: latencies/, on profiles. For every operation whose latency lies in the
 * peak its time is split:
 *
 *   syscall:pwrite64                           the operation
 *   ├ working/syscall:pwrite64                 its own work, and loops
 *   ├ function:vfs_write                       called, where traced; the same inside
 *   ├ interrupted/vector:local_timer           each IRQ, vector, softIRQ
 *   │  └ hrtimer:tick_sched_timer
 *   ├ interrupted/preempted                    … interrupted/wait-cpu
 *   │  └ by:NAME                               who ran there meanwhile
 *   └ blocked/lock:/data                       what it waited for
 *      └ by:NAME                               who ended it, and what that did
 *         ├ working/syscall:pwrite64           meanwhile: the same again
 *         └ blocked/device:vda
 *            ├ queued
 *            └ served
 *               └ irq:25
 *
 * A request's parts are for:syscall:NAME, the call it was issued in, and by:NAME,
 * who issued it. A wait for CPU is split by who ran there, a wait by its end.
 *
 * Maxcount: of each operation, the parts in the same bucket as the largest
 * one gain one; so do, in each part, the parts of that. Parts within a
 * percentage of the highest maxcount among their siblings are roots, and a
 * chain of roots from the operation down is a root-cause path. A part that
 * occurs several times in an operation counts with its largest occurrence,
 * the rest goes to the caller ("it is the loop in the caller that is causing
 * the high latency"); preemptions and interrupts of one kind are summed, and
 * so is all that a waker did. The times shown (ns) are whole, always.
 *
 * Source: DARC, sections 3 (maxcount, ftree), 3.6 (preemptive behaviour), 3.7
 * (asynchronous paths), 6 (parameters).
 */
#ifndef WHYLATE_LATENCIES_ROOTS_H
#define WHYLATE_LATENCIES_ROOTS_H

#include "latencies/root_tree.h"
#include "latencies/profile.h"
#include "latencies/split.h"

/* Finds the root causes of the peaks asked for. */
void roots_search(struct profiles *profiles);
/* The same in two steps: the first tells which these are, the second may be beside whoever only
 * asks that. */
void roots_begin(struct profiles *profiles);
void roots_go_on(struct profiles *profiles);
/* Marks roots and lists the paths, from the maxcounts as they are. */
void roots_decide(struct peak *peak, const struct options *options);

/* The path that most of the peak's time went, part by part the one with most
 * of it: few operations may hold most of the time, where maxcount counts
 * operations. False if it is one of the roots, or less time than one of them.
 * What it points to is the peak's. */
bool roots_most_time(const struct peak *peak, struct root *found);

/* Of the operations of peaks that are `noted`: the stretches of threads' time that the parts with a
 * `thing` are made of, told to `note`; and each operation behind its own, told to `each`. After
 * roots_search(). */
typedef void roots_each(const struct operation *operation, const struct peak *peak, void *data);
void roots_note(struct profiles *profiles, split_noter *note, roots_each *each, void *data);
/* The part of which the root is all (true), or what is itself (false). */
struct part *root_whole(const struct root *root, bool *all);

/* Where it was largest; its latency is -1 if nothing shows it. */
static inline const struct example *root_example(const struct root *root)
{
	return root->own ? &root->part->own_example : &root->part->example;
}

/* The path's nodes, functions on the way included; free with g_ptr_array_free. */
GPtrArray *root_path(const struct root *root);
/* A path's element as people call it; free with g_free(). */
char *part_words(const char *node);
#endif
