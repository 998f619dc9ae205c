/* SPDX-License-Identifier: MIT */
/* The store of intervals, wake-up records and CPU runs; see timeline.h.
 *
 * A chunk is a head and up to CHUNK_MAX intervals, side by side in the store:
 *
 *   | head: base time, count, room | delta leaf ref | delta leaf ref | …
 *
 * It ends where it is full, or the next interval begins more than 4.28 s (nearly 2^32 ns) after
 * the base. The next one has room for what is likely: more than a full one had, little more than
 * one had got in its 4.28 s. So what a busy thread did lies in few pages: analyses go through
 * tracks one after the other, and read each page again for each chunk in it. For the same reason
 * a track's blocks lie side by side, so many at a time as are an eighth of those that it has, and
 * so do the details of what woke the thread.
 */
#include "timeline/timeline.h"

#include "timeline/counts.h"
#include "timeline/holds.h"
#include "timeline/sample.h"

#include <string.h>
#include <sys/resource.h>

#define CHUNK_MIN 8u
#define CHUNK_DOUBLED 512u /* larger ones grow by an eighth, so that little is left empty */
#define CHUNK_MAX 4095u /* with its head a segment of pages.h as small as it is made */
#define RECORDS_MAX 512u /* side by side */
#define RUNS_PER_CHUNK 512u
#define CHUNKS_READ 32u /* after so many, what was spilled and read leaves memory again */
/* ns in one chunk: 32 bits, and room for a clock that is set right */
#define CHUNK_SPAN (UINT32_MAX - (uint32_t) (UINT32_MAX * 2 * CORRIDOR_DRIFT_MAX))

/* The head takes the place of one interval. */
struct head {
	uint32_t base_low, base_high;
	uint16_t count, room;
};
_Static_assert(sizeof(struct head) == sizeof(struct interval), "a head is one record");

#define STORE(member, record, part, ...)                                                           \
	{.offset = offsetof(struct timeline, member),                                              \
	 .record_size = sizeof(struct record),                                                     \
	 .share = part,                                                                            \
	 __VA_ARGS__}

const struct store_info timeline_stores[] = {
	[STORE_INTERVALS] = STORE(intervals, interval, 2, ),
	[STORE_BLOCKS] = STORE(blocks, block, 4, .from_1 = true),
	[STORE_DETAILS] = STORE(details, wake_detail, 8, .from_1 = true),
	[STORE_REASONS] = STORE(reasons, reason, 8, .from_1 = true),
	[STORE_RUNS] = STORE(runs, run, 8, .per_chunk = RUNS_PER_CHUNK),
	[STORE_HOLDS] = STORE(holds, hold, 8, .per_chunk = HOLDS_PER_CHUNK),
	[STORE_OPERATIONS] = STORE(operations, operation, 4, .from_1 = true),
	[STORE_FACT_PLACES] = STORE(fact_places, fact_place, 16, ),
	[STORE_FACTS] = STORE(facts, fact_word, 8, ),
	[STORE_PACKETS] = STORE(packets, packet, 8, .from_1 = true),
	[STORE_EXCHANGES] = STORE(exchanges, exchange, 4, .from_1 = true),
	[STORE_ENDS] = STORE(ends, channel_end, 8, .from_1 = true),
	[STORE_SAMPLES] = STORE(samples, sample, 8, .per_chunk = SAMPLES_PER_CHUNK),
	[STORE_COUNTS] = STORE(counts, counted_run, 8, .per_chunk = COUNTS_PER_CHUNK),
};

void timeline_init(struct timeline *timeline, size_t memory)
{
	timeline->memory = memory;
	timeline->chunks_read = 0;
	timeline->faults = g_new0(uint64_t, 1);
	memset(timeline->facts_recent, 0, sizeof timeline->facts_recent);
	for (enum store i = 0; i < TIMELINE_STORES; i++) {
		const struct store_info *info = &timeline_stores[i];

		pages_init(timeline_store(timeline, i), info->record_size, memory / info->share);
		if (info->from_1)
			pages_reserve(timeline_store(timeline, i), 1);
	}
}

void timeline_share(struct timeline *timeline, uint32_t among)
{
	timeline->memory /= among;
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		pages_keep(timeline_store(timeline, i),
			   timeline->memory / timeline_stores[i].share);
}

void timeline_clear(struct timeline *timeline)
{
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		pages_clear(timeline_store(timeline, i));
	g_clear_pointer(&timeline->faults, g_free);
}

