/* SPDX-License-Identifier: MIT */
/* What hosts, locks and places remember of things that are over; see forget.h. */
#ifndef WHYLATE_FLOW_FORGET_STATE_H
#define WHYLATE_FLOW_FORGET_STATE_H

#include "flow/keep.h"

/* Armed timers, packets and work on their way, lost events. */
/* Numbers in PID namespaces of threads that are gone. */
void forget_numbers(struct keeping *keeping, struct host *host);
void forget_host(struct keeping *keeping, struct host *host);
/* To be called when all that may name a lock has been kept. */
void forget_locks(struct keeping *keeping);
/* Places of their own (threads in containers) go with their threads. */
void forget_places(struct model *model);

#endif
