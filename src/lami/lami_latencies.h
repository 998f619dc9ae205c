/* SPDX-License-Identifier: MIT */
/* LAMI's tables of latencies: what those of system calls, interrupts and devices have in common.
 *
 * Place: lami/, between lami_analysis.h and the analyses of operations.
 */
#ifndef WHYLATE_LAMI_LAMI_LATENCIES_H
#define WHYLATE_LAMI_LAMI_LATENCIES_H

#include "lami/lami_analysis.h"
#include "latencies/profile.h"

/* Of struct profile; what is counted is the table's unit. */
extern const struct column lami_latency_columns[];
/* What is behind the colon of "irq:25". */
const char *lami_operation_detail(const struct report *report, const void *profile);

/* As the session's options ask. */
struct profiles *lami_profiles(const struct lami_writer *writer, GError **error);
/* Those of some kinds of operations (bits), the largest sum first. */
void lami_kinds(struct lami_writer *writer, const struct profiles *profiles,
		const struct lami_table *table, uint32_t kinds);

#endif
