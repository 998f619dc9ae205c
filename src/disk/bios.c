/* SPDX-License-Identifier: MIT */
/* Bios: what threads queue, and requests are made of.
 *
 *   T ── bio_queue(dev, s) ── [remap to another device, split] ── getrq or merge
 *
 * A bio's own event names the thread that wants its sectors. It waits by itself
 * until a request that covers its sector is issued (block.c), so merges need not
 * be recorded; getrq and the merges only tell of bios that are not known yet.
 * Remappings hand the requesters on to the other device: of a partition to its
 * disk, of a mapped or striped device to those below.
 *
 * Part of disk/. Source: lttng-events.md 1.4; the kernel's block/blk-core.c and
 * blk-merge.c.
 */
#include "disk/bios.h"

#include <string.h>

#include "disk/block_requests.h"
#include "disk/completions.h"
#include "disk/held.h"
#include "disk/written.h"

static uint32_t disk_of(const struct host *host, uint32_t dev)
{
	uint32_t disk = host->whole.count ? idmap_get(&host->whole, dev) : IDMAP_NONE;

	return disk == IDMAP_NONE ? dev : disk;
}

static struct request *bio_new(struct flow *flow, struct host *host, const struct event *event,
			       const struct requester *by)
{
	uint32_t disk = disk_of(host, event->block.dev);
	struct request *bio =
		request_new(host, disk, event->block.sector, event->block.sectors, REQUEST_WAITING);

	bio->bios = 1;
	bio->queued = by->time;
	bio->arrived = flow->time;
	bio->origin = disk == event->block.dev ? 0 : event->block.dev;
	bio->readahead = event->block.rwbs & RWBS_READAHEAD;
	bio->write = event->block.rwbs & RWBS_WRITE;
	bio->meta = event->block.rwbs & RWBS_META;
	request_add(bio, by);
	file_is_on(flow, host, by->thread, disk, bio->write);
	held_until_now(flow, host, by->thread, bio);
	return bio;
}

static void bio_queued(struct flow *flow, struct host *host, const struct cpu *cpu,
		       const struct event *event)
{
	struct request *bio =
		request_find(host, disk_of(host, event->block.dev), event->block.sector,
			     event->block.sectors, REQUEST_WAITING);
	struct requester by;

	by = requester_of(flow, cpu, event);
	if (bio && bio->remapped) {
		bio->remapped = false; /* its requester is who asked the other device */
		if (by.thread != bio->by[0].thread && disk_of(host, bio->origin) == bio->dev)
			held_until_now(flow, host, by.thread, bio);
		return;
	}
	if (bio && event->kind == EV_BLOCK_BIO_MERGED && bio->bios)
		return; /* known by its block_bio_queue */
	if (bio && event->kind == EV_BLOCK_BIO && !bio->passed_on && bio->bios &&
	    bio->sectors == event->block.sectors && bio->by[0].thread != by.thread) {
		bio->bios++; /* two threads want it at once */
		request_add(bio, &by);
		return;
	}
	if (bio)
		request_free(host, bio); /* what became of it was not recorded */
	bio = bio_new(flow, host, event, &by);
	if (event->kind == EV_BLOCK_BIO_MERGED && flow->has_bios && host->gaps->len)
		bio->queued = INT64_MIN; /* that event was lost */
}

/* Since Linux 5.12 the event of a partition's bio has the partition's number on
 * both sides; only the sector becomes the disk's. */
static void bio_of_partition(struct host *host, const struct event *event)
{
	struct request *bio =
		request_find(host, disk_of(host, event->block.dev), event->block.other,
			     event->block.sectors, REQUEST_WAITING);

	if (bio && bio->remapped)
		request_move(host, bio, event->block.sector, REQUEST_WAITING);
}

/* What was asked of the other device; NULL: a partition's, whose bio has no event
 * before this one, or nothing. */
static struct request *remapped_from(struct host *host, const struct event *event)
{
	uint32_t disk = disk_of(host, event->block.other_dev);
	struct request *whole;

	if (disk == disk_of(host, event->block.dev))
		return NULL;
	whole = request_find(host, disk, event->block.other, event->block.sectors, REQUEST_WAITING);
	return whole ? whole
		     : request_find(host, disk, event->block.other, event->block.sectors,
				    REQUEST_ISSUED);
}

