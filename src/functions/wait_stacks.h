/* SPDX-License-Identifier: MIT */
/* Waits by the call stacks recorded there, and the functions of one. Place: functions/. */
#ifndef WHYLATE_FUNCTIONS_WAIT_STACKS_H
#define WHYLATE_FUNCTIONS_WAIT_STACKS_H

#include "functions/found_calls.h"

/* Fills functions->waits. */
void wait_stacks_add(struct functions *functions);

/* The functions of a call stack in user space, outermost first; owned strings. */
GPtrArray *user_callpath_new(const struct session *session, uint32_t thread, int64_t time,
			     uint32_t number);

/* The kernel's functions that led to a wake-up, outermost first, without what an interrupt
 * interrupted; owned strings. */
GPtrArray *waker_callpath_new(const struct session *session, uint32_t number);

#endif
