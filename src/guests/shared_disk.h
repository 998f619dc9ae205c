/* SPDX-License-Identifier: MIT */
/* Two guests on one disk of their host: a machine's wait for a request while the disk was busy
 * with those of another machine gets a reason that names that one.
 *
 *   machine A  ├ waits for its request ─────────────┤
 *   disk         ├ B's ──┤ B's ──────┤ B's ──┤ A's ─┤
 *
 * Whichever call made the requests (io_uring, aio, preadv): that of the waiter, and those of others
 * that the disk did meanwhile, are told apart by the process of who asked for them. The disk's time
 * is that from a completion, or from the issue if that was later, to the next completion. Of all
 * requests those are known that ended a wait, so the other's share is at least what is said.
 *
 * What looks alike and gets none: requests of another disk, of the machine itself, such as had
 * ended before the wait; and where what runs on the host itself had more of the disk.
 *
 * Place: guests/, when all clocks are one; beside disk/flush.h, which asks about calls that flush.
 */
#ifndef WHYLATE_GUESTS_SHARED_DISK_H
#define WHYLATE_GUESTS_SHARED_DISK_H

#include "model/model.h"
#include "timeline/timeline.h"

/* `machines`: struct machine, or NULL. */
void shared_disk_apply(const struct model *model, struct timeline *timeline,
		       const GArray *machines);

#endif
