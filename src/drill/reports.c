/* SPDX-License-Identifier: MIT */
/* See reports.h. */
#include "drill/reports.h"

#include <string.h>

int64_t number_in(const json_t *object, const char *key)
{
	return (int64_t) json_number_value(json_object_get(object, key));
}

const char *text_in(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

bool is_true_in(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const json_t *threads_of_tid(const json_t *functions, int64_t tid)
{
	size_t i, k;
	const json_t *entry, *thread;

	json_array_foreach(json_object_get(functions, "threads"), i, entry)
		json_array_foreach(json_object_get(entry, "threads"), k,
				   thread) if (number_in(thread, "tid") == tid) return entry;
	return NULL;
}

const json_t *sampled_of(const json_t *functions, const json_t *threads)
{
	const json_t *first = json_array_get(json_object_get(threads, "threads"), 0);
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(functions, "sampled"), i,
			   entry) if (first && number_in(entry, "tid") ==
						       number_in(first, "tid")) return entry;
	return NULL;
}

/* --- traced functions --------------------------------------------------------------------- */

static struct worked *find(GArray *list, const char *name, bool kernel)
{
	struct worked fresh = {
		.name = name, .binary = "", .symbol = "", .kernel = kernel, .calls = -1};

	for (guint i = 0; i < list->len; i++) {
		struct worked *at = &g_array_index(list, struct worked, i);

		if (at->kernel == kernel && strcmp(at->name, name) == 0)
			return at;
	}
	g_array_append_val(list, fresh);
	return &g_array_index(list, struct worked, list->len - 1);
}

struct tracing {
	GArray *list;
	const char *syscall; /* NULL: outside of any */
};

/* `inside`: the call is open there. */
static void add_traced(const struct tracing *to, const json_t *node, bool inside)
{
	static const char call[] = "syscall:";
	const char *kind = text_in(node, "kind"), *name = text_in(node, "name");
	bool is_call = strcmp(kind, "syscall") == 0 && g_str_has_prefix(name, call);
	bool is_kernel = strcmp(kind, "kernel-function") == 0;
	bool is_user = strcmp(kind, "function") == 0, is_thread = strcmp(kind, "thread") == 0;
	const json_t *child;
	size_t i;

	if (is_call)
		inside = to->syscall && strcmp(name + strlen(call), to->syscall) == 0;
	else if (is_thread || is_user)
		inside = !to->syscall;
	if (inside && (is_call || is_kernel || is_thread || is_user)) {
		bool itself = is_call || is_thread;
		struct worked *at = find(to->list, itself ? "" : name, is_kernel || is_call);

		at->calls = MAX(at->calls, 0) + number_in(node, "calls");
		at->own += number_in(json_object_get(node, "exclusive"), "working_ns");
	}
	json_array_foreach(json_object_get(node, "children"), i, child)
		add_traced(to, child, inside && !(is_call && !to->syscall));
}

GArray *work_traced(const json_t *threads, const char *syscall)
{
	struct tracing to = {g_array_new(FALSE, FALSE, sizeof(struct worked)), syscall};

	add_traced(&to, json_object_get(threads, "tree"), false);
	return to.list;
}

/* --- sampled functions -------------------------------------------------------------------- */

static bool is_traced(const GArray *traced, const char *name, bool kernel)
{
	for (guint i = 0; traced && i < traced->len; i++) {
		const struct worked *at = &g_array_index(traced, struct worked, i);

		if (at->kernel == kernel && *name && strcmp(at->name, name) == 0)
			return true;
	}
	return false;
}

/* A stack's frames by name, outermost first: a function that calls itself counts once. */
struct sampling {
	struct work *work;
	const char *leaf;
	bool user; /* the program's own code */
	const GArray *traced;
};

/* A kernel thread works on its own account, ksoftirqd in softIRQs. */
static bool is_kernels_work(const char *leaf)
{
	return strcmp(leaf, KERNEL_WORK) == 0 || g_str_has_prefix(leaf, "working/softirq:");
}

static bool is_of(const char *state, const char *leaf)
{
	return strcmp(state, KERNEL_WORK) == 0 ? is_kernels_work(leaf) : strcmp(state, leaf) == 0;
}

bool work_is_kernels(const json_t *sampled)
{
	const json_t *child;
	size_t i;

	json_array_foreach(json_object_get(sampled, "children"), i,
			   child) if (is_kernels_work(text_in(child, "leaf"))) return true;
	return false;
}

#define INTERRUPTS "[interrupts]" /* a function of the report: below it is what interrupts did */

static bool is_above(const GPtrArray *above, const char *name)
{
	for (guint i = 0; i < above->len; i++)
		if (strcmp(g_ptr_array_index(above, i), name) == 0)
			return true;
	return false;
}

struct below {
	int64_t ns;
	uint32_t samples;
};

/* `part`: the innermost traced function around the node. What of the node is of the state and the
 * part that is asked for. */
static struct below add_sampled(const struct sampling *to, const json_t *node, const char *part,
				GPtrArray *above)
{
	const char *name = text_in(node, "name");
	bool kernel = is_true_in(node, "kernel");
	bool of_state = kernel ? is_of(to->leaf, text_in(node, "leaf")) : to->user;
	bool again = is_above(above, name);
	struct below below = {0, 0};
	const json_t *child;
	size_t i;

	bool traced = is_traced(to->traced, name, kernel);

	if (strcmp(name, INTERRUPTS) == 0) /* not what the thread did */
		return below;
	if (traced)
		part = name;
	g_ptr_array_add(above, (gpointer) name);
	if (of_state && (!to->work->part || strcmp(part, to->work->part) == 0)) {
		struct worked *at = find(to->work->list, name, kernel);

		below.ns = number_in(node, "self_ns");
		below.samples = (uint32_t) number_in(node, "self");
		at->self += below.ns;
		at->on_top += below.samples;
		to->work->ns += below.ns;
		to->work->samples += below.samples;
	}
	json_array_foreach(json_object_get(node, "children"), i, child)
	{
		struct below more = add_sampled(to, child, part, above);

		below.ns += more.ns;
		below.samples += more.samples;
	}
	g_ptr_array_set_size(above, (gint) above->len - 1);
	if (below.samples && (of_state || (!kernel && to->user)) && !again) {
		struct worked *at = find(to->work->list, name, kernel);

		at->sampled += below.ns;
		at->samples += below.samples;
		at->binary = text_in(node, "binary");
		at->symbol = text_in(node, "symbol");
		at->named = kernel || *at->symbol || *text_in(node, "file");
	}
	if (traced && to->work->part) /* what is around it is not of this part */
		return (struct below) {0, 0};
	return below;
}

void work_sample(struct work *work, const json_t *sampled, const char *leaf, const GArray *traced,
		 const char *part)
{
	struct sampling to = {work, leaf, strcmp(leaf, "working/user") == 0, traced};
	g_autoptr(GPtrArray) above = g_ptr_array_new();
	const json_t *child;
	size_t i;

	*work = (struct work) {.list = g_array_new(FALSE, FALSE, sizeof(struct worked)),
			       .part = part};
	json_array_foreach(json_object_get(sampled, "children"), i, child)
		add_sampled(&to, child, "", above);
}

void work_clear(struct work *work)
{
	g_array_free(work->list, TRUE);
}

/* --- who asked for it ---------------------------------------------------------------------- */

/* ns of the state below the node; its callers of user space with a symbol get it, once each. */
static int64_t add_askers(GHashTable *askers, const json_t *node, const char *leaf,
			  const char *nearest)
{
	bool kernel = is_true_in(node, "kernel");
	int64_t ns = 0;
	const json_t *child;
	size_t i;

	if (kernel)
		return strcmp(text_in(node, "leaf"), leaf) == 0 ? number_in(node, "ns") : 0;
	if (*text_in(node, "symbol") && *text_in(node, "file"))
		nearest = text_in(node, "name");
	json_array_foreach(json_object_get(node, "children"), i, child)
	{
		int64_t below = add_askers(askers, child, leaf, nearest);

		ns += is_true_in(child, "kernel") ? below : 0;
	}
	if (ns && nearest) {
		int64_t *sum = g_hash_table_lookup(askers, nearest);

		if (!sum)
			g_hash_table_insert(askers, (gpointer) nearest, sum = g_new0(int64_t, 1));
		*sum += ns;
	}
	return 0;
}

const char *work_asked_by(const json_t *sampled, const char *leaf)
{
	g_autoptr(GHashTable) askers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	const char *best = NULL;
	int64_t most = 0;
	const json_t *child;
	size_t i;
	GHashTableIter iter;
	gpointer key, value;

	json_array_foreach(json_object_get(sampled, "children"), i, child)
		add_askers(askers, child, leaf, NULL);
	g_hash_table_iter_init(&iter, askers);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		int64_t ns = *(int64_t *) value;

		if (ns > most || (ns == most && best && strcmp(key, best) < 0)) {
			most = ns;
			best = key;
		}
	}
	return best;
}

/* --- who records ---------------------------------------------------------------------------- */

static bool is_recorders(const char *name)
{
	return g_str_has_prefix(name, "lttng") || g_str_has_prefix(name, "whylate");
}

GHashTable *recorders_new(const json_t *functions)
{
	GHashTable *processes = g_hash_table_new(NULL, NULL);
	const json_t *threads, *thread;
	size_t i, k;

	json_array_foreach(json_object_get(functions, "threads"), i, threads)
	{
		json_array_foreach(json_object_get(threads, "threads"), k, thread)
		{
			int64_t pid = number_in(thread, "pid");

			if (number_in(thread, "tid") == pid &&
			    is_recorders(text_in(thread, "name")))
				g_hash_table_add(processes, GINT_TO_POINTER((gint) pid));
		}
	}
	return processes;
}

bool is_of_recorders(const json_t *threads, GHashTable *processes)
{
	const json_t *first = json_array_get(json_object_get(threads, "threads"), 0);

	return is_recorders(text_in(threads, "name")) ||
	       g_hash_table_contains(processes, GINT_TO_POINTER((gint) number_in(first, "pid")));
}
