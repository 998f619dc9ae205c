/* SPDX-License-Identifier: MIT */
/* See choose.h. */
#include "drill/choose.h"

#include <string.h>

#include "drill/reports.h"
#include "samples/share.h"
#include "util/when.h"

#define NAMED_MAX 3 /* functions in a sentence */
#define NAMED_MIN 0.1
#define FEW 5 /* samples: shares of fewer say nothing */
#define LEAF                                                                                       \
	0.9 /* on top of so much of its samples: a function that calls nothing that takes time */
#define PROBE_NS 2000 /* about, that entry and exit of one call take */
#define DEAR 0.25 /* … of LIMIT: too much */

/* The choice that is being made, and of what. */
struct choosing {
	const json_t *functions;
	const struct drill_known *known;
	int64_t limit;
	struct drill_choice *choice;
};

/* --- what is known and chosen --------------------------------------------------------------- */

void drill_known_init(struct drill_known *known)
{
	*known = (struct drill_known) {
		.kernel = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.user = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.dropped = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
}

void drill_known_clear(struct drill_known *known)
{
	g_hash_table_destroy(known->kernel);
	g_hash_table_destroy(known->user);
	g_hash_table_destroy(known->dropped);
}

static char *place_key(const char *binary, const char *symbol)
{
	return g_strconcat(binary, "\n", symbol, NULL);
}

void drill_tried(struct drill_known *known, const struct drill_choice *choice)
{
	for (guint i = 0; i < choice->kernel->len; i++)
		g_hash_table_add(known->kernel, g_strdup(g_ptr_array_index(choice->kernel, i)));
	for (guint i = 0; i < choice->user->len; i++) {
		const struct user_place *place = g_ptr_array_index(choice->user, i);

		g_hash_table_add(known->user, place_key(place->binary, place->symbol));
	}
	for (guint i = 0; i < choice->dropped->len; i++)
		g_hash_table_add(known->dropped, g_strdup(g_ptr_array_index(choice->dropped, i)));
	known->calls |= choice->calls;
}

static void place_free(void *data)
{
	struct user_place *place = data;

	g_free(place->binary);
	g_free(place->symbol);
	g_free(place);
}

static void piece_free(void *data)
{
	struct drill_piece *piece = data;

	g_free(piece->threads);
	g_free(piece->leaf);
	g_free(piece->cause);
	g_free(piece->words);
	g_free(piece);
}

void drill_choice_free(struct drill_choice *choice)
{
	g_ptr_array_free(choice->pieces, TRUE);
	g_ptr_array_free(choice->kernel, TRUE);
	g_ptr_array_free(choice->user, TRUE);
	g_ptr_array_free(choice->dropped, TRUE);
	g_free(choice);
}

bool drill_goes_on(const struct drill_choice *choice)
{
	return choice->kernel->len || choice->user->len || choice->calls || choice->dropped->len;
}

/* --- words ----------------------------------------------------------------------------------- */

static void append_share(GString *text, uint32_t part, uint32_t count)
{
	g_string_append_printf(text, "%.0f ± %.0f %%", 100.0 * part / count,
			       MAX(100 * share_error(part, count), 1));
}

static int most_on_top(gconstpointer a, gconstpointer b)
{
	const struct worked *x = a, *y = b;

	if (x->on_top != y->on_top)
		return x->on_top > y->on_top ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* "61 ± 9 % of that in burn, 20 ± 7 % in step (113 samples)": those that ran, not their callers. */
static void append_sampled(GString *text, const struct work *work, const char *whole)
{
	g_autoptr(GArray) sorted = g_array_copy(work->list);

	g_array_sort(sorted, most_on_top);
	if (work->samples < FEW) {
		if (work->samples)
			g_string_append_printf(text, "%u sample%s, too few to tell functions by",
					       work->samples, work->samples == 1 ? "" : "s");
		else
			g_string_append(text, "no sample fell into it");
		return;
	}
	for (guint i = 0; i < sorted->len && i < NAMED_MAX; i++) {
		const struct worked *at = &g_array_index(sorted, struct worked, i);

		if (!at->on_top || (i && at->on_top < NAMED_MIN * work->samples))
			break;
		g_string_append(text, i ? ", " : "");
		append_share(text, at->on_top, work->samples);
		if (!i)
			g_string_append_printf(text, " of %s", whole);
		g_string_append_printf(text, " in %s%s", at->name, at->kernel ? " [kernel]" : "");
	}
	g_string_append_printf(text, " (%u samples)", work->samples);
}

/* --- kernel functions ----------------------------------------------------------------------- */

static bool is_new(const struct choosing *to, const char *function)
{
	const struct drill_known *known = to->known;

	for (guint i = 0; i < to->choice->kernel->len; i++)
		if (strcmp(g_ptr_array_index(to->choice->kernel, i), function) == 0)
			return false;
	return !g_hash_table_contains(known->kernel, function);
}

static bool has_room(const struct choosing *to)
{
	return to->choice->kernel->len + to->choice->user->len < DRILL_PROBES_MAX;
}

static int most_sampled(gconstpointer a, gconstpointer b)
{
	const struct worked *x = a, *y = b;

	if (x->sampled != y->sampled)
		return x->sampled > y->sampled ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* How many of the functions on these samples are worth a probe and can have one; they are chosen
 * for the next round, the ones with most time below them first. */
static guint choose_kernel(struct choosing *to, const struct work *work)
{
	guint chosen = 0;

	g_array_sort(work->list, most_sampled);
	for (guint i = 0; i < work->list->len; i++) {
		const struct worked *at = &g_array_index(work->list, struct worked, i);

		if (!at->kernel || at->sampled < to->limit || at->on_top >= LEAF * at->samples ||
		    !to->known->can_probe(to->known->data, at->name))
			continue;
		if (!is_new(to, at->name)) { /* of another piece, in this round */
			chosen += !g_hash_table_contains(to->known->kernel, at->name);
			continue;
		}
		if (!has_room(to))
			break;
		g_ptr_array_add(to->choice->kernel, g_strdup(at->name));
		chosen++;
	}
	return chosen;
}

/* Its probe was hit so often; the next round does without it. */
static void drop_dear(struct choosing *to, const char *name, int64_t calls)
{
	if ((double) calls * PROBE_NS < DEAR * (double) to->limit ||
	    g_hash_table_contains(to->known->dropped, name))
		return;
	for (guint i = 0; i < to->choice->dropped->len; i++)
		if (strcmp(g_ptr_array_index(to->choice->dropped, i), name) == 0)
			return;
	g_ptr_array_add(to->choice->dropped, g_strdup(name));
}

static void drop_traced(struct choosing *to, const json_t *node)
{
	const json_t *child;
	size_t i;

	if (strcmp(text_in(node, "kind"), "kernel-function") == 0)
		drop_dear(to, text_in(node, "name"), number_in(node, "calls"));
	json_array_foreach(json_object_get(node, "children"), i, child) drop_traced(to, child);
}

/* By whichever thread of those that matter. */
static void drop(struct choosing *to)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(to->functions, "threads"), i, entry)
		drop_traced(to, json_object_get(entry, "tree"));
	json_array_foreach(json_object_get(to->functions, "reached"), i, entry)
		drop_dear(to, text_in(entry, "name"), number_in(entry, "count"));
}

/* "read_zero 540 ms itself in 181 calls" */
static void append_traced(GString *text, const struct worked *part)
{
	char ns[32];

	g_string_append_printf(text, "%s worked %s itself in %" G_GINT64_FORMAT " call%s",
			       part->name, when_duration(ns, part->own), part->calls,
			       part->calls == 1 ? "" : "s");
}

static int most_own(gconstpointer a, gconstpointer b)
{
	const struct worked *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* One stretch of work: part of it in each traced function, and outside of those. */
static bool look_into(struct choosing *to, const json_t *sampled, const char *leaf,
		      const GArray *traced, const struct worked *part, GString *text)
{
	struct work work;
	bool ends = true;
	char ns[32];

	work_sample(&work, sampled, leaf, traced, part->name);
	g_string_append(text, text->len ? "; " : "");
	if (*part->name)
		append_traced(text, part);
	else if (traced->len > 1)
		g_string_append_printf(text, "%s outside of what is traced",
				       when_duration(ns, part->own));
	if (work.samples || !*part->name) {
		g_string_append(text, *part->name || traced->len > 1 ? ": " : "");
		append_sampled(text, &work,
			       strcmp(leaf, KERNEL_WORK) == 0 ? "its own code" : "that");
	}
	ends = !choose_kernel(to, &work);
	work_clear(&work);
	return ends;
}

/* Work in a system call, or of the kernel's own. */
static void explain_kernel(struct choosing *to, const json_t *threads, struct drill_piece *piece)
{
	static const char call[] = "working/syscall:";
	const char *syscall =
		g_str_has_prefix(piece->leaf, call) ? piece->leaf + strlen(call) : NULL;
	const json_t *sampled = sampled_of(to->functions, threads);
	g_autoptr(GArray) traced = work_traced(threads, syscall);
	g_autoptr(GArray) parts = g_array_copy(traced);
	const char *asker = sampled ? work_asked_by(sampled, piece->leaf) : NULL;
	GString *text = g_string_new(NULL);
	struct work all;
	bool ends = true, function = false;
	char ns[32];

	g_array_sort(parts, most_own);
	for (guint i = 0; i < parts->len; i++) {
		const struct worked *part = &g_array_index(parts, struct worked, i);

		if (part->own < to->limit || (!part->kernel && *part->name))
			continue;
		ends &= look_into(to, sampled, piece->leaf, traced, part, text);
		function |= *part->name != 0;
	}
	work_sample(&all, sampled, piece->leaf, NULL, NULL);
	function |= all.samples >= FEW;
	work_clear(&all);
	if (!text->len)
		g_string_append_printf(text,
				       "spread over functions that take less than %s each (%u are "
				       "traced)",
				       when_duration(ns, to->limit),
				       traced->len ? traced->len - 1 : 0);
	if (asker)
		g_string_append_printf(text, "; asked for by %s", asker);
	piece->words = g_string_free(text, FALSE);
	piece->end = !ends ? PIECE_OPEN : function ? PIECE_FUNCTION : PIECE_UNKNOWN;
}

/* --- functions of programs ------------------------------------------------------------------ */

static bool is_startup(const char *symbol)
{
	return strcmp(symbol, "_start") == 0 || strcmp(symbol, "main") == 0 ||
	       g_str_has_prefix(symbol, "__libc_start");
}

/* Where LTTng's own hooks are built in, calls are traced by these: they tell ends too. */
static guint choose_user(struct choosing *to, const struct work *work)
{
	const struct drill_known *known = to->known;
	guint chosen = 0;

	g_array_sort(work->list, most_sampled);
	for (guint i = 0; i < work->list->len; i++) {
		const struct worked *at = &g_array_index(work->list, struct worked, i);
		g_autofree char *key = place_key(at->binary, at->symbol);
		struct user_place *place;

		if (at->kernel || at->sampled < to->limit || !*at->binary || !*at->symbol ||
		    is_startup(at->symbol))
			continue;
		if (known->has_calls(known->data, at->binary)) {
			if (known->calls)
				continue;
			to->choice->calls = true;
			chosen++;
			continue;
		}
		if (g_hash_table_contains(known->user, key) || !has_room(to))
			continue;
		place = g_new(struct user_place, 1);
		*place = (struct user_place) {g_strdup(at->binary), g_strdup(at->symbol)};
		g_ptr_array_add(to->choice->user, place);
		chosen++;
	}
	return chosen;
}

static const json_t *reached(const json_t *functions, const char *threads, const char *symbol)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(functions, "reached"), i,
			   entry) if (strcmp(text_in(entry, "name"), symbol) == 0 &&
				      strcmp(text_in(entry, "threads"), threads) == 0) return entry;
	return NULL;
}

