/* SPDX-License-Identifier: MIT */
/* `whylate check`: what a trace has, and lacks for each command. */
#include "check/check.h"
#include "page/page.h"
#include "report/report.h"
#include "run/command.h"
#include "run/common_options.h"

static const struct option *const options[] = {
	&option_clock_offset, &option_guest, &option_kallsyms, &option_format, &option_output,
	LAST_OPTIONS,         NULL};

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
	.usage = "[OPTIONS] TRACE...",
	.summary = "What does this trace contain, and what does each command lack?\n"
		   "Names the events, contexts and buffers to record it with.",
	.options = options,
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json, [FORMAT_HTML] = html},
};
