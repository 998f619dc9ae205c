/* SPDX-License-Identifier: MIT */
/* What a drill records next, of small hand-made reports; which functions a kernel lets be probed,
 * of small hand-made lists of it; entries that probes tell alone, of hand-made events. Expectations
 * are worked out by hand from src/drill/choose.h, probes.h and src/calls/reaches.h.
 */
#include <glib/gstdio.h>

#include "calls/reaches.h"
#include "commands/commands.h"
#include "drill/choose.h"
#include "drill/probes.h"
#include "feed.h"
#include "report/output.h"

#define MS INT64_C(1000000)

/* --- choosing ---------------------------------------------------------------------------- */

static bool all_but_memset(const void *data, const char *function)
{
	(void) data;
	return strcmp(function, "memset") != 0;
}

static bool is_hooked(const void *data, const char *binary)
{
	(void) data;
	return strcmp(binary, "/bin/hooked") == 0;
}

/* A report with ' for ", which C strings are easier read with. */
static json_t *report(const char *text)
{
	g_autofree char *quoted = g_strdup(text);
	json_error_t error;
	json_t *json = json_loads(g_strdelimit(quoted, "'", '"'), 0, &error);

	if (!json)
		g_error("%s: %s", error.text, error.source);
	return json;
}

typedef struct drilled struct_drilled;

struct drilled {
	struct drill_known known;
	struct drill_choice *choice;
	char *kernel, *user, *dropped; /* "a b" */
};

static char *joined(const GPtrArray *list)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < list->len; i++)
		g_string_append_printf(text, "%s%s", i ? " " : "",
				       (char *) g_ptr_array_index(list, i));
	return g_string_free(text, FALSE);
}

