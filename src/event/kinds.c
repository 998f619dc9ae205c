/* SPDX-License-Identifier: MIT */
/* Event names and fields over fifteen years of lttng-modules; see kinds.h.
 *
 * Where a field was renamed, both names are listed for one place: a class has
 * only one of them. Event names: `softirq_*`, `hrtimer_*`, `netif_*` until
 * 2.6, `irq_softirq_*`, `timer_hrtimer_*`, `net_if_*` since 2.7; `sys_NAME`
 * and one `exit_syscall` until 2.5, `syscall_entry_NAME` and
 * `syscall_exit_NAME` since 2.6.
 */
#include "event/kinds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct event, member)

static const struct event_field no_fields[] = {{0}};

static const struct event_field switch_fields[] = {
	{"prev_comm", FIELD_STRING, AT(sched_switch.prev_comm)},
	{"prev_tid", FIELD_I32, AT(sched_switch.prev_tid)},
	{"prev_prio", FIELD_I32, AT(sched_switch.prev_prio)},
	{"prev_state", FIELD_I64, AT(sched_switch.prev_state)},
	{"next_comm", FIELD_STRING, AT(sched_switch.next_comm)},
	{"next_tid", FIELD_I32, AT(sched_switch.next_tid)},
	{"next_prio", FIELD_I32, AT(sched_switch.next_prio)},
	{0}};

/* Contexts that tell something of the event itself: of prev. */
static const struct event_field switch_contexts[] = {
	{"vtid", FIELD_I32, AT(sched_switch.vtid)},
	{"vpid", FIELD_I32, AT(sched_switch.vpid)},
	{"pid_ns", FIELD_I32, AT(sched_switch.pid_ns)},
	{"cgroup_ns", FIELD_I32, AT(sched_switch.cgroup_ns)},
	{"perf_cpu_instructions", FIELD_I64, AT(sched_switch.cpu_counters[COUNTER_INSTRUCTIONS])},
	{"perf_cpu_cycles", FIELD_I64, AT(sched_switch.cpu_counters[COUNTER_CYCLES])},
	{"perf_cpu_cpu_cycles", FIELD_I64, AT(sched_switch.cpu_counters[COUNTER_CYCLES])},
	{"perf_cpu_cache_misses", FIELD_I64, AT(sched_switch.cpu_counters[COUNTER_CACHE_MISSES])},
	{"perf_cpu_branch_misses", FIELD_I64, AT(sched_switch.cpu_counters[COUNTER_BRANCH_MISSES])},
	{"perf_thread_instructions", FIELD_I64,
	 AT(sched_switch.thread_counters[COUNTER_INSTRUCTIONS])},
	{"perf_thread_cycles", FIELD_I64, AT(sched_switch.thread_counters[COUNTER_CYCLES])},
	{"perf_thread_cpu_cycles", FIELD_I64, AT(sched_switch.thread_counters[COUNTER_CYCLES])},
	{"perf_thread_cache_misses", FIELD_I64,
	 AT(sched_switch.thread_counters[COUNTER_CACHE_MISSES])},
	{"perf_thread_branch_misses", FIELD_I64,
	 AT(sched_switch.thread_counters[COUNTER_BRANCH_MISSES])},
	{0}};

static const struct event_field wake_fields[] = {
	{"comm", FIELD_STRING, AT(wake.comm)},
	{"tid", FIELD_I32, AT(wake.tid)},
	{"target_cpu", FIELD_I32, AT(wake.target_cpu)},
	{"dest_cpu", FIELD_I32, AT(wake.target_cpu)},
	{0}};

static const struct event_field fork_fields[] = {
	{"parent_tid", FIELD_I32, AT(fork.parent_tid)},
	{"parent_pid", FIELD_I32, AT(fork.parent_pid)},
	{"child_comm", FIELD_STRING, AT(fork.child_comm)},
	{"child_tid", FIELD_I32, AT(fork.child_tid)},
	{"child_pid", FIELD_I32, AT(fork.child_pid)},
	{"vtids", FIELD_WORDS, AT(fork.vtids)},
	{"parent_ns_inum", FIELD_I32, AT(fork.parent_ns)},
	{"child_ns_inum", FIELD_I32, AT(fork.child_ns)},
	{0}};

static const struct event_field exec_fields[] = {
	{"filename", FIELD_STRING, AT(exec.filename)},
	{"tid", FIELD_I32, AT(exec.tid)},
	{"pid", FIELD_I32, AT(exec.tid)}, /* 2.1 */
	{"old_tid", FIELD_I32, AT(exec.old_tid)},
	{"old_pid", FIELD_I32, AT(exec.old_tid)}, /* 2.1 */
	{0}};

static const struct event_field exit_fields[] = {
	{"comm", FIELD_STRING, AT(exit.comm)}, {"tid", FIELD_I32, AT(exit.tid)}, {0}};

static const struct event_field fault_fields[] = {
	{"address", FIELD_I64, AT(fault.address)}, {"error_code", FIELD_I32, AT(fault.error)}, {0}};

static const struct event_field irq_fields[] = {
	{"irq", FIELD_I32, AT(irq.irq)}, {"name", FIELD_STRING, AT(irq.name)}, {0}};

static const struct event_field softirq_fields[] = {{"vec", FIELD_I32, AT(softirq.vec)}, {0}};

