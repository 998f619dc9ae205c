/* SPDX-License-Identifier: MIT */
/* When the kernel began to end a thread: what it does from then on is not the program's doing.
 *
 *   T  ── own code ──┤ SIGSEGV ├── core dump, memory given back ──┤ dead
 *                     ends_from                                    end
 *
 * A thread that dies in exit or exit_group ends itself: its state says so. Any other was ended, by
 * a signal or because its process exits, and does not return to user mode after that. Which
 * signal it was: the last one that was delivered with its default action; where signal_deliver
 * was not recorded, the last one sent to it that can end a process, unless a handler returned
 * since. It had not taken effect before the thread's last event of its own. One that ends a process
 * without a core dump is turned into a SIGKILL for each of its threads when it is sent, and that is
 * what is delivered: it was the one that was sent.
 *
 * Who sent it is the thread in whose context it was generated. A signal 9 that the kernel sends
 * itself (code SI_KERNEL) in the context of a thread that is not about to end is the OOM killer's:
 * that thread wanted memory. An ending one kills what is in the PID namespace that it led.
 *
 * Part of threads/. Source: signal(7), "Standard signals"; the kernel's complete_signal(),
 * get_signal(), do_group_exit(), do_notify_parent() (SIGCHLD with code CLD_DUMPED comes from the
 * thread that ends), __oom_kill_process(), zap_pid_ns_processes(); docs/semantics.md, "The end of a
 * thread".
 */
#include "threads/deaths.h"

#include <signal.h>
#include <string.h>

#include "objects/calls.h"

#define IGNORED 1 /* signal_generate.result: TRACE_SIGNAL_IGNORED */
#define OF_KERNEL 0x80 /* signal_generate.code: SI_KERNEL of the traced kernel */
#define BY_DEFAULT 0 /* signal_deliver.sa_handler: SIG_DFL */
#define IGNORED_BY 1 /* … SIG_IGN */

/* Its default action ends the process. */
static bool may_end(int32_t sig)
{
	return sig > 0 && sig != SIGCHLD && sig != SIGCONT && sig != SIGSTOP && sig != SIGTSTP &&
	       sig != SIGTTIN && sig != SIGTTOU && sig != SIGURG && sig != SIGWINCH;
}

/* … with a core dump, by the thread that it is delivered to. */
static bool dumps_core(int32_t sig)
{
	return sig == SIGQUIT || sig == SIGILL || sig == SIGTRAP || sig == SIGABRT ||
	       sig == SIGBUS || sig == SIGFPE || sig == SIGSEGV || sig == SIGXCPU ||
	       sig == SIGXFSZ || sig == SIGSYS;
}

/* What leads its process; itself if that is gone. */
static struct thread *leader_of(struct flow *flow, struct thread *thread)
{
	uint32_t index = thread->pid > 0 && thread->pid != thread->tid
				 ? thread_find(flow, thread->host, thread->pid)
				 : IDMAP_NONE;

	return index != IDMAP_NONE && flow_thread(flow, index)->pid == thread->pid
		       ? flow_thread(flow, index)
		       : thread;
}

static void note(struct flow *flow, struct thread *thread, int32_t sig, bool delivered)
{
	if (thread->flow.fatal_delivered && !delivered)
		return;
	thread->flow.fatal = flow->time;
	thread->flow.fatal_signal = (uint8_t) sig;
	thread->flow.fatal_delivered = delivered;
}

static bool exits_itself(struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;

	return call->open && flow_call_info(flow, call->name)->effect == DOES_EXIT;
}

/* It is remembered who sent the signal, in whatever thread of the process it takes effect. */
static void note_sender(struct flow *flow, const struct cpu *cpu, struct thread *target,
			const struct event *event)
{
	const struct thread *current = cpu_interrupted(cpu) ? NULL : flow_current(flow, cpu);
	struct thread *both[] = {target, leader_of(flow, target)};
	enum kill_origin origin = KILL_UNKNOWN;

	if (current && event->signal.code != OF_KERNEL)
		origin = KILL_SENT;
	else if (current && event->signal.sig == SIGKILL && !exits_itself(flow, current) &&
		 !current->flow.fatal_delivered)
		origin = KILL_MEMORY;
	for (guint i = 0; i < G_N_ELEMENTS(both); i++) {
		if (both[i]->flow.kill_signal == SIGKILL)
			continue; /* nothing can be added to that */
		both[i]->flow.kill_signal = (uint8_t) event->signal.sig;
		both[i]->flow.kill_origin = (uint8_t) origin;
		both[i]->flow.killer = origin == KILL_SENT ? cpu->current : NO_THREAD;
	}
}

/* It has told its parent that its process dumped core. */
static void core_dumped(struct flow *flow, struct thread *thread)
{
	thread->dumped = true;
	leader_of(flow, thread)->dumped = true;
}

