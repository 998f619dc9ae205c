/* SPDX-License-Identifier: MIT */
/* Tries, and the pauses between them; see tries.h. */
#include "tries/tries.h"

#include <string.h>

#include "objects/calls.h"

#define TRIES 1024     /* of all threads */
#define TRIES_EACH 12  /* of one */
#define CHILD_STEPS 400 /* intervals looked at of a child */
#define WATCH_BITS 10
/* Calls between two looks for a file: a shell that runs `sleep` makes 7 to 30 of its own, SQLite
 * with a transaction between 36. */
#define CALLS_BETWEEN 40
#define CALLS_BETWEEN_TWO 32

struct tries {
	struct try all[TRIES];
	uint32_t clock; /* the next one to be taken */
	uint32_t kinds[TRY_KINDS]; /* tries of each */
	uint16_t watched[1 << WATCH_BITS]; /* tries by the low bits of their ids */
};

void tries_init(struct flow *flow)
{
	flow->tries = NULL;
}

void tries_clear(struct flow *flow)
{
	g_free(flow->tries);
	flow->tries = NULL;
}

static struct tries *tries_of(struct flow *flow)
{
	if (!flow->tries) {
		flow->tries = g_new0(struct tries, 1);
		for (uint32_t i = 0; i < TRIES; i++)
			flow->tries->all[i].thread = NO_THREAD;
	}
	return flow->tries;
}

uint64_t try_id(uint32_t host, enum try_kind kind, uint64_t number)
{
	uint64_t id = (number ^ (uint64_t) host << 56 ^ (uint64_t) kind << 48) *
		      UINT64_C(0x9E3779B97F4A7C15);

	return id ^ id >> 29;
}

static uint16_t *watch_of(struct tries *tries, uint64_t id)
{
	return &tries->watched[id & ((1 << WATCH_BITS) - 1)];
}

bool tries_any(const struct flow *flow, enum try_kind kind)
{
	return flow->tries && flow->tries->kinds[kind];
}

bool tries_watch(const struct flow *flow, uint64_t id)
{
	return flow->tries && *watch_of(flow->tries, id);
}

struct try *tries_all(const struct flow *flow)
{
	return flow->tries->all;
}

void try_drop(struct flow *flow, struct try *try)
{
	uint32_t place = (uint32_t) (try - flow->tries->all) + 1;
	uint32_t *at = &flow_thread(flow, try->thread)->flow.tries;

	while (*at && *at != place)
		at = &flow->tries->all[*at - 1].next;
	if (*at)
		*at = try->next;
	--*watch_of(flow->tries, try->id);
	flow->tries->kinds[try->kind]--;
	try->thread = NO_THREAD;
}

/* Nobody listens there, whether there is no file yet, or no listener at it: that is one try. */
static bool same(const struct try *try, const struct try *like)
{
	return try->kind == like->kind && try->id == like->id && try->number == like->number &&
	       (try->result == like->result || try->kind == TRY_LISTENER);
}

struct try *try_find(struct flow *flow, uint32_t index, const struct try *like)
{
	for (uint32_t at = flow_thread(flow, index)->flow.tries; at;) {
		struct try *try = &flow->tries->all[at - 1];

		if (same(try, like))
			return try;
		at = try->next;
	}
	return NULL;
}

/* A free place; that of the oldest one of a thread that has many. */
static struct try *take_place(struct flow *flow, uint32_t index)
{
	struct tries *tries = tries_of(flow);
	struct try *taken;
	struct try *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t at = flow_thread(flow, index)->flow.tries; at; count++) {
		struct try *try = &flow->tries->all[at - 1];

		if (!oldest || try->last < oldest->last)
			oldest = try;
		at = try->next;
	}
	taken = count < TRIES_EACH ? &tries->all[tries->clock++ % TRIES] : oldest;
	if (taken->thread != NO_THREAD)
		try_drop(flow, taken);
	return taken;
}

static struct try *try_begin(struct flow *flow, uint32_t index, const struct try *like)
{
	struct try *try = take_place(flow, index);

	*try = *like;
	try->last = flow->time;
	try->calls = flow_thread(flow, index)->flow.calls;
	try->doings = flow_thread(flow, index)->flow.doings;
	try->since = try->first = like->since ? like->since : flow->time;
	try->passed = 0;
	try->maker = NO_THREAD;
	try->made = INT64_MIN;
	try->reason = 0;
	try->count = try->failures = 1;
	try->over = try->loose = false;
	try->thread = index;
	try->next = flow_thread(flow, index)->flow.tries;
	flow_thread(flow, index)->flow.tries = (uint32_t) (try - flow->tries->all) + 1;
	++*watch_of(flow->tries, try->id);
	flow->tries->kinds[try->kind]++;
	return try;
}