void timeline_detach(struct timeline *timeline, bool reads)
{
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		pages_detach(timeline_store(timeline, i), reads);
}

void timeline_spill_first(struct timeline *timeline)
{
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		pages_spill_first(timeline_store(timeline, i));
}

void timeline_let_go(const struct timeline *timeline)
{
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		pages_let_go(timeline_stored(timeline, i));
}

void timeline_ease(const struct timeline *timeline)
{
	if (timeline->faults && pages_much_read(timeline->faults, timeline->memory))
		timeline_let_go(timeline);
}

void track_clear(struct track *track)
{
	g_free(track->chunks.starts);
	*track = (struct track) {0};
}

static struct head *head_of(const struct timeline *timeline, const struct track *track,
			    uint32_t chunk)
{
	return pages_at(&timeline->intervals, track->chunks.starts[chunk]);
}

static struct interval *slot_of(struct head *head, uint32_t slot)
{
	return (struct interval *) head + 1 + slot;
}

static int64_t base_of(const struct head *head)
{
	return (int64_t) ((uint64_t) head->base_high << 32 | head->base_low);
}

/* Room in the chunk after that one; NULL: in the first. */
static uint16_t next_room(const struct head *before)
{
	uint32_t room;

	if (!before)
		return CHUNK_MIN;
	if (before->count < before->room)
		room = before->count + before->count / 4;
	else
		room = before->room < CHUNK_DOUBLED ? before->room * 2u
						    : before->room + before->room / 8u;
	return (uint16_t) CLAMP(room, CHUNK_MIN, CHUNK_MAX);
}

static struct head *add_chunk(struct timeline *timeline, struct track *track, int64_t base,
			      const struct head *before)
{
	uint16_t room = next_room(before);
	struct head *head;

	chunks_append(&track->chunks, pages_reserve(&timeline->intervals, room + 1u));
	head = head_of(timeline, track, track->chunks.count - 1);
	*head = (struct head) {(uint32_t) base, (uint32_t) ((uint64_t) base >> 32), 0, room};
	return head;
}

bool track_empty(const struct track *track)
{
	return track->chunks.count == 0;
}

struct interval *track_last(struct timeline *timeline, const struct track *track)
{
	struct head *head = head_of(timeline, track, track->chunks.count - 1);

	return slot_of(head, head->count - 1);
}

int64_t track_last_begin(struct timeline *timeline, const struct track *track)
{
	return base_of(head_of(timeline, track, track->chunks.count - 1)) +
	       track_last(timeline, track)->delta;
}

/* Two intervals of one leaf side by side are one, but for blocked ones: each
 * has its own wake-up. */
static bool same_state(const struct interval *interval, uint32_t leaf, uint32_t ref)
{
	return interval->leaf == leaf && interval->ref == ref && !leaf_is_blocked(leaf);
}

static void drop_last(const struct timeline *timeline, struct track *track)
{
	struct head *head = head_of(timeline, track, track->chunks.count - 1);

	/* an emptied chunk would break track_last(); its slot is worth less */
	if (head->count > 1)
		head->count--;
}

void track_append(struct timeline *timeline, struct track *track, int64_t time, uint32_t leaf,
		  uint32_t ref)
{
	struct head *head;
	struct interval *last;
	int64_t base;

	if (track_empty(track)) {
		head = add_chunk(timeline, track, time, NULL);
		*slot_of(head, head->count++) = (struct interval) {0, leaf, ref};
		return;
	}
	head = head_of(timeline, track, track->chunks.count - 1);
	last = slot_of(head, head->count - 1);
	if (same_state(last, leaf, ref))
		return;
	base = base_of(head);
	if (time <= base + (int64_t) last->delta) { /* the last has no length */
		last->leaf = leaf;
		last->ref = ref;
		if (head->count > 1 && same_state(last - 1, leaf, ref))
			drop_last(timeline, track);
		return;
	}
	if (head->count == head->room || time - base > CHUNK_SPAN) {
		head = add_chunk(timeline, track, time, head);
		base = time;
	}
	*slot_of(head, head->count++) = (struct interval) {(uint32_t) (time - base), leaf, ref};
}

/* Where the last look-up in a track ended, by whoever made it. */
static uint32_t hint_get(const uint32_t *hint)
{
	return __atomic_load_n(hint, __ATOMIC_RELAXED);
}

static void hint_set(const uint32_t *hint, uint32_t place)
{
	__atomic_store_n((uint32_t *) hint, place, __ATOMIC_RELAXED);
}

