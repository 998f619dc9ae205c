/* SPDX-License-Identifier: MIT */
/* See idling.h. */
#include "ready/idling.h"

#include "ready/cpu_runs.h"

static void idled(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct idling *idling = data;

	if (!idling->any)
		idling->began_idle = thread == IDLE_THREAD;
	idling->any = true;
	if (thread == IDLE_THREAD)
		idling->idle += end - begin;
	else if (thread == NO_THREAD)
		idling->unknown += end - begin;
}

struct idling idling_of_cpu(const struct session *session, uint16_t host, uint32_t cpu,
			    int64_t begin, int64_t end)
{
	struct idling idling = {0};

	each_run(session, host, cpu, begin, end, idled, &idling);
	return idling;
}
