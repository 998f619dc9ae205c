/* SPDX-License-Identifier: MIT */
/* Unnamed temporary files; see spill.h. */
#include "util/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int trouble;

static int note(int error)
{
	int none = 0;

	if (error)
		atomic_compare_exchange_strong(&trouble, &none, error);
	return error;
}

int spill_trouble(void)
{
	return atomic_load(&trouble);
}

const char *spill_place(void)
{
	return g_get_tmp_dir();
}

int spill_open(void)
{
	int fd = open(spill_place(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) { /* a file system without O_TMPFILE */
		g_autofree char *name = g_build_filename(spill_place(), "whylate-XXXXXX", NULL);

		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd < 0)
		note(errno);
	return fd;
}

/* Beyond RLIMIT_FSIZE there would be SIGXFSZ, which ends a process that does not expect it. */
static bool is_too_large(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       size > limit.rlim_cur;
}

int spill_reserve(int fd, uint64_t offset, uint64_t size)
{
	int error;

	if (is_too_large(offset + size))
		return note(EFBIG);
	do
		error = posix_fallocate(fd, (off_t) offset, (off_t) size);
	while (error == EINTR);
	return note(error);
}

bool spill_write(int fd, const void *bytes, uint64_t size, uint64_t offset)
{
	while (size) {
		ssize_t done = pwrite(fd, bytes, size, (off_t) offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			note(errno);
			return false;
		}
		bytes = (const char *) bytes + done;
		offset += (uint64_t) done;
		size -= (uint64_t) done;
	}
	return true;
}

bool spill_read(int fd, void *bytes, uint64_t size, uint64_t offset)
{
	while (size) {
		ssize_t done = pread(fd, bytes, size, (off_t) offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			errno = done ? errno : EIO;
			return false;
		}
		bytes = (char *) bytes + done;
		offset += (uint64_t) done;
		size -= (uint64_t) done;
	}
	return true;
}

/* Zeros are written: what the kernel makes up for a hole may be one large folio, and one fault
 * bring in all of that. */
static bool zeros(int fd, size_t size)
{
	static const char none[SPILL_PIECE];

	for (size_t at = 0; at < size; at += SPILL_PIECE)
		if (!spill_write(fd, none, MIN(size - at, SPILL_PIECE), at))
			return false;
	return true;
}

void spill_block_make(struct spill_block *block, size_t size)
{
	int fd = size < SPILL_BLOCK_LEAST ? -1 : spill_open();

	*block = (struct spill_block) {0};
	if (fd >= 0 && spill_reserve(fd, 0, size) == 0 && zeros(fd, size)) {
		block->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		block->size = block->bytes == MAP_FAILED ? 0 : size;
	}
	if (fd >= 0)
		close(fd); /* a mapping keeps it */
	if (!block->size)
		block->bytes = g_malloc0(size);
}

void spill_block_let_go(const struct spill_block *block)
{
	if (block->size)
		madvise(block->bytes, block->size, MADV_DONTNEED);
}

void spill_block_clear(struct spill_block *block)
{
	if (block->size)
		munmap(block->bytes, block->size);
	else
		g_free(block->bytes);
	*block = (struct spill_block) {0};
}
