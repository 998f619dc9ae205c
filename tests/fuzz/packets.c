/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any stream and index files under sound metadata, read whole, and
 * reported.
 *
 *   input: kind of trace · packets with sound headers, packets with overwritten ones,
 *          bytes that are none, entries of an index
 *
 * The metadata is LTTng's in small: both headers of events, contexts, lists, variants.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "run/feed.h"
#include "bytes.h"
#include "reports.h"
#include "target.h"

#include "metadata/metafile.h"
#include "reader/reader.h"

/* metadata, in pieces that repeat */
/* clang-format off */
#define FILES 3
#define FILE_MAX (1 << 16)
#define NUMBER(size) "integer { size = " #size "; align = 8; }"
#define SIGNED(size) "integer { size = " #size "; align = 8; signed = 1; }"
#define CLOCK(size, align)                                                            \
	"integer { size = " #size "; align = " #align "; map = clock.monotonic.value; }"
#define CONTEXT                                                                        \
	"packet.context := struct { " CLOCK(64, 8) " timestamp_begin; " CLOCK(64, 8)    \
	" timestamp_end; " NUMBER(64) " content_size; " NUMBER(64) " packet_size; "     \
	NUMBER(64) " packet_seq_num; " NUMBER(64) " events_discarded; " NUMBER(32)      \
	" cpu_id; };"
#define EVENTS(stream)                                                                 \
	"event { name = sched_switch; id = 0; stream_id = " stream "; fields := struct { " \
	"integer { size = 8; encoding = UTF8; align = 8; } _prev_comm[16]; " SIGNED(32)  \
	" _prev_tid; " SIGNED(64) " _prev_state; integer { size = 8; encoding = UTF8; align = " \
	"8; } _next_comm[16]; " SIGNED(32) " _next_tid; " SIGNED(32) " _next_prio; }; };\n" \
	"event { name = sched_waking; id = 1; stream_id = " stream "; fields := struct { " \
	"string _comm; " SIGNED(32) " _tid; " SIGNED(32) " _target_cpu; }; };\n"        \
	"event { name = syscall_entry_read; id = 2; stream_id = " stream "; fields := struct { " \
	NUMBER(32) " _fd; " NUMBER(64) " _count; }; };\n"                               \
	"event { name = syscall_exit_read; id = 3; stream_id = " stream "; fields := struct { " \
	SIGNED(64) " _ret; " NUMBER(64) " _buf; }; };\n"                                \
	"event { name = irq_handler_entry; id = 4; stream_id = " stream "; fields := struct { " \
	SIGNED(32) " _irq; string _name; }; };\n"                                       \
	"event { name = irq_handler_exit; id = 5; stream_id = " stream "; fields := struct { " \
	SIGNED(32) " _irq; " SIGNED(32) " _ret; }; };\n"                                \
	"event { name = syscall_exit_poll; id = 6; stream_id = " stream "; fields := struct { " \
	SIGNED(64) " _ret; " NUMBER(8) " _fds_length; struct { " SIGNED(32) " _fd; " NUMBER(16) \
	" _raw_events; struct { integer { size = 1; align = 1; } _IN; integer { size = 7; align " \
	"= 1; } _pad; } _events; } _fds[_fds_length]; " NUMBER(8) " _overflow; }; };\n"   \
	"event { name = net_if_receive_skb; id = 7; stream_id = " stream "; fields := struct { " \
	NUMBER(64) " _skbaddr; enum : " NUMBER(8) " { \"_unknown\" = 0, \"_ipv4\" = 4, "   \
	"\"_ipv6\" = 6 } _network_header_type; variant <_network_header_type> { struct { } " \
	"_unknown; struct { integer { size = 4; align = 4; byte_order = be; } _version; integer { "\
	"size = 4; align = 4; byte_order = be; } _ihl; integer { size = 16; align = 8; byte_order "\
	"= be; } _tot_len; " NUMBER(8) " _saddr[4]; " NUMBER(8) " _daddr[4]; enum : " NUMBER(8) \
	" { \"_tcp\" = 6, \"_other\" = 7 ... 255 } _transport_header_type; variant "       \
	"<_transport_header_type> { struct { integer { size = 16; align = 8; byte_order = be; } " \
	"_source_port; integer { size = 16; align = 8; byte_order = be; } _dest_port; } _tcp; " \
	"struct { } _other; } _transport_header; } _ipv4; struct { " NUMBER(8) " _saddr[16]; } " \
	"_ipv6; } _network_header; }; };\n"                                              \
	"event { name = sched_process_fork; id = 8; stream_id = " stream "; fields := struct { " \
	"string _child_comm; " SIGNED(32) " _parent_tid; " SIGNED(32) " _child_tid; " NUMBER(8) \
	" _vtids_length; " SIGNED(32) " _vtids[_vtids_length]; }; };\n"                   \
	"event { name = other; id = 9; stream_id = " stream "; };\n"
