/* SPDX-License-Identifier: MIT */
/* The timeline: for each thread the intervals of its states, and for each
 * blocked interval the record of what it waited in and what woke it.
 *
 * Place: written by flow/ in time order, read by the analyses afterwards. An
 * interval is only a begin and what it is, as leaves tile a thread's life:
 * it ends where the next begins.
 *
 *   track of a thread   |user|read      |blocked   |wait-cpu|read|user…
 *                            ^begin      ^ref → struct block
 *
 * Holdback: what is learned only at a system call's exit (its name when the
 * entry was not seen, the descriptor that poll found ready) is written into
 * the intervals of that call when the exit arrives, by walking back from the
 * end of the track to the call's begin. Nothing reads them before.
 *
 * Intervals and records lie in paged stores that spill to an unlinked file.
 *
 * Must hold: an interval ends where the next begins, so Working + Interrupted + Blocked + Unknown
 * is a thread's life by construction (tests/unit/test_random.c, tests/invariants.t). Late
 * knowledge is written into what it explains: explain_waits() at a call's exit, track_rewrite()
 * for calls and interrupts whose entry was not seen. A stored leaf does not depend on whether its
 * thread is the kernel's, or ksoftirqd: leaf_seen_as() decides that on reading; spans_next() cuts
 * at S, the time from which every CPU is known. This is the LTTV Delay Analyzer's holdback in
 * another form: nothing reads an interval before the trace has ended, so it is completed in place
 * instead of in a queue.
 */
#ifndef WHYLATE_TIMELINE_TIMELINE_H
#define WHYLATE_TIMELINE_TIMELINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "timeline/exchange.h"
#include "timeline/leaf.h"
#include "timeline/log.h"
#include "timeline/operation.h"
#include "timeline/packet.h"
#include "timeline/reason.h"
#include "util/corridor.h"
#include "util/pages.h"

#define NO_THREAD UINT32_MAX
#define IDLE_THREAD (UINT32_MAX - 1) /* TID 0 of whatever CPU */
#define NO_CPU UINT32_MAX

/* One stored interval, 12 bytes. */
struct interval {
	uint32_t delta; /* ns from the chunk's base */
	uint32_t leaf;
	uint32_t ref;   /* blocked: struct block; preempted, wait-cpu: CPU or NO_CPU;
			   irq: interned device name; host's: the virtual CPU's thread;
			   working in a call: interned key of the file that it opens,
			   executes or loads, with REF_FOR_WRITING, or of that it is
			   on, if it takes long;
			   working in no call: REF_RECLAIM; else 0 */
};

#define REF_RECLAIM 1 /* the kernel freed memory for a page fault */
#define REF_FOR_WRITING (1u << 31) /* an existing file was opened for that */

/* Records of a store that are reserved for one track; not in a kept image. */
struct side_by_side {
	uint32_t given; /* so many it had */
	uint32_t next, left;
};

/* The intervals of one thread: chunks of growing size. */
struct track {
	struct chunks chunks; /* they start with their heads */
	uint32_t hint; /* where the last look-up ended */
	struct side_by_side blocks, details;
};

/* A place in a track; `slot` is within the chunk. */
struct track_pos {
	uint32_t chunk, slot;
};

/* An interval as readers see it. */
struct span {
	int64_t begin, end; /* ns, [begin, end) */
	uint32_t leaf, ref;
};

enum waker_kind {
	WAKER_NONE,    /* not woken: still blocked */
	WAKER_UNKNOWN, /* woken, by whom was not seen */
	WAKER_THREAD,
	WAKER_IRQ,
	WAKER_VECTOR,
	WAKER_SOFTIRQ,
	WAKER_HRTIMER,
};

/* Why a waker is unknown; for people. */
enum waker_why {
	WHY_SEEN,
	WHY_NO_WAKEUP,     /* switched in with no wake-up event seen */
	WHY_REMOTE,        /* only sched_wakeup, in an inter-processor interrupt */
	WHY_IDLE,          /* in the idle loop, with no interrupt recorded */
	WHY_GAP,           /* the waking CPU's events were lost */
	WHY_CPU_UNKNOWN,   /* the waking CPU's thread was not known */
	WHY_TIME_LIMIT,    /* as WHY_IDLE, but the call returned at its time limit */
};

