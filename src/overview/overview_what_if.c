/* SPDX-License-Identifier: MIT */
/* See overview_what_if.h. */
#include "overview/overview_what_if.h"

#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "overview/stands_text.h"
#include "whatif/hinge.h"

#define NAMED_MAX 4 /* threads besides the first */
#define LEAST 0.01  /* of a thread's time: less is not told */

/* --- made ------------------------------------------------------------------------------------ */

static const struct stand *find_item(const struct stands *stands, const char *id)
{
	for (guint i = 0; i < stands->items->len; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);

		if (*id && strcmp(item->id, id) == 0)
			return item;
	}
	return NULL;
}

static GArray *items_of(const struct stands *recorded, const struct stands *then)
{
	GArray *items = g_array_new(FALSE, FALSE, sizeof(struct item_then));

	for (guint i = 0; i < then->items->len; i++) {
		const struct stand *item = &g_array_index(then->items, struct stand, i);
		struct item_then both = {find_item(recorded, item->id), item};

		g_array_append_val(items, both);
	}
	for (guint i = 0; i < recorded->items->len; i++) {
		const struct stand *item = &g_array_index(recorded->items, struct stand, i);
		struct item_then gone = {item, NULL};

		if (!find_item(then, item->id))
			g_array_append_val(items, gone);
	}
	return items;
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct sooner *x = a, *y = b;

	if (x->stands_out != y->stands_out)
		return x->stands_out ? -1 : 1;
	if (llabs(x->saved) != llabs(y->saved))
		return llabs(x->saved) > llabs(y->saved) ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool stands_out(const struct stands *stands, uint32_t thread)
{
	for (guint i = 0; i < stands->items->len; i++) {
		const GArray *victims = g_array_index(stands->items, struct stand, i).victims;

		for (guint k = 0; k < victims->len; k++)
			if (g_array_index(victims, uint32_t, k) == thread)
				return true;
	}
	return false;
}

/* Of user threads that are not the tracer's. */
static GArray *threads_of(const struct session *session, const struct stands *stands,
			  const struct retimed *retimed)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct sooner));
	g_autofree bool *tracers = session_tracers(session);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		struct way way = {i, i, MAX(thread->begin, session->asked.from),
				  MIN(thread->end, session->asked.to)};
		struct sooner sooner = {i, way.to - way.from, 0, stands_out(stands, i)};

		if (tracers[i] || thread_is_kernel(&session->trace.model, thread) ||
		    way.from >= way.to || track_empty(&thread->track))
			continue;
		sooner.saved = retimed_saved(retimed, CHANGED, &way);
		if ((double) llabs(sooner.saved) >= LEAST * (double) sooner.recorded)
			g_array_append_val(list, sooner);
	}
	g_array_sort(list, most_first);
	return list;
}

/* What was no news as it was recorded is none if it takes no longer then. */
static void leave_out(const struct stands *recorded, struct stands *then)
{
	for (guint i = then->items->len; i-- > 0;) {
		const struct stand *item = &g_array_index(then->items, struct stand, i);

		for (guint k = 0; k < recorded->no_news->len; k++) {
			const struct stand *at = &g_array_index(recorded->no_news, struct stand, k);

			if (strcmp(at->id, item->id) || item->fact->ns > at->fact->ns)
				continue;
			stands_move(then->items, i, then->no_news);
			break;
		}
	}
}

struct overview_what_if *
overview_what_if_new(const struct session *session, const struct stands *recorded, GError **error)
{
	struct retimed_run *run = retimed_run_new(session, error);
	struct overview_what_if *what_if;

	if (!run)
		return NULL;
	what_if = g_new0(struct overview_what_if, 1);
	what_if->run = run;
	what_if->recorded = recorded;
	what_if->waiting = waiting_new(run->session);
	what_if->stands = stands_new(run->session, what_if->waiting);
	what_if->findings = findings_new();
	findings_add_stands(what_if->findings, run->session, what_if->stands);
	leave_out(recorded, what_if->stands);
	what_if->items = items_of(recorded, what_if->stands);
	what_if->threads = threads_of(session, recorded, run->replay->retimed);
	return what_if;
}

