/* SPDX-License-Identifier: MIT */
/* Guests' recordings; see remote.h. */
#include "remote/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

#define RECORDS "whylate: records"
#define SAID_MOST 65536 /* bytes before that: what a login's shell prints */

struct remote {
	char *name;    /* owned */
	char *command; /* owned */
	pid_t child;   /* 0: it ended */
	int in, out;   /* its standard input and output; -1: closed */
};

struct remotes {
	GArray *list; /* owned; struct remote */
};

static struct remote *remote_at(const struct remotes *remotes, guint i)
{
	return &g_array_index(remotes->list, struct remote, i);
}

char *remote_line(const struct recording *recording)
{
	return g_strdup_printf(
		"d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && trap 'exit 1' HUP TERM && "
		"whylate record --preset %s%s%s --output \"$d/trace\" -- "
		"sh -c 'echo " RECORDS "; exec cat >/dev/null' && "
		"tar -C \"$d/trace\" -cf - .",
		preset_names[recording->preset], recording->network ? " --network" : "",
		recording->callstacks ? " --callstacks" : "");
}

/* In the child: a Ctrl-C ends the host's recording, and that the guest's. */
static void as_helper(gpointer data)
{
	sigset_t none;

	(void) data;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN);
}

static bool start(struct remote *remote, const char *line, GError **error)
{
	g_autofree char *script = g_strconcat(remote->command, " \"$1\"", NULL);
	const char *words[] = {"/bin/sh", "-c", script, "sh", line, NULL};
	g_autoptr(GError) cause = NULL;

	if (g_spawn_async_with_pipes(NULL, (char **) words, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
				     as_helper, NULL, &remote->child, &remote->in, &remote->out,
				     NULL, &cause))
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "guest %s: %s", remote->name,
		    cause->message);
	return false;
}

static void close_one(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

static int wait_for(pid_t *child)
{
	int status = 0;

	while (*child && waitpid(*child, &status, 0) < 0 && errno == EINTR)
		continue;
	*child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Byte by byte: what follows the line is its trace. */
static bool wait_until_it_records(struct remote *remote, GError **error)
{
	g_autoptr(GString) line = g_string_new(NULL);
	char c;

	for (int said = 0; said < SAID_MOST; said++) {
		ssize_t count = read(remote->out, &c, 1);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		if (c != '\n') {
			g_string_append_c(line, c);
			continue;
		}
		if (strcmp(line->str, RECORDS) == 0)
			return true;
		g_string_truncate(line, 0);
	}
	close_one(&remote->in);
	close_one(&remote->out);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
		    "guest %s does not record: '%s' ended before it did, with status %d",
		    remote->name, remote->command, wait_for(&remote->child));
	return false;
}

struct remotes *remotes_begin(const struct recording *recording, const GPtrArray *guests,
			      GError **error)
{
	struct remotes *remotes = g_new0(struct remotes, 1);
	g_autofree char *line = remote_line(recording);
	bool ok = true;

	remotes->list = g_array_new(FALSE, FALSE, sizeof(struct remote));
	for (guint i = 0; ok && i < guests->len; i++) {
		const char *text = guests->pdata[i], *mark = strchr(text, '=');
		struct remote remote = {.name = g_strndup(text, (gsize) (mark - text)),
					.command = g_strdup(mark + 1),
					.in = -1,
					.out = -1};

		g_array_append_val(remotes->list, remote);
		ok = start(remote_at(remotes, i), line, error);
	}
	for (guint i = 0; ok && i < remotes->list->len; i++)
		ok = wait_until_it_records(remote_at(remotes, i), error);
	if (ok)
		return remotes;
	remotes_free(remotes);
	return NULL;
}

static bool unpack(struct remote *remote, const char *output)
{
	g_autofree char *into = g_build_filename(output, REMOTE_FOLDER, remote->name, NULL);
	const char *words[] = {"tar", "-xf", "-", "--no-same-owner", "-C", into, NULL};
	g_autoptr(GError) error = NULL;
	pid_t child = 0;

	if (g_mkdir_with_parents(into, 0777) != 0) {
		fprintf(stderr, "whylate: guest %s: cannot make %s: %s\n", remote->name, into,
			g_strerror(errno));
		return false;
	}
	if (!g_spawn_async_with_fds(
		    NULL, (char **) words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
		    as_helper, NULL, &child, remote->out, STDERR_FILENO, STDERR_FILENO, &error)) {
		fprintf(stderr, "whylate: guest %s: cannot run tar: %s\n", remote->name,
			error->message);
		return false;
	}
	return wait_for(&child) == 0;
}

bool remotes_end(struct remotes *remotes, const char *output)
{
	bool ok = true;

	for (guint i = 0; i < remotes->list->len; i++)
		close_one(&remote_at(remotes, i)->in);
	for (guint i = 0; i < remotes->list->len; i++) {
		struct remote *remote = remote_at(remotes, i);
		bool whole = unpack(remote, output);
		int status;

		close_one(&remote->out);
		status = wait_for(&remote->child);
		if (!whole || status)
			fprintf(stderr,
				"whylate: guest %s: its trace is not whole ('%s' ended with "
				"status %d)\n",
				remote->name, remote->command, status);
		ok = ok && whole && !status;
	}
	return ok;
}

void remotes_free(struct remotes *remotes)
{
	if (!remotes)
		return;
	for (guint i = 0; i < remotes->list->len; i++) {
		close_one(&remote_at(remotes, i)->in);
		close_one(&remote_at(remotes, i)->out);
	}
	for (guint i = 0; i < remotes->list->len; i++) {
		struct remote *remote = remote_at(remotes, i);

		wait_for(&remote->child);
		g_free(remote->name);
		g_free(remote->command);
	}
	g_array_free(remotes->list, TRUE);
	g_free(remotes);
}
