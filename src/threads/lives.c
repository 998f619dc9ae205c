/* SPDX-License-Identifier: MIT */
/* Thread lives: fork, exec, and what is freed in the end.
 *
 * Part of threads/. Source: semantics.md, "Who".
 */
#include "threads/lives.h"

#include <sched.h>
#include <string.h>

#include "model/files.h"
#include "objects/calls.h"
#include "objects/mappings.h"
#include "threads/namespaces.h"
#include "threads/states.h"
#include "threads/user.h"
#include "model/container.h"

static bool is_fork_call(struct flow *flow, uint32_t name)
{
	const char *text = intern_text(flow->names, name);

	return strcmp(text, "clone") == 0 || strcmp(text, "clone3") == 0 ||
	       strcmp(text, "fork") == 0 || strcmp(text, "vfork") == 0;
}

/* What the child has of its parent: the frame it was forked in ("inherits
 * that frame"), descriptors, process. */
static void inherit(struct flow *flow, struct thread *child, uint32_t child_index,
		    uint32_t parent_index)
{
	struct thread *parent = flow_thread(flow, parent_index);
	struct call *call = &parent->flow.call;
	bool shares_files, shares_memory;
	int64_t flags = -1;

	child->parent = parent_index;
	child->of_kthreadd = parent->tid == 2;
	child->contained = parent->contained;
	child->pinned_by = parent->pinned_by;
	child->pinned_at = parent->pinned_at;
	child->only_if_idle = parent->only_if_idle;
	child->cgroup = parent->cgroup;
	child->cgroups = parent->cgroups;
	child->program = parent->program;
	shares_files = shares_memory = child->pid >= 0 && child->pid == parent->pid;
	if (call->open && is_fork_call(flow, call->name)) {
		bool flags_known = strcmp(intern_text(flow->names, call->name), "clone") == 0;

		if (child->pid < 0 && flags_known)
			child->pid = (call->flags & CLONE_THREAD) ? parent->pid : child->tid;
		flags = flags_known ? (int64_t) call->flags : -1;
		shares_files = flags_known ? (call->flags & CLONE_FILES) != 0 : shares_files;
		shares_memory |= strcmp(intern_text(flow->names, call->name), "vfork") == 0 ||
				 (flags_known && (call->flags & CLONE_VM));
		child->flow.call =
			(struct call) {.open = true,
				       .inherited = true,
				       .name = call->name,
				       .begin = flow->time,
				       .fd = -1,
				       .newfd = -1,
				       .timer = -1,
				       .child = NO_THREAD};
		call->child = child_index;
	}
	inherit_namespaces(flow, child, parent, flags);
	thread_files(flow, parent); /* may give the child one, if the parent's pid is its TID */
	user_fork(flow, child, parent);
	mappings_fork(flow, child, parent, shares_memory);
	fd_table_leave(&child->files);
	child->files = shares_files ? fd_table_join(parent->files) : fd_table_copy(parent->files);
}

/* A new life, waiting for a CPU; the parent is whoever runs here. */
static struct thread *birth(struct flow *flow, struct cpu *cpu, const struct event *event,
			    int32_t tid, int32_t pid, const char *comm, int32_t parent_tid)
{
	uint32_t old = thread_find(flow, event->host, tid), index, parent = cpu->current;
	struct thread *thread;

	if (old != IDMAP_NONE)
		thread_end(flow, flow_thread(flow, old), flow->time);
	if (!flow_current(flow, cpu))
		parent = parent_tid > 0 ? thread_find(flow, event->host, parent_tid) : NO_THREAD;
	index = thread_new(flow->model, event->host, tid, flow->time);
	thread = flow_thread(flow, index);
	thread->born = thread->evident = true;
	thread->pid = pid;
	thread_set_name(flow->model, thread, comm, flow->time);
	if (is_thread(parent))
		inherit(flow, thread, index, parent);
	thread->state = THREAD_WAIT_CPU;
	thread->flow.since = thread->flow.woken = flow->time;
	thread_history(thread, flow->time);
	flow_append(flow, thread, flow->time, PACK(LEAF_WAIT_CPU, 0), NO_CPU);
	return thread;
}