static const struct event_field hrtimer_fields[] = {
	{"hrtimer", FIELD_I64, AT(timer.timer)},
	{"expires", FIELD_I64, AT(timer.latest)},
	{"softexpires", FIELD_I64, AT(timer.expires)}, /* without the slack, where said */
	{"function", FIELD_I64, AT(timer.function)},
	{0}};

static const struct event_field timer_fields[] = {
	{"timer", FIELD_I64, AT(timer.timer)}, {"function", FIELD_I64, AT(timer.function)}, {0}};

static const struct event_field block_fields[] = {
	{"dev", FIELD_I32, AT(block.dev)},
	{"sector", FIELD_I64, AT(block.sector)},
	{"nr_sector", FIELD_I32, AT(block.sectors)},
	{"rwbs", FIELD_I32, AT(block.rwbs)},
	{"tid", FIELD_I32, AT(block.tid)},
	{"old_dev", FIELD_I32, AT(block.other_dev)},
	{"old_sector", FIELD_I64, AT(block.other)},
	{"new_sector", FIELD_I64, AT(block.other)},
	{0}};

static const struct event_field net_fields[] = {{"skbaddr", FIELD_I64, AT(net.skb)},
						{"name", FIELD_STRING, AT(net.device)},
						{"network_header", FIELD_PACKET, AT(net)},
						{0}};

static const struct event_field xmit_fields[] = {{"skbaddr", FIELD_I64, AT(net.skb)},
						 {"rc", FIELD_I32, AT(net.rc)},
						 {"name", FIELD_STRING, AT(net.device)},
						 {0}};

static const struct event_field work_fields[] = {
	{"work", FIELD_I64, AT(work.item)}, {"function", FIELD_I64, AT(work.function)}, {0}};

/* arm64 says `ret` and `esr_ec`, and no isa */
static const struct event_field kvm_fields[] = {
	{"vcpu_id", FIELD_I32, AT(kvm.vcpu)}, {"exit_reason", FIELD_I64, AT(kvm.reason)},
	{"isa", FIELD_I32, AT(kvm.isa)},      {"ret", FIELD_I64, AT(kvm.reason)},
	{"esr_ec", FIELD_I64, AT(kvm.cause)}, {0}};

/* who injects says "irq", since Linux 5.19 "vector" */
static const struct event_field kvm_irq_fields[] = {
	{"apicid", FIELD_I32, AT(kvm.apic)},
	{"vec", FIELD_I32, AT(kvm.vector)},
	{"vector", FIELD_I32, AT(kvm.vector)},
	{"irq", FIELD_I32, AT(kvm.vector)},
	{0}};

static const struct event_field dirty_fields[] = {
	{"bdi", FIELD_STRING, AT(dirty.bdi)},
	{"limit", FIELD_I64, AT(dirty.limit)},
	{"dirty", FIELD_I64, AT(dirty.dirty)},
	{"pause", FIELD_I64, AT(dirty.pause)},
	{0}};

static const struct event_field writeback_fields[] = {{"name", FIELD_STRING, AT(writeback.name)},
						      {0}};

static const struct event_field journal_fields[] = {
	{"transaction", FIELD_I32, AT(journal.transaction)}, {0}};

static const struct event_field signal_fields[] = {
	{"sig", FIELD_I32, AT(signal.sig)},
	{"pid", FIELD_I32, AT(signal.tid)},
	{"code", FIELD_I32, AT(signal.code)},
	{"result", FIELD_I32, AT(signal.result)},
	{"sa_handler", FIELD_I64, AT(signal.handler)},
	{0}};

static const struct event_field priority_fields[] = {{"tid", FIELD_I32, AT(priority.tid)},
						     {"oldprio", FIELD_I32, AT(priority.from)},
						     {"newprio", FIELD_I32, AT(priority.to)},
						     {0}};

static const struct event_field idle_fields[] = {
	{"state", FIELD_I64, AT(idle.state)}, {"cpu_id", FIELD_I32, AT(idle.cpu)}, {0}};

static const struct event_field process_fields[] = {
	{"tid", FIELD_I32, AT(process.tid)},
	{"pid", FIELD_I32, AT(process.pid)},
	{"ppid", FIELD_I32, AT(process.ppid)},
	{"name", FIELD_STRING, AT(process.name)},
	{"type", FIELD_I32, AT(process.type)},
	{"status", FIELD_I32, AT(process.status)},
	{"file_table_address", FIELD_I64, AT(process.files)},
	{"vtid", FIELD_I32, AT(process.vtid)}, /* these four until 2.11 */
	{"vpid", FIELD_I32, AT(process.vpid)},
	{"ns_level", FIELD_I32, AT(process.level)},
	{"ns_inum", FIELD_I32, AT(process.ns)},
	{0}};

static const struct event_field file_fields[] = {
	{"pid", FIELD_I32, AT(file.pid)},
	{"file_table_address", FIELD_I64, AT(file.files)},
	{"fd", FIELD_I32, AT(file.fd)},
	{"fmode", FIELD_I32, AT(file.mode)},
	{"filename", FIELD_STRING, AT(file.filename)},
	{0}};

static const struct event_field interrupt_fields[] = {
	{"irq", FIELD_I32, AT(interrupt.irq)}, {"action", FIELD_STRING, AT(interrupt.action)}, {0}};

static const struct event_field device_fields[] = {
	{"dev", FIELD_I32, AT(device.dev)}, {"diskname", FIELD_STRING, AT(device.name)}, {0}};

