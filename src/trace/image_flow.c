/* SPDX-License-Identifier: MIT */
/* What flow/ keeps for the reports, in an image: stacks, locks, latencies, oddities; see
 * image.h. What it needs only while events pass is as in a new one afterwards.
 */
#include "trace/image_file.h"
#include "objects/locks.h"

/* --- stacks ------------------------------------------------------------------ */

static void put_stacks(struct image_out *out, const struct flow *flow)
{
	image_put_number(out, flow->stacks->len);
	for (guint i = 1; i < flow->stacks->len; i++) /* the first is the empty one */
		image_put_array(out, flow_stack(flow, i), sizeof(uint32_t));
	image_put_number(out, flow->callstacks.lists->len);
	for (guint i = 1; i < flow->callstacks.lists->len; i++) {
		guint count;
		const uint64_t *words = callstack_words(&flow->callstacks, i, &count);

		image_put_number(out, count);
		image_put(out, words, count * sizeof *words);
	}
	image_put_array(out, flow->callstacks.paths, sizeof(struct callpaths));
}

static void take_stacks(struct image_in *in, struct flow *flow)
{
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 1; i < count && !in->failed; i++) {
		GArray *stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));

		image_take_array(in, stack, sizeof(uint32_t));
		g_ptr_array_add(flow->stacks, stack);
	}
	count = image_take_count(in, in->size);
	for (uint32_t i = 1; i < count && !in->failed; i++) {
		uint64_t size = sizeof(uint64_t) * (uint64_t) image_take_count(in, in->size / 8);
		const void *words = image_take(in, size);

		g_ptr_array_add(flow->callstacks.lists, g_bytes_new(words, words ? size : 0));
	}
	g_array_set_size(flow->callstacks.paths, 0);
	image_take_array(in, flow->callstacks.paths, sizeof(struct callpaths));
}

/* --- locks --------------------------------------------------------------------- */

static void own_lock(struct lock *lock)
{
	lock->holds.chunks = lock->waits.chunks = NULL;
	lock->open = lock->boosts = NULL;
}

static void put_lock(struct image_out *out, const struct lock *lock)
{
	struct lock copy = *lock;

	own_lock(&copy);
	image_put(out, &copy, sizeof copy);
	image_put_words(out, lock->holds.chunks, lock->holds.chunk_count);
	image_put_words(out, lock->waits.chunks, lock->waits.chunk_count);
	image_put_array(out, lock->open, sizeof(struct hold));
	image_put_array(out, lock->boosts, sizeof(struct boost));
}

static void take_log(struct image_in *in, struct hold_log *log, const struct timeline *timeline)
{
	log->chunks = image_take_words(in, &log->chunk_count);
	log->chunk_room = log->chunk_count;
	for (uint32_t i = 0; i < log->chunk_count; i++)
		in->failed |= log->chunks[i] >= timeline->holds.used;
}

static void take_lock(struct image_in *in, struct flow *flow, const struct timeline *timeline)
{
	struct lock lock;

	image_take_to(in, &lock, sizeof lock);
	own_lock(&lock);
	take_log(in, &lock.holds, timeline);
	take_log(in, &lock.waits, timeline);
	lock.open = g_array_new(FALSE, FALSE, sizeof(struct hold));
	image_take_array(in, lock.open, sizeof(struct hold));
	lock.boosts = g_array_new(FALSE, FALSE, sizeof(struct boost));
	image_take_array(in, lock.boosts, sizeof(struct boost));
	g_array_append_val(flow->locks, lock);
}

/* --- all ------------------------------------------------------------------------ */

void image_put_flow(struct image_out *out, const struct flow *flow)
{
	put_stacks(out, flow);
	image_put_array(out, flow->call_stats, sizeof(struct call_stat));
	image_put_map(out, &flow->callbacks);
	image_put_map(out, &flow->work_functions);
	image_put_number(out, flow->locks->len);
	for (guint i = 1; i <= flow->locks->len; i++)
		put_lock(out, lock_at(flow, i));
	image_put_number(out, flow->inode_locks | flow->pi_locks << 1 | flow->has_waking << 2 |
				      flow->has_bios << 3);
	image_put(out, flow->odd, sizeof flow->odd);
	image_put(out, &flow->user, sizeof flow->user);
	image_put_number(out, (uint64_t) flow->time);
}

bool image_take_flow(struct image_in *in, struct flow *flow, const struct timeline *timeline)
{
	uint32_t locks, flags;

	take_stacks(in, flow);
	image_take_array(in, flow->call_stats, sizeof(struct call_stat));
	image_take_map(in, &flow->callbacks);
	image_take_map(in, &flow->work_functions);
	locks = image_take_count(in, in->size / sizeof(struct lock));
	for (uint32_t i = 0; i < locks && !in->failed; i++)
		take_lock(in, flow, timeline);
	flags = image_take_count(in, 15);
	flow->inode_locks = flags & 1;
	flow->pi_locks = flags & 2;
	flow->has_waking = flags & 4;
	flow->has_bios = flags & 8;
	image_take_to(in, flow->odd, sizeof flow->odd);
	image_take_to(in, &flow->user, sizeof flow->user);
	flow->time = (int64_t) image_take_number(in);
	return !in->failed;
}
