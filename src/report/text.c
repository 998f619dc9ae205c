/* SPDX-License-Identifier: MIT */
/* What text reports have in common; see report.h. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

const char *text_decimal(char buffer[TEXT_DECIMAL], int64_t number)
{
	uint64_t left = number < 0 ? (uint64_t) 0 - (uint64_t) number : (uint64_t) number;
	char *at = buffer + TEXT_DECIMAL - 1;

	*at = 0;
	do
		*--at = (char) ('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		*--at = '-';
	return at;
}

bool text_is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~') /* of signed characters, too */
			return false;
	return true;
}

char *text_safe(const char *text)
{
	g_autofree char *valid = NULL;
	GString *safe;

	if (text_is_plain(text))
		return g_strdup(text);
	valid = g_utf8_make_valid(text, -1);
	safe = g_string_new(NULL);

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		/* not only the C0 and C1 sets: also what turns writing around */
		if (g_unichar_iscntrl(c) || g_unichar_type(c) == G_UNICODE_FORMAT ||
		    g_unichar_type(c) == G_UNICODE_LINE_SEPARATOR ||
		    g_unichar_type(c) == G_UNICODE_PARAGRAPH_SEPARATOR)
			g_string_append_printf(safe, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
		else
			g_string_append_len(safe, p, g_utf8_next_char(p) - p);
	}
	return g_string_free(safe, FALSE);
}

void text_gap_note(const struct output *output, bool marked)
{
	if (marked)
		fputs("  * some of these span lost events: they may not be real\n", output->file);
}

void text_heading(struct output *output, const char *heading)
{
	g_autofree char *safe = text_safe(heading);

	fprintf(output->file, "\n%s%s%s\n", output->color ? "\033[1m" : "", safe,
		output->color ? "\033[0m" : "");
}

/* Wide characters are rare in names and count as one. */
int text_columns(const char *word)
{
	return (int) g_utf8_strlen(word, -1);
}

int text_width(int width, const char *text)
{
	return width + (int) strlen(text) - text_columns(text);
}

/* A number and its unit are one word: no line is broken between them. */
static void keep_units(char **words)
{
	static const char *const units[] = {"ns", "µs", "ms", "s", "%"};
	char **to = words;

	for (char **word = words + (*words != NULL); *words && *word; word++) {
		size_t length = strlen(*to);
		bool unit = false;

		for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
			unit |= g_str_has_prefix(*word, units[i]) &&
				!g_ascii_isalpha((*word)[strlen(units[i])]);
		if (unit && length && g_ascii_isdigit((*to)[length - 1])) {
			char *joined = g_strconcat(*to, " ", *word, NULL);

			g_free(*to);
			g_free(*word);
			*to = joined;
		} else {
			*++to = *word;
		}
	}
	if (*words)
		*++to = NULL;
}

int text_wrapped_beside(struct output *output, const char *text, int indent, int hanging,
			const char *right)
{
	g_autofree char *safe = text_safe(text);
	g_auto(GStrv) words = g_strsplit(safe, " ", -1);
	int at = 0, lines = 1;

	keep_units(words);
	for (char **word = words; *word; word++) {
		if (!at) {
			at = fprintf(output->file, "%*s%s", indent, "", *word);
			at = indent + text_columns(*word);
		} else if (at + 1 + text_columns(*word) > output->width) {
			fprintf(output->file, "\n%*s%s", indent + hanging, "", *word);
			at = indent + hanging + text_columns(*word);
			lines++;
		} else {
			fprintf(output->file, " %s", *word);
			at += 1 + text_columns(*word);
		}
	}
	if (right && at + 2 + text_columns(right) > output->width) {
		fputc('\n', output->file);
		at = 0;
		lines++;
	}
	if (right)
		fprintf(output->file, "%*s", text_width(MAX(output->width - at, 0), right), right);
	fputc('\n', output->file);
	return lines;
}

void text_wrapped(struct output *output, const char *text, int indent, int hanging)
{
	text_wrapped_beside(output, text, indent, hanging, NULL);
}

#define ROOM_LEAST 30 /* columns beside */

void text_described(struct output *output, int column, const char *left, const char *right)
{
	bool below = output->width - column - 3 < ROOM_LEAST;
	g_autofree char *flowing = g_strdelimit(g_strdup(right), "\n", ' ');
	g_autofree char *line = g_strdup_printf("%-*s %s", below ? 0 : column, left, flowing);

	text_wrapped(output, line, 2, below ? 4 : column + 1);
}

