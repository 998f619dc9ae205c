/* SPDX-License-Identifier: MIT */
/* Who emptied the page cache: what is read after that comes from a disk again.
 *
 * Place: stands/, for the sentences of disks. Source: proc(5), /proc/sys/vm/drop_caches.
 */
#ifndef WHYLATE_STANDS_DROPPED_H
#define WHYLATE_STANDS_DROPPED_H

#include "stands/fact.h"

/* Who first opened that file for writing, if nine tenths of what the fact adds up, reads or page
 * faults, came after; else NO_THREAD. */
uint32_t cache_dropped_before(const struct session *session, const struct fact *fact);

#endif
