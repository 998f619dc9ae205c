/* SPDX-License-Identifier: MIT */
/* Call stacks as samples, on small hand-made sequences: which events are samples of what, that an
 * event recorded through two channels happened once, and what functions come of them. Expectations
 * are worked out by hand from docs/semantics.md, "Samples".
 */
#include <math.h>
#include <unistd.h>

#include "feed.h"
#include "flow/flow.h"
#include "flow/forget.h"
#include "samples/function_words.h"
#include "timeline/sample.h"

#define TRACER UINT64_C(0xffffffffc0000100) /* lttng's own, of the symbols below */
#define TICK UINT64_C(0xffffffff81000110)   /* in asm_sysvec_apic_timer_interrupt */
#define READ UINT64_C(0xffffffff81000210)   /* in vfs_read */
#define COPY UINT64_C(0xffffffff81000300)   /* the first byte of copy_page */
#define SOFT UINT64_C(0xffffffff81000510)   /* in handle_softirqs */
#define ENTRY UINT64_C(0xffffffff81000410)  /* in do_syscall_64 */

static const char kallsyms[] =
	"ffffffff81000100 T asm_sysvec_apic_timer_interrupt\n"
	"ffffffff81000200 T vfs_read\n"
	"ffffffff81000300 T copy_page\n"
	"ffffffff81000400 T do_syscall_64\n"
	"ffffffff81000500 T handle_softirqs\n"
	"ffffffffc0000000 t lttng_callstack [lttng_tracer]\n";

struct words {
	uint64_t words[8];
	uint32_t count;
};

static void with_stacks(struct feed *feed, struct event *event, uint16_t channel,
			const struct words *kernel, const struct words *user)
{
	event->has_callstacks = true;
	event->channel = channel;
	event->callstack = (struct event_bytes) {(const uint8_t *) kernel->words,
						 kernel->count * (uint32_t) sizeof(uint64_t)};
	event->user_callstack = (struct event_bytes) {(const uint8_t *) user->words,
						      user->count * (uint32_t) sizeof(uint64_t)};
	send(feed, event);
}

/* A tick's entry with the stack of who was in vfs_read; `channel` 0 has no stacks. */
static void tick(struct feed *feed, int64_t time, uint16_t channel)
{
	struct event event = event_of(feed, time, 0, "x86_irq_vectors_local_timer_entry");
	struct words kernel = {{TRACER, TICK, COPY, READ, ENTRY}, 5}, user = {{0x5000, 0x6000}, 2};

	event.channel = channel;
	if (channel)
		with_stacks(feed, &event, channel, &kernel, &user);
	else
		send(feed, &event);
}

static void tick_ends(struct feed *feed, int64_t time)
{
	plain(feed, time, 0, "x86_irq_vectors_local_timer_exit");
}

/* "TIME SOURCE KERNEL USER; …", of stacks how many words. */
static const char *samples_of(struct feed *feed, int32_t tid)
{
	const struct trace *trace = &feed->session->trace;
	const struct thread *thread = model_thread(&trace->model, life(feed, tid, 0));
	GString *text = g_string_new(NULL);
	uint64_t words[CALLSTACK_WORDS];

	for (uint32_t i = 0; i < thread->samples.used; i++) {
		const struct sample *at = sample_at(&trace->timeline.samples, &thread->samples, i);

		g_string_append_printf(text, "%s%d %d %u %u", i ? "; " : "", (int) at->time,
				       at->source,
				       callstack_words(&trace->flow.callstacks, at->kernel, words),
				       callstack_words(&trace->flow.callstacks, at->user, words));
	}
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* The tick of channel 0 begins at 20, its copy with the stacks comes at 22: one interrupt, from 20
 * to 25, which sampled what ran until 20. A second of both is the same; then one alone in
 * channel 1. */
static void test_copies(void)
{
	FEED(1);

	for (int i = 0; i < 2; i++) /* each channel's metadata declares it, before all events */
		event_of(feed, 0, 0, "x86_irq_vectors_local_timer_entry");
	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	tick(feed, 20, 0);
	tick(feed, 22, 1);
	tick_ends(feed, 25);
	tick(feed, 30, 1);
	tick(feed, 31, 0);
	tick_ends(feed, 35);
	tick(feed, 40, 1);
	tick_ends(feed, 45);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"10 working/user, 20 interrupted/vector:local_timer, "
			"25 working/user, 30 interrupted/vector:local_timer, 35 working/user, "
			"40 interrupted/vector:local_timer, 45 working/user, 50");
	g_assert_cmpstr(samples_of(feed, 5), ==, "20 0 5 2; 30 0 5 2; 40 0 5 2");
}

