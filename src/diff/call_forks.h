/* SPDX-License-Identifier: MIT */
/* Where the calls of two runs part: the same thread on both sides of a diff, function by function
 * of user space, until one calls another than the other does.
 *
 *   A   main ( load parse ( lex ) draw …
 *   B   main ( load parse ( lex ) save …      alike: 4 calls; then, in main, draw and save
 *
 * Place: diff/, behind `whylate diff`, over frames.h. Threads are paired as thread_match.h does;
 * those of one trace that call in one window only by name, in the order in which they began.
 * Source: the aligned executions of CrossWalk's and X-ray's comparisons, to their first difference.
 */
#ifndef WHYLATE_DIFF_CALL_FORKS_H
#define WHYLATE_DIFF_CALL_FORKS_H

#include "diff/sides.h"

struct call_fork {
	uint32_t thread[2];  /* each of its side's session */
	uint64_t calls[2];   /* in the side's window */
	uint64_t alike;      /* from the first on */
	bool same;           /* all are */
	GPtrArray *stack; /* owned strings: the calls around where they part, outermost first */
	char *next[2]; /* owned; what each calls there; NULL: it calls nothing more */
	int64_t at[2]; /* … when */
	char *last; /* owned; the last call alike, NULL */
};

/* Struct call_fork, of threads that call functions on both sides; none where both sides are the
 * same stretch of one trace. Free with g_array_free(). */
GArray *call_forks_new(const struct diff *diff);

#endif
