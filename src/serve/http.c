/* SPDX-License-Identifier: MIT */
/* The server as libmicrohttpd has it: one thread, which waits for connections, signals and workers
 * together.
 *
 *   poll ─┬─ a signal ──────────────► the end, or a worker is over ─► its connection goes on
 *         ├─ libmicrohttpd ─► ask() ─► guard.h ─► route.c ─┬─► answered at once
 *         │                                                └─► worker.h, which is waited for
 *         └─ who waits has gone ────► its worker is ended
 *
 * Part of serve/ (serve.h); nothing else includes microhttpd.h. Limits: the constants below; what
 * is over them is refused, and nothing of it kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/report.h"
#include "serve/guard.h"
#include "serve/serve.h"
#include "serve/worker.h"
#include "util/error.h"

#define BODY_MAX (1u << 20)     /* bytes */
#define CONNECTIONS_MAX 64
#define CONNECTION_BYTES (64u << 10) /* for a request's line and headers */
#define IDLE_SECONDS 60
#define WORKERS_MAX 4
#define QUERY_MAX 200
#define KEPT_BYTES (16u << 20)  /* of answers that took long */

struct http {
	struct server *server; /* borrowed */
	struct MHD_Daemon *daemon;
	struct guard guard;
	bool verbose;
	GPtrArray *waiting; /* struct pending: of those that have a worker */
	GQueue kept;        /* struct kept, owned; used last first */
	size_t kept_bytes;
};

struct kept {
	char *key; /* owned */
	struct answer answer;
};

struct pending {
	struct http *http; /* borrowed */
	struct MHD_Connection *connection;
	struct asking asking;
	const struct route *route;
	GByteArray *body;
	char *path, *origin; /* owned; without the token; NULL: not allowed */
	char *key;     /* owned; of a kept answer */
	struct worker worker;
	struct answer answer;
	gint64 began; /* µs */
};

/* --- answers that are kept ------------------------------------------------------------------- */

static void kept_free(struct kept *kept)
{
	g_free(kept->key);
	answer_clear(&kept->answer);
	g_free(kept);
}

static bool find_kept(struct http *http, struct pending *request)
{
	for (GList *at = http->kept.head; at; at = at->next) {
		struct kept *kept = at->data;

		if (strcmp(kept->key, request->key) != 0)
			continue;
		g_queue_unlink(&http->kept, at);
		g_queue_push_head_link(&http->kept, at);
		request->answer = (struct answer) {kept->answer.status, g_strdup(kept->answer.type),
						   g_bytes_ref(kept->answer.bytes)};
		return true;
	}
	return false;
}

static void keep(struct http *http, const struct pending *request)
{
	size_t size = g_bytes_get_size(request->answer.bytes);
	struct kept *kept;

	if (request->answer.status != 200 || size > KEPT_BYTES / 2)
		return;
	kept = g_new(struct kept, 1);
	*kept = (struct kept) {g_strdup(request->key),
			       {200, g_strdup(request->answer.type),
				g_bytes_ref(request->answer.bytes)}};
	g_queue_push_head(&http->kept, kept);
	http->kept_bytes += size;
	while (http->kept_bytes > KEPT_BYTES) {
		struct kept *last = g_queue_pop_tail(&http->kept);

		http->kept_bytes -= g_bytes_get_size(last->answer.bytes);
		kept_free(last);
	}
}

