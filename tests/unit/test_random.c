/* Random event sequences: whatever comes, in whatever order, states tile each
 * life, children sum to parents, the critical path tiles the window, and
 * nothing crashes (run under sanitizers by ./check).
 *
 * The sequences are half sensible (threads that are current make calls) and
 * half nonsense (exits without entries, TIDs that come and go, gaps, wild
 * CPUs); seeds are fixed so that a failure repeats.
 */
#include "feed.h"

#include "analysis/contention.h"

#define EVENTS 4000
#define TIDS 24

static const char *const names[] = {
	"syscall_entry_read", "syscall_exit_read", "syscall_entry_poll", "syscall_exit_poll",
	"syscall_entry_futex", "syscall_exit_futex", "syscall_entry_futex", "syscall_exit_futex",
	"syscall_entry_flock", "syscall_exit_flock", "syscall_entry_fcntl", "syscall_exit_fcntl",
	"syscall_entry_close", "syscall_exit_close", "syscall_entry_openat", "syscall_exit_openat",
	"sched_pi_setprio", "syscall_entry_clone", "syscall_exit_clone",
	"syscall_entry_exit_group", "syscall_entry_rt_sigreturn", "irq_handler_entry",
	"irq_handler_exit", "irq_softirq_entry", "irq_softirq_exit",
	"x86_irq_vectors_local_timer_entry", "x86_irq_vectors_local_timer_exit",
	"x86_irq_vectors_reschedule_entry", "x86_irq_vectors_reschedule_exit",
	"timer_hrtimer_expire_entry", "timer_hrtimer_expire_exit", "timer_hrtimer_start",
	"x86_exceptions_page_fault_user", "x86_exceptions_page_fault_kernel", "sched_waking",
	"sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_process_fork",
	"sched_process_exec", "sched_process_free", "sched_process_exit", "block_rq_issue",
	"block_rq_complete", "net_if_receive_skb", "signal_generate", "irq_softirq_raise",
	"lttng_statedump_process_state", "lttng_statedump_file_descriptor", "block_rq_insert",
	"net_dev_queue", "workqueue_queue_work", "workqueue_execute_start",
	"workqueue_execute_end", "block_rq_requeue", "block_bio_queue", "block_bio_backmerge",
	"block_bio_complete", "block_bio_remap", "block_rq_remap", "block_split",
	"jbd2_start_commit", "writeback_queue", "writeback_exec", "writeback_pages_written", "timer_start", "timer_expire_entry", "timer_expire_exit",
	"lttng_statedump_block_device", "fn_f_entry", "fn_f_exit", "fn_g_entry", "fn_g_exit", "other"};

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
		event.syscall.val = g_rand_boolean(random) ? 2 : 0x80000000u | (uint32_t) tid(random);
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

	static const char *const threads[] = {"n", "n", "n", "kworker/0:1", "kworker/1:1H",
					      "jbd2/sda-8", "rcu_preempt", "iou-wrk-3"};

	sw(feed, time, cpu, "", prev, states[g_rand_int_range(random, 0, G_N_ELEMENTS(states))],
	   threads[(size_t) next % G_N_ELEMENTS(threads)], next);
	*current = next;
}

static int64_t sum_of(const struct node *node)
{
	int64_t sum = 0, length = 0;

	for (guint i = 0; i < node->instances->len; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		g_assert_cmpint(at->begin, <, at->end);
		length += at->end - at->begin;
	}
	g_assert_cmpint(length, ==, node->ns);
	g_assert_cmpuint(node->count, ==, node->instances->len);
	for (guint i = 0; i < node->children->len; i++)
		sum += sum_of(g_ptr_array_index(node->children, i));
	if (node->children->len)
		g_assert_cmpint(sum, ==, node->ns);
	return node->ns;
}

/* Each wait has a cause that can be said, and children inside it. */
static void check_waits(const struct session *session, const GPtrArray *waits, int64_t from,
			int64_t to)
{
	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);
		struct cause cause = wait_cause(session, wait);

		g_assert_nonnull(cause.label);
		cause_clear(&cause);
		g_assert_cmpint(wait->begin, >=, from);
		g_assert_cmpint(wait->end, <=, to);
		if (wait->children)
			check_waits(session, wait->children, wait->begin, wait->end);
	}
}

static void check_thread(struct feed *feed, uint32_t index)
{
	const struct session *session = feed->session;
	const struct thread *thread = model_thread(&session->model, index);
	int64_t at = MAX(thread->begin, session->from), to = MIN(thread->end, session->to);
	struct node *summary;
	struct path *path;
	struct spans spans;
	struct span span;
	GPtrArray *waits;
	uint32_t omitted;

	if (at >= to)
		return;
	spans_begin(&spans, session, index, session->from, session->to);
	while (spans_next(&spans, &span)) {
		g_assert_cmpint(span.begin, ==, at);
		g_assert_cmpint(span.end, >, at);
		at = span.end;
	}
	g_assert_cmpint(at, ==, to);
	summary = summary_new(session, index, session->from, session->to);
	g_assert_cmpint(sum_of(summary), ==, to - MAX(thread->begin, session->from));
	node_free(summary);
	path = path_new(session, index, session->from, session->to);
	at = session->from;
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		g_assert_cmpint(piece->begin, ==, at);
		at = piece->end;
	}
	g_assert_cmpint(at, ==, session->to);
	path_free(path);
	waits = causality_new(session, index, session->from, session->to, 0, &omitted);
	check_waits(session, waits, session->from, session->to);
	g_ptr_array_free(waits, TRUE);
}

