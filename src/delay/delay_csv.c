/* SPDX-License-Identifier: MIT */
/* The state instances of a delay report as CSV (RFC 4180), or with --path the steps
 * of its critical path: one row each.
 */
#include "delay/delay.h"

struct instance_row {
	uint32_t thread;
	const struct node *node;
	const char *key;
	struct instance instance; /* a copy */
};

GETTER(int64_t, node_id, struct instance_row, row->node->id);
GETTER(int64_t, length, struct instance_row, row->instance.end - row->instance.begin);

static const struct column instance_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct instance_row, thread), .csv = {1}},
	{"node", COLUMN_WHOLE, .number = node_id, .csv = {2}},
	{"key", COLUMN_TEXT, FIELD(struct instance_row, key), .csv = {3}},
	{"begin", COLUMN_TIME, FIELD(struct instance_row, instance.begin), .csv = {4}},
	{"end", COLUMN_TIME, FIELD(struct instance_row, instance.end), .csv = {5}},
	{"ns", COLUMN_NS, .number = length, .csv = {6}},
	{"spans_gap", COLUMN_BOOL, FIELD(struct instance_row, instance.spans_gap), .csv = {7}},
	{0}};

static void instances(const struct report *report, uint32_t thread, const struct node *node)
{
	g_autofree char *key = node_key(node);

	for (guint i = 0; i < node->instances->len; i++) {
		struct instance_row row = {thread, node, key,
					   g_array_index(node->instances, struct instance, i)};

		csv_row(report, instance_columns, &row);
	}
	for (guint i = 0; i < node->children->len; i++)
		instances(report, thread, g_ptr_array_index(node->children, i));
}

void delay_csv(const struct delay *delay, struct output *output)
{
	struct report report = {delay->session, delay, output};

	if (delay->session->asked.options->path) {
		path_steps_csv(&report, delay->path);
		return;
	}
	if (!output->continued)
		csv_heading(&report, instance_columns);
	for (guint i = 0; i < delay->threads->len; i++) {
		const struct stretch *at = &g_array_index(delay->threads, struct stretch, i);
		struct node *summary = summary_new(delay->session, at->thread, at->begin, at->end);

		instances(&report, at->thread, summary);
		node_free(summary);
	}
}
