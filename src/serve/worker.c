/* SPDX-License-Identifier: MIT */
/* See worker.h. */
#include "serve/worker.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/spill.h"

#define SECONDS_MAX 900 /* of a CPU */

struct head {
	uint32_t status, type_length;
	uint64_t length;
};

void answer_clear(struct answer *answer)
{
	g_free(answer->type);
	if (answer->bytes)
		g_bytes_unref(answer->bytes);
	*answer = (struct answer) {0};
}

struct answer answer_copy(const struct answer *answer)
{
	return (struct answer) {answer->status, g_strdup(answer->type), g_bytes_ref(answer->bytes)};
}

struct answer answer_of(struct asking *asking)
{
	return (struct answer) {asking->status, g_strdup(asking->type),
				g_bytes_new(asking->text, asking->length)};
}

static struct answer failed(const char *detail)
{
	g_autofree char *text =
		g_strdup_printf("{\"title\":\"The analysis failed\",\"detail\":\"%s\"}", detail);

	return (struct answer) {500, g_strdup("application/json"), g_bytes_new(text, strlen(text))};
}

/* --- the worker ------------------------------------------------------------------------------ */

static void become_worker(pid_t server)
{
	struct rlimit limit = {SECONDS_MAX, SECONDS_MAX};
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server)
		_exit(1);
	setrlimit(RLIMIT_CPU, &limit);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		signal(ends[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void work(struct asking *asking, const struct route *route, int file)
{
	struct head head;
	bool ok;

	timeline_detach(&asking->server->session->trace.timeline, true);
	route_take(asking, route);
	asking_end(asking);
	head = (struct head) {asking->status, (uint32_t) strlen(asking->type), asking->length};
	ok = spill_write(file, &head, sizeof head, 0) &&
	     spill_write(file, asking->type, head.type_length, sizeof head) &&
	     spill_write(file, asking->text, head.length, sizeof head + head.type_length);
	_exit(ok ? 0 : 1);
}

bool worker_begin(struct worker *worker, struct asking *asking, const struct route *route)
{
	pid_t server = getpid();

	*worker = (struct worker) {0, spill_open()};
	if (worker->file < 0)
		return false;
	fflush(NULL); /* else it would be written again */
	worker->pid = fork();
	if (worker->pid == 0) {
		become_worker(server);
		work(asking, route, worker->file);
	}
	if (worker->pid > 0)
		return true;
	close(worker->file);
	worker->pid = 0;
	return false;
}

/* --- the server ------------------------------------------------------------------------------ */

struct answer worker_answer(struct worker *worker, int status)
{
	struct answer answer = {0};
	char *text = NULL;
	struct head head;

	worker->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
	    spill_read(worker->file, &head, sizeof head, 0)) {
		answer.status = head.status;
		answer.type = g_malloc0(head.type_length + 1);
		text = g_malloc(head.length + 1);
		if (spill_read(worker->file, answer.type, head.type_length, sizeof head) &&
		    (!head.length ||
		     spill_read(worker->file, text, head.length, sizeof head + head.type_length)))
			answer.bytes = g_bytes_new_take(g_steal_pointer(&text), head.length);
	}
	close(worker->file);
	if (answer.bytes)
		return answer;
	g_free(text);
	answer_clear(&answer);
	return failed(WIFSIGNALED(status) ? "its process was ended by a signal"
					  : "its process could not answer");
}

void worker_kill(struct worker *worker)
{
	int status;

	if (!worker->pid)
		return;
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, &status, 0);
	close(worker->file);
	worker->pid = 0;
}
