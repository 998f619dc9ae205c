/* SPDX-License-Identifier: MIT */
/* What tests/vm/guest drills into, and knows the answer of: work in one function of the program, or
 * below one system call.
 *
 *   drill user NOTES     5 x draw > burn, 100 ms of CPU time each; 5 x tidy, 2 ms each
 *   drill kernel NOTES   fetch: reads of 8 MiB of /dev/zero, for 500 ms of CPU time
 *
 * NOTES: "burn CALLS NS", "read CALLS NS", as it counted itself.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define NOT_INLINE __attribute__((noinline))

static volatile unsigned sink;
static char buffer[1 << 23];

static int64_t cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (int64_t) time.tv_sec * 1000 * MS + time.tv_nsec;
}

NOT_INLINE static unsigned burn(int64_t until)
{
	unsigned x = sink;

	while (cpu_time() < until)
		for (int i = 0; i < 1000000; i++)
			x = x * 1664525u + 1013904223u;
	return x;
}

NOT_INLINE static void draw(void)
{
	sink += burn(cpu_time() + 100 * MS);
	sink++;
}

NOT_INLINE static void tidy(void)
{
	unsigned x = 1;

	for (int64_t until = cpu_time() + 2 * MS; cpu_time() < until;)
		for (int i = 0; i < 1000; i++)
			x ^= x << 1;
	sink += x;
}

NOT_INLINE static ssize_t fetch(int file)
{
	ssize_t count = read(file, buffer, sizeof buffer);

	sink++;
	return count;
}

int main(int argc, char **argv)
{
	int64_t begin = cpu_time();
	int calls = 0;
	FILE *notes = argc == 3 ? fopen(argv[2], "a") : NULL;

	if (!notes)
		return 2;
	if (strcmp(argv[1], "user") == 0) {
		for (; calls < 5; calls++) {
			draw();
			tidy();
		}
	} else {
		int zero = open("/dev/zero", O_RDONLY);

		memset(buffer, 1, sizeof buffer); /* its pages are there */
		begin = cpu_time();

		for (; cpu_time() < begin + 500 * MS; calls++)
			if (fetch(zero) < 0)
				return 3;
	}
	fprintf(notes, "%s %d %" PRId64 "\n", strcmp(argv[1], "user") == 0 ? "burn" : "read", calls,
		cpu_time() - begin);
	return fclose(notes) ? 3 : 0;
}
