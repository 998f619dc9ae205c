/* SPDX-License-Identifier: MIT */
/* What all tracers have in common; see tracer.h. */
#include "record/tracer.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "util/error.h"

void run_watched(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

int run_signal(gint64 ns)
{
	struct timespec timeout = {ns / 1000000000, ns % 1000000000};
	sigset_t set;
	int number;

	run_watched(&set);
	do
		number = ns < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &timeout);
	while (number < 0 && errno == EINTR);
	return MAX(number, 0);
}

bool run_interrupted(struct run *run)
{
	for (int number; !run->signal && (number = run_signal(0)) != 0;)
		if (number != SIGCHLD)
			run->signal = number;
	return run->signal != 0;
}

bool run_make_directory(struct run *run, GError **error)
{
	const char *path = run->recording->output;
	g_autoptr(GError) cause = NULL;
	GDir *dir;
	bool empty;

	if (g_mkdir_with_parents(path, 0755) != 0) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "cannot make the directory %s: %s", path, g_strerror(errno));
		return false;
	}
	dir = g_dir_open(path, 0, &cause);
	empty = dir && !g_dir_read_name(dir);
	if (dir)
		g_dir_close(dir);
	if (!empty) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "%s: %s; name another one with --output", path,
			    cause ? cause->message : "is not empty");
		return false;
	}
	run->made_directory = true;
	return true;
}
