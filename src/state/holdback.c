/* SPDX-License-Identifier: MIT */
/* Holdback: giving past intervals their meaning when it is learned.
 *
 * Part of state/. Used when a system call's exit tells its name (entry
 * unseen), when an interrupt's exit comes without entry, and where lost
 * events prove a stretch wrong. Costs as much as there are intervals since
 * `time`; each such stretch is rewritten once.
 */
#include "state/holdback.h"

void track_rewrite(struct flow *flow, struct thread *thread, int64_t time,
		   void (*change)(struct flow *flow, struct span *span, void *data), void *data)
{
	struct timeline *timeline = flow->timeline;
	struct track_pos pos, start;
	GArray *spans;
	struct span span;

	if (!track_find(timeline, &thread->track, time, &pos))
		return;
	start = pos;
	spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	while (track_read(timeline, &thread->track, &pos, INT64_MAX, &span))
		g_array_append_val(spans, span);
	track_cut(timeline, &thread->track, start);
	for (guint i = 0; i < spans->len; i++) {
		span = g_array_index(spans, struct span, i);
		if (span.begin < time) { /* cut in two where the change begins */
			track_append(timeline, &thread->track, span.begin, span.leaf, span.ref);
			span.begin = time;
		}
		change(flow, &span, data);
		track_append(timeline, &thread->track, span.begin, span.leaf, span.ref);
	}
	g_array_free(spans, TRUE);
}
