/* SPDX-License-Identifier: MIT */
/* The account of imposed waiting: who is owed what of the wait at hand, and the way
 * down the chain of a wait.
 *
 * Part of imposed/, between waiting.c (which waits count) and the result
 * (waiting.h); nothing else uses it.
 */
#ifndef WHYLATE_IMPOSED_WAIT_CHAIN_H
#define WHYLATE_IMPOSED_WAIT_CHAIN_H

#include "imposed/waiting.h"

#define DEPTH_MAX 24 /* threads in a chain */

/* The wait that is being led down. */
struct charge {
	uint32_t waiter;
	int64_t begin, end;
	bool spans_gap;
};

struct charger {
	const struct session *session;
	struct waiting *waiting;
	struct contacts contacts;
	struct idmap threads;   /* thread -> index in imposers */
	struct idmap resources; /* host and interned key -> index in imposers */
	struct charge charge;
	GArray *parts;          /* struct part: of the wait at hand */
	GArray *marks;          /* struct mark, of each imposer: looked up for each interval */
	GArray *directs;        /* struct direct */
	uint32_t path[DEPTH_MAX]; /* threads being led over; the waiter first */
	guint depth;
	uint64_t steps;         /* intervals read */
	uint64_t runs;          /* of CPUs, where threads were ready to run */
};

/* All waits of one thread are to be charged before those of the next: so who has
 * met whom needs no table. */
void charger_init(struct charger *charger, const struct session *session, struct waiting *waiting);
void charger_clear(struct charger *charger);

/* The wait at hand owes `ns` to the thread; to a resource of the thread's host (0:
 * to none). */
void owe_thread(struct charger *charger, uint32_t thread, enum imposed kind, int64_t ns);
void owe_resource(struct charger *charger, uint32_t thread, uint32_t resource, int64_t ns);

/* [from, to) of the wait at hand is what `thread` did then, or who it waited for. The
 * waiter must be on the path. */
void lead_down(struct charger *charger, uint32_t thread, int64_t from, int64_t to);
/* Charges those whom the wait leads to; returns what is left of it, in ns: the
 * messenger's and the device's. */
int64_t lead_follow(struct charger *charger, const struct wait *wait, const struct lead *lead);

/* The wait at hand is done with: who lost most to whom, and how many did. */
void charge_settle(struct charger *charger);

#endif
