/* SPDX-License-Identifier: MIT */
/* See softirqs.h. */
#include "event/softirqs.h"

#include <stddef.h>

const char *softirq_name(uint32_t number)
{
	static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	return number < sizeof names / sizeof *names ? names[number] : NULL;
}

bool softirq_is_timer(uint32_t number)
{
	return number == SOFTIRQ_TIMER || number == SOFTIRQ_HRTIMER;
}
