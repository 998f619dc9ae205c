/* SPDX-License-Identifier: MIT */
/* `whylate serve`: what can be asked of the server on the command line. It is of the library, as
 * all commands are; what serves is in the command alone (serve/serve.h), as it needs
 * libmicrohttpd. */
#include "latencies/operation_option.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/option_values.h"

#include <string.h>

static bool set_origin(void *into, const struct option *option, const char *value, GError **error)
{
	const char *host = strstr(value, "://");

	if (!host || host == value || !host[3] || strpbrk(host + 3, "/ ,*"))
		return option_refuse(option, value, error,
				     "must be SCHEME://HOST[:PORT], such as http://localhost:3000");
	return option_texts(into, option, value, error);
}

static const struct option
	port = {"port",
		"N",
		"serve at this port (default: one that is free)",
		option_number,
		AT(serve.port),
		.least = 1,
		.most = 65535,
		.terminal = true},
	open_page = {"open",        NULL,           "open the page in the browser",
		     option_switch, AT(serve.open), .terminal = true},
	listen_at = {"listen",
		     "ADDRESS",
		     "serve other machines too, at this address of this\none; who asks needs the "
		     "token that is printed",
		     option_text,
		     AT(serve.listen),
		     .terminal = true},
	allow_origin = {"allow-origin",
			"ORIGIN",
			"let this site's pages ask too, such as\nhttp://localhost:3000",
			set_origin,
			AT(serve.origins),
			.repeatable = true,
			.terminal = true};

static const struct option *const options[] = {
	&port,         &open_page,       &listen_at,          &allow_origin,   &option_clock_offset,
	&option_guest, &option_kallsyms, &option_binary_path, &option_reader,  &option_cache,
	&option_jobs,  &option_progress, &option_quiet,       &option_verbose, NULL};

/* What requests are made of, and what `profile` takes where nobody says which operations. */
static void want(const struct options *asked, struct wanted *wanted)
{
	wanted->exchanges = true;
	operations_want(asked, wanted);
}

const struct command serve_command = {
	.name = "serve",
	.usage = "[OPTIONS] TRACE...",
	.summary = "Serves pages of the trace, and the Trace Server Protocol.\n"
		   "To browsers on this machine, and to trace viewers such as Theia's.",
	.options = options,
	.every_thread = true,
	.want = want,
};
