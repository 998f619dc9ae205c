/* SPDX-License-Identifier: MIT */
/* whylate batch --follow: what comes to directories, reported as it comes.
 *
 *   follow_find_look()     ─► a trace by itself ─► a process (batch_jobs.c) ─► a line
 *   (a second later again) └► a session's chunk ─► the session's process    ─► a line, and waits
 *                                                  (commands/chunked.h)        for the next one
 *
 * The session's process reads paths, one a line, from a pipe, and answers each with its status, a
 * byte; its standard output and error are files in memory, as a job's are. If it ends, that costs
 * the chunk it was at, and the next one begins anew. A chunk that cannot be read leaves a hole: the
 * packets behind it say how much is missing.
 *
 * SIGINT, SIGTERM and SIGHUP end it: what was found is reported first. The second one ends it as
 * signals do.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/follow_find.h"
#include "cli/cli.h"
#include "commands/chunked.h"
#include "fleet/fleet_sum.h"
#include "fleet/fleet_text.h"
#include "input/growing.h"
#include "limits/judge.h"
#include "util/error.h"

#define LOOK_MS 1000
#define MORE_MS 100 /* after an answer, until the next chunk that waits is named */

struct followed {
	char *path;         /* owned; the session */
	pid_t pid;          /* 0: none */
	int paths, answers; /* pipes to and from it */
	int out, err;       /* files in memory */
	char *chunk;        /* owned; that it is at, NULL */
	GQueue waiting;     /* owned paths */
	bool ends;          /* no more will come: it reports what is left */
};

struct following {
	struct mapping all;
	GPtrArray *sessions; /* owned; struct followed */
	GPtrArray *jobs; /* owned; struct job, whose traces are owned: running, then waiting */
	int signals; /* signalfd */
	sigset_t before;
	bool ends;
};

/* --- the process of a session ------------------------------------------------------------- */

static bool add_chunk(struct chunked *chunked, const char *path, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new(), traces = NULL;
	const struct found_trace *first, *second;

	g_ptr_array_add(paths, (gpointer) path);
	traces = traces_find(paths, error);
	if (!traces)
		return false;
	first = g_ptr_array_index(traces, 0);
	second = traces->len > 1 ? g_ptr_array_index(traces, 1) : NULL;
	if (!first->lttng || first->file || (second && !second->user)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s is no chunk of one LTTng kernel trace", path);
		return false;
	}
	return chunked_add(chunked, first->directories, error);
}

static void answer(int answers, bool ok, const GError *error)
{
	char status = (char) ('0' + (ok ? 0 : error ? error_status(error) : 3));

	fflush(NULL);
	if (!ok && error)
		tell_error(NULL, error);
	while (write(answers, &status, 1) < 0 && errno == EINTR)
		;
}

/* The image of the session, where one is asked for (--cache). */
static struct growing *begin_image(const struct options *options, const char *session)
{
	g_autofree char *archives = g_build_filename(session, "archives", NULL);

	return g_strcmp0(options->cache, "off") == 0 ? NULL : growing_new(options, archives);
}

static void add_to_image(struct growing **image, const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *message = NULL;

	if (!*image || growing_add(*image, path, &error))
		return;
	message =
		g_strconcat("no image of the session is kept from now on: ", error->message, NULL);
	tell(NULL, message);
	g_clear_pointer(image, growing_free);
}

/* What waits is read first: an image is written whole each time. */
static void keep_image(struct growing *image, FILE *paths)
{
	struct pollfd more = {.fd = fileno(paths), .events = POLLIN};

	if (image && (poll(&more, 1, MORE_MS) <= 0 || !(more.revents & POLLIN)))
		growing_keep(image);
}

static void read_chunks(struct options *options, const char *session, FILE *paths, int answers)
{
	g_autoptr(GError) error = NULL;
	struct growing *image = begin_image(options, session);
	struct chunked *chunked;
	char *path = NULL;
	size_t room = 0;
	ssize_t length;

	job_options(options);
	chunked = chunked_new(options, &error);
	while ((length = getline(&path, &room, paths)) > 0) {
		bool ok;

		path[length - 1] = '\0';
		ok = chunked && add_chunk(chunked, path, &error);
		add_to_image(&image, path);
		answer(answers, ok, error);
		keep_image(image, paths);
		if (chunked)
			g_clear_error(&error);
	}
	if (chunked && chunked_end(chunked, &error))
		answer(answers, true, NULL);
	_exit(0); /* it ends with its memory */
}

