/* SPDX-License-Identifier: MIT */
/* Frames of the control-flow stack and leaves of the Working / Interrupted /
 * Blocked tree, each packed into 32 bits: a kind and a number.
 *
 * Place: timeline/, used by flow/ to write and by the analyses to read. The
 * number of a syscall or vector is its interned name; of an IRQ or softIRQ
 * its number. Source: semantics.md, "The control-flow stack of a thread" and
 * "Working, Interrupted, Blocked".
 */
#ifndef WHYLATE_TIMELINE_LEAF_H
#define WHYLATE_TIMELINE_LEAF_H

#include <stdbool.h>
#include <stdint.h>

#define PACK_BITS 26
#define PACK_MASK ((1u << PACK_BITS) - 1)
#define PACK(kind, number) ((uint32_t) (kind) << PACK_BITS | ((uint32_t) (number) & PACK_MASK))
#define PACK_KIND(packed) ((packed) >> PACK_BITS)
#define PACK_NUMBER(packed) ((packed) & PACK_MASK)

enum frame_kind {
	FRAME_UNKNOWN,
	FRAME_USER, /* read as kthread for kernel threads */
	FRAME_IDLE,
	FRAME_SYSCALL,
	FRAME_FAULT,
	FRAME_IRQ,
	FRAME_VECTOR,
	FRAME_SOFTIRQ,
	FRAME_HRTIMER,
};

/* What is stored. Kernel threads are often known as such only later, so the
 * stored leaves do not depend on it; leaf_seen_as() gives what is reported. */
enum leaf_kind {
	LEAF_UNKNOWN,
	LEAF_WORK_USER,
	LEAF_WORK_KTHREAD,  /* reported only */
	LEAF_WORK_SYSCALL,
	LEAF_WORK_SOFTIRQ,  /* reported only: ksoftirqd's own work */
	LEAF_WORK_GUEST,    /* a virtual CPU's thread: a guest runs */
	LEAF_WORK_HALTED,   /* … its guest's CPU has halted: KVM polls, and prepares its sleep */
	LEAF_INT_IRQ,
	LEAF_INT_VECTOR,
	LEAF_INT_SOFTIRQ,
	LEAF_INT_HRTIMER,
	LEAF_PREEMPTED,
	LEAF_WAIT_CPU,
	LEAF_HOST,          /* a guest's: its virtual CPU did not run; enum host_taken */
	LEAF_BLOCK_STOPPED,
	LEAF_BLOCK_TRACED,
	LEAF_BLOCK_KTHREAD, /* reported only */
	LEAF_BLOCK_SYSCALL,
	LEAF_BLOCK_FAULT,
	LEAF_BLOCK_OTHER,   /* an untraced trap, or work on the way to user mode */
	LEAF_BLOCK_UNKNOWN,
};

/* Why a virtual CPU did not run. */
enum host_taken {
	HOST_PREEMPTED, /* its thread was ready: preempted, or woken and without a CPU */
	HOST_BLOCKED,   /* its thread waited: for what the guest had asked of its machine */
	HOST_THROTTLED, /* its thread was ready, and kept off an idle CPU: a quota */
	HOST_TAKEN
};

enum wib { WIB_UNKNOWN, WIB_WORKING, WIB_INTERRUPTED, WIB_BLOCKED };

static inline enum wib leaf_wib(uint32_t leaf)
{
	uint32_t kind = PACK_KIND(leaf);

	return kind == LEAF_UNKNOWN        ? WIB_UNKNOWN
	       : kind < LEAF_INT_IRQ       ? WIB_WORKING
	       : kind < LEAF_BLOCK_STOPPED ? WIB_INTERRUPTED
					   : WIB_BLOCKED;
}

static inline bool leaf_is_blocked(uint32_t leaf)
{
	return PACK_KIND(leaf) >= LEAF_BLOCK_STOPPED;
}

/* Off the CPU: blocked, preempted or waiting for it, or the host does not run that. */
static inline bool leaf_is_off_cpu(uint32_t leaf)
{
	return PACK_KIND(leaf) >= LEAF_PREEMPTED;
}

/* Ready to run, and without a CPU of its kernel's. */
static inline bool leaf_is_ready(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_PREEMPTED || PACK_KIND(leaf) == LEAF_WAIT_CPU;
}

/* The leaf as reported for a kernel thread and for ksoftirqd. */
static inline uint32_t leaf_seen_as(uint32_t leaf, bool kthread, bool ksoftirqd)
{
	switch (PACK_KIND(leaf)) {
	case LEAF_WORK_USER:
		return kthread ? PACK(LEAF_WORK_KTHREAD, 0) : leaf;
	case LEAF_INT_SOFTIRQ:
		return ksoftirqd ? PACK(LEAF_WORK_SOFTIRQ, PACK_NUMBER(leaf)) : leaf;
	case LEAF_BLOCK_FAULT:
	case LEAF_BLOCK_OTHER:
	case LEAF_BLOCK_UNKNOWN:
		return kthread ? PACK(LEAF_BLOCK_KTHREAD, 0) : leaf;
	default:
		return leaf;
	}
}

#endif