#define TRACE(order)                                                                   \
	"trace { major = 1; minor = 8; byte_order = " order "; uuid = "                  \
	"\"01010101-0101-0101-0101-010101010101\"; packet.header := struct { " NUMBER(32)  \
	" magic; " NUMBER(8) " uuid[16]; " NUMBER(32) " stream_id; " NUMBER(64)            \
	" stream_instance_id; }; };\n"                                                     \
	"env { hostname = \"h\"; domain = \"kernel\"; kernel_release = \"6.1.0\"; tracer_name = " \
	"\"lttng-modules\"; tracer_major = 2; tracer_minor = 13; };\n"                     \
	"clock { name = monotonic; freq = 1000000000; offset = 1700000000000000000; };\n"  \
	"stream { id = 0; event.header := struct { enum : integer { size = 5; align = 1; } { "  \
	"compact = 0 ... 30, extended = 31 } id; variant <id> { struct { " CLOCK(27, 1)    \
	" timestamp; } compact; struct { " NUMBER(32) " id; " CLOCK(64, 8)                  \
	" timestamp; } extended; } v; } align(8); event.context := struct { " SIGNED(32)   \
	" _tid; }; " CONTEXT " };\n"                                                        \
	"stream { id = 1; event.header := struct { enum : integer { size = 16; align = 8; } { " \
	"compact = 0 ... 65534, extended = 65535 } id; variant <id> { struct { " CLOCK(32, 8) \
	" timestamp; } compact; struct { " NUMBER(32) " id; " CLOCK(64, 8)                  \
	" timestamp; } extended; } v; } align(8); " CONTEXT " };\n" EVENTS("0") EVENTS("1")
/* clang-format on */

struct file {
	GByteArray *bytes, *index;
	uint64_t begin, sequence, discarded; /* of its last packet */
};

struct trial {
	struct bytes bytes;
	struct file files[FILES];
	bool big_endian;
};

/* --- files out of the input -------------------------------------------------- */

static void put_word(const struct trial *trial, GByteArray *out, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		put_byte(out, (int) (value >> 8 * (trial->big_endian ? size - 1 - i : i)));
}

static void put_index(struct file *file, uint64_t offset, uint64_t size, uint64_t content,
		      uint64_t end, uint64_t stream)
{
	const uint64_t words[] = {offset,          size,   content, file->begin,   end,
				  file->discarded, stream, 0,       file->sequence};
	const uint32_t head[] = {GUINT32_TO_BE(0xC1F1DCC1), GUINT32_TO_BE(1), GUINT32_TO_BE(1),
				 GUINT32_TO_BE(8 * G_N_ELEMENTS(words))};

	if (!file->index->len)
		g_byte_array_append(file->index, (const guint8 *) head, sizeof head);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		uint64_t word = GUINT64_TO_BE(words[i]);

		g_byte_array_append(file->index, (const guint8 *) &word, sizeof word);
	}
}

#define HEADER_BYTES (4 + 16 + 4 + 8 + 6 * 8 + 4)

static void put_packet(struct trial *trial, struct file *file, uint8_t flags)
{
	struct bytes *bytes = &trial->bytes;
	uint64_t stream = flags >> 4 & 1, end, content, size, offset = file->bytes->len;
	size_t length;
	const uint8_t *body;

	file->begin += (uint64_t) take_number(bytes);
	end = file->begin + (uint64_t) take_number(bytes);
	file->sequence += 1 + (flags & 32 ? (uint64_t) take_number(bytes) : 0);
	file->discarded += flags & 64 ? (uint64_t) take_number(bytes) : 0;
	length = take_byte(bytes);
	length |= (size_t) (take_byte(bytes) & 15) << 8;
	body = take_bytes(bytes, length, &length);
	content = HEADER_BYTES + length;
	size = content + (flags & 128 ? take_byte(bytes) : 0);
	put_word(trial, file->bytes, 0xC1FC1FC1, 4);
	for (int i = 0; i < 16; i++)
		put_byte(file->bytes, 1);
	put_word(trial, file->bytes, stream, 4);
	put_word(trial, file->bytes, 0, 8);
	put_word(trial, file->bytes, file->begin, 8);
	put_word(trial, file->bytes, end, 8);
	put_word(trial, file->bytes, content * 8, 8);
	put_word(trial, file->bytes, size * 8, 8);
	put_word(trial, file->bytes, file->sequence, 8);
	put_word(trial, file->bytes, file->discarded, 8);
	put_word(trial, file->bytes, (uint64_t) (file - trial->files), 4);
	g_byte_array_append(file->bytes, body, (guint) length);
	for (uint64_t i = content; i < size; i++)
		put_byte(file->bytes, 0);
	put_index(file, offset, size * 8, content * 8, end, stream);
	file->begin = end;
}

enum { KIND_PACKET, KIND_BYTES, KIND_OVERWRITE, KIND_CUT };

