/* SPDX-License-Identifier: MIT */
/* Prints what a reader hands on, one line a call, as text that does
 * not depend on the reader:
 *
 *   print_events direct|babeltrace TRACE...
 *
 * tests/reader.t compares the two. It stands between the reader and the session's own sink.
 * With HOLD_AT=N in the environment it waits after N lines until its standard input ends: for
 * tests that change the trace then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "run/feed.h"
#include "run/session.h"
#include "cli/cli.h"
#include "event/kinds.h"

static struct event_sink inner; /* the session's own functions */
static uint64_t lines, hold_at; /* hold_at 0: never */

static void end_line(void)
{
	putchar('\n');
	if (++lines != hold_at)
		return;
	fflush(stdout);
	while (getchar() != EOF)
		;
}

static void print_text(const char *key, const char *text)
{
	g_autofree char *safe = text ? g_strescape(text, NULL) : NULL;

	if (safe)
		printf(" %s=\"%s\"", key, safe);
}

static void print_number(const char *key, int64_t number)
{
	printf(" %s=%" PRId64, key, number);
}

static void print_bytes(const char *key, struct event_bytes bytes)
{
	if (!bytes.bytes)
		return;
	printf(" %s[%u]=", key, bytes.count);
	for (uint32_t i = 0; i < bytes.count; i++)
		printf("%02x", bytes.bytes[i]);
}

static void print_syscall(const struct session *session, const struct event_syscall *call)
{
	print_text("call", intern_text(session->trace.model.names, call->name));
	print_number("id", call->id);
	print_number("table", call->number_table);
	print_number("ret", call->ret);
	print_number("fd", call->fd);
	print_number("dfd", call->dfd);
	print_number("newfd", call->newfd);
	print_number("epfd", call->epfd);
	print_number("op", call->op);
	print_number("cmd", call->cmd);
	print_number("arg", call->arg);
	print_number("flags", (int64_t) call->flags);
	print_number("family", call->family);
	print_number("type", call->type);
	print_number("port", call->port);
	print_number("timeout", call->timeout);
	print_number("upid", call->upid);
	print_number("which", call->which);
	print_number("start", (int64_t) call->start);
	print_number("length", (int64_t) call->length);
	print_number("new_length", (int64_t) call->new_length);
	print_number("uaddr", (int64_t) call->uaddr);
	print_number("val", call->val);
	print_number("data", (int64_t) call->data);
	print_text("filename", call->filename);
	print_bytes("v4", call->v4);
	print_bytes("v6", call->v6);
	print_bytes("readfds", call->readfds);
	print_bytes("writefds", call->writefds);
	print_bytes("exceptfds", call->exceptfds);
	print_number("pair0", call->pair[0]);
	print_number("pair1", call->pair[1]);
	for (uint32_t i = 0; call->fds && i < call->fd_count; i++)
		printf(" fd%u=%" PRIu64 ",%d,%u", i, call->fds[i].data, call->fds[i].fd,
		       call->fds[i].events);
	print_number("watched", call->watched);
	print_number("cut", call->fds_cut);
}

static void print_network(const struct event *event)
{
	print_bytes("saddr", event->net.saddr);
	print_bytes("daddr", event->net.daddr);
	print_number("sport", event->net.source_port);
	print_number("dport", event->net.dest_port);
	print_number("skb", (int64_t) event->net.skb);
	print_text("device", event->net.device);
	print_number("rc", event->net.rc);
	if (!event->net.tcp)
		return;
	print_number("flags", event->net.flags);
	print_number("id", event->net.id);
	print_number("seq", event->net.seq);
	print_number("ack", event->net.ack_seq);
	print_number("length", event->net.length);
	print_number("window", event->net.window);
	print_number("options", event->net.options);
}

static void print_process(const struct event *event)
{
	print_text("name", event->process.name);
	print_number("files", (int64_t) event->process.files);
	print_number("tid", event->process.tid);
	print_number("pid", event->process.pid);
	print_number("ppid", event->process.ppid);
	print_number("type", event->process.type);
	print_number("status", event->process.status);
	print_number("vtid", event->process.vtid);
	print_number("vpid", event->process.vpid);
	print_number("level", event->process.level);
	print_number("ns", event->process.ns);
}

static void print_switch(const struct event *event)
{
	print_text("prev", event->sched_switch.prev_comm);
	print_text("next", event->sched_switch.next_comm);
	print_number("prev_tid", event->sched_switch.prev_tid);
	print_number("next_tid", event->sched_switch.next_tid);
	print_number("next_prio", event->sched_switch.next_prio);
	print_number("prev_prio", event->sched_switch.prev_prio);
	print_number("prev_state", event->sched_switch.prev_state);
	print_number("vtid", event->sched_switch.vtid);
	print_number("vpid", event->sched_switch.vpid);
	print_number("pid_ns", event->sched_switch.pid_ns);
	print_number("cgroup_ns", event->sched_switch.cgroup_ns);
}

