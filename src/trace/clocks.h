/* SPDX-License-Identifier: MIT */
/* One time for several hosts.
 *
 * Place: trace/, the last step of trace_gather(): all hosts were read by their
 * own clocks, beside each other (what one does never changes another's state),
 * and are now brought to the first host's:
 *
 *   pairs_init()   which packet is which
 *   clocks_find()  a line for each host's clock, and its error
 *   trace_shift()  every stored time of the other hosts is set right
 *   clocks_follow() what a packet from another host woke leads to its sender
 *
 * Hosts that no packet connects with the first keep their clocks (and their
 * own common time, if packets connect them); nothing is followed between them
 * and the others.
 */
#ifndef WHYLATE_TRACE_CLOCKS_H
#define WHYLATE_TRACE_CLOCKS_H

#include "trace/pairs.h"
#include "trace/trace.h"

/* Fills host.clock of all hosts. `offsets`: strings as clock_offset_parse() takes them. Errors: one
 * of them fits no host. */
bool clocks_find(struct trace *trace, const struct pairs *pairs, const GPtrArray *offsets,
		 GError **error);
void clocks_follow(struct trace *trace, const struct pairs *pairs);

/* Takes a --clock-offset apart: the host's name into `*host` (owned by the
 * caller; NULL: none was said) and the offset in ns. */
bool clock_offset_parse(const char *text, char **host, int64_t *ns, GError **error);

/* Error of the difference of two hosts' clocks, ns; -1: not known. */
int64_t clocks_error(const struct trace *trace, uint16_t a, uint16_t b);
/* What is to be said of the clocks where they could not be brought together,
 * one sentence a host; strings to free. */
void clocks_warnings(const struct trace *trace, GPtrArray *lines);

#endif
