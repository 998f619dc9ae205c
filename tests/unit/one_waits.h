/* SPDX-License-Identifier: MIT */
/* One thread waits for another: what re-timing is tried on first. */
#ifndef WHYLATE_TESTS_ONE_WAITS_H
#define WHYLATE_TESTS_ONE_WAITS_H

#include "feed.h"

/*   T (1)  0 user 10 read 12 waits for W ── 60 ready 70 read 80
 *   W (2)  0 user ───────────────────────── 60 wakes T, goes on until 100
 */
static inline struct feed *one_waits(void)
{
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 0, 1, "idle", 0, 0, "W", 2);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 12, 0, "T", 1, SLEEPS, "idle", 0);
	waking(feed, 60, 1, 1);
	sw(feed, 70, 0, "idle", 0, 0, "T", 1);
	leave(feed, 80, 0, "read", 1);
	plain(feed, 100, 1, "sched_other");
	return feed;
}

#endif
