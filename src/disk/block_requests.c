/* SPDX-License-Identifier: MIT */
/* The store of block requests and bios on their way; see block_requests.h.
 *
 * One entry a bio that waits and one a request that was issued, found by phase,
 * device and sector. What never completes (discards that were merged, bios of
 * devices without requests, lost events) is swept out by age, so memory is
 * bounded: 16384 entries, of which the newest half always stays.
 *
 * Part of disk/.
 */
#include "disk/block_requests.h"

#include <string.h>

#include "objects/calls.h"
#include "objects/exchanges.h"
#define ON_WAY_MAX 16384u /* entries; the older half goes when there are more */

/* A flush of the device's cache has no length: sector 0, or that of the bio, when
 * it is issued; all ones when it completes. */
uint64_t request_key(uint32_t dev, uint64_t sector, uint32_t sectors, enum request_phase phase)
{
	uint64_t place = sectors ? sector : FLUSH_PLACE;

	return (dev + ((uint64_t) phase << 32)) * UINT64_C(0x9E3779B97F4A7C15) ^ place;
}

static uint64_t key_of(const struct request *request)
{
	return request_key(request->dev, request->sector, request->sectors,
			   (enum request_phase) request->phase);
}

struct request *request_find(const struct host *host, uint32_t dev, uint64_t sector,
			     uint32_t sectors, enum request_phase phase)
{
	uint32_t index = idmap_get(&host->requests, request_key(dev, sector, sectors, phase));

	return index == IDMAP_NONE ? NULL : &g_array_index(host->on_way, struct request, index);
}

void request_free(struct host *host, struct request *request)
{
	uint32_t index = (uint32_t) (request - (struct request *) (void *) host->on_way->data);

	g_assert(index < host->on_way->len && request->phase != REQUEST_FREE);
	idmap_remove(&host->requests, key_of(request));
	request->phase = REQUEST_FREE;
	request->next_free = host->request_free;
	host->request_free = index;
}

/* Frees what is older than the newest ON_WAY_MAX / 2. */
static void sweep(struct host *host)
{
	for (guint i = 0; i < host->on_way->len; i++) {
		struct request *at = &g_array_index(host->on_way, struct request, i);

		if (at->phase != REQUEST_FREE &&
		    host->request_count - at->generation > ON_WAY_MAX / 2)
			request_free(host, at);
	}
}

struct request *request_new(struct host *host, uint32_t dev, uint64_t sector, uint32_t sectors,
			    enum request_phase phase)
{
	struct request *request;
	uint32_t index;

	if (host->request_free == IDMAP_NONE && host->on_way->len >= ON_WAY_MAX)
		sweep(host);
	index = host->request_free;
	if (index == IDMAP_NONE) {
		index = host->on_way->len;
		g_array_set_size(host->on_way, index + 1);
	} else {
		host->request_free = g_array_index(host->on_way, struct request, index).next_free;
	}
	request = &g_array_index(host->on_way, struct request, index);
	*request = (struct request) {
		.queued = INT64_MIN,
		.issue = INT64_MIN,
		.requeued = INT64_MIN,
		.handed = INT64_MIN,
		.dev = dev,
		.sector = sector,
		.sectors = sectors,
		.left = sectors,
		.phase = (uint8_t) phase,
		.generation = host->request_count++};
	request->by[0].thread = request->by[0].behalf = NO_THREAD;
	idmap_set(&host->requests, key_of(request), index);
	return request;
}

struct request *request_move(struct host *host, struct request *request, uint64_t sector,
			     enum request_phase phase)
{
	struct request moved = *request, *there;

	request_free(host, request);
	if (request_find(host, moved.dev, sector, moved.sectors, phase))
		return NULL;
	there = request_new(host, moved.dev, sector, moved.sectors, phase);
	moved.sector = sector;
	moved.phase = (uint8_t) phase;
	moved.generation = there->generation;
	*there = moved;
	return there;
}

void request_divide(struct host *host, struct request *request, uint32_t sectors)
{
	uint64_t rest = request->sector + sectors;
	struct request first = *request, *second;

	request->sectors = request->left = sectors;
	second = request_find(host, first.dev, rest, 1, REQUEST_WAITING);
	if (second)
		return; /* known by an event of its own */
	second = request_new(host, first.dev, rest, first.sectors - sectors, REQUEST_WAITING);
	second->threads = first.threads;
	second->bios = first.bios;
	second->queued = first.queued;
	second->readahead = first.readahead;
	second->origin = first.origin;
	second->held = first.held;
	second->handed = first.handed;
	second->timer = first.timer;
	memcpy(second->by, first.by, sizeof second->by);
}

/* … by its numbers, as long as its name is not known. */
static void print_numbers(char text[32], uint32_t dev)
{
	g_snprintf(text, 32, "device %u:%u", dev >> 20, dev & 0xfffff);
}