static void print_block(const struct event *event)
{
	print_number("sector", (int64_t) event->block.sector);
	print_number("other", (int64_t) event->block.other);
	print_number("dev", event->block.dev);
	print_number("other_dev", event->block.other_dev);
	print_number("sectors", event->block.sectors);
	print_number("rwbs", event->block.rwbs);
	print_number("tid", event->block.tid);
}

static void print_fork(const struct event *event)
{
	print_text("comm", event->fork.child_comm);
	print_number("parent_tid", event->fork.parent_tid);
	print_number("parent_pid", event->fork.parent_pid);
	print_number("child_tid", event->fork.child_tid);
	print_number("child_pid", event->fork.child_pid);
	print_bytes("vtids", event->fork.vtids);
	print_number("parent_ns", event->fork.parent_ns);
	print_number("child_ns", event->fork.child_ns);
}

static void print_arguments(const struct session *session, const struct event *event)
{
	switch ((enum event_kind) event->kind) {
	case EV_OTHER:
	case EV_NOTICE_LOST:
	case EV_NOTICE_USER_LOST:
	case EV_SAMPLE:
	case EV_USER_OTHER:
	case EV_RECLAIM_BEGIN: /* all they tell is that they are */
	case EV_RECLAIM_END:
	case EV_KVM_WAKEUP:
	case EV_KIND_COUNT:
		break;
	case EV_KVM_ENTRY:
	case EV_KVM_EXIT:
		print_number("vcpu_id", event->kvm.vcpu);
		print_number("exit_reason", event->kvm.reason);
		print_number("isa", event->kvm.isa);
		print_number("esr_ec", event->kvm.cause);
		break;
	case EV_KVM_IRQ_DUE:
	case EV_KVM_IRQ_INJECTED:
	case EV_KVM_IRQ_ENDED:
		print_number("vector", event->kvm.vector);
		print_number("apicid", event->kvm.apic);
		break;
	case EV_SCHED_SWITCH:
		print_switch(event);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
	case EV_SCHED_MIGRATE:
		print_text("comm", event->wake.comm);
		print_number("tid", event->wake.tid);
		print_number("cpu", event->wake.target_cpu);
		break;
	case EV_PAGE_FAULT_USER:
	case EV_PAGE_FAULT_KERNEL:
		print_number("address", (int64_t) event->fault.address);
		break;
	case EV_PROCESS_FORK:
		print_fork(event);
		break;
	case EV_PROCESS_EXEC:
		print_text("filename", event->exec.filename);
		print_number("tid", event->exec.tid);
		print_number("old_tid", event->exec.old_tid);
		break;
	case EV_PROCESS_EXIT:
	case EV_PROCESS_FREE:
		print_text("comm", event->exit.comm);
		print_number("tid", event->exit.tid);
		break;
	case EV_IRQ_ENTRY:
	case EV_IRQ_EXIT:
		print_text("name", event->irq.name);
		print_number("irq", event->irq.irq);
		break;
	case EV_SOFTIRQ_RAISE:
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		print_number("vec", event->softirq.vec);
		break;
	case EV_VECTOR_ENTRY:
	case EV_VECTOR_EXIT:
		print_text("vector", intern_text(session->trace.model.names, event->vector.name));
		break;
	case EV_FUNCTION_ENTRY:
	case EV_FUNCTION_EXIT:
	case EV_FUNCTION_REACHED:
		print_text("function",
			   intern_text(session->trace.model.names, event->function.name));
		break;
	case EV_HRTIMER_START:
	case EV_HRTIMER_EXPIRE_ENTRY:
	case EV_HRTIMER_EXPIRE_EXIT:
	case EV_HRTIMER_CANCEL:
	case EV_TIMER_START:
	case EV_TIMER_EXPIRE_ENTRY:
	case EV_TIMER_EXPIRE_EXIT:
		print_number("timer", (int64_t) event->timer.timer);
		print_number("expires", event->timer.expires);
		print_number("latest", event->timer.latest);
		print_number("function", (int64_t) event->timer.function);
		break;
	case EV_BLOCK_INSERT:
	case EV_BLOCK_ISSUE:
	case EV_BLOCK_REQUEUE:
	case EV_BLOCK_COMPLETE:
	case EV_BLOCK_BIO:
	case EV_BLOCK_BIO_MERGED:
	case EV_BLOCK_BIO_COMPLETE:
	case EV_BLOCK_REMAP:
	case EV_BLOCK_SPLIT:
		print_block(event);
		break;
	case EV_WORK_QUEUE:
	case EV_WORK_START:
	case EV_WORK_END:
		print_number("item", (int64_t) event->work.item);
		print_number("function", (int64_t) event->work.function);
		break;
	case EV_CPU_IDLE:
		print_number("state", event->idle.state);
		print_number("cpu", event->idle.cpu);
		break;
	case EV_DIRTY_PAUSE:
		print_text("bdi", event->dirty.bdi);
		print_number("limit", (int64_t) event->dirty.limit);
		print_number("dirty", (int64_t) event->dirty.dirty);
		print_number("pause", event->dirty.pause);
		break;
	case EV_WRITEBACK_QUEUE:
	case EV_WRITEBACK_EXEC:
	case EV_WRITEBACK_END:
		print_text("name", event->writeback.name);
		break;
	case EV_JOURNAL_START:
	case EV_JOURNAL_END:
		print_number("transaction", event->journal.transaction);
		break;
	case EV_NET_SEND:
	case EV_NET_XMIT:
	case EV_NET_RECEIVE:
		print_network(event);
		break;
	case EV_SIGNAL_GENERATE:
	case EV_SIGNAL_DELIVER:
		print_number("code", event->signal.code);
		print_number("result", event->signal.result);
		print_number("handler", (int64_t) event->signal.handler);
		print_number("sig", event->signal.sig);
		print_number("tid", event->signal.tid);
		break;
	case EV_PI_SETPRIO:
		print_number("tid", event->priority.tid);
		print_number("from", event->priority.from);
		print_number("to", event->priority.to);
		break;
	case EV_SYSCALL_ENTRY:
	case EV_SYSCALL_EXIT:
	case EV_CALL_TOLD:
		print_syscall(session, &event->syscall);
		break;
	case EV_STATEDUMP_PROCESS:
	case EV_STATEDUMP_PID_NS:
	case EV_STATEDUMP_CGROUP_NS:
		print_process(event);
		break;
	case EV_STATEDUMP_FD:
		print_text("filename", event->file.filename);
		print_number("files", (int64_t) event->file.files);
		print_number("pid", event->file.pid);
		print_number("fd", event->file.fd);
		print_number("mode", event->file.mode);
		break;
	case EV_STATEDUMP_INTERRUPT:
		print_text("action", event->interrupt.action);
		print_number("irq", event->interrupt.irq);
		break;
	case EV_USER_ENTRY:
	case EV_USER_EXIT:
	case EV_USER_IMAGE:
	case EV_USER_LOAD:
	case EV_USER_UNLOAD:
	case EV_USER_BUILD_ID:
		print_number("address", (int64_t) event->user.address);
		print_number("call_site", (int64_t) event->user.call_site);
		print_number("size", (int64_t) event->user.size);
		print_text("path", event->user.path);
		print_bytes("build_id", event->user.build_id);
		print_number("pic", event->user.pic);
		break;
	case EV_STATEDUMP_BLOCK_DEVICE:
		print_text("name", event->device.name);
		print_number("dev", event->device.dev);
		break;
	}
}

