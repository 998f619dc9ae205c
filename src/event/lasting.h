/* SPDX-License-Identifier: MIT */
/* Which events tell what lasts: names, descriptors, processes, locks on files. The others only
 * tell what somebody did at their moment.
 *
 * Place: event/. For readers that go over the time before a window (reader/skim.h).
 */
#ifndef WHYLATE_EVENT_LASTING_H
#define WHYLATE_EVENT_LASTING_H

#include "event/kinds.h"

enum event_span {
	SPAN_MOMENT,
	SPAN_LASTS,      /* what it sets is to be known later */
	SPAN_SWITCH,     /* who runs */
	SPAN_WAKING,     /* who is to run */
	SPAN_INTERRUPT,  /* begins, of whatever kind */
	SPAN_INTERRUPT_ENDS,
	SPAN_RAISE,      /* a softIRQ is to be */
	SPAN_TIMER,      /* a timer is armed: by who waits for it, as a rule */
	SPAN_FAULT,      /* a page is not there: until the thread's next call */
	SPAN_CALL,       /* a system call begins that changes nothing that lasts, … */
	SPAN_CALL_LASTS, /* … that may */
	SPAN_RETURN,     /* the same for its end */
	SPAN_RETURN_LASTS,
	SPAN_RETURN_ANY, /* … of a call that the event does not name */
};

/* `name`: the event's. */
enum event_span event_span(const struct event_class *class, const char *name);

#endif
