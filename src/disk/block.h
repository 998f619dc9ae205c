/* SPDX-License-Identifier: MIT */
/* Block requests, from the first bio to the completion.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_OBJECTS_BLOCK_H
#define WHYLATE_OBJECTS_BLOCK_H

#include "state/state.h"

void flow_block(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
