/* SPDX-License-Identifier: MIT */
/* Why a what-if rule picks nothing, and what there is that is near.
 *
 * Part of rules/.
 */
#ifndef WHYLATE_RULES_RULE_MISS_H
#define WHYLATE_RULES_RULE_MISS_H

#include "run/session.h"
#include "rules/rule_text.h"

/* The first selector of `rule` that nothing fits, and the nearest that there is; else that nothing
 * fits all of them. `may`: of each thread, that those for threads fit. Free with g_free(). */
char *rule_miss(const struct session *session, const struct rule *rule, const bool *may);

#endif
