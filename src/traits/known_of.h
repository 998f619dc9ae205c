/* SPDX-License-Identifier: MIT */
/* What is known of each operation, as columns of numbers: what was recorded with it (facts.h), and
 * what the operations before it tell.
 *
 *   operations   1: read | 2: lseek | 3: read | …      one pass from the first to the last:
 *                                       │              known_pass() for each, known_history() for
 *   columns      ret count … object call before since …    those of profiles; known_values() where
 *                                                          they are wanted, then or later
 *
 * How long it took, and what it spent its time on, is no column: that defines what is slow.
 *
 * Place: traits/.
 */
#ifndef WHYLATE_TRAITS_KNOWN_OF_H
#define WHYLATE_TRAITS_KNOWN_OF_H

#include "apart/search.h"
#include "latencies/profile.h"
#include "traits/file_kinds.h"

enum known {
	KNOWN_OBJECT, /* interned key: file:/etc/x */
	KNOWN_SORT, /* interned; of it what stands before the colon */
	KNOWN_FILE, /* interned; of a file: file_kinds.h */
	KNOWN_CALL, /* interned; of a device's request: the call it was issued in */
	KNOWN_USER_CALLER, /* interned; called_from.h */
	KNOWN_USER_PATH, /* … */
	KNOWN_KERNEL_CALLER, /* … */
	KNOWN_THREAD, /* interned name */
	KNOWN_HOST,
	KNOWN_CPU,
	KNOWN_MIGRATED, /* 1: it ended on another CPU than it began on */
	KNOWN_TAKER, /* interned name; who had the CPU longest while it was ready; 0: nobody */
	KNOWN_INTERRUPTER, /* interned; the interrupt that took a tenth of it or more */
	KNOWN_IDLE_STATE, /* of a wait for a CPU: the C-state that it woke from */
	KNOWN_DISTANCE, /* bytes from where the one before on that file ended */
	KNOWN_BEFORE, /* interned; the thread's call before it */
	KNOWN_NTH_ON, /* on its file, of its profile, from 1 */
	KNOWN_NTH, /* of its thread, of its profile, from 1 */
	KNOWN_SINCE, /* ns since the thread's one before ended, of its profile */
	KNOWN_WHEN, /* ns since the window's begin */
	KNOWN_FIXED
};

#define KNOWN_OWN 16 /* fields of a profile's operations: columns 0 … */
#define KNOWN_COLUMNS (KNOWN_OWN + KNOWN_FIXED)
#define KNOWN_ALL UINT64_MAX /* columns */
#define KNOWN_BIT(column) (UINT64_C(1) << (column))
#define KNOWN_ADDRESS (INT64_MAX - 1) /* stands for any address */

/* The recorded fields of a profile's operations, as they are met. */
struct known_fields {
	guint count;
	struct {
		uint32_t name; /* interned */
		enum field_type type;
	} at[KNOWN_OWN];
};

struct known_walk;
/* `wanted`: bits: the columns that known_values() is to fill; others may be anything.
 * `kinds`: borrowed; NULL: nobody asks. */
struct known_walk *known_walk_new(const struct session *session, uint64_t wanted,
				  const struct file_kinds *kinds);
void known_walk_free(struct known_walk *walk);

/* What only the operations before it tell. */
struct known_history {
	int64_t before, distance, nth_on, nth, since; /* as the columns */
};
/* For each of a profile's operations, before known_pass(). `key`: a number of its own for each
 * profile; `history`: NULL: it is one more of its profile, and nobody wants to know more. */
void known_history(struct known_walk *walk, uint32_t key, uint32_t operation,
		   struct known_history *history);
/* KNOWN_COLUMNS values of an operation, at any time; in a pass before known_pass(). */
void known_values(struct known_walk *walk, struct known_fields *fields, uint32_t operation,
		  const struct known_history *history, int64_t *values);
/* Only these of the columns matter to known_values() from now on. */
void known_ask(struct known_walk *walk, uint64_t columns);
/* The operation is over: for each of the store. */
void known_pass(struct known_walk *walk, uint32_t operation);

/* What the search is to make of a column. */
enum field_type known_type(const struct known_fields *fields, guint column);

/* Its values are interned. */
bool known_is_named(guint column);

/* Latencies may follow it in a line: a size, a distance, how many there are, a time. */
bool known_is_followed(const struct session *session, const struct known_fields *fields,
		       guint column);

/* As JSON names it: "ret", "since_previous_ns". */
const char *known_name(const struct session *session, const struct known_fields *fields,
		       guint column);

#endif