static void step(struct trial *trial)
{
	uint8_t flags = take_byte(&trial->bytes);
	struct file *file = &trial->files[(flags & 3) % FILES];
	size_t length, at;
	const uint8_t *raw;

	switch (flags >> 2 & 3) {
	case KIND_PACKET:
		put_packet(trial, file, flags);
		break;
	case KIND_BYTES:
		raw = take_bytes(&trial->bytes, take_byte(&trial->bytes), &length);
		g_byte_array_append(flags & 128 ? file->index : file->bytes, raw, (guint) length);
		break;
	case KIND_OVERWRITE: /* from the end on */
		at = (size_t) take_number(&trial->bytes);
		raw = take_bytes(&trial->bytes, take_byte(&trial->bytes) & 15, &length);
		if (length && at <= file->bytes->len && at >= length)
			memcpy(file->bytes->data + file->bytes->len - at, raw, length);
		break;
	default:
		length = (size_t) take_number(&trial->bytes);
		if (length <= file->bytes->len)
			g_byte_array_set_size(file->bytes, file->bytes->len - (guint) length);
		break;
	}
}

static char *directory; /* owned; made when the first input comes */

static void remove_directory(void)
{
	g_autofree char *index = g_build_filename(directory, "index", NULL);

	g_rmdir(index);
	g_rmdir(directory);
	g_free(directory);
}

/* "c_0" and "index/c_0.idx", or none. */
static void write_or_remove(int number, const char *format, const GByteArray *bytes)
{
	g_autofree char *name = g_strdup_printf(format, number);
	g_autofree char *path = g_build_filename(directory, name, NULL);
	FILE *file;

	if (!bytes || !bytes->len) {
		g_unlink(path);
		return;
	}
	file = fopen(path, "w");
	g_assert_nonnull(file);
	g_assert_cmpuint(fwrite(bytes->data, 1, bytes->len, file), ==, bytes->len);
	g_assert_cmpint(fclose(file), ==, 0);
}

static void make_directory(void)
{
	g_autofree char *index = NULL;

	if (directory)
		return;
	directory = g_dir_make_tmp("whylate-fuzz-XXXXXX", NULL);
	g_assert_nonnull(directory);
	index = g_build_filename(directory, "index", NULL);
	g_assert_cmpint(g_mkdir(index, 0700), ==, 0);
	atexit(remove_directory);
}

/* --- reading them -------------------------------------------------------------- */

static GPtrArray *the_trace(const struct trial *trial)
{
	static const char *const texts[] = {TRACE("le"), TRACE("be")};
	GPtrArray *traces = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
	GPtrArray *parts = g_ptr_array_new_with_free_func(trace_directory_free);
	struct trace_directory *part = g_new0(struct trace_directory, 1);
	const char *text = texts[trial->big_endian];

	part->path = g_strdup(directory);
	part->metadata = metadata_of(text, strlen(text));
	g_assert_cmpstr(part->metadata->trouble, ==, NULL);
	g_ptr_array_add(parts, part);
	g_ptr_array_add(traces, parts);
	return traces;
}

static void look(const struct trial *trial, uint8_t kind)
{
	g_autoptr(GPtrArray) traces = the_trace(trial);
	g_autoptr(GError) error = NULL;
	struct options options;
	struct session *session;
	struct reader *reader;

	command_options(&options, &profile_command);
	options.limit = 0;
	options_set(&options, "operation", "*", NULL);
	if (kind & 8)
		options_set(&options, "to", "sched_switch next_tid=5 nth=last", NULL);
	session = session_new(&options);
	reader = reader_new(&session->trace.sink, traces, &error);
	g_assert_no_error(error);
	while (reader_run(reader, 1000, INT64_MAX))
		;
	reader_tell_damage(reader);
	reader_free(reader);
	check_what_was_read(session);
	options_clear(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trial trial = {0};
	uint8_t kind;

	make_directory();
	bytes_init(&trial.bytes, data, size);
	kind = take_byte(&trial.bytes);
	trial.big_endian = kind & 1;
	for (int i = 0; i < FILES; i++) {
		trial.files[i].bytes = g_byte_array_new();
		trial.files[i].index = g_byte_array_new();
	}
	while (trial.bytes.at < trial.bytes.end && trial.files[0].bytes->len < FILE_MAX)
		step(&trial);
	for (int i = 0; i < FILES; i++) {
		write_or_remove(i, "c_%d", trial.files[i].bytes);
		write_or_remove(i, "index/c_%d.idx", kind & 2 ? trial.files[i].index : NULL);
	}
	look(&trial, kind);
	for (int i = 0; i < FILES; i++) {
		write_or_remove(i, "c_%d", NULL);
		write_or_remove(i, "index/c_%d.idx", NULL);
		g_byte_array_free(trial.files[i].bytes, TRUE);
		g_byte_array_free(trial.files[i].index, TRUE);
	}
	bytes_clear(&trial.bytes);
	return 0;
}
