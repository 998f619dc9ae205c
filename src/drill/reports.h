/* SPDX-License-Identifier: MIT */
/* The JSON of `delay` and `functions`, as the drill reads it: members by name, trees, sums by name.
 *
 * Part of drill/. A member that is not there is 0, "" or an empty list: a report of another version
 * makes answers poorer, and breaks nothing.
 */
#ifndef WHYLATE_DRILL_REPORTS_H
#define WHYLATE_DRILL_REPORTS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

int64_t number_in(const json_t *object, const char *key);
const char *text_in(const json_t *object, const char *key); /* "": none */
bool is_true_in(const json_t *object, const char *key);

/* Where a thread's name stands in the report on functions: the entry of `threads`; NULL. */
const json_t *threads_of_tid(const json_t *functions, int64_t tid);
/* … and what samples say of the same threads; NULL: nothing. */
const json_t *sampled_of(const json_t *functions, const json_t *threads);

/* One function of a stretch of work. */
struct worked {
	const char *name; /* borrowed; "": the system call, or the thread, itself */
	const char *binary, *symbol; /* borrowed; "": not known, or the kernel's */
	bool kernel;
	bool named; /* by debug symbols or a table; else the name is its file's */
	int64_t calls; /* traced: how often; -1: it was not traced */
	int64_t own; /* traced: ns worked in it and in nothing traced below */
	int64_t sampled, self; /* ns by samples: with it, and on top */
	uint32_t samples, on_top; /* … counted */
};

/* Functions by name, of one state of one thread's name; struct worked. */
struct work {
	GArray *list;
	uint32_t samples; /* in the state */
	int64_t ns; /* … that they share out */
	const char *part; /* borrowed; of which traced function only; NULL: all */
};

/* Those that were traced inside `syscall` ("read"; NULL: outside of any). */
GArray *work_traced(const json_t *threads, const char *syscall);
#define KERNEL_WORK "working/kthread" /* the state of a kernel thread's own work */
/* The samples are of a kernel thread. */
bool work_is_kernels(const json_t *sampled);
/* Those on samples of the state; only what lies below the traced function `part` and below no
 * other one that `traced` has ("": below none; NULL: wherever). */
void work_sample(struct work *work, const json_t *sampled, const char *leaf, const GArray *traced,
		 const char *part);
void work_clear(struct work *work);
/* Which function of the program led there most; NULL. */
const char *work_asked_by(const json_t *sampled, const char *leaf);

/* PIDs of the tracer and of whylate: their threads have names of all sorts. `threads`: an entry. */
GHashTable *recorders_new(const json_t *functions);
bool is_of_recorders(const json_t *threads, GHashTable *processes);

#endif
