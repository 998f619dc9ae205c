/* SPDX-License-Identifier: MIT */
/* Who and what others waited for, for people; see imposed/waiting.h. */
#include "overview/overview.h"

#include <inttypes.h>

#include "waits/causes.h"

#define PART_MIN 0.01 /* smaller parts of an imposer's time are not named */
#define SHARE_MIN 0.01 /* of all; imposers of less are left out, but with --limit 0 */
#define NAMED_MAX 6   /* threads of a circle */
#define LOOK_BACK 32  /* rows: a wait whose command one of them has needs none again */

/* "NAME:" where there is more than one host. */
static void append_host(GString *line, const struct session *session, uint16_t host)
{
	const char *name = model_host(&session->trace.model, host)->hostname;

	if (session->trace.model.hosts->len > 1)
		g_string_append_printf(line, "%s:", name ? name : "?");
}

static void append_thread(GString *line, const struct session *session, uint32_t thread)
{
	append_host(line, session, model_thread(&session->trace.model, thread)->host);
	g_string_append_printf(line, "%s (%d)", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid);
}

/* What it is called for people: the CPU's keys are words. */
static void append_resource(GString *line, const struct session *session, uint16_t host,
			    uint32_t resource)
{
	const char *key = session_text(session, resource);

	append_host(line, session, host);
	if (g_str_equal(key, "cpu:quota"))
		g_string_append(line, "CPU quota (throttled, inferred)");
	else if (g_str_equal(key, "cpu:real-time"))
		g_string_append(line, "limit for real-time threads (throttled, inferred)");
	else if (g_str_equal(key, "cpu:deadline"))
		g_string_append(line, "runtime of SCHED_DEADLINE (throttled, inferred)");
	else if (g_str_equal(key, "cpu:affinity"))
		g_string_append(line, "CPU affinity (other CPUs were idle)");
	else if (g_str_equal(key, "cpu:idle"))
		g_string_append(line, "CPUs idle while a thread was ready (slow or remote "
				      "wake-ups)");
	else if (g_str_has_prefix(key, "queue:"))
		g_string_append_printf(line, "queueing discipline (shaper) of %s", key + 6);
	else if (g_str_has_prefix(key, "retransmission:"))
		g_string_append_printf(line, "lost packets to or from %s", key + 15);
	else if (g_str_has_prefix(key, "delayed-ack:"))
		g_string_append_printf(line, "delayed acknowledgements to or from %s", key + 12);
	else if (g_str_has_prefix(key, "send-queue:"))
		g_string_append_printf(line, "TCP's send queue to or from %s", key + 11);
	else
		g_string_append(line, g_str_has_prefix(key, "work:") ? key + 5 : key);
}

/* The command that explains the wait that lost most. */
static void command_line(const struct session *session, const struct imposer *imposer,
			 struct output *output)
{
	text_suggestion(session,
			&(struct suggestion) {.command = "delay",
					      .thread = &imposer->waiter,
					      .from = imposer->begin,
					      .to = imposer->end},
			6, output);
}

/* ": slept 120.0 ms, worked 3.1 ms" */
static void append_parts(GString *line, const struct imposer *imposer)
{
	const char *comma = ": ";
	char length[32];

	for (int n = 0; n < IMPOSED_KINDS; n++) {
		int best = -1;

		for (int i = 0; i < IMPOSED_KINDS; i++) { /* the n-th largest */
			int larger = 0;

			for (int k = 0; k < IMPOSED_KINDS; k++)
				larger += imposer->by[k] > imposer->by[i] ||
					  (imposer->by[k] == imposer->by[i] && k < i);
			if (larger == n)
				best = i;
		}
		if (!imposer->by[best] ||
		    (n && (double) imposer->by[best] < PART_MIN * (double) imposer->ns))
			break;
		g_string_append_printf(line, "%s%s %s", comma, imposed_text((enum imposed) best),
				       when_duration(length, imposer->by[best]));
		comma = ", ";
	}
}

/* One of the rows above it says how to look at that wait. */
static bool said_above(const struct waiting *waiting, guint row)
{
	const struct imposer *imposer = &g_array_index(waiting->imposers, struct imposer, row);

	for (guint i = row > LOOK_BACK ? row - LOOK_BACK : 0; i < row; i++) {
		const struct imposer *at = &g_array_index(waiting->imposers, struct imposer, i);

		if (at->waiter == imposer->waiter && at->begin == imposer->begin)
			return true;
	}
	return false;
}

static bool is_bottleneck(const struct waiting *waiting, const struct imposer *imposer)
{
	for (guint i = 0; i < waiting->knots->len; i++) {
		const struct knot *knot = &g_array_index(waiting->knots, struct knot, i);

		if (knot->circle)
			continue;
		if (imposer->resource
			    ? knot->resource == imposer->resource && knot->host == imposer->host
			    : knot->threads->len &&
				      g_array_index(knot->threads, uint32_t, 0) == imposer->thread)
			return true;
	}
	return false;
}

/* What became of it, where that is not in the name: ": bytes from a (5) to b (6) were …" */
static void append_reason(GString *line, const struct session *session,
			  const struct imposer *imposer)
{
	struct cause cause;

	if (!imposer->told.block)
		return;
	cause = wait_cause(session, &imposer->told);
	g_string_append_printf(line, " (at most: %s)", cause.label);
	cause_clear(&cause);
}

