/* SPDX-License-Identifier: MIT */
/* Functions of user space on the stacks of their threads, and what processes have loaded, from
 * hand-made events. Expectations are worked out by hand from semantics.md ("The control-flow
 * stack of a thread") and what is said at model_image_at().
 */
#include "commands/commands.h"
#include "feed.h"

#include "model/images.h"

#define FUNCTIONS "lttng_ust_cyg_profile:func_"
#define FAST "lttng_ust_cyg_profile_fast:func_"

static struct feed *user_feed(int cpus)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &profile_command);
	options_set(&feed->options, "operation", "*", NULL);
	return feed_start(feed, cpus, "6.1.0", 2, 13);
}

static struct event user_event(struct feed *feed, int64_t time, uint32_t cpu, int32_t vtid,
			       const char *name)
{
	struct event_class class = sink_of(feed)->declare(feed->session, name, ORIGIN_USER);
	struct event event = {.time = time,
			      .cpu = cpu,
			      .host = (uint16_t) feed->host,
			      .has_tid = vtid > 0,
			      .tid = vtid,
			      .has_pid = vtid > 0,
			      .pid = vtid};

	event_init(&event, &class, ABI_UNKNOWN);
	return event;
}

static void call_of(struct feed *feed, int64_t time, uint32_t cpu, int32_t vtid, const char *name,
		    uint64_t address, uint64_t call_site)
{
	struct event event = user_event(feed, time, cpu, vtid, name);

	event.user.address = address;
	event.user.call_site = call_site;
	sink_of(feed)->event(feed->session, &event);
}

/* Each function is called from one place. */
static void in(struct feed *feed, int64_t time, int32_t vtid, uint64_t address)
{
	call_of(feed, time, 0, vtid, FUNCTIONS "entry", address, address + 1);
}

static void out(struct feed *feed, int64_t time, int32_t vtid, uint64_t address)
{
	call_of(feed, time, 0, vtid, FUNCTIONS "exit", address, address + 1);
}

