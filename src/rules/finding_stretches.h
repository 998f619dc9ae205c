/* SPDX-License-Identifier: MIT */
/* The stretches off the CPU that a finding is made of: of waits (w-…) these; of what others waited
 * for (i-…) the waits for that; of what stands out (s-…) the waits for its object, or its victims'
 * waits for whom it names, or their time without a CPU; of peaks and requests' causes what the
 * thread waited where they are seen best.
 *
 * Part of rules/. Source: findings.h.
 */
#ifndef WHYLATE_RULES_FINDING_STRETCHES_H
#define WHYLATE_RULES_FINDING_STRETCHES_H

#include "run/session.h"
#include "stands/stand.h"

struct finding_stretches;

/* NULL: the trace has no such finding. */
struct finding_stretches *finding_stretches_new(const struct session *session, const char *id);
/* … of what stands out. NULL: it has none. */
struct finding_stretches *
finding_stretches_of(const struct session *session, const struct stand *item);
void finding_stretches_free(struct finding_stretches *stretches);
/* The span of `thread` is one of them. */
bool finding_has(const struct finding_stretches *stretches, const struct session *session,
		 uint32_t thread, const struct span *span);

#endif
