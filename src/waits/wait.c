/* SPDX-License-Identifier: MIT */
/* Whom a wait is led to, and what it was for; see wait.h. */
#include "waits/wait.h"

#include <signal.h>
#include <string.h>

#include "contention/holders.h"
#include "disk/reclaim.h"
#include "event/softirqs.h"
#include "objects/calls.h"
#include "waits/state_names.h"

/* The waker sends signals. */
static bool is_in_kill(const struct session *session, const struct block *block)
{
	return PACK_KIND(block->context) == FRAME_SYSCALL &&
	       call_signals(session_text(session, PACK_NUMBER(block->context)));
}

bool wait_is_by_signal(const struct session *session, const struct wait *wait)
{
	return wait->block->kind == WAKER_THREAD && is_in_kill(session, wait->block);
}

bool wait_is_by_exit(const struct session *session, const struct wait *wait)
{
	const struct model *model = &session->trace.model;
	const struct block *block = wait->block;
	const struct thread *thread, *waker;

	if (block->kind != WAKER_THREAD || PACK_KIND(block->context) != FRAME_SYSCALL ||
	    !is_thread(block->waker) || !is_thread(wait->thread) ||
	    strcmp(session_text(session, PACK_NUMBER(block->context)), "exit_group") != 0)
		return false;
	thread = model_thread(model, wait->thread);
	waker = model_thread(model, block->waker);
	return thread != waker && thread->pid >= 0 && thread->pid == waker->pid &&
	       thread->host == waker->host;
}

struct wait wait_of(const struct session *session, uint32_t thread, const struct span *span)
{
	const struct block *block = block_at(&session->trace.timeline, span->ref);
	struct wait wait = {.thread = thread,
			    .begin = span->begin,
			    .end = span->end,
			    .leaf = span->leaf,
			    .block = block,
			    .woken = block->kind != WAKER_NONE};

	g_assert(leaf_is_blocked(span->leaf));
	/* who kills it gives no lock up */
	if (wait.woken && (block_lock(session, block) || block->own_futex) &&
	    wait_is_cut_off(session, &wait))
		wait.woken = false;
	return wait;
}

bool wait_before(const struct session *session, uint32_t thread, int64_t end, struct wait *last)
{
	const struct thread *at = model_thread(&session->trace.model, thread);
	struct interval *interval;
	struct track_pos pos;
	struct span span;
	int64_t begin;

	if (end - 1 < at->begin ||
	    !track_find(&session->trace.timeline, &at->track, end - 1, &pos) ||
	    !track_read(&session->trace.timeline, &at->track, &pos, at->end, &span))
		return false;
	span.end = end;
	while ((interval = track_step_back(&session->trace.timeline, &at->track, &pos, &begin))) {
		if (leaf_is_blocked(interval->leaf)) {
			span = (struct span) {begin, span.end, interval->leaf, interval->ref};
			*last = wait_of(session, thread, &span);
			return true;
		}
		span.end = begin;
	}
	return false;
}

int64_t wait_until(const struct session *session, uint32_t thread, int64_t time)
{
	const struct thread *at = model_thread(&session->trace.model, thread);
	struct track_pos pos;
	struct span span;

	return time >= at->begin && time < at->end &&
			       track_find(&session->trace.timeline, &at->track, time, &pos) &&
			       track_read(&session->trace.timeline, &at->track, &pos, at->end,
					  &span) &&
			       leaf_is_blocked(span.leaf)
		       ? span.end
		       : time;
}

void wait_cut_at(struct wait *wait, const struct session *session, int64_t until)
{
	if (wait->end == until && wait->woken && session_blocked_at(session, wait->thread, until))
		wait->woken = false;
}

bool wait_by_thread(const struct wait *wait)
{
	return wait->woken && wait->block->kind == WAKER_THREAD && is_thread(wait->block->waker);
}

const struct wake_detail *block_request(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail = block_detail(session, block);

	if (detail && detail->kind == DETAIL_WORK && detail->behind)
		detail = detail_at(&session->trace.timeline, detail->behind);
	return detail && detail->kind == DETAIL_REQUEST ? detail : NULL;
}

