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

/* Of the machine's process the thread that leads it, else `vcpu` itself. */
static uint32_t leader_of(const struct model *model, uint32_t vcpu)
{
	const struct thread *thread = model_thread(model, vcpu);
	uint32_t leader =
		thread->pid < 0
			? IDMAP_NONE
			: idmap_get(&model_host(model, thread->host)->tids, (uint32_t) thread->pid);

	return leader == IDMAP_NONE ? vcpu : leader;
}

/* Some traced host is that machine's guest. */
static bool is_traced(const struct model *model, uint32_t machine)
{
	for (guint i = 0; i < model->hosts->len; i++)
		if (model_host(model, i)->guest.machine == machine)
			return true;
	return false;
}

/* "what the guest of qemu-system-x86 (265) did: …", of each machine of the host. */
static void add_untraced(const struct session *session, guint host, GPtrArray *list)
{
	const struct model *model = &session->trace.model;
	g_autoptr(GHashTable) said = g_hash_table_new(NULL, NULL);

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);
		uint32_t machine;

		if (!thread->vcpu || thread->host != host)
			continue;
		machine = leader_of(model, i);
		if (is_traced(model, machine) || !g_hash_table_add(said, GUINT_TO_POINTER(machine)))
			continue;
		g_ptr_array_add(list,
				g_strdup_printf("what the guest of %s (%d) did: its own trace is "
						"not here (record it in the guest at the same "
						"time, and give both)",
						session_thread_name(session, machine),
						thread->pid < 0 ? thread->tid : thread->pid));
	}
}

void guests_troubles(const struct session *session, GPtrArray *list)
{
	const struct model *model = &session->trace.model;
	guint hosts = model->hosts->len;

	for (guint outside = 0; outside < hosts; outside++) {
		bool unplaced = false; /* a host that may be one of its guests */

		if (!is_thread(vcpu_of(model, outside)))
			continue;
		for (guint inside = 0; inside < hosts; inside++)
			if (inside != outside &&
			    !is_thread(model_host(model, inside)->guest.machine) &&
			    !is_thread(vcpu_of(model, inside))) {
				unplaced = true;
				g_ptr_array_add(list, why_not(session, inside, outside));
			}
		if (!unplaced)
			add_untraced(session, outside, list);
	}
}
