/* SPDX-License-Identifier: MIT */
/* Events as bytes: what fuzz_events reads and record_events writes.
 *
 *   event: number in event_names · where (CPU, host, contexts) · time since the
 *          last one · [tid] [pid] [matches] · count of fields · (field · value)…
 *
 * Which fields an event has, and of what type, is asked of the table in
 * event/kinds.c, so that an event added there need only be named here.
 */
#ifndef WHYLATE_FUZZ_EVENT_CODE_H
#define WHYLATE_FUZZ_EVENT_CODE_H

#include "bytes.h"
#include "whylate/whylate.h"

/* At most 199, and only added to at the end: the corpus counts on the order. */
static const char *const event_names[] = {
	"other",
	"sched_switch",
	"sched_waking",
	"sched_wakeup",
	"sched_wakeup_new",
	"sched_migrate_task",
	"sched_process_fork",
	"sched_process_exec",
	"sched_process_exit",
	"sched_process_free",
	"irq_handler_entry",
	"irq_handler_exit",
	"irq_softirq_raise",
	"irq_softirq_entry",
	"irq_softirq_exit",
	"timer_hrtimer_start",
	"timer_hrtimer_expire_entry",
	"timer_hrtimer_expire_exit",
	"timer_hrtimer_cancel",
	"timer_start",
	"timer_expire_entry",
	"timer_expire_exit",
	"block_rq_insert",
	"block_rq_issue",
	"block_rq_requeue",
	"block_rq_complete",
	"block_bio_queue",
	"block_bio_backmerge",
	"block_bio_complete",
	"block_bio_remap",
	"block_split",
	"workqueue_queue_work",
	"workqueue_execute_start",
	"workqueue_execute_end",
	"power_cpu_idle",
	"writeback_queue",
	"writeback_exec",
	"writeback_pages_written",
	"writeback_balance_dirty_pages",
	"kvm_x86_entry",
	"kvm_x86_exit",
	"kvm_vcpu_wakeup",
	"kvm_x86_apic_accept_irq",
	"kvm_x86_inj_virq",
	"kvm_x86_eoi",
	"mm_vmscan_direct_reclaim_begin",
	"mm_vmscan_direct_reclaim_end",
	"jbd2_start_commit",
	"jbd2_end_commit",
	"net_dev_queue",
	"net_if_receive_skb",
	"net_dev_xmit",
	"signal_generate",
	"sched_pi_setprio",
	"exit_syscall",
	"lttng_statedump_process_state",
	"lttng_statedump_process_pid_ns",
	"lttng_statedump_process_cgroup_ns",
	"lttng_statedump_file_descriptor",
	"lttng_statedump_interrupt",
	"lttng_statedump_block_device",
	"x86_irq_vectors_local_timer_entry",
	"x86_irq_vectors_local_timer_exit",
	"x86_irq_vectors_reschedule_entry",
	"x86_irq_vectors_reschedule_exit",
	"x86_irq_vectors_call_function_entry",
	"x86_irq_vectors_call_function_exit",
	"perf_sample",
	"call_file_name",
	"call_connect",
	"x86_exceptions_page_fault_user",
	"x86_exceptions_page_fault_kernel",
	"fn_vfs_read_entry",
	"fn_vfs_read_exit",
	"fn_schedule_entry",
	"fn_schedule_return",
	"syscall_entry_read",
	"syscall_exit_read",
	"syscall_entry_write",
	"syscall_exit_write",
	"syscall_entry_openat",
	"syscall_exit_openat",
	"syscall_entry_open",
	"syscall_exit_open",
	"syscall_entry_close",
	"syscall_exit_close",
	"syscall_entry_close_range",
	"syscall_exit_close_range",
	"syscall_entry_dup2",
	"syscall_exit_dup2",
	"syscall_entry_dup",
	"syscall_exit_dup",
	"syscall_entry_fcntl",
	"syscall_exit_fcntl",
	"syscall_entry_pipe2",
	"syscall_exit_pipe2",
	"syscall_entry_socketpair",
	"syscall_exit_socketpair",
	"syscall_entry_socket",
	"syscall_exit_socket",
	"syscall_entry_connect",
	"syscall_exit_connect",
	"syscall_entry_bind",
	"syscall_exit_bind",
	"syscall_entry_accept4",
	"syscall_exit_accept4",
	"syscall_entry_recvfrom",
	"syscall_exit_recvfrom",
	"syscall_entry_poll",
	"syscall_exit_poll",
	"syscall_entry_ppoll",
	"syscall_exit_ppoll",
	"syscall_entry_select",
	"syscall_exit_select",
	"syscall_entry_epoll_create1",
	"syscall_exit_epoll_create1",
	"syscall_entry_epoll_ctl",
	"syscall_exit_epoll_ctl",
	"syscall_entry_epoll_wait",
	"syscall_exit_epoll_wait",
	"syscall_entry_futex",
	"syscall_exit_futex",
	"syscall_entry_flock",
	"syscall_exit_flock",
	"syscall_entry_nanosleep",
	"syscall_exit_nanosleep",
	"syscall_entry_clock_nanosleep",
	"syscall_exit_clock_nanosleep",
	"syscall_entry_wait4",
	"syscall_exit_wait4",
	"syscall_entry_waitid",
	"syscall_exit_waitid",
	"syscall_entry_clone",
	"syscall_exit_clone",
	"syscall_entry_clone3",
	"syscall_exit_clone3",
	"syscall_entry_vfork",
	"syscall_exit_vfork",
	"syscall_entry_execve",
	"syscall_exit_execve",
	"syscall_entry_exit_group",
	"syscall_entry_exit",
	"syscall_entry_rt_sigreturn",
	"syscall_exit_rt_sigreturn",
	"syscall_entry_unshare",
	"syscall_exit_unshare",
	"syscall_entry_setns",
	"syscall_exit_setns",
	"syscall_entry_unknown",
	"syscall_exit_unknown",
	"compat_syscall_entry_read",
	"compat_syscall_exit_read",
	"syscall_entry_io_uring_enter",
	"syscall_exit_io_uring_enter",
	"syscall_entry_eventfd2",
	"syscall_exit_eventfd2",
	"syscall_entry_timerfd_create",
	"syscall_exit_timerfd_create",
	"syscall_entry_timerfd_settime",
	"syscall_exit_timerfd_settime",
	"syscall_entry_signalfd4",
	"syscall_exit_signalfd4",
	"syscall_entry_inotify_init1",
	"syscall_exit_inotify_init1",
	"syscall_entry_fsync",
	"syscall_exit_fsync",
	"syscall_entry_splice",
	"syscall_exit_splice",
	"syscall_entry_sendfile64",
	"syscall_exit_sendfile64",
	"syscall_entry_kill",
	"syscall_exit_kill",
	"syscall_entry_ptrace",
	"syscall_exit_ptrace",
	"syscall_entry_rt_sigtimedwait",
	"syscall_exit_rt_sigtimedwait",
	"syscall_entry_pause",
	"syscall_exit_pause",
	"syscall_entry_futex_waitv",
	"syscall_exit_futex_waitv",
	"sched_ttwu",
	"syscall_entry_dup3",
	"syscall_exit_dup3",
	"syscall_entry_newselect",
	"lttng_ust_cyg_profile:func_entry",
	"lttng_ust_cyg_profile:func_exit",
	"lttng_ust_cyg_profile_fast:func_entry",
	"lttng_ust_cyg_profile_fast:func_exit",
	"lttng_ust_statedump:bin_info",
	"lttng_ust_statedump:build_id",
	"lttng_ust_lib:load",
	"lttng_ust_lib:unload",
	"app:marker"};

