/* SPDX-License-Identifier: MIT */
/* The state instances of a delay report as CSV (RFC 4180), or with --path the steps
 * of its critical path: one row each.
 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

static void rows(const struct session *session, uint32_t thread, const struct node *node,
		 FILE *file)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	g_autofree char *key = node_key(node);

	for (guint i = 0; i < node->instances->len; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		fprintf(file, "%u,%d,", life->host, life->tid);
		if (life->pid >= 0)
			fprintf(file, "%d", life->pid);
		fputc(',', file);
		csv_cell(file, session_thread_name(session, thread));
		fprintf(file, ",%u,", node->id);
		csv_cell(file, key);
		fprintf(file, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s\r\n", at->begin, at->end,
			at->end - at->begin, at->spans_gap ? "true" : "false");
	}
	for (guint i = 0; i < node->children->len; i++)
		rows(session, thread, g_ptr_array_index(node->children, i), file);
}

/* The steps of the critical path. */
static void steps(const struct session *session, const struct path *path, FILE *file)
{
	for (guint i = 0; path && i < path->pieces->len; i++) {
		const struct piece *at = &g_array_index(path->pieces, struct piece, i);
		const struct thread *life = model_thread(&session->trace.model, at->thread);
		struct span span = {at->begin, at->end, at->leaf, at->ref};
		struct cause cause = piece_cause(session, at);
		g_autofree char *leaf = leaf_key(session, at->leaf);

		fprintf(file, "%u,%d,", life->host, life->tid);
		if (life->pid >= 0)
			fprintf(file, "%d", life->pid);
		fputc(',', file);
		csv_cell(file, session_thread_name(session, at->thread));
		fputc(',', file);
		csv_cell(file, leaf);
		fputc(',', file);
		csv_cell(file, session_text(session, piece_resource(session, at)));
		fprintf(file, ",%s,", cause_kind_text(cause.kind));
		csv_cell(file, cause.label ? cause.label : "");
		fprintf(file, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s\r\n", at->begin, at->end,
			at->end - at->begin,
			session_spans_gap(session, at->thread, &span) ? "true" : "false");
		cause_clear(&cause);
	}
}

void delay_csv(const struct delay *delay, struct output *output)
{
	static const char *const heads[] = {
		"host,tid,pid,name,node,key,begin,end,ns,spans_gap\r\n",
		"host,tid,pid,name,leaf,resource,kind,cause,begin,end,ns,spans_gap\r\n"};

	if (!output->continued)
		fputs(heads[delay->session->asked.options->path], output->file);
	if (delay->session->asked.options->path) {
		steps(delay->session, delay->path, output->file);
		return;
	}
	for (guint i = 0; i < delay->threads->len; i++) {
		const struct stretch *at = &g_array_index(delay->threads, struct stretch, i);
		struct node *summary = summary_new(delay->session, at->thread, at->begin, at->end);

		rows(delay->session, at->thread, summary, output->file);
		node_free(summary);
	}
}
