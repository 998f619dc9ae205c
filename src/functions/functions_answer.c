/* SPDX-License-Identifier: MIT */
/* The answer that `whylate functions` begins with: which calls took the time, and why; those that
 * never returned; those that stand out. Sentences, from the same nodes as the walk below them.
 *
 * Place: functions/. What nobody can make shorter there is left out: sleeps by the thread's own
 * timer, and last of all come parents that wait for their children, who are in the list themselves.
 */
#include <inttypes.h>
#include <string.h>

#include "functions/functions_report.h"
#include "functions/sample_tree.h"
#include "samples/function_words.h"
#include "waits/cause_kinds.h"
#include "waits/state_names.h"

#define TOLD 5 /* sentences in all, and of each sort: */
#define OPEN_TOLD 2
#define ENDS_TOLD 3
#define SUMS_TOLD 2
#define LEAST_OF_FIRST 0.2 /* of the time of the first end */
#define LEAST_OF_ALL 0.01 /* … that calls stand out by, of the threads' time */
#define LEAST_PART 0.1 /* of what they took longer for */
#define NEARLY_ALL 0.9 /* of a call: how much of it that is need not be said */
#define CALLERS_SHOWN 3

/* A call that no other explains: where the walk down from a root ends in the threads themselves. */
struct end {
	uint32_t root, place;
	int64_t ns; /* of its own, and of what it waits for */
	bool joins; /* a parent waits for its children */
};

struct telling {
	const struct functions *functions;
	GArray *ends; /* struct end */
};

static const struct call_node *node_of(const struct functions *functions, uint32_t place)
{
	return call_node_at(functions->tree, place);
}

static int64_t time_of(const struct functions *functions, uint32_t place)
{
	return functions_node_time(functions, place);
}

static uint32_t child_at(const GArray *list, guint i)
{
	return g_array_index(list, uint32_t, i);
}

/* --- where the time went -------------------------------------------------------------------- */

/* Of a cause "kind: label". */
static bool is_cause_of(const struct functions *functions, const struct call_node *node,
			enum cause_kind kind)
{
	const char *text = session_text(functions->session, node->what);
	const char *name = cause_kind_text(kind);

	return node->kind == NODE_CAUSE && g_str_has_prefix(text, name) &&
	       text[strlen(name)] == ':';
}

/* Work of its own counts where --metric counts work. */
static int64_t own_work(const struct functions *functions, const struct call_node *node)
{
	enum function_metric metric = functions->session->asked.options->functions.metric;

	return metric == BY_WALL || metric == BY_CPU ? node->own[WIB_WORKING] : 0;
}

/* A sleep that the thread made itself; or one that is told as a call that never returned. */
static bool is_own_sleep(const struct functions *functions, const struct end *end)
{
	const GArray *waits = node_of(functions, end->place)->waits;
	int64_t slept = 0;

	for (guint i = 0; i < waits->len; i++) {
		const struct call_node *node = node_of(functions, child_at(waits, i));

		if (is_cause_of(functions, node, CAUSE_TIMER) ||
		    is_cause_of(functions, node, CAUSE_STILL_BLOCKED) ||
		    is_cause_of(functions, node, CAUSE_DEADLOCK))
			slept += time_of(functions, child_at(waits, i));
	}
	return 2 * slept >= end->ns;
}

static bool is_kind(const struct functions *functions, uint32_t place, const char *kind)
{
	return strcmp(call_node_kind_text(node_of(functions, place)), kind) == 0;
}

/* The system call around a place, else the place: what a reader knows. */
static uint32_t known_call(const struct functions *functions, uint32_t place)
{
	for (uint32_t at = place; at != NO_NODE; at = node_of(functions, at)->parent)
		if (is_kind(functions, at, "syscall") || is_kind(functions, at, "trap"))
			return at;
	return place;
}

static bool is_join(const struct functions *functions, uint32_t place)
{
	g_autofree char *name = call_node_name(functions->tree, known_call(functions, place));

	return strcmp(name, "syscall:wait4") == 0 || strcmp(name, "syscall:waitid") == 0;
}

