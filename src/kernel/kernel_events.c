/* SPDX-License-Identifier: MIT */
/* Names and fields of the kernel's tracepoints; see kernel_events.h. */
#include "kernel/kernel_events.h"

#include <string.h>

#define AT(member) offsetof(struct event, member)
#define NORMAL_PRIORITIES 100 /* linux/sched/prio.h: MAX_RT_PRIO; LTTng counts from there */

/* LTTng's names, where they are not the tracepoint's own. The first one that fits: a prefix. */
static const struct {
	const char *tracepoint, *lttng;
} renamed[] = {
	{"irq_vectors:", "x86_irq_vectors_"},
	{"exceptions:", "x86_exceptions_"},
	{"syscalls:sys_enter_", "syscall_entry_"},
	{"syscalls:sys_exit_", "syscall_exit_"},
	{"irq:softirq_", "irq_softirq_"},
	{"timer:hrtimer_", "timer_hrtimer_"},
	{"net:netif_receive_skb", "net_if_receive_skb"},
	{"power:cpu_idle", "power_cpu_idle"},
};

static const struct event_field switch_fields[] = {
	{"prev_comm", FIELD_STRING, AT(sched_switch.prev_comm)},
	{"prev_pid", FIELD_I32, AT(sched_switch.prev_tid)},
	{"prev_prio", FIELD_I32, AT(sched_switch.prev_prio)},
	{"prev_state", FIELD_I64, AT(sched_switch.prev_state)},
	{"next_comm", FIELD_STRING, AT(sched_switch.next_comm)},
	{"next_pid", FIELD_I32, AT(sched_switch.next_tid)},
	{"next_prio", FIELD_I32, AT(sched_switch.next_prio)},
	{0}};

static const struct event_field wake_fields[] = {
	{"comm", FIELD_STRING, AT(wake.comm)},
	{"pid", FIELD_I32, AT(wake.tid)},
	{"target_cpu", FIELD_I32, AT(wake.target_cpu)},
	{"dest_cpu", FIELD_I32, AT(wake.target_cpu)},
	{0}};

static const struct event_field fork_fields[] = {{"parent_pid", FIELD_I32, AT(fork.parent_tid)},
						 {"child_comm", FIELD_STRING, AT(fork.child_comm)},
						 {"child_pid", FIELD_I32, AT(fork.child_tid)},
						 {0}};

static const struct event_field exit_fields[] = {
	{"comm", FIELD_STRING, AT(exit.comm)}, {"pid", FIELD_I32, AT(exit.tid)}, {0}};

static const struct event_field block_fields[] = {
	{"dev", FIELD_I32, AT(block.dev)},
	{"sector", FIELD_I64, AT(block.sector)},
	{"nr_sector", FIELD_I32, AT(block.sectors)},
	{"rwbs", FIELD_STRING, AT(block.letters)},
	{"common_pid", FIELD_I32, AT(block.tid)},
	{"old_dev", FIELD_I32, AT(block.other_dev)},
	{"old_sector", FIELD_I64, AT(block.other)},
	{"new_sector", FIELD_I64, AT(block.other)},
	{0}};

/* Of who completes a request nobody asks. */
static const struct event_field block_end_fields[] = {
	{"dev", FIELD_I32, AT(block.dev)},
	{"sector", FIELD_I64, AT(block.sector)},
	{"nr_sector", FIELD_I32, AT(block.sectors)},
	{"rwbs", FIELD_STRING, AT(block.letters)},
	{0}};

static const struct event_field priority_fields[] = {{"pid", FIELD_I32, AT(priority.tid)},
						     {"oldprio", FIELD_I32, AT(priority.from)},
						     {"newprio", FIELD_I32, AT(priority.to)},
						     {0}};

static const struct event_field call_fields[] = {{"id", FIELD_I32, AT(syscall.id)},
						 {"args", FIELD_WORDS, AT(syscall.registers)},
						 {"ret", FIELD_I64, AT(syscall.ret)},
						 {0}};

