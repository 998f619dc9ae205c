/* SPDX-License-Identifier: MIT */
/* What the lines of `whylate batch` add up to: read, written and told; see fleet_sum.h. */
#include "fleet/fleet_sum.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "batch/batch_lines.h"
#include "fleet/fleet_page.h"
#include "fleet/fleet_tables.h"
#include "fleet/fleet_text.h"
#include "report/output.h"
#include "util/error.h"
#include "util/spill.h"

#define SETTINGS_TOLD 3
#define MISSING_TOLD 5
#define OUTLIERS_TOLD 3

static bool set_not_read_back(GError **error)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
		    "cannot read back what was kept in %s", spill_place());
	return false;
}

/* "8 traces: 7 good, 1 read, but events were lost"; free with g_free(). */
static char *sum_words(const struct batch *batch, const json_t *merged)
{
	const json_t *statuses = json_object_get(merged, "statuses");
	g_autoptr(GString) text = g_string_new(NULL);
	size_t told = 0;
	guint traces = batch_entries_count(batch->entries);
	json_int_t lossy = batch->lossy;
	static const struct {
		const char *status, *words;
	} words[] = {{"0", "good"},
		     {"1", "beyond a limit"},
		     {"2", "not as asked for"},
		     {"3", "not read"},
		     {"4", "not whole, or a limit not judged"},
		     {"5", "failed"}};

	g_string_printf(text, "%u trace%s", traces, traces == 1 ? "" : "s");
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		json_int_t count = json_integer_value(json_object_get(statuses, words[i].status));

		if (i == 0)
			count -= lossy;
		if (count)
			g_string_append_printf(text, "%s %" JSON_INTEGER_FORMAT " %s",
					       told++ ? "," : ":", count, words[i].words);
		if (i == 0 && lossy)
			g_string_append_printf(text,
					       "%s %" JSON_INTEGER_FORMAT
					       " read, but events were lost",
					       told++ ? "," : ":", lossy);
	}
	if (batch->repeated)
		g_string_append_printf(text,
				       "; %" JSON_INTEGER_FORMAT
				       " came again, and were counted once",
				       batch->repeated);
	return g_strdup(text->str);
}

static bool write_file(struct batch *batch, const char *path, const json_t *merged, bool page,
		       GError **error)
{
	g_autofree char *sum = page ? sum_words(batch, merged) : NULL;
	struct output output;
	bool ok = output_open(&output, path, error);

	if (ok && !(page ? fleet_page_write(batch, merged, sum, path, output.file)
			 : batch_write(batch, merged, output.file)))
		ok = set_not_read_back(error);
	ok = ok && output_commit(&output, error);
	output_clear(&output);
	return ok;
}

/* What goes with a cost, at most three; else that settings differ at all. */
static void tell_settings(const json_t *merged, lines_say *say)
{
	const json_t *settings = json_object_get(merged, "settings"),
		     *differences = json_object_get(settings, "differences");
	json_int_t recorded = json_integer_value(json_object_get(settings, "recorded"));
	bool few = true;
	json_t *each;
	size_t i, told = 0;

	json_array_foreach((json_t *) differences, i, each)
	{
		const char *outcome = json_string_value(json_object_get(each, "outcome"));

		few &= g_strcmp0(outcome, "chance") != 0;
		if (told < SETTINGS_TOLD && g_strcmp0(outcome, "goes-with") == 0) {
			say(json_string_value(json_object_get(each, "sentence")));
			told++;
		}
	}
	if (recorded > 1 && json_array_size(differences) && !told) {
		g_autofree char *line = g_strdup_printf(
			"settings differ between these traces: %s (--index and --merged list them)",
			few ? "too few traces to tell what goes with cost"
			    : "none goes with a cost beyond chance");

		say(line);
	}
}

static void tell_outliers(const json_t *merged, lines_say *say)
{
	const json_t *told = json_object_get(json_object_get(merged, "outliers"), "told");

	for (size_t i = 0; i < MIN(json_array_size(told), OUTLIERS_TOLD); i++)
		say(json_string_value(json_object_get(json_array_get(told, i), "sentence")));
}

