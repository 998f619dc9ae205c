/* SPDX-License-Identifier: MIT */
/* The words of the reports, each explained in a sentence or two: `whylate explain WORD`.
 *
 * Part of words/. One table, terms.c; docs/style.md says how reports use these words.
 */
#ifndef WHYLATE_WORDS_TERMS_H
#define WHYLATE_WORDS_TERMS_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/* Explains the word, or words joined by blanks; false: there is no such term. */
bool term_explain(const char *word, FILE *file);
/* The terms that a text has, in the order in which they are met first, each explained in a line;
 * not `all`: the kernel's, in a sentence each. */
GPtrArray *terms_met(const char *text, bool all);
/* "; the nearest one is 'futex'", or ""; free with g_free(). */
char *term_nearest(const char *word);

#endif