/* record/ has such probes; numbers of addresses as they lie in memory. */
static const struct event_field told_fields[] = {
	{"name", FIELD_STRING, AT(syscall.filename)},
	{"family", FIELD_I32, AT(syscall.family)},
	{"port", FIELD_I32, AT(syscall.port)},
	{"v4", FIELD_I64, AT(syscall.data)},
	{"v6a", FIELD_I64, AT(syscall.start)},
	{"v6b", FIELD_I64, AT(syscall.length)},
	{0}};

/* Where the tracepoint's fields are called as LTTng's there is no row. */
static const struct {
	const struct event_field *fields;
	uint8_t kind, ending;
} rows[] = {
	{switch_fields, EV_SCHED_SWITCH, ENDING_SWITCH},
	{wake_fields, EV_SCHED_WAKING, ENDING_NONE},
	{wake_fields, EV_SCHED_WAKEUP, ENDING_NONE},
	{wake_fields, EV_SCHED_WAKEUP_NEW, ENDING_NONE},
	{wake_fields, EV_SCHED_MIGRATE, ENDING_NONE},
	{fork_fields, EV_PROCESS_FORK, ENDING_NONE},
	{exit_fields, EV_PROCESS_EXIT, ENDING_NONE},
	{exit_fields, EV_PROCESS_FREE, ENDING_NONE},
	{told_fields, EV_CALL_TOLD, ENDING_ADDRESS},
	{priority_fields, EV_PI_SETPRIO, ENDING_PRIORITIES},
	{block_fields, EV_BLOCK_INSERT, ENDING_BLOCK},
	{block_fields, EV_BLOCK_ISSUE, ENDING_BLOCK},
	{block_fields, EV_BLOCK_REQUEUE, ENDING_BLOCK},
	{block_fields, EV_BLOCK_BIO, ENDING_BLOCK},
	{block_fields, EV_BLOCK_BIO_MERGED, ENDING_BLOCK},
	{block_fields, EV_BLOCK_REMAP, ENDING_BLOCK},
	{block_fields, EV_BLOCK_SPLIT, ENDING_BLOCK},
	{block_end_fields, EV_BLOCK_COMPLETE, ENDING_BLOCK},
	{block_end_fields, EV_BLOCK_BIO_COMPLETE, ENDING_BLOCK},
};

/* A probe of what a call's address leads to. */
static bool tells_call(const char *probe)
{
	return strcmp(probe, "file_name") == 0 || strcmp(probe, "connect") == 0 ||
	       strcmp(probe, "peer_address") == 0;
}

char *tracepoint_name(const char *name)
{
	const char *colon = strchr(name, ':');

	if (colon && g_str_has_prefix(name, OWN_PROBES) && tells_call(colon + 1))
		return g_strconcat("call_", colon + 1, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(renamed); i++) {
		size_t length = strlen(renamed[i].tracepoint);

		if (strncmp(name, renamed[i].tracepoint, length) == 0)
			return g_strconcat(renamed[i].lttng, name + length, NULL);
	}
	return g_strdup(colon ? colon + 1 : name);
}

static void make_own(struct event_class *class, const char *name)
{
	bool entry = strcmp(name, "raw_syscalls:sys_enter") == 0;

	if (entry || strcmp(name, "raw_syscalls:sys_exit") == 0) {
		class->kind = entry ? EV_SYSCALL_ENTRY : EV_SYSCALL_EXIT;
		class->argument = 0;
		class->fields = call_fields;
		class->ending = ENDING_CALL;
		return;
	}
	/* kvm:kvm_page_fault and the like are something else */
	if ((class->kind == EV_PAGE_FAULT_USER || class->kind == EV_PAGE_FAULT_KERNEL) &&
	    strncmp(name, "exceptions:", strlen("exceptions:")) != 0)
		event_class_pass_over(class);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].kind == class->kind) {
			class->fields = rows[i].fields;
			class->ending = rows[i].ending;
		}
}

struct event_class event_class_of_tracepoint(struct intern *names, const char *name)
{
	g_autofree char *plain = tracepoint_name(name);
	struct event_class class = event_class_of(names, plain);

	make_own(&class, name);
	return class;
}

