/* SPDX-License-Identifier: MIT */
/* How much less something would take without something else.
 *
 * Place: timeline/, so that what counts such things may keep it beside its counts. It is found by
 * re-timing (whatif/worth.h).
 */
#ifndef WHYLATE_TIMELINE_SAVING_H
#define WHYLATE_TIMELINE_SAVING_H

#include <stdbool.h>
#include <stdint.h>

struct saving {
	bool known;
	int64_t ns, from, to; /* … and what is not sure leaves room for; `ns` is in it */
};

#endif
