/* SPDX-License-Identifier: MIT */
/* What the tracers of the kernel itself are asked for, and what of /proc is kept beside their
 * traces, with small trees of files in place of the kernel's: expectations are read off them, by
 * proc(5) and Documentation/trace/kprobetrace.rst.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "statedump/proc_dump.h"
#include "tracefs/kprobes.h"
#include "tracefs/tracefs.h"
#include "tracefs/tracepoints.h"

static char *root;

static void put(const char *path, const char *text)
{
	g_autofree char *full = g_build_filename(root, path, NULL);
	g_autofree char *directory = g_path_get_dirname(full);

	g_assert_cmpint(g_mkdir_with_parents(directory, 0755), ==, 0);
	g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static void put_link(const char *path, const char *to)
{
	g_autofree char *full = g_build_filename(root, path, NULL);
	g_autofree char *directory = g_path_get_dirname(full);

	g_assert_cmpint(g_mkdir_with_parents(directory, 0755), ==, 0);
	g_assert_cmpint(symlink(to, full), ==, 0);
}

static void begin(void)
{
	root = g_dir_make_tmp("tracefs-XXXXXX", NULL);
	g_assert_nonnull(root);
}

static void end(void)
{
	const char *line[] = {"rm", "-rf", root, NULL};

	g_assert_true(g_spawn_sync(NULL, (char **) line, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
				   NULL, NULL, NULL, NULL));
	g_clear_pointer(&root, g_free);
}

static char *joined(GPtrArray *list)
{
	char *text;

	g_ptr_array_add(list, NULL);
	text = g_strjoinv(" ", (char **) list->pdata);
	g_ptr_array_unref(list);
	return text;
}

/* --- events --------------------------------------------------------------------------- */

/* Only what there is; not the files that are beside the events. */
static void finds_events(void)
{
	g_autofree char *minimal = NULL, *normal = NULL;

	begin();
	put("events/sched/sched_switch/format", "");
	put("events/sched/sched_process_exit/format", "");
	put("events/sched/sched_process_fork/format", "");
	put("events/sched/sched_process_other", "");
	put("events/sched/sched_stat_wait/format", "");
	put("events/raw_syscalls/sys_exit/format", "");
	put("events/raw_syscalls/enable", "0");
	minimal = joined(tracepoints_of(root, 0, false, false));
	normal = joined(tracepoints_of(root, 1, false, false));
	g_assert_cmpstr(minimal, ==,
			"sched:sched_switch sched:sched_process_exit sched:sched_process_fork");
	g_assert_cmpstr(normal, ==,
			"sched:sched_switch sched:sched_process_exit sched:sched_process_fork "
			"raw_syscalls:sys_exit");
	end();
}

/* --- probes ----------------------------------------------------------------------------- */

static const char symbols[] =
	"0000000000000000 T do_filp_open_other\n"
	"0000000000000000 T do_filp_open\n"
	"0000000000000000 D __sys_connect_file\n"
	"0000000000000000 t security_socket_connect\n"
	"0000000000000000 t move_addr_to_user\t[net]\n";

/* $arg1 where the kernel knows it; another function where the first is none. */
static void makes_probes(void)
{
	g_autoptr(GPtrArray) lines = NULL;
	g_autofree char *name = NULL;

	begin();
	put("events/header_page", "");
	put("kprobe_events", "");
	put("README", "\t args: $stack<index>, $stack, $retval, $comm, $arg<N>,\n");
	lines = probes_of(root, "whylate_7", symbols, "x86_64");
	g_assert_cmpuint(lines->len, ==, 3);
	g_assert_cmpstr(lines->pdata[0], ==,
			"p:whylate_7/file_name do_filp_open name=+0(+0($arg2)):string");
	g_assert_true(g_str_has_prefix(lines->pdata[1],
				       "p:whylate_7/connect security_socket_connect "
				       "family=+0($arg2):u16 port=+2($arg2):u16 v4=+4($arg2):u32"));
	g_assert_true(
		g_str_has_prefix(lines->pdata[2],
				 "p:whylate_7/peer_address move_addr_to_user family=+0($arg1)"));
	name = probe_name(lines->pdata[2]);
	g_assert_cmpstr(name, ==, "whylate_7/peer_address");
	end();
}

