/* SPDX-License-Identifier: MIT */
/* Pages for browsers: what can be asked, as forms, and the commands' own reports.
 *
 * Part of serve/. A form is made of the command's rows of options, but for those that name files,
 * change how the trace is read, or are of a terminal: what may be asked stands in `allowed`. The
 * report is what the command writes, byte for byte.
 */
#include "serve/forms.h"

#include <string.h>

#include "commands/commands.h"
#include "run/option.h"
#include "tsp/report_json.h"
#include "util/error.h"

/* No file is named, and nothing is written. */
static const char *const allowed[] = {
	"target",
	"thread",
	"process",
	"what-if",
	"from",
	"to",
	"last",
	"operation",
	"resource",
	"per",
	"time-lapse",
	"resolution",
	"peak",
	"maxcount-percentage",
	"min-operations",
	"threshold",
	"preset",
	"begin",
	"end",
	"follow",
	"metric",
	"pick",
	"a",
	"b",
	"slow-fast",
	"function",
	"timeline",
	"host",
	"container",
	"limit",
	"depth",
	"min-duration",
	"path",
	"sort",
	"fail-if",
	"full",
	"force",
	"utc",
	"format",
	NULL};
static const char *const served[] = {"overview",  "delay", "profile", "requests",
				     "functions", "diff",  "check",   NULL};

static const char style[] =
	":root{color-scheme:light dark;--line:#8886}"
	"body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}"
	"h1{font-size:1.4rem}h2{font-size:1.1rem;margin:.2rem 0}"
	"section{border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem;margin:1rem 0}"
	"p{margin:.2rem 0 .6rem}"
	".fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.5rem}"
	"label{display:block}label span{display:block;font-size:.85rem}"
	"input[type=text],select{width:100%;box-sizing:border-box;font:inherit;padding:.2rem}"
	"summary{cursor:pointer;padding:.3rem 0}button{font:inherit;padding:.3rem "
	"1rem;margin:.6rem 0 0}"
	"code{overflow-wrap:anywhere}progress{display:block;width:100%;margin:.5rem 0}";

void page_style(struct asking *asking)
{
	asking->type = "text/css; charset=utf-8";
	fputs(style, asking->out.file);
}

static void put_escaped(struct asking *asking, const char *text)
{
	g_autofree char *escaped = g_markup_escape_text(text, -1);

	fputs(escaped, asking->out.file);
}

/* --- forms ----------------------------------------------------------------------------------- */

static void put_choice(struct asking *asking, const struct option *option)
{
	FILE *file = asking->out.file;

	fprintf(file, "<select name=\"%s\"><option value=\"\">-</option>", option->name);
	for (size_t i = 0; option->words[i]; i++)
		fprintf(file, "<option>%s</option>", option->words[i]);
	fputs("</select>", file);
}

/* A choice where the words are all there is: not those that are only examples. */
static void put_field(struct asking *asking, const struct option *option)
{
	FILE *file = asking->out.file;
	g_autofree char *help = g_strdelimit(g_strdup(option->help), "\n", ' ');

	fputs("<label title=\"", file);
	put_escaped(asking, help);
	if (!option->argument) {
		fprintf(file, "\"><input type=\"checkbox\" name=\"%s\" value=\"yes\"> %s</label>",
			option->name, option->name);
		return;
	}
	fprintf(file, "\"><span>%s</span>", option->name);
	if (option->words && !option->repeatable)
		put_choice(asking, option);
	else
		fprintf(file, "<input type=\"text\" name=\"%s\" placeholder=\"%s\">", option->name,
			option->argument);
	fputs("</label>", file);
}

#define FIRST_FIELDS 8

static void put_form(struct asking *asking, const struct command *command)
{
	g_autofree char *brief = g_strndup(command->summary, strcspn(command->summary, "\n"));
	FILE *file = asking->out.file;

	fprintf(file, "<section><h2>%s</h2><p>", command->name);
	put_escaped(asking, brief);
	fprintf(file, "</p><form action=\"report/%s\"><div class=\"fields\">", command->name);
	for (size_t i = 0, shown = 0; allowed[i]; i++) {
		const struct option *option = command_option(command, allowed[i]);

		if (!option || strcmp(option->name, "format") == 0)
			continue;
		if (shown++ == FIRST_FIELDS)
			fputs("</div><details><summary>More</summary><div class=\"fields\">", file);
		put_field(asking, option);
	}
	fputs("<label><span>format</span><select name=\"format\">", file);
	for (int i = FORMAT_COUNT - 1; i >= 0; i--)
		if (command->writers[i])
			fprintf(file, "<option>%s</option>", format_name((enum format) i));
	fputs("</select></label></div>", file);
	{
		guint fields = 0;

		for (size_t i = 0; allowed[i]; i++)
			fields += command_option(command, allowed[i]) &&
				  strcmp(allowed[i], "format") != 0;
		if (fields > FIRST_FIELDS)
			fputs("</details>", file);
	}
	fputs("<button>Show</button></form></section>", file);
}

