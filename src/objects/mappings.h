/* SPDX-License-Identifier: MIT */
/* What a page fault is on: the mapping that its address is in.
 *
 * Place: objects/, over model/memory.h; flow/ and threads/ tell of calls, forks and execs.
 */
#ifndef WHYLATE_OBJECTS_MAPPINGS_H
#define WHYLATE_OBJECTS_MAPPINGS_H

#include "objects/calls.h"

/* mmap, munmap, mremap or brk returned `ret`. */
void mapping_changed(struct flow *flow, struct thread *thread, int64_t ret);
/* The child has its parent's memory, or a copy of it. */
void mappings_fork(struct flow *flow, struct thread *child, struct thread *parent, bool shared);
/* A new program, whose file is thread->program. */
void mappings_exec(struct flow *flow, struct thread *thread, bool named);
/* The key of what the address is in: "file:PATH", "heap", "stack", "anonymous", "loader"; 0: not
 * known. */
uint32_t mapping_key(struct flow *flow, struct thread *thread, uint64_t address);
/* … of the file that writes there go to; 0: none, or not known. */
uint32_t mapping_written(struct flow *flow, struct thread *thread, uint64_t address);
/* It is backed by swap, if at all. */
bool mapping_is_anonymous(struct flow *flow, uint32_t key);

#endif
