/* SPDX-License-Identifier: MIT */
/* The answer that `whylate check` begins with, in sentences; see check.h. */
#include "check/check.h"

#define MISSING_TOLD 2 /* in sentences; the others are listed */
#define MANY_MISSING 4 /* things: then a new session is easier than to mend the old one */
#define UNKNOWN_TOLD 0.01 /* of the time that programs waited */

static bool is_grave(const struct finding *finding)
{
	return finding->impossible || finding->degraded;
}

/* "overview, delay": the commands of that answer. */
static char *commands_with(const struct check *check, enum answer answer, guint *count)
{
	GString *text = g_string_new(NULL);

	*count = 0;
	for (guint c = 0; c < check->count; c++)
		if (check->answers[c] == answer)
			g_string_append_printf(text, "%s%s", (*count)++ ? ", " : "",
					       check->commands[c]->name);
	return g_string_free(text, FALSE);
}

static char *questions_sentence(const struct check *check)
{
	guint yes, partly, no;
	g_autofree char *in_full = commands_with(check, ANSWER_YES, &yes);
	g_autofree char *in_part = commands_with(check, ANSWER_DEGRADED, &partly);
	g_autofree char *not_at_all = commands_with(check, ANSWER_NO, &no);
	g_autoptr(GString) text = g_string_new("This trace answers ");

	if (no == check->count) {
		g_string_append(text, "no question.");
	} else if (yes == check->count) {
		g_string_append(text, "every question: all that the answers rest on was recorded.");
	} else if (partly == check->count) {
		g_string_append(text, "every question, but in part only: the reports say where.");
	} else {
		if (yes)
			g_string_append_printf(text, "in full: %s", in_full);
		if (partly)
			g_string_append_printf(text, "%sin part: %s", yes ? "; " : "", in_part);
		if (no)
			g_string_append_printf(text, "; not at all: %s", not_at_all);
		g_string_append_c(text, '.');
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *missing_sentence(const struct finding *finding)
{
	switch (finding->kind) {
	case FINDING_LOST:
		return g_strdup_printf("Events were lost (%s): %s.", finding->name, finding->means);
	case FINDING_DAMAGE:
		return g_strdup_printf("Damaged: %s: %s.", finding->name, finding->means);
	case FINDING_TRACE:
		return g_strdup_printf("%s: %s.", finding->name, finding->means);
	default:
		return g_strdup_printf("Not recorded: %s: %s.", finding->name, finding->means);
	}
}

/* How much that costs: "Of the time that programs waited, 4 % has no known cause." */
static void add_unknown(GPtrArray *answer, const struct session *session)
{
	struct coverage coverage;

	coverage_init(&coverage, session);
	if (coverage_unknown_share(&coverage) >= UNKNOWN_TOLD)
		g_ptr_array_add(answer, g_strdup_printf("Of the time that programs waited, %.0f %% "
							"has no known cause.",
							100 * coverage_unknown_share(&coverage)));
	coverage_clear(&coverage);
}

GPtrArray *check_answer(const struct check *check, const struct session *session)
{
	GPtrArray *answer = g_ptr_array_new_with_free_func(g_free);
	guint grave = 0;

	g_ptr_array_add(answer, questions_sentence(check));
	for (guint i = 0; i < check->findings->len; i++) {
		const struct finding *finding = &g_array_index(check->findings, struct finding, i);

		if (is_grave(finding) && grave++ < MISSING_TOLD)
			g_ptr_array_add(answer, missing_sentence(finding));
	}
	if (grave > MISSING_TOLD)
		g_ptr_array_add(answer, g_strdup_printf("%u more %s missing: see below.",
							grave - MISSING_TOLD,
							grave - MISSING_TOLD == 1 ? "is" : "are"));
	add_unknown(answer, session);
	return answer;
}

/* What one line records, as bits; of grave needs alone if there are such. */
struct recordable {
	unsigned missing, count;
	bool grave, lost;
};

static struct recordable recordable_of(const struct check *check)
{
	struct recordable all = {0};

	for (guint i = 0; i < check->findings->len; i++)
		all.grave |= is_grave(&g_array_index(check->findings, struct finding, i));
	for (guint i = 0; i < check->findings->len; i++) {
		const struct finding *finding = &g_array_index(check->findings, struct finding, i);

		if (is_grave(finding) != all.grave)
			continue;
		all.lost |= finding->kind == FINDING_LOST && finding->remedy;
		/* call stacks make a trace several times as large: nothing to record by the way */
		if (finding->need >= 0 && (all.grave || finding->kind != FINDING_CONTEXT))
			all.missing |= 1u << finding->need;
		all.count++;
	}
	return all;
}

char *check_record_with(const struct check *check)
{
	struct recordable all = recordable_of(check);
	g_autofree char *line = NULL;

	if (all.grave && all.count >= MANY_MISSING && check->tracer == TRACED_BY_LTTNG)
		return g_strdup("whylate record -- PROGRAM");
	line = needs_line(all.missing, check->tracer, all.lost ? "NAME" : NULL);
	if (!all.lost || (line && check->tracer != TRACED_BY_LTTNG)) /* it has larger buffers */
		return g_steal_pointer(&line);
	return line ? g_strconcat(check_buffers(check->tracer), " && ", line, NULL)
		    : g_strdup(check_buffers(check->tracer));
}

const char *check_record_note(const struct check *check)
{
	struct recordable all = recordable_of(check);

	return all.grave && all.count >= MANY_MISSING ? NULL
						      : needs_note(all.missing, check->tracer);
}