const struct event_field *perf_thread_fields(void)
{
	static const struct event_field fields[] = {
		{"perf_tid", FIELD_I32, AT(tid)}, {"perf_pid", FIELD_I32, AT(pid)}, {0}};

	return fields;
}

const struct event_field *address_fields(void)
{
	return told_fields;
}

bool filter_wants_tracepoint(const struct event_filter *filter, const char *name)
{
	g_autofree char *plain = NULL;

	if (event_filter_wants(filter, name))
		return true;
	plain = strchr(name, ':') ? tracepoint_name(name) : NULL;
	return plain && event_filter_wants(filter, plain);
}

static uint32_t flag_of(char letter)
{
	static const struct {
		char letter;
		uint32_t flag;
	} flags[] = {{'W', 1}, {'D', 2},  {'E', 128}, {'R', 4},
		     {'A', 8}, {'S', 32}, {'M', 64},  {'F', 512}};

	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
		if (flags[i].letter == letter)
			return flags[i].flag;
	return 0;
}

/* blk_fill_rwbs(): "F" for a flush ahead, the operation ("F" is a flush), then its flags, where
 * "F" is forced unit access. To LTTng's bits. */
static uint32_t flags_of(const char *letters)
{
	const char *at = letters ? letters : "";
	uint32_t found = 0;

	if (at[0] == 'F' && at[1] && strchr("WRDNF", at[1])) {
		found |= 1024;
		at++;
	}
	if (*at)
		found |= *at == 'F' ? 256 : flag_of(*at);
	for (at += *at != '\0'; *at; at++)
		found |= flag_of(*at);
	return found;
}

static void to_priority(int32_t *priority)
{
	if (*priority != NO_PRIORITY)
		*priority -= NORMAL_PRIORITIES;
}

#define FAMILY_INET 2
#define FAMILY_INET6 10

/* The bytes lie in the event itself. */
void event_finish_address(struct event_syscall *call)
{
	call->port = GUINT16_FROM_BE((uint16_t) call->port);
	if (call->family == FAMILY_INET)
		call->v4 = (struct event_bytes) {(const uint8_t *) &call->data, 4};
	if (call->family == FAMILY_INET6)
		call->v6 = (struct event_bytes) {(const uint8_t *) &call->start, 16};
}

static int64_t word_at(struct event_bytes list, uint32_t index)
{
	int64_t value = 0;

	if ((uint64_t) (index + 1) * sizeof value <= list.count)
		memcpy(&value, list.bytes + index * sizeof value, sizeof value);
	return value;
}

static void finish_call(struct event *event, struct numbered_calls *calls)
{
	struct event_bytes registers = event->syscall.registers;
	const struct numbered_call *call = numbered_call(calls, event->syscall.id);
	const struct event_class *class;

	event->syscall.registers = (struct event_bytes) {NULL, 0};
	if (!call)
		return;
	class = event->kind == EV_SYSCALL_ENTRY ? &call->entry : &call->exit;
	event->name = class->name;
	event->syscall.name = class->argument;
	event->syscall.id = -1;
	if (event->kind == EV_SYSCALL_ENTRY)
		for (uint32_t i = 0; call->arguments[i].name; i++)
			event_store(event, call->arguments[i].field, word_at(registers, i));
}

void event_finish(struct event *event, const struct event_class *class,
		  struct numbered_calls *calls)
{
	if (event->kind != class->kind)
		return;
	switch ((enum event_ending) class->ending) {
	case ENDING_NONE:
		break;
	case ENDING_SWITCH:
		to_priority(&event->sched_switch.next_prio);
		to_priority(&event->sched_switch.prev_prio);
		break;
	case ENDING_PRIORITIES:
		to_priority(&event->priority.from);
		to_priority(&event->priority.to);
		break;
	case ENDING_BLOCK:
		event->block.rwbs = flags_of(event->block.letters);
		event->block.letters = NULL;
		break;
	case ENDING_CALL:
		finish_call(event, calls);
		break;
	case ENDING_ADDRESS:
		event_finish_address(&event->syscall);
		break;
	}
}