/* One list for all system calls: a class takes those it has. */
static const struct event_field syscall_fields[] = {
	{"ret", FIELD_I64, AT(syscall.ret)},
	{"id", FIELD_I32, AT(syscall.id)}, /* *_unknown */
	{"fd", FIELD_I32, AT(syscall.fd)},
	{"ufd", FIELD_I32, AT(syscall.fd)},     /* timerfd_settime */
	{"fd_in", FIELD_I32, AT(syscall.fd)},   /* splice */
	{"fdin", FIELD_I32, AT(syscall.fd)},    /* tee */
	{"in_fd", FIELD_I32, AT(syscall.fd)},   /* sendfile64 */
	{"fildes", FIELD_I32, AT(syscall.fd)},  /* dup */
	{"oldfd", FIELD_I32, AT(syscall.fd)},   /* dup2, dup3 */
	{"newfd", FIELD_I32, AT(syscall.newfd)},
	{"out_fd", FIELD_I32, AT(syscall.newfd)}, /* sendfile64 */
	{"fd_out", FIELD_I32, AT(syscall.newfd)}, /* splice */
	{"fdout", FIELD_I32, AT(syscall.newfd)},  /* tee */
	{"max_fd", FIELD_I32, AT(syscall.newfd)}, /* close_range */
	{"dfd", FIELD_I32, AT(syscall.dfd)},
	{"epfd", FIELD_I32, AT(syscall.epfd)},
	{"op", FIELD_I32, AT(syscall.op)},
	{"op_enum", FIELD_I32, AT(syscall.op)},
	{"cmd", FIELD_I32, AT(syscall.cmd)},
	{"arg", FIELD_I64, AT(syscall.arg)},
	{"flags", FIELD_I64, AT(syscall.flags)},
	{"clone_flags", FIELD_I64, AT(syscall.flags)}, /* until 2.12 */
	{"unshare_flags", FIELD_I64, AT(syscall.flags)},
	{"nstype", FIELD_I64, AT(syscall.flags)}, /* setns, older kernels */
	{"family", FIELD_I32, AT(syscall.family)},
	{"type", FIELD_I32, AT(syscall.type)},
	{"dport", FIELD_I32, AT(syscall.port)},
	{"sport", FIELD_I32, AT(syscall.port)},
	{"v4addr", FIELD_BYTES, AT(syscall.v4)},
	{"v6addr", FIELD_BYTES, AT(syscall.v6)},
	{"timeout_msecs", FIELD_I64, AT(syscall.timeout)},
	{"timeout", FIELD_I64, AT(syscall.timeout)},
	{"upid", FIELD_I64, AT(syscall.upid)},
	{"pid", FIELD_I64, AT(syscall.upid)},
	{"which", FIELD_I32, AT(syscall.which)}, /* waitid */
	{"uaddr", FIELD_I64, AT(syscall.uaddr)},
	{"val", FIELD_I32, AT(syscall.val)},
	{"filename", FIELD_STRING, AT(syscall.filename)},
	{"pathname", FIELD_STRING, AT(syscall.filename)}, /* unlink, mkdir */
	{"oldname", FIELD_STRING, AT(syscall.filename)},
	{"newname", FIELD_STRING, AT(syscall.newname)},
	{"olddfd", FIELD_I32, AT(syscall.dfd)},
	{"newdfd", FIELD_I32, AT(syscall.newfd)},
	{"options", FIELD_I64, AT(syscall.flags)}, /* wait4 */
	{"flag", FIELD_I64, AT(syscall.flags)},    /* newfstatat, unlinkat */
	{"pid", FIELD_I64, AT(syscall.upid)},
	{"sig", FIELD_I32, AT(syscall.op)},
	{"error_code", FIELD_I32, AT(syscall.op)},
	{"policy", FIELD_I32, AT(syscall.op)}, /* sched_setscheduler */
	{"readfds", FIELD_BYTES, AT(syscall.readfds)},
	{"writefds", FIELD_BYTES, AT(syscall.writefds)},
	{"exceptfds", FIELD_BYTES, AT(syscall.exceptfds)},
	{"fds", FIELD_READY, AT(syscall.fds)},
	{"nfds", FIELD_I32, AT(syscall.watched)},
	{"n", FIELD_I32, AT(syscall.watched)}, /* select */
	{"overflow", FIELD_BOOL, AT(syscall.fds_cut)},
	{"event", FIELD_COOKIE, AT(syscall.data)},
	{0}};

/* What is known of a call behind its entry; no tracer has these under such names (kernel/). */
static const struct event_field told_fields[] = {{"filename", FIELD_STRING, AT(syscall.filename)},
						 {"v4addr", FIELD_BYTES, AT(syscall.v4)},
						 {"v6addr", FIELD_BYTES, AT(syscall.v6)},
						 {0}};

/* fildes is a number in dup's entry but a pair in pipe's exit. */
static const struct event_field pipe_fields[] = {{"ret", FIELD_I64, AT(syscall.ret)},
						 {"flags", FIELD_I64, AT(syscall.flags)},
						 {"fildes", FIELD_PAIR, AT(syscall.pair)},
						 {0}};

/* What `name` is in other calls is no path. */
static const struct event_field umount_fields[] = {{"ret", FIELD_I64, AT(syscall.ret)},
						   {"name", FIELD_STRING, AT(syscall.filename)},
						   {"flags", FIELD_I64, AT(syscall.flags)},
						   {0}};

