/* SPDX-License-Identifier: MIT */
/* See settings.h. */
#include "record/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUE_MAX 4096  /* bytes of a value that are kept */
#define FILE_LARGEST (1 << 20) /* larger ones are no configuration */
#define EXECUTABLE_LARGEST (256 << 20)
#define DEPTH_MAX 12
#define FILES_MAX 20000 /* of each kind */

struct settings {
	const char *root; /* borrowed */
	FILE *file;
	guint refused, count; /* of the kind that is being written */
};

/* Values that are counters, or that reading changes. */
static const char *const volatile_names[] = {
	"fs.dentry-state",
	"fs.file-nr",
	"fs.inode-*",
	"fs.aio-nr",
	"fs.quota.*",
	"fs.binfmt_misc*",
	"kernel.random.*",
	"kernel.ns_last_pid",
	"kernel.pty.nr",
	"kernel.hostname",
	"vm.stat_refresh",
	"dev.cdrom.*",
	"net.netfilter.nf_conntrack_count",
	"*.stable_secret",
	"*.route.flush",
	"net.ipv6.neigh.*",
	"net.ipv4.neigh.*",
	"kernel.perf_event_max_sample_rate",
	"sunrpc.transports",
	NULL};

/* Of the environment only what changes how programs run: others may be secrets. */
static const char *const told_variables[] = {
	"PATH",
	"LANG",
	"LC_*",
	"TZ",
	"LD_PRELOAD",
	"LD_LIBRARY_PATH",
	"MALLOC_*",
	"GLIBC_*",
	"OMP_*",
	"OPENBLAS*",
	"MKL_*",
	"GOMAXPROCS",
	"GOGC",
	"GODEBUG",
	"JAVA_*OPTS*",
	"JAVA_OPTIONS",
	"NODE_OPTIONS",
	"PYTHON*",
	"UV_THREADPOOL_SIZE",
	"TMPDIR",
	NULL};

/* … and of running processes only what changes how their runtime works. */
static const char *const told_of_processes[] = {
	"LD_PRELOAD",  "LD_LIBRARY_PATH", "MALLOC_*",     "GLIBC_*", "OMP_*",
	"OPENBLAS*",   "MKL_*",           "GOMAXPROCS",   "GOGC",    "GODEBUG",
	"JAVA_*OPTS*", "JAVA_OPTIONS",    "NODE_OPTIONS", "PYTHON*", "UV_THREADPOOL_SIZE",
	NULL};

/* What follows "=" in an argument whose name says so is not for others to see. */
static const char *const secret_names[] = {"*pass*", "*secret*",     "*token*",
					   "*key*",  "*credential*", NULL};

static bool fits(const char *const *patterns, const char *name)
{
	bool found = false;

	for (; *patterns && !found; patterns++)
		found = fnmatch(*patterns, name, FNM_CASEFOLD) == 0;
	return found;
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* One line: what would break it is a blank. */
static void put(struct settings *to, const char *kind, const char *name, const char *value)
{
	g_autofree char *plain_name = g_strdelimit(g_strdup(name), "\t\n\r", ' ');
	g_autofree char *plain = g_strdelimit(g_strndup(value, VALUE_MAX), "\t\n\r", ' ');

	fprintf(to->file, "%s\t%s\t%s\n", kind, plain_name, g_strstrip(plain));
	to->count++;
}

static char *path_below(const struct settings *to, const char *path)
{
	return g_strconcat(to->root, path, NULL);
}

static void put_note(struct settings *to, const char *kind, const char *why)
{
	g_autofree char *said = NULL;

	if (to->refused) {
		said = g_strdup_printf("%u could not be read: %s", to->refused, why);
		put(to, "note", kind, said);
	}
	to->refused = to->count = 0;
}

/* What is in a small file, of /proc or /sys too; NULL: it may not be read. */
static char *content_of(struct settings *to, const char *path)
{
	g_autofree char *full = path_below(to, path);
	char *text = NULL;

	if (g_file_get_contents(full, &text, NULL, NULL))
		return text;
	to->refused += g_file_test(full, G_FILE_TEST_EXISTS);
	return NULL;
}

static void put_file(struct settings *to, const char *kind, const char *name, const char *path)
{
	g_autofree char *text = content_of(to, path);

	if (text)
		put(to, kind, name, text);
}

/* Calls `each` for the regular files below `path`, in order of their names; links to directories
 * are not followed. */
static void walk(struct settings *to, const char *path, int depth,
		 void (*each)(struct settings *to, const char *path, const struct stat *status))
{
	g_autofree char *full = path_below(to, path);
	GDir *dir = depth < DEPTH_MAX ? g_dir_open(full, 0, NULL) : NULL;
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, by_text);
	for (guint i = 0; i < names->len && to->count < FILES_MAX; i++) {
		g_autofree char *below = g_strconcat(path, "/", names->pdata[i], NULL);
		g_autofree char *at = path_below(to, below);
		struct stat link, status;

		if (lstat(at, &link) != 0 || stat(at, &status) != 0)
			continue;
		if (S_ISDIR(link.st_mode))
			walk(to, below, depth + 1, each);
		else if (S_ISREG(status.st_mode))
			each(to, below, &status);
	}
}

