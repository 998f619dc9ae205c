/* SPDX-License-Identifier: MIT */
/* What is known of each request besides how long it took and what for: who asked, how much was
 * moved, what came before it, which files, calls and programs had a part in it.
 *
 *   requests     1 │ 2 │ 3 │ …      columns 0 …: in order of the requests' begins;
 *   columns      asked_by  bytes_in … nth in_flight … │ touched: file:/etc/x, call:fsync, …
 *
 * What was touched is what threads did while they worked on the request (struct working), whatever
 * time it took. Of all that was touched the REQUEST_TOUCHED are columns that most requests did, but
 * not all, and at least REQUEST_TOUCHED_LEAST.
 *
 * Requests of two sides, also of two traces, stand one behind the other; names are compared as
 * text.
 * Requests that did not end, or span lost events, are left out; of more than REQUEST_ROWS of a side
 * evenly spread ones are taken.
 *
 * Place: traits/. The URL or the first words of a request are not in a kernel's trace.
 */
#ifndef WHYLATE_TRAITS_REQUEST_KNOWN_H
#define WHYLATE_TRAITS_REQUEST_KNOWN_H

#include "apart/search.h"
#include "tracking/requests.h"
#include "util/intern.h"

enum request_field {
	REQUEST_ASKED_BY,   /* interned: the thread that wrote it, where that is traced */
	REQUEST_FROM,       /* interned: its address, without the port */
	REQUEST_SERVICE,    /* interned: who took it up, "nginx:80" */
	REQUEST_HOST,       /* interned */
	REQUEST_BYTES_IN,   /* read on its connection */
	REQUEST_BYTES_OUT,  /* written to it */
	REQUEST_ACCEPT,     /* ns from its first bytes until its connection was accepted */
	REQUEST_NTH_ON,     /* of its connection, from 1 */
	REQUEST_NTH,        /* of the thread that took it up, from 1 */
	REQUEST_SINCE_ON,   /* ns since the one before it on its connection ended */
	REQUEST_SINCE,      /* ns since the one before it of that thread ended */
	REQUEST_IN_FLIGHT,  /* others of its service when it began */
	REQUEST_INNER,      /* requests inside it */
	REQUEST_CPU,        /* where it made its first call */
	REQUEST_MIGRATED,   /* 1: a thread made calls for it on more than one CPU */
	REQUEST_WHEN,       /* ns since the window's begin */
	REQUEST_FIXED
};
#define REQUEST_TOUCHED 64
#define REQUEST_TOUCHED_LEAST 5
#define REQUEST_COLUMNS (REQUEST_FIXED + REQUEST_TOUCHED)
#define REQUEST_ROWS 65536 /* of a side */

struct request_row {
	uint32_t place; /* in the side's list, from 0 */
	guint side;
	int64_t ns;
	int64_t values[REQUEST_FIXED];
	uint64_t touched; /* bits */
};

struct request_known {
	struct intern *names; /* owned; of all values that are names */
	GArray *rows; /* struct request_row; of the first side, then of the second */
	GArray *touched; /* uint32_t: interned "file:/etc/x" …, then "call:fsync", "program:app" */
	guint objects; /* of these, before the calls and programs */
	bool spread; /* not all requests have a row */
};

/* Of the listed requests of one side, or two. */
struct request_known *request_known_new(const struct user_requests *const *sides, guint count);
void request_known_free(struct request_known *known);

int64_t request_value(const struct request_row *row, guint column);
enum field_type request_type(guint column);
/* As JSON names it: "bytes_in", "touched". */
const char *request_field_name(guint column);
/* Its values are numbers of `names`. */
bool request_field_is_named(guint column);

#endif