static const struct event_field socketpair_fields[] = {
	{"ret", FIELD_I64, AT(syscall.ret)},
	{"family", FIELD_I32, AT(syscall.family)},
	{"type", FIELD_I32, AT(syscall.type)},
	{"socket", FIELD_PAIR, AT(syscall.pair)},
	{0}};

/* mmap, munmap, mremap: an address and a length mean something else in other calls. */
static const struct event_field mapping_fields[] = {
	{"ret", FIELD_I64, AT(syscall.ret)},
	{"fd", FIELD_I32, AT(syscall.fd)},
	{"flags", FIELD_I64, AT(syscall.flags)},
	{"addr", FIELD_I64, AT(syscall.start)},
	{"prot", FIELD_I32, AT(syscall.op)},
	{"offset", FIELD_I64, AT(syscall.arg)},
	{"len", FIELD_I64, AT(syscall.length)},
	{"old_len", FIELD_I64, AT(syscall.length)},
	{"new_len", FIELD_I64, AT(syscall.new_length)},
	{0}};

/* Of user space. Source: lttng-ust 2.3 to 2.14, liblttng-ust-cyg-profile(-fast),
 * lttng-ust-statedump, lttng-ust-lib, liblttng-ust-dl. dlclose() unloads nothing that somebody
 * else has open: what is unloaded is told by lttng_ust_lib. */
static const struct event_field user_fields[] = {
	{"addr", FIELD_I64, AT(user.address)},        {"call_site", FIELD_I64, AT(user.call_site)},
	{"baddr", FIELD_I64, AT(user.address)},       {"memsz", FIELD_I64, AT(user.size)},
	{"path", FIELD_STRING, AT(user.path)},        {"is_pic", FIELD_BOOL, AT(user.pic)},
	{"build_id", FIELD_BYTES, AT(user.build_id)}, {0}};

/* What whoever writes an event without a field leaves in its place, if that is not 0. */
static const struct event fork_defaults = {.fork = {.parent_pid = -1, .child_pid = -1}};
static const struct event exec_defaults = {.exec = {.tid = -1, .old_tid = -1}};
static const struct event wake_defaults = {.wake = {.target_cpu = -1}};
static const struct event net_defaults = {.net = {.window = -1}};
static const struct event block_defaults = {.block = {.tid = -1}};
static const struct event switch_defaults = {
	.sched_switch = {.next_prio = NO_PRIORITY,
			 .prev_prio = NO_PRIORITY,
			 .cpu_counters = {NO_COUNTER, NO_COUNTER, NO_COUNTER, NO_COUNTER},
			 .thread_counters = {NO_COUNTER, NO_COUNTER, NO_COUNTER, NO_COUNTER}}};
static const struct event idle_defaults = {.idle = {.state = IDLE_LEFT, .cpu = -1}};
static const struct event process_defaults = {.process = {.pid = -1, .ppid = -1, .level = -1}};
static const struct event file_defaults = {.file = {.pid = -1, .fd = -1}};
static const struct event kvm_defaults = {
	.kvm = {.vcpu = -1, .reason = -1, .cause = -1, .vector = -1, .apic = -1}};
static const struct event user_defaults = {
	.user = {.pic = true}}; /* libraries are, and that is not said of each */
static const struct event syscall_defaults = {
	.syscall = {.id = -1,
		    .fd = -1,
		    .dfd = -1,
		    .newfd = -1,
		    .epfd = -1,
		    .timeout = -1,
		    .which = WAITID_PID,
		    .watched = -1,
		    .pair = {-1, -1}}};

/* The arguments of a kind of event: where they lie in struct event, what they are taken from, and
 * what stands where there is nothing to take. */
struct shape {
	uint16_t offset, size; /* of the union's member */
	const struct event_field *fields;   /* of the payload; NULL: the class says it all */
	const struct event_field *contexts; /* NULL: none but the thread's */
	const struct event *defaults;       /* NULL: all 0 */
};

#define MEMBER(member)                                                                             \
	.offset = offsetof(struct event, member), .size = sizeof((struct event *) NULL)->member

static const struct shape switch_shape = {MEMBER(sched_switch), .fields = switch_fields,
					  .contexts = switch_contexts,
					  .defaults = &switch_defaults};
static const struct shape wake_shape = {MEMBER(wake), .fields = wake_fields,
					.defaults = &wake_defaults};
static const struct shape fork_shape = {MEMBER(fork), .fields = fork_fields,
					.defaults = &fork_defaults};
static const struct shape exec_shape = {MEMBER(exec), .fields = exec_fields,
					.defaults = &exec_defaults};
static const struct shape exit_shape = {MEMBER(exit), .fields = exit_fields};
static const struct shape fault_shape = {MEMBER(fault), .fields = fault_fields};
static const struct shape irq_shape = {MEMBER(irq), .fields = irq_fields};
static const struct shape softirq_shape = {MEMBER(softirq), .fields = softirq_fields};
static const struct shape vector_shape = {MEMBER(vector)};
static const struct shape hrtimer_shape = {MEMBER(timer), .fields = hrtimer_fields};
static const struct shape timer_shape = {MEMBER(timer), .fields = timer_fields};
static const struct shape block_shape = {MEMBER(block), .fields = block_fields,
					 .defaults = &block_defaults};
static const struct shape kvm_shape = {MEMBER(kvm), .fields = kvm_fields,
				       .defaults = &kvm_defaults};
static const struct shape kvm_irq_shape = {MEMBER(kvm), .fields = kvm_irq_fields,
					   .defaults = &kvm_defaults};
