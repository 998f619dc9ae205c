/* SPDX-License-Identifier: MIT */
/* See requests_answer.h. */
#include "requests/requests_answer.h"

#include <string.h>

#include "waits/cause_kinds.h"

#define CAUSES_TOLD 3 /* in a sentence */
#define LEAST_TOLD 0.1 /* … of the time; the largest always is */
#define CONTRASTS_SHOWN 8
#define LEAST_CONTRAST 0.01 /* of all requests' time, */
#define LEAST_OF_THOSE 0.1 /* … and of the time of those that have it */

static const struct user_cause *cause_at(const struct costs *costs, guint i)
{
	return &g_array_index(costs->causes, struct user_cause, i);
}

static gint slowest_cost_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct user_cause *x = cause_at(data, *(const guint *) a),
				*y = cause_at(data, *(const guint *) b);

	if (x->slow != y->slow)
		return x->slow > y->slow ? -1 : 1;
	return *(const guint *) a < *(const guint *) b ? -1 : 1;
}

/* "84 % waiting for a disk (vda, preadv2 of /data.bin)": of all of them, or of the slow ones. */
static void append_causes(const struct costs *costs, bool slow, GString *line)
{
	g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
	double whole = (double) (slow ? costs->slow_ns : costs->total);

	for (guint i = 0; i < costs->causes->len; i++)
		g_array_append_val(order, i);
	if (slow)
		g_array_sort_with_data(order, slowest_cost_first, (gpointer) costs);
	for (guint i = 0; i < order->len && i < CAUSES_TOLD; i++) {
		const struct user_cause *at = cause_at(costs, g_array_index(order, guint, i));
		double part = (double) (slow ? at->slow : at->value);

		if (i && part < LEAST_TOLD * whole)
			break;
		g_string_append_printf(line, "%s%.0f %% %s (%s", i ? ", " : "",
				       whole > 0 ? part * 100 / whole : 0, time_words(at->kind),
				       at->label);
		if (slow && at->slow_requests < costs->slow_count)
			g_string_append_printf(line, "; %u of the %u", at->slow_requests,
					       costs->slow_count);
		g_string_append(line, ")");
	}
	g_string_append(line, ".");
}

static const struct user_request *
by_rank(const struct costs *costs, const GArray *order, guint rank)
{
	return listed_request(costs, g_array_index(order, guint, rank));
}

static int64_t latency(const struct user_request *request)
{
	return request->end - request->begin;
}

/* "40 server requests: half took up to 16.8 ms, …, the slowest 139 ms (#3, nginx (213), …)." */
static char *count_sentence(const struct costs *costs, const GArray *order)
{
	const struct user_requests *requests = costs->requests;
	bool events = requests->session->asked.options->requests.preset == PRESET_EVENTS;
	g_autoptr(GString) line = g_string_new(NULL);
	guint n = order->len;
	g_autofree char *label = NULL;
	char a[32], b[32], c[32];

	if (events)
		g_string_append_printf(line, "%u request%s between events", n, n == 1 ? "" : "s");
	else
		g_string_append_printf(line, "%u %s request%s", n, user_request_kind(requests),
				       n == 1 ? "" : "s");
	if (n) {
		label = user_request_label(requests, by_rank(costs, order, 0));
		when_duration(c, latency(by_rank(costs, order, 0)));
	}
	/* nearest ranks; the order is from the slowest */
	if (n > 1)
		g_string_append_printf(line,
				       ": half of them within %s, 90 %% within %s, the slowest %s "
				       "(#%u, %s)",
				       when_duration(a, latency(by_rank(costs, order, n / 2))),
				       when_duration(b, latency(by_rank(costs, order, n / 10))), c,
				       by_rank(costs, order, 0)->id, label);
	else if (n)
		g_string_append_printf(line, ": #%u, %s, took %s", by_rank(costs, order, 0)->id,
				       label, c);
	g_string_append(line, ".");
	return g_string_free(g_steal_pointer(&line), FALSE);
}

/* "What goes with taking 46.4 ms to 139 ms: 8 of 14 used /data.bin; of the 26 others none did." */
static void append_group(GPtrArray *answer, const struct requests_apart *apart)
{
	const struct request_group *group = requests_apart_told(apart);
	const struct trait_told *told;
	char from[32], to[32];
	bool same;

	if (!group)
		return;
	told = g_ptr_array_index(group->traits->told, 0);
	when_duration(from, group->from);
	when_duration(to, group->to);
	same = strcmp(from, to) == 0;
	g_ptr_array_add(answer,
			g_strdup_printf("What goes with taking %s%s%s: %s.", from,
					same ? "" : " to ", same ? "" : to, told->sentence));
}