uint32_t block_waits_for(const struct session *session, const struct block *block)
{
	const struct wake_detail *request = block_request(session, block);
	uint32_t resource = session_resource(session, block);
	const struct reason *reason = block_reason(session, block);
	g_autofree char *key = NULL;

	if (reason && reason->object)
		return reason->object;
	if (request)
		key = g_strconcat("device:", session_text(session, request->text), NULL);
	else if (block->kind == WAKER_THREAD && block->same_file)
		key = g_strconcat("lock:", resource_name(session_text(session, resource)), NULL);
	return key ? intern_id(session->trace.model.names, key) : resource;
}

/* When it was handed over: put into the queue, sent. */
static int64_t given_at(const struct wake_detail *detail)
{
	if (detail->kind == DETAIL_REQUEST && detail->asked)
		return detail->asked;
	return detail->begin - (detail->kind == DETAIL_REQUEST ? MAX(detail->queued, 0) : 0);
}

bool call_changes_memory(const char *call)
{
	static const char *const calls[] = {
		"mmap",   "munmap",  "mprotect", "mremap",        "brk",   "madvise", "mlock",
		"mlock2", "munlock", "mlockall", "pkey_mprotect", "clone", "clone3",  "fork"};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

bool wait_is_for_memory(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const uint32_t *process = session->trace.processes.first;

	return wait_by_thread(wait) && PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       PACK_KIND(block->context) == FRAME_SYSCALL &&
	       process[block->waker] == process[wait->thread] &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf))->wait != WAIT_FUTEX &&
	       call_changes_memory(session_text(session, PACK_NUMBER(block->context)));
}

bool key_is_terminal(const char *key)
{
	static const char *const kinds[] = {"file:/dev/pts/", "file:/dev/tty", "file:/dev/console"};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_str_has_prefix(key, kinds[i]))
			return true;
	return false;
}

/* A worker's item that was queued in the wait. */
static void lead_of_work(const struct session *session, const struct wake_detail *work,
			 const struct wait *wait, struct lead *lead)
{
	const struct wake_detail *behind =
		work->behind ? detail_at(&session->trace.timeline, work->behind) : NULL;
	int64_t given = work->begin;

	if (work->begin <= wait->begin || work->begin >= wait->end)
		return;
	lead->from = work->begin;
	if (behind && behind->kind == DETAIL_TIMER)
		return; /* the timer's time, whoever armed it */
	if (behind)
		given = given_at(behind);
	if (!is_thread(work->thread) || work->thread == wait->thread || given <= wait->begin)
		return;
	lead->first = work->thread;
	lead->first_until = MIN(given, lead->from);
}

/* Who was to start `thread`, before that was there; NO_THREAD if the waiter was. */
static uint32_t who_starts(const struct session *session, uint32_t thread, const struct wait *wait,
			   int64_t until)
{
	const struct model *model = &session->trace.model;

	while (is_thread(thread) && model_thread(model, thread)->begin >= until)
		thread = model_thread(model, thread)->born ? model_thread(model, thread)->parent
							   : NO_THREAD;
	return thread == wait->thread ? NO_THREAD : thread;
}

/* Whoever is answerable by the wait's reason, over the part that is his. */
static bool lead_of_reason(const struct session *session, const struct reason *reason,
			   const struct wait *wait, struct lead *lead)
{
	*lead = (struct lead) {.thread = reason->thread,
			       .from = CLAMP(reason->from, wait->begin, wait->end),
			       .until = CLAMP(reason->until, wait->begin, wait->end),
			       .handed_over = true,
			       .first = NO_THREAD};
	if (is_thread(lead->thread) &&
	    (reason->kind == REASON_LISTENS || reason->kind == REASON_FILE_APPEARS))
		lead->thread = who_starts(session, lead->thread, wait, lead->until);
	return is_thread(lead->thread) && lead->thread != wait->thread &&
	       lead->from < lead->until &&
	       model_thread(&session->trace.model, lead->thread)->begin < lead->until;
}

uint32_t wait_names(const struct session *session, const struct wait *wait)
{
	const struct reason *reason = wait->woken ? block_reason(session, wait->block) : NULL;

	return reason && reason->from >= reason->until && reason->thread != wait->thread
		       ? reason->thread
		       : NO_THREAD;
}

