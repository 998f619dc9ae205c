/* SPDX-License-Identifier: MIT */
/* The table of what analyses need of a trace; see needs.h. */
#include "coverage/needs.h"

#include <string.h>

#include "run/session.h"

/* Its lttng-modules-dkms 2.13.9 does not install these probes; the line fits no event then. */
#define NOT_IN_DEBIAN " # whylate-record(1) if Debian's modules lack them"
#define STRANGE_MIN 8
#define STRANGE_MAX 0.1 /* of the switches */

static bool has_statedump(const struct session *session)
{
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (!model_host(&session->trace.model, i)->has_statedump)
			return false;
	return true;
}

/* A host that is no x86 has no such events to record. */
static bool is_other(const struct session *session)
{
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (model_host(&session->trace.model, i)->abi != ABI_UNKNOWN)
			return false;
	return true;
}

static bool has_vectors_or_is_other(const struct session *session)
{
	return session->trace.kinds[EV_VECTOR_ENTRY] || is_other(session);
}

static bool has_faults_or_is_other(const struct session *session)
{
	return session->trace.kinds[EV_PAGE_FAULT_USER] || is_other(session);
}

static bool has_sends_or_no_packets(const struct session *session)
{
	return session->trace.kinds[EV_NET_SEND] || !session->trace.kinds[EV_NET_RECEIVE];
}

/* Where no completions were recorded either, that is said first. Not every disk
 * has a queue that requests are inserted into. */
static bool has_bios_or_no_requests(const struct session *session)
{
	return session->trace.kinds[EV_BLOCK_BIO] || !session->trace.kinds[EV_BLOCK_COMPLETE];
}

static bool has_callstacks(const struct session *session)
{
	return session->trace.flow.has_callstacks;
}

/* The kernel's part alone says little of programs. */
static bool has_samples(const struct session *session)
{
	return session->trace.timeline.samples.used && session->trace.flow.has_user_stacks;
}

/* Of programs, or of the kernel. */
static bool has_functions(const struct session *session)
{
	return session->trace.kinds[EV_FUNCTION_ENTRY] || session->trace.flow.user.entries;
}

/* A tracer that follows some threads only (perf record without -a, lttng track, set_event_pid)
 * tells when one of them leaves a CPU, and not when it comes; so do switches of which only some
 * were sampled. Where all were recorded there are such ones around what was lost alone. */
static bool knows_who_came(const struct session *session)
{
	const struct flow *flow = &session->trace.flow;

	return flow->strange_switches < STRANGE_MIN ||
	       (double) flow->strange_switches <= STRANGE_MAX * (double) flow->switches;
}

static bool has_tids_or_no_gaps(const struct session *session)
{
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (model_host(&session->trace.model, i)->gaps->len && !session->trace.has_tids)
			return false;
	return true;
}

/* Addresses were recorded: call stacks, callbacks, work. */
static bool has_symbols_or_no_addresses(const struct session *session)
{
	return session->found.symbols || !flow_has_addresses(&session->trace.flow);
}

static bool has_entries_or_no_guests(const struct session *session)
{
	const struct model *model = &session->trace.model;

	for (uint32_t i = 0; i < model->thread_count && !session->trace.kinds[EV_KVM_ENTRY]; i++)
		if (model_thread(model, i)->vcpu)
			return false;
	return true;
}

