/* SPDX-License-Identifier: MIT */
/* The course of a drill; see drill.h. */
#include "drill/drill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drill/analysis.h"
#include "drill/choose.h"
#include "drill/probes.h"
#include "drill/told.h"
#include "record/folder.h"
#include "record/lttng.h"
#include "util/error.h"

#define ROUNDS_MAX 10
#define SYSTEM_ROUND (INT64_C(10) * 1000000000) /* ns, unless --duration says else */
#define LOOK (INT64_C(100) * 1000000)           /* between two looks for the last snapshot */

struct drill {
	struct recording *recording; /* borrowed; what the next round records */
	const struct drilling *asked;
	const char *self;
	char *place;  /* owned; the directory of rounds */
	bool made;    /* … by us */
	struct probes probes;
	struct drill_known known;
	struct drill_choice *choice; /* owned; of the last round; NULL: none yet */
	char *last;   /* owned; its recording */
	struct analysed of; /* … and what of it */
	guint rounds; /* that were analysed */
	bool watches; /* a flight recorder's snapshots */
};

static void drill_init(struct drill *drill, struct recording *recording,
		       const struct drilling *asked, const char *self, const char *kallsyms)
{
	g_autofree char *library = probes_library();

	*drill = (struct drill) {.recording = recording, .asked = asked, .self = self};
	drill->place = g_strdup(recording->output);
	probes_init(&drill->probes, "", kallsyms);
	drill->probes.runs_program = recording->program && library;
	drill_known_init(&drill->known);
	drill->known.can_probe = probes_can;
	drill->known.has_calls = probes_has_calls;
	drill->known.data = &drill->probes;
	recording->samples = true;
	recording->tries = true;
	if (!recording->program && !recording->snapshot && !recording->duration)
		recording->duration = SYSTEM_ROUND;
}

static void drill_clear(struct drill *drill)
{
	if (drill->choice)
		drill_choice_free(drill->choice);
	drill_known_clear(&drill->known);
	probes_clear(&drill->probes);
	g_free(drill->place);
	g_free(drill->last);
}

/* --- one round's analysis ------------------------------------------------------------------- */

static void drop_from(GPtrArray *list, const char *end)
{
	for (guint i = list->len; i-- > 0;) {
		const char *entry = g_ptr_array_index(list, i);
		const char *colon = strrchr(entry, ':');

		if (strcmp(colon ? colon + 1 : entry, end) == 0)
			g_ptr_array_remove_index(list, i);
	}
}

static void drop(struct recording *recording, const char *function)
{
	drop_from(recording->functions, function);
	drop_from(recording->entries, function);
}

/* What is recorded next besides; it counts as tried, also where the kernel then refuses it. */
static void take_choice(struct drill *drill)
{
	struct recording *recording = drill->recording;
	const struct drill_choice *choice = drill->choice;

	for (guint i = 0; i < choice->kernel->len; i++)
		g_ptr_array_add(recording->functions,
				g_strdup(g_ptr_array_index(choice->kernel, i)));
	for (guint i = 0; i < choice->user->len; i++) {
		const struct user_place *place = g_ptr_array_index(choice->user, i);

		g_ptr_array_add(recording->entries,
				g_strconcat(place->binary, ":", place->symbol, NULL));
	}
	for (guint i = 0; i < choice->dropped->len; i++)
		drop(recording, g_ptr_array_index(choice->dropped, i));
	if (choice->calls && !recording->hooks)
		recording->hooks = probes_library();
	drill_tried(&drill->known, choice);
}

/* By the name that `record` keeps beside a trace. */
static bool is_from_here(const char *trace)
{
	g_autofree char *path = g_build_filename(trace, "hostname", NULL);
	g_autofree char *there = NULL, *here = NULL;

	return g_file_get_contents(path, &there, NULL, NULL) &&
	       g_file_get_contents("/proc/sys/kernel/hostname", &here, NULL, NULL) &&
	       strcmp(there, here) == 0;
}

