/* The lttng command as a child; see lttng.h. */
#include "record/lttng.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

#define DAEMON_WAIT_MS 15000
#define DAEMON_STEP_MS 100

/* In the child: signals as they are for anybody, and none that the terminal sends to us. */
static void set_apart(gpointer data)
{
	sigset_t none;

	(void) data;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
}

/* The same in a daemon, which ends when we do, even if we are killed. */
static void set_bound(gpointer data)
{
	const pid_t *parent = data;

	set_apart(NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != *parent) /* killed before that was said */
		_exit(1);
}

static bool fail(GError **error, const char *text)
{
	g_set_error_literal(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, text);
	return false;
}

/* What the command said, in our words where it has a known remedy. */
static bool explain(const char *const *arguments, const char *said, GError **error)
{
	g_autofree char *text = g_strdup(said);

	g_strstrip(text);
	if (strstr(said, "Kernel tracer not available") || strstr(said, "kernel tracer"))
		return fail(
			error,
			"the kernel's tracer is not there: as root 'apt-get install "
			"lttng-modules-dkms linux-headers-$(uname -r)', then 'modprobe "
			"lttng-tracer'; a kernel that only takes signed modules needs them signed");
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "lttng %s failed: %s", arguments[1],
		    *text ? text : "it did not say why");
	return false;
}

bool lttng_run(const char *const *arguments, char **said, GError **error)
{
	g_autofree char *out = NULL, *err = NULL, *both = NULL;
	g_autoptr(GError) cause = NULL;
	int status;

	if (!g_spawn_sync(NULL, (char **) arguments, NULL, G_SPAWN_SEARCH_PATH, set_apart, NULL,
			  &out, &err, &status, &cause))
		return fail(error, cause->message);
	both = g_strconcat(err, out, NULL);
	if (!g_spawn_check_wait_status(status, NULL))
		return explain(arguments, both, error);
	if (said)
		*said = g_steal_pointer(&out);
	return true;
}

static bool daemon_answers(void)
{
	const char *const line[] = {"lttng", "--no-sessiond", "list", NULL};

	return lttng_run(line, NULL, NULL);
}

static bool in_group_tracing(void)
{
	const struct group *tracing = getgrnam("tracing");
	gid_t groups[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, groups);

	for (int i = 0; tracing && i < count; i++)
		if (groups[i] == tracing->gr_gid)
			return true;
	return tracing && getegid() == tracing->gr_gid;
}

/* A daemon of our own, which ends with us. */
static bool start_daemon(pid_t *daemon, GError **error)
{
	const char *const line[] = {"lttng-sessiond", NULL};
	g_autoptr(GError) cause = NULL;
	pid_t self = getpid();

	if (!g_spawn_async(NULL, (char **) line, NULL,
			   G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
				   G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
			   set_bound, &self, daemon, &cause)) {
		*daemon = 0;
		return fail(error, cause->message);
	}
	for (int waited = 0; waited < DAEMON_WAIT_MS; waited += DAEMON_STEP_MS) {
		if (daemon_answers())
			return true;
		if (waitpid(*daemon, NULL, WNOHANG) == *daemon) {
			*daemon = 0;
			return fail(error,
				    "lttng-sessiond ended at once: 'lttng-sessiond -v' says why");
		}
		g_usleep(DAEMON_STEP_MS * 1000);
	}
	lttng_end_daemon(*daemon);
	*daemon = 0;
	return fail(error, "lttng-sessiond was started and does not answer");
}

bool lttng_ready(pid_t *daemon, GError **error)
{
	g_autofree char *command = g_find_program_in_path("lttng");

	*daemon = 0;
	if (!command)
		return fail(error, "LTTng is not installed: as root 'apt-get install lttng-tools "
				   "lttng-modules-dkms linux-headers-$(uname -r)'");
	if (geteuid() != 0 && !in_group_tracing())
		return fail(error, "kernel tracing needs root, or the group tracing: sudo whylate "
				   "record …, or 'sudo usermod -aG tracing $USER' and a new login");
	if (daemon_answers())
		return true;
	if (geteuid() != 0)
		return fail(error, "no session daemon of root runs: 'sudo systemctl start "
				   "lttng-sessiond', or record as root");
	return start_daemon(daemon, error);
}

void lttng_end_daemon(pid_t daemon)
{
	if (daemon <= 0)
		return;
	kill(daemon, SIGTERM);
	while (waitpid(daemon, NULL, 0) < 0 && errno == EINTR)
		continue;
}
