/* SPDX-License-Identifier: MIT */
/* The direct reader on literal metadata and bytes: types, alignment, byte orders, bit
 * fields, lists, variants, damage. Bytes are laid out by hand from CTF 1.8.3, section 4.
 */
#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "commands/commands.h"
#include "event/event.h"
#include "reader/classes.h"
#include "metadata/metafile.h"
#include "reader/compile.h"

#define BYTE "typealias integer { size = 8; align = 8; } := u8;\n"
#define NATURAL                                                                                    \
	BYTE "typealias integer { size = 16; align = 16; } := u16;\n"                              \
	     "typealias integer { size = 32; align = 32; } := u32;\n"                              \
	     "typealias integer { size = 64; align = 64; signed = true; } := s64;\n"
#define LITTLE "trace { major = 1; minor = 8; byte_order = le; };\n"
#define BIG "trace { major = 1; minor = 8; byte_order = be; };\n"

#define AT(member) offsetof(struct event, member)

/* Payload fields a, b, c, d (numbers), s (text), list (bytes), words, pair. */
#define TAKE(name, what, at) {name, what, at, NULL, false}
static const struct wish inner[] = {
	TAKE("fd", TAKE_I32, offsetof(struct event_ready, fd)),
	TAKE("raw_events", TAKE_I32, offsetof(struct event_ready, events)),
	{0}};
static const struct wish chosen[] = {TAKE("a", TAKE_I64, AT(syscall.ret)), {0}};
static const struct wish wishes[] = {
	TAKE("a", TAKE_I64, AT(syscall.ret)),
	TAKE("b", TAKE_I32, AT(syscall.fd)),
	TAKE("c", TAKE_I64, AT(syscall.flags)),
	TAKE("d", TAKE_BOOL, AT(syscall.fds_cut)),
	TAKE("s", TAKE_STRING, AT(syscall.filename)),
	TAKE("list", TAKE_BYTES, AT(syscall.v4)),
	TAKE("words", TAKE_WORDS, AT(syscall.v6)),
	TAKE("pair", TAKE_PAIR, AT(syscall.pair)),
	{"fds", TAKE_READY, 0, inner, false},
	{"v", TAKE_INSIDE, 0, chosen, false},
	{0}};

struct trial {
	struct metadata *metadata;
	struct program *program;
	struct cursor cursor;
	struct event event;
	bool compiled;
};

/* The only event of `text`, compiled. */
static struct trial *trial_new(const char *text)
{
	struct trial *trial = g_new0(struct trial, 1);
	const struct event_type *event;
	struct compiler compiler;

	trial->metadata = metadata_of(text, strlen(text));
	g_assert_cmpstr(trial->metadata->trouble, ==, NULL);
	event = g_ptr_array_index(
		((struct stream_type *) g_ptr_array_index(trial->metadata->streams, 0))->events, 0);
	trial->program = program_new();
	compiler_init(&compiler, trial->program, trial->metadata);
	compiler_note(&compiler, event->payload);
	compiler_add(&compiler, event->payload, wishes);
	trial->compiled = compiler_end(&compiler);
	compiler_clear(&compiler);
	trial->cursor.ready = g_array_new(FALSE, FALSE, sizeof(struct event_ready));
	trial->cursor.big_endian = trial->metadata->big_endian;
	return trial;
}

static void trial_free(struct trial *trial)
{
	g_array_free(trial->cursor.ready, TRUE);
	program_free(trial->program);
	metadata_free(trial->metadata);
	g_free(trial);
}

/* Runs on a copy of exactly `length` bytes, so that a sanitizer sees any step past it. */
static bool run_on(struct trial *trial, const uint8_t *bytes, size_t length)
{
	uint8_t *copy =
		length ? g_memdup2(bytes, length) : g_malloc(1); /* a place, also for none */
	bool good;

	memset(&trial->event, 0, sizeof trial->event);
	trial->cursor.packet = copy;
	trial->cursor.at = 0;
	trial->cursor.end = length * 8;
	trial->cursor.event = &trial->event;
	good = program_run(trial->program, &trial->cursor);
	if (good && trial->event.syscall.filename) /* outlives the copy */
		trial->event.syscall.filename = g_intern_string(trial->event.syscall.filename);
	g_free(copy);
	return good;
}

