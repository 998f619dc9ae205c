/* SPDX-License-Identifier: MIT */
/* The tree of call stacks; see callstack.h. */
#include "timeline/callstack.h"

#include <string.h>

static guint paths_hash(gconstpointer key)
{
	const struct callpaths *paths = key;

	return ((paths->kernel * 31 + paths->user) * 31 + paths->waker_kernel) * 31 +
	       paths->waker_user;
}

static gboolean paths_equal(gconstpointer a, gconstpointer b)
{
	const struct callpaths *x = a, *y = b;

	return x->kernel == y->kernel && x->user == y->user && x->waker_kernel == y->waker_kernel &&
	       x->waker_user == y->waker_user;
}

void callstacks_init(struct callstacks *callstacks)
{
	struct callpaths none = {0};
	struct stack_node root = {0};

	callstacks->paths = g_array_new(FALSE, FALSE, sizeof none);
	callstacks->path_numbers = g_hash_table_new_full(paths_hash, paths_equal, g_free, NULL);
	g_array_append_val(callstacks->paths, none);
	callstacks->nodes = g_array_new(FALSE, FALSE, sizeof root);
	g_array_append_val(callstacks->nodes, root);
	idmap_init(&callstacks->children);
	idmap_init(&callstacks->lists);
}

void callstacks_clear(struct callstacks *callstacks)
{
	idmap_clear(&callstacks->lists);
	idmap_clear(&callstacks->children);
	g_array_free(callstacks->nodes, TRUE);
	g_hash_table_destroy(callstacks->path_numbers);
	g_array_free(callstacks->paths, TRUE);
}

uint32_t callpaths_id(struct callstacks *callstacks, const struct callpaths *paths)
{
	gpointer known = g_hash_table_lookup(callstacks->path_numbers, paths);

	if (known || paths_equal(paths, callpaths_at(callstacks, 0)))
		return GPOINTER_TO_UINT(known);
	g_hash_table_insert(callstacks->path_numbers, g_memdup2(paths, sizeof *paths),
			    GUINT_TO_POINTER(callstacks->paths->len));
	g_array_append_vals(callstacks->paths, paths, 1);
	return callstacks->paths->len - 1;
}

static const struct stack_node *node_at(const struct callstacks *callstacks, uint32_t number)
{
	return &g_array_index(callstacks->nodes, struct stack_node, number);
}

static uint64_t word_at(const uint8_t *words, guint i)
{
	uint64_t word;

	memcpy(&word, words + sizeof word * i, sizeof word);
	return word;
}

static inline uint64_t mixed(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

/* The node of that caller and address; made if there is none. 0: there are too many. */
static uint32_t child_of(struct callstacks *callstacks, uint32_t parent, uint64_t address)
{
	uint64_t key = mixed(mixed(1, parent), address);
	struct stack_node node = {address, parent, node_at(callstacks, parent)->depth + 1};
	uint32_t known;

	/* another one's key: the next one is tried */
	for (; (known = idmap_get(&callstacks->children, key)) != IDMAP_NONE; key++)
		if (node_at(callstacks, known)->parent == parent &&
		    node_at(callstacks, known)->address == address)
			return known;
	if (callstacks->nodes->len >= CALLSTACK_NODES)
		return 0;
	idmap_set(&callstacks->children, key, callstacks->nodes->len);
	g_array_append_val(callstacks->nodes, node);
	return callstacks->nodes->len - 1;
}

static bool is_list(const struct callstacks *callstacks, uint32_t number, const uint8_t *words,
		    guint count)
{
	for (guint i = 0; i < count; i++) {
		if (!number || node_at(callstacks, number)->address != word_at(words, i))
			return false;
		number = node_at(callstacks, number)->parent;
	}
	return !number;
}

uint32_t callstack_id(struct callstacks *callstacks, const struct event_bytes *list)
{
	guint count = MIN(list->count / (guint) sizeof(uint64_t), CALLSTACK_WORDS);
	uint64_t key = count;
	uint32_t number;

	for (guint i = 0; i < count; i++)
		key = mixed(key, word_at(list->bytes, i));
	number = idmap_get(&callstacks->lists, key);
	if (number != IDMAP_NONE && is_list(callstacks, number, list->bytes, count))
		return number;
	number = 0;
	for (guint i = count; i-- > 0;) {
		number = child_of(callstacks, number, word_at(list->bytes, i));
		if (!number)
			return 0;
	}
	if (number)
		idmap_set(&callstacks->lists, key, number);
	return number;
}

guint callstack_words(const struct callstacks *callstacks, uint32_t number,
		      uint64_t words[CALLSTACK_WORDS])
{
	guint count = 0;

	while (number && number < callstacks->nodes->len && count < CALLSTACK_WORDS) {
		words[count++] = node_at(callstacks, number)->address;
		number = node_at(callstacks, number)->parent;
	}
	return count;
}
