/* SPDX-License-Identifier: MIT */
/* The classifier of causes, and what their labels say; see causes.h. */
#include "waits/causes.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "contention/deadlocks.h"
#include "waits/deliveries.h"
#include "contention/holders.h"
#include "waits/reasons.h"
#include "lives/restarts.h"
#include "event/signals.h"
#include "event/softirqs.h"
#include "util/when.h"
#include "waits/state_names.h"

struct cause cause_of_kind(enum cause_kind kind)
{
	return (struct cause) {.kind = kind, .queued = -1, .served = -1};
}

void cause_clear(struct cause *cause)
{
	g_free(cause->label);
	cause->label = NULL;
}

/* --- which kind -------------------------------------------------------------------- */

static bool is_stop(const struct wait *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_STOPPED ||
	       PACK_KIND(wait->leaf) == LEAF_BLOCK_TRACED;
}

/* The deadlock that a wait without an end is part of, NULL. */
static const struct deadlock *deadlock_in(const struct session *session, const struct wait *wait)
{
	return wait->block->kind == WAKER_NONE ? deadlock_of(session, wait->thread) : NULL;
}

/* Rule 3: what is known of the innermost frame. */
static enum cause_kind hardware_kind(const struct session *session, const struct block *block,
				     const struct wake_detail *detail)
{
	uint32_t number = PACK_NUMBER(block->context);

	switch (block->kind) {
	case WAKER_HRTIMER:
		return CAUSE_TIMER;
	case WAKER_VECTOR:
		return strcmp(session_text(session, number), "local_timer") == 0
			       ? CAUSE_TIMER
			       : CAUSE_IRQ;
	case WAKER_SOFTIRQ:
		if (detail && detail->kind == DETAIL_PACKET)
			return CAUSE_NETWORK;
		if (softirq_is_timer(number))
			return CAUSE_TIMER;
		return number == SOFTIRQ_NET_TX || number == SOFTIRQ_NET_RX
			       ? CAUSE_NETWORK
			       : CAUSE_SOFTIRQ;
	default:
		return CAUSE_IRQ;
	}
}

/* `lock`: who held the lock that it was for, where that is the cause; to be freed. */
static enum cause_kind classify(const struct session *session, const struct wait *wait,
				struct lock_wait **lock)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail = block_detail(session, block);
	const struct reason *reason = block_reason(session, block);

	*lock = NULL;
	if (!wait->woken)
		return !is_stop(wait) && deadlock_in(session, wait) ? CAUSE_DEADLOCK
								    : CAUSE_STILL_BLOCKED;
	if (reason) {
		*lock = lock_wait_new(session, block, wait->thread, wait->begin, wait->end);
		return *lock ? CAUSE_LOCK_OWNER : (enum cause_kind) reason_info(reason)->cause;
	}
	if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE)
		return block->why == WHY_TIME_LIMIT ? CAUSE_TIMER : CAUSE_UNKNOWN;
	if (detail && detail->kind == DETAIL_TIMER)
		return CAUSE_TIMER;
	if (block_request(session, block))
		return CAUSE_BLOCK_DEVICE;
	if (block->kind != WAKER_THREAD)
		return hardware_kind(session, block, detail);
	if (!is_thread(block->waker))
		return CAUSE_UNKNOWN;
	if (is_stop(wait))
		return CAUSE_STOPPED;
	if (g_str_has_prefix(session_text(session, session_resource(session, block)), "child:"))
		return CAUSE_CHILD;
	if (detail && detail->kind == DETAIL_SIGNAL)
		return CAUSE_SIGNAL;
	*lock = lock_wait_new(session, block, wait->thread, wait->begin, wait->end);
	return *lock ? CAUSE_LOCK_OWNER : CAUSE_PROCESS;
}

enum cause_kind ready_cause_kind(enum ready_kind kind)
{
	switch (kind) {
	case READY_THROTTLED:
		return CAUSE_THROTTLED;
	case READY_YIELDED:
		return CAUSE_TIMER;
	default:
		return CAUSE_WAIT_CPU;
	}
}

enum cause_kind wait_cause_kind(const struct session *session, const struct wait *wait)
{
	g_autoptr(lock_wait) lock = NULL;

	return classify(session, wait, &lock);
}

/* --- labels ------------------------------------------------------------------------ */

