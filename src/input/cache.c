/* SPDX-License-Identifier: MIT */
/* The directory of images: looking up, writing, making room; see cache.h.
 *
 * Two runs may do the same at once: each writes a file of its own and renames it, and what
 * has been opened stays readable when it is replaced or removed. A signal that ends the
 * program waits until the file that is being written is removed or complete.
 */
#include "input/cache.h"
#include "input/identity.h"
#include "run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What is shorter takes less than a quarter of a second to read. */
#define AUTO_EVENTS 2000000u
#define AUTO_BYTES (32u << 20) /* of streams: fewer events than that for sure */
#define SIZE_MAX_MB 4096u      /* of all files, unless WHYLATE_CACHE_SIZE says */
#define SHARE_OF_FREE 10       /* … and at most a tenth of what is free */
#define SETTLED_NS INT64_C(1000000000) /* changed later than so long ago: may change again */
#define LEFT_OVER_S 3600       /* an unfinished file so old is nobody's any more */

struct cache {
	struct identity identity;
	GPtrArray *paths;  /* shared */
	char *directory;   /* owned */
	char *path;        /* owned; of the image */
	bool always;       /* a directory was named: whatever the size */
	int64_t started;   /* ns since 1970 */
};

static struct image_of image_of(const struct cache *cache)
{
	struct image_of of = {.directories = cache->identity.directories};

	memcpy(of.key, cache->identity.key, IMAGE_KEY);
	return of;
}

/* ~/.cache/whylate; NULL in somebody else's home, as with sudo: he could not use it. */
static char *own_directory(void)
{
	const char *base = g_get_user_cache_dir();
	struct stat status;

	if (stat(base, &status) != 0 && stat(g_get_home_dir(), &status) != 0)
		return NULL;
	return status.st_uid == geteuid() ? g_build_filename(base, "whylate", NULL) : NULL;
}

char *cache_directory(const struct options *options)
{
	if (g_strcmp0(options->cache, "off") == 0)
		return NULL;
	return options->cache ? g_strdup(options->cache) : own_directory();
}

/* Bytes of all files there, at most AUTO_BYTES. */
static uint64_t bytes_below(const char *path, int depth)
{
	struct stat status;
	uint64_t sum = 0;
	const char *name;
	GDir *dir;

	if (lstat(path, &status) != 0 || (!depth && stat(path, &status) != 0))
		return 0;
	if (!S_ISDIR(status.st_mode))
		return S_ISREG(status.st_mode) ? (uint64_t) status.st_size : 0;
	dir = depth < 12 ? g_dir_open(path, 0, NULL) : NULL;
	while (dir && sum < AUTO_BYTES && (name = g_dir_read_name(dir))) {
		g_autofree char *below = g_build_filename(path, name, NULL);

		sum += bytes_below(below, depth + 1);
	}
	if (dir)
		g_dir_close(dir);
	return sum;
}

char *cache_place(const struct options *options, const GPtrArray *paths)
{
	g_autofree char *place = cache_directory(options);
	uint64_t bytes = 0;

	if (!place || options->every || options->reader == READER_BABELTRACE)
		return NULL;
	if (g_file_test(place, G_FILE_TEST_EXISTS))
		return g_steal_pointer(&place);
	for (guint i = 0; i < paths->len && bytes < AUTO_BYTES; i++)
		bytes += bytes_below(paths->pdata[i], 0);
	if (options->batch.follow || bytes >= (options->cache ? 1 : AUTO_BYTES))
		g_mkdir_with_parents(place, 0700);
	return g_steal_pointer(&place);
}

struct cache *cache_new(const struct options *options, GPtrArray *paths)
{
	g_autoptr(GString) name = g_string_new(NULL);
	g_autofree char *directory = NULL;
	struct identity identity;
	struct cache *cache;

