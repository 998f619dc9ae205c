/* SPDX-License-Identifier: MIT */
/* Tries: what threads try again and again, with pauses between, until somebody makes a
 * difference.
 *
 *   T ── open: EEXIST ──┤ naps ├── open: EEXIST ──┤ naps ├── open: done ──
 *   P ── has the file ────────────────────── unlinks it ──
 *        since                     last               made
 *
 * A timer ends each nap, but they were for P. A try is one call on one object with one failure;
 * that it fails again after a pause, or succeeds after one, makes it a wait. Then a reason
 * (timeline/reason.h) is written into the pauses. Who made the difference is told by
 * tries_made(), from whatever event shows it.
 *
 * Must hold: only what lies between two tries of the same is explained, and only if the thread
 * mostly paused there (struct pauses): who looks for a file here and there, or does its work
 * between two looks, waits for nobody. Nothing is concluded over lost events. All is bounded:
 * TRIES of all threads at a time, TRIES_EACH of one; the oldest goes.
 *
 * Place: tries/; who tries what with which call: path_tries.c and, above, locks/lock_tries.c.
 */
#ifndef WHYLATE_TRIES_TRIES_H
#define WHYLATE_TRIES_TRIES_H

#include "state/state.h"

enum try_kind {
	TRY_APPEARS,  /* no such file yet */
	TRY_GOES,     /* a file is in the way */
	TRY_LISTENER, /* nobody listens there */
	TRY_INPUT,    /* nothing to read */
	TRY_FAILS,    /* call_tries.h */
	TRY_END,      /* the process is still there */
	TRY_ANSWER,   /* the same answer */
	TRY_LOCK,     /* another holds it */
	TRY_FUTEX,    /* timed waits that expire */
	TRY_KINDS
};

struct
try {
	uint64_t id;    /* what it is tried on, for tries_made(): a hash */
	int64_t since; /* first failure that is not explained yet; given to try_failed(): of a wait
			   that failed, its begin, else 0 */
	int64_t first; /* … of all */
	int64_t last; /* newest failure */
	int64_t passed; /* fcntl: went well since `last`, perhaps on another range; 0 */
	int64_t made; /* `maker` made a difference after `last` */
	uint32_t thread; /* who tries; NO_THREAD: free */
	uint32_t next; /* of the same thread, its place + 1; 0: none */
	uint32_t number; /* what exactly: of a path, the interned name */
	uint32_t object; /* interned key; 0: the file of that name, the process of that number */
	uint32_t call; /* interned system call */
	uint32_t target; /* the process that it is about, NO_THREAD */
	uint32_t maker; /* NO_THREAD: nobody yet */
	uint32_t by; /* … by giving up this: interned key, of a removed file its name; 0 */
	uint32_t owner; /* of a file that is to go: who had made it, NO_THREAD: not seen */
	uint32_t reason; /* written last, 0 */
	uint32_t calls, doings; /* that the thread had made by `last` */
	int32_t result;
	uint16_t turns; /* futex: so many times it was woken; given to try_failed() */
	uint16_t count; /* failures, with a pause between any two */
	uint16_t failures; /* … those before the next pause as well */
	uint8_t kind; /* enum try_kind */
	bool loose; /* the thread did a little between, as one with a period does */
	bool over; /* it succeeded; kept to see whether that was what was waited for */
};

/* What the thread did since a time. */
struct pauses {
	int64_t naps; /* ns asleep by its own timer, or while a child did nothing but sleep */
	int64_t children; /* … while other children worked */
	int64_t other; /* … in other waits, and at work */
	int64_t longest; /* nap */
	uint32_t count; /* naps */
};

void tries_init(struct flow *flow);
void tries_clear(struct flow *flow);
/* Nothing is left of threads that have ended before `before`. */
void tries_forget(struct flow *flow, int64_t before);

/* A hash of a host, and what is tried there. */
uint64_t try_id(uint32_t host, enum try_kind kind, uint64_t number);

/* The call of `thread` (number `index`) has failed, as `like` says (id, number, call, result,
 * kind …). The try if it is one that failed before, with a pause between; else NULL. */
struct try *try_failed(struct flow *flow, uint32_t index, const struct try *like);
/* It succeeded: the try, if it failed before and a pause went by; else NULL. */
struct try *try_succeeds(struct flow *flow, uint32_t index, const struct try *like);
/* Only pauses went by since it failed last, one at least. */
bool try_paused(struct flow *flow, const struct try *try);
/* Of that thread, NULL. */
struct try *try_find(struct flow *flow, uint32_t index, const struct try *like);
/* All of them, for who walks over those of a thread. */
struct try *tries_all(const struct flow *flow);
void try_drop(struct flow *flow, struct try *try);

/* The pauses of the thread since `since`. */
struct pauses try_pauses(struct flow *flow, uint32_t index, int64_t since);
/* Writes `reason` into the pauses since try->since; what the try knows is filled in. A reason
 * that names the same thread goes on instead. `lock`: number of the lock, 0. */
void try_explained(struct flow *flow, struct try *try, struct reason *reason, uint32_t lock);
/* Takes back the reason that was written last. */
void try_taken_back(struct flow *flow, struct try *try);

/* Somebody tries such a thing; that very one (or perhaps another). */
bool tries_any(const struct flow *flow, enum try_kind kind);
bool tries_watch(const struct flow *flow, uint64_t id);
/* `maker` has just made a difference to the tries with that id, of which `concerns` (NULL: all)
 * are concerned; the first to do so after a failure counts. `alone`: if another process does so
 * as well, the try's maker is IDLE_THREAD: one of them. */
void tries_made(struct flow *flow, uint64_t id, uint32_t maker,
		bool (*concerns)(struct flow *flow, const struct try *try, uint32_t object),
		uint32_t object, bool alone);
/* The same of all tries of a kind on the maker's host, of which `concerns` are; not of the maker's
 * own process. `object`: what made it, for try->by. */
void tries_made_all(struct flow *flow, enum try_kind kind, uint32_t maker, uint32_t object,
		    bool (*concerns)(const struct flow *flow, const struct try *try,
				     const void *data),
		    const void *data);
/* Calls `tell` for each of the tries with that id but those of `maker`; it may drop the one that it
 * is given. */
void tries_tell(struct flow *flow, uint64_t id, uint32_t maker,
		void (*tell)(struct flow *flow, struct try *try, uint32_t maker));
/* A child that ends as one that failed leaves its tries to its parent: `until test; do …`. */
void tries_inherited(struct flow *flow, uint32_t child);

#endif