GPtrArray *requests_answer(const struct costs *costs, const GArray *order,
			   const struct requests_apart *apart)
{
	GPtrArray *answer = g_ptr_array_new_with_free_func(g_free);
	GString *line;
	guint n = order->len;
	char ns[32];
	bool slow = n > 1 && (double) costs->slow_from >=
				     SLOW_SPREAD * (double) latency(by_rank(costs, order, n / 2));

	g_ptr_array_add(answer, count_sentence(costs, order));
	if (!n || metric_of(costs) != METRIC_LATENCY || !costs->total)
		return answer;
	if (slow) {
		line = g_string_new(NULL);
		if (costs->slow_count > 1)
			g_string_append_printf(line, "The %u slowest (%s or longer) spent ",
					       costs->slow_count,
					       when_duration(ns, costs->slow_from));
		else
			g_string_append(line, "The slowest one spent ");
		append_causes(costs, true, line);
		g_ptr_array_add(answer, g_string_free(line, FALSE));
	}
	line = g_string_new(slow    ? "All together: "
			    : n > 1 ? "They take about as long as each other: "
				    : "It spent ");
	append_causes(costs, false, line);
	g_ptr_array_add(answer, g_string_free(line, FALSE));
	append_group(answer, apart);
	if (costs->requests->session->asked.options->requests.preset == PRESET_SERVER)
		g_ptr_array_add(answer,
				g_strdup("What they waited before a server read them is not "
					 "in it: --preset client."));
	return answer;
}

/* --- contrasts --------------------------------------------------------------------- */

static void contrast_line(const struct costs *costs, const struct user_cause *at,
			  struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	guint n = costs->requests->listed->len, shown = MIN(at->requests, CAUSE_EXAMPLES);
	char each[32], with[32], without[32];

	g_string_printf(line,
			"%s: %s%s: %u of %u requests, %s each in the mean; these take %s, the "
			"others %s (#",
			at->kind, at->label, at->spans_gap ? "*" : "", at->requests, n,
			when_duration(each, at->value / at->requests),
			when_duration(with, at->latencies / at->requests),
			when_duration(without,
				      (costs->total - at->latencies) / (n - at->requests)));
	for (guint i = 0; i < shown; i++)
		g_string_append_printf(line, "%s%u", i ? ", #" : "", at->ids[i]);
	g_string_append(line, shown < at->requests ? ", …)" : ")");
	text_wrapped(output, line->str, 2, 4);
}

void requests_contrasts(const struct costs *costs, struct output *output)
{
	bool all = !costs->requests->session->asked.options->limit, marked = false;
	guint n = costs->requests->listed->len, shown = 0;

	text_heading(output, "What some of them spend time on and others do not");
	for (guint i = 0; i < costs->causes->len; i++) {
		const struct user_cause *at = cause_at(costs, i);

		if (!at->requests || at->requests == n || !at->value)
			continue;
		if (!all && (shown == CONTRASTS_SHOWN ||
			     (double) at->value < LEAST_CONTRAST * (double) costs->total))
			break;
		if (!all && (double) at->value < LEAST_OF_THOSE * (double) at->latencies)
			continue;
		contrast_line(costs, at, output);
		marked |= at->spans_gap;
		shown++;
	}
	if (!shown)
		fprintf(output->file,
			"  Nothing notable: all spend their time on the same things.\n");
	text_gap_note(output, marked);
}

char *requests_remarks(const struct costs *costs, guint n)
{
	const struct user_requests *requests = costs->requests;
	GString *line = g_string_new(NULL);
	guint unfinished = 0, spanning = 0;

	for (guint i = 0; i < n; i++) {
		const struct user_request *at = listed_request(costs, i);

		unfinished += at->unfinished;
		spanning += at->spans_gap;
	}
	if (spanning)
		g_string_append_printf(
			line,
			"%u of them span lost events and may not be real, and others "
			"may be missing: these figures are not to be trusted. ",
			spanning);
	if (unfinished)
		g_string_append_printf(line, "%u %s. ", unfinished,
				       requests->session->asked.options->requests.preset ==
						       PRESET_PROCESS
					       ? "had not ended when the trace did"
					       : "had no answer when the trace, the connection or "
						 "the thread ended");
	if (requests->omitted)
		g_string_append_printf(line, "%u others are not picked. ", requests->omitted);
	if (requests->of_tracer)
		g_string_append_printf(line, "%u request%s of the tracer %s left out. ",
				       requests->of_tracer, requests->of_tracer == 1 ? "" : "s",
				       requests->of_tracer == 1 ? "is" : "are");
	if (costs->not_followed)
		g_string_append_printf(line,
				       "The ways of %u were not looked for, as there is too much "
				       "of them. ",
				       costs->not_followed);
	if (!n && requests->session->asked.options->requests.preset == PRESET_SERVER)
		g_string_append(line, "--preset client, process or syscall:NAME, or --begin and "
				      "--end, say that something else is a request. ");
	if (requests->inferred && n)
		g_string_append_printf(
			line,
			"Who asks on %u connections that were there before the trace "
			"is inferred: who wrote first after a silence, and then in "
			"turn with the other end. ",
			requests->inferred);
	if (requests->undecided)
		g_string_append_printf(line,
				       "On %u connections that were there before the trace both "
				       "ends write, but nothing tells who asks: no requests are "
				       "made of these. ",
				       requests->undecided);
	if (requests->unknown_ends && !n)
		g_string_append_printf(line,
				       "Of %u sockets that were there before the trace it is not "
				       "known which end serves: neither calls nor packets "
				       "(net_dev_queue) tell. ",
				       requests->unknown_ends);
	return g_strchomp(g_string_free(line, FALSE));
}
