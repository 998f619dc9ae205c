/* SPDX-License-Identifier: MIT */
/* Descriptor tables with copy on write; see files.h. */
#include "model/files.h"

#include <string.h>

/* A store maps fd to a struct open_file, with close-on-exec in the lowest
 * bit of the pointer. */
struct fd_store {
	int refs;         /* tables that share it until one writes */
	GHashTable *map;  /* owned */
};

struct fd_table {
	int refs;         /* threads, and the host's index of tables */
	struct fd_store *store;
};

static struct open_file *entry_file(gpointer entry)
{
	return (struct open_file *) ((guintptr) entry & ~(guintptr) 1);
}

static bool entry_cloexec(gpointer entry)
{
	return (guintptr) entry & 1;
}

static gpointer entry_make(struct open_file *file, bool cloexec)
{
	return (gpointer) ((guintptr) file | (cloexec ? 1 : 0));
}

static void entry_free(gpointer entry)
{
	struct open_file *file = entry_file(entry);

	if (--file->refs)
		return;
	if (file->cookies)
		g_hash_table_destroy(file->cookies);
	g_free(file);
}

static struct fd_store *store_new(void)
{
	struct fd_store *store = g_new0(struct fd_store, 1);

	store->refs = 1;
	store->map = g_hash_table_new_full(NULL, NULL, NULL, entry_free);
	return store;
}

static void store_leave(struct fd_store *store)
{
	if (--store->refs)
		return;
	g_hash_table_destroy(store->map);
	g_free(store);
}

/* The table's map, not shared with any other table. */
static GHashTable *map_to_write(struct fd_table *table)
{
	if (table->store->refs > 1) {
		struct fd_store *copy = store_new();
		GHashTableIter iter;
		gpointer fd, entry;

		g_hash_table_iter_init(&iter, table->store->map);
		while (g_hash_table_iter_next(&iter, &fd, &entry)) {
			entry_file(entry)->refs++;
			g_hash_table_insert(copy->map, fd, entry);
		}
		store_leave(table->store);
		table->store = copy;
	}
	return table->store->map;
}

struct fd_table *fd_table_new(void)
{
	struct fd_table *table = g_new0(struct fd_table, 1);

	table->refs = 1;
	table->store = store_new();
	return table;
}

struct fd_table *fd_table_join(struct fd_table *table)
{
	table->refs++;
	return table;
}

void fd_table_release(gpointer data)
{
	struct fd_table *table = data;

	if (!table || --table->refs)
		return;
	store_leave(table->store);
	g_free(table);
}

void fd_table_leave(struct fd_table **table)
{
	fd_table_release(*table);
	*table = NULL;
}

struct fd_table *fd_table_copy(struct fd_table *table)
{
	struct fd_table *copy = g_new0(struct fd_table, 1);

	copy->refs = 1;
	copy->store = table->store;
	copy->store->refs++;
	return copy;
}

void fd_table_merge(struct fd_table *into, struct fd_table *from)
{
	GHashTable *map = map_to_write(into);
	GHashTableIter iter;
	gpointer fd, entry;

	g_hash_table_iter_init(&iter, from->store->map);
	while (g_hash_table_iter_next(&iter, &fd, &entry)) {
		uint32_t *channel = fd_channel(into, GPOINTER_TO_INT(fd));

		if (!fd_key(into, GPOINTER_TO_INT(fd))) {
			entry_file(entry)->refs++;
			g_hash_table_replace(map, fd, entry);
		} else if (!entry_file(entry)->key && !*channel) {
			*channel = entry_file(entry)->channel;
			*fd_talk(into, GPOINTER_TO_INT(fd)) = entry_file(entry)->talk;
		}
	}
}

static gpointer lookup(struct fd_table *table, int32_t fd)
{
	return table ? g_hash_table_lookup(table->store->map, GINT_TO_POINTER(fd)) : NULL;
}

void fd_open(struct fd_table *table, int32_t fd, uint32_t key, bool cloexec)
{
	struct open_file *file = g_new0(struct open_file, 1);

	file->refs = 1;
	file->key = key;
	g_hash_table_replace(map_to_write(table), GINT_TO_POINTER(fd), entry_make(file, cloexec));
}

void fd_dup(struct fd_table *table, int32_t from, int32_t to, bool cloexec)
{
	gpointer entry = lookup(table, from);

	if (from == to)
		return;
	if (!entry) {
		fd_close(table, to);
		return;
	}
	entry_file(entry)->refs++;
	g_hash_table_replace(map_to_write(table), GINT_TO_POINTER(to),
			     entry_make(entry_file(entry), cloexec));
}

void fd_close(struct fd_table *table, int32_t fd)
{
	if (lookup(table, fd))
		g_hash_table_remove(map_to_write(table), GINT_TO_POINTER(fd));
}

