/* SPDX-License-Identifier: MIT */
/* What hosts and locks remember of things that are over; see forget.h. */
#include "flow/forget.h"

#include <string.h>

#include "objects/locks.h"

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
	struct forgetting *forgetting;
	const GArray *old;
	GArray *new;
	bool work; /* items queued, not packets: they wait for long */
};

static uint32_t keep_timer(void *data, uint32_t value)
{
	struct rebuilding *rebuilding = data;
	struct wake_detail timer = g_array_index(rebuilding->old, struct wake_detail, value);
	int64_t length = timer.requested >= 0 ? timer.requested : TIMER_KEPT;

	if (timer.kind == DETAIL_NONE || timer.begin < rebuilding->forgetting->before - length)
		return IDMAP_NONE; /* cancelled or expired */
	keep_pending(rebuilding->forgetting, &timer);
	g_array_append_val(rebuilding->new, timer);
	return rebuilding->new->len - 1;
}

static uint32_t keep_sent(void *data, uint32_t value)
{
	struct rebuilding *rebuilding = data;
	struct sent sent = g_array_index(rebuilding->old, struct sent, value);

	if (sent.time < rebuilding->forgetting->before && !(rebuilding->work && sent.waiting))
		return IDMAP_NONE;
	keep_thread(rebuilding->forgetting, sent.thread);
	sent.behind = keep_detail(rebuilding->forgetting, sent.behind);
	g_array_append_val(rebuilding->new, sent);
	return rebuilding->new->len - 1;
}

static void forget_timers(struct forgetting *forgetting, struct host *host)
{
	struct rebuilding rebuilding = {forgetting, host->armed,
					g_array_new(FALSE, FALSE, sizeof(struct wake_detail)),
					false};

	rebuild(&host->timers, &rebuilding, keep_timer);
	g_array_free(host->armed, TRUE);
	host->armed = rebuilding.new;
}

static void forget_sent(struct forgetting *forgetting, struct host *host)
{
	struct rebuilding rebuilding = {forgetting, host->sent,
					g_array_new(FALSE, TRUE, sizeof(struct sent)), false};

	rebuild(&host->packets, &rebuilding, keep_sent);
	rebuild(&host->flows, &rebuilding, keep_sent);
	rebuilding.work = true;
	rebuild(&host->works, &rebuilding, keep_sent);
	rebuild(&host->writebacks, &rebuilding, keep_sent);
	g_array_free(host->sent, TRUE);
	host->sent = rebuilding.new;
}

static void keep_request(struct forgetting *forgetting, const struct request *request)
{
	for (uint32_t i = 0; i < REQUESTERS_MAX; i++) {
		keep_thread(forgetting, request->by[i].thread);
		keep_thread(forgetting, request->by[i].behalf);
	}
}

static void forget_gaps(struct forgetting *forgetting, struct host *host)
{
	guint gone = 0;

	/* the last one tells when events were lost last */
	while (gone + 1 < host->gaps->len &&
	       g_array_index(host->gaps, struct gap, gone).furthest <= forgetting->before)
		gone++;
	if (gone)
		g_array_remove_range(host->gaps, 0, gone);
}

void forget_host(struct forgetting *forgetting, struct host *host)
{
	forget_timers(forgetting, host);
	forget_sent(forgetting, host);
	forget_gaps(forgetting, host);
	for (guint i = 0; i < host->on_way->len; i++)
		keep_request(forgetting, &g_array_index(host->on_way, struct request, i));
	for (guint i = 0; i < G_N_ELEMENTS(host->completed); i++)
		keep_request(forgetting, &host->completed[i]);
	for (guint i = 0; i < G_N_ELEMENTS(host->stops); i++) {
		keep_thread(forgetting, host->stops[i].sender);
		keep_thread(forgetting, host->stops[i].target);
	}
}

/* Gives `log` to the new store, but for what ended before. */
static void keep_log(struct forgetting *forgetting, struct hold_log *log)
{
	const struct pages *from = &forgetting->old.holds;
	struct hold_log old = *log;

	*log = (struct hold_log) {0};
	for (uint32_t i = hold_find(from, &old, forgetting->before); i < old.used; i++) {
		const struct hold *hold = hold_at(from, &old, i);

		keep_thread(forgetting, hold->thread);
		hold_append(&forgetting->flow->timeline->holds, log, hold);
	}
	hold_log_clear(&old);
}

/* Whose holder died before held it until then at most. */
static void forget_holders(struct forgetting *forgetting, struct lock *lock)
{
	for (guint i = lock->open ? lock->open->len : 0; i-- > 0;) {
		uint32_t thread = g_array_index(lock->open, struct hold, i).thread;

		if (flow_thread(forgetting->flow, thread)->end <= forgetting->before)
			g_array_remove_index(lock->open, i);
	}
}

static void forget_boosts(struct forgetting *forgetting, struct lock *lock)
{
	guint gone = 0;

	while (lock->boosts && gone < lock->boosts->len &&
	       g_array_index(lock->boosts, struct boost, gone).time < forgetting->before)
		gone++;
	if (gone)
		g_array_remove_range(lock->boosts, 0, gone);
	for (guint i = 0; lock->boosts && i < lock->boosts->len; i++)
		keep_thread(forgetting, g_array_index(lock->boosts, struct boost, i).thread);
}

static uint32_t keep_lock(void *data, uint32_t number)
{
	return ((struct forgetting *) data)->locks[number] ? number : IDMAP_NONE;
}

void forget_locks(struct forgetting *forgetting)
{
	struct flow *flow = forgetting->flow;

	for (uint32_t i = 1; i <= flow->locks->len; i++) {
		struct lock *lock = lock_at(flow, i);

		if (lock->free)
			continue;
		forget_holders(forgetting, lock);
		forget_boosts(forgetting, lock);
		keep_log(forgetting, &lock->holds);
		keep_log(forgetting, &lock->waits);
		if (forgetting->locks[i] || lock->touched >= forgetting->before ||
		    (lock->open && lock->open->len) || lock->holds.used || lock->waits.used) {
			forgetting->locks[i] = true;
			for (guint k = 0; lock->open && k < lock->open->len; k++)
				keep_thread(forgetting,
					    g_array_index(lock->open, struct hold, k).thread);
			keep_thread(forgetting, lock->releaser);
			continue;
		}
		lock_clear(lock);
		*lock = (struct lock) {.free = true};
		g_array_append_val(flow->free_locks, i);
	}
	rebuild(&flow->lock_index, forgetting, keep_lock);
}

/* Places of their own (threads in containers) go with their threads. */
void forget_places(struct model *model)
{
	GArray *places = model->places, *ids = model->ids;
	g_autofree uint32_t *numbers = g_new0(uint32_t, places->len);
	g_autofree bool *used = g_new0(bool, places->len);

	for (uint32_t i = 0; i < model->thread_count; i++)
		used[model_thread(model, i)->place] = true;
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
	for (uint32_t i = 0; i < model->thread_count; i++)
		model_thread(model, i)->place = numbers[model_thread(model, i)->place];
	for (uint32_t i = 0; i <= model->shared_places.mask; i++)
		if (model->shared_places.slots[i].value != IDMAP_NONE)
			model->shared_places.slots[i].value =
				numbers[model->shared_places.slots[i].value];
	g_array_free(places, TRUE);
	g_array_free(ids, TRUE);
}
