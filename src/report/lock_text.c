/* SPDX-License-Identifier: MIT */
/* Locks for people: who held the lock of one wait, doing what; all locks by the
 * waiting they cost; deadlocks. */
#include <inttypes.h>
#include <string.h>

#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "report/report.h"

#define HOLDERS_SHOWN 4

static void append_thread(GString *line, const struct session *session, uint32_t thread)
{
	g_string_append_printf(line, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

static void append_inversion(GString *line, const struct session *session,
			     const struct inversion *inversion)
{
	g_autofree char *waiter = priority_text(inversion->waiter);
	g_autofree char *owner = priority_text(inversion->owner);
	char length[32];

	g_string_append_printf(line, "; priority inversion: a waiter of %s, and ", waiter);
	append_thread(line, session, inversion->thread);
	g_string_append_printf(line, " of %s", owner);
	if (inversion->boosted != NO_PRIORITY) {
		g_autofree char *boosted = priority_text(inversion->boosted);

		g_string_append_printf(line, " raised to %s", boosted);
	}
	if (inversion->kept_off) {
		g_string_append_printf(line, ", kept off its CPU for %s by ",
				       when_duration(length, inversion->kept_off));
		append_thread(line, session, inversion->instead);
	}
}

/* ", mostly blocked/syscall:clock_nanosleep on sleep" */
static void append_doing(GString *line, const struct session *session, const struct holder *holder)
{
	g_autofree char *leaf = leaf_key(session, holder->leaf);

	if (holder->leaf_ns * 2 < holder->ns)
		return;
	g_string_append_printf(line, ", %s %s",
			       holder->leaf_ns == holder->ns ? "all of it" : "mostly", leaf);
	if (holder->resource)
		g_string_append_printf(line, " on %s", session_text(session, holder->resource));
}

void lock_text(const struct session *session, const struct wait *wait, struct output *output,
	       int indent)
{
	struct lock_wait *lock =
		lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	struct inversion inversion;
	g_autoptr(GString) line = NULL;
	char length[32];

	if (!lock)
		return;
	lock_wait_look(session, lock, HOLDERS_SHOWN);
	line = g_string_new(NULL);
	g_string_append_printf(line, "Lock (%s%s): held ", lock_kind_text(lock->lock),
			       lock->inferred ? ", owners inferred" : "");
	for (guint i = 0; i < lock->holders->len && i < HOLDERS_SHOWN; i++) {
		const struct holder *holder = &g_array_index(lock->holders, struct holder, i);

		g_string_append(line, i ? "; by " : "by ");
		append_thread(line, session, holder->thread);
		g_string_append_printf(line, " for %s", when_duration(length, holder->ns));
		if (holder->count > 1)
			g_string_append_printf(line, " in %u turns", holder->count);
		append_doing(line, session, holder);
	}
	if (lock->holders->len > HOLDERS_SHOWN)
		g_string_append_printf(line, "; and by %u more",
				       lock->holders->len - HOLDERS_SHOWN);
	if (lock->between)
		g_string_append_printf(line, "; handed over or not known for %s",
				       when_duration(length, lock->between));
	if (lock_wait_inversion(session, lock, wait->thread, wait->begin, wait->end, &inversion))
		append_inversion(line, session, &inversion);
	text_wrapped(output, line->str, indent, 2);
	lock_wait_free(lock);
}

static void append_convoy(GString *line, const struct session *session, const struct convoy *convoy)
{
	char from[48], length[32];

	g_string_append_printf(
		line,
		"; convoy: %u hand-overs in %s from %s, %.0f a second, up to "
		"%u threads waiting",
		convoy->handovers, when_duration(length, convoy->end - convoy->begin),
		when_time(from, convoy->begin, session->asked.options->utc, false),
		(double) convoy->handovers * 1e9 / (double) (convoy->end - convoy->begin),
		convoy->longest);
}

static void append_holders(GString *line, const struct session *session,
			   const struct contention *at)
{
	guint shown = 0;

	for (guint i = 0; i < at->holders->len && i < HOLDERS_SHOWN; i++, shown++) {
		const struct holder *holder = &g_array_index(at->holders, struct holder, i);

		if (i && holder->ns * 100 < at->ns)
			break;
		g_string_append(line, i ? ", " : "; held meanwhile by ");
		append_thread(line, session, holder->thread);
		g_string_append_printf(line, " %.0f %%",
				       100.0 * (double) holder->ns / (double) at->ns);
	}
	if (shown < at->holders->len)
		g_string_append_printf(line, " and %u more", at->holders->len - shown);
	if (at->holders->len && at->inferred)
		g_string_append(line, " (inferred)");
}

static void contention_line(const struct report *report, const void *row)
{
	const struct session *session = report->session;
	const struct contention *at = row;
	const struct lock *lock = lock_at(&session->trace.flow, at->lock);
	g_autoptr(GString) line = g_string_new(NULL);
	char sum[32], longest[32], when[48];

	g_string_append_printf(line, "%s: %s (%s), %" PRIu64 " wait%s of %u thread%s",
			       when_duration(sum, at->ns), session_text(session, lock->resource),
			       lock_kind_text(lock), at->waits, at->waits == 1 ? "" : "s",
			       at->waiters, at->waiters == 1 ? "" : "s");
	if (at->queue > 1)
		g_string_append_printf(line, ", up to %u at once", at->queue);
	g_string_append_printf(line, ", longest %s by ", when_duration(longest, at->longest));
	append_thread(line, session, at->longest_thread);
	g_string_append_printf(line, " at %s",
			       when_time(when, at->longest_begin, session->asked.options->utc,
					 false));
	append_holders(line, session, at);
	if (at->convoy.handovers)
		append_convoy(line, session, &at->convoy);
	if (at->inverted)
		append_inversion(line, session, &at->inversion);
	text_wrapped(report->output, line->str, 2, 4);
}

void locks_text(const struct report *report, const GArray *locks)
{
	if (!locks->len)
		return;
	text_heading(report->output, "Locks, by the time threads waited for them");
	text_lines(report, ROWS(locks), contention_line);
}

void deadlocks_text(const struct session *session, struct output *output)
{
	for (guint i = 0; i < deadlocks_of(session)->len; i++) {
		const struct deadlock *deadlock = g_ptr_array_index(deadlocks_of(session), i);
		g_autofree char *words = deadlock_words(session, deadlock), *line = NULL;

		if (!i)
			text_heading(output, "Deadlocks");
		line = g_strconcat(deadlock->proved ? "Proved: " : "Suspected: ", words,
				   deadlock->proved
					   ? "."
					   : "; nobody was seen to give one of these "
					     "up. Who has a plain mutex is not in a kernel trace.",
				   NULL);
		text_wrapped(output, line, 2, 4);
	}
}