static void tell_missing(const json_t *merged, lines_say *say)
{
	const json_t *missing = json_object_get(merged, "missing");
	size_t count = json_array_size(missing);
	g_autoptr(GString) text = g_string_new(NULL);

	if (!count)
		return;
	g_string_printf(text, "%zu trace%s missing:", count, count == 1 ? " is" : "s are");
	for (size_t i = 0; i < MIN(count, MISSING_TOLD); i++)
		g_string_append_printf(text, "%s %s", i ? "," : "",
				       json_string_value(json_array_get(missing, i)));
	if (count > MISSING_TOLD)
		g_string_append_printf(text, ", and %zu more (the sum lists them)",
				       count - MISSING_TOLD);
	say(text->str);
}

bool batch_prints_text(const struct options *options)
{
	const struct batch_options *asked = &options->batch;

	if (asked->map || asked->plan)
		return false;
	return asked->format == BATCH_TEXT ||
	       (asked->format == BATCH_BY_PLACE && !options->output && isatty(STDOUT_FILENO));
}

static bool write_text(struct batch *batch, const struct options *options, const json_t *merged,
		       GError **error)
{
	g_autofree char *sum = sum_words(batch, merged);
	struct output output;
	bool ok = output_open(&output, options->output, error);

	if (ok && !batch_text_write(batch, merged, sum, options->limit, &output))
		ok = set_not_read_back(error);
	ok = ok && output_commit(&output, error);
	output_clear(&output);
	return ok;
}

static bool write_sum(struct batch *batch, const struct options *options, const json_t *merged,
		      GError **error)
{
	const struct batch_options *asked = &options->batch;

	return (!asked->merged || write_file(batch, asked->merged, merged, false, error)) &&
	       (!asked->index || write_file(batch, asked->index, merged, true, error)) &&
	       (!asked->tables || fleet_tables_write(batch, merged, asked->tables, error)) &&
	       (batch_prints_text(options)
			? write_text(batch, options, merged, error)
			: !asked->merge ||
				  write_file(batch, options->output, merged, false, error));
}

/* Besides what standard output has: a text has the first and the third. */
static void tell_sum(const struct batch *batch, const json_t *merged, bool has_text, lines_say *say)
{
	g_autofree char *words = sum_words(batch, merged);

	if (!has_text)
		say(words);
	tell_missing(merged, say);
	if (!has_text)
		tell_outliers(merged, say);
	tell_settings(merged, say);
}

/* Of those files, or of standard input if there are none; or of `kept`, which it takes. */
static bool read_lines(struct batch_lines *lines, GPtrArray *paths, FILE *kept, GError **error)
{
	bool ok = true;

	if (kept) {
		rewind(kept);
		return batch_lines_read_open(lines, kept, "lines of this run", error);
	}
	if (!paths->len)
		return batch_lines_read(lines, NULL, error);
	for (guint i = 0; i < paths->len && ok; i++)
		ok = batch_lines_read(lines, paths->pdata[i], error);
	return ok;
}

FILE *batch_sum_lines(GError **error)
{
	int fd = spill_open();
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!file)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "cannot make a temporary file in %s: %s", spill_place(),
			    g_strerror(errno));
	return file;
}

int batch_sum(const struct options *options, GPtrArray *paths, FILE *kept,
	      const struct batch_host *host, GError **error)
{
	struct batch_lines *lines = batch_lines_new(host->say);
	struct batch *batch = batch_new();
	int status = 0;
	bool ok = !options->batch.expect || batch_lines_expect(lines, options->batch.expect, error);

	if (!ok && kept)
		fclose(kept);
	ok = ok && read_lines(lines, paths, kept, error) &&
	     batch_lines_add(lines, batch, host->identify, error);
	if (ok) {
		json_t *merged = batch_merged(batch);

		if (write_sum(batch, options, merged, error)) {
			status = batch_status(merged);
			if (host->say)
				tell_sum(batch, merged, batch_prints_text(options), host->say);
		}
		json_decref(merged);
	}
	batch_free(batch);
	batch_lines_free(lines);
	return status;
}
