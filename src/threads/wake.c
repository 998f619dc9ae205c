/* SPDX-License-Identifier: MIT */
/* Wake-ups: what ended a wait, as seen where it happened.
 *
 * Part of threads/. sched_waking is the waker's own event; sched_wakeup may come
 * from another CPU. The race, in time:
 *
 *   T   ──running──────────────┤ switch out, blocked ├── …
 *   P        waking(T) ▲                    wakeup(T) ▲
 *            remembered              the wait ends here, its waker is what
 *                                    was remembered
 *
 * Source: semantics.md, "Woken up".
 */
#include "threads/wake.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>

#include "model/files.h"
#include "disk/completions.h"
#include "disk/held.h"
#include "disk/pauses.h"
#include "objects/calls.h"
#include "objects/mappings.h"
#include "objects/resource.h"
#include "locks/file_locks.h"
#include "disk/work.h"
#include "net/talks.h"
#include "net/transport_waits.h"
#include "state/stacks.h"
#include "threads/arrival.h"
#include "threads/pressure.h"
#include "threads/states.h"
#include "threads/stop.h"

static const struct waker waker_unknown = {
	.thread = NO_THREAD, .cpu = NO_CPU, .kind = WAKER_UNKNOWN};

static uint8_t waker_kind_of(uint32_t frame)
{
	switch (PACK_KIND(frame)) {
	case FRAME_IRQ:
		return WAKER_IRQ;
	case FRAME_VECTOR:
		return WAKER_VECTOR;
	case FRAME_SOFTIRQ:
		return WAKER_SOFTIRQ;
	default:
		return WAKER_HRTIMER;
	}
}

/* "10.0.0.1:80" of the packet's sender; 0 where it was not recorded. */
static uint32_t sender_text(struct flow *flow, const struct cpu *cpu)
{
	char address[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 16];
	bool v6 = cpu->sender_length == 16;
	uint64_t key = 0;
	uint32_t known;

	if (cpu->sender_length == 4) { /* most often, and again and again the same */
		memcpy(&key, cpu->sender, 4);
		key |= (uint64_t) cpu->sender_port << 32;
		known = idmap_get(&flow->senders, key);
		if (known != IDMAP_NONE)
			return known;
	}
	if (!cpu->sender_length ||
	    !inet_ntop(v6 ? AF_INET6 : AF_INET, cpu->sender, address, sizeof address))
		return 0;
	if (cpu->sender_port)
		g_snprintf(text, sizeof text, v6 ? "[%s]:%u" : "%s:%u", address, cpu->sender_port);
	else
		g_strlcpy(text, address, sizeof text);
	known = intern_id(flow->names, text);
	if (!v6)
		idmap_set(&flow->senders, key, known);
	return known;
}

/* What the waking context did just before: the request that completed, the
 * timer that expired, the packet that came. */
static uint32_t pending_detail(struct flow *flow, struct cpu *cpu, struct thread *woken)
{
	struct wake_detail detail;

	if (cpu_pending(cpu)->kind == DETAIL_NONE || !cpu->depth)
		return 0;
	if (cpu_pending(cpu)->kind == DETAIL_PACKET)
		cpu_pending(cpu)->text = sender_text(flow, cpu);
	detail = *cpu_pending(cpu);
	if (detail.kind == DETAIL_REQUEST && cpu->by_raiser)
		detail = cpu_raise_detail(cpu); /* what that thread did is what the wait was for */
	else
		block_detail_for(flow, model_host(flow->model, woken->host), &detail, woken);
	return detail_new(flow->timeline, &woken->track, &detail);
}

/* A driver's interrupt thread ("irq/25-ahci") has just completed a request, or a worker a bio
 * of a device that has no requests: it wakes whom that is for, as an interrupt would. Its
 * pending detail ends with its turn. */
static uint32_t threaded_detail(struct flow *flow, struct cpu *cpu, const struct thread *current,
				struct thread *woken)
{
	struct host *host = model_host(flow->model, woken->host);
	const struct work *work = &current->flow.work;
	bool finishes = work->doing && work->behind &&
			detail_at(flow->timeline, work->behind)->kind == DETAIL_REQUEST;
	struct wake_detail detail;

