/* SPDX-License-Identifier: MIT */
/* perf.data: what is known of the file as a whole, and where each CPU's records are in it.
 *
 *   perf.data   | header, attributes | c0 c0 c0 | c1 c1 | round | c0 c0 | c1 … | features
 *   runs of c0                         └──────┘                   └───┘
 *
 * Place: foreign/. perf writes what it finds in one CPU's buffer, then the next one's: the file
 * is gone through once, for the runs of records of each CPU; the records are read CPU by CPU
 * (perf_records.h), and merged as any others. So no more than the runs' places is kept, however
 * rarely perf began a new round. What a packed file holds is unpacked into an unnamed one first:
 * it is one stream from its begin to its end.
 * Source: perf.data-file-format.txt and perf_event_open(2) of Linux 6.1.
 */
#ifndef WHYLATE_FOREIGN_PERF_FILE_H
#define WHYLATE_FOREIGN_PERF_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "foreign/perf_unpack.h"

/* What perf recorded of one kind of event. */
struct perf_attribute {
	uint32_t type;        /* PERF_TYPE_TRACEPOINT is 2 */
	uint64_t config;      /* a tracepoint's number */
	uint64_t sample_type, read_format;
	bool sample_id_all;
	bool some_only; /* of a tracepoint's events: those after each so many, or so much time */
};
#define PERF_TYPE_TRACEPOINT 2

/* What a record tells beside its payload. */
struct perf_stamp {
	const struct perf_attribute *attribute; /* borrowed */
	uint64_t time;
	uint32_t cpu;
	int32_t pid, tid;
	bool has_time, has_cpu, has_tid;
};

struct perf_run {
	uint64_t offset, size;
};

/* Of sample_type: what a sample has. */
enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_IDENTIFIER = 1 << 16,
};

struct perf_cpu {
	uint32_t cpu;
	GArray *runs; /* owned; struct perf_run */
};

/* A file's code in a process's memory. */
#define BUILD_ID_SIZE 20
#define BUILD_ID_SHORT 16
struct perf_map {
	int32_t pid, tid;
	uint64_t base, size; /* from where the file's first byte would be */
	const char *path;    /* borrowed from the file's `texts` */
	uint8_t id[BUILD_ID_SIZE];
	uint32_t id_size;    /* 0: none is known */
};

/* A thread that was there before, as perf found it in /proc. */
struct perf_thread {
	int32_t tid, pid, ppid;
	char *name; /* owned, NULL */
};

struct perf_file {
	char *path;            /* owned */
	struct mapped *file;   /* owned */
	struct mapped *unpacked; /* owned; the records, where the file is packed; NULL */
	struct bytes records;  /* all of them */
	bool swap;
	char *hostname, *kernel, *machine, *version; /* owned, NULL */
	GPtrArray *tracepoints; /* owned; struct tracepoint; entries may be taken */
	GArray *attributes;    /* owned; struct perf_attribute */
	GHashTable *by_id;     /* owned; index in it + 1 by an event's id */
	GPtrArray *cpus;       /* owned; struct perf_cpu */
	struct perf_cpu *last; /* borrowed; of the record seen last */
	GArray *threads;       /* owned; struct perf_thread */
	GHashTable *by_tid;    /* owned; index in it + 1 */
	GStringChunk *texts;   /* owned; paths */
	GHashTable *build_ids; /* owned; a struct perf_map (owned) by its path, for its id */
	GArray *maps;          /* owned; uint64_t: where records are of what was mapped before */
	GHashTable *in_exec; /* owned; PID -> GArray (owned) of struct perf_map: what an exec that
				  is under way has mapped */
	GArray *told; /* owned; struct perf_map: to be told after the event */
	bool execs; /* each exec's end is recorded */
	bool stacks; /* of programs, in some records */
	bool same_samples; /* all attributes have one sample_type */
	bool in_parts; /* the records are in other files beside it */
	uint32_t clock; /* CLOCK_…; UINT32_MAX: perf's own */
	int64_t offset; /* ns: to be added to each time for the time of day */
	bool dated; /* … is known */
	uint64_t damaged; /* bytes of records that could not be read */
	char *trouble; /* owned; what else is damaged, NULL */
};

bool perf_file_is(const char *path);

/* NULL and WHYLATE_ERROR_NO_TRACE: nothing in it can be read. */
struct perf_file *perf_file_open(const char *path, GError **error);
void perf_file_free(struct perf_file *file);

/* It tells what the CPU was at, at its own time. */
bool perf_samples(const struct perf_attribute *attribute);

/* Of a record of code that a process has mapped from a file; false: it is none. */
bool perf_map(const struct perf_file *file, const struct bytes *record, struct perf_map *map);

/* False: the record is too short. `record` is all of it. */
bool perf_stamp(const struct perf_file *file, const struct bytes *record, struct perf_stamp *stamp);

#endif
