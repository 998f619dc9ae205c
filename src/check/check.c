/* SPDX-License-Identifier: MIT */
/* What can be answered from a trace; see check.h. */
#include "check/check.h"

#include <inttypes.h>
#include <string.h>

#define IN_RINGS                                                                                   \
	"; for a flight recorder 'lttng regenerate statedump' before 'lttng snapshot record'"

const char *answer_text(enum answer answer)
{
	static const char *const texts[] = {"yes", "degraded", "no"};

	return texts[answer];
}

const char *finding_kind_text(enum finding_kind kind)
{
	static const char *const texts[] = {"event",       "context", "statedump", "symbols",
					    "lost-events", "damage",  "trace",     "user-trace"};

	return texts[kind];
}

static void finding_clear(gpointer data)
{
	struct finding *finding = data;

	g_free(finding->name);
	g_free(finding->means);
	g_free(finding->remedy);
}

unsigned check_all(const struct check *check)
{
	return (unsigned) ((UINT64_C(1) << check->count) - 1);
}

/* Of all commands. */
static void find_commands(struct check *check, const struct command *const *commands)
{
	for (; commands && *commands; commands++) {
		if (!command_needs_any(*commands))
			continue;
		g_assert(check->count < CHECK_COMMANDS_MAX);
		check->commands[check->count++] = *commands;
	}
}

/* Whom the lack of a need concerns, and how. */
static void add_commands(const struct check *check, guint need, struct finding *finding)
{
	for (guint i = 0; i < check->count; i++) {
		const struct command_needs *needs_of = &check->commands[i]->needs;

		finding->impossible |= (needs_of->impossible >> need & 1) << i;
		finding->degraded |= (needs_of->degraded >> need & 1) << i;
		finding->poorer |= (needs_of->poorer >> need & 1) << i;
	}
}

static enum finding_kind kind_of(const struct need *need)
{
	if (g_str_has_prefix(need->name, "lttng_statedump"))
		return FINDING_STATEDUMP;
	if (strcmp(need->name, "kallsyms") == 0)
		return FINDING_SYMBOLS;
	return strstr(need->recorded_by, "lttng add-context") ? FINDING_CONTEXT : FINDING_EVENT;
}

static void add_needs(struct check *check, const struct session *session)
{
	for (guint i = 0; i < NEED_COUNT; i++) {
		const struct need *need = &needs[i];
		struct finding finding = {.kind = kind_of(need), .need = (int) i};
		g_autofree char *line = NULL;

		if (need_is_met(session, need))
			continue;
		add_commands(check, i, &finding);
		finding.name = need_name(need, check->tracer);
		finding.means = g_strdup(need->without);
		line = need_line(need, check->tracer);
		finding.remedy = g_strconcat(
			line,
			finding.kind == FINDING_STATEDUMP && check->tracer == TRACED_BY_LTTNG
				? IN_RINGS
				: NULL,
			NULL);
		g_array_append_val(check->findings, finding);
	}
}

const char *check_buffers(enum traced_by tracer)
{
	static const char *const lines[] = {
		[TRACED_BY_LTTNG] = "lttng enable-channel -k --subbuf-size=4M --num-subbuf=8 NAME",
		[TRACED_BY_FTRACE] = "trace-cmd record -b 65536 …",
		[TRACED_BY_PERF] = "perf record -m 64M …"};

	return lines[tracer];
}

/* Lost events of each host, in one line: how many, in how much time of all CPUs'. */
static void add_lost(struct check *check, const struct session *session)
{
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);
		struct finding finding = {.kind = FINDING_LOST,
					  .degraded = check_all(check),
					  .need = -1};
		g_autoptr(GString) name = g_string_new(NULL);
		char length[32];

		if (!host->gaps->len)
			continue;
		g_string_append_printf(name, "%u hole%s, %s in all", host->gaps->len,
				       host->gaps->len == 1 ? "" : "s",
				       when_duration(length, host_gaps_ns(host, UINT32_MAX)));
		if (host->discarded_events)
			g_string_append_printf(name, ", %" G_GUINT64_FORMAT " events",
					       host->discarded_events);
		if (host->discarded_packets)
			g_string_append_printf(name, ", %" G_GUINT64_FORMAT " packets",
					       host->discarded_packets);
		if (session->trace.model.hosts->len > 1)
			g_string_append_printf(name, ", host %s",
					       trace_host_name(&session->trace, i));
		finding.name = g_string_free(g_steal_pointer(&name), FALSE);
		finding.means =
			g_strdup("what was on at those times is unknown, and what spans them is "
				 "marked: it may not be real");
		/* else they are those of damaged files, which no recording prevents */
		if (host->discarded_events || host->discarded_packets ||
		    !session->trace.damages->len)
			finding.remedy = g_strconcat(check_buffers(check->tracer),
						     ": larger buffers; or fewer events", NULL);
		g_array_append_val(check->findings, finding);
	}
}

static void add_damage(struct check *check, const struct session *session)
{
	for (guint i = 0; i < session->trace.damages->len; i++) {
		const struct damage *at = &g_array_index(session->trace.damages, struct damage, i);
		struct finding finding = {.kind = FINDING_DAMAGE,
					  .degraded = check_all(check),
					  .need = -1};

		finding.name = g_strdup(at->file);
		finding.means =
			at->what ? g_strdup(at->what)
				 : g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
						   " bytes could not be read",
						   at->bytes, at->total);
		g_array_append_val(check->findings, finding);
	}
}

