/* SPDX-License-Identifier: MIT */
/* See later.h. */
#include "confine/later.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static G_GNUC_NORETURN void wait_and_run(char *const *words, int go, int text)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGBUS};
	sigset_t none;
	char word;
	ssize_t got;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		signal(ends[i], SIG_DFL);
	do
		got = read(go, &word, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(0);
	if (text >= 0)
		dup2(text, STDIN_FILENO);
	execvp(words[0], words);
	_exit(127);
}

bool later_new(struct later *later, char *const *words, bool reads)
{
	int go[2], text[2] = {-1, -1};

	if (pipe2(go, O_CLOEXEC) != 0)
		return false;
	if (reads && pipe2(text, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return false;
	}
	fflush(NULL);
	*later = (struct later) {fork(), go[1], text[1]};
	if (later->pid == 0) {
		close(go[1]);
		if (reads)
			close(text[1]);
		wait_and_run(words, go[0], text[0]);
	}
	close(go[0]);
	if (reads)
		close(text[0]);
	if (later->pid > 0)
		return true;
	close(go[1]);
	if (reads)
		close(text[1]);
	return false;
}

void later_go(struct later *later)
{
	ssize_t written = write(later->go, "", 1);

	(void) written;
	close(later->go);
}

void later_free(struct later *later)
{
	close(later->go);
	if (later->text >= 0)
		close(later->text);
	while (waitpid(later->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
