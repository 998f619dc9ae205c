/* SPDX-License-Identifier: MIT */
/* Replacing names; see anonymise.h. */
#include "run/anonymise.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "model/model_records.h"
#include "run/session.h"
#include "trace/trace_records.h"
#include "util/error.h"

#define KEY_MAX 4096   /* bytes of a key file that count */
#define LETTERS 8      /* of a keyed name: 40 bits */

struct anonymiser {
	GHashTable *known;  /* owned; kind and text -> replacement; both owned */
	guint counts[ANONYMOUS_ADDRESS + 1];
	guchar *key;        /* owned; NULL: numbers */
	gsize key_length;
};

struct anonymiser *anonymiser_new(const char *key_file, GError **error)
{
	struct anonymiser *anonymiser = g_new0(struct anonymiser, 1);
	FILE *file = key_file ? fopen(key_file, "re") : NULL;

	anonymiser->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	if (file) {
		anonymiser->key = g_malloc(KEY_MAX);
		anonymiser->key_length = fread(anonymiser->key, 1, KEY_MAX, file);
		fclose(file);
	}
	if (!key_file || anonymiser->key_length)
		return anonymiser;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--anonymise-key %s: cannot be read, or is empty: must be a file with a secret",
		    key_file);
	anonymiser_free(anonymiser);
	return NULL;
}

void anonymiser_free(struct anonymiser *anonymiser)
{
	if (!anonymiser)
		return;
	g_hash_table_destroy(anonymiser->known);
	g_free(anonymiser->key);
	g_free(anonymiser);
}

static char *keyed(const struct anonymiser *anonymiser, const char *prefix, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, anonymiser->key, anonymiser->key_length);
	GString *name = g_string_new(prefix);
	guint8 digest[32];
	gsize size = sizeof digest;

	g_hmac_update(hmac, (const guchar *) prefix, -1);
	g_hmac_update(hmac, (const guchar *) text, -1);
	g_hmac_get_digest(hmac, digest, &size);
	for (int i = 0; i < LETTERS; i++)
		g_string_append_c(name, letters[digest[i] & 31]);
	g_hmac_unref(hmac);
	return g_string_free(name, FALSE);
}

const char *anonymous_text(struct anonymiser *anonymiser, enum anonymous kind, const char *text)
{
	static const char *const prefixes[] = {"thread-", "name-", "host-", "addr-"};
	g_autofree char *key = g_strconcat(prefixes[kind], text, NULL);
	char *name = g_hash_table_lookup(anonymiser->known, key);

	if (name)
		return name;
	name = anonymiser->key
		       ? keyed(anonymiser, prefixes[kind], text)
		       : g_strdup_printf("%s%u", prefixes[kind], ++anonymiser->counts[kind]);
	g_hash_table_insert(anonymiser->known, g_steal_pointer(&key), name);
	return name;
}

static bool is_tracer(const char *name)
{
	return strcmp(name, "lttng") == 0 || g_str_has_prefix(name, "lttng-");
}

const char *option_shown(const struct options *options, enum anonymous kind, const char *text)
{
	if (!options->anonymiser || strspn(text, "0123456789") == strlen(text) ||
	    strcmp(text, "all") == 0)
		return text;
	return anonymous_text(options->anonymiser, kind, text);
}

/* What every system has, or tells nothing. */
static bool component_stays(const char *component, bool first)
{
	static const char *const top[] = {"bin",   "boot", "dev", "etc",  "home", "lib", "lib64",
					  "media", "mnt",  "opt", "proc", "root", "run", "sbin",
					  "srv",   "sys",  "tmp", "usr",  "var"};

	for (size_t i = 0; i < G_N_ELEMENTS(top) && first; i++)
		if (strcmp(component, top[i]) == 0)
			return true;
	return strspn(component, "0123456789.") == strlen(component) || is_tracer(component);
}

char *anonymous_path(struct anonymiser *anonymiser, const char *path)
{
	g_auto(GStrv) components = g_strsplit(path, "/", -1);
	GString *text = g_string_new(NULL);

	for (guint i = 0; components[i]; i++) {
		if (i)
			g_string_append_c(text, '/');
		g_string_append(text, component_stays(components[i], i == 1 && *path == '/')
					      ? components[i]
					      : anonymous_text(anonymiser, ANONYMOUS_NAME,
							       components[i]));
	}
	return g_string_free(text, FALSE);
}

