/* SPDX-License-Identifier: MIT */
/* Where nothing stands out: what the thread did that worked most.
 *
 * Part of overview/. Nobody waited long for anybody: who finds the run slow looks at work next.
 */
#ifndef WHYLATE_OVERVIEW_BUSIEST_H
#define WHYLATE_OVERVIEW_BUSIEST_H

#include "overview/overview.h"

/* That thread, and a sentence for people, to be freed with g_free(); NULL: none worked for most of
 * its life, and for a good part of the window. */
char *busiest_sentence(const struct session *session, const struct overview *overview,
		       uint32_t *thread);

#endif
