/* SPDX-License-Identifier: MIT */
/* Many critical paths as one tree; see path_tree.h. */
#include "requests/path_tree.h"

#include <string.h>

#include "waits/causality.h"
#include "waits/summary.h"

static struct tree_node *node_new(const char *label)
{
	struct tree_node *node = g_new0(struct tree_node, 1);

	node->label = g_strdup(label);
	node->children = g_ptr_array_new();
	node->values = g_array_new(FALSE, FALSE, sizeof(int64_t));
	return node;
}

void tree_free(struct tree_node *node)
{
	for (guint i = 0; i < node->children->len; i++)
		tree_free(g_ptr_array_index(node->children, i));
	g_ptr_array_free(node->children, TRUE);
	g_array_free(node->values, TRUE);
	g_free(node->label);
	g_free(node);
}

static struct tree_node *child_of(struct tree_node *node, const char *label)
{
	for (guint i = 0; i < node->children->len; i++) {
		struct tree_node *child = g_ptr_array_index(node->children, i);

		if (strcmp(child->label, label) == 0)
			return child;
	}
	g_ptr_array_add(node->children, node_new(label));
	return g_ptr_array_index(node->children, node->children->len - 1);
}

/* `request`: its place in `listed` from 1; requests come one after the other. */
static void take(struct tree_node *node, uint32_t request, int64_t ns)
{
	int64_t none = 0;

	if (node->last != request) {
		g_array_append_val(node->values, none);
		node->last = request;
	}
	node->ns += ns;
	g_array_index(node->values, int64_t, node->values->len - 1) += ns;
}

/* "syscall:fsync of /applog". */
static void wait_label(const struct session *session, const struct through *wait, GString *label)
{
	uint32_t resource = wait->block ? session_resource(session, wait->block) : 0;
	const char *key = resource ? session_text(session, resource) : "";
	g_autofree char *text = leaf_key(session, wait->leaf);
	const char *call = strchr(text, '/');

	g_string_printf(label, "waits in %s", call ? call + 1 : text);
	if (g_str_has_prefix(key, "file:"))
		g_string_append_printf(label, " of %s", resource_name(key));
}

/* Down the waits that led to the piece, the outermost first. */
static struct tree_node *
descend(struct tree_node *node, const struct piece_namer *namer, const struct path *path,
	int32_t wait, uint32_t thread, uint32_t request, int64_t ns, GString *label)
{
	const struct through *at;

	if (wait >= 0) {
		at = &g_array_index(path->waits, struct through, wait);
		node = descend(node, namer, path, at->behalf, at->thread, request, ns, label);
		wait_label(namer->session, at, label);
		node = child_of(node, label->str);
		take(node, request, ns);
	}
	node = child_of(node, thread_names_get(namer->names, thread));
	take(node, request, ns);
	return node;
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct tree_node *x = *(struct tree_node *const *) a,
			       *y = *(struct tree_node *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->label, y->label);
}

static int ascending(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

static void finish(struct tree_node *node)
{
	g_array_sort(node->values, ascending);
	g_ptr_array_sort(node->children, largest_first);
	for (guint i = 0; i < node->children->len; i++)
		finish(g_ptr_array_index(node->children, i));
}

struct tree_node *tree_new(const struct costs *costs, const struct user_requests *requests)
{
	struct tree_node *root = node_new(user_request_kind(requests));
	GString *label = g_string_new(NULL);
	guint step = MAX(1, (requests->listed->len + TREE_REQUESTS_MAX - 1) / TREE_REQUESTS_MAX);

	requests_renew_effort(requests);
	for (guint i = 0; i < requests->listed->len; i += step) {
		const struct user_request *request =
			user_request_at(requests, g_array_index(requests->listed, uint32_t, i));
		struct path *path = user_request_path(requests, request);

		for (guint k = 0; k < path->pieces->len; k++) {
			const struct piece *piece = &g_array_index(path->pieces, struct piece, k);
			int64_t ns = piece->end - piece->begin;
			struct tree_node *node;
			enum user_change change;
			const char *kind;

			take(root, i + 1, ns);
			node = descend(root, costs->namer, path, piece->behalf, piece->thread,
				       i + 1, ns, label);
			kind = piece_put_down_to(costs->namer, request, path, piece, label,
						 &change);
			g_string_prepend(label, ": ");
			g_string_prepend(label, kind);
			take(child_of(node, label->str), i + 1, ns);
		}
		path_free(path);
	}
	g_string_free(label, TRUE);
	finish(root);
	return root;
}

int64_t tree_percentile(const struct tree_node *node, unsigned percent)
{
	guint n = node->values->len, rank = (guint) (((uint64_t) n * percent + 99) / 100);

	return n ? g_array_index(node->values, int64_t, MAX(rank, 1) - 1) : 0;
}