/* "timer of 30.00 ms, armed by itself in clock_nanosleep" */
static char *timer_label(const struct session *session, const struct wake_detail *detail,
			 uint32_t waiter)
{
	GString *label = g_string_new("timer");
	char length[32];

	if (detail->requested >= 0)
		g_string_append_printf(label, " of %s", when_duration(length, detail->requested));
	if (is_thread(detail->thread)) {
		if (detail->thread == waiter)
			g_string_append(label, " armed by itself");
		else
			g_string_append_printf(
				label, " armed by %s (%d)%s",
				session_thread_name(session, detail->thread),
				model_thread(&session->trace.model, detail->thread)->tid,
				session_on(session, detail->thread));
		if (detail->text)
			g_string_append_printf(label, " in %s",
					       session_text(session, detail->text));
	} else if (detail->requested < 0) {
		g_string_append(label, ", not seen when it was armed");
	}
	if (is_thread(detail->behalf))
		g_string_append_printf(label, ", while %s (%d) set the clock by which it runs",
				       session_thread_name(session, detail->behalf),
				       model_thread(&session->trace.model, detail->behalf)->tid);
	return g_string_free(label, FALSE);
}

#define BACKLOG_MIN INT64_C(1000000) /* ns: less is usual */

static void append_backlog(GString *label, const struct wait *wait,
			   const struct wake_detail *detail)
{
	int64_t ns = detail->asked ? wait->end - MAX(detail->asked, wait->begin) : 0;
	char length[32];

	if (ns >= BACKLOG_MIN)
		g_string_append_printf(label,
				       "; for %s of it the packet lay in the receive queue of CPU "
				       "%u, until its softIRQ NET_RX took it",
				       when_duration(length, ns), detail->cpu);
}

/* "packet from 10.0.0.1:5555, sent by app (249) on server in sendto" */
static char *packet_label(const struct session *session, const struct wait *wait,
			  const struct wake_detail *detail)
{
	GString *label = g_string_new("packet");

	if (detail->text)
		g_string_append_printf(label, " from %s", session_text(session, detail->text));
	else
		g_string_append(label, " of which no addresses were recorded");
	if (is_thread(detail->thread))
		g_string_append_printf(label, ", sent by %s (%d)%s",
				       session_thread_name(session, detail->thread),
				       model_thread(&session->trace.model, detail->thread)->tid,
				       session_on(session, detail->thread));
	if (is_thread(detail->thread) && detail->call)
		g_string_append_printf(label, " in %s", session_text(session, detail->call));
	append_backlog(label, wait, detail);
	return g_string_free(label, FALSE);
}

/* A timer that was not seen when it was armed; a time limit; a softIRQ, an interrupt. */
static char *timer_cause_label(const struct session *session, const struct wait *wait,
			       bool *inferred)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail = block_detail(session, block);

	if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE) {
		*inferred = true;
		return g_strdup(waker_why_text(block->why));
	}
	if (detail && detail->kind == DETAIL_TIMER)
		return timer_label(session, detail, wait->thread);
	if (block->kind == WAKER_SOFTIRQ)
		return softirq_label(session, wait, inferred);
	return block->kind == WAKER_HRTIMER
		       ? g_strdup("timer, not seen when it was armed")
		       : g_strdup_printf("vector %s",
					 session_text(session, PACK_NUMBER(block->context)));
}

static char *irq_label(const struct session *session, const struct block *block)
{
	uint32_t number = PACK_NUMBER(block->context);

	if (block->kind == WAKER_VECTOR)
		return g_strdup_printf("vector %s", session_text(session, number));
	return block->label ? g_strdup(session_text(session, block->label))
			    : g_strdup_printf("IRQ %u", number);
}

/* "until it was killed by signal 9 (SIGKILL) from watchdog (262)" */
static char *killed_label(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	GString *text = g_string_new("until it was killed by ");

	append_signal(text, thread->ended_by);
	if (is_thread(wait->block->waker)) {
		g_autofree char *by = thread_label(session, wait->block->waker);

		g_string_append_printf(text, " from %s", by);
	}
	return g_string_free(text, FALSE);
}

