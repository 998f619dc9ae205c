/* SPDX-License-Identifier: MIT */
/* What those say who only deliver; see deliveries.h.
 *
 * A request is said by its place and size, by who asked for it in which call,
 * and by what was odd with it. That it was for the thread that its completion
 * woke is seen where its bios were recorded, or where a thread issued it in a
 * call of its own; else it is inferred.
 */
#include "waits/deliveries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/softirqs.h"

#define EARLY_MIN 1000000 /* ns: what was issued later was so for this wait, most likely */

static const char *thread_name(const struct session *session, uint32_t thread)
{
	return session_thread_name(session, thread);
}

static bool starts_with_any(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (g_str_has_prefix(name, *prefixes))
			return true;
	return false;
}

static bool is_rcu(const char *name)
{
	static const char *const prefixes[] = {"rcu_",   "rcuop/", "rcuos/", "rcuob/",
					       "rcuog/", "rcuc/",  NULL};

	return starts_with_any(name, prefixes);
}

/* The thread whose io_uring worker this is, by its name: "iou-wrk-TID". Source:
 * create_io_worker() and io_sq_thread() in the kernel's io_uring/. */
static uint32_t io_uring_owner(const struct session *session, uint32_t thread)
{
	static const char *const prefixes[] = {"iou-wrk-", "iou-sqp-", NULL};
	const struct thread *worker = model_thread(&session->trace.model, thread);
	const char *name = thread_name(session, thread);

	if (!starts_with_any(name, prefixes))
		return NO_THREAD;
	return session_thread_at(session, worker->host, atoi(name + strlen(prefixes[0])),
				 worker->begin);
}

static void append_thread(GString *label, const struct session *session, uint32_t thread)
{
	uint32_t owner = io_uring_owner(session, thread);

	g_string_append_printf(label, "%s (%d)%s", thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
	if (is_thread(owner))
		g_string_append_printf(label, ", a worker of io_uring for %s (%d)",
				       thread_name(session, owner),
				       model_thread(&session->trace.model, owner)->tid);
}

char *thread_label(const struct session *session, uint32_t thread)
{
	GString *label = g_string_new(NULL);

	append_thread(label, session, thread);
	return g_string_free(label, FALSE);
}

/* --- requests ---------------------------------------------------------------- */

/* When the wait began, also before the window. */
static int64_t real_begin(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct track_pos pos;
	struct span span;

	if (!track_find(&session->trace.timeline, &thread->track, wait->begin, &pos) ||
	    !track_read(&session->trace.timeline, &thread->track, &pos, thread->end, &span))
		return wait->begin;
	return MIN(span.begin, wait->begin);
}

static bool is_kernel(const struct session *session, uint32_t thread)
{
	return thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread));
}

/* "vda, sector 4456872, 20 KiB" */
static void append_place(GString *label, const struct session *session,
			 const struct wake_detail *request)
{
	g_string_append(label, session_text(session, request->text));
	if (request->origin)
		g_string_append_printf(label, " (of %s)", session_text(session, request->origin));
	if (request->number == FLUSH_SECTOR)
		g_string_append(label, ", flush of its cache");
	else
		g_string_append_printf(label, ", sector %" PRIu64, request->number);
	if (request->sectors)
		g_string_append_printf(label, ", %g KiB", request->sectors / 2.0);
	if (request->bios > 1)
		g_string_append_printf(label, " of %u bios", request->bios);
	if (request->flags & DETAIL_READAHEAD)
		g_string_append(label, ", read-ahead");
}

/* The call that the waiter was in then is known from its stack. */
static void append_call(GString *label, const struct session *session, const struct wait *wait,
			const struct wake_detail *request)
{
	bool same = request->thread == wait->thread &&
		    wait->leaf == PACK(LEAF_BLOCK_SYSCALL, request->call);

	if (request->call && !same)
		g_string_append_printf(label, " in %s", session_text(session, request->call));
}

