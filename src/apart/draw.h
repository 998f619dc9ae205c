/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same everywhere: xorshift64*, one multiplication each.
 *
 * Place: apart/. Source: Vigna, "An experimental exploration of Marsaglia's xorshift generators,
 * scrambled", 2016.
 */
#ifndef WHYLATE_APART_DRAW_H
#define WHYLATE_APART_DRAW_H

#include <glib.h>
#include <stdint.h>

/* From 0, below `limit`, which is not 0. `random`: where the generator is, not 0 to begin with. */
static inline guint draw(uint64_t *random, guint limit)
{
	*random ^= *random >> 12;
	*random ^= *random << 25;
	*random ^= *random >> 27;
	return (guint) ((*random * UINT64_C(0x2545F4914F6CDD1D) >> 32) * limit >> 32);
}

#endif
