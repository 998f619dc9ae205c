/* SPDX-License-Identifier: MIT */
/* Counting what is largest, and following it; see roots.h.
 *
 * One operation at a time: split.c gives its time to parts, count_largest() compares
 * the parts of each node and clears the sums.
 */
#include "latencies/roots.h"

#include <stdio.h>
#include <string.h>

#include "event/softirqs.h"

static int64_t worth(const struct part *part)
{
	return part->sums ? part->sum : part->largest;
}

static void note_example(const struct split *split, struct example *example, int64_t latency)
{
	if (latency > example->latency)
		*example = (struct example) {split->operation->thread, split->operation->begin,
					     operation_end(split->operation), latency};
}

/* The parts of the node that are as large as the largest, bucket by bucket. */
static void count_largest(struct split *split, struct part *part, int64_t value, guint column)
{
	int64_t own_value = value, own = part->sum, most;
	guint bucket;
	struct part *next;

	for (struct part *child = part->touched; child; child = child->next) {
		own_value -= worth(child);
		own -= child->sum;
	}
	own_value = MAX(own_value, 0);
	part->own_ns += MAX(own, 0);
	most = own_value;
	for (struct part *child = part->touched; child; child = child->next)
		most = MAX(most, worth(child));
	bucket = bucket_of(split->buckets, most);
	if (own_value == most || (own_value && bucket_of(split->buckets, own_value) == bucket)) {
		part->own_maxcount++;
		part->loops += bucket_of(split->buckets, MAX(own, 0)) < bucket;
		note_example(split, &part->own_example, MAX(own, 0));
	}
	if (!part->parent && split->works)
		split_own(split, part)->by_bucket[column] += MAX(own, 0);
	for (struct part *child = part->touched; child; child = next) {
		int64_t at = worth(child);

		next = child->next;
		child->operations++;
		child->ns += child->sum;
		child->spans_gap |= split->spans_gap;
		if (child->by_bucket)
			child->by_bucket[column] += child->sum;
		if (bucket_of(split->buckets, at) == bucket) {
			child->maxcount++;
			note_example(split, &child->example, at);
		}
		count_largest(split, child, at, column);
		child->sum = child->largest = 0;
		child->next = NULL;
	}
	part->touched = NULL;
}

static void explain(struct split *split)
{
	const struct operation *operation = split->operation;
	int64_t latency = (int64_t) operation->duration;
	struct peak *peak = split->peak;
	guint column = bucket_of(split->buckets, latency) - peak->range.first;
	struct part *top = peak->tree;

	split->spans_gap = operation_spans_gap(split->session, operation);
	split->works = PACK_KIND(operation->what) <= OPERATION_KVM_EXIT;
	peak->sum += latency;
	if (operation_has_thread(operation) && split->tracers[operation->thread])
		peak->tracers += latency;
	peak->spans_gap += split->spans_gap;
	g_array_set_size(split->path, 0);
	if (operation_has_thread(operation))
		g_array_append_val(split->path, operation->thread);
	top->sum = top->largest = latency;
	split_operation(split);
	top->maxcount++;
	top->operations++;
	top->ns += latency;
	top->by_bucket[column] += latency;
	note_example(split, &top->example, latency);
	count_largest(split, top, latency, column);
	top->sum = top->largest = 0;
}

static struct peak *peak_of(const struct profile *profile, guint bucket)
{
	for (guint i = 0; i < profile->peaks->len; i++) {
		struct peak *peak = &g_array_index(profile->peaks, struct peak, i);

		if (bucket >= peak->range.first && bucket <= peak->range.last)
			return peak;
	}
	return NULL;
}

static int highest_first(gconstpointer a, gconstpointer b)
{
	const struct part *x = *(struct part *const *) a, *y = *(struct part *const *) b;

	if (x->maxcount != y->maxcount)
		return x->maxcount > y->maxcount ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->node, y->node);
}

