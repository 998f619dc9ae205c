/* SPDX-License-Identifier: MIT */
/* Recording with LTTng: its session, and the daemon that has it; see tracer.h. */
#include "record/tracer.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/leftovers.h"
#include "util/error.h"

#define KALLSYMS "/proc/kallsyms"
#define SAMPLE_US 5 /* that a sample takes, about: two stacks are walked */
#define SAMPLE_BYTES 300 /* … and has, in the trace */

/* Whether the kernel has the trigger's event: LTTng takes any name, and waits for it in vain. A
 * list that does not even have the switches is not one that is understood here. */
static bool has_trigger(const struct recording *recording, GError **error)
{
	const char *const line[] = {"lttng", "list", "--kernel", NULL};
	g_autofree char *said = NULL, *name = NULL;
	g_auto(GStrv) words = NULL;
	bool listed = false;

	if (!recording->trigger || !lttng_run(line, &said, NULL))
		return true;
	name = g_strndup(recording->trigger, strcspn(recording->trigger, " "));
	words = g_strsplit_set(said, " \n", -1);
	for (char **word = words; *word; word++) {
		if (fnmatch(name, *word, 0) == 0)
			return true;
		listed |= strcmp(*word, "sched_switch") == 0;
	}
	if (listed)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "--trigger '%s': the kernel's tracer has no event of that name; 'lttng "
			    "list --kernel' shows those it has",
			    name);
	return !listed;
}

/* A session is called after the process that made it; one that was killed could not end it. */
static void tell_left(void)
{
	g_autoptr(GPtrArray) names = lttng_sessions("", NULL);

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);

		if (left_behind(name))
			fprintf(stderr,
				"whylate: session %s was left behind by a 'whylate record' that "
				"was killed; "
				"'lttng destroy %s' ends it\n",
				name, name);
	}
}

/* What it costs is said before it is paid. */
static void tell_samples(uint32_t rate)
{
	fprintf(stderr,
		"whylate: %u samples a second on each CPU that works: some %.1f %% of its time, "
		"%.0f MB a minute; each switch has a stack too\n",
		rate, rate * SAMPLE_US / 1e4, rate * SAMPLE_BYTES * 60 / 1e6);
}

static bool begin_samples(struct run *run, GError **error)
{
	const struct recording *recording = run->recording;

	if (!recording->samples)
		return true;
	tell_samples(recording->hertz ? recording->hertz : clock_ticks());
	if (recording->hertz && !recording->clock_function)
		fprintf(stderr, "whylate: " KALLSYMS " shows no addresses, so all timers that "
				"expire are samples, not only those of the clock\n");
	run->maps = maps_begin("", recording->output);
	return !recording->hertz || clock_start(&run->clock, recording->hertz, error);
}

static bool run_line(const struct recording *recording, const char *const *line, GError **error)
{
	if (!recording->tries || !lttng_probed(line))
		return lttng_run(line, NULL, error);
	lttng_try(line);
	return true;
}

static bool lttng_begin(struct run *run, GError **error)
{
	g_autoptr(GPtrArray) plan = plan_begin(run->recording);

	if (!lttng_may_record(error))
		return false;
	fprintf(stderr, "whylate: LTTng is being set up, which takes a few seconds …\n");
	if (!lttng_ready(run->recording->session, &run->daemon, error) || run_interrupted(run) ||
	    !has_trigger(run->recording, error) || !run_make_directory(run, error))
		return false;
	tell_left();
	for (guint i = 0; i < plan->len; i++) {
		if (run_interrupted(run) ||
		    !run_line(run->recording, g_ptr_array_index(plan, i), error))
			return false;
		run->made_session = true;
	}
	return begin_samples(run, error) && !run_interrupted(run);
}

/* Session, trigger, daemon. */
static void lttng_undo(struct run *run)
{
	const struct recording *recording = run->recording;
	const char *const trigger[] = {"lttng", "remove-trigger", recording->session, NULL};
	const char *const destroy[] = {"lttng", "destroy", recording->session, NULL};

	clock_stop(&run->clock);
	g_clear_pointer(&run->maps, maps_end);
	if (run->made_session && recording->trigger)
		lttng_run(trigger, NULL, NULL);
	if (run->made_session)
		lttng_run(destroy, NULL, NULL);
	lttng_end_daemon(&run->daemon);
}

static bool lttng_end(struct run *run, GError **error)
{
	g_autoptr(GPtrArray) plan = plan_end(run->recording);
	GError *first = NULL;

	clock_stop(&run->clock);
	for (guint i = 0; i < plan->len; i++) /* each, so that no session is left */
		lttng_run(g_ptr_array_index(plan, i), NULL, first ? NULL : &first);
	run->made_session = false;
	if (first)
		g_propagate_error(error, first);
	return !first;
}

static void lttng_show(const struct recording *recording, bool end)
{
	g_autoptr(GPtrArray) plan = end ? plan_end(recording) : plan_begin(recording);

	for (guint i = 0; i < plan->len; i++) {
		g_autofree char *line = plan_line(g_ptr_array_index(plan, i));

		puts(line);
	}
	if (!end && recording->hertz)
		printf("# whylate itself runs perf's cpu-clock on each CPU, %u times a second\n",
		       recording->hertz);
}

const struct tracer lttng_tracer = {"LTTng", lttng_begin, lttng_end, lttng_undo, lttng_show};