static const struct shape work_shape = {MEMBER(work), .fields = work_fields};
static const struct shape idle_shape = {MEMBER(idle), .fields = idle_fields,
					.defaults = &idle_defaults};
static const struct shape writeback_shape = {MEMBER(writeback), .fields = writeback_fields};
static const struct shape dirty_shape = {MEMBER(dirty), .fields = dirty_fields};
static const struct shape journal_shape = {MEMBER(journal), .fields = journal_fields};
static const struct shape net_shape = {MEMBER(net), .fields = net_fields,
				       .defaults = &net_defaults};
static const struct shape xmit_shape = {MEMBER(net), .fields = xmit_fields,
					.defaults = &net_defaults};
static const struct shape signal_shape = {MEMBER(signal), .fields = signal_fields};
static const struct shape priority_shape = {MEMBER(priority), .fields = priority_fields};
static const struct shape syscall_shape = {MEMBER(syscall), .fields = syscall_fields,
					   .defaults = &syscall_defaults};
static const struct shape told_shape = {MEMBER(syscall), .fields = told_fields,
					.defaults = &syscall_defaults};
static const struct shape function_shape = {MEMBER(function)};
static const struct shape process_shape = {MEMBER(process), .fields = process_fields,
					   .defaults = &process_defaults};
static const struct shape file_shape = {MEMBER(file), .fields = file_fields,
					.defaults = &file_defaults};
static const struct shape interrupt_shape = {MEMBER(interrupt), .fields = interrupt_fields};
static const struct shape device_shape = {MEMBER(device), .fields = device_fields};
static const struct shape lost_shape = {MEMBER(lost)};
static const struct shape user_shape = {MEMBER(user), .fields = user_fields,
					.defaults = &user_defaults};

/* All kinds of events. The names are those of different versions of the tracer, separated by
 * blanks; NULL: recognised otherwise, or no event. */
