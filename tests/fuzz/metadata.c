/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any metadata (TSDL, CTF 2, packets of either), and any bytes read as
 * the records that it declares.
 *
 *   input: length of the records (2 bytes) · metadata · records
 */
#include "bytes.h"
#include "target.h"
#include "whylate/whylate.h"

#include "reader/classes.h"
#include "metadata/metafile.h"

#define TAKES_MAX 200

/* Each class takes the bytes once, from where the one before it stopped. */
static void take_records(struct class_table *table, const uint8_t *records, size_t length)
{
	struct event event = {0};
	struct cursor cursor = {.packet = records,
				.end = length * 8,
				.big_endian = table->metadata->big_endian};
	int takes = 0;

	cursor.ready = g_array_new(FALSE, FALSE, sizeof(struct event_ready));
	for (guint i = 0; i < table->stream->events->len; i++) {
		const struct event_type *event_type = table->stream->events->pdata[i];
		struct record_class *class = class_table_find(table, event_type->id);

		if (!class_take(table, class, &cursor, &event))
			cursor.at = 0;
		g_assert_cmpuint(cursor.at, <=, cursor.end);
		if (++takes == TAKES_MAX)
			break;
	}
	g_array_free(cursor.ready, TRUE);
}

static void look(const struct metadata *metadata, const uint8_t *records, size_t length)
{
	struct options options;
	struct session *session;

	command_options(&options, &delay_command);
	options_set(&options, "target", "* a=1 b=x* cpu=0 $ctx.tid=7 $ctx.s=t", NULL);
	session = session_new(&options);
	session->trace.sink.add_host(session, &(struct host_info) {.hostname = "a"});
	session->trace.sink.add_host(session,
				     &(struct host_info) {.hostname = "b"}); /* TCP is of use */
	for (guint i = 0; i < metadata->streams->len; i++) {
		struct class_table *table = class_table_new(&session->trace.sink, metadata,
							    metadata->streams->pdata[i], i & 1);

		take_records(table, records, length);
		class_table_free(table);
	}
	session_free(session);
	options_clear(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;
	struct metadata *metadata;
	size_t length, text;
	const uint8_t *copy;

	bytes_init(&bytes, data, size);
	length = take_byte(&bytes);
	length |= (size_t) take_byte(&bytes) << 8;
	text = (size_t) (bytes.end - bytes.at) - MIN(length, (size_t) (bytes.end - bytes.at));
	copy = take_bytes(&bytes, text, &text);
	metadata = metadata_of((const char *) copy, text);
	g_assert_true(metadata->trouble || !metadata->dropped);
	copy = take_bytes(&bytes, length, &length);
	look(metadata, copy, length);
	metadata_free(metadata);
	bytes_clear(&bytes);
	return 0;
}