/* In pause and the like: what it waited for, if it may be handled. */
static bool is_for_signal(const struct session *session, const struct wait *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       call_awaits_signal(session_text(session, PACK_NUMBER(wait->leaf)));
}

bool wait_is_cut_off(const struct session *session, const struct wait *wait)
{
	const struct thread *thread;
	const struct wake_detail *detail;

	if (!is_thread(wait->thread) || !wait->block) /* an operation's may be of nobody */
		return false;
	thread = model_thread(&session->trace.model, wait->thread);
	if (!thread->ended_by || thread->end - wait->end >= KILL_STEPS ||
	    (thread->ended_by != SIGKILL && is_for_signal(session, wait)))
		return false;
	detail = block_detail(session, wait->block);
	if (detail && detail->kind == DETAIL_SIGNAL)
		return detail->number == thread->ended_by;
	/* a signal for a process wakes all its threads, and is told of one */
	return wait_is_by_signal(session, wait);
}

#define FLUSH_MAX INT64_C(5000000) /* ns: what a worker takes to pass on what a terminal has */

/* At a terminal a worker passes on what was typed, printed, or read so that there is room: it is
 * led to who had that worker do it (flush_to_ldisc(), tty_wakeup()). */
static bool lead_of_terminal(const struct session *session, const struct wait *wait,
			     struct lead *lead)
{
	const struct model *model = &session->trace.model;
	const char *key = session_text(session, wait->block->resource);
	uint32_t worker = wait->block->waker;
	struct wait before;

	if (!thread_is_kernel(model, model_thread(model, worker)) ||
	    (!key_is_terminal(key) && !g_str_has_prefix(key, "file:/dev/ptmx")) ||
	    !wait_before(session, worker, wait->end, &before) || !wait_by_thread(&before) ||
	    before.block->waker == wait->thread || wait->end - before.end > FLUSH_MAX ||
	    before.end <= wait->begin)
		return false;
	lead->thread = before.block->waker;
	return true;
}

bool wait_lead(const struct session *session, const struct wait *wait, struct lead *lead)
{
	const struct block *block = wait->block;
	const struct reason *reason = block_reason(session, block);
	const struct wake_detail *detail = block_detail(session, block);
	int64_t given;

	*lead = (struct lead) {.thread = block->waker,
			       .from = wait->begin,
			       .until = wait->end,
			       .first = NO_THREAD};
	if (!wait->woken || wait_is_cut_off(session, wait))
		return false;
	if (reason && (is_thread(reason->thread) || reason->flags & REASON_ENDS))
		return lead_of_reason(session, reason, wait, lead);
	if (wait_by_thread(wait) && lead_of_terminal(session, wait, lead))
		return true;
	if (block->kind == WAKER_THREAD && detail && detail->kind == DETAIL_WORK)
		lead_of_work(session, detail, wait, lead);
	if (block->kind == WAKER_THREAD && !(detail && detail->kind == DETAIL_REQUEST))
		return is_thread(block->waker); /* with a request: an interrupt's thread */
	if (!detail || (detail->kind != DETAIL_PACKET && detail->kind != DETAIL_REQUEST &&
			detail->kind != DETAIL_RAISE))
		return false;
	given = given_at(detail);
	*lead = (struct lead) {.thread = detail->thread,
			       .from = wait->begin,
			       .until = MIN(given, wait->end),
			       .handed_over = true,
			       .first = NO_THREAD};
	/* what was sent before the wait began held it up only on its way */
	return is_thread(detail->thread) && detail->thread != wait->thread && given > wait->begin;
}

static uint32_t intern_key(const struct session *session, const char *prefix, const char *name)
{
	g_autofree char *key = g_strconcat(prefix, name, NULL);

	return intern_id(session->trace.model.names, key);
}

/* In a page fault on memory that was swapped out: not the disk is what it is short of. */
static bool is_swap(const struct session *session, const struct wait *wait,
		    const struct wake_detail *request)
{
	const struct block *block = wait->block;
	const struct host *host;

	if (strcmp(session_text(session, block->resource), "swap") == 0 ||
	    strcmp(session_text(session, block->fault), "swap") == 0)
		return true;
	/* mapped before the trace, in what nothing tells */
	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_FAULT || block->resource || block->fault ||
	    !is_thread(wait->thread))
		return false;
	host = model_host(&session->trace.model,
			  model_thread(&session->trace.model, wait->thread)->host);
	return disk_has_swap(host, request->text);
}