#define RUN(trial, ...)                                                                            \
	do {                                                                                       \
		static const uint8_t bytes[] = {__VA_ARGS__};                                      \
                                                                                                   \
		g_assert_true((trial)->compiled);                                                  \
		for (size_t cut = 0; cut < sizeof bytes; cut++)                                    \
			g_assert_false(run_on(trial, bytes, cut));                                 \
		g_assert_true(run_on(trial, bytes, sizeof bytes));                                 \
		g_assert_cmpuint((trial)->cursor.at, ==, sizeof bytes * 8);                        \
	} while (0)

static void test_natural(void)
{
	struct trial *trial =
		trial_new(NATURAL LITTLE
			  "event { name = x; fields := struct { u8 x; s64 _a; u16 y; u32 b; }; };");

	RUN(trial, 1, 0, 0, 0, 0, 0, 0, 0, /* x, and up to 8 */
	    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* a: -2 */
	    7, 0, 0, 0, /* y, and up to 4 */
	    0x78, 0x56, 0x34, 0x12);
	g_assert_cmpint(trial->event.syscall.ret, ==, -2);
	g_assert_cmphex((uint32_t) trial->event.syscall.fd, ==, 0x12345678);
	trial_free(trial);
}

static void test_big_endian(void)
{
	struct trial *trial = trial_new(
		NATURAL BIG "event { name = x; fields := struct { u16 y; u32 b; s64 a; }; };");

	RUN(trial, 0, 7, 0, 0, 0x12, 0x34, 0x56, 0x78, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xfd);
	g_assert_cmphex((uint32_t) trial->event.syscall.fd, ==, 0x12345678);
	g_assert_cmpint(trial->event.syscall.ret, ==, -3);
	trial_free(trial);
}

/* The same words mean the same type; the same up to a brace in a comment do not. */
static void test_same_words(void)
{
	struct trial *trial = trial_new(
		LITTLE "event { name = x; fields := struct {"
		       " integer { size = 16; signed = 1; } b;"
		       " integer { size = 16; signed = 1; } x;"
		       " integer { /* } */ size = 8; } c;"
		       " integer { /* } */ size = 16; } a; }; };");

	RUN(trial, 0xfe, 0xff, 1, 2, 7, 0xfd, 0xff);
	g_assert_cmpint(trial->event.syscall.fd, ==, -2);
	g_assert_cmpuint(trial->event.syscall.flags, ==, 7);
	g_assert_cmphex(trial->event.syscall.ret, ==, 0xfffd);
	trial_free(trial);
}

/* The TCP header's bits: 4, 3 and 9 of them, big-endian in a little-endian trace. */
static void test_bits(void)
{
	struct trial *trial = trial_new(
		LITTLE "event { name = x; fields := struct {\n"
		       "integer { size = 4; align = 4; byte_order = be; } b;\n"
		       "integer { size = 3; align = 1; byte_order = be; } reserved;\n"
		       "integer { size = 9; align = 1; byte_order = be; } a;\n"
		       "integer { size = 3; align = 1; } x;\n"
		       "integer { size = 13; align = 1; signed = 1; } c; }; };");

	/* 1010 001 1 0001 1001: 10, 1, 0x119; then little-endian from the low end: x 5 of 3
	 * bits, c = -2 of 13: 1111111111110 101 */
	RUN(trial, 0xa3, 0x19, 0xf5, 0xff);
	g_assert_cmpint(trial->event.syscall.fd, ==, 10);
	g_assert_cmphex((uint64_t) trial->event.syscall.ret, ==, 0x119);
	g_assert_cmpint((int64_t) trial->event.syscall.flags, ==, -2);
	trial_free(trial);
}

/* Numbers of the other byte order and bytes, with what nobody wants before, between and behind
 * them, as in the headers of a packet. */
static void test_headers(void)
{
	struct trial *trial = trial_new(
		BYTE LITTLE
		"typealias integer { size = 16; align = 8; byte_order = be; "
		"} := be16;\n"
		"typealias integer { size = 32; align = 8; byte_order = be; "
		"} := be32;\n"
		"event { name = x; fields := struct { u8 x; be16 b; be16 y; "
		"be32 a; u8 z; u8 list[4]; be32 c; u8 rest[3]; }; };");

	RUN(trial, 1, 0x12, 0x34, 5, 6, 0xfe, 0xdc, 0xba, 0x98, 9, 127, 0, 0, 1, 0, 0, 1, 2, 7, 8,
	    9);
	g_assert_cmphex((uint32_t) trial->event.syscall.fd, ==, 0x1234);
	g_assert_cmphex((uint64_t) trial->event.syscall.ret, ==, 0xfedcba98);
	g_assert_cmphex(trial->event.syscall.flags, ==, 0x102);
	g_assert_cmpuint(trial->event.syscall.v4.count, ==, 4);
	trial_free(trial);
}

