/* SPDX-License-Identifier: MIT */
/* Page faults and what they are on; TIDs in arguments of system calls. Expectations are worked
 * out by hand from mmap(2), brk(2), clone(2), pid_namespaces(7) and docs/semantics.md ("Page
 * faults", "TIDs in system calls").
 */
#include "feed.h"

#define PAGE UINT64_C(0x1000)
#define LIBRARY UINT64_C(0x7f0000000000)
#define ANONYMOUS_FLAGS 0x22
#define MAPS_FILE 2
#define BOX 4026532201u

static void opens(struct feed *feed, int64_t time, const char *path, int32_t fd)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_openat");

	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, time + 1, 0, "openat", fd);
}

static void maps(struct feed *feed, int64_t time, uint64_t at, uint64_t length, uint64_t flags,
		 int32_t fd)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_mmap");

	event.syscall.length = length;
	event.syscall.flags = flags;
	event.syscall.fd = fd;
	send(feed, &event);
	leave(feed, time + 1, 0, "mmap", (int64_t) at);
}

static void unmaps(struct feed *feed, int64_t time, uint64_t at, uint64_t length)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_munmap");

	event.syscall.start = at;
	event.syscall.length = length;
	send(feed, &event);
	leave(feed, time + 1, 0, "munmap", 0);
}

static void breaks(struct feed *feed, int64_t time, uint64_t end)
{
	plain(feed, time, 0, "syscall_entry_brk");
	leave(feed, time + 1, 0, "brk", (int64_t) end);
}

static void executes(struct feed *feed, int64_t time, int32_t tid, const char *path)
{
	struct event event = event_of(feed, time, 0, "sched_process_exec");

	event.exec.tid = event.exec.old_tid = tid;
	event.exec.filename = path;
	send(feed, &event);
}

static void faults_as(struct feed *feed, int64_t time, uint64_t address, const char *name)
{
	struct event event = event_of(feed, time, 0, name);

	event.fault.address = address;
	send(feed, &event);
}

/* `tid` faults at `address` and sleeps in that from time + 1 to time + 2. */
static void sleeps_at(struct feed *feed, int64_t time, int32_t tid, uint64_t address)
{
	faults_as(feed, time, address, "x86_exceptions_page_fault_user");
	sw(feed, time + 1, 0, "a", tid, 2, "idle", 0);
	waking(feed, time + 2, 1, tid);
	sw(feed, time + 3, 0, "idle", 0, 0, "a", tid);
}

/* What the waits of `tid` in page faults were on: "heap file:/x -". */
static const char *on(struct feed *feed, int32_t tid, bool in_calls)
{
	GString *text = g_string_new(NULL);
	struct spans spans;
	struct span span;

	spans_begin(&spans, feed->session, life(feed, tid, 0), INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span)) {
		const struct block *block;
		uint32_t key;

		if (PACK_KIND(span.leaf) != (in_calls ? LEAF_BLOCK_SYSCALL : LEAF_BLOCK_FAULT))
			continue;
		block = block_at(&feed->session->trace.timeline, span.ref);
		key = in_calls ? block->fault : block->resource;
		g_string_append_printf(text, "%s%s", text->len ? " " : "",
				       key ? session_text(feed->session, key) : "-");
	}
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static void start(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
}

static void test_file(void)
{
	FEED(2);

	start(feed);
	opens(feed, 1, "/lib/x.so", 3);
	maps(feed, 3, LIBRARY, 4 * PAGE, MAPS_FILE, 3);
	entry(feed, 5, 0, "close", 3); /* the mapping stays */
	leave(feed, 6, 0, "close", 0);
	sleeps_at(feed, 10, 5, LIBRARY);
	sleeps_at(feed, 20, 5, LIBRARY + 4 * PAGE - 1);
	sleeps_at(feed, 30, 5, LIBRARY + 4 * PAGE); /* behind it: not known */
	unmaps(feed, 40, LIBRARY, 4 * PAGE);
	sleeps_at(feed, 50, 5, LIBRARY);
	g_assert_cmpstr(on(feed, 5, false), ==, "file:/lib/x.so file:/lib/x.so - -");
}

