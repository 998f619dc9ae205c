/* SPDX-License-Identifier: MIT */
/* Which stretches of threads' time each item that stands out is of, for the page: those that
 * --what-if 'finding=ID: 0' would remove (rules/finding_stretches.h).
 *
 * Part of overview/.
 */
#include "overview/overview.h"
#include "path/path.h"
#include "rules/finding_stretches.h"

static void add_thread(const struct session *session, const struct finding_stretches *of,
		       guint item, uint32_t thread, GArray *pieces)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		struct counted piece = {item, thread, span.begin, span.end};

		if (finding_has(of, session, thread, &span))
			g_array_append_val(pieces, piece);
	}
}

GArray *stands_pieces(const struct session *session, const struct stands *stands,
		      const GArray *threads)
{
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(struct counted));

	for (guint i = 0; i < stands->items->len; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);
		struct finding_stretches *of = finding_stretches_of(session, item);

		for (guint k = 0; of && k < threads->len && !session_interrupted(session); k++)
			add_thread(session, of, i, g_array_index(threads, uint32_t, k), pieces);
		finding_stretches_free(of);
	}
	return pieces;
}
