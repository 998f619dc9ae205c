/* SPDX-License-Identifier: MIT */
/* What hosts and locks remember of things that are over; see forget.h. */
#include "flow/forget_state.h"

#include <string.h>

#include "model/model_records.h"
#include "locks/locks.h"

#define TIMER_KEPT (INT64_C(60) * 1000000000) /* ns: one whose length is not known */

/* Gives `map` the places that `keep` gives its entries, IDMAP_NONE: dropped. */
static void rebuild(struct idmap *map, void *data, uint32_t (*keep)(void *data, uint32_t value))
{
	struct idmap old = *map;

	idmap_init(map);
	for (uint32_t i = 0; i <= old.mask; i++) {
		uint32_t value = old.slots[i].value;

		if (value != IDMAP_NONE)
			value = keep(data, value);
		if (value != IDMAP_NONE)
			idmap_set(map, old.slots[i].key, value);
	}
	idmap_clear(&old);
}

struct rebuilding {
	struct keeping *keeping;
	const GArray *old;
	GArray *new;
	bool work; /* items queued, not packets: they wait for long */
};

static uint32_t keep_timer(void *data, uint32_t value)
{
	struct rebuilding *rebuilding = data;
	struct wake_detail timer = g_array_index(rebuilding->old, struct wake_detail, value);
	int64_t length = timer.requested >= 0 ? timer.requested : TIMER_KEPT;

	if (timer.kind == DETAIL_NONE || timer.begin < rebuilding->keeping->before - length)
		return IDMAP_NONE; /* cancelled or expired */
	g_array_append_val(rebuilding->new, timer);
	return rebuilding->new->len - 1;
}

static uint32_t keep_sent(void *data, uint32_t value)
{
	struct rebuilding *rebuilding = data;
	struct sent sent = g_array_index(rebuilding->old, struct sent, value);

	if (sent.time < rebuilding->keeping->before && !(rebuilding->work && sent.waiting))
		return IDMAP_NONE;
	g_array_append_val(rebuilding->new, sent);
	return rebuilding->new->len - 1;
}

static void forget_timers(struct keeping *keeping, struct host *host)
{
	struct rebuilding rebuilding = {keeping, host->armed,
					g_array_new(FALSE, FALSE, sizeof(struct wake_detail)),
					false};

	rebuild(&host->timers, &rebuilding, keep_timer);
	g_array_free(host->armed, TRUE);
	host->armed = rebuilding.new;
}

static void forget_sent(struct keeping *keeping, struct host *host)
{
	struct rebuilding rebuilding = {keeping, host->sent,
					g_array_new(FALSE, TRUE, sizeof(struct sent)), false};

	rebuild(&host->packets, &rebuilding, keep_sent);
	rebuild(&host->flows, &rebuilding, keep_sent);
	rebuilding.work = true;
	rebuild(&host->works, &rebuilding, keep_sent);
	rebuild(&host->writebacks, &rebuilding, keep_sent);
	g_array_free(host->sent, TRUE);
	host->sent = rebuilding.new;
}

static void forget_gaps(struct keeping *keeping, struct host *host)
{
	guint gone = 0;

	/* the last one tells when events were lost last */
	while (gone + 1 < host->gaps->len &&
	       g_array_index(host->gaps, struct gap, gone).furthest <= keeping->before)
		gone++;
	if (gone)
		g_array_remove_range(host->gaps, 0, gone);
}

static void forget_spins(const struct keeping *keeping, struct host *host)
{
	for (guint i = host->spins->len; i-- > 0;)
		if (g_array_index(host->spins, struct spin, i).end <= keeping->before)
			g_array_remove_index(host->spins, i);
}

static void forget_failures(const struct keeping *keeping, struct host *host)
{
	guint gone = 0;

	while (gone < host->failures->len &&
	       g_array_index(host->failures, struct failure, gone).time <= keeping->before)
		gone++;
	if (gone)
		g_array_remove_range(host->failures, 0, gone);
}

