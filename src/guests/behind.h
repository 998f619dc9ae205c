/* SPDX-License-Identifier: MIT */
/* What was behind a guest's waits on its host: reasons (timeline/reason.h) that lead there.
 *
 *   guest  app     ├ sleeps ──┤due          ├  ├ reads /dev/vdd ─────────────────┤
 *   host   vCPU               ├ preempted ──┤    │ request                      ▲ IRQ
 *          worker                                ├ preadv: host's disk ─┤       │
 *          main                                             waits for it ├ write ┘
 *
 * - A request that a device of the machine served: who of its process wrote or called ioctl last
 *   before the interrupt came told the kernel to send it. He is led to from the request's issue on,
 *   and by his own waits to who did the work: a worker, the host's disk, its limit.
 * - A timer that came late: from when it was due on, the wait is the virtual CPU's thread's.
 *
 * Inferred, both. Place: guests/, when all clocks are one.
 */
#ifndef WHYLATE_GUESTS_BEHIND_H
#define WHYLATE_GUESTS_BEHIND_H

#include "model/model.h"
#include "timeline/timeline.h"

void behind_apply(const struct model *model, struct timeline *timeline);

#endif