/* After text nothing is known of the alignment but bytes. */
static void test_text(void)
{
	struct trial *trial = trial_new(
		NATURAL LITTLE "event { name = x; fields := struct { string _s; u32 b;\n"
			       "integer { size = 8; encoding = UTF8; } c[4]; u8 d; }; };");

	RUN(trial, 'h', 'i', 0, 0, 42, 0, 0, 0, 'n', 'a', 'm', 'e', 1);
	g_assert_cmpstr(trial->event.syscall.filename, ==, "hi");
	g_assert_cmpint(trial->event.syscall.fd, ==, 42);
	g_assert_true(trial->event.syscall.fds_cut);
	trial_free(trial);
}

/* Characters that have no NUL. */
static void test_text_array(void)
{
	struct trial *trial = trial_new(
		LITTLE "event { name = x; fields := struct { integer { size = 8; encoding "
		       "= UTF8; } s[4]; }; };");
	static const uint8_t full[] = {'f', 'u', 'l', 'l'}, part[] = {'p', 0, 'x', 'x'};

	g_assert_true(run_on(trial, full, 4));
	g_assert_cmpstr(trial->event.syscall.filename, ==, "full");
	g_assert_true(run_on(trial, part, 4));
	g_assert_cmpstr(trial->event.syscall.filename, ==, "p");
	trial_free(trial);
}

static void test_lists(void)
{
	struct trial *trial = trial_new(
		NATURAL LITTLE "event { name = x; fields := struct { u8 _list_length; u8 "
			       "_list[_list_length]; u8 n; u16 words[n]; u32 pair[2]; u8 b; }; };");

	RUN(trial, 3, 9, 8, 7, 2, 0, 1, 0, 2, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 77);
	g_assert_cmpuint(trial->event.syscall.v4.count, ==, 3);
	g_assert_cmpuint(trial->event.syscall.v6.count, ==, 16);
	g_assert_cmpuint(((const uint64_t *) (const void *) trial->event.syscall.v6.bytes)[1], ==,
			 2);
	g_assert_cmpint(trial->event.syscall.pair[0], ==, 5);
	g_assert_cmpint(trial->event.syscall.pair[1], ==, 6);
	g_assert_cmpint(trial->event.syscall.fd, ==, 77);
	trial_free(trial);
}

/* poll's list: structs with bits in them, taken one by one. */
static void test_ready(void)
{
	struct trial *trial = trial_new(
		BYTE LITTLE
		"event { name = x; fields := struct { u8 n; struct { u8 fd; u8 "
		"raw_events; struct { integer { size = 1; align = 1; } IN; integer { size "
		"= 7; align = 1; } rest; } events; } fds[n]; u8 b; }; };");

	RUN(trial, 2, 3, 1, 1, 5, 4, 0, 9);
	g_assert_cmpuint(trial->event.syscall.fd_count, ==, 2);
	g_assert_cmpint(trial->event.syscall.fds[0].fd, ==, 3);
	g_assert_cmpint(trial->event.syscall.fds[1].fd, ==, 5);
	g_assert_cmpuint(trial->event.syscall.fds[1].events, ==, 4);
	g_assert_cmpint(trial->event.syscall.fd, ==, 9);
	trial_free(trial);
}

/* Labels may repeat over ranges; options of different lengths meet behind. */
static void test_variant(void)
{
	struct trial *trial = trial_new(
		BYTE LITTLE
		"event { name = x; fields := struct { enum : u8 { \"_no\" = 0, \"_yes\" "
		"= 1, \"_no\" = 2 ... 5, \"_yes\" } _t; variant <_t> { struct { } _no; "
		"struct { u8 a; u8 x; } _yes; } v; u8 b; }; };");
	static const uint8_t none[] = {4, 8}, neither[] = {7, 1, 2, 3};

	RUN(trial, 6, 33, 0, 8);
	g_assert_cmpint(trial->event.syscall.ret, ==, 33);
	g_assert_cmpint(trial->event.syscall.fd, ==, 8);
	g_assert_true(run_on(trial, none, 2));
	g_assert_cmpint(trial->event.syscall.fd, ==, 8);
	g_assert_false(run_on(trial, neither, 4));
	trial_free(trial);
}

