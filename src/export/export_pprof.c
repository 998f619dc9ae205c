/* SPDX-License-Identifier: MIT */
/* pprof's profile.proto, gzipped: for `go tool pprof`, pprof, Pyroscope, Grafana.
 *
 * Part of export/; the stacks are export_stacks.h's. Two values a sample: how
 * many waits (waits/count) and their time (wait/nanoseconds, the default);
 * labels thread, process, pid, tid, host and cause, so that -tagfocus and
 * -tagroot work. Sampled functions have a location for each source line, others one; there are no
 * addresses. Of what ran the values are samples and time.
 *
 * Source: profile.proto of google/pprof ("the leaf is at location_id[0]",
 * "string_table[0] must always be empty", "must be gzip-compressed").
 */
#include "export/export_formats.h"

#include <zlib.h>

#include "export/export_stacks.h"
#include "util/error.h"
#include "export/protobuf.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

struct writer {
	const struct walk *walk; /* borrowed */
	struct proto profile, message, part, strings;
	GHashTable *texts;       /* owned; text -> its place in the string table */
	GHashTable *functions;   /* owned; name and file -> number of function */
	GHashTable *locations;   /* owned; interned frame -> number of location */
};

static uint64_t text_of(struct writer *writer, const char *text)
{
	gpointer place;

	if (g_hash_table_lookup_extended(writer->texts, text, NULL, &place))
		return GPOINTER_TO_UINT(place);
	place = GUINT_TO_POINTER(g_hash_table_size(writer->texts));
	g_hash_table_insert(writer->texts, g_strdup(text), place);
	proto_text(&writer->strings, PROFILE_STRING, text);
	return GPOINTER_TO_UINT(place);
}

static void put_type(struct writer *writer, unsigned field, const char *type, const char *unit)
{
	proto_begin(&writer->message);
	proto_uint(&writer->message, VALUE_TYPE, text_of(writer, type));
	proto_uint(&writer->message, VALUE_UNIT, text_of(writer, unit));
	proto_message(&writer->profile, field, &writer->message);
}

/* The function of a frame's name and file; a new one is written before the sample at hand is. */
static guint function_of(struct writer *writer, const char *name, const char *file)
{
	g_autofree char *key = g_strconcat(name, "\n", file, NULL);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(writer->functions, key));
	struct proto message = {0};

	if (number)
		return number;
	number = g_hash_table_size(writer->functions) + 1;
	g_hash_table_insert(writer->functions, g_steal_pointer(&key), GUINT_TO_POINTER(number));
	proto_uint(&message, FUNCTION_ID, number);
	proto_uint(&message, FUNCTION_NAME, text_of(writer, name));
	proto_uint(&message, FUNCTION_SYSTEM_NAME, text_of(writer, name));
	if (*file)
		proto_uint(&message, FUNCTION_FILE, text_of(writer, file));
	proto_message(&writer->profile, PROFILE_FUNCTION, &message);
	proto_clear(&message);
	return number;
}

/* The location of a frame: "NAME", or "NAME\nFILE\nLINE" of a sampled one (export_stacks.h). */
static uint64_t location_of(struct writer *writer, uint32_t frame)
{
	gpointer key = GUINT_TO_POINTER(frame);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(writer->locations, key));
	struct proto message = {0}, line = {0};
	g_auto(GStrv) parts = NULL;
	bool placed;
	guint function;

	if (number)
		return number;
	number = g_hash_table_size(writer->locations) + 1;
	g_hash_table_insert(writer->locations, key, GUINT_TO_POINTER(number));
	parts = g_strsplit(session_text(writer->walk->session, frame), "\n", 3);
	placed = g_strv_length(parts) == 3;
	function = function_of(writer, parts[0] ? parts[0] : "", placed ? parts[1] : "");
	proto_uint(&line, LINE_FUNCTION, function);
	if (placed)
		proto_uint(&line, LINE_NUMBER, g_ascii_strtoull(parts[2], NULL, 10));
	proto_uint(&message, LOCATION_ID, number);
	proto_message(&message, LOCATION_LINE, &line);
	proto_message(&writer->profile, PROFILE_LOCATION, &message);
	proto_clear(&message);
	proto_clear(&line);
	return number;
}

static void label(struct writer *writer, const char *key, const char *text, int64_t number)
{
	proto_begin(&writer->part);
	proto_uint(&writer->part, LABEL_KEY, text_of(writer, key));
	if (text)
		proto_uint(&writer->part, LABEL_TEXT, text_of(writer, text));
	else
		proto_uint(&writer->part, LABEL_NUMBER, (uint64_t) number);
	proto_message(&writer->message, SAMPLE_LABEL, &writer->part);
}