const struct need needs[NEED_COUNT] = {
	[NEED_SWITCH] = {"sched_switch",
			 {EV_SCHED_SWITCH},
			 "what ran and what waited cannot be told at all",
			 "lttng enable-event -k sched_switch",
			 NULL,
			 NULL,
			 "sched:sched_switch",
			 NULL},
	[NEED_ALL_THREADS] = {"sched_switch of all threads",
			      {EV_OTHER},
			      "who ran while those did not that were recorded, and what they "
			      "waited for, cannot be told",
			      "lttng track -k --pid --all",
			      knows_who_came,
			      "sched:sched_switch of all threads",
			      NULL,
			      "whylate record --tracer @"},
	[NEED_WAKING] = {"sched_waking",
			 {EV_SCHED_WAKING},
			 "who woke a thread of another CPU is unknown",
			 "lttng enable-event -k sched_waking",
			 NULL,
			 NULL,
			 "sched:sched_waking",
			 NULL},
	[NEED_WAKEUP] = {"sched_wakeup",
			 {EV_SCHED_WAKEUP},
			 "wake-ups that race with falling asleep are not seen",
			 "lttng enable-event -k sched_wakeup,sched_wakeup_new",
			 NULL,
			 NULL,
			 "sched:sched_wakeup,sched:sched_wakeup_new",
			 NULL},
	[NEED_FORK] = {"sched_process_fork",
		       {EV_PROCESS_FORK},
		       "who created a thread is not known: no lineage",
		       "lttng enable-event -k 'sched_process_*'",
		       NULL,
		       NULL,
		       "sched:sched_process_fork",
		       NULL},
	[NEED_EXEC] = {"sched_process_exec",
		       {EV_PROCESS_EXEC},
		       "programs started in the trace are not named",
		       "lttng enable-event -k 'sched_process_*'",
		       NULL,
		       NULL,
		       "sched:sched_process_exec",
		       NULL},
	[NEED_SYSCALLS] = {"system calls",
			   {EV_SYSCALL_ENTRY, EV_SYSCALL_EXIT},
			   "what a thread waited in is not known",
			   "lttng enable-event -k --syscall -a",
			   NULL,
			   "system calls",
			   "raw_syscalls:sys_enter,raw_syscalls:sys_exit",
			   NULL},
	[NEED_IRQ] = {"irq_handler_entry",
		      {EV_IRQ_ENTRY},
		      "wake-ups by devices look as if the interrupted thread made them",
		      "lttng enable-event -k 'irq_handler_*'",
		      NULL,
		      NULL,
		      "irq:irq_handler_entry,irq:irq_handler_exit",
		      NULL},
	[NEED_SOFTIRQ] = {"irq_softirq_entry",
			  {EV_SOFTIRQ_ENTRY},
			  "wake-ups by softIRQs look as if the interrupted thread made them",
			  "lttng enable-event -k 'irq_softirq_*'",
			  NULL,
			  NULL,
			  "irq:softirq_entry,irq:softirq_exit,irq:softirq_raise",
			  NULL},
	[NEED_VECTOR] =
		{"x86_irq_vectors_local_timer_entry",
		 {EV_VECTOR_ENTRY},
		 "timer and inter-processor interrupts count as the thread's own time",
		 "lttng enable-event -k 'x86_irq_vectors_*'" NOT_IN_DEBIAN,
		 has_vectors_or_is_other,
		 NULL,
		 "irq_vectors:local_timer_*,irq_vectors:reschedule_*,irq_vectors:call_function_*",
		 NULL},
	[NEED_HRTIMER] = {"timer_hrtimer_expire_entry",
			  {EV_HRTIMER_EXPIRE_ENTRY},
			  "which sleep a timer ended, and how long it was to be, is not known",
			  "lttng enable-event -k 'timer_hrtimer_*'",
			  NULL,
			  NULL,
			  "timer:hrtimer_*",
			  NULL},
	[NEED_BLOCK] = {"block_rq_complete",
			{EV_BLOCK_COMPLETE},
			"disk waits are named by their interrupt only",
			"lttng enable-event -k 'block_rq_*'",
			NULL,
			NULL,
			"block:block_rq_*",
			NULL},
	[NEED_BIO] =
		{"block_bio_queue",
		 {EV_BLOCK_BIO},
		 "who asked for a request is taken from its issue, how long it was queued from its "
		 "insert, if any",
		 "lttng enable-event -k 'block_rq_*,block_bio_*,block_split'",
		 has_bios_or_no_requests,
		 NULL,
		 "block:block_bio_*,block:block_rq_*,block:block_split",
		 NULL},
	[NEED_WORK] = {"workqueue_queue_work",
		       {EV_WORK_QUEUE},
		       "whose work a kernel worker did is inferred at best",
		       "lttng enable-event -k 'workqueue_*'",
		       NULL,
		       NULL,
		       "workqueue:*",
		       NULL},
	[NEED_NET_RECEIVE] = {"net_if_receive_skb",
			      {EV_NET_RECEIVE},
			      "network waits do not name the packet's sender",
			      "lttng enable-event -k 'net_*'",
			      NULL,
			      NULL,
			      "net:netif_receive_skb",
			      NULL},
	[NEED_NET_SEND] = {"net_dev_queue",
			   {EV_NET_SEND},
			   "network waits are not followed to who sent the packet",
			   "lttng enable-event -k 'net_*'",
			   has_sends_or_no_packets,
			   NULL,
			   "net:net_dev_queue,net:net_dev_xmit",
			   NULL},
	[NEED_FAULT] = {"x86_exceptions_page_fault_user",
			{EV_PAGE_FAULT_USER},
			"waits in page faults are not told from other traps",
			"lttng enable-event -k 'x86_exceptions_*'" NOT_IN_DEBIAN,
			has_faults_or_is_other,
			NULL,
			"exceptions:page_fault_*",
			NULL},
	[NEED_STATEDUMP] =
		{"lttng_statedump_process_state",
		 {EV_STATEDUMP_PROCESS},
		 "threads that were there before are named and placed by later events only",
		 "lttng enable-event -k 'lttng_statedump_*'",
		 has_statedump,
		 "statedump.json",
		 NULL,
		 "whylate record --tracer @, which writes it beside the trace"},
	[NEED_KALLSYMS] =
		{"kallsyms",
		 {EV_OTHER},
		 "kernel functions are shown as addresses",
		 "sudo cat /proc/kallsyms > kallsyms, beside the trace or with --kallsyms",
		 has_symbols_or_no_addresses,
		 "kallsyms",
		 NULL,
		 "sudo cat /proc/kallsyms > kallsyms, beside the trace or with --kallsyms"},
	[NEED_CALLSTACK] = {"callstack-kernel",
			    {EV_OTHER},
			    "which kernel functions led to a wait is not known",
			    "lttng add-context -k -t callstack-kernel",
			    has_callstacks,
			    "call stacks",
			    NULL,
			    "whylate record --tracer perf --callstacks"},
	[NEED_SAMPLES] = {"samples (callstack-user)",
			  {EV_OTHER},
			  "which functions ran while threads ran their own code is not known",
			  "lttng enable-channel -k ticks && lttng enable-event -k -c ticks "
			  "timer_hrtimer_expire_entry --filter='$ctx.tid != 0' && lttng "
			  "add-context -k -c ticks -t callstack-user -t callstack-kernel; or "
			  "whylate record --samples",
			  has_samples,
			  "samples",
			  NULL,
			  "whylate record --tracer perf --samples"},
	[NEED_FUNCTIONS] = {"functions",
			    {EV_OTHER},
			    "of calls only system calls are known, no functions",
			    "lttng enable-event -u 'lttng_ust_cyg_profile*'; or lttng enable-event "
			    "-k --function=NAME "
			    "NAME",
			    has_functions,
			    "functions",
			    NULL,
			    "whylate record --tracer lttng --functions NAME"},
	[NEED_TID] = {"tid",
		      {EV_OTHER},
		      "after lost events the thread of a CPU is not known until its next switch",
		      "lttng add-context -k -t tid",
		      has_tids_or_no_gaps,
		      "tid",
		      NULL,
		      "whylate record --tracer @"},
	[NEED_GUEST_ENTRIES] =
		{"kvm_x86_entry",
		 {EV_KVM_ENTRY},
		 "of virtual CPUs' threads all time in ioctl KVM_RUN counts as their guests', and "
		 "why those were left is not known",
		 "lttng enable-event -k 'kvm_x86_entry,kvm_x86_exit' # a build with the kernel's "
		 "whole source",
		 has_entries_or_no_guests,
		 NULL,
		 "kvm:kvm_entry,kvm:kvm_exit",
		 NULL},
};

