/* SPDX-License-Identifier: MIT */
/* Walking over what is kept; see keep.h. */
#include "flow/keep.h"

#include <string.h>

#include "timeline/counts.h"
#include "timeline/holds.h"
#include "timeline/sample.h"
#include "timeline/timeline_records.h"

void *keep_copy(struct keeping *keeping, enum store store, uint32_t old)
{
	struct pages *pages = timeline_store(keeping->flow->timeline, store);
	uint32_t number = pages_reserve(pages, 1);
	void *copy = pages_at(pages, number);

	memcpy(copy, pages_at(timeline_store(&keeping->old, store), old), pages->record_size);
	keeping->numbers[store][old] = number;
	return copy;
}

static uint32_t keep_ref(struct keeping *keeping, enum store store, uint32_t old)
{
	switch (store) {
	case STORE_LOCKS:
		keeping->locks[old] = true;
		return old;
	case STORE_BLOCKS:
	case STORE_DETAILS:
	case STORE_REASONS:
		if (old && !keeping->numbers[store][old])
			keep_record(keeping, store_records[store], keep_copy(keeping, store, old));
		return keeping->numbers[store][old];
	case STORE_OPERATIONS: /* by forget.c, as are those of who is dead */
	case STORE_PLACES:
		return old;
	default:
		return keeping->numbers[store][old];
	}
}

static void keep_track(struct keeping *keeping, struct track *track)
{
	struct track old = *track;
	struct track_pos pos;
	struct span span;

	*track = (struct track) {0};
	if (track_find(&keeping->old, &old, keeping->before, &pos))
		while (track_read(&keeping->old, &old, &pos, INT64_MAX, &span)) {
			if (leaf_is_blocked(span.leaf))
				span.ref = keep_ref(keeping, STORE_BLOCKS, span.ref);
			track_append(keeping->flow->timeline, track, span.begin, span.leaf,
				     span.ref);
		}
	track_clear(&old);
}

/* From the first record on that reaches past `before`. */
static void keep_log(struct keeping *keeping, enum store store, struct log *log)
{
	const struct pages *from = timeline_stored(&keeping->old, store);
	struct pages *to = timeline_store(keeping->flow->timeline, store);
	uint32_t per_chunk = timeline_stores[store].per_chunk, at;
	struct log old = *log;

	*log = (struct log) {0};
	if (store == STORE_RUNS) {
		at = run_find(&keeping->old, &old, keeping->before);
		at = at == old.used ? 0 : at; /* it begins later */
	} else if (store == STORE_SAMPLES) {
		at = sample_find(from, &old, keeping->before);
	} else if (store == STORE_COUNTS) {
		at = counted_run_find(from, &old, keeping->before);
	} else {
		at = hold_find(from, &old, keeping->before);
	}
	for (; at < old.used; at++) {
		void *copy = log_append(to, log, per_chunk);

		memcpy(copy, log_at(from, &old, per_chunk, at), to->record_size);
		keep_record(keeping, store_records[store], copy);
	}
	log_clear(&old);
}

static void keep(struct walk *walk, const struct field *field, void *at)
{
	struct keeping *keeping = (struct keeping *) walk;

	switch (field->kind) {
	case FIELD_THREAD:
		if (*(uint32_t *) at < keeping->flow->model->thread_count)
			keeping->threads[*(uint32_t *) at] = true;
		break;
	case FIELD_REF:
		*(uint32_t *) at = keep_ref(keeping, field->store, *(uint32_t *) at);
		break;
	case FIELD_LOG:
		if (field->store == STORE_INTERVALS)
			keep_track(keeping, at);
		else
			keep_log(keeping, field->store, at);
		break;
	default:
		break;
	}
}

void keep_record(struct keeping *keeping, const struct record *record, void *at)
{
	record_walk(&keeping->walk, record, at);
}

void keeping_init(struct keeping *keeping, struct flow *flow, int64_t before)
{
	*keeping = (struct keeping) {
		.walk = {.kinds = 1u << FIELD_THREAD | 1u << FIELD_REF | 1u << FIELD_LOG,
			 .visit = keep},
		.flow = flow,
		.before = before,
		.old = *flow->timeline};
	timeline_init(flow->timeline, keeping->old.memory);
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		if (timeline_stores[i].from_1)
			keeping->numbers[i] =
				g_new0(uint32_t, timeline_store(&keeping->old, i)->used);
	keeping->threads = g_new0(bool, flow->model->thread_count + 1);
	keeping->locks = g_new0(bool, flow->locks->len + 1);
}

void keeping_clear(struct keeping *keeping)
{
	timeline_clear(&keeping->old);
	for (enum store i = 0; i < TIMELINE_STORES; i++)
		g_free(keeping->numbers[i]);
	g_free(keeping->threads);
	g_free(keeping->locks);
}

/* --- other walks ---------------------------------------------------------------- */

struct each {
	struct walk walk;
	enum store store;
	void (*call)(void *data, uint32_t *number);
	void *data;
};

static void call_for(struct walk *walk, const struct field *field, void *at)
{
	const struct each *each = (const struct each *) walk;

	if (field->kind != FIELD_REF || field->store == each->store)
		each->call(each->data, at);
}

void each_ref(const struct record *record, void *at, enum store store,
	      void (*call)(void *data, uint32_t *ref), void *data)
{
	struct each each = {{.kinds = 1u << FIELD_REF, .visit = call_for}, store, call, data};

	record_walk(&each.walk, record, at);
}

void each_weak_thread(const struct record *record, void *at,
		      void (*call)(void *data, uint32_t *thread), void *data)
{
	struct each each = {{.kinds = 1u << FIELD_WEAK_THREAD, .visit = call_for}, 0, call, data};

	record_walk(&each.walk, record, at);
}

struct renumbering {
	struct walk walk;
	const struct keeping *keeping;
};

static void renumber(struct walk *walk, const struct field *field, void *at)
{
	const struct keeping *keeping = ((const struct renumbering *) walk)->keeping;

	*(uint32_t *) at = keeping->numbers[field->store][*(uint32_t *) at];
}

void renumber_weak(struct keeping *keeping, const struct record *record, void *at)
{
	struct renumbering walk = {{.kinds = 1u << FIELD_WEAK_REF, .visit = renumber}, keeping};

	record_walk(&walk.walk, record, at);
}
