/* SPDX-License-Identifier: MIT */
/* See circumstances.h. */
#include "stands/circumstances.h"

#include <inttypes.h>
#include <string.h>

#include "coverage/stalls.h"
#include "lives/restarts.h"
#include "objects/calls.h"
#include "stands/clauses.h"
#include "util/when.h"
#include "waits/wait.h"
#include "words/ending.h"
#include "words/names.h"

#define AFTER_SHARE 0.9
#define STALLED_SHARE 0.2 /* of what interrupts took */
#define STALLED_MIN INT64_C(2250000) /* ns: two and a half ticks, 1000 a second */

struct drop {
	uint32_t thread;
	int64_t time;
};

/* Its calls that open a file say which one. */
static void look(const struct session *session, uint32_t thread, uint32_t file, struct drop *first)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->trace.begin, session->trace.end + 1);
	while (spans_next(&spans, &span) && span.begin < first->time)
		if (PACK_KIND(span.leaf) == LEAF_WORK_SYSCALL &&
		    span.ref == (file | REF_FOR_WRITING))
			*first = (struct drop) {thread, span.begin};
}

static struct drop first_drop(const struct session *session)
{
	struct drop first = {NO_THREAD, INT64_MAX};
	uint32_t file = intern_known(session->trace.model.names, "file:/proc/sys/vm/drop_caches");

	for (uint32_t i = 0; file && i < session->trace.model.thread_count; i++)
		if (model_thread(&session->trace.model, i)->made_syscall)
			look(session, i, file, &first);
	return first;
}

static bool reads(const struct session *session, uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_BLOCK_FAULT ||
	       (PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL &&
		flow_call_info(&session->trace.flow, PACK_NUMBER(leaf))->moves == MOVES_IN);
}

/* Whose data the reason of the wait says were in the way, that the thread was in then. */
static uint32_t in_way(const struct session *session, const struct lost_part *part)
{
	const struct thread *life = model_thread(&session->trace.model, part->thread);
	const uint32_t *process = session->trace.processes.first;
	const struct reason *reason;
	struct track_pos pos;
	struct span span;
	struct wait wait;

	if (part->did != DID_DEVICE ||
	    !track_find(&session->trace.timeline, &life->track, part->begin, &pos) ||
	    !track_read(&session->trace.timeline, &life->track, &pos, life->end, &span) ||
	    !leaf_is_blocked(span.leaf))
		return NO_THREAD;
	wait = wait_of(session, part->thread, &span);
	reason = wait.woken ? block_reason(session, wait.block) : NULL;
	return reason && (reason->kind == REASON_FLUSH || reason->kind == REASON_DIRTY) &&
			       is_thread(reason->thread) &&
			       process[reason->thread] != process[part->victim]
		       ? reason->thread
		       : NO_THREAD;
}

void append_disk_filler(GString *text, const struct session *session, const struct fact *fact)
{
	g_autofree int64_t *ns = g_new0(int64_t, session->trace.model.thread_count);
	uint32_t most = NO_THREAD;
	int64_t device = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		uint32_t thread = in_way(session, part);

		device += part->did == DID_DEVICE ? part->end - part->begin : 0;
		if (!is_thread(thread))
			continue;
		ns[thread] += part->end - part->begin;
		most = !is_thread(most) || ns[thread] > ns[most] ? thread : most;
	}
	if (!is_thread(most) || 2 * ns[most] < device)
		return;
	g_string_append(text, "; the disk was busy with data of ");
	append_one(text, session, most);
}

uint32_t cache_dropped_before(const struct session *session, const struct fact *fact)
{
	const struct chain *chain =
		fact->chains->len ? &g_array_index(fact->chains, struct chain, 0) : NULL;
	int64_t after = 0, all = 0;
	struct drop first;

	if (!chain || !reads(session, chain->leaf))
		return NO_THREAD;
	first = first_drop(session);
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		all += part->end - part->begin;
		after += part->begin > first.time ? part->end - part->begin : 0;
	}
	return (double) after >= AFTER_SHARE * (double) all ? first.thread : NO_THREAD;
}

/* The timer that ended a sleep, of who slept in that part; NULL. */
static const struct wake_detail *
timer_of(const struct session *session, const struct lost_part *part, struct wait *sleep)
{
	const struct wake_detail *timer;

	if (part->did != DID_SLEEP || !wait_before(session, part->thread, part->end, sleep))
		return NULL;
	timer = sleep->woken ? block_detail(session, sleep->block) : NULL;
	return timer && timer->kind == DETAIL_TIMER ? timer : NULL;
}

#define CLOCK_SHARE 10 /* of what was lost, at least, is more than was asked for */

void append_clock_set(GString *text, const struct session *session, const struct fact *fact)
{
	const struct wake_detail *most = NULL;
	int64_t more = 0, length = 0, end = INT64_MIN;
	char took[32], asked[32];
	guint count = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		struct wait sleep;
		const struct wake_detail *timer = timer_of(session, part, &sleep);

		if (!timer || !is_thread(timer->behalf) || sleep.end == end)
			continue;
		end = sleep.end;
		count++;
		more += sleep.end - sleep.begin - timer->requested;
		if (!most || sleep.end - sleep.begin > length) {
			most = timer;
			length = sleep.end - sleep.begin;
		}
	}
	if (!most || CLOCK_SHARE * more < fact->ns)
		return;
	if (count > 1)
		g_string_append_printf(text, "; during %u of these sleeps, the longest of %s",
				       count, when_duration(took, length));
	else
		g_string_append_printf(text, "; during one of these sleeps, of %s",
				       when_duration(took, length));
	g_string_append_printf(text, " instead of %s, ", when_duration(asked, most->requested));
	append_one(text, session, most->behalf);
	g_string_append(text, " set the clock by which it ran");
}