static void find_ends(struct telling *telling, uint32_t root, uint32_t place)
{
	const struct functions *functions = telling->functions;
	const struct call_node *node = node_of(functions, place);
	double least = functions->session->asked.options->functions.threshold / 100 *
		       (double) functions_scope(functions, root);
	int64_t work = own_work(functions, node), below = 0;
	struct end end = {root, place, 0, is_join(functions, place)};
	int64_t waited = 0;

	for (guint i = 0; i < node->children->len; i++) {
		uint32_t child = child_at(node->children, i);

		if (!functions_is_bottleneck(functions, root, child))
			continue;
		below += time_of(functions, child);
		find_ends(telling, root, child);
	}
	for (guint i = 0; i < node->waits->len; i++)
		if (functions_is_bottleneck(functions, root, child_at(node->waits, i)))
			waited += time_of(functions, child_at(node->waits, i));
	if (place == root && model_thread(&functions->session->trace.model, node->thread)->kernel)
		return; /* it waits for work */
	if (place == root &&
	    functions_scope(functions, root) < functions_busy_time(functions, root))
		return; /* functions of the program are asked for, not what it does outside */
	if ((double) work < MAX(least, 1) && !waited && (below || place == root))
		return;
	end.ns = place == root ? MAX(work, waited) : time_of(functions, place) - below;
	if (!is_own_sleep(functions, &end))
		g_array_append_val(telling->ends, end);
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct end *x = a, *y = b;

	if (x->joins != y->joins)
		return x->joins ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void append_threads(GString *text, const struct functions *functions, uint32_t root)
{
	const GArray *threads = g_ptr_array_index(functions->tree->threads, root);
	g_autofree char *name = call_node_name(functions->tree, root);
	g_autofree char *tid = NULL;

	g_string_append(text, name);
	if (threads->len == 1) {
		tid = g_strdup_printf(
			" (%d)",
			model_thread(&functions->session->trace.model, child_at(threads, 0))->tid);
		g_string_append(text, strstr(name, tid) ? "" : tid);
	} else if (g_str_has_suffix(name, ")")) {
		g_string_append_printf(text, ", %u threads,", threads->len);
	} else {
		g_string_append_printf(text, " (%u threads)", threads->len);
	}
}

/* "fsync", "page faults on /x", "checksum": free with g_free(). */
static char *name_words(const char *name)
{
	static const char syscall[] = "syscall:", fault[] = "trap:page_fault";
	const char *on = NULL;

	if (g_str_has_prefix(name, syscall))
		return g_strdup(name + strlen(syscall));
	if (!g_str_has_prefix(name, fault))
		return g_strdup(name);
	if (g_str_has_prefix(name + strlen(fault), " on "))
		on = name + strlen(fault) + strlen(" on ");
	return g_strconcat("page faults", on ? " on " : "",
			   !on                             ? ""
			   : g_str_has_prefix(on, "file:") ? resource_name(on)
							   : resource_words(on),
			   NULL);
}

static char *call_words(const struct functions *functions, uint32_t place)
{
	g_autofree char *name = call_node_name(functions->tree, place);

	return name_words(name);
}

/* ", called by main > comm_select > ... > store_create"; nothing if nobody is seen to call it. */
static void append_callers(GString *text, const struct functions *functions, uint32_t root,
			   uint32_t place)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t at = node_of(functions, place)->parent; at != root;
	     at = node_of(functions, at)->parent)
		if (is_kind(functions, at, "function"))
			g_ptr_array_insert(names, 0, call_words(functions, at));
	for (guint i = 0; i < names->len; i++) {
		bool left_out = names->len > CALLERS_SHOWN && i >= CALLERS_SHOWN - 1;

		if (left_out && i + 1 < names->len) {
			if (i == CALLERS_SHOWN - 1)
				g_string_append(text, " > ...");
			continue;
		}
		g_string_append_printf(text, "%s%s", i ? " > " : ", called by ",
				       (char *) g_ptr_array_index(names, i));
	}
}

/* "waiting for a disk (vda, fsync of /x)" of "block-device: vda, …". */
static void append_spent(GString *text, const char *cause)
{
	const char *colon = strstr(cause, ": ");
	g_autofree char *kind = colon ? g_strndup(cause, (gsize) (colon - cause)) : NULL;

	if (kind)
		g_string_append_printf(text, "%s (%s)", time_words(kind), colon + 2);
	else
		g_string_append(text, cause);
}

