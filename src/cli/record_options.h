/* SPDX-License-Identifier: MIT */
/* The commands that record; see record_options.c. */
#ifndef WHYLATE_CLI_RECORD_OPTIONS_H
#define WHYLATE_CLI_RECORD_OPTIONS_H

#include "drill/drill.h"
#include "run/command.h"

/* What the command line asks for: rows are about its first member, or cast to all of it. */
struct record_asked {
	struct recording recording;
	struct drilling drilling;
	bool cleanup;
	GPtrArray *guests; /* owned strings "NAME=COMMAND" */
};

extern const struct command record_command, snapshot_command;

#endif