/* --- sending --------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	MHD_add_response_header(response, name, value);
}

/* A page with a picture says itself which scripts are its own. */
static void add_headers(struct MHD_Response *response, const struct pending *request)
{
	const char *path = request->path ? request->path : "";
	bool page = strcmp(path, "/") == 0 || g_str_has_prefix(path, "/report/");

	add_header(response, "Content-Type", request->answer.type);
	add_header(response, "Content-Security-Policy",
		   page ? "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
			  "connect-src 'self'; object-src 'none'"
			: "default-src 'none'; style-src 'self'; form-action 'self'; "
			  "frame-ancestors 'none'; base-uri 'none'");
	add_header(response, "X-Content-Type-Options", "nosniff");
	add_header(response, "Referrer-Policy", "no-referrer");
	add_header(response, "Cache-Control", "no-store");
	if (!request->origin)
		return;
	add_header(response, "Access-Control-Allow-Origin", request->origin);
	add_header(response, "Vary", "Origin");
	add_header(response, "Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
	add_header(response, "Access-Control-Allow-Headers", "Content-Type, Authorization");
}

static void drop_bytes(void *bytes)
{
	g_bytes_unref(bytes);
}

static enum MHD_Result send_answer(struct pending *request)
{
	gsize length = 0;
	const void *data = g_bytes_get_data(request->answer.bytes, &length);
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		length, (void *) (data ? data : ""), drop_bytes,
		g_bytes_ref(request->answer.bytes));
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(response, request);
	if (request->answer.status == 405 && request->asking.also)
		add_header(response, "Allow", request->asking.also);
	result = MHD_queue_response(request->connection, request->answer.status, response);
	MHD_destroy_response(response);
	if (request->http->verbose && request->path) {
		g_autofree char *safe = text_safe(request->path);

		fprintf(stderr, "whylate: %s %s: %u, %.1f ms\n",
			request->asking.method ? request->asking.method : "?", safe,
			request->answer.status,
			(double) (g_get_monotonic_time() - request->began) / 1e3);
	}
	return result;
}

static enum MHD_Result send_refusal(struct pending *request, unsigned status, const char *title)
{
	asking_refuse(&request->asking, status, title, NULL);
	asking_end(&request->asking);
	answer_clear(&request->answer);
	request->answer = answer_of(&request->asking);
	return send_answer(request);
}

/* --- asking ---------------------------------------------------------------------------------- */

static enum MHD_Result note_query(void *data, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	GPtrArray *query = data;

	(void) kind;
	if (query->len >= QUERY_MAX)
		return MHD_NO;
	g_ptr_array_add(query, g_strdup(key));
	g_ptr_array_add(query, g_strdup(value ? value : ""));
	return MHD_YES;
}

static const char *header(struct pending *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* What can be judged before the body is there. */
static enum MHD_Result begin(struct http *http, struct MHD_Connection *connection, const char *url,
			     const char *method, void **state)
{
	struct pending *request = g_new0(struct pending, 1);
	struct credentials with;
	const char *length, *refused;
	unsigned status;

	*state = request;
	request->http = http;
	request->connection = connection;
	request->body = g_byte_array_new();
	request->began = g_get_monotonic_time();
	asking_begin(&request->asking, http->server, strcmp(method, "HEAD") == 0 ? "GET" : method);
	request->asking.method = g_intern_string(request->asking.method);
	with = (struct credentials) {header(request, "Host"), header(request, "Origin"),
				     header(request, "Sec-Fetch-Site"),
				     header(request, "Authorization"), false};
	with.starts = strcmp(request->asking.method, "GET") == 0 && g_str_has_suffix(url, "/") &&
		      strlen(url) <= 40;
	if (guard_allows(&http->guard, with.origin))
		request->origin = g_strdup(with.origin);
	if (request->origin && strcmp(method, "OPTIONS") == 0) {
		request->answer = (struct answer) {204, g_strdup("text/plain"), g_bytes_new("", 0)};
		return send_answer(request);
	}
	refused = guard_refuses(&http->guard, &with, &url, &status);
	if (refused)
		return send_refusal(request, status, refused);
	request->path = g_strdup(url);
	length = header(request, "Content-Length");
	if (length && g_ascii_strtoull(length, NULL, 10) > BODY_MAX)
		return send_refusal(request, 413, "The request is too large");
	return MHD_YES;
}

/* What was asked, byte for byte. */
static char *key_of(const struct pending *request)
{
	GString *key = g_string_new(request->asking.method);

	g_string_append_printf(key, " %s", request->path);
	for (guint i = 0; i < request->asking.query->len; i++)
		g_string_append_printf(key, "%c%s", i % 2 ? '=' : '&',
				       (char *) request->asking.query->pdata[i]);
	g_string_append_c(key, '\n');
	g_string_append_len(key, (char *) request->body->data, request->body->len);
	return g_string_free(key, FALSE);
}

static enum MHD_Result ask_worker(struct pending *request)
{
	struct http *http = request->http;

	request->key = key_of(request);
	if (find_kept(http, request))
		return send_answer(request);
	if (http->waiting->len >= WORKERS_MAX)
		return send_refusal(request, 503, "Too many questions at once");
	if (!worker_begin(&request->worker, &request->asking, request->route))
		return send_refusal(request, 503, "No process could be begun");
	g_ptr_array_add(http->waiting, request);
	MHD_suspend_connection(request->connection);
	return MHD_YES;
}

static enum MHD_Result answer_now(struct pending *request)
{
	struct asking *asking = &request->asking;
	const char *type = header(request, "Content-Type");
	bool has_body = strcmp(asking->method, "POST") == 0 || strcmp(asking->method, "PUT") == 0;

	if (has_body && (!type || g_ascii_strncasecmp(type, "application/json", 16) != 0))
		return send_refusal(request, 415, "The body must be application/json");
	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, note_query,
				  asking->query);
	asking->body = (const char *) request->body->data;
	asking->body_length = request->body->len;
	request->route = route_find(asking, request->path);
	if (request->route && request->route->apart)
		return ask_worker(request);
	if (request->route)
		route_take(asking, request->route);
	asking_end(asking);
	request->answer = answer_of(asking);
	return send_answer(request);
}