/* A length that would need all the memory there is. */
static void test_length(void)
{
	struct trial *trial = trial_new(
		NATURAL LITTLE "event { name = x; fields := struct { s64 n; u8 list[n]; }; };");
	static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1};

	g_assert_false(run_on(trial, bytes, sizeof bytes));
	trial_free(trial);
	trial = trial_new(BYTE LITTLE "event { name = x; fields := struct { u8 n; struct { } "
				      "list[n]; string s; }; };");
	g_assert_true(run_on(trial, (const uint8_t[]) {255, 0}, 2));
	trial_free(trial);
}

static void test_no_such_tag(void)
{
	struct trial *trial = trial_new(
		BYTE LITTLE "event { name = x; fields := struct { u8 list[nobody]; }; };");

	g_assert_false(trial->compiled);
	trial_free(trial);
}

/* --- metadata -------------------------------------------------------------- */

static struct metadata *parse(const char *text)
{
	return metadata_of(text, strlen(text));
}

static void test_trace(void)
{
	struct metadata *metadata = parse(
		"/* CTF 1.8 */\ntrace { major = 1; minor = 8; uuid = \"2a6422d0-6cee\"; byte_order "
		"= "
		"be; packet.header := struct { integer { size = 32; } magic; }; };\n"
		"env { hostname = \"a\\\"b\"; domain = \"kernel\"; tracer_major = 2; };\n"
		"clock { name = monotonic; uuid = \"x\"; freq = 1000; offset_s = 3; offset = -5; "
		"};\n"
		"stream { id = 4; event.header := struct { integer { size = 8; } id; }; };\n"
		"event { name = \"sched_switch\"; id = 7; stream_id = 4; loglevel = 13; "
		"model.emf.uri = \"http://x\"; fields := struct { integer { size = 8; } _x; }; "
		"};\n");
	const struct clock_type *clock = &g_array_index(metadata->clocks, struct clock_type, 0);
	const struct event_type *event;

	g_assert_cmpuint(metadata->dropped, ==, 0);
	g_assert_true(metadata->big_endian);
	g_assert_cmpstr(metadata_text(metadata, "hostname"), ==, "a\"b");
	g_assert_cmpint(metadata_number(metadata, "tracer_major"), ==, 2);
	g_assert_cmpint((int) clock->frequency, ==, 1000);
	g_assert_cmpint(clock->offset, ==, -5);
	g_assert_nonnull(type_member(metadata->packet_header, "magic"));
	event = g_ptr_array_index(metadata_stream(metadata, 4)->events, 0);
	g_assert_cmpstr(event->name, ==, "sched_switch");
	g_assert_nonnull(type_member(event->payload, "x"));
	metadata_free(metadata);
}

/* What cannot be understood is dropped alone; what was begun and has no end, too. */
static void test_damaged_metadata(void)
{
	struct metadata *metadata = parse(
		"event {\n name = a;\n fields := struct { integer { size = 8; } x; };\n};\n\n"
		"event {\n name = b;\n fields := struct { nosuch x; };\n};\n\n"
		"event {\n name = c;\n fields := struct { integer { size = 99; } x; };\n};\n\n"
		"event {\n name = d;\n};\n\n"
		"event {\n name = e;\n fields := struct { inte");
	const struct stream_type *stream = g_ptr_array_index(metadata->streams, 0);

	g_assert_cmpuint(metadata->dropped, ==, 3);
	g_assert_true(g_str_has_prefix(metadata->trouble, "line 8: type 'nosuch'"));
	g_assert_cmpuint(stream->events->len, ==, 2);
	g_assert_cmpstr(((struct event_type *) stream->events->pdata[0])->name, ==, "a");
	g_assert_cmpstr(((struct event_type *) stream->events->pdata[1])->name, ==, "d");
	metadata_free(metadata);
}

/* Nested without end: refused, not followed. */
static void test_deep(void)
{
	g_autoptr(GString) text = g_string_new("event { fields := ");
	struct metadata *metadata;

	for (int i = 0; i < 100000; i++)
		g_string_append(text, "struct { ");
	metadata = parse(text->str);
	g_assert_cmpuint(metadata->dropped, >, 0);
	metadata_free(metadata);
}

