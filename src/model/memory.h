/* SPDX-License-Identifier: MIT */
/* Address spaces: what is mapped where in a process, so that a fault's address tells what it
 * was for.
 *
 *   low addresses                                                             high
 *   program │ heap ─► brk │ …  mapped: files, memory of their own  │ loader │ … │ stack
 *   └ by exec ┘ └ by brk ┘     └ mmap, mremap, munmap ┘              └ by exec ┘
 *
 * What exec maps is in no event: the program below the heap, the dynamic loader above everything
 * that was mapped since (the kernel maps from above downwards), the stack where x86-64 has it.
 * So these are told only of a process whose exec was seen, but for the stack. What was mapped
 * before the trace is not known.
 *
 * Threads made with CLONE_VM share one; a forked copy shares the list until one side changes it.
 *
 * Place: model/, beside the descriptors (files.h); objects/mappings.c fills and asks it.
 */
#ifndef WHYLATE_MODEL_MEMORY_H
#define WHYLATE_MODEL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct memory;

enum area_kind {
	AREA_UNKNOWN,
	AREA_FILE, /* `key` is its */
	AREA_ANONYMOUS,
	AREA_STACK,
	AREA_HEAP,
	AREA_LOADER,
};

struct area_is {
	uint8_t kind; /* enum area_kind */
	uint32_t key; /* interned "file:…" */
	bool written; /* what is written there goes to the file: shared, and not only to be read */
};

/* Nothing known but what the calls will tell. */
struct memory *memory_new(void);
/* That of a program that has just been executed; its file's key, 0: not known. */
struct memory *memory_of_program(uint32_t key);
struct memory *memory_join(struct memory *memory);
void memory_leave(struct memory **memory); /* sets NULL */
struct memory *memory_copy(const struct memory *memory);

/* [begin, begin + size) is that from now on, whatever was there. */
void memory_map(struct memory *memory, uint64_t begin, uint64_t size, struct area_is what);
/* … is nothing that is known. */
void memory_unmap(struct memory *memory, uint64_t begin, uint64_t size);
/* What was at `from` is at `to`, `size` long now. */
void memory_move(struct memory *memory, uint64_t from, uint64_t old_size, uint64_t to,
		 uint64_t size);
/* A call of brk() returned `end`. */
void memory_set_break(struct memory *memory, uint64_t end);

/* Where the mapped file that is at `address` begins and ends; false: none is there. */
bool memory_file_at(const struct memory *memory, uint64_t address, uint32_t key, uint64_t *begin,
		    uint64_t *end);
struct area_is memory_at(const struct memory *memory, uint64_t address);

#endif
