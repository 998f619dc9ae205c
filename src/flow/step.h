/* SPDX-License-Identifier: MIT */
/* The step that one event makes.
 *
 * Place: flow/, under the door (flow.h). A new event needs a handler in a file of its matter and
 * a row in the table of step.c.
 */
#ifndef WHYLATE_FLOW_STEP_H
#define WHYLATE_FLOW_STEP_H

#include "state/state.h"

/* Its CPU's thread being known or not. */
void flow_step(struct flow *flow, const struct event *event);

#endif