/* What is known of one blocked interval besides its times. */
struct block {
	uint32_t stack;       /* interned stack of the blocked thread */
	uint32_t resource;    /* interned resource, 0: none; of a child: session_resource() */
	uint32_t fault;       /* interned: what the page fault in the call was on, 0: none */
	uint32_t child;       /* thread waited for, NO_THREAD */
	int32_t fd;           /* descriptor waited on, -1 */
	uint32_t waker; /* thread current where the wake-up happened, NO_THREAD, IDLE_THREAD */
	uint32_t waker_stack; /* interned */
	uint32_t context; /* innermost frame there (PACK of frame_kind) */
	uint32_t label; /* interned: device of the IRQ; of a thread what its call is on
				 ("pipe:#3"); 0 */
	uint32_t detail; /* struct wake_detail, 0: none */
	uint32_t cpu; /* where the wake-up happened, NO_CPU */
	uint8_t kind; /* enum waker_kind */
	uint8_t why; /* enum waker_why */
	uint8_t operation; /* futex command, IDLE_OPERATION, else NO_OPERATION */
	bool same_file : 1; /* the waker was in a call on the same file */
	bool to_all : 1; /* the waker's call was to wake all who wait for the same */
	bool deadline : 1; /* a sleep until a time of day, not for a length */
	bool own_futex : 1; /* only threads of its own process can wake it there */
	uint32_t lock; /* number of the lock waited for, 0: none known */
	uint32_t reason; /* struct reason, 0: what ended it tells all */
	uint32_t sent; /* interned: what the thread wrote to since its wait before (a socket, a
				 pipe; files do not count), "several"; 0: nothing */
	int32_t sent_fd; /* … by which descriptor; -1: none, or several */
	uint32_t sent_ago; /* … ns from when it last began to, to the wait; UINT32_MAX: longer */
	uint32_t callpaths; /* number of struct callpaths (callstack.h), 0: not recorded */
	int64_t timer; /* ns of the timer armed in the call before: a sleep's length,
				 a wait's timeout; -1: none seen */
	uint32_t begun; /* stopped: struct wake_detail of the signal that did it, 0 */
	uint32_t arrival : 28; /* ns from the wake-up until the other CPU that was to run the
				 thread took note of it; 0: same CPU, or not seen */
	uint32_t idle_state : 4; /* depth of sleep of that idle CPU, NO_IDLE_STATE */
};

#define ARRIVAL_MAX ((1 << 28) - 1) /* ns: this long or longer */
#define NO_IDLE_STATE 15 /* did not idle, or not recorded */

#define NO_OPERATION 0xff
#define IDLE_OPERATION 0xfe /* a kernel thread has nothing to do: what ends it is work for it */
#define FLUSH_SECTOR UINT64_MAX

enum detail_kind {
	DETAIL_NONE,
	DETAIL_TIMER, /* a timer that expired */
	DETAIL_REQUEST, /* a block request that completed */
	DETAIL_PACKET, /* a packet that was received */
	DETAIL_SIGNAL, /* a signal that was generated */
	DETAIL_WORK, /* a kernel worker's item */
	DETAIL_COMMIT, /* a file system's journal commits a transaction */
	DETAIL_RAISE, /* a thread raised the softIRQ, nothing else is known */
};

enum detail_flags {
	DETAIL_BIOS = 1, /* request: `thread` queued one of its bios; it is seen */
	DETAIL_READAHEAD = 2, /* request: made by read-ahead */
	DETAIL_DOUBTFUL = 4, /* request: perhaps two on one sector: no times */
	DETAIL_INFERRED = 8, /* concluded: not shown by events */
	DETAIL_IN_INTERRUPT = 16, /* work: queued there */
	DETAIL_BEHALF_SEEN = 32, /* request: `behalf` queued the worker's item */
	DETAIL_DEADLINE = 64, /* timer: for a time of day, not for a length (call_keeps_time()) */
	DETAIL_BY_DAY = 1, /* timer: runs by the time of day, which somebody may set */
	DETAIL_CHOSEN_PORTS = 128, /* packet: neither port is one that a system gave (PORT_GIVEN) */
};