	if (cpu->pending.kind != DETAIL_REQUEST ||
	    (!g_str_has_prefix(intern_text(flow->names, current->name), "irq/") &&
	     (finishes || !is_bio_of(flow, host, &cpu->pending, woken))))
		return 0;
	detail = cpu->pending;
	block_detail_for(flow, host, &detail, woken);
	return detail_new(flow->timeline, &woken->track, &detail);
}

/* What the call of a thread is on, as far as that is known: its descriptor's key; 0. */
static uint32_t object_of(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint8_t wait = call->open ? flow_call_info(flow, call->name)->wait : WAIT_NOTHING;

	if (wait == WAIT_CONNECT)
		return call->address;
	if ((wait != WAIT_DEFAULT && wait != WAIT_FD) || call->fd < 0)
		return 0;
	return fd_key(thread_files(flow, thread), call->fd);
}

/* A FIFO or a terminal has a path like a regular file: there a reader waits for what is
 * written, or a writer for room, and not for a lock. */
static bool is_fed(const struct flow *flow, const struct call *waits, const struct call *wakes)
{
	const char *one = intern_text(flow->names, waits->name);
	const char *other = intern_text(flow->names, wakes->name);

	return (strstr(one, "read") && strstr(other, "write")) ||
	       (strstr(one, "write") && strstr(other, "read"));
}

/* Each waits to open it until the other does: one to read, one to write. */
static bool open_each_other(const struct flow *flow, const struct call *waits,
			    const struct call *wakes)
{
	uint64_t one = waits->flags & O_ACCMODE, other = wakes->flags & O_ACCMODE;

	return waits->path && waits->path == wakes->path && one != other && one != O_RDWR &&
	       other != O_RDWR && !((one == O_RDONLY ? waits : wakes)->flags & O_CREAT) &&
	       flow_call_info(flow, waits->name)->effect == DOES_OPEN &&
	       flow_call_info(flow, wakes->name)->effect == DOES_OPEN;
}

/* A FIFO, to which one comes by its name, has been a pipe for this wait, too. Signals end such
 * waits, but not those for a regular file's lock or page, which readers wait for as well. */
static void fifo_woken(struct flow *flow, struct thread *thread, struct block *block)
{
	struct thread *waker = flow_thread(flow, block->waker);
	const struct call *waits = &thread->flow.call, *wakes = &waker->flow.call;
	bool fed = waits->fd >= 0 && block->label == block->resource && is_fed(flow, waits, wakes);
	uint32_t fifo;

	if (!waits->open || !block->resource || thread->host != waker->host ||
	    !thread->flow.interruptible || (!fed && !open_each_other(flow, waits, wakes)))
		return;
	fifo = fifo_found(flow, model_host(flow->model, thread->host), block->resource, !fed);
	if (fed && fifo != block->resource) {
		fd_rename(thread_files(flow, thread), waits->fd, fifo);
		fd_rename(thread_files(flow, waker), wakes->fd, fifo);
		block->label = fifo;
	}
	block->resource = fifo;
}

/* Both are in calls on one file: what the waker, whose call is on `object`, gave up was
 * most likely the file's lock. */
static bool in_same_file(struct flow *flow, struct thread *thread, struct thread *waker,
			 uint32_t object)
{
	return object && thread != waker &&
	       g_str_has_prefix(intern_text(flow->names, object), "file:") &&
	       object_of(flow, thread) == object &&
	       !is_fed(flow, &thread->flow.call, &waker->flow.call);
}

/* At a barrier, or by a broadcast to who waits on a condition; of a mutex it is one. */
static bool wakes_all(struct flow *flow, const struct thread *waker)
{
	uint8_t command = waker->flow.call.open ? call_operation(flow, waker) : NO_OPERATION;

	return (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) &&
	       (uint32_t) waker->flow.call.argument > 1;
}

/* "The waker is the context of that event: the innermost frame of the CPU
 * that emitted it, and its current thread." */
