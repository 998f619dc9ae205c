/* SPDX-License-Identifier: MIT */
/* The small parts: times, filters, stores, queue, event table. Expectations
 * are from the manual pages' words, or worked out by hand.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/filter.h"
#include "event/queue.h"
#include "model/files.h"
#include "util/idmap.h"
#include "util/pages.h"
#include "util/spill.h"
#include "util/pattern.h"
#include "whylate/whylate.h"

/* 1 is a limit that is exceeded: no error may say so. */
static void test_error_status(void)
{
	g_autoptr(GError) usage = g_error_new_literal(WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "");
	g_autoptr(GError) output = g_error_new_literal(WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "");
	g_autoptr(GError) file = g_error_new_literal(G_FILE_ERROR, G_FILE_ERROR_ISDIR, "");

	g_assert_cmpint(file->code, ==, 1);
	g_assert_cmpint(error_status(usage), ==, 2);
	g_assert_cmpint(error_status(output), ==, 5);
	g_assert_cmpint(error_status(file), ==, 3);
}

static void test_durations(void)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {{"500ms", 500000000}, {"1.5s", 1500000000}, {"20us", 20000},
		    {"20µs", 20000},      {"7ns", 7},           {"2", 2000000000},
		    {"3m", 180000000000}, {"0.000000001", 1},   {"1h", 3600000000000}};
	static const char *const bad[] = {
		"", "ms", "5 ms", "1..2s", "-5ms", "5x", "1e3s", "0x10ms", "99999999999999999999s"};
	int64_t ns;

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_assert_true(when_parse_duration(good[i].text, &ns, NULL));
		g_assert_cmpint(ns, ==, good[i].ns);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;

		g_test_message("%s", bad[i]);
		g_assert_false(when_parse_duration(bad[i], &ns, &error));
		g_assert_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE);
	}
}

static void test_times(void)
{
	/* the trace: 2026-11-21 09:13:15.300 to 09:13:16.550 UTC */
	const int64_t first = INT64_C(1795252395300000000), last = first + 1250000000;
	static const struct {
		const char *text;
		int64_t from_first;
	} good[] = {
		{"09:13:15.3", 0},
		{"09:13:16", 700000000},
		{"2026-11-21 09:13:15.300000001", 1},
		{"2026-11-21T09:13:16", 700000000},
		{"[09:13:15.400000000]", 100000000},
		{"1795252395.5", 200000000},
		{"1795252395300000007ns", 7},
		{"+250ms", 250000000},
		{"-250ms", 1000000000},
	};
	static const char *const bad[] = {"25:00:00x", "09:61:00", "2026-13-01 00:00:00",
					  "1.2.3",     "12ns3",    "[nonsense]",
					  "+",         "12:00"};
	struct when when;

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_test_message("%s", good[i].text);
		g_assert_true(when_parse(good[i].text, &when, NULL));
		g_assert_cmpint(when_resolve(&when, first, last, first, true) - first, ==,
				good[i].from_first);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;

		g_test_message("%s", bad[i]);
		if (!when_parse(bad[i], &when, &error))
			g_assert_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE);
		else /* what does not begin like a time is taken for an event's name */
			g_assert_cmpint(when.kind, ==, WHEN_EVENT);
	}
	g_assert_true(when_parse("sched_switch next_tid=5", &when, NULL));
	g_assert_cmpint(when.kind, ==, WHEN_EVENT);
}

/* What is too far away for a number is after, or before, everything: no window. */
static void test_far_times(void)
{
	static const struct {
		const char *text;
		int64_t at;
	} far[] = {{"9999-12-31 23:59:59", INT64_MAX},
		   {"0001-01-01 00:00:00", INT64_MIN},
		   {"1969-12-31 23:59:59",
		    INT64_C(-1000000000)}, /* what a failed conversion looks like */
		   {"+9000000000000000000ns", INT64_MAX},
		   {"-9000000000000000000ns", INT64_C(223372036854775804)}};
	struct when when;

	for (size_t i = 0; i < G_N_ELEMENTS(far); i++) {
		g_test_message("%s", far[i].text);
		g_assert_true(when_parse(far[i].text, &when, NULL));
		g_assert_cmpint(when_resolve(&when, 1, INT64_MAX - 3, INT64_MAX - 4, true), ==,
				far[i].at);
	}
}

