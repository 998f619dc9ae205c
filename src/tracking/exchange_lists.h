/* SPDX-License-Identifier: MIT */
/* What was read from and written to connections, by thread and by end.
 *
 * Place: tracking/, over the exchanges that were recorded (timeline/exchange.h).
 */
#ifndef WHYLATE_TRACKING_EXCHANGE_LISTS_H
#define WHYLATE_TRACKING_EXCHANGE_LISTS_H

#include "run/session.h"
#include "util/spill.h"

static inline const struct exchange *exchange_at(const struct session *session, uint32_t index)
{
	return pages_at(&session->trace.timeline.exchanges, index);
}

static inline const struct channel_end *end_at(const struct session *session, uint32_t number)
{
	return pages_at(&session->trace.timeline.ends, number);
}

/* The exchanges of one kind that moved bytes, of each thread or each end, in order of
 * time: `order` (NULL: as they are stored). */
struct exchange_lists {
	uint32_t *first; /* owned; of each: where its list begins; one more at the end */
	uint32_t *last; /* owned; of each, where exchange_before() ended: it begins there */
	uint32_t *list; /* indices of exchanges: of … */
	struct spill_block block; /* owned */
};
struct exchange_lists *exchange_lists_new(const struct session *session, const guint32 *order,
					  enum exchange_kind kind, bool by_end);
void exchange_lists_free(struct exchange_lists *lists);
/* The last one of number `of` that took effect by `time`, 0: none. */
uint32_t exchange_before(const struct session *session, const struct exchange_lists *lists,
			 uint32_t of, int64_t time);
/* Of connections that were there before the trace (old_connections.c): fills `roles`, and `peers`
 * where these are not known. */
struct user_requests;
void old_connections_find(struct user_requests *requests);
/* When it takes effect: see timeline/exchange.h. */
int64_t exchange_time(const struct exchange *exchange);

#endif
