/* SPDX-License-Identifier: MIT */
/* Random event sequences: whatever comes, in whatever order, states tile each
 * life, children sum to parents, the critical path tiles the window, and
 * nothing crashes (run under sanitizers by ./check).
 *
 * The sequences are half sensible (threads that are current make calls) and
 * half nonsense (exits without entries, TIDs that come and go, gaps, wild
 * CPUs); seeds are fixed so that a failure repeats.
 */
#include "commands/commands.h"
#include "feed.h"
#include "flow/forget.h"
#include "invariants.h"
#include "walk_invariants.h"
#include "whatif_invariants.h"

#define EVENTS 4000
#define TIDS 24

static const char *const names[] = {
	"syscall_entry_read",
	"syscall_exit_read",
	"syscall_entry_poll",
	"syscall_exit_poll",
	"syscall_entry_futex",
	"syscall_exit_futex",
	"syscall_entry_futex",
	"syscall_exit_futex",
	"syscall_entry_flock",
	"syscall_exit_flock",
	"syscall_entry_fcntl",
	"syscall_exit_fcntl",
	"syscall_entry_close",
	"syscall_exit_close",
	"syscall_entry_openat",
	"syscall_exit_openat",
	"sched_pi_setprio",
	"syscall_entry_clone",
	"syscall_exit_clone",
	"syscall_entry_exit_group",
	"syscall_entry_rt_sigreturn",
	"irq_handler_entry",
	"irq_handler_exit",
	"irq_softirq_entry",
	"irq_softirq_exit",
	"x86_irq_vectors_local_timer_entry",
	"x86_irq_vectors_local_timer_exit",
	"x86_irq_vectors_reschedule_entry",
	"x86_irq_vectors_reschedule_exit",
	"timer_hrtimer_expire_entry",
	"timer_hrtimer_expire_exit",
	"timer_hrtimer_start",
	"x86_exceptions_page_fault_user",
	"x86_exceptions_page_fault_kernel",
	"sched_waking",
	"sched_wakeup",
	"sched_wakeup_new",
	"sched_migrate_task",
	"sched_process_fork",
	"sched_process_exec",
	"sched_process_free",
	"sched_process_exit",
	"block_rq_issue",
	"block_rq_complete",
	"net_if_receive_skb",
	"signal_generate",
	"irq_softirq_raise",
	"lttng_statedump_process_state",
	"lttng_statedump_file_descriptor",
	"block_rq_insert",
	"net_dev_queue",
	"workqueue_queue_work",
	"workqueue_execute_start",
	"workqueue_execute_end",
	"block_rq_requeue",
	"block_bio_queue",
	"block_bio_backmerge",
	"block_bio_complete",
	"block_bio_remap",
	"block_rq_remap",
	"block_split",
	"jbd2_start_commit",
	"writeback_queue",
	"writeback_exec",
	"writeback_pages_written",
	"timer_start",
	"timer_expire_entry",
	"timer_expire_exit",
	"lttng_statedump_block_device",
	"fn_f_entry",
	"fn_f_exit",
	"fn_g_entry",
	"fn_g_exit",
	"other"};

static const uint8_t address[4] = {127, 0, 0, 1};

static int32_t tid(GRand *random)
{
	return g_rand_int_range(random, 0, TIDS);
}