/* kblockd's workers ("kworker/0:1H") issue what others have queued. */
static bool is_dispatcher(const char *name)
{
	return g_str_has_prefix(name, "kworker/") && g_str_has_suffix(name, "H");
}

/* For whom a kernel thread asked for it. Who only passes requests on to the device
 * may have been woken by anybody: there it must be seen. True if it was for the
 * waiter. */
static bool append_behalf(GString *label, const struct session *session, const struct wait *wait,
			  const struct wake_detail *request)
{
	bool seen = request->flags & DETAIL_BEHALF_SEEN;

	if (!is_thread(request->behalf) ||
	    (!seen && !(request->flags & DETAIL_BIOS) && request->thread != wait->thread))
		return false;
	g_string_append(label, " for ");
	if (request->behalf == wait->thread)
		g_string_append(label, "it");
	else
		append_thread(label, session, request->behalf);
	if (!seen)
		g_string_append(label, " (inferred)");
	return request->behalf == wait->thread;
}

/* Who asked for it. Returns whether that it was for the waiter is inferred. */
static bool append_requester(GString *label, const struct session *session, const struct wait *wait,
			     const struct wake_detail *request)
{
	uint32_t thread = request->thread;
	bool seen = request->flags & DETAIL_BIOS, for_it;
	const char *name;
	int64_t early;
	char length[32];

	if (!is_thread(thread)) {
		g_string_append(label, ", by whom it was issued is not known");
		return true;
	}
	name = thread_name(session, thread);
	g_string_append(label, ", issued by ");
	if (thread == wait->thread)
		g_string_append(label, "itself");
	else
		append_thread(label, session, thread);
	append_call(label, session, wait, request);
	if (request->threads > 1)
		g_string_append_printf(label, " and %u other%s", request->threads - 1,
				       request->threads > 2 ? "s" : "");
	for_it = append_behalf(label, session, wait, request);
	early = request->asked ? real_begin(session, wait) - request->asked : 0;
	if (early < EARLY_MIN && (thread == wait->thread || is_dispatcher(name)))
		early = 0; /* issued for this wait, on the way into it */
	/* a worker's idle wait has nothing to do with when its next request began */
	if (early > 0 && !g_str_has_prefix(thread_name(session, wait->thread), "kworker/") &&
	    (thread != wait->thread || (request->flags & DETAIL_READAHEAD)))
		g_string_append_printf(label, " %s before this wait began",
				       when_duration(length, early));
	if (for_it || seen || thread == wait->thread || !is_kernel(session, thread) || early > 0)
		return false;
	g_string_append_printf(label, ", inferred to be for %s (its completion woke it)",
			       thread_name(session, wait->thread));
	return true;
}

char *request_label(const struct session *session, const struct wait *wait,
		    const struct wake_detail *request, bool *inferred)
{
	const struct wake_detail *detail = block_detail(session, wait->block);
	GString *label = g_string_new(NULL);

	append_place(label, session, request);
	*inferred = append_requester(label, session, wait, request);
	if (request->flags & DETAIL_DOUBTFUL)
		g_string_append(label, "; two requests for that sector were on their way, so "
				       "its times are not known");
	if (detail == request && wait->block->kind == WAKER_THREAD) {
		g_string_append(label, ", completed by ");
		append_thread(label, session, wait->block->waker);
	}
	if (detail != request) {
		g_string_append(label, ", finished by ");
		append_thread(label, session, wait->block->waker);
		if (detail->text)
			g_string_append_printf(label, " doing %s",
					       session_function(session, detail->text));
		if (detail->flags & DETAIL_INFERRED)
			g_string_append(label, " (inferred)");
		*inferred |= (detail->flags & DETAIL_INFERRED) != 0;
	}
	return g_string_free(label, FALSE);
}

/* --- kernel threads ---------------------------------------------------------- */

