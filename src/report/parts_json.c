/* SPDX-License-Identifier: MIT */
/* Items of a JSON list that are made beside each other (parts/): each is written to memory, and to
 * the output as soon as those before it have been. */
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "parts/make_parts.h"
#include "report/columns.h"

struct text {
	char *bytes; /* of free(); NULL: not made yet */
	size_t length;
};

struct writing {
	const struct report *report;
	part_writer *put;
	const void *data;
	pthread_mutex_t lock; /* of what follows, and of the output */
	struct text *texts; /* owned; of each part, until it is written */
	guint count, written;
};

static void write_made(struct writing *writing)
{
	while (writing->written < writing->count && writing->texts[writing->written].bytes) {
		struct text *text = &writing->texts[writing->written++];

		fwrite(text->bytes, 1, text->length, writing->report->output->file);
		free(text->bytes);
		text->bytes = NULL;
	}
}

static void make_text(const struct session *session, guint part, void *data)
{
	struct writing *writing = data;
	struct output output = *writing->report->output;
	struct report report = {session, writing->report->data, &output};
	struct text text = {0};

	output.file = open_memstream(&text.bytes, &text.length);
	if (!output.file)
		g_error("out of memory");
	__fsetlocking(output.file, FSETLOCKING_BYCALLER);
	output.json.more |= part > 0;
	writing->put(&report, part, writing->data);
	fclose(output.file);
	pthread_mutex_lock(&writing->lock);
	writing->texts[part] = text;
	write_made(writing);
	pthread_mutex_unlock(&writing->lock);
}

guint json_put_parts(const struct report *report, guint count, bool beside, part_writer *put,
		     const void *data)
{
	struct writing writing = {.report = report, .put = put, .data = data, .count = count};

	/* who watches hears of each as it is written, and what is not cut may be long */
	if (!beside || report->output->watch || !report->session->asked.options->limit) {
		for (; writing.written < count && !json_is_full(report, writing.written);
		     writing.written++)
			put(report, writing.written, data);
		return writing.written;
	}
	writing.texts = g_new0(struct text, count);
	pthread_mutex_init(&writing.lock, NULL);
	parts_make(report->session, count, make_text, &writing);
	pthread_mutex_destroy(&writing.lock);
	g_free(writing.texts);
	report->output->json.more |= count > 0;
	return count;
}
