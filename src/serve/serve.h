/* SPDX-License-Identifier: MIT */
/* A trace that was read, and questions about it that come by HTTP: pages with forms, and the Trace
 * Server Protocol below /tsp/api.
 *
 *   http.c ── who may ask, how much ──► route.c ── which handler ──► tsp/, forms.c ──► an answer
 *      └─ worker.c: what takes long, in a process of its own, a copy of this one
 *
 * Place: serve/, below cli/ (which reads the trace), above tsp/, which has the protocol's answers,
 * and all commands. It works nothing out itself: rows of time graphs are the timeline's, as the
 * exports have it; trees, histograms and annotations are taken from the commands' own JSON
 * (tsp/report_json.c). So their numbers are the reports'.
 *
 * What must hold: no question ends the server or changes what another one is answered,
 * but for bookmarks, derived outputs and what is closed; none names a file.
 *
 * libmicrohttpd is known to http.c and http_library.h alone (tests/layering.t).
 *
 * Source: Trace Server Protocol 0.6.0 (API.yaml); docs/serve.md says where this keeps to the
 * specification and its reference server does not.
 */
#ifndef WHYLATE_SERVE_SERVE_H
#define WHYLATE_SERVE_SERVE_H

#include <glib.h>
#include <stdbool.h>

struct options;
struct serve_trace;
struct session;

/* A server, which listens from the beginning, but only says how far reading has come until the
 * trace is there. */
struct http;

/* Of libmicrohttpd. NULL and an error: it is not installed. */
const char *http_library_version(GError **error);
/* What is given is borrowed. NULL: it cannot listen there. */
struct http *http_open(const struct options *options, const GPtrArray *paths, GError **error);
/* Now and then while the trace is read; `done` of 1, 0: not known. False: a signal ended it. */
bool http_while_reading(struct http *http, struct session *session, double done);
/* Serves what was read until a signal ends it. */
void http_serve(struct http *http, const struct serve_trace *trace);
bool http_has_ended(const struct http *http);
void http_close(struct http *http);

#endif
