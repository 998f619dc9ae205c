/* SPDX-License-Identifier: MIT */
/* Walking over events CPU by CPU, and telling some of them in order of time; see skim.h.
 *
 * Place: skim/, below before.c and after.c, which say what an event means.
 */
#ifndef WHYLATE_SKIM_WALK_H
#define WHYLATE_SKIM_WALK_H

#include "event/lasting.h"
#include "reader/reader.h"
#include "reader/stream.h"
#include "util/idmap.h"

#define NOBODY UINT32_MAX /* of threads: the idle one, or not known */

/* Where an event is. */
struct spot {
	int64_t time;
	uint32_t packet, at, id; /* `at`: bits behind the record's header */
	uint32_t stream;         /* + 1; 0: nowhere */
};

enum telling {
	TELL_LEAVE, /* a switch, with nobody behind it */
	TELL_ENTER, /* a switch, with nobody before it */
	TELL_EVENT,
};

/* What is to be told. */
struct piece {
	struct spot spot;
	uint8_t telling;
};

/* An event of a thread, and the stretch on the CPU that it is in. */
struct deed {
	struct spot spot, entered, left;
};

/* A thread as one CPU saw it. */
struct seen_thread {
	int32_t tid;
	struct spot entered, left; /* the last time on the CPU */
	struct deed call;          /* that it is in */
	struct deed timer, fault;  /* the last ones */
	int64_t returned;          /* from a call, INT64_MIN */
	bool in_call, call_lasts;
	bool ran;    /* was told to (after.c) */
	struct spot waking;
};

/* One CPU of a host. */
struct seen_cpu {
	uint32_t host, cpu;
	GPtrArray *streams;  /* owned; struct stream, borrowed */
	struct idmap tids;   /* owned; -> place in */
	GArray *threads;     /* owned; struct seen_thread */
	uint32_t current;    /* place in there, NOBODY */
	struct spot last_switch, last; /* the last event of any kind */
	bool told;           /* that `current` runs */
	bool any;            /* it had events */
	GArray *pieces;      /* owned; struct piece */
	GArray *episode, *before; /* owned; struct spot: of interrupts open now; of the last ones */
	uint32_t depth; /* open interrupts */
	bool telling; /* … are told of */
	struct deed raised; /* the softIRQ raised last */
	struct event event; /* what records of varying size are taken to */
};

/* What one event means; `tids`: of a switch the last and the next, else who is woken. */
typedef void over_event(struct seen_cpu *cpu, enum event_span span, const struct spot *spot,
			const int32_t tids[2]);

struct walk {
	struct reader *reader; /* borrowed */
	GPtrArray *streams; /* borrowed; struct stream */
	const struct event_sink *sink; /* borrowed */
	over_event *over;
	int64_t until; /* ns: events before are gone over */
	GPtrArray *cpus; /* owned; struct seen_cpu */
	GArray *pieces; /* owned; struct piece: told besides those of CPUs */
	gint next_cpu; /* the first that no thread has taken on */
	gint failed;
};

void skim_init(struct walk *walk, struct reader *reader, int64_t until, over_event *over);
void skim_clear(struct walk *walk);
/* Goes over all; false: something else than sound records came, and the streams are where they
 * were. */
bool skim_walk(struct walk *walk, guint jobs);
/* Tells all pieces in order. */
void skim_tell(struct walk *walk);

static inline struct seen_thread *seen_thread_at(const struct seen_cpu *cpu, uint32_t number)
{
	return &g_array_index(cpu->threads, struct seen_thread, number);
}
/* NOBODY for the idle thread. */
uint32_t seen_thread_of(struct seen_cpu *cpu, int32_t tid);

/* A switch: the thread that was told to run leaves the CPU. */
void seen_switch(struct seen_cpu *cpu, const struct spot *spot, const int32_t tids[2]);
/* The thread that runs begins a system call. */
void seen_call(struct seen_cpu *cpu, const struct spot *spot, bool lasts);

void skim_piece(GArray *pieces, const struct spot *spot, enum telling telling);
/* With the stretch that it is in. */
void skim_tell_deed(GArray *pieces, const struct deed *deed);
/* An event that is told is its thread's only while that is on its CPU. */
void seen_keep(struct seen_cpu *cpu, const struct spot *spot);

#endif
