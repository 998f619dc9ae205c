/* SPDX-License-Identifier: MIT */
/* Who wrote into files what their disk has not yet, and what disks were busy with; see written.h.
 *
 *   P ── write(file) ── write(file) ──             dirtied: by process and file, in bytes
 *   jbd2, flusher ─────────────── request, request ──  served: what the disk did when, for whom
 *
 * The kernel writes pages back in threads of its own, in whose requests nobody else is named. So
 * what user threads wrote into files is kept by thread and file until that much has been written
 * to the file's disk; a kernel thread's request is put down to whoever has most of it there then:
 * inferred. What a thread writes to the disk itself (fsync, direct I/O) is its own, and so is not
 * taken for data that wait.
 *
 * Which disk a file is on is learned from requests made in calls on it; other files of its
 * directory, and of those above but the root, are taken to be there too; those right in the root
 * where /usr and the like are. Not known: who wrote
 * through a mapping. A disk's time is that from a completion, or from the issue if that was later,
 * to the next completion.
 *
 * Both lists are of fixed length: where there are more than DIRTIED_MAX writers and files, the one
 * that has not written for longest goes; of requests served the last SERVED_MAX stretches stay.
 */
#include "disk/written.h"

#include <string.h>

#include "disk/block_requests.h"
#include "model/files.h"
#include "objects/calls.h"

#define DIRTIED_MAX 64
#define PAGE 4096 /* bytes: where it is more, too few are counted */
#define SERVED_MAX 256
#define SERVED_STRETCH 20000000 /* ns: of one owner, added up */
#define KEPT_NS INT64_C(60000000000) /* dirty pages are written back after 30 s at the latest */

/* --- which disk a file is on ----------------------------------------------------- */

/* Files of no disk. */
static bool is_elsewhere(const char *path)
{
	static const char *const places[] = {"/proc/", "/sys/",       "/dev/shm/",
					     "/run/",  "anon_inode:", "memfd:"};

	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (g_str_has_prefix(path, places[i]))
			return true;
	return false;
}

/* NULL: it is no file on a disk. */
static const char *path_of(const struct flow *flow, uint32_t key)
{
	const char *text = intern_text(flow->names, key);

	if (!key || !g_str_has_prefix(text, "file:") || is_elsewhere(text + strlen("file:")))
		return NULL;
	return text + strlen("file:");
}

/* The path of the file that the thread's call is on, and its key; NULL: none on a disk. */
static const char *file_of_call(struct flow *flow, struct thread *thread, uint32_t *key)
{
	if (!thread->flow.call.open || thread->flow.call.fd < 0)
		return NULL;
	*key = fd_key(thread_files(flow, thread), thread->flow.call.fd);
	return path_of(flow, *key);
}

/* FNV-1a of the path's first `length` characters; never a file's key. */
static uint64_t directory_key(const char *path, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t) path[i]) * UINT64_C(0x100000001b3);
	return hash | UINT64_C(1) << 63;
}

/* The length of the name of the directory that it is in; 0: the root, or none. */
static size_t directory_length(const char *path, size_t length)
{
	while (length && path[length - 1] != '/')
		length--;
	return length ? length - 1 : 0;
}

/* Directories that are most often on the file system of the root. */
static bool is_of_root(const char *path)
{
	static const char *const places[] = {"/bin/", "/sbin/", "/lib", "/usr/", "/etc/", "/root/"};

	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (g_str_has_prefix(path, places[i]))
			return true;
	return *path == '/' && !strchr(path + 1, '/');
}

static void path_is_on(struct host *host, const char *path, uint32_t dev)
{
	for (size_t at = strlen(path); (at = directory_length(path, at)) > 0;)
		if (idmap_get(&host->file_disks, directory_key(path, at)) == IDMAP_NONE)
			idmap_set(&host->file_disks, directory_key(path, at), dev);
	if (is_of_root(path))
		idmap_set(&host->file_disks, directory_key(path, 0), dev);
}

