/* SPDX-License-Identifier: MIT */
/* See limit_options.h. */
#include "limits/limit_options.h"

#include "latencies/operations.h"
#include "limits/limits.h"
#include <string.h>

#include "run/anonymise.h"
#include "run/choosing.h"
#include "run/option_values.h"
#include "run/session.h"

static bool add_limit(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;
	struct limit *limit = limit_parse(value, error);

	if (!limit) {
		g_prefix_error(error, "--%s ", option->name);
		return false;
	}
	limit->number = options->limits->len;
	g_ptr_array_set_free_func(options->limits, limit_free);
	g_ptr_array_add(options->limits, limit);
	return true;
}

static bool add_budget(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;

	(void) option;
	g_ptr_array_set_free_func(options->limits, limit_free);
	return limits_read(options->limits, value, error);
}

const struct option option_fail_if = {
	"fail-if", "LIMIT",
	"exit with 1 if this is true: 'p99(syscall:fsync) > 20ms',\n'blocked(thread=nginx) > "
	"30%'; may be repeated",
	.set = add_limit, .repeatable = true};
const struct option option_budget = {"budget", "FILE",
				     "limits as in --fail-if, one a line: 'NAME: LIMIT'",
				     .set = add_budget, .repeatable = true};
const struct option option_junit = {"junit", "FILE",
				    "write the limits' outcome to FILE, as JUnit's XML",
				    option_file, AT(junit)};

bool limits_check(struct options *options, GError **error)
{
	return !options->junit || options->limits->len ||
	       options_refuse(error,
			      "--junit %s: there is no limit to tell of; it goes with --fail-if "
			      "LIMIT or --budget FILE",
			      options->junit);
}

void limits_want(const struct options *options, struct wanted *wanted)
{
	for (guint i = 0; i < options->limits->len; i++) {
		const struct limit *limit = g_ptr_array_index(options->limits, i);

		if (limit->operation)
			wanted->operations |= operations_named(limit->operation);
		if (limit->requests)
			wanted->exchanges = true;
	}
}

static void threads_free(gpointer threads)
{
	g_array_free(threads, TRUE);
}

/* `name` of a limit, in its text too. */
static void replace_name(const struct options *options, struct limit *limit, char **name)
{
	const char *shown = *name ? option_shown(options, ANONYMOUS_THREAD, *name) : NULL;
	g_auto(GStrv) parts = NULL;

	if (!shown || shown == *name)
		return;
	parts = g_strsplit(limit->text, *name, -1);
	g_free(limit->text);
	limit->text = g_strjoinv(shown, parts);
	g_free(*name);
	*name = g_strdup(shown);
}

void limits_choose(struct session *session)
{
	const struct options *options = session->asked.options;
	const GPtrArray *limits = options->limits;

	session->asked.limit_threads = g_ptr_array_new_with_free_func(threads_free);
	for (guint i = 0; i < limits->len; i++) {
		struct limit *limit = g_ptr_array_index(limits, i);
		GArray *named = g_array_new(FALSE, FALSE, sizeof(uint32_t));

		if (limit->thread)
			session_threads_named(session, limit->thread, false, named);
		if (limit->process)
			session_threads_named(session, limit->process, true, named);
		g_ptr_array_add(session->asked.limit_threads, named);
		replace_name(options, limit, &limit->thread);
		replace_name(options, limit, &limit->process);
	}
}

void limits_finish(struct session *session)
{
	if (session->asked.options->limits->len)
		operations_add_waits(session);
}
