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

#include "waits/runners.h"

#include <inttypes.h>
#include <string.h>

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

const char *softirq_name(uint32_t number)
{
	static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	return number < G_N_ELEMENTS(names) ? names[number] : NULL;
}

/* Second element of the path of each leaf, where it has no number. */
static const char *const leaf_elements[] = {
	[LEAF_WORK_USER] = "user",
	[LEAF_WORK_KTHREAD] = "kthread",
	[LEAF_INT_HRTIMER] = "hrtimer",
	[LEAF_PREEMPTED] = "preempted",
	[LEAF_WAIT_CPU] = "wait-cpu",
	[LEAF_BLOCK_STOPPED] = "stopped",
	[LEAF_BLOCK_TRACED] = "traced",
	[LEAF_BLOCK_KTHREAD] = "kthread",
	[LEAF_BLOCK_FAULT] = "trap:page_fault",
	[LEAF_BLOCK_OTHER] = "trap:other",
	[LEAF_BLOCK_UNKNOWN] = "unknown"};

static const char *const leaf_labels[] = {
	[LEAF_WORK_USER] = "User code",
	[LEAF_WORK_KTHREAD] = "Kernel thread",
	[LEAF_INT_HRTIMER] = "High-resolution timer",
	[LEAF_PREEMPTED] = "Preempted",
	[LEAF_WAIT_CPU] = "Waiting for CPU after blocking",
	[LEAF_BLOCK_STOPPED] = "Stopped by a signal",
	[LEAF_BLOCK_TRACED] = "Stopped by its tracer",
	[LEAF_BLOCK_KTHREAD] = "Kernel thread",
	[LEAF_BLOCK_FAULT] = "Page fault",
	[LEAF_BLOCK_OTHER] = "Another trap, or on the way to user mode",
	[LEAF_BLOCK_UNKNOWN] = "Not known in what"};

static char *leaf_element(const struct session *session, uint32_t leaf)
{
	uint32_t number = PACK_NUMBER(leaf);

	switch (PACK_KIND(leaf)) {
	case LEAF_WORK_SYSCALL:
	case LEAF_BLOCK_SYSCALL:
		return g_strconcat("syscall:", session_text(session, number), NULL);
	case LEAF_INT_VECTOR:
		return g_strconcat("vector:", session_text(session, number), NULL);
	case LEAF_INT_IRQ:
		return g_strdup_printf("irq:%u", number);
	case LEAF_INT_SOFTIRQ:
	case LEAF_WORK_SOFTIRQ:
		return g_strdup_printf("softirq:%u", number);
	default:
		return g_strdup(leaf_elements[PACK_KIND(leaf)]);
	}
}

static const char *const wib_elements[] = {"unknown", "working", "interrupted", "blocked"};
static const char *const wib_labels[] = {"Unknown", "Working", "Interrupted", "Blocked"};

char *leaf_key(const struct session *session, uint32_t leaf)
{
	g_autofree char *element = NULL;

	if (PACK_KIND(leaf) == LEAF_UNKNOWN)
		return g_strdup("unknown");
	element = leaf_element(session, leaf);
	return g_strconcat(wib_elements[leaf_wib(leaf)], "/", element, NULL);
}

/* The device of an IRQ, unless it is another one on another host; IDMAP_NONE. */
static uint32_t irq_name(const struct session *session, uint32_t number)
{
	uint32_t found = IDMAP_NONE;

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		uint32_t name = idmap_get(&model_host(&session->trace.model, i)->irq_names, number);

		if (found != IDMAP_NONE && name != IDMAP_NONE && name != found)
			return IDMAP_NONE;
		found = name == IDMAP_NONE ? found : name;
	}
	return found;
}

char *leaf_label(const struct session *session, uint32_t leaf)
{
	uint32_t number = PACK_NUMBER(leaf), name;
	const char *softirq;

	switch (PACK_KIND(leaf)) {
	case LEAF_UNKNOWN:
		return g_strdup("Unknown");
	case LEAF_WORK_SYSCALL:
	case LEAF_BLOCK_SYSCALL:
		return g_strconcat("System call ", session_text(session, number), NULL);
	case LEAF_INT_VECTOR:
		return g_strconcat("Vector ", session_text(session, number), NULL);
	case LEAF_INT_IRQ:
		name = irq_name(session, number);
		return name == IDMAP_NONE ? g_strdup_printf("IRQ %u", number)
					  : g_strdup_printf("IRQ %u [%s]", number,
							    session_text(session, name));
	case LEAF_INT_SOFTIRQ:
	case LEAF_WORK_SOFTIRQ:
		softirq = softirq_name(number);
		return softirq ? g_strdup_printf("SoftIRQ %u [%s]", number, softirq)
			       : g_strdup_printf("SoftIRQ %u", number);
	default:
		return g_strdup(leaf_labels[PACK_KIND(leaf)]);
	}
}