/* Looks alike and is something else: two switches side by side through two channels (each records
 * only one's events), of which the second is not to who runs. Both happened. */
static void test_no_copies(void)
{
	FEED(1);
	struct event event;

	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	event = event_of(feed, 20, 0, "sched_switch");
	event.channel = 1;
	event.sched_switch.prev_comm = "a";
	event.sched_switch.prev_tid = 5;
	event.sched_switch.prev_state = SLEEPS;
	event.sched_switch.next_comm = "b";
	event.sched_switch.next_tid = 6;
	send(feed, &event);
	event.channel = 2;
	event.time = 30;
	event.sched_switch.prev_comm = "b";
	event.sched_switch.prev_tid = 6;
	event.sched_switch.next_comm = "c";
	event.sched_switch.next_tid = 7;
	send(feed, &event);
	plain(feed, 40, 0, "other");
	g_assert_cmpstr(states(feed, 6), ==,
			"10 interrupted/wait-cpu, 20 working/user, 30 blocked/unknown, 40");
	g_assert_cmpstr(states(feed, 7), ==, "10 interrupted/wait-cpu, 30 working/user, 40");
}

/* What is no tick of the thread: the idle loop's, a switch's stack (it tells of the wait); of the
 * thread's own doing are events in its calls, of the softIRQ's those in it. */
static void test_sources(void)
{
	FEED(1);
	struct words kernel = {{TRACER, READ, ENTRY}, 3}, none = {{0}, 0};
	struct event event;

	tick(feed, 5, 1);
	tick_ends(feed, 6);
	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	entry(feed, 15, 0, "read", 3);
	event = event_of(feed, 20, 0, "block_rq_issue");
	with_stacks(feed, &event, 1, &kernel, &none);
	irq(feed, 30, 0, "irq_handler_entry", 9);
	event = event_of(feed, 32, 0, "block_rq_complete");
	with_stacks(feed, &event, 1, &kernel, &none);
	event.time = 33;
	send(feed, &event);
	irq(feed, 34, 0, "irq_handler_exit", 9);
	softirq(feed, 40, 0, "irq_softirq_entry", 1);
	event.time = 42;
	send(feed, &event);
	softirq(feed, 44, 0, "irq_softirq_exit", 1);
	event = event_of(feed, 50, 0, "sched_switch");
	event.sched_switch.prev_comm = "a";
	event.sched_switch.prev_tid = 5;
	event.sched_switch.prev_state = SLEEPS;
	event.sched_switch.next_comm = "idle";
	with_stacks(feed, &event, 1, &kernel, &none);
	plain(feed, 60, 0, "other");
	g_assert_cmpstr(samples_of(feed, 5), ==, "20 3 3 0; 30 1 3 0; 42 2 3 0");
}

/* The traced kernel's symbols are in the file whose name is returned, to be removed and freed. */
static char *symbols_for(struct feed *feed)
{
	char *place = NULL;
	int fd = g_file_open_tmp("kallsyms-XXXXXX", &place, NULL);

	close(fd);
	g_assert_true(g_file_set_contents(place, kallsyms, -1, NULL));
	feed->options.kallsyms = g_strdup(place);
	return place;
}

