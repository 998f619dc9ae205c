/* SPDX-License-Identifier: MIT */
/* The lttng command as a child; see lttng.h. */
#include "record/lttng.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

#define DAEMON_WAIT_MS 15000
#define DAEMON_STEP_MS 100
#define DAEMON_CHECK_MS 20
#define DAEMON_TERM_MS 1000 /* a multiple of DAEMON_CHECK_MS; it ends within some 100 ms */
#define OTHER_WAIT_MS 5000 /* for the daemon of somebody who began at the same time */

/* In the child: signals as they are for anybody, and none that the terminal sends to us. */
static void set_apart(gpointer data)
{
	sigset_t none;

	(void) data;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
}

static GQuark no_lttng_quark(void)
{
	return g_quark_from_static_string("whylate-no-lttng");
}

bool lttng_is_missing(const GError *error)
{
	return error && error->domain == no_lttng_quark();
}

static bool set_missing(GError **error, const char *text)
{
	g_set_error_literal(error, no_lttng_quark(), WHYLATE_ERROR_RECORD, text);
	return false;
}

static bool set_lttng_error(GError **error, const char *text)
{
	g_set_error_literal(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, text);
	return false;
}

/* What the command said, in our words where it has a known remedy; or how it ended. (It
 * was seen to say nothing where there were no modules.) */
static bool explain(const char *const *arguments, const char *said, const char *how, GError **error)
{
	g_autofree char *text = g_strdup(said);

	g_strstrip(text);
	if (strstr(said, "Kernel tracer not available") || strstr(said, "kernel tracer") ||
	    (!*text && !g_file_test("/proc/lttng", G_FILE_TEST_EXISTS)))
		return set_missing(
			error,
			"the kernel's tracer is not there: as root 'apt-get install "
			"lttng-modules-dkms linux-headers-$(uname -r)', then 'modprobe "
			"lttng-tracer'; a kernel that only takes signed modules needs them signed");
	if (strstr(said, "nvalid filter bytecode")) /* of a syntax error, in lttng-tools 2.13 */
		return set_lttng_error(
			error, "--trigger: LTTng does not take this filter; it compares the "
			       "event's fields, as in 'sched_switch prev_prio < 0 && prev_tid "
			       "!= 0' (FILTER EXPRESSION in lttng-enable-event(1))");
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "lttng %s failed: %s", arguments[1],
		    *text ? text : how);
	return false;
}

bool lttng_run(const char *const *arguments, char **said, GError **error)
{
	g_autofree char *out = NULL, *err = NULL, *both = NULL;
	g_autoptr(GError) cause = NULL;
	int status;

	if (!g_spawn_sync(NULL, (char **) arguments, NULL, G_SPAWN_SEARCH_PATH, set_apart, NULL,
			  &out, &err, &status, &cause))
		return set_lttng_error(error, cause->message);
	both = g_strconcat(err, out, NULL);
	if (!g_spawn_check_wait_status(status, &cause))
		return explain(arguments, both, cause->message, error);
	if (said)
		*said = g_steal_pointer(&out);
	return true;
}

const char *lttng_probed(const char *const *line)
{
	for (; *line; line++)
		if (g_str_has_prefix(*line, "--function=") ||
		    g_str_has_prefix(*line, "--userspace-probe="))
			return strchr(*line, '=') + 1;
	return NULL;
}

void lttng_try(const char *const *line)
{
	if (!lttng_run(line, NULL, NULL))
		fprintf(stderr, "whylate: %s cannot be probed, and is left out\n",
			lttng_probed(line));
}

static bool daemon_answers(void)
{
	const char *const line[] = {"lttng", "--no-sessiond", "list", NULL};

	return lttng_run(line, NULL, NULL);
}

/* A line is "  1) NAME [active snapshot]". */
GPtrArray *lttng_sessions(const char *having, GError **error)
{
	const char *const line[] = {"lttng", "--no-sessiond", "list", NULL};
	g_autofree char *said = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *names;

	if (!lttng_run(line, &said, error))
		return NULL;
	names = g_ptr_array_new_with_free_func(g_free);
	lines = g_strsplit(said, "\n", -1);
	for (char **at = lines; *at; at++) {
		const char *number = *at + strspn(*at, " ");
		const char *name = number + strspn(number, "0123456789");

		if (name > number && g_str_has_prefix(name, ") ") && strstr(name, having))
			g_ptr_array_add(names, g_strndup(name + 2, strcspn(name + 2, " ")));
	}
	return names;
}

/* LTTng itself looks at the supplementary groups only. */
static bool in_group_tracing(void)
{
	const struct group *tracing = getgrnam("tracing");
	gid_t groups[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, groups);

	for (int i = 0; tracing && i < count; i++)
		if (groups[i] == tracing->gr_gid)
			return true;
	return false;
}

/* --- the keeper of our daemon, a process --------------------------------------------- */

/* In the daemon: it does not outlive its keeper either. */
static void set_kept(gpointer data)
{
	const pid_t *keeper = data;

	set_apart(NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != *keeper) /* killed before that was said */
		_exit(1);
}

/* Ends what a record that was killed left; whether there are sessions of others. */
static bool daemon_is_needed(const char *session)
{
	const char *const trigger[] = {"lttng", "--no-sessiond", "remove-trigger", session, NULL};
	const char *const destroy[] = {"lttng", "--no-sessiond", "destroy", session, NULL};
	g_autoptr(GPtrArray) names = lttng_sessions("", NULL);
	bool needed = false;

	for (guint i = 0; names && i < names->len; i++) {
		if (strcmp(g_ptr_array_index(names, i), session) != 0) {
			needed = true;
			continue;
		}
		lttng_run(trigger, NULL, NULL);
		lttng_run(destroy, NULL, NULL);
	}
	return needed;
}

