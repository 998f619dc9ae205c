/* SPDX-License-Identifier: MIT */
/* The stretches that a finding is made of: of waits (w-…) these; of what others waited for (i-…)
 * the waits for that; of what stands out (s-…) the waits for its object, or its victims' waits for
 * whom it names, or their time without a CPU; of peaks and requests' causes what the thread waited
 * where they are seen best.
 *
 * What stands out may be none of these, as interrupts, a limit of the CPU's time, or what a file
 * system does to open a file; or waits that were only partly for it. Then its stretches are the
 * pieces of its victims' critical paths that were put down to it.
 *
 * Part of rules/. Source: findings.h.
 */
#ifndef WHYLATE_RULES_FINDING_STRETCHES_H
#define WHYLATE_RULES_FINDING_STRETCHES_H

#include "rules/gone.h"
#include "run/session.h"
#include "stands/stand.h"

struct finding_stretches;

/* NULL: the trace has no such finding. */
struct finding_stretches *finding_stretches_new(const struct session *session, const char *id);
/* … of what stands out. NULL: it has none. */
struct finding_stretches *
finding_stretches_of(const struct session *session, const struct stand *item);
void finding_stretches_free(struct finding_stretches *stretches);
/* All of them are to be gone, as this thing of `gone`. */
void finding_gone(const struct finding_stretches *stretches, const struct session *session,
		  struct gone *gone, guint thing);
/* They are pieces of critical paths, also such on the CPU. */
bool finding_is_pieces(const struct finding_stretches *stretches);
/* They are pieces of what others did, whom somebody waited for, and not these waits. */
bool finding_is_others(const struct finding_stretches *stretches);
/* The span of `thread` is one of them, or half of it at least is. */
bool finding_has(const struct finding_stretches *stretches, const struct session *session,
		 uint32_t thread, const struct span *span);

#endif
