/* SPDX-License-Identifier: MIT */
/* A growing array of equal records that keeps its place in memory and can
 * leave memory: segments beyond a budget live in an unlinked temporary file,
 * mapped, and are dropped from resident memory when newer ones are begun.
 *
 * Part of util/: the timeline and the wake-up records are kept in it, so
 * that resident memory does not follow the length of the trace.
 * Invariant: a record never moves, so pointers stay valid until free.
 *
 * 48 MB stay in memory; more goes to an unlinked file in TMPDIR, and once all is recorded so do
 * they. What grows with the trace
 * besides: a thread is 832 bytes (16 and 8 a level more in a container), 16 in processes.c and 4
 * for its name; interned names; descriptor tables of live threads. Of block requests and bios in
 * flight 16,384 are kept at most.
 */
#ifndef WHYLATE_UTIL_PAGES_H
#define WHYLATE_UTIL_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef PAGES_SEGMENT_SHIFT
#define PAGES_SEGMENT_SHIFT 16 /* records in a segment: 65,536 (CONTRIBUTING.md: 12) */
#endif
#define PAGES_SEGMENT (1u << PAGES_SEGMENT_SHIFT)
#define PAGES_HUGE_BYTES ((size_t) 2 << 20) /* of a huge page; pages.c says what they save */

struct pages {
	size_t record_size;    /* bytes of one record */
	char **segments;       /* owned array of mappings */
	uint32_t segment_count;
	uint32_t segment_room;
	uint32_t in_memory;    /* so many segments are anonymous, before those of files */
	uint32_t of_file;      /* so many follow, mapped from a file */
	uint32_t memory_limit; /* segments to keep in memory before spilling */
	uint32_t spilled;      /* so many are in the spill file, from first_spilled on */
	uint32_t first_spilled;
	uint32_t used;         /* records given out */
	uint32_t ready;        /* records below this one have been asked of the kernel already */
	char *room;            /* owned: for further segments, room_left bytes */
	size_t room_left;
	int spill_fd;          /* -1 until something is spilled */
	int spill_failed;      /* errno of a spill that could not be made, else 0 */
};

/* `memory_limit`: bytes to keep in memory before spilling to a file in
 * $TMPDIR (else /tmp); 0 spills from the first segment. */
void pages_init(struct pages *pages, size_t record_size, size_t memory_limit);
/* Another limit, before it is reached. */
void pages_keep(struct pages *pages, size_t memory_limit);
void pages_clear(struct pages *pages);

/* Reserves `count` (at most PAGES_SEGMENT) records that lie side by side and
 * returns the index of the first. They are zero. */
uint32_t pages_reserve(struct pages *pages, uint32_t count);

/* Instead of what the store holds, `used` records that lie side by side in a file, at
 * `offset` (whole pages): mapped, not copied, and not to be written to. `grows`: more
 * will be added; the last segment is then a copy. False: it could not be done. */
bool pages_map(struct pages *pages, int fd, off_t offset, uint32_t used, bool grows);

/* A store of the same records, at the same numbers, that may be written to. */
void pages_copy(struct pages *copy, const struct pages *pages, size_t memory_limit);

/* Sorts the records; equal ones stay as they are to each other. Little of what is spilled is in
 * memory meanwhile. Returns, for each place, where its record was; free with g_free(). */
uint32_t *pages_sort(struct pages *pages, int (*compare)(const void *a, const void *b),
		     size_t memory_limit);

/* For passes from the first record to the last: call with each index. What was
 * spilled and has been passed leaves resident memory again. */
void pages_pass(const struct pages *pages, uint32_t index);

/* The same for those that look at some of the records only, in their order. `passed`: 0 first. */
void pages_pass_to(const struct pages *pages, uint32_t *passed, uint32_t index);

/* No more is added, and more than memory has room for is there: what memory kept of the store
 * follows what was spilled, so that the memory is free for what is asked of the records. */
void pages_spill_first(struct pages *pages);

/* So much of files has come into resident memory (of this thread) since it was true, by the page
 * faults then, `*faults`, that to let it go pays: at most a third of `memory_limit`, or a
 * megabyte. */
bool pages_much_read(uint64_t *faults, size_t memory_limit);
/* Everything that was spilled leaves resident memory. */
void pages_let_go(const struct pages *pages);

/* After a fork(), in the child: what is written from now on is its own. What was
 * spilled stays shared with the parent as long as nobody writes it. `reads`: it writes to no
 * record that is there already, but in the last segment; what was spilled can be let go then. */
void pages_detach(struct pages *pages, bool reads);

/* The user limits the address space, or its memory (ulimit -v, -d): no more of it is to be reserved
 * than is used. */
bool pages_are_limited(void);

static inline void *pages_at(const struct pages *pages, uint32_t index)
{
	return pages->segments[index >> PAGES_SEGMENT_SHIFT] +
	       (size_t) (index & (PAGES_SEGMENT - 1)) * pages->record_size;
}

#endif