static int by_maxcount(gconstpointer a, gconstpointer b)
{
	const struct root *x = a, *y = b;

	if (x->maxcount != y->maxcount)
		return x->maxcount > y->maxcount ? -1 : 1;
	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static int most_waited(gconstpointer a, gconstpointer b)
{
	const struct part_resource *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void sort_parts(struct part *part)
{
	if (part->resources)
		g_array_sort(part->resources, most_waited);
	g_ptr_array_sort(part->children, highest_first);
	for (guint i = 0; i < part->children->len; i++)
		sort_parts(g_ptr_array_index(part->children, i));
}

/* The part that stands for its own work, where there is such a part. */
static struct part *own_of(const struct part *part)
{
	for (guint i = 0; i < part->children->len; i++) {
		struct part *child = g_ptr_array_index(part->children, i);

		if (part_is_own(child))
			return child;
	}
	return NULL;
}

/* Marks the roots below a root, and lists where their paths end. */
static void decide(struct peak *peak, struct part *part, guint percentage)
{
	bool own_apart = own_of(part) != NULL;
	uint64_t most = own_apart ? 0 : part->own_maxcount;
	struct root end = {part, part->maxcount, part->ns, false, {0}, {0}};

	part->root = true;
	for (guint i = 0; i < part->children->len; i++)
		most = MAX(most, ((struct part *) g_ptr_array_index(part->children, i))->maxcount);
	if (!part->children->len || !most) {
		if (part->cut)
			peak->status = PEAK_DEPTH;
		g_array_append_val(peak->roots, end);
		return;
	}
	if (!own_apart && part->own_maxcount && part->own_maxcount * 100 >= most * percentage) {
		end = (struct root) {part, part->own_maxcount, part->own_ns, true, {0}, {0}};
		g_array_append_val(peak->roots, end);
	}
	for (guint i = 0; i < part->children->len; i++) {
		struct part *child = g_ptr_array_index(part->children, i);

		if (child->maxcount && child->maxcount * 100 >= most * percentage)
			decide(peak, child, percentage);
	}
}

bool roots_most_time(const struct peak *peak, struct root *found)
{
	struct part *part = peak->tree, *most = part;

	while (most) {
		int64_t ns = own_of(part) ? 0 : part->own_ns;

		most = NULL;
		for (guint i = 0; i < part->children->len; i++) {
			struct part *child = g_ptr_array_index(part->children, i);

			if (child->ns > ns) {
				most = child;
				ns = child->ns;
			}
		}
		part = most ? most : part;
	}
	*found = part->children->len
			 ? (struct root) {part, part->own_maxcount, part->own_ns, true, {0}, {0}}
			 : (struct root) {part, part->maxcount, part->ns, false, {0}, {0}};
	found->saving = peak->most_saving;
	found->sampled = peak->most_sampled;
	for (guint i = 0; i < peak->roots->len; i++) {
		const struct root *root = &g_array_index(peak->roots, struct root, i);

		if (root->ns >= found->ns || (root->part == part && root->own == found->own))
			return false;
	}
	return true;
}

static void clear_marks(struct part *part)
{
	part->root = false;
	for (guint i = 0; i < part->children->len; i++)
		clear_marks(g_ptr_array_index(part->children, i));
}

static void root_clear(void *root)
{
	sampled_clear(&((struct root *) root)->sampled);
}

void roots_decide(struct peak *peak, const struct options *options)
{
	struct part *own = own_of(peak->tree);

	if (own) {
		own->maxcount = peak->tree->own_maxcount;
		own->ns = peak->tree->own_ns;
		own->operations = peak->tree->operations;
		own->example = peak->tree->own_example;
		own->loops = peak->tree->loops;
	}
	if (peak->roots)
		g_array_free(peak->roots, TRUE);
	peak->roots = g_array_new(FALSE, FALSE, sizeof(struct root));
	g_array_set_clear_func(peak->roots, root_clear);
	peak->status = PEAK_FOUND;
	clear_marks(peak->tree);
	sort_parts(peak->tree);
	decide(peak, peak->tree, options->profile.maxcount_percentage);
	g_array_sort(peak->roots, by_maxcount);
	if (peak->count < options->profile.min_operations)
		peak->status = PEAK_FEW;
}

void roots_begin(struct profiles *profiles)
{
	uint32_t wanted = profiles->session->asked.options->profile.peak;

	for (guint i = 0; i < profiles->list->len; i++) {
		struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			struct peak *peak = &g_array_index(profile->peaks, struct peak, p);

			peak->searched = !wanted || p + 1 == wanted;
			if (!peak->searched)
				continue;
			if (!peak->tree)
				peak->tree = part_new(NULL, PART_OPERATION, 0,
						      g_strdup(profile->operation));
			if (!peak->tree->by_bucket)
				peak->tree->by_bucket =
					g_new0(int64_t, peak->range.last - peak->range.first + 1);
		}
	}
}

void roots_go_on(struct profiles *profiles)
{
	const struct pages *store = &profiles->session->trace.timeline.operations;
	struct split split;

	split_init(&split, profiles);
	for (uint32_t i = 1; i < store->used; i++) {
		struct profile *profile;

		pages_pass(store, i);
		split.operation = operation_at(store, i);
		profile = profile_of(profiles, split.operation, i);
		if (!profile)
			continue;
		split.peak = peak_of(profile, bucket_of(&profiles->buckets,
							(int64_t) split.operation->duration));
		if (split.peak && split.peak->searched)
			explain(&split);
	}
	for (guint i = 0; i < profiles->list->len; i++) {
		struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			struct peak *peak = &g_array_index(profile->peaks, struct peak, p);

			if (peak->searched)
				roots_decide(peak, profiles->session->asked.options);
		}
	}
	split_clear(&split);
}