static const char *larger_rings(enum traced_by tracer)
{
	return tracer == TRACED_BY_LTTNG ? "lttng enable-channel -k --overwrite --subbuf-size=1M "
					   "--num-subbuf=16 NAME"
					 : check_buffers(tracer);
}

/* "NAME: what that means", as the coverage has them. */
static void add_troubles(struct check *check, const struct session *session)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

	coverage_troubles(session, list);
	for (guint i = 0; i < list->len; i++) {
		const char *text = g_ptr_array_index(list, i), *colon = strstr(text, ": ");
		struct finding finding = {.kind = FINDING_TRACE,
					  .degraded = check_all(check),
					  .need = -1};

		finding.name = colon ? g_strndup(text, (gsize) (colon - text)) : g_strdup(text);
		finding.means = g_strdup(colon ? colon + 2 : "");
		if (g_str_has_prefix(text, "CPU "))
			finding.remedy = g_strconcat(larger_rings(check->tracer),
						     ": larger rings reach further back", NULL);
		g_array_append_val(check->findings, finding);
	}
}

/* What no recording of that tracer has, whatever it recorded. */
static void add_tracer(struct check *check)
{
	struct finding finding = {.kind = FINDING_TRACE, .poorer = check_all(check), .need = -1};

	if (check->tracer == TRACED_BY_LTTNG)
		return;
	finding.name = g_strdup_printf("recorded with %s", needs_tracer_name(check->tracer));
	finding.means = g_strdup(
		"of what system calls point to there are names of opened files and addresses at "
		"most, where whylate record could set its probes: which descriptors poll, select "
		"and epoll_wait watched and found ready, and what clock_nanosleep was asked for, "
		"is "
		"not known");
	finding.remedy = g_strdup("whylate record --tracer lttng");
	g_array_append_val(check->findings, finding);
}

static char *user_means(const struct session *session)
{
	const struct user_counts *counts = &session->trace.flow.user;
	GString *text = g_string_new(NULL);
	uint64_t odd =
		counts->entries_unseen + counts->exits_unseen + counts->dropped + counts->no_thread;

	if (session->trace.user_events)
		g_string_append_printf(text,
				       "its %" PRIu64 " events can be named as those of the "
				       "kernel, and change nothing else",
				       session->trace.user_events);
	if (counts->entries + counts->exits)
		g_string_append_printf(text,
				       "; %" PRIu64 " entries and %" PRIu64 " exits of "
				       "functions (--operation 'function:*')",
				       counts->entries, counts->exits);
	if (odd)
		g_string_append_printf(text, ", %" PRIu64 " of them without the other", odd);
	if (counts->lost)
		g_string_append_printf(text, "; %" PRIu64 " events were lost", counts->lost);
	if (session->trace.user_apart)
		g_string_append_printf(text,
				       "%s%u of them not read, being of no host whose kernel "
				       "was traced",
				       text->len ? "; " : "", session->trace.user_apart);
	for (guint i = 0; i < session->trace.user_damages->len; i++)
		g_string_append_printf(text, "%sdamaged: %s", text->len ? "; " : "",
				       (char *) g_ptr_array_index(session->trace.user_damages, i));
	if (!text->len)
		g_string_append(text, "it has no events");
	return g_string_free(text, FALSE);
}

static void add_user_traces(struct check *check, const struct session *session)
{
	struct finding finding = {.kind = FINDING_USER_TRACE, .need = -1};

	if (!session->trace.user_traces)
		return;
	finding.name =
		g_strdup_printf("%u user-space trace%s beside it", session->trace.user_traces,
				session->trace.user_traces == 1 ? "" : "s");
	finding.means = user_means(session);
	g_array_append_val(check->findings, finding);
}

static int severity_of(const struct finding *finding)
{
	return finding->impossible ? 0 : finding->degraded ? 1 : finding->poorer ? 2 : 3;
}

static gint gravest_first(gconstpointer a, gconstpointer b)
{
	return severity_of(a) - severity_of(b); /* and as they were found: the sort is stable */
}

void check_init(struct check *check, const struct session *session)
{
	*check = (struct check) {0};
	check->tracer = needs_tracer(session);
	find_commands(check, session->asked.options->commands);
	check->findings = g_array_new(FALSE, TRUE, sizeof(struct finding));
	g_array_set_clear_func(check->findings, finding_clear);
	add_lost(check, session);
	add_damage(check, session);
	add_troubles(check, session);
	add_needs(check, session);
	add_tracer(check);
	add_user_traces(check, session);
	g_array_sort(check->findings, gravest_first);
	for (guint i = 0; i < check->findings->len; i++) {
		const struct finding *finding = &g_array_index(check->findings, struct finding, i);

		for (guint c = 0; c < check->count; c++) {
			enum answer answer = finding->impossible & 1u << c ? ANSWER_NO
					     : finding->degraded & 1u << c ? ANSWER_DEGRADED
									   : ANSWER_YES;

			check->answers[c] = MAX(check->answers[c], answer);
		}
	}
}

void check_clear(struct check *check)
{
	g_array_free(check->findings, TRUE);
}
