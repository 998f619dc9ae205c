/* SPDX-License-Identifier: MIT */
/* A trace as it is when all events are in, written to a file and taken from it again: what
 * a second question about the same trace is answered from.
 *
 *   reading ─► trace_gather() ─► image_write() ─► file ─► image_load() ─► session_finish()
 *
 * Place: trace/. Which file it is, whether it is of this trace and
 * who may have written it is for the caller to know (input/cache.h).
 *
 *   | head | intervals | blocks | … the stores, as they are in memory | all the rest |
 *
 * The stores are mapped from the file: not copied, and resident only where they are looked
 * at. The rest (names, threads, CPUs, locks, …) is read record by record into structures of
 * this process, with every length checked. A checksum is over all of it, so what is damaged
 * or cut short is not taken; the layout is this program's own (structures as they are
 * compiled), so the key must say which program wrote it.
 */
#ifndef WHYLATE_TRACE_IMAGE_H
#define WHYLATE_TRACE_IMAGE_H

#include "trace/image_file.h"
#include "trace/trace.h"

/* What the image is of. `directories`: those of the trace, in the order that is part of the
 * key; paths of damaged files are kept relative to them, as the trace may be moved. */
struct image_of {
	uint8_t key[IMAGE_KEY];
	const GPtrArray *directories; /* borrowed strings */
};

/* About how many bytes the file would have. */
uint64_t image_size(const struct trace *trace);

/* Writes what trace_gather() left, from the beginning of the file `fd`. `go_on` is asked
 * now and then, and ends it. False: not written whole, the file is of no use. */
bool image_write(const struct trace *trace, const struct image_of *of, int fd, bool (*go_on)(void));

/* Fills a new trace from the file. False: the file is not of `of`, not sound, or has not
 * what it wants recorded; it may be half filled then, and is to be freed. */
bool image_load(struct trace *trace, const struct image_of *of, int fd);

#endif