/* Three ticks in a read of 30, one in the thread's own code of 20 (kernel stack: the tick's alone):
 * the read's 30 go to copy_page, called from vfs_read; nothing is known of the other. Without the
 * clock's samples its own event would count. */
static void test_functions(void)
{
	FEED(1);
	struct words kernel = {{TRACER, READ, ENTRY}, 3}, bare = {{TRACER, TICK}, 2},
		     none = {{0}, 0};
	g_autofree char *place = symbols_for(feed);
	const struct function_share *share;
	const struct node *node;
	struct node *summary;
	struct event event;

	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	event = event_of(feed, 20, 0, "x86_irq_vectors_local_timer_entry");
	with_stacks(feed, &event, 1, &bare, &none);
	tick_ends(feed, 25);
	entry(feed, 35, 0, "read", 3);
	event = event_of(feed, 36, 0, "block_rq_issue");
	with_stacks(feed, &event, 1, &kernel, &none);
	for (int i = 0; i < 3; i++) {
		tick(feed, 45 + 20 * i, 1);
		tick_ends(feed, 55 + 20 * i);
	}
	leave(feed, 95, 0, "read", 1);
	plain(feed, 100, 0, "other");
	finish(feed);
	unlink(place);
	summary = summary_new(feed->session, life(feed, 5, 0), 0, 100);
	node = summary;
	for (guint i = 0; i < summary->children->len; i++)
		if (strcmp(((struct node *) summary->children->pdata[i])->element, "working") == 0)
			node = summary->children->pdata[i];
	g_assert_cmpstr(node->element, ==, "working");
	for (guint i = 0; i < node->children->len; i++) {
		const struct node *leaf = node->children->pdata[i];

		if (strcmp(leaf->element, "user") == 0) {
			g_assert_null(leaf->sampled.functions); /* nothing is known of it */
			continue;
		}
		g_assert_cmpstr(leaf->element, ==, "syscall:read");
		g_assert_cmpint(leaf->ns, ==, 10 + 10 + 10);
		g_assert_cmpint(leaf->sampled.samples, ==, 3);
		share = &g_array_index(leaf->sampled.functions, struct function_share, 0);
		g_assert_cmpstr(share->function->name, ==, "copy_page");
		g_assert_true(share->function->kernel);
		g_assert_cmpint(share->self, ==, 3);
		g_assert_cmpint(share->ns, ==, 30);
		/* Wilson: z²/(2n) / (1 + z²/n) of 3 of 3, z 1.96: 0.6403 / 2.2805 */
		g_assert_cmpfloat(fabs(share->error - 0.2808), <, 0.0001);
		g_assert_cmpstr(
			g_array_index(share->callers, struct function_caller, 0).function->name, ==,
			"vfs_read");
	}
	node_free(summary);
}

/* "ELEMENT SAMPLES IN_INTERRUPTS FUNCTION◄CALLER …; …" of what the thread did on the CPU. */
static const char *functions_of(struct feed *feed, const struct node *node, GString *text)
{
	for (guint i = 0; i < node->children->len; i++) {
		const struct node *leaf = node->children->pdata[i];

		if (leaf->parent->parent && (leaf->sampled.samples || leaf->sampled.in_interrupts))
			g_string_append_printf(text, "%s%s %u %u", text->len ? "; " : "",
					       leaf->element, leaf->sampled.samples,
					       leaf->sampled.in_interrupts);
		for (guint k = 0; leaf->parent->parent && leaf->sampled.functions &&
				  k < leaf->sampled.functions->len;
		     k++)
			g_string_append_printf(text, " %s",
					       g_array_index(leaf->sampled.functions,
							     struct function_share, k)
						       .function->name);
		functions_of(feed, leaf, text);
	}
	return text->str;
}

/* Two ticks in a read, of which the second comes in a softIRQ: its stack has the first interrupt's
 * entry further out. `told`: the softIRQ has its events, and the sample is its own, with nothing of
 * whom it interrupted; else the trace has it as part of the read, and it is left out of that. */
