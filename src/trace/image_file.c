/* SPDX-License-Identifier: MIT */
/* Bytes of an image: buffered and summed on their way out, checked on their way in; see
 * image_file.h.
 *
 * Everything begins at a multiple of 8, so that what is mapped can be looked at in place.
 */
#include "trace/image_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `size` in whole units of the digest. */
static void write_out(struct image_out *out, const char *bytes, size_t size)
{
	size_t done = 0;

	digest_add(&out->digest, bytes, size); /* first: writing stumbles over absent pages */
	while (!out->failed && done < size) {
		ssize_t n = write(out->fd, bytes + done, size - done);

		if (n <= 0 || !out->go_on())
			out->failed = true;
		else
			done += (size_t) n;
	}
	out->at += size;
}

static void flush(struct image_out *out)
{
	write_out(out, out->buffer, out->used);
	out->used = 0;
}

static void put_raw(struct image_out *out, const char *bytes, size_t size)
{
	while (size && !out->failed) {
		size_t piece = MIN(size, IMAGE_PIECE - out->used);

		if (piece == IMAGE_PIECE) { /* much at once: not copied first */
			write_out(out, bytes, piece);
		} else {
			memcpy(out->buffer + out->used, bytes, piece);
			out->used += piece;
			if (out->used == IMAGE_PIECE)
				flush(out);
		}
		bytes += piece;
		size -= piece;
	}
}

uint64_t image_align(struct image_out *out, size_t multiple)
{
	static const char zeros[4096];
	size_t left = (size_t) (-(out->at + out->used) & (multiple - 1));

	for (; left && !out->failed; left -= MIN(left, sizeof zeros))
		put_raw(out, zeros, MIN(left, sizeof zeros));
	if (multiple >= DIGEST_UNIT)
		flush(out);
	return out->at + out->used;
}

void image_put(struct image_out *out, const void *bytes, size_t size)
{
	put_raw(out, bytes, size);
	image_align(out, 8);
}

void image_put_number(struct image_out *out, uint64_t number)
{
	image_put(out, &number, sizeof number);
}

void image_put_text(struct image_out *out, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	image_put_number(out, size);
	image_put(out, text, size);
}

void image_put_array(struct image_out *out, const GArray *array, size_t element)
{
	image_put_number(out, array ? array->len : 0);
	if (array)
		image_put(out, array->data, array->len * element);
}

void image_put_words(struct image_out *out, const uint32_t *words, uint32_t count)
{
	image_put_number(out, count);
	image_put(out, words, count * sizeof *words);
}

void image_put_map(struct image_out *out, const struct idmap *map)
{
	image_put_number(out, map->count);
	for (uint32_t i = 0; i <= map->mask; i++)
		if (map->slots[i].value != IDMAP_NONE) {
			uint64_t pair[2] = {map->slots[i].key, map->slots[i].value};

			image_put(out, pair, sizeof pair);
		}
}

/* --- reading ---------------------------------------------------------------- */

const void *image_take(struct image_in *in, uint64_t size)
{
	const char *bytes = in->bytes + in->at;

	if (in->failed || size > in->size - in->at) {
		in->failed = true;
		return NULL;
	}
	in->at = MIN(in->size, (in->at + size + 7) & ~UINT64_C(7));
	return bytes;
}

void image_take_to(struct image_in *in, void *to, size_t size)
{
	const void *bytes = image_take(in, size);

	if (bytes)
		memcpy(to, bytes, size);
	else
		memset(to, 0, size);
}

uint64_t image_take_number(struct image_in *in)
{
	uint64_t number;

	image_take_to(in, &number, sizeof number);
	return number;
}

uint32_t image_take_count(struct image_in *in, uint64_t most)
{
	uint64_t count = image_take_number(in);

	if (count > MIN(most, UINT32_MAX)) {
		in->failed = true;
		return 0;
	}
	return (uint32_t) count;
}

char *image_take_text(struct image_in *in)
{
	uint64_t size = image_take_number(in);
	const char *text = image_take(in, size);

	if (!text || !size)
		return NULL;
	if (text[size - 1]) {
		in->failed = true;
		return NULL;
	}
	return g_strdup(text);
}

void image_take_array(struct image_in *in, GArray *array, size_t element)
{
	uint32_t count = image_take_count(in, in->size / element);
	const void *bytes = image_take(in, (uint64_t) count * element);

	g_array_set_size(array, 0);
	if (bytes && count)
		g_array_append_vals(array, bytes, count);
}

uint32_t *image_take_words(struct image_in *in, uint32_t *count)
{
	const uint32_t *words;

	*count = image_take_count(in, in->size / sizeof *words);
	words = image_take(in, (uint64_t) *count * sizeof *words);
	if (!words)
		*count = 0;
	return *count ? g_memdup2(words, *count * sizeof *words) : NULL;
}

void image_take_map(struct image_in *in, struct idmap *map)
{
	uint32_t count = image_take_count(in, in->size / (2 * sizeof(uint64_t)));

	for (uint32_t i = 0; i < count && !in->failed; i++) {
		uint64_t pair[2];

		image_take_to(in, pair, sizeof pair);
		if (!in->failed && pair[1] < IDMAP_NONE)
			idmap_set(map, pair[0], (uint32_t) pair[1]);
	}
}

/* --- the whole file --------------------------------------------------------- */

uint64_t image_head_digest(const struct image_head *head, const struct digest *rest)
{
	struct image_head copy = *head;

	copy.digest = digest_end(rest);
	return digest_of(&copy, sizeof copy);
}

/* Store and rest lie inside the file, one after the other. */
static bool is_laid_out(const struct image_head *head)
{
	uint64_t end = IMAGE_ALIGN;

	for (int i = 0; i < TIMELINE_STORES; i++) {
		const struct image_store *store = &head->stores[i];

		if (store->offset < end || store->offset % IMAGE_ALIGN || store->record_size > 4096)
			return false;
		end = store->offset + (uint64_t) store->used * store->record_size;
	}
	return head->rest >= end && head->rest <= head->size && head->rest % 8 == 0;
}

bool image_is_sound(int fd, const uint8_t *key, struct image_head *head)
{
	g_autofree char *piece = NULL;
	struct digest digest;
	struct stat status;
	off_t at = IMAGE_ALIGN;
	ssize_t n;

	if (fstat(fd, &status) != 0 || pread(fd, head, sizeof *head, 0) != (ssize_t) sizeof *head ||
	    memcmp(head->key, key, IMAGE_KEY) != 0 || status.st_size < at ||
	    (uint64_t) status.st_size != head->size || !is_laid_out(head))
		return false;
	piece = g_malloc(IMAGE_PIECE);
	digest_init(&digest);
	for (; (n = pread(fd, piece, IMAGE_PIECE, at)) > 0; at += n) {
		if (n % DIGEST_UNIT)
			return false;
		digest_add(&digest, piece, (size_t) n);
	}
	return at == status.st_size && image_head_digest(head, &digest) == head->digest;
}
