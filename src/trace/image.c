/* SPDX-License-Identifier: MIT */
/* Writing and loading a whole session; see image.h. */
#include "trace/image_file.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC "whylate\1" /* 1: of the format */

/* --- the session's own ----------------------------------------------------------- */

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

static void put_names(struct image_out *out, const struct session *session)
{
	const struct intern *names = session->trace.model.names;

	image_put_number(out, session->trace.names_gathered);
	for (uint32_t i = 0; i < session->trace.names_gathered; i++)
		image_put_text(out, intern_text(names, i));
}

/* A new session has some, the same first ones as the one that was written. */
static void take_names(struct image_in *in, struct session *session)
{
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 0; i < count && !in->failed; i++) {
		uint64_t size = image_take_number(in);
		const char *text = image_take(in, size);

		in->failed |= !text || !size || text[size - 1] ||
			      intern_id(session->trace.model.names, text) != i;
	}
	in->failed |= intern_count(session->trace.model.names) != count;
	session->trace.names_gathered = count;
}

static void put_session(struct image_out *out, const struct session *session,
			const GPtrArray *directories)
{
	g_autoptr(GList) classes = g_hash_table_get_keys(session->trace.class_names);

	image_put_number(out, session->trace.events);
	image_put_number(out, session->trace.has_tids);
	image_put_number(out, session->trace.user_traces);
	image_put_number(out, session->trace.user_apart);
	image_put_number(out, session->trace.user_events);
	image_put_number(out, session->trace.user_damages->len);
	for (guint i = 0; i < session->trace.user_damages->len; i++)
		image_put_text(out, g_ptr_array_index(session->trace.user_damages, i));
	image_put_number(out, session->trace.flow.has_callstacks);
	image_put(out, session->trace.kinds, sizeof session->trace.kinds);
	image_put_number(out, g_list_length(classes));
	for (GList *at = classes; at; at = at->next)
		image_put_number(out, GPOINTER_TO_UINT(at->data));
	put_path(out, directories, session->trace.place);
	image_put_number(out, session->trace.damages->len);
	for (guint i = 0; i < session->trace.damages->len; i++) {
		const struct damage *damage =
			&g_array_index(session->trace.damages, struct damage, i);

		put_path(out, directories, damage->file);
		image_put_text(out, damage->what);
		image_put_number(out, damage->bytes);
		image_put_number(out, damage->total);
	}
}

static void take_session(struct image_in *in, struct session *session, const GPtrArray *directories)
{
	uint32_t count;

	session->trace.events = image_take_number(in);
	session->trace.has_tids = image_take_number(in) != 0;
	session->trace.user_traces = (guint) image_take_number(in);
	session->trace.user_apart = (guint) image_take_number(in);
	session->trace.user_events = image_take_number(in);
	count = image_take_count(in, in->size);
	for (uint32_t i = 0; i < count && !in->failed; i++)
		g_ptr_array_add(session->trace.user_damages, image_take_text(in));
	session->trace.flow.has_callstacks = image_take_number(in) != 0;
	image_take_to(in, session->trace.kinds, sizeof session->trace.kinds);
	count = image_take_count(in, in->size);
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		uint32_t name = image_take_count(in, session->trace.names_gathered - 1);

		g_hash_table_add(session->trace.class_names, GUINT_TO_POINTER(name));
	}
	session->trace.place = take_path(in, directories);
	count = image_take_count(in, in->size);
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		struct damage damage = {.file = take_path(in, directories)};

		damage.what = image_take_text(in);
		damage.bytes = image_take_number(in);
		damage.total = image_take_number(in);
		g_array_append_val(session->trace.damages, damage);
	}
}