static void append_difference(GString *line, int64_t ns)
{
	char length[32];

	g_string_append_printf(line, "%c%s", ns < 0 ? '-' : '+',
			       when_duration(length, ns < 0 ? -ns : ns));
}

void text_clock(GString *line, const struct session *session, const struct host *host)
{
	const struct host_clock *clock = &host->clock;
	char error[32];

	if (session->trace.model.hosts->len < 2)
		return;
	g_string_append(line, "; clock: ");
	if (host == model_host(&session->trace.model, 0)) {
		g_string_append(line, "the reference");
		return;
	}
	if (clock->known == CLOCK_OWN) {
		g_string_append(line, "taken as it is, as no packets match");
		return;
	}
	append_difference(line, clock->line.offset);
	if (clock->known == CLOCK_GIVEN) {
		g_string_append(line, ", as given");
		return;
	}
	if (clock->line.drift != 0)
		g_string_append_printf(line, " and %+.3f ppm", clock->line.drift * 1e6);
	if (clock->error >= 0)
		g_string_append_printf(line, ", ±%s", when_duration(error, clock->error));
	else
		g_string_append(line, ", error not known");
	if (clock->known == CLOCK_RUNS) {
		g_string_append(line, " (by when its virtual CPUs ran)");
		return;
	}
	g_string_append_printf(line, " (%u packet%s", clock->packets,
			       clock->packets == 1 ? "" : "s");
	if (session->trace.model.hosts->len > 2)
		g_string_append_printf(line, " to and from %s",
				       trace_host_name(&session->trace, clock->neighbour));
	if (clock->contradicting)
		g_string_append_printf(line, "; %u that contradict them left out",
				       clock->contradicting);
	g_string_append(line, host->guest.refined ? "; and when its virtual CPUs ran)" : ")");
}

void text_machines(const struct session *session, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	char from[48], length[32];

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		g_string_printf(line, "Host %s: Linux %s, %s, %u CPU%s, %s of trace from %s",
				trace_host_name(&session->trace, i),
				host->kernel ? host->kernel : "(version not said)",
				host->tracer ? host->tracer : "tracer not said", host->cpus->len,
				host->cpus->len == 1 ? "" : "s",
				when_duration(length, host->end - host->begin),
				when_time(from, host->begin, session->asked.options->utc, true));
		text_clock(line, session, host);
		text_guest(line, session, host);
		text_wrapped(output, line->str, 0, 2);
	}
}

void text_hosts(const struct session *session, struct output *output)
{
	text_machines(session, output);
	if (session->asked.from > session->trace.begin || session->asked.to < session->trace.end) {
		g_autofree char *line = NULL;
		char from[48], to[48], length[32];

		line = g_strdup_printf(
			"Window: %s to %s, %s",
			when_time(from, session->asked.from, session->asked.options->utc, false),
			when_time(to, session->asked.to, session->asked.options->utc, false),
			when_duration(length, session->asked.to - session->asked.from));
		text_wrapped(output, line, 0, 2);
	}
}

static void gap_line(const struct session *session, const struct gap *gap, struct output *output)
{
	char from[48], to[48], length[32];

	fprintf(output->file, "      %s to %s (%s)",
		when_time(from, gap->begin, session->asked.options->utc, false),
		when_time(to, gap->end, session->asked.options->utc, false),
		when_duration(length, gap->end - gap->begin));
	if (gap->packets)
		fputs(", packets\n", output->file);
	else if (gap->events >= 0)
		fprintf(output->file, ", %" PRId64 " events\n", gap->events);
	else
		fputc('\n', output->file);
}

/* One line a CPU; each gap where everything is asked for. */
static void text_gaps(const struct session *session, const struct host *host, struct output *output)
{
	bool all = session->asked.options->verbose || !session->asked.options->limit;
	bool several = session->trace.model.hosts->len > 1;
	g_autofree char *name = text_safe(host->hostname ? host->hostname : "(no name)");
	char length[32];

	for (guint c = 0; c < host->cpus->len; c++) {
		const struct cpu *cpu = g_ptr_array_index(host->cpus, c);
		guint count = 0;

		for (guint i = 0; i < host->gaps->len; i++)
			count += g_array_index(host->gaps, struct gap, i).cpu == cpu->id;
		if (count)
			fprintf(output->file, "    CPU %u%s%s: %u gap%s, %s in all%s\n", cpu->id,
				several ? " of " : "", several ? name : "", count,
				count == 1 ? "" : "s",
				when_duration(length, host_gaps_ns(host, cpu->id)),
				all ? "" : " (--verbose lists them)");
		for (guint i = 0; all && i < host->gaps->len; i++) {
			const struct gap *gap = &g_array_index(host->gaps, struct gap, i);

			if (gap->cpu == cpu->id && coverage_tells_gap(session, gap))
				gap_line(session, gap, output);
		}
	}
}

