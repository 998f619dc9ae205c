/* SPDX-License-Identifier: MIT */
/* Where a report is written: standard output or a file that appears whole.
 *
 * Place: report/. A file is written without a name, or beside its place under another
 * one, and gets its own only when all of it is written, so that a failure leaves what
 * was there before. What is no regular file is written straight to.
 *
 * Nothing is left behind: files that are not whole have no name, nor have temporary ones
 * (util/spill.h), so a signal simply ends the command. SQLite's file loses its name before the
 * first row; of a trace that is being cut, whose files Babeltrace names, a child remembers the
 * directory.
 */
#ifndef WHYLATE_REPORT_OUTPUT_H
#define WHYLATE_REPORT_OUTPUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Told of what is written as JSON, as it is written: for what goes with a report besides. */
struct json_watch {
	void (*thread)(void *data, uint32_t thread); /* it is named */
	/* this part of its time is spoken of: a wait, a waker's share, an example */
	void (*stretch)(void *data, uint32_t thread, int64_t begin, int64_t end);
	/* What it is written into has room for little more: a list that has so many rows ends. */
	bool (*full)(void *data, unsigned rows);
	void *data;
};

/* Where in JSON its writer is. */
struct json_place {
	guint depth;      /* open objects and arrays */
	uint8_t lines[6]; /* of the outermost: their items are on lines of their own */
	bool more;        /* something was written in the innermost one */
	bool compact;     /* no spaces */
	bool whole;       /* --limit cuts no list */
};

struct output {
	FILE *file;      /* to write to */
	char *path;      /* owned, as it was given; NULL: standard output */
	char *place;     /* owned, links followed; NULL: written straight */
	char *temporary; /* owned; its name until done; NULL: none */
	bool ignores_size; /* SIGXFSZ, as long as it is open */
	bool color;
	bool terminal;   /* standard output, and that is one */
	bool continued;  /* not the first report in it */
	int width;       /* columns of the terminal, 80 if it is none */
	struct json_place json;
	GString *seen;   /* owned; with --glossary all that was written as text, else NULL */
	const struct json_watch *watch; /* borrowed; NULL: nobody */
};

/* `path` NULL: standard output. Errors are WHYLATE_ERROR_OUTPUT. */
bool output_open(struct output *output, const char *path, GError **error);
/* To what is open already, and stays open (`path` is copied; NULL: none is known). */
void output_begin(struct output *output, FILE *file, const char *path);
/* All of it is written, but still has no name. */
bool output_flush(struct output *output, GError **error);
/* Ends the report: all of it is written, or none and an error. */
bool output_commit(struct output *output, GError **error);
/* Drops it; also right after a commit. */
void output_clear(struct output *output);

/* Why something that was written to `file` did not get there: an error number; 0: it did. */
int output_trouble(FILE *file);

/* `directory` was made for the outputs in it (NULL: it stays): it goes with them. Borrowed. */
void output_made(char *directory);

/* The program is about to be ended by a signal: removes what has no final name yet. Safe in a
 * handler. */
void output_abandon(void);

/* terminal.c: what is text goes through it. Until text_undress(), output->file is a stream that
 * writes to what was there, as the locale and a terminal have it, `pages`: by a pager where there
 * are more lines than rows; `glossary`: with the words explained below it that it has. Returns
 * that, NULL: nothing is to be done. */
FILE *text_dress(struct output *output, bool pages, bool glossary);
void text_undress(struct output *output, FILE *plain);
/* A pager may be wanted when no program can be begun any more. */
void text_expect_pager(void);
/* paint.c: the line with what colours it has on a terminal; free with g_free(). */
char *line_painted(const char *line);
/* The environment says that letters are UTF-8. */
bool locale_has_utf8(void);
/* "12 us" for "12 µs"; free with g_free(). */
char *text_ascii(const char *text);

#endif
