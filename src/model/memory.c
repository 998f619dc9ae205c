/* SPDX-License-Identifier: MIT */
/* Address spaces; see memory.h. Areas lie sorted, without overlaps; neighbours that are the same
 * are one. */
#include "model/memory.h"

#include <glib.h>
#include <stdbool.h>

#define PAGE UINT64_C(4096)
#define AREAS_MAX 16384 /* of one process: more are not known */

/* x86-64 without five-level paging: arch/x86/mm/mmap.c, fs/binfmt_elf.c. Mappings end below the
 * room that the stack may need, 128 MB at least, and the stack's top is up to 16 GB lower than
 * the highest address. Without randomisation mappings lie just below that room. */
#define STACK_LOWEST UINT64_C(0x7ffbf8000000)
#define STACK_TOP UINT64_C(0x800000000000)
#define FIXED_LOWEST UINT64_C(0x7ffff0000000)
#define FIXED_END UINT64_C(0x7ffff8000000)
#define MAPPED_LOWEST UINT64_C(0x700000000000) /* the kernel puts nothing there of itself below */
#define LOADER_ROOM (UINT64_C(64) << 20) /* the loader, and what the kernel shows programs */
#define PROGRAM_MAX (UINT64_C(1) << 30)

struct area {
	uint64_t begin, end;
	struct area_is is;
};

struct areas {
	int refs;
	GArray *list; /* owned; struct area by begin */
};

struct memory {
	int refs;
	struct areas *areas; /* shared by copies until one changes */
	bool whole;          /* an exec was seen: what is not known is of that exec */
	uint32_t program;    /* key of its file, 0 */
	uint64_t heap, heap_end; /* 0: no brk() was seen */
};

static struct areas *areas_new(guint room)
{
	struct areas *areas = g_new(struct areas, 1);

	areas->refs = 1;
	areas->list = g_array_sized_new(FALSE, FALSE, sizeof(struct area), room);
	return areas;
}

static void areas_leave(struct areas *areas)
{
	if (--areas->refs)
		return;
	g_array_free(areas->list, TRUE);
	g_free(areas);
}

struct memory *memory_new(void)
{
	struct memory *memory = g_new0(struct memory, 1);

	memory->refs = 1;
	memory->areas = areas_new(0);
	return memory;
}

struct memory *memory_of_program(uint32_t key)
{
	struct memory *memory = memory_new();

	memory->whole = true;
	memory->program = key;
	return memory;
}

struct memory *memory_join(struct memory *memory)
{
	memory->refs++;
	return memory;
}

void memory_leave(struct memory **memory)
{
	struct memory *left = *memory;

	*memory = NULL;
	if (!left || --left->refs)
		return;
	areas_leave(left->areas);
	g_free(left);
}

struct memory *memory_copy(const struct memory *memory)
{
	struct memory *copy = g_memdup2(memory, sizeof *memory);

	copy->refs = 1;
	copy->areas->refs++;
	return copy;
}

/* Its list, not shared with any other's. */
static GArray *list_to_write(struct memory *memory)
{
	struct areas *shared = memory->areas;

	if (shared->refs > 1) {
		memory->areas = areas_new(shared->list->len + 8);
		g_array_append_vals(memory->areas->list, shared->list->data, shared->list->len);
		areas_leave(shared);
	}
	return memory->areas->list;
}

static struct area *area_at(const GArray *list, guint index)
{
	return &g_array_index((GArray *) list, struct area, index);
}

