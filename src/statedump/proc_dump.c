/* SPDX-License-Identifier: MIT */
/* See proc_dump.h. Source: proc(5). */
#include "statedump/proc_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "statedump/proc_sockets.h"
#include "util/error.h"

#define KERNEL_FLAG 0x00200000 /* PF_KTHREAD in the flags of /proc/PID/stat */
#define FLAGS_AT 6        /* fields behind the name's ')': state is 0 */
#define PARENT_AT 1
#define CPU_AT 36

struct dump {
	const char *root; /* borrowed */
	FILE *file;
	bool ok, follows; /* another record, in the list that is being written */
	guint refused;   /* processes whose descriptors may not be seen */
	GHashTable *networks; /* namespaces, by inode: known, and who is in it (owned string) */
};

static json_int_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (json_int_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Names may have any bytes. */
static json_t *text_of(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	return json_string(valid);
}

/* Takes the record. */
static void put(struct dump *dump, json_t *record)
{
	if (fputs(dump->follows ? ",\n  " : "\n  ", dump->file) < 0 ||
	    json_dumpf(record, dump->file, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
		dump->ok = false;
	dump->follows = true;
	json_decref(record);
}

static void put_socket(void *data, json_t *socket)
{
	put(data, socket);
}

static void begin_list(struct dump *dump, const char *name)
{
	fprintf(dump->file, ",\n \"%s\":[", name);
	dump->follows = false;
}

static void end_list(struct dump *dump)
{
	fputs("]", dump->file);
}

static void put_member(struct dump *dump, const char *name, json_t *value)
{
	fprintf(dump->file, ",\n \"%s\":", name);
	if (json_dumpf(value, dump->file, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
		dump->ok = false;
	json_decref(value);
}

static json_t *times(void)
{
	return json_pack("{s:I, s:I, s:I}", "monotonic", now(CLOCK_MONOTONIC), "boottime",
			 now(CLOCK_BOOTTIME), "realtime", now(CLOCK_REALTIME));
}

/* NULL: it cannot be read; free with g_free(). */
static char *read_below(const struct dump *dump, const char *format, ...) G_GNUC_PRINTF(2, 3);
static char *read_below(const struct dump *dump, const char *format, ...)
{
	g_autofree char *path = NULL, *full = NULL;
	char *text = NULL;
	va_list list;

	va_start(list, format);
	path = g_strdup_vprintf(format, list);
	va_end(list);
	full = g_strconcat(dump->root, path, NULL);
	return g_file_get_contents(full, &text, NULL, NULL) ? text : NULL;
}

/* Numbers of the processes, threads or descriptors in a directory, in order; free with
 * g_array_unref(). NULL: it may not be seen. */
static GArray *numbers_in(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	GArray *numbers;
	const char *name;

	if (!dir)
		return NULL;
	numbers = g_array_new(FALSE, FALSE, sizeof(guint));
	while ((name = g_dir_read_name(dir)))
		if (g_ascii_isdigit(*name)) {
			guint number = (guint) g_ascii_strtoull(name, NULL, 10);

			g_array_append_val(numbers, number);
		}
	g_dir_close(dir);
	return numbers;
}

static gint by_number(gconstpointer a, gconstpointer b)
{
	guint one = *(const guint *) a, other = *(const guint *) b;

	return (one > other) - (one < other);
}

static GArray *sorted_numbers_in(const char *path)
{
	GArray *numbers = numbers_in(path);

	if (numbers)
		g_array_sort(numbers, by_number);
	return numbers;
}

/* --- threads -------------------------------------------------------------------------- */

/* What follows the name in /proc/PID/stat, which may itself have any bytes, a ')' too. */
static char **stat_fields(const char *stat)
{
	const char *end = strrchr(stat, ')');

	return g_strsplit(end && end[1] ? end + 2 : "", " ", -1);
}

static json_int_t field_number(char **fields, guint at)
{
	return at < g_strv_length(fields) ? g_ascii_strtoll(fields[at], NULL, 10) : -1;
}

/* "NSpid:\t77\t5\t1": by all but the first, which is the one in this namespace. */
static json_t *inner_numbers(const char *status)
{
	const char *line = status ? strstr(status, "\nNSpid:") : NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) words = NULL;
	json_t *list;

	if (!line)
		return NULL;
	line += strlen("\nNSpid:");
	text = g_strndup(line, strcspn(line, "\n"));
	words = g_strsplit(g_strstrip(text), "\t", -1);
	if (g_strv_length(words) < 2)
		return NULL;
	list = json_array();
	for (char **word = words + 1; *word; word++)
		json_array_append_new(list, json_integer(g_ascii_strtoll(*word, NULL, 10)));
	return list;
}

static json_t *thread_of(const struct dump *dump, guint pid, guint tid)
{
	g_autofree char *stat = read_below(dump, "/proc/%u/task/%u/stat", pid, tid);
	g_autofree char *status = read_below(dump, "/proc/%u/task/%u/status", pid, tid);
	const char *begin = stat ? strchr(stat, '(') : NULL,
		   *end = stat ? strrchr(stat, ')') : NULL;
	g_autofree char *name = NULL;
	g_auto(GStrv) fields = NULL;
	json_t *thread, *inner;

	if (!begin || !end || end < begin) /* it has ended */
		return NULL;
	name = g_strndup(begin + 1, (gsize) (end - begin - 1));
	fields = stat_fields(stat);
	thread = json_pack("{s:i}", "tid", (int) tid);
	json_object_set_new(thread, "name", text_of(name));
	if (fields[0])
		json_object_set_new(thread, "state", json_string(fields[0]));
	if (field_number(fields, CPU_AT) >= 0)
		json_object_set_new(thread, "cpu", json_integer(field_number(fields, CPU_AT)));
	if ((inner = inner_numbers(status)))
		json_object_set_new(thread, "inner", inner);
	return thread;
}

static json_t *threads_of(const struct dump *dump, guint pid)
{
	g_autofree char *path = g_strdup_printf("%s/proc/%u/task", dump->root, pid);
	g_autoptr(GArray) tids = sorted_numbers_in(path);
	json_t *list = json_array();

	for (guint i = 0; tids && i < tids->len; i++) {
		json_t *thread = thread_of(dump, pid, g_array_index(tids, guint, i));

		if (thread)
			json_array_append_new(list, thread);
	}
	return list;
}

/* --- descriptors ---------------------------------------------------------------------- */

/* "tfd:        7 events:       19 data:         7f00aa" lines, of an epoll descriptor. */
static json_t *watched_of(const char *info)
{
	json_t *list = json_array();

	for (const char *at = strstr(info, "tfd:"); at; at = strstr(at + 1, "tfd:")) {
		const char *events = strstr(at, "events:"), *data = strstr(at, "data:");

		if (events && data)
			json_array_append_new(
				list,
				json_pack("{s:I, s:I, s:I}", "fd",
					  (json_int_t) g_ascii_strtoll(at + 4, NULL, 10), "events",
					  (json_int_t) g_ascii_strtoull(events + 7, NULL, 16),
					  "data",
					  (json_int_t) g_ascii_strtoull(data + 5, NULL, 16)));
	}
	return list;
}

static json_t *file_of(const struct dump *dump, guint pid, guint fd)
{
	g_autofree char *link = g_strdup_printf("%s/proc/%u/fd/%u", dump->root, pid, fd);
	g_autofree char *path = g_file_read_link(link, NULL), *info = NULL;
	const char *flags;
	json_t *file;

	if (!path)
		return NULL;
	file = json_pack("{s:i}", "fd", (int) fd);
	json_object_set_new(file, "path", text_of(path));
	info = read_below(dump, "/proc/%u/fdinfo/%u", pid, fd);
	flags = info ? strstr(info, "flags:") : NULL;
	if (flags)
		json_object_set_new(file, "flags",
				    json_integer(
					    (json_int_t) g_ascii_strtoull(flags + 6, NULL, 8)));
	if (info && strcmp(path, "anon_inode:[eventpoll]") == 0)
		json_object_set_new(file, "watched", watched_of(info));
	return file;
}

static json_t *files_of(struct dump *dump, guint pid)
{
	g_autofree char *path = g_strdup_printf("%s/proc/%u/fd", dump->root, pid);
	g_autoptr(GArray) fds = sorted_numbers_in(path);
	json_t *list = json_array();

	dump->refused += !fds && errno == EACCES;
	for (guint i = 0; fds && i < fds->len; i++) {
		json_t *file = file_of(dump, pid, g_array_index(fds, guint, i));

		if (file)
			json_array_append_new(list, file);
	}
	return list;
}

/* --- processes ------------------------------------------------------------------------ */

/* "0::/system.slice/x.service": of the one hierarchy that cgroup v2 has. */
static void add_cgroup(const struct dump *dump, guint pid, json_t *process)
{
	g_autofree char *text = read_below(dump, "/proc/%u/cgroup", pid);
	const char *line = text ? strstr(text, "0::") : NULL;
	g_autofree char *path = NULL;

	if (!line || (line != text && line[-1] != '\n'))
		return;
	path = g_strndup(line + 3, strcspn(line + 3, "\n"));
	json_object_set_new(process, "cgroup", text_of(path));
}

/* "net:[4026531840]" */
static void add_namespaces(struct dump *dump, guint pid, json_t *process)
{
	static const char *const kinds[] = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
	json_t *all = json_object();

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		g_autofree char *path =
			g_strdup_printf("%s/proc/%u/ns/%s", dump->root, pid, kinds[i]);
		g_autofree char *link = g_file_read_link(path, NULL);
		const char *number = link ? strchr(link, '[') : NULL;
		gint64 inode = number ? g_ascii_strtoll(number + 1, NULL, 10) : 0;

		if (!inode)
			continue;
		json_object_set_new(all, kinds[i], json_integer(inode));
		if (strcmp(kinds[i], "net") == 0 && !g_hash_table_contains(dump->networks, &inode))
			g_hash_table_insert(dump->networks, g_memdup2(&inode, sizeof inode),
					    g_strdup_printf("%u", pid));
	}
	if (json_object_size(all))
		json_object_set_new(process, "namespaces", all);
	else
		json_decref(all);
}

static void put_process(struct dump *dump, guint pid)
{
	g_autofree char *stat = read_below(dump, "/proc/%u/stat", pid);
	g_autofree char *exe_path = g_strdup_printf("%s/proc/%u/exe", dump->root, pid);
	g_autofree char *exe = g_file_read_link(exe_path, NULL);
	g_auto(GStrv) fields = NULL;
	json_t *process;

	if (!stat) /* it has ended */
		return;
	fields = stat_fields(stat);
	process = json_pack("{s:i, s:I, s:I}", "pid", (int) pid, "ppid",
			    field_number(fields, PARENT_AT), "time", now(CLOCK_MONOTONIC));
	if (field_number(fields, FLAGS_AT) > 0 && field_number(fields, FLAGS_AT) & KERNEL_FLAG)
		json_object_set_new(process, "kernel", json_true());
	add_cgroup(dump, pid, process);
	add_namespaces(dump, pid, process);
	if (exe)
		json_object_set_new(process, "exe", text_of(exe));
	json_object_set_new(process, "threads", threads_of(dump, pid));
	json_object_set_new(process, "files", files_of(dump, pid));
	put(dump, process);
}

static void put_processes(struct dump *dump)
{
	g_autofree char *path = g_strconcat(dump->root, "/proc", NULL);
	g_autoptr(GArray) pids = sorted_numbers_in(path);

	begin_list(dump, "processes");
	for (guint i = 0; pids && i < pids->len; i++)
		put_process(dump, g_array_index(pids, guint, i));
	end_list(dump);
}

static void put_sockets(struct dump *dump)
{
	g_autoptr(GList) inodes = g_hash_table_get_keys(dump->networks);

	begin_list(dump, "sockets");
	for (GList *at = inodes; at; at = at->next)
		sockets_of(dump->root, g_hash_table_lookup(dump->networks, at->data), put_socket,
			   dump);
	end_list(dump);
}

/* --- devices -------------------------------------------------------------------------- */

/* " 254        0    8388608 vda", after a heading */
static void put_block_devices(struct dump *dump)
{
	g_autofree char *text = read_below(dump, "/proc/partitions");
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);

	begin_list(dump, "block_devices");
	for (char **line = lines; *line; line++) {
		unsigned major, minor;
		char name[64];

		if (sscanf(*line, "%u %u %*s %63s", &major, &minor, name) == 3)
			put(dump, json_pack("{s:i, s:i, s:s}", "major", (int) major, "minor",
					    (int) minor, "name", name));
	}
	end_list(dump);
}

/* What /sys says acts on each: "virtio2-req.0", several with commas. */
static void put_interrupts(struct dump *dump)
{
	g_autofree char *path = g_strconcat(dump->root, "/sys/kernel/irq", NULL);
	g_autoptr(GArray) numbers = sorted_numbers_in(path);

	begin_list(dump, "interrupts");
	for (guint i = 0; numbers && i < numbers->len; i++) {
		guint irq = g_array_index(numbers, guint, i);
		g_autofree char *action = read_below(dump, "/sys/kernel/irq/%u/actions", irq);
		json_t *record;

		if (!action || !*g_strstrip(action))
			continue;
		record = json_pack("{s:i}", "irq", (int) irq);
		json_object_set_new(record, "action", text_of(action));
		put(dump, record);
	}
	end_list(dump);
}

static void put_interfaces(struct dump *dump)
{
	g_autofree char *path = g_strconcat(dump->root, "/sys/class/net", NULL);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	begin_list(dump, "interfaces");
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *index = read_below(dump, "/sys/class/net/%s/ifindex", name);
		json_t *record;

		if (!index)
			continue;
		record = json_pack("{s:I}", "index", (json_int_t) g_ascii_strtoll(index, NULL, 10));
		json_object_set_new(record, "name", text_of(name));
		put(dump, record);
	}
	if (dir)
		g_dir_close(dir);
	end_list(dump);
}

static void put_host(struct dump *dump)
{
	g_autofree char *name = read_below(dump, "/proc/sys/kernel/hostname");
	g_autofree char *boot = read_below(dump, "/proc/sys/kernel/random/boot_id");
	struct utsname system;
	json_t *host = json_object();

	if (uname(&system) == 0) {
		json_object_set_new(host, "name",
				    text_of(name ? g_strchomp(name) : system.nodename));
		json_object_set_new(host, "release", text_of(system.release));
		json_object_set_new(host, "version", text_of(system.version));
		json_object_set_new(host, "machine", text_of(system.machine));
	}
	json_object_set_new(host, "cpus", json_integer(sysconf(_SC_NPROCESSORS_CONF)));
	if (boot)
		json_object_set_new(host, "boot_id", text_of(g_strchomp(boot)));
	put_member(dump, "host", host);
}

static void put_notes(struct dump *dump)
{
	g_autofree char *text = NULL;

	begin_list(dump, "notes");
	if (dump->refused) {
		text = g_strdup_printf("the descriptors of %u processes may not be seen",
				       dump->refused);
		put(dump, json_string(text));
	}
	end_list(dump);
}

bool statedump_write(const char *root, const char *tracer, FILE *file)
{
	struct dump dump = {
		.root = root,
		.file = file,
		.ok = true,
		.networks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free)};

	fprintf(file, "{\"schema\":\"whylate-statedump-1\"");
	put_member(&dump, "tracer", json_string(tracer));
	put_member(&dump, "clock", json_string("mono"));
	put_member(&dump, "begin", times());
	put_host(&dump);
	put_processes(&dump);
	put_sockets(&dump);
	put_block_devices(&dump);
	put_interrupts(&dump);
	put_interfaces(&dump);
	put_notes(&dump);
	put_member(&dump, "end", times());
	fputs("\n}\n", file);
	g_hash_table_destroy(dump.networks);
	return dump.ok && !ferror(file);
}

bool statedump_record(const char *directory, const char *tracer, GError **error)
{
	g_autofree char *path = g_build_filename(directory, STATEDUMP, NULL);
	FILE *file = fopen(path, "w");
	bool ok = file && statedump_write("", tracer, file);

	if (file)
		ok = fclose(file) == 0 && ok;
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "cannot write %s: %s", path,
			    g_strerror(errno));
	return ok;
}