/* Of the recording in `trace`: what it explains, and what is to be recorded next. */
static bool analyse(struct drill *drill, const char *trace, const struct record_end *recorded,
		    GError **error)
{
	struct analysed of = {
		.self = drill->self,
		.trace = trace,
		.program = drill->recording->program ? drill->recording->program[0] : NULL,
		.tid = recorded ? recorded->program : 0,
		.ended = !recorded || recorded->ended,
		.snapshot = drill->recording->snapshot,
		.here = recorded || drill->watches || is_from_here(trace)};
	json_t *path = of.program ? analysis_path(&of, error) : NULL;
	json_t *functions = of.program && !path
				    ? NULL
				    : analysis_functions(&of, path, drill->asked->limit, error);

	if (functions) {
		if (drill->choice)
			drill_choice_free(drill->choice);
		drill->choice = drill_choose(path, functions, &drill->known, drill->asked->limit);
		g_free(drill->last);
		drill->last = g_strdup(trace);
		drill->of = of;
		drill->of.trace = drill->last;
		drill->rounds++;
	}
	json_decref(path);
	json_decref(functions);
	return functions != NULL;
}

/* --- recordings that are there -------------------------------------------------------------- */

/* Those of `after`, in their order: its rounds, or itself. */
static GPtrArray *earlier(const char *after)
{
	GPtrArray *rounds = g_ptr_array_new_with_free_func(g_free);

	for (guint round = 1;; round++) {
		g_autofree char *name = g_strdup_printf("round-%u", round);
		char *path = g_build_filename(after, name, NULL);

		if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
			g_free(path);
			break;
		}
		g_ptr_array_add(rounds, path);
	}
	if (!rounds->len)
		g_ptr_array_add(rounds, g_strdup(after));
	return rounds;
}

/* Begins where they ended: what they chose is recorded in the first round. */
static bool take_earlier(struct drill *drill, const char *mark, bool shows, GError **error)
{
	g_autoptr(GPtrArray) rounds = earlier(drill->asked->after);

	for (guint i = 0; i < rounds->len; i++) {
		if (!analyse(drill, g_ptr_array_index(rounds, i), NULL, error))
			return false;
		drill_tell_round(drill->rounds, drill->last, drill->choice, drill->asked->limit,
				 mark);
		take_choice(drill);
		if (shows && drill_goes_on(drill->choice)) {
			g_free(drill->recording->output);
			drill->recording->output =
				g_strdup_printf("%s/round-%u", drill->place, drill->rounds + 1);
			record_show(drill->recording);
		}
		if (!drill_goes_on(drill->choice))
			break;
	}
	return true;
}

/* The traced kernel's symbols, beside the recording or its first round; NULL. */
static char *kallsyms_of(const char *after)
{
	g_autofree char *beside = after ? g_build_filename(after, "kallsyms", NULL) : NULL;
	g_autofree char *below =
		after ? g_build_filename(after, "round-1", "kallsyms", NULL) : NULL;

	if (beside && g_file_test(beside, G_FILE_TEST_EXISTS))
		return g_steal_pointer(&beside);
	return below && g_file_test(below, G_FILE_TEST_EXISTS) ? g_steal_pointer(&below) : NULL;
}

bool drill_show(struct recording *recording, const struct drilling *asked, const char *self,
		GError **error)
{
	g_autofree char *beside = kallsyms_of(asked->after);
	struct drill drill;
	bool shown = true;

	drill_init(&drill, recording, asked, self, beside);
	g_free(recording->output);
	recording->output = g_build_filename(drill.place, "round-1", NULL);
	puts("# round 1");
	record_show(recording);
	if (asked->after) {
		shown = take_earlier(&drill, "# ", true, error);
		if (shown && !drill_goes_on(drill.choice))
			drill_tell_end(drill.rounds, drill.choice, asked->limit, "# ");
	} else {
		puts("# What later rounds record besides depends on it.");
	}
	drill_clear(&drill);
	return shown;
}

