/* Counting what was not seen; see coverage.h. */
#include "analysis/coverage.h"

#include "analysis/clocks.h"

#include <string.h>

#define PARTIAL_MIN INT64_C(1000000) /* ns: hosts are never started at once */

#include "analysis/deliveries.h"
#include "util/spill.h"

static bool has_statedump(const struct session *session)
{
	for (guint i = 0; i < session->model.hosts->len; i++)
		if (!model_host(&session->model, i)->has_statedump)
			return false;
	return true;
}

/* A host that is no x86 has no such events to record. */
static bool is_other(const struct session *session)
{
	for (guint i = 0; i < session->model.hosts->len; i++)
		if (model_host(&session->model, i)->abi != ABI_UNKNOWN)
			return false;
	return true;
}

static bool has_vectors_or_is_other(const struct session *session)
{
	return session->kinds[EV_VECTOR_ENTRY] || is_other(session);
}

static bool has_faults_or_is_other(const struct session *session)
{
	return session->kinds[EV_PAGE_FAULT_USER] || is_other(session);
}

static bool has_sends_or_no_packets(const struct session *session)
{
	return session->kinds[EV_NET_SEND] || !session->kinds[EV_NET_RECEIVE];
}

/* Where no completions were recorded either, that is said first. Not every disk
 * has a queue that requests are inserted into. */
static bool has_bios_or_no_requests(const struct session *session)
{
	return session->kinds[EV_BLOCK_BIO] || !session->kinds[EV_BLOCK_COMPLETE];
}

/* Addresses were recorded: call stacks, callbacks, work. */
static bool has_symbols_or_no_addresses(const struct session *session)
{
	return session->symbols ||
	       (session->flow.callstacks.lists->len == 1 && !session->flow.addresses.count);
}

const struct need needs[] = {
	{"sched_switch", {EV_SCHED_SWITCH},
	 "what ran and what waited cannot be told at all",
	 "lttng enable-event -k sched_switch", NULL},
	{"sched_waking", {EV_SCHED_WAKING},
	 "who woke a thread of another CPU is unknown",
	 "lttng enable-event -k sched_waking", NULL},
	{"sched_wakeup", {EV_SCHED_WAKEUP},
	 "wake-ups that race with falling asleep are not seen",
	 "lttng enable-event -k sched_wakeup,sched_wakeup_new", NULL},
	{"sched_process_fork", {EV_PROCESS_FORK},
	 "who created a thread is not known: no lineage",
	 "lttng enable-event -k 'sched_process_*'", NULL},
	{"sched_process_exec", {EV_PROCESS_EXEC},
	 "programs started in the trace are not named",
	 "lttng enable-event -k 'sched_process_*'", NULL},
	{"system calls", {EV_SYSCALL_ENTRY, EV_SYSCALL_EXIT},
	 "what a thread waited in is not known",
	 "lttng enable-event -k --syscall -a", NULL},
	{"irq_handler_entry", {EV_IRQ_ENTRY},
	 "wake-ups by devices look as if the interrupted thread made them",
	 "lttng enable-event -k 'irq_handler_*'", NULL},
	{"irq_softirq_entry", {EV_SOFTIRQ_ENTRY},
	 "wake-ups by softIRQs look as if the interrupted thread made them",
	 "lttng enable-event -k 'irq_softirq_*'", NULL},
	{"x86_irq_vectors_local_timer_entry", {EV_VECTOR_ENTRY},
	 "timer and inter-processor interrupts count as the thread's own time",
	 "lttng enable-event -k 'x86_irq_vectors_*'", has_vectors_or_is_other},
	{"timer_hrtimer_expire_entry", {EV_HRTIMER_EXPIRE_ENTRY},
	 "which sleep a timer ended, and how long it was to be, is not known",
	 "lttng enable-event -k 'timer_hrtimer_*'", NULL},
	{"block_rq_complete", {EV_BLOCK_COMPLETE},
	 "disk waits are named by their interrupt only",
	 "lttng enable-event -k 'block_rq_*'", NULL},
	{"block_bio_queue", {EV_BLOCK_BIO},
	 "who asked for a request is taken from its issue, how long it was queued from its "
	 "insert, if any",
	 "lttng enable-event -k 'block_rq_*,block_bio_*,block_split'", has_bios_or_no_requests},
	{"workqueue_queue_work", {EV_WORK_QUEUE},
	 "whose work a kernel worker did is inferred at best",
	 "lttng enable-event -k 'workqueue_*'", NULL},
	{"net_if_receive_skb", {EV_NET_RECEIVE},
	 "network waits do not name the packet's sender",
	 "lttng enable-event -k 'net_*'", NULL},
	{"net_dev_queue", {EV_NET_SEND},
	 "network waits are not followed to who sent the packet",
	 "lttng enable-event -k 'net_*'", has_sends_or_no_packets},
	{"x86_exceptions_page_fault_user", {EV_PAGE_FAULT_USER},
	 "waits in page faults are not told from other traps",
	 "lttng enable-event -k 'x86_exceptions_*'", has_faults_or_is_other},
	{"lttng_statedump_process_state", {EV_STATEDUMP_PROCESS},
	 "threads that were there before are named and placed by later events only",
	 "lttng enable-event -k 'lttng_statedump_*'", has_statedump},
	{"kallsyms", {EV_OTHER},
	 "kernel functions are shown as addresses",
	 "sudo cat /proc/kallsyms > kallsyms, beside the trace or with --kallsyms",
	 has_symbols_or_no_addresses},
	{0}};

