/* SPDX-License-Identifier: MIT */
/* What-if rules: which stretches of which threads they pick, and what becomes of each.
 *
 * Place: rules/, below whatif/. All selectors of a rule must hold; several rules on one stretch
 * multiply, and of several lengths the shortest counts. Rules are the user's texts, or a
 * report's own choice of stretches, each to be gone. Source: interface.md, "Second round";
 * semantics.md, "What if".
 */
#ifndef WHYLATE_RULES_RULES_H
#define WHYLATE_RULES_RULES_H

#include "run/session.h"
#include "rules/gone.h"
#include "rules/rule_text.h"

#define RULES_MAX 64 /* a bit each */
#define ALL_RULES UINT64_MAX

struct rules;

/* What rules may pick of a thread. */
enum rules_reach {
	PICKS_NOTHING,
	PICKS_OFF_CPU, /* nothing of what it did on the CPU */
	PICKS_PARTS,   /* of what it did on the CPU the parts that rules_part() gives, whole */
	PICKS_ANY,
};

/* Of texts that rule_parse() has passed, RULES_MAX at most; `count` may be 0: none picks
 * anything. */
struct rules *rules_new(const struct session *session, const char *const *texts, guint count);
/* One for each of the `count` things whose parts are to be gone; borrows these. */
struct rules *rules_of_gone(const struct session *session, const struct gone *gone, guint count);
void rules_free(struct rules *rules);

/* Where the span of `thread` must be cut, as a rule picks only what is before that or behind it:
 * what it did on the CPU, with a lock or in a function; else its end. */
int64_t rules_cut(const struct rules *rules, uint32_t thread, const struct span *span);
/* What they may pick of `thread`. */
enum rules_reach rules_reach(const struct rules *rules, uint32_t thread);

/* A stretch that rules pick. */
struct pick {
	uint64_t rules; /* a bit each; 0: none does */
	guint at;       /* a place among the thread's parts; kept from one stretch to its next */
};

/* The rules that pick the span of `thread`, as spans_next() gives it, and cut; what was picked is
 * counted. */
void rules_pick(struct rules *rules, uint32_t thread, const struct span *span, struct pick *pick);
/* The first part of what `thread` did on the CPU within [from, to) that is picked, as a span; for
 * PICKS_PARTS. False: none. */
bool rules_part(const struct rules *rules, uint32_t thread, int64_t from, int64_t to,
		struct span *span, struct pick *pick);
/* What becomes of a span of `thread`, as far as it is picked by `some` of the rules. */
struct change rules_change(const struct rules *rules, const struct pick *pick, uint64_t some,
			   uint32_t thread, const struct span *span);

/* Stretches that rule `index` has picked, and their sum as they were recorded. */
void rules_picked(const struct rules *rules, guint index, uint64_t *count, int64_t *ns);
/* Rule `index` picks whatever `thread` does in [from, to). Not of things. */
bool rules_pick_all(struct rules *rules, guint index, uint32_t thread, int64_t from, int64_t to);
/* Rule `index` has picked nothing: says so, and what there is that is near. Returns false. */
bool rules_refuse_nothing(const struct rules *rules, guint index, GError **error);

/* Some rule picks what is in a function: its time is that of the function and what it calls. */
bool rules_pick_functions(const struct rules *rules);

/* The length that `change` makes of `ns`. */
int64_t change_of(const struct change *change, int64_t ns);

#endif
