/* SPDX-License-Identifier: MIT */
/* Records of the kernel's own tracepoints, as literal bytes, to events: what the readers of
 * trace.dat and perf.data have in common; and calls whose addresses a probe tells.
 *
 * Formats are as tracefs of Linux 6.1 has them; expectations are from them, from the kernel's
 * tables of calls (unistd.h), and from semantics.md, "Traces of ftrace and perf".
 */
#include "feed.h"

#include "foreign/record_classes.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] =
	"name: sched_switch\nID: 314\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[TASK_COMM_LEN];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\tfield:struct of_later[2] later;\toffset:64;\tsize:24;\tsigned:0;\n"
	"print fmt: \"field:int trap;\toffset:0;\tsize:4;\"\n";

static const char enter_format[] =
	"name: sys_enter\nID: 9\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";

static const char exec_format[] =
	"name: sched_process_exec\nID: 12\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n";

static const char issue_format[] =
	"name: block_rq_issue\nID: 13\n" COMMON
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:0;\n";

static const char peer_format[] =
	"name: peer_address\nID: 14\n" COMMON "\tfield:u16 family;\toffset:8;\tsize:2;\tsigned:0;\n"
	"\tfield:u16 port;\toffset:10;\tsize:2;\tsigned:0;\n"
	"\tfield:u32 v4;\toffset:12;\tsize:4;\tsigned:0;\n";

static const char exit_format[] =
	"name: sys_exit\nID: 10\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";

static struct record_classes *classes_of(const struct feed *feed, enum syscall_abi abi)
{
	static const struct {
		const char *system, *text;
	} formats[] = {{"sched", switch_format},   {"raw_syscalls", enter_format},
		       {"sched", exec_format},     {"block", issue_format},
		       {"whylate_7", peer_format}, {"raw_syscalls", exit_format}};
	struct record_classes *classes = record_classes_new(sink_of(feed), abi);

	for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
		struct tracepoint *tracepoint = tracepoint_parse(formats[i].system, formats[i].text,
								 strlen(formats[i].text));

		g_assert_nonnull(tracepoint);
		record_classes_add(classes, tracepoint);
	}
	record_classes_declare(classes, NULL);
	return classes;
}

static struct event take(struct record_classes *classes, const void *bytes, size_t size)
{
	struct record record = {bytes, size, false};
	struct event event = {.time = 1};

	g_assert_true(record_classes_take(classes, &record, &event));
	return event;
}

struct head {
	uint16_t type;
	uint16_t flags;
	int32_t pid;
};

static void test_switch(void)
{
	FEED(1);
	struct record_classes *classes = classes_of(feed, ABI_X86_64);
	struct {
		struct head head;
		char prev_comm[16];
		int32_t prev_pid, prev_prio;
		int64_t prev_state;
		char next_comm[16];
		int32_t next_pid, next_prio;
	} bytes = {{314, 0, 5}, "a", 5, 120, 0x100, "sixteen letters!", 7, 98};
	struct record record = {(const uint8_t *) &bytes, sizeof bytes - 1, false};
	struct event event = take(classes, &bytes, sizeof bytes), other = {.time = 1};

	g_assert_cmpint(event.kind, ==, EV_SCHED_SWITCH);
	g_assert_true(event.has_tid);
	g_assert_cmpint(event.tid, ==, 5);
	g_assert_cmpstr(event.sched_switch.prev_comm, ==, "a");
	g_assert_cmpint(event.sched_switch.prev_state, ==, 0x100);
	g_assert_cmpstr(event.sched_switch.next_comm, ==, "sixteen letters!"); /* no zero */
	g_assert_cmpint(event.sched_switch.next_prio, ==, -2); /* real-time 1: -1 - 1 */
	g_assert_false(record_classes_take(classes, &record, &other)); /* too short */
	bytes.head.type = 99;
	record.size++;
	g_assert_false(record_classes_take(classes, &record, &other)); /* of no known kind */
	record_classes_free(classes);
}

static void test_calls(void)
{
	static const struct {
		const char *machine;
		int64_t openat; /* unistd.h of each */
	} machines[] = {{"x86_64", 257}, {"i686", 295},    {"aarch64", 56}, {"riscv64", 56},
			{"armv7l", 322}, {"ppc64le", 286}, {"s390x", 288}};
	FEED(1);

	for (guint i = 0; i < G_N_ELEMENTS(machines); i++) {
		struct record_classes *classes =
			classes_of(feed, event_abi_of_machine(machines[i].machine));
		struct {
			struct head head;
			int64_t id;
			uint64_t args[6];
		} bytes = {{9, 0, 5}, machines[i].openat, {(uint64_t) -100, 0x7f00, 0x80241, 0600}};
		struct event event = take(classes, &bytes, sizeof bytes);

		g_assert_cmpint(event.kind, ==, EV_SYSCALL_ENTRY);
		g_assert_cmpstr(intern_text(feed->session->trace.model.names, event.name), ==,
				"syscall_entry_openat");
		g_assert_cmpint(event.syscall.dfd, ==, -100);
		g_assert_cmpuint(event.syscall.flags, ==, 0x80241);
		g_assert_null(event.syscall.filename); /* an address: not recorded */
		bytes.id = 5000;
		event = take(classes, &bytes, sizeof bytes);
		g_assert_cmpint(event.syscall.id, ==, 5000); /* no name: the number stays */
		record_classes_free(classes);
	}
	g_assert_cmpint(event_abi_of_machine("sparc64"), ==, ABI_UNKNOWN);
}