/* --- rounds ------------------------------------------------------------------------------- */

static bool make_place(struct drill *drill, GError **error)
{
	GDir *dir = g_dir_open(drill->place, 0, NULL);
	bool empty = !dir || !g_dir_read_name(dir);

	drill->made = !dir;
	if (dir)
		g_dir_close(dir);
	if (empty)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
		    "%s is not empty; name another one with --output", drill->place);
	return false;
}

/* Until the next round is due; false: somebody sent a signal. */
static bool wait_for_turn(const struct drill *drill, gint64 began, int *signal)
{
	gint64 left = began * 1000 + drill->asked->every - g_get_monotonic_time() * 1000;

	*signal = record_interrupted(drill->asked->every ? MAX(left, 0) : 0);
	return *signal == 0;
}

/* Of a service that is not slow all the time: nothing was to be seen in this one. */
static bool is_quiet(const struct drill *drill)
{
	return drill->asked->every && !drill->recording->program && !drill->choice->pieces->len;
}

/* Rounds, each a recording of its own; false and `error`, or `recorded->signal`. */
static bool drill_rounds(struct drill *drill, struct record_end *recorded, GError **error)
{
	guint first = drill->rounds;

	while (drill->rounds < first + ROUNDS_MAX) {
		gint64 began = g_get_monotonic_time();

		g_free(drill->recording->output);
		drill->recording->output =
			g_strdup_printf("%s/round-%u", drill->place, drill->rounds - first + 1);
		if (!record_once(drill->recording, recorded, error))
			return recorded->signal && drill->choice;
		if (!analyse(drill, drill->recording->output, recorded, error))
			return false;
		if (is_quiet(drill)) {
			drill->rounds--;
			folder_remove(drill->recording->output);
			if (recorded->signal || !wait_for_turn(drill, began, &recorded->signal))
				return true;
			continue;
		}
		drill_tell_round(drill->rounds, drill->last, drill->choice, drill->asked->limit,
				 "");
		fflush(stdout);
		if (recorded->signal || !drill_goes_on(drill->choice))
			return true;
		take_choice(drill);
		if (!wait_for_turn(drill, began, &recorded->signal))
			return true;
	}
	return true;
}

/* --- a flight recorder ----------------------------------------------------------------------- */

struct watching {
	struct drill *drill;
	GHashTable *seen; /* owned; names of snapshots */
	char *growing; /* owned; the newest one; NULL: none */
	goffset size; /* … as it was when it was last looked at */
};

static goffset size_below(const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	goffset size = 0;
	const char *name;
	struct stat status;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		if (lstat(path, &status) == 0)
			size += S_ISDIR(status.st_mode) ? size_below(path) + 1 : status.st_size + 1;
	}
	if (dir)
		g_dir_close(dir);
	return size;
}

/* A snapshot that is being written is not looked at yet. */
static char *fresh_snapshot(struct watching *watching)
{
	GDir *dir = g_dir_open(watching->drill->place, 0, NULL);
	char *found = NULL;
	const char *name;

	while (dir && !found && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(watching->drill->place, name, NULL);
		goffset size;

		if (!strstr(name, "snapshot-") || g_hash_table_contains(watching->seen, name))
			continue;
		size = size_below(path);
		if (g_strcmp0(watching->growing, name) == 0 && size == watching->size) {
			g_hash_table_add(watching->seen, g_strdup(name));
			found = g_steal_pointer(&path);
		}
		g_free(watching->growing);
		watching->growing = g_strdup(name);
		watching->size = size;
	}
	if (dir)
		g_dir_close(dir);
	return found;
}

