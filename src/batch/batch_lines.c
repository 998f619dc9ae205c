/* SPDX-License-Identifier: MIT */
/* See batch_lines.h. */
#include "batch/batch_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/batch_expected.h"
#include "batch/batch_pieces.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/spill.h"

#define TOLD 5 /* messages of one kind */

enum answer { WHOLE, DAMAGED, NONE }; /* the better first */

/* That a trace is in a line, or in a sum. */
struct claim {
	struct trace_key key;
	const char *name; /* of `names` */
	uint64_t digest;
	guint record;
	uint8_t answer; /* enum answer */
	bool by_path;   /* its content is not known */
	bool chosen;
};

/* A piece of a file: a line, a sum, or neither. */
struct record {
	guint input, line;
	guint first, count; /* claims */
	bool sum, taken;
	uint64_t digest;
	json_int_t bad_lines, repeated; /* of a sum */
	json_t *common; /* owned reference; … settings that all of it have; NULL */
};

struct input {
	char *name; /* owned */
	FILE *file; /* owned; NULL: it is opened by its name */
	guint records;
};

struct batch_lines {
	lines_say *say;
	GArray *claims, *records, *inputs;
	GStringChunk *names;
	struct batch_expected *expected;
	GHashTable *taken; /* keys, borrowed from claims */
	GHashTable *taken_names; /* … names */
	json_int_t bad_lines, repeated;
	guint told_bad, told_repeated, told_unexpected;
	/* of the piece that is being read */
	bool entries_bad;
	guint at; /* its record */
	struct batch *batch; /* borrowed; the second time */
	guint entry;
};

static void record_clear(gpointer data)
{
	json_decref(((struct record *) data)->common);
}

static void input_clear(gpointer data)
{
	struct input *input = data;

	g_free(input->name);
	if (input->file)
		fclose(input->file);
}

struct batch_lines *batch_lines_new(lines_say *say)
{
	struct batch_lines *lines = g_new0(struct batch_lines, 1);

	lines->say = say;
	lines->claims = g_array_new(FALSE, TRUE, sizeof(struct claim));
	lines->records = g_array_new(FALSE, TRUE, sizeof(struct record));
	lines->inputs = g_array_new(FALSE, TRUE, sizeof(struct input));
	g_array_set_clear_func(lines->records, record_clear);
	g_array_set_clear_func(lines->inputs, input_clear);
	lines->names = g_string_chunk_new(1 << 16);
	lines->expected = batch_expected_new();
	lines->taken = g_hash_table_new(trace_key_hash, trace_key_equal);
	lines->taken_names = g_hash_table_new(g_str_hash, g_str_equal);
	return lines;
}

void batch_lines_free(struct batch_lines *lines)
{
	g_array_free(lines->claims, TRUE);
	g_array_free(lines->records, TRUE);
	g_array_free(lines->inputs, TRUE);
	g_string_chunk_free(lines->names);
	batch_expected_free(lines->expected);
	g_hash_table_destroy(lines->taken);
	g_hash_table_destroy(lines->taken_names);
	g_free(lines);
}

bool batch_lines_expect(struct batch_lines *lines, const char *list, GError **error)
{
	return batch_expected_read(lines->expected, list, error);
}

static struct claim *claim_at(const struct batch_lines *lines, guint i)
{
	return &g_array_index(lines->claims, struct claim, i);
}

static struct record *record_at(const struct batch_lines *lines, guint i)
{
	return &g_array_index(lines->records, struct record, i);
}

/* "FILE, line N: " and what it is about, the first few of its kind. */
static void say(struct batch_lines *lines, guint *told, const struct record *record,
		const char *what)
{
	const struct input *input = &g_array_index(lines->inputs, struct input, record->input);
	g_autofree char *text = NULL;

	if (++*told > TOLD || !lines->say)
		return;
	text = g_strdup_printf("%s, line %u: %s", input->name, record->line, what);
	lines->say(text);
}

static void say_rest(const struct batch_lines *lines, guint told, const char *what)
{
	g_autofree char *text = NULL;

	if (told <= TOLD || !lines->say)
		return;
	text = g_strdup_printf("%u more %s", told - TOLD, what);
	lines->say(text);
}

/* --- what is there ---------------------------------------------------------------------------- */

static json_int_t counter(const json_t *of, const char *key)
{
	return MAX(json_integer_value(json_object_get(of, key)), 0);
}

