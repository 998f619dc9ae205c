/* SPDX-License-Identifier: MIT */
/* Containers: who is in which namespace, and --container. Expectations are worked
 * out by hand from pid_namespaces(7), cgroup_namespaces(7) and lttng-events.md:
 * a process is visible in its PID namespace and in those around it, with an id in
 * each; the statedump tells the innermost first, a fork the host's first.
 */
#include "feed.h"

#include "run/containers.h"
#include "model/container.h"

#define HOST_NS HOST_PID_NS
#define BOX 4026532201u    /* in the host's */
#define INNER 4026532305u  /* in BOX */
#define OTHER 4026532410u  /* in the host's */
#define CGROUP 4026532500u

/* A record of the statedump: process state, and one per level after it. */
static void dumped(struct feed *feed, int64_t time, int32_t tid, int32_t pid, const char *name)
{
	struct event event = event_of(feed, time, 0, "lttng_statedump_process_state");

	event.process.tid = tid;
	event.process.pid = pid;
	event.process.name = name;
	event.process.status = 5;
	send(feed, &event);
}

static void in_pid_ns(struct feed *feed, int64_t time, const char *name, int32_t tid, int level,
		      uint32_t ns, int32_t vtid, int32_t vpid)
{
	struct event event = event_of(feed, time, 0, name);

	event.process.tid = tid;
	event.process.vtid = vtid;
	event.process.vpid = vpid;
	event.process.level = level;
	event.process.ns = ns;
	event.process.pid = event.kind == EV_STATEDUMP_PROCESS ? tid : -1;
	event.process.status = 5;
	send(feed, &event);
}

static void in_cgroup_ns(struct feed *feed, int64_t time, int32_t tid, uint32_t ns)
{
	in_pid_ns(feed, time, "lttng_statedump_process_cgroup_ns", tid, -1, ns, 0, 0);
}

#define PID_NS "lttng_statedump_process_pid_ns"
#define OLD_STATE "lttng_statedump_process_state"

static void born_in(struct feed *feed, int64_t time, int32_t parent, uint32_t parent_ns,
		    int32_t child, int32_t child_pid, uint32_t child_ns, int levels,
		    const int64_t *vtids)
{
	struct event event = event_of(feed, time, 0, "sched_process_fork");

	event.fork.parent_tid = event.fork.parent_pid = parent;
	event.fork.parent_ns = parent_ns;
	event.fork.child_tid = child;
	event.fork.child_pid = child_pid;
	event.fork.child_ns = child_ns;
	event.fork.child_comm = "child";
	event.fork.vtids =
		(struct event_bytes) {(const uint8_t *) vtids, (uint32_t) levels * sizeof *vtids};
	send(feed, &event);
}

/* The host's init (1), and a container: its process 1 is 500 with thread 501,
 * which it calls 7; 600 is 1 in one inside it, and 9 in between. */
static void dump_all(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "dumper", 50);
	dumped(feed, 10, 1, 1, "init");
	in_pid_ns(feed, 10, PID_NS, 1, 0, HOST_NS, 1, 1);
	in_cgroup_ns(feed, 10, 1, HOST_CGROUP_NS);
	dumped(feed, 20, 500, 500, "nginx");
	in_pid_ns(feed, 20, PID_NS, 500, 1, BOX, 1, 1);
	in_pid_ns(feed, 20, PID_NS, 500, 0, HOST_NS, 500, 500);
	in_cgroup_ns(feed, 20, 500, CGROUP);
	dumped(feed, 21, 501, 500, "worker");
	in_pid_ns(feed, 21, PID_NS, 501, 1, BOX, 7, 1);
	in_pid_ns(feed, 21, PID_NS, 501, 0, HOST_NS, 501, 500);
	in_cgroup_ns(feed, 21, 501, CGROUP);
	dumped(feed, 30, 600, 600, "app");
	in_pid_ns(feed, 30, PID_NS, 600, 2, INNER, 1, 1);
	in_pid_ns(feed, 30, PID_NS, 600, 1, BOX, 9, 9);
	in_pid_ns(feed, 30, PID_NS, 600, 0, HOST_NS, 600, 600);
	dumped(feed, 40, 700, 700, "other");
	in_pid_ns(feed, 40, PID_NS, 700, 1, OTHER, 7, 7);
	in_pid_ns(feed, 40, PID_NS, 700, 0, HOST_NS, 700, 700);
	in_cgroup_ns(feed, 40, 700, HOST_CGROUP_NS);
	dumped(feed, 50, 50, 50, "dumper");
	in_pid_ns(feed, 50, PID_NS, 50, 0, HOST_NS, 50, 50);
}

