/* SPDX-License-Identifier: MIT */
/* See report_json.h. */
#include "tsp/report_json.h"

#include <inttypes.h>
#include <unistd.h>

#include "commands/commands.h"
#include "run/feed.h"
#include "run/matches.h"
#include "util/error.h"
#include "util/spill.h"

void report_options(const struct server *server, struct options *options,
		    const struct command *command)
{
	const struct options *of = server->session->asked.options;

	command_options(options, command);
	options->trace = g_strdup(of->trace);
	options->kallsyms = g_strdup(of->kallsyms);
	for (guint i = 0; i < of->binary_paths->len; i++)
		g_ptr_array_add(options->binary_paths, g_strdup(of->binary_paths->pdata[i]));
	for (guint i = 0; i < of->clock_offsets->len; i++)
		g_ptr_array_add(options->clock_offsets, g_strdup(of->clock_offsets->pdata[i]));
	for (guint i = 0; i < of->guests->len; i++)
		g_ptr_array_add(options->guests, g_strdup(of->guests->pdata[i]));
	options->cache = g_strdup(of->cache);
	options->reader = of->reader;
	options->color = options->progress = CHOICE_NEVER;
	options->no_pager = options->quiet = true;
}

/* To standard output, which is the answer's file. */
static bool print(struct server *server, struct options *options, char **trouble)
{
	struct session *session = server->session;
	g_autoptr(GError) error = NULL;

	if (!session_bears(session, options)) {
		int status = server->trace->run(options, server->trace->paths, trouble);

		return status == 0 || status == 1 || status == WHYLATE_ERROR_DAMAGE;
	}
	session_ask_again(session, options);
	if ((!session_wants_match(session) ||
	     server->trace->match(session, server->trace->paths, &error)) &&
	    report_end(session, &error))
		return true;
	*trouble = g_strdup(error ? error->message : "interrupted");
	return false;
}

char *report_text(struct server *server, struct options *options, size_t *length, char **trouble)
{
	g_autoptr(GError) error = NULL;
	int fd = spill_open();
	char *text = NULL;
	off_t size;

	*trouble = NULL;
	if (fd < 0 || !options_check(options, &error)) {
		*trouble = g_strdup(error ? error->message : "no room for a temporary file");
	} else {
		fflush(stdout);
		dup2(fd, STDOUT_FILENO);
		if (print(server, options, trouble) && fflush(stdout) == 0 &&
		    (size = lseek(fd, 0, SEEK_END)) >= 0) {
			*length = (size_t) size;
			text = g_malloc(*length + 1);
			text[*length] = '\0';
			if (*length && !spill_read(fd, text, *length, 0))
				g_clear_pointer(&text, g_free);
		}
	}
	if (fd >= 0)
		close(fd);
	if (!text && !*trouble)
		*trouble = g_strdup("the report could not be made");
	return text;
}

static bool set_options(struct options *options, const struct times *window,
			const char *const *given, GError **error)
{
	g_autofree char *from = g_strdup_printf("%" PRId64 "ns", window->from);
	g_autofree char *to = g_strdup_printf("%" PRId64 "ns", window->to);

	if (!options_set(options, "format", "json", error) ||
	    !options_set(options, "limit", "0", error) ||
	    !options_set(options, "from", from, error) || !options_set(options, "to", to, error))
		return false;
	for (size_t i = 0; given && given[i]; i += 2)
		if (!options_set(options, given[i], given[i + 1], error))
			return false;
	return true;
}

json_t *report_json(struct asking *asking, const char *command, const struct times *window,
		    const char *const *given)
{
	const struct session *session = asking->server->session;
	struct times clipped = {MAX(window->from, session->trace.begin),
				MIN(window->to, session->trace.end), 0};
	g_autofree char *text = NULL, *trouble = NULL;
	g_autoptr(GError) error = NULL;
	struct options *options = g_new0(struct options, 1); /* the session keeps them */
	json_t *report = NULL;
	size_t length = 0;

	report_options(asking->server, options, command_find(commands, command));
	if (clipped.from >= clipped.to)
		trouble = g_strdup("the range is outside the trace");
	else if (!set_options(options, &clipped, given, &error))
		trouble = g_strdup(error->message);
	else
		text = report_text(asking->server, options, &length, &trouble);
	if (text)
		report = json_loadb(text, length, 0, NULL);
	if (!report)
		asking_refuse(asking, 405, "Analysis cannot run", trouble);
	return report;
}
