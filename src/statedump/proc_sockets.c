/* SPDX-License-Identifier: MIT */
/* See proc_sockets.h. Source: proc(5), net/ipv4/tcp_ipv4.c get_tcp4_sock(), net/unix/af_unix.c
 * unix_seq_show().
 */
#include "statedump/proc_sockets.h"

#include <arpa/inet.h>
#include <string.h>

/* include/net/tcp_states.h */
static const char *const states[] = {NULL,         "established", "syn-sent",  "syn-received",
				     "fin-wait-1", "fin-wait-2",  "time-wait", "closed",
				     "close-wait", "last-ack",    "listen",    "closing"};

/* "0100007F:1F90": words of the address as they are in memory, printed as numbers; the port is one.
 * NULL: no address; free with g_free(). */
static char *address_of(const char *text)
{
	const char *colon = strchr(text, ':');
	gsize words = colon ? (gsize) (colon - text) / 8 : 0;
	char shown[INET6_ADDRSTRLEN];
	guint32 address[4] = {0};
	guint port;

	if (!colon || (words != 1 && words != 4))
		return NULL;
	port = (guint) g_ascii_strtoull(colon + 1, NULL, 16);
	for (gsize i = 0; i < words; i++) {
		g_autofree char *word = g_strndup(text + 8 * i, 8);

		address[i] = (guint32) g_ascii_strtoull(word, NULL, 16);
	}
	if (!inet_ntop(words == 1 ? AF_INET : AF_INET6, address, shown, sizeof shown))
		return NULL;
	return g_strdup_printf(words == 1 ? "%s:%u" : "[%s]:%u", shown, port);
}

static bool is_nobody(const char *text)
{
	return text[strspn(text, "0:")] == '\0';
}

/* "  0: 0100007F:1F90 00000000:0000 0A … UID TIMEOUT INODE …" */
static json_t *internet_socket(const char *kind, const char *line)
{
	g_auto(GStrv) split = g_strsplit_set(line, " ", -1);
	const char *cells[10];
	g_autofree char *local = NULL, *peer = NULL;
	guint count = 0;
	guint64 inode, state;
	json_t *socket;

	for (char **cell = split; *cell && count < G_N_ELEMENTS(cells); cell++)
		if (**cell)
			cells[count++] = *cell;
	if (count < G_N_ELEMENTS(cells))
		return NULL;
	inode = g_ascii_strtoull(cells[9], NULL, 10);
	local = address_of(cells[1]);
	if (!inode || !local) /* 0: nobody's any more */
		return NULL;
	socket = json_pack("{s:I, s:s, s:s}", "inode", (json_int_t) inode, "kind", kind, "local",
			   local);
	if (!is_nobody(cells[2]) && (peer = address_of(cells[2])))
		json_object_set_new(socket, "peer", json_string(peer));
	state = g_ascii_strtoull(cells[3], NULL, 16);
	if (g_str_has_prefix(kind, "tcp") && state < G_N_ELEMENTS(states) && states[state])
		json_object_set_new(socket, "state", json_string(states[state]));
	return socket;
}

/* "ADDRESS: REFS PROTOCOL FLAGS TYPE ST INODE[ PATH]" */
static json_t *unix_socket(const char *kind, const char *line)
{
	g_auto(GStrv) cells = NULL;
	guint64 inode;
	json_t *socket;
	g_autofree char *plain = g_strdup(line);
	const char *path;

	/* the inode is padded with blanks; a path may have some */
	cells = g_strsplit(g_strstrip(plain), " ", 7);
	if (g_strv_length(cells) < 7)
		return NULL;
	path = cells[6] + strspn(cells[6], " ");
	inode = g_ascii_strtoull(path, (char **) &path, 10);
	if (!inode)
		return NULL;
	socket = json_pack("{s:I, s:s}", "inode", (json_int_t) inode, "kind", kind);
	if (*path == ' ' && path[1])
		json_object_set_new(socket, "local", json_string(path + 1));
	if (strcmp(cells[3], "00010000") == 0) /* __SO_ACCEPTCON */
		json_object_set_new(socket, "state", json_string("listen"));
	return socket;
}

static const struct {
	const char *kind;
	json_t *(*of_line)(const char *kind, const char *line);
} tables[] = {{"tcp", internet_socket},
	      {"tcp6", internet_socket},
	      {"udp", internet_socket},
	      {"udp6", internet_socket},
	      {"unix", unix_socket}};

void sockets_of(const char *root, const char *pid, void (*each)(void *data, json_t *socket),
		void *data)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		g_autofree char *path =
			g_strdup_printf("%s/proc/%s/net/%s", root, pid, tables[i].kind);
		g_autofree char *text = NULL;
		g_auto(GStrv) lines = NULL;

		if (!g_file_get_contents(path, &text, NULL, NULL))
			continue;
		lines = g_strsplit(text, "\n", -1);
		for (char **line = *lines ? lines + 1 : lines; *line; line++) { /* a heading */
			json_t *socket = tables[i].of_line(tables[i].kind, *line);

			if (socket)
				each(data, socket);
		}
	}
}