/* "kworker/1:2 (52), doing ata_sff_pio_task queued by sh (220)" */
static char *work_label(const struct session *session, uint32_t worker,
			const struct wake_detail *detail)
{
	g_autofree char *name = thread_label(session, worker), *by = NULL;
	const struct wake_detail *behind =
		detail->behind ? detail_at(&session->trace.timeline, detail->behind) : NULL;
	bool in_interrupt = detail->flags & DETAIL_IN_INTERRUPT;
	const char *how;

	if (is_thread(detail->thread))
		by = thread_label(session, detail->thread);
	if (behind && behind->kind == DETAIL_TIMER)
		how = by ? " queued by a timer armed by " : " queued by a timer";
	else if (in_interrupt)
		how = by ? " queued in an interrupt, on behalf of " : " queued in an interrupt";
	else
		how = by ? " queued by " : ", by whom it was queued is not known";
	return g_strdup_printf("%s, doing %s%s%s", name, session_function(session, detail->text),
			       how, by ? by : "");
}

/* jbd2/DEV-INODE writes one file system's journal; who it wakes waited for that, but for
 * workers, to whom it gives work. */
static bool wrote_journal_for(const struct session *session, uint32_t waker, uint32_t woken)
{
	return g_str_has_prefix(thread_name(session, waker), "jbd2/") &&
	       is_kernel(session, waker) &&
	       !g_str_has_prefix(thread_name(session, woken), "kworker/");
}

static char *journal_label(const char *who, const char *name, const struct wake_detail *commit)
{
	const char *slash = strchr(name, '/');
	g_autofree char *device = g_strdup(slash ? slash + 1 : "its file system");
	char *dash = slash ? strrchr(device, '-') : NULL;

	if (dash)
		*dash = 0;
	if (commit)
		return g_strdup_printf("%s, which committed transaction %" PRIu64
				       " to the journal of %s for it",
				       who, commit->number, device);
	return g_strdup_printf("%s, which wrote the journal of %s for it", who, device);
}

char *process_label(const struct session *session, const struct wait *wait, bool *inferred)
{
	uint32_t waker = wait->block->waker;
	const struct wake_detail *detail = block_detail(session, wait->block);
	const char *name = thread_name(session, waker);
	g_autofree char *label = thread_label(session, waker);
	bool commit = detail && detail->kind == DETAIL_COMMIT;

	if (detail && detail->kind == DETAIL_WORK)
		return work_label(session, waker, detail);
	if (commit || wrote_journal_for(session, waker, wait->thread)) {
		*inferred = !commit;
		return journal_label(label, name, commit ? detail : NULL);
	}
	if (is_rcu(name) && is_kernel(session, waker) && !is_kernel(session, wait->thread)) {
		*inferred = true;
		return g_strdup_printf("%s, at the end of an RCU grace period; what held "
				       "that up is not known",
				       label);
	}
	return g_steal_pointer(&label);
}

char *softirq_label(const struct session *session, const struct wait *wait, bool *inferred)
{
	uint32_t number = PACK_NUMBER(wait->block->context);
	const struct wake_detail *detail = block_detail(session, wait->block);
	const char *name = softirq_name(number);
	GString *label;

	if (softirq_is_timer(number))
		return g_strdup_printf("timer (softIRQ %s; which one was not recorded)", name);
	label = g_string_new("softIRQ");
	if (name)
		g_string_append_printf(label, " %s", name);
	if (number == SOFTIRQ_RCU && !is_kernel(session, wait->thread)) {
		g_string_append(label, ", at the end of an RCU grace period; what held that up is "
				       "not known");
		*inferred = true;
	}
	if (detail && detail->kind == DETAIL_RAISE && is_thread(detail->thread)) {
		g_string_append(label, ", raised by ");
		if (detail->thread == wait->thread)
			g_string_append(label, "itself");
		else
			append_thread(label, session, detail->thread);
	}
	return g_string_free(label, FALSE);
}