/* As the dynamic loader does it: all of the library, and its data over that. */
static void test_in_the_middle(void)
{
	FEED(2);

	start(feed);
	opens(feed, 1, "/lib/x.so", 3);
	maps(feed, 3, LIBRARY, 6 * PAGE, MAPS_FILE, 3);
	maps(feed, 5, LIBRARY + 2 * PAGE, PAGE, ANONYMOUS_FLAGS, -1);
	unmaps(feed, 7, LIBRARY + 4 * PAGE, 1); /* a page of it */
	sleeps_at(feed, 10, 5, LIBRARY + PAGE);
	sleeps_at(feed, 20, 5, LIBRARY + 2 * PAGE);
	sleeps_at(feed, 30, 5, LIBRARY + 3 * PAGE);
	sleeps_at(feed, 40, 5, LIBRARY + 4 * PAGE);
	sleeps_at(feed, 50, 5, LIBRARY + 5 * PAGE);
	g_assert_cmpstr(on(feed, 5, false), ==,
			"file:/lib/x.so anonymous file:/lib/x.so - file:/lib/x.so");
}

/* What exec maps is in no event: where it lies tells. */
static void test_program(void)
{
	FEED(2);

	start(feed);
	sleeps_at(feed, 5, 5, UINT64_C(0x555500001000)); /* before the exec: not known */
	executes(feed, 10, 5, "/bin/prog");
	sleeps_at(feed, 20, 5, UINT64_C(0x555500001000));
	sleeps_at(feed, 30, 5, LIBRARY + 9 * PAGE);
	maps(feed, 40, LIBRARY, PAGE, ANONYMOUS_FLAGS, -1);
	breaks(feed, 50, UINT64_C(0x555500010000));
	breaks(feed, 52, UINT64_C(0x555500020000));
	sleeps_at(feed, 60, 5, UINT64_C(0x55550000f000));
	sleeps_at(feed, 70, 5, UINT64_C(0x555500010000));
	sleeps_at(feed, 80, 5, UINT64_C(0x555500020000)); /* behind the heap */
	sleeps_at(feed, 90, 5, LIBRARY + 9 * PAGE);       /* above all that was mapped */
	sleeps_at(feed, 100, 5, LIBRARY - 9 * PAGE); /* below it: somebody's, not known whose */
	sleeps_at(feed, 110, 5, UINT64_C(0x7ffd00001000));
	g_assert_cmpstr(on(feed, 5, false), ==,
			"- file:/bin/prog loader file:/bin/prog heap - loader - stack");
}

/* A forked child has a copy, a thread the same. */
static void test_fork(void)
{
	FEED(2);

	start(feed);
	maps(feed, 1, LIBRARY, PAGE, ANONYMOUS_FLAGS, -1);
	forks(feed, 10, 0, 5, 50, 50);
	forks(feed, 11, 0, 5, 51, 5);
	opens(feed, 20, "/x", 3);
	maps(feed, 22, LIBRARY, PAGE, MAPS_FILE, 3);
	sw(feed, 30, 0, "a", 5, SLEEPS, "child", 50);
	sleeps_at(feed, 40, 50, LIBRARY);
	sw(feed, 50, 0, "child", 50, PREEMPTED, "child", 51);
	sleeps_at(feed, 60, 51, LIBRARY);
	g_assert_cmpstr(on(feed, 50, false), ==, "anonymous");
	g_assert_cmpstr(on(feed, 51, false), ==, "file:/x");
}

