/* SPDX-License-Identifier: MIT */
/* Which events a reader may pass over before a window (event/lasting.h): none that sets what is
 * known later.
 *
 * Expected values: the table of what system calls do (objects/calls.h), which follows the calls'
 * manual pages; that of kinds, from what each event says.
 */
#include "feed.h"

#include "event/lasting.h"
#include "objects/calls.h"

static enum event_span span_of(struct intern *names, const char *name)
{
	struct event_class class = event_class_of(names, name);

	return event_span(&class, name);
}

/* Of the call whose name is known. */
static bool sets_something(const struct call_info *info)
{
	switch (info->tries) {
	case TRIES_OPEN:
	case TRIES_MAKE:
	case TRIES_REMOVE:
	case TRIES_MOVE:
	case TRIES_LOCK:
	case TRIES_CONNECT:
	case TRIES_BIND:
	case TRIES_LISTEN:
	case TRIES_EXIT:
		return true;
	default:
		/* writing is over with the call, and so is what is known of a device's */
		return info->effect != DOES_NOTHING && info->effect != DOES_WRITE &&
		       info->effect != DOES_CONTROL;
	}
}

static void test_calls_that_set_something_last(void)
{
	struct feed *feed = feed_new(1);
	struct flow *flow = &feed->session->trace.flow;
	guint lasting = 0, passing = 0;

	for (guint number = 0; known_call(number); number++) {
		const char *call = known_call(number);
		g_autofree char *entry = g_strconcat("syscall_entry_", call, NULL);
		g_autofree char *leave = g_strconcat("syscall_exit_", call, NULL);
		g_autofree char *old = g_strconcat("compat_sys_", call, NULL);

		if (!sets_something(call_info_of_name(flow, intern_id(flow->names, call)))) {
			passing++;
			continue;
		}
		lasting++;
		g_test_message("%s", call);
		g_assert_cmpint(span_of(flow->names, entry), ==, SPAN_CALL_LASTS);
		g_assert_cmpint(span_of(flow->names, old), ==, SPAN_CALL_LASTS);
		g_assert_cmpint(span_of(flow->names, leave), ==, SPAN_RETURN_LASTS);
	}
	g_assert_cmpuint(lasting, >, 50);
	g_assert_cmpuint(passing, >, 20);
	feed_free(feed);
}

static void test_frequent_calls_pass(void)
{
	struct intern *names = intern_new();

	g_assert_cmpint(span_of(names, "syscall_entry_read"), ==, SPAN_CALL);
	g_assert_cmpint(span_of(names, "syscall_exit_futex"), ==, SPAN_RETURN);
	g_assert_cmpint(span_of(names, "compat_syscall_entry_poll"), ==, SPAN_CALL);
	g_assert_cmpint(span_of(names, "sys_write"), ==, SPAN_CALL);
	g_assert_cmpint(span_of(names, "exit_syscall"), ==, SPAN_RETURN_ANY);
	intern_free(names);
}

static void test_kinds(void)
{
	struct intern *names = intern_new();

	g_assert_cmpint(span_of(names, "sched_switch"), ==, SPAN_SWITCH);
	g_assert_cmpint(span_of(names, "sched_waking"), ==, SPAN_WAKING);
	g_assert_cmpint(span_of(names, "sched_process_fork"), ==, SPAN_LASTS);
	g_assert_cmpint(span_of(names, "sched_process_exec"), ==, SPAN_LASTS);
	g_assert_cmpint(span_of(names, "lttng_statedump_file_descriptor"), ==, SPAN_LASTS);
	g_assert_cmpint(span_of(names, "signal_generate"), ==, SPAN_LASTS);
	g_assert_cmpint(span_of(names, "irq_handler_entry"), ==, SPAN_INTERRUPT);
	g_assert_cmpint(span_of(names, "timer_hrtimer_start"), ==, SPAN_TIMER);
	g_assert_cmpint(span_of(names, "net_dev_queue"), ==, SPAN_MOMENT);
	g_assert_cmpint(span_of(names, "kmem_kmalloc"), ==, SPAN_MOMENT);
	intern_free(names);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/lasting/calls that set something", test_calls_that_set_something_last);
	g_test_add_func("/lasting/frequent calls", test_frequent_calls_pass);
	g_test_add_func("/lasting/kinds", test_kinds);
	return g_test_run();
}
