/* SPDX-License-Identifier: MIT */
/* Building the tree of times; see summary.h.
 *
 * The spans of the thread pass once, in order. A cursor holds the path of
 * open nodes; where the next piece leaves the path, the nodes left are closed
 * and each gets one instance:
 *
 *   pieces   │read a│read b│irq│user│
 *   blocked  ├──────────────┤            one instance of blocked,
 *   …/read   ├──────────────┤            of blocked/syscall:read,
 *   …/a, b   ├──────┼───────┤            one each of the files
 */
#include "waits/summary.h"

#include <string.h>

#include "ready/cpu_runs.h"
#include "ready/host_span.h"
#include "ready/runners.h"
#include "event/signals.h"
#include "event/softirqs.h"
#include "waits/state_names.h"
#include "waits/wait.h"

#include "util/idmap.h"

#define DEPTH_MAX 4 /* total, wib, leaf, detail */

#define KNOWN 64
#define MANY 64 /* children: more are found by a map */

struct builder {
	const struct session *session;
	uint32_t thread;
	uint16_t host;
	struct node *root;
	struct node *path[DEPTH_MAX]; /* open nodes; NULL behind the last */
	uint32_t leaf;                /* of the piece at hand */
	struct node *known[KNOWN];    /* leaves met before, by a hash of their tag */
	struct runners ready[2];      /* preempted, wait-cpu: why nobody ran there */
	bool spans_gap;
};

static struct node *node_new(struct node *parent, uint64_t tag)
{
	struct node *node = g_new0(struct node, 1);

	node->parent = parent;
	node->tag = tag;
	node->children = g_ptr_array_new_with_free_func((GDestroyNotify) node_free);
	node->instances = g_array_new(FALSE, FALSE, sizeof(struct instance));
	if (parent)
		g_ptr_array_add(parent->children, node);
	return node;
}

static void drop_index(struct node *node)
{
	if (node->index)
		idmap_clear(node->index);
	g_clear_pointer(&node->index, g_free);
}

void node_free(struct node *node)
{
	if (!node)
		return;
	drop_index(node);
	g_free(node->element);
	g_free(node->label);
	g_ptr_array_free(node->children, TRUE);
	g_array_free(node->instances, TRUE);
	sampled_clear(&node->sampled);
	function_sums_free(node->sums);
	g_free(node);
}

/* Thousands of files that one thread waited for are found by a map. */
static struct node *indexed_child(struct node *parent, uint64_t tag, bool *fresh)
{
	uint32_t at = idmap_get(parent->index, tag);

	*fresh = at == IDMAP_NONE;
	if (!*fresh)
		return g_ptr_array_index(parent->children, at);
	idmap_set(parent->index, tag, parent->children->len);
	return node_new(parent, tag);
}

static void make_index(struct node *parent)
{
	parent->index = g_new(struct idmap, 1);
	idmap_init(parent->index);
	for (guint i = 0; i < parent->children->len; i++)
		idmap_set(parent->index,
			  ((struct node *) g_ptr_array_index(parent->children, i))->tag, i);
}

/* The child with that tag; found children move to the front, where the next
 * look-up most likely wants them. */
static struct node *child(struct node *parent, uint64_t tag, bool *fresh)
{
	if (parent->index)
		return indexed_child(parent, tag, fresh);
	for (guint i = 0; i < parent->children->len; i++) {
		struct node *node = g_ptr_array_index(parent->children, i);

		if (node->tag == tag) {
			if (i) {
				parent->children->pdata[i] = parent->children->pdata[i / 2];
				parent->children->pdata[i / 2] = node;
			}
			*fresh = false;
			return node;
		}
	}
	*fresh = true;
	if (parent->children->len == MANY)
		make_index(parent);
	return parent->index ? indexed_child(parent, tag, fresh) : node_new(parent, tag);
}

