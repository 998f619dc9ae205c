/* SPDX-License-Identifier: MIT */
/* What of an installation works: `whylate check --self`.
 *
 *   look_at_machine(), and what the command looks at itself (cli/self.c) ─► parts ─► text, JSON
 *
 * Place: beside the commands, for the command alone: it knows what records, too. What must hold: a
 * look changes nothing (no daemon is started, no directory made), and says no times and no room
 * left, so that two reports of the same machine are the same. A new part is one function that calls
 * selftest_add(), and its call.
 */
#ifndef WHYLATE_SELFTEST_SELFTEST_H
#define WHYLATE_SELFTEST_SELFTEST_H

#include <glib.h>
#include <stdbool.h>

#include "report/output.h"

enum part_state {
	PART_WORKS,
	PART_WITHOUT, /* it is not there, and analysing does without */
	PART_FAILS,   /* something of the installation is wrong */
};

struct part {
	const char *name; /* static */
	enum part_state state;
	char *says;       /* owned; what was found, or what is missing and how it is had */
	bool records;     /* it is about recording */
};

struct library {
	const char *name; /* static */
	char *version;    /* owned */
};

struct selftest {
	char *program, *system; /* owned; where it is, what it runs on */
	GArray *libraries; /* struct library */
	GArray *parts; /* struct part */
};

void selftest_init(struct selftest *test);
void selftest_clear(struct selftest *test);
/* Takes `says`. */
void selftest_add(struct selftest *test, const char *name, enum part_state state, char *says);
void selftest_library(struct selftest *test, const char *name, const char *version);
/* Those that do not work. */
guint selftest_failures(const struct selftest *test);

/* machine.c: names of functions, temporary files. */
void look_at_machine(struct selftest *test);
/* recorders.c: which tracers could record. */
void look_at_recorders(struct selftest *test);

void selftest_text(const struct selftest *test, struct output *output);
void selftest_json(const struct selftest *test, struct output *output);

#endif
