/* SPDX-License-Identifier: MIT */
/* Block requests and bios on their way, by device and sector: the store, and who
 * asked. block.c moves requests, bios.c what becomes one.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_OBJECTS_BLOCK_REQUESTS_H
#define WHYLATE_OBJECTS_BLOCK_REQUESTS_H

#include "state/state.h"

#define FLUSH_PLACE UINT64_MAX /* of a flush, which has no sector */
#define RWBS_WRITE 1
#define RWBS_READAHEAD 8
#define RWBS_META 64
/* barrier, flush, preflush: what a request without sectors has that is a flush of the
 * cache; one that has none of them is a command of a driver or of an ioctl. */
#define RWBS_FLUSH (16 | 256 | 1024)

/* A pointer to an entry is good until the next request_new(). */
uint64_t request_key(uint32_t dev, uint64_t sector, uint32_t sectors, enum request_phase phase);
/* `sectors`: whether there are any is all that counts. */
struct request *request_find(const struct host *host, uint32_t dev, uint64_t sector,
			     uint32_t sectors, enum request_phase phase);
/* There is none of that place and phase yet. Old ones may go. */
struct request *request_new(struct host *host, uint32_t dev, uint64_t sector, uint32_t sectors,
			    enum request_phase phase);
void request_free(struct host *host, struct request *request);
/* In another phase, perhaps elsewhere; what is already there is kept, and NULL returned. */
struct request *request_move(struct host *host, struct request *request, uint64_t sector,
			     enum request_phase phase);
/* `request` keeps its first `sectors`; the rest waits on. */
void request_divide(struct host *host, struct request *request, uint32_t sectors);

/* fsync and its kin, by name. */
bool is_sync_call(const char *name);

/* The device's name, interned; of one that the statedump did not name, its numbers. */
uint32_t request_disk(struct flow *flow, struct host *host, uint32_t dev);
/* The statedump names the device. What was told of it by its numbers so far is told by its name,
 * too; not with several hosts, of which each may have another one of these numbers. */
void request_disk_named(struct flow *flow, struct host *host, uint32_t dev, const char *name);

/* Who does what the event says: whoever is current, but in an interrupt. */
struct requester requester_of(struct flow *flow, const struct cpu *cpu, const struct event *event);
/* One more bio, or those of `more`, are part of what `request` carries. */
void request_add(struct request *request, const struct requester *by);
void request_absorb(struct request *request, const struct request *more);

#endif
