/* SPDX-License-Identifier: MIT */
/* Open-addressing hash map; see idmap.h. */
#include "util/idmap.h"

#include <glib.h>

static struct idmap_slot *new_slots(uint32_t count)
{
	struct idmap_slot *slots = g_new(struct idmap_slot, count);

	for (uint32_t i = 0; i < count; i++)
		slots[i].value = IDMAP_NONE;
	return slots;
}

void idmap_init(struct idmap *map)
{
	*map = (struct idmap) {.slots = new_slots(16), .mask = 15};
}

void idmap_clear(struct idmap *map)
{
	g_free(map->slots);
	*map = (struct idmap) {0};
}

static void grow(struct idmap *map)
{
	struct idmap_slot *old = map->slots;
	uint32_t count = map->mask + 1;

	map->slots = new_slots(count * 2);
	map->mask = count * 2 - 1;
	map->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (old[i].value != IDMAP_NONE)
			idmap_set(map, old[i].key, old[i].value);
	g_free(old);
}

void idmap_set(struct idmap *map, uint64_t key, uint32_t value)
{
	uint32_t i;

	g_assert(value != IDMAP_NONE);
	if ((map->count + 1) * 2 > map->mask)
		grow(map);
	for (i = idmap_home(map, key); map->slots[i].value != IDMAP_NONE; i = (i + 1) & map->mask)
		if (map->slots[i].key == key) {
			map->slots[i].value = value;
			return;
		}
	map->slots[i] = (struct idmap_slot) {key, value};
	map->count++;
}

void idmap_remove(struct idmap *map, uint64_t key)
{
	uint32_t i = idmap_home(map, key), hole;

	while (map->slots[i].value != IDMAP_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	if (map->slots[i].value == IDMAP_NONE)
		return;
	/* close the hole: move back what would no longer be found behind it */
	for (hole = i, i = (i + 1) & map->mask; map->slots[i].value != IDMAP_NONE;
	     i = (i + 1) & map->mask) {
		uint32_t home = idmap_home(map, map->slots[i].key);

		if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = IDMAP_NONE;
	map->count--;
}
