/* SPDX-License-Identifier: MIT */
/* Writing and loading a whole trace; see image.h. */
#include "trace/image_file.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC "whylate\2" /* 2: of the format */

/* --- the trace's own ----------------------------------------------------------- */

/* A path below one of the directories as that one's number and the rest; else whole. */
static void put_path(struct image_out *out, const GPtrArray *directories, const char *path)
{
	for (guint i = 0; path && i < directories->len; i++) {
		const char *directory = g_ptr_array_index(directories, i);
		size_t length = strlen(directory);

		if (strncmp(path, directory, length) == 0 &&
		    (path[length] == '/' || !path[length])) {
			image_put_number(out, i + 1);
			image_put_text(out, path + length);
			return;
		}
	}
	image_put_number(out, 0);
	image_put_text(out, path);
}

static char *take_path(struct image_in *in, const GPtrArray *directories)
{
	uint32_t number = image_take_count(in, directories->len);
	char *path = image_take_text(in), *whole;

	if (!number || !path)
		return path;
	whole = g_strconcat(g_ptr_array_index(directories, number - 1), path, NULL);
	g_free(path);
	return whole;
}

static void put_names(struct image_out *out, const struct trace *trace)
{
	const struct intern *names = trace->model.names;

	image_put_number(out, trace->names_gathered);
	for (uint32_t i = 0; i < trace->names_gathered; i++)
		image_put_text(out, intern_text(names, i));
}

/* A new trace has some, the same first ones as the one that was written. */
static void take_names(struct image_in *in, struct trace *trace)
{
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 0; i < count && !in->failed; i++) {
		uint64_t size = image_take_number(in);
		const char *text = image_take(in, size);

		in->failed |= !text || !size || text[size - 1] ||
			      intern_id(trace->model.names, text) != i;
	}
	in->failed |= intern_count(trace->model.names) != count;
	trace->names_gathered = count;
}

static void put_trace(struct image_out *out, const struct trace *trace,
		      const GPtrArray *directories)
{
	g_autoptr(GList) classes = g_hash_table_get_keys(trace->class_names);

	image_put_number(out, trace->events);
	image_put_number(out, trace->has_tids);
	image_put_number(out, trace->user_traces);
	image_put_number(out, trace->user_apart);
	image_put_number(out, trace->user_events);
	image_put_number(out, trace->user_damages->len);
	for (guint i = 0; i < trace->user_damages->len; i++)
		image_put_text(out, g_ptr_array_index(trace->user_damages, i));
	image_put_number(out, trace->flow.has_callstacks);
	image_put(out, trace->kinds, sizeof trace->kinds);
	image_put_number(out, g_list_length(classes));
	for (GList *at = classes; at; at = at->next)
		image_put_number(out, GPOINTER_TO_UINT(at->data));
	put_path(out, directories, trace->place);
	image_put_number(out, trace->damages->len);
	for (guint i = 0; i < trace->damages->len; i++) {
		const struct damage *damage = &g_array_index(trace->damages, struct damage, i);

		put_path(out, directories, damage->file);
		image_put_text(out, damage->what);
		image_put_number(out, damage->bytes);
		image_put_number(out, damage->total);
	}
}

static void take_trace(struct image_in *in, struct trace *trace, const GPtrArray *directories)
{
	uint32_t count;

	trace->events = image_take_number(in);
	trace->has_tids = image_take_number(in) != 0;
	trace->user_traces = (guint) image_take_number(in);
	trace->user_apart = (guint) image_take_number(in);
	trace->user_events = image_take_number(in);
	count = image_take_count(in, in->size);
	for (uint32_t i = 0; i < count && !in->failed; i++)
		g_ptr_array_add(trace->user_damages, image_take_text(in));
	trace->flow.has_callstacks = image_take_number(in) != 0;
	image_take_to(in, trace->kinds, sizeof trace->kinds);
	count = image_take_count(in, in->size);
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		uint32_t name = image_take_count(in, trace->names_gathered - 1);

		g_hash_table_add(trace->class_names, GUINT_TO_POINTER(name));
	}
	trace->place = take_path(in, directories);
	count = image_take_count(in, in->size);
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		struct damage damage = {.file = take_path(in, directories)};

		damage.what = image_take_text(in);
		damage.bytes = image_take_number(in);
		damage.total = image_take_number(in);
		g_array_append_val(trace->damages, damage);
	}
}

/* Only what there are places of, or too many: by name. */
static void put_places(struct image_out *out, const struct trace *trace)
{
	const GArray *of_names = trace->places ? trace->places->of_names : NULL;

	image_put_number(out, of_names != NULL);
	for (guint i = 0; of_names && i < of_names->len; i++) {
		const struct places_of_name *of_name =
			&g_array_index(of_names, struct places_of_name, i);

		if (!of_name->list && !of_name->many)
			continue;
		image_put_number(out, i);
		image_put_number(out, of_name->many);
		image_put_array(out, of_name->list, sizeof(struct event_place));
	}
	image_put_number(out, UINT32_MAX);
}

static void take_places(struct image_in *in, struct trace *trace)
{
	uint32_t name;

	if (image_take_number(in))
		trace->places = event_places_new();
	while ((name = image_take_count(in, UINT32_MAX)) < trace->names_gathered && !in->failed &&
	       trace->places) {
		struct places_of_name *of_name = event_places_of(trace->places, name);

		in->failed |= of_name->list != NULL;
		if (in->failed)
			return;
		of_name->many = image_take_number(in);
		of_name->list = g_array_new(FALSE, FALSE, sizeof(struct event_place));
		image_take_array(in, of_name->list, sizeof(struct event_place));
	}
}