static void become_session(struct following *all, struct followed *session, const int paths[2],
			   const int answers[2])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* a terminal's are for all of its processes: this one ends when its pipe does */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_SETMASK, &all->before, NULL);
	for (guint i = 0; i < all->sessions->len; i++) {
		const struct followed *other = g_ptr_array_index(all->sessions, i);

		if (other->pid) /* else it would not see its pipe's end */
			close(other->paths);
	}
	close(paths[1]);
	close(answers[0]);
	dup2(session->out, STDOUT_FILENO);
	dup2(session->err, STDERR_FILENO);
	read_chunks(all->all.options, session->path, fdopen(paths[0], "r"), answers[1]);
}

/* --- the sessions --------------------------------------------------------------------------- */

static void close_all(struct followed *session)
{
	const int files[] = {session->paths, session->answers, session->out, session->err};

	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (files[i] >= 0)
			close(files[i]);
	session->paths = session->answers = session->out = session->err = -1;
	session->pid = 0;
}

static void followed_free(gpointer data)
{
	struct followed *session = data;

	close_all(session);
	g_free(session->path);
	g_free(session->chunk);
	g_queue_clear_full(&session->waiting, g_free);
	g_free(session);
}

static bool begin_session(struct following *all, struct followed *session)
{
	int paths[2] = {-1, -1}, answers[2] = {-1, -1};
	bool ok = pipe2(paths, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0;

	fflush(NULL);
	session->out = memfd_create("whylate-line", MFD_CLOEXEC);
	session->err = memfd_create("whylate-messages", MFD_CLOEXEC);
	session->paths = paths[1];
	session->answers = answers[0];
	ok = ok && session->out >= 0 && session->err >= 0 && (session->pid = fork()) >= 0;
	if (ok && session->pid == 0)
		become_session(all, session, paths, answers);
	if (paths[0] >= 0)
		close(paths[0]);
	if (answers[1] >= 0)
		close(answers[1]);
	if (!ok)
		close_all(session);
	return ok;
}

static bool has_file(const struct options *options)
{
	return options->output && strcmp(options->output, "-") != 0;
}

/* As a line is printed as JSON, so that the sum is the same, or for people. */
static void print(struct following *all, json_t *line)
{
	job_print(&all->all, line);
	if (batch_prints_text(all->all.options) && !has_file(all->all.options)) {
		struct output output;

		output_begin(&output, stdout, NULL);
		batch_text_trace(line, &output);
		fflush(stdout);
		output_clear(&output);
	}
	json_decref(line);
}

/* What limits and damage make of it, as in run(). */
static int status_of(const char *report, bool strict)
{
	json_t *line = json_loads(report, 0, NULL), *limit;
	bool doubtful = json_is_true(json_object_get(line, "damaged")) ||
			(strict && (json_integer_value(json_object_get(line, "lost_events")) ||
				    json_integer_value(json_object_get(line, "lost_packets"))));
	int status = doubtful ? WHYLATE_ERROR_DAMAGE : 0;
	size_t i;

	json_array_foreach(json_object_get(line, "limits"), i, limit)
	{
		const char *outcome = json_string_value(json_object_get(limit, "outcome"));

		if (g_strcmp0(outcome, outcome_text(OUTCOME_EXCEEDED)) == 0)
			status = 1;
		else if (g_strcmp0(outcome, outcome_text(OUTCOME_NOT_JUDGED)) == 0 && !status)
			status = WHYLATE_ERROR_DAMAGE;
	}
	json_decref(line);
	return status;
}

static void print_chunk(struct following *all, struct followed *session, int status,
			const char *end)
{
	g_autofree char *report = job_text(session->out), *said = job_text(session->err);
	const char *trace = session->chunk ? session->chunk : session->path;

	if (!status)
		status = status_of(report, all->all.options->strict);
	print(all, job_line(all->all.options, trace, status, said, end, end ? "" : report));
	g_clear_pointer(&session->chunk, g_free);
}

/* The process ended by itself: the chunk that it was at has no report. */
static void session_ended(struct following *all, struct followed *session)
{
	g_autofree char *why = NULL;
	int status = 0;

	waitpid(session->pid, &status, 0);
	if (WIFSIGNALED(status))
		why = g_strdup_printf("the analysis was ended by signal %d (%s)", WTERMSIG(status),
				      strsignal(WTERMSIG(status)));
	if (session->chunk || why)
		print_chunk(all, session, WHYLATE_ERROR_DAMAGE,
			    why ? why : "the analysis ended without an answer");
	close_all(session);
}

static void hear(struct following *all, struct followed *session)
{
	char status;
	ssize_t got = read(session->answers, &status, 1);

	if (got < 0 && errno == EINTR)
		return;
	if (got == 1)
		print_chunk(all, session, status - '0', NULL);
	else
		session_ended(all, session);
}

/* The next chunk, if it waits for one. */
static void go_on(struct following *all, struct followed *session)
{
	g_autofree char *line = NULL;

	if (session->chunk || g_queue_is_empty(&session->waiting))
		return;
	session->chunk = g_queue_pop_head(&session->waiting);
	if (!session->pid && !begin_session(all, session)) {
		g_autofree char *why =
			g_strdup_printf("cannot start a process: %s", g_strerror(errno));

		print(all, job_line(all->all.options, session->chunk, WHYLATE_ERROR_DAMAGE, "", why,
				    ""));
		g_clear_pointer(&session->chunk, g_free);
		return;
	}
	line = g_strconcat(session->chunk, "\n", NULL);
	/* one that has ended meanwhile is heard of by the other pipe */
	if (write(session->paths, line, strlen(line)) < 0 && errno != EPIPE)
		g_error("cannot write to a pipe: %s", g_strerror(errno));
}

static void end_session(struct followed *session)
{
	if (session->ends || !session->pid || session->chunk)
		return;
	session->ends = true;
	close(session->paths);
	session->paths = -1;
}

/* --- what is found ---------------------------------------------------------------------------- */

static struct followed *session_of(struct following *all, const char *path)
{
	struct followed *session;

	for (guint i = 0; i < all->sessions->len; i++) {
		session = g_ptr_array_index(all->sessions, i);
		if (strcmp(session->path, path) == 0)
			return session;
	}
	session = g_new0(struct followed, 1);
	session->path = g_strdup(path);
	session->paths = session->answers = session->out = session->err = -1;
	g_queue_init(&session->waiting);
	g_ptr_array_add(all->sessions, session);
	return session;
}

static void found(void *data, const char *session, const char *trace)
{
	struct following *all = data;

	if (strpbrk(trace, "\n")) /* as in lists of traces, nothing has such a name */
		return;
	if (session) {
		g_queue_push_tail(&session_of(all, session)->waiting, g_strdup(trace));
	} else {
		struct job *job = g_new0(struct job, 1);

		job->trace = g_strdup(trace);
		g_ptr_array_add(all->jobs, job);
	}
}

static void job_free(gpointer data)
{
	struct job *job = data;

	g_free((gpointer) job->trace);
	json_decref(job->line);
	g_free(job);
}

/* Those whose processes have ended are printed. */
static void reap_jobs(struct following *all)
{
	for (guint i = 0; i < all->jobs->len;) {
		struct job *job = g_ptr_array_index(all->jobs, i);
		int status;

		if (!job->pid || waitpid(job->pid, &status, WNOHANG) != job->pid) {
			i++;
			continue;
		}
		job_end(&all->all, job, status);
		print(all, g_steal_pointer(&job->line));
		g_ptr_array_remove_index(all->jobs, i);
	}
}

static guint busy(const struct following *all)
{
	guint count = all->all.running;

	for (guint i = 0; i < all->sessions->len; i++)
		count += ((struct followed *) all->sessions->pdata[i])->chunk != NULL;
	return count;
}

static void begin_more(struct following *all)
{
	guint most = job_cores(all->all.options);

	for (guint i = 0; i < all->sessions->len && busy(all) < most; i++)
		go_on(all, g_ptr_array_index(all->sessions, i));
	for (guint i = 0; i < all->jobs->len && busy(all) < most; i++) {
		struct job *job = g_ptr_array_index(all->jobs, i);

		if (!job->pid && !job_begin(&all->all, job))
			break; /* later, perhaps */
	}
}

/* --- until a signal comes -------------------------------------------------------------------- */

static void take_signals(struct following *all)
{
	struct signalfd_siginfo info;

	while (read(all->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (all->ends)
			sigprocmask(SIG_SETMASK, &all->before, NULL), raise((int) info.ssi_signo);
		all->ends = true;
	}
}

static void wait_for_more(struct following *all)
{
	g_autofree struct pollfd *files = g_new0(struct pollfd, all->sessions->len + 1);

	files[0] = (struct pollfd) {.fd = all->signals, .events = POLLIN};
	for (guint i = 0; i < all->sessions->len; i++)
		files[i + 1] = (struct pollfd) {
			.fd = ((struct followed *) all->sessions->pdata[i])->answers,
			.events = POLLIN};
	if (poll(files, all->sessions->len + 1, LOOK_MS) < 0)
		return;
	if (files[0].revents)
		take_signals(all);
	for (guint i = 0; i < all->sessions->len; i++)
		if (files[i + 1].revents)
			hear(all, g_ptr_array_index(all->sessions, i));
}

static bool is_over(const struct following *all)
{
	if (!all->ends || all->jobs->len)
		return false;
	for (guint i = 0; i < all->sessions->len; i++) {
		struct followed *session = g_ptr_array_index(all->sessions, i);

		if (session->chunk || !g_queue_is_empty(&session->waiting) || session->pid)
			return false;
	}
	return true;
}

static void follow(struct following *all, const GPtrArray *roots)
{
	struct follow_find *find = follow_find_new();
	gint64 looked = 0;

	while (!is_over(all)) {
		if (!all->ends && g_get_monotonic_time() - looked >= LOOK_MS * 1000) {
			for (guint i = 0; i < roots->len; i++)
				follow_find_look(find, roots->pdata[i], found, all);
			looked = g_get_monotonic_time();
		}
		begin_more(all);
		for (guint i = 0; i < all->sessions->len && all->ends; i++)
			if (g_queue_is_empty(
				    &((struct followed *) all->sessions->pdata[i])->waiting))
				end_session(g_ptr_array_index(all->sessions, i));
		wait_for_more(all);
		reap_jobs(all);
		all->ends |= ferror(stdout) ||
			     (all->all.output.file && ferror(all->all.output.file));
	}
	follow_find_free(find);
}

static bool begin(struct following *all, GError **error)
{
	const struct options *options = all->all.options;
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	sigset_t set;

	if (!batch_prints_text(options)) {
		/* it grows: it cannot appear whole, as other reports do */
		FILE *file = has_file(options) ? fopen(options->output, "we") : stdout;

		if (!file) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
				    "cannot write %s: %s", options->output, g_strerror(errno));
			return false;
		}
		setvbuf(file, NULL, _IONBF, 0);
		all->all.output.file = file;
	}
	sigemptyset(&set);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, &all->before);
	signal(SIGPIPE, SIG_IGN);
	all->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return true;
}

bool batch_follow(struct options *options, GPtrArray *paths, FILE *lines, GError **error)
{
	struct following all = {.all = {.options = options, .lines = lines}, .signals = -1};
	g_autoptr(GPtrArray) roots = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < paths->len; i++) {
		if (!g_file_test(paths->pdata[i], G_FILE_TEST_IS_DIR)) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "--follow %s: that is no directory", (char *) paths->pdata[i]);
			return false;
		}
		g_ptr_array_add(roots, g_canonicalize_filename(paths->pdata[i], NULL));
	}
	if (!begin(&all, error))
		return false;
	all.sessions = g_ptr_array_new_with_free_func(followed_free);
	all.jobs = g_ptr_array_new_with_free_func(job_free);
	follow(&all, roots);
	g_ptr_array_unref(all.sessions);
	g_ptr_array_unref(all.jobs);
	close(all.signals);
	if (all.all.output.file && all.all.output.file != stdout)
		fclose(all.all.output.file);
	sigprocmask(SIG_SETMASK, &all.before, NULL);
	return true;
}