/* "10.0.0.1:80", "[::1]:80", "10.0.0.1"; NULL: it is no address. */
static char *anonymous_address(struct anonymiser *anonymiser, const char *text)
{
	bool bracket = *text == '[';
	const char *end = bracket ? strchr(text, ']') : strchr(text, ':');
	g_autofree char *address = NULL;
	struct in6_addr bytes;

	if (!bracket && end && strchr(end + 1, ':')) /* IPv6 alone */
		end = NULL;
	address = end ? g_strndup(text + bracket, (gsize) (end - text) - bracket)
		      : g_strdup(text + bracket);
	if (inet_pton(AF_INET, address, &bytes) != 1 && inet_pton(AF_INET6, address, &bytes) != 1)
		return NULL;
	if (g_str_has_prefix(address, "127.") || strcmp(address, "::1") == 0 ||
	    strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0)
		return NULL;
	return g_strconcat(anonymous_text(anonymiser, ANONYMOUS_ADDRESS, address),
			   end ? end + bracket : "", NULL);
}

char *anonymous_key(struct anonymiser *anonymiser, const char *text)
{
	static const char *const paths[] = {"file:", "lock:"};
	static const char *const addressed[] = {"socket:", "packets:", "retransmission:",
						"delayed-ack:", "send-queue:"};
	g_autofree char *address = NULL;

	if (*text == '/')
		return anonymous_path(anonymiser, text);
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autofree char *path = NULL;
		const char *name = text + strlen(paths[i]);

		if (!g_str_has_prefix(text, paths[i]) || g_str_has_prefix(name, "anon_inode:"))
			continue;
		path = anonymous_path(anonymiser, name);
		return g_strconcat(paths[i], path, NULL);
	}
	if (g_str_has_prefix(text, "child:") && strcmp(text, "child:any") != 0)
		return g_strconcat("child:",
				   anonymous_text(anonymiser, ANONYMOUS_THREAD,
						  text + strlen("child:")),
				   NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(addressed); i++) {
		if (!g_str_has_prefix(text, addressed[i]))
			continue;
		address = anonymous_address(anonymiser, text + strlen(addressed[i]));
		return address ? g_strconcat(addressed[i], address, NULL) : NULL;
	}
	return anonymous_address(anonymiser, text);
}

static uint32_t anonymous_name(struct anonymiser *anonymiser, struct model *model, uint32_t name)
{
	const char *text = intern_text(model->names, name);

	if (!*text || is_tracer(text))
		return name;
	return intern_id(model->names, anonymous_text(anonymiser, ANONYMOUS_THREAD, text));
}

static void replace_texts(struct anonymiser *anonymiser, struct intern *names)
{
	uint32_t count = intern_count(names);

	for (uint32_t i = 1; i < count; i++) {
		g_autofree char *text = anonymous_key(anonymiser, intern_text(names, i));

		if (text)
			intern_replace(names, i, text);
	}
}

struct replacing {
	struct walk walk; /* must be first */
	struct anonymiser *anonymiser;
	struct model *model;
	const bool *kernel; /* by thread: it keeps its name */
	uint32_t thread;    /* so many were met */
};

/* `replacement` is owned by the member from now on. */
static void replace_text(char **text, char *replacement)
{
	g_free(*text);
	*text = replacement;
}

static bool enter(struct walk *walk, const struct record *record, void *at)
{
	struct replacing *replacing = (struct replacing *) walk;

	(void) at;
	return record != &thread_record || !replacing->kernel[replacing->thread++];
}

static void replace(struct walk *walk, const struct field *field, void *at)
{
	const struct replacing *replacing = (const struct replacing *) walk;
	struct anonymiser *anonymiser = replacing->anonymiser;
	uint32_t *name = at;
	char **text = at;

	if (field->kind == FIELD_THREAD_NAME)
		*name = anonymous_name(anonymiser, replacing->model, *name);
	else if (*text && field->kind == FIELD_HOST_NAME)
		replace_text(text, g_strdup(anonymous_text(anonymiser, ANONYMOUS_HOST, *text)));
	else if (*text)
		replace_text(text, anonymous_path(anonymiser, *text));
}

/* All that the tables of a trace's records say is somebody's. */
static void replace_in_trace(struct anonymiser *anonymiser, struct trace *trace)
{
	struct model *model = &trace->model;
	g_autofree bool *kernel = g_new(bool, model->thread_count + 1);
	struct replacing replacing = {.walk = {.kinds = 1u << FIELD_THREAD_NAME |
							1u << FIELD_HOST_NAME | 1u << FIELD_PATH,
					       .enter = enter,
					       .visit = replace},
				      .anonymiser = anonymiser,
				      .model = model,
				      .kernel = kernel};

	/* who is the kernel's may be told by names: ask before any is replaced */
	for (uint32_t i = 0; i < model->thread_count; i++)
		kernel[i] = thread_is_kernel(model, model_thread(model, i));
	replace_texts(anonymiser, model->names);
	record_walk(&replacing.walk, &trace_record, trace);
}

void session_anonymise(struct session *session)
{
	if (session->asked.options->anonymiser)
		replace_in_trace(session->asked.options->anonymiser, &session->trace);
}
