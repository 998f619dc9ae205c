/* SPDX-License-Identifier: MIT */
/* See commands.h. */
#include "commands/commands.h"
#include "coverage/bearing.h"
#include "run/finish.h"
#include "run/stretches.h"

#include "lami/lami.h"
#include "limits/judge.h"
#include "report/report.h"
#include "limits/limits_report.h"

#define COMMAND_ADDRESS(name, ...) &name##_command,
const struct command *const commands[] = {COMMANDS(COMMAND_ADDRESS, COMMAND_ADDRESS) NULL};

void command_options(struct options *options, const struct command *command)
{
	options_init(options, command);
	options->commands = commands;
}

static bool wants_color(const struct options *options, const struct output *output)
{
	const char *no_color = g_getenv("NO_COLOR");

	if (options->color != CHOICE_AUTO)
		return options->color == CHOICE_ALWAYS;
	return output->terminal && !(no_color && *no_color);
}

/* What may make the answer wrong, and which limits are exceeded, stands before it. */
static void text_first(const struct session *session, struct output *output)
{
	g_autofree char *caution =
		command_needs_any(session->asked.options->command) ? answer_caution(session) : NULL;
	g_autofree char *line = g_strconcat("CAUTION: ", caution, ".", NULL);

	if (caution) {
		text_wrapped(output, line, 0, 2);
		fputc('\n', output->file);
	}
	limits_text(session, output);
}

bool report_write_to(const struct session *session, struct output *output, GError **error)
{
	const struct options *options = session->asked.options;

	output->color = options->format == FORMAT_TEXT && wants_color(options, output);
	if (options->lami)
		return lami_write(session, output->file, error);
	return command_report(options->command, options->format, session,
			      options->format == FORMAT_TEXT ? text_first : NULL, output, error);
}

bool report_write(const struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	struct output output;
	bool ok;

	FILE *plain = NULL;

	if (options->command->write)
		return options->command->write(session, error);
	ok = output_open(&output, options->output, error);
	output.color = ok && options->format == FORMAT_TEXT && wants_color(options, &output);
	if (ok && options->format == FORMAT_TEXT && !options->lami)
		plain = text_dress(&output, !options->no_pager, options->glossary);
	ok = ok && report_write_to(session, &output, error);
	text_undress(&output, plain);
	ok = ok && !session_interrupted(session) && output_commit(&output, error);

	output_clear(&output);
	return ok;
}

bool report_end(struct session *session, GError **error)
{
	if (session->asked.options->every)
		return stretches_end(session, error);
	if (!trace_bears_answer(session, error) || !session_finish(session, error))
		return false;
	if (session->asked.options->limits->len)
		session->found.judged = judgements_new(session);
	return report_write(session, error) && junit_write(session, error);
}