uint32_t request_disk(struct flow *flow, struct host *host, uint32_t dev)
{
	uint32_t name = idmap_get(&host->disks, dev);
	char text[32];

	if (name != IDMAP_NONE)
		return name;
	print_numbers(text, dev);
	name = intern_id(flow->names, text);
	return strcmp(intern_text(flow->names, name), text) == 0
		       ? name
		       : key_format(flow, "%s of another host", text);
}

void request_disk_named(struct flow *flow, struct host *host, uint32_t dev, const char *name)
{
	char text[32];
	uint32_t id;

	print_numbers(text, dev);
	id = intern_known(flow->names, text);
	if (id && !intern_known(flow->names, name) && flow->model->hosts->len == 1)
		intern_replace(flow->names, id, name);
	idmap_set(&host->disks, dev, intern_id(flow->names, name));
}

/* --- who asked ------------------------------------------------------------- */

bool is_sync_call(const char *name)
{
	static const char *const calls[] = {"fsync", "fdatasync",       "sync",  "syncfs",
					    "msync", "sync_file_range", "umount"};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strcmp(name, calls[i]) == 0)
			return true;
	return false;
}

/* For whom a kernel thread works: who queued the item that it does, else who woke
 * it in a call of his own last. Whoever ends an update of the file system wakes
 * the journal's thread too, but only some calls wait for it. */
static uint32_t works_for(struct flow *flow, const struct thread *thread)
{
	if (thread->flow.work.doing)
		return thread->flow.work.thread;
	if (thread->flow.asked_by != NO_THREAD &&
	    g_str_has_prefix(intern_text(flow->names, thread->name), "jbd2/") &&
	    !is_sync_call(intern_text(flow->names, thread->flow.asked_call)))
		return NO_THREAD;
	return thread->flow.asked_by;
}

/* What it asks for: the file, and for whom a kernel thread works in which call. */
static void name_file(struct flow *flow, struct thread *current, struct requester *by)
{
	struct thread *asks = is_thread(by->behalf) ? flow_thread(flow, by->behalf) : current;

	by->file = exchange_file(flow, asks);
	if (asks->flow.fault)
		by->asked_in = intern_id(flow->names, "page fault");
	else if (asks != current && by->file)
		by->asked_in = asks->flow.call.name;
}

struct requester requester_of(struct flow *flow, const struct cpu *cpu, const struct event *event)
{
	struct thread *current = flow_current(flow, cpu);
	struct requester by = {.thread = NO_THREAD, .behalf = NO_THREAD, .time = flow->time};
	uint32_t said;

	if (cpu_interrupted(cpu))
		return by;
	if (current && (event->block.tid < 0 || event->block.tid == current->tid)) {
		by.thread = cpu->current;
		if (current->flow.call.open)
			by.call = current->flow.call.name;
		else if (!current->made_syscall)
			by.behalf = works_for(flow, current);
		by.behalf_seen = current->flow.work.doing;
		if (flow->exchanges_wanted)
			name_file(flow, current, &by);
	} else if (event->block.tid > 0) {
		said = thread_find(flow, event->host, event->block.tid);
		by.thread = said == IDMAP_NONE ? NO_THREAD : said;
	}
	return by;
}

void request_add(struct request *request, const struct requester *by)
{
	for (uint32_t i = 0; i < MIN(request->threads, REQUESTERS_MAX); i++)
		if (request->by[i].thread == by->thread) {
			request->by[i].time = MIN(request->by[i].time, by->time);
			return;
		}
	if (request->threads < REQUESTERS_MAX)
		request->by[request->threads] = *by;
	request->threads++;
}

/* The first one is who asked first. */
static void sort_requesters(struct request *request)
{
	for (uint32_t i = 1; i < MIN(request->threads, REQUESTERS_MAX); i++)
		if (request->by[i].time < request->by[0].time) {
			struct requester first = request->by[i];

			request->by[i] = request->by[0];
			request->by[0] = first;
		}
}

void request_absorb(struct request *request, const struct request *more)
{
	if (more->bios && !request->bios)
		request->threads = 0; /* who queued the bios counts, not who inserted them */
	if (more->bios) {
		request->held = more->held && (request->held || !request->bios);
		request->handed = MAX(request->handed, more->handed);
		request->timer = more->timer;
	}
	for (uint32_t i = 0;
	     (more->bios || !request->bios) && i < MIN(more->threads, REQUESTERS_MAX); i++)
		request_add(request, &more->by[i]);
	request->bios += more->bios;
	if (more->queued != INT64_MIN &&
	    (request->queued == INT64_MIN || more->queued < request->queued))
		request->queued = more->queued;
	request->readahead &= more->readahead;
	if (!request->origin)
		request->origin = more->origin;
	sort_requesters(request);
}
