/* SPDX-License-Identifier: MIT */
/* See http_library.h. */
#include "serve/http_library.h"

#include <dlfcn.h>
#include <string.h>

#include "serve/serve.h"
#include "util/error.h"

#define LIBRARY "libmicrohttpd.so.12" /* whose header microhttpd.h is, since 0.9.41 */

#define FUNCTION(name) {"MHD_" #name, offsetof(struct http_library, name)}
static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	FUNCTION(add_response_header),
	FUNCTION(create_response_from_buffer_with_free_callback_cls),
	FUNCTION(destroy_response),
	FUNCTION(get_connection_info),
	FUNCTION(get_connection_values),
	FUNCTION(get_daemon_info),
	FUNCTION(get_timeout),
	FUNCTION(get_version),
	FUNCTION(lookup_connection_value),
	FUNCTION(queue_response),
	FUNCTION(resume_connection),
	FUNCTION(run),
	FUNCTION(start_daemon),
	FUNCTION(stop_daemon),
	FUNCTION(suspend_connection),
};
_Static_assert(G_N_ELEMENTS(functions) == sizeof(struct http_library) / sizeof(void *), "all");

bool http_library_load(struct http_library *library, GError **error)
{
	void *loaded = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *found = loaded;

	for (size_t i = 0; found && i < G_N_ELEMENTS(functions); i++) {
		found = dlsym(loaded, functions[i].name);
		memcpy((char *) library + functions[i].offset, &found, sizeof found);
	}
	if (!found)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "serve needs libmicrohttpd (Debian: libmicrohttpd12): %s", dlerror());
	return found;
}

const char *http_library_version(GError **error)
{
	struct http_library library;

	return http_library_load(&library, error) ? library.get_version() : NULL;
}