/* Analyses read tracks one after the other: each lies all over the stores. */
static void let_go(struct timeline *timeline)
{
	if (++timeline->chunks_read < CHUNKS_READ)
		return;
	timeline->chunks_read = 0;
	timeline_ease(timeline);
}

/* The last chunk that begins by `time`, or the first. Look-ups mostly follow each other
 * in time. */
static uint32_t find_chunk(const struct timeline *timeline, const struct track *track, int64_t time)
{
	uint32_t hint = hint_get(&track->hint), low = hint, high = track->chunks.count;

	if (low >= high || base_of(head_of(timeline, track, low)) > time)
		low = 0;
	else if (low + 1 < high && base_of(head_of(timeline, track, low + 1)) > time)
		high = low + 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (base_of(head_of(timeline, track, middle)) <= time)
			low = middle;
		else
			high = middle;
	}
	if (low != hint) {
		let_go((struct timeline *) timeline);
		hint_set(&track->hint, low);
	}
	return low;
}

bool track_find(const struct timeline *timeline, const struct track *track, int64_t time,
		struct track_pos *pos)
{
	uint32_t low, high;
	struct head *head;
	int64_t base;

	if (track_empty(track))
		return false;
	pos->chunk = find_chunk(timeline, track, time);
	head = head_of(timeline, track, pos->chunk);
	base = base_of(head);
	for (low = 0, high = head->count; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;

		if (base + (int64_t) slot_of(head, middle)->delta <= time)
			low = middle;
		else
			high = middle;
	}
	pos->slot = low;
	return true;
}

struct track_pos track_end_pos(const struct timeline *timeline, const struct track *track)
{
	if (track_empty(track))
		return (struct track_pos) {0, 0};
	return (struct track_pos) {track->chunks.count - 1,
				   head_of(timeline, track, track->chunks.count - 1)->count};
}

/* Reads the interval at `pos`, which is in the chunk `head`, and steps on. */
static inline void read_at(const struct timeline *timeline, const struct track *track,
			   struct track_pos *pos, struct head *head, int64_t life_end,
			   struct span *span)
{
	const struct interval *interval = slot_of(head, pos->slot);
	int64_t base = base_of(head);

	span->begin = base + interval->delta;
	span->leaf = interval->leaf;
	span->ref = interval->ref;
	if (++pos->slot < head->count) { /* the usual case: the next lies beside it */
		span->end = base + interval[1].delta;
	} else if (pos->chunk + 1 < track->chunks.count) {
		pos->chunk++;
		pos->slot = 0;
		head = head_of(timeline, track, pos->chunk);
		span->end = base_of(head) + slot_of(head, 0)->delta;
		let_go((struct timeline *) timeline);
	} else {
		span->end = life_end;
	}
}

/* The chunk that `pos` is in; NULL: it is past the end. */
static inline struct head *head_at(const struct timeline *timeline, const struct track *track,
				   const struct track_pos *pos)
{
	struct head *head =
		pos->chunk < track->chunks.count ? head_of(timeline, track, pos->chunk) : NULL;

	return head && pos->slot < head->count ? head : NULL;
}

bool track_read(const struct timeline *timeline, const struct track *track, struct track_pos *pos,
		int64_t life_end, struct span *span)
{
	struct head *head = head_at(timeline, track, pos);

	if (head)
		read_at(timeline, track, pos, head, life_end, span);
	return head;
}

bool track_read_off_cpu(const struct timeline *timeline, const struct track *track,
			struct track_pos *pos, int64_t life_end, struct span *span)
{
	struct head *head = head_at(timeline, track, pos);
	const struct interval *at, *last;

	if (!head)
		return false;
	at = slot_of(head, pos->slot);
	last = slot_of(head, head->count - 1);
	while (at < last && !leaf_is_off_cpu(at->leaf))
		at++;
	pos->slot = (uint32_t) (at - slot_of(head, 0));
	read_at(timeline, track, pos, head, life_end, span);
	return true;
}

struct interval *track_step_back(const struct timeline *timeline, const struct track *track,
				 struct track_pos *pos, int64_t *begin)
{
	struct head *head;
	struct interval *interval;

	if (pos->slot == 0) {
		if (pos->chunk == 0 || track_empty(track))
			return NULL;
		pos->chunk--;
		pos->slot = head_of(timeline, track, pos->chunk)->count;
	}
	head = head_of(timeline, track, pos->chunk);
	interval = slot_of(head, --pos->slot);
	*begin = base_of(head) + interval->delta;
	return interval;
}