/* A wait cut short by the window: when it ended after all, and by whom. */
static char *later_label(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct span span;
	struct spans spans;
	char length[32];

	if (wait_is_cut_off(session, wait))
		return killed_label(session, wait);
	if (wait->block->kind == WAKER_NONE)
		return g_strdup(session->asked.options->every ? "not woken before the stretch's end"
							      : "not woken before the trace's end");
	spans_begin(&spans, session, wait->thread, wait->end, thread->end);
	if (!spans_next(&spans, &span))
		return g_strdup("not woken before the window's end");
	return g_strdup_printf("not woken before the window's end, but %s later by %s",
			       when_duration(length, span.end - wait->end),
			       wait->block->kind == WAKER_THREAD && is_thread(wait->block->waker)
				       ? session_thread_name(session, wait->block->waker)
				       : waker_kind_text(wait->block->kind));
}

static char *deadlock_label(const struct session *session, const struct wait *wait, bool *inferred)
{
	const struct deadlock *deadlock = deadlock_in(session, wait);
	g_autofree char *members = deadlock_words(session, deadlock);

	*inferred = !deadlock->proved;
	return g_strconcat(
		deadlock->proved ? "deadlock: " : "suspected deadlock: ", members,
		deadlock->proved ? NULL : ", and nobody was seen to give one of these up", NULL);
}

/* A wait that has no end: who has the lock. */
static char *open_label(const struct session *session, const struct wait *wait, bool *inferred)
{
	g_autoptr(lock_wait)
		lock = lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	g_autofree char *later = later_label(session, wait), *holders = NULL;

	if (!lock)
		return g_steal_pointer(&later);
	holders = lock_wait_words(session, lock);
	*inferred = lock->inferred;
	return g_strconcat(later, ": ", holders, NULL);
}

/* Who woke it is the child of another process that goes on: a child of that one has ended before,
 * and has a new parent now. */
static bool is_anothers_child(const struct session *session, const struct wait *wait)
{
	const struct model *model = &session->trace.model;
	const struct thread *waker = model_thread(model, wait->block->waker);
	const struct thread *waiter = model_thread(model, wait->thread), *parent;

	if (!waker->born || waker->pid != waker->tid || !is_thread(waker->parent))
		return false;
	parent = model_thread(model, waker->parent);
	return parent->pid != waiter->pid && parent->pid > 0 && waiter->pid > 0 &&
	       parent->host == waiter->host && parent->end > wait->end;
}

/* The child that ended, or what of it: a process ends with its last thread. */
static char *child_label(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct thread *waker = model_thread(&session->trace.model, block->waker);
	g_autofree char *last = thread_label(session, block->waker), *child = NULL;
	GString *label;

	if (is_thread(block->child) && block->child != block->waker &&
	    waker->pid == model_thread(&session->trace.model, block->child)->tid) {
		child = thread_label(session, block->child);
		return g_strdup_printf("%s, by its thread %s", child, last);
	}
	if (is_anothers_child(session, wait))
		return g_strdup_printf("a child, adopted as its parent %s ended", last);
	label = g_string_new(last);
	if (waker->end != INT64_MAX && was_killed(session, block->waker)) {
		g_string_append(label, ", which ");
		append_death(label, session, block->waker);
	}
	return g_string_free(label, FALSE);
}

/* "signal 10 (SIGUSR1) from signaller (226)" */
static char *signal_label(const struct session *session, const struct block *block, uint64_t number)
{
	g_autofree char *waker = thread_label(session, block->waker);
	GString *label = g_string_new(NULL);

	append_signal(label, number);
	g_string_append_printf(label, " from %s", waker);
	return g_string_free(label, FALSE);
}

/* With what the waker did in it: "feeder (220) in write on pipe:#3". */
static char *waker_label(const struct session *session, const struct wait *wait, bool *inferred)
{
	const struct block *block = wait->block;
	g_autofree char *name = process_label(session, wait, inferred);

	if (PACK_KIND(block->context) != FRAME_SYSCALL)
		return g_steal_pointer(&name);
	return g_strdup_printf("%s in %s%s%s", name,
			       session_text(session, PACK_NUMBER(block->context)),
			       block->label ? " on " : "", session_text(session, block->label));
}

/* "by stopper (224), signal 19 (SIGSTOP); continued by stopper (224), …": who stopped
 * it, by threads/stop.c, and who ended that. */