/* "burn: 3 entries, so some 16 ms in it and what it calls each; at least 31 ms apart": what samples
 * and entries tell together. */
static void append_entries(GString *text, const struct choosing *to, const struct work *work,
			   const char *threads)
{
	guint told = 0;
	char ns[32];

	g_array_sort(work->list, most_sampled);
	for (guint i = 0; i < work->list->len && told < NAMED_MAX; i++) {
		const struct worked *at = &g_array_index(work->list, struct worked, i);
		const json_t *entries =
			*at->symbol ? reached(to->functions, threads, at->symbol) : NULL;
		int64_t count = entries ? number_in(entries, "count") : 0;

		if (at->sampled < to->limit || !count)
			continue;
		g_string_append_printf(text, "; %s was entered %" G_GINT64_FORMAT " time%s",
				       at->name, count, count == 1 ? "" : "s");
		g_string_append_printf(text, ", some %s of work each",
				       when_duration(ns, at->sampled / count));
		if (number_in(entries, "median_ns"))
			g_string_append_printf(text, ", half of them %s or less before the next",
					       when_duration(ns, number_in(entries, "median_ns")));
		told++;
	}
}

/* Functions that lttng-ust traced: exact. */
static bool append_calls(GString *text, const struct choosing *to, const json_t *threads)
{
	g_autoptr(GArray) traced = work_traced(threads, NULL);
	guint told = 0;

	g_array_sort(traced, most_own);
	for (guint i = 0; i < traced->len && told < NAMED_MAX; i++) {
		const struct worked *at = &g_array_index(traced, struct worked, i);

		if (at->own < to->limit || !*at->name)
			continue;
		g_string_append(text, text->len ? "; " : "");
		append_traced(text, at);
		told++;
	}
	return told > 0;
}

