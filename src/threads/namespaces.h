/* SPDX-License-Identifier: MIT */
/* Which namespaces threads are in, as events tell.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_NAMESPACES_H
#define WHYLATE_THREADS_NAMESPACES_H

#include "state/state.h"

/* The statedump's record of one thread at one level. */
void dump_namespaces(struct flow *flow, const struct event *event);
/* Before the fork's own record: the parent's namespaces, but those that the call
 * makes anew; its `flags`, -1: not known. */
void inherit_namespaces(struct flow *flow, struct thread *child, const struct thread *parent,
			int64_t flags);
/* What the fork's record says; `parent` may be NULL. */
void fork_namespaces(struct flow *flow, struct thread *child, struct thread *parent,
		     const struct event *event);
/* unshare or setns succeeded in `thread`. */
void namespaces_changed(struct flow *flow, struct thread *thread);
/* The contexts of a switch, of the thread that left. */
void context_namespaces(struct flow *flow, struct thread *thread, const struct event *event);

#endif
