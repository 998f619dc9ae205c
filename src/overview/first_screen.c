/* SPDX-License-Identifier: MIT */
/* The overview's first screen: what stands out, in 25 lines of 80 columns; stands/stands.h. */
#include "overview/busiest.h"
#include "overview/failed_calls.h"
#include "overview/overview.h"
#include "overview/overview_what_if.h"
#include "overview/stands_text.h"

#include <inttypes.h>
#include <string.h>

#include "coverage/coverage.h"
#include "run/command.h"
#include "words/terms.h"
#include "words/times.h"

#define LINES_MAX 25
#define LINES_BELOW 9 /* kept for what stands below the items, */
#define LINES_LEAST 7 /* … without the sums of waits: for an item that weighs much, */
#define MUCH 0.1 /* … beside the first */
#define FOOTNOTES_MAX 2
#define RUNS_MAX (INT64_C(10) * 366 * 86400 * 1000000000) /* ns: no machine runs for ten years */
#define WORD 4 /* columns that a line has left where the next word is too long: about */

/* A clock that no time of day belongs to counts from the machine's start. */
static void append_begin(const struct session *session, GString *line)
{
	const struct model *model = &session->trace.model;
	bool dated = model->hosts->len && model_host(model, 0)->has_clock_offset;
	int64_t begin = session->asked.from;
	char from[48];

	if (!dated && begin >= 0 && begin < RUNS_MAX) {
		g_string_append_printf(line, "%s after its start", when_duration(from, begin));
		return;
	}
	when_time(from, begin, session->asked.options->utc, true);
	from[MIN(strlen(from), sizeof "[2026-11-22 10:08:04.304" - 1)] = '\0';
	g_string_append(line, from + (*from == '['));
}

/* "tracebox, Linux 6.1.0, 1 CPU, 614 ms from [10:08:04.30]; 8,445 events, none lost" */
static int head(const struct session *session, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	const struct trace *trace = &session->trace;
	bool gaps = false,
	     part = session->asked.from > trace->begin || session->asked.to < trace->end;
	uint64_t lost = 0;
	char length[32], count[32];

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);
		g_auto(GStrv) version = g_strsplit(host->kernel ? host->kernel : "?", "-", 2);

		lost += host->discarded_events;
		gaps |= host->gaps->len > 0;
		g_string_append_printf(line, "%s%s, Linux %s, %u CPU%s", i ? "; " : "",
				       trace_host_name(&session->trace, i), version[0],
				       host->cpus->len, host->cpus->len == 1 ? "" : "s");
	}
	g_string_append_printf(line, ", %s from ",
			       when_duration(length, session->asked.to - session->asked.from));
	append_begin(session, line);
	if (part)
		g_string_append_printf(line, " (of %s that were recorded)",
				       when_duration(length, trace->end - trace->begin));
	g_string_append_printf(line, "; %s events%s%s, ", count_text(count, trace->events),
			       trace_is_whole(trace) ? "" : " read",
			       part ? " in the whole trace" : "");
	if (lost)
		g_string_append_printf(line, "%s lost", count_text(count, lost));
	else
		g_string_append(line, gaps ? "some lost" : "none lost");
	return text_wrapped_beside(output, line->str, 0, 0, NULL);
}

/* At most. */
static int height(const struct stand *item, const struct output *output)
{
	int width = MAX(output->width - HANGING - WORD, 1);

	return ((int) g_utf8_strlen(item->sentence, -1) + STAND_ID + 3) / width + 1;
}

/* Of several hosts it says which; a guest whose host is among them needs no guess. */
static void append_stalled(GString *line, const struct session *session,
			   const struct stalled *stalled)
{
	char length[32];

	if (!stalled->hosts)
		return;
	when_duration(length, stalled->ns);
	if (session->trace.model.hosts->len == 1)
		g_string_append_printf(line,
				       " For %s of its CPUs' time nothing ran and nothing was "
				       "idle: steal, if this is a virtual machine.",
				       length);
	else if (stalled->hosts == 1)
		g_string_append_printf(line,
				       " For %s of the CPUs' time of %s nothing ran there, and "
				       "nothing was idle: steal, if that is a virtual machine "
				       "itself.",
				       length, trace_host_name(&session->trace, stalled->host));
	else
		g_string_append_printf(line,
				       " For %s of the CPUs' time of %u hosts nothing ran there, "
				       "and nothing was idle: steal, if these are virtual machines "
				       "(see check).",
				       length, stalled->hosts);
}

/* True: something was not recorded, of which `whylate check` tells. */
static bool coverage_line(const struct session *session, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	struct coverage coverage;
	char count[32];
	bool missing;

	coverage_init(&coverage, session);
	missing = coverage.missing->len;
	if (coverage.discarded_events || coverage.discarded_packets)
		g_string_append_printf(line,
				       "%s events were lost: what happened meanwhile is unknown.",
				       count_text(count, coverage.discarded_events));
	else if (coverage.gaps)
		g_string_append(line, "Events were lost: what happened meanwhile is unknown.");
	else
		g_string_append(line, "Nothing was lost.");
	if (coverage.kinds_missing)
		g_string_append_printf(
			line, " %u kind%s not recorded: see check.", coverage.kinds_missing,
			coverage.kinds_missing == 1 ? " of data was" : "s of data were");
	else if (missing)
		g_string_append(line, " Not all can be known: see check.");
	append_stalled(line, session, &coverage.stalled);
	coverage_clear(&coverage);
	text_wrapped(output, line->str, 0, 2);
	return missing;
}