static void makes_old_probes(void)
{
	g_autoptr(GPtrArray) amd = NULL, arm = NULL, other = NULL, none = NULL;

	begin();
	put("events/header_page", "");
	put("kprobe_events", "");
	put("README", "\t args: $stack<index>, $stack, $retval, $comm\n");
	amd = probes_of(root, "g", symbols, "x86_64");
	arm = probes_of(root, "g", symbols, "aarch64");
	other = probes_of(root, "g", symbols, "vax");
	g_assert_cmpstr(amd->pdata[0], ==, "p:g/file_name do_filp_open name=+0(+0(%si)):string");
	g_assert_cmpstr(arm->pdata[0], ==, "p:g/file_name do_filp_open name=+0(+0(%x1)):string");
	g_assert_cmpuint(other->len, ==, 0); /* nobody knows where its arguments are */
	end();
	begin(); /* a kernel without kprobes */
	put("events/header_page", "");
	none = probes_of(root, "g", symbols, "x86_64");
	g_assert_cmpuint(none->len, ==, 0);
	end();
}

/* --- steps ----------------------------------------------------------------------------- */

static void takes_steps(void)
{
	struct step make = {STEP_MAKE, false, (char *) "instances/x", NULL};
	struct step on = {STEP_WRITE, false, (char *) "tracing_on", (char *) "0"};
	struct step add = {STEP_APPEND, false, (char *) "set_event", (char *) "a:b"};
	struct step absent = {STEP_WRITE, true, (char *) "nothing/there", (char *) "1"};
	g_autoptr(GError) error = NULL;
	g_autofree char *line = NULL, *events = NULL, *state = NULL;

	begin();
	put("instances/none", "");
	put("tracing_on", "1");
	put("set_event", "c:d\n");
	g_assert_true(tracefs_run_step(root, &make, NULL));
	g_assert_false(tracefs_run_step(root, &make, &error)); /* it is there */
	g_assert_nonnull(strstr(error->message, "File exists"));
	g_assert_true(tracefs_run_step(root, &on, NULL));
	g_assert_true(tracefs_run_step(root, &add, NULL));
	g_assert_true(tracefs_run_step(root, &absent, NULL)); /* tried */
	state = tracefs_read(root, "tracing_on", NULL);
	events = tracefs_read(root, "set_event", NULL);
	g_assert_cmpstr(state, ==, "0");
	g_assert_cmpstr(events, ==, "c:d\na:b");
	line = tracefs_step_line("/t", &add);
	g_assert_cmpstr(line, ==, "echo 'a:b' >>/t/set_event");
	end();
}

/* --- what there was ---------------------------------------------------------------------- */

static json_t *dumped(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	json_error_t error;
	json_t *dump;

	g_assert_true(statedump_write(root, "ftrace", file));
	fclose(file);
	dump = json_loads(text, 0, &error);
	if (!dump)
		g_error("%s: %s", error.text, text);
	free(text);
	return dump;
}

static json_t *member(json_t *dump, const char *list, size_t at)
{
	return json_array_get(json_object_get(dump, list), at);
}