static void in_softirq(bool told, const char *expected)
{
	FEED(1);
	struct words inside = {{TRACER, TICK, SOFT, TICK, COPY, READ, ENTRY}, 7},
		     user = {{0x5000, 0x6000}, 2};
	g_autofree char *place = symbols_for(feed);
	g_autoptr(GString) text = g_string_new(NULL);
	struct node *summary;
	struct event event;

	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	entry(feed, 20, 0, "read", 3);
	tick(feed, 30, 1);
	tick_ends(feed, 35);
	if (told) {
		event = event_of(feed, 36, 0, "irq_softirq_entry");
		event.softirq.vec = 9;
		send(feed, &event);
	}
	event = event_of(feed, 40, 0, "x86_irq_vectors_local_timer_entry");
	with_stacks(feed, &event, 1, &inside, &user);
	tick_ends(feed, 45);
	if (told) {
		event = event_of(feed, 46, 0, "irq_softirq_exit");
		event.softirq.vec = 9;
		send(feed, &event);
	}
	leave(feed, 95, 0, "read", 1);
	plain(feed, 100, 0, "other");
	finish(feed);
	unlink(place);
	summary = summary_new(feed->session, life(feed, 5, 0), 0, 100);
	g_assert_cmpstr(functions_of(feed, summary, text), ==, expected);
	node_free(summary);
}

static void test_in_interrupts(void)
{
	in_softirq(false, "syscall:read 1 1 copy_page vfs_read [unknown]");
	in_softirq(true, "syscall:read 1 0 copy_page vfs_read [unknown]; "
			 "softirq:9 1 0 handle_softirqs");
}

static struct event_bytes bytes_of(const struct words *words)
{
	return (struct event_bytes) {(const uint8_t *) words->words,
				     words->count * (uint32_t) sizeof(uint64_t)};
}

/* Stacks with a common begin share its nodes; each comes back as it was. */
static void test_tree(void)
{
	struct callstacks stacks;
	struct words lists[] = {{{3, 2, 1}, 3}, {{4, 2, 1}, 3}, {{2, 1}, 2}, {{1, 2}, 2}};
	uint64_t words[CALLSTACK_WORDS];

	callstacks_init(&stacks);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		struct event_bytes list = bytes_of(&lists[i]);
		uint32_t number = callstack_id(&stacks, &list);

		g_assert_cmpint(number, ==, callstack_id(&stacks, &list));
		g_assert_cmpint(callstack_words(&stacks, number, words), ==, lists[i].count);
		g_assert_cmpmem(words, lists[i].count * sizeof *words, lists[i].words,
				lists[i].count * sizeof *words);
	}
	/* none; 1, 1◄2, 1◄2◄3, 1◄2◄4; 2, 2◄1 */
	g_assert_cmpint(stacks.nodes->len, ==, 1 + 4 + 2);
	g_assert_cmpint(callstack_id(&stacks, &(struct event_bytes) {NULL, 0}), ==, 0);
	callstacks_clear(&stacks);
}

/* What is over is forgotten, the rest stays. */
static void test_forget(void)
{
	FEED(1);

	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	for (int i = 0; i < 100; i++) {
		tick(feed, 20 + 10 * i, 1);
		tick_ends(feed, 25 + 10 * i);
	}
	flow_forget(&feed->session->trace.flow, 995);
	plain(feed, 1100, 0, "other");
	g_assert_cmpstr(samples_of(feed, 5), ==, "1000 0 5 2; 1010 0 5 2");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/samples/copies", test_copies);
	g_test_add_func("/samples/no copies", test_no_copies);
	g_test_add_func("/samples/sources", test_sources);
	g_test_add_func("/samples/functions", test_functions);
	g_test_add_func("/samples/in interrupts", test_in_interrupts);
	g_test_add_func("/samples/tree", test_tree);
	g_test_add_func("/samples/forget", test_forget);
	return g_test_run();
}
