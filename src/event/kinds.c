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
#include <string.h>

#define AT(member) offsetof(struct event, member)

static const struct event_field no_fields[] = {{0}};

static const struct event_field switch_fields[] = {
	{"prev_comm", FIELD_STRING, AT(sched_switch.prev_comm)},
	{"prev_tid", FIELD_I32, AT(sched_switch.prev_tid)},
	{"prev_state", FIELD_I64, AT(sched_switch.prev_state)},
	{"next_comm", FIELD_STRING, AT(sched_switch.next_comm)},
	{"next_tid", FIELD_I32, AT(sched_switch.next_tid)},
	{"next_prio", FIELD_I32, AT(sched_switch.next_prio)},
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

static const struct event_field irq_fields[] = {
	{"irq", FIELD_I32, AT(irq.irq)}, {"name", FIELD_STRING, AT(irq.name)}, {0}};

static const struct event_field softirq_fields[] = {{"vec", FIELD_I32, AT(softirq.vec)}, {0}};

static const struct event_field hrtimer_fields[] = {
	{"hrtimer", FIELD_I64, AT(timer.timer)},
	{"expires", FIELD_I64, AT(timer.expires)},
	{"softexpires", FIELD_I64, AT(timer.expires)}, /* without the slack, where said */
	{"function", FIELD_I64, AT(timer.function)},
	{0}};

static const struct event_field timer_fields[] = {{"timer", FIELD_I64, AT(timer.timer)}, {0}};

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

static const struct event_field net_fields[] = {
	{"skbaddr", FIELD_I64, AT(net.skb)}, {"network_header", FIELD_PACKET, AT(net)}, {0}};

static const struct event_field work_fields[] = {
	{"work", FIELD_I64, AT(work.item)}, {"function", FIELD_I64, AT(work.function)}, {0}};

static const struct event_field writeback_fields[] = {{"name", FIELD_STRING, AT(writeback.name)},
						      {0}};

static const struct event_field journal_fields[] = {
	{"transaction", FIELD_I32, AT(journal.transaction)}, {0}};

static const struct event_field signal_fields[] = {
	{"sig", FIELD_I32, AT(signal.sig)}, {"pid", FIELD_I32, AT(signal.tid)}, {0}};

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

static const struct event_field namespace_fields[] = {
	{"tid", FIELD_I32, AT(process.tid)},    {"vtid", FIELD_I32, AT(process.vtid)},
	{"vpid", FIELD_I32, AT(process.vpid)},  {"ns_level", FIELD_I32, AT(process.level)},
	{"ns_inum", FIELD_I32, AT(process.ns)}, {0}};

static const struct event_field file_fields[] = {
	{"pid", FIELD_I32, AT(file.pid)},
	{"file_table_address", FIELD_I64, AT(file.files)},
	{"fd", FIELD_I32, AT(file.fd)},
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
	{"uaddr", FIELD_I64, AT(syscall.uaddr)},
	{"val", FIELD_I32, AT(syscall.val)},
	{"filename", FIELD_STRING, AT(syscall.filename)},
	{"readfds", FIELD_BYTES, AT(syscall.readfds)},
	{"writefds", FIELD_BYTES, AT(syscall.writefds)},
	{"exceptfds", FIELD_BYTES, AT(syscall.exceptfds)},
	{"fds", FIELD_READY, AT(syscall.fds)},
	{"overflow", FIELD_BOOL, AT(syscall.fds_cut)},
	{"event", FIELD_COOKIE, AT(syscall.data)},
	{0}};

/* fildes is a number in dup's entry but a pair in pipe's exit. */
static const struct event_field pipe_fields[] = {{"ret", FIELD_I64, AT(syscall.ret)},
						 {"flags", FIELD_I64, AT(syscall.flags)},
						 {"fildes", FIELD_PAIR, AT(syscall.pair)},
						 {0}};

static const struct event_field socketpair_fields[] = {
	{"ret", FIELD_I64, AT(syscall.ret)},
	{"family", FIELD_I32, AT(syscall.family)},
	{"type", FIELD_I32, AT(syscall.type)},
	{"socket", FIELD_PAIR, AT(syscall.pair)},
	{0}};

static const struct {
	const char *name;
	uint16_t kind;
	const struct event_field *fields;
} kinds[] = {
	{"sched_switch", EV_SCHED_SWITCH, switch_fields},
	{"sched_waking", EV_SCHED_WAKING, wake_fields},
	{"sched_ttwu", EV_SCHED_WAKING, wake_fields}, /* add-on module, kernels 3.8 to 4.1 */
	{"sched_wakeup", EV_SCHED_WAKEUP, wake_fields},
	{"sched_wakeup_new", EV_SCHED_WAKEUP_NEW, wake_fields},
	{"sched_migrate_task", EV_SCHED_MIGRATE, wake_fields},
	{"sched_process_fork", EV_PROCESS_FORK, fork_fields},
	{"sched_process_exec", EV_PROCESS_EXEC, exec_fields},
	{"sched_process_exit", EV_PROCESS_EXIT, exit_fields},
	{"sched_process_free", EV_PROCESS_FREE, exit_fields},
	{"irq_handler_entry", EV_IRQ_ENTRY, irq_fields},
	{"irq_handler_exit", EV_IRQ_EXIT, irq_fields},
	{"irq_softirq_raise", EV_SOFTIRQ_RAISE, softirq_fields},
	{"irq_softirq_entry", EV_SOFTIRQ_ENTRY, softirq_fields},
	{"irq_softirq_exit", EV_SOFTIRQ_EXIT, softirq_fields},
	{"softirq_raise", EV_SOFTIRQ_RAISE, softirq_fields},
	{"softirq_entry", EV_SOFTIRQ_ENTRY, softirq_fields},
	{"softirq_exit", EV_SOFTIRQ_EXIT, softirq_fields},
	{"timer_hrtimer_start", EV_HRTIMER_START, hrtimer_fields},
	{"timer_hrtimer_expire_entry", EV_HRTIMER_EXPIRE_ENTRY, hrtimer_fields},
	{"timer_hrtimer_expire_exit", EV_HRTIMER_EXPIRE_EXIT, hrtimer_fields},
	{"timer_hrtimer_cancel", EV_HRTIMER_CANCEL, hrtimer_fields},
	{"hrtimer_start", EV_HRTIMER_START, hrtimer_fields},
	{"hrtimer_expire_entry", EV_HRTIMER_EXPIRE_ENTRY, hrtimer_fields},
	{"hrtimer_expire_exit", EV_HRTIMER_EXPIRE_EXIT, hrtimer_fields},
	{"hrtimer_cancel", EV_HRTIMER_CANCEL, hrtimer_fields},
	{"timer_start", EV_TIMER_START, timer_fields},
	{"timer_expire_entry", EV_TIMER_EXPIRE_ENTRY, timer_fields},
	{"timer_expire_exit", EV_TIMER_EXPIRE_EXIT, timer_fields},
	{"block_rq_insert", EV_BLOCK_INSERT, block_fields},
	{"block_rq_issue", EV_BLOCK_ISSUE, block_fields},
	{"block_rq_requeue", EV_BLOCK_REQUEUE, block_fields},
	{"block_rq_complete", EV_BLOCK_COMPLETE, block_fields},
	{"block_bio_queue", EV_BLOCK_BIO, block_fields},
	{"block_bio_backmerge", EV_BLOCK_BIO_MERGED, block_fields},
	{"block_bio_frontmerge", EV_BLOCK_BIO_MERGED, block_fields},
	{"block_getrq", EV_BLOCK_BIO_MERGED, block_fields},
	{"block_bio_complete", EV_BLOCK_BIO_COMPLETE, block_fields},
	{"block_bio_remap", EV_BLOCK_REMAP, block_fields},
	{"block_rq_remap", EV_BLOCK_REMAP, block_fields},
	{"block_split", EV_BLOCK_SPLIT, block_fields},
	{"workqueue_queue_work", EV_WORK_QUEUE, work_fields},
	{"workqueue_execute_start", EV_WORK_START, work_fields},
	{"workqueue_execute_end", EV_WORK_END, work_fields},
	{"power_cpu_idle", EV_CPU_IDLE, idle_fields},
	{"writeback_queue", EV_WRITEBACK_QUEUE, writeback_fields},
	{"writeback_exec", EV_WRITEBACK_EXEC, writeback_fields},
	{"writeback_pages_written", EV_WRITEBACK_END, no_fields},
	{"jbd2_start_commit", EV_JOURNAL_START, journal_fields},
	{"jbd2_end_commit", EV_JOURNAL_END, journal_fields},
	{"net_dev_queue", EV_NET_SEND, net_fields},
	{"net_if_receive_skb", EV_NET_RECEIVE, net_fields},
	{"netif_receive_skb", EV_NET_RECEIVE, net_fields},
	{"signal_generate", EV_SIGNAL_GENERATE, signal_fields},
	{"sched_pi_setprio", EV_PI_SETPRIO, priority_fields},
	{"exit_syscall", EV_SYSCALL_EXIT, syscall_fields},
	{"lttng_statedump_process_state", EV_STATEDUMP_PROCESS, process_fields},
	{"lttng_statedump_process_pid_ns", EV_STATEDUMP_PID_NS, namespace_fields},
	{"lttng_statedump_process_cgroup_ns", EV_STATEDUMP_CGROUP_NS, namespace_fields},
	{"lttng_statedump_file_descriptor", EV_STATEDUMP_FD, file_fields},
	{"lttng_statedump_interrupt", EV_STATEDUMP_INTERRUPT, interrupt_fields},
	{"lttng_statedump_block_device", EV_STATEDUMP_BLOCK_DEVICE, device_fields},
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

void event_reset(struct event *event)
{
	switch (event->kind) {
	case EV_SYSCALL_ENTRY:
	case EV_SYSCALL_EXIT: {
		uint32_t name = event->syscall.name;
		uint8_t table = event->syscall.number_table;

		memset(&event->syscall, 0, sizeof event->syscall);
		event->syscall.name = name;
		event->syscall.number_table = table;
		event->syscall.id = -1;
		event->syscall.fd = event->syscall.newfd = event->syscall.epfd = -1;
		event->syscall.dfd = -1;
		event->syscall.pair[0] = event->syscall.pair[1] = -1;
		event->syscall.timeout = -1;
		break;
	}
	case EV_PROCESS_FORK:
		memset(&event->fork, 0, sizeof event->fork);
		event->fork.parent_pid = event->fork.child_pid = -1;
		break;
	case EV_PROCESS_EXEC:
		memset(&event->exec, 0, sizeof event->exec);
		event->exec.tid = event->exec.old_tid = -1;
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
	case EV_SCHED_MIGRATE:
		memset(&event->wake, 0, sizeof event->wake);
		event->wake.target_cpu = -1;
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
		memset(&event->block, 0, sizeof event->block);
		event->block.tid = -1;
		break;
	case EV_VECTOR_ENTRY:
	case EV_VECTOR_EXIT:
	case EV_FUNCTION_ENTRY:
	case EV_FUNCTION_EXIT:
	case EV_OTHER:
		break;
	case EV_SCHED_SWITCH:
		memset(&event->sched_switch, 0, sizeof event->sched_switch);
		event->sched_switch.next_prio = NO_PRIORITY;
		break;
	case EV_CPU_IDLE:
		event->idle.state = IDLE_LEFT;
		event->idle.cpu = -1;
		break;
	case EV_NET_SEND:
	case EV_NET_RECEIVE:
		memset(&event->net, 0, sizeof event->net);
		break;
	case EV_STATEDUMP_PROCESS:
	case EV_STATEDUMP_PID_NS:
	case EV_STATEDUMP_CGROUP_NS:
		memset(&event->process, 0, sizeof event->process);
		event->process.pid = event->process.ppid = event->process.level = -1;
		break;
	case EV_USER_OTHER:
	case EV_USER_ENTRY:
	case EV_USER_EXIT:
	case EV_USER_IMAGE:
	case EV_USER_LOAD:
	case EV_USER_UNLOAD:
	case EV_USER_BUILD_ID:
		memset(&event->user, 0, sizeof event->user);
		event->user.pic = true; /* libraries are, and that is not said of each */
		break;
	case EV_STATEDUMP_FD:
		memset(&event->file, 0, sizeof event->file);
		event->file.pid = event->file.fd = -1;
		break;
	default: /* the kinds with one or two small fields */
		memset(&event->timer, 0, sizeof event->timer);
		break;
	}
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
		return true;
	}
	return false;
}

struct event_class event_class_of(struct intern *names, const char *name)
{
	struct event_class class = {.kind = EV_OTHER,
				    .name = intern_id(names, name),
				    .fields = no_fields};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(name, kinds[i].name) == 0) {
			class.kind = kinds[i].kind;
			class.fields = kinds[i].fields;
			return class;
		}
	if (syscall_class(names, name, &class) || vector_class(names, name, &class))
		return class;
	if (strstr(name, "page_fault") && !ends(name, "_exit"))
		class.kind = ends(name, "_kernel") ? EV_PAGE_FAULT_KERNEL : EV_PAGE_FAULT_USER;
	return class;
}

