/* SPDX-License-Identifier: MIT */
/* Signals as people call them.
 *
 * Place: event/.
 */
#ifndef WHYLATE_EVENT_SIGNALS_H
#define WHYLATE_EVENT_SIGNALS_H

#include <glib.h>
#include <stdint.h>

/* "SIGUSR1"; "": it has no name. */
const char *signal_name(uint64_t number);
/* "signal 10 (SIGUSR1)" */
void append_signal(GString *label, uint64_t number);

#endif
