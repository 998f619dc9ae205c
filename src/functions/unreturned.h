/* SPDX-License-Identifier: MIT */
/* Calls that did not return. Place: functions/. */
#ifndef WHYLATE_FUNCTIONS_UNRETURNED_H
#define WHYLATE_FUNCTIONS_UNRETURNED_H

#include "functions/found_calls.h"

void unreturned_clear(gpointer unreturned);
/* Fills functions->unreturned. */
void unreturned_add(struct functions *functions);

#endif