/* Source: lttng-ust 2.3 to 2.14, liblttng-ust-cyg-profile(-fast), lttng-ust-statedump,
 * lttng-ust-lib, liblttng-ust-dl. dlclose() unloads nothing that somebody else has open: what is
 * unloaded is told by lttng_ust_lib. */
struct event_class event_class_of_user(struct intern *names, const char *name)
{
	static const struct event_field function_fields[] = {
		{"addr", FIELD_I64, AT(user.address)},
		{"call_site", FIELD_I64, AT(user.call_site)},
		{0}};
	static const struct event_field image_fields[] = {
		{"baddr", FIELD_I64, AT(user.address)},       {"memsz", FIELD_I64, AT(user.size)},
		{"path", FIELD_STRING, AT(user.path)},        {"is_pic", FIELD_BOOL, AT(user.pic)},
		{"build_id", FIELD_BYTES, AT(user.build_id)}, {0}};
	static const struct {
		const char *name;
		uint16_t kind;
	} user_kinds[] = {
		{"lttng_ust_cyg_profile:func_entry", EV_USER_ENTRY},
		{"lttng_ust_cyg_profile:func_exit", EV_USER_EXIT},
		{"lttng_ust_cyg_profile_fast:func_entry", EV_USER_ENTRY},
		{"lttng_ust_cyg_profile_fast:func_exit", EV_USER_EXIT},
		{"lttng_ust_statedump:bin_info", EV_USER_IMAGE},
		{"lttng_ust_statedump:build_id", EV_USER_BUILD_ID},
		{"lttng_ust_lib:load", EV_USER_LOAD},
		{"lttng_ust_lib:build_id", EV_USER_BUILD_ID},
		{"lttng_ust_lib:unload", EV_USER_UNLOAD},
		{"lttng_ust_dl:dlopen", EV_USER_LOAD},
		{"lttng_ust_dl:dlmopen", EV_USER_LOAD},
		{"lttng_ust_dl:build_id", EV_USER_BUILD_ID},
	};
	struct event_class class = {.kind = EV_USER_OTHER,
				    .name = intern_id(names, name),
				    .fields = no_fields};

