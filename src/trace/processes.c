/* SPDX-License-Identifier: MIT */
/* See processes.h. */
#include "trace/processes.h"

#include "util/idmap.h"

static int by_begin(gconstpointer a, gconstpointer b, gpointer model)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int64_t begin_x = model_thread(model, x)->begin, begin_y = model_thread(model, y)->begin;

	if (begin_x != begin_y)
		return begin_x < begin_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void number(struct processes *processes, const struct model *model)
{
	struct idmap firsts; /* host and PID -> first thread */

	idmap_init(&firsts);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);
		uint64_t key = (uint64_t) thread->host << 32 | (uint32_t) thread->pid;
		uint32_t first = thread->pid < 0 ? IDMAP_NONE : idmap_get(&firsts, key);

		if (first == IDMAP_NONE) {
			first = i;
			if (thread->pid >= 0)
				idmap_set(&firsts, key, i);
		}
		processes->first[i] = first;
		processes->count[first]++;
	}
	idmap_clear(&firsts);
}

void processes_init(struct processes *processes, const struct model *model)
{
	uint32_t all = model->thread_count, place = 0;

	processes->first = g_new(uint32_t, all + 1);
	processes->place = g_new(uint32_t, all + 1);
	processes->count = g_new0(uint32_t, all + 1);
	processes->threads = g_new(uint32_t, all + 1);
	number(processes, model);
	for (uint32_t i = 0; i < all; i++) /* a process's first comes before its others */
		if (processes->first[i] == i) {
			processes->place[i] = place;
			place += processes->count[i];
			processes->count[i] = 0;
		}
	for (uint32_t i = 0; i < all; i++) {
		uint32_t first = processes->first[i];

		processes->threads[processes->place[first] + processes->count[first]++] = i;
	}
	for (uint32_t i = 0; i < all; i++)
		if (processes->first[i] == i && processes->count[i] > 1)
			g_qsort_with_data(processes->threads + processes->place[i],
					  (gint) processes->count[i], sizeof(uint32_t), by_begin,
					  (gpointer) model);
}

void processes_clear(struct processes *processes)
{
	g_free(processes->first);
	g_free(processes->place);
	g_free(processes->count);
	g_free(processes->threads);
}

const uint32_t *process_before(const struct processes *processes, const struct model *model,
			       uint32_t thread, int64_t time, uint32_t *count)
{
	uint32_t first = processes->first[thread], low = 0, high = processes->count[first];
	const uint32_t *threads = processes->threads + processes->place[first];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (model_thread(model, threads[middle])->begin < time)
			low = middle + 1;
		else
			high = middle;
	}
	*count = low;
	return threads;
}