/* --- pauses ------------------------------------------------------------------------ */

enum pause { PAUSE_NAP, PAUSE_CHILD, PAUSE_NONE };

/* No thread ended it, and its time was over. */
static bool ended_by_time(const struct flow *flow, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(flow->timeline, block->detail) : NULL;

	if (block->kind == WAKER_THREAD || block->kind == WAKER_NONE)
		return false;
	return block->kind == WAKER_HRTIMER || block->why == WHY_TIME_LIMIT ||
	       (detail && detail->kind == DETAIL_TIMER) ||
	       (block->operation != NO_OPERATION && block->operation != IDLE_OPERATION) ||
	       strcmp(intern_text(flow->names, block->resource), "timeout") == 0;
}

/* It was asleep by its own timer for a good part of its life; of `sleep` it does not matter how
 * long its start took. */
static bool only_slept(struct flow *flow, const struct thread *child)
{
	struct track_pos pos;
	struct interval *interval;
	int64_t end = MIN(child->end, flow->time), begin = end, at, naps = 0;

	if (track_empty(&child->track))
		return false;
	pos = track_end_pos(flow->timeline, &child->track);
	for (int i = 0; i < CHILD_STEPS; i++) {
		interval = track_step_back(flow->timeline, &child->track, &pos, &at);
		if (!interval)
			break;
		if (PACK_KIND(interval->leaf) == LEAF_BLOCK_SYSCALL &&
		    flow_call_info(flow, PACK_NUMBER(interval->leaf))->wait == WAIT_SLEEP)
			naps += begin - at;
		begin = at;
	}
	return naps * 4 >= end - begin ||
	       (naps && strcmp(intern_text(flow->names, child->name), "sleep") == 0);
}

static enum pause pause_of(struct flow *flow, const struct interval *interval)
{
	const struct block *block;

	if (PACK_KIND(interval->leaf) != LEAF_BLOCK_SYSCALL)
		return PAUSE_NONE;
	block = block_at(flow->timeline, interval->ref);
	switch (flow_call_info(flow, PACK_NUMBER(interval->leaf))->wait) {
	case WAIT_SLEEP:
		return PAUSE_NAP;
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
	case WAIT_FUTEX:
		return ended_by_time(flow, block) ? PAUSE_NAP : PAUSE_NONE;
	case WAIT_CHILD:
	case WAIT_SIGNAL: /* a shell that is told when its child ends */
		if (!is_thread(block->child))
			return is_thread(block->waker) &&
					       only_slept(flow, flow_thread(flow, block->waker))
				       ? PAUSE_NAP
				       : PAUSE_CHILD;
		return only_slept(flow, flow_thread(flow, block->child)) ? PAUSE_NAP : PAUSE_CHILD;
	default:
		return PAUSE_NONE;
	}
}

struct pauses try_pauses(struct flow *flow, uint32_t index, int64_t since)
{
	struct thread *thread = flow_thread(flow, index);
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	struct pauses pauses = {0};
	int64_t end = flow->time, at;
	struct interval *interval;

	while (end > since &&
	       (interval = track_step_back(flow->timeline, &thread->track, &pos, &at))) {
		int64_t ns = end - MAX(at, since);
		enum pause pause = pause_of(flow, interval);

		end = at;
		if (leaf_wib(interval->leaf) == WIB_INTERRUPTED)
			continue; /* others had the CPU */
		if (pause == PAUSE_NAP) {
			pauses.naps += ns;
			pauses.longest = MAX(pauses.longest, ns);
			pauses.count++;
		} else if (pause == PAUSE_CHILD) {
			pauses.children += ns;
		} else {
			pauses.other += ns;
		}
	}
	return pauses;
}

/* Who only looks for a file does little else meanwhile; who tries but once, next to nothing. */
static bool did_more(const struct flow *flow, const struct try *try, const struct pauses *pauses)
{
	uint32_t calls = model_thread(flow->model, try->thread)->flow.calls - try->calls;

	return (try->kind == TRY_APPEARS || (try->kind == TRY_GOES && !try->result)) &&
	       calls > (try->count > 1 ? CALLS_BETWEEN : CALLS_BETWEEN_TWO) * pauses->count;
}