static const struct {
	const char *names;
	const struct shape *shape; /* NULL: that it happened is all */
} kinds[EV_KIND_COUNT] = {
	[EV_SCHED_SWITCH] = {"sched_switch", &switch_shape},
	[EV_SCHED_WAKING] = {"sched_waking sched_ttwu", &wake_shape},
	[EV_SCHED_WAKEUP] = {"sched_wakeup", &wake_shape},
	[EV_SCHED_WAKEUP_NEW] = {"sched_wakeup_new", &wake_shape},
	[EV_SCHED_MIGRATE] = {"sched_migrate_task", &wake_shape},
	[EV_PROCESS_FORK] = {"sched_process_fork", &fork_shape},
	[EV_PROCESS_EXEC] = {"sched_process_exec", &exec_shape},
	[EV_PROCESS_EXIT] = {"sched_process_exit", &exit_shape},
	[EV_PROCESS_FREE] = {"sched_process_free", &exit_shape},
	[EV_IRQ_ENTRY] = {"irq_handler_entry", &irq_shape},
	[EV_IRQ_EXIT] = {"irq_handler_exit", &irq_shape},
	[EV_SOFTIRQ_RAISE] = {"irq_softirq_raise softirq_raise", &softirq_shape},
	[EV_SOFTIRQ_ENTRY] = {"irq_softirq_entry softirq_entry", &softirq_shape},
	[EV_SOFTIRQ_EXIT] = {"irq_softirq_exit softirq_exit", &softirq_shape},
	[EV_VECTOR_ENTRY] = {NULL, &vector_shape},
	[EV_VECTOR_EXIT] = {NULL, &vector_shape},
	[EV_PAGE_FAULT_USER] = {NULL, &fault_shape},
	[EV_PAGE_FAULT_KERNEL] = {NULL, &fault_shape},
	[EV_HRTIMER_START] = {"timer_hrtimer_start hrtimer_start", &hrtimer_shape},
	[EV_HRTIMER_EXPIRE_ENTRY] = {"timer_hrtimer_expire_entry hrtimer_expire_entry",
				     &hrtimer_shape},
	[EV_HRTIMER_EXPIRE_EXIT] = {"timer_hrtimer_expire_exit hrtimer_expire_exit",
				    &hrtimer_shape},
	[EV_HRTIMER_CANCEL] = {"timer_hrtimer_cancel hrtimer_cancel", &hrtimer_shape},
	[EV_TIMER_START] = {"timer_start", &timer_shape},
	[EV_TIMER_EXPIRE_ENTRY] = {"timer_expire_entry", &timer_shape},
	[EV_TIMER_EXPIRE_EXIT] = {"timer_expire_exit", &timer_shape},
	[EV_BLOCK_INSERT] = {"block_rq_insert", &block_shape},
	[EV_BLOCK_ISSUE] = {"block_rq_issue", &block_shape},
	[EV_BLOCK_REQUEUE] = {"block_rq_requeue", &block_shape},
	[EV_BLOCK_COMPLETE] = {"block_rq_complete", &block_shape},
	[EV_BLOCK_BIO] = {"block_bio_queue", &block_shape},
	[EV_BLOCK_BIO_MERGED] = {"block_bio_backmerge block_bio_frontmerge block_getrq",
				 &block_shape},
	[EV_BLOCK_BIO_COMPLETE] = {"block_bio_complete", &block_shape},
	[EV_BLOCK_REMAP] = {"block_bio_remap block_rq_remap", &block_shape},
	[EV_BLOCK_SPLIT] = {"block_split", &block_shape},
	[EV_WORK_QUEUE] = {"workqueue_queue_work", &work_shape},
	[EV_WORK_START] = {"workqueue_execute_start", &work_shape},
	[EV_WORK_END] = {"workqueue_execute_end", &work_shape},
	[EV_CPU_IDLE] = {"power_cpu_idle", &idle_shape},
	[EV_WRITEBACK_QUEUE] = {"writeback_queue", &writeback_shape},
	[EV_WRITEBACK_EXEC] = {"writeback_exec", &writeback_shape},
	[EV_WRITEBACK_END] = {"writeback_pages_written", &writeback_shape},
	[EV_DIRTY_PAUSE] = {"writeback_balance_dirty_pages", &dirty_shape},
	/* x86 until 2.7 and arm64 have the short names */
	[EV_KVM_ENTRY] = {"kvm_x86_entry kvm_entry", &kvm_shape},
	[EV_KVM_EXIT] = {"kvm_x86_exit kvm_exit", &kvm_shape},
	[EV_KVM_WAKEUP] = {"kvm_vcpu_wakeup", NULL},
	[EV_KVM_IRQ_DUE] = {"kvm_x86_apic_accept_irq kvm_apic_accept_irq", &kvm_irq_shape},
	[EV_KVM_IRQ_INJECTED] = {"kvm_x86_inj_virq kvm_inj_virq", &kvm_irq_shape},
	[EV_KVM_IRQ_ENDED] = {"kvm_x86_eoi kvm_eoi kvm_x86_pv_eoi kvm_pv_eoi", &kvm_irq_shape},
	[EV_RECLAIM_BEGIN] = {"mm_vmscan_direct_reclaim_begin mm_vmscan_memcg_reclaim_begin", NULL},
	[EV_RECLAIM_END] = {"mm_vmscan_direct_reclaim_end mm_vmscan_memcg_reclaim_end", NULL},
	[EV_JOURNAL_START] = {"jbd2_start_commit", &journal_shape},
	[EV_JOURNAL_END] = {"jbd2_end_commit", &journal_shape},
	[EV_NET_SEND] = {"net_dev_queue", &net_shape},
	[EV_NET_XMIT] = {"net_dev_xmit", &xmit_shape},
	[EV_NET_RECEIVE] = {"net_if_receive_skb netif_receive_skb", &net_shape},
	[EV_SIGNAL_GENERATE] = {"signal_generate", &signal_shape},
	[EV_SIGNAL_DELIVER] = {"signal_deliver", &signal_shape},
	[EV_PI_SETPRIO] = {"sched_pi_setprio", &priority_shape},
	[EV_SAMPLE] = {"perf_sample", NULL},
	[EV_SYSCALL_ENTRY] = {NULL, &syscall_shape},
	[EV_SYSCALL_EXIT] = {"exit_syscall", &syscall_shape},
	[EV_CALL_TOLD] = {"call_file_name call_connect", &told_shape},
	[EV_FUNCTION_ENTRY] = {NULL, &function_shape},
	[EV_FUNCTION_EXIT] = {NULL, &function_shape},
	[EV_FUNCTION_REACHED] = {NULL, &function_shape},
	[EV_STATEDUMP_PROCESS] = {"lttng_statedump_process_state", &process_shape},
	[EV_STATEDUMP_PID_NS] = {"lttng_statedump_process_pid_ns", &process_shape},
	[EV_STATEDUMP_CGROUP_NS] = {"lttng_statedump_process_cgroup_ns", &process_shape},
	[EV_STATEDUMP_FD] = {"lttng_statedump_file_descriptor", &file_shape},
	[EV_STATEDUMP_INTERRUPT] = {"lttng_statedump_interrupt", &interrupt_shape},
	[EV_STATEDUMP_BLOCK_DEVICE] = {"lttng_statedump_block_device", &device_shape},
	[EV_NOTICE_LOST] = {NULL, &lost_shape},
	[EV_USER_ENTRY] = {"lttng_ust_cyg_profile:func_entry lttng_ust_cyg_profile_fast:func_entry",
			   &user_shape},
	[EV_USER_EXIT] = {"lttng_ust_cyg_profile:func_exit lttng_ust_cyg_profile_fast:func_exit",
			  &user_shape},
	[EV_USER_IMAGE] = {"lttng_ust_statedump:bin_info", &user_shape},
	[EV_USER_LOAD] = {"lttng_ust_lib:load lttng_ust_dl:dlopen lttng_ust_dl:dlmopen",
			  &user_shape},
	[EV_USER_UNLOAD] = {"lttng_ust_lib:unload", &user_shape},
	[EV_USER_BUILD_ID] =
		{"lttng_ust_statedump:build_id lttng_ust_lib:build_id lttng_ust_dl:build_id",
		 &user_shape},
	[EV_NOTICE_USER_LOST] = {NULL, &lost_shape},
};

static const struct {
	const char *prefix;
	uint16_t kind;
	bool compat;
} syscall_prefixes[] = {
	{"syscall_entry_", EV_SYSCALL_ENTRY, false},
	{"syscall_exit_", EV_SYSCALL_EXIT, false},
	{"compat_syscall_entry_", EV_SYSCALL_ENTRY, true},
	{"compat_syscall_exit_", EV_SYSCALL_EXIT, true},
	{"sys_", EV_SYSCALL_ENTRY, false},
	{"compat_sys_", EV_SYSCALL_ENTRY, true},
};

static const struct event_field *fields_of(uint16_t kind)
{
	const struct shape *shape = kinds[kind].shape;

	return shape && shape->fields ? shape->fields : no_fields;
}