/* In a system call the state is the call's, and the fault is detail. */
static void test_in_call(void)
{
	FEED(2);

	start(feed);
	maps(feed, 1, LIBRARY, PAGE, ANONYMOUS_FLAGS, -1);
	entry(feed, 5, 0, "write", 7);
	faults_as(feed, 10, LIBRARY, "x86_exceptions_page_fault_kernel");
	sw(feed, 11, 0, "a", 5, 2, "idle", 0);
	waking(feed, 12, 1, 5);
	sw(feed, 13, 0, "idle", 0, 0, "a", 5);
	leave(feed, 14, 0, "write", 1);
	plain(feed, 20, 0, "other");
	g_assert_cmpstr(on(feed, 5, true), ==, "anonymous");
	g_assert_cmpstr(
		states(feed, 5), ==,
		"0 working/user, 1 working/syscall:mmap, 2 working/user, "
		"5 working/syscall:write, 11 blocked/syscall:write, 12 interrupted/wait-cpu, "
		"13 working/syscall:write, 14 working/user, 20");
}

/* Anonymous memory that a disk had was swapped out; a file's pages were not. */
static void test_swap(void)
{
	FEED(2);

	start(feed);
	maps(feed, 1, LIBRARY, PAGE, ANONYMOUS_FLAGS, -1);
	opens(feed, 3, "/x", 3);
	maps(feed, 5, LIBRARY + PAGE, PAGE, MAPS_FILE, 3);
	for (int64_t i = 0; i < 2; i++) {
		int64_t time = 10 + 20 * i;

		faults_as(feed, time, LIBRARY + (uint64_t) i * PAGE,
			  "x86_exceptions_page_fault_user");
		request(feed, time + 1, 0, "block_rq_issue", 5);
		sw(feed, time + 2, 0, "a", 5, 2, "idle", 0);
		irq(feed, time + 3, 0, "irq_handler_entry", 9);
		request(feed, time + 4, 0, "block_rq_complete", -1);
		waking(feed, time + 5, 0, 5);
		irq(feed, time + 6, 0, "irq_handler_exit", 9);
		sw(feed, time + 7, 0, "idle", 0, 0, "a", 5);
	}
	sleeps_at(feed, 60, 5, LIBRARY); /* no disk: not swapped */
	g_assert_cmpstr(on(feed, 5, false), ==, "swap file:/x anonymous");
}

/* One that makes no system calls and has no faults in user mode, as a worker of io_uring, never
 * returns there: its fault is over when it is switched out. */
static void test_never_returns(void)
{
	FEED(2);

	start(feed);
	faults_as(feed, 5, LIBRARY, "x86_exceptions_page_fault_kernel");
	sw(feed, 10, 0, "iou-wrk-5", 5, 2, "idle", 0);
	waking(feed, 20, 1, 5);
	sw(feed, 21, 0, "idle", 0, 0, "iou-wrk-5", 5);
	sw(feed, 30, 0, "iou-wrk-5", 5, 1, "idle", 0);
	waking(feed, 40, 1, 5);
	sw(feed, 41, 0, "idle", 0, 0, "iou-wrk-5", 5);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 blocked/unknown, 20 interrupted/wait-cpu, "
			"21 working/user, 30 blocked/unknown, 40 interrupted/wait-cpu, "
			"41 working/user, 50");
}

/* --- TIDs in system calls ---------------------------------------------------------------- */

/* Process 500 on CPU 0, in a PID namespace if `ns`. */
static void boxed(struct feed *feed, uint32_t ns)
{
	struct event event = event_of(feed, 0, 0, "lttng_statedump_process_pid_ns");

	sw(feed, 0, 0, "idle", 0, 0, "init", 500);
	sw(feed, 0, 1, "idle", 0, 0, "kthreadd", 2);
	if (!ns)
		return;
	event.process.tid = event.process.pid = 500;
	event.process.vtid = event.process.vpid = 1;
	event.process.level = 1;
	event.process.ns = ns;
	send(feed, &event);
}

