/* SPDX-License-Identifier: MIT */
/* See listen.h. */
#include "serve/listen.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "run/options.h"
#include "util/error.h"

static bool refuse(GError **error, const char *what, const char *why)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot serve at %s: %s", what,
		    why);
	return false;
}

bool listen_at(const struct serve_options *asked, int *fd, int *family, char **address,
	       unsigned *port, GError **error)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_PASSIVE};
	const char *host = asked->listen ? asked->listen : "127.0.0.1";
	g_autofree char *number = g_strdup_printf("%u", asked->port);
	struct addrinfo *found;
	char name[NI_MAXHOST], service[NI_MAXSERV];
	struct sockaddr_storage bound;
	socklen_t length = sizeof bound;
	int code = getaddrinfo(host, number, &hints, &found), yes = 1;
	bool ok;

	if (code)
		return refuse(error, host, gai_strerror(code));
	*family = found->ai_family;
	*fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ok = *fd >= 0 && setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
	     bind(*fd, found->ai_addr, found->ai_addrlen) == 0 && listen(*fd, SOMAXCONN) == 0 &&
	     getsockname(*fd, (struct sockaddr *) &bound, &length) == 0;
	freeaddrinfo(found);
	if (!ok || getnameinfo((struct sockaddr *) &bound, length, name, sizeof name, service,
			       sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		g_autofree char *where =
			asked->port ? g_strdup_printf("%s, port %u", host, asked->port)
				    : g_strdup(host);

		return refuse(error, where, g_strerror(errno));
	}
	*port = (unsigned) g_ascii_strtoull(service, NULL, 10);
	*address = strchr(name, ':') ? g_strdup_printf("[%s]", name) : g_strdup(name);
	return true;
}