void flow_fork(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t parent = thread_find(flow, event->host, event->fork.parent_tid);
	struct thread *child;

	if (event->fork.child_tid == 0)
		return;
	if (parent != IDMAP_NONE && flow_thread(flow, parent)->pid < 0)
		flow_thread(flow, parent)->pid = event->fork.parent_pid;
	child = birth(flow, cpu, event, event->fork.child_tid, event->fork.child_pid,
		      event->fork.child_comm, event->fork.parent_tid);
	child->by_fork = true;
	fork_namespaces(flow, child,
			is_thread(child->parent) ? flow_thread(flow, child->parent) : NULL, event);
}

void flow_wakeup_new(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t index = thread_find(flow, event->host, event->wake.tid);
	struct thread *thread = index == IDMAP_NONE ? NULL : flow_thread(flow, index);

	if (event->wake.tid == 0)
		return;
	if (!thread || !thread->by_fork || thread->state != THREAD_WAIT_CPU)
		thread = birth(flow, cpu, event, event->wake.tid, -1, event->wake.comm, -1);
	thread->by_fork = false;
	thread->flow.wakeup_due = false;
	if (event->wake.target_cpu >= 0)
		track_last(flow->timeline, &thread->track)->ref = (uint32_t) event->wake.target_cpu;
}

/* exec by a thread that does not lead its process: it lives on under the
 * leader's TID, and the leader is over. */
static struct thread *take_over_leader(struct flow *flow, const struct event *event)
{
	struct host *host = model_host(flow->model, event->host);
	uint32_t index = thread_find(flow, event->host, event->exec.old_tid);
	uint32_t leader = thread_find(flow, event->host, event->exec.tid);

	if (index == IDMAP_NONE || index == leader)
		return NULL;
	if (leader != IDMAP_NONE)
		thread_end(flow, flow_thread(flow, leader), flow->time);
	idmap_remove(&host->tids, (uint32_t) event->exec.old_tid);
	host_forget(host, event->exec.old_tid, flow->time); /* who has it next is another */
	idmap_set(&host->tids, (uint32_t) event->exec.tid, index);
	flow_thread(flow, index)->tid = event->exec.tid;
	thread_takes_lead(flow->model, flow_thread(flow, index));
	thread_index_ids(flow->model, index);
	return flow_thread(flow, index);
}

void flow_exec(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = NULL;
	const char *base;
	char name[16];

	(void) cpu;
	if (event->exec.old_tid > 0 && event->exec.old_tid != event->exec.tid)
		thread = take_over_leader(flow, event);
	if (!thread)
		thread =
			flow_thread(flow, thread_findnew(flow, event->host, event->exec.tid, NULL));
	thread->execed = true;
	user_exec(flow, thread, thread_find(flow, event->host, event->exec.tid));
	if (event->exec.filename && *event->exec.filename) {
		base = strrchr(event->exec.filename, '/');
		g_strlcpy(name, base ? base + 1 : event->exec.filename, sizeof name);
		thread_set_name(flow->model, thread, name, flow->time);
		thread->program = intern_id(flow->names, event->exec.filename);
		user_program(flow, thread);
	}
	mappings_exec(flow, thread, event->exec.filename && *event->exec.filename);
	if (thread->files) { /* exec unshares the table and closes what is marked so */
		struct fd_table *own = fd_table_copy(thread->files);

		fd_table_leave(&thread->files);
		thread->files = own;
		fd_exec(own);
	}
}

void flow_free(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t index = thread_find(flow, event->host, event->exit.tid);
	struct thread *thread;

	(void) cpu;
	/* a zombie may stay for long: its life may have been forgotten meanwhile */
	if (index == IDMAP_NONE && event->exit.tid > 0 &&
	    !host_forgot(model_host(flow->model, event->host), event->exit.tid))
		index = thread_findnew(flow, event->host, event->exit.tid, event->exit.comm);
	if (index == IDMAP_NONE || event->exit.tid <= 0)
		return;
	thread = flow_thread(flow, index);
	/* it has exited, which it cannot have done off the CPU */
	if (thread->state == THREAD_BLOCKED || thread->state == THREAD_WAIT_CPU ||
	    thread->state == THREAD_PREEMPTED)
		thread_contradicted(flow, thread, thread_off_since(thread));
	thread_end(flow, thread, flow->time);
}
