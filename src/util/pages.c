/* SPDX-License-Identifier: MIT */
/* Segments of records in memory or in an unlinked file; see pages.h.
 *
 *   segment  0 1 2 … n | n+1 … last-1    | last      | (room for more)
 *            anonymous | mapped from the | anonymous | side by side
 *                      | spill file
 *
 * A segment is filled in memory, and written to the file when the next one is begun; the file is
 * mapped in its place, and leaves resident memory: the kernel reads it back when somebody looks.
 * (To fill the mapped file itself costs a fault a page, and two or three times as long.) When no
 * file can be made or extended (no space, no permission), the segment stays in memory, and
 * spill_trouble() is told in the coverage.
 *
 * Segments lie in room that is reserved for several of them: what has spilled leaves memory by one
 * call then, of which other processors are told once (pages_let_go()), and behind its first
 * PLAIN_BYTES a store has huge pages where the kernel has them: a page that is touched for the
 * first time costs a fault, in a virtual machine one of the host's as well, 2 to 13 us for 4 KB.
 */
#include "util/pages.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/spill.h"

/* Linux 5.14; older ones refuse, and each page is faulted in by itself */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Pages are asked of the kernel many at a time, which costs a fraction of a fault for each: a
 * quarter of what the store holds, from four pages up to this many bytes. */
#define READY_BYTES 262144
#define READY_MIN 16384
#define SORTED (1 << 16) /* compared or moved, until what is spilled leaves resident memory */
#define AGAIN_MAX 64 /* segments ago */
#define ROOM_BYTES (sizeof(void *) == 8 ? (size_t) 128 << 20 : (size_t) 8 << 20)
#define PLAIN_BYTES                                                                                \
	(PAGES_HUGE_BYTES / 2) /* small stores are many, and take no more than they need */

static size_t segment_bytes(const struct pages *pages)
{
	size_t bytes = pages->record_size * PAGES_SEGMENT;

	return (bytes + 4095) & ~(size_t) 4095;
}

void pages_init(struct pages *pages, size_t record_size, size_t memory_limit)
{
	*pages = (struct pages) {.record_size = record_size, .spill_fd = -1};
	pages_keep(pages, memory_limit);
}

void pages_keep(struct pages *pages, size_t memory_limit)
{
	pages->memory_limit =
		(uint32_t) MIN(memory_limit / segment_bytes(pages), (size_t) UINT32_MAX);
}

void pages_clear(struct pages *pages)
{
	for (uint32_t i = 0; i < pages->segment_count; i++)
		munmap(pages->segments[i], segment_bytes(pages));
	if (pages->room_left)
		munmap(pages->room, pages->room_left);
	g_free(pages->segments);
	if (pages->spill_fd >= 0)
		close(pages->spill_fd);
	*pages = (struct pages) {.record_size = pages->record_size, .spill_fd = -1};
}

/* It is a segment of a file, whose pages can be read again. */
static bool can_leave(const struct pages *pages, uint32_t segment)
{
	return segment >= pages->in_memory && segment - pages->in_memory < pages->of_file;
}

static void release(const struct pages *pages, uint32_t segment)
{
	if (can_leave(pages, segment))
		madvise(pages->segments[segment], segment_bytes(pages), MADV_DONTNEED);
}

static bool write_segment(const struct pages *pages, const char *segment, off_t offset)
{
	size_t bytes = segment_bytes(pages), piece;

	for (size_t at = 0; at < bytes; at += piece) {
		piece = MIN(bytes - at, SPILL_PIECE);
		if (!spill_write(pages->spill_fd, segment + at, piece, (uint64_t) offset + at))
			return false;
	}
	return true;
}

/* A segment that is full goes to the file, where it has the place of its number; or spill_failed
 * is set. */
static void spill(struct pages *pages, uint32_t segment)
{
	size_t bytes = segment_bytes(pages);
	off_t offset = (off_t) bytes * segment;
	void *map = NULL;
	int error;

	if (pages->spill_fd < 0)
		pages->spill_fd = spill_open();
	if (pages->spill_fd < 0) {
		pages->spill_failed = errno;
		return;
	}
	/* allocate, not only extend: a write to a hole on a full disk kills */
	error = spill_reserve(pages->spill_fd, (uint64_t) offset, bytes);
	if (!error && write_segment(pages, pages->segments[segment], offset))
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages->spill_fd,
			   offset);
	if (!map || map == MAP_FAILED) { /* not all file systems can map what is to be written */
		pages->spill_failed = error ? error : errno ? errno : EIO;
		return;
	}
	if (mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages->segments[segment]) ==
	    MAP_FAILED)
		g_error("out of memory: %zu bytes", bytes);
	if (!pages->spilled++ || segment < pages->first_spilled)
		pages->first_spilled = segment;
	if (!pages->of_file++ || segment < pages->in_memory)
		pages->in_memory = segment;
}