static void random_event(struct feed *feed, GRand *random, int64_t time, uint32_t cpu)
{
	const char *name = names[g_rand_int_range(random, 0, G_N_ELEMENTS(names))];
	struct event event = event_of(feed, time, cpu, name);

	event.has_tid = g_rand_int_range(random, 0, 10) == 0;
	event.tid = tid(random);
	switch (event.kind) {
	case EV_SYSCALL_ENTRY:
	case EV_SYSCALL_EXIT:
		event.syscall.fd = g_rand_int_range(random, -1, 5);
		event.syscall.ret = g_rand_int_range(random, -5, 10);
		event.syscall.uaddr = (uint64_t) g_rand_int_range(random, 0, 4) * 8;
		event.syscall.op = g_rand_int_range(random, 0, 14);
		event.syscall.val =
			g_rand_boolean(random) ? 2 : 0x80000000u | (uint32_t) tid(random);
		event.syscall.cmd = g_rand_int_range(random, 0, 9);
		event.syscall.filename = "/f";
		break;
	case EV_PI_SETPRIO:
		event.priority.tid = tid(random);
		event.priority.to = g_rand_int_range(random, -50, 40);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
	case EV_SCHED_MIGRATE:
		event.wake.tid = tid(random);
		event.wake.target_cpu = g_rand_int_range(random, -1, 4);
		break;
	case EV_PROCESS_FORK:
		event.fork.parent_tid = tid(random);
		event.fork.child_tid = tid(random);
		event.fork.child_comm = "child";
		break;
	case EV_PROCESS_EXEC:
		event.exec.tid = tid(random);
		event.exec.old_tid = g_rand_boolean(random) ? event.exec.tid : tid(random);
		event.exec.filename = "/bin/x";
		break;
	case EV_PROCESS_EXIT:
	case EV_PROCESS_FREE:
		event.exit.tid = tid(random);
		break;
	case EV_IRQ_ENTRY:
	case EV_IRQ_EXIT:
		event.irq.irq = g_rand_int_range(random, -1, 4);
		event.irq.name = "dev";
		break;
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		event.softirq.vec = (uint32_t) g_rand_int_range(random, 0, 12);
		break;
	case EV_STATEDUMP_PROCESS:
		event.process.tid = tid(random);
		event.process.pid = tid(random);
		event.process.status = g_rand_int_range(random, 0, 7);
		event.process.type = g_rand_int_range(random, 0, 8) == 0;
		event.process.name = "dumped";
		break;
	case EV_STATEDUMP_FD:
		event.file.pid = tid(random);
		event.file.fd = g_rand_int_range(random, 0, 5);
		event.file.filename = "pipe:[1]";
		break;
	case EV_SOFTIRQ_RAISE:
		event.softirq.vec = (uint32_t) g_rand_int_range(random, 0, 12);
		break;
	case EV_BLOCK_INSERT:
	case EV_BLOCK_ISSUE:
	case EV_BLOCK_REQUEUE:
	case EV_BLOCK_COMPLETE:
	case EV_BLOCK_BIO:
	case EV_BLOCK_BIO_MERGED:
	case EV_BLOCK_BIO_COMPLETE:
	case EV_BLOCK_REMAP:
	case EV_BLOCK_SPLIT:
		event.block.sector = (uint64_t) tid(random);
		event.block.sectors = (uint32_t) g_rand_int_range(random, 0, 6);
		event.block.tid = tid(random);
		event.block.dev = (uint32_t) g_rand_int_range(random, 0, 3);
		event.block.other = (uint64_t) tid(random);
		event.block.other_dev = (uint32_t) g_rand_int_range(random, 0, 3);
		if (g_rand_int_range(random, 0, 20) == 0)
			event.block.sector = UINT64_MAX;
		break;
	case EV_WRITEBACK_QUEUE:
	case EV_WRITEBACK_EXEC:
		event.writeback.name = g_rand_boolean(random) ? "8:0" : NULL;
		break;
	case EV_STATEDUMP_BLOCK_DEVICE:
		event.device.dev = (uint32_t) g_rand_int_range(random, 0, 3);
		event.device.name = g_rand_boolean(random) ? "sda" : "sda1";
		break;
	case EV_TIMER_START:
	case EV_TIMER_EXPIRE_ENTRY:
	case EV_TIMER_EXPIRE_EXIT:
		event.timer.timer = (uint64_t) tid(random) / 4;
		break;
	case EV_NET_SEND:
	case EV_NET_RECEIVE:
		event.net.skb = (uint64_t) tid(random);
		event.net.saddr = (struct event_bytes) {address, g_rand_boolean(random) ? 4 : 0};
		event.net.source_port = (uint32_t) g_rand_int_range(random, 0, 2);
		break;
	case EV_WORK_QUEUE:
	case EV_WORK_START:
	case EV_WORK_END:
		event.work.item = (uint64_t) tid(random);
		break;
	case EV_SIGNAL_GENERATE:
		event.signal.tid = tid(random);
		break;
	default:
		break;
	}
	send(feed, &event);
}

static void random_switch(struct feed *feed, GRand *random, int64_t time, uint32_t cpu,
			  int32_t *current)
{
	static const int64_t states[] = {0, 0, 1, 1, 1, 2, 4, 8, 0x10, 0x20, 0x80, 0x100};
	int32_t prev = g_rand_int_range(random, 0, 20) ? *current : tid(random);
	int32_t next = tid(random);

	static const char *const threads[] = {
		"n",          "n",           "n",        "kworker/0:1", "kworker/1:1H",
		"jbd2/sda-8", "rcu_preempt", "iou-wrk-3"};

	sw(feed, time, cpu, "", prev, states[g_rand_int_range(random, 0, G_N_ELEMENTS(states))],
	   threads[(size_t) next % G_N_ELEMENTS(threads)], next);
	*current = next;
}

static guint locks_seen;

static struct feed *random_feed(int cpus)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &profile_command);
	g_ptr_array_add(feed->options.profile.operations, g_strdup("*"));
	return feed_start(feed, cpus, "6.1.0", 2, 13);
}

/* Feeds a sequence; every `forget` events (-1: never) what is older than the last so many
 * events is forgotten, and `*before` set to that time. */
static struct feed *random_run(guint32 seed, bool nonsense, int forget, int64_t *before)
{
	GRand *random = g_rand_new_with_seed(seed);
	struct feed *feed = random_feed(nonsense ? 1 : 4);
	int32_t current[4] = {0};
	int64_t time = 0, previous = 0;