static void print_event(void *data, const struct event *event)
{
	const struct session *session = data;

	printf("%" PRId64 " host=%u cpu=%u kind=%u", event->time, event->host, event->cpu,
	       event->kind);
	print_text("event", intern_text(session->trace.model.names, event->name));
	if (event->has_tid)
		print_number("ctx.tid", event->tid);
	if (event->has_pid)
		print_number("ctx.pid", event->pid);
	if (event->has_callstacks) {
		print_bytes("callstack", event->callstack);
		print_bytes("user_callstack", event->user_callstack);
	}
	print_arguments(session, event);
	end_line();
	inner.event(data, event);
}

static void print_begin(void *data, uint32_t host, uint32_t cpu, int64_t time)
{
	printf("%" PRId64 " host=%u cpu=%u packet", time, host, cpu);
	end_line();
	inner.begin(data, host, cpu, time);
}

static void print_lost(void *data, const struct lost_events *lost)
{
	if (!lost->user) {
		printf("%" PRId64 " host=%u cpu=%u lost %" PRId64 "%s to %" PRId64, lost->begin,
		       lost->host, lost->cpu, lost->count, lost->packets ? " packets" : "",
		       lost->end);
		end_line();
	}
	inner.lose(data, lost);
}

int main(int argc, char **argv)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) traces = NULL;
	struct options options;
	struct session *session;

	if (argc < 3)
		return 2;
	hold_at = getenv("HOLD_AT") ? strtoull(getenv("HOLD_AT"), NULL, 10) : 0;
	for (int i = 2; i < argc; i++)
		g_ptr_array_add(paths, argv[i]);
	command_options(&options, &delay_command);
	options.quiet = true;
	options.jobs = hold_at ? 1 : 0; /* nobody reads ahead of who is held */
	options.reader = strcmp(argv[1], "direct") == 0 ? READER_DIRECT : READER_BABELTRACE;
	session = session_new(&options);
	inner = session->trace.sink;
	session->trace.sink.event = print_event;
	session->trace.sink.begin = print_begin;
	session->trace.sink.lose = print_lost;
	traces = traces_find(paths, &error);
	if (!traces || !traces_read(session, traces, &error))
		fprintf(stderr, "print_events: %s\n", error->message);
	session_free(session);
	options_clear(&options);
	return error != NULL;
}