void file_is_on(struct flow *flow, struct host *host, uint32_t index, uint32_t dev, bool write)
{
	struct thread *thread = is_thread(index) ? flow_thread(flow, index) : NULL;
	uint32_t key;
	const char *path;

	if (!thread || !thread->flow.call.open || dev == IDMAP_NONE)
		return;
	thread->flow.call.to_disk |= write;
	path = file_of_call(flow, thread, &key);
	if (!path && thread->flow.call.path) { /* it opens, or executes, it */
		path = intern_text(flow->names, thread->flow.call.path);
		if (!is_elsewhere(path) && *path == '/')
			path_is_on(host, path, dev);
	} else if (path && idmap_get(&host->file_disks, key) != dev) {
		idmap_set(&host->file_disks, key, dev);
		path_is_on(host, path, dev);
	}
}

uint32_t disk_of_file(const struct flow *flow, const struct host *host, uint32_t key)
{
	uint32_t dev = idmap_get(&host->file_disks, key);
	const char *path = path_of(flow, key);

	if (!path)
		return 0;
	for (size_t at = strlen(path); dev == IDMAP_NONE && at;) {
		at = directory_length(path, at);
		if (at || is_of_root(path))
			dev = idmap_get(&host->file_disks, directory_key(path, at));
	}
	return dev;
}

uint32_t disk_of_call(struct flow *flow, const struct host *host, struct thread *thread)
{
	uint32_t key;

	return file_of_call(flow, thread, &key) ? disk_of_file(flow, host, key) : 0;
}

/* --- written, and not on the disk yet --------------------------------------------- */

static struct dirtied *dirtied_at(const struct host *host, guint i)
{
	return &g_array_index(host->dirtied, struct dirtied, i);
}

static struct dirtied *dirtied_new(struct host *host)
{
	guint oldest = 0;

	if (host->dirtied->len < DIRTIED_MAX) {
		g_array_set_size(host->dirtied, host->dirtied->len + 1);
		return dirtied_at(host, host->dirtied->len - 1);
	}
	for (guint i = 0; i < host->dirtied->len; i++)
		if (dirtied_at(host, i)->last < dirtied_at(host, oldest)->last)
			oldest = i;
	return dirtied_at(host, oldest);
}

static void note_dirtied(struct flow *flow, struct host *host, uint32_t index, uint32_t key,
			 uint64_t bytes)
{
	struct dirtied *dirtied = NULL;

	for (guint i = 0; i < host->dirtied->len && !dirtied; i++)
		if (dirtied_at(host, i)->thread == index && dirtied_at(host, i)->file == key)
			dirtied = dirtied_at(host, i);
	if (!dirtied) {
		dirtied = dirtied_new(host);
		*dirtied = (struct dirtied) {.thread = index, .file = key};
	}
	dirtied->bytes += bytes;
	dirtied->last = flow->time;
}

void file_written(struct flow *flow, uint32_t index, struct thread *thread, uint64_t bytes)
{
	uint32_t key;

	if (!thread->flow.call.to_disk && file_of_call(flow, thread, &key))
		note_dirtied(flow, model_host(flow->model, thread->host), index, key, bytes);
}

void file_dirtied(struct flow *flow, uint32_t index, struct thread *thread, uint32_t key)
{
	if (path_of(flow, key))
		note_dirtied(flow, model_host(flow->model, thread->host), index, key, PAGE);
}

/* IDMAP_NONE as `dev`: for a disk that is not known. */
static bool is_due(const struct flow *flow, const struct host *host, const struct dirtied *dirtied,
		   uint32_t dev)
{
	return dirtied->bytes && flow->time - dirtied->last < KEPT_NS &&
	       disk_of_file(flow, host, dirtied->file) == dev;
}

