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
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/later.h"
#include "page/page_lanes.h"
#include "report/report.h"
#include "serve/guard.h"
#include "serve/http_library.h"
#include "serve/kept.h"
#include "serve/listen.h"
#include "serve/serve.h"
#include "serve/worker.h"
#include "util/error.h"

#define BODY_MAX (1u << 20)     /* bytes */
#define CONNECTIONS_MAX 64
#define CONNECTION_BYTES (64u << 10) /* for a request's line and headers */
#define IDLE_SECONDS 60
#define WORKERS_MAX 4
#define QUERY_MAX 200

struct http {
	struct server server;
	struct http_library library;
	const struct options *options; /* borrowed */
	struct MHD_Daemon *daemon;
	struct guard guard;
	int signals;        /* signalfd */
	sigset_t before;    /* signals that were blocked before */
	bool announced, ended;
	GPtrArray
		*waiting; /* struct pending: whose answer is being made, here or for another one */
	GPtrArray *held; /* struct pending: until the trace is read */
	struct kept_answers kept;
	struct later browser; /* pid 0: none is wanted, or there */
};

struct pending {
	struct http *http; /* borrowed */
	struct MHD_Connection *connection; /* NULL: nobody's yet, make_ahead() */
	struct asking asking;
	const struct route *route;
	GByteArray *body;
	char *path, *origin; /* owned; without the token; NULL: not allowed */
	char *key; /* owned; of a kept answer */
	bool asked; /* it was taken, and may have been held */
	struct worker worker; /* pid 0: another one's, or none */
	struct answer answer;
	gint64 began; /* µs */
};

/* --- sending --------------------------------------------------------------------------------- */