	if (options->reader == READER_BABELTRACE || options->every)
		return NULL;
	directory = cache_directory(options);
	if (!directory || !identity_find(&identity, options, paths))
		return NULL;
	if (!options->cache && identity.bytes < AUTO_BYTES) {
		identity_clear(&identity);
		return NULL;
	}
	cache = g_new0(struct cache, 1);
	cache->identity = identity;
	cache->paths = g_ptr_array_ref(paths); /* the second of a diff has one of its own */
	cache->started = g_get_real_time() * 1000;
	cache->always = options->cache != NULL;
	cache->directory = g_steal_pointer(&directory);
	for (int i = 0; i < 16; i++)
		g_string_append_printf(name, "%02x", identity.key[i]);
	g_string_append(name, ".image");
	cache->path = g_build_filename(cache->directory, name->str, NULL);
	return cache;
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	identity_clear(&cache->identity);
	g_ptr_array_unref(cache->paths);
	g_free(cache->directory);
	g_free(cache->path);
	g_free(cache);
}

int64_t cache_settles(const struct cache *cache)
{
	return cache->identity.changed + SETTLED_NS;
}

bool cache_is_of(const struct cache *cache, const GPtrArray *directories)
{
	bool same = cache->identity.directories->len == directories->len;

	for (guint i = 0; i < directories->len && same; i++)
		same = strcmp(cache->identity.directories->pdata[i], directories->pdata[i]) == 0;
	return same;
}

/* --- looking up ------------------------------------------------------------------ */

/* Whoever else could have written it could have it say anything. */
static int open_own(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -1;
}

struct session *cache_session(struct cache *cache, struct options *options)
{
	struct image_of of = image_of(cache);
	struct session *session;
	int fd = open_own(cache->path);

	if (fd < 0)
		return NULL;
	session = session_new(options);
	if (image_load(&session->trace, &of, fd))
		futimens(fd, NULL); /* used last */
	else
		g_clear_pointer(&session, session_free);
	close(fd);
	return session;
}

/* --- making room ------------------------------------------------------------------ */

struct kept {
	char *path; /* owned */
	int64_t used;
	uint64_t bytes;
};

static void kept_clear(gpointer kept)
{
	g_free(((struct kept *) kept)->path);
}

static gint by_use(gconstpointer a, gconstpointer b)
{
	const struct kept *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* The images there; left-overs of runs that were killed are removed. */
static GArray *list_kept(const struct cache *cache)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct kept));
	GDir *dir = g_dir_open(cache->directory, 0, NULL);
	const char *name;

	g_array_set_clear_func(list, kept_clear);
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(cache->directory, name, NULL);
		struct kept kept;
		struct stat status;

		if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		if (g_str_has_prefix(name, "new-") &&
		    status.st_mtim.tv_sec < cache->started / 1000000000 - LEFT_OVER_S)
			unlink(path);
		if (!g_str_has_suffix(name, ".image"))
			continue;
		kept.used = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
		kept.bytes = (uint64_t) status.st_size;
		kept.path = g_steal_pointer(&path);
		g_array_append_val(list, kept);
	}
	if (dir)
		g_dir_close(dir);
	g_array_sort(list, by_use);
	return list;
}

static uint64_t sum_of(const GArray *list)
{
	uint64_t sum = 0;

	for (guint i = 0; i < list->len; i++)
		sum += g_array_index(list, struct kept, i).bytes;
	return sum;
}

/* Bytes that the directory may hold. */
static uint64_t bytes_to_spare(const struct cache *cache, uint64_t held)
{
	const char *said = g_getenv("WHYLATE_CACHE_SIZE");
	guint64 megabytes = SIZE_MAX_MB;
	struct statvfs status;

	if (said && !g_ascii_string_to_unsigned(said, 10, 0, 1u << 30, &megabytes, NULL))
		megabytes = SIZE_MAX_MB;
	if (statvfs(cache->directory, &status) != 0)
		return 0;
	return MIN(megabytes << 20,
		   ((uint64_t) status.f_bavail * status.f_frsize + held) / SHARE_OF_FREE);
}