static enum MHD_Result ask(void *data, struct MHD_Connection *connection, const char *url,
			   const char *method, const char *version, const char *upload,
			   size_t *upload_length, void **state)
{
	struct pending *request = *state;

	(void) version;
	if (!request)
		return begin(data, connection, url, method, state);
	if (*upload_length) {
		if (request->body->len + *upload_length > BODY_MAX)
			return MHD_NO; /* more than its header said: the connection ends */
		g_byte_array_append(request->body, (const guint8 *) upload, (guint) *upload_length);
		*upload_length = 0;
		return MHD_YES;
	}
	if (request->answer.bytes) /* its worker is over */
		return send_answer(request);
	return answer_now(request);
}

static void request_free(void *data, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct pending *request = *state;

	(void) data;
	(void) connection;
	(void) code;
	if (!request)
		return;
	worker_kill(&request->worker);
	g_ptr_array_remove(request->http->waiting, request);
	asking_clear(&request->asking);
	answer_clear(&request->answer);
	g_byte_array_unref(request->body);
	g_free(request->path);
	g_free(request->origin);
	g_free(request->key);
	g_free(request);
	*state = NULL;
}

/* --- workers --------------------------------------------------------------------------------- */

static void reap(struct http *http)
{
	for (guint i = http->waiting->len; i-- > 0;) {
		struct pending *request = http->waiting->pdata[i];
		int status;

		if (waitpid(request->worker.pid, &status, WNOHANG) != request->worker.pid)
			continue;
		request->answer = worker_answer(&request->worker, status);
		keep(http, request);
		g_ptr_array_remove_index(http->waiting, i);
		MHD_resume_connection(request->connection);
	}
}

static int socket_of(const struct pending *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* --- the loop -------------------------------------------------------------------------------- */

enum { POLL_SIGNALS, POLL_HTTP, POLL_REST };

/* A signal that ends the server came. */
static bool read_signals(struct http *http, int signals)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(signals, &info, sizeof info) == (ssize_t) sizeof info)
		ends |= info.ssi_signo != SIGCHLD;
	reap(http);
	return ends;
}

