/* SPDX-License-Identifier: MIT */
/* What is left to a process that has confined itself (confine/). Each try is made in a child, as a
 * parser would that somebody else's file has taken over. What a kernel without Landlock or without
 * filters cannot refuse is checked to be told. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/confine.h"
#include "confine/later.h"

static char *folder; /* all files are in it; removed at the end */

static char *in_folder(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

/* --- trying in a child ------------------------------------------------------ */

struct tried {
	int signal; /* that ended it; 0: none */
	int error;  /* what try() gave: an errno, 0: it could */
};

/* `try` returns an errno, 0: it could. */
static struct tried confined(int (*try)(void), enum confine_set set)
{
	g_autofree char *readable = in_folder("trace"), *writable = in_folder("out");
	struct confine *confine = confine_new();
	int status;
	pid_t child;

	confine_read(confine, readable);
	confine_read(confine, "/usr");
	confine_write(confine, writable, true);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		signal(SIGSYS, SIG_DFL);
		confine_begin(set == CONFINE_CHILD ? NULL : confine, set);
		_exit(try());
	}
	confine_free(confine);
	g_assert_cmpint(child, >, 0);
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	return (struct tried) {WIFSIGNALED(status) ? WTERMSIG(status) : 0,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 0};
}

static int result(long value)
{
	return value < 0 ? errno : 0;
}

static int try_path(const char *path, int flags)
{
	return result(open(path, flags, 0600));
}

static int try_name(const char *name, int flags)
{
	g_autofree char *path = in_folder(name);

	return try_path(path, flags);
}

/* --- files ------------------------------------------------------------------- */

static int read_password(void)
{
	return try_path("/etc/passwd", O_RDONLY);
}

static int read_beside(void)
{
	return try_name("secret", O_RDONLY);
}

static int read_by_link(void)
{
	return try_name("trace/link", O_RDONLY);
}

static int read_above(void)
{
	return try_name("trace/../secret", O_RDONLY);
}

static int read_memory(void)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/environ", (int) getppid());

	return try_path(path, O_RDONLY);
}

static int write_trace(void)
{
	return try_name("trace/stream", O_WRONLY);
}

static int make_in_trace(void)
{
	return try_name("trace/new", O_WRONLY | O_CREAT);
}

static int remove_from_trace(void)
{
	g_autofree char *path = in_folder("trace/stream");

	return result(unlink(path));
}

static int take_out(void)
{
	g_autofree char *from = in_folder("secret"), *to = in_folder("out/secret");

	return result(link(from, to));
}

static void test_files_refused(void)
{
	int (*const tries[])(
		void) = {read_password, read_beside,   read_by_link,      read_above, read_memory,
			 write_trace,   make_in_trace, remove_from_trace, take_out};
	struct confine_state state = confine_offered();

	for (size_t i = 0; i < G_N_ELEMENTS(tries) && state.files; i++) {
		struct tried tried = confined(tries[i], CONFINE_ANALYSIS);

		g_test_message("try %zu", i);
		g_assert_cmpint(tried.signal, ==, 0);
		g_assert_true(tried.error == EACCES || tried.error == EXDEV);
	}
}

static int use_files(void)
{
	g_autofree char *file = in_folder("out/file"), *other = in_folder("out/other"),
			*directory = in_folder("out/directory"), *out = in_folder("out");
	g_autofree char *link_name = NULL;
	int fd, error;

	if ((error = try_name("trace/stream", O_RDONLY)) != 0)
		return error;
	fd = open(file, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || write(fd, "text", 4) != 4 || ftruncate(fd, 2) != 0 ||
	    rename(file, other) != 0 || mkdir(directory, 0700) != 0 || rmdir(directory) != 0 ||
	    unlink(other) != 0)
		return errno;
	fd = open(out, O_TMPFILE | O_WRONLY, 0600);
	if (fd < 0)
		return errno == EOPNOTSUPP ? 0 : errno;
	link_name = g_strdup_printf("/proc/self/fd/%d", fd);
	return result(linkat(AT_FDCWD, link_name, AT_FDCWD, file, AT_SYMLINK_FOLLOW))
		       ?: unlink(file);
}

