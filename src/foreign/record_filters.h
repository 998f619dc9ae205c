/* SPDX-License-Identifier: MIT */
/* What the sink's filters ask of records of one kind; see event/filter.h.
 *
 * A condition's key is the tracepoint's own field, or LTTng's name for the same, or a register's
 * of a call that is known by number; `cpu`, and the context `tid`.
 */
#ifndef WHYLATE_FOREIGN_RECORD_FILTERS_H
#define WHYLATE_FOREIGN_RECORD_FILTERS_H

#include "kernel/kernel_events.h"
#include "foreign/format.h"

struct record_filters;

/* NULL: no filter wants events of that name. All are borrowed; `call` may be NULL. Tells the sink
 * which conditions such events can meet. */
struct record_filters *
record_filters_new(const struct event_sink *sink, const char *name, const struct event_class *class,
		   const struct tracepoint *tracepoint, const struct numbered_call *call);
void record_filters_free(struct record_filters *filters);

/* Sets the event's `matches`; `registers` where there is a call. */
void record_filters_apply(const struct record_filters *filters, const struct record *record,
			  const int64_t *registers, struct event *event);

#endif