bool need_is_met(const struct session *session, const struct need *need)
{
	if (need->fulfilled)
		return need->fulfilled(session);
	for (size_t i = 0; i < G_N_ELEMENTS(need->kinds) && need->kinds[i] != EV_OTHER; i++)
		if (session->kinds[need->kinds[i]])
			return true;
	return false;
}

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
		[ODD_FUNCTION] = "entries or exits of functions without the other",
	};

	return texts[odd];
}

/* Of user threads: how much of the time blocked has no known end. What was
 * still open at the end is not counted, nobody could know it. */
static void count_blocked(struct coverage *coverage, const struct session *session,
			  uint32_t thread)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->begin, session->end);
	if (spans.kernel)
		return;
	while (spans_next(&spans, &span)) {
		const struct block *block;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = block_at(&session->timeline, span.ref);
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
static void add_partial_hosts(struct coverage *coverage, const struct session *session)
{
	char length[32];

	for (guint i = 0; session->model.hosts->len > 1 && i < session->model.hosts->len; i++) {
		const struct host *host = model_host(&session->model, i);
		const char *name = session_host_name(session, i);

		if (host->begin - session->from > PARTIAL_MIN)
			g_ptr_array_add(coverage->missing,
					g_strdup_printf("the first %s of host %s: its trace begins that "
							"much later, and what was waited for there "
							"until then is not known",
							when_duration(length,
								      host->begin - session->from),
							name));
		if (session->to - host->end > PARTIAL_MIN)
			g_ptr_array_add(coverage->missing,
					g_strdup_printf("the last %s of host %s: its trace ends that "
							"much earlier",
							when_duration(length,
								      session->to - host->end),
							name));
	}
}

static void add_missing(struct coverage *coverage, const struct session *session)
{
	char length[32];

	for (const struct need *need = needs; need->name; need++)
		if (!need_is_met(session, need))
			g_ptr_array_add(coverage->missing,
					g_strdup_printf("%s: %s (add it with: %s)", need->name,
							need->without, need->recorded_by));
	for (guint i = 0; i < session->model.hosts->len; i++) {
		const struct host *host = model_host(&session->model, i);

		for (guint c = 0; c < host->cpus->len; c++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, c);

			if (cpu->first_packet > host->begin + 1000000)
				g_ptr_array_add(
					coverage->missing,
					g_strdup_printf("CPU %u of %s: its events begin %s after "
							"the trace's begin; nothing is known of it "
							"before",
							cpu->id,
							host->hostname ? host->hostname : "the host",
							when_duration(length, cpu->first_packet -
										      host->begin)));
		}
	}
	clocks_warnings(session, coverage->missing);
	add_partial_hosts(coverage, session);
	for (guint i = 1; i < session->model.hosts->len; i++) {
		const struct host *a = model_host(&session->model, i - 1);
		const struct host *b = model_host(&session->model, i);

		if (a->end < b->begin || b->end < a->begin)
			g_ptr_array_add(coverage->missing,
					g_strdup("a common time: traces of two recordings that do "
						 "not overlap are in one report; name one of them"));
	}
	if (session->stopped)
		g_ptr_array_add(coverage->missing,
				g_strdup_printf("the rest of the trace: reading stopped early: %s",
						session->stopped));
	if (spill_trouble())
		g_ptr_array_add(coverage->missing,
				g_strdup_printf("room for a temporary file in %s (%s): everything "
						"was kept in memory; TMPDIR names another place",
						spill_place(), g_strerror(spill_trouble())));
}

void coverage_init(struct coverage *coverage, const struct session *session)
{
	*coverage = (struct coverage) {.events = session->events};
	coverage->missing = g_ptr_array_new_with_free_func(g_free);
	coverage->entries_unseen = session->flow.odd[ODD_ENTRY_UNSEEN];
	coverage->exits_unseen = session->flow.odd[ODD_EXIT_UNSEEN];
	coverage->wakeups_unseen = session->flow.odd[ODD_WAKEUP_UNSEEN];
	for (guint i = 0; i < session->model.hosts->len; i++) {
		const struct host *host = model_host(&session->model, i);

		coverage->discarded_events += host->discarded_events;
		coverage->discarded_packets += host->discarded_packets;
		for (guint c = 0; c < host->cpus->len; c++)
			coverage->cpu_unknown_ns +=
				((struct cpu *) g_ptr_array_index(host->cpus, c))->unknown_ns;
	}
	for (uint32_t i = 0; i < session->model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->model, i);

		if (!thread->born && !thread->described)
			coverage->undescribed_threads++;
		count_blocked(coverage, session, i);
	}
	add_missing(coverage, session);
}

void coverage_clear(struct coverage *coverage)
{
	g_ptr_array_free(coverage->missing, TRUE);
}

double coverage_softirq_share(const struct coverage *coverage)
{
	return coverage->blocked_ns ? (double) coverage->blocked_softirq_ns /
					      (double) coverage->blocked_ns
				    : 0.0;
}

double coverage_unknown_share(const struct coverage *coverage)
{
	return coverage->blocked_ns ? (double) coverage->blocked_unknown_ns /
					      (double) coverage->blocked_ns
				    : 0.0;
}
