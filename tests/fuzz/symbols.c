/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any file as kallsyms, addresses looked up in it, call paths.
 *
 *   input: the file, up to its first byte 0 · addresses (numbers of bytes.h)
 */
#include "bytes.h"
#include "file.h"
#include "target.h"
#include "whylate/whylate.h"

#define WORDS_MAX 64

static void look_up(const struct symbols *symbols, struct bytes *bytes)
{
	uint64_t words[WORDS_MAX];
	guint count = 0;
	GPtrArray *path;

	while (bytes->at < bytes->end && count < WORDS_MAX) {
		const char *module = NULL, *name;

		words[count] = (uint64_t) take_number(bytes);
		name = symbol_at(symbols, words[count++], &module);
		g_assert_true(!name || *name);
	}
	path = callpath_new(symbols, words, count);
	g_assert_cmpuint(path->len, <=, count);
	g_ptr_array_free(path, TRUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	g_autoptr(GError) error = NULL;
	struct symbols *symbols;
	struct bytes bytes;
	int fd;

	bytes_init(&bytes, end, end ? (size_t) (data + size - end) : 0);
	fd = file_of(data, end ? (size_t) (end - data) : size);
	symbols = symbols_new(file_path(fd), &error);
	g_assert_true(symbols ? !error : error->code == WHYLATE_ERROR_USAGE);
	look_up(symbols, &bytes);
	symbols_free(symbols);
	file_close(fd);
	bytes_clear(&bytes);
	return 0;
}
