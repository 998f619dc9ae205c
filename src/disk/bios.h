/* SPDX-License-Identifier: MIT */
/* Bios, before they are part of a request; partitions and their disks.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_OBJECTS_BIOS_H
#define WHYLATE_OBJECTS_BIOS_H

#include "state/state.h"

void flow_bio(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event);
/* The statedump names a device: it may be a partition of one known, or the other way round. */
void block_device_named(struct flow *flow, struct host *host, uint32_t dev, const char *name);

#endif