/* All operations in the order in which they ended: "NAME BEGIN+DURATION TID, …". */
static const char *ended(struct feed *feed)
{
	const struct session *session = feed->session;
	GString *text = g_string_new(NULL);

	for (uint32_t i = 1; i < session->trace.timeline.operations.used; i++) {
		const struct operation *at = operation_at(&session->trace.timeline.operations, i);
		g_autofree char *name = operation_name(session, at->what);

		if (PACK_KIND(at->what) <= OPERATION_USER)
			g_string_append_printf(
				text, "%s%s %d+%d %d", text->len ? ", " : "", name, (int) at->begin,
				(int) at->duration,
				model_thread(&session->trace.model, at->thread)->tid);
	}
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static const struct user_counts *counts(const struct feed *feed)
{
	return &feed->session->trace.flow.user;
}

static const struct thread *thread(const struct feed *feed, int32_t tid)
{
	return model_thread(&feed->session->trace.model,
			    session_thread_at(feed->session, (uint16_t) feed->host, tid,
					      feed->session->trace.flow.time));
}

/* "Function frames join the control-flow stack under system calls"; recursion. */
static void test_nesting(void)
{
	FEED_FROM(user_feed(1));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	in(feed, 10, 5, 0x100);
	in(feed, 20, 5, 0x200);
	entry(feed, 30, 0, "read", 3);
	plain(feed, 31, 0, "fn_f_entry");
	plain(feed, 39, 0, "fn_f_exit");
	leave(feed, 40, 0, "read", 1);
	in(feed, 50, 5, 0x200);
	out(feed, 60, 5, 0x200);
	out(feed, 70, 5, 0x200);
	out(feed, 80, 5, 0x100);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(ended(feed), ==,
			"function:fn_f 31+8 5, syscall:read 30+10 5, function:0x200 50+10 5, "
			"function:0x200 20+50 5, function:0x100 10+70 5");
	g_assert_cmpuint(counts(feed)->entries, ==, 3);
	g_assert_cmpuint(counts(feed)->exits, ==, 3);
	g_assert_cmpuint(feed->session->trace.flow.odd[ODD_USER_FUNCTION], ==, 0);
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 30 working/syscall:read, 40 working/user, 90");
	g_assert_cmpuint(feed->session->trace.events, ==, 6);
	g_assert_cmpuint(feed->session->trace.user_events, ==, 6);
}

/* longjmp() out of two functions: the exit around them ends them. An exit of what was entered
 * before the recording is dropped. What is open at the end stays. */
static void test_unbalanced(void)
{
	FEED_FROM(user_feed(1));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	out(feed, 5, 5, 0x900);
	in(feed, 10, 5, 0x100);
	in(feed, 20, 5, 0x200);
	in(feed, 30, 5, 0x300);
	in(feed, 40, 5, 0x400);
	out(feed, 50, 5, 0x400);
	out(feed, 60, 5, 0x100);
	in(feed, 70, 5, 0x500);
	in(feed, 80, 5, 0x600);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(ended(feed), ==, "function:0x400 40+10 5, function:0x100 10+50 5");
	g_assert_cmpuint(counts(feed)->entries_unseen, ==, 1);
	g_assert_cmpuint(counts(feed)->exits_unseen, ==, 2);
	g_assert_cmpuint(feed->session->trace.flow.odd[ODD_USER_FUNCTION], ==, 3);
	finish(feed);
	g_assert_cmpuint(thread(feed, 5)->flow.user->frames->len, ==, 2);
	g_assert_cmpint(
		g_array_index(thread(feed, 5)->flow.user->frames, struct user_frame, 1).begin, ==,
		80);
}

/* The fast variant's exits end the innermost; after lost events none is believed. */
static void test_fast(void)
{
	FEED_FROM(user_feed(1));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	call_of(feed, 10, 0, 5, FAST "entry", 0x100, 0);
	call_of(feed, 20, 0, 5, FAST "entry", 0x200, 0);
	call_of(feed, 30, 0, 5, FAST "exit", 0, 0);
	sink_of(feed)->lose(
		feed->session,
		&(struct lost_events) {
			.host = feed->host, .begin = 40, .end = 50, .count = 7, .user = true});
	call_of(feed, 60, 0, 5, FAST "exit", 0, 0);
	call_of(feed, 70, 0, 5, FAST "entry", 0x300, 0);
	call_of(feed, 80, 0, 5, FAST "exit", 0, 0);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(ended(feed), ==, "function:0x200 20+10 5, function:0x300 70+10 5");
	g_assert_cmpuint(counts(feed)->dropped, ==, 1);
	g_assert_cmpuint(counts(feed)->entries_unseen, ==, 1);
	g_assert_cmpuint(counts(feed)->lost, ==, 7);
}

/* With addresses the stack survives, and what spans the hole is marked. */
static void test_lost(void)
{
	FEED_FROM(user_feed(1));
	const struct pages *store = &feed->session->trace.timeline.operations;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	in(feed, 10, 5, 0x100);
	sink_of(feed)->lose(
		feed->session,
		&(struct lost_events) {
			.host = feed->host, .begin = 40, .end = 50, .count = 7, .user = true});
	in(feed, 60, 5, 0x200);
	out(feed, 70, 5, 0x200);
	out(feed, 80, 5, 0x100);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(ended(feed), ==, "function:0x200 60+10 5, function:0x100 10+70 5");
	g_assert_false(operation_spans_gap(feed->session, operation_at(store, 1)));
	g_assert_true(operation_spans_gap(feed->session, operation_at(store, 2)));
	g_assert_null(host_gap_over(model_host(&feed->session->trace.model, 0), 0, 100));
}

/* The thread is told by its own number, also where the CPU runs another by now; without one, it
 * is who the CPU runs; one that is nobody's makes no thread. */
static void test_threads(void)
{
	FEED_FROM(user_feed(2));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	call_of(feed, 10, 1, 5, FUNCTIONS "entry", 0x100, 1);
	call_of(feed, 20, 0, 6, FUNCTIONS "entry", 0x200, 1);
	call_of(feed, 30, 0, 5, FUNCTIONS "exit", 0x100, 1);
	call_of(feed, 40, 1, 0, FUNCTIONS "exit", 0x200, 1);
	call_of(feed, 50, 1, 77, FUNCTIONS "entry", 0x300, 1);
	call_of(feed, 50, 9, 0, FUNCTIONS "entry", 0x300, 1);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(ended(feed), ==, "function:0x100 10+20 5, function:0x200 20+20 6");
	g_assert_cmpuint(counts(feed)->no_thread, ==, 2);
	g_assert_cmpuint(feed->session->trace.model.thread_count, ==, 2);
	g_assert_cmpuint(model_host(&feed->session->trace.model, 0)->cpus->len, ==, 2);
}

/* A child is in its parent's functions, without a latency there; exec leaves them all. */
static void test_fork(void)
{
	FEED_FROM(user_feed(2));
	struct event exec;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "idle", 0);
	in(feed, 10, 5, 0x100);
	forks(feed, 20, 0, 5, 8, 8);
	sw(feed, 30, 1, "idle", 0, 0, "child", 8);
	call_of(feed, 40, 1, 8, FUNCTIONS "entry", 0x200, 1);
	call_of(feed, 50, 1, 8, FUNCTIONS "exit", 0x200, 1);
	call_of(feed, 60, 1, 8, FUNCTIONS "exit", 0x100, 0x101);
	out(feed, 70, 5, 0x100);
	call_of(feed, 72, 1, 8, FUNCTIONS "entry", 0x400, 1);
	exec = event_of(feed, 75, 1, "sched_process_exec");
	exec.exec.tid = exec.exec.old_tid = 8;
	exec.exec.filename = "/bin/x";
	send(feed, &exec);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(ended(feed), ==, "function:0x200 40+10 8, function:0x100 10+60 5");
	g_assert_cmpuint(feed->session->trace.flow.odd[ODD_USER_FUNCTION], ==, 0);
	g_assert_cmpuint(thread(feed, 8)->flow.user->frames->len, ==, 0);
}