/* Who gave the thread a lock as he died, before it did that part of the work: of another process,
 * as the end of a thread of its own is what it joins. */
static uint32_t died_with(const struct session *session, const struct lost_part *part)
{
	const uint32_t *process = session->trace.processes.first;
	struct wait wait;

	if (!wait_before(session, part->thread, part->begin + 1, &wait) || !wait_by_thread(&wait) ||
	    !g_str_has_prefix(session_text(session, wait.block->resource), "futex:") ||
	    process[wait.block->waker] == process[part->thread] ||
	    !is_ending(session, wait.block->waker, wait.end))
		return NO_THREAD;
	return wait.block->waker;
}

void append_left_lock(GString *text, const struct session *session, const struct fact *fact)
{
	const struct lost_part *longest = NULL;
	uint32_t dead;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (!longest || part->end - part->begin > longest->end - longest->begin)
			longest = part;
	}
	if (!longest || !is_thread(longest->thread))
		return;
	dead = died_with(session, longest);
	if (!is_thread(dead))
		return;
	g_string_append(text, "; ");
	append_one(text, session, longest->thread);
	g_string_append(text, " had the lock from ");
	append_one(text, session, dead);
	g_string_append(text, ", which ");
	append_death(text, session, dead);
	g_string_append(text, " and held it");
}

bool fact_is_of_address_space(const struct session *session, const struct fact *fact)
{
	const struct model *model = &session->trace.model;
	const struct chain *chain = main_chain(fact);
	const struct link *link;
	int64_t ns = 0;

	if (!chain || !chain->links->len || !is_thread(chain->last))
		return false;
	link = &g_array_index(chain->links, struct link, chain->links->len - 1);
	if (model_thread(model, link->thread)->pid < 0 ||
	    model_thread(model, link->thread)->pid != model_thread(model, chain->last)->pid ||
	    (PACK_KIND(link->leaf) == LEAF_BLOCK_SYSCALL &&
	     flow_call_info(&session->trace.flow, PACK_NUMBER(link->leaf))->wait == WAIT_FUTEX))
		return false; /* else it was at a fault, perhaps in a call: to copy what it read */
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (part->did == DID_WORK && part->call &&
		    call_changes_memory(session_text(session, part->call)))
			ns += part->end - part->begin;
	}
	return 2 * ns > fact->ns;
}

void append_address_space(GString *text, const struct session *session, const struct fact *fact)
{
	if (fact_is_of_address_space(session, fact))
		g_string_append(text, "; both need the lock of the memory of their process "
				      "(mmap_lock, inferred)");
}

/* While a thread runs, ticks interrupt softIRQs, too. */
void append_nothing_recorded(GString *text, const struct session *session, const struct fact *fact)
{
	int64_t longest = 0, ns = 0, missed;
	char length[32];

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		longest = MAX(longest, part->end - part->begin);
	}
	if (longest < STALLED_MIN || (double) longest < STALLED_SHARE * (double) fact->ns)
		return;
	missed = stalls_of(session, fact->host).missed;
	for (guint i = 0; missed && i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (part->end - part->begin > missed)
			ns += part->end - part->begin;
	}
	if ((double) ns < STALLED_SHARE * (double) fact->ns || !ns)
		return;
	g_string_append_printf(text,
			       "; for %s of it nothing at all was recorded there, not even the "
			       "CPU's own ticks: steal, if this is a virtual machine, or "
			       "interrupts were off",
			       when_duration(length, ns));
}

static int earlier(gconstpointer a, gconstpointer b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

GArray *tracer_runs(const struct session *session, const bool *tracers, uint16_t host)
{
	const struct model *model = &session->trace.model;
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct span));
	guint kept = 0;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct spans spans;
		struct span span;

		if (!tracers[i] || model_thread(model, i)->host != host)
			continue;
		spans_begin(&spans, session, i, session->asked.from, session->asked.to);
		while (spans_next(&spans, &span))
			if (!leaf_is_off_cpu(span.leaf) && PACK_KIND(span.leaf) != LEAF_UNKNOWN)
				g_array_append_val(runs, span);
	}
	g_array_sort(runs, earlier);
	for (guint i = 0; i < runs->len; i++) {
		struct span run = g_array_index(runs, struct span, i);
		struct span *last = kept ? &g_array_index(runs, struct span, kept - 1) : NULL;

		if (last && run.begin <= last->end)
			last->end = MAX(last->end, run.end);
		else
			g_array_index(runs, struct span, kept++) = run;
	}
	g_array_set_size(runs, kept);
	return runs;
}

/* The first that ends after that time. */
static guint run_after(const GArray *runs, int64_t time)
{
	guint low = 0, high = runs->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(runs, struct span, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t fact_beside(const struct fact *fact, const GArray *runs)
{
	int64_t ns = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		for (guint k = run_after(runs, part->begin); k < runs->len; k++) {
			const struct span *run = &g_array_index(runs, struct span, k);

			if (run->begin >= part->end)
				break;
			ns += MIN(run->end, part->end) - MAX(run->begin, part->begin);
		}
	}
	return ns;
}