static void test_files_allowed(void)
{
	struct tried tried = confined(use_files, CONFINE_ANALYSIS);

	g_assert_cmpint(tried.signal, ==, 0);
	g_assert_cmpint(tried.error, ==, 0);
}

static int write_out(void)
{
	return try_name("out/new", O_WRONLY | O_CREAT);
}

static int read_trace(void)
{
	return try_name("trace/stream", O_RDONLY);
}

/* Who reads binaries reads, and that is all. */
static void test_child(void)
{
	struct confine_state state = confine_offered();

	g_assert_cmpint(confined(read_trace, CONFINE_CHILD).error, ==, 0);
	if (state.files)
		g_assert_cmpint(confined(write_out, CONFINE_CHILD).error, ==, EACCES);
}

/* --- system calls --------------------------------------------------------------- */

static int open_internet(void)
{
	return result(socket(AF_INET, SOCK_STREAM, 0));
}

static int open_internet_6(void)
{
	return result(socket(AF_INET6, SOCK_DGRAM, 0));
}

static int open_packets(void)
{
	return result(socket(AF_PACKET, SOCK_RAW, 0));
}

static int open_local(void)
{
	return result(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int start_program(void)
{
	return result(execl("/bin/true", "true", (char *) NULL));
}

static int start_program_at(void)
{
	const char *const words[] = {"true", NULL}, *const none[] = {NULL};

	return result(syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, none, 0));
}

static int look_into_parent(void)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	return result(syscall(SYS_process_vm_writev, getppid(), &here, 1, &there, 1, 0));
}

static int mount_something(void)
{
	return result(syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL));
}

static int load_program(void)
{
	return result(syscall(SYS_bpf, 0, NULL, 0));
}

static int new_namespace(void)
{
	return result(syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */));
}

