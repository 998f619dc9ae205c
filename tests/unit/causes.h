/* SPDX-License-Identifier: MIT */
/* What ended a thread's waits, as text. */
#ifndef WHYLATE_TESTS_CAUSES_H
#define WHYLATE_TESTS_CAUSES_H

#include "feed.h"

#include "waits/causality.h"
#include "waits/causes.h"

/* "KIND: LABEL" of the nth wait of `tid`. */
static inline const char *cause_of(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause = wait_cause(feed->session, g_ptr_array_index(waits, nth));

	g_ptr_array_add(feed->texts,
			g_strdup_printf("%s: %s", cause_kind_text(cause.kind), cause.label));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#endif