static uint32_t keep_number(void *data, uint32_t thread)
{
	return flow_thread(((struct keeping *) data)->flow, thread)->tid < 0 ? IDMAP_NONE : thread;
}

void forget_numbers(struct keeping *keeping, struct host *host)
{
	rebuild(&host->inner_tids, keeping, keep_number);
}

void forget_host(struct keeping *keeping, struct host *host)
{
	forget_timers(keeping, host);
	forget_sent(keeping, host);
	forget_gaps(keeping, host);
	forget_spins(keeping, host);
	forget_failures(keeping, host);
}

/* Whose holder died before held it until then at most. */
static void forget_holders(struct keeping *keeping, struct lock *lock)
{
	for (guint i = lock->open ? lock->open->len : 0; i-- > 0;) {
		uint32_t thread = g_array_index(lock->open, struct hold, i).thread;

		if (flow_thread(keeping->flow, thread)->end <= keeping->before)
			g_array_remove_index(lock->open, i);
	}
}

static void forget_boosts(struct keeping *keeping, struct lock *lock)
{
	guint gone = 0;

	while (lock->boosts && gone < lock->boosts->len &&
	       g_array_index(lock->boosts, struct boost, gone).time < keeping->before)
		gone++;
	if (gone)
		g_array_remove_range(lock->boosts, 0, gone);
}

static uint32_t keep_lock(void *data, uint32_t number)
{
	return ((struct keeping *) data)->locks[number] ? number : IDMAP_NONE;
}

/* Somebody held it, or waited for it, after `before`. */
static bool is_logged(const struct keeping *keeping, const struct log *log)
{
	return hold_find(&keeping->old.holds, log, keeping->before) < log->used;
}

void forget_locks(struct keeping *keeping)
{
	struct flow *flow = keeping->flow;

	for (uint32_t i = 1; i <= flow->locks->len; i++) {
		struct lock *lock = lock_at(flow, i);

		if (lock->free)
			continue;
		forget_holders(keeping, lock);
		forget_boosts(keeping, lock);
		if (keeping->locks[i] || lock->touched >= keeping->before ||
		    (lock->open && lock->open->len) || is_logged(keeping, &lock->holds) ||
		    is_logged(keeping, &lock->waits)) {
			keeping->locks[i] = true;
			keep_record(keeping, &lock_record, lock);
			continue;
		}
		lock_clear(lock);
		*lock = (struct lock) {.free = true};
		g_array_append_val(flow->free_locks, i);
	}
	rebuild(&flow->lock_index, keeping, keep_lock);
}

static void mark_place(void *used, uint32_t *place)
{
	((bool *) used)[*place] = true;
}

static void renumber_place(void *numbers, uint32_t *place)
{
	*place = ((uint32_t *) numbers)[*place];
}

void forget_places(struct model *model)
{
	GArray *places = model->places, *ids = model->ids;
	g_autofree uint32_t *numbers = g_new0(uint32_t, places->len);
	g_autofree bool *used = g_new0(bool, places->len);

	each_ref(&model_record, model, STORE_PLACES, mark_place, used);
	model->places = g_array_new(FALSE, TRUE, sizeof(struct place));
	model->ids = g_array_new(FALSE, TRUE, sizeof(struct ids));
	for (guint i = 0; i < places->len; i++) {
		struct place place = g_array_index(places, struct place, i);

		if (i && !used[i] && place.level)
			continue; /* those without ids are shared, and few */
		numbers[i] = model->places->len;
		if (place.level) {
			guint at = model->ids->len;

			g_array_append_vals(model->ids, &g_array_index(ids, struct ids, place.ids),
					    place.level);
			place.ids = at;
		}
		g_array_append_val(model->places, place);
	}
	each_ref(&model_record, model, STORE_PLACES, renumber_place, numbers);
	for (uint32_t i = 0; i <= model->shared_places.mask; i++)
		if (model->shared_places.slots[i].value != IDMAP_NONE)
			renumber_place(numbers, &model->shared_places.slots[i].value);
	g_array_free(places, TRUE);
	g_array_free(ids, TRUE);
}
