/* SPDX-License-Identifier: MIT */
/* An input's bytes as a file that has a name, without a place on disk.
 */
#ifndef WHYLATE_FUZZ_FILE_H
#define WHYLATE_FUZZ_FILE_H

#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int file_of(const void *bytes, size_t length)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, bytes, length), ==, (gssize) length);
	return fd;
}

/* Of the file last asked for. */
static inline const char *file_path(int fd)
{
	static char path[32];

	g_snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

static inline void file_close(int fd)
{
	close(fd);
}

#endif
