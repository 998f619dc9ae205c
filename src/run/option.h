/* SPDX-License-Identifier: MIT */
/* One way to ask for something: a row of a command (command.h).
 *
 * Place: run/. What must hold: a row sets what struct options (or what else the command's rows are
 * about) has at `at`; setters know nothing of the command line, and say what would be right
 * (WHYLATE_ERROR_USAGE).
 */
#ifndef WHYLATE_RUN_OPTION_H
#define WHYLATE_RUN_OPTION_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option;

/* Sets what `option` stands for in `into` (struct options) from its text, "" for a switch. */
typedef bool option_setter(void *into, const struct option *option, const char *value,
			   GError **error);

struct option {
	const char *name;
	const char *argument;     /* NULL: a switch; "[=HZ]": one that may have a value */
	const char *help;         /* of --help; lines after the first stand below it */
	option_setter *set;
	size_t at;                /* offset of what it sets, for the setters of option_values.h */
	const char *const *words; /* NULL-ended: those that it takes; or some, for completion */
	uint64_t least, most;     /* option_number(); option_word(): what the first word is */
	bool repeatable;
	bool terminal; /* only on the command line: no parameter of a component class */
};

#endif
