/* SPDX-License-Identifier: MIT */
/* Linux' softIRQ vectors: what they are called, and which of them run timers.
 *
 * Place: event/. Source: the enum of vectors in the kernel's linux/interrupt.h, which the
 * tracer gives as numbers.
 */
#ifndef WHYLATE_EVENT_SOFTIRQS_H
#define WHYLATE_EVENT_SOFTIRQS_H

#include <stdbool.h>
#include <stdint.h>

enum softirq {
	SOFTIRQ_HI,
	SOFTIRQ_TIMER,
	SOFTIRQ_NET_TX,
	SOFTIRQ_NET_RX,
	SOFTIRQ_BLOCK,
	SOFTIRQ_IRQ_POLL,
	SOFTIRQ_TASKLET,
	SOFTIRQ_SCHED,
	SOFTIRQ_HRTIMER,
	SOFTIRQ_RCU,
};

/* "NET_RX"; NULL: there is no such vector. */
const char *softirq_name(uint32_t number);
/* It runs nothing but timers that have expired. */
bool softirq_is_timer(uint32_t number);

#endif
