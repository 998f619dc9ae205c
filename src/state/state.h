/* SPDX-License-Identifier: MIT */
/* What is known while events pass: struct flow, which every step of every event reads and
 * changes, and the smallest steps.
 *
 * Place: state/, above model/ (who there is) and timeline/ (what was stored). It knows nothing
 * of what events mean: objects/ knows what calls and interrupts act on, threads/ how threads
 * move, flow/ which event does what.
 *
 * Source: semantics.md; each function names the sentence it carries out.
 */
#ifndef WHYLATE_STATE_STATE_H
#define WHYLATE_STATE_STATE_H

#include <glib.h>
#include <stdint.h>

#include "event/event.h"
#include "event/queue.h"
#include "model/model.h"
#include "timeline/callstack.h"
#include "timeline/timeline.h"
#include "util/histogram.h"

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
	uint32_t buckets[OCTAVES]; /* by octave_of() */
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
	GHashTable *call_table; /* owned; the same by name, where there is something to say */
	struct idmap senders; /* owned; IPv4 address and port -> interned text */
	GArray *call_stats; /* struct call_stat by interned syscall name */
	struct idmap callbacks; /* addresses of hrtimers' functions -> interned text */
	struct idmap work_functions; /* the same of work queues' items */
	GArray *locks; /* owned; struct lock (locks.h), numbered from 1 */
	GArray *free_locks; /* owned; uint32_t: numbers that no lock has any more */
	struct idmap lock_index; /* -> number */
	bool inode_locks, pi_locks; /* there are some of kind LOCK_INODE, LOCK_PI */
	struct packet_keys *packet_keys; /* owned; net/packet_time.h; NULL: none */
	struct tries *tries; /* owned; tries.h: what threads try again and again; NULL: none */
	struct path_makers *makers; /* owned; path_tries.h: who made files; NULL: nobody */
	struct callstacks callstacks;
	uint32_t ipis[3]; /* interned vectors by which CPUs ask each other */
	uint32_t operations_wanted; /* bit per enum operation_kind; 0: record none */
	bool resources_wanted; /* … with the system calls' resources */
	bool facts_wanted; /* … with what is known of each operation: facts.h */
	struct idmap calls_open; /* … of host and system call: threads in it */
	struct idmap disk_index; /* … host and disk -> its place in */
	GArray *disk_queues; /* … owned; queue_facts.c; NULL: none */
	struct idmap guest_irqs; /* … guest_irqs.c: host, machine, APIC and vector -> place in */
	GArray *guest_irqs_due; /* … owned; int64_t: since then, INT64_MIN: not; NULL: none */
	struct idmap guest_processes; /* … host and process of each machine */
	struct idmap guest_hosts; /* … host -> its only machine's process */
	uint32_t entry_shape; /* … interned: what is known besides at a call's entry; 0 before */
	bool exchanges_wanted; /* record what is read from and written to connections */
	struct idmap first_reads; /* host, process and key of files that were read */
	struct idmap peer_ends; /* end of a socket for datagrams, and peer's name -> its end */
	struct idmap end_index; /* host and key of pipes and the like -> struct channel_end */
	bool has_guest_entries; /* kvm_entry and the like are recorded */
	bool has_waking, has_bios; /* sched_waking, block_bio_queue were recorded */
	bool has_callstacks; /* … and the context callstack-kernel */
	bool has_wait_stacks; /* some wait has one */
	bool has_user_stacks; /* … and callstack-user */
	bool has_copies; /* several channels record events of one name */
	uint64_t odd[ODD_COUNT];
	uint64_t odd_read[ODD_COUNT]; /* … when events began to be passed over */
	bool passes_over; /* they are: what is odd then is no matter */
	/* of CPUs whose thread was known; … away from another: what is recorded in part */
	uint64_t switches, strange_switches;
	struct user_counts user;
	struct idmap user_addresses; /* of functions -> interned text */
	int64_t time; /* of the event being handled */
	uint64_t steps; /* so many events: only for flow_check() */

	/* flow.c: what waits at the door */
	struct event_queue held; /* events before the first switch of some CPU */
	uint64_t held_user; /* … of them: of user space, which count for nothing */
	GArray *unnamed; /* struct cpu *: CPUs whose thread is awaited */
	uint64_t held_limit; /* 0: none (files); events, for a live trace */
};

void flow_state_init(struct flow *flow, struct model *model, struct timeline *timeline);
void flow_state_clear(struct flow *flow);

static inline struct thread *flow_thread(const struct flow *flow, uint32_t index)
{
	return model_thread(flow->model, index);
}

static inline struct host *flow_host(const struct flow *flow, const struct event *event)
{
	return model_host(flow->model, event->host);
}

/* Events of `cpu` are lost at the moment. */
static inline bool flow_in_gap(const struct flow *flow, const struct cpu *cpu)
{
	return flow->time < cpu->gap_end;
}

/* The thread current on `cpu` if it may be given the event; else NULL. */
static inline struct thread *flow_current(const struct flow *flow, const struct cpu *cpu)
{
	if (!is_thread(cpu->current) || flow_in_gap(flow, cpu))
		return NULL;
	return flow_thread(flow, cpu->current);
}

/* From `time` on the thread is in `leaf`. */
static inline void flow_append(struct flow *flow, struct thread *thread, int64_t time,
			       uint32_t leaf, uint32_t ref)
{
	track_append(flow->timeline, &thread->track, time, leaf, ref);
}

/* Writes the leaf that the stacks of `thread` (running on `cpu`) now mean. */
void flow_refresh(struct flow *flow, struct thread *thread, const struct cpu *cpu);

/* The newest life of that TID, IDMAP_NONE. */
static inline uint32_t thread_find(const struct flow *flow, uint32_t host, int32_t tid)
{
	return idmap_get(&model_host(flow->model, host)->tids, (uint32_t) tid);
}

/* … which is made if there is none, or if it is over. `comm` may be NULL. */
uint32_t thread_findnew(struct flow *flow, uint32_t host, int32_t tid, const char *comm);

/* The function at `address` by name: "0xffff…", interned once in `known`, one of the maps above. */
uint32_t flow_function(struct flow *flow, struct idmap *known, uint64_t address);
/* Functions of the kernel are known by address, which its symbols may name. */
static inline bool flow_has_addresses(const struct flow *flow)
{
	return flow->has_wait_stacks || flow->timeline->samples.used || flow->callbacks.count ||
	       flow->work_functions.count;
}

#endif