uint32_t wait_hardware(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail = block_detail(session, block);
	const struct wake_detail *request = block_request(session, block);
	const struct reason *reason = block_reason(session, block);
	g_autofree char *frame = NULL;

	if (reason)
		return reason->object;
	if (request)
		return intern_key(session, is_swap(session, wait, request) ? "swap:" : "device:",
				  session_text(session, request->text));
	if (detail && detail->kind == DETAIL_WORK) /* before its item was queued */
		return intern_key(session, "work:", "queued in an interrupt");
	if (detail && detail->kind == DETAIL_PACKET)
		return intern_key(session, "socket:",
				  detail->text ? session_text(session, detail->text) : "network");
	if (block->kind == WAKER_IRQ && block->label)
		return intern_key(session, "device:", session_text(session, block->label));
	if (block->kind == WAKER_SOFTIRQ && softirq_name(PACK_NUMBER(block->context)))
		return intern_key(session, "work:softIRQ ",
				  softirq_name(PACK_NUMBER(block->context)));
	frame = frame_text(session, block->context, false);
	return intern_key(session, "work:", frame);
}

bool wait_is_networks(const struct session *session, const struct wait *wait)
{
	const struct wake_detail *detail = block_detail(session, wait->block);
	const struct reason *reason = block_reason(session, wait->block);

	return wait_is_transports(session, wait) || (detail && detail->kind == DETAIL_PACKET) ||
	       (reason && (reason->kind == REASON_UNANSWERED ||
			   reason->kind == REASON_UNCONNECTED || reason->kind == REASON_GIVEN_UP));
}

static bool is_timer(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail = block_detail(session, block);

	/* a sleep that is not over is one as well, and one that an interrupt or softIRQ
	 * ended whose timer was not recorded */
	if (block->kind != WAKER_THREAD && block->kind != WAKER_UNKNOWN &&
	    strcmp(session_text(session, block->resource), "sleep") == 0)
		return true;
	if (block->why == WHY_TIME_LIMIT)
		return true;
	if (block->kind == WAKER_SOFTIRQ && (!detail || detail->kind == DETAIL_RAISE))
		return softirq_is_timer(PACK_NUMBER(block->context));
	if (block->kind == WAKER_VECTOR && !detail)
		return strcmp(session_text(session, PACK_NUMBER(block->context)), "local_timer") ==
		       0;
	return block->kind == WAKER_HRTIMER || (detail && detail->kind == DETAIL_TIMER);
}

enum wait_taker wait_taker(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;

	if (block_reason(session, block))
		return TAKER_HARDWARE;
	if (is_timer(session, block))
		return TAKER_TIMER;
	return block->kind == WAKER_NONE || block->kind == WAKER_UNKNOWN ||
			       (block->kind == WAKER_THREAD && !block_request(session, block))
		       ? TAKER_UNKNOWN
		       : TAKER_HARDWARE;
}

bool wait_is_for_whichever(const struct session *session, uint32_t leaf)
{
	if (PACK_KIND(leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	switch (flow_call_info(&session->trace.flow, PACK_NUMBER(leaf))->wait) {
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
	case WAIT_RING:
	case WAIT_ACCEPT:
		return true;
	default:
		return false;
	}
}

bool wait_is_suspended(const struct session *session, const struct wait *wait)
{
	const struct model *model = &session->trace.model;

	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL && wait->block->kind == WAKER_THREAD &&
	       is_thread(wait->block->waker) && model_thread(model, wait->thread)->pid >= 0 &&
	       model_thread(model, wait->thread)->pid ==
		       model_thread(model, wait->block->waker)->pid &&
	       strcmp(session_text(session, PACK_NUMBER(wait->leaf)), "rt_sigsuspend") == 0;
}

bool wait_is_after(const struct session *session, const struct wait *wait)
{
	const struct reason *reason = wait->block ? block_reason(session, wait->block) : NULL;

	return reason && reason_is_try(reason) && is_thread(reason->thread) &&
	       reason->from < reason->until && wait->begin >= reason->until;
}