/* The first one that ends behind `address`. */
static guint first_behind(const GArray *list, uint64_t address)
{
	guint low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (area_at(list, middle)->end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* No area reaches into [begin, end): where one that is to be there belongs. */
static guint clear_range(GArray *list, uint64_t begin, uint64_t end)
{
	guint at = first_behind(list, begin), last;
	struct area rest;

	if (at < list->len && area_at(list, at)->begin < begin) {
		rest = *area_at(list, at);
		area_at(list, at)->end = begin;
		at++;
		if (rest.end > end) { /* in the middle of it */
			rest.begin = end;
			g_array_insert_val(list, at, rest);
			return at;
		}
	}
	for (last = at; last < list->len && area_at(list, last)->end <= end;)
		last++;
	if (last > at)
		g_array_remove_range(list, at, last - at);
	if (at < list->len && area_at(list, at)->begin < end)
		area_at(list, at)->begin = end;
	return at;
}

static bool same(const struct area_is *a, const struct area_is *b)
{
	return a->kind == b->kind && a->key == b->key && a->written == b->written;
}

static bool range_of(uint64_t begin, uint64_t size, uint64_t *end)
{
	return size && !__builtin_add_overflow(begin, (size + PAGE - 1) & ~(PAGE - 1), end) &&
	       *end > begin;
}

void memory_map(struct memory *memory, uint64_t begin, uint64_t size, struct area_is what)
{
	GArray *list;
	struct area area = {.begin = begin, .is = what};
	guint at;

	if (!range_of(begin, size, &area.end))
		return;
	list = list_to_write(memory);
	at = clear_range(list, begin, area.end);
	if (what.kind == AREA_UNKNOWN)
		return;
	if (at > 0 && area_at(list, at - 1)->end == begin &&
	    same(&area_at(list, at - 1)->is, &what)) {
		area_at(list, --at)->end = area.end;
	} else if (list->len < AREAS_MAX) {
		g_array_insert_val(list, at, area);
	} else {
		return;
	}
	if (at + 1 < list->len && area_at(list, at + 1)->begin == area.end &&
	    same(&area_at(list, at + 1)->is, &what)) {
		area_at(list, at)->end = area_at(list, at + 1)->end;
		g_array_remove_index(list, at + 1);
	}
}

void memory_unmap(struct memory *memory, uint64_t begin, uint64_t size)
{
	memory_map(memory, begin, size, (struct area_is) {AREA_UNKNOWN});
}

void memory_move(struct memory *memory, uint64_t from, uint64_t old_size, uint64_t to,
		 uint64_t size)
{
	struct area_is what = memory_at(memory, from);

	memory_unmap(memory, from, old_size);
	memory_map(memory, to, size, what);
}

void memory_set_break(struct memory *memory, uint64_t end)
{
	if (!memory->heap || end < memory->heap)
		memory->heap = end;
	memory->heap_end = end;
}

/* What exec mapped, or has always been there. */
static struct area_is by_place(const struct memory *memory, uint64_t address, uint64_t highest)
{
	struct area_is unknown = {AREA_UNKNOWN};

	if (address >= STACK_LOWEST && address < STACK_TOP &&
	    !(address >= FIXED_LOWEST && address < FIXED_END))
		return (struct area_is) {AREA_STACK};
	if (!memory->whole)
		return unknown;
	if (address >= MAPPED_LOWEST && address >= highest &&
	    (!highest || address - highest < LOADER_ROOM))
		return (struct area_is) {AREA_LOADER};
	if (address < MAPPED_LOWEST && memory->program &&
	    (!memory->heap || (address < memory->heap && memory->heap - address < PROGRAM_MAX)))
		return (struct area_is) {.kind = AREA_FILE, .key = memory->program};
	return unknown;
}

struct area_is memory_at(const struct memory *memory, uint64_t address)
{
	const GArray *list = memory->areas->list;
	guint at = first_behind(list, address);

	if (at < list->len && area_at(list, at)->begin <= address)
		return area_at(list, at)->is;
	if (address >= memory->heap && address < memory->heap_end)
		return (struct area_is) {AREA_HEAP};
	return by_place(memory, address, list->len ? area_at(list, list->len - 1)->end : 0);
}

bool memory_file_at(const struct memory *memory, uint64_t address, uint32_t key, uint64_t *begin,
		    uint64_t *end)
{
	const GArray *list = memory->areas->list;
	guint at = first_behind(list, address);
	const struct area *area;

	if (at >= list->len)
		return false;
	area = area_at(list, at);
	*begin = area->begin;
	*end = area->end;
	return area->begin <= address && area->is.kind == AREA_FILE && area->is.key == key;
}