/* --- images --------------------------------------------------------------------------- */

static void loaded(struct feed *feed, int64_t time, int32_t vtid, const char *name, uint64_t base,
		   const char *path)
{
	struct event event = user_event(feed, time, 0, vtid, name);

	event.user.address = base;
	event.user.size = 0x1000;
	event.user.path = path;
	sink_of(feed)->event(feed->session, &event);
}

static const char *path_at(const struct feed *feed, int32_t pid, uint64_t address, int64_t time)
{
	const struct loaded_image *image =
		model_image_at(&feed->session->trace.model, (uint16_t) feed->host, pid, address,
			       time);

	return image ? session_text(feed->session, image->path) : "";
}

#define DUMP "lttng_ust_statedump:bin_info"

static void test_images(void)
{
	static const uint8_t id[] = {1, 2, 3};
	FEED_FROM(user_feed(1));
	struct event event;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	loaded(feed, 10, 5, DUMP, 0x10000, "/bin/a");
	loaded(feed, 10, 5, DUMP, 0x10000, "/bin/a");
	loaded(feed, 11, 5, DUMP, 0x20000, "/lib/b");
	event = user_event(feed, 12, 0, 5, "lttng_ust_statedump:build_id");
	event.user.address = 0x20000;
	event.user.build_id = (struct event_bytes) {id, sizeof id};
	sink_of(feed)->event(feed->session, &event);
	loaded(feed, 20, 5, "lttng_ust_lib:load", 0x30000, "/lib/c");
	loaded(feed, 30, 5, "lttng_ust_lib:unload", 0x30000, NULL);
	loaded(feed, 40, 5, "lttng_ust_lib:load", 0x30000, "/lib/d");
	g_assert_cmpuint(feed->session->trace.model.images->len, ==, 4);
	g_assert_cmpstr(path_at(feed, 5, 0x10000, 15), ==, "/bin/a");
	g_assert_cmpstr(path_at(feed, 5, 0x10fff, 1), ==, "/bin/a"); /* it was there before */
	g_assert_cmpstr(path_at(feed, 5, 0x11000, 15), ==, "");
	g_assert_cmpstr(path_at(feed, 5, 0x30010, 25), ==, "/lib/c");
	g_assert_cmpstr(path_at(feed, 5, 0x30010, 35), ==, "/lib/d");
	g_assert_cmpstr(path_at(feed, 5, 0x30010, 45), ==, "/lib/d");
	g_assert_cmpstr(path_at(feed, 6, 0x10000, 15), ==, "");
	g_assert_cmpmem(model_image_at(&feed->session->trace.model, 0, 5, 0x20000, 15)->build_id, 3,
			id, 3);
	g_assert_cmpint(
		model_image_at(&feed->session->trace.model, 0, 5, 0x20000, 15)->build_id_length, ==,
		3);
}

/* A child has what its parent had when it was born; a grandchild too; exec has nothing. */
static void test_inherited_images(void)
{
	FEED_FROM(user_feed(2));
	struct event exec;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "idle", 0);
	loaded(feed, 10, 5, DUMP, 0x10000, "/bin/a");
	loaded(feed, 15, 5, "lttng_ust_lib:load", 0x20000, "/lib/b");
	forks(feed, 20, 0, 5, 8, 8);
	loaded(feed, 25, 5, "lttng_ust_lib:unload", 0x20000, NULL);
	loaded(feed, 26, 5, "lttng_ust_lib:load", 0x20000, "/lib/c");
	sw(feed, 30, 1, "idle", 0, 0, "child", 8);
	forks(feed, 40, 1, 8, 9, 9);
	exec = event_of(feed, 50, 1, "sched_process_exec");
	exec.exec.tid = exec.exec.old_tid = 8;
	exec.exec.filename = "/bin/x";
	send(feed, &exec);
	loaded(feed, 60, 8, DUMP, 0x10000, "/bin/x");
	g_assert_cmpstr(path_at(feed, 8, 0x10000, 45), ==, "/bin/a");
	g_assert_cmpstr(path_at(feed, 8, 0x20000, 45), ==, "/lib/b");
	g_assert_cmpstr(path_at(feed, 5, 0x20000, 45), ==, "/lib/c");
	g_assert_cmpstr(path_at(feed, 9, 0x20000, 99), ==, "/lib/b");
	g_assert_cmpstr(path_at(feed, 8, 0x10000, 55), ==, "/bin/x");
	g_assert_cmpstr(path_at(feed, 8, 0x20000, 55), ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/user/nesting", test_nesting);
	g_test_add_func("/user/unbalanced", test_unbalanced);
	g_test_add_func("/user/fast", test_fast);
	g_test_add_func("/user/lost", test_lost);
	g_test_add_func("/user/threads", test_threads);
	g_test_add_func("/user/fork", test_fork);
	g_test_add_func("/user/images", test_images);
	g_test_add_func("/user/inherited-images", test_inherited_images);
	return g_test_run();
}
