/* SPDX-License-Identifier: MIT */
/* See recorded.h. */
#include "settings/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "parts/make_parts.h"
#include "report/report.h"
#include "settings/costs_touched.h"
#include "util/when.h"

#define LEVELS_UP 3 /* as for the kernel's symbols: beside the trace is beside OUT */
#define VALUE_SHOWN 60 /* characters */
#define READ "read" /* kind of what the trace itself shows */

/* "KIND\tNAME" -> value, of several the values in order: owned strings. */
static GHashTable *table_new(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void add_value(GHashTable *table, const char *kind, const char *name, const char *value)
{
	g_autofree char *key = g_strconcat(kind, "\t", name, NULL);
	const char *has = g_hash_table_lookup(table, key);

	g_hash_table_insert(table, g_strdup(key),
			    has ? g_strconcat(has, "; ", value, NULL) : g_strdup(value));
}

static bool
read_file(const char *path,
	  void (*add)(GHashTable *table, const char *kind, const char *name, const char *value),
	  GHashTable *table)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL) ||
	    !g_str_has_prefix(text, "# whylate settings 1"))
		return false;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) cells = g_strsplit(*line, "\t", 3);

		if (**line != '#' && g_strv_length(cells) == 3 && strcmp(cells[0], "note") != 0)
			add(table, cells[0], cells[1], cells[2]);
	}
	return true;
}

bool settings_beside(const struct session *session,
		     void (*add)(GHashTable *table, const char *kind, const char *name,
				 const char *value),
		     GHashTable *table)
{
	g_autofree char *directory = g_strdup(session->trace.place);
	bool found = false;

	for (int level = 0; directory && level <= LEVELS_UP && !found; level++) {
		g_autofree char *path = g_build_filename(directory, "settings", NULL);
		char *above = g_path_get_dirname(directory);

		found = g_file_test(path, G_FILE_TEST_IS_REGULAR) && read_file(path, add, table);
		g_free(directory);
		directory = above;
	}
	return found;
}

/* --- what differs ------------------------------------------------------------- */

static void difference_free(gpointer data)
{
	struct setting_difference *at = data;

	g_free(at->kind);
	g_free(at->name);
	g_free(at->value[0]);
	g_free(at->value[1]);
	g_free(at->touches);
	g_free(at);
}

static void add_difference(struct settings_compared *compared, const char *key, const char *a,
			   const char *b)
{
	struct setting_difference *at = g_new0(struct setting_difference, 1);
	const char *tab = strchr(key, '\t');

	at->kind = g_strndup(key, (gsize) (tab - key));
	at->name = g_strdup(tab + 1);
	at->value[0] = g_strdup(a);
	at->value[1] = g_strdup(b);
	g_ptr_array_add(compared->list, at);
}

static bool is_of_kind(const char *key, const char *kind)
{
	return g_str_has_prefix(key, kind) && key[strlen(kind)] == '\t';
}

/* Files of which nobody that was traced read one tell nothing; of one side alone, only what both
 * sides could have. */
static void compare_tables(struct settings_compared *compared, GHashTable *a, GHashTable *b)
{
	GHashTable *tables[2] = {a, b};

	for (int side = 0; side < 2; side++) {
		GHashTableIter iter;
		gpointer key, value;

		g_hash_table_iter_init(&iter, tables[side]);
		while (g_hash_table_iter_next(&iter, &key, &value)) {
			const char *other = g_hash_table_lookup(tables[!side], key);
			bool read = is_of_kind(key, READ);

			if (!read && !(compared->recorded[0] && compared->recorded[1]))
				continue;
			if (!other)
				add_difference(compared, key, side ? NULL : value,
					       side ? value : NULL);
			else if (!side && !read && strcmp(value, other) != 0)
				add_difference(compared, key, value, other);
		}
	}
}

static int64_t change(const struct setting_difference *at)
{
	return llabs(at->cost[1] - at->cost[0]);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct setting_difference *x = *(struct setting_difference *const *) a,
					*y = *(struct setting_difference *const *) b;
	int order = strcmp(x->kind, y->kind);

	if (!x->touches != !y->touches)
		return x->touches ? -1 : 1;
	if (change(x) != change(y))
		return change(x) > change(y) ? -1 : 1;
	return order ? order : strcmp(x->name, y->name);
}

static void sum_costs(const struct session *session, guint part, void *data)
{
	((struct touched **) data)[part] = touched_new(session);
}

struct settings_compared *settings_compare(const struct session *a, const struct session *b)
{
	struct settings_compared *compared = g_new0(struct settings_compared, 1);
	const struct session *const sessions[2] = {a, b};
	GHashTable *tables[2] = {table_new(), table_new()};
	struct touched *touched[2];