static void set(struct feed *feed, const char *name, const char *value)
{
	GError *error = NULL;

	options_set(&feed->options, name, value, &error);
	g_assert_no_error(error);
}

/* Ends the run: "TID TID …" of the threads selected, or the error. */
static const char *selected(struct feed *feed)
{
	GString *text = g_string_new(NULL);
	GError *error = NULL;

	plain(feed, 1000, 0, "other");
	feed->finished = true;
	if (!session_finish(feed->session, &error))
		g_string_append(text, error->message);
	for (guint i = 0; !error && i < feed->session->asked.selected->len; i++)
		g_string_append_printf(
			text, "%s%d", i ? " " : "",
			model_thread(&feed->session->trace.model,
				     g_array_index(feed->session->asked.selected, uint32_t, i))
				->tid);
	g_clear_error(&error);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* "VTID/VPID in NS" of the newest life of `tid`, "host" for the host's. */
static const char *inner(struct feed *feed, int32_t tid)
{
	const struct model *model = &feed->session->trace.model;
	const struct thread *thread =
		model_thread(model,
			     idmap_get(&model_host(model, feed->host)->tids, (uint32_t) tid));
	const struct place *place = thread_place(model, thread);
	struct ids ids;

	if (!thread_inner_ids(model, thread, &ids))
		return place && place->pid_ns ? "host" : "unknown";
	g_ptr_array_add(feed->texts,
			g_strdup_printf("%d/%d in %u", ids.tid, ids.pid, place->pid_ns));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static const char *select_by(const char *container, const char *option, const char *value)
{
	static char *kept;
	FEED(1);

	set(feed, "container", container);
	if (option)
		set(feed, option, value);
	dump_all(feed);
	g_free(kept);
	kept = g_strdup(selected(feed));
	return kept;
}

static void test_statedump(void)
{
	FEED(1);

	dump_all(feed);
	g_assert_cmpstr(inner(feed, 1), ==, "host");
	g_assert_cmpstr(inner(feed, 500), ==, "1/1 in 4026532201");
	g_assert_cmpstr(inner(feed, 501), ==, "7/1 in 4026532201");
	g_assert_cmpstr(inner(feed, 600), ==, "1/1 in 4026532305");
}

/* A PID namespace shows its own and those nested in it; TIDs and PIDs are its own. */
static void test_select(void)
{
	g_assert_cmpstr(select_by("4026532201", NULL, NULL), ==, "500 501 600");
	g_assert_cmpstr(select_by("pid:[4026532201]", NULL, NULL), ==, "500 501 600");
	g_assert_cmpstr(select_by("4026532305", NULL, NULL), ==, "600");
	g_assert_cmpstr(select_by("4026532201", "thread", "7"), ==, "501");
	g_assert_cmpstr(select_by("4026532201", "thread", "9"), ==, "600");
	g_assert_cmpstr(select_by("4026532305", "thread", "1"), ==, "600");
	g_assert_cmpstr(select_by("4026532410", "thread", "7"), ==, "700");
	g_assert_cmpstr(select_by("4026532201", "process", "1"), ==, "500 501");
	g_assert_cmpstr(select_by("4026532201", "thread", "all"), ==, "500 501 600");
	g_assert_cmpstr(select_by("4026532201", "thread", "w*"), ==, "501");
	g_assert_cmpstr(select_by("4026532201", "process", "nginx"), ==, "500 501");
	/* the host's: everybody whose namespace is known, by the host's numbers */
	g_assert_cmpstr(select_by("4026531836", NULL, NULL), ==, "1 50 500 501 600 700");
	g_assert_cmpstr(select_by("4026531836", "thread", "7"), !=, "501");
}

/* Other ways to name it: its first process's name, a process in it, a cgroup
 * namespace, where ids are those of the threads' own PID namespaces. */
static void test_names(void)
{
	g_assert_cmpstr(select_by("nginx", NULL, NULL), ==, "500 501 600");
	g_assert_cmpstr(select_by("ngi*", "thread", "9"), ==, "600");
	g_assert_cmpstr(select_by("app", NULL, NULL), ==, "600");
	g_assert_cmpstr(select_by("501", NULL, NULL), ==, "500 501 600");
	g_assert_cmpstr(select_by("600", NULL, NULL), ==, "600");
	g_assert_cmpstr(select_by("cgroup:[4026532500]", NULL, NULL), ==, "500 501");
	g_assert_cmpstr(select_by("4026532500", "thread", "7"), ==, "501");
	g_assert_cmpstr(select_by("4026532500", "process", "1"), ==, "500 501");
}

static void test_errors(void)
{
	g_assert_cmpstr(
		select_by("4026532999", NULL, NULL), ==,
		"--container '4026532999': the trace has no such PID or cgroup namespace, "
		"first process, or process of a container; it has pid:[4026532201] (nginx), "
		"pid:[4026532305] (app), pid:[4026532410], cgroup:[4026532500]");
	g_assert_cmpstr(select_by("1", NULL, NULL), ==,
			"--container '1': init (1) is in no container that the trace tells of");
	g_assert_cmpstr(select_by("4026532201", "thread", "500"), ==,
			"--thread '500': the container has no such thread; it has 'app', 'nginx' "
			"and 'worker' (whylate overview TRACE --limit 0 --container 4026532201 "
			"lists them)");
	g_assert_cmpstr(
		select_by("4026532201", "thread", "other"), ==,
		"--thread 'other': the container has no such thread; it has 'worker', "
		"'app' and 'nginx' (whylate overview TRACE --limit 0 --container 4026532201 "
		"lists them)");
	g_assert_true(g_str_has_prefix(select_by("cgroup:[4026532201]", NULL, NULL),
				       "--container 'cgroup:[4026532201]': the trace has no such"));
	g_assert_true(g_str_has_prefix(select_by("pid:[4026532201", NULL, NULL),
				       "--container 'pid:[4026532201': the trace has no such"));
}

static void test_no_namespaces(void)
{
	FEED(1);

	set(feed, "container", "4026532201");
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	g_assert_cmpstr(
		selected(feed), ==,
		"--container '4026532201': the trace tells of no container: it has neither a "
		"statedump nor forks that say who is in which namespace");
}

/* Two containers that had the same numbers one after the other, each within the other
 * at its time: no circle. */
static void test_numbers_used_again(void)
{
	FEED(1);
	GArray *list;

	dumped(feed, 1, 100, 100, "first");
	in_pid_ns(feed, 2, PID_NS, 100, 2, INNER, 1, 1);
	in_pid_ns(feed, 3, PID_NS, 100, 1, BOX, 7, 7);
	dumped(feed, 4, 200, 200, "second");
	in_pid_ns(feed, 5, PID_NS, 200, 2, BOX, 1, 1);
	in_pid_ns(feed, 6, PID_NS, 200, 1, INNER, 8, 8);
	plain(feed, 10, 0, "other");
	finish(feed);
	g_assert_cmpuint(pid_ns_find(&feed->session->trace.model, 0, INNER)->parent, ==, BOX);
	g_assert_cmpuint(pid_ns_find(&feed->session->trace.model, 0, BOX)->parent, ==, 0);
	list = containers_new(feed->session); /* and comes to an end */
	g_assert_cmpuint(list->len, ==, 2);
	g_array_free(list, TRUE);
}

/* Until 2.11 process_state itself came once per level. */
static void test_old_statedump(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "dumper", 50);
	in_pid_ns(feed, 10, OLD_STATE, 500, 1, BOX, 1, 1);
	in_pid_ns(feed, 10, OLD_STATE, 500, 0, HOST_NS, 500, 500);
	in_pid_ns(feed, 11, OLD_STATE, 3, 0, HOST_NS, 3, 3);
	g_assert_cmpstr(inner(feed, 500), ==, "1/1 in 4026532201");
	g_assert_cmpstr(inner(feed, 3), ==, "host");
	set(feed, "container", "4026532201");
	g_assert_cmpstr(selected(feed), ==, "500");
}

/* A process and a thread made in a container; then a container inside it. */
static void test_fork(void)
{
	static const int64_t process[] = {510, 12}, thread[] = {511, 13}, deeper[] = {520, 14, 1},
			     of_host[] = {530};
	FEED(1);

	dump_all(feed);
	sw(feed, 100, 0, "dumper", 50, SLEEPS, "worker", 501);
	born_in(feed, 110, 501, BOX, 510, 510, BOX, 2, process);
	born_in(feed, 120, 501, BOX, 511, 500, BOX, 2, thread);
	born_in(feed, 130, 501, BOX, 520, 520, 4026532600u, 3, deeper);
	sw(feed, 140, 0, "worker", 501, SLEEPS, "dumper", 50);
	born_in(feed, 150, 50, HOST_NS, 530, 530, HOST_NS, 1, of_host);
	g_assert_cmpstr(inner(feed, 510), ==, "12/12 in 4026532201");
	g_assert_cmpstr(inner(feed, 511), ==, "13/1 in 4026532201");
	g_assert_cmpstr(inner(feed, 520), ==, "1/1 in 4026532600");
	g_assert_cmpstr(inner(feed, 530), ==, "host");
	set(feed, "container", "4026532201");
	set(feed, "thread", "14"); /* 520, seen from around it */
	set(feed, "process", "1");
	g_assert_cmpstr(selected(feed), ==, "500 501 511 520");
}

/* unshare(CLONE_NEWPID) or nsenter on the host: the caller stays, its child is in
 * the container. The cgroup namespace is the parent's. */
static void test_entered(void)
{
	static const int64_t entered[] = {800, 21}, made[] = {801, 1};
	const struct model *model;
	FEED(1);

	dump_all(feed);
	model = &feed->session->trace.model;
	sw(feed, 100, 0, "dumper", 50, SLEEPS, "init", 1);
	born_in(feed, 110, 1, HOST_NS, 800, 800, BOX, 2, entered);
	born_in(feed, 120, 1, HOST_NS, 801, 801, 4026532700u, 2, made);
	g_assert_cmpstr(inner(feed, 1), ==, "host");
	g_assert_cmpstr(inner(feed, 800), ==, "21/21 in 4026532201");
	g_assert_cmpstr(inner(feed, 801), ==, "1/1 in 4026532700");
	g_assert_cmpuint(thread_place(model, model_thread(model, life(feed, 801, 0)))->cgroup_ns,
			 ==, HOST_CGROUP_NS);
	g_assert_cmpuint(pid_ns_find(model, feed->host, 4026532700u)->parent, ==, HOST_NS);
}

static void calls(struct feed *feed, int64_t time, const char *call, int32_t fd, uint64_t flags,
		  int64_t ret)
{
	g_autofree char *name = g_strconcat("syscall_entry_", call, NULL);
	struct event event = event_of(feed, time, 0, name);

	event.syscall.fd = fd;
	event.syscall.flags = flags;
	send(feed, &event);
	leave(feed, time + 1, 0, call, ret);
}

static uint32_t cgroup_ns(struct feed *feed, int32_t tid)
{
	const struct model *model = &feed->session->trace.model;

	return thread_place(model,
			    model_thread(model, idmap_get(&model_host(model, feed->host)->tids,
							  (uint32_t) tid)))
		->cgroup_ns;
}

/* Which cgroup namespace a thread enters no event says: not known from then on.
 * A call that fails, or is about other namespaces, changes nothing. */
static void test_cgroup_changes(void)
{
	FEED(1);

	dump_all(feed);
	sw(feed, 100, 0, "dumper", 50, SLEEPS, "worker", 501);
	calls(feed, 110, "unshare", -1, 0x02000000, -1);
	calls(feed, 120, "unshare", -1, 0x20000000, 0);
	calls(feed, 130, "setns", 3, 0x20000000, 0);
	g_assert_cmpuint(cgroup_ns(feed, 501), ==, CGROUP);
	calls(feed, 140, "unshare", -1, 0x02000000, 0);
	g_assert_cmpuint(cgroup_ns(feed, 501), ==, 0);
	g_assert_cmpuint(cgroup_ns(feed, 500), ==, CGROUP);
	sw(feed, 150, 0, "worker", 501, SLEEPS, "init", 1);
	calls(feed, 160, "setns", 3, 0, 0); /* whatever the descriptor is of */
	g_assert_cmpuint(cgroup_ns(feed, 1), ==, 0);
	sw(feed, 170, 0, "init", 1, SLEEPS, "nginx", 500);
	g_assert_cmpstr(inner(feed, 501), ==, "7/1 in 4026532201");
	g_assert_cmpstr(inner(feed, 1), ==, "host");
}

/* clone's flags where the fork event says nothing (before 2.7): a child without
 * CLONE_NEWPID is where its parent is, with ids not known. */
static void test_clone_flags(void)
{
	struct event event;
	FEED(1);

	dump_all(feed);
	sw(feed, 100, 0, "dumper", 50, SLEEPS, "worker", 501);
	event = event_of(feed, 110, 0, "syscall_entry_clone");
	send(feed, &event);
	forks(feed, 120, 0, 501, 810, 810);
	leave(feed, 130, 0, "clone", 810);
	event = event_of(feed, 140, 0, "syscall_entry_clone");
	event.syscall.flags = 0x20000000 | 0x02000000;
	send(feed, &event);
	forks(feed, 150, 0, 501, 811, 811);
	leave(feed, 160, 0, "clone", 811);
	g_assert_cmpstr(inner(feed, 810), ==, "0/0 in 4026532201");
	g_assert_cmpuint(cgroup_ns(feed, 810), ==, CGROUP);
	g_assert_cmpstr(inner(feed, 811), ==, "unknown");
	g_assert_cmpuint(cgroup_ns(feed, 811), ==, 0);
}

static void switch_with(struct feed *feed, int64_t time, int32_t prev, int32_t next, int32_t vtid,
			int32_t vpid, uint32_t pid_ns, uint32_t cgroup)
{
	struct event event = event_of(feed, time, 0, "sched_switch");

	event.sched_switch.prev_comm = event.sched_switch.next_comm = "t";
	event.sched_switch.prev_tid = prev;
	event.sched_switch.next_tid = next;
	event.sched_switch.prev_state = SLEEPS;
	event.sched_switch.vtid = vtid;
	event.sched_switch.vpid = vpid;
	event.sched_switch.pid_ns = pid_ns;
	event.sched_switch.cgroup_ns = cgroup;
	send(feed, &event);
}

/* No statedump: contexts tell. An exiting thread has no ids any more. */
static void test_contexts(void)
{
	FEED(1);

	switch_with(feed, 0, 0, 5, 0, 0, HOST_NS, HOST_CGROUP_NS);
	switch_with(feed, 10, 5, 6, 2, 1, BOX, CGROUP);
	switch_with(feed, 20, 6, 7, 6, 6, HOST_NS, HOST_CGROUP_NS);
	switch_with(feed, 30, 7, 8, 4, 4, 0, 0);       /* only vtid and vpid were added */
	switch_with(feed, 40, 8, 9, 8, 8, 0, 0); /* the same, and equal: where is not said */
	switch_with(feed, 50, 9, 5, 0, 0, 0, 0);
	switch_with(feed, 60, 5, 6, 0, 0, 0, 0);
	g_assert_cmpstr(inner(feed, 5), ==, "2/1 in 4026532201");
	g_assert_cmpuint(cgroup_ns(feed, 5), ==, CGROUP);
	g_assert_cmpstr(inner(feed, 6), ==, "host");
	g_assert_cmpstr(inner(feed, 7), ==, "4/4 in 0");
	g_assert_cmpstr(inner(feed, 8), ==, "unknown");
	g_assert_cmpstr(inner(feed, 9), ==, "unknown");
	set(feed, "container", "4026532201");
	set(feed, "thread", "2");
	g_assert_cmpstr(selected(feed), ==, "5");
}

/* A fork tells of a parent that no statedump described. */
static void test_parent_by_fork(void)
{
	static const int64_t vtids[] = {510, 12};
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 501);
	born_in(feed, 10, 501, BOX, 510, 510, BOX, 2, vtids);
	g_assert_cmpstr(inner(feed, 501), ==, "0/0 in 4026532201");
	g_assert_cmpstr(inner(feed, 510), ==, "12/12 in 4026532201");
}

