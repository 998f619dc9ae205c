/* SPDX-License-Identifier: MIT */
/* The states of a thread for people: their sums as a tree, and the instances of each node. */
#include "delay/delay.h"

#include "samples/function_words.h"

#include <inttypes.h>

#define SMALL_NODE 100 /* nodes under this part of the whole have no instances listed */

static void summary_node(const struct node *node, struct output *output, int depth)
{
	char length[32];

	fprintf(output->file, "%*s", 2 * depth + 2, "");
	text_escaped(output, node->label);
	fprintf(output->file, " (%s) <%u>%s\n", when_duration(length, node->ns), node->id,
		node->spans_gap ? " [spans lost events]" : "");
	/* of all work together they are said below each of its leaves */
	if (node->sampled.samples && node->parent && node->parent->parent) {
		g_autoptr(GString) text = g_string_new(NULL);

		append_functions(text, &node->sampled, sampled_whole(node->sampled_leaf));
		text_wrapped(output, text->str, 2 * depth + 4, 2);
	}
	if (node->counters.known) {
		g_autoptr(GString) text = g_string_new(NULL);

		append_counters(text, &node->counters);
		text_wrapped(output, text->str, 2 * depth + 4, 2);
	}
	for (guint i = 0; i < node->children->len; i++)
		summary_node(g_ptr_array_index(node->children, i), output, depth + 1);
}

/* The child that has all of the node's time, in the same intervals; or NULL. */
static const struct node *only_child(const struct node *node)
{
	const struct node *child =
		node->children->len == 1 ? g_ptr_array_index(node->children, 0) : NULL;

	return child && child->count == node->count ? child : NULL;
}

static void node_instances(const struct report *report, const struct node *node, int64_t shortest,
			   guint *left_out)
{
	struct output *output = report->output;
	const struct node *same = only_child(node);
	g_autofree char *key = NULL;

	if (node->ns < shortest) {
		++*left_out;
		return;
	}
	key = node_key(node);
	fprintf(output->file, "  Node id: <%u> ", node->id);
	text_escaped(output, key);
	fprintf(output->file, ", %" PRIu64 " instance%s", node->count, node->count == 1 ? "" : "s");
	if (same)
		fprintf(output->file, ", the same as <%u>", same->id);
	fputc('\n', output->file);
	for (guint i = 0; i < node->instances->len && !same; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		fputs("  ", output->file);
		text_interval(report, at->begin, at->end);
		fputs(at->spans_gap ? " [spans lost events]\n" : "\n", output->file);
	}
	if (!same)
		text_omitted(output, node->count - node->instances->len);
	for (guint i = 0; i < node->children->len; i++)
		node_instances(report, g_ptr_array_index(node->children, i), shortest, left_out);
}

void summary_text(const struct report *report, const struct stretch *at)
{
	const struct session *session = report->session;
	g_autofree char *who = thread_words(session, at->thread);
	g_autofree char *heading = g_strconcat("State summary of ", who, NULL);
	struct node *summary = summary_new(session, at->thread, at->begin, at->end);

	text_heading(report->output, heading);
	summary_node(summary, report->output, 0);
	node_free(summary);
}

void instances_text(const struct report *report, const struct stretch *at)
{
	const struct session *session = report->session;
	g_autofree char *who = thread_words(session, at->thread);
	g_autofree char *heading = g_strconcat("State instances of ", who, NULL);
	bool all = session->asked.options->verbose || !session->asked.options->limit;
	guint left_out = 0;
	struct node *summary = summary_new(session, at->thread, at->begin, at->end);

	text_heading(report->output, heading);
	node_instances(report, summary, all ? 0 : summary->ns / SMALL_NODE, &left_out);
	if (left_out)
		fprintf(report->output->file,
			"  [... %u nodes under 1 %% of the time; --limit 0 or --verbose shows "
			"them ...]\n",
			left_out);
	node_free(summary);
}
