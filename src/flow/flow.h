/* SPDX-License-Identifier: MIT */
/* The control flow of every thread, step by step as the events pass.
 *
 * Place: between model/ and timeline/: an event comes in, the model learns
 * what things are called, the stacks of the thread and CPU concerned move one
 * step, and the timeline gets an interval where the state changed.
 *
 *          fork seen                    sched_switch next
 *   (born) ──────────► WAIT_CPU ───────────────────────────► RUNNING
 *                         ▲                                   │ │ │
 *              waking,    │        prev, state 0 or preempted │ │ │ dead
 *              wakeup     │      PREEMPTED ◄──────────────────┘ │ └──► DEAD
 *                         │          │ next ──► RUNNING         │
 *                         └──────── BLOCKED ◄───────────────────┘ prev, else
 *
 *   UNKNOWN: before the first evidence and after events were lost; left by
 *   any evidence (sched.c: thread_found_*).
 *
 * One file a matter: sched.c switches and lives, wake.c wake-ups,
 * arrival.c how they reach an idle CPU, stop.c who stopped a thread,
 * syscall.c entries, exits and holdback, calls.c the table of system
 * calls, resource.c what they wait for, effects.c what they change, locks.c and
 * futexes.c who holds what they lock, interrupt.c frames of CPUs, block.c, network.c and work.c
 * what they deliver, gaps.c lost events, dump.c the statedump, input.c the order in
 * which events may enter.
 *
 * Source: semantics.md; each function names the sentence it carries out.
 */
#ifndef WHYLATE_FLOW_FLOW_H
#define WHYLATE_FLOW_FLOW_H

#include <glib.h>
#include <stdint.h>

#include "event/event.h"
#include "event/queue.h"
#include "model/model.h"
#include "timeline/callstack.h"
#include "timeline/timeline.h"

/* Odd trace data, counted by kind; never an error. */
enum odd {
	ODD_ENTRY_UNSEEN,     /* system call or interrupt exits without entry */
	ODD_EXIT_UNSEEN,
	ODD_WAKEUP_UNSEEN,    /* switched in while still blocked */
	ODD_SWITCH_MISMATCH,  /* prev is not who was known to run */
	ODD_RUNS_TWICE,       /* switched in while running elsewhere */
	ODD_FRAMES_DEEP,      /* more nested interrupts than a CPU has */
	ODD_FRAMES_AT_SWITCH, /* interrupt frames open at a switch */
	ODD_TIME_BACKWARDS,
	ODD_NO_THREAD,        /* system call where no thread is known to run */
	ODD_FUNCTION,         /* function entered and not left, or the other way */
	ODD_USER_FUNCTION,    /* the same in user space; only if such operations are wanted */
	ODD_USER_THREAD,      /* … of no known thread */
	ODD_COUNT
};

/* Latencies of one system call, both ends seen; for the overview. */
struct call_stat {
	uint64_t count;
	uint64_t spans_gap;   /* of them: off the CPU while events were lost */
	int64_t total, longest;
	uint32_t buckets[64]; /* by floor(log2 ns) */
};

/* What came of user-space traces. */
struct user_counts {
	uint64_t entries, exits;       /* of functions */
	uint64_t entries_unseen;       /* exits with no such function open */
	uint64_t exits_unseen; /* functions that one around them ended: longjmp, exceptions */
	uint64_t dropped; /* open ones of which events may have been lost */
	uint64_t no_thread; /* events whose thread is not known */
	uint64_t deep; /* stacks given up, as they were too deep */
	uint64_t lost; /* events */
};

