/* SPDX-License-Identifier: MIT */
/* One question and what is common to all answers; see asking.h. */
#include "tsp/asking.h"
#include "util/when.h"

#include <inttypes.h>

static void open_text(struct asking *asking)
{
	FILE *file = open_memstream(&asking->text, &asking->length);

	if (!file)
		g_error("out of memory");
	output_begin(&asking->out, file, NULL);
	asking->out.json.compact = true;
}

static void close_text(struct asking *asking)
{
	if (asking->out.file)
		output_clear(&asking->out); /* closes it */
}

void asking_begin(struct asking *asking, struct server *server, const char *method)
{
	*asking = (struct asking) {.server = server,
				   .method = method,
				   .status = 200,
				   .type = "application/json",
				   .query = g_ptr_array_new_with_free_func(g_free)};
	open_text(asking);
}

void asking_end(struct asking *asking)
{
	close_text(asking);
}

void asking_clear(struct asking *asking)
{
	close_text(asking);
	free(asking->text);
	g_ptr_array_unref(asking->query);
	g_strfreev(asking->words);
	json_decref(asking->content);
	*asking = (struct asking) {0};
}

void asking_refuse_begin(struct asking *asking, unsigned status, const char *title,
			 const char *detail)
{
	close_text(asking);
	free(asking->text);
	asking->text = NULL;
	open_text(asking);
	asking->status = status;
	asking->type = "application/json";
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "title", title);
	if (detail)
		json_put_text(&asking->out, "detail", detail);
}

void asking_refuse(struct asking *asking, unsigned status, const char *title, const char *detail)
{
	asking_refuse_begin(asking, status, title, detail);
	json_end(&asking->out, '}');
}

void model_begin(struct asking *asking)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "status", "COMPLETED");
	json_put_text(&asking->out, "statusMessage", "Completed");
}

void model_end(struct asking *asking)
{
	json_end(&asking->out, '}');
}

/* --- what is asked --------------------------------------------------------------------------- */

json_t *parameter(const struct asking *asking, const char *name)
{
	return json_object_get(asking->parameters, name);
}

/* Clients without 64-bit integers send times as 1.7e18 too. */
bool parameter_whole(const json_t *value, int64_t *number)
{
	if (json_is_integer(value))
		*number = json_integer_value(value);
	else if (json_is_real(value) && json_real_value(value) > -9e18 &&
		 json_real_value(value) < 9e18)
		*number = (int64_t) json_real_value(value);
	else
		return false;
	*number = trace_time(*number);
	return true;
}

static bool refuse_parameter(struct asking *asking, const char *detail)
{
	asking_refuse(asking, 400, "Missing query parameters", detail);
	return false;
}

static bool range_of_times(struct asking *asking, const json_t *times, struct times *range)
{
	size_t count = json_array_size(times);

	if (!count || count > STEPS_MAX ||
	    !parameter_whole(json_array_get(times, 0), &range->from) ||
	    !parameter_whole(json_array_get(times, count - 1), &range->to) ||
	    range->from > range->to)
		return refuse_parameter(asking, "requested_times must be integers in order");
	range->steps = (int64_t) count;
	return true;
}

bool asked_times(struct asking *asking, bool needed, struct times *range)
{
	const json_t *given = parameter(asking, "requested_timerange");
	const json_t *times = parameter(asking, "requested_times"), *steps;

	*range = (struct times) {asking->server->session->asked.from,
				 asking->server->session->asked.to, 0};
	if (!given && times && json_array_size(times))
		return range_of_times(asking, times, range);
	if (!given)
		return !needed || refuse_parameter(asking, "requested_timerange is missing");
	if (!parameter_whole(json_object_get(given, "start"), &range->from) ||
	    !parameter_whole(json_object_get(given, "end"), &range->to) || range->from > range->to)
		return refuse_parameter(asking, "requested_timerange needs start and end, integers "
						"in order");
	steps = json_object_get(given, "nbTimes");
	if (!steps)
		steps = json_object_get(given, "nbSamples");
	if (steps && !json_is_null(steps) &&
	    (!parameter_whole(steps, &range->steps) || range->steps < 1 ||
	     range->steps > STEPS_MAX))
		return refuse_parameter(asking, "nbTimes must be 1 to 65536");
	return true;
}

int64_t times_at(const struct times *range, int64_t i)
{
	int64_t length = range->to - range->from;

	return range->steps < 2
		       ? range->from
		       : range->from + (int64_t) ((int128) length * i / (range->steps - 1));
}

int64_t times_step(const struct times *range, int64_t time)
{
	int64_t length = range->to - range->from;

	if (time <= range->from || length <= 0 || range->steps < 2)
		return time <= range->from ? 0 : range->steps;
	return (int64_t) (((int128) (time - range->from) * (range->steps - 1) + length - 1) /
			  length);
}

GArray *asked_items(struct asking *asking)
{
	const json_t *given = parameter(asking, "requested_items");
	g_autoptr(GHashTable)
		seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	GArray *items;

	if (!json_is_array(given)) {
		refuse_parameter(asking, "requested_items is missing");
		return NULL;
	}
	items = g_array_new(FALSE, FALSE, sizeof(int64_t));
	for (size_t i = 0; i < json_array_size(given); i++) {
		int64_t item;

		if (!parameter_whole(json_array_get(given, i), &item)) {
			refuse_parameter(asking, "requested_items must be integers");
			g_array_unref(items);
			return NULL;
		}
		if (g_hash_table_add(seen, g_memdup2(&item, sizeof item)))
			g_array_append_val(items, item);
	}
	return items;
}

/* --- answers ---------------------------------------------------------------------------------- */

void tell_text(struct asking *asking, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	if (!asking->told) {
		json_put_text(&asking->out, name, text);
		return;
	}
	g_ptr_array_add(asking->told, g_strdup(name));
	g_ptr_array_add(asking->told, g_strdup(text));
}

void uuid_of(const char *text, char uuid[UUID_LENGTH])
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
	guint8 bytes[20];
	gsize length = sizeof bytes;

	g_checksum_update(sum, (const guchar *) "whylate:", -1);
	g_checksum_update(sum, (const guchar *) text, -1);
	g_checksum_get_digest(sum, bytes, &length);
	bytes[6] = (guint8) ((bytes[6] & 0x0f) | 0x50);
	bytes[8] = (guint8) ((bytes[8] & 0x3f) | 0x80);
	for (int i = 0, at = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			uuid[at++] = '-';
		g_snprintf(uuid + at, 3, "%02x", bytes[i]);
		at += 2;
	}
}
