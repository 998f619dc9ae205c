/* SPDX-License-Identifier: MIT */
/* `whylate explain`: one finding in full, by its id; see findings/findings.h.
 *
 * What it is, how much of it there is, and the delay report of the thread and time in which it is
 * seen best; for people and as JSON (whylate-explain-1).
 */
#include <inttypes.h>
#include <string.h>

#include "words/terms.h"
#include "findings/findings.h"
#include "latencies/operation_option.h"
#include "latencies/operations.h"
#include "report/report.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/option_values.h"

static const struct {
	const char *kind, *meaning, *one, *unit;
} kinds[] = {
	{"answer", "it is among the first things that the overview says", "wait", "waits"},
	{"wait", "threads of one name waited in one call for one resource", "wait", "waits"},
	{"imposer", "others waited for it, or for what it waited for", "thread that waited",
	 "threads that waited"},
	{"peak", "operations of one latency peak that spent their time alike", "operation",
	 "operations"},
	{"cause", "what requests spent their time on", "request", "requests"},
};

static size_t kind_of(const struct finding *finding)
{
	size_t i = 0;

	while (i + 1 < G_N_ELEMENTS(kinds) && strcmp(kinds[i].kind, finding->kind) != 0)
		i++;
	return i;
}

static void head_text(const struct session *session, const struct finding *finding,
		      struct output *output)
{
	size_t kind = kind_of(finding);
	g_autoptr(GString) line = g_string_new(NULL);
	char sum[32], length[32], when[48];

	g_string_printf(line, "%s: %s", finding->id, finding->title);
	text_wrapped(output, line->str, 0, 2);
	g_string_printf(line, "%s %s: %s.", strchr("aeiou", *finding->kind) ? "An" : "A",
			finding->kind, kinds[kind].meaning);
	text_wrapped(output, line->str, 2, 2);
	g_string_printf(line, "%s in all, %" PRIu64 " %s%s", when_duration(sum, finding->ns),
			finding->count, finding->count == 1 ? kinds[kind].one : kinds[kind].unit,
			finding->spans_gap ? "; some span lost events: they may not be real" : "");
	text_wrapped(output, line->str, 2, 2);
	if (!is_thread(finding->thread)) {
		text_wrapped(output, "It is seen in no thread.", 2, 2);
		return;
	}
	g_string_printf(
		line, "Seen best in %s (%d)%s, %s from %s; the rest of this report is about that.",
		session_thread_name(session, finding->thread),
		model_thread(&session->trace.model, finding->thread)->tid,
		session_on(session, finding->thread),
		when_duration(length, finding->end - finding->begin),
		when_time(when, finding->begin, session->asked.options->utc, false));
	text_wrapped(output, line->str, 2, 2);
	fputc('\n', output->file);
}

struct explained {
	const struct session *session; /* borrowed */
	struct finding finding;
};

/* It is seen in a thread, at a time. */
static bool is_seen(const struct finding *finding)
{
	return is_thread(finding->thread) && finding->begin < finding->end;
}

/* The delay report of the finding's thread and time. */
static void delay_of(const struct explained *explained, struct output *output)
{
	const struct finding *finding = &explained->finding;
	struct session narrowed = *explained->session;
	struct options options = *narrowed.asked.options;
	uint32_t thread = finding->thread;

	options.command = command_find(options.commands, "delay");
	options.depth = 0;
	narrowed.asked.options = &options;
	narrowed.asked.selected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(narrowed.asked.selected, thread);
	narrowed.asked.from = finding->begin;
	narrowed.asked.to = finding->end;
	command_report(options.command, options.format, &narrowed, NULL, output, NULL);
	g_array_free(narrowed.asked.selected, TRUE);
}

static void *make(const struct session *session, GError **error)
{
	struct explained *explained = g_new0(struct explained, 1);

	explained->session = session;
	if (finding_look_up(session, session->asked.options->finding, &explained->finding))
		return explained;
	g_free(explained);
	options_refuse(error,
		       "explain '%s': the trace has no such finding; give the options too that "
		       "choose (--operation, --thread, --from …) of the report that named it",
		       session->asked.options->finding);
	return NULL;
}

static void explained_free(void *made)
{
	struct explained *explained = made;

	g_free(explained->finding.title);
	g_free(explained);
}

static void text(const void *made, struct output *output)
{
	const struct explained *explained = made;

	head_text(explained->session, &explained->finding, output);
	if (is_seen(&explained->finding))
		delay_of(explained, output);
}

/* A report in the report. */
static void put_delay(const struct report *report, const void *row)
{
	const struct explained *explained = row;
	struct output inner = *report->output;

	if (!is_seen(&explained->finding)) {
		json_put_null(report->output, "delay");
		return;
	}
	json_put_key(report->output, "delay");
	inner.json = (struct json_place) {0};
	delay_of(explained, &inner);
}

static const struct column report_columns[] = {
	{"finding", COLUMN_OBJECT, FIELD_HERE(struct explained, finding),
	 .columns = finding_columns},
	{NULL, COLUMN_WRITTEN, .write = put_delay},
	{0}};

static void json(const void *made, struct output *output)
{
	const struct explained *explained = made;
	struct report report = {explained->session, explained, output};

	json_report(&report, "whylate-explain-1", report_columns, explained);
}

static const struct option *const options[] = {
	&option_target, &option_operation, &option_thread,      &option_process,
	WINDOW_OPTIONS, &option_kallsyms,  &option_binary_path, &option_format,
	&option_output, &option_limit,     LAST_OPTIONS,        NULL};

static void init(struct options *asked)
{
	asked->depth = 8;
}

/* A word of the reports, or several that are one term. */
static bool tell(const GPtrArray *words, FILE *file)
{
	g_autoptr(GString) term = g_string_new(NULL);

	for (guint i = 0; i < words->len; i++)
		g_string_append_printf(term, "%s%s", i ? " " : "", (const char *) words->pdata[i]);
	return term_explain(term->str, file);
}

static bool take_words(struct options *asked, GPtrArray *words, GError **error)
{
	g_autofree char *nearest = NULL;

	if (!words->len)
		return options_refuse(error, "explain: the id of a finding comes first, as reports "
					     "list them (such as w-k3f7qa), or a word of theirs");
	if (!finding_is_id(words->pdata[0])) {
		nearest = term_nearest(words->pdata[0]);
		return options_refuse(
			error,
			"explain: the id of a finding comes first, as reports list "
			"them (such as w-k3f7qa), or a word of theirs; '%s' is neither%s",
			(const char *) words->pdata[0], nearest);
	}
	asked->finding = g_ptr_array_remove_index(words, 0);
	return true;
}

const struct command explain_command = {
	.name = "explain",
	.usage = "[OPTIONS] ID TRACE... | WORD",
	.summary = "Shows one finding of a report, by its id, in full; or explains a word.\n"
		   "What it is, where it is seen best, and why it took so long there.",
	.options = options,
	.init = init,
	.tell = tell,
	.take_words = take_words,
	.check = operations_check,
	.want = finding_want,
	.finish = operations_add_waits,
	.make = make,
	.free = explained_free,
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json},
};