/* fn_NAME_entry, fn_NAME_exit: probes; with a colon: user space's. */
static inline struct event_class class_named(struct session *session, const char *name)
{
	return session->trace.sink.declare(session, name,
					   strchr(name, ':')               ? ORIGIN_USER
					   : g_str_has_prefix(name, "fn_") ? ORIGIN_PROBE
									   : ORIGIN_KERNEL);
}

/* Instead of the number of a name: */
enum event_code {
	STEP_LOST = 200,
	STEP_PACKET,
	STEP_LOOP,
	STEP_NAMED,
	STEP_DAMAGE,
	STEP_STOPPED,
	STEP_FORGET,
};

/* Names with a meaning, and names that do harm where they are printed as they are. */
static const char *const dictionary[] = {
	"",
	"a",
	"b",
	"swapper/0",
	"kworker/0:1",
	"kworker/1:1H",
	"ksoftirqd/0",
	"ksoftirqd/1",
	"migration/0",
	"rcu_preempt",
	"jbd2/sda1-8",
	"irq/25-virtio",
	"iou-wrk-3",
	"iou-sqp-4",
	"kthreadd",
	"cargo build",
	"pipe:[1]",
	"pipe:[2]",
	"socket:[3]",
	"anon_inode:[eventfd]",
	"anon_inode:[eventpoll]",
	"anon_inode:[timerfd]",
	"anon_inode:[signalfd]",
	"anon_inode:inotify",
	"/dev/tty",
	"/tmp/f",
	"/bin/x",
	"dir/file",
	"8:0",
	"253:0",
	"sda",
	"sda1",
	"dm-0",
	"virtio2-req.0",
	"ahci",
	"\033[31m\r\n\t\001",
	"<b>&amp;\"'</b>",
	"=1+1,;\"\"",
	"\xff\xfe\xc3",
	"\xe2\x80\xae\xc2\x85",
	"%s%n%d",
	"kworker/u4:3-events_unbound",
	"/memfd:x (deleted)",
	"timeout",
	"kworker/7:1-kblockd",
	"/lib/x.so"};

