/* SPDX-License-Identifier: MIT */
/* What came behind a window; see skim.h. Of each thread it is told how it first gets a CPU again:
 * who woke it, in which system call or interrupt. For that the events of the interrupts that are
 * open, and of those before, are kept until they are over.
 */
#include "skim/skim.h"
#include "skim/walk.h"

#define EPISODE_MAX 4096 /* events kept of one */

static void tell_episode(struct seen_cpu *cpu, const GArray *episode)
{
	for (guint i = 0; i < episode->len; i++)
		seen_keep(cpu, &g_array_index(episode, struct spot, i));
}

/* In an interrupt: what led to it, and all of it to its end. */
static void tell_interrupt(struct seen_cpu *cpu)
{
	const struct spot *raised = &cpu->raised.spot;

	if (cpu->before->len && raised->stream &&
	    raised->time >= g_array_index(cpu->before, struct spot, 0).time)
		tell_episode(cpu, cpu->before);
	skim_tell_deed(cpu->pieces, &cpu->raised);
	tell_episode(cpu, cpu->episode);
	cpu->telling = true;
}

static void tell_waking(struct seen_cpu *cpu, const struct spot *spot)
{
	const struct seen_thread *waker =
		cpu->current == NOBODY ? NULL : seen_thread_at(cpu, cpu->current);

	if (cpu->depth) {
		if (!cpu->telling)
			tell_interrupt(cpu);
		return;
	}
	if (waker && waker->in_call)
		skim_tell_deed(cpu->pieces, &waker->call);
	seen_keep(cpu, spot);
}

static void over_waking(struct seen_cpu *cpu, const struct spot *spot, int32_t tid)
{
	uint32_t woken = seen_thread_of(cpu, tid);
	struct seen_thread *thread;

	if (woken == NOBODY)
		return;
	thread = seen_thread_at(cpu, woken);
	if (thread->waking.stream || thread->ran)
		return;
	thread->waking = *spot;
	tell_waking(cpu, spot);
}

static void over_switch(struct seen_cpu *cpu, const struct spot *spot, const int32_t tids[2])
{
	struct seen_thread *thread;

	seen_switch(cpu, spot, tids);
	cpu->depth = 0;
	cpu->telling = false;
	if (cpu->current == NOBODY)
		return;
	thread = seen_thread_at(cpu, cpu->current);
	if (!thread->ran)
		skim_piece(cpu->pieces, spot, TELL_ENTER);
	cpu->told = !thread->ran;
	thread->ran = true;
}

static void begin_interrupt(struct seen_cpu *cpu)
{
	GArray *last = cpu->before;

	if (cpu->depth++)
		return;
	cpu->before = cpu->episode;
	cpu->episode = last;
	g_array_set_size(last, 0);
}

/* What it found, from the call that it was in. */
static void over_return(struct seen_cpu *cpu, const struct spot *spot)
{
	struct seen_thread *thread;

	if (cpu->current == NOBODY)
		return;
	thread = seen_thread_at(cpu, cpu->current);
	if (cpu->told && !thread->in_call)
		seen_keep(cpu, spot);
	thread->in_call = false;
}

/* All that happens in an interrupt may be what it woke somebody for. */
static void in_interrupt(struct seen_cpu *cpu, enum event_span span, const struct spot *spot)
{
	if (span == SPAN_INTERRUPT)
		begin_interrupt(cpu);
	if (!cpu->depth)
		return;
	if (cpu->telling)
		seen_keep(cpu, spot);
	else if (cpu->episode->len < EPISODE_MAX)
		g_array_append_vals(cpu->episode, spot, 1);
}

static void over(struct seen_cpu *cpu, enum event_span span, const struct spot *spot,
		 const int32_t tids[2])
{
	/* until the first switch the one runs who did when the window's events ended */
	if (!cpu->last_switch.stream && span != SPAN_SWITCH)
		skim_piece(cpu->pieces, spot, TELL_EVENT);
	in_interrupt(cpu, span, spot);
	switch (span) {
	case SPAN_SWITCH:
		over_switch(cpu, spot, tids);
		break;
	case SPAN_WAKING:
		over_waking(cpu, spot, tids[0]);
		break;
	case SPAN_CALL:
	case SPAN_CALL_LASTS:
		seen_call(cpu, spot, false);
		break;
	case SPAN_RETURN:
	case SPAN_RETURN_LASTS:
	case SPAN_RETURN_ANY:
		over_return(cpu, spot);
		break;
	case SPAN_LASTS: /* who is born and dies, too */
		seen_keep(cpu, spot);
		break;
	case SPAN_RAISE:
		cpu->raised = (struct deed) {.spot = *spot, .entered = cpu->last_switch};
		break;
	case SPAN_INTERRUPT_ENDS:
		cpu->depth -= cpu->depth > 0;
		cpu->telling &= cpu->depth > 0;
		break;
	default:
		break;
	}
}

/* The trace ends with its last event. */
static void tell_ends(const struct walk *walk)
{
	for (guint i = 0; i < walk->cpus->len; i++) {
		struct seen_cpu *cpu = g_ptr_array_index(walk->cpus, i);

		if (cpu->last.stream && cpu->last.stream == cpu->last_switch.stream &&
		    cpu->last.packet == cpu->last_switch.packet &&
		    cpu->last.at == cpu->last_switch.at)
			skim_piece(cpu->pieces, &cpu->last, TELL_ENTER);
		else
			seen_keep(cpu, &cpu->last);
	}
}

bool skim_after(struct reader *reader, int64_t until, guint jobs)
{
	struct walk walk;
	bool ok;

	if (!reader_is_plain(reader))
		return false;
	skim_init(&walk, reader, INT64_MAX, over);
	ok = skim_walk(&walk, jobs);
	if (ok) {
		reader_sink(reader)->passed_from(reader_sink(reader)->data, until);
		tell_ends(&walk);
		skim_tell(&walk);
	}
	skim_clear(&walk);
	reader_go_on(reader);
	return ok;
}
