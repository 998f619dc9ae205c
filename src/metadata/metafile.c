/* SPDX-License-Identifier: MIT */
/* Packets of metadata; see metafile.h. */
#include "metadata/metafile.h"

#include <string.h>

#include "metadata/ctf2.h"
#include "metadata/tsdl.h"
#include "util/error.h"

#define PACKET_MAGIC 0x75D11D57u
#define HEADER_BYTES 37 /* magic, UUID, checksum, two sizes, five bytes */
#define CONTENT_AT 24
#define SIZE_AT 28
#define CTF2_SEPARATOR 0x1e /* a JSON text sequence (RFC 7464) begins with it */

static uint32_t word(const char *bytes, bool swap)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof value);
	return swap ? GUINT32_SWAP_LE_BE(value) : value;
}

static bool is_packet(const char *bytes, size_t left, bool *swap)
{
	if (left < HEADER_BYTES)
		return false;
	*swap = word(bytes, false) != PACKET_MAGIC;
	return word(bytes, *swap) == PACKET_MAGIC;
}

/* The next place that looks like a packet's begin, `length` if there is none. */
static size_t find_packet(const char *bytes, size_t length, size_t at)
{
	bool swap;

	while (at + HEADER_BYTES <= length && !is_packet(bytes + at, length - at, &swap))
		at++;
	return at + HEADER_BYTES <= length ? at : length;
}

static void note(struct metadata *metadata, const char *what)
{
	metadata->dropped++;
	if (!metadata->trouble)
		metadata->trouble = g_strdup(what);
}

/* The text of all packets that are there, or of what is left of one. */
static GString *unpack(const char *bytes, size_t length, struct metadata *metadata)
{
	GString *text = g_string_new(NULL);
	size_t at = 0;
	bool swap = false;

	while (at < length) {
		size_t content, size;

		if (!is_packet(bytes + at, length - at, &swap)) {
			note(metadata, "there are bytes that are no packet of metadata");
			at = find_packet(bytes, length, at);
			continue;
		}
		content = word(bytes + at + CONTENT_AT, swap) / 8;
		size = word(bytes + at + SIZE_AT, swap) / 8;
		if (size < content || content < HEADER_BYTES || size > length - at) {
			note(metadata, "a packet of metadata is cut short or has a wrong size");
			size = find_packet(bytes, length, at + HEADER_BYTES) - at;
			content = CLAMP(content, HEADER_BYTES, size);
		}
		g_string_append_len(text, bytes + at + HEADER_BYTES,
				    (gssize) (content - HEADER_BYTES));
		at += size;
	}
	return text;
}

struct metadata *metadata_of(const char *bytes, size_t length)
{
	struct metadata *metadata = metadata_new();
	GString *text;
	bool swap;

	if (length && bytes[0] == CTF2_SEPARATOR) {
		ctf2_parse(bytes, length, metadata);
	} else if (is_packet(bytes, length, &swap) || find_packet(bytes, length, 0) < length) {
		text = unpack(bytes, length, metadata);
		if (text->len && text->str[0] == CTF2_SEPARATOR)
			ctf2_parse(text->str, text->len, metadata);
		else
			tsdl_parse(text->str, text->len, metadata);
		g_string_free(text, TRUE);
	} else {
		tsdl_parse(bytes, length, metadata);
	}
	return metadata;
}

struct metadata *metadata_read(const char *path, GError **error)
{
	struct metadata *metadata;
	GError *cause = NULL;
	char *bytes;
	gsize length;

	if (!g_file_get_contents(path, &bytes, &length, &cause)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "cannot read the trace's metadata: %s", cause->message);
		g_error_free(cause);
		return NULL;
	}
	metadata = metadata_of(bytes, length);
	g_free(bytes);
	return metadata;
}
