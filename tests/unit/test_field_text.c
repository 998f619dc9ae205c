/* SPDX-License-Identifier: MIT */
/* Fields as text, on literal metadata and bytes laid out by hand from CTF 1.8.3, section 4. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "metadata/field_text.h"
#include "metadata/metafile.h"

#define BYTE "typealias integer { size = 8; align = 8; } := u8;\n"
#define LITTLE "trace { major = 1; minor = 8; byte_order = le; };\n"
#define BIG "trace { major = 1; minor = 8; byte_order = be; };\n"

static struct metadata *parse(const char *text)
{
	g_autofree char *whole = g_strconcat("/* CTF 1.8 */\n", text, NULL);
	g_autoptr(GError) error = NULL;
	struct metadata *metadata;
	char *path = NULL;
	int file = g_file_open_tmp("whylate-XXXXXX", &path, &error);

	g_assert_no_error(error);
	g_close(file, NULL);
	g_file_set_contents(path, whole, -1, &error);
	g_assert_no_error(error);
	metadata = metadata_read(path, &error);
	g_assert_no_error(error);
	g_unlink(path);
	g_free(path);
	return metadata;
}

static void check(const char *text, const uint8_t *bytes, size_t count, const char *want)
{
	struct metadata *metadata = parse(text);
	const struct stream_type *stream = g_ptr_array_index(metadata->streams, 0);
	const struct event_type *event = g_ptr_array_index(stream->events, 0);
	const struct type *structs[] = {NULL, event->payload};
	g_autofree uint8_t *copy = g_memdup2(bytes, count); /* so that a sanitizer sees its end */
	g_autoptr(GString) got = g_string_new(NULL);

	fields_text((struct field_place) {copy, 0, 8 * count, metadata->big_endian}, structs, 2,
		    got);
	g_assert_cmpstr(got->str, ==, want);
	metadata_free(metadata);
}

#define CHECK(fields, want, ...)                                                                   \
	check(BYTE LITTLE "event { name = x; fields := struct { " fields " }; };",                 \
	      (const uint8_t[]) {__VA_ARGS__}, sizeof((const uint8_t[]) {__VA_ARGS__}), want)

static void test_integers(void)
{
	CHECK("u8 a; integer { size = 16; align = 16; signed = true; } b;", "a=7, b=-2", 7, 0, 0xfe,
	      0xff);
	CHECK("integer { size = 3; align = 1; } a; integer { size = 5; align = 1; signed = true; } "
	      "b;",
	      "a=5, b=-1", 0xfd);
	check(BYTE BIG "event { name = x; fields := struct { integer { size = 4; align = 1; } a; "
		       "integer { size = 12; align = 1; } b; }; };",
	      (const uint8_t[]) {0x12, 0x34}, 2, "a=1, b=564");
}

static void test_lists(void)
{
	CHECK("u8 _n_length; u8 _n[_n_length]; u8 b;", "n_length=2, n=[3, 4], b=9", 2, 3, 4, 9);
	CHECK("integer { size = 8; align = 8; encoding = UTF8; } s[4]; string t;",
	      "s=\"ab\", t=\"cd\"", 'a', 'b', 0, 'x', 'c', 'd', 0);
	CHECK("struct { u8 a; u8 b; } s[2];", "s=[{a=1, b=2}, {a=3, b=4}]", 1, 2, 3, 4);
}

static void test_choices(void)
{
	CHECK("enum : u8 { no = 0, yes = 1 ... 5 } e; variant <e> { u8 no; string yes; } v;",
	      "e=yes 4, v=\"k\"", 4, 'k', 0);
	CHECK("enum : u8 { no = 0, yes = 1 ... 5 } e; variant <e> { u8 no; string yes; } v;",
	      "e=9, v=…", 9, 'k', 0);
}

/* What the bytes do not hold. */
static void test_short(void)
{
	CHECK("u8 a; integer { size = 32; align = 8; } b;", "a=1, b=…", 1, 2, 3);
	CHECK("string s;", "s=…", 'a', 'b');
	CHECK("u8 n; u8 list[n];", "n=20, list=[1, 2, …", 20, 1, 2);
	CHECK("u8 n; u8 list[n];", "n=200, list=…", 200, 1, 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/field-text/integers", test_integers);
	g_test_add_func("/field-text/lists", test_lists);
	g_test_add_func("/field-text/choices", test_choices);
	g_test_add_func("/field-text/short", test_short);
	return g_test_run();
}