void overview_what_if_free(struct overview_what_if *what_if)
{
	if (!what_if)
		return;
	g_array_free(what_if->threads, TRUE);
	g_array_free(what_if->items, TRUE);
	g_array_free(what_if->findings, TRUE);
	stands_free(what_if->stands);
	waiting_free(what_if->waiting);
	retimed_run_free(what_if->run);
	g_free(what_if);
}

/* --- told ------------------------------------------------------------------------------------ */

static const struct session *recorded_session(const struct overview_what_if *what_if)
{
	return what_if->run->recorded.session;
}

static void append_thread(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

/* "xinit (221): 853.7 ms (70.7 %) sooner than the recorded 1.207 s." and the next ones. */
static void threads_text(const struct overview_what_if *what_if, struct output *output)
{
	const struct session *session = recorded_session(what_if);
	g_autoptr(GString) line = g_string_new(NULL);
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	g_autofree char *words = NULL;
	const struct sooner *first;
	const struct thread *life;
	struct way way;
	struct gain gain;
	char length[32];

	if (!what_if->threads->len) {
		text_wrapped(output, "No thread would be done sooner, or later.", 2, 2);
		return;
	}
	first = &g_array_index(what_if->threads, struct sooner, 0);
	life = model_thread(&session->trace.model, first->thread);
	way = (struct way) {first->thread, first->thread, MAX(life->begin, session->asked.from),
			    MIN(life->end, session->asked.to)};
	g_array_append_val(ways, way);
	gain = replay_gain(what_if->run->replay, ways);
	words = gain_words(&gain, NULL);
	append_thread(line, session, first->thread);
	g_string_append_printf(line, " would be done %s", words);
	text_wrapped(output, line->str, 2, 2);
	g_string_truncate(line, 0);
	for (guint i = 1; i < MIN(what_if->threads->len, 1 + NAMED_MAX); i++) {
		const struct sooner *sooner = &g_array_index(what_if->threads, struct sooner, i);

		g_string_append(line, i > 1 ? ", " : "Others: ");
		append_thread(line, session, sooner->thread);
		g_string_append_printf(line, " %s %s", when_duration(length, llabs(sooner->saved)),
				       sooner->saved < 0 ? "later" : "sooner");
	}
	if (what_if->threads->len > 1 + NAMED_MAX)
		g_string_append_printf(line, " and %u more", what_if->threads->len - 1 - NAMED_MAX);
	if (line->len)
		text_wrapped(output, line->str, 2, 2);
}

/* By how much the waits of a thread are longer than they were as it is there sooner, and they keep
 * their time of day for want of anything that they hang on. */
static int64_t kept_waiting(const struct overview_what_if *what_if, uint32_t thread)
{
	const struct session *session = recorded_session(what_if);
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, what_if->run->session, thread, INT64_MIN, INT64_MAX);
	while (spans_next_off_cpu(&spans, &span)) {
		struct span was = what_if->run->recorded.span(what_if->run, thread, &span);
		int64_t longer = (span.end - span.begin) - (was.end - was.begin);
		struct wait wait;

		if (!leaf_is_blocked(span.leaf) || longer <= 0)
			continue;
		wait = wait_of(session, thread, &was);
		if (hinge_of(session, &wait, &was).doubt == HINGE_ANCHORED)
			ns += longer;
	}
	return ns;
}