	compared->list = g_ptr_array_new_with_free_func(difference_free);
	parts_make_sides(sessions, sum_costs, touched);
	for (int side = 0; side < 2; side++) {
		compared->recorded[side] = settings_beside(sessions[side], add_value, tables[side]);
		touched_each_file(touched[side], tables[side], READ, add_value);
	}
	if (!a->asked.options->anonymiser)
		compare_tables(compared, tables[0], tables[1]);
	for (guint i = 0; i < compared->list->len; i++) {
		struct setting_difference *at = g_ptr_array_index(compared->list, i);

		for (int side = 0; side < 2; side++) {
			g_autofree char *what = touched_what(touched[side], at->kind, at->name);

			if (what && !at->touches)
				at->touches = g_steal_pointer(&what);
		}
		for (int side = 0; side < 2 && at->touches; side++)
			at->cost[side] = touched_cost(touched[side], at->touches);
	}
	g_ptr_array_sort(compared->list, largest_first);
	for (int side = 0; side < 2; side++) {
		touched_free(touched[side]);
		g_hash_table_destroy(tables[side]);
	}
	return compared;
}

void settings_compared_free(struct settings_compared *compared)
{
	if (!compared)
		return;
	g_ptr_array_free(compared->list, TRUE);
	g_free(compared);
}

/* --- as it is said -------------------------------------------------------------- */

GETTER(const char *, value_a, struct setting_difference, row->value[0]);
GETTER(const char *, value_b, struct setting_difference, row->value[1]);
GETTER(int64_t, cost_a, struct setting_difference, row->cost[0]);
GETTER(int64_t, cost_b, struct setting_difference, row->cost[1]);
GETTER(bool, has_cost, struct setting_difference, row->touches != NULL);
GETTER(bool, recorded_a, struct settings_compared, row->recorded[0]);
GETTER(bool, recorded_b, struct settings_compared, row->recorded[1]);

static const struct column difference_columns[] = {
	{"kind", COLUMN_TEXT, FIELD(struct setting_difference, kind)},
	{"name", COLUMN_TEXT, FIELD(struct setting_difference, name)},
	{"a", COLUMN_TEXT, .text = value_a},
	{"b", COLUMN_TEXT, .text = value_b},
	{"touches", COLUMN_TEXT, FIELD(struct setting_difference, touches)},
	{"a_ns", COLUMN_NS, .number = cost_a, .when = has_cost},
	{"b_ns", COLUMN_NS, .number = cost_b, .when = has_cost},
	{0}};

GETTER(int64_t, recorded_number_a, struct settings_compared, recorded_a(report, row));
GETTER(int64_t, recorded_number_b, struct settings_compared, recorded_b(report, row));

const struct column settings_columns[] = {
	{"recorded_a", COLUMN_BOOL, .number = recorded_number_a},
	{"recorded_b", COLUMN_BOOL, .number = recorded_number_b},
	{"differences", COLUMN_LIST, FIELD(struct settings_compared, list),
	 .columns = difference_columns, .limited = true},
	{0}};

static void append_value(GString *line, const char *value)
{
	g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;
	bool cut = valid && g_utf8_strlen(valid, -1) > VALUE_SHOWN;
	g_autofree char *shown = cut ? g_utf8_substring(valid, 0, VALUE_SHOWN) : g_strdup(valid);

	if (shown)
		g_string_append_printf(line, "'%s%s'", shown, cut ? "…" : "");
	else
		g_string_append(line, "none");
}

static void difference_line(const struct setting_difference *at, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	char a[32], b[32];

	if (strcmp(at->kind, READ) == 0)
		g_string_append_printf(line, "%s: only %s has %s open it", at->name,
				       at->value[0] ? "A" : "B",
				       at->value[0] ? at->value[0] : at->value[1]);
	else if (strcmp(at->kind, "file") == 0)
		g_string_append_printf(line, "%s: %s", at->name,
				       !at->value[0]   ? "only B has it"
				       : !at->value[1] ? "only A has it"
						       : "has something else in it");
	else {
		g_string_append_printf(line, "%s %s: ", at->kind, at->name);
		append_value(line, at->value[0]);
		g_string_append(line, " in A, ");
		append_value(line, at->value[1]);
		g_string_append(line, " in B");
	}
	if (at->touches)
		g_string_append_printf(line, "; %s: %s in A, %s in B", at->touches,
				       when_duration(a, at->cost[0]),
				       when_duration(b, at->cost[1]));
	text_wrapped(output, line->str, 2, 4);
}

void settings_text(const struct settings_compared *compared, guint most, struct output *output)
{
	static const char *const lacks[2][2] = {{"Neither trace has its settings beside it",
						 "A's has no settings beside it"},
						{"B's has no settings beside it", NULL}};
	const char *lack = lacks[compared->recorded[0]][compared->recorded[1]];

	if (!compared->list->len)
		return;
	text_heading(output, "Settings and inputs that differ, by the cost that goes with them");
	for (guint i = 0; i < MIN(compared->list->len, most); i++)
		difference_line(g_ptr_array_index(compared->list, i), output);
	if (compared->list->len > most)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			compared->list->len - most);
	if (lack) {
		g_autofree char *line =
			g_strconcat(lack,
				    " (whylate record keeps them): only files below /etc that were "
				    "opened or looked for are compared.",
				    NULL);

		text_wrapped(output, line, 2, 2);
	}
	text_wrapped(output,
		     "Which of these made the difference, two traces cannot tell: change one, and "
		     "record again.",
		     2, 2);
}