struct flow {
	struct model *model; /* borrowed */
	struct timeline *timeline; /* borrowed */
	struct intern *names; /* borrowed: model's */
	GPtrArray *stacks; /* owned; GArray of PACKed frames by stack number */
	GHashTable *stack_numbers; /* owned; GArray -> number */
	GArray *call_info; /* struct call_info by interned syscall name */
	struct idmap senders; /* owned; IPv4 address and port -> interned text */
	GArray *call_stats; /* struct call_stat by interned syscall name */
	struct idmap addresses; /* of functions -> interned text */
	bool has_work_addresses; /* … some of them of work queues' items */
	GArray *locks; /* owned; struct lock (locks.h), numbered from 1 */
	GArray *free_locks; /* owned; uint32_t: numbers that no lock has any more */
	struct idmap lock_index; /* -> number */
	bool inode_locks, pi_locks; /* there are some of kind LOCK_INODE, LOCK_PI */
	struct callstacks callstacks;
	uint32_t ipis[3]; /* interned vectors by which CPUs ask each other */
	uint32_t operations_wanted; /* bit per enum operation_kind; 0: record none */
	bool resources_wanted; /* … with the system calls' resources */
	bool exchanges_wanted; /* record what is read from and written to connections */
	struct idmap first_reads; /* host, process and key of files that were read */
	struct idmap end_index; /* host and key of pipes and the like -> struct channel_end */
	bool has_waking, has_bios; /* sched_waking, block_bio_queue were recorded */
	bool has_callstacks; /* … and the context callstack-kernel */
	uint64_t odd[ODD_COUNT];
	struct user_counts user;
	struct idmap user_addresses; /* of functions -> interned text */
	int64_t time; /* of the event being handled */

	/* input.c */
	struct event_queue held; /* events before the first switch of some CPU */
	uint64_t held_user; /* … of them: of user space, which count for nothing */
	GArray *unnamed; /* struct cpu *: CPUs whose thread is awaited */
	uint64_t held_limit; /* 0: none (files); events, for a live trace */
};

void flow_init(struct flow *flow, struct model *model, struct timeline *timeline);
void flow_clear(struct flow *flow);

/* input.c: what a reader hands on, in time order. flow_end() ends all lives. */
void flow_packet(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin);
void flow_lost(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin, int64_t end,
	       int64_t count, bool packets);
void flow_event(struct flow *flow, const struct event *event);
/* The same of a user-space trace. */
void flow_user_event(struct flow *flow, const struct event *event);
void flow_user_lost(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin, int64_t end,
		    int64_t count);
void flow_live(struct flow *flow);
/* Sets the begin of a life by its first evidence, once; before that is forgotten. */
void flow_settle_begin(struct flow *flow, struct thread *thread);
void flow_end(struct flow *flow);

/* --- inside flow/ ------------------------------------------------------ */

/* flow.c: the step of one event, its CPU's thread being known or not. */
void flow_step(struct flow *flow, const struct event *event);
static inline struct thread *flow_thread(const struct flow *flow, uint32_t index)
{
	return model_thread(flow->model, index);
}
/* The thread current on `cpu` if it may be given the event; else NULL. */
struct thread *flow_current(const struct flow *flow, const struct cpu *cpu);
bool flow_in_gap(const struct flow *flow, const struct cpu *cpu);
/* Writes the leaf that the stacks of `thread` (running on `cpu`) now mean. */
void flow_refresh(struct flow *flow, struct thread *thread, const struct cpu *cpu);
void flow_append(struct flow *flow, struct thread *thread, int64_t time, uint32_t leaf,
		 uint32_t ref);

/* flow.c: interned stacks, outermost frame first. */
uint32_t flow_thread_stack(struct flow *flow, const struct thread *thread);
uint32_t flow_cpu_stack(struct flow *flow, const struct cpu *cpu);
const GArray *flow_stack(const struct flow *flow, uint32_t number);

