/* SPDX-License-Identifier: MIT */
/* Interrupts of each CPU and block devices, as rows: what ran when, and how many requests a device
 * had at once.
 *
 *   requests   ├──────┤
 *                 ├───────┤  ├──┤
 *   depth      1  2   1   0  1  0
 *
 * Place: tsp/. Made of the operations that were recorded (timeline/operation.h), so that what lasts
 * adds up to what `profile` has of "irq:*" and "block-served:*". Made once, when somebody asks;
 * four bytes an operation, 16 more for each end of a request.
 */
#ifndef WHYLATE_TSP_RESOURCE_ROWS_H
#define WHYLATE_TSP_RESOURCE_ROWS_H

#include "tsp/asking.h"

/* From `time` on a device has so many requests. */
struct depth {
	int64_t time;
	int64_t requests;
};

struct resource_row {
	uint16_t host;
	uint32_t cpu;  /* of an interrupt */
	uint32_t what; /* PACK of operation_kind: IRQ, vector, softIRQ, request served */
	char *name;    /* owned: "irq:25 ahci", "vda" */
	GArray *operations; /* owned; uint32_t by begin: their numbers in the store */
	GArray *depths;     /* owned; struct depth by time, of a device; NULL: interrupts, which
			       come one after the other */
};

/* Owned by the server; struct resource_row: interrupts by host, CPU, kind and number, then
 * devices. */
const GPtrArray *resource_rows(struct server *server);
static inline bool row_is_device(const struct resource_row *row)
{
	return row->depths != NULL;
}
const struct operation *
resource_operation(const struct session *session, const struct resource_row *row, guint i);
/* The depth that holds at `time`; the first, if that begins later. The last
 * is of no requests; a device whose requests took no time has none. */
guint depth_find(const struct resource_row *row, int64_t time);

#endif
