/* SPDX-License-Identifier: MIT */
/* See share.h. */
#include "samples/share.h"

#include <math.h>

#define Z 1.959964 /* of 95 % of a normal distribution */

double share_error(uint32_t part, uint32_t count)
{
	double n = count, p = part / n;

	return Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
}