/* exec by a thread that does not lead: it has the leader's ids, here as there. */
static void test_exec_by_thread(void)
{
	struct event event;
	FEED(1);

	dump_all(feed);
	sw(feed, 100, 0, "dumper", 50, SLEEPS, "worker", 501);
	event = event_of(feed, 110, 0, "sched_process_exec");
	event.exec.filename = "/bin/x";
	event.exec.tid = 500;
	event.exec.old_tid = 501;
	send(feed, &event);
	g_assert_cmpstr(inner(feed, 500), ==, "1/1 in 4026532201");
}

/* The list for people: each namespace, who is visible in it, its first process. */
static void test_list(void)
{
	GArray *list;
	GString *text = g_string_new(NULL);
	FEED(1);

	dump_all(feed);
	plain(feed, 1000, 0, "other");
	finish(feed);
	list = containers_new(feed->session);
	for (guint i = 0; i < list->len; i++) {
		const struct container *at = &g_array_index(list, struct container, i);
		g_autofree char *number = namespace_text(at->kind, at->number);

		g_string_append_printf(text, "%s %u in %u: %u, %s; ", number, at->level, at->parent,
				       at->threads, session_thread_name(feed->session, at->first));
	}
	g_assert_cmpstr(text->str, ==,
			"pid:[4026532201] 1 in 4026531836: 3, nginx; "
			"pid:[4026532305] 2 in 4026532201: 1, app; "
			"pid:[4026532410] 1 in 4026531836: 1, ?; "
			"cgroup:[4026532500] 0 in 0: 2, ?; ");
	g_string_free(text, TRUE);
	g_array_free(list, TRUE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/container/statedump", test_statedump);
	g_test_add_func("/container/select", test_select);
	g_test_add_func("/container/names", test_names);
	g_test_add_func("/container/errors", test_errors);
	g_test_add_func("/container/no-namespaces", test_no_namespaces);
	g_test_add_func("/container/numbers-used-again", test_numbers_used_again);
	g_test_add_func("/container/old-statedump", test_old_statedump);
	g_test_add_func("/container/fork", test_fork);
	g_test_add_func("/container/entered", test_entered);
	g_test_add_func("/container/cgroup-changes", test_cgroup_changes);
	g_test_add_func("/container/clone-flags", test_clone_flags);
	g_test_add_func("/container/contexts", test_contexts);
	g_test_add_func("/container/parent-by-fork", test_parent_by_fork);
	g_test_add_func("/container/exec-by-thread", test_exec_by_thread);
	g_test_add_func("/container/list", test_list);
	return g_test_run();
}
