/* SPDX-License-Identifier: MIT */
/* The critical path for people: its sums in a few lines, and with --path one line
 * for each step and tables of the sums.
 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#define NAMED_MAX 4    /* sums named in a line */
#define SHARE_MIN 0.01 /* smaller ones are not */

static char *thread_label(const struct session *session, uint32_t index)
{
	g_autofree char *text = g_strdup_printf("%s (%d)%s", session_thread_name(session, index),
						model_thread(&session->trace.model, index)->tid,
						session_on(session, index));

	return text_safe(text);
}

static char *resource_label(const struct session *session, uint32_t resource)
{
	const char *key = session_text(session, resource);

	if (strcmp(key, "cpu:running") == 0)
		return g_strdup("the CPU, running");
	if (strcmp(key, "cpu:waiting") == 0)
		return g_strdup("a CPU, waiting for it");
	if (strcmp(key, "cpu:interrupts") == 0)
		return g_strdup("interrupts");
	if (strcmp(key, "unknown") == 0)
		return g_strdup("what is not known");
	return text_safe(key);
}

/* "blocked/syscall, ended by process"; working and unknown say it all by themselves. */
static char *kind_label(const struct session *session, const struct total *total)
{
	g_autofree char *leaf = leaf_kind_key(session, total->leaf);

	if (!leaf_is_blocked(total->leaf) && total->cause != CAUSE_THROTTLED)
		return g_strdup(leaf);
	return g_strconcat(leaf, ": ", cause_kind_text(total->cause), NULL);
}

static char *total_label(const struct session *session, const struct total *total, char by)
{
	return by == 't'   ? thread_label(session, total->thread)
	       : by == 'r' ? resource_label(session, total->resource)
			   : kind_label(session, total);
}

static double share_of(const struct path_totals *totals, const struct total *total)
{
	return totals->ns ? (double) total->ns / (double) totals->ns : 0.0;
}

/* "By thread: Xorg (222) 799.3 ms (66.2 %), …" */
static void sum_line(const struct session *session, const struct path_totals *totals,
		     const GArray *list, char by, const char *title, struct output *output)
{
	g_autoptr(GString) line = g_string_new(title);
	char length[32];
	guint i;

	for (i = 0; i < list->len && i < NAMED_MAX; i++) {
		const struct total *total = &g_array_index(list, struct total, i);
		g_autofree char *label = total_label(session, total, by);

		if (i && share_of(totals, total) < SHARE_MIN)
			break;
		g_string_append_printf(line, "%s %s %s (%.1f %%)", i ? "," : "", label,
				       when_duration(length, total->ns),
				       100.0 * share_of(totals, total));
	}
	if (i < list->len)
		g_string_append_printf(line, ", and %u more", list->len - i);
	text_wrapped(output, line->str, 2, 2);
}

void path_totals_text(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	struct path_totals totals;

	if (!delay->path || !delay->path->pieces->len)
		return;
	path_totals_init(&totals, session, delay->path);
	sum_line(session, &totals, totals.threads, 't', "In all, by thread:", output);
	sum_line(session, &totals, totals.resources, 'r', "By what it went to:", output);
	sum_line(session, &totals, totals.kinds, 'k', "By kind:", output);
	path_totals_clear(&totals);
}

/* What there is to say of a step beside its state: "file:/data.bin: block device vda, …" */
static char *why(const struct session *session, const struct piece *piece)
{
	struct cause cause = piece_cause(session, piece);
	g_autofree char *words = cause.label ? cause_words(&cause) : NULL;
	uint32_t resource = piece->block ? session_resource(session, piece->block) : 0;
	GString *text = g_string_new(NULL);

	if (resource)
		g_string_append_printf(text, "%s: ", session_text(session, resource));
	if (words)
		g_string_append(text, words);
	if (cause.inferred && cause.kind != CAUSE_LOCK_OWNER)
		g_string_append(text, " (inferred)");
	cause_clear(&cause);
	return g_string_free(text, FALSE);
}

static void step_line(const struct session *session, const struct piece *piece,
		      struct output *output)
{
	g_autofree char *who = thread_label(session, piece->thread);
	g_autofree char *leaf = leaf_key(session, piece->leaf), *safe_leaf = text_safe(leaf);
	g_autofree char *more = why(session, piece), *safe = text_safe(more);
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	char from[48], length[32];

	fprintf(output->file, "  %s %9s  %-22s %s%s%s%s\n",
		when_time(from, piece->begin, session->asked.options->utc, false),
		when_duration(length, piece->end - piece->begin), who, safe_leaf, *safe ? "  " : "",
		safe,
		session_spans_gap(session, piece->thread, &span) ? " [spans lost events]" : "");
}

static void thread_table(const struct session *session, const struct path_totals *totals,
			 struct output *output)
{
	char sum[32], columns[4][32];

	text_heading(output, "Critical path by thread");
	fprintf(output->file, "  %10s %6s %7s %10s %11s %10s  %s\n", "TIME", "SHARE", "STEPS",
		"WORKING", "INTERRUPTED", "BLOCKED", "THREAD");
	for (guint i = 0; i < totals->threads->len; i++) {
		const struct total *total = &g_array_index(totals->threads, struct total, i);
		g_autofree char *label = thread_label(session, total->thread);

		fprintf(output->file, "  %10s %4.1f %% %7" PRIu64 " %10s %11s %10s  %s%s%s\n",
			when_duration(sum, total->ns), 100.0 * share_of(totals, total),
			total->count, when_duration(columns[0], total->wib[WIB_WORKING]),
			when_duration(columns[1], total->wib[WIB_INTERRUPTED]),
			when_duration(columns[2], total->wib[WIB_BLOCKED]), label,
			total->wib[WIB_UNKNOWN] ? ", unknown " : "",
			total->wib[WIB_UNKNOWN] ? when_duration(columns[3], total->wib[WIB_UNKNOWN])
						: "");
	}
}

static void table(const struct session *session, const struct path_totals *totals,
		  const GArray *list, char by, const char *title, struct output *output)
{
	char sum[32];

	text_heading(output, title);
	fprintf(output->file, "  %10s %6s %7s  %s\n", "TIME", "SHARE", "STEPS",
		by == 'r' ? "WHAT IT WENT TO" : "KIND");
	for (guint i = 0; i < list->len; i++) {
		const struct total *total = &g_array_index(list, struct total, i);
		g_autofree char *label = total_label(session, total, by);

		fprintf(output->file, "  %10s %4.1f %% %7" PRIu64 "  %s\n",
			when_duration(sum, total->ns), 100.0 * share_of(totals, total),
			total->count, label);
	}
}

void path_steps_text(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	const GArray *pieces = delay->path ? delay->path->pieces : NULL;
	struct path_totals totals;

	if (!pieces || !pieces->len)
		return;
	text_heading(output, "Critical path: every step of it, in order of time");
	for (guint i = 0; i < pieces->len; i++)
		step_line(session, &g_array_index(pieces, struct piece, i), output);
	path_totals_init(&totals, session, delay->path);
	thread_table(session, &totals, output);
	table(session, &totals, totals.resources, 'r', "Critical path by what its time went to",
	      output);
	table(session, &totals, totals.kinds, 'k', "Critical path by kind", output);
	path_totals_clear(&totals);
}
