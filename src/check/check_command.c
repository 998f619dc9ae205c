/* SPDX-License-Identifier: MIT */
/* `whylate check`: what a trace has, and lacks for each command. */
#include "check/check.h"
#include "page/page.h"
#include "report/report.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/option_values.h"

static const struct option option_self = {
	"self",
	NULL,
	"no TRACE: say what of the installation works, for\nreports of errors",
	option_switch,
	AT(self),
	.terminal = true};

static const struct option *const options[] = {
	&option_self,   &option_clock_offset, &option_guest, &option_kallsyms,
	&option_format, &option_output,       LAST_OPTIONS,  NULL};

static bool check_self(struct options *asked, GError **error)
{
	if (asked->self && asked->trace)
		return options_refuse(error, "--self is about the installation, and takes no "
					     "TRACE");
	if (asked->self && asked->format == FORMAT_HTML)
		return options_refuse(error, "--self has no page: text or json are --format's");
	return true;
}

static void text(const void *session, struct output *output)
{
	check_text(session, output);
}

static void json(const void *session, struct output *output)
{
	check_json(session, output);
}

static void html(const void *session, struct output *output)
{
	struct page page;

	page_begin(&page, session, output);
	check_json(session, &page.json);
	page_end(&page, &(struct page_parts) {0});
}

const struct command check_command = {
	.name = "check",
	.usage = "[OPTIONS] TRACE... | --self",
	.summary = "What does this trace contain, and what does each command lack?\n"
		   "Names the events, contexts and buffers to record it with.",
	.options = options,
	.check = check_self,
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json, [FORMAT_HTML] = html},
};