/* What was used least recently goes, but not what was just written. */
static void make_room(const struct cache *cache)
{
	g_autoptr(GArray) list = list_kept(cache);
	uint64_t sum = sum_of(list), most = bytes_to_spare(cache, sum);

	for (guint i = 0; i < list->len && sum > most; i++) {
		const struct kept *kept = &g_array_index(list, struct kept, i);

		if (strcmp(kept->path, cache->path) != 0 && unlink(kept->path) == 0)
			sum -= kept->bytes;
	}
	if (sum > most)
		unlink(cache->path);
}

/* --- writing ----------------------------------------------------------------------- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static bool nothing_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < G_N_ELEMENTS(ending); i++)
		if (sigismember(&pending, ending[i]))
			return false;
	return true;
}

/* A file without a name, so that a process that is killed leaves nothing, or "new-…" where the file
 * system has none such (`name` is then its own). */
static int open_new(const struct cache *cache, char *name, bool *unnamed)
{
	int fd = open(cache->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	*unnamed = fd >= 0;
	return fd >= 0 ? fd : mkostemp(name, O_CLOEXEC); /* 0600 */
}

/* Only a moment passes between its first name and its last. */
static bool name_it(int fd, char *name)
{
	g_autofree char *link_place = g_strdup_printf("/proc/self/fd/%d", fd);
	int reserved = mkostemp(name, O_CLOEXEC);

	if (reserved < 0)
		return false;
	close(reserved);
	return unlink(name) == 0 &&
	       linkat(AT_FDCWD, link_place, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

static bool write_file(const struct cache *cache, const struct session *session, int fd, char *name,
		       bool unnamed)
{
	struct image_of of = image_of(cache);
	bool ok;

	/* a full disk is found before all is written */
	ok = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t) image_size(&session->trace)) == 0 ||
	     errno != ENOSPC;
	ok = ok && image_write(&session->trace, &of, fd, nothing_pending) &&
	     (!unnamed || name_it(fd, name)) && rename(name, cache->path) == 0;
	if (!ok)
		unlink(name);
	return ok;
}

static void write_image(const struct cache *cache, const struct session *session)
{
	g_autofree char *name = g_build_filename(cache->directory, "new-XXXXXX", NULL);
	sigset_t set, before;
	bool unnamed;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < G_N_ELEMENTS(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	fd = open_new(cache, name, &unnamed);
	if (fd >= 0) {
		if (write_file(cache, session, fd, name, unnamed))
			make_room(cache);
		close(fd);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The files are what they were when they were read, and will be so for a while: a time of
 * change tells less than a clock does. */
static bool is_settled(const struct cache *cache, const struct options *options)
{
	struct identity now;
	bool same;

	if (cache_settles(cache) > cache->started || !identity_find(&now, options, cache->paths))
		return false;
	same = memcmp(now.key, cache->identity.key, IMAGE_KEY) == 0;
	identity_clear(&now);
	return same;
}

/* What could not be spilled is told in the report, and was of that run only. */
static bool is_worth(const struct cache *cache, const struct session *session)
{
	return session->trace.names_gathered && !session->trace.stopped &&
	       (cache->always || session->trace.events >= AUTO_EVENTS) &&
	       !session->trace.timeline.intervals.spill_failed;
}

void cache_keep(struct cache *cache, const struct session *session)
{
	g_autoptr(GArray) list = NULL;

	if (!is_worth(cache, session) || !is_settled(cache, session->asked.options) ||
	    g_mkdir_with_parents(cache->directory, 0700) != 0)
		return;
	list = list_kept(cache);
	if (image_size(&session->trace) <= bytes_to_spare(cache, sum_of(list)))
		write_image(cache, session);
}

void cache_replaced(const struct cache *before, const struct cache *now)
{
	if (strcmp(before->path, now->path) != 0 && access(now->path, F_OK) == 0)
		unlink(before->path);
}