/* "Values and EVENT may hold * and ?"; any bytes may be on either side: \xc3\xa9 is one
 * character, \xc3 alone is what is left where a name was cut. */
static void test_patterns(void)
{
	static const char *const fit[][2] = {
		{"", ""},
		{"*", ""},
		{"*", "a"},
		{"**", "a"},
		{"a?c", "abc"},
		{"a*c", "ac"},
		{"*/sh", "/bin/sh"},
		{"*a*b*c", "xaybzc"},
		{"*ab", "aab"},
		{"?", "\xc3\xa9"},
		{"*?x", "\xc3\xa9x"},
		{"*\xc3", "caf\xc3"},
		{"*/sh", "\xf0/sh"},
		{"?", "\xc3"},
		{"*x", "\xfd\xfd\xfdx"},
		{"\xa9*", "\xa9"}};
	static const char *const differ[][2] = {
		{"", "a"},     {"?", ""},           {"a", "ab"},         {"*/sh", "/bin/sh "},
		{"a?c", "ac"}, {"*??", "\xc3\xa9"}, {"*a*b*c", "xaybz"}, {"*/sh", "caf\xc3"},
		{"*x", "\xf0"}};
	g_autofree char *text = g_strnfill(20000, 'a'), *pattern = g_strnfill(200, '*');

	for (size_t i = 0; i < G_N_ELEMENTS(fit); i++)
		if (!pattern_match(fit[i][0], fit[i][1]))
			g_error("'%s' does not fit '%s'", fit[i][0], fit[i][1]);
	for (size_t i = 0; i < G_N_ELEMENTS(differ); i++)
		if (pattern_match(differ[i][0], differ[i][1]))
			g_error("'%s' fits '%s'", differ[i][0], differ[i][1]);
	for (size_t i = 1; i < 199; i += 2) /* *a*a*a … b: not exponential */
		pattern[i] = 'a';
	pattern[199] = 'b';
	g_assert_false(pattern_match(pattern, text));
}

static void test_texts(void)
{
	char text[48];

	g_assert_cmpstr(when_duration(text, 0), ==, "0 ns");
	g_assert_cmpstr(when_duration(text, 999), ==, "999 ns");
	g_assert_cmpstr(when_duration(text, 13600000), ==, "13.60 ms");
	g_assert_cmpstr(when_duration(text, 999999), ==, "1.000 ms");
	g_assert_cmpstr(when_duration(text, 853700000), ==, "853.7 ms");
	g_assert_cmpstr(when_duration(text, 123456789012), ==, "123.5 s");
	g_assert_cmpstr(when_duration(text, INT64_MIN), ==, "-9223372037 s");
	g_assert_cmpstr(when_time(text, INT64_C(1795252395300000007), true, false), ==,
			"[09:13:15.300000007]");
	g_assert_cmpstr(when_time(text, -1, true, true), ==, "[1969-12-31 23:59:59.999999999]");
}