/* "with only a pause between" */
static bool only_paused(const struct flow *flow, const struct try *try, const struct pauses *pauses)
{
	int64_t other = pauses->other;

	if (try->kind == TRY_FAILS) /* how long the call itself takes does not matter */
		other -= flow->time - model_thread(flow->model, try->thread)->flow.call.begin;
	return (pauses->count && pauses->naps >= other && !did_more(flow, try, pauses)) ||
	       try->kind == TRY_FUTEX; /* locks/futex_tries.c sees to that */
}

/* --- tries ------------------------------------------------------------------------- */

static bool lost_since(const struct flow *flow, uint32_t index, int64_t since)
{
	const struct host *host = model_host(flow->model, model_thread(flow->model, index)->host);

	return host_unseen(host, since, flow->time);
}

static void failed_now(struct flow *flow, struct try *try)
{
	try->last = flow->time;
	try->calls = flow_thread(flow, try->thread)->flow.calls;
	try->doings = flow_thread(flow, try->thread)->flow.doings;
	try->failures = (uint16_t) MIN(try->failures + 1, UINT16_MAX);
}

struct try *try_failed(struct flow *flow, uint32_t index, const struct try *like)
{
	struct try *try = try_find(flow, index, like);
	struct pauses pauses;

	if (!try) {
		try_begin(flow, index, like);
		return NULL;
	}
	pauses = try_pauses(flow, index, try->last);
	if (!pauses.count && !try->over && !lost_since(flow, index, try->last)) {
		failed_now(flow, try); /* once more before the next pause */
		return NULL;
	}
	if (try->over || !only_paused(flow, try, &pauses) || lost_since(flow, index, try->last)) {
		try_drop(flow, try);
		try_begin(flow, index, like);
		return NULL;
	}
	try->count = (uint16_t) MIN(try->count + 1, UINT16_MAX);
	failed_now(flow, try);
	return try;
}

bool try_paused(struct flow *flow, const struct try *try)
{
	struct pauses pauses = try_pauses(flow, try->thread, try->last);

	return only_paused(flow, try, &pauses) && !lost_since(flow, try->thread, try->last);
}

struct try *try_succeeds(struct flow *flow, uint32_t index, const struct try *like)
{
	struct try *try = try_find(flow, index, like);

	if (!try || try->over)
		return NULL;
	if (try_paused(flow, try))
		return try;
	try_drop(flow, try);
	return NULL;
}

/* The stored one, to be changed. */
static struct reason *reason_of(struct flow *flow, uint32_t number)
{
	return pages_at(&flow->timeline->reasons, number);
}

static void write_reason(struct flow *flow, const struct try *try, uint32_t reason, uint32_t lock)
{
	struct thread *thread = flow_thread(flow, try->thread);
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	const struct reason *written = reason_of(flow, reason);
	struct interval *interval;
	int64_t end = flow->time, at;

	while (end > try->since &&
	       (interval = track_step_back(flow->timeline, &thread->track, &pos, &at))) {
		struct block *block;
		int64_t until = end;

		end = at;
		if (pause_of(flow, interval) == PAUSE_NONE)
			continue;
		if (written->kind == REASON_FUTEX_TIMED && is_thread(written->thread) &&
		    flow_thread(flow, written->thread)->begin >= until)
			continue; /* who was not there yet kept nothing */
		block = block_at(flow->timeline, interval->ref);
		if (block->reason && reason_of(flow, block->reason)->kind)
			continue; /* explained by an earlier one */
		block->reason = reason;
		if (lock)
			block->lock = lock;
	}
}

static uint32_t object_of(struct flow *flow, const struct try *try)
{
	int32_t pid = (int32_t) try->number;

	if (try->object)
		return try->object;
	if (try->kind == TRY_END)
		return pid > 0 ? key_format(flow, "process:%d", pid)
			       : intern_id(flow->names, "child:any");
	return key_format(flow, "file:%s", intern_text(flow->names, try->number));
}

void try_explained(struct flow *flow, struct try *try, struct reason *reason, uint32_t lock)
{
	struct reason *known = try->reason ? reason_of(flow, try->reason) : NULL;
	struct pauses pauses = try_pauses(flow, try->thread, try->since);

	reason->count = try->failures;
	if (known && known->thread == reason->thread && known->kind == reason->kind) {
		known->count = try->failures;
		known->number = MAX(known->number, reason->number);
		known->until = reason->until;
		known->ns = MAX(known->ns, pauses.longest);
	} else {
		reason->object = object_of(flow, try);
		reason->call = try->call;
		reason->result = try->result;
		reason->begin = try->first;
		reason->ns = pauses.longest;
		try->reason = reason_new(flow->timeline, reason);
	}
	write_reason(flow, try, try->reason, lock);
	try->since = flow->time;
	try->maker = NO_THREAD;
}

