/* SPDX-License-Identifier: MIT */
/* The pages of the kernel's ring buffer, of one CPU, as a stream of records.
 *
 * Place: foreign/, used for trace.dat. Pages are read where they lie, packed ones some at a time.
 * A page that cannot be is a gap; so is one that the kernel marks: it had overwritten what came
 * before. What a page holds ends where the next one begins: a time beyond that is damage.
 * Source: linux/ring_buffer.h, and header_page and header_event in tracefs.
 */
#ifndef WHYLATE_FOREIGN_RING_PAGES_H
#define WHYLATE_FOREIGN_RING_PAGES_H

#include "foreign/record_classes.h"
#include "foreign/cpu_stream.h"
#include "foreign/ftrace_file.h"

/* Bytes that could not be read; of all streams of one file. */
struct pages_damage {
	uint64_t bytes, total;
};

/* All but the times are borrowed: `file`, `classes`, `damage`. */
struct foreign_stream *
pages_stream_new(const struct ftrace_file *file, const struct trace_buffer *buffer,
		 const struct cpu_data *data, struct record_classes *classes,
		 struct pages_damage *damage);

#endif