/* What the table in kinds.c does not name: contexts of a switch, a packet's headers. */
enum { FIELD_I16 = 100 }; /* beside enum event_field_type */

static const struct event_field switch_contexts[] = {
	{"callstack", FIELD_WORDS, offsetof(struct event, callstack)},
	{"user_callstack", FIELD_WORDS, offsetof(struct event, user_callstack)},
	{"vtid", FIELD_I32, offsetof(struct event, sched_switch.vtid)},
	{"vpid", FIELD_I32, offsetof(struct event, sched_switch.vpid)},
	{"pid_ns", FIELD_I32, offsetof(struct event, sched_switch.pid_ns)},
	{"cgroup_ns", FIELD_I32, offsetof(struct event, sched_switch.cgroup_ns)},
	{0}};
static const struct event_field packet_fields[] = {
	{"skb", FIELD_I64, offsetof(struct event, net.skb)},
	{"saddr", FIELD_BYTES, offsetof(struct event, net.saddr)},
	{"daddr", FIELD_BYTES, offsetof(struct event, net.daddr)},
	{"source_port", FIELD_I32, offsetof(struct event, net.source_port)},
	{"dest_port", FIELD_I32, offsetof(struct event, net.dest_port)},
	{"tcp", FIELD_BOOL, offsetof(struct event, net.tcp)},
	{"flags", FIELD_I16, offsetof(struct event, net.flags)},
	{"id", FIELD_I16, offsetof(struct event, net.id)},
	{"seq", FIELD_I32, offsetof(struct event, net.seq)},
	{"ack_seq", FIELD_I32, offsetof(struct event, net.ack_seq)},
	{"length", FIELD_I32, offsetof(struct event, net.length)},
	{"window", FIELD_I32, offsetof(struct event, net.window)},
	{0}};

/* The fields of an event in order; NULL past the last. */
static inline const struct event_field *field_at(const struct event_class *class, int number)
{
	const struct event_field *fields = class->fields;

	if (class->kind == EV_NET_SEND || class->kind == EV_NET_RECEIVE)
		fields = packet_fields;
	for (; number > 0 && fields->name; number--)
		fields++;
	if (!fields->name && class->kind == EV_SCHED_SWITCH)
		for (fields = switch_contexts; number > 0 && fields->name; number--)
			fields++;
	return fields->name ? fields : NULL;
}

static inline int field_count(const struct event_class *class)
{
	int count = 0;

	while (field_at(class, count))
		count++;
	return count;
}

/* An event of that class, as a reader has it before it takes the fields. */
static inline struct event event_start(const struct event_class *class)
{
	struct event event = {0};

	event_init(&event, class, ABI_X86_64);
	return event;
}

/* --- bytes to events --------------------------------------------------------- */

#define TEXT_RAW 100 /* 100 … 199: so many bytes, less 100 */
#define TEXT_NUMBERED 200
#define TEXT_NULL 201
#define TEXT_LONG 202

static inline const char *take_text(struct bytes *bytes)
{
	uint8_t tag = take_byte(bytes);
	size_t length;
	char *text;

	if (tag < TEXT_RAW)
		return dictionary[tag % G_N_ELEMENTS(dictionary)];
	if (tag == TEXT_NULL)
		return NULL;
	if (tag == TEXT_NUMBERED) {
		text = g_strdup_printf("n%" G_GINT64_FORMAT, take_number(bytes));
	} else if (tag == TEXT_LONG) {
		text = g_strnfill(3000, (gchar) (take_byte(bytes) | 1));
	} else {
		const uint8_t *raw = take_bytes(bytes, (size_t) tag - TEXT_RAW, &length);

		text = g_strndup((const char *) raw, length);
	}
	g_ptr_array_add(bytes->owned, text);
	return text;
}