/* From here on the session has these too. */
static void add_to_session(struct drill *drill)
{
	struct recording fresh = *drill->recording;
	g_autoptr(GPtrArray) plan = NULL;

	fresh.functions = g_ptr_array_new();
	fresh.entries = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < drill->choice->kernel->len; i++)
		g_ptr_array_add(fresh.functions, g_ptr_array_index(drill->choice->kernel, i));
	for (guint i = 0; i < drill->choice->user->len; i++) {
		const struct user_place *place = g_ptr_array_index(drill->choice->user, i);

		g_ptr_array_add(fresh.entries,
				g_strconcat(place->binary, ":", place->symbol, NULL));
	}
	plan = plan_probes(&fresh);
	for (guint i = 0; i < plan->len; i++)
		lttng_try(g_ptr_array_index(plan, i));
	g_ptr_array_unref(fresh.functions);
	g_ptr_array_unref(fresh.entries);
	drill_tried(&drill->known, drill->choice);
}

static void analyse_snapshot(struct drill *drill, const char *path, bool records)
{
	g_autoptr(GError) error = NULL;

	if (!analyse(drill, path, NULL, &error)) {
		fprintf(stderr, "whylate: %s\n", error->message);
		return;
	}
	drill_tell_round(drill->rounds, drill->last, drill->choice, drill->asked->limit, "");
	fflush(stdout);
	if (records && drill_goes_on(drill->choice))
		add_to_session(drill);
}

static void look(void *data)
{
	struct watching *watching = data;
	g_autofree char *path = fresh_snapshot(watching);

	if (path)
		analyse_snapshot(watching->drill, path, true);
}

/* The last snapshot is the one that its end writes. */
static bool drill_recorder(struct drill *drill, struct record_end *recorded, GError **error)
{
	struct watching watching = {drill,
				    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
				    NULL, 0};
	g_autofree char *path = NULL;
	bool done;

	drill->watches = true;
	drill->recording->look = look;
	drill->recording->look_data = &watching;
	done = record_once(drill->recording, recorded, error);
	while (done && !path && record_interrupted(LOOK) == 0)
		path = fresh_snapshot(&watching);
	if (path)
		analyse_snapshot(drill, path, false);
	g_hash_table_destroy(watching.seen);
	g_free(watching.growing);
	recorded->signal = 0; /* so it is ended */
	return done;
}

/* --- all ---------------------------------------------------------------------------------- */

static void conclude(struct drill *drill, const struct record_end *recorded)
{
	if (!drill->choice) {
		fprintf(stderr, "whylate: nothing was recorded that could be analysed\n");
		return;
	}
	drill_tell_end(drill->rounds, drill->choice, drill->asked->limit, "");
	if (recorded->signal) /* who has no patience wants no report */
		fprintf(stderr, "whylate: interrupted after round %u; the rounds are in %s\n",
			drill->rounds, drill->place);
	else if (drill->choice->pieces->len)
		printf("\n");
	fflush(stdout);
	if (!recorded->signal && drill->choice->pieces->len)
		analysis_tell(&drill->of);
}

int drill_run(struct recording *recording, const struct drilling *asked, const char *self,
	      GError **error)
{
	struct record_end recorded = {0};
	struct drill drill;
	bool done = false;

	drill_init(&drill, recording, asked, self, NULL);
	record_take_signals();
	if (make_place(&drill, error) &&
	    (!asked->after || take_earlier(&drill, "", false, error))) {
		if (asked->after && !drill_goes_on(drill.choice))
			done = true;
		else if (recording->snapshot && !recording->program)
			done = drill_recorder(&drill, &recorded, error);
		else
			done = drill_rounds(&drill, &recorded, error);
	}
	if (!done && drill.made)
		rmdir(drill.place); /* if there is nothing in it */
	record_leave_signals();
	if (done)
		conclude(&drill, &recorded);
	drill_clear(&drill);
	if (recorded.signal)
		raise(recorded.signal);
	return done ? recorded.status : -1;
}
