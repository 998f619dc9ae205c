/* SPDX-License-Identifier: MIT */
/* Traits as text and JSON; see traits.h. */
#include "traits/traits.h"

#include <inttypes.h>

struct traits *traits_new(const struct search_answer *answer)
{
	struct traits *traits = g_new0(struct traits, 1);

	traits->outcome = answer->outcome;
	traits->tried = answer->tried;
	traits->fields = answer->fields;
	traits->told = g_ptr_array_new_with_free_func(trait_told_free);
	return traits;
}

void trait_told_free(gpointer data)
{
	struct trait_told *told = data;

	if (!told)
		return;
	trait_told_free(told->and);
	g_free(told->field);
	g_free(told->value);
	g_free(told->sentence);
	g_free(told);
}

void traits_free(gpointer data)
{
	struct traits *traits = data;

	if (!traits)
		return;
	g_ptr_array_free(traits->told, TRUE);
	g_free(traits);
}

static void append_others(GString *text, const uint64_t out[2], const char *again, const char *who)
{
	if (out[1] == 1)
		g_string_append_printf(text, "; of %s%s one %s", who ? who : "the other",
				       who ? "'s" : "",
				       out[0] ? "the same holds" : "it does not hold");
	else if (who)
		g_string_append_printf(text, "; of %s's %" PRIu64 " ", who, out[1]);
	else
		g_string_append_printf(text, "; of the %" PRIu64 " others ", out[1]);
	if (out[1] != 1 && out[0])
		g_string_append_printf(text, "%" PRIu64 " %s", out[0], again);
	else if (out[1] != 1)
		g_string_append_printf(text, "none %s", again);
}

char *trait_sentence(struct phrase *phrases, guint count, const uint64_t in[2],
		     const uint64_t out[2], const char *const who[2])
{
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%" PRIu64 " of %s%s%" PRIu64 " %s", in[0], who ? who[0] : "",
			       who ? "'s " : "", in[1], phrases[0].text);
	if (count == 2)
		g_string_append_printf(text, " and %s", phrases[1].text);
	append_others(text, out, count == 2 ? "did both" : phrases[0].again, who ? who[1] : NULL);
	for (guint i = 0; i < count; i++)
		g_free(phrases[i].text);
	return g_string_free(text, FALSE);
}

static guint write_values(const struct report *report, const void *row)
{
	json_put_text(report->output, NULL, ((const struct trait_told *) row)->value);
	return 0;
}

static guint write_in(const struct report *report, const void *row)
{
	const struct trait_told *told = row;

	json_put_whole(report->output, NULL, (int64_t) told->in[0]);
	json_put_whole(report->output, NULL, (int64_t) told->in[1]);
	return 0;
}

static guint write_out(const struct report *report, const void *row)
{
	const struct trait_told *told = row;

	json_put_whole(report->output, NULL, (int64_t) told->out[0]);
	json_put_whole(report->output, NULL, (int64_t) told->out[1]);
	return 0;
}

GETTER(bool, has_value, struct trait_told, row->value != NULL);
GETTER(const void *, other_part, struct trait_told, row->and);
GETTER(const char *, outcome, struct traits,
       row->outcome == SEARCH_FOUND     ? "found"
       : row->outcome == SEARCH_NOTHING ? "nothing"
					: "too few");

#define PART_COLUMNS                                                                               \
	{"field", COLUMN_TEXT, FIELD(struct trait_told, field)},                                   \
		{"values", COLUMN_LIST, .each = write_values, .when = has_value},                  \
		{"from", COLUMN_WHOLE, FIELD(struct trait_told, from), .none = NONE_LOWEST,        \
		 .absent = true},                                                                  \
	{                                                                                          \
		"to", COLUMN_WHOLE, FIELD(struct trait_told, to), .none = NONE_LOWEST,             \
			.absent = true                                                             \
	}

static const struct column part_columns[] = {PART_COLUMNS, {0}};
static const struct column told_columns[] = {
	PART_COLUMNS,
	{"and", COLUMN_OBJECT, .at = other_part, .columns = part_columns, .absent = true},
	{"in", COLUMN_LIST, .each = write_in},
	{"out", COLUMN_LIST, .each = write_out},
	{"p", COLUMN_REAL, FIELD(struct trait_told, p)},
	{"explained_ns", COLUMN_NS, FIELD(struct trait_told, explained)},
	{"sentence", COLUMN_TEXT, FIELD(struct trait_told, sentence)},
	{0}};

static const struct column search_columns[] = {
	{"outcome", COLUMN_TEXT, .text = outcome},
	{"fields", COLUMN_WHOLE, FIELD(struct traits, fields)},
	{"tried", COLUMN_WHOLE, FIELD(struct traits, tried)},
	{"sampled", COLUMN_BOOL, FIELD(struct traits, sampled)},
	{0}};

const struct column traits_columns[] = {
	{"apart", COLUMN_LIST, FIELD(struct traits, told), .columns = told_columns},
	{"apart_search", COLUMN_OBJECT, .columns = search_columns},
	{0}};

void traits_text(const struct traits *traits, const char *whose, int indent, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);

	if (traits->outcome == SEARCH_TOO_FEW)
		text_wrapped(output, "Too few to tell what sets them apart.", indent, 2);
	if (!traits->told->len)
		return;
	g_string_printf(line,
			"What goes with %s (of %u traits of %u fields that were tried%s):", whose,
			traits->tried, traits->fields, traits->sampled ? " on a sample" : "");
	text_wrapped(output, line->str, indent, 2);
	for (guint i = 0; i < traits->told->len; i++) {
		const struct trait_told *told = g_ptr_array_index(traits->told, i);

		g_string_printf(line, "%s", told->sentence);
		text_wrapped(output, line->str, indent + 2, 2);
	}
}