static void imposer_lines(const struct session *session, const struct waiting *waiting, guint row,
			  struct output *output)
{
	const struct imposer *imposer = &g_array_index(waiting->imposers, struct imposer, row);
	g_autoptr(GString) line = g_string_new(NULL);
	bool said = said_above(waiting, row);
	char length[32], worst[32];

	if (is_bottleneck(waiting, imposer))
		g_string_append_printf(line, "Bottleneck, %.0f %% of it: ",
				       100.0 * (double) imposer->ns / (double) waiting->imposed);
	g_string_append_printf(line, "%s of %u thread%s: ", when_duration(length, imposer->ns),
			       imposer->waiters, imposer->waiters == 1 ? "" : "s together");
	if (imposer->resource)
		append_resource(line, session, imposer->host, imposer->resource);
	else
		append_thread(line, session, imposer->thread);
	append_reason(line, session, imposer);
	append_parts(line, imposer);
	g_string_append_printf(line, "; most in one wait: %s of ",
			       when_duration(worst, imposer->worst));
	append_thread(line, session, imposer->waiter);
	if (said)
		g_string_append(line, ", as above");
	if (imposer->spans_gap)
		g_string_append(line, " [spans lost events: it may not be real]");
	text_wrapped(output, line->str, 2, 4);
	if (!said)
		command_line(session, imposer, output);
}

static void circle_line(const struct session *session, const struct waiting *waiting,
			const struct knot *knot, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	char length[32];

	g_string_append_printf(line, "Bottleneck, %.0f %% of it (%s): ",
			       100.0 * (double) knot->ns / (double) waiting->imposed,
			       when_duration(length, knot->ns));
	for (guint i = 0; i < knot->threads->len && i < NAMED_MAX; i++) {
		if (i)
			g_string_append(line, ", ");
		append_thread(line, session, g_array_index(knot->threads, uint32_t, i));
	}
	if (knot->threads->len > NAMED_MAX)
		g_string_append_printf(line, " and %u more", knot->threads->len - NAMED_MAX);
	g_string_append(line, " wait for each other");
	if (knot->resource) {
		g_string_append(line, ", mostly on ");
		append_resource(line, session, knot->host, knot->resource);
	}
	text_wrapped(output, line->str, 2, 4);
}

static void sums_line(const struct waiting *waiting, struct output *output)
{
	const struct {
		int64_t ns;
		const char *words;
	} sums[] = {{waiting->own, "slept by their own timers"},
		    {waiting->idle, "waited for a next request (inferred)"},
		    {waiting->children, "waited only for programs that they had started"},
		    {waiting->tracer, "waited as part of the tracer"},
		    {waiting->open, "waited until the trace ended or they were killed"},
		    {waiting->unknown, "waited with unknown cause"}};
	g_autoptr(GString) line = g_string_new(NULL);
	const char *comma = "";
	char length[32];

	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++) {
		if (!sums[i].ns)
			continue;
		g_string_append_printf(line, "%s%s %s",
				       *comma ? comma : "Not counted: user threads ", sums[i].words,
				       when_duration(length, sums[i].ns));
		comma = ", ";
	}
	if (waiting->left_out_count)
		g_string_append_printf(line,
				       "%s%" PRIu64 " shorter waits were not followed, %s in all",
				       *comma ? "; " : "Not counted: ", waiting->left_out_count,
				       when_duration(length, waiting->left_out));
	if (line->len)
		text_wrapped(output, line->str, 2, 4);
}

/* How many are shown: they are sorted, so the small ones come last. */
static guint rows_of(const struct session *session, const struct waiting *waiting)
{
	uint32_t limit = session->asked.options->limit;
	guint rows = 0;

	if (!limit)
		return waiting->imposers->len;
	while (rows < MIN(waiting->imposers->len, MAX(limit / 2, 1)) &&
	       (double) g_array_index(waiting->imposers, struct imposer, rows).ns >=
		       SHARE_MIN * (double) waiting->imposed)
		rows++;
	return rows;
}

/* Of a chain all are waited for by who is in front of it. */
static bool shares_overlap(const struct waiting *waiting)
{
	int64_t ns = 0;

	for (guint i = 0; i < waiting->imposers->len; i++)
		ns += g_array_index(waiting->imposers, struct imposer, i).ns;
	for (guint i = 0; i < waiting->knots->len; i++)
		if (g_array_index(waiting->knots, struct knot, i).circle)
			ns += g_array_index(waiting->knots, struct knot, i).ns;
	return ns > waiting->imposed + waiting->imposed / 20;
}

void waiting_text(const struct report *report, const struct waiting *waiting)
{
	const struct session *session = report->session;
	struct output *output = report->output;
	guint shown = rows_of(session, waiting);
	char length[32];

	if (!waiting->imposed)
		return;
	text_heading(output, "Who and what others waited for, over chains of waits, most first");
	fprintf(output->file, "  In all %s, added up over the threads that waited%s\n",
		when_duration(length, waiting->imposed),
		shares_overlap(waiting) ? "; one wait may be for several of\n"
					  "  these, so their shares overlap"
					: "");
	for (guint i = 0; i < waiting->knots->len; i++)
		if (g_array_index(waiting->knots, struct knot, i).circle)
			circle_line(session, waiting,
				    &g_array_index(waiting->knots, struct knot, i), output);
	for (guint i = 0; i < shown; i++)
		imposer_lines(session, waiting, i, output);
	text_omitted(output, waiting->imposers->len - shown);
	sums_line(waiting, output);
}
