/* SPDX-License-Identifier: MIT */
/* How often the search for what sets peaks apart claims something where there is nothing:
 *
 *   shuffle_labels TURNS TRACE...
 *
 * The peaks of a trace's profiles are searched with the labels "in the peak" moved to other
 * operations, TURNS times in any order and as often turned in a circle, so that neighbours stay
 * together. A line for each way: how many turns there were, and in how many of them any of the
 * report's searches claimed anything. A third line says how many claim something unshuffled.
 *
 * For tests/shuffled.t. The search is the program's own, and so are its tables: the source is
 * taken in whole, since nothing else has use for the tables.
 */
#include "../../src/traits/peaks_apart.c"

#include <stdio.h>

#include "cli/cli.h"
#include "commands/commands.h"
#include "latencies/roots.h"
#include "run/feed.h"
#include "run/finish.h"
#include "run/session.h"

static GPtrArray *tables_of(struct peaks_apart *apart)
{
	GPtrArray *tables = g_ptr_array_new_with_free_func((GDestroyNotify) search_table_free);

	for (guint i = 0; i < apart->sampled->len; i++) {
		const struct sampled *sampled = g_ptr_array_index(apart->sampled, i);

		for (guint p = 0; p < sampled->peaks; p++)
			if (is_asked(sampled, p))
				g_ptr_array_add(tables, table_of(sampled, p));
	}
	return tables;
}

static bool claims(const struct search_table *table, guint groups)
{
	struct search_answer answer = search(table, groups);
	bool any = answer.traits->len > 0;

	g_array_free(answer.traits, TRUE);
	return any;
}

/* What was slow, and how long it took, is another row's. `order`: of the rows. */
static void relabel(struct search_table *table, const guint *order)
{
	g_autofree bool *slow = g_new(bool, table->rows);
	g_autofree int64_t *ns = g_new(int64_t, table->rows);

	for (guint i = 0; i < table->rows; i++) {
		slow[i] = table->slow[order[i]];
		ns[i] = table->ns[order[i]];
	}
	memcpy(table->slow, slow, table->rows * sizeof *slow);
	memcpy(table->ns, ns, table->rows * sizeof *ns);
}

static void shuffle_any(struct search_table *table, GRand *random)
{
	g_autofree guint *order = g_new(guint, table->rows + 1);

	for (guint i = 0; i < table->rows; i++) {
		guint at = (guint) g_rand_int_range(random, 0, (gint32) i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	relabel(table, order);
}

/* By a tenth of all at least: what is next to each other is alike. */
static void turn_circle(struct search_table *table, GRand *random)
{
	g_autofree guint *order = g_new(guint, table->rows + 1);
	guint tenth = table->rows / 10,
	      by = tenth + (guint) g_rand_int_range(random, 0, (gint32) (table->rows - 2 * tenth));

	for (guint i = 0; i < table->rows; i++)
		order[i] = (i + by) % table->rows;
	relabel(table, order);
}

static void shuffle_all(const GPtrArray *tables, guint turns, const char *name,
			void (*shuffle)(struct search_table *, GRand *))
{
	g_autoptr(GRand) random = g_rand_new_with_seed(20);
	guint claimed = 0;

	for (guint turn = 0; turn < turns; turn++) {
		bool any = false;

		for (guint i = 0; i < tables->len; i++) {
			struct search_table *table = g_ptr_array_index(tables, i);

			if (table->rows < 10)
				continue;
			shuffle(table, random);
			any |= claims(table, tables->len);
		}
		claimed += any;
	}
	printf("%s: %u of %u\n", name, claimed, turns);
}

static void shuffle_trace(struct session *session, guint turns)
{
	g_autoptr(GError) error = NULL;
	struct profiles *profiles = profiles_new(session, 1, &error);
	struct peaks_apart *apart;
	GPtrArray *tables;
	guint found = 0;

	g_assert_no_error(error);
	roots_search(profiles);
	apart = peaks_apart_new(profiles);
	tables = tables_of(apart);
	for (guint i = 0; i < tables->len; i++)
		found += claims(g_ptr_array_index(tables, i), tables->len);
	printf("unshuffled: %u of %u searches\n", found, tables->len);
	shuffle_all(tables, turns, "any order", shuffle_any);
	shuffle_all(tables, turns, "circle", turn_circle);
	g_ptr_array_unref(tables);
	peaks_apart_free(apart);
	profiles_free(profiles);
}

int main(int argc, char **argv)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) traces = NULL;
	struct options options;
	struct session *session;

	if (argc < 3)
		return 2;
	for (int i = 2; i < argc; i++)
		g_ptr_array_add(paths, argv[i]);
	command_options(&options, &profile_command);
	options.quiet = true;
	session = session_new(&options);
	traces = traces_find(paths, &error);
	if (!traces || !traces_read(session, traces, &error) || !session_finish(session, &error))
		fprintf(stderr, "shuffle_labels: %s\n", error->message);
	else
		shuffle_trace(session, (guint) g_ascii_strtoull(argv[1], NULL, 10));
	session_free(session);
	options_clear(&options);
	return error != NULL;
}