static void test_filter(void)
{
	g_autoptr(GError) error = NULL;
	struct event_filter *filter =
		event_filter_parse("sched_* a=5 $ctx.b='x y' c=*/z nth=3", &error);
	const struct filter_condition *conditions;

	g_assert_no_error(error);
	g_assert_true(event_filter_wants(filter, "sched_switch"));
	g_assert_false(event_filter_wants(filter, "irq_handler_entry"));
	g_assert_cmpint(filter->nth, ==, 3);
	g_assert_cmpuint(filter->conditions->len, ==, 3);
	conditions = (const struct filter_condition *) filter->conditions->data;
	g_assert_true(filter_condition_integer(&conditions[0], true, 5));
	g_assert_false(filter_condition_integer(&conditions[0], true, (uint64_t) -5));
	g_assert_cmpint(conditions[1].scope, ==, FILTER_CONTEXT);
	g_assert_true(filter_condition_text(&conditions[1], "x y"));
	g_assert_true(filter_condition_text(&conditions[2], "/a/b/z"));
	g_assert_false(filter_condition_text(&conditions[2], "/a/b/zz"));
	event_filter_free(filter);
	filter = event_filter_parse("e a=-1 b=0x10 c=18446744073709551615 d=-0", &error);
	conditions = (const struct filter_condition *) filter->conditions->data;
	g_assert_true(filter_condition_integer(&conditions[0], true, (uint64_t) -1));
	/* the same bits as an unsigned number are another number */
	g_assert_false(filter_condition_integer(&conditions[0], false, (uint64_t) -1));
	g_assert_true(filter_condition_integer(&conditions[1], false, 16));
	g_assert_true(filter_condition_integer(&conditions[2], false, UINT64_MAX));
	g_assert_true(filter_condition_integer(&conditions[3], false, 0));
	event_filter_free(filter);
	for (const char *const *bad =
		     (const char *const[]) {"", "e x", "e =5", "e nth=0", "e nth=x", "e a='", NULL};
	     *bad; bad++) {
		g_test_message("%s", *bad);
		g_assert_null(event_filter_parse(*bad, &error));
		g_assert_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE);
		g_clear_error(&error);
	}
}

/* Against GHashTable, with keys that crowd together. */
static void test_idmap(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	g_autoptr(GHashTable) model = g_hash_table_new(NULL, NULL);
	struct idmap map;

	idmap_init(&map);
	for (int i = 0; i < 100000; i++) {
		guint key = (guint) g_rand_int_range(random, 1, 500);
		guint value = (guint) g_rand_int_range(random, 1, 1 << 30);

		if (g_rand_boolean(random)) {
			idmap_set(&map, key, value);
			g_hash_table_insert(model, GUINT_TO_POINTER(key), GUINT_TO_POINTER(value));
		} else {
			idmap_remove(&map, key);
			g_hash_table_remove(model, GUINT_TO_POINTER(key));
		}
		key = (guint) g_rand_int_range(random, 1, 500);
		value = GPOINTER_TO_UINT(g_hash_table_lookup(model, GUINT_TO_POINTER(key)));
		g_assert_cmpuint(idmap_get(&map, key), ==, value ? value : IDMAP_NONE);
	}
	idmap_clear(&map);
}

/* Records stay where and as they were, in memory and spilled. */
static void test_pages(void)
{
	for (int spill = 0; spill < 2; spill++) {
		struct pages pages;
		uint32_t first = 0;

		pages_init(&pages, 12, spill ? 0 : SIZE_MAX);
		for (uint32_t i = 0; i < 3000; i++) {
			uint32_t at = pages_reserve(&pages, 100);

			first = i ? first : at;
			for (uint32_t k = 0; k < 100; k++)
				memcpy(pages_at(&pages, at + k), &(uint32_t[3]) {i, k, at}, 12);
			/* a block lies side by side */
			g_assert_true((char *) pages_at(&pages, at) + 99 * 12 ==
				      (char *) pages_at(&pages, at + 99));
		}
		g_assert_cmpuint(*(uint32_t *) pages_at(&pages, first), ==, 0);
		for (uint32_t i = 0; i < pages.used; i++) {
			const uint32_t *record = pages_at(&pages, i);

			if (record[2] || record[0]) /* not the end of a segment left empty */
				g_assert_cmpuint(record[2] + record[1], ==, i);
		}
		g_assert_cmpint(pages.spill_fd >= 0, ==, spill);
		g_assert_cmpint(pages.spill_failed, ==, 0);
		pages_clear(&pages);
	}
}

static void compare_event(const struct event *event, void *data)
{
	int64_t *next = data;

	g_assert_cmpint(event->time, ==, (*next)++);
	switch (event->kind) {
	case EV_SCHED_SWITCH:
		g_assert_cmpstr(event->sched_switch.prev_comm, ==, "prev");
		g_assert_cmpstr(event->sched_switch.next_comm, ==, "a longer next");
		g_assert_cmpint(event->sched_switch.next_tid, ==, (int32_t) event->time);
		break;
	case EV_SYSCALL_EXIT:
		g_assert_cmpstr(event->syscall.filename, ==, "/x");
		g_assert_null(event->syscall.v4.bytes);
		g_assert_cmpmem(event->syscall.readfds.bytes, event->syscall.readfds.count,
				"\1\2\3", 3);
		g_assert_cmpuint(event->syscall.fd_count, ==, 2);
		g_assert_cmpuint(event->syscall.fds[1].data, ==, 22);
		break;
	default:
		g_assert_not_reached();
	}
}

