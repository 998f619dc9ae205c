/* SPDX-License-Identifier: MIT */
/* `whylate overview`: what is in a trace, and who waited for what. */
#include "imposed/waiting.h"
#include "limits/limit_options.h"
#include "report/page.h"
#include "report/report.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/needs.h"

static const struct option *const options[] = {WINDOW_OPTIONS, &option_every,  &option_kallsyms,
					       &option_format, &option_output, &option_limit,
					       LIMIT_OPTIONS,  LAST_OPTIONS,   NULL};

static void text(const void *session, struct output *output)
{
	overview_text(session, output);
}

static void json(const void *session, struct output *output)
{
	struct waiting *waiting = waiting_new(session);

	overview_json(session, waiting, output);
	waiting_free(waiting);
}

static void html(const void *session, struct output *output)
{
	struct waiting *waiting = waiting_new(session);
	struct page page;

	page_begin(&page, session, output);
	overview_json(session, waiting, &page.json);
	page_end(&page, waiting);
	waiting_free(waiting);
}

const struct command overview_command = {
	.name = "overview",
	.usage = "[OPTIONS] TRACE...",
	.summary = "What is in this trace, who waited most and for what.",
	.options = options,
	.check = limits_check,
	.want = limits_want,
	.choose = limits_choose,
	.finish = limits_finish,
	.needs = {.impossible = NEED(SWITCH),
		  .degraded = NEEDS_DEGRADED | NEED(SYSCALLS),
		  .poorer = NEEDS_POORER | NEED(FORK) | NEED(VECTOR) | NEED(FAULT)},
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json, [FORMAT_HTML] = html},
};
