/* SPDX-License-Identifier: MIT */
/* perf's records, and what lies packed in them (perf record -z), in its place.
 * Place: foreign/, below perf_file.h. */
#ifndef WHYLATE_FOREIGN_PERF_UNPACK_H
#define WHYLATE_FOREIGN_PERF_UNPACK_H

#include "foreign/bytes.h"
#include "reader/mapped.h"

/* enum perf_event_type */
enum perf_record {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_USER_TYPES = 64, /* from here on by perf itself */
	PERF_HEADER_ATTR = 64,
	PERF_TRACING_DATA = 66,
	PERF_AUXTRACE = 71,
	PERF_HEADER_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
};

#define PERF_HEAD 8 /* bytes: type (32), misc (16), size (16) */

/* If any record is packed, `records` is then that of `unpacked`, an unnamed file (owned by the
 * caller). False: it could not be written, and why. What is damaged is added to `damaged`. */
bool perf_unpack(struct bytes *records, struct mapped **unpacked, uint64_t *damaged,
		 const char **why);

#endif
