/* SPDX-License-Identifier: MIT */
/* What the thread of a virtual CPU did on its host while its guest could not go on.
 *
 * A guest's stretch `interrupted/host:…` names that thread (struct interval.ref); its states on
 * the host tell the rest: who had its CPU, or what it waited for.
 *
 * Place: ready/.
 */
#ifndef WHYLATE_READY_HOST_SPAN_H
#define WHYLATE_READY_HOST_SPAN_H

#include "run/session.h"

static inline bool span_is_hosts(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_HOST;
}

/* The thread was ready on the host, and had no CPU. */
static inline bool span_is_hosts_ready(uint32_t leaf)
{
	return span_is_hosts(leaf) && PACK_NUMBER(leaf) != HOST_BLOCKED;
}

/* Of `span` of `thread`: the virtual CPU's thread, and its state then, as a span of its own; a
 * guest in a guest's leads to the outermost. Of a re-timed run, as recorded. NO_THREAD: not known
 * any more. */
uint32_t host_span(const struct session *session, uint32_t thread, const struct span *span,
		   struct span *outside);

#endif