/* Longest first; among equals the earlier. */
static int by_length(gconstpointer a, gconstpointer b)
{
	const struct instance *x = a, *y = b;
	int64_t length_x = x->end - x->begin, length_y = y->end - y->begin;

	if (length_x != length_y)
		return length_x > length_y ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Keeps the longest: more than the limit is collected, then cut; after that
 * most are too short. They come in time order, so that among equals the ones
 * already there stay. */
static void add_instance(const struct session *session, struct node *node,
			 const struct instance *instance)
{
	uint32_t limit = session->asked.options->limit;

	node->count++;
	node->spans_gap |= instance->spans_gap;
	if (instance->end - instance->begin < session->asked.options->min_duration ||
	    instance->end - instance->begin <= node->shortest)
		return;
	g_array_append_vals(node->instances, instance, 1);
	if (limit && node->instances->len >= 2 * limit + 16) {
		const struct instance *last;

		g_array_sort(node->instances, by_length);
		g_array_set_size(node->instances, limit);
		last = &g_array_index(node->instances, struct instance, limit - 1);
		node->shortest = last->end - last->begin;
	}
}

static void close_node(const struct builder *builder, struct node *node)
{
	struct instance instance = {node->open_begin, node->open_end, node->open_gap};

	node->open = false;
	add_instance(builder->session, node, &instance);
}

/* One piece under `path[0 … depth-1]`. */
static void piece(struct builder *builder, struct node *const *path, guint depth, int64_t begin,
		  int64_t end)
{
	/* behind the first that is empty all are */
	for (guint i = 0; i < depth || (i < DEPTH_MAX && builder->path[i]); i++) {
		struct node *node = i < depth ? path[i] : NULL, *old = builder->path[i];

		if (old && (old != node || old->open_end != begin)) {
			close_node(builder, old);
			builder->path[i] = NULL;
		}
		if (!node)
			continue;
		if (!node->open) {
			node->open = true;
			node->open_begin = begin;
			node->open_gap = false;
		}
		node->open_end = end;
		node->open_gap |= builder->spans_gap;
		node->ns += end - begin;
		builder->path[i] = node;
	}
}

/* The node of the leaf, with the parents on `path`. */
static guint leaf_path(struct builder *builder, uint32_t leaf, struct node **path)
{
	enum wib wib = leaf_wib(leaf);
	struct node **known = &builder->known[(leaf ^ leaf >> 26) % KNOWN];
	bool fresh;

	path[0] = builder->root;
	if (*known && (*known)->tag == leaf) {
		path[1] = (*known)->parent;
		path[2] = *known;
		return 3;
	}
	path[1] = child(path[0], wib, &fresh);
	if (fresh) {
		path[1]->element = g_strdup(wib_key(wib));
		path[1]->label = g_strdup(wib_label(wib));
	}
	if (wib == WIB_UNKNOWN)
		return 2;
	path[2] = child(path[1], leaf, &fresh);
	if (fresh) {
		path[2]->element = leaf_element(builder->session, leaf);
		path[2]->label = leaf_label(builder->session, leaf);
	}
	*known = path[2];
	return 3;
}

/* A third element: `tag` tells it from its siblings, `text` names it. */
static void detail_piece(struct builder *builder, const char *prefix, const char *text,
			 uint64_t tag, int64_t begin, int64_t end)
{
	struct node *path[DEPTH_MAX];
	guint depth = leaf_path(builder, builder->leaf, path);
	bool fresh;

	path[depth] = child(path[depth - 1], tag, &fresh);
	if (fresh) {
		path[depth]->element = g_strconcat(prefix, text, NULL);
		path[depth]->label = g_strdup(path[depth]->element);
	}
	piece(builder, path, depth + 1, begin, end);
}

#define TAG_NOTHING UINT64_MAX /* no third element is known: shown as "unknown" */
#define TAG_IDLE (UINT64_MAX - 1)

static void nothing_piece(struct builder *builder, int64_t begin, int64_t end)
{
	detail_piece(builder, "", "unknown", TAG_NOTHING, begin, end);
}

static void run_piece(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct builder *builder = data;
	const char *name;

	if (thread == IDLE_THREAD) {
		detail_piece(builder, "", "idle", TAG_IDLE, begin, end);
	} else if (!is_thread(thread)) {
		nothing_piece(builder, begin, end);
	} else {
		name = session_thread_name(builder->session, thread);
		/* names are interned: one address each */
		detail_piece(builder, "by:", name, (uintptr_t) name, begin, end);
	}
}

#define TAG_OWN (UINT64_MAX - 2)
#define TAG_END (UINT64_MAX - 3)

#define TAG_RECLAIM (UINT64_MAX - 4)

/* Work in no call that was the kernel's: for a page fault, or for a thread that it ended; what was
 * before that is its own. False: nothing of that was seen. */
static bool kernel_pieces(struct builder *builder, const struct span *span)
{
	const struct thread *thread = model_thread(&builder->session->trace.model, builder->thread);
	int64_t from = CLAMP(thread->ends_from, span->begin, span->end);
	const char *name = thread->ended_by ? signal_name(thread->ended_by) : "exit";

	if (span->ref == REF_RECLAIM) {
		detail_piece(builder, "", "reclaim", TAG_RECLAIM, span->begin, span->end);
		return true;
	}
	if (thread->ends_from == INT64_MAX && thread->flow.reclaimed == INT64_MIN)
		return false;
	if (span->begin < from)
		detail_piece(builder, "", "own", TAG_OWN, span->begin, from);
	if (from < span->end)
		detail_piece(builder, "end:", *name ? name : "signal", TAG_END, from, span->end);
	return true;
}

/* For whose packets a softIRQ ran. */
static void packets_piece(struct builder *builder, const struct span *span)
{
	bool named = is_of_packets(builder->session, span->ref);
	const struct host *host = model_host(&builder->session->trace.model, builder->host);
	uint32_t number = PACK_NUMBER(span->leaf);
	struct node *path[DEPTH_MAX];
	guint depth;
	bool fresh;

	if (!named && (number == SOFTIRQ_NET_RX || number == SOFTIRQ_NET_TX) &&
	    (host->has_received || host->has_xmit)) {
		nothing_piece(builder, span->begin, span->end);
		return;
	}
	depth = leaf_path(builder, span->leaf, path);
	if (named) {
		path[depth] = child(path[depth - 1], span->ref, &fresh);
		if (fresh) {
			path[depth]->element = g_strdup(session_text(builder->session, span->ref));
			path[depth]->label =
				packet_words(builder->session, builder->thread, span->ref);
		}
		depth++;
	}
	piece(builder, path, depth, span->begin, span->end);
}

/* Who the host ran meanwhile, or who or what ended what the virtual CPU's thread waited for. */
static void host_pieces(struct builder *builder, const struct span *span)
{
	const struct session *session = builder->session;
	struct span outside;
	uint32_t vcpu = host_span(session, builder->thread, span, &outside), resource;
	const struct block *block;

	if (!is_thread(vcpu)) {
		nothing_piece(builder, span->begin, span->end);
	} else if (span_is_hosts_ready(span->leaf)) {
		each_run_beside(session, builder->thread, span, run_piece, builder);
	} else {
		block = block_at(&session->trace.timeline, outside.ref);
		resource = block_waits_for(session, block);
		if (block->kind == WAKER_THREAD && is_thread(block->waker))
			run_piece(span->begin, span->end, block->waker, builder);
		else if (resource)
			detail_piece(builder, "by:", session_text(session, resource), resource,
				     span->begin, span->end);
		else
			nothing_piece(builder, span->begin, span->end);
	}
}

static void span_pieces(struct builder *builder, const struct span *span)
{
	struct node *path[DEPTH_MAX];
	const struct block *block;
	uint32_t resource;
	guint depth;

	builder->leaf = span->leaf;
	switch (PACK_KIND(span->leaf)) {
	case LEAF_PREEMPTED:
	case LEAF_WAIT_CPU:
		runners_add_idle(&builder->ready[PACK_KIND(span->leaf) == LEAF_WAIT_CPU],
				 builder->session, builder->thread, span);
		each_run_beside(builder->session, builder->thread, span, run_piece, builder);
		break;
	case LEAF_HOST:
		host_pieces(builder, span);
		break;
	case LEAF_INT_IRQ:
		if (span->ref)
			detail_piece(builder, "device:", session_text(builder->session, span->ref),
				     span->ref, span->begin, span->end);
		else
			nothing_piece(builder, span->begin, span->end);
		break;
	case LEAF_INT_SOFTIRQ:
	case LEAF_WORK_SOFTIRQ:
		packets_piece(builder, span);
		break;
	case LEAF_BLOCK_SYSCALL:
	case LEAF_BLOCK_FAULT:
		block = block_at(&builder->session->trace.timeline, span->ref);
		resource = session_resource(builder->session, block);
		if (resource)
			detail_piece(builder, "", session_text(builder->session, resource),
				     resource, span->begin, span->end);
		else
			nothing_piece(builder, span->begin, span->end);
		break;
	default:
		if (PACK_KIND(span->leaf) == LEAF_WORK_USER && kernel_pieces(builder, span))
			break;
		depth = leaf_path(builder, span->leaf, path);
		piece(builder, path, depth, span->begin, span->end);
		break;
	}
}

/* The samples of what ran then are its leaf's, and of all work. */
static void add_samples(struct builder *builder, const struct span *span)
{
	struct node *path[DEPTH_MAX];
	guint depth = leaf_is_off_cpu(span->leaf) || leaf_wib(span->leaf) == WIB_UNKNOWN
			      ? 0
			      : leaf_path(builder, span->leaf, path);

	for (guint i = leaf_wib(span->leaf) == WIB_WORKING ? 1 : 2; i < depth; i++) {
		if (!path[i]->sums)
			path[i]->sums = function_sums_new(builder->session);
		path[i]->sampled_leaf = span->leaf;
		function_sums_add_all(path[i]->sums, builder->thread, span->begin, span->end);
	}
}

static void list_functions(struct node *node)
{
	if (node->sums)
		node->sampled = function_sums_take(node->sums, node->ns, false);
	function_sums_free(node->sums);
	node->sums = NULL;
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct node *x = *(struct node *const *) a, *y = *(struct node *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->element, y->element);
}

/* Sorts, drops what says nothing (an only child "unknown"), cuts the lists. */
static void finish_node(const struct session *session, struct node *node)
{
	uint32_t limit = session->asked.options->limit;

	drop_index(node);
	list_functions(node);
	if (node->children->len == 1 &&
	    ((struct node *) g_ptr_array_index(node->children, 0))->tag == TAG_NOTHING)
		g_ptr_array_set_size(node->children, 0);
	g_ptr_array_sort(node->children, by_time);
	for (guint i = 0; i < node->children->len; i++)
		finish_node(session, g_ptr_array_index(node->children, i));
	g_array_sort(node->instances, by_length);
	if (limit && node->instances->len > limit)
		g_array_set_size(node->instances, limit);
}

static void number(struct node *node, uint32_t *next)
{
	node->id = (*next)++;
	for (guint i = 0; i < node->children->len; i++)
		number(g_ptr_array_index(node->children, i), next);
}

/* "idle: slow wake-up from idle": the key stays what it is. */
static void label_idle(const struct builder *builder)
{
	for (guint i = 0; i < builder->root->children->len; i++) {
		const struct node *wib = g_ptr_array_index(builder->root->children, i);

		for (guint k = 0; k < wib->children->len; k++) {
			const struct node *leaf = g_ptr_array_index(wib->children, k);
			bool woken = PACK_KIND(leaf->tag) == LEAF_WAIT_CPU;
			struct node *idle = NULL;
			GString *text;

			if (!woken && PACK_KIND(leaf->tag) != LEAF_PREEMPTED)
				continue;
			for (guint m = 0; m < leaf->children->len && !idle; m++)
				if (((struct node *) g_ptr_array_index(leaf->children, m))->tag ==
				    TAG_IDLE)
					idle = g_ptr_array_index(leaf->children, m);
			if (!idle)
				continue;
			text = g_string_new("idle: ");
			runners_append_idle(&builder->ready[woken], text);
			g_free(idle->label);
			idle->label = g_string_free(text, FALSE);
		}
	}
}

/* Whole runs are on the CPU, whatever leaves of work they have. */
static void count_work(const struct session *session, struct node *root, uint32_t thread,
		       int64_t from, int64_t to)
{
	for (guint i = 0; i < root->children->len; i++) {
		struct node *node = g_ptr_array_index(root->children, i);

		if (strcmp(node->element, "working") == 0)
			node->counters = counters_in(session, thread, from, to);
	}
}

struct node *summary_new(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	struct builder builder = {.session = session,
				  .thread = thread,
				  .host = model_thread(&session->trace.model, thread)->host,
				  .root = node_new(NULL, 0)};
	bool sampled = model_thread(&session->trace.model, thread)->samples.used;
	struct spans spans;
	struct span span;
	uint32_t next = 0;

	builder.root->element = g_strdup("total");
	builder.root->label = g_strdup("Total");
	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span)) {
		builder.spans_gap = session_spans_gap(session, thread, &span);
		span_pieces(&builder, &span);
		if (sampled)
			add_samples(&builder, &span);
	}
	for (guint i = 0; i < DEPTH_MAX; i++)
		if (builder.path[i])
			close_node(&builder, builder.path[i]);
	label_idle(&builder);
	finish_node(session, builder.root);
	number(builder.root, &next);
	count_work(session, builder.root, thread, from, to);
	return builder.root;
}

char *node_key(const struct node *node)
{
	g_autofree char *above = NULL;

	if (!node->parent || !node->parent->parent)
		return g_strdup(node->element);
	above = node_key(node->parent);
	return g_strconcat(above, "/", node->element, NULL);
}
