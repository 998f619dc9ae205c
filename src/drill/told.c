/* SPDX-License-Identifier: MIT */
/* See told.h. */
#include "drill/told.h"

#include <string.h>

#include "report/report.h"
#include "util/when.h"

#define MARK_COLUMNS 4

/* "worked in read", "ran its own code", "waited in fsync" */
static char *deed(const struct drill_piece *piece)
{
	static const struct {
		const char *start, *words;
	} deeds[] = {{"working/user", "ran its own code"},
		     {"working/kthread", "ran its own code"},
		     {"working/syscall:", "worked in "},
		     {"working/", "worked ("},
		     {"interrupted/preempted", "was ready, and off the CPU"},
		     {"interrupted/wait-cpu", "was woken, and waited for a CPU"},
		     {"interrupted/", "was interrupted"},
		     {"blocked/syscall:", "waited in "},
		     {"blocked/", "waited ("}};

	for (size_t i = 0; i < G_N_ELEMENTS(deeds); i++) {
		const char *rest = piece->leaf + strlen(deeds[i].start);
		const char *words = deeds[i].words;

		if (!g_str_has_prefix(piece->leaf, deeds[i].start))
			continue;
		if (words[strlen(words) - 1] == ' ')
			return g_strconcat(words, rest, NULL);
		return words[strlen(words) - 1] == '(' ? g_strconcat(words, rest, ")", NULL)
						       : g_strdup(words);
	}
	return g_strdup(piece->leaf);
}

/* Lines of the terminal's width, each behind the mark. */
static void put(const char *mark, const char *text, int indent, int hanging)
{
	g_autofree char *written = NULL, *shown = NULL;
	g_auto(GStrv) lines = NULL;
	size_t size;
	FILE *file = open_memstream(&written, &size);
	struct output output;

	output_begin(&output, file, NULL);
	output.width = MAX(output.width, 80) - MARK_COLUMNS;
	text_wrapped(&output, text, indent, hanging);
	output_clear(&output); /* closes it */
	shown = locale_has_utf8() ? g_strdup(written) : text_ascii(written);
	lines = g_strsplit(g_strchomp(shown), "\n", -1);
	for (char **line = lines; *line; line++)
		printf("%s%s\n", mark, *line);
}

static const char *verdict_on(const struct drill_piece *piece)
{
	switch (piece->end) {
	case PIECE_OPEN:
		return " -- not explained yet.";
	case PIECE_UNKNOWN:
		return " -- nothing finer can be recorded.";
	default:
		return ".";
	}
}

static void tell_piece(const struct drill_piece *piece, const char *mark)
{
	g_autofree char *what = deed(piece), *line = NULL;
	char ns[32];

	line = g_strdup_printf("%s: %s %s: %s%s", when_duration(ns, piece->ns), piece->threads,
			       what, piece->words, verdict_on(piece));
	put(mark, line, 2, 6);
}

/* "Next: entries and exits of …; entries of …". */
static void tell_next(const struct drill_choice *choice, const char *mark)
{
	g_autoptr(GString) line = g_string_new("Next it records besides: ");
	const char *before = "";

	for (guint i = 0; i < choice->kernel->len; i++)
		g_string_append_printf(line, "%s%s",
				       i ? ", " : "entries and exits of the kernel's functions ",
				       (char *) g_ptr_array_index(choice->kernel, i));
	before = choice->kernel->len ? "; " : "";
	for (guint i = 0; i < choice->user->len; i++) {
		const struct user_place *place = g_ptr_array_index(choice->user, i);

		g_string_append(line, i ? ", " : before);
		g_string_append_printf(line, "%s%s (%s)", i ? "" : "entries of ", place->symbol,
				       place->binary);
	}
	before = line->str[line->len - 1] == ' ' ? "" : "; ";
	if (choice->calls)
		g_string_append_printf(line,
				       "%sall functions that lttng-ust's hooks are built into",
				       before);
	if (line->str[line->len - 1] == ' ')
		g_string_truncate(line, 0);
	if (choice->dropped->len)
		g_string_append_printf(line, "%sWithout the probes on ", line->len ? ". " : "");
	for (guint i = 0; i < choice->dropped->len; i++)
		g_string_append_printf(line, "%s%s", i ? ", " : "",
				       (char *) g_ptr_array_index(choice->dropped, i));
	if (choice->dropped->len)
		g_string_append(line, ": they are called so often that the probes take the time");
	g_string_append_c(line, '.');
	put(mark, line->str, 0, 2);
}

void drill_tell_round(guint round, const char *trace, const struct drill_choice *choice,
		      int64_t limit, const char *mark)
{
	char whole[32], least[32];
	g_autofree char *line =
		g_strdup_printf("Round %u (%s): of %s, what takes %s or more:", round, trace,
				when_duration(whole, choice->whole), when_duration(least, limit));

	put(mark, line, 0, 2);
	for (guint i = 0; i < choice->pieces->len; i++)
		tell_piece(g_ptr_array_index(choice->pieces, i), mark);
	if (!choice->pieces->len)
		put(mark, "Nothing.", 2, 2);
	if (drill_goes_on(choice))
		tell_next(choice, mark);
}

void drill_tell_end(guint rounds, const struct drill_choice *choice, int64_t limit,
		    const char *mark)
{
	g_autoptr(GString) line = g_string_new(NULL);
	guint unknown = 0;
	char least[32];

	for (guint i = 0; i < choice->pieces->len; i++)
		unknown += ((struct drill_piece *) g_ptr_array_index(choice->pieces, i))->end ==
			   PIECE_UNKNOWN;
	when_duration(least, limit);
	if (!choice->pieces->len)
		g_string_append_printf(line,
				       "Nothing took %s or more: there is nothing to drill for.",
				       least);
	else if (drill_goes_on(choice))
		g_string_append_printf(line, "After %u rounds that is all; more could be recorded.",
				       rounds);
	else if (unknown)
		g_string_append_printf(line,
				       "After %u round%s: of %u pieces of %s or more %u cannot be "
				       "explained further.",
				       rounds, rounds == 1 ? "" : "s", choice->pieces->len, least,
				       unknown);
	else
		g_string_append_printf(
			line,
			"After %u round%s each piece of %s or more ends in something "
			"to act on.",
			rounds, rounds == 1 ? "" : "s", least);
	put(mark, line->str, 0, 2);
}