static void makes_child(struct feed *feed, int64_t time, int32_t child, int64_t inner, bool told)
{
	const int64_t vtids[] = {child, inner};
	struct event event = event_of(feed, time, 0, "syscall_entry_clone");

	event.syscall.flags = 17;
	send(feed, &event);
	event = event_of(feed, time + 1, 0, "sched_process_fork");
	event.fork.parent_tid = event.fork.parent_pid = 500;
	event.fork.child_tid = event.fork.child_pid = child;
	event.fork.child_comm = "job";
	if (told) {
		event.fork.parent_ns = event.fork.child_ns = BOX;
		event.fork.vtids = (struct event_bytes) {(const uint8_t *) vtids, sizeof vtids};
	}
	send(feed, &event);
	leave(feed, time + 2, 0, "clone", inner);
}

static void waits_for(struct feed *feed, int64_t time, int64_t upid, int32_t which)
{
	struct event event =
		event_of(feed, time, 0, which < 0 ? "syscall_entry_wait4" : "syscall_entry_waitid");

	event.syscall.upid = upid;
	if (which >= 0)
		event.syscall.which = which;
	send(feed, &event);
	sw(feed, time + 1, 0, "init", 500, SLEEPS, "idle", 0);
	waking(feed, time + 2, 1, 500);
	sw(feed, time + 3, 0, "idle", 0, 0, "init", 500);
	leave(feed, time + 4, 0, which < 0 ? "wait4" : "waitid", which < 0 ? upid : 0);
}

/* TIDs of the children that 500 waited for: "700 -". */
static const char *waited(struct feed *feed)
{
	GString *text = g_string_new(NULL);
	struct spans spans;
	struct span span;

	spans_begin(&spans, feed->session, life(feed, 500, 0), INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span)) {
		uint32_t child;

		if (PACK_KIND(span.leaf) != LEAF_BLOCK_SYSCALL)
			continue;
		child = block_at(&feed->session->trace.timeline, span.ref)->child;
		if (text->len)
			g_string_append_c(text, ' ');
		if (is_thread(child))
			g_string_append_printf(
				text, "%d", model_thread(&feed->session->trace.model, child)->tid);
		else
			g_string_append_c(text, '-');
	}
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* wait4(2) means 2 of the caller's namespace, not kthreadd; 9 is nobody known there. */
static void test_inner(void)
{
	FEED(2);

	boxed(feed, BOX);
	makes_child(feed, 10, 700, 2, true);
	waits_for(feed, 20, 2, -1);
	waits_for(feed, 30, 9, -1);
	g_assert_cmpstr(waited(feed), ==, "700 -");
}

/* Its opposite: on the host the numbers are the events'. */
static void test_outer(void)
{
	FEED(2);

	boxed(feed, 0);
	makes_child(feed, 10, 700, 700, false);
	waits_for(feed, 20, 700, -1);
	waits_for(feed, 30, 700, 1);
	waits_for(feed, 40, 700, 3); /* P_PIDFD: a descriptor, no PID */
	g_assert_cmpstr(waited(feed), ==, "700 700 -");
}

/* Tracers before 2.7 say nothing of namespaces: clone's result, which is not the TID of the
 * fork's event, does. */
static void test_learned(void)
{
	FEED(2);

	boxed(feed, 0);
	makes_child(feed, 10, 700, 2, false);
	makes_child(feed, 20, 701, 3, false);
	waits_for(feed, 30, 3, -1);
	waits_for(feed, 40, 2, -1);
	waits_for(feed, 50, 6, -1);
	g_assert_cmpstr(waited(feed), ==, "701 700 -");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mappings/file", test_file);
	g_test_add_func("/mappings/in-the-middle", test_in_the_middle);
	g_test_add_func("/mappings/program", test_program);
	g_test_add_func("/mappings/fork", test_fork);
	g_test_add_func("/mappings/in-call", test_in_call);
	g_test_add_func("/mappings/swap", test_swap);
	g_test_add_func("/mappings/never-returns", test_never_returns);
	g_test_add_func("/numbers/inner", test_inner);
	g_test_add_func("/numbers/outer", test_outer);
	g_test_add_func("/numbers/learned", test_learned);
	return g_test_run();
}
