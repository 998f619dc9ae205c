/* SPDX-License-Identifier: MIT */
/* Sleeps that the kernel makes a thread take for the memory it uses.
 *
 *   T   ─ fault ─ fault ─ fault ┤ asleep, up to 2 s ├─ fault ─ …
 *                               └ armed by T itself, in no call   softIRQ TIMER ┘
 *
 * A thread whose cgroup is over its memory.high sleeps when it gets more memory: in a page fault,
 * on its way to user mode, or in a call that takes memory and has no time limit of its own
 * (mm/memcontrol.c: mem_cgroup_handle_over_high(), schedule_timeout_killable()). Its timer is one
 * of the kernel's wheel, which expires in softIRQ TIMER; no program asked for it. What else sleeps
 * there so: who frees memory itself, for 100 ms at most (reclaim_throttle()), and writers of files,
 * which are left out here (balance_dirty_pages()).
 *
 * Part of threads/. Source: the kernel's files named; docs/semantics.md, "Memory limits".
 */
#include "threads/pressure.h"

#include <fcntl.h>
#include <string.h>

#include "objects/calls.h"
#include "objects/mappings.h"

/* mm/vmscan.c, reclaim_throttle(): 100 ms at most, but for the clock's ticks */
#define RECLAIM_SLEEP_MAX (INT64_C(110) * 1000000)
#define SOFTIRQ_TIMER PACK(FRAME_SOFTIRQ, 1)

/* Calls that take memory by themselves, and wait for nobody. */
static bool takes_memory(struct flow *flow, const struct thread *thread, const struct block *block)
{
	const struct call_info *info = flow_call_info(flow, thread->flow.call.name);
	const char *name = intern_text(flow->names, thread->flow.call.name);
	const char *key = intern_text(flow->names, block->resource);

	if (info->effect == DOES_MAP || info->effect == DOES_REMAP || info->effect == DOES_BREAK ||
	    info->effect == DOES_FORK)
		return true;
	if (info->moves == MOVES_IN) /* into the page cache */
		return g_str_has_prefix(key, "file:/") && !g_str_has_prefix(key, "file:/dev/") &&
		       !g_str_has_prefix(key, "file:/proc/") &&
		       !g_str_has_prefix(key, "file:/sys/");
	return strcmp(name, "madvise") == 0 || strcmp(name, "execve") == 0 ||
	       g_str_has_prefix(name, "mlock");
}

/* In a fault on memory of its own or a file's that it reads, on its way to user mode, … */
static bool may_be_charged(struct flow *flow, const struct thread *thread,
			   const struct block *block, uint32_t leaf)
{
	switch (PACK_KIND(leaf)) {
	case LEAF_BLOCK_FAULT:
	case LEAF_BLOCK_OTHER:
		return !thread->flow.call.open;
	case LEAF_BLOCK_SYSCALL:
		return takes_memory(flow, thread, block);
	default:
		return false;
	}
}

/* A timer of the kernel's wheel, which the thread armed itself if that was seen. */
static bool by_wheel(const struct flow *flow, const struct thread *thread,
		     const struct waker *waker)
{
	const struct wake_detail *detail =
		waker->detail ? detail_at(flow->timeline, waker->detail) : NULL;

	if (waker->kind != WAKER_SOFTIRQ || waker->context != SOFTIRQ_TIMER)
		return false;
	if (!detail || detail->kind == DETAIL_RAISE)
		return true;
	return detail->kind == DETAIL_TIMER && detail->requested < 0 &&
	       (!is_thread(detail->thread) || flow_thread(flow, detail->thread) == thread);
}

/* Killed in such a sleep: it had some before, and no thread of its own process let it go on. */
static bool cut_short(const struct flow *flow, const struct thread *thread,
		      const struct waker *waker)
{
	return thread->flow.pressed && waker->kind == WAKER_THREAD && is_thread(waker->thread) &&
	       !waker->detail && flow_thread(flow, waker->thread)->pid != thread->pid;
}

/* kswapd lets those go that wait until it has freed memory. */
static bool by_kswapd(const struct flow *flow, const struct waker *waker)
{
	return waker->kind == WAKER_THREAD && is_thread(waker->thread) &&
	       flow_thread(flow, waker->thread)->kernel &&
	       g_str_has_prefix(intern_text(flow->names, flow_thread(flow, waker->thread)->name),
				"kswapd");
}

/* Events say that it frees memory meanwhile. */
static bool in_reclaim(const struct flow *flow, const struct thread *thread,
		       const struct waker *waker)
{
	return thread->flow.reclaims != INT64_MIN &&
	       !host_unseen(model_host(flow->model, thread->host), thread->flow.reclaims,
			    flow->time) &&
	       (by_wheel(flow, thread, waker) || by_kswapd(flow, waker));
}

static void explain(struct flow *flow, struct thread *thread, struct block *block, bool reclaims,
		    bool seen)
{
	struct reason reason = reason_of_kind(reclaims ? REASON_RECLAIM : REASON_MEMORY_HIGH);

	reason.flags = seen ? 0 : REASON_INFERRED;
	reason.thread = thread_find(flow, thread->host, thread->tid);
	reason.object = intern_id(flow->names, reclaims ? "limit:memory" : "limit:memory.high");
	reason.text = thread->cgroup;
	reason.ns = flow->time - thread->flow.since;
	block->reason = reason_new(flow->timeline, &reason);
}

void pressure_sleep_ends(struct flow *flow, struct thread *thread, struct block *block,
			 uint32_t leaf, const struct waker *waker)
{
	bool reclaims;

	if (thread->flow.reclaims != INT64_MIN && !block->reason &&
	    in_reclaim(flow, thread, waker)) {
		explain(flow, thread, block, true, true);
		return;
	}
	if (waker->kind != WAKER_SOFTIRQ && !thread->flow.pressed)
		return;
	if (block->reason || thread->kernel || thread->of_kthreadd ||
	    (!by_wheel(flow, thread, waker) && !cut_short(flow, thread, waker)) ||
	    !may_be_charged(flow, thread, block, leaf))
		return;
	reclaims = thread->flow.reclaimed != INT64_MIN &&
		   flow->time - thread->flow.since < RECLAIM_SLEEP_MAX;
	thread->flow.pressed |= !reclaims;
	explain(flow, thread, block, reclaims, false);
}

/* Whoever opens a cgroup's list to write to it moves itself there, mostly, and what it forks. One
 * that does so for several is a manager, of which nothing is known. */
void pressure_opens(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	const char *path = call->path ? intern_text(flow->names, call->path) : "";
	const char *base = strrchr(path, '/');
	g_autofree char *cgroup = NULL;
	uint32_t id;

	if (!base || (call->flags & O_ACCMODE) == O_RDONLY ||
	    (strcmp(base, "/cgroup.procs") != 0 && strcmp(base, "/cgroup.threads") != 0 &&
	     strcmp(base, "/tasks") != 0))
		return;
	cgroup = g_strndup(path, (gsize) (base - path));
	id = intern_id(flow->names, cgroup);
	thread->cgroup = thread->cgroups && thread->cgroup != id ? 0 : id;
	thread->cgroups = true;
}