static char *stopped_label(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail = block_detail(session, block);
	const struct wake_detail *begun =
		block->begun ? detail_at(&session->trace.timeline, block->begun) : NULL;
	bool traced = PACK_KIND(wait->leaf) == LEAF_BLOCK_TRACED;
	g_autofree char *by = NULL, *end = NULL;
	GString *label;

	if (begun && is_thread(begun->thread))
		by = thread_label(session, begun->thread);
	label = g_string_new(NULL);
	g_string_append_printf(label, "by %s",
			       by       ? by
			       : traced ? "its tracer"
					: "an unknown thread");
	if (begun && !traced) {
		g_string_append(label, ", ");
		append_signal(label, begun->number);
	}
	if (!wait->woken) {
		end = later_label(session, wait);
		g_string_append_printf(label, "; %s", end);
		return g_string_free(label, FALSE);
	}
	end = is_thread(block->waker) ? thread_label(session, block->waker) : NULL;
	g_string_append_printf(label, "; %s by %s",
			       detail && detail->kind == DETAIL_SIGNAL && detail->number == SIGKILL
				       ? "killed"
				       : "continued",
			       end ? end : "an unknown thread");
	if (detail && detail->kind == DETAIL_SIGNAL) {
		g_string_append(label, ", ");
		append_signal(label, detail->number);
	}
	return g_string_free(label, FALSE);
}

static char *label_of(const struct session *session, const struct wait *wait,
		      const struct lock_wait *lock, struct cause *cause)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail = block_detail(session, block);
	const struct reason *reason = block_reason(session, block);

	if (reason && wait->woken && !lock) {
		cause->inferred = reason->flags & REASON_INFERRED;
		return reason_info(reason)->label(session, wait, reason);
	}
	switch (cause->kind) {
	case CAUSE_STILL_BLOCKED:
		return is_stop(wait) ? stopped_label(session, wait)
				     : open_label(session, wait, &cause->inferred);
	case CAUSE_DEADLOCK:
		return deadlock_label(session, wait, &cause->inferred);
	case CAUSE_TIMER:
		return timer_cause_label(session, wait, &cause->inferred);
	case CAUSE_BLOCK_DEVICE:
		return request_label(session, wait, block_request(session, block),
				     &cause->inferred);
	case CAUSE_NETWORK:
		return detail && detail->kind == DETAIL_PACKET
			       ? packet_label(session, wait, detail)
			       : softirq_label(session, wait, &cause->inferred);
	case CAUSE_SOFTIRQ:
		return softirq_label(session, wait, &cause->inferred);
	case CAUSE_IRQ:
		return irq_label(session, block);
	case CAUSE_STOPPED:
		return stopped_label(session, wait);
	case CAUSE_CHILD:
		return child_label(session, wait);
	case CAUSE_SIGNAL:
		return signal_label(session, block, detail->number);
	case CAUSE_LOCK_OWNER:
		cause->inferred = lock->inferred;
		return lock_wait_words(session, lock);
	case CAUSE_PROCESS:
		return waker_label(session, wait, &cause->inferred);
	default:
		return g_strdup(block->kind == WAKER_THREAD ? "the waker's thread is not known"
							    : waker_why_text(block->why));
	}
}

struct cause wait_cause(const struct session *session, const struct wait *wait)
{
	g_autoptr(lock_wait) lock = NULL;
	struct cause cause = cause_of_kind(classify(session, wait, &lock));
	const struct wake_detail *request = block_request(session, wait->block);

	if (cause.kind == CAUSE_BLOCK_DEVICE) {
		cause.queued = request->queued;
		cause.served = request->served;
	}
	cause.label = label_of(session, wait, lock, &cause);
	return cause;
}

/* --- in words ---------------------------------------------------------------------- */

char *cause_words(const struct cause *cause)
{
	const struct cause_info *info = cause_info(cause->kind);

	return g_strconcat(
		info->before, cause->label,
		info->flags & CAUSE_SAYS_INFERRED && cause->inferred ? " (inferred)" : NULL, NULL);
}

void cause_append_times(GString *text, const struct cause *cause)
{
	char length[32];

	if (cause->queued >= 0)
		g_string_append_printf(text, ", queued %s", when_duration(length, cause->queued));
	else if (cause->served >= 0)
		g_string_append(text, ", queue time not recorded");
	if (cause->served >= 0)
		g_string_append_printf(text, ", served %s", when_duration(length, cause->served));
}