/* What was done in the waking context just before the wake-up. */
struct wake_detail {
	uint8_t kind; /* enum detail_kind */
	uint8_t flags; /* enum detail_flags */
	uint16_t threads; /* request: so many queued its bios */
	uint32_t thread; /* who armed, asked for or issued, sent, queued, raised
				it; NO_THREAD */
	uint32_t text; /* interned: syscall that armed, device name, packet's sender,
				work's function (address) */
	uint32_t call; /* packet, request: interned system call that sent or
				asked for it, 0 */
	uint32_t behalf; /* request: whose work `thread` did then; timer: who set the time of
				day meanwhile, by which it runs; NO_THREAD */
	uint32_t origin; /* request: interned name of the bio's device, if another, 0;
				timer: interned address of its function, 0 */
	union {
		uint32_t behind; /* work: struct wake_detail of what queued it, 0 */
		uint32_t completed; /* request, not stored yet: place in host.completed, from 1 */
	};
	uint32_t bios; /* request: bios in it; 0: not recorded */
	union {
		uint32_t sectors; /* request: of 512 bytes */
		uint32_t cpu; /* packet: on which it was received, where `asked` is known */
	};
	uint32_t reason; /* request: struct reason why the device got it late, 0 */
	int64_t begin; /* armed, issued, sent, queued, raised: ns; 0 unknown */
	int64_t asked; /* request: when `thread` asked for it: ns; 0 unknown; timer by the time of
			  day: when it is to expire, by that; packet of this host: when it had
			  left its device, and lay with a CPU from then on: ns; 0 unknown */
	int64_t requested; /* timer: ns from arming to expiry asked for, -1 unknown */
	union {
		int64_t queued; /* request: ns from first bio or insert to issue, -1 not
					recorded */
		int64_t clock_error; /* packet from another host: of the two clocks, -1 unknown */
		int64_t slack; /* timer: ns that it may be later than asked for, -1 not recorded */
	};
	union {
		int64_t served; /* request: ns from issue to complete, -1 not recorded */
		int64_t way; /* packet from another host: ns on the way, -1 not from one */
	};
	union {
		uint64_t number; /* request: sector or FLUSH_SECTOR; signal: its number;
					commit: the transaction's */
		uint32_t packet; /* packet: struct packet, 0 */
	};
};

/* It came from another traced host, and which packet it was there is known. */
static inline bool packet_from_outside(const struct wake_detail *detail)
{
	return detail->kind == DETAIL_PACKET && detail->way >= 0;
}

/* Its way took less time than the clocks can tell. */
static inline bool packet_is_undecidable(const struct wake_detail *detail)
{
	return packet_from_outside(detail) && detail->way < detail->clock_error;
}

/* One change of what runs on a CPU. */
struct run {
	int64_t begin;
	uint32_t thread; /* thread, IDLE_THREAD, NO_THREAD for unknown */
	int32_t priority; /* when it was switched in: sched_switch's next_prio, or
			     NO_PRIORITY (event.h) */
};

/* Where what is known of an operation begins, and the bytes of it: facts.h. */
struct fact_place {
	uint32_t at; /* its first word + 1; 0: none */
};

struct fact_word {
	uint64_t bytes; /* in the order of memory */
};

/* Facts that were written lately. */
#define FACTS_RECENT 1024
struct fact_recent {
	uint32_t hash;
	uint32_t at; /* their first word */
};

#define RUN_HINTS 64 /* CPUs: more of them share */

struct timeline {
	struct pages intervals;
	struct pages blocks; /* index 0 unused */
	struct pages details; /* index 0 unused */
	struct pages reasons; /* index 0 unused */
	struct pages runs; /* through struct log, one of each CPU */
	struct pages holds; /* through struct log, two of each lock */
	struct pages operations; /* index 0 unused */
	struct pages fact_places; /* struct fact_place, by operation; the last may have none */
	struct pages facts; /* struct fact_word */
	struct fact_recent facts_recent[FACTS_RECENT]; /* by their hash */
	struct pages packets; /* struct packet; index 0 unused */
	struct pages exchanges; /* struct exchange; index 0 unused */
	struct pages ends; /* struct channel_end; index 0 unused */
	struct pages samples; /* through struct log, one of each thread */
	struct pages counts; /* struct counted_run; the same */
	size_t memory; /* bytes to keep in memory, as timeline_init() was told */
	uint32_t chunks_read; /* of intervals, since timeline_ease() was called */
	/* By their logs: where the last look-up in one ended: the next goes on there, mostly.
	 * Each thread has its own (parts/). */
	struct run_hint {
		const struct log *runs; /* borrowed; NULL: none yet */
		uint32_t place;
	} run_hints[RUN_HINTS];
	uint64_t *faults; /* owned: page faults of this thread when timeline_ease() let go */
};

/* What is stored, each in a store of its own. */
enum store {
	STORE_INTERVALS,
	STORE_BLOCKS,
	STORE_DETAILS,
	STORE_REASONS,
	STORE_RUNS,
	STORE_HOLDS,
	STORE_OPERATIONS,
	STORE_FACT_PLACES, /* through facts.h, as are the next */
	STORE_FACTS,
	STORE_PACKETS,
	STORE_EXCHANGES,
	STORE_ENDS,
	STORE_SAMPLES,
	STORE_COUNTS,
	TIMELINE_STORES,
	/* not the timeline's: */
	STORE_LOCKS = TIMELINE_STORES, /* flow.locks, numbered from 1 */
	STORE_PLACES, /* model.places */
};

struct store_info {
	size_t offset; /* of its struct pages in struct timeline */
	size_t record_size;
	uint32_t share; /* one part of so many of the memory, before it spills */
	uint32_t per_chunk; /* records in a chunk of its logs; 0: it has none */
	bool from_1; /* number 0 stands for none */
};

extern const struct store_info timeline_stores[TIMELINE_STORES];