/* --- the kernel's ------------------------------------------------------------- */

static void put_sysctl(struct settings *to, const char *path, const struct stat *status)
{
	g_autofree char *name = g_strdelimit(g_strdup(path + strlen("/proc/sys/")), "/", '.');

	if (status->st_mode & S_IRUSR && !fits(volatile_names, name))
		put_file(to, "sysctl", name, path);
}

static void put_kernel(struct settings *to)
{
	static const char *const files[][2] = {
		{"command line", "/proc/cmdline"},
		{"version", "/proc/version"},
		{"clock source",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
		{"transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"},
		{"transparent huge pages, defragmentation",
		 "/sys/kernel/mm/transparent_hugepage/defrag"},
		{"CPUs online", "/sys/devices/system/cpu/online"},
		{"SMT", "/sys/devices/system/cpu/smt/control"},
		{"idle driver", "/sys/devices/system/cpu/cpuidle/current_driver"},
		{"idle governor", "/sys/devices/system/cpu/cpuidle/current_governor"},
		{"turbo off", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
		{"boost", "/sys/devices/system/cpu/cpufreq/boost"},
		{"scheduler features", "/sys/kernel/debug/sched/features"},
		{"scheduler slice", "/sys/kernel/debug/sched/base_slice_ns"},
		{"scheduler granularity", "/sys/kernel/debug/sched/min_granularity_ns"},
		{"scheduler wake-up granularity", "/sys/kernel/debug/sched/wakeup_granularity_ns"}};

	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		put_file(to, "kernel", files[i][0], files[i][1]);
}

/* Of each directory below `path` that fits, the file `below` it; /sys/block's are links. */
static void put_each(struct settings *to, const char *path, const char *pattern, const char *below,
		     const char *kind)
{
	g_autofree char *full = path_below(to, path);
	GDir *dir = g_dir_open(full, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (fnmatch(pattern, name, 0) == 0)
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, by_text);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *at = g_strconcat(path, "/", names->pdata[i], "/", below, NULL);
		g_autofree char *called =
			g_strconcat(names->pdata[i], "/", strrchr(below, '/') + 1, NULL);

		put_file(to, kind, called, at);
	}
}

static void put_devices(struct settings *to)
{
	static const char *const queue[] = {"queue/scheduler",      "queue/nr_requests",
					    "queue/read_ahead_kb",  "queue/rotational",
					    "queue/write_cache",    "queue/nomerges",
					    "queue/rq_affinity",    "queue/wbt_lat_usec",
					    "queue/max_sectors_kb", "queue/fua"};
	static const char *const frequency[] = {
		"cpufreq/scaling_governor", "cpufreq/scaling_driver", "cpufreq/scaling_min_freq",
		"cpufreq/scaling_max_freq", "cpufreq/energy_performance_preference"};

	for (size_t i = 0; i < G_N_ELEMENTS(queue); i++)
		put_each(to, "/sys/block", "[!lr]*", queue[i], "block");
	put_note(to, "block", "not allowed");
	for (size_t i = 0; i < G_N_ELEMENTS(frequency); i++)
		put_each(to, "/sys/devices/system/cpu", "cpu[0-9]*", frequency[i], "cpu");
	put_each(to, "/sys/class/net", "*", "./mtu", "network");
	put_each(to, "/sys/class/net", "*", "./tx_queue_len", "network");
	put_note(to, "cpu, network", "not allowed");
}

static void put_mounts(struct settings *to)
{
	g_autofree char *text = content_of(to, "/proc/mounts");
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) words = g_strsplit(*line, " ", -1);
		g_autofree char *value = NULL;

		if (g_strv_length(words) < 4)
			continue;
		value = g_strconcat(words[2], " ", words[0], " ", words[3], NULL);
		put(to, "mount", words[1], value);
	}
	put_note(to, "mount", "not allowed");
}

/* Limits alone: what is "max" is none. */
static void put_limit(struct settings *to, const char *path, const struct stat *status)
{
	static const char *const told[] = {
		"*/cpu.max",    "*/memory.max", "*/memory.high", "*/io.max",
		"*/cpu.weight", "*/pids.max",   "*/cpuset.cpus", NULL};
	g_autofree char *text = NULL;

	(void) status;
	if (!fits(told, path) || !(text = content_of(to, path)))
		return;
	if (*g_strstrip(text) && !g_str_has_prefix(text, "max") && strcmp(text, "100") != 0)
		put(to, "cgroup", path + strlen("/sys/fs/cgroup"), text);
}

