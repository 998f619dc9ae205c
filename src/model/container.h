/* SPDX-License-Identifier: MIT */
/* Containers: which PID and cgroup namespaces a thread is in, and what its TID
 * and PID are there.
 *
 *   level 0   pid:[4026531836]  the host's: TIDs of all events
 *   level 1     pid:[4026532201]    a container: its TIDs begin at 1 again
 *   level 2       pid:[4026532305]    one inside it
 *
 * A thread is in one PID namespace all its life, and visible, with a TID of its
 * own, in each one around it. Its cgroup namespace may change: the newest counts.
 *
 * Place: model/. Almost every thread of almost every trace is in the host's
 * namespaces, so a thread has only the index of a `struct place`; threads of the
 * host share one, threads of containers have one each, with their ids.
 *
 * Source: pid_namespaces(7), cgroup_namespaces(7); lttng-events.md section 2.
 */
#ifndef WHYLATE_MODEL_CONTAINER_H
#define WHYLATE_MODEL_CONTAINER_H

#include "model/model.h"

/* The host's namespaces have fixed numbers (linux/proc_ns.h: PROC_PID_INIT_INO,
 * PROC_CGROUP_INIT_INO); all others are given from 0xF0000000 on. */
#define HOST_PID_NS UINT32_C(0xEFFFFFFC)
#define HOST_CGROUP_NS UINT32_C(0xEFFFFFFB)
#define MAX_PID_NS_LEVEL 32 /* linux/pid_namespace.h */

/* The thread's place, NULL: nothing is known. Valid until the next change. */
const struct place *thread_place(const struct model *model, const struct thread *thread);

/* The thread is visible in PID namespace `number`, its own or one around it;
 * `ids` (if not NULL): what it is there. */
bool thread_in_pid_ns(const struct model *model, const struct thread *thread, uint32_t number,
		      struct ids *ids);

/* What the thread is at `level`, 0 being the host's; false if it is not that deep. */
bool thread_ids_at(const struct model *model, const struct thread *thread, uint32_t level,
		   struct ids *ids);

/* What the thread is in its own, innermost PID namespace; in the host's what it is
 * everywhere. False if that is the host's, or not known. */
bool thread_inner_ids(const struct model *model, const struct thread *thread, struct ids *ids);

/* The newest thread that is `number` to `caller`, as arguments and results of system calls are:
 * TIDs of the caller's PID namespace. NO_THREAD: not known. */
uint32_t thread_by_number(const struct model *model, const struct thread *caller, int32_t number);
/* A call of `caller` has called thread `index`, its child, `number`. */
void thread_numbered(struct model *model, struct thread *caller, int32_t number, uint32_t index);

/* The PID namespace of that number on that host, NULL. */
const struct pid_ns *pid_ns_find(const struct model *model, uint32_t host, uint32_t number);

/* The thread has `ids` in the PID namespace of that number (0: not said) and
 * level. A statedump tells the innermost first, then those around it. */
void thread_set_ids(struct model *model, struct thread *thread, uint32_t level, uint32_t number,
		    struct ids ids);
/* Thread `index` is found by its numbers from now on; a number that it had is another's. */
void thread_index_ids(struct model *model, uint32_t index);
void thread_set_cgroup_ns(struct model *model, struct thread *thread, uint32_t number);

/* The child is where its parent is, with ids that are not known yet. */
void thread_share_place(struct model *model, struct thread *child, const struct thread *parent);

/* An exec by a thread that did not lead its process: it has the leader's ids. */
void thread_takes_lead(struct model *model, const struct thread *thread);

#endif
