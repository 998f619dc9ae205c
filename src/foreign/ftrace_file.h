/* SPDX-License-Identifier: MIT */
/* trace-cmd's trace.dat, versions 6 and 7: what is known of the file as a whole.
 *
 * Place: foreign/. The records are in the kernel's ring-buffer pages, CPU by CPU (ring_pages.h).
 *
 * Rejected: libtracecmd. One flipped bit in the data left trace-cmd 170,605 of 376,938 records,
 * where one chunk of pages is damaged; and it unpacks all of a packed file into a temporary one
 * first. What it would save are these few hundred lines.
 * Source: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
 */
#ifndef WHYLATE_FOREIGN_FTRACE_FILE_H
#define WHYLATE_FOREIGN_FTRACE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "foreign/bytes.h"
#include "reader/mapped.h"

/* What one CPU recorded into one buffer: a part of the file. */
struct cpu_data {
	uint32_t cpu;
	uint64_t offset, size;
};

/* The kernel's buffer, or one of an instance. */
struct trace_buffer {
	char *name;      /* owned; "": the kernel's */
	char *clock;     /* owned; "mono"; "": not said */
	uint32_t page;   /* bytes */
	bool packed;
	GArray *cpus;    /* owned; struct cpu_data */
};

struct ftrace_file {
	char *path;           /* owned */
	struct mapped *file;  /* owned */
	bool swap;            /* the byte order is not this machine's */
	bool big;             /* it is big endian */
	int version;
	uint32_t page;        /* bytes */
	uint32_t word;        /* bytes of the kernel's long */
	enum packing packing;
	char *hostname, *kernel, *machine, *tracer; /* owned; NULL: not said */
	char *clock;          /* owned; of the kernel's buffer; NULL */
	GPtrArray *tracepoints; /* owned; struct tracepoint; entries may be taken */
	GArray *buffers;      /* owned; struct trace_buffer */
	char *trouble;        /* owned; what is damaged, NULL */
	int64_t offset;       /* ns: to be added to each time */
	bool dated;           /* … which makes it the time of day */
	uint32_t cycle_multiplier, cycle_shift; /* of a clock that counts cycles; 0: not said */
	uint32_t cpu_count;
};

/* The file begins as such a one does. */
bool ftrace_file_is(const char *path);

/* NULL and WHYLATE_ERROR_NO_TRACE: nothing in it can be read. */
struct ftrace_file *ftrace_file_open(const char *path, GError **error);
void ftrace_file_free(struct ftrace_file *file);

#endif