/* What takes most of the time of what is waited for; NO_NODE: nothing half of it. */
static uint32_t most_of(const struct functions *functions, uint32_t place)
{
	const struct call_node *node = node_of(functions, place);
	const GArray *lists[] = {node->children, node->waits};

	for (size_t k = 0; k < G_N_ELEMENTS(lists); k++)
		for (guint i = 0; i < lists[k]->len; i++)
			if (2 * time_of(functions, child_at(lists[k], i)) >=
			    time_of(functions, place))
				return child_at(lists[k], i);
	return NO_NODE;
}

/* "waiting for nginx (213), which, in epoll_wait, waited for app": while one takes half. */
static void append_wait(GString *text, const struct functions *functions, const struct end *end,
			uint32_t place)
{
	g_autofree char *waiter = call_node_name(functions->tree, end->root);
	g_autofree char *call = NULL; /* that the one that was waited for is in */
	bool first = true;
	char ns[32];

	for (; place != NO_NODE; place = most_of(functions, place), first = false) {
		const struct call_node *node = node_of(functions, place);
		g_autofree char *name = call_words(functions, place);

		if (node->kind == NODE_CAUSE) {
			if (!first)
				g_string_append_printf(text, ": %s ",
						       when_duration(ns,
								     time_of(functions, place)));
			append_spent(text, name);
		} else if (node->kind == NODE_WAITS_FOR) {
			bool same = strcmp(name, waiter) == 0;

			if (call)
				g_string_append_printf(text, ", which, in %s, waited for %s", call,
						       name);
			else if (first && same)
				g_string_append(text, "waiting for another of them");
			else
				g_string_append_printf(text, "%s %s",
						       first ? "waiting for" : ", which waited for",
						       name);
			g_clear_pointer(&call, g_free);
		} else if (!call) {
			call = g_steal_pointer(&name);
		}
	}
}

/* The largest wait but for `other`; NO_NODE: there is none. */
static uint32_t largest_wait(const struct functions *functions, const struct end *end,
			     uint32_t other)
{
	const GArray *waits = node_of(functions, end->place)->waits; /* idle ones count there */
	uint32_t best = NO_NODE;

	for (guint i = 0; i < waits->len; i++) {
		uint32_t at = child_at(waits, i);

		if (at != other &&
		    (best == NO_NODE || time_of(functions, at) > time_of(functions, best)))
			best = at;
	}
	return best;
}

/* The largest, and another that is half as much or more. */
static void append_waits(GString *text, const struct functions *functions, const struct end *end)
{
	uint32_t first = largest_wait(functions, end, NO_NODE);
	uint32_t second = largest_wait(functions, end, first);
	char ns[32];

	if (first == NO_NODE)
		return;
	g_string_append(text, end->place == end->root ? " " : ", ");
	if ((double) time_of(functions, first) < NEARLY_ALL * (double) end->ns)
		g_string_append_printf(text, "%s ", when_duration(ns, time_of(functions, first)));
	append_wait(text, functions, end, first);
	if (second == NO_NODE || 2 * time_of(functions, second) < time_of(functions, first))
		return;
	g_string_append_printf(text, "; %s ", when_duration(ns, time_of(functions, second)));
	append_wait(text, functions, end, second);
}

/* The root has functions of user space that were traced: its own code is outside of them. */
static bool has_traced_functions(const struct functions *functions, uint32_t root)
{
	const GArray *children = node_of(functions, root)->children;

	for (guint i = 0; i < children->len; i++)
		if (is_kind(functions, child_at(children, i), "function"))
			return true;
	return false;
}

/* ": 84 ± 6 % of its own code in spin (work.c:15), called from …": by the samples of what the end's
 * threads did there, if these tell. */
