/* SPDX-License-Identifier: MIT */
/* The file `settings` of a small system that is made for this: each line follows from a file here,
 * or is not there as man/whylate-record.man says.
 */
#include "record/settings.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *root, const char *path, const char *text, int mode)
{
	g_autofree char *full = g_strconcat(root, path, NULL), *dir = g_path_get_dirname(full);

	g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
	g_assert_true(g_file_set_contents(full, text, -1, NULL));
	g_assert_cmpint(g_chmod(full, mode), ==, 0);
}

static char *made(const char *root, char *const *program)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	settings_write(root, program, file);
	fclose(file);
	return text;
}

static bool has(const char *text, const char *line)
{
	g_autofree char *whole = g_strconcat("\n", line, "\n", NULL);

	return strstr(text, whole) != NULL;
}

static void test_lines(void)
{
	static const char service[] = "serve\0-c\0/srv/own.conf\0near.yml\0other.txt\0token=x";
	g_autofree char *root = g_dir_make_tmp("settings-XXXXXX", NULL), *text = NULL, *path = NULL;
	char words[][24] = {"/bin/serve", "--port=80", "--db-password=hush", "/srv/rows.txt"};
	char *const program[] = {words[0], words[1], words[2], words[3], NULL};
	static const char environment[] = "MALLOC_ARENA_MAX=1\0AWS_KEY=hush\0PATH=/bin";

	put(root, "/proc/sys/vm/dirty_ratio", "20\n", 0644);
	put(root, "/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n", 0644);
	put(root, "/proc/sys/fs/file-nr", "1\t2\t3\n", 0444);
	put(root, "/proc/cmdline", "root=/dev/vda quiet\n", 0444);
	put(root, "/proc/mounts", "/dev/vda / ext4 rw,noatime 0 0\n", 0444);
	put(root, "/sys/block/vda/queue/scheduler", "[none] mq-deadline\n", 0644);
	put(root, "/sys/block/loop0/queue/scheduler", "[none]\n", 0644);
	put(root, "/sys/fs/cgroup/web/cpu.max", "20000 100000\n", 0644);
	put(root, "/sys/fs/cgroup/web/memory.max", "max\n", 0644);
	put(root, "/etc/app/app.conf", "abc", 0640);
	put(root, "/etc/app/key.pem", "abc", 0600);
	put(root, "/etc/shadow", "abc", 0640);
	put(root, "/srv/own.conf", "abc", 0644);
	put(root, "/proc/7/cmdline", "serve", 0444);
	path = g_strconcat(root, "/proc/7/cmdline", NULL);
	g_assert_true(g_file_set_contents(path, service, sizeof service, NULL));
	put(root, "/proc/7/comm", "serve\n", 0444);
	put(root, "/proc/7/environ", "", 0444);
	g_free(path);
	path = g_strconcat(root, "/proc/7/environ", NULL);
	g_assert_true(g_file_set_contents(path, environment, sizeof environment, NULL));
	g_free(path);
	path = g_strconcat(root, "/proc/7/cwd", NULL);
	g_assert_cmpint(symlink("/srv", path), ==, 0);
	put(root, "/srv/near.yml", "abc", 0644);
	put(root, "/srv/rows.txt", "abc", 0644);
	put(root, "/srv/other.txt", "abc", 0644);
	put(root, "/bin/serve", "abc", 0755);
	put(root, "/proc/2/cmdline", "", 0444);
	put(root, "/proc/2/comm", "kthreadd\n", 0444);
	text = made(root, program);
	g_assert_true(
		has(text,
		    "program\tcommand line\t/bin/serve --port=80 --db-password=*** /srv/rows.txt"));
	g_assert_true(has(text, "program\texecutable\tba7816bf8f01cfea"));
	g_assert_true(has(text, "sysctl\tvm.dirty_ratio\t20"));
	g_assert_true(has(text, "sysctl\tnet.ipv4.tcp_rmem\t4096 131072 6291456"));
	g_assert_null(strstr(text, "file-nr"));
	g_assert_true(has(text, "kernel\tcommand line\troot=/dev/vda quiet"));
	g_assert_true(has(text, "mount\t/\text4 /dev/vda rw,noatime"));
	g_assert_true(has(text, "block\tvda/scheduler\t[none] mq-deadline"));
	g_assert_null(strstr(text, "loop0"));
	g_assert_true(has(text, "cgroup\t/web/cpu.max\t20000 100000"));
	g_assert_null(strstr(text, "memory.max"));
	/* echo -n abc | sha256sum */
	g_assert_true(has(text, "file\t/etc/app/app.conf\tba7816bf8f01cfea"));
	g_assert_true(has(text, "file\t/srv/own.conf\tba7816bf8f01cfea"));
	g_assert_null(strstr(text, "key.pem"));
	g_assert_null(strstr(text, "shadow"));
	g_assert_true(
		has(text, "process\tserve\tserve -c /srv/own.conf near.yml other.txt token=***"));
	g_assert_true(has(text, "environment\tserve: MALLOC_ARENA_MAX\t1"));
	g_assert_null(strstr(text, "serve: PATH"));
	/* what the program is given, whatever it is; of other processes configuration alone */
	g_assert_true(has(text, "file\t/srv/rows.txt\tba7816bf8f01cfea"));
	g_assert_true(has(text, "file\t/srv/near.yml\tba7816bf8f01cfea"));
	g_assert_null(strstr(text, "file\t/srv/other.txt"));
	g_assert_null(strstr(text, "kthreadd"));
	g_assert_null(strstr(text, "hush"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/settings-file/lines", test_lines);
	return g_test_run();
}