void pages_spill_first(struct pages *pages)
{
	while (pages->spilled && !pages->spill_failed && pages->in_memory &&
	       pages->in_memory == pages->first_spilled)
		spill(pages, pages->in_memory - 1);
}

bool pages_are_limited(void)
{
	struct rlimit space, data;

	return getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY ||
	       getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

/* Room for segments side by side, which nobody can touch yet. */
static void make_room(struct pages *pages)
{
	size_t before, plain = pages->segment_count ? 0 : PLAIN_BYTES, bytes = segment_bytes(pages);
	size_t room = bytes * MAX(ROOM_BYTES / bytes, 1);
	char *map;

	if (pages_are_limited())
		return;
	map = mmap(NULL, room + PAGES_HUGE_BYTES, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return;
	/* up to where `plain` bytes behind it a huge page begins */
	before = -((uintptr_t) map + plain) & (PAGES_HUGE_BYTES - 1);
	if (before)
		munmap(map, before);
	munmap(map + before + room, PAGES_HUGE_BYTES - before);
	pages->room = map + before;
	pages->room_left = room;
	madvise(pages->room + plain, room - plain, MADV_HUGEPAGE);
}

/* A segment of memory, all zeros; MAP_FAILED. */
static void *memory_segment(struct pages *pages)
{
	size_t bytes = segment_bytes(pages);
	void *segment;

	if (!pages->room_left)
		make_room(pages);
	if (!pages->room_left)
		return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	segment = pages->room;
	if (mprotect(segment, bytes, PROT_READ | PROT_WRITE) != 0)
		return MAP_FAILED;
	pages->room += bytes;
	pages->room_left -= bytes;
	return segment;
}

static void add_segment(struct pages *pages)
{
	void *segment;

	if (pages->segment_count == pages->segment_room) {
		pages->segment_room = MAX(16, pages->segment_room * 2);
		pages->segments = g_renew(char *, pages->segments, pages->segment_room);
	}
	if (pages->segment_count >= MAX(pages->memory_limit, 1) && !pages->spill_failed) {
		/* older ones once more: what was reserved in them is still being filled */
		for (uint32_t ago = 1; ago <= pages->segment_count && ago <= AGAIN_MAX; ago *= 2)
			release(pages, pages->segment_count - ago);
		if (pages->segment_count > pages->in_memory + pages->of_file)
			spill(pages, pages->segment_count - 1);
	}
	segment = memory_segment(pages);
	if (segment == MAP_FAILED)
		g_error("out of memory: %zu bytes%s%s%s%s", segment_bytes(pages),
			spill_trouble() ? ", and no temporary file in " : "",
			spill_trouble() ? spill_place() : "", spill_trouble() ? ": " : "",
			spill_trouble() ? g_strerror(spill_trouble()) : "");
	pages->segments[pages->segment_count++] = segment;
}

bool pages_map(struct pages *pages, int fd, off_t offset, uint32_t used, bool grows)
{
	size_t bytes = segment_bytes(pages);
	uint32_t whole = used >> PAGES_SEGMENT_SHIFT, left = used & (PAGES_SEGMENT - 1);
	uint32_t mapped = whole + (left && !grows);
	char *map;

	pages_clear(pages);
	pages->segments = g_new(char *, mapped);
	pages->segment_room = mapped;
	if (mapped) { /* past the file's end is nothing, and nobody looks there */
		map = mmap(NULL, bytes * mapped, PROT_READ, MAP_PRIVATE, fd, offset);
		if (map == MAP_FAILED)
			return false;
		for (; pages->segment_count < mapped; pages->segment_count++)
			pages->segments[pages->segment_count] = map + bytes * pages->segment_count;
	}
	pages->of_file = mapped;
	pages->used = whole << PAGES_SEGMENT_SHIFT;
	if (left && grows) {
		ssize_t size = (ssize_t) (pages->record_size * left);

		pages_reserve(pages, left);
		return pread(fd, pages->segments[whole], (size_t) size,
			     offset + (off_t) (bytes * whole)) == size;
	}
	pages->used = used;
	return true;
}

void pages_copy(struct pages *copy, const struct pages *pages, size_t memory_limit)
{
	pages_init(copy, pages->record_size, memory_limit);
	for (uint32_t i = 0; i < pages->used; i += PAGES_SEGMENT) {
		uint32_t count = MIN(pages->used - i, PAGES_SEGMENT);

		pages_reserve(copy, count);
		memcpy(pages_at(copy, i), pages_at(pages, i), count * pages->record_size);
		pages_pass(pages, i);
	}
}

struct sorting {
	const struct pages *pages;
	int (*compare)(const void *a, const void *b);
	uint32_t compared;
};

/* Of two places. */
static int compare_places(gconstpointer a, gconstpointer b, gpointer data)
{
	struct sorting *sorting = data;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int order = sorting->compare(pages_at(sorting->pages, x), pages_at(sorting->pages, y));

	if (++sorting->compared % SORTED == 0)
		pages_let_go(sorting->pages);
	return order ? order : x < y ? -1 : x > y;
}

uint32_t *pages_sort(struct pages *pages, int (*compare)(const void *a, const void *b),
		     size_t memory_limit)
{
	struct pages old = *pages;
	struct sorting sorting = {.pages = &old, .compare = compare};
	uint32_t *places = g_new(uint32_t, old.used + (size_t) 1);

	for (uint32_t i = 0; i < old.used; i++)
		places[i] = i;
	g_qsort_with_data(places, (gint) old.used, sizeof *places, compare_places, &sorting);
	pages_init(pages, old.record_size, memory_limit);
	for (uint32_t i = 0; i < old.used; i++) {
		memcpy(pages_at(pages, pages_reserve(pages, 1)), pages_at(&old, places[i]),
		       old.record_size);
		if (i % SORTED == 0)
			pages_let_go(&old);
	}
	pages_clear(&old);
	pages_spill_first(pages);
	return places;
}

void pages_pass(const struct pages *pages, uint32_t index)
{
	uint32_t segment = index >> PAGES_SEGMENT_SHIFT;

	/* one behind stays: lists lead back into it */
	if ((index & (PAGES_SEGMENT - 1)) == 0 && segment >= 2)
		release(pages, segment - 2);
}

void pages_pass_to(const struct pages *pages, uint32_t *passed, uint32_t index)
{
	uint32_t segment = index >> PAGES_SEGMENT_SHIFT;

	for (; *passed + 1 < segment; (*passed)++)
		release(pages, *passed);
}

/* Each fault on a spilled page brings in its neighbours, too: so much at most (fault-around). */
#define FAULT_BYTES ((size_t) 64 << 10)
#define FAULTS_MIN 16

bool pages_much_read(uint64_t *faults, size_t memory_limit)
{
	struct rusage used;
	uint64_t now;

	if (getrusage(RUSAGE_THREAD, &used) != 0)
		return false;
	now = (uint64_t) used.ru_minflt + (uint64_t) used.ru_majflt;
	if (now - *faults < MAX(memory_limit / 3 / FAULT_BYTES, FAULTS_MIN))
		return false;
	*faults = now;
	return true;
}

void pages_let_go(const struct pages *pages)
{
	size_t bytes = segment_bytes(pages);

	for (uint32_t i = pages->in_memory, end; can_leave(pages, i); i = end) {
		for (end = i + 1; can_leave(pages, end) &&
				  pages->segments[end] == pages->segments[end - 1] + bytes;
		     end++)
			;
		madvise(pages->segments[i], bytes * (end - i), MADV_DONTNEED);
	}
}

void pages_detach(struct pages *pages, bool reads)
{
	for (uint32_t i = pages->first_spilled; i < pages->first_spilled + pages->spilled; i++)
		if (mmap(pages->segments[i], segment_bytes(pages),
			 PROT_READ | (reads ? 0 : PROT_WRITE), MAP_PRIVATE | MAP_FIXED,
			 pages->spill_fd, (off_t) segment_bytes(pages) * i) == MAP_FAILED)
			g_error("out of memory: %zu bytes", segment_bytes(pages));
	if (pages->spill_fd >= 0)
		close(pages->spill_fd);
	pages->spill_fd = -1;
	pages->spilled = 0;
	if (reads)
		return;
	/* letting go of a private page would undo what was written to it */
	pages->in_memory = pages->segment_count;
	pages->of_file = 0;
}

/* The pages behind the record `first`, where the next ones will lie. */
static void make_ready(struct pages *pages, uint32_t first)
{
	size_t bytes = MIN(pages->record_size * (size_t) first / 4, READY_BYTES) & ~(size_t) 4095;
	uint32_t slot = first & (PAGES_SEGMENT - 1);
	size_t from = (pages->record_size * slot + 4095) & ~(size_t) 4095;

	if (bytes >= READY_MIN && from < segment_bytes(pages)) {
		bytes = MIN(bytes, segment_bytes(pages) - from);
		madvise(pages->segments[first >> PAGES_SEGMENT_SHIFT] + from, bytes,
			MADV_POPULATE_WRITE);
	}
	pages->ready =
		first - slot + (uint32_t) MIN((from + bytes) / pages->record_size, PAGES_SEGMENT);
}

uint32_t pages_reserve(struct pages *pages, uint32_t count)
{
	uint32_t first = pages->used;
	uint32_t left = PAGES_SEGMENT - (first & (PAGES_SEGMENT - 1));

	g_assert(count > 0 && count <= PAGES_SEGMENT);
	if (count > left && (first & (PAGES_SEGMENT - 1)) != 0)
		first += left; /* the rest of this segment stays empty */
	if (first > UINT32_MAX - count)
		g_error("more than %u records in one store", UINT32_MAX);
	while ((uint64_t) first + count > (uint64_t) pages->segment_count * PAGES_SEGMENT)
		add_segment(pages);
	pages->used = first + count;
	if (pages->used > pages->ready)
		make_ready(pages, first);
	return first;
}