/* --- files and programs ----------------------------------------------------------- */

static void put_digest(struct settings *to, const char *path, const struct stat *status)
{
	g_autofree char *full = NULL, *text = NULL, *digest = NULL;
	gsize length;

	if (!(status->st_mode & (S_IRGRP | S_IROTH)) || status->st_size > FILE_LARGEST ||
	    fnmatch("*/*shadow*", path, 0) == 0)
		return;
	full = path_below(to, path);
	if (!g_file_get_contents(full, &text, &length, NULL)) {
		to->refused++;
		return;
	}
	digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *) text, length);
	digest[16] = '\0';
	put(to, "file", path, digest);
}

/* The file that an argument may name: "/x", "--config=/x", "-c/x", or relative to `cwd` (NULL: not
 * known). Free with g_free(). */
static char *path_named(const char *argument, const char *cwd)
{
	const char *value = *argument == '-' ? strchr(argument, '=') : NULL;
	const char *name = value ? value + 1 : argument;

	if (*name == '/')
		return g_strdup(name);
	if (*name == '-')
		return g_strdup(strchr(name, '/'));
	return cwd && *name ? g_build_filename(cwd, name, NULL) : NULL;
}

/* A configuration file that an argument names, also in a directory that one does. `any`: whatever
 * file it is, as it is what the program is given. */
static void put_named_file(struct settings *to, const char *argument, const char *cwd, bool any,
			   GHashTable *seen)
{
	static const char *const ends[] = {"*.conf", "*.cnf",  "*.cfg",  "*.ini", "*.yml",
					   "*.yaml", "*.toml", "*.json", NULL};
	g_autofree char *path = path_named(argument, cwd);
	g_autofree char *full = path ? path_below(to, path) : NULL;
	struct stat status;

	if (!path || g_str_has_prefix(path, "/etc/") || stat(full, &status) != 0)
		return;
	if (S_ISREG(status.st_mode) && (any || fits(ends, path)) &&
	    g_hash_table_add(seen, g_strdup(path)))
		put_digest(to, path, &status);
	if (S_ISDIR(status.st_mode)) { /* postgres -D DIRECTORY */
		g_autofree char *inside = g_build_filename(path, "postgresql.conf", NULL);
		g_autofree char *at = path_below(to, inside);

		if (stat(at, &status) == 0 && g_hash_table_add(seen, g_strdup(inside)))
			put_digest(to, inside, &status);
	}
}

/* The words of a command line, without what is secret. */
static char *line_of(char *const *words)
{
	GString *line = g_string_new(NULL);

	for (; *words; words++) {
		const char *value = strchr(*words, '=');
		g_autofree char *name =
			g_strndup(*words, value ? (gsize) (value - *words) : strlen(*words));

		g_string_append_printf(line, "%s%s", line->len ? " " : "", name);
		if (value)
			g_string_append(line, fits(secret_names, name) ? "=***" : value);
	}
	return g_string_free(line, FALSE);
}

