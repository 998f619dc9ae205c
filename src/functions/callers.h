/* SPDX-License-Identifier: MIT */
/* From where functions are called: by threads, with --function; in interrupts and the idle loop.
 * Place: functions/. */
#ifndef WHYLATE_FUNCTIONS_CALLERS_H
#define WHYLATE_FUNCTIONS_CALLERS_H

#include "functions/found_calls.h"

void caller_clear(gpointer caller);
/* Fills functions->callers. */
void callers_add(struct functions *functions);
/* Fills functions->in_interrupts. */
void interrupt_calls_add(struct functions *functions);

#endif
