/* SPDX-License-Identifier: MIT */
/* A clock's value as nanoseconds from its origin.
 *
 * Place: util/.
 */
#ifndef WHYLATE_UTIL_CLOCK_H
#define WHYLATE_UTIL_CLOCK_H

#include <stdint.h>

/* `cycles` at `frequency` Hz after `seconds`. What does not fit 64 bits comes round, as nothing in
 * a trace is to be trusted. */
static inline int64_t clock_ns(int64_t seconds, uint64_t cycles, uint64_t frequency)
{
	uint64_t ns = (uint64_t) seconds * 1000000000;

	if (frequency == 1000000000)
		return (int64_t) (ns + cycles);
	return (int64_t) (ns + cycles / frequency * 1000000000 +
			  (uint64_t) ((unsigned __int128) (cycles % frequency) * 1000000000 /
				      frequency));
}

#endif