static void append_sampled(GString *text, const struct functions *functions, const struct end *end)
{
	g_autofree char *name = call_node_name(functions->tree, end->place);
	g_autofree char *key =
		g_strconcat("working/", end->place == end->root ? "user" : name, NULL);
	struct functions_sampled sampled;

	if (!functions->sampled->len ||
	    (end->place == end->root ? has_traced_functions(functions, end->root)
				     : !is_kind(functions, end->place, "syscall")))
		return;
	sampled = sampled_in_state(functions->session, &functions->tree->scope,
				   g_ptr_array_index(functions->tree->threads, end->root), key);
	if (sampled.samples && !functions_are_few(&sampled)) {
		g_string_append(text, ": ");
		append_functions(text, &sampled, end->place == end->root ? "its own code" : "that");
	}
	sampled_clear(&sampled);
}

static char *end_sentence(const struct functions *functions, const struct end *end)
{
	static const char *const metrics[] = {"", " of processor time", " blocked", " interrupted"};
	const struct call_node *node = node_of(functions, end->place);
	uint32_t known = known_call(functions, end->place);
	g_autofree char *call = call_words(functions, known);
	g_autofree char *inner = call_words(functions, end->place);
	GString *text = g_string_new(NULL);
	int64_t whole = functions_scope(functions, end->root);
	bool works = 2 * own_work(functions, node) >= end->ns;
	char ns[32];

	append_threads(text, functions, end->root);
	g_string_append_printf(text, " spent %.0f %% of %s%s",
			       whole ? 100 * (double) end->ns / (double) whole : 0,
			       when_duration(ns, whole),
			       metrics[functions->session->asked.options->functions.metric]);
	if (end->place == end->root) {
		g_string_append(text, works ? " working in its own code" : "");
	} else {
		g_string_append_printf(text, "%s in %s", works ? " working" : "", call);
		if (known != end->place && node->kind == NODE_CALL)
			g_string_append_printf(text, " (in %s)", inner);
		append_callers(text, functions, end->root, known);
	}
	if (works)
		append_sampled(text, functions, end);
	else
		append_waits(text, functions, end);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

static void add_ends(const struct functions *functions, bool joins, GPtrArray *answer)
{
	struct telling telling = {functions, g_array_new(FALSE, FALSE, sizeof(struct end))};
	const GArray *roots = functions->tree->roots;
	double least = 0;

	for (guint i = 0; i < roots->len; i++)
		find_ends(&telling, child_at(roots, i), child_at(roots, i));
	g_array_sort(telling.ends, most_first);
	for (guint i = 0; i < telling.ends->len && i < ENDS_TOLD && answer->len < TOLD; i++) {
		const struct end *end = &g_array_index(telling.ends, struct end, i);

		if ((double) end->ns < least)
			break;
		least = MAX(least, LEAST_OF_FIRST * (double) end->ns);
		if (end->joins && !joins)
			break;
		g_ptr_array_add(answer, end_sentence(functions, end));
	}
	g_array_free(telling.ends, TRUE);
}

/* --- calls that never returned --------------------------------------------------------------- */

static void add_open(const struct functions *functions, GPtrArray *answer)
{
	guint told = 0;
	char ns[32];

	for (guint i = 0; i < functions->unreturned->len && told < OPEN_TOLD; i++) {
		const struct unreturned *at =
			&g_array_index(functions->unreturned, struct unreturned, i);
		const struct frames *frames = call_tree_frames(functions->tree, at->thread);
		const struct call_frame *frame =
			frame_of(frames, g_array_index(at->frames, uint32_t, at->frames->len - 1));
		const char *cause = at->cause ? session_text(functions->session, at->cause) : "";
		g_autofree char *name = frame_name(functions->session, frame->what);
		g_autofree char *call = name_words(name);
		g_autofree char *tid = functions_tid_text(functions, at->thread);
		GString *text;

		if (!at->strange || (!g_str_has_prefix(cause, "deadlock:") &&
				     !g_str_has_prefix(cause, "lock-owner:")))
			continue;
		text = g_string_new(thread_names_get(functions->tree->namer->names, at->thread));
		g_string_append_printf(text, "%s had not returned from %s after %s, ", tid, call,
				       when_duration(ns, frame->end - frame->begin));
		append_spent(text, cause);
		g_string_append_c(text, '.');
		g_ptr_array_add(answer, g_string_free(text, FALSE));
		told++;
	}
}

/* --- calls that stand out -------------------------------------------------------------------- */

struct part {
	const char *what;
	int64_t ns;
};

static int largest_part(gconstpointer a, gconstpointer b)
{
	const struct part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->what, y->what);
}