static char **command_line(struct settings *to, const char *pid)
{
	g_autofree char *path = g_strconcat(to->root, "/proc/", pid, "/cmdline", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	gsize length = 0;

	if (!g_file_get_contents(path, &text, &length, NULL))
		length = 0;
	for (gsize at = 0; at < length; at += strlen(text + at) + 1)
		g_ptr_array_add(words, g_strdup(text + at));
	g_ptr_array_add(words, NULL);
	return (char **) g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

/* What records says nothing about what is recorded. */
static bool is_itself(const struct settings *to, const char *pid)
{
	return !*to->root && g_ascii_strtoll(pid, NULL, 10) == getpid();
}

/* "redis-server: MALLOC_ARENA_MAX": the variables of one that may be told. */
static void add_variables(struct settings *to, const char *pid, const char *comm, GPtrArray *lines)
{
	g_autofree char *path = g_strconcat(to->root, "/proc/", pid, "/environ", NULL);
	g_autofree char *text = NULL;
	gsize length = 0;

	if (!g_file_get_contents(path, &text, &length, NULL))
		return;
	for (gsize at = 0; at < length; at += strlen(text + at) + 1) {
		const char *value = strchr(text + at, '=');
		g_autofree char *name =
			value ? g_strndup(text + at, (gsize) (value - (text + at))) : NULL;

		if (name && fits(told_of_processes, name))
			g_ptr_array_add(lines, g_strdup_printf("environment\t%s: %s\t%s", comm,
							       name, value + 1));
	}
}

/* A process's lines, without the numbers that the kernel gave it. */
static void add_process(struct settings *to, const char *pid, GPtrArray *lines, GHashTable *seen)
{
	g_auto(GStrv) words = command_line(to, pid);
	g_autofree char *comm_path = g_strconcat(to->root, "/proc/", pid, "/comm", NULL);
	g_autofree char *cwd_path = g_strconcat(to->root, "/proc/", pid, "/cwd", NULL);
	g_autofree char *comm = NULL, *line = NULL, *cwd = g_file_read_link(cwd_path, NULL);

	if (!words[0] || !g_file_get_contents(comm_path, &comm, NULL, NULL))
		return; /* a kernel thread, or it has ended */
	g_strdelimit(g_strchomp(comm), "\t\n", ' ');
	line = line_of(words);
	g_ptr_array_add(lines, g_strconcat("process\t", comm, "\t", line, NULL));
	add_variables(to, pid, comm, lines);
	for (char **word = words + 1; *word; word++)
		put_named_file(to, *word, cwd, false, seen);
}

static void put_processes(struct settings *to)
{
	g_autofree char *full = path_below(to, "/proc");
	GDir *dir = g_dir_open(full, 0, NULL);
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_ascii_isdigit(*name) && !is_itself(to, name))
			add_process(to, name, lines, seen);
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(lines, by_text);
	for (guint i = 0; i < lines->len; i++) {
		g_auto(GStrv) cells = g_strsplit(lines->pdata[i], "\t", 3);

		put(to, cells[0], cells[1], cells[2]);
	}
	put_note(to, "file", "not allowed");
}

/* What it is, by a digest: another build of the same name is another program. */
static void put_executable(struct settings *to, const char *name)
{
	g_autofree char *found = *to->root ? NULL : g_find_program_in_path(name);
	g_autofree char *path = found ? g_strdup(found) : path_below(to, name), *digest = NULL;
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);

	if (!file || g_mapped_file_get_length(file) > EXECUTABLE_LARGEST)
		return;
	digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
					     (const guchar *) g_mapped_file_get_contents(file),
					     g_mapped_file_get_length(file));
	digest[16] = '\0';
	put(to, "program", "executable", digest);
}

static void put_program(struct settings *to, char *const *program)
{
	g_auto(GStrv) names = g_listenv();
	g_autofree char *line = program ? line_of(program) : NULL, *cwd = g_get_current_dir();
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	if (!program)
		return;
	put(to, "program", "command line", line);
	put_executable(to, program[0]);
	for (char *const *word = program + 1; *word; word++)
		put_named_file(to, *word, cwd, true, seen);
	for (char **name = names; *name; name++)
		if (fits(told_variables, *name))
			put(to, "environment", *name, g_getenv(*name));
}

void settings_write(const char *root, char *const *program, FILE *file)
{
	struct settings to = {.root = root, .file = file};

	fprintf(file, "# whylate settings 1: KIND, NAME, VALUE (man whylate-record)\n");
	put_program(&to, program);
	put_kernel(&to);
	put_note(&to, "kernel", "not allowed");
	walk(&to, "/proc/sys", 0, put_sysctl);
	put_note(&to, "sysctl", "not allowed");
	put_devices(&to);
	put_mounts(&to);
	walk(&to, "/sys/fs/cgroup", 0, put_limit);
	put_note(&to, "cgroup", "not allowed");
	walk(&to, "/etc", 0, put_digest);
	put_note(&to, "file", "not allowed");
	put_processes(&to);
}

/* "package NAME VERSION", of whichever packager there is. */
static void put_packages(FILE *file)
{
	static const char *const commands[][6] = {
		{"dpkg-query", "-W", "-f", "package\\t${binary:Package}\\t${Version}\\n", NULL},
		{"rpm", "-qa", "--qf", "package\\t%{NAME}\\t%{VERSION}-%{RELEASE}\\n", NULL}};

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		g_autofree char *said = NULL;

		if (g_spawn_sync(NULL, (char **) commands[i], NULL,
				 G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
				 &said, NULL, NULL, NULL) &&
		    said && *said) {
			fputs(said, file);
			return;
		}
	}
	fputs("note\tpackage\tneither dpkg-query nor rpm tells\n", file);
}

bool settings_record(const char *directory, char *const *program)
{
	g_autofree char *path = g_build_filename(directory, "settings", NULL);
	FILE *file = fopen(path, "w");
	bool ok = file != NULL;

	if (!file)
		return false;
	settings_write("", program, file);
	put_packages(file);
	ok = !ferror(file);
	return fclose(file) == 0 && ok;
}