static void loop(struct http *http, int signals)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	for (;;) {
		struct pollfd polled[POLL_REST + WORKERS_MAX] = {
			{.fd = signals, .events = POLLIN},
			{.fd = info->epoll_fd, .events = POLLIN}};
		guint waiting = http->waiting->len;
		MHD_UNSIGNED_LONG_LONG timeout;
		int wait = -1;

		for (guint i = 0; i < waiting; i++)
			polled[POLL_REST + i] =
				(struct pollfd) {.fd = socket_of(http->waiting->pdata[i]),
						 .events = POLLRDHUP};
		if (MHD_get_timeout(http->daemon, &timeout) == MHD_YES)
			wait = (int) MIN(timeout, 60000);
		if (poll(polled, POLL_REST + waiting, wait) < 0 && errno != EINTR)
			return;
		for (guint i = 0; i < waiting; i++)
			if (polled[POLL_REST + i].revents)
				kill(((struct pending *) http->waiting->pdata[i])->worker.pid,
				     SIGKILL);
		if ((polled[POLL_SIGNALS].revents & POLLIN) && read_signals(http, signals))
			return;
		MHD_run(http->daemon);
	}
}

/* Those that end the server, and SIGCHLD; what was ignored stays so. */
static int take_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, before);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* --- beginning and ending -------------------------------------------------------------------- */

static bool refuse(GError **error, const char *what, const char *why)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot serve at %s: %s", what,
		    why);
	return false;
}

/* A socket that listens, and where: an address as an URL has it. */
static bool listen_at(const struct serve_options *asked, int *fd, int *family, char **address,
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

static void announce(const struct http *http, const struct options *options)
{
	g_autofree char *url = guard_url(&http->guard);
	g_autoptr(GError) error = NULL;
	const char *command[] = {"xdg-open", url, NULL};

	printf("Serving %s at %s\n", http->server->name, url);
	if (!options->quiet)
		printf("Trace Server Protocol: %stsp/api\nCtrl-C ends it.\n", url);
	fflush(stdout);
	if (options->serve.open &&
	    !g_spawn_async(NULL, (char **) command, NULL,
			   G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
				   G_SPAWN_STDERR_TO_DEV_NULL,
			   NULL, NULL, NULL, &error))
		fprintf(stderr, "whylate: cannot open a browser: %s\n", error->message);
}

static void end(struct http *http)
{
	while (http->waiting->len) {
		struct pending *request = http->waiting->pdata[0];

		worker_kill(&request->worker);
		request->answer = (struct answer) {503, g_strdup("text/plain"), g_bytes_new("", 0)};
		g_ptr_array_remove_index(http->waiting, 0);
		MHD_resume_connection(request->connection);
	}
	MHD_run(http->daemon);
	MHD_stop_daemon(http->daemon);
	g_queue_clear_full(&http->kept, (GDestroyNotify) kept_free);
	g_ptr_array_unref(http->waiting);
	guard_clear(&http->guard);
}

static int serve_http(struct server *server, const struct options *options, GError **error)
{
	struct http http = {.server = server, .verbose = options->verbose};
	g_autofree char *address = NULL;
	int fd, family, signals;
	sigset_t before;
	unsigned port;

	if (!listen_at(&options->serve, &fd, &family, &address, &port, error))
		return WHYLATE_ERROR_OUTPUT;
	signals = take_signals(&before);
	guard_init(&http.guard, address, port, options->serve.listen != NULL,
		   options->serve.origins);
	http.waiting = g_ptr_array_new();
	g_queue_init(&http.kept);
	http.daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (family == AF_INET6 ? MHD_USE_IPv6 : 0),
		0, NULL, NULL, ask, &http, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t) CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, request_free, NULL, MHD_OPTION_END);
	if (!http.daemon || signals < 0) {
		refuse(error, address, "the HTTP library does not start");
		return WHYLATE_ERROR_OUTPUT;
	}
	announce(&http, options);
	loop(&http, signals);
	end(&http);
	close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

int serve(const struct serve_trace *trace, const struct options *options, GError **error)
{
	struct server server;
	int status;

	server_init(&server, trace);
	status = serve_http(&server, options, error);
	server_clear(&server);
	return status;
}
