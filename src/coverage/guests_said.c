/* SPDX-License-Identifier: MIT */
/* See guests_said.h. */
#include "coverage/guests_said.h"

/* The first thread of the host that runs a virtual CPU; NO_THREAD. */
static uint32_t vcpu_of(const struct model *model, guint host)
{
	for (uint32_t i = 0; i < model->thread_count; i++)
		if (model_thread(model, i)->vcpu && model_thread(model, i)->host == host)
			return i;
	return NO_THREAD;
}

/* Why none of the machines of `outside` is told to run `inside`. */
static char *why_not(const struct session *session, guint inside, guint outside)
{
	const struct model *model = &session->trace.model;
	const struct host *a = model_host(model, inside), *b = model_host(model, outside);
	const char *name = trace_host_name(&session->trace, inside);
	const char *host = trace_host_name(&session->trace, outside);

	if (a->guest.known == GUEST_UNCLEAR)
		return g_strdup_printf("which virtual machine of %s %s is: several fit as well; no "
				       "time of it is put down to its host (say which: --guest "
				       "%s=PID)",
				       host, name, name);
	if (a->clock.group == b->clock.group && (a->end <= b->begin || b->end <= a->begin))
		return g_strdup_printf("whether %s is a guest of %s: their traces do not overlap",
				       name, host);
	if (a->clock.group != b->clock.group)
		return g_strdup_printf("whether %s is a guest of %s: their clocks could not be "
				       "brought together, by packets or by when virtual CPUs ran: "
				       "record a TCP connection between the two as well, or say "
				       "how far its clock is ahead (--clock-offset %s=TIME, as in "
				       "%s=2ms)",
				       name, host, name, name);
	return g_strdup_printf("the host of %s: it is none of the virtual machines of %s, as it "
			       "worked while their virtual CPUs did not run, or its clock is off",
			       name, host);
}

/* "what the guests of hypervisor did (qemu-system-x86 (265)): …" */
static char *untraced(const struct session *session, guint number, uint32_t vcpu)
{
	const struct model *model = &session->trace.model;
	const struct thread *thread = model_thread(model, vcpu);
	uint32_t leader =
		thread->pid < 0
			? IDMAP_NONE
			: idmap_get(&model_host(model, number)->tids, (uint32_t) thread->pid);
	const char *name = session_thread_name(session, leader == IDMAP_NONE ? vcpu : leader);

	return g_strdup_printf("what the guest of %s (%d) did: its own trace is not here (record "
			       "it in the guest at the same time, and give both)",
			       name, thread->pid < 0 ? thread->tid : thread->pid);
}

void guests_troubles(const struct session *session, GPtrArray *list)
{
	const struct model *model = &session->trace.model;
	guint hosts = model->hosts->len;

	for (guint outside = 0; outside < hosts; outside++) {
		uint32_t vcpu = vcpu_of(model, outside);

		if (!is_thread(vcpu))
			continue;
		for (guint inside = 0; inside < hosts; inside++)
			if (inside != outside &&
			    !is_thread(model_host(model, inside)->guest.machine) &&
			    !is_thread(vcpu_of(model, inside)))
				g_ptr_array_add(list, why_not(session, inside, outside));
		if (hosts == 1)
			g_ptr_array_add(list, untraced(session, outside, vcpu));
	}
}
