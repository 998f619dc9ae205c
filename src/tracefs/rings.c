/* SPDX-License-Identifier: MIT */
/* See rings.h. */
#include "tracefs/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define PIPE_SIZE (1 << 20)
#define LOOK_MS 5000 /* at the latest: the kernel says when a ring is half full */
#define REST_MS 50  /* where a ring is said to be readable and has no full page: old kernels */

struct ring {
	struct rings *all; /* borrowed */
	guint cpu;
	int from, to, pipe[2]; /* -1: not open */
	GThread *thread;       /* NULL: not drained */
	int failed;            /* errno of writing; 0 */
};

struct rings {
	GArray *rings; /* struct ring; threads point into it: it does not grow once they run */
	char *output;  /* owned */
	gsize page;    /* bytes of the kernel's page */
	int end;       /* eventfd: the threads are to end */
};

static void set_failed(struct ring *ring, int number)
{
	if (!ring->failed)
		ring->failed = number;
}

/* What is in the pipe goes to the file. */
static void empty_pipe(struct ring *ring, gsize count)
{
	while (count) {
		ssize_t moved = splice(ring->pipe[0], NULL, ring->to, NULL, count, 0);

		if (moved < 0 && errno == EINTR)
			continue;
		if (moved <= 0) {
			set_failed(ring, moved < 0 ? errno : EIO);
			return;
		}
		count -= (gsize) moved;
	}
}

/* The pages that are full; whether there were any. */
static bool move_pages(struct ring *ring)
{
	bool any = false;

	for (ssize_t moved; !ring->failed; any = true) {
		moved = splice(ring->from, NULL, ring->pipe[1], NULL, PIPE_SIZE,
			       SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		if (moved <= 0)
			break;
		empty_pipe(ring, (gsize) moved);
	}
	return any;
}

static gpointer drain(gpointer data)
{
	struct ring *ring = data;
	struct pollfd watched[2] = {{.fd = ring->all->end, .events = POLLIN},
				    {.fd = ring->from, .events = POLLIN}};

	while (!(watched[0].revents & POLLIN) && !ring->failed) {
		poll(watched, 2, LOOK_MS);
		if (!move_pages(ring) && !(watched[0].revents & POLLIN))
			poll(watched, 1, REST_MS);
	}
	return NULL;
}

/* With the last page, which is not full. */
static void read_rest(struct ring *ring)
{
	g_autofree guint8 *page = g_malloc(ring->all->page);
	ssize_t got;

	while (!ring->failed && (got = read(ring->from, page, ring->all->page)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) /* EAGAIN: it is empty */
			return;
		memset(page + got, 0, ring->all->page - (gsize) got);
		for (gsize at = 0; at < ring->all->page && !ring->failed;) {
			ssize_t put = write(ring->to, page + at, ring->all->page - at);

			if (put > 0)
				at += (gsize) put;
			else if (errno != EINTR)
				set_failed(ring, errno ? errno : EIO);
		}
	}
}

char *rings_file(const struct rings *rings, guint place)
{
	return g_strdup_printf("%s/.cpu%u", rings->output, rings_cpu(rings, place));
}

guint rings_cpu(const struct rings *rings, guint place)
{
	return g_array_index(rings->rings, struct ring, place).cpu;
}

guint rings_count(const struct rings *rings)
{
	return rings->rings->len;
}

static gint by_cpu(gconstpointer a, gconstpointer b)
{
	const struct ring *one = a, *other = b;

	return (one->cpu > other->cpu) - (one->cpu < other->cpu);
}

static void find_cpus(struct rings *rings, const char *instance)
{
	g_autofree char *path = g_build_filename(instance, "per_cpu", NULL);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_prefix(name, "cpu")) {
			struct ring ring = {rings,    (guint) g_ascii_strtoull(name + 3, NULL, 10),
					    -1,       -1,
					    {-1, -1}, NULL,
					    0};

			g_array_append_val(rings->rings, ring);
		}
	if (dir)
		g_dir_close(dir);
	g_array_sort(rings->rings, by_cpu);
}

static bool open_ring(struct rings *rings, guint place, const char *instance, GError **error)
{
	struct ring *ring = &g_array_index(rings->rings, struct ring, place);
	g_autofree char *raw =
		g_strdup_printf("%s/per_cpu/cpu%u/trace_pipe_raw", instance, ring->cpu);
	g_autofree char *file = rings_file(rings, place);

	ring->from = open(raw, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ring->to = ring->from < 0 ? -1 : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (ring->from >= 0 && ring->to >= 0)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "cannot open %s: %s",
		    ring->from < 0 ? raw : file, g_strerror(errno));
	return false;
}