static bool is_named(const struct work *work)
{
	guint named = 0;

	for (guint i = 0; i < work->list->len; i++) {
		const struct worked *at = &g_array_index(work->list, struct worked, i);

		named += at->named ? at->on_top : 0;
	}
	return 2 * named >= work->samples;
}

static void explain_user(struct choosing *to, const json_t *threads, struct drill_piece *piece)
{
	const json_t *sampled = sampled_of(to->functions, threads);
	GString *text = g_string_new(NULL);
	struct work work;
	bool traced, named;

	work_sample(&work, sampled, piece->leaf, NULL, NULL);
	traced = append_calls(text, to, threads);
	g_string_append(text, text->len ? "; by samples " : "");
	append_sampled(text, &work, "its own code");
	append_entries(text, to, &work, piece->threads);
	named = work.samples >= FEW && is_named(&work);
	if (work.samples >= FEW && !named && !traced)
		g_string_append(text, "; its functions have no names: debug symbols tell them");
	piece->end = choose_user(to, &work) ? PIECE_OPEN
		     : named || traced      ? PIECE_FUNCTION
					    : PIECE_UNKNOWN;
	work_clear(&work);
	piece->words = g_string_free(text, FALSE);
}

/* --- waits of unknown cause ------------------------------------------------------------------ */