static bool same_process(const struct flow *flow, uint32_t one, uint32_t other)
{
	const struct thread *a, *b;

	if (one == other || !is_thread(one) || !is_thread(other))
		return one == other;
	a = flow_thread(flow, one);
	b = flow_thread(flow, other);
	return a->host == b->host && thread_process(a) > 0 &&
	       thread_process(a) == thread_process(b);
}

/* Of the thread's process (NO_THREAD: of all) what is due on the disk most; NULL: nothing. */
static struct dirtied *dirtied_most(const struct flow *flow, const struct host *host, uint32_t dev,
				    uint32_t thread)
{
	struct dirtied *most = NULL;

	for (guint i = 0; i < host->dirtied->len; i++) {
		struct dirtied *at = dirtied_at(host, i);

		if ((!most || at->bytes > most->bytes) &&
		    (thread == NO_THREAD || same_process(flow, thread, at->thread)) &&
		    is_due(flow, host, at, dev))
			most = at;
	}
	return most;
}

/* What of `list` is the process of `thread`; NULL: it is not there, and the list is full. */
static struct written *written_of(const struct flow *flow, struct written *list, guint *count,
				  guint max, uint32_t thread)
{
	for (guint i = 0; i < *count; i++)
		if (same_process(flow, list[i].thread, thread))
			return &list[i];
	if (*count == max)
		return NULL;
	list[*count] = (struct written) {.thread = thread};
	return &list[(*count)++];
}

struct waiting_sums waiting_for(const struct flow *flow, const struct host *host, uint32_t dev)
{
	struct waiting_sums sums = {.most = {.thread = NO_THREAD}, .second = NO_THREAD};
	struct written list[DIRTIED_MAX];
	guint count = 0;
	uint64_t second = 0;

	for (guint i = 0; i < host->dirtied->len; i++) {
		const struct dirtied *at = dirtied_at(host, i);
		struct written *of;

		if (!is_due(flow, host, at, dev))
			continue;
		of = written_of(flow, list, &count, DIRTIED_MAX, at->thread);
		of->bytes += at->bytes;
		if (!of->file || at->bytes * 2 > of->bytes)
			of->file = at->file;
		sums.bytes += at->bytes;
	}
	for (guint i = 0; i < count; i++)
		if (list[i].bytes > sums.most.bytes)
			sums.most = list[i];
	for (guint i = 0; i < count; i++) {
		if (list[i].bytes * 4 < sums.most.bytes)
			continue;
		sums.processes++;
		if (list[i].thread != sums.most.thread && list[i].bytes > second) {
			second = list[i].bytes;
			sums.second = list[i].thread;
		}
	}
	return sums;
}

/* --- served ------------------------------------------------------------------------ */

/* How long the disk was at it. */
static int64_t busy_with(struct host *host, const struct request *request)
{
	struct disk_end *disk = NULL;
	int64_t from = request->issue;

	for (guint i = 0; i < G_N_ELEMENTS(host->disk_ends) && !disk; i++)
		if (host->disk_ends[i].dev == request->dev)
			disk = &host->disk_ends[i];
	if (!disk)
		disk = &host->disk_ends[host->disk_ends_next++ % G_N_ELEMENTS(host->disk_ends)];
	if (disk->dev == request->dev)
		from = MAX(from, disk->end);
	disk->dev = request->dev;
	disk->end = request->end;
	return request->issue == INT64_MIN ? 0 : MAX(request->end - from, 0);
}

/* Whose data it carried. A kernel thread's may be anybody's. */
static struct written owner_of(const struct flow *flow, const struct host *host,
			       const struct request *request)
{
	const struct requester *by = &request->by[0];
	struct written owner = {.thread = by->thread, .bytes = (uint64_t) request->sectors * 512};
	bool kernel = is_thread(by->thread) && !flow_thread(flow, by->thread)->made_syscall;
	struct dirtied *of = NULL;

	if (!request->threads)
		owner.thread = NO_THREAD;
	if (!request->write)
		return owner;
	if (!kernel)
		of = dirtied_most(flow, host, request->dev, owner.thread);
	else if (!request->meta)
		of = dirtied_most(flow, host, request->dev, NO_THREAD);
	if (kernel && !request->meta && !of)
		of = dirtied_most(flow, host, IDMAP_NONE, NO_THREAD);
	if (kernel && request->meta && is_thread(by->behalf))
		owner.thread = by->behalf;
	if (of) {
		owner.thread = of->thread;
		owner.file = kernel ? of->file : 0;
		of->bytes -= MIN(of->bytes, owner.bytes);
	}
	return owner;
}

