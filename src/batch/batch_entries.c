/* SPDX-License-Identifier: MIT */
/* See batch_entries.h. */
#include "batch/batch_entries.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/spill.h"

#define BUFFERED (1u << 20) /* bytes that are not written yet */

struct entry {
	const char *name; /* of `names` */
	struct trace_key key;
	uint64_t offset;
	uint32_t length;
};

struct batch_entries {
	GArray *list; /* owned; struct entry */
	GStringChunk *names; /* owned */
	GString *buffer; /* owned; the last ones; all, if there is no file */
	uint64_t written; /* bytes in the file */
	int fd; /* -1: none */
};

struct batch_entries *batch_entries_new(void)
{
	struct batch_entries *entries = g_new0(struct batch_entries, 1);

	entries->list = g_array_new(FALSE, FALSE, sizeof(struct entry));
	entries->names = g_string_chunk_new(1 << 16);
	entries->buffer = g_string_new(NULL);
	entries->fd = -1;
	return entries;
}

void batch_entries_free(struct batch_entries *entries)
{
	if (entries->fd >= 0)
		close(entries->fd);
	g_array_free(entries->list, TRUE);
	g_string_chunk_free(entries->names);
	g_string_free(entries->buffer, TRUE);
	g_free(entries);
}

/* Who gets no file goes on in memory. */
static void empty_buffer(struct batch_entries *entries)
{
	uint64_t size = entries->buffer->len;

	if (!entries->written && entries->fd < 0)
		entries->fd = spill_open();
	if (entries->fd < 0 || spill_reserve(entries->fd, entries->written, size) != 0 ||
	    !spill_write(entries->fd, entries->buffer->str, size, entries->written))
		return;
	entries->written += size;
	g_string_truncate(entries->buffer, 0);
}

void batch_entries_add(struct batch_entries *entries, const char *trace, struct trace_key key,
		       const json_t *entry)
{
	char *text = json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
	struct entry new = {g_string_chunk_insert_const(entries->names, trace), key,
			    entries->written + entries->buffer->len, (uint32_t) strlen(text)};

	g_string_append(entries->buffer, text);
	g_array_append_val(entries->list, new);
	free(text);
	if (entries->buffer->len >= BUFFERED)
		empty_buffer(entries);
}

guint batch_entries_count(const struct batch_entries *entries)
{
	return entries->list->len;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : memcmp(&x->key, &y->key, sizeof x->key);
}

bool batch_entries_each(struct batch_entries *entries, entry_take *take, void *data)
{
	g_autoptr(GString) text = g_string_new(NULL);
	bool all = true;

	g_array_sort(entries->list, by_name);
	for (guint i = 0; i < entries->list->len; i++) {
		const struct entry *at = &g_array_index(entries->list, struct entry, i);
		bool there = at->offset >= entries->written;
		json_t *entry;

		g_string_set_size(text, at->length);
		if (there)
			memcpy(text->str, entries->buffer->str + (at->offset - entries->written),
			       at->length);
		else
			there = spill_read(entries->fd, text->str, at->length, at->offset);
		entry = there ? json_loadb(text->str, at->length, 0, NULL) : NULL;
		if (entry)
			take(data, &at->key, entry);
		all &= entry != NULL;
		json_decref(entry);
	}
	return all;
}

guint trace_key_hash(gconstpointer key)
{
	guint hash;

	memcpy(&hash, key, sizeof hash);
	return hash;
}

gboolean trace_key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct trace_key)) == 0;
}
