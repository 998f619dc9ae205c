/* The whylate command: options, finding traces, running Babeltrace's graph,
 * exit status. Place: src/cli/, the only folder of src/ that knows
 * Babeltrace.
 */
#ifndef WHYLATE_CLI_CLI_H
#define WHYLATE_CLI_CLI_H

#include <glib.h>
#include <stdbool.h>

#include "analysis/options.h"
#include "analysis/session.h"

/* Kernel traces below the paths a user gave: one GPtrArray of directories
 * (strings) per trace, in the order given; several where one trace was
 * recorded in chunks. WHYLATE_ERROR_NO_TRACE if there is none. */
GPtrArray *traces_find(GPtrArray *paths, GError **error);

/* Reads all traces into the session. False and WHYLATE_ERROR_NO_TRACE if
 * nothing could be read; if reading stops early, session->stopped says why. */
bool graph_run(struct session *session, GPtrArray *traces, GError **error);

/* Parses the command line, without the program's name and the command.
 * Returns -1 to go on, else the exit status (help, version, errors shown). */
int arguments_parse(int argc, char **argv, struct options *options, GPtrArray *paths);
void help_print(const char *command);

#endif