void page_forms(struct asking *asking)
{
	const struct server *server = asking->server;
	FILE *file = asking->out.file;

	asking->type = "text/html; charset=utf-8";
	fputs("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width\"><title>",
	      file);
	put_escaped(asking, server->name);
	fputs(" - whylate</title><link rel=\"stylesheet\" "
	      "href=\"style.css\"></head><body><main><h1>",
	      file);
	put_escaped(asking, server->name);
	fprintf(file,
		"</h1><p>%" G_GUINT64_FORMAT " events. "
		"<a href=\"./\">The whole trace</a>, "
		"<a href=\"report/overview?format=html\">what stands out</a>. Trace viewers find "
		"the Trace Server Protocol at <code>tsp/api</code>.</p>",
		server->session->trace.events);
	for (size_t i = 0; served[i]; i++)
		put_form(asking, command_find(commands, served[i]));
	fputs("</main></body></html>", file);
}

/* How far reading has come; asks again by itself, and is then the picture. */
void page_reading(struct asking *asking)
{
	const struct server *server = asking->server;
	FILE *file = asking->out.file;

	asking->type = "text/html; charset=utf-8";
	fputs("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'self'\"><meta http-equiv=\"refresh\" content=\"1\">"
	      "<meta name=\"viewport\" content=\"width=device-width\"><title>",
	      file);
	put_escaped(asking, server->name);
	fputs(" - whylate</title><link rel=\"stylesheet\" "
	      "href=\"style.css\"></head><body><main><h1>",
	      file);
	put_escaped(asking, server->name);
	fputs("</h1><p><label>Reading the trace: ", file);
	if (server->done > 0)
		fprintf(file, "%.0f %%, ", 100 * server->done);
	fprintf(file,
		"%" G_GUINT64_FORMAT " events so far. The picture follows. <progress max=\"1\"",
		server->session->trace.events);
	if (server->done > 0)
		fprintf(file, " value=\"%.3f\"", server->done);
	fputs("></progress></label></p></main></body></html>", file);
}

/* --- reports --------------------------------------------------------------------------------- */

/* Empty fields of a form are what was not asked for. */
static bool take_options(struct asking *asking, struct options *options, GError **error)
{
	for (guint i = 0; i + 1 < asking->query->len; i += 2) {
		const char *key = asking->query->pdata[i], *text = asking->query->pdata[i + 1];
		const struct option *option = command_option(options->command, key);

		if (!*text)
			continue;
		if (!g_strv_contains(allowed, key)) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
				    "'%s' cannot be asked for here", key);
			return false;
		}
		if (option && !option->argument && strcmp(text, "yes") != 0)
			continue;
		if (!options_set(options, key, option && !option->argument ? "" : text, error))
			return false;
	}
	return true;
}

static const char *type_of(enum format format)
{
	switch (format) {
	case FORMAT_HTML:
		return "text/html; charset=utf-8";
	case FORMAT_JSON:
		return "application/json";
	case FORMAT_CSV:
		return "text/csv; charset=utf-8";
	default:
		return "text/plain; charset=utf-8";
	}
}

void page_report(struct asking *asking)
{
	const char *name = asking->given[0];
	const struct command *command =
		g_strv_contains(served, name) ? command_find(commands, name) : NULL;
	g_autofree char *text = NULL, *trouble = NULL;
	g_autoptr(GError) error = NULL;
	struct options options;
	size_t length = 0;

	if (!command) {
		asking_refuse(asking, 404, "There is nothing here", NULL);
		return;
	}
	report_options(asking->server, &options, command);
	options.served = "../";
	if (!take_options(asking, &options, &error)) {
		asking_refuse(asking, 400, "Invalid query parameters", error->message);
		return;
	}
	text = report_text(asking->server, &options, &length, &trouble);
	if (!text) {
		asking_refuse(asking, 400, "The report cannot be made", trouble);
		return;
	}
	asking->type = type_of(options.format);
	fwrite(text, 1, length, asking->out.file);
}