static void test_texts(void)
{
	FEED(1);
	struct record_classes *classes = classes_of(feed, ABI_X86_64);
	struct {
		struct head head;
		uint32_t where;
		int32_t pid, old_pid;
		char text[12];
	} exec = {{12, 0, 5}, 20 | 9u << 16, 5, 4, "/bin/xyz"};
	struct {
		struct head head;
		uint32_t dev, hole;
		uint64_t sector;
		uint32_t sectors;
		char rwbs[8];
	} issue = {{13, 0, 6}, 254u << 20, 0, 2048, 8, "FWFS"};
	struct event event = take(classes, &exec, sizeof exec);

	g_assert_cmpstr(event.exec.filename, ==, "/bin/xyz");
	g_assert_cmpint(event.exec.old_tid, ==, 4);
	exec.where = 20 | 200u << 16; /* past its end: not there */
	event = take(classes, &exec, sizeof exec);
	g_assert_null(event.exec.filename);
	/* lttng-events.md 1.4: 1 write, 32 sync, 512 FUA, 1024 preflush */
	event = take(classes, &issue, sizeof issue);
	g_assert_cmphex(event.block.rwbs, ==, 1 | 32 | 512 | 1024);
	g_assert_cmpint(event.block.tid, ==, 6);
	memcpy(issue.rwbs, "FF", 3);
	g_assert_cmphex(take(classes, &issue, sizeof issue).block.rwbs, ==, 256 | 1024);
	memcpy(issue.rwbs, "RAM", 4);
	g_assert_cmphex(take(classes, &issue, sizeof issue).block.rwbs, ==, 4 | 8 | 64);
	record_classes_free(classes);
}

/* Whose address accept() gives back goes with its exit, and with that thread's only. */
static void test_peer(void)
{
	FEED(1);
	struct record_classes *classes = classes_of(feed, ABI_X86_64);
	struct {
		struct head head;
		int64_t id;
		uint64_t args[6];
	} entry = {{9, 0, 5}, 43, {3}}; /* accept */
	struct {
		struct head head;
		uint16_t family;
		uint8_t port[2], address[4];
	} peer = {{14, 0, 5}, 2, {0x1b, 0x58}, {10, 9, 0, 2}};
	struct {
		struct head head;
		int64_t id, ret;
	} end = {{10, 0, 6}, 43, 4};
	struct event event;

	take(classes, &entry, sizeof entry);
	g_assert_cmpint(take(classes, &peer, sizeof peer).kind, ==, EV_OTHER);
	event = take(classes, &end, sizeof end);
	g_assert_cmpuint(event.syscall.v4.count, ==, 0); /* another thread's */
	end.head.pid = 5;
	event = take(classes, &end, sizeof end);
	g_assert_cmpuint(event.syscall.port, ==, 7000);
	g_assert_cmpmem(event.syscall.v4.bytes, event.syscall.v4.count, "\x0a\x09\x00\x02", 4);
	take(classes, &entry, sizeof entry); /* the next call was told nothing */
	event = take(classes, &end, sizeof end);
	g_assert_cmpuint(event.syscall.v4.count, ==, 0);
	record_classes_free(classes);
}

/* What the open call was given: told behind its entry, it is as if the entry had said it. */
static void test_told(void)
{
	FEED(1);
	struct event event;

	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	plain(feed, 20, 0, "syscall_entry_openat");
	event = event_of(feed, 21, 0, "call_file_name");
	event.syscall.filename = "/etc/x";
	event.syscall.dfd = -100;
	send(feed, &event);
	event = event_of(feed, 22, 0, "call_file_name"); /* a second one is not the call's */
	event.syscall.filename = "/etc/y";
	send(feed, &event);
	sw(feed, 30, 0, "a", 5, SLEEPS, "idle", 0);
	wake(feed, 40, 0, "sched_waking", 5);
	sw(feed, 50, 0, "idle", 0, 0, "a", 5);
	event = event_of(feed, 60, 0, "syscall_exit_openat");
	event.syscall.ret = 3;
	send(feed, &event);
	event = event_of(feed, 61, 0, "call_file_name"); /* in no call: of nothing */
	event.syscall.filename = "/etc/z";
	send(feed, &event);
	event = event_of(feed, 70, 0, "syscall_entry_read");
	event.syscall.fd = 3;
	send(feed, &event);
	sw(feed, 80, 0, "a", 5, SLEEPS, "idle", 0);
	wake(feed, 90, 0, "sched_waking", 5);
	sw(feed, 100, 0, "idle", 0, 0, "a", 5);
	event = event_of(feed, 110, 0, "syscall_exit_read");
	event.syscall.ret = 1;
	send(feed, &event);
	finish(feed);
	g_assert_cmpstr(resource_of(feed, 5, 0), ==, "file:/etc/x");
	g_assert_cmpstr(resource_of(feed, 5, 1), ==, "file:/etc/x");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/foreign/switch", test_switch);
	g_test_add_func("/foreign/calls", test_calls);
	g_test_add_func("/foreign/texts", test_texts);
	g_test_add_func("/foreign/peer", test_peer);
	g_test_add_func("/foreign/told", test_told);
	return g_test_run();
}
