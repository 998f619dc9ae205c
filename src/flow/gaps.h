/* SPDX-License-Identifier: MIT */
/* Lost events of a CPU.
 *
 * Place: flow/.
 */
#ifndef WHYLATE_FLOW_GAPS_H
#define WHYLATE_FLOW_GAPS_H

#include "state/state.h"

void gap_begin(struct flow *flow, struct host *host, struct cpu *cpu, const struct gap *gap);

#endif