/* ": 73 % of what they took more was waiting for a lock (…), 24 % own work" */
static void append_parts(GString *text, const struct stand_out_sum *sum)
{
	g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, sum->spent);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		struct part part = {key, *(int64_t *) value};

		g_array_append_val(parts, part);
	}
	g_array_sort(parts, largest_part);
	for (guint i = 0; i < parts->len && i < 2; i++) {
		const struct part *part = &g_array_index(parts, struct part, i);
		double share = MIN((double) part->ns / (double) MAX(sum->explained, 1), 1);

		if (share < LEAST_PART)
			break;
		g_string_append_printf(text, i ? ", %.0f %% " : ": %.0f %% of that was ",
				       100 * share);
		append_spent(text, part->what);
	}
}

static char *sum_sentence(const struct functions *functions, const struct stand_out_sum *sum)
{
	g_autofree char *name = frame_name(functions->session, sum->what);
	g_autofree char *call = name_words(name);
	g_autofree char *tid = functions_tid_text(functions, sum->thread);
	GString *text = g_string_new(NULL);
	char a[32], b[32], usual[32], more[32];

	if (what_is_turn(sum->what))
		g_string_append_printf(text, "%" PRIu64 " turn%s stand%s out, ", sum->count,
				       sum->count == 1 ? "" : "s", sum->count == 1 ? "s" : "");
	else
		g_string_append_printf(text, "%" PRIu64 " call%s of %s stand%s out, ", sum->count,
				       sum->count == 1 ? "" : "s", call,
				       sum->count == 1 ? "s" : "");
	g_string_append_printf(text, "by %s%s",
			       thread_names_get(functions->tree->namer->names, sum->thread), tid);
	if (sum->threads > 1)
		g_string_append_printf(text, " and %u other thread%s", sum->threads - 1,
				       sum->threads == 2 ? "" : "s");
	if (sum->count > 1)
		g_string_append_printf(text, ": %s to %s", when_duration(a, sum->shortest),
				       when_duration(b, sum->longest));
	else
		g_string_append_printf(text, ": %s", when_duration(b, sum->longest));
	g_string_append_printf(text, ", where half take up to %s; %s more%s",
			       when_duration(usual, sum->median), when_duration(more, sum->excess),
			       sum->count > 1 ? " in all" : "");
	append_parts(text, sum);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

/* Of turns, or of calls; returns how many were told. */
static guint add_sums(const struct functions *functions, const struct stand_outs *found, bool turns,
		      GPtrArray *answer)
{
	int64_t all = 0;
	guint told = 0;

	for (guint i = 0; i < functions->tree->roots->len; i++)
		all += functions_busy_time(functions, child_at(functions->tree->roots, i));
	for (guint i = 0; i < found->sums->len && told < SUMS_TOLD && answer->len < TOLD; i++) {
		const struct stand_out_sum *sum =
			&g_array_index(found->sums, struct stand_out_sum, i);

		if (what_is_turn(sum->what) != turns)
			continue;
		if ((double) sum->excess < LEAST_OF_ALL * (double) all)
			break;
		g_ptr_array_add(answer, sum_sentence(functions, sum));
		told++;
	}
	return told;
}

GPtrArray *functions_answer(const struct functions_report *made)
{
	const struct functions *functions = made->functions;
	GPtrArray *answer = g_ptr_array_new_with_free_func(g_free);

	add_open(functions, answer);
	add_ends(functions, false, answer);
	/* whose calls stand out, of that the turns are late: that is no second story */
	if (!add_sums(functions, made->found, false, answer))
		add_sums(functions, made->found, true, answer);
	if (!answer->len)
		add_ends(functions, true, answer);
	if (!answer->len)
		g_ptr_array_add(
			answer,
			g_strdup_printf("No call took %g %% of its threads' time or more, "
					"but for sleeps by their own timers.",
					functions->session->asked.options->functions.threshold));
	return answer;
}
