/* SPDX-License-Identifier: MIT */
/* A hinge: what the end of a wait hangs on, and so moves with.
 *
 *   T ──┤ waits            ├──       FOLLOWS      W's time `time`, as long after it as recorded
 *       b                  e         KEEPS_LENGTH as long as it was, from when T begins to wait
 *   W ────────┬ time                 KEEPS_TIME   over at the time of day at which it was
 *
 * Place: whatif/, over waits/ (whom a wait is led to). Source: semantics.md, "What if".
 */
#ifndef WHYLATE_WHATIF_HINGE_H
#define WHYLATE_WHATIF_HINGE_H

#include "waits/wait.h"

enum hinge_kind { KEEPS_LENGTH, KEEPS_TIME, FOLLOWS };

/* What is not sure of it. */
enum hinge_doubt {
	HINGE_SURE,
	HINGE_ANCHORED, /* nothing tells what it hangs on: it keeps its time of day */
	HINGE_INFERRED, /* that it follows that thread is concluded */
	HINGE_GAP,      /* across lost events */
};

struct hinge { /* 32 bytes: of each wait that matters one is kept (reach.c) */
	enum hinge_kind kind : 8;
	enum hinge_doubt doubt : 8;
	bool whichever; /* it waited for what came first, from anybody (epoll_wait, accept) */
	uint32_t thread; /* FOLLOWS; maybe the waiter itself, before the wait */
	int64_t time;
	int64_t since; /* since then `thread` had had the lock; INT64_MIN */
	uint32_t lock; /* that it waited for; 0 */
};

struct hinge hinge_of(const struct session *session, const struct wait *wait,
		      const struct span *span);

#endif
