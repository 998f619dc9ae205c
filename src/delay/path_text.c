/* SPDX-License-Identifier: MIT */
/* The critical path for people: its sums in a few lines, and with --path one line
 * for each step and tables of the sums.
 */
#include "delay/delay.h"

#include "path/path_sums.h"

#include <inttypes.h>
#include <string.h>

#define NAMED_MAX 4    /* sums named in a line */
#define SHARE_MIN 0.01 /* smaller ones are not */
#define VISITS_OF_LIMIT 4 /* as many lines of the path as --limit, times this */

/* "By thread: Xorg (222) 799.3 ms (66.2 %), …" */
static void sum_line(const struct report *report, const char *title, const GArray *list,
		     char *(*label_of)(const struct report *report, const void *total))
{
	int64_t whole = MAX(((const struct path_totals *) report->data)->ns, 1);
	g_autoptr(GString) line = g_string_new(title);
	char length[32];
	guint i;

	for (i = 0; i < list->len && i < NAMED_MAX; i++) {
		const struct total *total = &g_array_index(list, struct total, i);
		g_autofree char *label = label_of(report, total);
		double share = (double) total->ns / (double) whole;

		if (i && share < SHARE_MIN)
			break;
		g_string_append_printf(line, "%s %s %s (%.1f %%)", i ? "," : "", label,
				       when_duration(length, total->ns), 100.0 * share);
	}
	if (i < list->len)
		g_string_append_printf(line, ", and %u more", list->len - i);
	text_wrapped(report->output, line->str, 2, 2);
}

/* "By function, of the path: spin (work.c:15) 790.9 ms (48.6 %), …" */
static void function_line(const struct report *report, const GArray *list)
{
	g_autoptr(GString) line = g_string_new("By function, of the path: ");

	append_function_totals(line, list, ((const struct path_totals *) report->data)->ns,
			       NAMED_MAX);
	if (list->len)
		text_wrapped(report->output, line->str, 2, 2);
}

static void sum_lines(const struct report *report, const struct path *path)
{
	struct path_totals totals;
	struct report of_totals = {report->session, &totals, report->output};

	path_totals_init(&totals, report->session, path);
	sum_line(&of_totals, "In all, by thread:", totals.threads, thread_sum_label);
	sum_line(&of_totals, "By what it went to:", totals.resources, resource_sum_label);
	sum_line(&of_totals, "By kind:", totals.kinds, kind_sum_label);
	function_line(&of_totals, totals.functions);
	path_totals_clear(&totals);
}

/* One line of the critical path: one thread's pieces without a break. */
struct visit {
	uint32_t thread;
	int64_t begin, end;
	int64_t wib[4];
	bool over;     /* the thread had ended before */
	bool spans_gap;
	bool left_out;
	const struct piece *longest; /* that is not work */
};

