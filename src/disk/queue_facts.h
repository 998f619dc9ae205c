/* SPDX-License-Identifier: MIT */
/* What is known of a block request when it is issued: how many others the disk then has, and how
 * far it begins from where the one before ended.
 *
 *   issued  | 100–108 | 108–116 | 5000–5008 |
 *   distance    –          0         4884        sectors
 *
 * Place: disk/; only while facts are wanted (timeline/facts.h). Where events were lost it is not
 * known how many the disk has from then on.
 */
#ifndef WHYLATE_DISK_QUEUE_FACTS_H
#define WHYLATE_DISK_QUEUE_FACTS_H

#include "state/state.h"

/* The request goes to the disk; its sectors are known. */
void queue_issued(struct flow *flow, uint16_t host, struct request *request);
/* It is there no more: done, or given back. */
void queue_left(struct flow *flow, uint16_t host, const struct request *request);

#endif
