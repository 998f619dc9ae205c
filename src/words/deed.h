/* SPDX-License-Identifier: MIT */
/* Deeds: what a thread did while somebody waited, in which call, on what, how often and how long.
 *
 *   slept 40 times, 10 to 30 ms each, 799.3 ms in all, by its own timer (clock_nanosleep)
 *
 * Part of words/. The verdict's shares and the facts that stand out are told by it; what only one
 * of them knows (who had the CPU, whose packets, what a wait's reason says) stands behind it.
 */
#ifndef WHYLATE_WORDS_DEED_H
#define WHYLATE_WORDS_DEED_H

#include "words/times.h"
#include "run/session.h"

enum did {
	DID_WORK,      /* on a CPU: in a call if there is one */
	DID_OWN_CODE,
	DID_KERNEL,    /* as a kernel thread, or in a softIRQ of one */
	DID_SLEEP,     /* by its own timer */
	DID_GUEST,     /* a virtual CPU's thread ran its guest */
	DID_HALTED,    /* … had the CPU while that had halted */
	DID_HOST,      /* a guest's: its host did not run its virtual CPU */
	DID_READY,     /* was ready, without a CPU */
	DID_DEVICE,    /* waited for `object` */
	DID_NETWORK,
	DID_LIMIT,     /* was kept back by one */
	DID_THROTTLED, /* … of CPU time */
	DID_RUN,       /* had the CPU that the waiter was ready for */
	DID_END,       /* was ended by the kernel: it dumped its core, gave back its memory */
	DID_WAIT,      /* in `call` on `object` */
	DID_STOP,      /* was stopped, by a signal or a tracer */
	DID_INTERRUPTED,
	DID_OTHER,     /* what is not known, or waited for who waits for it */
};

struct deed {
	uint32_t thread; /* the first that did it, … */
	uint32_t name;   /* … its interned name: those of one name are one … */
	bool several;    /* … and others did, … */
	bool processes;  /* … of several processes */
	int32_t pid;     /* of the thread, -1: not known */
	uint8_t did;     /* enum did */
	bool blocked;    /* DID_END: it was blocked meanwhile */
	uint32_t call;   /* interned system call, or the handler of a signal (handler.h); 0 */
	uint32_t object; /* interned key, 0 */
	struct times times;
};

/* "slept 30.0 ms by its own timer (clock_nanosleep)"; without `sum` not how long in all; `goes_on`:
 * the verb stands before: "and for 12 ms in read". */
void append_deed(GString *text, const struct session *session, const struct deed *deed, bool sum,
		 bool goes_on);
/* A sleep that others could have ended: it waited for a wake-up (of a condition, a semaphore) or a
 * signal, none came, but its own time limit: "waited 700 ms until its own time limit (futex)". */
bool deed_is_time_limit(const struct session *session, const struct deed *deed);
/* "hog-0 (9)"; of several of one name "hog (several threads)". */
void append_doer(GString *text, const struct session *session, const struct deed *deed);
/* "hog-0 (9), hog-1 (10) and 3 others": who has such deeds, most first; `max` of them. */
void append_doers(GString *text, const struct session *session, const GArray *deeds, enum did did,
		  guint max);

/* `deeds`: of struct deed. */
void deeds_add(GArray *deeds, const struct deed *deed);
/* Most first. */
void deeds_sort(GArray *deeds);

#endif