static void print_visit(const struct report *report, const struct visit *visit)
{
	const struct session *session = report->session;
	struct output *output = report->output;
	static const char *const words[] = {"unknown", "working", "interrupted", "blocked"};
	static const int order[] = {WIB_BLOCKED, WIB_INTERRUPTED, WIB_WORKING, WIB_UNKNOWN};
	g_autofree char *who = thread_words(session, visit->thread);
	g_autofree char *safe = text_safe(who);
	const char *comma = "";
	char from[48], length[32];

	fprintf(output->file,
		"  %s %9s  %s: ", when_time(from, visit->begin, session->asked.options->utc, false),
		when_duration(length, visit->end - visit->begin), safe);
	if (visit->over) {
		const struct thread *life = model_thread(&session->trace.model, visit->thread);
		bool with_trace = life->end >= model_host(&session->trace.model, life->host)->end;

		fputs(with_trace ? "its host's trace had ended\n" : "had ended\n", output->file);
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
		if (visit->wib[order[i]]) {
			fprintf(output->file, "%s%s %s", comma, words[order[i]],
				when_duration(length, visit->wib[order[i]]));
			comma = ", ";
		}
	if (visit->longest) {
		g_autofree char *key = leaf_key(session, visit->longest->leaf);
		g_autofree char *safe_key = text_safe(key);

		fprintf(output->file, "; longest %s %s", safe_key,
			when_duration(length, visit->longest->end - visit->longest->begin));
	}
	fputs(visit->spans_gap ? " [spans lost events]\n" : "\n", output->file);
}

/* struct visit, in the order of time. */
static GArray *visits_of(const struct delay *delay)
{
	const GArray *pieces = delay->path->pieces;
	GArray *visits = g_array_new(FALSE, FALSE, sizeof(struct visit));
	struct visit *visit = NULL;

	for (guint i = 0; i < pieces->len; i++) {
		const struct piece *at = &g_array_index(pieces, struct piece, i);
		enum wib wib = leaf_wib(at->leaf);
		bool over =
			at->begin >= model_thread(&delay->session->trace.model, at->thread)->end;
		struct span span = {at->begin, at->end, at->leaf, at->ref};

		if (!visit || at->thread != visit->thread || over != visit->over) {
			struct visit next = {.thread = at->thread,
					     .begin = at->begin,
					     .over = over};

			g_array_append_val(visits, next);
			visit = &g_array_index(visits, struct visit, visits->len - 1);
		}
		visit->spans_gap |= session_spans_gap(delay->session, at->thread, &span);
		visit->end = at->end;
		visit->wib[wib] += at->end - at->begin;
		if (wib != WIB_WORKING &&
		    (!visit->longest ||
		     at->end - at->begin > visit->longest->end - visit->longest->begin))
			visit->longest = at;
	}
	return visits;
}

static int longest_visit(gconstpointer a, gconstpointer b)
{
	const struct visit *x = *(const struct visit *const *) a,
			   *y = *(const struct visit *const *) b;
	int64_t x_ns = x->end - x->begin, y_ns = y->end - y->begin;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* What is too long to be read: of so many visits the longest ones stay, in their order. */
static void leave_out(const GArray *visits, guint keep)
{
	g_autoptr(GPtrArray) ranked = g_ptr_array_new();

	for (guint i = 0; i < visits->len; i++)
		g_ptr_array_add(ranked, &g_array_index(visits, struct visit, i));
	g_ptr_array_sort(ranked, longest_visit);
	for (guint i = keep; i < ranked->len; i++)
		((struct visit *) ranked->pdata[i])->left_out = true;
}

static void print_left_out(struct output *output, guint *count, int64_t *ns)
{
	char length[32];

	if (*count)
		fprintf(output->file, "  %20s %9s  [... %u shorter %s ...]\n", "",
			when_duration(length, *ns), *count, *count == 1 ? "one" : "ones");
	*count = 0;
	*ns = 0;
}

void critical_path_text(const struct report *report)
{
	const struct delay *delay = report->data;
	const struct options *options = report->session->asked.options;
	guint most = VISITS_OF_LIMIT * options->limit, left_out = 0;
	g_autoptr(GArray) visits = NULL;
	int64_t left_ns = 0;

	if (!delay->path || !delay->path->pieces->len)
		return;
	text_heading(report->output,
		     "Critical path: the way to the end, one line a thread in turn");
	visits = visits_of(delay);
	if (most && visits->len > most && !options->verbose) {
		g_autofree char *line = g_strdup_printf("The %u longest of %u; --limit 0 or "
							"--verbose shows all, --path every step:",
							most, visits->len);

		text_wrapped(report->output, line, 2, 2);
		leave_out(visits, most);
	}
	for (guint i = 0; i < visits->len; i++) {
		const struct visit *visit = &g_array_index(visits, struct visit, i);

		if (visit->left_out) {
			left_out++;
			left_ns += visit->end - visit->begin;
			continue;
		}
		print_left_out(report->output, &left_out, &left_ns);
		print_visit(report, visit);
	}
	print_left_out(report->output, &left_out, &left_ns);
	sum_lines(report, delay->path);
}

/* What there is to say of a step beside its state: "file:/data.bin: block device vda, …" */
static char *why(const struct session *session, const struct piece *piece)
{
	struct cause cause = piece_cause(session, piece);
	g_autofree char *words = cause.label ? cause_words(&cause) : NULL;
	uint32_t resource = piece->block ? session_resource(session, piece->block) : 0;
	GString *text = g_string_new(NULL);

	if (resource)
		g_string_append_printf(text, "%s: ", session_text(session, resource));
	if (words)
		g_string_append(text, words);
	if (cause.inferred && cause.kind != CAUSE_LOCK_OWNER)
		g_string_append(text, " (inferred)");
	cause_clear(&cause);
	return g_string_free(text, FALSE);
}

static void step_line(const struct session *session, const struct piece *piece,
		      struct output *output)
{
	g_autofree char *who =
		g_strdup_printf("%s (%d)%s", session_thread_name(session, piece->thread),
				model_thread(&session->trace.model, piece->thread)->tid,
				session_on(session, piece->thread));
	g_autofree char *safe_who = text_safe(who);
	g_autofree char *leaf = leaf_key(session, piece->leaf), *safe_leaf = text_safe(leaf);
	g_autofree char *more = why(session, piece), *safe = text_safe(more);
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	char from[48], length[32];

	fprintf(output->file, "  %s %9s  %-22s %s%s%s%s\n",
		when_time(from, piece->begin, session->asked.options->utc, false),
		when_duration(length, piece->end - piece->begin), safe_who, safe_leaf,
		*safe ? "  " : "", safe,
		session_spans_gap(session, piece->thread, &span) ? " [spans lost events]" : "");
}

/* All of the sums, whatever --limit says. */
static void table(const struct report *report, const char *title, const struct column *columns,
		  const GArray *list)
{
	const struct text_table table = {.columns = columns, .in_bytes = true};

	text_heading(report->output, title);
	text_table_heading(report, &table);
	for (guint i = 0; i < list->len; i++)
		text_table_row(report, &table, &g_array_index(list, struct total, i), 0);
}

void path_steps_text(const struct report *report)
{
	const struct path *path = ((const struct delay *) report->data)->path;
	struct path_totals totals;
	struct report of_totals = {report->session, &totals, report->output};

	if (!path || !path->pieces->len)
		return;
	text_heading(report->output, "Critical path: every step of it, in order of time");
	for (guint i = 0; i < path->pieces->len; i++)
		step_line(report->session, &g_array_index(path->pieces, struct piece, i),
			  report->output);
	path_totals_init(&totals, report->session, path);
	table(&of_totals, "Critical path by thread", thread_sum_columns, totals.threads);
	table(&of_totals, "Critical path by what its time went to", resource_sum_columns,
	      totals.resources);
	table(&of_totals, "Critical path by kind", kind_sum_columns, totals.kinds);
	path_totals_clear(&totals);
}