void roots_search(struct profiles *profiles)
{
	roots_begin(profiles);
	roots_go_on(profiles);
}

struct part *root_whole(const struct root *root, bool *all)
{
	bool own = part_is_own(root->part);

	*all = !root->own && !own;
	return (struct part *) (own ? root->part->parent : root->part);
}

void roots_note(struct profiles *profiles, split_noter *note, roots_each *each, void *data)
{
	const struct pages *store = &profiles->session->trace.timeline.operations;
	struct split split;

	split_init(&split, profiles);
	split.note = note;
	split.data = data;
	for (uint32_t i = 1; i < store->used; i++) {
		struct profile *profile;

		pages_pass(store, i);
		split.operation = operation_at(store, i);
		if (!operation_has_thread(split.operation))
			continue;
		profile = profile_of(profiles, split.operation, i);
		split.peak =
			profile ? peak_of(profile, bucket_of(&profiles->buckets,
							     (int64_t) split.operation->duration))
				: NULL;
		if (!split.peak || !split.peak->noted)
			continue;
		split_note(&split);
		each(split.operation, split.peak, data);
	}
	split_clear(&split);
	for (guint i = 0; i < profiles->list->len; i++) {
		struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			struct peak *peak = &g_array_index(profile->peaks, struct peak, p);

			if (peak->noted)
				sort_parts(peak->tree); /* look-ups have moved them */
		}
	}
}

GPtrArray *root_path(const struct root *root)
{
	GPtrArray *path = g_ptr_array_new_with_free_func(g_free);

	for (const struct part *part = root->part; part; part = part->parent) {
		g_ptr_array_insert(path, 0, g_strdup(part->node));
		for (guint i = part->functions ? part->functions->len : 0; i-- > 0;)
			g_ptr_array_insert(
				path, 0,
				g_strconcat("function:",
					    (char *) g_ptr_array_index(part->functions, i), NULL));
	}
	return path;
}

/* The wait's part says what it was in, as what it was for is not known. */
static bool is_leaf(const char *node)
{
	static const char *const leaves[] = {"syscall:", "trap:",   "kthread",
					     "unknown",  "stopped", "traced"};

	for (size_t i = 0; i < G_N_ELEMENTS(leaves); i++)
		if (g_str_has_prefix(node + strlen("blocked/"), leaves[i]))
			return true;
	return false;
}

char *part_words(const char *node)
{
	uint32_t vector;

	if (sscanf(node, "interrupted/softirq:%u", &vector) == 1 && softirq_name(vector))
		return g_strdup_printf("softirq:%u [%s]", vector, softirq_name(vector));
	if (g_str_has_prefix(node, "function:"))
		return g_strconcat(node + strlen("function:"), "()", NULL);
	if (g_str_has_prefix(node, "interrupted/"))
		return g_strdup(node + strlen("interrupted/"));
	if (g_str_has_prefix(node, "blocked/"))
		return g_strconcat(is_leaf(node) ? "blocked in " : "blocked on ",
				   node + strlen("blocked/"), NULL);
	return g_strdup(node);
}