	for (size_t i = 0; i < sizeof user_kinds / sizeof *user_kinds; i++)
		if (strcmp(name, user_kinds[i].name) == 0)
			class.kind = user_kinds[i].kind;
	if (class.kind != EV_USER_OTHER)
		class.fields = class.kind <= EV_USER_EXIT ? function_fields : image_fields;
	return class;
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

unsigned event_abi_hint(const char *name)
{
	static const struct {
		const char *name;
		unsigned hint;
	} hints[] = {
		{"arch_prctl", HINT_X86},
		{"ioperm", HINT_X86},
		{"iopl", HINT_X86},
		{"modify_ldt", HINT_X86},
		{"vm86old", HINT_X86 | HINT_32BIT},
		{"time", HINT_OLD},
		{"utime", HINT_OLD},
		{"stat64", HINT_32BIT},
		{"fstat64", HINT_32BIT},
		{"mmap2", HINT_32BIT},
		{"spu_run", HINT_OTHER},
		{"s390_runtime_instr", HINT_OTHER},
		{"cacheflush", HINT_OTHER},
		{"arm_fadvise64_64", HINT_OTHER},
	};
	const char *call;

	if (starts(name, "x86_") || starts(name, "mce_"))
		return HINT_X86;
	if (!starts(name, "syscall_entry_") && !starts(name, "sys_"))
		return 0;
	call = name + (starts(name, "sys_") ? strlen("sys_") : strlen("syscall_entry_"));
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (strcmp(call, hints[i].name) == 0)
			return hints[i].hint;
	return 0;
}

enum syscall_abi event_abi(unsigned hints)
{
	if (hints & HINT_OTHER)
		return ABI_UNKNOWN;
	if (hints & HINT_32BIT)
		return (hints & HINT_X86) ? ABI_I386 : ABI_UNKNOWN;
	return (hints & (HINT_X86 | HINT_OLD)) ? ABI_X86_64 : ABI_UNKNOWN;
}
