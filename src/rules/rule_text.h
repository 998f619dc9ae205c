/* SPDX-License-Identifier: MIT */
/* A what-if rule as users write it: 'thread=Xorg leaf=*nanosleep: 0', SELECTORS: CHANGE.
 *
 * Part of rules/. Source: interface.md, "Second round".
 */
#ifndef WHYLATE_RULES_RULE_TEXT_H
#define WHYLATE_RULES_RULE_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum selector {
	SELECT_THREAD,
	SELECT_PROCESS,
	SELECT_HOST,
	SELECT_LEAF,
	SELECT_ON,
	SELECT_CAUSE,
	SELECT_HOLDS,
	SELECT_FUNCTION,
	SELECT_FINDING,
	SELECT_LONGER,
	SELECTORS
};

/* What becomes of one stretch. */
struct change {
	double factor;  /* 1: none */
	int64_t length; /* ns instead of its own, before `factor`; -1: its own */
	int64_t less;   /* ns less, after that */
};

#define RULE_BEST "best" /* no rule: a search for the best ones (whatif/best.h) */

struct rule {
	char *text; /* owned; as written */
	char *value[SELECTORS]; /* owned; NULL: any */
	int64_t longer; /* ns, -1: any */
	struct change change;
};

/* The selectors' names, NULL-ended: for completion. */
const char *const *rule_selectors(void);
/* False, and what would be right. Clear in any case. */
bool rule_parse(const char *text, struct rule *rule, GError **error);
void rule_clear(struct rule *rule);

#endif
