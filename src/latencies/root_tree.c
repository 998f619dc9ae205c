/* SPDX-License-Identifier: MIT */
/* Nodes of the tree of parts; see root_tree.h. */
#include "latencies/root_tree.h"

#include <string.h>

#define CHILDREN_MAX 200 /* of one node; what comes after is "other" */
#define RESOURCES_MAX 64

struct part *part_new(struct part *parent, enum part_kind kind, uint64_t tag, char *node)
{
	struct part *part = g_new0(struct part, 1);

	part->parent = parent;
	part->kind = kind;
	part->tag = tag;
	part->node = node;
	part->depth = parent ? parent->depth + 1 : 0;
	part->children = g_ptr_array_new_with_free_func((GDestroyNotify) part_free);
	part->example.latency = part->own_example.latency = -1;
	if (parent)
		g_ptr_array_add(parent->children, part);
	return part;
}

struct part *part_saved(struct part *parent, const char *node)
{
	return part_new(parent, PART_SAVED, 0, g_strdup(node));
}

void part_free(struct part *part)
{
	if (!part)
		return;
	g_free(part->node);
	g_free(part->label);
	g_free(part->by_bucket);
	g_ptr_array_free(part->children, TRUE);
	if (part->functions)
		g_ptr_array_free(part->functions, TRUE);
	if (part->resources)
		g_array_free(part->resources, TRUE);
	g_free(part);
}

bool part_is_own(const struct part *part)
{
	return part->parent && !part->parent->parent && g_str_has_prefix(part->node, "working/") &&
	       strcmp(part->node + strlen("working/"), part->parent->node) == 0;
}

uint64_t part_tag(enum part_kind kind, uint64_t number)
{
	return (uint64_t) kind << 58 | number;
}

/* Found ones move towards the front, where the next look-up most likely wants them. */
struct part *part_find(struct part *parent, uint64_t tag)
{
	for (guint i = 0; i < parent->children->len; i++) {
		struct part *part = g_ptr_array_index(parent->children, i);

		if (part->tag == tag) {
			parent->children->pdata[i] = parent->children->pdata[i / 2];
			parent->children->pdata[i / 2] = part;
			return part;
		}
	}
	return NULL;
}

static bool same_functions(const GPtrArray *a, const GPtrArray *b)
{
	guint length = a ? a->len : 0;

	if (length != (b ? b->len : 0))
		return false;
	for (guint i = 0; i < length; i++)
		if (strcmp(g_ptr_array_index(a, i), g_ptr_array_index(b, i)) != 0)
			return false;
	return true;
}

/* A saved tree knows its nodes by their text only: adopts the one so called. */
static struct part *adopt(struct part *parent, enum part_kind kind, uint64_t tag, const char *node,
			  const GPtrArray *functions)
{
	for (guint i = 0; i < parent->children->len; i++) {
		struct part *part = g_ptr_array_index(parent->children, i);

		if (part->kind == PART_SAVED && strcmp(part->node, node) == 0 &&
		    same_functions(part->functions, functions)) {
			part->kind = kind;
			part->tag = tag;
			return part;
		}
	}
	return NULL;
}

static bool always_sums(enum part_kind kind)
{
	return kind != PART_FUNCTION && kind != PART_BLOCKED && kind != PART_BY &&
	       kind != PART_QUEUED && kind != PART_SERVED && kind != PART_ENDED;
}

struct part *part_add(struct part *parent, enum part_kind kind, uint64_t tag, char *node,
		      GPtrArray *functions, guint buckets)
{
	struct part *part = adopt(parent, kind, tag, node, functions);
	bool full = parent->children->len >= CHILDREN_MAX && kind != PART_OTHER && kind != PART_OWN;

	if (part || full) {
		g_free(node);
		g_clear_pointer(&functions, g_ptr_array_unref);
	}
	if (!part && full) {
		tag = part_tag(PART_OTHER, 0);
		part = part_find(parent, tag);
		if (part)
			return part;
		part = part_new(parent, kind = PART_OTHER, tag, g_strdup("other"));
	} else if (!part) {
		part = part_new(parent, kind, tag, node);
		part->functions = functions;
	}
	part->sums = parent->sums || always_sums(kind) || parent->kind == PART_BY;
	if (!parent->parent && !part->by_bucket)
		part->by_bucket = g_new0(int64_t, buckets);
	return part;
}

void part_add_resource(struct part *part, const char *key, int64_t ns, uint64_t count)
{
	struct part_resource *at = NULL;

	if (!part->resources)
		part->resources = g_array_new(FALSE, FALSE, sizeof *at);
	for (guint i = 0; i < part->resources->len; i++) {
		at = &g_array_index(part->resources, struct part_resource, i);
		if (at->key == key || strcmp(at->key, key) == 0)
			break;
		at = NULL;
	}
	if (!at && part->resources->len >= RESOURCES_MAX && strcmp(key, "other") != 0) {
		part_add_resource(part, "other", ns, count);
		return;
	}
	if (!at) {
		g_array_set_size(part->resources, part->resources->len + 1);
		at = &g_array_index(part->resources, struct part_resource,
				    part->resources->len - 1);
		*at = (struct part_resource) {.key = g_intern_string(key)};
	}
	at->ns += ns;
	at->count += count;
}

void part_take(struct part *part, int64_t ns)
{
	if (!part || ns <= 0)
		return;
	if (!part->sum) {
		part->next = part->parent->touched;
		part->parent->touched = part;
	}
	part->sum += ns;
	part->largest = MAX(part->largest, ns);
}
