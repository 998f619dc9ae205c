/* SPDX-License-Identifier: MIT */
/* Parts of threads' time that a report has counted for its things, each of which is to be gone: a
 * choice of what-if rules, one for each thing.
 *
 *   states   ├── waits ──────────┤ working ├── waits ──┤
 *   counted        ├─ thing 1 ───┼─ thing 2 ┤               the rest of the first wait stays
 *
 * Place: rules/. Source: semantics.md, "What if", Worth.
 */
#ifndef WHYLATE_RULES_GONE_H
#define WHYLATE_RULES_GONE_H

#include "run/session.h"

struct gone_part {
	int64_t begin, end;
	uint64_t things; /* a bit each */
};

struct gone;

struct gone *gone_new(const struct session *session);
void gone_free(struct gone *gone);
/* In any order; parts may overlap, and come again. */
void gone_add(struct gone *gone, uint32_t thread, struct gone_part part);
/* All is added: what follows may be asked. */
void gone_close(struct gone *gone);

/* `thread` has a part. */
bool gone_any(const struct gone *gone, uint32_t thread);
/* `at`: a place among the thread's parts, 0 before the first call; times asked for with it do not
 * fall. The things that have a part of the span. */
uint64_t gone_things(const struct gone *gone, uint32_t thread, const struct span *span, guint *at);
/* … how much of the span one of `things` has, from that place on. */
int64_t gone_ns(const struct gone *gone, uint32_t thread, const struct span *span, uint64_t things,
		guint at);
/* … the first part within [from, to), cut there; false: none. */
bool gone_next(const struct gone *gone, uint32_t thread, int64_t from, int64_t to, guint *at,
	       struct gone_part *part);

#endif
