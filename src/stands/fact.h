/* SPDX-License-Identifier: MIT */
/* Facts: what one thread, or several of one name, lost to one thing.
 *
 *   subject      object                     amount     certainty
 *   client (9)   waited for the disk vda    33.8 ms    seen       in recv, for server (12), which …
 *
 * Place: stands/. Facts are gathered from critical paths (victims.c), ranked (stands.c) and put
 * into words (sentence.c): nowhere else are sentences about them made, so text, page, JSON and
 * findings say the same.
 */
#ifndef WHYLATE_STANDS_FACT_H
#define WHYLATE_STANDS_FACT_H

#include "contention/holders.h"
#include "path/path.h"
#include "path/spins.h"
#include "waits/wait.h"
#include "words/chain.h"
#include "words/deed.h"

/* Names: interface.md, "stands_out". */
/* clang-format off */
#define STAND_KINDS(KIND)                                                                         \
	KIND(DEADLOCK, "deadlock", "Deadlock")                                                    \
	KIND(INVERSION, "priority-inversion", "Priority inversion")                               \
	KIND(LOCK, "lock", "Lock")                                                                \
	KIND(CONVOY, "convoy", "Lock convoy")                                                     \
	KIND(DEVICE, "device", "Device")                                                          \
	KIND(CPU, "cpu", "CPU")                                                                   \
	KIND(QUOTA, "quota", "Limit")                                                             \
	KIND(INTERRUPT, "interrupt", "Interrupt")                                                 \
	KIND(SOFTIRQ, "softirq", "SoftIRQ")                                                       \
	KIND(FAULT, "page-fault", "Page faults")                                                  \
	KIND(SWAP, "swap", "Swap")                                                                \
	KIND(MEMORY, "memory", "Memory")                                                          \
	KIND(WAKEUP, "wake-up", "Slow wake-ups")                                                  \
	KIND(NETWORK, "network", "Network")                                                       \
	KIND(TIMEOUT, "timeout", "No answer")                                                     \
	KIND(RETRANSMISSION, "retransmission", "Lost packets")                                    \
	KIND(DELAYED_ACK, "delayed-ack", "Delayed ACK")                                           \
	KIND(CHILD, "child", "Child process")                                                     \
	KIND(PROCESS, "process", "Another thread")                                                \
	KIND(STOPPED, "stopped", "Stopped")                                                       \
	KIND(TIMER, "timer", "Another thread's sleep")                                            \
	KIND(FAILURE, "failure", "Retries")                                                       \
	KIND(HOST, "host", "Another host")                                                        \
	KIND(LOST, "lost-events", "Lost events")
/* clang-format on */

#define STAND_ENUM(kind, name, title) STAND_##kind,
enum stand_kind { STAND_KINDS(STAND_ENUM) STAND_KIND_COUNT };
#undef STAND_ENUM

const char *stand_kind_name(enum stand_kind kind);
const char *stand_kind_title(enum stand_kind kind);

/* A chain of waits, from the victim on; what it leads to is not in it. */
struct chain {
	GArray *links; /* owned; struct link */
	uint32_t last; /* thread that it leads to; the victim's if there are no links */
	uint32_t leaf; /* … and the state that it was in there most of the time, */
	int64_t leaf_ns; /* … by which that one leads all others together */
	bool ending; /* … and the kernel was ending that thread */
	int64_t ns;
	int64_t begin, end; /* the longest of these waits of the victim */
};

/* A part of a victim's time that it lost. */
struct lost_part {
	uint32_t victim;
	uint32_t thread; /* whose doing it was: the victim's own, or of whom it waited for */
	int64_t begin, end;
	uint32_t name, call, object; /* … its deed's */
	uint32_t on; /* a call's work: interned key of its file; a softIRQ's: of its packets; 0 */
	uint8_t did;
};