/* --- records that a process and its child have ---------------------------------------------- */

#define DETACHED (3 * PAGES_SEGMENT + 5) /* the last segment is begun */

static void fill_with(struct pages *pages, uint32_t from, uint32_t to, uint64_t factor)
{
	for (uint32_t i = from; i < to; i++) {
		g_assert_cmpuint(pages_reserve(pages, 1), ==, i);
		*(uint64_t *) pages_at(pages, i) = i * factor;
	}
}

static void assert_filled(const struct pages *pages, uint32_t from, uint32_t to, uint64_t factor)
{
	for (uint32_t i = from; i < to; i++) {
		g_assert_cmpuint(*(uint64_t *) pages_at(pages, i), ==, i * factor);
		pages_pass(pages, i);
	}
}

/* What memory kept of a store that has spilled is in the file, too, and is read back from there. */
static void spill_first(struct pages *pages, uint32_t memory)
{
	uint64_t *record = pages_at(pages, 1);

	pages_spill_first(pages);
	pages_spill_first(pages); /* nothing is left to do */
	g_assert_cmpuint(pages->in_memory, ==, 0);
	g_assert_cmpuint(pages->spilled, ==, memory < 4 ? 3 : 0);
	*record = 9; /* it may still be written to, where it was */
	pages_let_go(pages);
	g_assert_cmpuint(*(uint64_t *) pages_at(pages, 1), ==, 9);
	*record = 3;
}

/* The child lets go of what was spilled and adds to it, in the begun segment and behind it; the
 * parent has what it had. `memory`: segments that are not spilled; `first`: until they are. */
static void detach(uint32_t memory, bool reads, bool first)
{
	struct pages pages;
	int status;
	pid_t child;

	pages_init(&pages, sizeof(uint64_t), memory * PAGES_SEGMENT * sizeof(uint64_t));
	fill_with(&pages, 0, DETACHED, 3);
	if (first)
		spill_first(&pages, memory);
	child = fork();
	if (!child) {
		pages_detach(&pages, reads);
		pages_let_go(&pages);
		assert_filled(&pages, 0, DETACHED, 3);
		fill_with(&pages, DETACHED, 6 * PAGES_SEGMENT, 7);
		pages_let_go(&pages);
		assert_filled(&pages, 0, DETACHED, 3);
		assert_filled(&pages, DETACHED, 6 * PAGES_SEGMENT, 7);
		*(uint64_t *) pages_at(&pages, DETACHED - 1) = 1; /* of the begun one */
		if (!reads)
			*(uint64_t *) pages_at(&pages, 1) = 1;
		pages_let_go(&pages);
		g_assert_cmpuint(*(uint64_t *) pages_at(&pages, DETACHED - 1), ==, 1);
		g_assert_cmpuint(*(uint64_t *) pages_at(&pages, 1), ==, reads ? 3 : 1);
		pages_clear(&pages);
		_exit(0);
	}
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_cmpint(status, ==, 0);
	g_assert_cmpuint(pages.used, ==, DETACHED);
	assert_filled(&pages, 0, DETACHED, 3);
	fill_with(&pages, DETACHED, DETACHED + 9, 5);
	pages_let_go(&pages);
	assert_filled(&pages, DETACHED, DETACHED + 9, 5);
	pages_clear(&pages);
}

/* --- what is sorted, what is flat: both where it has spilled ---------------------------------- */

struct sorted {
	uint32_t key, place; /* where it was */
};

