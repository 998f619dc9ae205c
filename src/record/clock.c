/* SPDX-License-Identifier: MIT */
/* See clock.h. */
#include "record/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/error.h"

#define SECOND UINT64_C(1000000000)
#define EXPIRY " perf_swevent_hrtimer" /* kernel/events/core.c */

static int open_clock(long cpu, uint32_t hertz)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = SECOND / hertz};

	return (int) syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool clock_start(struct sample_clock *clock, uint32_t hertz, GError **error)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	clock->files = g_array_new(FALSE, FALSE, sizeof(int));
	for (long cpu = 0; cpu < cpus; cpu++) {
		int file = open_clock(cpu, hertz);

		if (file >= 0) {
			g_array_append_val(clock->files, file);
		} else if (errno != ENODEV) { /* that one is off */
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
				    "--samples=%u: perf's clock does not start (%s): it needs root "
				    "or kernel.perf_event_paranoid 0; --samples alone takes the "
				    "kernel's ticks",
				    hertz, g_strerror(errno));
			clock_stop(clock);
			return false;
		}
	}
	return true;
}

void clock_stop(struct sample_clock *clock)
{
	for (guint i = 0; clock->files && i < clock->files->len; i++)
		close(g_array_index(clock->files, int, i));
	g_clear_pointer(&clock->files, g_array_unref);
}

uint64_t clock_function(void)
{
	g_autofree char *text = NULL;
	const char *at, *line;

	if (!g_file_get_contents("/proc/kallsyms", &text, NULL, NULL))
		return 0;
	for (at = strstr(text, EXPIRY); at; at = strstr(at + 1, EXPIRY)) {
		if (!strchr("\n\t", at[strlen(EXPIRY)]))
			continue;
		for (line = at; line > text && line[-1] != '\n';)
			line--;
		return g_ascii_strtoull(line, NULL, 16);
	}
	return 0;
}

uint32_t clock_ticks(void)
{
	struct timespec tick; /* what the coarse clocks move by */

	return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0
		       ? (uint32_t) ((SECOND + (uint64_t) tick.tv_nsec / 2) /
				     (uint64_t) tick.tv_nsec)
		       : 100;
}
