/* SPDX-License-Identifier: MIT */
/* Descriptor tables with copy on write; see files.h. */
#include "model/files.h"

#include <string.h>

#define NEAR 1024 /* descriptors below it are looked up by index: most, and those used most */

/* What each fd is: a struct open_file, with close-on-exec in the lowest bit of the pointer. */
struct fd_store {
	int refs;         /* tables that share it until one writes */
	uint32_t count;   /* of `near` */
	gpointer *near;   /* owned; by fd; NULL: not known */
	GHashTable *far;  /* owned; fd -> the same, from NEAR on; NULL: none */
};

#define SEARCHED_MAX 256 /* descriptors; more are not searched for a name */

struct fd_table {
	int refs;         /* threads, and the host's index of tables */
	struct fd_store *store;
	uint32_t cwd; /* interned path; 0: not known. Who shares descriptors shares it (CLONE_FS
			 goes with CLONE_FILES in all libraries) */
	int32_t family;
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

static gpointer entry_at(const struct fd_store *store, int32_t fd)
{
	if ((uint32_t) fd < store->count)
		return store->near[fd];
	return G_UNLIKELY(store->far) ? g_hash_table_lookup(store->far, GINT_TO_POINTER(fd)) : NULL;
}

static void make_room(struct fd_store *store, uint32_t fd)
{
	uint32_t count = MAX(store->count, 8);

	while (count <= fd)
		count *= 2;
	store->near = g_renew(gpointer, store->near, count);
	memset(store->near + store->count, 0, (count - store->count) * sizeof *store->near);
	store->count = count;
}

/* Puts the entry (NULL: none) in place of what was there. */
static void store_put(struct fd_store *store, int32_t fd, gpointer entry)
{
	gpointer old;

	if ((uint32_t) fd >= NEAR) {
		if (!store->far && entry)
			store->far = g_hash_table_new_full(NULL, NULL, NULL, entry_free);
		if (entry)
			g_hash_table_replace(store->far, GINT_TO_POINTER(fd), entry);
		else if (store->far)
			g_hash_table_remove(store->far, GINT_TO_POINTER(fd));
		return;
	}
	if ((uint32_t) fd >= store->count)
		make_room(store, (uint32_t) fd);
	old = store->near[fd];
	store->near[fd] = entry;
	if (old)
		entry_free(old);
}

static void store_each(struct fd_store *store, GHRFunc visit, gpointer data)
{
	for (uint32_t fd = 0; fd < store->count; fd++)
		if (store->near[fd] && visit(GUINT_TO_POINTER(fd), store->near[fd], data))
			store_put(store, (int32_t) fd, NULL);
	if (store->far)
		g_hash_table_foreach_remove(store->far, visit, data);
}

static struct fd_store *store_new(void)
{
	struct fd_store *store = g_new0(struct fd_store, 1);

	store->refs = 1;
	return store;
}

static gboolean any(gpointer fd, gpointer entry, gpointer data)
{
	(void) fd;
	(void) entry;
	(void) data;
	return TRUE;
}

static void store_leave(struct fd_store *store)
{
	if (--store->refs)
		return;
	store_each(store, any, NULL);
	if (store->far)
		g_hash_table_destroy(store->far);
	g_free(store->near);
	g_free(store);
}

static gboolean copy_entry(gpointer fd, gpointer entry, gpointer data)
{
	entry_file(entry)->refs++;
	store_put(data, GPOINTER_TO_INT(fd), entry);
	return FALSE;
}

/* The table's store, not shared with any other table. */
static struct fd_store *store_to_write(struct fd_table *table)
{
	if (table->store->refs > 1) {
		struct fd_store *copy = store_new();

		store_each(table->store, copy_entry, copy);
		store_leave(table->store);
		table->store = copy;
	}
	return table->store;
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
	copy->cwd = table->cwd;
	copy->family = table->family;
	return copy;
}

static gboolean merge_entry(gpointer key, gpointer entry, gpointer data)
{
	struct fd_table *into = data;
	int32_t fd = GPOINTER_TO_INT(key);
	struct open_file *known = fd_file(into, fd), *file = entry_file(entry);

	if (!known || !known->key) {
		file->refs++;
		store_put(store_to_write(into), fd, entry);
	} else if (!file->key && !known->channel) {
		known->channel = file->channel;
		known->talk = file->talk;
	}
	return FALSE;
}

void fd_table_merge(struct fd_table *into, struct fd_table *from)
{
	store_each(from->store, merge_entry, into);
	if (!into->cwd)
		into->cwd = from->cwd;
}

struct open_file *fd_last(struct fd_table *table, int32_t fd)
{
	struct open_file *file = fd_file(table, fd);

