/* SPDX-License-Identifier: MIT */
/* One CPU's records of a perf.data as a stream.
 *
 * Place: foreign/. Records of one CPU may stand a little out of order, as an interrupt's that came
 * between the making and the storing of another: some are looked at ahead.
 */
#ifndef WHYLATE_FOREIGN_PERF_RECORDS_H
#define WHYLATE_FOREIGN_PERF_RECORDS_H

#include "foreign/perf_file.h"
#include "foreign/record_classes.h"
#include "foreign/cpu_stream.h"

/* All are borrowed. `sample`: what a sample that is no tracepoint's is. */
struct foreign_stream *
perf_stream_new(struct perf_file *file, const struct perf_cpu *cpu, struct record_classes *classes,
		const struct event_class *sample, const struct event_sink *sink);

/* What processes had mapped when the recording began; nothing the second time. */
void perf_tell_maps(struct perf_file *file, const struct event_sink *sink, uint32_t host,
		    uint32_t cpu, int64_t time);

#endif