static int by_key(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Equal ones stay as they were to each other; what is told of where each was is true. */
static void sort(uint32_t count, uint32_t keys, size_t memory)
{
	g_autofree uint32_t *places = NULL;
	struct pages pages;

	pages_init(&pages, sizeof(struct sorted), memory);
	for (uint32_t i = 0; i < count; i++)
		*(struct sorted *) pages_at(&pages, pages_reserve(&pages, 1)) =
			(struct sorted) {(i * UINT32_C(2654435761) >> 7) % keys, i};
	places = pages_sort(&pages, by_key, memory);
	g_assert_cmpuint(pages.used, ==, count);
	g_assert_cmpint(pages.spilled > 0, ==, !memory && count > PAGES_SEGMENT);
	for (uint32_t i = 0; i < count; i++) {
		const struct sorted *at = pages_at(&pages, i), *next = pages_at(&pages, i + 1);

		g_assert_cmpuint(at->key, ==, (at->place * UINT32_C(2654435761) >> 7) % keys);
		g_assert_cmpuint(places[i], ==, at->place);
		g_assert_true(i + 1 == count || at->key < next->key ||
			      (at->key == next->key && at->place < next->place));
	}
	pages_clear(&pages);
}

static void test_sorted_pages(void)
{
	sort(0, 1, 0);
	sort(1, 1, 0);
	sort(1000, 10, SIZE_MAX);
	sort(3 * PAGES_SEGMENT + 7, 1000, SIZE_MAX);
	sort(3 * PAGES_SEGMENT + 7, 1000, 0);
	sort(3 * PAGES_SEGMENT + 7, 1, 0);
}

/* Zeros first; what was written is there after it left memory. */
static void test_blocks(void)
{
	static const size_t sizes[] = {1, 4096, SPILL_BLOCK_LEAST - 1, SPILL_BLOCK_LEAST,
				       SPILL_BLOCK_LEAST + 4097};

	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		struct spill_block block;
		uint8_t *bytes;

		spill_block_make(&block, sizes[i]);
		bytes = block.bytes;
		g_assert_cmpuint(block.size, ==, sizes[i] < SPILL_BLOCK_LEAST ? 0 : sizes[i]);
		for (size_t k = 0; k < sizes[i]; k += 997)
			g_assert_cmpuint(bytes[k], ==, 0);
		for (size_t k = 0; k < sizes[i]; k += 997)
			bytes[k] = (uint8_t) (k % 251);
		spill_block_let_go(&block);
		for (size_t k = 0; k < sizes[i]; k += 997)
			g_assert_cmpuint(bytes[k], ==, k % 251);
		spill_block_clear(&block);
		g_assert_null(block.bytes);
	}
}

static void test_detached_pages(void)
{
	for (uint32_t memory = 0; memory < 5; memory++) {
		detach(memory, true, false);
		detach(memory, false, false);
		detach(memory, true, true);
		detach(memory, false, true);
	}
}

/* What comes out of the queue is what went in, through the file too. */
static void test_queue(void)
{
	struct event_ready ready[2] = {{11, 1, 1}, {22, 2, 4}};
	struct event_queue queue;
	int64_t next = 0;

	event_queue_init(&queue);
	for (int64_t i = 0; i < 200000; i++) {
		struct event event = {.time = i, .kind = i % 2 ? EV_SYSCALL_EXIT : EV_SCHED_SWITCH};

		event_reset(&event);
		if (i % 2) {
			event.syscall.filename = "/x";
			event.syscall.readfds =
				(struct event_bytes) {(const uint8_t *) "\1\2\3", 3};
			event.syscall.fds = ready;
			event.syscall.fd_count = 2;
		} else {
			event.sched_switch.prev_comm = "prev";
			event.sched_switch.next_comm = "a longer next";
			event.sched_switch.next_tid = (int32_t) i;
		}
		event_queue_push(&queue, &event);
	}
	g_assert_cmpint(queue.file, >=, 0);
	event_queue_drain(&queue, compare_event, &next);
	g_assert_cmpint(next, ==, 200000);
	g_assert_cmpuint(queue.count, ==, 0);
	event_queue_clear(&queue);
}

