/* SPDX-License-Identifier: MIT */
/* The account of imposed waiting: who is owed what of the wait at hand, and the way
 * down the chain of a wait.
 *
 * Part of imposed/, between waiting.c (which waits count) and the result
 * (waiting.h); nothing else uses it.
 */
#ifndef WHYLATE_IMPOSED_WAIT_CHAIN_H
#define WHYLATE_IMPOSED_WAIT_CHAIN_H

#include "imposed/imposers.h"
#include "util/idmap.h"
#include "waits/wait.h"

#define DEPTH_MAX 24 /* threads in a chain */

/* The wait that is being led down. */
struct led_wait {
	uint32_t waiter;
	int64_t begin, end;
	bool spans_gap;
};

struct account {
	const struct session *session;
	struct waiting *waiting;
	struct idmap threads;   /* thread -> index in imposers */
	struct idmap resources; /* host and interned key -> index in imposers */
	struct led_wait wait;
	GArray *shares;          /* struct led_share: of the wait at hand */
	GArray *marks;          /* struct mark, of each imposer: looked up for each interval */
	GArray *directs;        /* struct direct */
	uint32_t path[DEPTH_MAX]; /* threads being led over; the waiter first */
	guint depth;
	uint64_t steps;         /* intervals read */
	uint64_t runs;          /* of CPUs, where threads were ready to run */
};

/* All waits of one thread are to be accounted for before those of the next: so who has
 * met whom needs no table. */
void account_init(struct account *account, const struct session *session, struct waiting *waiting);
void account_clear(struct account *account);

/* The wait at hand owes `ns` to the thread; to a resource of the thread's host (0:
 * to none). */
void impose_by_thread(struct account *account, uint32_t thread, enum imposed kind, int64_t ns);
/* The same of what took `wait`: its device, peer or reason. */
void impose_by_wait(struct account *account, const struct wait *wait, int64_t ns);
void impose_by_resource(struct account *account, uint32_t thread, uint32_t resource, int64_t ns);

/* Whoever the wait's reason names without being followed; false: nobody, or who waits. */
bool impose_by_named(struct account *account, const struct wait *wait);

/* [from, to) of the wait at hand is what `thread` did then, or who it waited for. The
 * waiter must be on the path. */
void lead_down(struct account *account, uint32_t thread, int64_t from, int64_t to);
/* Charges those whom the wait leads to; returns what is left of it, in ns: the
 * messenger's and the device's. */
int64_t lead_follow(struct account *account, const struct wait *wait, const struct lead *lead);

/* The wait at hand is done with: who lost most to whom, and how many did. */
void account_wait_ends(struct account *account);

#endif
