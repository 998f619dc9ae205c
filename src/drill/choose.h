/* SPDX-License-Identifier: MIT */
/* What to record next: from the reports on one recording, the functions whose tracing would explain
 * the largest times that are not explained yet. Pure: nothing is recorded, asked or written here.
 *
 *   delay JSON ───────► pieces of the time ──┬─► ends in something a person can act on: a function,
 *   functions JSON ──► calls, samples, ──────┘   a device, a lock, who had the CPU …
 *                      entries               └─► open: kernel functions, functions of the program
 *
 * Place: drill/. A piece is what threads of one name did in one state (worked in read(), ran their
 * own code, waited for a disk), of the way to the program's end; on a running system of all that
 * threads worked. Waits and lost CPUs have causes, and end there. Work ends in a function:
 *
 *   working in read, 556 ms   samples say: read_zero is on 97 % of its stacks ─► open: probe that
 *   next round                syscall:read ─ vfs_read ─ read_zero: 540 ms itself, 181 calls
 *                             below it only clear_user_erms, which cannot be probed ─► its end
 *
 * A function is worth a probe if samples put LIMIT or more into it and what it calls, but for what
 * is below another one that is traced already: so each round goes as far down as the samples see,
 * and the next measures, and sees into what is left. The walk with a threshold is CrossWalk's, the
 * rounds of instrumentation are DARC's. What nothing is below, in the samples, needs no probe: they
 * name it. A probe that is hit so often that it takes a good part of LIMIT itself has told what it
 * can, how often, and is left out of the next round. Rejected: to follow the static call graph (of
 * what was not sampled nothing says that it takes time), and to probe everything (the probes would
 * be what takes the time).
 */
#ifndef WHYLATE_DRILL_CHOOSE_H
#define WHYLATE_DRILL_CHOOSE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define DRILL_PROBES_MAX 16 /* functions that one round adds: each entry and exit costs time */

/* A function of a program or library, where LTTng finds it. */
struct user_place {
	char *binary, *symbol; /* owned */
};

/* What the rounds so far tried, and what can be done at all. */
struct drill_known {
	GHashTable *kernel; /* owned; names (owned) of kernel functions that were asked for */
	GHashTable *user; /* owned; "BINARY\nSYMBOL", the same */
	GHashTable *dropped; /* owned; names of those whose probes were left out again */
	bool calls; /* lttng-ust's function tracing was switched on */
	/* whether the kernel lets one be probed, and whether a program calls lttng-ust's hooks */
	bool (*can_probe)(const void *data, const char *function);
	bool (*has_calls)(const void *data, const char *binary);
	const void *data; /* borrowed; theirs */
};

enum piece_end {
	PIECE_OPEN, /* what to record next is chosen */
	PIECE_FUNCTION, /* it ends in a function, or several */
	PIECE_CAUSE, /* … in what was waited for, or who had the CPU */
	PIECE_UNKNOWN, /* nothing finer can be recorded; the words say why */
};

struct drill_piece {
	char *threads, *leaf; /* owned; "kpath", "working/syscall:read" */
	char *cause; /* owned; "block-device: vda"; NULL: it worked */
	char *words; /* owned; what is known of it, for people */
	int64_t ns;
	int64_t longest; /* ns, of one stretch that had a cause */
	enum piece_end end;
};

struct drill_choice {
	int64_t whole; /* ns: from begin to end; of a running system, that threads worked */
	GPtrArray *pieces; /* owned; struct drill_piece of LIMIT or more, largest first */
	GPtrArray *kernel; /* owned strings: kernel functions to trace next */
	GPtrArray *user; /* owned; struct user_place: entries to trace next */
	bool calls; /* switch lttng-ust's function tracing on */
	GPtrArray *dropped; /* owned strings: functions whose probes cost more than they tell */
};

void drill_known_init(struct drill_known *known);
void drill_known_clear(struct drill_known *known);

/* `path`: what `whylate delay --target` said; NULL: a running system. `functions`: what `whylate
 * functions` said of the threads that matter. */
struct drill_choice *drill_choose(const json_t *path, const json_t *functions,
				  const struct drill_known *known, int64_t limit);
void drill_choice_free(struct drill_choice *choice);
/* Something would be recorded that was not before. */
bool drill_goes_on(const struct drill_choice *choice);
/* It was asked for: not again. */
void drill_tried(struct drill_known *known, const struct drill_choice *choice);

#endif