static struct waker context_of(struct flow *flow, struct cpu *cpu, struct thread *thread)
{
	struct waker waker = waker_unknown;
	struct thread *current;

	waker.cpu = cpu->id;
	if (flow_in_gap(flow, cpu)) {
		waker.why = WHY_GAP;
		return waker;
	}
	waker.thread = cpu->current;
	waker.stack = flow_cpu_stack(flow, cpu);
	if (cpu->depth) {
		const struct frame *frame = &cpu->frames[cpu->depth - 1];

		waker.context = frame->what;
		waker.label = frame->label;
		waker.kind = waker_kind_of(frame->what);
	} else if (cpu->frames_lost) {
		waker.thread = NO_THREAD;
		waker.why = WHY_GAP;
	} else if (cpu->current == NO_THREAD) {
		waker.why = WHY_CPU_UNKNOWN;
	} else if (thread_is_ksoftirqd(flow->model, thread)) {
		/* "woken outside any interrupt frame: the waker is the softIRQ work" */
		waker.kind = WAKER_SOFTIRQ;
		waker.context = PACK(FRAME_SOFTIRQ, cpu->last_raise);
	} else if (cpu->current == IDLE_THREAD) {
		waker.why = WHY_IDLE;
	} else {
		current = flow_thread(flow, cpu->current);
		waker.kind = WAKER_THREAD;
		waker.context = current->flow.call.open
					? PACK(FRAME_SYSCALL, current->flow.call.name)
					: PACK(FRAME_USER, 0);
		waker.label = object_of(flow, current);
		waker.same_file = in_same_file(flow, thread, current, waker.label);
		waker.to_all = wakes_all(flow, current);
		waker.detail = threaded_detail(flow, cpu, current, thread);
		if (!waker.detail)
			waker.detail = work_detail(flow, current, thread);
		return waker;
	}
	waker.detail = pending_detail(flow, cpu, thread);
	return waker;
}

/* The context of a sched_wakeup without sched_waking: "inside a reschedule or
 * call_function vector, or in the idle loop, the waker is unknown". */
static struct waker wakeup_context(struct flow *flow, struct cpu *cpu, struct thread *thread)
{
	struct waker waker = context_of(flow, cpu, thread);

	if (waker.kind == WAKER_VECTOR) {
		const char *vector = intern_text(flow->names, PACK_NUMBER(waker.context));

		if (strcmp(vector, "reschedule") == 0 ||
		    g_str_has_prefix(vector, "call_function")) {
			waker = waker_unknown;
			waker.cpu = cpu->id;
			waker.why = WHY_REMOTE;
		}
	}
	return waker;
}

/* `waker` ended the wait of `block` with no call known to be open: if its next
 * exit has no entry, that was inside the call. */
static void call_may_follow(struct thread *waker, uint32_t block)
{
	if (waker->kernel || (waker->of_kthreadd && !waker->execed))
		return; /* makes no system calls */
	if (!waker->flow.woke)
		waker->flow.woke = g_array_new(FALSE, FALSE, sizeof block);
	g_array_append_val(waker->flow.woke, block);
}

/* Memory without a file that a disk had: it was swapped out. */
static void came_from_swap(struct flow *flow, struct block *block, uint32_t leaf)
{
	uint32_t *key = PACK_KIND(leaf) == LEAF_BLOCK_FAULT ? &block->resource : &block->fault;

	if (!block->detail || !mapping_is_anonymous(flow, *key))
		return;
	if (detail_at(flow->timeline, block->detail)->kind == DETAIL_REQUEST)
		*key = intern_id(flow->names, "swap");
}