	for (int i = 0; i < EVENTS; i++) {
		uint32_t cpu = (uint32_t) g_rand_int_range(random, 0, 4);
		int dice = g_rand_int_range(random, 0, 100);

		time += g_rand_int_range(random, 0, 4);
		if (forget > 0 && i % forget == 0 && i) {
			flow_forget(&feed->session->trace.flow, previous);
			*before = previous;
			previous = time;
		}
		if (dice < 30)
			random_switch(feed, random, time, cpu, &current[cpu]);
		else if (dice < 31 && nonsense)
			lost(feed, cpu, time, time + g_rand_int_range(random, 0, 60));
		else
			random_event(feed, random, nonsense && dice > 98 ? time - 5 : time, cpu);
	}
	g_rand_free(random);
	return feed;
}

static void run(guint32 seed, bool nonsense)
{
	struct feed *feed = random_run(seed, nonsense, -1, NULL);

	finish(feed);
	check_threads(feed->session);
	g_assert_cmpuint(check_profiles(feed->session), >, 4);
	check_retimed(feed->session, seed);
	g_assert_cmpuint(check_walk(feed->session, seed % 8 == 0), >, 4);
	locks_seen += check_locks(feed->session);
	feed_free(feed);
}

/* Of so many a third, in ./check a sixteenth (WHYLATE_PART); with WHYLATE_LONG=1 (make check-long)
 * all. */
static guint32 seeds(guint32 count)
{
	if (g_getenv("WHYLATE_LONG"))
		return count;
	return count / (g_getenv("WHYLATE_PART") ? 16 : 3);
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static void test_sound(void)
{
	for (guint32 seed = 1; seed <= seeds(100); seed++) {
		g_test_message("seed %u", seed);
		run(seed, false);
	}
	g_assert_cmpuint(locks_seen, >, seeds(100));
}

static void test_nonsense(void)
{
	for (guint32 seed = 1; seed <= seeds(200); seed++) {
		g_test_message("seed %u", seed);
		run(seed, true);
	}
}

/* What the analyses find of [from, end): each thread's states and what ended its waits. */
static char *found(struct feed *feed, int64_t from)
{
	const struct session *session = feed->session;
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		uint32_t leaf_before = 0;
		struct spans spans;
		struct span span;

		spans_begin(&spans, session, i, from, INT64_MAX);
		while (spans_next(&spans, &span)) {
			g_autofree char *leaf = leaf_key(session, span.leaf);
			GString *line;

			/* two of one leaf side by side may have become one */
			if (span.leaf == leaf_before && !leaf_is_blocked(span.leaf))
				continue;
			leaf_before = span.leaf;
			line = g_string_new(NULL);
			g_string_printf(line, "%d %" G_GINT64_FORMAT " %s %s", thread->tid,
					span.begin, leaf, session_thread_name(session, i));
			if (leaf_is_blocked(span.leaf)) {
				const struct block *block =
					block_at(&session->trace.timeline, span.ref);
				const struct wake_detail *detail =
					detail_at(&session->trace.timeline, block->detail);
				const char *label = session_text(session, block->resource);

				g_string_append_printf(
					line, " %u %s %s %u %s %s %d %s", block->kind, label,
					session_thread_name(session, block->waker), block->context,
					block->child == NO_THREAD ? "" : "child",
					block->lock ? session_text(session,
								   lock_at(&session->trace.flow,
									   block->lock)
									   ->resource)
						    : "",
					block->detail ? detail->kind : -1,
					block->detail ? session_thread_name(session, detail->thread)
						      : "");
			}
			g_ptr_array_add(lines, g_string_free(line, FALSE));
		}
	}
	g_ptr_array_sort(lines, by_text);
	for (guint i = 0; i < lines->len; i++)
		g_string_append_printf(text, "%s\n", (char *) g_ptr_array_index(lines, i));
	g_ptr_array_free(lines, TRUE);
	return g_string_free(text, FALSE);
}

/* The same events with and without forgetting (flow/forget.h): of the time since, the same
 * is found, and profiles still have all that ended in it. */
static void test_forgetting(void)
{
	uint64_t kept = 0, all = 0;

	for (guint32 seed = 1; seed <= seeds(60); seed++) {
		g_autofree char *with = NULL, *without = NULL;
		int64_t before = 0;
		struct feed *plain_feed, *feed;

		g_test_message("seed %u", seed);
		plain_feed = random_run(seed, seed % 2, -1, &before);
		feed = random_run(seed, seed % 2, EVENTS / 8, &before);
		all += flow_records(&plain_feed->session->trace.flow);
		kept += flow_records(&feed->session->trace.flow);
		finish(feed);
		finish(plain_feed);
		feed->session->asked.from = before;
		with = found(feed, before);
		without = found(plain_feed, before);
		g_assert_cmpstr(with, ==, without);
		check_threads(feed->session);
		check_profiles(feed->session);
		check_locks(feed->session);
		feed_free(feed);
		feed_free(plain_feed);
	}
	g_assert_cmpuint(kept * 2, <, all);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/random/sound", test_sound);
	g_test_add_func("/random/nonsense", test_nonsense);
	g_test_add_func("/random/forgetting", test_forgetting);
	return g_test_run();
}
