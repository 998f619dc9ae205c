/* SPDX-License-Identifier: MIT */
/* Calls that failed as something was short, broken or gone: each is kept, whatever came of it.
 *
 *   gateway  ── recvfrom = ECONNRESET ── (no try, no wait: it tells its clients so from now on)
 *
 * Others are part of a healthy life, and not kept: what was not there (ENOENT), nothing to do yet
 * (EAGAIN, EINTR, EINPROGRESS), a time limit (ETIMEDOUT, but of a connection), questions of what
 * there is (EINVAL, ENOTTY, ENOSYS …).
 *
 * Place: tries/; who tries such a call again and again: call_tries.h. Source: own, after
 * asm-generic/errno.h and the calls' manual pages; docs/semantics.md, "Calls that failed".
 */
#ifndef WHYLATE_TRIES_FAILURES_H
#define WHYLATE_TRIES_FAILURES_H

#include "state/state.h"

/* The call of the thread has ended with `ret`; before its effects. */
void failure_noted(struct flow *flow, uint32_t index, int64_t ret);

#endif
