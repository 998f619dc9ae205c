/* SPDX-License-Identifier: MIT */
/* A command as data: what it is called, what can be asked of it, what it needs, what it prints.
 *
 *   struct option     one row a way to ask: word, help, setter        option.h
 *   struct command    its rows, and what is done for it: recorded, made, written
 *
 * Each question's room has one of these, ROOM/ROOM_command.c; commands/ has the list. The command
 * line, --help, the completion, the OPTIONS of the manual pages, the component classes' parameters
 * and `check` all come from it: nothing else compares commands.
 *
 * Place: run/, low enough for whoever reads what is asked.
 */
#ifndef WHYLATE_RUN_COMMAND_H
#define WHYLATE_RUN_COMMAND_H

#include <stdio.h>

#include "run/option.h"
#include "run/options.h"

struct output;
struct session;

/* What is kept while a trace is read, besides the states of threads. */
struct wanted {
	uint32_t operations; /* as flow.operations_wanted */
	bool exchanges, resources;
	bool facts; /* of operations: values of system calls' fields and the like */
};

/* Bits of enum need (needs.h): without it the command's answers are … */
struct command_needs {
	uint32_t impossible, degraded, poorer;
};

/* Writes what the command's make() made. */
typedef void report_writer(const void *made, struct output *output);

struct command {
	const char *name;
	const char *usage; /* behind "whylate NAME " */
	const char *summary; /* the question in one line, and what is shown in another */
	const char *brief; /* for the list of commands; NULL: the summary's first line */
	const char *manual; /* whose manual page is about it too; NULL: its own */
	int help_column; /* where --help's texts begin; 0: as usual */
	void (*help_end)(struct output *); /* prints what --help says besides; NULL */
	const struct option *const *options; /* NULL-ended, as --help lists them */

	/* what is asked; each may be NULL */
	void (*init)(struct options *options); /* other defaults */
	/* answers what needs no trace, from the words that are no options; false: it does not */
	bool (*tell)(const GPtrArray *words, FILE *file);
	/* takes its own words out of those that are no options */
	bool (*take_words)(struct options *options, GPtrArray *words, GError **error);
	bool (*check)(struct options *options, GError **error); /* when all is set */
	bool every_thread; /* is of all threads where none is named */
	bool two_traces; /* a second one is what the first is compared with */

	/* what is read; each may be NULL */
	void (*want)(const struct options *options, struct wanted *wanted);
	void (*choose)(struct session *session); /* whom it is about, as they are really called */
	void (*finish)(struct session *session); /* adds to the trace when all is read */
	struct command_needs needs; /* all 0: `check` has nothing to say of it */

	/* what is printed: make() computes it (NULL: the session itself is written), writers by
	 * format print it. NULL and an error: it cannot be */
	void *(*make)(const struct session *session, GError **error);
	void (*free)(void *made);
	report_writer *writers[FORMAT_COUNT];
	/* instead of all these: several files, or none that is text. False without an error:
	 * interrupted */
	bool (*write)(const struct session *session, GError **error);
};

/* NULL: there is none of that name. `commands` ends with NULL. */
const struct command *command_find(const struct command *const *commands, const char *name);
const struct option *command_option(const struct command *command, const char *name);
const char *format_name(enum format format);
/* What it asks of a trace is known: `check` answers for it. */
static inline bool command_needs_any(const struct command *command)
{
	return command->needs.impossible | command->needs.degraded | command->needs.poorer;
}
/* There is a JSON Schema of what it writes. */
static inline bool command_has_schema(const struct command *command)
{
	return command->writers[FORMAT_JSON] != NULL;
}

void options_init(struct options *options, const struct command *command);
void options_clear(struct options *options);

/* Sets an option from its text ("" or "yes" for switches). Errors name the
 * option, the value and what would be right (WHYLATE_ERROR_USAGE). */
bool options_set(struct options *options, const char *name, const char *value, GError **error);

/* What can only be judged when all are set; makes what is read from files. */
bool options_check(struct options *options, GError **error);

/* So many threads may work at a time, at least 1. */
uint32_t options_jobs(const struct options *options);
/* Fewer events are one thread's, unless --jobs was given: of recordings of 10,000 to 40,000 events
 * a second one took a tenth of the processor time (memory that is touched first, lines of cache
 * that another processor has), and won nothing. */
#define EVENTS_FOR_THREADS 30000
/* The question names events, by filters, which keep what they met of a trace that is read. */
bool options_name_events(const struct options *options);

/* Makes the command's report of the session, and writes it to what is open, after what before()
 * (NULL: nothing) writes: nothing is written of a report that cannot be made. */
bool command_report(const struct command *command, enum format format,
		    const struct session *session,
		    void (*before)(const struct session *session, struct output *output),
		    struct output *output, GError **error);

/* suggestion.c: the commands that reports and messages suggest; nothing else words them (reports
 * write them with text_suggestion()). What must hold of each: it can be pasted where whylate was
 * run (the trace as the user named it, quoted for a shell; times as a clock shows them), it is not
 * refused for this trace, and what it answers is about what the report meant. Times are rounded
 * outwards, so that the window holds what is meant. What the user gave that decides what times,
 * threads and names are (--utc, --clock-offset, the window) is given again. */
struct suggestion {
	const char *command;
	const char *word;           /* before the trace: a finding's id; NULL */
	const char *option, *value; /* one more, without "--"; NULL: none */
	bool any_trace; /* TRACE stands for its path: the same bytes wherever the trace lies */
	bool asked; /* again the threads, operations, requests that were asked for */
	const uint32_t *thread; /* --thread; NULL: none */
	int64_t from, to; /* what the window must hold; both 0: the user's window */
	const char *why; /* what it answers, said beside it; NULL */
};

/* The traces as a shell takes them; free with g_free(). */
char *suggested_trace(const GPtrArray *paths);
/* The command's words, each option with its value; owned strings. */
GPtrArray *suggested_words(const struct session *session, const struct suggestion *suggestion);
/* The same in one line; free with g_free(). */
char *suggested_command(const struct session *session, const struct suggestion *suggestion);

#endif
