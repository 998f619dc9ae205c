/* SPDX-License-Identifier: MIT */
/* Who wrote into files what their disk has not yet, and what disks were busy with.
 *
 * Place: disk/, under flush.c and pauses.c, which explain waits by it.
 */
#ifndef WHYLATE_DISK_WRITTEN_H
#define WHYLATE_DISK_WRITTEN_H

#include "state/state.h"

/* `thread` (its number: `index`) has written `bytes` into the file that its call is on. */
void file_written(struct flow *flow, uint32_t index, struct thread *thread, uint64_t bytes);
/* `thread` writes to a page of the file `key` that it has mapped. */
void file_dirtied(struct flow *flow, uint32_t index, struct thread *thread, uint32_t key);
/* `thread` makes a request in a call on a file: that is on the disk `dev`. */
void file_is_on(struct flow *flow, struct host *host, uint32_t thread, uint32_t dev, bool write);
/* The disk has done the request. The file whose data it carried, where a kernel thread wrote what
 * others had left in the page cache: interned key, inferred; 0: not known. */
uint32_t disk_served(struct flow *flow, struct host *host, const struct request *request);

/* The disk of the file that the thread's call is on; 0: none; IDMAP_NONE: not known. */
uint32_t disk_of_call(struct flow *flow, const struct host *host, struct thread *thread);
/* … of the file `key`. */
uint32_t disk_of_file(const struct flow *flow, const struct host *host, uint32_t key);

/* By one process: written and not on the disk yet, or served by it. */
struct written {
	uint32_t thread; /* of those of the process the one that wrote most; NO_THREAD: not known */
	uint32_t file; /* interned key of one of its files, 0 */
	uint64_t bytes;
	int64_t busy; /* served: ns of the disk's time */
};

struct waiting_sums {
	uint64_t bytes; /* in all */
	struct written most; /* who wrote most, */
	uint32_t second; /* … and who after that; NO_THREAD */
	uint32_t processes; /* that wrote a fourth of that or more */
};

/* What processes wrote that the disk has not yet; IDMAP_NONE: that of no known disk. */
struct waiting_sums waiting_for(const struct flow *flow, const struct host *host, uint32_t dev);

struct served_sums {
	struct written own; /* of the process of `thread` */
	struct written most; /* of the others the one that the disk was busy with longest */
	struct written other; /* all others, known or not */
	uint32_t second; /* … and longest after that one; NO_THREAD */
	uint32_t processes; /* that it was busy with for a fourth of that or more */
};

/* The disk that did most since then, bytes; 0: none did anything. */
uint32_t busiest_since(const struct flow *flow, const struct host *host, int64_t from);
/* What the disk was busy with in [from, now), seen by `thread`. */
struct served_sums served_since(const struct flow *flow, const struct host *host, uint32_t dev,
				uint32_t thread, int64_t from);

#endif
