/* SPDX-License-Identifier: MIT */
/* See exchange_lists.h. */
#include "tracking/exchange_lists.h"

int64_t exchange_time(const struct exchange *exchange)
{
	return exchange->kind == EXCHANGE_READ || exchange->kind == EXCHANGE_ACCEPT
		       ? exchange->end_time
		       : exchange->begin;
}

struct exchange_lists *exchange_lists_new(const struct session *session, const guint32 *order,
					  enum exchange_kind kind, bool by_end)
{
	const struct pages *store = &session->trace.timeline.exchanges;
	uint32_t count =
		by_end ? session->trace.timeline.ends.used : session->trace.model.thread_count;
	struct exchange_lists *lists = g_new0(struct exchange_lists, 1);
	uint32_t *next = NULL;

	lists->first = g_new0(uint32_t, count + 2);
	lists->last = g_new0(uint32_t, count + 2);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 1; i < store->used; i++) {
			uint32_t at = order ? order[i] : i, number;
			const struct exchange *exchange = exchange_at(session, at);

			if (!order)
				pages_pass(store, i);
			if (exchange->kind != kind ||
			    (!exchange->bytes && exchange->end_time != INT64_MAX))
				continue;
			number = by_end ? exchange->end : exchange->thread;
			if (pass)
				lists->list[next[number]++] = at;
			else
				lists->first[number + 1]++;
		}
		if (pass)
			break;
		for (uint32_t i = 0; i <= count; i++)
			lists->first[i + 1] += lists->first[i];
		spill_block_make(&lists->block,
				 sizeof *lists->list * (lists->first[count + 1] + (size_t) 1));
		lists->list = lists->block.bytes;
		next = g_memdup2(lists->first, (count + 1) * sizeof *next);
	}
	g_free(next);
	spill_block_let_go(&lists->block);
	return lists;
}

void exchange_lists_free(struct exchange_lists *lists)
{
	if (!lists)
		return;
	g_free(lists->first);
	g_free(lists->last);
	spill_block_clear(&lists->block);
	g_free(lists);
}

static bool is_before(const struct session *session, const struct exchange_lists *lists,
		      uint32_t place, int64_t time)
{
	return exchange_time(exchange_at(session, lists->list[place])) <= time;
}

/* From the last answer on, in steps that double: who asks goes from one to the next, mostly. */
static void narrow(const struct session *session, const struct exchange_lists *lists, uint32_t from,
		   int64_t time, uint32_t *low, uint32_t *high)
{
	uint32_t step = 1;

	if (from < *low || from >= *high)
		return;
	if (is_before(session, lists, from, time)) {
		for (*low = from + 1; *high - *low > step; step *= 2) {
			if (!is_before(session, lists, *low + step, time)) {
				*high = *low + step;
				return;
			}
			*low += step + 1;
		}
	} else {
		for (*high = from; *high - *low > step; step *= 2) {
			if (is_before(session, lists, *high - step, time)) {
				*low = *high - step + 1;
				return;
			}
			*high -= step;
		}
	}
}

uint32_t exchange_before(const struct session *session, const struct exchange_lists *lists,
			 uint32_t of, int64_t time)
{
	uint32_t low = lists->first[of], high = lists->first[of + 1];

	narrow(session, lists, __atomic_load_n(&lists->last[of], __ATOMIC_RELAXED), time, &low,
	       &high);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(session, lists, middle, time))
			low = middle + 1;
		else
			high = middle;
	}
	__atomic_store_n(&lists->last[of], low, __ATOMIC_RELAXED);
	return low > lists->first[of] ? lists->list[low - 1] : 0;
}