static void put_labels(struct writer *writer, const struct stack_sum *sum)
{
	const struct session *session = writer->walk->session;
	const struct thread *life = model_thread(&session->trace.model, sum->thread);
	uint32_t number = writer->walk->numbers[sum->thread];

	label(writer, "thread", session_thread_name(session, sum->thread), 0);
	label(writer, "tid", NULL, life->tid);
	if (number) {
		const struct walk_thread *thread =
			&g_array_index(writer->walk->threads, struct walk_thread, number - 1);
		const struct walk_process *process =
			&g_array_index(writer->walk->processes, struct walk_process,
				       thread->process);

		label(writer, "process", session_text(session, process->name), 0);
		label(writer, "pid", NULL, process->pid);
	}
	if (session->trace.model.hosts->len > 1)
		label(writer, "host", trace_host_name(&session->trace, life->host), 0);
	if (sum->cause)
		label(writer, "cause", session_text(session, sum->cause), 0);
}

static void put_sample(struct writer *writer, const struct stack_sum *sum)
{
	gsize size;
	const uint32_t *frames = g_bytes_get_data(sum->frames, &size);

	proto_begin(&writer->message);
	for (gsize i = size / sizeof *frames; i-- > 0;) /* innermost first */
		proto_uint(&writer->message, SAMPLE_LOCATION, location_of(writer, frames[i]));
	proto_uint(&writer->message, SAMPLE_VALUE, sum->count);
	proto_uint(&writer->message, SAMPLE_VALUE, (uint64_t) sum->ns);
	put_labels(writer, sum);
	proto_message(&writer->profile, PROFILE_SAMPLE, &writer->message);
}

static void fill(struct writer *writer, const struct stack_sums *sums)
{
	const struct session *session = writer->walk->session;
	enum stacks kind = session->asked.options->export.stacks;
	const char *count = kind == STACKS_ON_CPU ? "samples"
			    : kind == STACKS_ALL  ? "waits and samples"
						  : "waits";
	const char *time = kind == STACKS_ON_CPU ? "cpu" : kind == STACKS_ALL ? "time" : "wait";

	text_of(writer, "");
	put_type(writer, PROFILE_SAMPLE_TYPE, count, "count");
	/* pprof names a value by its type: two must differ */
	put_type(writer, PROFILE_SAMPLE_TYPE, time, "nanoseconds");
	for (guint i = 0; i < sums->list->len; i++)
		put_sample(writer, g_ptr_array_index(sums->list, i));
	proto_uint(&writer->profile, PROFILE_TIME, (uint64_t) session->asked.from);
	proto_uint(&writer->profile, PROFILE_DURATION,
		   (uint64_t) (session->asked.to - session->asked.from));
	put_type(writer, PROFILE_PERIOD_TYPE, count, "count");
	proto_uint(&writer->profile, PROFILE_PERIOD, 1);
	proto_uint(&writer->profile, PROFILE_DEFAULT_TYPE, text_of(writer, time));
	proto_bytes(&writer->profile, writer->strings.bytes, writer->strings.used);
}

/* What it makes is always the same: gzip's header has no time in it. */
static bool put_gzip(const struct proto *profile, FILE *file, GError **error)
{
	z_stream stream = {0};
	uint8_t out[65536];
	int status;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot start zlib: %s",
			    stream.msg ? stream.msg : "no memory");
		return false;
	}
	stream.next_in = profile->bytes;
	for (size_t left = profile->used;;) {
		uInt part = (uInt) MIN(left, 1u << 30);

		stream.avail_in = part;
		do {
			stream.next_out = out;
			stream.avail_out = sizeof out;
			status = deflate(&stream, part == left ? Z_FINISH : Z_NO_FLUSH);
			fwrite(out, 1, sizeof out - stream.avail_out, file);
		} while (!stream.avail_out);
		left -= part;
		if (status == Z_STREAM_END || !left)
			break;
	}
	deflateEnd(&stream);
	return true;
}

bool export_pprof(struct walk *walk, FILE *file, GError **error)
{
	struct writer writer = {
		.walk = walk,
		.texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.locations = g_hash_table_new(NULL, NULL)};
	struct stack_sums sums;
	bool ok;

	stack_sums_init(&sums, walk, true);
	fill(&writer, &sums);
	stack_sums_clear(&sums);
	ok = put_gzip(&writer.profile, file, error);
	g_hash_table_destroy(writer.texts);
	g_hash_table_destroy(writer.functions);
	g_hash_table_destroy(writer.locations);
	proto_clear(&writer.profile);
	proto_clear(&writer.message);
	proto_clear(&writer.part);
	proto_clear(&writer.strings);
	return ok;
}
