/* SPDX-License-Identifier: MIT */
/* See signals.h. */
#include "event/signals.h"

#include <inttypes.h>

/* The names that programs have for them; those of x86, ARM and most others. */
const char *signal_name(uint64_t number)
{
	static const char *const names[] = {
		"",         "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",  "SIGTRAP",   "SIGABRT",
		"SIGBUS",   "SIGFPE",  "SIGKILL",   "SIGUSR1", "SIGSEGV", "SIGUSR2",   "SIGPIPE",
		"SIGALRM",  "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP",   "SIGTSTP",
		"SIGTTIN",  "SIGTTOU", "SIGURG",    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF",
		"SIGWINCH", "SIGIO",   "SIGPWR",    "SIGSYS"};

	return number < G_N_ELEMENTS(names) ? names[number] : "";
}

void append_signal(GString *label, uint64_t number)
{
	const char *name = signal_name(number);

	g_string_append_printf(label, "signal %" PRIu64, number);
	if (*name)
		g_string_append_printf(label, " (%s)", name);
}