void death_signal(struct flow *flow, const struct cpu *cpu, const struct event *event)
{
	uint32_t target = thread_find(flow, event->host, event->signal.tid);
	struct thread *current = cpu_interrupted(cpu) ? NULL : flow_current(flow, cpu);

	if (target != IDMAP_NONE) {
		flow_thread(flow, target)->flow.sent_signal = event->signal.sig;
		flow_thread(flow, target)->flow.sent_signal_by = current ? cpu->current : NO_THREAD;
	}
	if (event->signal.sig == SIGCHLD && event->signal.code == CLD_DUMPED && current)
		core_dumped(flow, current);
	if (target == IDMAP_NONE || !may_end(event->signal.sig) || event->signal.result == IGNORED)
		return;
	note(flow, flow_thread(flow, target), event->signal.sig, false);
	note_sender(flow, cpu, flow_thread(flow, target), event);
}

/* Who sent it to the thread, or to its process, as far as it is the last one that was sent. Of
 * children that end each is another one. */
static uint32_t sender_of(struct flow *flow, const struct thread *thread, int32_t number)
{
	const struct thread *leader = leader_of(flow, (struct thread *) thread);

	if (number == SIGCHLD)
		return NO_THREAD;
	return thread->flow.sent_signal == number   ? thread->flow.sent_signal_by
	       : leader->flow.sent_signal == number ? leader->flow.sent_signal_by
						    : NO_THREAD;
}

/* It or its process was sent another one, which has not been handled: that is what it dies of. */
static int32_t delivered_for(struct flow *flow, struct thread *thread, int32_t sig)
{
	int32_t sent = thread->flow.kill_signal ? thread->flow.kill_signal
						: leader_of(flow, thread)->flow.kill_signal;

	return sig == SIGKILL && sent && !dumps_core(sent) ? sent : sig;
}

/* What was sent before has not ended it. */
static void handled(struct flow *flow, struct thread *thread, int32_t sig)
{
	struct thread *both[] = {thread, leader_of(flow, thread)};

	for (guint i = 0; i < G_N_ELEMENTS(both); i++)
		if (both[i]->flow.kill_signal == sig)
			both[i]->flow.kill_signal = 0;
	if (!thread->flow.fatal_delivered)
		thread->flow.fatal = INT64_MIN;
}

void flow_signal_deliver(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);

	if (thread && event->signal.handler != BY_DEFAULT && event->signal.handler != IGNORED_BY &&
	    !thread->flow.handlers++)
		thread->flow.handling =
			(struct handling) {flow->time, flow->time, event->signal.sig,
					   sender_of(flow, thread, event->signal.sig)};
	if (!thread || !may_end(event->signal.sig))
		return;
	if (event->signal.handler == BY_DEFAULT)
		note(flow, thread, delivered_for(flow, thread, event->signal.sig), true);
	else
		handled(flow, thread, event->signal.sig);
}

/* The last handler of signals that it was in returns; who jumps out of one is in it ever after, and
 * what it does is its own. */
static void handler_returns(struct flow *flow, struct thread *thread)
{
	if (!thread->flow.handlers || --thread->flow.handlers)
		return;
	if (!thread->handlings)
		thread->handlings = g_array_new(FALSE, FALSE, sizeof(struct handling));
	thread->flow.handling.end = flow->time;
	if (thread->handlings->len < HANDLINGS_MAX)
		g_array_append_val(thread->handlings, thread->flow.handling);
}

void death_call(struct flow *flow, struct thread *thread)
{
	const struct call_info *info = flow_call_info(flow, thread->flow.call.name);

	if (thread->flow.sigreturn)
		handler_returns(flow, thread);
	if (thread->flow.sigreturn && !thread->flow.fatal_delivered)
		thread->flow.fatal = INT64_MIN; /* what it was for has been handled */
	else if (thread->flow.call.open && info->effect == DOES_EXIT &&
		 strcmp(intern_text(flow->names, thread->flow.call.name), "exit_group") == 0)
		leader_of(flow, thread)->flow.exiting = flow->time;
}

/* The process was sent that signal, and by whom. */
static void sent_by(struct thread *thread, const struct thread *told)
{
	if (told->flow.kill_signal != thread->ended_by)
		return;
	thread->ended_for = told->flow.kill_origin;
	thread->ended_sender = told->flow.killer;
}

void death_found(struct flow *flow, struct thread *thread, int64_t time)
{
	const struct thread *leader = leader_of(flow, thread);
	const struct thread *told = thread->flow.fatal != INT64_MIN ? thread : leader;
	int64_t from = told->flow.fatal;

	if (exits_itself(flow, thread))
		thread->ended_for = KILL_NONE;
	if (thread->ended_for == KILL_NONE || thread->state == THREAD_UNKNOWN)
		return;
	if (leader->flow.exiting != INT64_MIN && !thread->flow.fatal_delivered)
		from = leader->flow.exiting;
	else
		thread->ended_by = from == INT64_MIN ? 0 : told->flow.fatal_signal;
	if (thread->ended_by)
		sent_by(thread, thread->flow.kill_signal == thread->ended_by ? thread : leader);
	if (from == INT64_MIN)
		return;
	from = MAX(from, thread->flow.has_call ? thread->flow.last_call : thread->begin);
	/* "nothing longer than the gap may be concluded from what was not seen in it" */
	if (from < time && !host_unseen(model_host(flow->model, thread->host), from, time))
		thread->ends_from = from;
}