static void unwrite(struct flow *flow, struct thread *thread, uint32_t reason, int64_t since)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	struct interval *interval;
	int64_t end = flow->time, at;

	while (end > since &&
	       (interval = track_step_back(flow->timeline, &thread->track, &pos, &at))) {
		end = at;
		if (leaf_is_blocked(interval->leaf) &&
		    block_at(flow->timeline, interval->ref)->reason == reason)
			block_at(flow->timeline, interval->ref)->reason = 0;
	}
}

void try_taken_back(struct flow *flow, struct try *try)
{
	if (try->reason)
		unwrite(flow, flow_thread(flow, try->thread), try->reason, try->first);
	try->reason = 0;
}

static bool same_process(const struct flow *flow, uint32_t a, uint32_t b)
{
	const struct thread *x, *y;

	if (a == b || !is_thread(a))
		return true;
	x = model_thread(flow->model, a);
	y = model_thread(flow->model, b);
	return x->pid >= 0 && x->pid == y->pid;
}

void tries_made(struct flow *flow, uint64_t id, uint32_t maker,
		bool (*concerns)(struct flow *flow, const struct try *try, uint32_t object),
		uint32_t object, bool alone)
{
	if (!tries_watch(flow, id))
		return;
	for (uint32_t i = 0; i < TRIES; i++) {
		struct try *try = &flow->tries->all[i];

		if (try->thread == NO_THREAD || try->id != id || try->thread == maker || try->over)
			continue;
		if (concerns && !concerns(flow, try, object))
			continue;
		if (try->maker == NO_THREAD) {
			try->maker = maker;
			try->made = flow->time;
		} else if (alone && !same_process(flow, try->maker, maker)) {
			try->maker = IDLE_THREAD;
		}
	}
}

void tries_made_all(struct flow *flow, enum try_kind kind, uint32_t maker, uint32_t object,
		    bool (*concerns)(const struct flow *flow, const struct try *try,
				     const void *data),
		    const void *data)
{
	uint16_t host = flow_thread(flow, maker)->host;

	for (uint32_t i = 0; tries_any(flow, kind) && i < TRIES; i++) {
		struct try *try = &flow->tries->all[i];

		if (try->thread == NO_THREAD || try->kind != kind || try->over ||
		    flow_thread(flow, try->thread)->host != host ||
		    same_process(flow, try->thread, maker) || !concerns(flow, try, data))
			continue;
		if (try->maker == NO_THREAD) {
			try->maker = maker;
			try->by = object;
			try->made = flow->time;
		} else if (!same_process(flow, try->maker, maker)) {
			try->maker = IDLE_THREAD;
		}
	}
}

void tries_tell(struct flow *flow, uint64_t id, uint32_t maker,
		void (*tell)(struct flow *flow, struct try *try, uint32_t maker))
{
	if (!tries_watch(flow, id))
		return;
	for (uint32_t i = 0; i < TRIES; i++) {
		struct try *try = &flow->tries->all[i];

		if (try->thread != NO_THREAD && try->thread != maker && try->id == id)
			tell(flow, try, maker);
	}
}

void tries_inherited(struct flow *flow, uint32_t child)
{
	uint32_t parent = flow_thread(flow, child)->parent;

	if (!is_thread(parent) || !flow_thread(flow, child)->born ||
	    flow_thread(flow, parent)->state == THREAD_DEAD)
		return;
	while (flow_thread(flow, child)->flow.tries) {
		struct try like = flow->tries->all[flow_thread(flow, child)->flow.tries - 1];

		try_drop(flow, &flow->tries->all[flow_thread(flow, child)->flow.tries - 1]);
		if (like.kind < TRY_FUTEX && !like.over)
			try_failed(flow, parent, &like);
	}
}

void tries_forget(struct flow *flow, int64_t before)
{
	for (uint32_t i = 0; flow->tries && i < TRIES; i++) {
		struct try *try = &flow->tries->all[i];

		if (try->thread == NO_THREAD)
			continue;
		try->reason = 0; /* it has another number now */
		if (is_thread(try->maker) && flow_thread(flow, try->maker)->end <= before)
			try->maker = NO_THREAD;
		if (flow_thread(flow, try->thread)->end <= before ||
		    (try->target != NO_THREAD && flow_thread(flow, try->target)->end <= before))
			try_drop(flow, try);
	}
}
