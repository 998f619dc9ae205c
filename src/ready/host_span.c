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