const struct event_field *event_field_named(uint16_t kind, const char *name)
{
	for (const struct event_field *at = fields_of(kind); at->name; at++)
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

const struct event_field *event_contexts(uint16_t kind)
{
	const struct shape *shape = kinds[kind].shape;

	return shape && shape->contexts ? shape->contexts : no_fields;
}

static inline void reset(struct event *event)
{
	const struct shape *shape = kinds[event->kind].shape;
	size_t size = shape ? (shape->size + 7u) & ~(size_t) 7 : 0; /* whole words: event.touched */

	if (shape && shape->defaults)
		memcpy((char *) event + shape->offset,
		       (const char *) shape->defaults + shape->offset, size);
	else if (shape)
		memset((char *) event + shape->offset, 0, size);
}

void event_reset(struct event *event)
{
	reset(event);
}

size_t event_size(uint16_t kind)
{
	const struct shape *shape = kinds[kind].shape;

	return shape ? (size_t) shape->offset + shape->size : offsetof(struct event, sched_switch);
}

void event_init(struct event *event, const struct event_class *class, enum syscall_abi abi)
{
	event->kind = class->kind;
	event->name = class->name;
	event->matches = 0;
	event->touched = 0;
	reset(event);
	switch (class->kind) {
	case EV_SYSCALL_ENTRY:
	case EV_SYSCALL_EXIT:
		event->syscall.name = class->argument;
		event->syscall.number_table =
			class->compat && abi == ABI_X86_64 ? ABI_I386 : (uint8_t) abi;
		break;
	case EV_VECTOR_ENTRY:
	case EV_VECTOR_EXIT:
		event->vector.name = class->argument;
		break;
	case EV_FUNCTION_ENTRY:
	case EV_FUNCTION_EXIT:
	case EV_FUNCTION_REACHED:
		event->function.name = class->argument;
		break;
	}
}

void event_store(struct event *event, const struct event_field *field, int64_t value)
{
	char *to = field ? (char *) event + field->offset : NULL;

	switch (field ? (enum event_field_type) field->type : FIELD_STRING) {
	case FIELD_I32:
		*(int32_t *) (void *) to = (int32_t) value;
		break;
	case FIELD_I64:
		*(int64_t *) (void *) to = value;
		break;
	case FIELD_BOOL:
		*(bool *) to = value != 0;
		break;
	default:
		break;
	}
}

static void visit_fields(struct event *event, const struct event_field *fields,
			 event_visit_string *string, event_visit_bytes *bytes, void *data)
{
	for (const struct event_field *field = fields; field->name; field++) {
		char *at = (char *) event + field->offset;

		switch ((enum event_field_type) field->type) {
		case FIELD_STRING:
			string((const char **) (void *) at, data);
			break;
		case FIELD_BYTES:
		case FIELD_WORDS: {
			struct event_bytes *list = (struct event_bytes *) (void *) at;

			bytes((const void **) &list->bytes, list->count, data);
			break;
		}
		case FIELD_PACKET:
			bytes((const void **) &event->net.saddr.bytes, event->net.saddr.count,
			      data);
			bytes((const void **) &event->net.daddr.bytes, event->net.daddr.count,
			      data);
			break;
		case FIELD_READY:
			bytes((const void **) &event->syscall.fds,
			      event->syscall.fd_count * sizeof *event->syscall.fds, data);
			break;
		case FIELD_I32:
		case FIELD_I64:
		case FIELD_PAIR:
		case FIELD_COOKIE:
		case FIELD_BOOL:
			break;
		}
	}
}

void event_each_pointer(struct event *event, event_visit_string *string, event_visit_bytes *bytes,
			void *data)
{
	visit_fields(event, fields_of(event->kind), string, bytes, data);
	visit_fields(event, event_contexts(event->kind), string, bytes, data);
	if (event->kind == EV_SYSCALL_ENTRY || event->kind == EV_SYSCALL_EXIT)
		bytes((const void **) &event->syscall.values,
		      event->syscall.value_count * sizeof *event->syscall.values, data);
	if (!event->has_callstacks)
		return;
	bytes((const void **) &event->callstack.bytes, event->callstack.count, data);
	bytes((const void **) &event->user_callstack.bytes, event->user_callstack.count, data);
}

void shape_add(GString *names, const char *name, bool is_signed, unsigned bits)
{
	g_string_append_printf(names, "%s%s%s", names->len ? " " : "", name,
			       !is_signed && bits >= 32 ? "*" : "");
}

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *text, const char *suffix)
{
	size_t length = strlen(text), tail = strlen(suffix);

	return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/* x86_irq_vectors_NAME_entry / _exit, and the like of other architectures */
static bool vector_class(struct intern *names, const char *name, struct event_class *class)
{
	const char *base = strstr(name, "irq_vectors_");
	char text[64];
	size_t length;
	bool entry;

	if (!base || (base != name && base[-1] != '_'))
		return false;
	base += strlen("irq_vectors_");
	entry = ends(base, "_entry");
	if (!entry && !ends(base, "_exit"))
		return false;
	length = strlen(base) - (entry ? strlen("_entry") : strlen("_exit"));
	if (length == 0 || length >= sizeof text)
		return false;
	memcpy(text, base, length);
	text[length] = 0;
	class->kind = entry ? EV_VECTOR_ENTRY : EV_VECTOR_EXIT;
	class->argument = intern_id(names, text);
	return true;
}

static bool is_mapping_call(const char *call)
{
	return strcmp(call, "mmap") == 0 || strcmp(call, "mmap_pgoff") == 0 ||
	       strcmp(call, "munmap") == 0 || strcmp(call, "mremap") == 0;
}

static bool syscall_class(struct intern *names, const char *name, struct event_class *class)
{
	for (size_t i = 0; i < sizeof syscall_prefixes / sizeof *syscall_prefixes; i++) {
		const char *call;

		if (!starts(name, syscall_prefixes[i].prefix))
			continue;
		call = name + strlen(syscall_prefixes[i].prefix);
		class->kind = syscall_prefixes[i].kind;
		class->compat = syscall_prefixes[i].compat;
		class->argument = intern_id(names, call);
		class->fields = syscall_fields;
		if (strcmp(call, "pipe") == 0 || strcmp(call, "pipe2") == 0)
			class->fields = pipe_fields;
		else if (strcmp(call, "socketpair") == 0)
			class->fields = socketpair_fields;
		else if (strcmp(call, "umount") == 0 || strcmp(call, "umount2") == 0 ||
			 strcmp(call, "oldumount") == 0)
			class->fields = umount_fields;
		else if (is_mapping_call(call))
			class->fields = mapping_fields;
		return true;
	}
	return false;
}

/* One of the names of a kind. */
struct named_kind {
	const char *name; /* up to a blank or the end */
	size_t length;
	int kind;
};

/* Those of the kernel's kinds or of user space's, in order. Nothing is allocated: a plugin that
 * is unloaded would leave it behind. */
struct named_kinds {
	struct named_kind list[512];
	size_t count;
};

static int compare_names(const struct named_kind *a, const struct named_kind *b)
{
	int order = memcmp(a->name, b->name, MIN(a->length, b->length));

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int by_name(const void *a, const void *b)
{
	const struct named_kind *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : x->kind - y->kind;
}

static void list_names(struct named_kinds *all, int from, int to)
{
	for (int kind = from; kind < to; kind++)
		for (const char *at = kinds[kind].names; at && *at;) {
			struct named_kind name = {at, strcspn(at, " "), kind};

			g_assert(all->count < G_N_ELEMENTS(all->list));
			all->list[all->count++] = name;
			at += name.length;
			at += *at == ' ';
		}
	qsort(all->list, all->count, sizeof *all->list, by_name);
}

/* The last one of that name; `other`: there is none. */
static int kind_named(const struct named_kinds *all, const char *name, int other)
{
	struct named_kind wanted = {.name = name, .length = strlen(name)};
	size_t low = 0, high = all->count;

	while (low < high) { /* the first one behind it */
		size_t middle = low + (high - low) / 2;

		if (compare_names(&all->list[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && compare_names(&all->list[low - 1], &wanted) == 0
		       ? all->list[low - 1].kind
		       : other;
}

/* The kind of that name, the kernel's or one of user space, else `other`. */
static struct event_class
class_of_name(struct intern *names, const char *name, bool user, uint16_t other)
{
	static struct named_kinds all[2];
	static gsize made;
	struct event_class class = {.name = intern_id(names, name)};

	if (g_once_init_enter(&made)) {
		list_names(&all[0], 0, EV_USER_OTHER);
		list_names(&all[1], EV_USER_OTHER, EV_KIND_COUNT);
		g_once_init_leave(&made, 1);
	}
	class.kind = (uint16_t) kind_named(&all[user], name, other);
	class.fields = fields_of(class.kind);
	return class;
}

struct event_class event_class_of(struct intern *names, const char *name)
{
	struct event_class class = class_of_name(names, name, false, EV_OTHER);

	if (class.kind != EV_OTHER || syscall_class(names, name, &class) ||
	    vector_class(names, name, &class))
		return class;
	if (strstr(name, "page_fault") && !ends(name, "_exit"))
		class.kind = ends(name, "_kernel") ? EV_PAGE_FAULT_KERNEL : EV_PAGE_FAULT_USER;
	class.fields = fields_of(class.kind);
	return class;
}

struct event_class event_class_of_user(struct intern *names, const char *name)
{
	return class_of_name(names, name, true, EV_USER_OTHER);
}

void event_class_pass_over(struct event_class *class)
{
	class->kind = class->kind < EV_USER_OTHER ? EV_OTHER : EV_USER_OTHER;
	class->fields = no_fields;
}

/* "Names are free: recognise them by the field set" (lttng-events.md, 3): the
 * exit's is NAME_return until 2.12. */
void event_class_of_probe(struct intern *names, const char *name, struct event_class *class)
{
	static const char *const ends_of[] = {"_entry", "_exit", "_return"};

	if (class->kind != EV_OTHER)
		return;
	for (size_t i = 0; i < sizeof ends_of / sizeof *ends_of; i++) {
		size_t length = strlen(name), tail = strlen(ends_of[i]);
		char text[256];

		if (!ends(name, ends_of[i]) || length == tail || length - tail >= sizeof text)
			continue;
		memcpy(text, name, length - tail);
		text[length - tail] = 0;
		class->kind = i == 0 ? EV_FUNCTION_ENTRY : EV_FUNCTION_EXIT;
		class->argument = intern_id(names, text);
		return;
	}
}

void event_class_of_place(struct intern *names, const char *name, struct event_class *class)
{
	if (class->kind != EV_OTHER)
		return;
	class->kind = EV_FUNCTION_REACHED;
	class->argument = intern_id(names, name);
}
