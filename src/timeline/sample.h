/* SPDX-License-Identifier: MIT */
/* Samples: what a thread was doing at one moment, as an event that carries call stacks tells. A
 * log per thread, in order of time.
 *
 *   thread   ├──── spin ─────┤ tick ├── spin ──┤ tick ├ … read ┤ block_rq_issue
 *                            ▲                 ▲               ▲
 *                        SAMPLE_CLOCK      SAMPLE_CLOCK     SAMPLE_OWN
 *
 * Place: timeline/, written by threads/sampling.c, read by samples/. The stacks are the tracer's
 * words (callstack.h); what of them is the thread's, and what the interrupt's, is for who reads
 * them.
 */
#ifndef WHYLATE_TIMELINE_SAMPLE_H
#define WHYLATE_TIMELINE_SAMPLE_H

#include <stdint.h>

#include "timeline/log.h"

/* What made the sample: the first ones say more of where time goes. */
enum sample_source {
	SAMPLE_CLOCK, /* a clock interrupted the thread: whatever it did, it came at its time */
	SAMPLE_INTERRUPT, /* another interrupt did */
	SAMPLE_SOFTIRQ, /* an event of the softIRQ that runs on the thread */
	SAMPLE_OWN, /* an event of its own: what it does often is seen often */
};

struct sample {
	int64_t time; /* what ran until then: an interrupt's is its begin */
	uint32_t kernel; /* stack by number, 0: not recorded */
	uint32_t user : 29;
	uint32_t source : 2; /* enum sample_source */
	uint32_t in_softirq : 1; /* one that the trace has events of */
};

#define SAMPLES_PER_CHUNK 32u

const struct sample *sample_at(const struct pages *store, const struct log *log, uint32_t index);
void sample_append(struct pages *store, struct log *log, const struct sample *sample);
/* The first one behind `time`; log->used if there is none. */
uint32_t sample_find(const struct pages *store, const struct log *log, int64_t time);

#endif
