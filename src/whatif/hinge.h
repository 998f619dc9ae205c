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

struct hinge {
	enum hinge_kind kind;
	enum hinge_doubt doubt;
	uint32_t thread; /* FOLLOWS; maybe the waiter itself, before the wait */
	int64_t time;
	bool whichever; /* it waited for what came first, from anybody (epoll_wait, accept) */
	uint32_t lock;  /* it waited for that lock; 0 */
	int64_t since;  /* … which `thread` had had since then; INT64_MIN */
};

struct hinge hinge_of(const struct session *session, const struct wait *wait,
		      const struct span *span);

#endif