static void thread_woken(struct flow *flow, struct thread *thread, const struct waker *waker)
{
	struct block *block = block_at(flow->timeline, thread->flow.block);
	uint32_t leaf = track_last(flow->timeline, &thread->track)->leaf;

	block->waker = waker->thread;
	block->waker_stack = waker->stack;
	block->context = waker->context;
	block->label = waker->label;
	block->detail = waker->detail;
	block->cpu = waker->cpu;
	block->kind = waker->kind;
	block->why = waker->why;
	block->same_file = waker->same_file;
	block->to_all = waker->to_all;
	if (waker->callstack | waker->user_callstack) {
		struct callpaths paths = *callpaths_at(&flow->callstacks, block->callpaths);

		paths.waker_kernel = waker->callstack;
		paths.waker_user = waker->user_callstack;
		block->callpaths = callpaths_id(&flow->callstacks, &paths);
	}
	came_from_swap(flow, block, leaf);
	if (waker->kind == WAKER_THREAD && PACK_KIND(waker->context) == FRAME_SYSCALL)
		fifo_woken(flow, thread, block);
	pause_explains(flow, thread, block);
	pressure_sleep_ends(flow, thread, block, leaf, waker);
	thread_thaws(flow, thread, block, leaf, waker);
	lock_waiter_woken(flow, thread, block, waker);
	held_explains(flow, thread, block);
	if (waker->kind == WAKER_THREAD && PACK_KIND(waker->context) != FRAME_SYSCALL)
		call_may_follow(flow_thread(flow, waker->thread), thread->flow.block);
	if (waker->kind == WAKER_THREAD && PACK_KIND(waker->context) == FRAME_SYSCALL) {
		thread->flow.asked_by = waker->thread;
		thread->flow.asked_call = PACK_NUMBER(waker->context);
	} else if (waker->kind == WAKER_HRTIMER || waker->context == PACK(FRAME_SOFTIRQ, 1)) {
		thread->flow.asked_by = NO_THREAD; /* it is its time */
	}
	thread->state = THREAD_WAIT_CPU;
	thread->flow.since = thread->flow.woken = flow->time;
	thread->flow.remembered = false;
	flow_append(flow, thread, flow->time, PACK(LEAF_WAIT_CPU, 0), NO_CPU);
}

/* The functions that led to the wake-up. */
static void waker_callstacks(struct flow *flow, struct waker *waker, const struct event *event)
{
	if (!event->has_callstacks || waker->why == WHY_GAP)
		return;
	waker->callstack = callstack_id(&flow->callstacks, &event->callstack);
	waker->user_callstack = callstack_id(&flow->callstacks, &event->user_callstack);
	flow->has_wait_stacks |= waker->callstack || waker->user_callstack;
}

static void wait_again(struct flow *flow, struct thread *thread)
{
	thread->state = THREAD_WAIT_CPU;
	thread->flow.since = thread->flow.woken = flow->time;
	flow_append(flow, thread, flow->time, PACK(LEAF_WAIT_CPU, 0), NO_CPU);
}

static struct thread *woken_thread(struct flow *flow, const struct event *event)
{
	if (event->wake.tid == 0)
		return NULL;
	return flow_thread(flow,
			   thread_findnew(flow, event->host, event->wake.tid, event->wake.comm));
}

/* Some CPU lost events and has not named its thread since: who is not known to be off the CPU
 * may be there. */
static bool may_run(const struct host *host)
{
	for (guint i = 0; host->gaps->len && i < host->cpus->len; i++) {
		const struct cpu *cpu = g_ptr_array_index(host->cpus, i);

		if (cpu && cpu->current == NO_THREAD && cpu->gap_end != INT64_MIN)
			return true;
	}
	return false;
}

void thread_was_woken(struct flow *flow, struct thread *thread)
{
	int64_t now = flow->time;

	flow->time = thread->flow.remembered_at;
	thread_found_off(flow, thread, THREAD_BLOCKED);
	thread_woken(flow, thread, &thread->flow.waker);
	flow->time = now;
}