static const char *text_at(json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static json_int_t number_at(json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* The 37th field behind the name is the CPU; flags, the 7th, have PF_KTHREAD or not. */
#define STAT(tid, name, state, parent, flags, cpu)                                                 \
	tid " (" name ") " state " " parent " 1 1 0 -1 " flags                                     \
	    " 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 " cpu \
	    " 0 0 0 0 0\n"

static void put_process(void)
{
	put("proc/77/stat", STAT("77", "a) R (b", "S", "5", "4194560", "3"));
	put("proc/77/cgroup", "1:name=systemd:/old\n0::/system.slice/x.service\n");
	put_link("proc/77/ns/net", "net:[4026531840]");
	put_link("proc/77/ns/pid", "pid:[4026531836]");
	put_link("proc/77/exe", "/usr/bin/x");
	put("proc/77/task/77/stat", STAT("77", "a) R (b", "S", "5", "4194560", "3"));
	put("proc/77/task/77/status", "Name:\ta\nNSpid:\t77\t9\t1\nVmPeak:\t1 kB\n");
	put("proc/77/task/80/stat", STAT("80", "bytes \xff", "D", "5", "4194560", "0"));
	put("proc/77/task/80/status", "Name:\tb\nNSpid:\t80\n");
	put_link("proc/77/fd/4", "anon_inode:[eventpoll]");
	put("proc/77/fdinfo/4",
	    "pos:\t0\nflags:\t02000002\nmnt_id:\t15\n"
	    "tfd:        7 events:       19 data:             7f00aa  pos:0 ino:1\n"
	    "tfd:       12 events: 80000001 data: ffffffff00000001  pos:0 ino:1\n");
	put_link("proc/77/fd/10", "socket:[1234]");
	put("proc/2/stat", STAT("2", "kthreadd", "S", "0", "2129984", "1"));
	put("proc/2/task/2/stat", STAT("2", "kthreadd", "S", "0", "2129984", "1"));
}

static void dumps_processes(void)
{
	json_t *dump, *process, *thread, *file, *watched;

	begin();
	put_process();
	dump = dumped();
	g_assert_cmpuint(json_array_size(json_object_get(dump, "processes")), ==, 2);
	process = member(dump, "processes", 0);
	g_assert_cmpint(number_at(process, "pid"), ==, 2);
	g_assert_true(json_is_true(json_object_get(process, "kernel")));
	process = member(dump, "processes", 1);
	g_assert_cmpint(number_at(process, "ppid"), ==, 5);
	g_assert_null(json_object_get(process, "kernel"));
	g_assert_cmpstr(text_at(process, "cgroup"), ==, "/system.slice/x.service");
	g_assert_cmpstr(text_at(process, "exe"), ==, "/usr/bin/x");
	g_assert_cmpint(number_at(json_object_get(process, "namespaces"), "pid"), ==,
			INT64_C(4026531836));
	thread = member(process, "threads", 0);
	g_assert_cmpstr(text_at(thread, "name"), ==, "a) R (b");
	g_assert_cmpstr(text_at(thread, "state"), ==, "S");
	g_assert_cmpint(number_at(thread, "cpu"), ==, 3);
	g_assert_cmpint(json_integer_value(member(thread, "inner", 0)), ==, 9);
	g_assert_cmpint(json_integer_value(member(thread, "inner", 1)), ==, 1);
	thread = member(process, "threads", 1);
	g_assert_cmpstr(text_at(thread, "name"), ==, "bytes \xef\xbf\xbd");
	g_assert_cmpstr(text_at(thread, "state"), ==, "D");
	g_assert_null(json_object_get(thread, "inner")); /* it has no other number */
	file = member(process, "files", 0);
	g_assert_cmpint(number_at(file, "fd"), ==, 4);
	g_assert_cmpint(number_at(file, "flags"), ==, 02000002);
	watched = member(file, "watched", 1);
	g_assert_cmpint(number_at(watched, "fd"), ==, 12);
	g_assert_cmpint(number_at(watched, "events"), ==, 0x80000001);
	g_assert_cmphex((uint64_t) number_at(watched, "data"), ==, UINT64_C(0xffffffff00000001));
	g_assert_cmpstr(text_at(member(process, "files", 1), "path"), ==, "socket:[1234]");
	json_decref(dump);
	end();
}

/* Words of an address are as they are in the memory of the machine that prints them. */
static void dumps_sockets(void)
{
	const bool little = G_BYTE_ORDER == G_LITTLE_ENDIAN;
	g_autofree char *tcp = NULL;
	json_t *dump, *list;

	begin();
	put_process();
	tcp = g_strdup_printf(
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   "
		"uid\n"
		"   0: %s:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 1234 "
		"1\n"
		"   1: %s:1F90 %s:D431 01 00000000:00000000 00:00000000 00000000  0 0 1235 1\n"
		"   2: %s:1F90 %s:D432 06 00000000:00000000 00:00000000 00000000  0 0 0 1\n",
		little ? "0100007F" : "7F000001", little ? "0100007F" : "7F000001",
		little ? "0200000A" : "0A000002", little ? "0100007F" : "7F000001",
		little ? "0200000A" : "0A000002");
	put("proc/77/net/tcp", tcp);
	put("proc/77/net/unix",
	    "Num       RefCount Protocol Flags    Type St Inode Path\n"
	    "0000000000000000: 00000002 00000000 00010000 0001 01   555 /run/a b\n"
	    "0000000000000000: 00000003 00000000 00000000 0001 03   556\n");
	dump = dumped();
	list = json_object_get(dump, "sockets");
	g_assert_cmpuint(json_array_size(list), ==, 4);
	g_assert_cmpstr(text_at(json_array_get(list, 0), "local"), ==, "127.0.0.1:8080");
	g_assert_cmpstr(text_at(json_array_get(list, 0), "state"), ==, "listen");
	g_assert_null(json_object_get(json_array_get(list, 0), "peer"));
	g_assert_cmpstr(text_at(json_array_get(list, 1), "peer"), ==, "10.0.0.2:54321");
	g_assert_cmpint(number_at(json_array_get(list, 1), "inode"), ==, 1235);
	g_assert_cmpstr(text_at(json_array_get(list, 2), "local"), ==, "/run/a b");
	g_assert_cmpstr(text_at(json_array_get(list, 2), "state"), ==, "listen");
	g_assert_null(json_object_get(json_array_get(list, 3), "local"));
	json_decref(dump);
	end();
}

static void dumps_devices(void)
{
	json_t *dump;

	begin();
	put("proc/partitions", "major minor  #blocks  name\n\n 254        0    8388608 vda\n"
			       " 254        1    8387584 vda1\n");
	put("sys/kernel/irq/25/actions", "virtio2-req.0\n");
	put("sys/kernel/irq/9/actions", "\n"); /* nobody's */
	put("sys/class/net/eth0/ifindex", "4\n");
	dump = dumped();
	g_assert_cmpint(number_at(member(dump, "block_devices", 1), "minor"), ==, 1);
	g_assert_cmpstr(text_at(member(dump, "block_devices", 1), "name"), ==, "vda1");
	g_assert_cmpuint(json_array_size(json_object_get(dump, "interrupts")), ==, 1);
	g_assert_cmpint(number_at(member(dump, "interrupts", 0), "irq"), ==, 25);
	g_assert_cmpstr(text_at(member(dump, "interrupts", 0), "action"), ==, "virtio2-req.0");
	g_assert_cmpint(number_at(member(dump, "interfaces", 0), "index"), ==, 4);
	g_assert_cmpuint(json_array_size(json_object_get(dump, "processes")), ==, 0);
	json_decref(dump);
	end();
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tracefs/events", finds_events);
	g_test_add_func("/tracefs/probes", makes_probes);
	g_test_add_func("/tracefs/probes of old kernels", makes_old_probes);
	g_test_add_func("/tracefs/steps", takes_steps);
	g_test_add_func("/statedump/processes", dumps_processes);
	g_test_add_func("/statedump/sockets", dumps_sockets);
	g_test_add_func("/statedump/devices", dumps_devices);
	return g_test_run();
}
