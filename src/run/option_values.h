/* SPDX-License-Identifier: MIT */
/* How the values of options are read: the setters that rows share, and what those of one command
 * are made of.
 *
 * Place: run/, used by the rows in common_options.c and in the rooms. Each setter writes to
 * `into` at the row's offset; a value that was there is freed.
 */
#ifndef WHYLATE_RUN_OPTION_VALUES_H
#define WHYLATE_RUN_OPTION_VALUES_H

#include "run/option.h"
#include "run/options.h"

/* Where a row of struct options writes to. */
#define AT(member) .at = offsetof(struct options, member)

option_setter option_switch;   /* bool: "", "yes" or "no" */
option_setter option_word;     /* an enum: `least` and the word's place */
option_setter option_number;   /* uint32_t, from `least` to `most` */
option_setter option_duration; /* int64_t, ns */
option_setter option_text;     /* char * */
option_setter option_texts;    /* GPtrArray * of strings, appended to */
option_setter option_file; /* char *: a file beside the report, which may be standard output */
option_setter option_event; /* struct event_filter * */

/* An error of that option: "--NAME 'VALUE': " and what would be right. False. */
bool option_refuse(const struct option *option, const char *value, GError **error,
		   const char *format, ...) G_GNUC_PRINTF(4, 5);
/* Two options that exclude each other, and why. False. */
bool options_exclude(const char *a, const char *b, const char *why, GError **error);
/* A usage error. False. */
bool options_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The place of `value` among `words`, -1 and an error that lists them. */
int option_choose(const struct option *option, const char *value, const char *const *words,
		  GError **error);

#endif