/* `entry`: what a sum says of the trace; `text`: what there is of it, all the same. */
static void add_claim(struct batch_lines *lines, const json_t *entry, uint64_t digest)
{
	const char *name = json_string_value(json_object_get(entry, "trace")),
		   *identity = json_string_value(json_object_get(entry, "identity"));
	struct claim claim = {.name = g_string_chunk_insert(lines->names, name),
			      .digest = digest,
			      .record = lines->records->len};

	claim.answer = !json_object_get(entry, "events")                 ? NONE
		       : json_is_true(json_object_get(entry, "damaged")) ? DAMAGED
									 : WHOLE;
	claim.by_path = !trace_key_of_identity(&claim.key, identity);
	if (claim.by_path)
		trace_key_of_path(&claim.key, name);
	g_array_append_val(lines->claims, claim);
}

/* So that what could not be read is the same in a line and in a sum. */
static uint64_t entry_digest(const json_t *entry)
{
	json_t *plain = json_copy((json_t *) entry);
	char *text;
	uint64_t digest;

	json_object_del(plain, "settings");
	text = json_dumps(plain, JSON_COMPACT | JSON_SORT_KEYS);
	digest = digest_of(text, strlen(text));
	free(text);
	json_decref(plain);
	return digest;
}

static void see_entry(void *data, const char *text, size_t length)
{
	struct batch_lines *lines = data;
	json_t *entry = json_loadb(text, length, 0, NULL);

	if (json_is_string(json_object_get(entry, "trace")))
		add_claim(lines, entry, entry_digest(entry));
	else
		lines->entries_bad = true;
	json_decref(entry);
}

static void see_sum(struct batch_lines *lines, struct record *record, const json_t *sum)
{
	json_t *each;
	size_t i;

	record->sum = true;
	record->bad_lines = counter(sum, "bad_lines");
	record->repeated = counter(sum, "repeated");
	record->common = json_incref(json_object_get(json_object_get(sum, "settings"), "common"));
	for (guint k = record->first; k < lines->claims->len; k++)
		record->digest += claim_at(lines, k)->digest;
	json_array_foreach(json_object_get(sum, "missing"), i, each) if (json_is_string(each))
		batch_expected_add(lines->expected, json_string_value(each));
}

static void see_line(struct batch_lines *lines, const struct record *record, const json_t *line)
{
	json_t *entry = batch_entry_of(line);
	bool answer = json_object_get(line, "events") != NULL;

	add_claim(lines, entry, answer ? record->digest : entry_digest(entry));
	json_decref(entry);
}

/* The piece that was read, its claims already if it is a sum. */
static void see_piece(struct batch_lines *lines, const struct pieces *pieces, guint first)
{
	struct record record = {.input = lines->inputs->len - 1,
				.line = pieces->line,
				.first = first};
	json_t *json = json_loadb(pieces->text->str, pieces->text->len, 0, NULL);
	g_autoptr(GError) error = NULL;

	record.digest = digest_of(pieces->text->str, pieces->text->len);
	if (!json || lines->entries_bad)
		g_set_error_literal(&error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
				    "is torn, or is not a line of whylate batch");
	if (error || !batch_check(json, &error)) {
		g_array_set_size(lines->claims, first);
		lines->bad_lines++;
		say(lines, &lines->told_bad, &record, error->message);
	} else if (batch_is_sum(json)) {
		see_sum(lines, &record, json);
	} else {
		g_array_set_size(lines->claims, first);
		see_line(lines, &record, json);
	}
	record.count = lines->claims->len - first;
	json_decref(json);
	g_array_append_val(lines->records, record);
}

static bool read_error(const char *name, GError **error)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE, "cannot read %s: %s", name,
		    g_strerror(errno));
	return false;
}

bool batch_lines_read_open(struct batch_lines *lines, FILE *file, const char *name, GError **error)
{
	struct input input = {.name = g_strdup(name), .file = file};
	guint first = lines->claims->len, before = lines->records->len;
	struct pieces pieces;
	bool ok;

	g_array_append_val(lines->inputs, input);
	pieces_begin(&pieces, file);
	pieces.entry = see_entry;
	pieces.data = lines;
	while (lines->entries_bad = false, pieces_next(&pieces)) {
		see_piece(lines, &pieces, first);
		first = lines->claims->len;
	}
	g_array_set_size(lines->claims, first);
	pieces_clear(&pieces);
	ok = !ferror(file);
	g_array_index(lines->inputs, struct input, lines->inputs->len - 1).records =
		lines->records->len - before;
	return ok || read_error(name, error);
}

