/* SPDX-License-Identifier: MIT */
/* Questions and answers over a pair of sockets: see confined.h. */
#include "confine/confined.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/confine.h"

struct confined {
	confined_serve serve;
	void *data; /* borrowed */
	pid_t child, owner; /* owner: who started it; 0: there is none */
	int fd;     /* owned; -1 */
	char *why;  /* owned; NULL */
};

struct confined *confined_new(confined_serve serve, void *data)
{
	struct confined *confined = g_new(struct confined, 1);

	*confined = (struct confined) {.serve = serve, .data = data, .fd = -1};
	return confined;
}

void confined_free(struct confined *confined)
{
	if (!confined)
		return;
	confined_stop(confined);
	g_free(confined->why);
	g_free(confined);
}

/* Kills and reaps the child; its status as waitpid() gives it. */
static int end_child(struct confined *confined)
{
	int status = 0;

	if (confined->fd >= 0)
		close(confined->fd);
	confined->fd = -1;
	if (confined->child && confined->owner == getpid()) { /* else a fork() of this
								 process lies between */
		kill(confined->child, SIGKILL);
		while (waitpid(confined->child, &status, 0) < 0 && errno == EINTR)
			;
	}
	confined->child = 0;
	return status;
}

void confined_stop(struct confined *confined)
{
	end_child(confined);
}

const char *confined_why(const struct confined *confined)
{
	return confined->why ? confined->why : "";
}

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return;
	now.rlim_cur = MIN(now.rlim_cur, most);
	now.rlim_max = MIN(now.rlim_max, most);
	setrlimit(resource, &now);
}

/* Private writable memory, as RLIMIT_DATA counts it; 0: not known. It is large
 * beyond reason under AddressSanitizer, so limits are set from there. */
static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;
	long size = sysconf(_SC_PAGESIZE);

	if (!file)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1 || size <= 0)
		pages = 0;
	fclose(file);
	return pages * (uint64_t) size;
}

/* Nothing that a file makes a library do reaches further than this process. */
static void confine(uint64_t has)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGCHLD, SIGPIPE};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		signal(faults[i], SIG_DFL);
	signal(SIGINT, SIG_IGN); /* the parent decides */
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_STACK, 8 << 20); /* endless recursion ends */
	if (has)
		limit(RLIMIT_DATA, has + CONFINED_BYTES);
	/* libdw would ask servers that this variable names for what it does not find */
	unsetenv("DEBUGINFOD_URLS");
	confine_begin(NULL, CONFINE_CHILD);
}

/* The child: answers until nobody asks any more. */
static G_GNUC_NORETURN void answer_all(struct confined *confined, int fd, uint64_t has)
{
	static char question[CONFINED_MESSAGE];
	GByteArray *answer = g_byte_array_new();

	confine(has);
	for (;;) {
		ssize_t length = recv(fd, question, sizeof question, 0);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			_exit(0);
		g_byte_array_set_size(answer, 0);
		confined->serve(confined->data, question, (size_t) length, answer);
		if (!answer->len || answer->len > CONFINED_MESSAGE)
			_exit(1);
		if (send(fd, answer->data, answer->len, MSG_NOSIGNAL) != (ssize_t) answer->len)
			_exit(0);
	}
}

static bool start(struct confined *confined)
{
	uint64_t has = data_bytes(); /* what is in /proc of the child cannot be read there */
	int ends[2];
	pid_t child;

	if (confined->child && confined->owner == getpid())
		return true;
	end_child(confined);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		confined->why = g_strdup(g_strerror(errno));
		return false;
	}
	child = fork();
	if (child == 0) {
		close(ends[0]);
		answer_all(confined, ends[1], has);
	}
	close(ends[1]);
	if (child < 0) {
		confined->why = g_strdup(g_strerror(errno));
		close(ends[0]);
		return false;
	}
	confined->child = child;
	confined->owner = getpid();
	confined->fd = ends[0];
	return true;
}

/* 1: there is something to read; 0: not in time. */
static int wait_for(int fd, int timeout)
{
	gint64 end = g_get_monotonic_time() + (gint64) timeout * 1000;
	struct pollfd one = {.fd = fd, .events = POLLIN};

	for (;;) {
		gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
		int ready = poll(&one, 1, (int) MAX(left, 0));

		if (ready >= 0)
			return ready;
		if (errno != EINTR)
			return 1; /* reading says why */
	}
}

/* It has closed its end, so it is ending by itself: its status is set already, and no signal
 * changes that. */
static enum confined_end crashed(struct confined *confined)
{
	int status = end_child(confined);

	confined->why = WIFSIGNALED(status)
				? g_strdup(strsignal(WTERMSIG(status)))
				: g_strdup_printf("exit status %d", WEXITSTATUS(status));
	return CONFINED_CRASHED;
}

enum confined_end confined_ask(struct confined *confined, const void *question, size_t length,
			       GByteArray *answer, int timeout)
{
	ssize_t got = -1;

	g_assert(length && length <= CONFINED_MESSAGE);
	g_clear_pointer(&confined->why, g_free);
	g_byte_array_set_size(answer, 0);
	if (!start(confined))
		return CONFINED_NONE;
	if (send(confined->fd, question, length, MSG_NOSIGNAL) != (ssize_t) length)
		return crashed(confined);
	if (!wait_for(confined->fd, timeout)) {
		end_child(confined);
		confined->why = g_strdup_printf("no answer for %d s", timeout / 1000);
		return CONFINED_SLOW;
	}
	g_byte_array_set_size(answer, CONFINED_MESSAGE);
	do
		got = recv(confined->fd, answer->data, answer->len, 0);
	while (got < 0 && errno == EINTR);
	g_byte_array_set_size(answer, got > 0 ? (guint) got : 0);
	return got > 0 ? CONFINED_ANSWERED : crashed(confined);
}