static inline struct event_bytes take_list(struct bytes *bytes)
{
	struct event_bytes list;
	size_t length = take_byte(bytes);

	list.bytes = take_bytes(bytes, length, &length);
	list.count = (uint32_t) length;
	return list;
}

static inline struct event_bytes take_words(struct bytes *bytes)
{
	uint32_t count = take_byte(bytes) % 65;
	uint64_t *words = g_new(uint64_t, MAX(count, 1));

	g_ptr_array_add(bytes->owned, words);
	for (uint32_t i = 0; i < count; i++)
		words[i] = (uint64_t) take_number(bytes);
	return (struct event_bytes) {(const uint8_t *) words, count * 8};
}

static inline void take_ready(struct bytes *bytes, struct event *event)
{
	uint32_t count = take_byte(bytes);
	struct event_ready *list = g_new0(struct event_ready, MAX(count, 1));

	g_ptr_array_add(bytes->owned, list);
	for (uint32_t i = 0; i < count; i++) {
		list[i].data = (uint64_t) take_number(bytes);
		list[i].fd = (int32_t) take_number(bytes);
		list[i].events = (uint32_t) take_number(bytes);
	}
	event->syscall.fds = list;
	event->syscall.fd_count = count;
}

static inline void take_field(struct bytes *bytes, const struct event_field *field,
			      struct event *event)
{
	void *at = (char *) event + field->offset;

	switch (field->type) {
	case FIELD_I16:
		*(uint16_t *) at = (uint16_t) take_number(bytes);
		break;
	case FIELD_I32:
		*(int32_t *) at = (int32_t) take_number(bytes);
		break;
	case FIELD_I64:
	case FIELD_COOKIE:
		*(int64_t *) at = take_number(bytes);
		break;
	case FIELD_STRING:
		*(const char **) at = take_text(bytes);
		break;
	case FIELD_BYTES:
		*(struct event_bytes *) at = take_list(bytes);
		break;
	case FIELD_WORDS:
		*(struct event_bytes *) at = take_words(bytes);
		break;
	case FIELD_PAIR:
		((int32_t *) at)[0] = (int32_t) take_number(bytes);
		((int32_t *) at)[1] = (int32_t) take_number(bytes);
		break;
	case FIELD_READY:
		take_ready(bytes, event);
		break;
	case FIELD_BOOL:
		*(bool *) at = take_byte(bytes) & 1;
		break;
	default:
		break;
	}
}

#define WHERE_WILD_CPU 7 /* of three bits */
#define WHERE_TID 32
#define WHERE_PID 64
#define WHERE_MATCHES 128

/* The rest of an event of that class; `time` is the last one's and goes on. */
static inline struct event take_event(struct bytes *bytes, const struct event_class *class,
				      uint32_t hosts, int64_t *time)
{
	struct event event = event_start(class);
	uint8_t where = take_byte(bytes);
	int fields = field_count(class), count;

	event.cpu = where & 7;
	event.host = (uint16_t) ((where >> 3 & 3) % hosts);
	if (event.cpu == WHERE_WILD_CPU)
		event.cpu = (uint32_t) take_number(bytes);
	*time = (int64_t) ((uint64_t) *time + (uint64_t) take_number(bytes));
	event.time = *time;
	event.has_tid = where & WHERE_TID;
	event.has_pid = where & WHERE_PID;
	if (event.has_tid)
		event.tid = (int32_t) take_number(bytes);
	if (event.has_pid)
		event.pid = (int32_t) take_number(bytes);
	if (where & WHERE_MATCHES)
		event.matches = take_byte(bytes);
	if (!fields)
		return event;
	for (count = take_byte(bytes) % (fields + 1); count > 0; count--)
		take_field(bytes, field_at(class, take_byte(bytes) % fields), &event);
	event.has_callstacks = event.callstack.count || event.user_callstack.count;
	return event;
}

/* --- events to bytes --------------------------------------------------------- */