static inline struct pages *timeline_store(struct timeline *timeline, enum store store)
{
	return (void *) ((char *) timeline + timeline_stores[store].offset);
}

/* The same, to be read only. */
static inline const struct pages *timeline_stored(const struct timeline *timeline, enum store store)
{
	return (const void *) ((const char *) timeline + timeline_stores[store].offset);
}

/* `memory`: bytes to keep in memory before the stores spill. */
void timeline_init(struct timeline *timeline, size_t memory);
/* One of so many that are recorded at the same time: keeps its part of the memory. Before anything
 * is recorded. */
void timeline_share(struct timeline *timeline, uint32_t among);
void timeline_clear(struct timeline *timeline);
/* After a fork(), in the child: what is written from now on is its own. `reads`: what was
 * recorded is not changed any more, as of a kept image (pages_detach()). */
void timeline_detach(struct timeline *timeline, bool reads);

/* No more is recorded: of the stores that have spilled, what memory kept follows (the first part of
 * each, 48 MB in all), so that it is free for what is asked of them. */
void timeline_spill_first(struct timeline *timeline);

/* Everything that was spilled leaves resident memory: for questions that go through all of
 * time, over all threads. */
void timeline_let_go(const struct timeline *timeline);
/* The same, to be called again and again: does nothing until so much has been read that it pays
 * (what is let go costs a page fault each time that it is looked at). */
void timeline_ease(const struct timeline *timeline);
/* The same, once in so many calls: for each record of a list, which lies all over a store. `count`
 * are the records so far: each may have brought in 64 KB. */
static inline void timeline_ease_now_and_then(const struct timeline *timeline, uint32_t count)
{
	if (count % 256 == 0)
		timeline_ease(timeline);
}

void track_clear(struct track *track);

/* From `time` on the thread is in `leaf`. Nothing is written where that is
 * so already; an interval of no length is replaced. A time before the last
 * interval's begin counts as that begin. */
void track_append(struct timeline *timeline, struct track *track, int64_t time, uint32_t leaf,
		  uint32_t ref);

/* Sets all times of the track right by `line`. */
void track_move(struct timeline *timeline, struct track *track, const struct clock_line *line);

/* Forgets everything from the interval at `pos` on. */
void track_cut(struct timeline *timeline, struct track *track, struct track_pos pos);

bool track_empty(const struct track *track);

/* The last interval; the track must not be empty. */
struct interval *track_last(struct timeline *timeline, const struct track *track);
int64_t track_last_begin(struct timeline *timeline, const struct track *track);

/* The place of the interval that holds `time` (the first one if it begins
 * later). False if the track is empty. */
bool track_find(const struct timeline *timeline, const struct track *track, int64_t time,
		struct track_pos *pos);
struct track_pos track_end_pos(const struct timeline *timeline, const struct track *track);

/* Steps over a track; false past its end. `life_end` ends the last one. */
bool track_read(const struct timeline *timeline, const struct track *track, struct track_pos *pos,
		int64_t life_end, struct span *span);
/* The same, and passes over intervals on the CPU; but it may read the last one of a chunk. */
bool track_read_off_cpu(const struct timeline *timeline, const struct track *track,
			struct track_pos *pos, int64_t life_end, struct span *span);
/* Steps back: the interval before `pos` and its begin; NULL at the beginning. */
struct interval *track_step_back(const struct timeline *timeline, const struct track *track,
				 struct track_pos *pos, int64_t *begin);

/* Of a thread's track: the number of a block of which nothing is known yet. */
uint32_t block_new(struct timeline *timeline, struct track *track);
static inline struct block *block_at(const struct timeline *timeline, uint32_t index)
{
	return pages_at(&timeline->blocks, index);
}

/* `track`: of the thread that it woke; NULL: of no one's. */
uint32_t detail_new(struct timeline *timeline, struct track *track,
		    const struct wake_detail *detail);
static inline const struct wake_detail *detail_at(const struct timeline *timeline, uint32_t index)
{
	return pages_at(&timeline->details, index);
}

/* A reason without threads, times and numbers. */
struct reason reason_of_kind(enum reason_kind kind);
/* Stores it: its number, for struct block. */
uint32_t reason_new(struct timeline *timeline, const struct reason *reason);
static inline const struct reason *reason_at(const struct timeline *timeline, uint32_t number)
{
	return pages_at(&timeline->reasons, number);
}

void run_append(struct timeline *timeline, struct log *runs, int64_t time, uint32_t thread,
		int32_t priority);
/* Index of the run that holds `time`; `used` if the track begins later. */
uint32_t run_find(const struct timeline *timeline, const struct log *runs, int64_t time);
const struct run *run_at(const struct timeline *timeline, const struct log *runs, uint32_t index);

#endif
