/* SPDX-License-Identifier: MIT */
/* See guard.h. */
#include "serve/guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TOKEN_BYTES 16

static char *new_token(void)
{
	guint8 bytes[TOKEN_BYTES];
	GString *text = g_string_new(NULL);

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t) sizeof bytes)
		g_error("no random numbers");
	for (size_t i = 0; i < sizeof bytes; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

void guard_init(struct guard *guard, const char *address, unsigned port, bool needs_token,
		const GPtrArray *origins)
{
	*guard =
		(struct guard) {origins, needs_token ? new_token() : NULL, g_strdup(address), port};
}

void guard_clear(struct guard *guard)
{
	g_free(guard->token);
	g_free(guard->address);
}

char *guard_url(const struct guard *guard)
{
	return g_strdup_printf("http://%s:%u/%s%s", guard->address, guard->port,
			       guard->token ? guard->token : "", guard->token ? "/" : "");
}

/* "127.0.0.1" of "127.0.0.1:80", "::1" of "[::1]:80"; NULL: another port, or none such. */
static char *name_in(const struct guard *guard, const char *host)
{
	g_autofree char *port = g_strdup_printf(":%u", guard->port);
	const char *end = strrchr(host, ':');

	if (guard->port == 80 && (!end || strchr(end, ']')))
		end = host + strlen(host);
	else if (!end || strcmp(end, port) != 0)
		return NULL;
	if (*host == '[' && end > host + 1 && end[-1] == ']')
		return g_strndup(host + 1, (gsize) (end - host) - 2);
	return g_strndup(host, (gsize) (end - host));
}

/* With a token any address will do, and this machine's name: a page that was made to point here
 * has another one. */
static bool host_is_ours(const struct guard *guard, const char *host)
{
	g_autofree char *name = host ? name_in(guard, host) : NULL;
	unsigned char address[16];
	char own[256] = "";

	if (!name)
		return false;
	if (strcmp(name, "127.0.0.1") == 0 || g_ascii_strcasecmp(name, "localhost") == 0 ||
	    strcmp(name, "::1") == 0)
		return true;
	if (!guard->token)
		return false;
	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1 ||
	       (gethostname(own, sizeof own - 1) == 0 && g_ascii_strcasecmp(name, own) == 0);
}

bool guard_allows(const struct guard *guard, const char *origin)
{
	for (guint i = 0; origin && i < guard->origins->len; i++)
		if (strcmp(origin, guard->origins->pdata[i]) == 0)
			return true;
	return false;
}

static bool origin_is_ours(const struct guard *guard, const struct credentials *with)
{
	g_autofree char *own = g_strconcat("http://", with->host, NULL);

	if (guard_allows(guard, with->origin))
		return true;
	if (with->origin)
		return g_ascii_strcasecmp(with->origin, own) == 0;
	/* no Origin: a link, an image; browsers say where it stands */
	return with->starts || !with->site || strcmp(with->site, "same-origin") == 0 ||
	       strcmp(with->site, "none") == 0;
}

/* Takes as long whatever differs. */
static bool same_text(const char *a, const char *b, size_t length)
{
	unsigned differ = 0;

	for (size_t i = 0; i < length; i++)
		differ |= (unsigned) (a[i] ^ b[i]);
	return !differ;
}

static bool has_token(const struct guard *guard, const struct credentials *with, const char **path)
{
	size_t length = strlen(guard->token);
	const char *at = *path, *bearer = with->authorization;

	if (bearer && g_ascii_strncasecmp(bearer, "Bearer ", 7) == 0 &&
	    strlen(bearer + 7) == length && same_text(bearer + 7, guard->token, length))
		return true;
	if (*at != '/' || strlen(at + 1) < length + 1 || at[length + 1] != '/' ||
	    !same_text(at + 1, guard->token, length))
		return false;
	*path = at + length + 1;
	return true;
}

const char *guard_refuses(const struct guard *guard, const struct credentials *with,
			  const char **path, unsigned *status)
{
	*status = 403;
	if (!host_is_ours(guard, with->host))
		return "The request's Host is not this server";
	if (!origin_is_ours(guard, with))
		return "Pages of another site may not ask; --allow-origin lets them";
	*status = 401;
	if (guard->token && !has_token(guard, with, path))
		return "The token is missing or wrong";
	return NULL;
}
