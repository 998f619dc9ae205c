/* SPDX-License-Identifier: MIT */
/* See batch_expected.h. */
#include "batch/batch_expected.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

struct item {
	char *name; /* owned */
	struct trace_key key;
	bool has_key, met, counted;
};

struct batch_expected {
	GPtrArray *items; /* owned; struct item */
	GHashTable *by_name; /* owned; borrowed texts -> items */
	GHashTable *by_key;
	bool only; /* nothing else counts */
};

bool trace_key_of_identity(struct trace_key *key, const char *identity)
{
	if (!identity || strlen(identity) != sizeof key->bytes * 2)
		return false;
	for (size_t i = 0; i < sizeof key->bytes; i++) {
		int high = g_ascii_xdigit_value(identity[2 * i]),
		    low = g_ascii_xdigit_value(identity[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		key->bytes[i] = (uint8_t) (high << 4 | low);
	}
	return true;
}

void trace_key_of_path(struct trace_key *key, const char *path)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, path, -1);

	sum[2 * sizeof key->bytes] = '\0';
	trace_key_of_identity(key, sum);
}

static void item_free(gpointer data)
{
	struct item *item = data;

	g_free(item->name);
	g_free(item);
}

struct batch_expected *batch_expected_new(void)
{
	struct batch_expected *expected = g_new0(struct batch_expected, 1);

	expected->items = g_ptr_array_new_with_free_func(item_free);
	expected->by_name = g_hash_table_new(g_str_hash, g_str_equal);
	expected->by_key = g_hash_table_new(trace_key_hash, trace_key_equal);
	return expected;
}

void batch_expected_free(struct batch_expected *expected)
{
	g_hash_table_destroy(expected->by_name);
	g_hash_table_destroy(expected->by_key);
	g_ptr_array_free(expected->items, TRUE);
	g_free(expected);
}

/* Without slashes at its end; free with g_free(). */
static char *plain_name(const char *name)
{
	gsize length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		length--;
	return g_strndup(name, length);
}

static struct item *item_of(struct batch_expected *expected, const char *name)
{
	g_autofree char *plain = plain_name(name);
	struct item *item = g_hash_table_lookup(expected->by_name, plain);

	if (!item) {
		item = g_new0(struct item, 1);
		item->name = g_steal_pointer(&plain);
		g_ptr_array_add(expected->items, item);
		g_hash_table_insert(expected->by_name, item->name, item);
	}
	return item;
}

void batch_expected_add(struct batch_expected *expected, const char *name)
{
	item_of(expected, name);
}

static void set_key(struct batch_expected *expected, struct item *item, const char *identity)
{
	if (item->has_key || !trace_key_of_identity(&item->key, identity))
		return;
	item->has_key = true;
	if (!g_hash_table_contains(expected->by_key, &item->key))
		g_hash_table_insert(expected->by_key, &item->key, item);
}

static void take_line(struct batch_expected *expected, char *text)
{
	char *tab;

	text[strcspn(text, "\r\n")] = '\0';
	tab = strchr(text, '\t');
	if (tab && tab - text == 2 * TRACE_KEY) {
		*tab = '\0';
		set_key(expected, item_of(expected, tab + 1), text);
	} else if (*text) {
		item_of(expected, text);
	}
}

bool batch_expected_read(struct batch_expected *expected, const char *path, GError **error)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	bool ok;

	expected->only = true;
	while (file && getline(&text, &room, file) > 0)
		take_line(expected, text);
	free(text);
	ok = file && !ferror(file);
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--expect: cannot read %s: %s", path, g_strerror(errno));
	if (file)
		fclose(file);
	return ok;
}

/* Of that name and of that content; NULL. */
static void find(const struct batch_expected *expected, const char *name,
		 const struct trace_key *key, struct item *found[2])
{
	g_autofree char *plain = plain_name(name);

	found[0] = g_hash_table_lookup(expected->by_name, plain);
	found[1] = g_hash_table_lookup(expected->by_key, key);
}

bool batch_expected_meet(struct batch_expected *expected, const char *name,
			 const struct trace_key *key)
{
	struct item *found[2];

	find(expected, name, key, found);
	for (size_t i = 0; i < G_N_ELEMENTS(found); i++)
		if (found[i])
			found[i]->met = true;
	return found[0] || found[1] || !expected->only;
}

void batch_expected_identify(struct batch_expected *expected, char *(*identify)(const char *path))
{
	for (guint i = 0; i < expected->items->len; i++) {
		struct item *item = g_ptr_array_index(expected->items, i);
		g_autofree char *identity =
			item->met || item->has_key ? NULL : identify(item->name);

		set_key(expected, item, identity);
	}
}

void batch_expected_count(struct batch_expected *expected, const char *name,
			  const struct trace_key *key)
{
	struct item *found[2];

	find(expected, name, key, found);
	for (size_t i = 0; i < G_N_ELEMENTS(found); i++)
		if (found[i])
			found[i]->counted = true;
}

static gint by_item_name(gconstpointer a, gconstpointer b)
{
	return strcmp((*(struct item *const *) a)->name, (*(struct item *const *) b)->name);
}

/* One of several names for the same. */
static bool is_there(const struct batch_expected *expected, const struct item *item)
{
	const struct item *same =
		item->has_key ? g_hash_table_lookup(expected->by_key, &item->key) : NULL;

	return item->counted || (same && same->counted);
}

json_t *batch_expected_missing(const struct batch_expected *expected)
{
	json_t *list;

	if (!expected->items->len && !expected->only)
		return NULL;
	list = json_array();
	g_ptr_array_sort(expected->items, by_item_name);
	for (guint i = 0; i < expected->items->len; i++) {
		const struct item *item = g_ptr_array_index(expected->items, i);
		g_autofree char *valid = g_utf8_make_valid(item->name, -1);

		if (!is_there(expected, item))
			json_array_append_new(list, json_string(valid));
	}
	return list;
}