void track_move(struct timeline *timeline, struct track *track, const struct clock_line *line)
{
	for (uint32_t c = 0; c < track->chunks.count; c++) {
		struct head *head = head_of(timeline, track, c);
		int64_t base = base_of(head), moved = clock_line_at(line, base);

		for (uint32_t i = 0; line->drift != 0 && i < head->count; i++) {
			struct interval *at = slot_of(head, i);

			at->delta = (uint32_t) (clock_line_at(line, base + at->delta) - moved);
		}
		head->base_low = (uint32_t) moved;
		head->base_high = (uint32_t) ((uint64_t) moved >> 32);
	}
}

void track_cut(struct timeline *timeline, struct track *track, struct track_pos pos)
{
	track->chunks.count = pos.slot ? pos.chunk + 1 : pos.chunk;
	if (pos.slot)
		head_of(timeline, track, pos.chunk)->count = (uint16_t) pos.slot;
}

static uint32_t reserve_in(struct pages *pages, struct side_by_side *own)
{
	if (!own->left) {
		own->left = CLAMP(own->given / 8, 1, RECORDS_MAX);
		own->next = pages_reserve(pages, own->left);
	}
	own->given++;
	own->left--;
	return own->next++;
}

uint32_t block_new(struct timeline *timeline, struct track *track)
{
	uint32_t index = reserve_in(&timeline->blocks, &track->blocks);
	struct block *block = block_at(timeline, index);

	*block = (struct block) {.fd = -1,
				 .child = NO_THREAD,
				 .waker = NO_THREAD,
				 .cpu = NO_CPU,
				 .operation = NO_OPERATION,
				 .timer = -1,
				 .idle_state = NO_IDLE_STATE};
	return index;
}

uint32_t detail_new(struct timeline *timeline, struct track *track,
		    const struct wake_detail *detail)
{
	uint32_t index = track ? reserve_in(&timeline->details, &track->details)
			       : pages_reserve(&timeline->details, 1);

	memcpy(pages_at(&timeline->details, index), detail, sizeof *detail);
	return index;
}

struct reason reason_of_kind(enum reason_kind kind)
{
	return (struct reason) {
		.kind = (uint8_t) kind, .thread = NO_THREAD, .other = NO_THREAD, .ns = -1};
}

uint32_t reason_new(struct timeline *timeline, const struct reason *reason)
{
	uint32_t number = pages_reserve(&timeline->reasons, 1);

	g_assert(reason->kind < REASON_KINDS);
	memcpy(pages_at(&timeline->reasons, number), reason, sizeof *reason);
	return number;
}

const struct run *run_at(const struct timeline *timeline, const struct log *runs, uint32_t index)
{
	return log_at(&timeline->runs, runs, RUNS_PER_CHUNK, index);
}

void run_append(struct timeline *timeline, struct log *runs, int64_t time, uint32_t thread,
		int32_t priority)
{
	if (!runs->used || run_at(timeline, runs, runs->used - 1)->thread != thread)
		*(struct run *) log_append(&timeline->runs, runs, RUNS_PER_CHUNK) =
			(struct run) {time, thread, priority};
}

static struct run_hint *hint_of(const struct timeline *timeline, const struct log *runs)
{
	/* logs are of CPUs, each of which is a block of memory */
	return (struct run_hint *) &timeline
		->run_hints[((uintptr_t) runs >> 4) * 2654435761U >> 16 & (RUN_HINTS - 1)];
}

uint32_t run_find(const struct timeline *timeline, const struct log *runs, int64_t time)
{
	struct run_hint *hint = hint_of(timeline, runs);
	uint32_t low = hint->runs == runs ? hint->place : 0, high, step = 1;

	if (!runs->used || run_at(timeline, runs, 0)->begin > time)
		return runs->used;
	if (low >= runs->used || run_at(timeline, runs, low)->begin > time)
		low = 0;
	/* in growing steps forward from there, then between the last two */
	for (high = low + step; high < runs->used && run_at(timeline, runs, high)->begin <= time;
	     step *= 2, high = low + step)
		low = high;
	high = MIN(high, runs->used);
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (run_at(timeline, runs, middle)->begin <= time)
			low = middle;
		else
			high = middle;
	}
	*hint = (struct run_hint) {runs, low};
	return low;
}