/* Four files a CPU are more than a process may have, where there are hundreds of them; the program
 * that is recorded keeps the limit that there was. */
static struct rlimit raise_limit(void)
{
	struct rlimit limit, most;

	getrlimit(RLIMIT_NOFILE, &limit);
	most = (struct rlimit) {limit.rlim_max, limit.rlim_max};
	setrlimit(RLIMIT_NOFILE, &most);
	return limit;
}

static bool open_rings(struct rings *rings, const char *instance, GError **error)
{
	struct rlimit limit = raise_limit();
	bool ok = true;

	for (guint i = 0; i < rings->rings->len && ok; i++)
		ok = open_ring(rings, i, instance, error);
	setrlimit(RLIMIT_NOFILE, &limit);
	return ok;
}

struct rings *rings_open(const char *instance, const char *output, GError **error)
{
	struct rings *rings = g_new(struct rings, 1);

	*rings = (struct rings) {g_array_new(FALSE, TRUE, sizeof(struct ring)), g_strdup(output),
				 (gsize) sysconf(_SC_PAGESIZE), eventfd(0, EFD_CLOEXEC)};
	find_cpus(rings, instance);
	if (open_rings(rings, instance, error))
		return rings;
	rings_end(rings);
	return NULL;
}

static bool start_threads(struct rings *rings, GError **error)
{
	for (guint i = 0; i < rings->rings->len; i++) {
		struct ring *ring = &g_array_index(rings->rings, struct ring, i);

		if (pipe2(ring->pipe, O_CLOEXEC) == 0) {
			fcntl(ring->pipe[0], F_SETPIPE_SZ, PIPE_SIZE);
			ring->thread = g_thread_try_new("whylate-ring", drain, ring, error);
		} else {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
				    "cannot drain ftrace's rings: %s", g_strerror(errno));
		}
		if (!ring->thread)
			return false;
	}
	return true;
}

bool rings_drain(struct rings *rings, GError **error)
{
	struct rlimit limit = raise_limit();
	bool ok = start_threads(rings, error);

	setrlimit(RLIMIT_NOFILE, &limit);
	return ok;
}

static void stop_threads(struct rings *rings)
{
	uint64_t one = 1;

	if (rings->end >= 0 && write(rings->end, &one, sizeof one) < 0)
		close(g_steal_fd(&rings->end)); /* cannot be */
	for (guint i = 0; i < rings->rings->len; i++) {
		struct ring *ring = &g_array_index(rings->rings, struct ring, i);

		if (ring->thread)
			g_thread_join(g_steal_pointer(&ring->thread));
	}
}

/* The rest of one, also of one whose disk was full: what had been taken from it comes first, and
 * half a page is none. */
static void finish_ring(struct ring *ring)
{
	int failed = ring->failed, taken = 0;
	struct stat status;

	ring->failed = 0;
	if (ring->pipe[0] >= 0 && ioctl(ring->pipe[0], FIONREAD, &taken) == 0)
		empty_pipe(ring, (gsize) taken);
	read_rest(ring);
	if (failed)
		ring->failed = failed;
	if (fstat(ring->to, &status) == 0 && status.st_size % (off_t) ring->all->page &&
	    ftruncate(ring->to, status.st_size - status.st_size % (off_t) ring->all->page) != 0)
		set_failed(ring, errno);
}

bool rings_finish(struct rings *rings, GError **error)
{
	int failed = 0;

	stop_threads(rings);
	for (guint i = 0; i < rings->rings->len; i++) {
		struct ring *ring = &g_array_index(rings->rings, struct ring, i);

		finish_ring(ring);
		failed = failed ? failed : ring->failed;
	}
	if (failed == ENOSPC)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "the disk of %s is full: what was recorded until then can be read: "
			    "whylate %s",
			    rings->output, rings->output);
	else if (failed)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "writing below %s: %s",
			    rings->output, g_strerror(failed));
	return !failed;
}

void rings_end(struct rings *rings)
{
	stop_threads(rings);
	for (guint i = 0; i < rings->rings->len; i++) {
		struct ring *ring = &g_array_index(rings->rings, struct ring, i);
		int files[] = {ring->from, ring->to, ring->pipe[0], ring->pipe[1]};
		g_autofree char *path = rings_file(rings, i);

		for (size_t f = 0; f < G_N_ELEMENTS(files); f++)
			if (files[f] >= 0)
				close(files[f]);
		unlink(path);
	}
	if (rings->end >= 0)
		close(rings->end);
	g_array_free(rings->rings, TRUE);
	g_free(rings->output);
	g_free(rings);
}