/* Names over the tracer's versions (lttng-events.md section 1). */
static void test_kinds(void)
{
	static const struct {
		const char *name;
		enum event_kind kind;
		const char *argument;
		bool compat;
	} cases[] = {
		{"sched_switch", EV_SCHED_SWITCH, "", false},
		{"sched_ttwu", EV_SCHED_WAKING, "", false},
		{"softirq_entry", EV_SOFTIRQ_ENTRY, "", false},
		{"irq_softirq_entry", EV_SOFTIRQ_ENTRY, "", false},
		{"hrtimer_start", EV_HRTIMER_START, "", false},
		{"timer_hrtimer_start", EV_HRTIMER_START, "", false},
		{"netif_receive_skb", EV_NET_RECEIVE, "", false},
		{"sys_open", EV_SYSCALL_ENTRY, "open", false},
		{"compat_sys_open", EV_SYSCALL_ENTRY, "open", true},
		{"syscall_entry_open", EV_SYSCALL_ENTRY, "open", false},
		{"compat_syscall_exit_futex_time32", EV_SYSCALL_EXIT, "futex_time32", true},
		{"exit_syscall", EV_SYSCALL_EXIT, "", false},
		{"x86_irq_vectors_local_timer_entry", EV_VECTOR_ENTRY, "local_timer", false},
		{"x86_irq_vectors_call_function_single_exit", EV_VECTOR_EXIT,
		 "call_function_single", false},
		{"x86_exceptions_page_fault_user", EV_PAGE_FAULT_USER, "", false},
		{"x86_exceptions_page_fault_kernel", EV_PAGE_FAULT_KERNEL, "", false},
		{"sched_process_wait", EV_OTHER, "", false},
		{"kmem_kmalloc", EV_OTHER, "", false},
		{"", EV_OTHER, "", false},
	};
	struct intern *names = intern_new();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct event_class class = event_class_of(names, cases[i].name);

		g_test_message("%s", cases[i].name);
		g_assert_cmpint(class.kind, ==, cases[i].kind);
		g_assert_cmpstr(intern_text(names, class.argument), ==, cases[i].argument);
		g_assert_cmpint(class.compat, ==, cases[i].compat);
		g_assert_cmpstr(intern_text(names, class.name), ==, cases[i].name);
	}
	intern_free(names);
}

static void test_syscall_numbers(void)
{
	g_assert_cmpstr(event_syscall_name(ABI_X86_64, 332), ==, "statx");
	g_assert_cmpstr(event_syscall_name(ABI_X86_64, 15), ==, "rt_sigreturn");
	g_assert_cmpstr(event_syscall_name(ABI_I386, 173), ==, "rt_sigreturn");
	g_assert_cmpstr(event_syscall_name(ABI_I386, 383), ==, "statx");
	g_assert_cmpstr(event_syscall_name(ABI_UNKNOWN, 435), ==, "clone3");
	g_assert_null(event_syscall_name(ABI_UNKNOWN, 332));
	g_assert_null(event_syscall_name(ABI_X86_64, 100000));
	g_assert_cmpint(event_abi(event_abi_hint("syscall_entry_arch_prctl")), ==, ABI_X86_64);
	g_assert_cmpint(event_abi(event_abi_hint("sys_stat64") | event_abi_hint("sys_vm86old")), ==,
			ABI_I386);
	g_assert_cmpint(event_abi(event_abi_hint("sys_stat64")), ==, ABI_UNKNOWN);
}

static const char *key(struct intern *names, struct fd_table *table, int32_t fd)
{
	return intern_text(names, fd_key(table, fd));
}

