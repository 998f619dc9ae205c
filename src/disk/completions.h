/* SPDX-License-Identifier: MIT */
/* Completed requests: what a wake-up is told of one, and of whose parts it was.
 *
 * Place: disk/, under block.c and bios.c, which complete them.
 */
#ifndef WHYLATE_DISK_COMPLETIONS_H
#define WHYLATE_DISK_COMPLETIONS_H

#include "state/state.h"

/* A write that was to be on the medium completes a second time, without a
 * length, when the flush after it has: it was served until then. NULL: none such. */
struct request *completed_before(struct host *host, const struct event *event);
/* The last ones are kept for those whom their completion wakes: its place, from 1. */
uint32_t request_keep(struct host *host, const struct request *request);
void request_describe(struct flow *flow, struct host *host, const struct request *request,
		      struct wake_detail *detail);
/* Of a request merged of several threads' bios, `detail` (a copy of what its
 * completion left pending) gets the part of who was woken, if he has one. */
void block_detail_for(const struct flow *flow, struct host *host, struct wake_detail *detail,
		      const struct thread *woken);
/* `detail`, pending where `woken` is being woken, is of a bio of a device without requests, and
 * he asked for it. */
bool is_bio_of(const struct flow *flow, const struct host *host, const struct wake_detail *detail,
	       const struct thread *woken);
/* The request that `thread` asked for and that completed last, since it is blocked:
 * what its completion had left pending, and when that was. False: none. */
bool block_completed_for(struct flow *flow, struct host *host, const struct thread *thread,
			 struct wake_detail *detail, int64_t *end);

#endif
