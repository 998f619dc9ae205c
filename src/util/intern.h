/* SPDX-License-Identifier: MIT */
/* Interned strings: a string is stored once and named by a small number.
 *
 * Part of util/: used by every layer, so that past the event readers no
 * name is compared as a string. Number 0 is always the empty string.
 * One table per session; strings live as long as the table.
 */
#ifndef WHYLATE_UTIL_INTERN_H
#define WHYLATE_UTIL_INTERN_H

#include <stdbool.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *table);

/* The number of `text` (copied at first sight). NULL counts as "". */
uint32_t intern_id(struct intern *table, const char *text);

/* … if it has one; 0: it has none, and gets none. */
uint32_t intern_known(const struct intern *table, const char *text);

/* The string with that number; owned by the table. */
const char *intern_text(const struct intern *table, uint32_t id);

/* The number means `text` from now on, whoever has it. Looking up the old text still finds it; the
 * new text too, unless that was known already. */
void intern_replace(struct intern *table, uint32_t id, const char *text);

/* From now on several threads ask, until it is false again; by the one that began them, which has
 * begun none yet or ended all. The numbers of new texts then depend on who was first. */
void intern_share(struct intern *table, bool shared);
bool intern_is_shared(const struct intern *table);

/* So many strings there are: the numbers up to it. */
uint32_t intern_count(const struct intern *table);

#endif