/* Only what there are places of, or too many: by name. */
static void put_places(struct image_out *out, const struct session *session)
{
	const GArray *of_names = session->trace.places ? session->trace.places->of_names : NULL;

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

static void take_places(struct image_in *in, struct session *session)
{
	uint32_t name;

	if (image_take_number(in))
		session->trace.places = event_places_new();
	while ((name = image_take_count(in, UINT32_MAX)) < session->trace.names_gathered &&
	       !in->failed && session->trace.places) {
		struct places_of_name *of_name = event_places_of(session->trace.places, name);

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

static uint32_t store_used(const struct session *session, const struct pages *store)
{
	return store == &session->trace.timeline.operations ? session->trace.operations_gathered
							    : store->used;
}

uint64_t image_size(const struct session *session)
{
	struct pages *stores[IMAGE_STORES];
	uint64_t size = (IMAGE_STORES + 1) * IMAGE_ALIGN +
			(uint64_t) session->trace.model.thread_count * sizeof(struct thread);

	image_stores((struct timeline *) &session->trace.timeline, stores);
	for (int i = 0; i < IMAGE_STORES; i++)
		size += (uint64_t) store_used(session, stores[i]) * stores[i]->record_size;
	return size;
}

/* --- all ------------------------------------------------------------------------- */

bool image_write(const struct session *session, const struct image_of *of, int fd,
		 bool (*go_on)(void))
{
	struct image_head head = {.magic = MAGIC};
	struct image_out out = {.fd = fd, .go_on = go_on, .at = IMAGE_ALIGN};
	struct pages *stores[IMAGE_STORES];

	g_return_val_if_fail(session->trace.names_gathered, false);
	memcpy(head.key, of->key, IMAGE_KEY);
	head.operations_wanted = session->trace.flow.operations_wanted;
	head.resources_wanted = session->trace.flow.resources_wanted;
	head.exchanges_wanted = session->trace.flow.exchanges_wanted;
	digest_init(&out.digest);
	out.buffer = g_malloc(IMAGE_PIECE);
	out.failed = lseek(fd, IMAGE_ALIGN, SEEK_SET) < 0;
	image_stores((struct timeline *) &session->trace.timeline, stores);
	for (int i = 0; i < IMAGE_STORES; i++) {
		uint32_t used = store_used(session, stores[i]);

		head.stores[i] = (struct image_store) {image_align(&out, IMAGE_ALIGN), used,
						       (uint32_t) stores[i]->record_size};
		put_store(&out, stores[i], used);
	}
	head.rest = image_align(&out, IMAGE_ALIGN);
	put_names(&out, session);
	put_session(&out, session, of->directories);
	put_places(&out, session);
	image_put_model(&out, &session->trace.model);
	image_put_flow(&out, &session->trace.flow);
	head.size = image_align(&out, DIGEST_UNIT);
	g_free(out.buffer);
	head.digest = image_head_digest(&head, &out.digest);
	return !out.failed && pwrite(fd, &head, sizeof head, 0) == (ssize_t) sizeof head;
}

/* What was recorded for more serves for less, but for a profile: what was recorded besides
 * would be among its parts. */
static bool has_wanted(const struct session *session, const struct image_head *head)
{
	if (session->trace.flow.exchanges_wanted && !head->exchanges_wanted)
		return false;
	if (!session->trace.flow.operations_wanted)
		return true;
	return session->trace.flow.operations_wanted == head->operations_wanted &&
	       (!session->trace.flow.resources_wanted || head->resources_wanted);
}

/* What was recorded for a profile, and shows in other reports by being there. */
static void forget_operations(struct session *session)
{
	struct flow *flow = &session->trace.flow;

	flow->odd[ODD_FUNCTION] = flow->odd[ODD_USER_FUNCTION] = flow->odd[ODD_USER_THREAD] = 0;
	g_ptr_array_set_size(flow->callstacks.lists, 1);
	if (flow->has_work_addresses) /* … besides those of callbacks */
		return;
	idmap_clear(&flow->addresses);
	idmap_init(&flow->addresses);
}

static bool map_stores(struct session *session, const struct image_head *head, int fd)
{
	struct pages *stores[IMAGE_STORES];

	image_stores(&session->trace.timeline, stores);
	for (int i = 0; i < IMAGE_STORES; i++) {
		const struct image_store *store = &head->stores[i];

		if (store->record_size != stores[i]->record_size ||
		    !pages_map(stores[i], fd, (off_t) store->offset, store->used,
			       stores[i] == &session->trace.timeline.operations))
			return false;
	}
	return true;
}

bool image_load(struct session *session, const struct image_of *of, int fd)
{
	struct image_head head;
	struct image_in in = {0};
	char *map;
	bool ok;

	if (!image_is_sound(fd, of->key, &head) || memcmp(head.magic, MAGIC, sizeof head.magic) ||
	    !has_wanted(session, &head) || !map_stores(session, &head, fd))
		return false;
	in.size = head.size - head.rest;
	map = mmap(NULL, in.size, PROT_READ, MAP_PRIVATE, fd, (off_t) head.rest);
	if (map == MAP_FAILED)
		return false;
	in.bytes = map;
	take_names(&in, session);
	take_session(&in, session, of->directories);
	take_places(&in, session);
	ok = image_take_model(&in, &session->trace.model, &session->trace.timeline) &&
	     image_take_flow(&in, &session->trace.flow, &session->trace.timeline);
	munmap(map, in.size);
	if (!session->trace.flow.operations_wanted)
		forget_operations(session);
	session->trace.operations_gathered = session->trace.timeline.operations.used;
	session->trace.restored = ok && session->trace.events;
	return session->trace.restored;
}