static void drilled_free(struct drilled *drilled)
{
	drill_known_clear(&drilled->known);
	drill_choice_free(drilled->choice);
	g_free(drilled->kernel);
	g_free(drilled->user);
	g_free(drilled->dropped);
	g_free(drilled);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(struct_drilled, drilled_free)

/* `tried`: kernel functions of rounds before, "a b". */
static struct drilled *drill(const char *path, const char *functions, const char *tried)
{
	struct drilled *drilled = g_new0(struct drilled, 1);
	g_auto(GStrv) names = g_strsplit(tried, " ", -1);
	json_t *path_json = path ? report(path) : NULL, *functions_json = report(functions);
	GPtrArray *user = g_ptr_array_new_with_free_func(g_free);

	drill_known_init(&drilled->known);
	drilled->known.can_probe = all_but_memset;
	drilled->known.has_calls = is_hooked;
	for (char **name = names; *name; name++)
		g_hash_table_add(drilled->known.kernel, g_strdup(*name));
	drilled->choice = drill_choose(path_json, functions_json, &drilled->known, 10 * MS);
	drilled->kernel = joined(drilled->choice->kernel);
	drilled->dropped = joined(drilled->choice->dropped);
	for (guint i = 0; i < drilled->choice->user->len; i++) {
		const struct user_place *place = g_ptr_array_index(drilled->choice->user, i);

		g_ptr_array_add(user, g_strconcat(place->binary, ":", place->symbol, NULL));
	}
	drilled->user = joined(user);
	g_ptr_array_free(user, TRUE);
	json_decref(path_json);
	json_decref(functions_json);
	return drilled;
}

static const struct drill_piece *piece(const struct drilled *drilled, guint i)
{
	g_assert_cmpuint(i, <, drilled->choice->pieces->len);
	return g_ptr_array_index(drilled->choice->pieces, i);
}

#define DRILLED(...) g_autoptr(struct_drilled) drilled = drill(__VA_ARGS__)

/* main > read > vfs_read > zero > memset: 100 samples of 1 ms, 90 of them in memset, 8 in zero. */
#define STACKS                                                                                     \
	"'sampled': [{'tid': 7, 'children': [{'name': 'main', 'kernel': false, 'file': 'a.c', "    \
	"'binary': '/bin/a', 'symbol': 'main', 'samples': 100, 'self': 0, 'ns': 100000000, "       \
	"'self_ns': 0, 'children': [{'name': 'vfs_read', 'kernel': true, "                         \
	"'leaf': 'working/syscall:read', 'samples': 100, 'self': 2, 'ns': 100000000, "             \
	"'self_ns': 2000000, 'children': [{'name': 'zero', 'kernel': true, "                       \
	"'leaf': 'working/syscall:read', 'samples': 98, 'self': 8, 'ns': 98000000, "               \
	"'self_ns': 8000000, 'children': [{'name': 'memset', 'kernel': true, "                     \
	"'leaf': 'working/syscall:read', 'samples': 90, 'self': 90, 'ns': 90000000, "              \
	"'self_ns': 90000000, 'children': []}]}]}]}]}]"

#define PATH                                                                                       \
	"{'critical_path': [{'tid': 7, 'name': 'a', 'leaf': 'working/syscall:read', "              \
	"'ns': 100000000}, {'tid': 7, 'name': 'a', 'leaf': 'blocked/syscall:fsync', "              \
	"'ns': 30000000, 'cause': {'kind': 'block-device', 'label': 'vda, sector 8'}}, "           \
	"{'tid': 7, 'name': 'a', 'leaf': 'blocked/syscall:fsync', 'ns': 20000000, "                \
	"'cause': {'kind': 'block-device', 'label': 'vda, sector 16'}}, "                          \
	"{'tid': 7, 'name': 'a', 'leaf': 'working/user', 'ns': 9000000}]}"

#define THREAD(tree)                                                                               \
	"{'threads': [{'name': 'a', 'threads': [{'tid': 7}], 'tree': " tree "}], " STACKS "}"
#define CALL(kind, name, calls, own, children)                                                     \
	"{'kind': '" kind "', 'name': '" name "', 'calls': " calls                                 \
	", 'exclusive': {'working_ns': " own "}, 'children': [" children "]}"

/* Samples alone: what they show below the call, but for what nothing is below. A wait ends in what
 * it was for; its requests are one. What takes less than the limit is left out. */
static void test_first_round(void)
{
	DRILLED(PATH,
		THREAD(CALL("thread", "a", "0", "9000000",
			    CALL("syscall", "syscall:read", "5", "100000000", ""))),
		"");

	g_assert_cmpstr(drilled->kernel, ==, "vfs_read zero");
	g_assert_cmpstr(drilled->user, ==, "");
	g_assert_cmpint(drilled->choice->whole, ==, 159 * MS);
	g_assert_cmpuint(drilled->choice->pieces->len, ==, 2);
	g_assert_cmpint(piece(drilled, 0)->ns, ==, 100 * MS);
	g_assert_cmpint(piece(drilled, 0)->end, ==, PIECE_OPEN);
	/* Wilson's interval of 90 in 100 is 0.826 to 0.945 */
	g_assert_cmpstr(piece(drilled, 0)->words, ==,
			"90 ± 6 % of that in memset [kernel] (100 samples); asked for by main");
	g_assert_cmpint(piece(drilled, 1)->ns, ==, 50 * MS);
	g_assert_cmpint(piece(drilled, 1)->end, ==, PIECE_CAUSE);
	g_assert_cmpstr(piece(drilled, 1)->cause, ==, "block-device: vda");
	drill_tried(&drilled->known, drilled->choice);
	g_assert_true(g_hash_table_contains(drilled->known.kernel, "zero"));
}

/* Both are traced: of zero's 98 ms nothing that can be probed is below. */
static void test_second_round(void)
{
	DRILLED(PATH,
		THREAD(CALL("thread", "a", "0", "9000000",
			    CALL("syscall", "syscall:read", "5", "1000000",
				 CALL("kernel-function", "vfs_read", "5", "1000000",
				      CALL("kernel-function", "zero", "5", "98000000", ""))))),
		"vfs_read zero");

	g_assert_false(drill_goes_on(drilled->choice));
	g_assert_cmpint(piece(drilled, 0)->end, ==, PIECE_FUNCTION);
	/* 90 of the 98 samples in zero: Wilson's interval is 0.847 to 0.958 */
	g_assert_cmpstr(
		piece(drilled, 0)->words, ==,
		"zero worked 98.00 ms itself in 5 calls: 92 ± 6 % of that in memset [kernel] (98 "
		"samples); asked for by main");
}

/* Each call of a probe takes some 2 µs: 2000 are 4 ms, of a limit of 10. */
static void test_dear_probe(void)
{
	DRILLED(PATH,
		THREAD(CALL("thread", "a", "0", "9000000",
			    CALL("syscall", "syscall:read", "5", "1000000",
				 CALL("kernel-function", "vfs_read", "1000", "1000000",
				      CALL("kernel-function", "zero", "2000", "98000000", ""))))),
		"vfs_read zero");

	g_assert_cmpstr(drilled->dropped, ==, "zero");
	g_assert_true(drill_goes_on(drilled->choice));
	drill_tried(&drilled->known, drilled->choice);
	g_assert_true(g_hash_table_contains(drilled->known.dropped, "zero"));
}

#define OWN_CODE(binary)                                                                           \
	"{'threads': [{'name': 'a', 'threads': [{'tid': 7}], 'tree': " CALL(                       \
		"thread", "a", "0", "100000000",                                                   \
		"") "}], 'sampled': [{'tid': 7, 'children': "                                      \
		    "[{'name': 'main', 'kernel': false, "                                          \
		    "'binary': '" binary "', 'symbol': 'main', 'samples': 10, "                    \
		    "'self': 0, 'ns': 100000000, "                                                 \
		    "'self_ns': 0, 'children': [{'name': "                                         \
		    "'draw', 'kernel': false, 'binary': "                                          \
		    "'" binary "', 'symbol': 'draw', 'samples': 10, "                              \
		    "'self': 1, 'ns': 100000000, "                                                 \
		    "'self_ns': 10000000, 'children': "                                            \
		    "[{'name': 'step', 'file': 'a.h', "                                            \
		    "'samples': 9, 'self': 9, "                                                    \
		    "'ns': 90000000, 'self_ns': "                                                  \
		    "90000000, 'children': []}]}]}]}]"
#define OWN_PATH                                                                                   \
	"{'critical_path': [{'tid': 7, 'name': 'a', 'leaf': 'working/user', 'ns': 100000000}]}"

/* Inlined step() has no symbol, and main() is entered once in any case. */
static void test_own_code(void)
{
	DRILLED(OWN_PATH, OWN_CODE("/bin/a") "}", "");

	g_assert_cmpstr(drilled->user, ==, "/bin/a:draw");
	g_assert_false(drilled->choice->calls);
	g_assert_cmpint(piece(drilled, 0)->end, ==, PIECE_OPEN);
}

/* Where its hooks are built in lttng-ust tells ends too. */
static void test_hooks(void)
{
	DRILLED(OWN_PATH, OWN_CODE("/bin/hooked") "}", "");

	g_assert_cmpstr(drilled->user, ==, "");
	g_assert_true(drilled->choice->calls);
}

/* How often it was entered, with the samples' 100 ms: 25 ms a call. */
static void test_entries(void)
{
	json_t *functions = report(OWN_CODE("/bin/a") ", 'reached': [{'threads': 'a', 'name': "
						      "'draw', 'count': 4, 'median_ns': "
						      "26000000}]}");
	struct drill_known known;
	json_t *path = report(OWN_PATH);
	struct drill_choice *choice;

	drill_known_init(&known);
	known.can_probe = all_but_memset;
	known.has_calls = is_hooked;
	g_hash_table_add(known.user, g_strdup("/bin/a\ndraw"));
	choice = drill_choose(path, functions, &known, 10 * MS);
	g_assert_false(drill_goes_on(choice));
	/* 9 of 10 samples, and 1: Wilson's intervals are 0.596 to 0.982, and 0.018 to 0.404 */
	g_assert_cmpstr(((struct drill_piece *) g_ptr_array_index(choice->pieces, 0))->words, ==,
			"90 ± 19 % of its own code in step, 10 ± 19 % in draw (10 samples); draw "
			"was entered 4 "
			"times, some 25.00 ms of work each, half of them 26.00 ms or less before "
			"the next");
	drill_choice_free(choice);
	drill_known_clear(&known);
	json_decref(path);
	json_decref(functions);
}

/* Nothing slow; a wait of unknown cause without a stack; reports of another version. */
static void test_little(void)
{
	DRILLED("{'critical_path': [{'tid': 7, 'name': 'a', 'leaf': 'working/user', 'ns': 5}]}",
		THREAD(CALL("thread", "a", "0", "5", "")), "");
	g_autoptr(struct_drilled) other =
		drill("{'critical_path': [{'tid': 7, 'name': 'a', 'leaf': 'blocked/unknown', 'ns': "
		      "20000000}]}",
		      "{}", "");
	g_autoptr(struct_drilled) empty = drill(NULL, "{}", "");

	g_assert_cmpuint(drilled->choice->pieces->len, ==, 0);
	g_assert_cmpint(piece(other, 0)->end, ==, PIECE_UNKNOWN);
	g_assert_false(drill_goes_on(other->choice));
	g_assert_cmpuint(empty->choice->pieces->len, ==, 0);
}

/* The functions on the stack of such a wait. */
static void test_unknown_wait(void)
{
	DRILLED("{'critical_path': [{'tid': 7, 'name': 'a', 'leaf': 'blocked/syscall:ioctl', 'ns': "
		"20000000}]}",
		"{'threads': [{'name': 'a', 'threads': [{'tid': 7}], 'tree': " CALL(
			"thread", "a", "0", "0",
			"") "}], 'waits': [{'threads': 'a', 'ns': 20000000, 'kernel': ['do_ioctl', "
			    "'wait_for']}]}",
		"do_ioctl");

	g_assert_cmpstr(drilled->kernel, ==, "wait_for");
	g_assert_cmpstr(piece(drilled, 0)->words, ==, "waited in do_ioctl > wait_for");
}

/* A running system: what its threads worked, but the recorder's own. */
static void test_system(void)
{
	DRILLED(NULL,
		"{'threads': [{'name': 'a', 'threads': [{'tid': 7}], 'tree': " CALL(
			"thread", "a", "0", "1000000",
			CALL("syscall", "syscall:read", "5", "40000000",
			     CALL("kernel-function", "vfs_read", "5", "60000000",
				  ""))) "}, {'name': 'lttng-consumerd', 'threads': [{'tid': 8}], "
					"'tree': " CALL("thread", "lttng-consumerd", "0",
							"50000000", "") "}], " STACKS "}",
		"vfs_read");

	g_assert_cmpuint(drilled->choice->pieces->len, ==, 1);
	g_assert_cmpint(piece(drilled, 0)->ns, ==, 100 * MS);
	g_assert_cmpstr(drilled->kernel, ==, "zero");
}

/* --- what can be probed -------------------------------------------------------------------- */

static void write_file(const char *root, const char *path, const char *text)
{
	g_autofree char *whole = g_strconcat(root, path, NULL);
	g_autofree char *folder = g_path_get_dirname(whole);

	g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
	g_assert_true(g_file_set_contents(whole, text, -1, NULL));
}

static void remove_all(const char *root)
{
	const char *const line[] = {"rm", "-r", root, NULL};

	g_assert_true(g_spawn_sync(NULL, (char **) line, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
				   NULL, NULL, NULL, NULL));
}

/* The list that the kernel has for ftrace; else all but what kprobes keep out of. */
static void test_probes(void)
{
	g_autofree char *root = g_dir_make_tmp("whylate-test-XXXXXX", NULL);
	struct probes probes;

	probes_init(&probes, root, NULL);
	g_assert_true(probes_can(&probes, "vfs_read")); /* nothing is known */
	g_assert_false(probes_can(&probes, "lttng_event_write"));
	probes_clear(&probes);

	write_file(root, "/proc/kallsyms",
		   "ffffffff81000000 T vfs_read\n"
		   "ffffffff81000100 T __noinstr_text_start\n"
		   "ffffffff81000110 t irqentry_enter\n"
		   "ffffffff81000200 T __noinstr_text_end\n"
		   "ffffffff81000300 t native_load_gdt\n"
		   "ffffffff81000400 D jiffies\n"
		   "ffffffffc0000000 t ext4_sync_file\t[ext4]\n"
		   "ffffffffc0001000 t probe_it\t[lttng_tracer]\n");
	write_file(root, "/sys/kernel/debug/kprobes/blacklist",
		   "0xffffffff81000300-0xffffffff81000340\tnative_load_gdt\n");
	probes_init(&probes, root, NULL);
	g_assert_true(probes_can(&probes, "vfs_read") && probes_can(&probes, "ext4_sync_file"));
	g_assert_false(probes_can(&probes, "irqentry_enter") || probes_can(&probes, "jiffies") ||
		       probes_can(&probes, "native_load_gdt") || probes_can(&probes, "probe_it"));
	probes_clear(&probes);

	write_file(root, "/sys/kernel/tracing/available_filter_functions",
		   "ext4_sync_file [ext4]\nlttng_event_write [lttng_tracer]\n");
	probes_init(&probes, root, NULL);
	g_assert_true(probes_can(&probes, "ext4_sync_file"));
	g_assert_false(probes_can(&probes, "vfs_read") || probes_can(&probes, "lttng_event_write"));
	probes_clear(&probes);
	remove_all(root);
}

/* --- entries that probes tell alone ---------------------------------------------------------- */

static void enters(struct feed *feed, int64_t time, const char *function)
{
	struct event_class class = sink_of(feed)->declare(feed->session, function, ORIGIN_PLACE);
	struct event event = {.time = time, .host = (uint16_t) feed->host};

	event_init(&event, &class, ABI_UNKNOWN);
	sink_of(feed)->event(feed->session, &event);
}

/* The whole report. */
static const char *written(struct feed *feed, enum format format)
{
	GError *error = NULL;
	void *made = functions_command.make(feed->session, &error);
	struct output output;
	char *text = NULL;
	size_t size;

	g_assert_no_error(error);
	output_begin(&output, open_memstream(&text, &size), NULL);
	functions_command.writers[format](made, &output);
	output_clear(&output);
	functions_command.free(made);
	g_ptr_array_add(feed->texts, g_strdup(text));
	free(text);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Each thread's own next one counts; whoever enters at interrupts' time is not told apart. */
static void test_reaches(void)
{
	struct feed *of = g_new0(struct feed, 1);

	command_options(&of->options, &functions_command);
	options_set(&of->options, "thread", "all", NULL);

	FEED_FROM(feed_start(of, 1, "6.1.0", 2, 13));
	struct call_tree *tree;
	GArray *list;
	const struct reached *draw, *tidy;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	enters(feed, 10, "draw");
	enters(feed, 30, "draw");
	enters(feed, 35, "tidy");
	sw(feed, 40, 0, "a", 5, 0, "b", 6);
	enters(feed, 50, "draw");
	sw(feed, 60, 0, "b", 6, 0, "a", 5);
	enters(feed, 90, "draw");
	sw(feed, 100, 0, "a", 5, 0, "idle", 0);
	finish(feed);
	tree = call_tree_new(feed->session, NULL);
	list = reaches_new(tree);
	g_assert_cmpuint(list->len, ==, 3);
	draw = &g_array_index(list, struct reached, 0);
	tidy = &g_array_index(list, struct reached, 1);
	g_assert_cmpuint(draw->count, ==, 3);
	g_assert_cmpint(draw->first, ==, 10);
	g_assert_cmpint(draw->last, ==, 90);
	g_assert_cmpint(draw->shortest, ==, 20); /* 10 to 30; 30 to 90 */
	g_assert_cmpint(draw->median, ==, 20);
	g_assert_cmpint(draw->longest, ==, 60);
	g_assert_cmpuint(tidy->count, ==, 1);
	g_assert_cmpint(tidy->longest, ==, 0);
	g_assert_cmpint(g_array_index(list, struct reached, 2).first, ==, 50);
	g_array_free(list, TRUE);
	call_tree_free(tree);
	/* "         3     20 ns     20 ns     60 ns  draw" */
	g_assert_nonnull(strstr(written(feed, FORMAT_TEXT), " ns  draw\n"));
	g_assert_nonnull(strstr(written(feed, FORMAT_JSON), "\"median_ns\": 20"));
}

/* All that ran: a kernel thread's samples have a leaf of their own; the tracer's thread that is not
 * named as its process is left out, one of another process with that name is not. */
#define OWN_WORK(name, pid, tid, ns)                                                               \
	"{'name': '" name "', 'threads': [{'tid': " tid ", 'pid': " pid ", 'name': '" name         \
	"'}], 'tree': {'kind': 'thread', 'name': '" name "', 'exclusive': {'working_ns': " ns      \
	"}, 'children': []}}"

#define KHUGEPAGED OWN_WORK("khugepaged", "36", "36", "60000000")
#define SESSION_DAEMON OWN_WORK("lttng-sessiond", "50", "50", "40000000")
#define ITS_THREAD OWN_WORK("Notification", "50", "51", "30000000")
#define NAMESAKE OWN_WORK("Notification", "70", "70", "20000000")
#define ALL_WORK "'threads': [" KHUGEPAGED ", " SESSION_DAEMON ", " ITS_THREAD ", " NAMESAKE "]"

#define KERNEL_SAMPLES(name, self, self_ns, children)                                              \
	"{'name': '" name "', 'kernel': true, 'leaf': 'working/kthread', 'samples': 10, "          \
	"'self': " self ", 'ns': 60000000, 'self_ns': " self_ns ", 'children': [" children "]}"

#define MEMSET KERNEL_SAMPLES("memset", "10", "60000000", "")
#define KTHREAD KERNEL_SAMPLES("kthread", "0", "0", MEMSET)
#define KERNEL_TREE "'sampled': [{'tid': 36, 'children': [" KTHREAD "]}]"

static void test_system_kernels(void)
{
	DRILLED(NULL, "{" ALL_WORK ", " KERNEL_TREE "}", "");

	g_assert_cmpuint(drilled->choice->pieces->len, ==, 2);
	g_assert_cmpstr(piece(drilled, 0)->threads, ==, "khugepaged");
	/* Wilson's interval of 10 in 10 is 0.722 to 1 */
	g_assert_cmpstr(piece(drilled, 0)->words, ==,
			"100 ± 14 % of its own code in memset [kernel] (10 samples)");
	g_assert_cmpstr(drilled->kernel, ==, "kthread");
	g_assert_cmpstr(piece(drilled, 1)->threads, ==, "Notification");
	g_assert_cmpint(piece(drilled, 1)->ns, ==, 20 * MS);
	g_assert_cmpstr(piece(drilled, 1)->words, ==, "no sample fell into it");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/drill/first-round", test_first_round);
	g_test_add_func("/drill/second-round", test_second_round);
	g_test_add_func("/drill/dear-probe", test_dear_probe);
	g_test_add_func("/drill/own-code", test_own_code);
	g_test_add_func("/drill/hooks", test_hooks);
	g_test_add_func("/drill/entries", test_entries);
	g_test_add_func("/drill/little", test_little);
	g_test_add_func("/drill/unknown-wait", test_unknown_wait);
	g_test_add_func("/drill/system", test_system);
	g_test_add_func("/drill/probes", test_probes);
	g_test_add_func("/drill/reaches", test_reaches);
	g_test_add_func("/drill/system, kernel threads", test_system_kernels);
	return g_test_run();
}