/* What to run next, to be pasted. */
static void next_lines(const struct session *session, const struct stands *stands, uint32_t busiest,
		       bool missing, struct output *output)
{
	struct suggestion work = {.command = "delay", .thread = &busiest};
	struct suggestion check = {.command = "check"};
	const struct stand *first =
		stands->items->len ? &g_array_index(stands->items, struct stand, 0) : NULL;
	struct suggestion full = {.command = "overview", .option = "full", .value = ""};
	struct suggestion explain = {.command = "explain", .word = first ? first->id : NULL};
	struct suggestion longest = {.command = "delay",
				     .thread = &stands->longest.thread,
				     .from = stands->longest.begin,
				     .to = stands->longest.end};

	if (stands->longest.sentence)
		text_suggestion(session, &longest, 2, output);
	if (busiest != NO_THREAD)
		text_suggestion(session, &work, 2, output);
	text_suggestion(session, &full, 2, output);
	if (first)
		text_suggestion(session, &explain, 2, output);
	if (missing)
		text_suggestion(session, &check, 2, output);
}

/* The kernel's words that the items have, as far as there is room. */
static void footnotes(const struct stands *stands, int room, struct output *output)
{
	g_autoptr(GString) all = g_string_new(NULL);
	g_autoptr(GPtrArray) met = NULL;

	for (guint i = 0; i < stands->items->len; i++)
		g_string_append_printf(all, "%s ",
				       g_array_index(stands->items, struct stand, i).sentence);
	met = terms_met(all->str, false);
	for (guint i = 0; i < met->len && i < FOOTNOTES_MAX; i++) {
		int width = MAX(output->width - HANGING - WORD, 1);

		room -= (int) g_utf8_strlen(met->pdata[i], -1) / width + 1;
		if (room < 0)
			break;
		text_wrapped(output, met->pdata[i], 0, 2);
	}
}

/* The one that cost most, if there is room; how many lines that is. */
static int configuration_line(const GArray *list, int room, struct output *output)
{
	g_autofree char *line = NULL;
	int width = MAX(output->width - HANGING - WORD, 1);

	if (!list->len)
		return 0;
	line = g_strconcat("[configuration] ",
			   g_array_index(list, struct configuration, 0).sentence, NULL);
	if ((int) g_utf8_strlen(line, -1) / width + 1 > room)
		return 0;
	return text_wrapped_beside(output, line, 0, HANGING, NULL);
}

/* What would stand out, and how to see what does. */
static void what_if_screen(const struct overview_report *made, struct output *output)
{
	struct suggestion check = {.command = "check"}, recorded = {.command = "overview"};

	overview_what_if_text(made->what_if, output);
	if (coverage_line(made->session, output))
		text_suggestion(made->session, &check, 2, output);
	text_suggestion(made->session, &recorded, 2, output);
}

/* One long wait that is no item, if there is room; how many lines that is. */
static int besides(const struct stands *stands, int room, struct output *output)
{
	g_autofree char *text = NULL;
	char length[32];

	if (!stands->longest.sentence)
		return 0;
	text = g_strdup_printf("Besides, there is one wait of %s: %s",
			       when_duration(length, stands->longest.end - stands->longest.begin),
			       stands->longest.sentence);
	if ((int) g_utf8_strlen(text, -1) / MAX(output->width - WORD, 1) + 1 > room)
		return 0;
	return text_wrapped_beside(output, text, 0, 0, NULL);
}

/* `failed`: calls that did were told of. Returns the thread that is to be looked at, as it worked
 * most; NO_THREAD. */
static uint32_t nothing(const struct overview_report *made, bool failed, struct output *output)
{
	const char *what = failed ? "Nothing else" : "Nothing";
	const struct stands *stands = made->stands;
	g_autofree char *text = NULL, *busiest = NULL;
	uint32_t thread = NO_THREAD;
	char length[32];

	if (stands->longest.sentence)
		text = g_strdup_printf("%s stands out but one wait, of %s: %s", what,
				       when_duration(length,
						     stands->longest.end - stands->longest.begin),
				       stands->longest.sentence);
	else
		text = g_strdup_printf("%s stands out: no thread lost much of its life to others.",
				       what);
	text_wrapped_beside(output, text, 0, 0, NULL);
	busiest = busiest_sentence(made->session, made->overview, &thread);
	if (busiest)
		text_wrapped_beside(output, busiest, 0, 0, NULL);
	return thread;
}

void first_screen_text(const struct overview_report *made, struct output *output)
{
	const struct session *session = made->session;
	const struct stands *stands = made->stands;
	int lines = head(session, output) + 1, failed, below;
	uint32_t busiest = NO_THREAD;

	if (made->what_if) {
		what_if_screen(made, output);
		return;
	}
	fputc('\n', output->file);
	if (stands->unexplained)
		lines += text_wrapped_beside(output, stands->unexplained, 0, 0, NULL);
	for (guint i = 0; i < stands->items->len; i++) {
		const struct stand *item = &g_array_index(stands->items, struct stand, i);

		below = item->weight >= MUCH * g_array_index(stands->items, struct stand, 0).weight
				? LINES_LEAST
				: LINES_BELOW;
		if (i && lines + height(item, output) > LINES_MAX - below)
			break;
		lines += stand_lines(item, i + 1, true, output);
	}
	if (stands->items->len)
		lines += besides(stands, LINES_MAX - LINES_BELOW - lines, output);
	lines += configuration_line(made->configuration, LINES_MAX - LINES_BELOW - lines, output);
	failed = failed_calls_line(made->failed, stands, LINES_MAX - LINES_BELOW - lines, output);
	lines += failed;
	if (!stands->items->len && !stands->unexplained)
		busiest = nothing(made, failed, output);
	fputc('\n', output->file);
	if (lines <= LINES_MAX - LINES_BELOW)
		waited_text(stands, NULL, output);
	footnotes(stands, LINES_MAX - LINES_BELOW - lines, output);
	next_lines(session, stands, busiest, coverage_line(session, output), output);
}