char *frame_text(const struct session *session, uint32_t frame, bool kernel)
{
	uint32_t number = PACK_NUMBER(frame);

	switch (PACK_KIND(frame)) {
	case FRAME_USER:
		return g_strdup(kernel ? "kthread" : "user");
	case FRAME_IDLE:
		return g_strdup("idle");
	case FRAME_SYSCALL:
		return g_strconcat("syscall:", session_text(session, number), NULL);
	case FRAME_FAULT:
		return g_strdup("trap:page_fault");
	case FRAME_IRQ:
		return g_strdup_printf("irq:%u", number);
	case FRAME_VECTOR:
		return g_strconcat("vector:", session_text(session, number), NULL);
	case FRAME_SOFTIRQ:
		return number == PACK_MASK ? g_strdup("softirq")
					   : g_strdup_printf("softirq:%u", number);
	case FRAME_HRTIMER:
		return g_strdup("hrtimer");
	default:
		return g_strdup("unknown");
	}
}

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
	for (guint i = 0; i < DEPTH_MAX; i++) {
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
		path[1]->element = g_strdup(wib_elements[wib]);
		path[1]->label = g_strdup(wib_labels[wib]);
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

void each_run(const struct session *session, uint16_t host_index, uint32_t cpu_id, int64_t begin,
	      int64_t end, void (*visit)(int64_t begin, int64_t end, uint32_t thread, void *data),
	      void *data)
{
	const struct host *host = model_host(&session->trace.model, host_index);
	uint32_t index = cpu_id == NO_CPU ? IDMAP_NONE : idmap_get(&host->cpu_index, cpu_id);
	const struct cpu *cpu;
	uint32_t run;

	if (index == IDMAP_NONE || *session->found.runs_read >= RUNS_READ_MAX) {
		visit(begin, end, NO_THREAD, data);
		return;
	}
	cpu = g_ptr_array_index(host->cpus, index);
	run = run_find(&session->trace.timeline, &cpu->runs, begin);
	if (run == cpu->runs.used) {
		run = 0;
		if (!cpu->runs.used ||
		    run_at(&session->trace.timeline, &cpu->runs, 0)->begin >= end) {
			visit(begin, end, NO_THREAD, data);
			return;
		}
		visit(begin, run_at(&session->trace.timeline, &cpu->runs, 0)->begin, NO_THREAD,
		      data);
		begin = run_at(&session->trace.timeline, &cpu->runs, 0)->begin;
	}
	for (; begin < end && run < cpu->runs.used; run++, ++*session->found.runs_read) {
		int64_t until =
			run + 1 < cpu->runs.used
				? run_at(&session->trace.timeline, &cpu->runs, run + 1)->begin
				: end;

		until = MIN(until, end);
		if (until > begin)
			visit(begin, until,
			      run_at(&session->trace.timeline, &cpu->runs, run)->thread, data);
		begin = MAX(begin, until);
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
		each_run(builder->session, builder->host, span->ref, span->begin, span->end,
			 run_piece, builder);
		break;
	case LEAF_INT_IRQ:
		if (span->ref)
			detail_piece(builder, "device:", session_text(builder->session, span->ref),
				     span->ref, span->begin, span->end);
		else
			nothing_piece(builder, span->begin, span->end);
		break;
	case LEAF_BLOCK_SYSCALL:
		block = block_at(&builder->session->trace.timeline, span->ref);
		resource = session_resource(builder->session, block);
		if (resource)
			detail_piece(builder, "", session_text(builder->session, resource),
				     resource, span->begin, span->end);
		else
			nothing_piece(builder, span->begin, span->end);
		break;
	default:
		depth = leaf_path(builder, span->leaf, path);
		piece(builder, path, depth, span->begin, span->end);
		break;
	}
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct node *x = *(struct node *const *) a, *y = *(struct node *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->element, y->element);
}

/* Sorts, drops what says nothing (an only child "unknown"), cuts the lists. */
static void settle(const struct session *session, struct node *node)
{
	uint32_t limit = session->asked.options->limit;

	drop_index(node);
	if (node->children->len == 1 &&
	    ((struct node *) g_ptr_array_index(node->children, 0))->tag == TAG_NOTHING)
		g_ptr_array_set_size(node->children, 0);
	g_ptr_array_sort(node->children, by_time);
	for (guint i = 0; i < node->children->len; i++)
		settle(session, g_ptr_array_index(node->children, i));
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

struct node *summary_new(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	struct builder builder = {.session = session,
				  .thread = thread,
				  .host = model_thread(&session->trace.model, thread)->host,
				  .root = node_new(NULL, 0)};
	struct spans spans;
	struct span span;
	uint32_t next = 0;

	builder.root->element = g_strdup("total");
	builder.root->label = g_strdup("Total");
	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span)) {
		builder.spans_gap = session_spans_gap(session, thread, &span);
		span_pieces(&builder, &span);
	}
	for (guint i = 0; i < DEPTH_MAX; i++)
		if (builder.path[i])
			close_node(&builder, builder.path[i]);
	label_idle(&builder);
	settle(session, builder.root);
	number(builder.root, &next);
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
