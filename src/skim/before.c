/* SPDX-License-Identifier: MIT */
/* What came before a window; see skim.h. */
#include "skim/skim.h"
#include "skim/walk.h"

/* --- what one event means -------------------------------------------------------------------- */

static void over_deed(struct seen_cpu *cpu, const struct spot *spot, enum event_span span)
{
	struct seen_thread *thread;

	if (cpu->current == NOBODY || cpu->depth) /* in an interrupt it is the kernel's */
		return;
	thread = seen_thread_at(cpu, cpu->current);
	*(span == SPAN_TIMER ? &thread->timer : &thread->fault) =
		(struct deed) {.spot = *spot, .entered = cpu->last_switch};
}

/* The call may have begun on another CPU: what an event without a name returns from is not known
 * then. */
static void over_return(struct seen_cpu *cpu, const struct spot *spot, enum event_span span)
{
	struct seen_thread *thread =
		cpu->current == NOBODY ? NULL : seen_thread_at(cpu, cpu->current);

	if (span == SPAN_RETURN_LASTS ||
	    (span == SPAN_RETURN_ANY && (!thread || !thread->in_call || thread->call_lasts)))
		seen_keep(cpu, spot);
	if (!thread)
		return;
	thread->in_call = false;
	thread->returned = spot->time;
}

static void over(struct seen_cpu *cpu, enum event_span span, const struct spot *spot,
		 const int32_t tids[2])
{
	uint32_t woken;

	switch (span) {
	case SPAN_MOMENT:
	case SPAN_RAISE:
		break;
	case SPAN_INTERRUPT:
		cpu->depth++;
		break;
	case SPAN_INTERRUPT_ENDS:
		cpu->depth -= cpu->depth > 0;
		break;
	case SPAN_LASTS:
		seen_keep(cpu, spot);
		break;
	case SPAN_SWITCH:
		seen_switch(cpu, spot, tids);
		cpu->depth = 0;
		break;
	case SPAN_WAKING:
		woken = seen_thread_of(cpu, tids[0]);
		if (woken != NOBODY)
			seen_thread_at(cpu, woken)->waking = *spot;
		break;
	case SPAN_TIMER:
	case SPAN_FAULT:
		over_deed(cpu, spot, span);
		break;
	case SPAN_CALL_LASTS:
		seen_keep(cpu, spot);
		seen_call(cpu, spot, true);
		break;
	case SPAN_CALL:
		seen_call(cpu, spot, false);
		break;
	default:
		over_return(cpu, spot, span);
		break;
	}
}

/* --- what each thread was doing when the window begins ---------------------------------------- */

/* One thread, as all CPUs saw it. */
struct last_seen {
	const struct seen_cpu *runs_on; /* NULL: on none */
	const struct seen_thread *left;
	const struct deed *call, *timer, *fault;
	int64_t returned;
	struct spot waking;
};

static void newer(const struct deed **last, const struct deed *deed)
{
	if (deed->spot.stream && (!*last || deed->spot.time > (*last)->spot.time))
		*last = deed;
}

static void add_seen(struct last_seen *last, const struct seen_cpu *cpu, uint32_t number)
{
	const struct seen_thread *thread = seen_thread_at(cpu, number);

	if (cpu->current == number)
		last->runs_on = cpu;
	if (thread->left.stream && (!last->left || thread->left.time > last->left->left.time))
		last->left = thread;
	if (thread->in_call)
		newer(&last->call, &thread->call);
	newer(&last->timer, &thread->timer);
	newer(&last->fault, &thread->fault);
	last->returned = MAX(last->returned, thread->returned);
	if (thread->waking.stream &&
	    (!last->waking.stream || thread->waking.time > last->waking.time))
		last->waking = thread->waking;
}

/* A timer that the thread waits for is armed in the call that it is in; a kernel thread
 * has none. A fault lasts until the next call. */
static void tell_last(GArray *pieces, const struct last_seen *last)
{
	bool in_call = last->call && last->call->spot.time > last->returned;
	int64_t since = in_call ? last->call->spot.time : last->returned;

	if (in_call)
		skim_tell_deed(pieces, last->call);
	if (last->timer && last->timer->spot.time > since && (in_call || since == INT64_MIN))
		skim_tell_deed(pieces, last->timer);
	if (last->fault && last->fault->spot.time > since)
		skim_tell_deed(pieces, last->fault);
	if (last->left)
		skim_tell_deed(pieces, &(struct deed) {.entered = last->left->entered,
						       .left = last->left->left});
	if (last->runs_on)
		skim_piece(pieces, &last->runs_on->last_switch, TELL_ENTER);
	else if (last->waking.stream && last->left && last->waking.time > last->left->left.time)
		skim_piece(pieces, &last->waking, TELL_EVENT);
}

static void tell_threads(struct walk *walk)
{
	g_autoptr(GHashTable)
		threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	GHashTableIter iter;
	gpointer value;

	for (guint i = 0; i < walk->cpus->len; i++) {
		const struct seen_cpu *cpu = g_ptr_array_index(walk->cpus, i);

		for (uint32_t k = 0; k < cpu->threads->len; k++) {
			int64_t key = (int64_t) cpu->host << 32 | seen_thread_at(cpu, k)->tid;
			struct last_seen *last = g_hash_table_lookup(threads, &key);

			if (!last) {
				last = g_new0(struct last_seen, 1);
				last->returned = INT64_MIN;
				g_hash_table_insert(threads, g_memdup2(&key, sizeof key), last);
			}
			add_seen(last, cpu, k);
		}
	}
	g_hash_table_iter_init(&iter, threads);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		tell_last(walk->pieces, value);
}

bool skim_before(struct reader *reader, int64_t from, guint jobs)
{
	struct walk walk;
	bool ok;

	if (!reader_is_plain(reader))
		return false;
	reader_tell_begins(reader, from);
	skim_init(&walk, reader, from, over);
	ok = skim_walk(&walk, jobs);
	if (ok) {
		tell_threads(&walk);
		skim_tell(&walk);
	}
	skim_clear(&walk);
	reader_go_on(reader);
	if (ok)
		reader_sink(reader)->passed_until(reader_sink(reader)->data, from);
	return ok;
}
