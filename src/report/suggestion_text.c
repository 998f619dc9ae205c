/* SPDX-License-Identifier: MIT */
/* Suggested commands in reports; see run/command.h and report.h. */
#include "coverage/bearing.h"
#include "report/report.h"
#include "run/command.h"

static bool trace_bears(const struct session *session, const struct suggestion *suggestion)
{
	const struct command *const *all = session->asked.options->commands;
	const struct command *command = all ? command_find(all, suggestion->command) : NULL;

	return !command || trace_bears_command(session, command);
}

/* Where a line would be too long a backslash ends it: a shell takes them as one. */
static void put_words(struct output *output, const GPtrArray *words, int indent)
{
	int at = fprintf(output->file, "%*s%s", indent, "", (char *) g_ptr_array_index(words, 0));

	for (guint i = 1; i < words->len; i++) {
		g_autofree char *word = text_safe(g_ptr_array_index(words, i));
		int columns = text_columns(word), more = i + 1 < words->len ? 2 : 0;

		if (at + 1 + columns + more > output->width && at > indent + 4) {
			fprintf(output->file, " \\\n%*s%s", indent + 4, "", word);
			at = indent + 4 + columns;
		} else {
			fprintf(output->file, " %s", word);
			at += 1 + columns;
		}
	}
	fputc('\n', output->file);
}

void text_command(struct output *output, const char *line, int indent)
{
	g_auto(GStrv) split = g_strsplit(line, " ", -1);
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (char **word = split; *word; word++)
		g_ptr_array_add(words, *word);
	put_words(output, words, indent);
}

bool text_suggestion(const struct session *session, const struct suggestion *suggestion, int indent,
		     struct output *output)
{
	g_autoptr(GPtrArray) words = NULL;

	if (!trace_bears(session, suggestion))
		return false;
	if (suggestion->why) {
		g_autofree char *why = g_strconcat("# ", suggestion->why, NULL);

		text_wrapped(output, why, indent, 2);
	}
	words = suggested_words(session, suggestion);
	put_words(output, words, indent);
	return true;
}
