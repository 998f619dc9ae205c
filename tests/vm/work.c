/* SPDX-License-Identifier: MIT */
/* What tests/vm records: a program whose waits have known causes. It sleeps, reads a
 * file from a slow disk, and waits for a child that computes, then ends.
 *
 *   work FILE NOTES [MARK]
 *
 * FILE is read around the page cache, a block here and there, so that each read is one
 * request. NOTES gets a line of each phase: its name, the thread, begin and end in
 * nanoseconds of CLOCK_MONOTONIC, which LTTng's traces count in; for a read its place in
 * FILE, for a wait the child; of the time between, how long it was at least off the CPU and
 * not ready to run, and how often it went to sleep, as the kernel's own accounts have it.
 * MARK becomes the name of the thread, so that several runs can be told apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* What the kernel says of this thread so far. */
struct account {
	int64_t at, used, ready; /* ns: the clock, of CPU, waited for one */
	long sleeps;
};

static struct account account_new(void)
{
	int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	struct account account;
	struct rusage usage;
	char text[96];
	ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);

	if (length <= 0)
		die("schedstat");
	close(file);
	text[length] = '\0';
	if (sscanf(text, "%*s %" SCNd64, &account.ready) != 1)
		die("schedstat");
	getrusage(RUSAGE_THREAD, &usage);
	account.sleeps = usage.ru_nvcsw;
	account.used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	account.at = clock_ns(CLOCK_MONOTONIC);
	return account;
}

/* Of one thing that it did: `after` is from after it, but for the time itself, `end`. */
static void note(int notes, const char *phase, const struct account *before, int64_t end,
		 const struct account *after, int64_t place)
{
	int64_t blocked =
		end - before->at - (after->used - before->used) - (after->ready - before->ready);

	dprintf(notes, "%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%ld\n", phase,
		(int) getpid(), before->at, end, place, blocked, after->sleeps - before->sleeps);
}

static void sleep_once(int notes)
{
	const struct timespec length = {0, SLEEP_NS};
	struct account before = account_new(), after;
	int64_t end;

	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
	end = clock_ns(CLOCK_MONOTONIC);
	after = account_new();
	note(notes, "sleep", &before, end, &after, 0);
}

/* Each a prime number of blocks after the last, so that nothing is merged. */
static void read_blocks(int notes, const char *path)
{
	int file = open(path, O_RDONLY | O_DIRECT);
	struct account before[READS], after[READS];
	int64_t end[READS];
	void *block;

	if (file < 0 || posix_memalign(&block, BLOCK, BLOCK) != 0)
		die(path);
	for (int i = 0; i < READS; i++) {
		before[i] = account_new();
		if (pread(file, block, BLOCK, (off_t) i * 37 * BLOCK) != BLOCK)
			die(path);
		end[i] = clock_ns(CLOCK_MONOTONIC);
		after[i] = account_new();
	}
	for (int i = 0; i < READS; i++)
		note(notes, "read", &before[i], end[i], &after[i], (int64_t) i * 37 * BLOCK);
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
	struct account before, after;
	int64_t end;
	pid_t child = fork();

	if (child < 0)
		die("fork");
	before = account_new();
	if (child == 0) {
		compute();
		end = clock_ns(CLOCK_MONOTONIC);
		after = account_new();
		note(notes, "compute", &before, end, &after, after.used - before.used);
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
	end = clock_ns(CLOCK_MONOTONIC);
	after = account_new();
	note(notes, "wait", &before, end, &after, child);
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
