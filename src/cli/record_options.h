/* SPDX-License-Identifier: MIT */
/* The commands that record; see record_options.c. */
#ifndef WHYLATE_CLI_RECORD_OPTIONS_H
#define WHYLATE_CLI_RECORD_OPTIONS_H

#include "run/command.h"

extern const struct command record_command, snapshot_command;

#endif
