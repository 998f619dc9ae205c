/* SPDX-License-Identifier: MIT */
/* Copied events in memory and in a file; see queue.h.
 *
 * A record is its size, the struct event with its pointers as they were, and
 * behind it the pointed-to bytes in the order in which event_each_pointer() visits
 * them, strings behind their size; reading visits in the same order and sets the
 * pointers anew. Records are moved to the file, or else kept, in pieces of about
 * PIECE bytes, each behind its size in the file.
 */
#include "event/queue.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "event/kinds.h"
#include "util/spill.h"

#define PIECE (16u << 20)

/* Payloads are padded so that every record and array stays aligned. */
static void append_padded(GByteArray *out, const void *bytes, size_t size)
{
	static const guint8 zero[8];

	g_byte_array_append(out, bytes, (guint) size);
	g_byte_array_append(out, zero, (guint) (-size & 7));
}

static void write_bytes(const void **bytes, size_t size, void *out)
{
	if (*bytes)
		append_padded(out, *bytes, size);
}

static void write_string(const char **text, void *out)
{
	/* the text may lie in a file that is being cut: its length is asked for once */
	guint64 size;

	if (!*text)
		return;
	size = strlen(*text) + 1;
	g_byte_array_append(out, (const guint8 *) &size, sizeof size);
	append_padded(out, *text, size);
}

static void read_bytes(const void **bytes, size_t size, void *data)
{
	const char **in = data;

	if (*bytes) {
		*bytes = *in;
		*in += (size + 7) & ~(size_t) 7;
	}
}

static void read_string(const char **text, void *data)
{
	const char **in = data;
	guint64 size;

	if (!*text)
		return;
	memcpy(&size, *in, sizeof size);
	*text = *in + sizeof size;
	*in += sizeof size + ((size + 7) & ~(guint64) 7);
}

static void free_bytes(gpointer bytes)
{
	g_byte_array_free(bytes, TRUE);
}

void event_queue_init(struct event_queue *queue)
{
	*queue = (struct event_queue) {.bytes = g_byte_array_new(),
				       .file = -1,
				       .in_memory = g_ptr_array_new_with_free_func(free_bytes)};
}

void event_queue_clear(struct event_queue *queue)
{
	if (queue->bytes) {
		g_byte_array_free(queue->bytes, TRUE);
		g_ptr_array_free(queue->in_memory, TRUE);
	}
	if (queue->file >= 0)
		close(queue->file);
	*queue = (struct event_queue) {.file = -1};
}

/* False: there is no room. What was written before stays as it is. */
static bool move_to_file(struct event_queue *queue)
{
	guint64 size = queue->bytes->len;

	if (queue->file < 0)
		queue->file = spill_open();
	if (queue->file < 0 ||
	    spill_reserve(queue->file, queue->file_bytes, size + sizeof size) != 0 ||
	    !spill_write(queue->file, &size, sizeof size, queue->file_bytes) ||
	    !spill_write(queue->file, queue->bytes->data, size, queue->file_bytes + sizeof size))
		return false;
	queue->file_bytes += size + sizeof size;
	g_byte_array_set_size(queue->bytes, 0);
	return true;
}

void event_queue_push(struct event_queue *queue, const struct event *event)
{
	struct event copy = *event;
	guint start = queue->bytes->len;
	guint64 size = 0;

	g_byte_array_append(queue->bytes, (const guint8 *) &size, sizeof size);
	append_padded(queue->bytes, &copy, sizeof copy);
	event_each_pointer(&copy, write_string, write_bytes, queue->bytes);
	size = queue->bytes->len - start;
	memcpy(queue->bytes->data + start, &size, sizeof size);
	queue->count++;
	if (queue->bytes->len < PIECE)
		return;
	/* without a place on disk it simply goes on in memory, from then on */
	if (queue->in_memory->len || !move_to_file(queue)) {
		g_ptr_array_add(queue->in_memory, queue->bytes);
		queue->bytes = g_byte_array_new();
	}
}

static void drain_bytes(const guint8 *bytes, size_t length,
			void (*handle)(const struct event *event, void *data), void *data)
{
	for (size_t at = 0; at < length;) {
		const char *in = (const char *) bytes + at + sizeof(guint64) +
				 ((sizeof(struct event) + 7) & ~(size_t) 7);
		guint64 size;
		struct event event;

		memcpy(&size, bytes + at, sizeof size);
		memcpy(&event, bytes + at + sizeof size, sizeof event);
		event_each_pointer(&event, read_string, read_bytes, &in);
		handle(&event, data);
		at += size;
	}
}

static void drain_file(const struct event_queue *queue,
		       void (*handle)(const struct event *event, void *data), void *data)
{
	g_autoptr(GByteArray) piece = g_byte_array_new();
	guint64 size;

	for (uint64_t at = 0; at < queue->file_bytes; at += sizeof size + size) {
		bool ok = spill_read(queue->file, &size, sizeof size, at);

		if (ok) {
			g_byte_array_set_size(piece, (guint) size);
			ok = spill_read(queue->file, piece->data, size, at + sizeof size);
		}
		if (!ok) /* a report without these events would be wrong */
			g_error("cannot read back the temporary file in %s: %s", spill_place(),
				g_strerror(errno));
		drain_bytes(piece->data, piece->len, handle, data);
	}
}

void event_queue_drain(struct event_queue *queue,
		       void (*handle)(const struct event *event, void *data), void *data)
{
	struct event_queue old = *queue;

	event_queue_init(queue); /* handling may push again */
	if (old.file >= 0)
		drain_file(&old, handle, data);
	for (guint i = 0; i < old.in_memory->len; i++) {
		GByteArray *bytes = g_ptr_array_index(old.in_memory, i);

		drain_bytes(bytes->data, bytes->len, handle, data);
	}
	drain_bytes(old.bytes->data, old.bytes->len, handle, data);
	event_queue_clear(&old);
}
