/* SPDX-License-Identifier: MIT */
/* Writing and loading a whole trace; see image.h. */
#include "trace/image.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/model_records.h"
#include "objects/calls.h"
#include "trace/trace_records.h"

#define MAGIC "whylate\35" /* 29: of the format */

/* --- names ----------------------------------------------------------------------- */

static void put_names(struct image_out *out, const struct trace *trace)
{
	const struct intern *names = trace->model.names;

	image_put_number(out, trace->names_gathered);
	for (uint32_t i = 0; i < trace->names_gathered; i++)
		image_put_text(out, intern_text(names, i));
}

/* A new trace has some, the same first ones as the one that was written. */
static void take_names(struct image_in *in, struct trace *trace)
{
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 0; i < count && !in->failed; i++) {
		uint64_t size = image_take_number(in);
		const char *text = image_take(in, size);

		in->failed |= !text || !size || text[size - 1] ||
			      intern_id(trace->model.names, text) != i;
	}
	in->failed |= intern_count(trace->model.names) != count;
	trace->names_gathered = in->names = count;
}

/* --- stores ---------------------------------------------------------------------- */

/* Records that lie side by side in memory, up to a segment. What was spilled is let go
 * behind them, so that writing needs no more memory than reading did. */
static void put_store(struct image_out *out, const struct pages *store, uint32_t used)
{
	for (uint32_t i = 0; i < used && !out->failed; i += PAGES_SEGMENT) {
		uint32_t count = MIN(used - i, PAGES_SEGMENT);

		pages_pass(store, i);
		image_put(out, pages_at(store, i), count * store->record_size);
	}
	pages_let_go(store);
}

static uint32_t store_used(const struct trace *trace, enum store store)
{
	return store == STORE_OPERATIONS ? trace->operations_gathered
					 : timeline_stored(&trace->timeline, store)->used;
}

uint64_t image_size(const struct trace *trace)
{
	uint64_t size = (TIMELINE_STORES + 1) * IMAGE_ALIGN +
			(uint64_t) trace->model.thread_count * sizeof(struct thread);

	for (enum store i = 0; i < TIMELINE_STORES; i++)
		size += (uint64_t) store_used(trace, i) * timeline_stores[i].record_size;
	return size;
}

/* --- all ------------------------------------------------------------------------- */

bool image_write(const struct trace *trace, const struct image_of *of, int fd, bool (*go_on)(void))
{
	struct image_head head = {.magic = MAGIC};
	struct image_out out = {
		.fd = fd, .go_on = go_on, .at = IMAGE_ALIGN, .directories = of->directories};

	g_return_val_if_fail(trace->names_gathered, false);
	memcpy(head.key, of->key, IMAGE_KEY);
	head.operations_wanted = trace->flow.operations_wanted;
	head.resources_wanted = trace->flow.resources_wanted;
	head.facts_wanted = trace->flow.facts_wanted;
	head.exchanges_wanted = trace->flow.exchanges_wanted;
	digest_init(&out.digest);
	out.buffer = g_malloc(IMAGE_PIECE);
	out.failed = lseek(fd, IMAGE_ALIGN, SEEK_SET) < 0;
	for (enum store i = 0; i < TIMELINE_STORES; i++) {
		uint32_t used = store_used(trace, i);

		head.stores[i] = (struct image_store) {image_align(&out, IMAGE_ALIGN), used,
						       (uint32_t) timeline_stores[i].record_size};
		put_store(&out, timeline_stored(&trace->timeline, i), used);
	}
	head.rest = image_align(&out, IMAGE_ALIGN);
	put_names(&out, trace);
	image_put_record(&out, &trace_record, trace);
	head.size = image_align(&out, DIGEST_UNIT);
	g_free(out.buffer);
	head.digest = image_head_digest(&head, &out.digest);
	return !out.failed && pwrite(fd, &head, sizeof head, 0) == (ssize_t) sizeof head;
}

/* Threads' turns are made of their states, whatever else was recorded. */
static uint32_t read_for(uint32_t operations)
{
	return operations & ~(1u << OPERATION_BUSY);
}

/* What was recorded for more serves for less, but for a profile: what was recorded besides
 * would be among its parts. */
static bool has_wanted(const struct trace *trace, const struct image_head *head)
{
	if (trace->flow.exchanges_wanted && !head->exchanges_wanted)
		return false;
	if (!trace->flow.operations_wanted)
		return true;
	return read_for(trace->flow.operations_wanted) == read_for(head->operations_wanted) &&
	       (!trace->flow.resources_wanted || head->resources_wanted) &&
	       (!trace->flow.facts_wanted || head->facts_wanted);
}

static bool map_stores(struct trace *trace, const struct image_head *head, int fd)
{
	for (enum store i = 0; i < TIMELINE_STORES; i++) {
		const struct image_store *store = &head->stores[i];

		if (store->record_size != timeline_stores[i].record_size ||
		    !pages_map(timeline_store(&trace->timeline, i), fd, (off_t) store->offset,
			       store->used, i == STORE_OPERATIONS))
			return false;
	}
	return true;
}

bool image_load(struct trace *trace, const struct image_of *of, int fd)
{
	struct image_head head;
	struct image_in in = {.directories = of->directories, .timeline = &trace->timeline};
	char *map;

	if (!image_is_sound(fd, of->key, &head) || memcmp(head.magic, MAGIC, sizeof head.magic) ||
	    !has_wanted(trace, &head) || !map_stores(trace, &head, fd))
		return false;
	in.size = head.size - head.rest;
	map = mmap(NULL, in.size, PROT_READ, MAP_PRIVATE, fd, (off_t) head.rest);
	if (map == MAP_FAILED)
		return false;
	in.bytes = map;
	take_names(&in, trace);
	image_take_record(&in, &trace_record, trace);
	munmap(map, in.size);
	if (!trace->flow.operations_wanted)
		trace_forget_operations(trace);
	trace->operations_gathered = trace->timeline.operations.used;
	calls_know(&trace->flow);
	trace->restored = trace->sink.only_matches = !in.failed && trace->events;
	return trace->restored;
}