static int clone_namespace(void)
{
	long pid = syscall(SYS_clone, 0x10000000 | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int child_forks(void)
{
	long pid = fork();

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int end_parent(void)
{
	return result(kill(getppid(), 0));
}

static const struct {
	int (*try)(void);
	enum confine_set set;
	bool killed; /* else it only fails */
} tries[] = {
	{open_internet, CONFINE_ANALYSIS, true},    {open_internet, CONFINE_SERVER, true},
	{open_internet, CONFINE_CHILD, false},      {open_internet_6, CONFINE_ANALYSIS, true},
	{open_packets, CONFINE_ANALYSIS, true},     {open_local, CONFINE_ANALYSIS, false},
	{start_program, CONFINE_ANALYSIS, true},    {start_program, CONFINE_SERVER, true},
	{start_program, CONFINE_CHILD, true},       {start_program_at, CONFINE_ANALYSIS, true},
	{look_into_parent, CONFINE_ANALYSIS, true}, {mount_something, CONFINE_ANALYSIS, true},
	{load_program, CONFINE_ANALYSIS, true},     {new_namespace, CONFINE_ANALYSIS, true},
	{clone_namespace, CONFINE_ANALYSIS, false}, {child_forks, CONFINE_CHILD, false},
};

static void test_calls_refused(void)
{
	struct confine_state state = confine_offered();

	for (size_t i = 0; i < G_N_ELEMENTS(tries) && state.calls; i++) {
		struct tried tried = confined(tries[i].try, tries[i].set);

		g_test_message("try %zu: signal %d, error %d", i, tried.signal, tried.error);
		g_assert_cmpint(tried.signal, ==, tries[i].killed ? SIGSYS : 0);
		g_assert_true(tried.signal || tried.error);
	}
	if (state.files >= 6) /* signals go to our own alone */
		g_assert_cmpint(confined(end_parent, CONFINE_ANALYSIS).error, ==, EPERM);
}

static void *nothing(void *data)
{
	return data;
}

/* What analyses do. */
static int work(void)
{
	pthread_t thread;
	void *room =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ends[2], status;
	pid_t pid;

	if (room == MAP_FAILED || pthread_create(&thread, NULL, nothing, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		return EINVAL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
	    send(ends[0], "a", 1, 0) != 1 || recv(ends[1], room, 1, 0) != 1)
		return errno;
	pid = fork();
	if (pid == 0) /* and this one can do no more than its parent */
		_exit(open("/etc/passwd", O_RDONLY) < 0 || !confine_state().files ? 0 : 1);
	if (waitpid(pid, &status, 0) != pid)
		return errno;
	return status ? EINVAL : 0;
}

static void test_calls_allowed(void)
{
	struct tried tried = confined(work, CONFINE_ANALYSIS);

	g_assert_cmpint(tried.signal, ==, 0);
	g_assert_cmpint(tried.error, ==, 0);
}

/* --- what was begun before -------------------------------------------------------- */

static struct later later;

static int go(void)
{
	bool wrote;

	later_go(&later);
	wrote = write(later.text, "said", 4) == 4;
	close(later.text);
	return wrote ? 0 : EINVAL;
}

/* The program reads what the confined process says, where that could write nothing. */
static void test_later(void)
{
	g_autofree char *heard = in_folder("heard"), *line = g_strconcat("cat >", heard, NULL);
	g_autofree char *text = NULL;
	char *const words[] = {(char *) "sh", (char *) "-c", line, NULL};

	g_assert_true(later_new(&later, words, true));
	g_assert_cmpint(confined(go, CONFINE_ANALYSIS).error, ==, 0);
	close(later.go);
	close(later.text);
	g_assert_cmpint(waitpid(later.pid, NULL, 0), ==, later.pid);
	g_assert_true(g_file_get_contents(heard, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "said");
	g_assert_true(later_new(&later, words, true));
	later_free(&later); /* it ends without the word */
}

/* --- what is told --------------------------------------------------------------------- */

static int is_told(void)
{
	struct confine_state offered = confine_offered(), state = confine_state();

	return state.begun && state.files == offered.files && state.calls == offered.calls ? 0 : 1;
}

static void test_state(void)
{
	static const struct {
		struct confine_state state;
		const char *words;
	} rows[] = {
		{{true, false, 7, true}, "files (Landlock 7) and system calls (seccomp)"},
		{{true, false, 0, true}, "this kernel has no Landlock"},
		{{true, false, 2, false}, "this kernel filters no system calls"},
		{{true, false, 0, false}, "there is no sandbox"},
		{{true, true, 0, false}, "off, as WHYLATE_SANDBOX says"},
	};

	g_assert_false(confine_state().begun);
	g_assert_cmpint(confined(is_told, CONFINE_ANALYSIS).error, ==, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = confine_text(&rows[i].state);

		g_assert_nonnull(strstr(text, rows[i].words));
	}
}

static int off_opens(void)
{
	return read_password();
}

static void test_off(void)
{
	g_setenv("WHYLATE_SANDBOX", "off", true);
	g_assert_cmpint(confined(off_opens, CONFINE_ANALYSIS).error, ==, 0);
	g_unsetenv("WHYLATE_SANDBOX");
}

int main(int argc, char **argv)
{
	static const char *const directories[] = {"trace", "out"};
	static const char *const files[] = {"trace/stream", "secret", "heard"};
	g_autofree char *link_place = NULL, *secret = NULL;
	int status;

	g_test_init(&argc, &argv, NULL);
	folder = g_dir_make_tmp("whylate-confine-XXXXXX", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
		g_autofree char *path = in_folder(directories[i]);

		g_mkdir(path, 0700);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = in_folder(files[i]);

		g_file_set_contents(path, "text", -1, NULL);
	}
	link_place = in_folder("trace/link");
	secret = in_folder("secret");
	if (symlink(secret, link_place) != 0)
		return 1;
	g_test_add_func("/confine/files-refused", test_files_refused);
	g_test_add_func("/confine/files-allowed", test_files_allowed);
	g_test_add_func("/confine/child", test_child);
	g_test_add_func("/confine/calls-refused", test_calls_refused);
	g_test_add_func("/confine/calls-allowed", test_calls_allowed);
	g_test_add_func("/confine/later", test_later);
	g_test_add_func("/confine/state", test_state);
	g_test_add_func("/confine/off", test_off);
	status = g_test_run();
	g_unlink(link_place);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = in_folder(files[i]);

		g_unlink(path);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
		g_autofree char *path = in_folder(directories[i]);

		g_rmdir(path);
	}
	g_rmdir(folder);
	g_free(folder);
	return status;
}