/* What can be read once only is kept: a new file; NULL and errno. */
static FILE *kept(FILE *from)
{
	int fd = spill_open();
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
	char bytes[1 << 16];
	size_t got;

	while (file && (got = fread(bytes, 1, sizeof bytes, from)) > 0)
		if (fwrite(bytes, 1, got, file) != got)
			break;
	if (file && (ferror(from) || fflush(file) != 0 || ferror(file))) {
		fclose(file);
		return NULL;
	}
	if (file)
		rewind(file);
	return file;
}

bool batch_lines_read(struct batch_lines *lines, const char *path, GError **error)
{
	const char *name = path ? path : "standard input";
	FILE *file = path ? fopen(path, "re") : stdin, *copy;
	struct stat status;

	if (!file)
		return read_error(name, error);
	if (path && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)) {
		/* not kept open: there may be one for each task */
		bool ok = batch_lines_read_open(lines, file, name, error);

		g_array_index(lines->inputs, struct input, lines->inputs->len - 1).file = NULL;
		fclose(file);
		return ok;
	}
	copy = kept(file);
	if (path)
		fclose(file);
	return copy ? batch_lines_read_open(lines, copy, name, error) : read_error(name, error);
}

/* --- what counts ------------------------------------------------------------------------------ */

static bool is_taken(const struct batch_lines *lines, const struct claim *claim)
{
	return g_hash_table_contains(lines->taken, &claim->key) ||
	       (claim->by_path && g_hash_table_contains(lines->taken_names, claim->name));
}

static void choose_claim(struct batch_lines *lines, struct claim *claim)
{
	claim->chosen = true;
	g_hash_table_add(lines->taken, &claim->key);
	g_hash_table_add(lines->taken_names, (gpointer) claim->name);
	batch_expected_count(lines->expected, claim->name, &claim->key);
}

static void refuse_sum(struct batch_lines *lines, const struct record *record, guint taken,
		       guint unexpected)
{
	g_autofree char *why = g_strdup_printf(
		"%u of the %u traces of this sum are %s, and cannot be taken out of it: merge the "
		"lines that it was made of",
		taken ? taken : unexpected, record->count,
		taken ? "in other lines too" : "not in the list that --expect names");

	lines->bad_lines++;
	say(lines, &lines->told_bad, record, why);
}

/* Its answers are all taken, or none is. */
static void choose_sum(struct batch_lines *lines, struct record *record)
{
	guint answers = 0, taken = 0, unexpected = 0;

	for (guint i = 0; i < record->count; i++) {
		const struct claim *claim = claim_at(lines, record->first + i);

		if (claim->answer == NONE)
			continue;
		answers++;
		taken += is_taken(lines, claim);
		unexpected += !batch_expected_meet(lines->expected, claim->name, &claim->key);
	}
	record->taken = !taken && !unexpected;
	if (!record->taken && (taken < answers || unexpected)) {
		refuse_sum(lines, record, taken, unexpected);
		record->count = 0; /* what it could not read is not asked either */
		return;
	}
	for (guint i = 0; i < record->count; i++) {
		struct claim *claim = claim_at(lines, record->first + i);

		if (claim->answer == NONE)
			continue;
		if (record->taken)
			choose_claim(lines, claim);
		else
			batch_expected_count(lines->expected, claim->name, &claim->key);
	}
	lines->bad_lines += record->bad_lines;
	lines->repeated += record->repeated;
	if (!record->taken) {
		lines->repeated += answers;
		say(lines, &lines->told_repeated, record,
		    "its traces were counted already, and count once");
	}
}

static gint largest_sum(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct record *x = record_at(data, *(const guint *) a),
			    *y = record_at(data, *(const guint *) b);

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->digest < y->digest ? -1 : x->digest > y->digest;
}

static void choose_sums(struct batch_lines *lines)
{
	g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(guint));

	for (guint i = 0; i < lines->records->len; i++)
		if (record_at(lines, i)->sum)
			g_array_append_val(sums, i);
	g_array_sort_with_data(sums, largest_sum, lines);
	for (guint i = 0; i < sums->len; i++)
		choose_sum(lines, record_at(lines, g_array_index(sums, guint, i)));
}

/* Answers first; those by content first; the better of the same. */
static gint better_claim(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct claim *x = claim_at(data, *(const guint *) a),
			   *y = claim_at(data, *(const guint *) b);
	int order = (x->answer == NONE) - (y->answer == NONE);

	order = order ? order : x->by_path - y->by_path;
	order = order ? order : memcmp(&x->key, &y->key, sizeof x->key);
	order = order ? order : x->answer - y->answer;
	order = order ? order : strcmp(x->name, y->name);
	return order ? order : x->digest < y->digest ? -1 : x->digest > y->digest;
}

