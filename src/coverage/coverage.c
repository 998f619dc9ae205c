/* SPDX-License-Identifier: MIT */
/* Counting what was not seen; see coverage.h. */
#include "coverage/coverage.h"

#include "coverage/guests_said.h"
#include "coverage/stalls.h"
#include "trace/clocks.h"
#include "event/softirqs.h"
#include "run/command.h"
#include "coverage/bearing.h"
#include "coverage/needs.h"
#include "util/spill.h"

#define PARTIAL_MIN INT64_C(1000000) /* ns: hosts are never started at once */

const char *odd_text(enum odd odd)
{
	static const char *const texts[ODD_COUNT] = {
		[ODD_ENTRY_UNSEEN] = "exits whose entry was not seen",
		[ODD_EXIT_UNSEEN] = "entries whose exit was not seen",
		[ODD_WAKEUP_UNSEEN] = "threads switched in with no wake-up seen",
		[ODD_SWITCH_MISMATCH] = "switches away from a thread not known to run",
		[ODD_RUNS_TWICE] = "threads seen on two CPUs at once",
		[ODD_FRAMES_DEEP] = "interrupts nested deeper than possible",
		[ODD_FRAMES_AT_SWITCH] = "switches inside an interrupt",
		[ODD_TIME_BACKWARDS] = "events with a time before their predecessor's",
		[ODD_NO_THREAD] = "system calls where no thread was known to run",
		[ODD_USER_FUNCTION] = "entries or exits of user-space functions without the other",
		[ODD_USER_THREAD] = "user-space events of no known thread",
		[ODD_FUNCTION] = "entries or exits of functions without the other",
	};

	return texts[odd];
}

/* Of user threads: how much of the time blocked has no known end. What was
 * still open at the end is not counted, nobody could know it. */
static void count_blocked(struct coverage *coverage, const struct session *session, uint32_t thread)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread,
		    session->asked.of_stretch
			    ? session->asked.from
			    : MAX(session->trace.begin, session->trace.passed_until),
		    session->asked.of_stretch
			    ? session->asked.to
			    : MIN(session->trace.end, session->trace.passed_from));
	if (spans.kernel)
		return;
	while (spans_next_off_cpu(&spans, &span)) {
		const struct block *block;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = block_at(&session->trace.timeline, span.ref);
		if (block->kind == WAKER_NONE)
			continue;
		coverage->blocked_ns += span.end - span.begin;
		if (block->kind == WAKER_UNKNOWN && block->why != WHY_TIME_LIMIT)
			coverage->blocked_unknown_ns += span.end - span.begin;
		else if (block->kind == WAKER_SOFTIRQ && !block->detail &&
			 !softirq_is_timer(PACK_NUMBER(block->context)))
			coverage->blocked_softirq_ns += span.end - span.begin;
	}
}

/* Of several hosts, one whose trace begins late or ends early: packets from it have no
 * sender there until then. */
static void add_partial_hosts(GPtrArray *list, const struct session *session)
{
	char length[32];

	for (guint i = 0;
	     session->trace.model.hosts->len > 1 && i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);
		const char *name = trace_host_name(&session->trace, i);

		if (host->begin - session->asked.from > PARTIAL_MIN)
			g_ptr_array_add(
				list,
				g_strdup_printf("the first %s of host %s: its trace begins that "
						"much later, and what was waited for there "
						"until then is not known",
						when_duration(length,
							      host->begin - session->asked.from),
						name));
		if (session->asked.to - host->end > PARTIAL_MIN)
			g_ptr_array_add(
				list, g_strdup_printf("the last %s of host %s: its trace ends that "
						      "much earlier",
						      when_duration(length,
								    session->asked.to - host->end),
						      name));
	}
}

static void add_late_cpus(GPtrArray *list, const struct session *session)
{
	char length[32];

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		for (guint c = 0; c < host->cpus->len; c++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, c);

			if (cpu->first_packet > host->begin + 1000000)
				g_ptr_array_add(
					list,
					g_strdup_printf(
						"CPU %u of %s: its events begin %s after "
						"the trace began; nothing is known of it "
						"before",
						cpu->id,
						host->hostname ? host->hostname : "the host",
						when_duration(length,
							      cpu->first_packet - host->begin)));
		}
	}
}

