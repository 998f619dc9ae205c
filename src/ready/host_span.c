/* SPDX-License-Identifier: MIT */
/* See host_span.h. */
#include "ready/host_span.h"

/* The state of `vcpu` in which it was most of the span; cut to that. */
static bool state_of(const struct session *session, uint32_t vcpu, const struct span *span,
		     struct span *outside)
{
	struct spans spans;
	struct span at;
	int64_t most = 0;

	spans_begin(&spans, session, vcpu, span->begin, span->end);
	while (spans_next(&spans, &at)) {
		if (leaf_is_off_cpu(at.leaf) && at.end - at.begin > most) {
			most = at.end - at.begin;
			*outside = at;
		}
	}
	return most > 0;
}

uint32_t host_span(const struct session *session, uint32_t thread, const struct span *span,
		   struct span *outside)
{
	uint32_t vcpu = span->ref;
	struct span was;

	if (session->recorded) {
		was = session->recorded->span(session->recorded->data, thread, span);
		return host_span(session->recorded->session, thread, &was, outside);
	}
	if (!is_thread(vcpu) || !state_of(session, vcpu, span, outside))
		return NO_THREAD;
	for (guint i = 0; i < session->trace.model.hosts->len && span_is_hosts(outside->leaf);
	     i++) {
		struct span inner = *outside;

		vcpu = inner.ref;
		if (!is_thread(vcpu) || !state_of(session, vcpu, &inner, outside))
			return NO_THREAD;
	}
	return vcpu;
}

/* The traced host that runs on this virtual CPU; the number of hosts: none. */
static guint guest_of(const struct model *model, uint32_t vcpu)
{
	guint i;

	for (i = 0; i < model->hosts->len; i++) {
		const struct host *host = model_host(model, i);

		for (guint k = 0; is_thread(host->guest.machine) && k < host->cpus->len; k++)
			if (((const struct cpu *) g_ptr_array_index(host->cpus, k))->vcpu == vcpu)
				return i;
	}
	return i;
}

const char *name_of_who_ran(const struct session *session, uint32_t thread)
{
	const struct model *model = &session->trace.model;
	const char *name = session_thread_name(session, thread);
	g_autofree char *text = NULL;
	guint guest;

	if (!is_thread(thread) || !model_thread(model, thread)->vcpu)
		return name;
	guest = guest_of(model, thread);
	if (guest == model->hosts->len)
		return name;
	text = g_strdup_printf("%s of %s", name, trace_host_name(&session->trace, guest));
	return session_text(session, intern_id(model->names, text));
}