static inline void put_text(GByteArray *out, const char *text)
{
	size_t length = text ? MIN(strlen(text), 99) : 0;

	for (size_t i = 0; text && i < G_N_ELEMENTS(dictionary); i++)
		if (strcmp(dictionary[i], text) == 0) {
			put_byte(out, (int) i);
			return;
		}
	put_byte(out, text ? TEXT_RAW + (int) length : TEXT_NULL);
	g_byte_array_append(out, (const guint8 *) text, (guint) length);
}

static inline void put_words(GByteArray *out, const struct event_bytes *list)
{
	const uint64_t *words = (const uint64_t *) (const void *) list->bytes;
	uint32_t count = MIN(list->count / 8, 64);

	put_byte(out, (int) count);
	for (uint32_t i = 0; i < count; i++)
		put_number(out, (int64_t) words[i]);
}

static inline void put_ready(GByteArray *out, const struct event *event)
{
	uint32_t count = MIN(event->syscall.fd_count, 32);

	put_byte(out, (int) count);
	for (uint32_t i = 0; i < count; i++) {
		put_number(out, (int64_t) event->syscall.fds[i].data);
		put_number(out, event->syscall.fds[i].fd);
		put_number(out, event->syscall.fds[i].events);
	}
}

static inline void put_field(GByteArray *out, const struct event_field *field,
			     const struct event *event)
{
	const void *at = (const char *) event + field->offset;
	const struct event_bytes *list = at;

	switch (field->type) {
	case FIELD_I16:
		put_number(out, *(const uint16_t *) at);
		break;
	case FIELD_I32:
		put_number(out, *(const int32_t *) at);
		break;
	case FIELD_I64:
	case FIELD_COOKIE:
		put_number(out, *(const int64_t *) at);
		break;
	case FIELD_STRING:
		put_text(out, *(const char *const *) at);
		break;
	case FIELD_BYTES:
		put_byte(out, (int) MIN(list->count, 255));
		g_byte_array_append(out, list->bytes, MIN(list->count, 255));
		break;
	case FIELD_WORDS:
		put_words(out, list);
		break;
	case FIELD_PAIR:
		put_number(out, ((const int32_t *) at)[0]);
		put_number(out, ((const int32_t *) at)[1]);
		break;
	case FIELD_READY:
		put_ready(out, event);
		break;
	case FIELD_BOOL:
		put_byte(out, *(const bool *) at);
		break;
	default:
		break;
	}
}

static inline bool field_is_set(const struct event_field *field, const struct event *event,
				const struct event *unset)
{
	static const size_t sizes[] = {
		[FIELD_I32] = 4,   [FIELD_I64] = 8,   [FIELD_COOKIE] = 8, [FIELD_STRING] = 8,
		[FIELD_BYTES] = 8, [FIELD_WORDS] = 8, [FIELD_PAIR] = 8,   [FIELD_READY] = 8,
		[FIELD_BOOL] = 1,  [FIELD_I16] = 2};

	return memcmp((const char *) event + field->offset, (const char *) unset + field->offset,
		      sizes[field->type]) != 0;
}

static inline void put_name(GByteArray *out, const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(event_names); i++)
		if (strcmp(event_names[i], name) == 0) {
			put_byte(out, (int) i);
			return;
		}
	put_byte(out, STEP_NAMED);
	put_text(out, name);
}

/* `class`: of that name; `time` the last one's. */
static inline void put_event(GByteArray *out, const struct event *event, const char *name,
			     const struct event_class *class, int64_t *time)
{
	struct event unset = event_start(class);
	bool tid = event->has_tid, pid = event->has_pid;
	guint count_at;
	int count = 0;

	put_name(out, name);
	put_byte(out, (int) MIN(event->cpu, WHERE_WILD_CPU) | (event->host & 3) << 3 |
			      (tid ? WHERE_TID : 0) | (pid ? WHERE_PID : 0));
	if (event->cpu >= WHERE_WILD_CPU)
		put_number(out, event->cpu);
	put_number(out, event->time - *time);
	*time = event->time;
	if (tid)
		put_number(out, event->tid);
	if (pid)
		put_number(out, event->pid);
	if (!field_at(class, 0))
		return;
	count_at = out->len;
	put_byte(out, 0);
	for (int i = 0; field_at(class, i); i++) {
		const struct event_field *field = field_at(class, i);
		bool again = false;

		for (int k = 0; k < i; k++)
			again |= field_at(class, k)->offset == field->offset;
		if (again || !field_is_set(field, event, &unset))
			continue;
		put_byte(out, i);
		put_field(out, field, event);
		count++;
	}
	out->data[count_at] = (guint8) count;
}

#endif