/* A page with a picture says itself which scripts are its own. */
static void add_headers(struct MHD_Response *response, const struct pending *request)
{
	__typeof__(MHD_add_response_header) *add_header =
		request->http->library.add_response_header;
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
	const struct http_library *library = &request->http->library;
	struct MHD_Response *response = library->create_response_from_buffer_with_free_callback_cls(
		length, (void *) (data ? data : ""), drop_bytes,
		g_bytes_ref(request->answer.bytes));
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(response, request);
	if (request->answer.status == 405 && request->asking.also)
		library->add_response_header(response, "Allow", request->asking.also);
	result = library->queue_response(request->connection, request->answer.status, response);
	library->destroy_response(response);
	if (request->http->options->verbose && request->path) {
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
	return request->http->library.lookup_connection_value(request->connection, MHD_HEADER_KIND,
							      name);
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
	asking_begin(&request->asking, &http->server, strcmp(method, "HEAD") == 0 ? "GET" : method);
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

static struct pending *same_question(const struct pending *request)
{
	const GPtrArray *waiting = request->http->waiting;

	for (guint i = 0; i < waiting->len; i++) {
		struct pending *other = waiting->pdata[i];

		if (other != request && strcmp(other->key, request->key) == 0)
			return other;
	}
	return NULL;
}

static guint count_workers(const struct http *http)
{
	guint count = 0;

	for (guint i = 0; i < http->waiting->len; i++) {
		const struct pending *one = http->waiting->pdata[i];

		count += one->worker.pid != 0 && one->connection;
	}
	return count;
}

/* What is being worked out for another client is not worked out twice. */
static enum MHD_Result ask_worker(struct pending *request)
{
	struct http *http = request->http;

	request->key = key_of(request);
	if (kept_find(&http->kept, request->key, &request->answer))
		return send_answer(request);
	if (!same_question(request)) {
		if (count_workers(http) >= WORKERS_MAX)
			return send_refusal(request, 503, "Too many questions at once");
		if (!worker_begin(&request->worker, &request->asking, request->route))
			return send_refusal(request, 503, "No process could be begun");
	}
	g_ptr_array_add(http->waiting, request);
	request->http->library.suspend_connection(request->connection);
	return MHD_YES;
}

/* Whoever asked has gone: its worker goes on for the next one who asked the same. */
static void give_up(struct pending *request)
{
	struct pending *other;

	if (!g_ptr_array_remove(request->http->waiting, request) || !request->worker.pid)
		return;
	other = same_question(request);
	if (other)
		other->worker = request->worker;
	else
		worker_kill(&request->worker);
	request->worker.pid = 0;
}

static enum MHD_Result answer_route(struct pending *request)
{
	struct asking *asking = &request->asking;

	if (request->route && (request->route->how & APART) && !asking->server->reading)
		return ask_worker(request);
	if (request->route)
		route_take(asking, request->route);
	asking_end(asking);
	request->answer = answer_of(asking);
	return send_answer(request);
}

/* All of it is there. What cannot be answered while the trace is read waits until it is. */
static enum MHD_Result take_question(struct pending *request)
{
	struct asking *asking = &request->asking;
	const char *type = header(request, "Content-Type");
	bool has_body = strcmp(asking->method, "POST") == 0 || strcmp(asking->method, "PUT") == 0;

	if (request->http->ended)
		return send_refusal(request, 503, "The server ends");
	if (has_body && (!type || g_ascii_strncasecmp(type, "application/json", 16) != 0))
		return send_refusal(request, 415, "The body must be application/json");
	request->http->library.get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND,
						     note_query, asking->query);
	asking->body = (const char *) request->body->data;
	asking->body_length = request->body->len;
	request->asked = true;
	request->route = route_find(asking, request->path);
	if (!asking->server->reading || !request->route || (request->route->how & EARLY))
		return answer_route(request);
	g_ptr_array_add(request->http->held, request);
	request->http->library.suspend_connection(request->connection);
	return MHD_YES;
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
	return request->asked ? answer_route(request) : take_question(request);
}

static void request_free(struct pending *request)
{
	give_up(request);
	g_ptr_array_remove(request->http->held, request);
	asking_clear(&request->asking);
	answer_clear(&request->answer);
	g_byte_array_unref(request->body);
	g_free(request->path);
	g_free(request->origin);
	g_free(request->key);
	g_free(request);
}

static void request_over(void *data, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	(void) data;
	(void) connection;
	(void) code;
	if (*state)
		request_free(*state);
	*state = NULL;
}

/* The picture of the whole trace, before somebody asks for it: a browser that shows how far reading
 * has come asks again within a second. */
static void make_ahead(struct http *http)
{
	struct pending *request = g_new0(struct pending, 1);

	request->http = http;
	request->body = g_byte_array_new();
	request->path = g_strdup("/");
	asking_begin(&request->asking, &http->server, "GET");
	request->route = route_find(&request->asking, request->path);
	request->key = key_of(request);
	if (request->route && worker_begin(&request->worker, &request->asking, request->route))
		g_ptr_array_add(http->waiting, request);
	else
		request_free(request);
}

/* --- workers --------------------------------------------------------------------------------- */

/* To all that asked the same. */
static void hand_out(struct http *http, const char *key, const struct answer *answer)
{
	for (guint i = http->waiting->len; i-- > 0;) {
		struct pending *request = http->waiting->pdata[i];

		if (strcmp(request->key, key) != 0)
			continue;
		g_ptr_array_remove_index(http->waiting, i);
		if (!request->connection) {
			request_free(request);
			continue;
		}
		request->answer = answer_copy(answer);
		http->library.resume_connection(request->connection);
	}
}

static struct pending *find_ended(struct http *http, int *status)
{
	for (guint i = 0; i < http->waiting->len; i++) {
		struct pending *request = http->waiting->pdata[i];

		if (request->worker.pid &&
		    waitpid(request->worker.pid, status, WNOHANG) == request->worker.pid)
			return request;
	}
	return NULL;
}

static void reap(struct http *http)
{
	struct pending *request;
	int status;

	while ((request = find_ended(http, &status))) {
		struct answer answer = worker_answer(&request->worker, status);
		g_autofree char *key = NULL;

		kept_add(&http->kept, request->key, &answer);
		key = g_strdup(request->key); /* it may go */
		hand_out(http, key, &answer);
		answer_clear(&answer);
	}
}

/* Its client has gone: nobody reads the answer. */
static void drop(struct pending *request)
{
	give_up(request);
	if (!request->connection) {
		request_free(request);
		return;
	}
	request->answer = (struct answer) {503, g_strdup("text/plain"), g_bytes_new("", 0)};
	request->http->library.resume_connection(request->connection);
}

static int socket_of(const struct pending *request)
{
	const union MHD_ConnectionInfo *info =
		request->connection
			? request->http->library.get_connection_info(
				  request->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			: NULL;

	return info ? info->connect_fd : -1;
}

/* --- the loop -------------------------------------------------------------------------------- */

enum { POLL_SIGNALS, POLL_HTTP, POLL_REST };

static void read_signals(struct http *http)
{
	struct signalfd_siginfo info;

	while (read(http->signals, &info, sizeof info) == (ssize_t) sizeof info)
		http->ended |= info.ssi_signo != SIGCHLD;
	reap(http);
}

/* Waits for what comes, `most` ms (-1: as long as it takes), and answers it. */
static void turn(struct http *http, int most)
{
	const union MHD_DaemonInfo *info =
		http->library.get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd polled[POLL_REST + CONNECTIONS_MAX] = {
		{.fd = http->signals, .events = POLLIN}, {.fd = info->epoll_fd, .events = POLLIN}};
	struct pending *waiting[CONNECTIONS_MAX];
	guint count = MIN(http->waiting->len, CONNECTIONS_MAX);
	MHD_UNSIGNED_LONG_LONG timeout;

	for (guint i = 0; i < count; i++) {
		waiting[i] = http->waiting->pdata[i];
		polled[POLL_REST + i] =
			(struct pollfd) {.fd = socket_of(waiting[i]), .events = POLLRDHUP};
	}
	if (http->library.get_timeout(http->daemon, &timeout) == MHD_YES &&
	    (most < 0 || timeout < 60000))
		most = most < 0 ? (int) MIN(timeout, 60000) : MIN(most, (int) timeout);
	if (poll(polled, POLL_REST + count, most) < 0 && errno != EINTR) {
		http->ended = true;
		return;
	}
	for (guint i = 0; i < count; i++)
		if (polled[POLL_REST + i].revents)
			drop(waiting[i]);
	if (polled[POLL_SIGNALS].revents & POLLIN)
		read_signals(http);
	http->library.run(http->daemon);
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

static void announce(struct http *http)
{
	g_autofree char *url = guard_url(&http->guard);

	if (http->announced)
		return;
	http->announced = true;
	printf("Serving %s at %s\n", http->server.name, url);
	if (!http->options->quiet)
		printf("Trace Server Protocol: %stsp/api\nCtrl-C ends it.\n", url);
	fflush(stdout);
	if (http->browser.pid)
		later_go(&http->browser);
	else if (http->options->serve.open)
		fputs("whylate: cannot open a browser: there is no xdg-open\n", stderr);
}

/* It is shown when there is something to see; no program can be begun then (confine/). */
static void expect_browser(struct http *http)
{
	g_autofree char *url = guard_url(&http->guard);
	g_autofree char *program = g_find_program_in_path("xdg-open");
	static const char line[] = "exec xdg-open \"$0\" >/dev/null 2>&1";

	if (http->options->serve.open && program &&
	    !later_new(&http->browser,
		       (char *[]) {(char *) "sh", (char *) "-c", (char *) line, url, NULL}, false))
		http->browser = (struct later) {0};
}

struct http *http_open(const struct options *options, const GPtrArray *paths, GError **error)
{
	struct http *http;
	char *address;
	struct http_library library;
	int fd, family;
	unsigned port;

	if (!http_library_load(&library, error))
		return NULL;
	if (!listen_at(&options->serve, &fd, &family, &address, &port, error))
		return NULL;
	http = g_new0(struct http, 1);
	http->library = library;
	http->options = options;
	server_init(&http->server, paths);
	http->signals = take_signals(&http->before);
	guard_init(&http->guard, address, port, options->serve.listen != NULL,
		   options->serve.origins);
	g_free(address);
	expect_browser(http);
	http->waiting = g_ptr_array_new();
	http->held = g_ptr_array_new();
	kept_init(&http->kept);
	http->daemon = http->library.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (family == AF_INET6 ? MHD_USE_IPv6 : 0),
		0, NULL, NULL, ask, http, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t) CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, request_over, NULL, MHD_OPTION_END);
	if (http->daemon && http->signals >= 0)
		return http;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "the HTTP library does not start");
	http_close(http);
	return NULL;
}