struct stalled coverage_troubles(const struct session *session, GPtrArray *list)
{
	struct stalled stalled;

	add_late_cpus(list, session);
	clocks_warnings(&session->trace, list);
	guests_troubles(session, list);
	stalled = stalls_troubles(session, list);
	add_partial_hosts(list, session);
	for (guint i = 1; i < session->trace.model.hosts->len; i++) {
		const struct host *a = model_host(&session->trace.model, i - 1);
		const struct host *b = model_host(&session->trace.model, i);

		if (a->end < b->begin || b->end < a->begin)
			g_ptr_array_add(
				list, g_strdup("a common time: traces of two recordings that do "
					       "not overlap are in one report; name one of them"));
	}
	if (session->trace.stopped)
		g_ptr_array_add(list,
				g_strdup_printf("the rest of the trace: reading stopped early: %s",
						session->trace.stopped));
	if (spill_trouble())
		g_ptr_array_add(list,
				g_strdup_printf("room for a temporary file in %s (%s): everything "
						"was kept in memory; TMPDIR names another place",
						spill_place(), g_strerror(spill_trouble())));
	return stalled;
}

bool coverage_tells_gap(const struct session *session, const struct gap *gap)
{
	return !session->asked.of_stretch || gap->end > session->asked.from;
}

void coverage_init(struct coverage *coverage, const struct session *session)
{
	const struct command_needs *of = &session->asked.options->command->needs;
	uint32_t wanted = of->impossible | of->degraded | of->poorer;

	*coverage = (struct coverage) {.events = session->trace.events};
	coverage->missing = g_ptr_array_new_with_free_func(g_free);
	coverage->entries_unseen = session->trace.flow.odd[ODD_ENTRY_UNSEEN];
	coverage->exits_unseen = session->trace.flow.odd[ODD_EXIT_UNSEEN];
	coverage->wakeups_unseen = session->trace.flow.odd[ODD_WAKEUP_UNSEEN];
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		coverage->discarded_events += host->discarded_events;
		coverage->gaps += host->gaps->len;
		coverage->discarded_packets += host->discarded_packets;
		for (guint c = 0; c < host->cpus->len; c++)
			coverage->cpu_unknown_ns +=
				((struct cpu *) g_ptr_array_index(host->cpus, c))->unknown_ns;
	}
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (!thread->born && !thread->described &&
		    (!session->asked.of_stretch || thread->end > session->asked.from))
			coverage->undescribed_threads++;
		count_blocked(coverage, session, i);
	}
	for (int i = 0; i < NEED_COUNT; i++) {
		g_autofree char *name = need_name(&needs[i], needs_tracer(session));
		g_autofree char *line = need_line(&needs[i], needs_tracer(session));

		if (wanted >> i & 1 && !need_is_met(session, &needs[i]))
			g_ptr_array_add(coverage->missing,
					g_strdup_printf("%s: %s (add it with: %s)", name,
							needs[i].without, line));
	}
	coverage->kinds_missing = coverage->missing->len;
	coverage->read_from =
		session->trace.passed_until == INT64_MIN ? -1 : session->trace.passed_until;
	coverage->read_until =
		session->trace.passed_from == INT64_MAX ? -1 : session->trace.passed_from;
	coverage->caution =
		command_needs_any(session->asked.options->command) ? answer_caution(session) : NULL;
	coverage->stalled = coverage_troubles(session, coverage->missing);
}

void coverage_clear(struct coverage *coverage)
{
	g_free(coverage->caution);
	g_ptr_array_free(coverage->missing, TRUE);
}

double coverage_softirq_share(const struct coverage *coverage)
{
	return coverage->blocked_ns
		       ? (double) coverage->blocked_softirq_ns / (double) coverage->blocked_ns
		       : 0.0;
}

double coverage_unknown_share(const struct coverage *coverage)
{
	return coverage->blocked_ns
		       ? (double) coverage->blocked_unknown_ns / (double) coverage->blocked_ns
		       : 0.0;
}
