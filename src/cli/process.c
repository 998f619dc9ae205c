/* SPDX-License-Identifier: MIT */
/* The command as a process among others: signals, standard streams, memory; see cli.h.
 *
 * Signals end it by themselves: no analysis has to ask whether it should stop, so it is quick. What
 * would be left behind is a report's file that has no final name yet, which is removed first;
 * temporary files have no names at all. Babeltrace's graph and the plugin need none of this:
 * there signals are their program's.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/report.h"
#include "util/error.h"
#include "util/pages.h"
#include "util/spill.h"

/* Then what the signal does by itself: the handler is no longer installed. */
static void on_end(int number)
{
	output_abandon();
	raise(number);
}

/* A mapped page that cannot be read or written, and is none of a trace (reader/mapped.h). */
static void on_bus_error(int number)
{
	static const char text[] =
		"whylate: a temporary file could not be read or written: the disk "
		"failed; TMPDIR names another place\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);

	(void) written;
	on_end(number);
}

/* GLib ends a program that gets no memory with a trap, and names its own source. */
static void on_log(const char *domain, GLogLevelFlags level, const char *message, void *data)
{
	if (!(level & G_LOG_FLAG_FATAL)) {
		g_log_default_handler(domain, level, message, data);
		return;
	}
	output_abandon();
	fprintf(stderr, "whylate: %s\n", message);
	abort();
}

/* A file must not come to be standard output because that was closed. */
static void open_standard(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY); /* so that its use fails */
}

void process_begin(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction action = {.sa_handler = on_end, .sa_flags = SA_RESETHAND}, now;

	open_standard();
	signal(SIGXFSZ, SIG_IGN); /* a file too large is an error of write(), told as one */
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL); /* nohup(1) stays what it is */
	action.sa_handler = on_bus_error;
	sigaction(SIGBUS, &action, NULL);
	g_log_set_default_handler(on_log, NULL);
}

/* The heap of an analysis begins with so much of the address space, is not cut back, and has huge
 * pages: see util/pages.c for what a first touch costs. What is larger than the largest block has
 * none, and is given back to the kernel when it is freed. Threads have no heaps of their own, which
 * would have small pages: of a million events an overview touched 13,100 pages, and touches 5,300,
 * in two thirds of the time. */
#define HEAP_BYTES (128 << 20)
#define LARGEST_BLOCK (8 << 20)
#define LARGEST_SPARED (1 << 20)

void process_use_huge_pages(void)
{
#ifdef __GLIBC__
	uintptr_t begin, end;
	char *block;

	if (pages_are_limited())
		return;
	mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_BYTES);
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_BYTES);
	/* the heap grows for it, if the kernel promises so much */
	block = malloc(PAGES_HUGE_BYTES / 2);
	mallopt(M_TOP_PAD, (int) PAGES_HUGE_BYTES);
	begin = ((uintptr_t) block + PAGES_HUGE_BYTES - 1) & ~(uintptr_t) (PAGES_HUGE_BYTES - 1);
	end = (uintptr_t) sbrk(0);
	if (block && begin < end && end - begin <= 2 * HEAP_BYTES) /* not a sanitizer's heap */
		madvise((void *) begin, end - begin, MADV_HUGEPAGE);
	free(block);
#endif
}

/* Room at the heap's end would be taken first, by large blocks, too: lists that grow leave holes
 * there. */
void process_spare_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGEST_SPARED);
	malloc_trim(PAGES_HUGE_BYTES);
#endif
}

int process_end(int status)
{
	int code = status == WHYLATE_ERROR_OUTPUT ? 0 : output_trouble(stdout);

	errno = 0;
	/* closed from the begin, and not used: no matter */
	if (fclose(stdout) != 0 && !code && errno != EBADF && status != WHYLATE_ERROR_OUTPUT)
		code = errno;
	if (!code)
		return status;
	if (code ==
	    EPIPE) /* who read it has enough; where SIGPIPE is ignored nothing else says so */
		return WHYLATE_ERROR_OUTPUT;
	fprintf(stderr, "whylate: cannot write to standard output: %s\n", g_strerror(code));
	return WHYLATE_ERROR_OUTPUT;
}

/* --- what is said on standard error --------------------------------------------------------- */

void tell(char **heard, const char *message)
{
	g_autofree char *safe = text_safe(message);
	g_autofree char *shown = locale_has_utf8() ? g_strdup(safe) : text_ascii(safe);

	if (heard) {
		g_free(*heard);
		*heard = g_strdup(message);
	} else {
		fprintf(stderr, "whylate: %s\n", shown);
	}
}

int tell_error(char **heard, const GError *error)
{
	if (*error->message)
		tell(heard, error->message);
	return error_status(error);
}
