/* The state instances of a delay report as CSV (RFC 4180): one row each. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

/* A cell; what begins like a formula is not left for a spreadsheet to run. */
static void cell(FILE *file, const char *text)
{
	g_autofree char *safe = text_safe(text);
	const char *p;

	if (!strpbrk(safe, ",\"") && !strchr("=+-@", *safe ? *safe : ' ')) {
		fputs(safe, file);
		return;
	}
	fputs(strchr("=+-@", *safe) ? "\"'" : "\"", file);
	for (p = safe; *p; p++) {
		if (*p == '"')
			fputc('"', file);
		fputc(*p, file);
	}
	fputc('"', file);
}

static void rows(const struct session *session, uint32_t thread, const struct node *node,
		 FILE *file)
{
	const struct thread *life = model_thread(&session->model, thread);
	g_autofree char *key = node_key(node);

	for (guint i = 0; i < node->instances->len; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		fprintf(file, "%u,%d,", life->host, life->tid);
		if (life->pid >= 0)
			fprintf(file, "%d", life->pid);
		fputc(',', file);
		cell(file, session_thread_name(session, thread));
		fprintf(file, ",%u,", node->id);
		cell(file, key);
		fprintf(file, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s\r\n", at->begin, at->end,
			at->end - at->begin, at->spans_gap ? "true" : "false");
	}
	for (guint i = 0; i < node->children->len; i++)
		rows(session, thread, g_ptr_array_index(node->children, i), file);
}

void delay_csv(const struct delay *delay, struct output *output)
{
	fputs("host,tid,pid,name,node,key,begin,end,ns,spans_gap\r\n", output->file);
	for (guint i = 0; i < delay->threads->len; i++) {
		const struct stretch *at = &g_array_index(delay->threads, struct stretch, i);
		struct node *summary =
			summary_new(delay->session, at->thread, at->begin, at->end);

		rows(delay->session, at->thread, summary, output->file);
		node_free(summary);
	}
}