	return file && file->refs == 1 && table->store->refs == 1 ? file : NULL;
}

struct last_visit {
	void (*visit)(const struct open_file *file, void *data);
	void *data;
};

static gboolean visit_last(gpointer fd, gpointer entry, gpointer data)
{
	const struct last_visit *last = data;

	(void) fd;
	if (entry_file(entry)->refs == 1)
		last->visit(entry_file(entry), last->data);
	return FALSE;
}

void fd_each_last(struct fd_table *table, void (*visit)(const struct open_file *file, void *data),
		  void *data)
{
	struct last_visit last = {visit, data};

	if (table && table->store->refs == 1)
		store_each(table->store, visit_last, &last);
}

void fd_set_family(struct fd_table *table, int32_t family)
{
	table->family = family;
}

int32_t fd_family(const struct fd_table *table)
{
	return table->family;
}

uint64_t fd_ending_hash(int32_t family, const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint32_t) family;

	for (; *name; name++) /* FNV-1a */
		hash = (hash ^ (uint8_t) *name) * UINT64_C(0x100000001b3);
	return hash;
}

void fd_set_cwd(struct fd_table *table, uint32_t path)
{
	table->cwd = path;
}

uint32_t fd_cwd(const struct fd_table *table)
{
	return table->cwd;
}

/* Which open file has an absolute name that ends with a relative one. */
struct ending {
	const struct intern *names;
	const char *name;
	uint32_t key; /* of the first that does */
	bool several;
};

static gboolean ends_so(gpointer fd, gpointer entry, gpointer data)
{
	struct ending *ending = data;
	uint32_t key = entry_file(entry)->key;
	const char *text = intern_text(ending->names, key);
	size_t length = strlen(text), tail = strlen(ending->name);

	(void) fd;
	if (!key || key == ending->key || !g_str_has_prefix(text, "file:/") ||
	    length < strlen("file:/") + tail || text[length - tail - 1] != '/' ||
	    strcmp(text + length - tail, ending->name) != 0)
		return FALSE;
	ending->several |= ending->key != 0;
	ending->key = key;
	return FALSE;
}

uint32_t fd_named_so(struct fd_table *table, const struct intern *names, const char *name)
{
	struct ending ending = {names, name, 0, false};

	if (table->store->far || table->store->count > SEARCHED_MAX)
		return 0;
	store_each(table->store, ends_so, &ending);
	return ending.several ? 0 : ending.key;
}

static gpointer lookup(struct fd_table *table, int32_t fd)
{
	return table ? entry_at(table->store, fd) : NULL;
}

struct open_file *fd_file(struct fd_table *table, int32_t fd)
{
	return entry_file(lookup(table, fd));
}

struct open_file *fd_open(struct fd_table *table, int32_t fd, uint32_t key, bool cloexec)
{
	struct open_file *file = g_new0(struct open_file, 1);

	file->refs = 1;
	file->key = key;
	store_put(store_to_write(table), fd, entry_make(file, cloexec));
	return file;
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
	store_put(store_to_write(table), to, entry_make(entry_file(entry), cloexec));
}

void fd_close(struct fd_table *table, int32_t fd)
{
	if (lookup(table, fd))
		store_put(store_to_write(table), fd, NULL);
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

	store_each(store_to_write(table), in_range, &range);
}

void fd_set_cloexec(struct fd_table *table, int32_t fd, bool cloexec)
{
	gpointer entry = lookup(table, fd);

	if (!entry || entry_cloexec(entry) == cloexec)
		return;
	entry_file(entry)->refs++;
	store_put(store_to_write(table), fd, entry_make(entry_file(entry), cloexec));
}

static gboolean is_cloexec(gpointer fd, gpointer entry, gpointer data)
{
	(void) fd;
	(void) data;
	return entry_cloexec(entry);
}

void fd_exec(struct fd_table *table)
{
	table->family = 0;
	store_each(store_to_write(table), is_cloexec, NULL);
}

void fd_rename(struct fd_table *table, int32_t fd, uint32_t key)
{
	gpointer entry = lookup(table, fd);

	if (entry) {
		struct open_file *file = entry_file(entry);

		file->key = key;
		/* by that it may be an end of something */
		file->channel = file->channel == FD_NO_CHANNEL ? 0 : file->channel;
		file->talk = file->talk == FD_NO_TALK ? 0 : file->talk;
	} else if (table) {
		fd_open(table, fd, key, false);
	}
}

uint32_t fd_key(struct fd_table *table, int32_t fd)
{
	const struct open_file *file = fd_file(table, fd);

	return file ? file->key : 0;
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