bool need_is_met(const struct session *session, const struct need *need)
{
	if (need->fulfilled)
		return need->fulfilled(session);
	for (size_t i = 0; i < G_N_ELEMENTS(need->kinds) && need->kinds[i] != EV_OTHER; i++)
		if (session->trace.kinds[need->kinds[i]])
			return true;
	return false;
}

/* "'sched_process_*'", or several with commas, goes to the others, if it is not there. */
static void add_patterns(GPtrArray *patterns, const char *quoted, const char *end)
{
	g_autofree char *text = g_strndup(quoted, (gsize) (end - quoted));
	g_auto(GStrv) list = g_strsplit_set(text, "', ", -1);

	for (char **one = list; *one; one++)
		if (**one && !g_ptr_array_find_with_equal_func(patterns, *one, g_str_equal, NULL))
			g_ptr_array_add(patterns, g_strdup(*one));
}

/* "lttng add-context -k", the channel, and the rest. */
static void append_command(GString *line, const char *command, const char *channel)
{
	const char *rest = strstr(command, " -k ") + strlen(" -k");

	g_string_append_printf(line, "%s%.*s%s%s%s", line->len ? " && " : "",
			       (int) (rest - command), command, channel ? " -c " : "",
			       channel ? channel : "", rest);
}

static char *lttng_line(unsigned missing, const char *channel)
{
	static const char event[] = "lttng enable-event -k ", context[] = "lttng add-context -k ";
	g_autoptr(GPtrArray) patterns = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) line = g_string_new(NULL), commands = g_string_new(NULL);

	for (guint i = 0; i < NEED_COUNT; i++) {
		const char *by = needs[i].recorded_by;

		if (!(missing >> i & 1))
			continue;
		if (i == NEED_SYSCALLS || g_str_has_prefix(by, context))
			append_command(commands, by, channel);
		else if (g_str_has_prefix(by, event))
			add_patterns(patterns, by + strlen(event), strchrnul(by, '#'));
	}
	if (patterns->len) {
		g_autofree char *events = NULL, *command = NULL;

		g_ptr_array_add(patterns, NULL);
		events = g_strjoinv(",", (char **) patterns->pdata);
		command = g_strdup_printf("%s'%s'", event, events);
		append_command(line, command, channel);
	}
	if (commands->len)
		g_string_append_printf(line, "%s%s", line->len ? " && " : "", commands->str);
	return line->len ? g_string_free(g_steal_pointer(&line), FALSE) : NULL;
}