uint32_t disk_served(struct flow *flow, struct host *host, const struct request *request)
{
	int64_t busy = busy_with(host, request);
	struct written owner;
	struct served *served;
	uint32_t last = host->served_next;

	if (!request->sectors)
		return 0;
	owner = owner_of(flow, host, request);
	for (guint i = 0; i < MIN(host->served->len, 4); i++) {
		last = (last + SERVED_MAX - 1) % SERVED_MAX;
		served = &g_array_index(host->served, struct served, last);
		if (served->dev == request->dev && served->thread == owner.thread &&
		    served->file == owner.file && request->end - served->begin < SERVED_STRETCH) {
			served->end = request->end;
			served->bytes += owner.bytes;
			served->busy += busy;
			return owner.file;
		}
	}
	if (host->served->len <= host->served_next)
		g_array_set_size(host->served, host->served_next + 1);
	served = &g_array_index(host->served, struct served, host->served_next);
	host->served_next = (host->served_next + 1) % SERVED_MAX;
	*served = (struct served) {.dev = request->dev,
				   .thread = owner.thread,
				   .file = owner.file,
				   .begin = request->end,
				   .end = request->end,
				   .bytes = owner.bytes,
				   .busy = busy};
	return owner.file;
}

static void add_served(struct written *sum, const struct served *served)
{
	sum->bytes += served->bytes;
	sum->busy += served->busy;
	if (served->file)
		sum->file = served->file;
}

struct served_sums served_since(const struct flow *flow, const struct host *host, uint32_t dev,
				uint32_t thread, int64_t from)
{
	struct served_sums sums = {.own = {.thread = NO_THREAD},
				   .most = {.thread = NO_THREAD},
				   .other = {.thread = NO_THREAD},
				   .second = NO_THREAD};
	struct written list[16];
	guint count = 0;
	int64_t second = 0;

	for (guint i = 0; i < host->served->len; i++) {
		const struct served *at = &g_array_index(host->served, struct served, i);
		struct written *of;

		if (at->dev != dev || at->end <= from)
			continue;
		if (same_process(flow, at->thread, thread)) {
			add_served(&sums.own, at);
			continue;
		}
		add_served(&sums.other, at);
		if (!is_thread(at->thread) || !flow_thread(flow, at->thread)->made_syscall)
			continue;
		of = written_of(flow, list, &count, G_N_ELEMENTS(list), at->thread);
		if (!of)
			continue;
		add_served(of, at);
	}
	for (guint i = 0; i < count; i++)
		if (list[i].busy > sums.most.busy)
			sums.most = list[i];
	for (guint i = 0; i < count; i++) {
		if (list[i].busy * 4 < sums.most.busy)
			continue;
		sums.processes++;
		if (list[i].thread != sums.most.thread && list[i].busy > second) {
			second = list[i].busy;
			sums.second = list[i].thread;
		}
	}
	return sums;
}

uint32_t busiest_since(const struct flow *flow, const struct host *host, int64_t from)
{
	uint64_t most = 0;
	uint32_t dev = 0;

	for (guint i = 0; i < G_N_ELEMENTS(host->disk_ends); i++) {
		uint32_t at = host->disk_ends[i].dev;
		uint64_t bytes = at ? served_since(flow, host, at, NO_THREAD, from).other.bytes : 0;

		if (bytes > most) {
			most = bytes;
			dev = at;
		}
	}
	return dev;
}