/* To the device below; by a worker, which a timer may have told to. */
static void bio_handed_on(const struct flow *flow, const struct host *host, uint32_t thread,
			  struct request *bio, uint32_t below)
{
	bio->passed_on = true;
	if (bio->handed != INT64_MIN)
		return; /* a part of it was */
	held_until_now(flow, host, thread, bio);
	bio->handed = flow->time;
	bio->below = below;
}

/* A part for another device, or the disk of a partition: the requesters are
 * those of the whole. */
static void bio_remapped(struct flow *flow, struct host *host, const struct cpu *cpu,
			 const struct event *event)
{
	struct requester by = requester_of(flow, cpu, event);
	struct request whole = {0}, *old = remapped_from(host, event), *bio;

	if (event->block.dev == event->block.other_dev) {
		bio_of_partition(host, event);
		return;
	}
	if (old) {
		whole = *old; /* which may move */
		bio_handed_on(flow, host, by.thread, old, event->block.dev);
	}
	bio = request_find(host, disk_of(host, event->block.dev), event->block.sector,
			   event->block.sectors, REQUEST_WAITING);
	if (bio)
		request_free(host, bio);
	bio = bio_new(flow, host, event, &by);
	bio->remapped = true;
	bio->origin = event->block.other_dev;
	if (!old)
		return;
	bio->threads = bio->bios = 0;
	bio->handed = INT64_MIN;
	bio->readahead = true;
	request_absorb(bio, &whole);
	bio->origin = whole.origin ? whole.origin : event->block.other_dev;
}

/* A device that has no requests has done it: from the bio's event until now. If the one below
 * has just completed its part, and had it for most of the time, that is to be named. */
static void bio_completed(struct flow *flow, struct host *host, struct cpu *cpu,
			  struct request *bio)
{
	struct wake_detail *detail = cpu_pending(cpu);
	uint32_t disk = request_disk(flow, host, bio->dev);

	if (flow_in_gap(flow, cpu) || !bio->bios || bio->queued == INT64_MIN)
		return;
	bio->end = flow->time;
	bio->issue = bio->handed == INT64_MIN ? bio->arrived : bio->handed;
	if (detail->kind == DETAIL_REQUEST && detail->origin == disk &&
	    2 * (bio->issue - bio->queued) < bio->end - bio->queued)
		return;
	if (!bio->below)
		disk_served(flow, host, bio);
	request_describe(flow, host, bio, detail);
	detail->completed = request_keep(host, bio);
}

static void bio_split(struct host *host, const struct event *event)
{
	struct request *bio = request_find(host, disk_of(host, event->block.dev),
					   event->block.sector, 1, REQUEST_WAITING);
	uint64_t first = event->block.other - event->block.sector;

	if (bio && event->block.other > event->block.sector && first < bio->sectors)
		request_divide(host, bio, (uint32_t) first);
}

void flow_bio(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event)
{
	struct request *bio;

	switch (event->kind) {
	case EV_BLOCK_REMAP:
		bio_remapped(flow, host, cpu, event);
		break;
	case EV_BLOCK_SPLIT:
		bio_split(host, event);
		break;
	case EV_BLOCK_BIO_COMPLETE:
		bio = request_find(host, disk_of(host, event->block.dev), event->block.sector,
				   event->block.sectors, REQUEST_WAITING);
		if (bio) {
			bio_completed(flow, host, cpu, bio);
			request_free(host, bio);
		}
		break;
	default:
		bio_queued(flow, host, cpu, event);
		break;
	}
}

/* "sda1" is of "sda", "nvme0n1p1" of "nvme0n1". */
static bool is_part_name(const char *name, const char *disk)
{
	size_t length = strlen(disk);

	if (!length || strncmp(name, disk, length) != 0)
		return false;
	name += length;
	if (g_ascii_isdigit(disk[length - 1]) && *name++ != 'p')
		return false;
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* Since Linux 5.12 the bios' events have the partition's number and the disk's
 * sectors, those of the requests have the disk's for both. */
void block_device_named(struct flow *flow, struct host *host, uint32_t dev, const char *name)
{
	for (uint32_t i = 0; i <= host->disks.mask; i++) {
		const struct idmap_slot *slot = &host->disks.slots[i];
		const char *other;

		if (slot->value == IDMAP_NONE || slot->key == dev)
			continue;
		other = intern_text(flow->names, slot->value);
		if (is_part_name(name, other))
			idmap_set(&host->whole, dev, (uint32_t) slot->key);
		else if (is_part_name(other, name))
			idmap_set(&host->whole, slot->key, dev);
	}
}