/* "trace-cmd record -e A -e B …", "perf record -e 'A,B' …": besides what was recorded. */
static char *tracepoints_line(const char *tracepoints, enum traced_by tracer)
{
	g_auto(GStrv) events = g_strsplit(tracepoints, ",", -1);
	g_autoptr(GString) line = g_string_new("trace-cmd record");

	if (tracer == TRACED_BY_PERF)
		return g_strdup_printf("perf record -e '%s' …", tracepoints);
	for (char **event = events; *event; event++)
		g_string_append_printf(line, strchr(*event, '*') ? " -e '%s'" : " -e %s", *event);
	g_string_append(line, " …");
	return g_string_free(g_steal_pointer(&line), FALSE);
}

char *needs_line(unsigned missing, enum traced_by tracer, const char *channel)
{
	bool any = missing >> NEED_STATEDUMP & 1;

	if (tracer == TRACED_BY_LTTNG)
		return lttng_line(missing, channel);
	for (guint i = 0; i < NEED_COUNT; i++)
		any |= missing >> i & 1 && needs[i].tracepoints;
	return any ? g_strdup_printf("whylate record --tracer %s -- PROGRAM",
				     needs_tracer_name(tracer))
		   : NULL;
}

const char *needs_tracer_name(enum traced_by tracer)
{
	static const char *const names[] = {"lttng", "ftrace", "perf"};

	return names[tracer];
}

enum traced_by needs_tracer(const struct session *session)
{
	const char *said = session->trace.model.hosts->len
				   ? model_host(&session->trace.model, 0)->tracer
				   : NULL;

	return said && g_str_has_prefix(said, "ftrace") ? TRACED_BY_FTRACE
	       : said && g_str_has_prefix(said, "perf") ? TRACED_BY_PERF
							: TRACED_BY_LTTNG;
}

char *need_name(const struct need *need, enum traced_by tracer)
{
	if (tracer == TRACED_BY_LTTNG)
		return g_strdup(need->name);
	if (need->other_name)
		return g_strdup(need->other_name);
	return g_strndup(need->tracepoints, strcspn(need->tracepoints, ","));
}

char *need_line(const struct need *need, enum traced_by tracer)
{
	GString *line;

	if (tracer == TRACED_BY_LTTNG)
		return g_strdup(need->recorded_by);
	if (need->tracepoints)
		return tracepoints_line(need->tracepoints, tracer);
	line = g_string_new(need->other_line);
	g_string_replace(line, "@", needs_tracer_name(tracer), 0);
	return g_string_free(line, FALSE);
}

const char *needs_note(unsigned missing, enum traced_by tracer)
{
	for (guint i = 0; i < NEED_COUNT && tracer == TRACED_BY_LTTNG; i++)
		if (missing >> i & 1 && strstr(needs[i].recorded_by, NOT_IN_DEBIAN))
			return "(LTTng's modules as Debian builds them lack the x86 probes: "
			       "whylate-record(1) says how to build them)";
	return NULL;
}
