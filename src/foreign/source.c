/* SPDX-License-Identifier: MIT */
/* One of two readers; see source.h. */
#include "foreign/source.h"

#include "util/error.h"

struct source {
	struct reader *reader;   /* owned; NULL: */
	struct foreign *foreign; /* owned */
};

struct source *source_new(const struct event_sink *sink, GPtrArray *directories,
			  const GPtrArray *files, GError **error)
{
	struct source source = {NULL, NULL};

	if (files->len)
		source.foreign = foreign_new(sink, files, error);
	else
		source.reader = reader_new(sink, directories, error);
	return source.foreign || source.reader ? g_memdup2(&source, sizeof source) : NULL;
}

void source_free(struct source *source)
{
	if (!source)
		return;
	reader_free(source->reader);
	foreign_free(source->foreign);
	g_free(source);
}

bool source_run(struct source *source, uint64_t count, int64_t until)
{
	return source->reader ? reader_run(source->reader, count, until)
			      : foreign_run(source->foreign, count);
}

struct reader *source_reader(const struct source *source)
{
	return source->reader;
}

double source_done(const struct source *source)
{
	return source->reader ? reader_done(source->reader) : foreign_done(source->foreign);
}

void source_tell_damage(const struct source *source)
{
	if (source->reader)
		reader_tell_damage(source->reader);
	else
		foreign_tell_damage(source->foreign);
}

bool source_take_at(struct source *source, const struct event_place *place, GError **error)
{
	if (source->reader)
		return reader_take_at(source->reader, place, error);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
		    "the trace was changed while it was read"); /* none of its events is noted */
	return false;
}

void source_seek(struct source *source, int64_t time)
{
	if (source->reader)
		reader_seek(source->reader, time);
}

bool source_next_record(struct source *source, const struct intern *names,
			struct source_record *record)
{
	struct foreign_record foreign;
	struct reader_record own;

	if (source->reader) {
		if (!reader_next_record(source->reader, &own))
			return false;
		*record = (struct source_record) {own.time, own.host, own.cpu, own.name};
		return true;
	}
	if (!foreign_next_record(source->foreign, &foreign))
		return false;
	*record = (struct source_record) {foreign.time, foreign.host, foreign.cpu,
					  intern_text(names, foreign.name)};
	return true;
}

void source_record_text(const struct source *source, GString *text)
{
	if (source->reader)
		reader_record_text(source->reader, text);
	else
		foreign_record_text(source->foreign, text);
}