static void text_damages(const struct session *session, struct output *output)
{
	for (guint i = 0; i < session->trace.damages->len; i++) {
		const struct damage *at = &g_array_index(session->trace.damages, struct damage, i);
		g_autoptr(GString) line = g_string_new("Damaged: ");

		g_string_append(line, at->file);
		if (at->what)
			g_string_append_printf(line, ": %s", at->what);
		if (at->what && at->bytes)
			g_string_append_printf(line,
					       "; of the %" PRIu64 " bytes there are, %" PRIu64
					       " could not be read",
					       at->total, at->bytes);
		else if (at->total)
			g_string_append_printf(line,
					       ", %" PRIu64 " of %" PRIu64 " bytes (%.2g %%) "
					       "could not be read",
					       at->bytes, at->total,
					       100.0 * (double) at->bytes / (double) at->total);
		text_wrapped(output, line->str, 2, 2);
	}
}

/* Of a window in a long trace, what was read of what is around it. */
static void text_read_of(const struct session *session, struct output *output)
{
	const struct trace *trace = &session->trace;
	g_autoptr(GString) line = g_string_new(NULL);
	char time[48];

	if (trace->passed_until != INT64_MIN)
		g_string_append_printf(
			line,
			"Before %s only what lasts was read: what threads were doing then, names, "
			"descriptors. ",
			when_time(time, trace->passed_until, session->asked.options->utc, false));
	if (trace->passed_from != INT64_MAX)
		g_string_append_printf(
			line, "After %s only who woke the threads that waited then. ",
			when_time(time, trace->passed_from, session->asked.options->utc, false));
	if (line->len)
		g_string_append(line, "--lead-in all reads everything.");
	text_wrapped(output, line->str, 2, 2);
}

void text_coverage(const struct session *session, const struct coverage *coverage,
		   struct output *output)
{
	FILE *file = output->file;
	char length[32];

	text_heading(output, "Coverage: what the trace could not tell");
	fprintf(file,
		"  %" PRIu64 " events read; lost by the tracer: %" PRIu64 " events (%.0f %% of "
		"all), %" PRIu64 " packets\n",
		coverage->events, coverage->discarded_events,
		100.0 * (double) coverage->discarded_events /
			(double) (coverage->events + coverage->discarded_events),
		coverage->discarded_packets);
	text_read_of(session, output);
	text_damages(session, output);
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		text_gaps(session, model_host(&session->trace.model, i), output);
	fprintf(file,
		"  Not seen: %" PRIu64 " entries and %" PRIu64 " exits of system calls and "
		"interrupts, %" PRIu64 " wake-ups\n",
		coverage->entries_unseen, coverage->exits_unseen, coverage->wakeups_unseen);
	if (coverage->cpu_unknown_ns)
		fprintf(file, "  CPUs whose thread was not known: %s in all\n",
			when_duration(length, coverage->cpu_unknown_ns));
	if (coverage->undescribed_threads)
		fprintf(file,
			"  Threads neither born in the trace nor in a statedump: %" PRIu64 "\n",
			coverage->undescribed_threads);
	fprintf(file, "  Of the time user threads were blocked, with unknown cause: %.1f %%\n",
		100.0 * coverage_unknown_share(coverage));
	if (coverage_softirq_share(coverage) >= 0.0005)
		fprintf(file, "  ... by a softIRQ of unknown purpose: %.1f %%\n",
			100.0 * coverage_softirq_share(coverage));
	for (guint i = 0; i < coverage->missing->len; i++) {
		g_autofree char *line =
			g_strconcat("Missing: ", (char *) g_ptr_array_index(coverage->missing, i),
				    NULL);

		text_wrapped(output, line, 2, 2);
	}
	if (session->asked.options->verbose)
		for (int i = 0; i < ODD_COUNT; i++)
			if (session->trace.flow.odd[i])
				fprintf(file, "  Odd: %" PRIu64 " %s\n", session->trace.flow.odd[i],
					odd_text((enum odd) i));
}
