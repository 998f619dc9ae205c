/* SPDX-License-Identifier: MIT */
/* Mapped files and the handler of SIGBUS; see mapped.h.
 *
 * The handler finds the file by the address in a list that only grows: what is freed stays in it,
 * empty, and is used again, so that the list can be walked at any moment without a lock. It calls
 * mmap() alone, which POSIX does not list as safe in a handler, but which is a plain system call.
 *
 *   page     0 1 2 3 4 5 6 7 8 …
 *   fault        x x   x           each time twice as many as the last time, if that ended right
 *   zeros        0 0 0 0 0 0 0     before: a file cut by a gigabyte costs 18 faults
 */
#include "reader/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapped {
	struct mapped *next;         /* never changes */
	atomic_uintptr_t begin;      /* address; 0: empty or not in use */
	uint64_t length;             /* bytes; is set before `begin` */
	atomic_uchar *pages;         /* owned; a bit each: gone */
	atomic_size_t next_page, run; /* behind the last zeros, and how many pages they were */
	dev_t device;                /* of the file, */
	ino_t inode;                 /* to know it again */
	bool in_use;
};

atomic_bool mapped_faulted;

static _Atomic(struct mapped *) list;
static GMutex lock; /* of the list's ends, of in_use and of what follows */
static guint users;
static struct sigaction before;
static size_t page_bytes;

static size_t page_count(const struct mapped *mapped)
{
	return (size_t) ((mapped->length + page_bytes - 1) / page_bytes);
}

static bool is_gone(const struct mapped *mapped, size_t page)
{
	return atomic_load(&mapped->pages[page / 8]) >> (page % 8) & 1;
}

/* False: the zeros cannot be had either. */
static bool lay_zeros(struct mapped *mapped, uintptr_t begin, size_t page)
{
	size_t run = atomic_load(&mapped->next_page) == page ? 2 * atomic_load(&mapped->run) : 1;

	run = MIN(MAX(run, 1), page_count(mapped) - page);
	if (mmap((void *) (begin + page * page_bytes), run * page_bytes, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	for (size_t i = page; i < page + run; i++)
		atomic_fetch_or(&mapped->pages[i / 8], (unsigned char) (1u << (i % 8)));
	atomic_store(&mapped->run, run);
	atomic_store(&mapped->next_page, page + run);
	atomic_store(&mapped_faulted, true);
	return true;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t) info->si_addr;
	int saved = errno;

	(void) context;
	for (struct mapped *mapped = atomic_load(&list); mapped; mapped = mapped->next) {
		uintptr_t begin = atomic_load(&mapped->begin);

		if (!begin || at < begin || at - begin >= mapped->length)
			continue;
		if (!lay_zeros(mapped, begin, (at - begin) / page_bytes))
			break;
		errno = saved;
		return;
	}
	sigaction(number, &before, NULL); /* and it comes again */
}

static void watch(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

	if (users++)
		return;
	page_bytes = (size_t) sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

static void unwatch(void)
{
	if (--users == 0)
		sigaction(SIGBUS, &before, NULL);
}

static struct mapped *take_free(void)
{
	struct mapped *mapped;

	for (mapped = atomic_load(&list); mapped; mapped = mapped->next)
		if (!mapped->in_use)
			return mapped;
	mapped = g_new0(struct mapped, 1);
	mapped->next = atomic_load(&list);
	atomic_store(&list, mapped);
	return mapped;
}

static struct mapped *list_file(void *bytes, const struct stat *status)
{
	struct mapped *mapped;

	g_mutex_lock(&lock);
	watch();
	mapped = take_free();
	mapped->in_use = true;
	mapped->length = (uint64_t) status->st_size;
	mapped->device = status->st_dev;
	mapped->inode = status->st_ino;
	mapped->pages = g_malloc0(page_count(mapped) / 8 + 1);
	atomic_store(&mapped->next_page, SIZE_MAX);
	atomic_store(&mapped->begin, (uintptr_t) bytes);
	g_mutex_unlock(&lock);
	return mapped;
}

struct mapped *mapped_new(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	void *bytes = NULL;
	struct stat status;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) != 0)
		error = errno;
	else if (status.st_size > 0)
		bytes = mmap(NULL, (size_t) status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		error = errno;
	close(fd);
	errno = error;
	return error ? NULL : list_file(bytes, &status);
}

void mapped_free(struct mapped *mapped)
{
	void *bytes;

	if (!mapped)
		return;
	bytes = (void *) mapped_bytes(mapped);
	g_mutex_lock(&lock);
	atomic_store(&mapped->begin, 0);
	if (bytes)
		munmap(bytes, (size_t) mapped->length);
	g_free(mapped->pages);
	mapped->pages = NULL;
	mapped->in_use = false;
	unwatch();
	g_mutex_unlock(&lock);
}

const uint8_t *mapped_bytes(const struct mapped *mapped)
{
	return (const uint8_t *) atomic_load(&mapped->begin);
}

uint64_t mapped_length(const struct mapped *mapped)
{
	return mapped->length;
}

static bool is_same(const struct mapped *mapped, const struct stat *status)
{
	return status->st_dev == mapped->device && status->st_ino == mapped->inode;
}

int mapped_open(const struct mapped *mapped, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || (fstat(fd, &status) == 0 && is_same(mapped, &status)))
		return fd;
	close(fd);
	return -1;
}

uint64_t mapped_size_now(const struct mapped *mapped, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !is_same(mapped, &status))
		return mapped->length;
	return (uint64_t) status.st_size;
}

bool mapped_gone_slowly(const struct mapped *mapped, uint64_t from, uint64_t to)
{
	to = MIN(to, mapped->length);
	for (uint64_t page = from / page_bytes; page * page_bytes < to; page++)
		if (is_gone(mapped, page))
			return true;
	return false;
}

uint64_t mapped_behind_gone(const struct mapped *mapped, uint64_t at)
{
	while (at < mapped->length && is_gone(mapped, at / page_bytes))
		at = (at / page_bytes + 1) * page_bytes;
	return MIN(at, mapped->length);
}
