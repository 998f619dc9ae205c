/* SPDX-License-Identifier: MIT */
/* See jobs.h. */
#include "jobs/jobs.h"

#include <pthread.h>

struct jobs {
	job_part *part;
	void *data;
	gint count, next; /* `next`: the first part that nobody has begun */
};

static void *some(void *data)
{
	struct jobs *jobs = data;

	for (gint i; (i = g_atomic_int_add(&jobs->next, 1)) < jobs->count;)
		jobs->part(jobs->data, (guint) i);
	return NULL;
}

void jobs_do(guint count, guint threads, job_part *part, void *data)
{
	struct jobs jobs = {part, data, (gint) count, 0};
	guint most = MIN(threads, count), begun = 0;
	g_autofree pthread_t *others = g_new(pthread_t, most);

	while (begun + 1 < most && pthread_create(&others[begun], NULL, some, &jobs) == 0)
		begun++;
	some(&jobs);
	for (guint i = 0; i < begun; i++)
		pthread_join(others[i], NULL);
}
