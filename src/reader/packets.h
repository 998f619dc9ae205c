/* SPDX-License-Identifier: MIT */
/* A stream file: its packets, found without reading the events.
 *
 *   file: | header context events … padding | header context … | …
 *           begin, end, sizes, sequence number, events discarded, CPU
 *
 * Place: reader/. Headers are checked against the file and the trace's UUID;
 * what does not fit is taken from the index beside it, or passed over to the next sound
 * packet, and told as damage.
 * Source: CTF 1.8.3, section 5; lttng-modules' packet context.
 */
#ifndef WHYLATE_READER_PACKETS_H
#define WHYLATE_READER_PACKETS_H

#include "reader/mapped.h"
#include "metadata/types.h"

struct stream_file {
	char *path;           /* owned */
	uint64_t lost;        /* bytes that could not be read as events */
	bool cut;             /* it ends in the middle of something */
	struct mapped *mapped; /* owned */
	const uint8_t *bytes; /* borrowed from it; NULL: empty */
	uint64_t length;      /* bytes */
	uint64_t there; /* … of which are there, as far as is known: see stream_file_look() */
	int fd;         /* while packets of it are copied; -1 */
};

struct ctf_packet {
	struct stream_file *file; /* borrowed */
	const struct metadata *metadata; /* borrowed: of the file's directory */
	uint64_t offset; /* bytes in the file */
	uint64_t header; /* bits: where the first event begins */
	uint64_t content, size; /* bits, of what is there */
	uint64_t stream_id, instance;
	uint64_t begin, end; /* raw clock values */
	uint64_t sequence, discarded;
	uint32_t cpu;
	bool has_instance, has_times, has_sequence, has_discarded, has_cpu;
	bool damaged; /* cut short */
	bool after_hole; /* bytes before it were no packet */
};

/* Maps the file; NULL and `error` if it cannot be read. */
struct stream_file *stream_file_open(const char *path, GError **error);
void stream_file_free(gpointer file);
/* Copies bytes of the file, which is opened for it; false: they cannot be had in this way. To touch
 * a page of a mapped file for the first time takes longer than to copy it. */
bool stream_file_copy(struct stream_file *file, uint64_t from, uint64_t size, uint8_t *to);
/* No more is copied for now. */
void stream_file_close(struct stream_file *file);
/* Bytes that will not be read soon leave memory; `from` is a multiple of STREAM_FILE_PIECE. */
#define STREAM_FILE_PIECE (UINT64_C(1) << 20)
void stream_file_let_go(const struct stream_file *file, uint64_t from, uint64_t to);

/* Asks for the file's size again: it may have been cut. What is behind its end in its last page
 * reads as zeros, without a fault. */
void stream_file_look(struct stream_file *file);

/* How long the file is now, against when it was mapped: -1 shorter, 1 longer, 0 the same or gone.
 * */
int stream_file_changed(const struct stream_file *file);

/* Appends all packets of `file` to `packets` (struct ctf_packet); counts what lies between. */
void packets_scan(struct stream_file *file, const struct metadata *metadata, GArray *packets);

#endif
