/* SPDX-License-Identifier: MIT */
/* Folded stacks, a line each: frames from the outermost, with semicolons
 * between, and after a blank the time in ns. For flamegraph.pl, inferno,
 * speedscope, d3-flame-graph.
 *
 * Part of export/; the stacks are export_stacks.h's. Threads of one name in
 * processes of one name are one, so that a pool's workers add up. Source: the
 * format of stackcollapse-*.pl (FlameGraph).
 */
#include "export/export_formats.h"

#include <inttypes.h>

#include "export/export_stacks.h"
#include "report/report.h"

/* What ends a frame or a line is none inside a frame. */
static void put_frame(FILE *file, const char *text)
{
	g_autofree char *safe = text_safe(text);

	for (const char *p = safe; *p; p++)
		fputc(*p == ';' ? ':' : *p, file);
}

bool export_folded(struct walk *walk, FILE *file, GError **error)
{
	struct stack_sums sums;

	(void) error;
	stack_sums_init(&sums, walk, false);
	for (guint i = 0; i < sums.list->len; i++) {
		const struct stack_sum *sum = g_ptr_array_index(sums.list, i);
		gsize size;
		const uint32_t *frames = g_bytes_get_data(sum->frames, &size);

		if (!sum->ns)
			continue;
		for (gsize k = 0; k < size / sizeof *frames; k++) {
			if (k)
				fputc(';', file);
			put_frame(file, session_text(walk->session, frames[k]));
		}
		fprintf(file, " %" PRId64 "\n", sum->ns);
	}
	stack_sums_clear(&sums);
	return true;
}
