/* SPDX-License-Identifier: MIT */
/* A hash map from a 64-bit key to a 32-bit value, for the look-ups that
 * happen once per event (threads by TID) where GHashTable costs too much.
 *
 * Part of util/. Open addressing, linear probing, deletion by back-shifting;
 * the value IDMAP_NONE means "not there" and cannot be stored.
 */
#ifndef WHYLATE_UTIL_IDMAP_H
#define WHYLATE_UTIL_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX

struct idmap_slot {
	uint64_t key;
	uint32_t value;
};

struct idmap {
	struct idmap_slot *slots; /* owned */
	uint32_t mask;            /* slots - 1 */
	uint32_t count;
};

void idmap_init(struct idmap *map);
void idmap_clear(struct idmap *map);
void idmap_set(struct idmap *map, uint64_t key, uint32_t value);
void idmap_remove(struct idmap *map, uint64_t key);

/* The slot where the search for a key begins. */
static inline uint32_t idmap_home(const struct idmap *map, uint64_t key)
{
	return (uint32_t) ((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & map->mask;
}

static inline uint32_t idmap_get(const struct idmap *map, uint64_t key)
{
	const struct idmap_slot *slot = &map->slots[idmap_home(map, key)];

	while (slot->value != IDMAP_NONE && slot->key != key)
		slot = slot == map->slots + map->mask ? map->slots : slot + 1;
	return slot->value;
}

/* A set of keys: false, it had it. */
static inline bool idmap_add(struct idmap *set, uint64_t key)
{
	if (idmap_get(set, key) != IDMAP_NONE)
		return false;
	idmap_set(set, key, 0);
	return true;
}

#endif
