/* SPDX-License-Identifier: MIT */
/* Where the server listens. Place: serve/. */
#ifndef WHYLATE_SERVE_LISTEN_H
#define WHYLATE_SERVE_LISTEN_H

#include <glib.h>
#include <stdbool.h>

struct serve_options;

/* A socket that listens, and where: an address (owned) as an URL has it. */
bool listen_at(const struct serve_options *asked, int *fd, int *family, char **address,
	       unsigned *port, GError **error);

#endif