struct range {
	uint32_t first, last;
};

static gboolean in_range(gpointer fd, gpointer entry, gpointer data)
{
	const struct range *range = data;
	uint32_t number = GPOINTER_TO_UINT(fd);

	(void) entry;
	return number >= range->first && number <= range->last;
}

void fd_close_range(struct fd_table *table, uint32_t first, uint32_t last)
{
	struct range range = {first, last};

	g_hash_table_foreach_remove(map_to_write(table), in_range, &range);
}

void fd_set_cloexec(struct fd_table *table, int32_t fd, bool cloexec)
{
	gpointer entry = lookup(table, fd);

	if (!entry || entry_cloexec(entry) == cloexec)
		return;
	entry_file(entry)->refs++;
	g_hash_table_replace(map_to_write(table), GINT_TO_POINTER(fd),
			     entry_make(entry_file(entry), cloexec));
}

static gboolean is_cloexec(gpointer fd, gpointer entry, gpointer data)
{
	(void) fd;
	(void) data;
	return entry_cloexec(entry);
}

void fd_exec(struct fd_table *table)
{
	g_hash_table_foreach_remove(map_to_write(table), is_cloexec, NULL);
}

void fd_rename(struct fd_table *table, int32_t fd, uint32_t key)
{
	gpointer entry = lookup(table, fd);

	if (entry)
		entry_file(entry)->key = key;
	else if (table)
		fd_open(table, fd, key, false);
}

uint32_t fd_key(struct fd_table *table, int32_t fd)
{
	gpointer entry = lookup(table, fd);

	return entry ? entry_file(entry)->key : 0;
}

uint32_t *fd_channel(struct fd_table *table, int32_t fd)
{
	gpointer entry = lookup(table, fd);

	return entry ? &entry_file(entry)->channel : NULL;
}

uint32_t *fd_talk(struct fd_table *table, int32_t fd)
{
	gpointer entry = lookup(table, fd);

	return entry ? &entry_file(entry)->talk : NULL;
}

uint64_t *fd_flow(struct fd_table *table, int32_t fd)
{
	gpointer entry = lookup(table, fd);

	return entry ? &entry_file(entry)->flow : NULL;
}

bool fd_is_last(struct fd_table *table, int32_t fd)
{
	gpointer entry = lookup(table, fd);

	return entry && entry_file(entry)->refs == 1 && table->store->refs == 1;
}

void fd_epoll_set(struct fd_table *table, int32_t epfd, uint64_t cookie, int32_t fd)
{
	gpointer entry = lookup(table, epfd);
	struct open_file *file;

	if (!entry)
		return;
	file = entry_file(entry);
	if (!file->cookies)
		file->cookies = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_hash_table_replace(file->cookies, g_memdup2(&cookie, sizeof cookie), GINT_TO_POINTER(fd));
}

int32_t fd_epoll_get(struct fd_table *table, int32_t epfd, uint64_t cookie)
{
	gpointer entry = lookup(table, epfd), fd;

	if (entry && entry_file(entry)->cookies &&
	    g_hash_table_lookup_extended(entry_file(entry)->cookies, &cookie, NULL, &fd))
		return GPOINTER_TO_INT(fd);
	return -1;
}

void fd_epoll_each(struct fd_table *table, int32_t epfd, guint max,
		   void (*visit)(int32_t fd, void *data), void *data)
{
	gpointer entry = lookup(table, epfd), fd;
	GHashTableIter iter;

	if (!entry || !entry_file(entry)->cookies)
		return;
	g_hash_table_iter_init(&iter, entry_file(entry)->cookies);
	while (max-- && g_hash_table_iter_next(&iter, NULL, &fd))
		visit(GPOINTER_TO_INT(fd), data);
}

uint32_t file_key_of_name(struct intern *names, const char *name)
{
	static const struct {
		const char *prefix, *key;
	} anonymous[] = {
		{"anon_inode:[eventfd]", "eventfd"},
		{"anon_inode:[timerfd]", "timerfd"},
		{"anon_inode:[eventpoll]", "epoll"},
	};
	g_autofree char *key = NULL;

	if (*name == '/' && g_str_has_prefix(name + 1, "anon_inode:"))
		name++; /* older kernels print it as a path */
	for (size_t i = 0; i < G_N_ELEMENTS(anonymous); i++)
		if (g_str_has_prefix(name, anonymous[i].prefix))
			return intern_id(names, anonymous[i].key);
	if (g_str_has_prefix(name, "pipe:") || g_str_has_prefix(name, "socket:"))
		return intern_id(names, name);
	key = g_strconcat("file:", name, NULL);
	return intern_id(names, key);
}
