/* SPDX-License-Identifier: MIT */
/* Who stopped a thread: the sender of the signal that did, or its tracer.
 *
 *   S   ── kill(T, SIGSTOP): signal_generate(19, T) ──┐
 *   T   ── … ── signal_generate(17, parent) ── switch out, stopped ├──
 *
 * A signal for a process (most are) stops all its threads. The kernel tells the
 * tracer of a thread, or else its parent, by signal 17 (SIGCHLD) from the thread
 * itself, right before it leaves: so a traced thread's tracer is who is told.
 *
 * A cgroup's file does it, too, without a signal that is told: who writes to cgroup.freeze (version
 * 1: freezer.state) wakes those that are frozen, on their way to user mode. Who is in a call when
 * it is to freeze is woken as well, but out of that call: an end of that wait like any other.
 *
 * A file system is frozen by ioctl(FIFREEZE), as for a snapshot (fsfreeze, qemu's guest agent): who
 * is to write to it waits until it is thawed, and is woken in ioctl(FITHAW).
 *
 * Part of threads/. The last few such signals of a host are kept; when a thread
 * leaves stopped or traced, the newest that fits becomes struct block.begun, a
 * struct wake_detail. Source: the kernel's do_signal_stop(), ptrace_stop(),
 * do_notify_parent_cldstop(), do_freezer_trap(), cgroup_do_freeze(), thaw_super(); lttng-events.md,
 * signal_generate.
 */
#include "threads/stop.h"

#include <signal.h>
#include <string.h>

#include "objects/calls.h"

#define THAW ((int32_t) 0xc0045878) /* linux/fs.h: FITHAW, _IOWR('X', 120, int) */

void stop_signal(struct flow *flow, struct host *host, const struct cpu *cpu,
		 const struct event *event)
{
	int32_t sig = event->signal.sig;
	struct stop stop = {.time = flow->time,
			    .sig = sig,
			    .sender = cpu->current,
			    .target = thread_find(flow, event->host, event->signal.tid)};

	if (sig != SIGSTOP && sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU && sig != SIGCHLD)
		return;
	if (stop.target == IDMAP_NONE)
		return;
	if (cpu_interrupted(cpu)) /* an interrupt's: the terminal's, or of another machine */
		stop.sender = NO_THREAD;
	host->stops[host->stops_next++ % G_N_ELEMENTS(host->stops)] = stop;
}

static bool is_meant(const struct flow *flow, const struct thread *thread, uint32_t target)
{
	const struct thread *other = flow_thread(flow, target);

	return other == thread || (thread->pid >= 0 && other->pid == thread->pid);
}

/* The newest signal that stopped `thread`, or with `traced` told its tracer since it
 * came in last; NULL: not seen. */
static const struct stop *find_stop(const struct flow *flow, const struct host *host,
				    const struct thread *thread, bool traced)
{
	guint size = G_N_ELEMENTS(host->stops);

	for (guint i = 0; i < MIN(size, host->stops_next); i++) {
		const struct stop *stop = &host->stops[(host->stops_next - 1 - i) % size];
		bool told = stop->sig == SIGCHLD;

		/* what told the tracer was said since the thread came in last */
		if (traced && told && is_thread(stop->sender) &&
		    flow_thread(flow, stop->sender) == thread && stop->time > thread->flow.left)
			return stop;
		if (!traced && !told && is_meant(flow, thread, stop->target))
			return stop;
	}
	return NULL;
}

void thread_stops(struct flow *flow, struct host *host, struct thread *thread, bool traced)
{
	const struct stop *stop = find_stop(flow, host, thread, traced);
	struct wake_detail detail = {
		.kind = DETAIL_SIGNAL, .requested = -1, .queued = -1, .served = -1};

	if (!stop)
		return;
	detail.thread = traced ? stop->target : stop->sender;
	detail.begin = stop->time;
	detail.number = (uint64_t) stop->sig;
	block_at(flow->timeline, thread->flow.block)->begun =
		detail_new(flow->timeline, NULL, &detail);
}

bool key_freezes(const char *key)
{
	const char *slash = strrchr(key, '/');

	return g_str_has_prefix(key, "file:/") &&
	       (strcmp(slash, "/cgroup.freeze") == 0 || strcmp(slash, "/freezer.state") == 0);
}

static bool thaws_files(const struct flow *flow, const struct thread *waker)
{
	const struct call *call = &waker->flow.call;

	return call->open && call->op == THAW &&
	       flow_call_info(flow, call->name)->effect == DOES_CONTROL;
}

static enum reason_kind frozen_by(const struct flow *flow, uint32_t leaf, const struct waker *waker)
{
	uint32_t kind = PACK_KIND(leaf);

	if (kind != LEAF_BLOCK_SYSCALL && waker->label &&
	    key_freezes(intern_text(flow->names, waker->label)))
		return REASON_FROZEN;
	return (kind == LEAF_BLOCK_SYSCALL || kind == LEAF_BLOCK_FAULT) &&
			       is_thread(waker->thread) &&
			       thaws_files(flow, flow_thread(flow, waker->thread))
		       ? REASON_FILES_FROZEN
		       : REASON_NONE;
}

void thread_thaws(struct flow *flow, const struct thread *thread, struct block *block,
		  uint32_t leaf, const struct waker *waker)
{
	struct reason reason;
	enum reason_kind kind;

	if (block->reason || waker->kind != WAKER_THREAD ||
	    PACK_KIND(waker->context) != FRAME_SYSCALL)
		return;
	kind = frozen_by(flow, leaf, waker);
	if (kind == REASON_NONE)
		return;
	reason = reason_of_kind(kind);
	reason.thread = waker->thread;
	reason.object = waker->label;
	reason.from = thread->flow.since;
	reason.until = flow->time;
	block->reason = reason_new(flow->timeline, &reason);
}