static void wake(int number)
{
	(void) number;
}

/* Until we end, or the daemon does: true. No time-outs, which would be in the trace. */
static bool daemon_ends_first(int alive, pid_t daemon)
{
	struct pollfd end = {.fd = alive};
	sigset_t child, mask;

	signal(SIGCHLD, wake);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &mask);
	sigdelset(&mask, SIGCHLD);
	while (!(end.revents & POLLHUP)) {
		if (waitpid(daemon, NULL, WNOHANG) == daemon)
			return true;
		end.revents = 0;
		ppoll(&end, 1, NULL, &mask);
	}
	return false;
}

/* Again until it ends: a daemon that is beginning loses a SIGTERM that comes between its handler
 * and the pipe that this writes to. */
static void end_daemon(pid_t daemon)
{
	pid_t ended = 0;

	for (int waited = 0; ended == 0 || (ended < 0 && errno == EINTR);
	     waited += DAEMON_CHECK_MS) {
		if (waited % DAEMON_TERM_MS == 0)
			kill(daemon, SIGTERM);
		g_usleep(DAEMON_CHECK_MS * 1000);
		ended = waitpid(daemon, NULL, WNOHANG);
	}
}

static _Noreturn void keep_daemon(int alive, const char *session)
{
	const char *const line[] = {"lttng-sessiond", NULL};
	pid_t self = getpid(), daemon;
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (null < 0 || chdir("/") != 0)
		_exit(1);
	for (int fd = 0; fd <= 2; fd++) /* who reads what we say need not wait for it to end */
		dup2(null, fd);
	if (!g_spawn_async("/", (char **) line, NULL,
			   G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, set_kept, &self,
			   &daemon, NULL))
		_exit(1);
	if (daemon_ends_first(alive, daemon))
		_exit(1);
	while (daemon_is_needed(session))
		g_usleep(DAEMON_STEP_MS * 5 * 1000);
	end_daemon(daemon);
	_exit(0);
}

static bool start_daemon(const char *session, struct lttng_daemon *daemon, GError **error)
{
	g_autofree char *program = g_find_program_in_path("lttng-sessiond");
	int ends[2];

	if (!program)
		return set_missing(error,
				   "no session daemon runs, and lttng-sessiond is not installed");
	if (pipe2(ends, O_CLOEXEC) != 0 || (daemon->keeper = fork()) < 0) {
		daemon->keeper = 0;
		return set_lttng_error(error, g_strerror(errno));
	}
	if (daemon->keeper == 0) {
		close(ends[1]);
		keep_daemon(ends[0], session);
	}
	close(ends[0]);
	daemon->alive = ends[1];
	for (int waited = 0; waited < DAEMON_WAIT_MS; waited += DAEMON_STEP_MS) {
		if (daemon_answers())
			return true;
		if (daemon->keeper && waitpid(daemon->keeper, NULL, WNOHANG) == daemon->keeper) {
			close(daemon->alive); /* perhaps as another is beginning: it may answer */
			daemon->keeper = 0;
			waited = MAX(waited, DAEMON_WAIT_MS - OTHER_WAIT_MS);
		}
		g_usleep(DAEMON_STEP_MS * 1000);
	}
	if (!daemon->keeper)
		return set_lttng_error(
			error, "lttng-sessiond ended at once: 'lttng-sessiond -v' says why");
	lttng_end_daemon(daemon);
	return set_lttng_error(error, "lttng-sessiond was started and does not answer");
}

static bool is_installed(GError **error)
{
	g_autofree char *command = g_find_program_in_path("lttng");

	return command ||
	       set_missing(error, "LTTng is not installed: as root 'apt-get install lttng-tools "
				  "lttng-modules-dkms linux-headers-$(uname -r)'");
}

bool lttng_runs(GError **error)
{
	return is_installed(error) &&
	       (daemon_answers() ||
		set_lttng_error(error,
				"no session daemon runs, so nothing records: 'whylate record "
				"--snapshot' starts a flight recorder"));
}

bool lttng_may_record(GError **error)
{
	if (!is_installed(error))
		return false;
	return geteuid() == 0 || in_group_tracing() ||
	       set_lttng_error(error,
			       "kernel tracing needs root, or the group tracing: sudo whylate "
			       "record …, or 'sudo usermod -aG tracing $USER' and a new login");
}

bool lttng_ready(const char *session, struct lttng_daemon *daemon, GError **error)
{
	daemon->keeper = 0;
	if (daemon_answers())
		return true;
	if (geteuid() != 0)
		return set_lttng_error(error,
				       "no session daemon of root runs: 'sudo systemctl start "
				       "lttng-sessiond', or record as root");
	return start_daemon(session, daemon, error);
}

void lttng_end_daemon(struct lttng_daemon *daemon)
{
	g_autoptr(GPtrArray) others = NULL;

	if (!daemon->keeper)
		return;
	others = lttng_sessions("", NULL);
	close(daemon->alive);
	if (others && others->len)
		fprintf(stderr,
			"whylate: the session daemon that was started here has other sessions "
			"(%s); it will end when they do\n",
			(char *) g_ptr_array_index(others, 0));
	else
		while (waitpid(daemon->keeper, NULL, 0) < 0 && errno == EINTR)
			continue;
	daemon->keeper = 0;
}