struct fact {
	uint8_t kind;       /* enum stand_kind */
	bool inferred, spans_gap;
	uint16_t host;
	uint32_t victim;    /* thread; of several the one that lost most */
	uint32_t subject;   /* who did it or has it, NO_THREAD */
	uint32_t name;      /* … interned stem of its name, NO_THREAD */
	uint32_t object;    /* interned key, 0 */
	uint32_t threads;   /* of the victim's name */
	bool numbered;      /* … and only a number tells their names apart */
	uint32_t leaders;   /* … of them so many are processes, in what was added up */
	int64_t ns;         /* of the victim's time; of several added up */
	int64_t most;       /* … of the one that lost most */
	int64_t life;       /* … the part of the window that that one lived in */
	uint64_t count;     /* waits … */
	int64_t waits;      /* … ns, in full: with what of them went to something else */
	int64_t longest, shortest; /* … each */
	int64_t begin, end; /* the longest of them; once sorted, of those by the main chain */
	GArray *deeds;      /* owned; struct deed, most first; summed over the victims */
	GArray *holders;    /* owned; struct deed, DID_OTHER: who had the lock, most first */
	GArray *works; /* owned; of the deeds DID_WORK, by call: that is `object` */
	GArray *files; /* owned; struct deed: objects that were read or written, most first */
	GArray *chains; /* owned; struct chain, most first */
	GArray *parts;  /* owned; struct lost_part: all of `ns` */
	uint32_t control; /* control_file() of the victim's own waits: the same of all, else 0 */
	bool own;         /* there are such */
	struct wait told; /* the longest part that a reason or a device ended; block NULL */
	int64_t told_ns;
	/* while it is gathered: such parts before (0) and after (1) the difference was made that
	 * tries waited for; `told` is of those that are more */
	struct told {
		struct wait wait;
		int64_t longest, ns;
		bool inferred;
	} parts_told[2];
	const struct reason *last_reason; /* while it is gathered: of the wait that came last */
	uint32_t reasons; /* so many different ones: calls tried again, each until it passed */
	int64_t faults; /* ns of it in page faults */
	GArray *requests; /* owned; const struct wake_detail *: that these waits were for, of the
			     device; one that several waited for is there more than once */
	uint32_t filler; /* one of whose name most of the device's requests were, NO_THREAD, … */
	guint filling, filled; /* … so many of these requests */
	bool fills; /* the victim is such a one: others were late by it */
	int64_t dirty; /* ns of it kept back as too many pages were dirty */
	int64_t child; /* … in waits for a child that did it */
	int64_t piped; /* … in waits for what comes through a pipe */
	struct inversion inversion; /* of a fact of kind INVERSION: in its longest wait */
	const struct spin *spin; /* borrowed; asked without a pause: the longest time; NULL */
	uint64_t tries; /* … in all; without `spin`: yields of who spins (path/spins.h) */
	struct spinning spinning; /* … of the victim that did most */
	int64_t slack; /* ns; who overslept: so late the timer of the longest time may be; 0 */
	int64_t asked; /* … and what it was asked for, 0: it is of nobody who overslept, */
	uint32_t clock_set_by; /* … and who set its clock meanwhile, NO_THREAD */
	uint32_t traced_by; /* … and who traced who did most meanwhile (ptrace(2)), NO_THREAD, … */
	uint64_t traced; /* … stopping it so often */
	uint64_t lost; /* events, as the tracer counted them */
	uint8_t stuck; /* enum stuckness: waits that never got what they were for … */
	uint32_t opposite, opposite_on; /* … as this thread, on that, did not; NO_THREAD */
	uint32_t killed; /* so many processes by the kernel, for memory; else 0 */
	uint32_t children; /* … of so many names, put together; else 0 */
	int64_t tracing; /* … that the tracer had the CPU, if a fifth of it or more; else 0 */
	int64_t tracing_beside; /* … that or another one, if half of it or more; else 0 */
	uint32_t tracer; /* … and the one that had most */
	bool held_open; /* perhaps as is meant: long polling */
	bool diffuse; /* a CPU that many had a little each */
	bool even; /* another's work, a piece for each request, little of it in much longer ones */
	bool gives_way; /* the victim was made to: thread_gives_way() */
	int64_t behind; /* … in waits of one for another thread of its name, … */
	int64_t turns; /* … of these for what goes round: wait_is_for_share() */
	int64_t backlog; /* … packets lay in a CPU's receive queue, … */
	uint32_t backlog_cpu; /* … which one, the longest time, … */
	int64_t backlog_longest; /* … and how long that was */
	int64_t pinned; /* … ready beside a CPU that was idle and forbidden */
	int32_t last_wait; /* while it is gathered: the victim's last wait, -1 … */
	int64_t last_end; /* … and until when that was put down; */
	int64_t stretch,
		length; /* … when it, or that without a CPU, began, INT64_MIN: none; its ns */
};

void fact_free(struct fact *fact);
/* Adds what `from`, of another victim or another root, lost to what `to` did. */
void fact_add(struct fact *to, const struct fact *from);
/* A part that is put down to what `wait` was for, `after` the difference was made. */
void fact_tell(struct fact *fact, const struct wait *wait, int64_t ns, bool after, bool inferred);
/* Deeds and chains, most first. */
void fact_sort(struct fact *fact);
/* The thread that the victim itself waited for, NO_THREAD: none, or only one of the kernel's. */
uint32_t chain_waits_for(const struct session *session, const struct chain *chain);
/* What the wait is on, if that is a file by which the kernel or a device is told something: that
 * says what for. Interned, 0. */
uint32_t control_file(const struct session *session, const struct block *block);
void add_control(struct fact *fact, uint32_t control);
/* How long such deeds took, ns. */
int64_t fact_did(const struct fact *fact, enum did what);
struct fact *fact_new(const struct fact *like);
/* So much of it was lost in [from, to), ns. */
int64_t fact_meanwhile(const struct fact *fact, int64_t from, int64_t to);
/* The deed's times, as who did it knows them: what he did while several waited for it counts once.
 * `works`: it is one of fact->works. */
struct times fact_times(const struct fact *fact, const struct deed *deed, bool works);

#endif