bool http_while_reading(struct http *http, struct session *session, double done)
{
	http->server.reading = true;
	http->server.session = session;
	http->server.done = done;
	announce(http);
	turn(http, 0);
	return !http->ended;
}

void http_serve(struct http *http, const struct serve_trace *trace)
{
	if (http->ended)
		return;
	server_begin(&http->server, trace);
	announce(http);
	lanes_prepare(http->server.session);
	make_ahead(http);
	while (http->held->len) {
		struct pending *request = http->held->pdata[0];

		g_ptr_array_remove_index(http->held, 0);
		http->library.resume_connection(request->connection);
	}
	http->library.run(http->daemon);
	while (!http->ended)
		turn(http, -1);
}

bool http_has_ended(const struct http *http)
{
	return http->ended;
}

void http_close(struct http *http)
{
	http->ended = true; /* what comes now waits for nothing */
	while (http->waiting->len)
		drop(http->waiting->pdata[0]);
	while (http->held->len) {
		struct pending *request = http->held->pdata[0];

		g_ptr_array_remove_index(http->held, 0);
		drop(request);
	}
	if (http->daemon) {
		http->library.run(http->daemon);
		http->library.stop_daemon(http->daemon);
	}
	kept_clear(&http->kept);
	g_ptr_array_unref(http->waiting);
	g_ptr_array_unref(http->held);
	guard_clear(&http->guard);
	server_clear(&http->server);
	close(http->signals);
	sigprocmask(SIG_SETMASK, &http->before, NULL);
	g_free(http);
}