/* Every prefix of a whole metadata, and every byte of it another: no crash, no hang. */
static void test_any_metadata(void)
{
	static const char text[] = NATURAL
		"trace { byte_order = le; packet.header := struct { u32 magic; u8 uuid[16]; "
		"}; };\nstruct s { enum : u8 { a = 0 ... 3, \"b\" } t; variant <t> { u8 a; "
		"string b; } v; } align(8);\nevent { id = 1; fields := struct { struct s s; "
		"u8 n; u8 l[n][2]; }; };\n";

	for (size_t i = 0; i < sizeof text; i++)
		metadata_free(metadata_of(text, i));
	for (size_t i = 0; i + 1 < sizeof text; i++)
		for (const char *c = "{}[]<>;:=\"0a.\x1e"; *c; c++) {
			g_autofree char *other = g_memdup2(text, sizeof text);

			other[i] = *c;
			metadata_free(metadata_of(other, sizeof text - 1));
		}
}

/* All sorts of fields on random bytes: whatever is in them, no step leaves the packet. */
static void test_any_bytes(void)
{
	struct trial *trial = trial_new(
		NATURAL BIG
		"event { name = x; fields := struct { u8 _list_length; u8 list[_list_length]; "
		"string s; "
		"integer { size = 3; align = 1; } n; integer { size = 13; align = 1; } a; u16 "
		"words[n]; enum : u8 { a = 0 ... 90, b = 91 ... 255 } t; variant <t> { struct { "
		"string s; u32 q[3]; } a; struct { u8 m; struct { string s; integer { size = 1; } "
		"f; } "
		"l[m]; } b; } v; u32 k; struct { u8 fd; string x; } fds[k]; integer { size = 8; "
		"encoding = UTF8; } c[5]; u32 pair[2]; }; };");
	GRand *random = g_rand_new_with_seed(7);
	guint good = 0;

	for (int i = 0; i < 200000; i++) {
		uint8_t bytes[96];
		size_t length = (size_t) g_rand_int_range(random, 0, sizeof bytes);

		for (size_t k = 0; k < length; k++) /* small numbers and NULs are likely */
			bytes[k] = (uint8_t) g_rand_int_range(random, 0,
							      g_rand_boolean(random) ? 4 : 256);
		good += run_on(trial, bytes, length);
	}
	g_assert_cmpuint(good, >, 10);
	g_rand_free(random);
	trial_free(trial);
}

static struct event_class declare_other(void *data, const char *name, enum class_origin origin)
{
	(void) data;
	(void) name;
	(void) origin;
	return (struct event_class) {.kind = EV_OTHER};
}

/* Ids are looked up by index where they are dense; one far off costs no table up to it. */
static void test_far_id(void)
{
	struct metadata *metadata = parse(LITTLE "event { name = a; id = 1; };\n"
						 "event { name = b; id = 60000; };\n");
	struct event_sink sink = {.declare = declare_other};
	struct class_table *table;

	table = class_table_new(&sink, metadata, g_ptr_array_index(metadata->streams, 0), false);
	g_assert_cmpstr(class_table_find(table, 1)->event->name, ==, "a");
	g_assert_cmpstr(class_table_find(table, 60000)->event->name, ==, "b");
	g_assert_null(class_table_find(table, 59999));
	g_assert_cmpuint(table->by_id->len, <, 1000);
	class_table_free(table);
	metadata_free(metadata);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/reader/natural", test_natural);
	g_test_add_func("/reader/big-endian", test_big_endian);
	g_test_add_func("/reader/same-words", test_same_words);
	g_test_add_func("/reader/bits", test_bits);
	g_test_add_func("/reader/headers", test_headers);
	g_test_add_func("/reader/text", test_text);
	g_test_add_func("/reader/text-array", test_text_array);
	g_test_add_func("/reader/lists", test_lists);
	g_test_add_func("/reader/ready", test_ready);
	g_test_add_func("/reader/variant", test_variant);
	g_test_add_func("/reader/length", test_length);
	g_test_add_func("/reader/no-such-tag", test_no_such_tag);
	g_test_add_func("/reader/any-bytes", test_any_bytes);
	g_test_add_func("/reader/trace", test_trace);
	g_test_add_func("/reader/damaged-metadata", test_damaged_metadata);
	g_test_add_func("/reader/deep", test_deep);
	g_test_add_func("/reader/any-metadata", test_any_metadata);
	g_test_add_func("/reader/far-id", test_far_id);
	return g_test_run();
}
