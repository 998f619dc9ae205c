/* SPDX-License-Identifier: MIT */
/* The states of a thread for people: their sums as a tree, and the instances of each node. */
#include "delay/delay.h"

#include "samples/function_words.h"

#include <inttypes.h>

#define SMALL_NODE 100 /* nodes under this part of the whole have no instances listed */
#define INSTANCES_PART 4 /* of --limit: as many of each node */

struct summary_shown {
	int64_t shortest; /* nodes of less are left out */
	guint left_out;
};

static void summary_node(const struct node *node, struct summary_shown *shown,
			 struct output *output, int depth)
{
	char length[32];

	if (node->ns < shown->shortest) {
		shown->left_out++;
		return;
	}
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
		summary_node(g_ptr_array_index(node->children, i), shown, output, depth + 1);
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
	uint32_t limit = report->session->asked.options->limit;
	guint instances = node->instances->len;
	g_autofree char *key = NULL;

	if (node->ns < shortest) {
		++*left_out;
		return;
	}
	if (limit)
		instances = MIN(instances, MAX(limit / INSTANCES_PART, 1));
	key = node_key(node);
	fprintf(output->file, "  Node id: <%u> ", node->id);
	text_escaped(output, key);
	fprintf(output->file, ", %" PRIu64 " instance%s", node->count, node->count == 1 ? "" : "s");
	if (same)
		fprintf(output->file, ", the same as <%u>", same->id);
	fputc('\n', output->file);
	for (guint i = 0; i < instances && !same; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		fputs("  ", output->file);
		text_interval(report, at->begin, at->end);
		fputs(at->spans_gap ? " [spans lost events]\n" : "\n", output->file);
	}
	if (!same)
		text_omitted(output, node->count - instances);
	for (guint i = 0; i < node->children->len; i++)
		node_instances(report, g_ptr_array_index(node->children, i), shortest, left_out);
}

static void left_out_line(struct output *output, guint left_out)
{
	if (left_out)
		fprintf(output->file,
			"  [... %u nodes under 1 %% of the time; --limit 0 or --verbose shows "
			"them ...]\n",
			left_out);
}

void summary_text(const struct report *report, const struct stretch *at, bool brief)
{
	const struct session *session = report->session;
	g_autofree char *who = thread_words(session, at->thread);
	g_autofree char *heading = g_strconcat("State summary of ", who, NULL);
	struct summary_shown shown = {0};
	struct node *summary = summary_new(session, at->thread, at->begin, at->end);

	shown.shortest = brief ? summary->ns / SMALL_NODE : 0;
	text_heading(report->output, heading);
	summary_node(summary, &shown, report->output, 0);
	left_out_line(report->output, shown.left_out);
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
	left_out_line(report->output, left_out);
	node_free(summary);
}
