/* SPDX-License-Identifier: MIT */
/* How far chance may put a share beside the true one. Part of samples/. */
#ifndef WHYLATE_SAMPLES_SHARE_H
#define WHYLATE_SAMPLES_SHARE_H

#include <stdint.h>

/* `part` of `count` samples, taken at times that have nothing to do with what is sampled: half the
 * width of Wilson's 95 % interval (E. B. Wilson, 1927). */
double share_error(uint32_t part, uint32_t count);

#endif
