/* SPDX-License-Identifier: MIT */
/* Who may ask: the rules, without the HTTP library.
 *
 *   Host    this server's own name, or a page of another site that had its name point here (DNS
 *           rebinding) could ask
 *   Origin  a page's: only the server's own, and those of --allow-origin
 *   token   with --listen: in the path, /TOKEN/..., or as "Authorization: Bearer TOKEN"
 *
 * Place: serve/.
 */
#ifndef WHYLATE_SERVE_GUARD_H
#define WHYLATE_SERVE_GUARD_H

#include <glib.h>
#include <stdbool.h>

struct guard {
	const GPtrArray *origins; /* borrowed strings: allowed besides */
	char *token;              /* owned; NULL: none is needed */
	char *address;            /* owned; that it listens at, as in an URL */
	unsigned port;
};

/* What came with a request; each NULL if it did not. Borrowed. */
struct credentials {
	const char *host, *origin, *site, *authorization;
	bool starts; /* it is for the first page, which others may link to */
};

void guard_init(struct guard *guard, const char *address, unsigned port, bool needs_token,
		const GPtrArray *origins);
void guard_clear(struct guard *guard);
/* "http://127.0.0.1:4711/"; free with g_free(). */
char *guard_url(const struct guard *guard);
/* NULL: it may ask, and `*path` is without the token; else what is wrong, and `*status`. */
const char *guard_refuses(const struct guard *guard, const struct credentials *with,
			  const char **path, unsigned *status);
/* The origin is one of those that were allowed. */
bool guard_allows(const struct guard *guard, const char *origin);

#endif
