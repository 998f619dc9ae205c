/* SPDX-License-Identifier: MIT */
/* When CPUs were taken offline, and by whom.
 *
 *   powerd   ── write(cpu1/online) ├── waits ──
 *   CPU 1    … ┤cpuhp/1├┤migration/1├─── nothing: offline ───┤ …
 *
 * The last that a CPU does is to run its stopper thread (migration/N), behind its hotplug thread
 * (cpuhp/N), while who has it taken offline waits in a write to its file under /sys. What has the
 * CPU next comes when it is online again. Inferred.
 *
 * Place: ready/. Source: the kernel's takedown_cpu(), take_cpu_down(), cpuhp_kick_ap_work().
 */
#ifndef WHYLATE_READY_OFFLINE_H
#define WHYLATE_READY_OFFLINE_H

#include "run/session.h"

struct offline {
	uint16_t host;
	uint32_t cpu;
	uint32_t by; /* NO_THREAD: not seen */
	int64_t begin, end; /* ns */
};

/* Of all hosts, in the whole trace: struct offline, of each CPU by begin; of the session. */
const GArray *offline_times(const struct session *session);
/* Some of [from, to) is among such times. */
bool was_offline(const GArray *times, uint16_t host, uint32_t cpu, int64_t from, int64_t to);

#endif
