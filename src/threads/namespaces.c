/* SPDX-License-Identifier: MIT */
/* Namespaces of threads as the events tell them: the statedump, fork, exec,
 * unshare and setns, contexts.
 *
 *   statedump    process_pid_ns: one record per level, the innermost first;
 *                until 2.11 process_state itself comes once per level
 *   fork         the child's TID at every level, the host's first; since 2.7
 *   sched_switch contexts vtid, vpid, pid_ns, cgroup_ns are those of prev
 *
 * unshare(CLONE_NEWPID) and setns() to a PID namespace move only later children,
 * and the fork of those says where they are. No event says which cgroup namespace
 * a thread entered: it is not known from then on, until a context tells.
 *
 * Part of threads/. Source: lttng-events.md 1.1 and 2; pid_namespaces(7).
 */
#include "threads/namespaces.h"

#include <string.h>

#include "model/container.h"

#define NEW_CGROUP_NS INT64_C(0x02000000) /* linux/sched.h: CLONE_NEWCGROUP */
#define NEW_PID_NS INT64_C(0x20000000)    /* CLONE_NEWPID */

/* Its numbers in namespaces lead to it from now on. */
static void index_numbers(struct flow *flow, const struct thread *thread)
{
	uint32_t index = thread_find(flow, thread->host, thread->tid);

	if (index != IDMAP_NONE && flow_thread(flow, index) == thread)
		thread_index_ids(flow->model, index);
}

void dump_namespaces(struct flow *flow, const struct event *event)
{
	struct thread *thread;

	if (event->process.tid <= 0 ||
	    (event->kind != EV_STATEDUMP_CGROUP_NS && event->process.level < 0))
		return;
	thread = flow_thread(flow, thread_findnew(flow, event->host, event->process.tid, NULL));
	if (event->kind == EV_STATEDUMP_CGROUP_NS)
		thread_set_cgroup_ns(flow->model, thread, event->process.ns);
	else
		thread_set_ids(flow->model, thread, (uint32_t) event->process.level,
			       event->process.ns,
			       (struct ids) {event->process.vtid, event->process.vpid});
	index_numbers(flow, thread);
}

static int32_t vtid_at(const struct event *event, uint32_t level)
{
	int64_t value;

	memcpy(&value, event->fork.vtids.bytes + level * sizeof value, sizeof value);
	return (int32_t) value;
}

/* The child at `level`; a thread has its PID of the process that made it. */
static struct ids ids_by_fork(struct flow *flow, const struct thread *child,
			      const struct thread *parent, const struct event *event,
			      uint32_t level)
{
	struct ids ids = {vtid_at(event, level), 0}, in_parent;

	if (child->pid == child->tid)
		ids.pid = ids.tid;
	else if (parent && thread_ids_at(flow->model, parent, level, &in_parent))
		ids.pid = in_parent.pid;
	return ids;
}

/* The numbers of its own namespace and, where that is new or its parent's, of the
 * one around it are known; of others if they were seen before. */
static void place_by_fork(struct flow *flow, struct thread *child, const struct thread *parent,
			  const struct event *event)
{
	struct model *model = flow->model;
	const struct place *place = parent ? thread_place(model, parent) : NULL;
	uint32_t around = place ? place->pid_ns : event->fork.parent_ns;
	uint32_t level = event->fork.vtids.count / sizeof(int64_t) - 1;
	bool inside = level > 0 && place && place->level == level - 1;

	for (uint32_t i = level + 1; i-- > 0;)
		thread_set_ids(model, child, i,
			       i == level                 ? event->fork.child_ns
			       : i == level - 1 && inside ? around
							  : 0,
			       ids_by_fork(flow, child, parent, event, i));
}

/* What the fork event says beyond what the child has of its parent. */
void fork_namespaces(struct flow *flow, struct thread *child, struct thread *parent,
		     const struct event *event)
{
	uint32_t levels = event->fork.vtids.count / sizeof(int64_t);
	const struct place *place = thread_place(flow->model, child);

	if (!levels || levels > MAX_PID_NS_LEVEL + 1)
		return;
	if (parent && !parent->place && event->fork.parent_ns == event->fork.child_ns)
		thread_set_ids(flow->model, parent, levels - 1, event->fork.parent_ns,
			       (struct ids) {0, 0});
	if (place && levels == 1 && place->level == 0 && place->pid_ns == event->fork.child_ns)
		return; /* of the host, like its parent: nearly always */
	place_by_fork(flow, child, parent, event);
	index_numbers(flow, child);
}

/* Before the fork's own record: the parent's namespaces, but those that the call
 * makes anew. `flags` of clone, -1: not known (clone3 has them in memory). */
void inherit_namespaces(struct flow *flow, struct thread *child, const struct thread *parent,
			int64_t flags)
{
	bool new_pid_ns = flags != -1 && (flags & NEW_PID_NS);

	if (!parent->place)
		return;
	if (!new_pid_ns)
		thread_share_place(flow->model, child, parent);
	else
		thread_set_cgroup_ns(flow->model, child,
				     thread_place(flow->model, parent)->cgroup_ns);
	if (flags != -1 && (flags & NEW_CGROUP_NS))
		thread_set_cgroup_ns(flow->model, child, 0);
}

/* unshare(flags) or setns(fd, flags) succeeded; setns with 0 takes what the
 * descriptor is of. */
void namespaces_changed(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;

	if ((call->flags == 0 && call->fd >= 0) || (call->flags & NEW_CGROUP_NS))
		if (thread->place)
			thread_set_cgroup_ns(flow->model, thread, 0);
}

/* The contexts of a switch are prev's. A thread that is exiting has no ids. */
void context_namespaces(struct flow *flow, struct thread *thread, const struct event *event)
{
	const struct place *place = thread_place(flow->model, thread);
	uint32_t pid_ns = event->sched_switch.pid_ns, cgroup_ns = event->sched_switch.cgroup_ns;
	struct ids ids = {event->sched_switch.vtid, event->sched_switch.vpid}, known;
	const struct pid_ns *found;
	uint32_t level;

	if (cgroup_ns && (!place || place->cgroup_ns != cgroup_ns)) {
		thread_set_cgroup_ns(flow->model, thread, cgroup_ns);
		place = thread_place(flow->model, thread);
	}
	thread_inner_ids(flow->model, thread, &known);
	if (place && place->pid_ns && (place->level == 0 || (known.tid && known.pid)))
		return;
	if (!ids.tid || (!pid_ns && ids.tid == thread->tid))
		return; /* exiting; or perhaps the host's */
	found = pid_ns_find(flow->model, thread->host, pid_ns ? pid_ns : place ? place->pid_ns : 0);
	level = found                   ? found->level
		: pid_ns == HOST_PID_NS ? 0
		: place && place->level ? place->level
					: 1; /* most are not nested */
	thread_set_ids(flow->model, thread, level, found ? found->number : pid_ns, ids);
	index_numbers(flow, thread);
}
