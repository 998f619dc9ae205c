/* SPDX-License-Identifier: MIT */
/* See guest_irqs.h. */
#include "guests/guest_irqs.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_VECTOR 16 /* those below are exceptions, NMI, and the start of a CPU */
#define VECTORS 256
#define APICS_MAX 0x10000
#define ANY_MACHINE 0 /* no process has this number */
#define SEVERAL_MACHINES (IDMAP_NONE - 1)

static bool wanted(const struct flow *flow)
{
	return flow->operations_wanted & 1u << OPERATION_GUEST_IRQ;
}

static uint64_t process_key(uint16_t host, int32_t pid)
{
	return (uint64_t) host << 32 | (uint32_t) pid;
}

/* The machine that a thread works for: ANY_MACHINE if that is not known. */
static int32_t machine_of(const struct flow *flow, const struct cpu *cpu)
{
	static const char vhost[] = "vhost-"; /* a worker of the kernel's for the process PID */
	const struct thread *thread = cpu->depth ? NULL : flow_current(flow, cpu);
	const char *name = thread ? intern_text(flow->names, thread->name) : "";
	int32_t pid = thread ? thread->pid : 0;

	if (strncmp(name, vhost, strlen(vhost)) == 0)
		pid = atoi(name + strlen(vhost));
	if (pid <= 0 ||
	    idmap_get(&flow->guest_processes, process_key(thread->host, pid)) == IDMAP_NONE)
		return ANY_MACHINE;
	return pid;
}

/* Since when that interrupt of that machine has been due; NULL: it never was. */
static int64_t *due_since(struct flow *flow, uint16_t host, int32_t pid, uint32_t apic,
			  uint32_t vector, bool make)
{
	uint64_t key = (uint64_t) host << 48 | (uint64_t) (pid & 0xffffff) << 24 |
		       (uint64_t) apic << 8 | vector; /* PID_MAX_LIMIT is 22 bits */
	uint32_t at = idmap_get(&flow->guest_irqs, key);
	int64_t none = INT64_MIN;

	if (at == IDMAP_NONE && !make)
		return NULL;
	if (at == IDMAP_NONE) {
		if (!flow->guest_irqs_due)
			flow->guest_irqs_due = g_array_new(FALSE, FALSE, sizeof none);
		at = flow->guest_irqs_due->len;
		g_array_append_val(flow->guest_irqs_due, none);
		idmap_set(&flow->guest_irqs, key, at);
	}
	return &g_array_index(flow->guest_irqs_due, int64_t, at);
}

static bool is_told(const struct event *event)
{
	return event->kvm.vector >= FIRST_VECTOR && event->kvm.vector < VECTORS;
}

void flow_guest_irq_due(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	int64_t *since;

	if (!wanted(flow) || !is_told(event) || event->kvm.apic < 0 ||
	    event->kvm.apic >= APICS_MAX || flow_in_gap(flow, cpu))
		return;
	since = due_since(flow, event->host, machine_of(flow, cpu), (uint32_t) event->kvm.apic,
			  (uint32_t) event->kvm.vector, true);
	if (*since == INT64_MIN) /* else it is one with the one that waits */
		*since = flow->time;
}

/* Takes what has been due; INT64_MIN: nothing. */
static int64_t take(struct flow *flow, const struct thread *thread, int32_t pid, uint32_t vector)
{
	int64_t *since = due_since(flow, thread->host, pid, thread->flow.apic - 1, vector, false);
	int64_t time = since ? *since : INT64_MIN;

	if (since)
		*since = INT64_MIN;
	return time;
}

void flow_guest_irq_injected(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	uint32_t vector = (uint32_t) event->kvm.vector, none = 0;
	struct operation operation = {.cpu = operation_cpu(cpu->id),
				      .what = PACK(OPERATION_GUEST_IRQ, vector),
				      .thread = cpu->current};
	int64_t since, of_any;

	if (!thread || !wanted(flow) || !is_told(event))
		return;
	if (!thread->flow.apic) { /* it may be any of those that are due */
		guest_irqs_drop(flow);
		return;
	}
	since = take(flow, thread, thread->pid, vector);
	of_any = take(flow, thread, ANY_MACHINE, vector);
	if (of_any != INT64_MIN && (since == INT64_MIN || of_any < since) &&
	    idmap_get(&flow->guest_hosts, thread->host) == (uint32_t) thread->pid)
		since = of_any; /* there is no other machine */
	if (since == INT64_MIN || flow->time - since > OPERATION_DURATION_MAX)
		return;
	operation.begin = since;
	operation.duration = (uint64_t) (flow->time - since);
	operation.off_cpu = thread->flow.left >= since;
	operation_append(&flow->timeline->operations, &none, &operation);
}

void flow_guest_irq_ended(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	uint32_t only;

	if (!thread || !wanted(flow) || thread->pid <= 0 || event->kvm.apic < 0 ||
	    event->kvm.apic >= APICS_MAX)
		return;
	thread->flow.apic = (uint32_t) event->kvm.apic + 1;
	if (idmap_get(&flow->guest_processes, process_key(thread->host, thread->pid)) != IDMAP_NONE)
		return;
	idmap_set(&flow->guest_processes, process_key(thread->host, thread->pid), 1);
	only = idmap_get(&flow->guest_hosts, thread->host);
	if (only == IDMAP_NONE)
		idmap_set(&flow->guest_hosts, thread->host, (uint32_t) thread->pid);
	else if (only != (uint32_t) thread->pid)
		idmap_set(&flow->guest_hosts, thread->host, SEVERAL_MACHINES);
}

void guest_irqs_drop(struct flow *flow)
{
	for (guint i = 0; flow->guest_irqs_due && i < flow->guest_irqs_due->len; i++)
		g_array_index(flow->guest_irqs_due, int64_t, i) = INT64_MIN;
}