/* sched.c */
void flow_switch(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event);
void flow_fork(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_exec(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_free(struct flow *flow, const struct event *event);
uint32_t thread_find(struct flow *flow, uint32_t host, int32_t tid);
uint32_t thread_findnew(struct flow *flow, uint32_t host, int32_t tid, const char *comm);
void thread_end(struct flow *flow, struct thread *thread, int64_t time);
/* The thread is known to run on `cpu` from now on, whatever was thought. */
void thread_runs(struct flow *flow, struct thread *thread, const struct cpu *cpu);
/* Found off CPU, not seen to leave: `leaf` since S or the last gap's end. */
void thread_found_off(struct flow *flow, struct thread *thread, enum thread_state state);
/* Events were lost: nothing is known of the thread from now on. */
void thread_lost(struct flow *flow, struct thread *thread);
/* Begins a known history at `time`. */
void thread_history(struct thread *thread, int64_t time);
/* What was seen contradicts the off-CPU stretch: unknown from where events
 * were lost. False if none were. */
bool thread_contradicted(struct flow *flow, struct thread *thread, int64_t since);
void thread_block(struct flow *flow, struct thread *thread, int64_t time, uint32_t leaf);
uint32_t thread_blocked_leaf(const struct thread *thread);
void cpu_runs(struct flow *flow, struct host *host, struct cpu *cpu, uint32_t thread);

/* wake.c */
void flow_waking(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_wakeup(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_wakeup_new(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_migrate(struct flow *flow, const struct event *event);
/* It was off the CPU, as is known now, when the remembered sched_waking came. */
void thread_was_woken(struct flow *flow, struct thread *thread);
void thread_woken(struct flow *flow, struct thread *thread, const struct waker *waker);

/* arrival.c: how a wake-up reaches an idle CPU */
void flow_cpu_idle(struct flow *flow, struct host *host, const struct event *event);
void flow_vector_arrives(struct flow *flow, struct cpu *cpu, uint32_t vector);
/* sched_wakeup of `thread` came from `cpu`, to run it on CPU `target` (-1: not said). */
void flow_wakeup_arrives(struct flow *flow, struct host *host, const struct cpu *cpu,
			 const struct thread *thread, int32_t target);
/* `cpu` is about to switch to `thread`, which waited for a CPU. */
void flow_thread_arrives(struct flow *flow, const struct cpu *cpu, const struct thread *thread);

/* stop.c: who stopped a thread */
void stop_signal(struct flow *flow, struct host *host, const struct cpu *cpu,
		 const struct event *event);
/* `thread` has just left the CPU stopped, or stopped for its tracer. */
void thread_stops(struct flow *flow, struct host *host, struct thread *thread, bool traced);

/* syscall.c */
void flow_syscall_entry(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_syscall_exit(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_page_fault(struct flow *flow, struct cpu *cpu, const struct event *event);
void call_close(struct thread *thread);
/* `waker` ended the wait of `block` with no call known to be open: if its next
 * exit has no entry, that was inside the call. */
void call_may_follow(struct thread *waker, uint32_t block);

/* calls.c, resource.c, effects.c */
struct call_info {
	bool known;
	uint8_t wait; /* enum call_wait */
	uint8_t effect; /* enum call_effect */
	uint8_t moves; /* enum call_moves */
	bool sigreturn;
};
const struct call_info *flow_call_info(struct flow *flow, uint32_t name);
void call_arguments(struct flow *flow, struct thread *thread, const struct event_syscall *args);
uint32_t call_resource(struct flow *flow, struct thread *thread, int32_t *fd);
uint32_t call_child(struct flow *flow, const struct thread *thread);
uint8_t call_operation(struct flow *flow, const struct thread *thread);
/* What the exit tells about waits inside the call; 0 nothing. */
uint32_t call_resource_at_exit(struct flow *flow, struct thread *thread,
			       const struct event_syscall *args, int32_t *fd);
void call_effects(struct flow *flow, uint32_t index, struct thread *thread,
		  const struct event_syscall *args);
struct fd_table *thread_files(struct flow *flow, struct thread *thread);

/* interrupt.c */
void flow_interrupt_entry(struct flow *flow, struct host *host, struct cpu *cpu,
			  const struct event *event);
void flow_softirq_raise(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_interrupt_exit(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_timer(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event);
void flow_signal(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event);

/* block.c */
void flow_block(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event);
void block_device_named(struct flow *flow, struct host *host, uint32_t dev, const char *name);
/* Of a request merged of several threads' bios, `detail` (a copy of what its
 * completion left pending) gets the part of who was woken, if he has one. */
void block_detail_for(const struct flow *flow, struct host *host, struct wake_detail *detail,
		      const struct thread *woken);

/* The request that `thread` asked for and that completed last, since it is blocked:
 * what its completion had left pending, and when that was. False: none. */
bool block_completed_for(struct flow *flow, struct host *host, const struct thread *thread,
			 struct wake_detail *detail, int64_t *end);

/* work.c */
void flow_work(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event);
void flow_writeback(struct flow *flow, struct host *host, struct cpu *cpu,
		    const struct event *event);
void flow_journal(struct flow *flow, struct cpu *cpu, const struct event *event);
/* What `worker` is doing as it wakes `woken`, as a struct wake_detail; 0: no work
 * that was seen or can be inferred. */
uint32_t work_detail(struct flow *flow, const struct thread *worker, struct thread *woken);
uint32_t flow_address(struct flow *flow, uint64_t address);

/* network.c */
void flow_packet_sent(struct flow *flow, struct host *host, struct cpu *cpu,
		      const struct event *event);
void flow_packet_received(struct flow *flow, struct host *host, struct cpu *cpu,
			  const struct event *event);

/* exchanges.c: nothing unless flow->exchanges_wanted. At a call's entry, after its arguments
 * are known; at its exit, after its effects; before a descriptor is closed; a packet that
 * `thread` queued; a block request that completed. */
void exchange_entry(struct flow *flow, uint32_t index, struct thread *thread);
void exchange_exit(struct flow *flow, uint32_t index, struct thread *thread,
		   const struct event_syscall *args);
void exchange_closing(struct flow *flow, uint32_t index, struct thread *thread);
void exchange_packet(struct flow *flow, const struct thread *thread, const struct event *event);
void exchange_disk(struct flow *flow, const struct request *request);

/* operations.c: what ended is recorded; called after the control flow moved,
 * but for exits, before it. */
void operation_interrupt_entry(struct flow *flow, struct cpu *cpu, const struct event *event);
void operation_interrupt_exit(struct flow *flow, struct cpu *cpu, const struct event *event);
void operation_function(struct flow *flow, struct cpu *cpu, const struct event *event);
void operation_syscall_entry(struct flow *flow, struct thread *thread);
void operation_syscall_exit(struct flow *flow, struct cpu *cpu, struct thread *thread);
/* A request was issued: its time in the queue since its first bio or insert, or
 * since it was put back; it completed: its time in the device. */
void operation_queued(struct flow *flow, const struct cpu *cpu, uint16_t host,
		      const struct request *request);
void operation_served(struct flow *flow, const struct cpu *cpu, uint16_t host,
		      const struct request *request);
void operation_wait_cpu(struct flow *flow, const struct cpu *cpu, struct thread *thread,
			uint32_t index);
void operations_drop_cpu(struct cpu *cpu);
void operation_frames_end(struct flow *flow, struct thread *thread, uint32_t index, int64_t end);
void operations_drop_thread(struct thread *thread);

/* user.c: user space's events; none of them changes the states. `flow_user_lost()` at the door. */
void user_step(struct flow *flow, const struct event *event);
void user_gap_begin(struct flow *flow, const struct event *notice);
/* After the child's own record; before the name of the new program's file matters. */
void user_fork(struct flow *flow, struct thread *child, const struct thread *parent);
void user_exec(struct flow *flow, struct thread *thread, uint32_t index);
/* Records what is on the stack at the end of its thread or of the trace, as
 * operation_frames_end() does for system calls and the kernel's functions. */
void user_frames_end(struct flow *flow, struct thread *thread, uint32_t index, int64_t end);

/* gaps.c */
void gap_begin(struct flow *flow, struct host *host, struct cpu *cpu, const struct gap *gap);

/* dump.c */
void flow_statedump(struct flow *flow, struct host *host, const struct event *event);

/* namespaces.c */
void dump_namespaces(struct flow *flow, const struct event *event);
/* Before the fork's own record: the parent's namespaces, but those that the call
 * makes anew; its `flags`, -1: not known. */
void inherit_namespaces(struct flow *flow, struct thread *child, const struct thread *parent,
			int64_t flags);
/* What the fork's record says; `parent` may be NULL. */
void fork_namespaces(struct flow *flow, struct thread *child, struct thread *parent,
		     const struct event *event);
/* unshare or setns succeeded in `thread`. */
void namespaces_changed(struct flow *flow, struct thread *thread);
/* The contexts of a switch, of the thread that left. */
void context_namespaces(struct flow *flow, struct thread *thread, const struct event *event);

/* rewrite.c: holdback. Gives every interval of `thread` from `time` on to
 * `change`, which may alter leaf and ref. */
void track_rewrite(struct flow *flow, struct thread *thread, int64_t time,
		   void (*change)(struct flow *flow, struct span *span, void *data), void *data);

#endif