/* Descriptors through dup, fork with and without CLONE_FILES, exec, close. */
static void test_files(void)
{
	struct intern *names = intern_new();
	struct fd_table *parent = fd_table_new(), *copy, *shared;

	fd_open(parent, 3, intern_id(names, "file:/a"), false);
	fd_open(parent, 4, intern_id(names, "socket:inet"), true);
	fd_dup(parent, 4, 9, false);
	copy = fd_table_copy(parent);
	shared = fd_table_join(parent);
	fd_close(parent, 3);
	g_assert_cmpstr(key(names, parent, 3), ==, "");
	g_assert_cmpstr(key(names, shared, 3), ==, "");
	g_assert_cmpstr(key(names, copy, 3), ==, "file:/a"); /* its own since the fork */
	fd_rename(copy, 4, intern_id(names, "socket:1.2.3.4:80")); /* connect: the same socket */
	g_assert_cmpstr(key(names, parent, 9), ==, "socket:1.2.3.4:80");
	fd_exec(copy); /* 4 was close-on-exec, its duplicate is not */
	g_assert_cmpstr(key(names, copy, 4), ==, "");
	g_assert_cmpstr(key(names, copy, 9), ==, "socket:1.2.3.4:80");
	g_assert_cmpstr(key(names, parent, 4), ==, "socket:1.2.3.4:80");
	fd_open(copy, 12, intern_id(names, "epoll"), false);
	fd_epoll_set(copy, 12, UINT64_C(0xdeadbeef00000000), 9);
	g_assert_cmpint(fd_epoll_get(copy, 12, UINT64_C(0xdeadbeef00000000)), ==, 9);
	g_assert_cmpint(fd_epoll_get(copy, 12, 5), ==, -1);
	fd_close_range(copy, 5, UINT32_MAX);
	g_assert_cmpstr(key(names, copy, 9), ==, "");
	g_assert_cmpstr(key(names, copy, 3), ==, "file:/a");
	g_assert_cmpstr(intern_text(names, file_key_of_name(names, "anon_inode:[eventpoll]")), ==,
			"epoll");
	g_assert_cmpstr(intern_text(names, file_key_of_name(names, "pipe:[12]")), ==, "pipe:[12]");
	g_assert_cmpstr(intern_text(names, file_key_of_name(names, "/dev/null")), ==,
			"file:/dev/null");
	fd_table_leave(&parent);
	fd_table_leave(&shared);
	fd_table_leave(&copy);
	intern_free(names);
}

/* Names with control characters and broken UTF-8 cannot play with a terminal. */
static void test_safe_text(void)
{
	g_autofree char *a = text_safe("a\033[31mb\nc\x7f");
	g_autofree char *b = text_safe("x\xff"
				       "y");
	g_autofree char *c = text_safe("caf\xc3\xa9 \xe2\x80\xae right-to-left");

	g_assert_cmpstr(a, ==, "a\\x1b[31mb\\x0ac\\x7f");
	g_assert_true(g_utf8_validate(b, -1, NULL));
	g_assert_cmpstr(c, ==, "caf\xc3\xa9 \\u202e right-to-left");
	g_assert_true(text_is_plain(" ~"));
	g_assert_false(text_is_plain("a\x7f"));
	g_assert_false(text_is_plain("\x1f"));
	g_assert_false(text_is_plain("caf\xc3\xa9"));
}

/* As the C library writes them. */
static void test_decimal(void)
{
	static const int64_t numbers[] = {0,    7,    10,        -1,        99,
					  -100, 4096, INT32_MIN, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		g_autofree char *same = g_strdup_printf("%" PRId64, numbers[i]);
		char buffer[TEXT_DECIMAL];

		g_assert_cmpstr(text_decimal(buffer, numbers[i]), ==, same);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/util/error-status", test_error_status);
	g_test_add_func("/util/durations", test_durations);
	g_test_add_func("/util/times", test_times);
	g_test_add_func("/util/far-times", test_far_times);
	g_test_add_func("/util/patterns", test_patterns);
	g_test_add_func("/util/texts", test_texts);
	g_test_add_func("/util/idmap", test_idmap);
	g_test_add_func("/util/pages", test_pages);
	g_test_add_func("/event/filter", test_filter);
	g_test_add_func("/util/pages/detached", test_detached_pages);
	g_test_add_func("/util/pages/sorted", test_sorted_pages);
	g_test_add_func("/util/blocks", test_blocks);
	g_test_add_func("/event/queue", test_queue);
	g_test_add_func("/event/kinds", test_kinds);
	g_test_add_func("/event/syscall-numbers", test_syscall_numbers);
	g_test_add_func("/model/files", test_files);
	g_test_add_func("/report/safe-text", test_safe_text);
	g_test_add_func("/report/decimal", test_decimal);
	return g_test_run();
}