/* --- stores ---------------------------------------------------------------------- */

/* Records that lie side by side in memory, up to a segment. What was spilled is let go
 * behind them, so that writing needs no more memory than reading did. */
static void put_store(struct image_out *out, const struct pages *store, uint32_t used)
{
	for (uint32_t i = 0; i < used && !out->failed; i += PAGES_SEGMENT) {
		uint32_t count = MIN(used - i, PAGES_SEGMENT);

		pages_pass(store, i);
		image_put(out, pages_at(store, i), count * store->record_size);
	}
	pages_let_go(store);
}

static uint32_t store_used(const struct trace *trace, const struct pages *store)
{
	return store == &trace->timeline.operations ? trace->operations_gathered : store->used;
}

uint64_t image_size(const struct trace *trace)
{
	struct pages *stores[IMAGE_STORES];
	uint64_t size = (IMAGE_STORES + 1) * IMAGE_ALIGN +
			(uint64_t) trace->model.thread_count * sizeof(struct thread);

	image_stores((struct timeline *) &trace->timeline, stores);
	for (int i = 0; i < IMAGE_STORES; i++)
		size += (uint64_t) store_used(trace, stores[i]) * stores[i]->record_size;
	return size;
}

/* --- all ------------------------------------------------------------------------- */

bool image_write(const struct trace *trace, const struct image_of *of, int fd, bool (*go_on)(void))
{
	struct image_head head = {.magic = MAGIC};
	struct image_out out = {.fd = fd, .go_on = go_on, .at = IMAGE_ALIGN};
	struct pages *stores[IMAGE_STORES];

	g_return_val_if_fail(trace->names_gathered, false);
	memcpy(head.key, of->key, IMAGE_KEY);
	head.operations_wanted = trace->flow.operations_wanted;
	head.resources_wanted = trace->flow.resources_wanted;
	head.exchanges_wanted = trace->flow.exchanges_wanted;
	digest_init(&out.digest);
	out.buffer = g_malloc(IMAGE_PIECE);
	out.failed = lseek(fd, IMAGE_ALIGN, SEEK_SET) < 0;
	image_stores((struct timeline *) &trace->timeline, stores);
	for (int i = 0; i < IMAGE_STORES; i++) {
		uint32_t used = store_used(trace, stores[i]);

		head.stores[i] = (struct image_store) {image_align(&out, IMAGE_ALIGN), used,
						       (uint32_t) stores[i]->record_size};
		put_store(&out, stores[i], used);
	}
	head.rest = image_align(&out, IMAGE_ALIGN);
	put_names(&out, trace);
	put_trace(&out, trace, of->directories);
	put_places(&out, trace);
	image_put_model(&out, &trace->model);
	image_put_flow(&out, &trace->flow);
	head.size = image_align(&out, DIGEST_UNIT);
	g_free(out.buffer);
	head.digest = image_head_digest(&head, &out.digest);
	return !out.failed && pwrite(fd, &head, sizeof head, 0) == (ssize_t) sizeof head;
}

/* What was recorded for more serves for less, but for a profile: what was recorded besides
 * would be among its parts. */
static bool has_wanted(const struct trace *trace, const struct image_head *head)
{
	if (trace->flow.exchanges_wanted && !head->exchanges_wanted)
		return false;
	if (!trace->flow.operations_wanted)
		return true;
	return trace->flow.operations_wanted == head->operations_wanted &&
	       (!trace->flow.resources_wanted || head->resources_wanted);
}

/* What was recorded for a profile, and shows in other reports by being there. */
static void forget_operations(struct trace *trace)
{
	struct flow *flow = &trace->flow;

	flow->odd[ODD_FUNCTION] = flow->odd[ODD_USER_FUNCTION] = flow->odd[ODD_USER_THREAD] = 0;
	g_ptr_array_set_size(flow->callstacks.lists, 1);
	idmap_clear(&flow->callbacks);
	idmap_init(&flow->callbacks);
}

static bool map_stores(struct trace *trace, const struct image_head *head, int fd)
{
	struct pages *stores[IMAGE_STORES];

	image_stores(&trace->timeline, stores);
	for (int i = 0; i < IMAGE_STORES; i++) {
		const struct image_store *store = &head->stores[i];

		if (store->record_size != stores[i]->record_size ||
		    !pages_map(stores[i], fd, (off_t) store->offset, store->used,
			       stores[i] == &trace->timeline.operations))
			return false;
	}
	return true;
}

bool image_load(struct trace *trace, const struct image_of *of, int fd)
{
	struct image_head head;
	struct image_in in = {0};
	char *map;
	bool ok;

	if (!image_is_sound(fd, of->key, &head) || memcmp(head.magic, MAGIC, sizeof head.magic) ||
	    !has_wanted(trace, &head) || !map_stores(trace, &head, fd))
		return false;
	in.size = head.size - head.rest;
	map = mmap(NULL, in.size, PROT_READ, MAP_PRIVATE, fd, (off_t) head.rest);
	if (map == MAP_FAILED)
		return false;
	in.bytes = map;
	take_names(&in, trace);
	take_trace(&in, trace, of->directories);
	take_places(&in, trace);
	ok = image_take_model(&in, &trace->model, &trace->timeline) &&
	     image_take_flow(&in, &trace->flow, &trace->timeline);
	munmap(map, in.size);
	if (!trace->flow.operations_wanted)
		forget_operations(trace);
	trace->operations_gathered = trace->timeline.operations.used;
	trace->restored = trace->sink.only_matches = ok && trace->events;
	return trace->restored;
}
