/* SPDX-License-Identifier: MIT */
/* What tests/vm records: a program whose waits have known causes. It sleeps, reads a
 * file from a slow disk, and waits for a child that computes, then ends.
 *
 *   work FILE NOTES [MARK]
 *
 * FILE is read around the page cache, a block here and there, so that each read is one
 * request. NOTES gets a line of each phase: its name, the thread, begin and end in
 * nanoseconds of CLOCK_REALTIME, which is the clock of LTTng's traces; for a read its
 * place in FILE. MARK becomes the name of the thread, so that several runs can be told
 * apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEP_NS 300000000
#define COMPUTE_NS 250000000 /* of CPU time */
#define READS 20
#define BLOCK 4096

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "work: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void note(int notes, const char *phase, int64_t begin, int64_t end, int64_t place)
{
	dprintf(notes, "%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", phase, (int) getpid(),
		begin, end, place);
}

static void sleep_once(int notes)
{
	const struct timespec length = {0, SLEEP_NS};
	int64_t begin = clock_ns(CLOCK_REALTIME);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
	note(notes, "sleep", begin, clock_ns(CLOCK_REALTIME), 0);
}

/* Each a prime number of blocks after the last, so that nothing is merged. */
static void read_blocks(int notes, const char *path)
{
	int file = open(path, O_RDONLY | O_DIRECT);
	int64_t begin[READS], end[READS];
	void *block;

	if (file < 0 || posix_memalign(&block, BLOCK, BLOCK) != 0)
		die(path);
	for (int i = 0; i < READS; i++) {
		begin[i] = clock_ns(CLOCK_REALTIME);
		if (pread(file, block, BLOCK, (off_t) i * 37 * BLOCK) != BLOCK)
			die(path);
		end[i] = clock_ns(CLOCK_REALTIME);
	}
	for (int i = 0; i < READS; i++)
		note(notes, "read", begin[i], end[i], (int64_t) i * 37 * BLOCK);
	free(block);
	close(file);
}

static void compute(void)
{
	volatile unsigned number = 1;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < COMPUTE_NS)
		for (int i = 0; i < 100000; i++)
			number = number * 1664525 + 1013904223;
}

static void wait_for_child(int notes)
{
	int64_t begin;
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0) {
		begin = clock_ns(CLOCK_REALTIME);
		compute();
		note(notes, "compute", begin, clock_ns(CLOCK_REALTIME), 0);
		_exit(0);
	}
	begin = clock_ns(CLOCK_REALTIME);
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
	note(notes, "wait", begin, clock_ns(CLOCK_REALTIME), child);
}

int main(int argc, char **argv)
{
	int notes;

	if (argc < 3) {
		fprintf(stderr, "usage: work FILE NOTES [MARK]\n");
		return 2;
	}
	notes = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (notes < 0)
		die(argv[2]);
	if (argc > 3)
		prctl(PR_SET_NAME, argv[3]);
	sleep_once(notes);
	read_blocks(notes, argv[1]);
	wait_for_child(notes);
	return 0;
}