static void choose_lines(struct batch_lines *lines)
{
	g_autoptr(GArray) loose = g_array_new(FALSE, FALSE, sizeof(guint));

	for (guint i = 0; i < lines->records->len; i++) {
		const struct record *record = record_at(lines, i);

		for (guint k = record->first; k < record->first + record->count; k++)
			if (!record->sum || claim_at(lines, k)->answer == NONE)
				g_array_append_val(loose, k);
	}
	g_array_sort_with_data(loose, better_claim, lines);
	for (guint i = 0; i < loose->len; i++) {
		struct claim *claim = claim_at(lines, g_array_index(loose, guint, i));
		const struct record *record = record_at(lines, claim->record);
		g_autofree char *said = NULL;

		if (!batch_expected_meet(lines->expected, claim->name, &claim->key)) {
			said = g_strdup_printf(
				"%s is not in the list that --expect names: left out", claim->name);
			say(lines, &lines->told_unexpected, record, said);
		} else if (is_taken(lines, claim)) {
			said = g_strdup_printf("%s was counted already, and counts once",
					       claim->name);
			lines->repeated++;
			batch_expected_count(lines->expected, claim->name, &claim->key);
			say(lines, &lines->told_repeated, record, said);
		} else {
			choose_claim(lines, claim);
		}
	}
}

static void meet_all(struct batch_lines *lines)
{
	for (guint i = 0; i < lines->claims->len; i++) {
		const struct claim *claim = claim_at(lines, i);

		batch_expected_meet(lines->expected, claim->name, &claim->key);
	}
}

/* --- adding up -------------------------------------------------------------------------------- */

static void add_entry(void *data, const char *text, size_t length)
{
	struct batch_lines *lines = data;
	const struct record *record = record_at(lines, lines->at);
	const struct claim *claim;
	json_t *entry;

	if (!record->sum || lines->entry >= record->count)
		return;
	claim = claim_at(lines, record->first + lines->entry++);
	entry = claim->chosen ? json_loadb(text, length, 0, NULL) : NULL;
	if (entry)
		batch_add_entry(lines->batch, entry, &claim->key, record->common);
	json_decref(entry);
}

static void add_piece(struct batch_lines *lines, const struct pieces *pieces)
{
	const struct record *record = record_at(lines, lines->at);
	bool wanted = record->sum ? record->taken
				  : record->count && claim_at(lines, record->first)->chosen;
	json_t *json = wanted ? json_loadb(pieces->text->str, pieces->text->len, 0, NULL) : NULL;

	if (json && record->sum)
		batch_add_sum(lines->batch, json);
	else if (json)
		batch_add_line(lines->batch, json, &claim_at(lines, record->first)->key);
	json_decref(json);
}

/* The file for the second time. It may have grown since. */
static bool add_input(struct batch_lines *lines, const struct input *input, GError **error)
{
	FILE *file = input->file ? input->file : fopen(input->name, "re");
	guint end = lines->at + input->records;
	struct pieces pieces;
	bool ok;

	if (!file)
		return read_error(input->name, error);
	rewind(file);
	pieces_begin(&pieces, file);
	pieces.entry = add_entry;
	pieces.data = lines;
	while (lines->entry = 0, lines->at < end && pieces_next(&pieces)) {
		add_piece(lines, &pieces);
		lines->at++;
	}
	ok = lines->at == end && !ferror(file);
	pieces_clear(&pieces);
	if (!input->file)
		fclose(file);
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
			    "%s changed while it was read", input->name);
	return ok;
}

bool batch_lines_add(struct batch_lines *lines, struct batch *batch, lines_identify *identify,
		     GError **error)
{
	bool ok = true;

	meet_all(lines);
	batch_expected_identify(lines->expected, identify);
	choose_sums(lines);
	choose_lines(lines);
	say_rest(lines, lines->told_bad, "lines that are not, or cannot be counted");
	say_rest(lines, lines->told_repeated, "were counted already, and count once");
	say_rest(lines, lines->told_unexpected, "are not in the list that --expect names");
	lines->batch = batch;
	lines->at = 0;
	for (guint i = 0; i < lines->inputs->len && ok; i++)
		ok = add_input(lines, &g_array_index(lines->inputs, struct input, i), error);
	batch->bad_lines = lines->bad_lines;
	batch->repeated = lines->repeated;
	batch->missing = batch_expected_missing(lines->expected);
	return ok;
}