/* Parts sum to what they are parts of, and no count exceeds what it counts. */
static void check_part(const struct part *part)
{
	int64_t sum = part->children->len ? part->own_ns : part->ns;

	g_assert_cmpint(part->ns, >=, 0);
	g_assert_cmpuint(part->maxcount, <=, part->operations);
	g_assert_cmpint(part->sum, ==, 0);
	for (guint i = 0; i < part->children->len; i++) {
		const struct part *child = g_ptr_array_index(part->children, i);

		if (!part_is_own(child)) /* what own_ns is */
			sum += child->ns;
		g_assert_cmpuint(child->operations, <=, part->operations);
		check_part(child);
	}
	g_assert_cmpint(sum, ==, part->ns);
}

static void check_profiles(struct feed *feed)
{
	GError *error = NULL;
	struct profiles *profiles = profiles_new(feed->session, 2, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(profiles->list->len, >, 4);
	roots_search(profiles);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);
		uint64_t count = 0;
		int64_t sum = 0;

		for (guint p = 0; p < profile->peaks->len; p++) {
			const struct peak *peak = &g_array_index(profile->peaks, struct peak, p);

			count += peak->count;
			sum += peak->sum;
			g_assert_cmpuint(peak->roots->len, >, 0);
			g_assert_cmpint(peak->tree->ns, ==, peak->sum);
			check_part(peak->tree);
		}
		g_assert_cmpuint(count, ==, profile->count);
		g_assert_cmpint(sum, ==, profile->sum);
		g_assert_cmpint(profile->min, <=, profile->percentiles[0]);
		g_assert_cmpint(profile->percentiles[2], <=, profile->max);
	}
	profiles_free(profiles);
}

/* Owners lie in the wait, one after the other where only one can have the lock, and
 * with what is between them make it up. */
static void check_lock(struct feed *feed, const struct hold *wait, uint32_t number)
{
	struct block block = {.lock = number};
	struct lock_wait *lock =
		lock_wait_new(feed->session, &block, wait->thread, wait->begin, wait->end);
	int64_t at = wait->begin, sum = 0, length = wait->end - wait->begin;

	if (!lock)
		return;
	lock_wait_look(feed->session, lock, UINT_MAX);
	for (guint i = 0; i < lock->holdings->len; i++) {
		const struct holding *holding = &g_array_index(lock->holdings, struct holding, i);

		g_assert_cmpint(holding->begin, >=, wait->begin);
		g_assert_cmpint(holding->begin, <, holding->end);
		g_assert_cmpint(holding->end, <=, wait->end);
		if (lock->lock->kind <= LOCK_PI)
			g_assert_cmpint(holding->begin, >=, at);
		at = holding->end;
	}
	for (guint i = 0; i < lock->holders->len; i++)
		sum += g_array_index(lock->holders, struct holder, i).ns;
	g_assert_cmpint(lock->between, >=, 0);
	if (lock->lock->kind <= LOCK_PI)
		g_assert_cmpint(sum + lock->between, ==, length);
	lock_wait_free(lock);
}

static guint locks_seen;

static void check_locks(struct feed *feed)
{
	const struct session *session = feed->session;
	GArray *list = contention_new(session, NULL, session->from, session->to);

	locks_seen += list->len;
	g_array_free(list, TRUE);
	for (uint32_t i = 1; i <= session->flow.locks->len; i++) {
		const struct lock *lock = lock_at(&session->flow, i);

		for (uint32_t k = 0; k < lock->waits.used; k++)
			check_lock(feed, hold_at(&session->timeline.holds, &lock->waits, k), i);
	}
}

static struct feed *random_feed(int cpus)
{
	struct feed *feed = g_new0(struct feed, 1);

	options_init(&feed->options, COMMAND_PROFILE);
	g_ptr_array_add(feed->options.profile.operations, g_strdup("*"));
	return feed_start(feed, cpus, "6.1.0", 2, 13);
}

static void run(guint32 seed, bool nonsense)
{
	GRand *random = g_rand_new_with_seed(seed);
	struct feed *feed = random_feed(nonsense ? 1 : 4);
	int32_t current[4] = {0};
	int64_t time = 0;

	for (int i = 0; i < EVENTS; i++) {
		uint32_t cpu = (uint32_t) g_rand_int_range(random, 0, 4);
		int dice = g_rand_int_range(random, 0, 100);

		time += g_rand_int_range(random, 0, 4);
		if (dice < 30)
			random_switch(feed, random, time, cpu, &current[cpu]);
		else if (dice < 31 && nonsense)
			lost(feed, cpu, time, time + g_rand_int_range(random, 0, 60));
		else
			random_event(feed, random,
				     nonsense && dice > 98 ? time - 5 : time, cpu);
	}
	finish(feed);
	for (uint32_t i = 0; i < feed->session->model.thread_count; i++)
		check_thread(feed, i);
	check_profiles(feed);
	check_locks(feed);
	feed_free(feed);
	g_rand_free(random);
}

static void test_sound(void)
{
	for (guint32 seed = 1; seed <= 100; seed++) {
		g_test_message("seed %u", seed);
		run(seed, false);
	}
	g_assert_cmpuint(locks_seen, >, 100);
}

static void test_nonsense(void)
{
	for (guint32 seed = 1; seed <= 200; seed++) {
		g_test_message("seed %u", seed);
		run(seed, true);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/random/sound", test_sound);
	g_test_add_func("/random/nonsense", test_nonsense);
	return g_test_run();
}
