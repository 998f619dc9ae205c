/* SPDX-License-Identifier: MIT */
/* Operations: what has a latency. A frame that was seen from its entry to its
 * exit (system call, function, IRQ, vector, softIRQ, hrtimer callback), a
 * block request's way, a wait.
 *
 * Place: timeline/, written by flow/ while reading (frames and requests) and
 * by the analyses afterwards (waits, from the intervals), read by the profiles.
 *
 * Frames nest, and a record is written when its frame ends. So the frames
 * inside one lie right before it in the list of whoever they counted for, and
 * `previous` leads through that list from the newest to the oldest:
 *
 *   thread   ├──────── pwrite64 ─────────────────┤
 *              ├─ vfs_write ──────┤   ├ vector ┤
 *                  ├ irq ┤              ├hrt┤
 *   records        1     2                3    4  5      5 → 4 → 3 → 2 → 1
 *
 * A frame of an interrupt is in the list of the thread that was interrupted,
 * or in its CPU's when that was idle or not known.
 *
 * Operations are recorded only for the commands that ask for them. Profiles read the store in
 * passes: counts, percentiles (8 to 13 bits of the value a pass), root causes. An operation of
 * which only one end was seen is recorded for `functions` and `diff` alone; it has no latency.
 */
#ifndef WHYLATE_TIMELINE_OPERATION_H
#define WHYLATE_TIMELINE_OPERATION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/pages.h"

/* PACKed with a number, as frames are. */
enum operation_kind {
	OPERATION_SYSCALL,  /* interned name */
	OPERATION_FUNCTION, /* interned name: of the kernel's */
	/* the last that a thread calls; interned "0xADDRESS": a function of its thread's process */
	OPERATION_USER,
	OPERATION_IRQ, /* number */
	OPERATION_VECTOR, /* interned name */
	OPERATION_SOFTIRQ, /* number */
	OPERATION_HRTIMER, /* interned text of the callback's address, 0 */
	OPERATION_KVM_EXIT, /* interned "kvm-exit:REASON": a guest was left, until it was entered */
	OPERATION_QUEUED, /* interned "MAJOR:MINOR": block request, first bio or insert to issue */
	OPERATION_SERVED, /* the same: block request, issue to complete */
	OPERATION_WAIT_CPU, /* woken to running */
	OPERATION_BLOCKED, /* enum cause_kind of what ended the wait */
	OPERATION_FAULT, /* a wait in a page fault */
	OPERATION_GUEST_IRQ, /* number: an interrupt was due in a guest, until that had it */
	OPERATION_BUSY, /* a thread's turn between two waits for what comes next */
	OPERATION_TIMED, /* those before it have a latency */
	/* interned name: a function's begin, by a probe that tells no ends; `functions` alone */
	OPERATION_REACHED = OPERATION_TIMED,
	OPERATION_KINDS
};

/* The kinds that nest, as bits: system calls, functions, interrupts, exits of guests. */
#define OPERATIONS_OF_FRAMES ((1u << (OPERATION_KVM_EXIT + 1)) - 1)

/* In enum operation's bits besides: record the calls that were seen by half too; `whylate
 * functions` alone wants them. */
#define OPERATIONS_BY_HALF (1u << 31)

/* How much of a call was seen. */
enum operation_half {
	OPERATION_WHOLE,
	OPERATION_ENTRY_UNSEEN, /* it was in it when the recording, or after a gap it, went on;
				   or its process was when it forked */
	OPERATION_OPEN, /* not left when the thread or the trace ended, or at exec */
};

#define OPERATION_DURATION_MAX ((INT64_C(1) << 48) - 1) /* ns: 3 days */
#define OPERATION_CPU_UNKNOWN ((1u << 13) - 1)
#define OPERATION_CPU_MAX (OPERATION_CPU_UNKNOWN - 1) /* this one or a higher one */

struct operation {
	int64_t begin;
	uint64_t duration : 48; /* ns */
	uint64_t half : 2; /* enum operation_half */
	uint64_t cpu : 13; /* where it ended, of a wait: was ended; operation_cpu() */
	uint64_t off_cpu : 1; /* its thread left the CPU meanwhile */
	uint32_t what; /* PACK of operation_kind */
	uint32_t thread; /* request: who asked for it; else operation_of_host() */
	uint32_t ref; /* syscall, IRQ: interned resource or device, 0;
				   request: interned system call it was issued in, 0;
				   blocked: struct block; wait-cpu: CPU;
			 busy: struct block of the wait before it */
	uint32_t previous; /* in the same list, 0: none */
};

static inline int64_t operation_end(const struct operation *operation)
{
	return operation->begin + (int64_t) operation->duration;
}

static inline uint64_t operation_cpu(uint32_t cpu)
{
	return cpu == UINT32_MAX         ? OPERATION_CPU_UNKNOWN
	       : cpu > OPERATION_CPU_MAX ? OPERATION_CPU_MAX
					 : cpu;
}

/* What stands for the thread where there is none: the idle loop, or not known. */
#define OPERATION_HOSTS 0x10000u
static inline uint32_t operation_of_host(uint16_t host)
{
	return UINT32_MAX - OPERATION_HOSTS + host;
}

static inline bool operation_has_thread(const struct operation *operation)
{
	return operation->thread < UINT32_MAX - OPERATION_HOSTS;
}

/* Appends to the list whose newest record is `*newest`. An operation too long
 * to be stored is left out. */
void operation_append(struct pages *operations, uint32_t *newest,
		      const struct operation *operation);

static inline struct operation *operation_at(const struct pages *operations, uint32_t index)
{
	return pages_at(operations, index);
}

/* A frame that was entered and not left yet. */
struct open_frame {
	int64_t begin;
	uint32_t what; /* PACK of operation_kind */
	uint32_t ref;
	uint32_t thread; /* current there */
};

#endif