/* What the call stacks of these waits have. */
static void explain_wait(struct choosing *to, struct drill_piece *piece)
{
	GString *text = g_string_new(NULL);
	const json_t *wait;
	guint chosen = 0;
	size_t i, k;

	json_array_foreach(json_object_get(to->functions, "waits"), i, wait)
	{
		const json_t *path = json_object_get(wait, "kernel"), *name;

		if (strcmp(text_in(wait, "threads"), piece->threads) != 0 ||
		    number_in(wait, "ns") < to->limit)
			continue;
		json_array_foreach(path, k, name)
		{
			const char *function = json_string_value(name);

			g_string_append_printf(text, "%s%s",
					       k           ? " > "
					       : text->len ? "; "
							   : "waited in ",
					       function);
			if (!is_new(to, function) || !has_room(to) ||
			    !to->known->can_probe(to->known->data, function))
				continue;
			g_ptr_array_add(to->choice->kernel, g_strdup(function));
			chosen++;
		}
	}
	if (!text->len)
		g_string_append(text, "what ended the wait is not known, and no call stack of it "
				      "was recorded");
	g_free(piece->words);
	piece->words = g_string_free(text, FALSE);
	piece->end = chosen ? PIECE_OPEN : PIECE_UNKNOWN;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static struct drill_piece *piece_of(struct choosing *to, const char *threads, const char *leaf,
				    const char *cause)
{
	struct drill_piece *piece;

	for (guint i = 0; i < to->choice->pieces->len; i++) {
		piece = g_ptr_array_index(to->choice->pieces, i);
		if (strcmp(piece->threads, threads) == 0 && strcmp(piece->leaf, leaf) == 0 &&
		    g_strcmp0(piece->cause, cause) == 0)
			return piece;
	}
	piece = g_new0(struct drill_piece, 1);
	piece->threads = g_strdup(threads);
	piece->leaf = g_strdup(leaf);
	piece->cause = g_strdup(cause);
	g_ptr_array_add(to->choice->pieces, piece);
	return piece;
}

/* "block-device: vda, sector 8, 4 KiB, …": the requests of one device are one cause. */
static char *cause_of(const json_t *step)
{
	const json_t *cause = json_object_get(step, "cause");
	const char *kind = text_in(cause, "kind");
	g_auto(GStrv) label = g_strsplit(text_in(cause, "label"), ",", 2);

	if (!cause && g_str_has_prefix(text_in(step, "leaf"), "interrupted/"))
		return g_strdup(text_in(step, "leaf") + strlen("interrupted/"));
	if (!cause)
		return g_strdup("unknown");
	if (strcmp(kind, "wait-cpu") == 0) /* who had it is in shares */
		return g_strdup(kind);
	return *label && **label ? g_strconcat(kind, ": ", *label, NULL) : g_strdup(kind);
}

/* Of several causes of one kind the longest is told, as it is. */
static void add_step(struct drill_piece *piece, const json_t *step)
{
	int64_t ns = number_in(step, "ns");

	piece->ns += ns;
	if (!piece->cause || ns <= piece->longest)
		return;
	piece->longest = ns;
	g_free(piece->words);
	piece->words = g_strdup(text_in(json_object_get(step, "cause"), "label"));
}

static void add_path(struct choosing *to, const json_t *path)
{
	const json_t *step;
	size_t i;

	json_array_foreach(json_object_get(path, "critical_path"), i, step)
	{
		const json_t *threads = threads_of_tid(to->functions, number_in(step, "tid"));
		const char *leaf = text_in(step, "leaf");
		bool works = g_str_has_prefix(leaf, "working/");
		g_autofree char *cause = works ? NULL : cause_of(step);
		const char *name = threads ? text_in(threads, "name") : text_in(step, "name");

		add_step(piece_of(to, name, leaf, cause), step);
		to->choice->whole += number_in(step, "ns");
	}
}

/* A running system: all that its threads worked. Waits are mostly for something to do. */
static void add_work(struct choosing *to, const char *threads, const json_t *node, const char *leaf)
{
	int64_t ns = number_in(json_object_get(node, "exclusive"), "working_ns");
	g_autofree char *call = NULL;
	const json_t *child;
	size_t i;

	if (strcmp(text_in(node, "kind"), "syscall") == 0)
		leaf = call = g_strconcat("working/", text_in(node, "name"), NULL);
	if (ns) {
		piece_of(to, threads, leaf, NULL)->ns += ns;
		to->choice->whole += ns;
	}
	json_array_foreach(json_object_get(node, "children"), i, child)
		add_work(to, threads, child, leaf);
}

static void add_system(struct choosing *to)
{
	g_autoptr(GHashTable) recorders = recorders_new(to->functions);
	const json_t *threads;
	size_t i;

	json_array_foreach(json_object_get(to->functions, "threads"), i, threads)
	{
		const json_t *sampled = sampled_of(to->functions, threads);

		if (!is_of_recorders(threads, recorders))
			add_work(to, text_in(threads, "name"), json_object_get(threads, "tree"),
				 sampled && work_is_kernels(sampled) ? KERNEL_WORK
								     : "working/user");
	}
}

static const json_t *threads_of(const struct choosing *to, const char *name)
{
	const json_t *threads;
	size_t i;

	json_array_foreach(json_object_get(to->functions, "threads"), i,
			   threads) if (strcmp(text_in(threads, "name"), name) == 0) return threads;
	return NULL;
}

/* "block-device: vda; the longest of it, 20.00 ms: vda, sector 8, 4 KiB" */
static void tell_cause(struct drill_piece *piece)
{
	g_autofree char *longest = g_steal_pointer(&piece->words);
	bool lost_cpu = strcmp(piece->cause, "wait-cpu") == 0;
	bool more = longest && *longest && !g_str_has_suffix(piece->cause, longest);
	char ns[32];

	if (more && lost_cpu)
		piece->words = g_strdup_printf("of the longest time, %s, %s ran there",
					       when_duration(ns, piece->longest), longest);
	else
		piece->words = more ? g_strdup_printf("%s; the longest of it, %s: %s", piece->cause,
						      when_duration(ns, piece->longest), longest)
				    : g_strdup(piece->cause);
}

static void explain(struct choosing *to, struct drill_piece *piece)
{
	const json_t *threads = threads_of(to, piece->threads);

	if (piece->cause && strcmp(piece->cause, "unknown") != 0) {
		tell_cause(piece);
		piece->end = PIECE_CAUSE;
	} else if (piece->cause) {
		explain_wait(to, piece);
	} else if (strcmp(piece->leaf, "working/user") == 0) {
		explain_user(to, threads, piece);
	} else {
		explain_kernel(to, threads, piece);
	}
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct drill_piece *x = *(struct drill_piece *const *) a;
	const struct drill_piece *y = *(struct drill_piece *const *) b;
	int order = strcmp(x->threads, y->threads);

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return order ? order : strcmp(x->leaf, y->leaf);
}

struct drill_choice *drill_choose(const json_t *path, const json_t *functions,
				  const struct drill_known *known, int64_t limit)
{
	struct drill_choice *choice = g_new0(struct drill_choice, 1);
	struct choosing to = {functions, known, limit, choice};
	guint large = 0;

	choice->pieces = g_ptr_array_new_with_free_func(piece_free);
	choice->kernel = g_ptr_array_new_with_free_func(g_free);
	choice->user = g_ptr_array_new_with_free_func(place_free);
	choice->dropped = g_ptr_array_new_with_free_func(g_free);
	if (path)
		add_path(&to, path);
	else
		add_system(&to);
	g_ptr_array_sort(choice->pieces, longest_first);
	while (large < choice->pieces->len &&
	       ((struct drill_piece *) g_ptr_array_index(choice->pieces, large))->ns >= limit)
		large++;
	g_ptr_array_set_size(choice->pieces, (gint) large);
	for (guint i = 0; i < large; i++)
		explain(&to, g_ptr_array_index(choice->pieces, i));
	drop(&to);
	return choice;
}
