/* SPDX-License-Identifier: MIT */
/* Who reads and writes which connection; only while flow->exchanges_wanted.
 *
 * Place: objects/.
 */
#ifndef WHYLATE_OBJECTS_EXCHANGES_H
#define WHYLATE_OBJECTS_EXCHANGES_H

#include "state/state.h"

/* At a call's entry, after its arguments are known. */
void exchange_entry(struct flow *flow, uint32_t index, struct thread *thread);
/* At its exit, after its effects. */
void exchange_exit(struct flow *flow, uint32_t index, struct thread *thread,
		   const struct event_syscall *args);
/* Before a descriptor is closed. */
void exchange_closing(struct flow *flow, uint32_t index, struct thread *thread);
/* A packet that `thread` queued. */
void exchange_packet(struct flow *flow, const struct thread *thread, const struct event *event);
/* The file that the thread's call, or its page fault, is on, or "swap": interned key, 0. */
uint32_t exchange_file(struct flow *flow, struct thread *thread);
/* A block request that completed. `written_back`: the file whose data it carried, where a kernel
 * thread wrote what others had left in the page cache; 0: not known. */
void exchange_disk(struct flow *flow, const struct request *request, uint32_t written_back);

#endif