void flow_waking(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = woken_thread(flow, event);
	struct waker waker;
	bool again = false; /* while it waited for a CPU: it ran, in a gap */
	int64_t since;

	if (!thread)
		return;
	waker = context_of(flow, cpu, thread);
	waker_callstacks(flow, &waker, event);
	talk_wakes(flow, cpu, thread_find(flow, event->host, event->wake.tid));
	if (thread->state == THREAD_WAIT_CPU)
		again = thread_contradicted(flow, thread, thread->flow.since);
	if (thread->state == THREAD_UNKNOWN && may_run(model_host(flow->model, event->host))) {
		thread->flow.remembered = true;
		thread->flow.remembered_at = flow->time;
		thread->flow.waker = waker;
		return;
	}
	if (thread->state == THREAD_UNKNOWN && !again)
		thread_found_off(flow, thread, THREAD_BLOCKED);
	if (thread->state == THREAD_BLOCKED) {
		since = thread->flow.since;
		thread_woken(flow, thread, &waker);
		transport_woke(flow, cpu, thread, since);
		cpu->last_woken = thread_find(flow, event->host, event->wake.tid);
		thread->flow.wakeup_due = true;
	} else if (again) {
		wait_again(flow, thread);
		thread->flow.wakeup_due = true;
	} else {
		thread->flow.remembered = true;
		thread->flow.waker = waker;
	}
}

static void set_target_cpu(struct flow *flow, struct thread *thread, int32_t cpu)
{
	struct interval *last = track_last(flow->timeline, &thread->track);

	if (cpu >= 0 && last->leaf == PACK(LEAF_WAIT_CPU, 0))
		last->ref = (uint32_t) cpu;
}

/* This sched_wakeup's sched_waking is among events that were lost since `time`. */
static bool waking_lost(const struct flow *flow, const struct host *host,
			const struct thread *thread, int64_t time)
{
	return flow->has_waking && !thread->flow.remembered &&
	       host_gap_over(host, time, flow->time);
}

void flow_wakeup(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = woken_thread(flow, event);
	struct host *host = model_host(flow->model, event->host);

	if (!thread)
		return;
	if (thread->state == THREAD_UNKNOWN && may_run(host))
		return;
	if (thread->state == THREAD_UNKNOWN && thread->flow.remembered)
		thread_was_woken(flow, thread);
	else if (thread->state == THREAD_UNKNOWN)
		thread_found_off(flow, thread,
				 waking_lost(flow, host, thread, host->begin) ? THREAD_WAIT_CPU
									      : THREAD_BLOCKED);
	if (thread->state == THREAD_BLOCKED) {
		struct waker waker = wakeup_context(flow, cpu, thread);
		int64_t since = thread->flow.since;
		bool here = !thread->flow.remembered && waker.kind == WAKER_SOFTIRQ;

		if (thread->flow.remembered) {
			waker = thread->flow.waker;
		} else if (waking_lost(flow, host, thread, thread->flow.since)) {
			waker = waker_unknown;
			waker.cpu = cpu->id;
			waker.why = WHY_GAP;
			here = false;
		}

		thread_woken(flow, thread, &waker);
		if (here)
			transport_woke(flow, cpu, thread, since);
		cpu->last_woken = thread_find(flow, event->host, event->wake.tid);
		thread->flow.wakeup_due = false;
	} else if (thread->state == THREAD_WAIT_CPU && !thread->flow.wakeup_due &&
		   thread_contradicted(flow, thread, thread->flow.since)) {
		if (may_run(host))
			return;
		wait_again(flow, thread);
	}
	thread->flow.wakeup_due = false;
	thread->flow.remembered = false;
	if (thread->state == THREAD_WAIT_CPU) {
		set_target_cpu(flow, thread, event->wake.target_cpu);
		flow_wakeup_arrives(flow, host, cpu, thread, event->wake.target_cpu);
	}
}

/* The thread waits in another CPU's queue from now on. */
void flow_migrate(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t leaf;
	struct thread *thread = woken_thread(flow, event);

	(void) cpu;
	if (!thread || (thread->state != THREAD_WAIT_CPU && thread->state != THREAD_PREEMPTED))
		return;
	leaf = track_last(flow->timeline, &thread->track)->leaf;
	if (!thread->flow.wakeup_due && leaf_is_off_cpu(leaf))
		flow_append(flow, thread, flow->time, leaf, (uint32_t) event->wake.target_cpu);
}