/* "Then 42 ms, as recorded 853.7 ms." */
static void item_text(const struct overview_what_if *what_if, const struct item_then *item,
		      guint number, struct output *output)
{
	int64_t now = item->then->fact->ns, was = item->recorded ? item->recorded->fact->ns : 0;
	g_autoptr(GString) line = g_string_new(NULL);
	int64_t kept = 0;
	char then[32], recorded[32];

	stand_lines(item->then, number, item->recorded != NULL, output);
	for (guint i = 0; now > was && i < item->then->victims->len; i++)
		kept += kept_waiting(what_if, g_array_index(item->then->victims, uint32_t, i));
	if (!item->recorded)
		g_string_append(line, "It did not stand out as recorded.");
	else if (now == was)
		g_string_append(line, "As long as recorded.");
	else
		g_string_append_printf(line, "Then %s, as recorded %s.", when_duration(then, now),
				       when_duration(recorded, was));
	if (now > was && 2 * kept > now - was)
		g_string_append_printf(
			line,
			" %s of it may not be real: nothing tells what these waits hang on, so "
			"they end when they did.",
			when_duration(then, MIN(kept, now - was)));
	text_wrapped(output, line->str, 3, 0);
}

static void items_text(const struct overview_what_if *what_if, struct output *output)
{
	guint then = what_if->stands->items->len;

	text_heading(output, then ? "What would stand out then" : "Nothing would stand out then");
	for (guint i = 0; i < then; i++)
		item_text(what_if, &g_array_index(what_if->items, struct item_then, i), i + 1,
			  output);
	for (guint i = then; i < what_if->items->len; i++) {
		const struct item_then *gone = &g_array_index(what_if->items, struct item_then, i);
		g_autofree char *line = g_strdup_printf("No longer: %s", gone->recorded->sentence);
		g_autofree char *id = g_strconcat("[", gone->recorded->id, "]", NULL);

		text_wrapped_beside(output, line, 0, 3, id);
	}
	fputc('\n', output->file);
	waited_text(what_if->stands, what_if->recorded, output);
}

void overview_what_if_text(const struct overview_what_if *what_if, struct output *output)
{
	g_autofree char *limits = replay_limits(what_if->run->replay);
	replay_heading(what_if->run->replay, 0, output);
	threads_text(what_if, output);
	text_wrapped(output, limits, 2, 2);
	items_text(what_if, output);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static const struct column sooner_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct sooner, thread)},
	{"recorded_ns", COLUMN_NS, FIELD(struct sooner, recorded)},
	{"saved_ns", COLUMN_NS, FIELD(struct sooner, saved)},
	{0}};

GETTER(const void *, then, struct item_then, row->then);
GETTER(int64_t, recorded_ns, struct item_then, row->recorded ? row->recorded->fact->ns : -1);

static const struct column then_columns[] = {
	{"recorded_ns", COLUMN_NS, .number = recorded_ns, .none = NONE_NEGATIVE},
	{"then", COLUMN_OBJECT, .at = then, .columns = stand_columns},
	{0}};

/* Texts are the re-timed run's. */
static void write_items(const struct report *report, const void *row)
{
	const struct overview_what_if *what_if = row;
	struct report of = *report;
	g_autoptr(GArray) items = rows_between(what_if->items, 0, what_if->stands->items->len);

	of.session = what_if->run->session;
	json_put_rows(&of, "stands_out", then_columns, ROWS(items));
}

static guint write_gone(const struct report *report, const void *row)
{
	const struct overview_what_if *what_if = row;

	for (guint i = what_if->stands->items->len; i < what_if->items->len; i++)
		json_put_text(report->output, NULL,
			      g_array_index(what_if->items, struct item_then, i).recorded->id);
	return 0;
}

GETTER(const void *, replay, struct overview_what_if, row->run->replay);
GETTER(const void *, stands, struct overview_what_if, row->stands);

const struct column overview_what_if_columns[] = {
	{NULL, COLUMN_OBJECT, .at = replay, .columns = replay_columns},
	{"threads", COLUMN_LIST, FIELD(struct overview_what_if, threads), .columns = sooner_columns,
	 .limited = true},
	{NULL, COLUMN_WRITTEN, .write = write_items},
	{"no_longer", COLUMN_LIST, .each = write_gone},
	{"waited_for", COLUMN_OBJECT, .at = stands, .columns = waited_columns},
	{0}};
