/* SPDX-License-Identifier: MIT */
/* libmicrohttpd's functions, found when the server begins: with the libraries that it is linked
 * with (for TLS, which nobody asks it for) it is nearly half of those that the program would load,
 * and took an eighth of the processor time of an overview of a small recording.
 *
 * Part of serve/; http.c alone uses them.
 */
#ifndef WHYLATE_SERVE_HTTP_LIBRARY_H
#define WHYLATE_SERVE_HTTP_LIBRARY_H

#include <glib.h>
#include <microhttpd.h>
#include <stdbool.h>

#define MHD(name) __typeof__(MHD_##name) *name
struct http_library {
	MHD(add_response_header);
	MHD(create_response_from_buffer_with_free_callback_cls);
	MHD(destroy_response);
	MHD(get_connection_info);
	MHD(get_connection_values);
	MHD(get_daemon_info);
	MHD(get_timeout);
	MHD(get_version);
	MHD(lookup_connection_value);
	MHD(queue_response);
	MHD(resume_connection);
	MHD(run);
	MHD(start_daemon);
	MHD(stop_daemon);
	MHD(suspend_connection);
};
#undef MHD

/* False: it is not installed. It stays loaded until the process ends. */
bool http_library_load(struct http_library *library, GError **error);

#endif
