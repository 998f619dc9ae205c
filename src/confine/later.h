/* SPDX-License-Identifier: MIT */
/* A program that is chosen before this process confines itself, and run after it: who waits for
 * the word to begin was forked before, and has all rights that the user has. The word is all that
 * can be said to it, besides what the program reads.
 */
#ifndef WHYLATE_CONFINE_LATER_H
#define WHYLATE_CONFINE_LATER_H

#include <stdbool.h>
#include <sys/types.h>

struct later {
	pid_t pid;
	int go;   /* owned; the word; its end without one ends who waits */
	int text; /* owned; standard input of the program; -1: it has none */
};

/* `words` (NULL-ended) is what will be run, sought in PATH. False: it cannot be. */
bool later_new(struct later *later, char *const *words, bool reads);
/* Runs it; `text` is then the caller's. */
void later_go(struct later *later);
/* It will not be run. */
void later_free(struct later *later);

#endif
