/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any sequence of events into the core, every report out of it.
 *
 *   input: what the trace is · options · events, lost ones, packets, loops
 *
 * What the fuzzer may not do is what a reader never does: name a host that was not
 * added, or a filter that nobody asked for. Everything else, in any order, must leave
 * a session that keeps its invariants (tests/unit/invariants.h) and reports that are
 * well formed (reports.h).
 */
#include "commands/commands.h"
#include "run/finish.h"
#include "run/feed.h"
#include "flow/forget.h"
#include "event_code.h"
#include "reports.h"
#include "show.h"
#include "target.h"

#include "../unit/call_invariants.h"
#include "../unit/invariants.h"
#include "../unit/walk_invariants.h"

#define EVENTS_MAX 3000 /* with loops */
#define SPAN_MAX (INT64_C(1) << 49) /* ns */
#define FIRST_MAX (INT64_C(1) << 61)
#define LOOPS 3         /* in each other */

/* Options by number, with '%' standing for a number of the input. */
static const char *const settings[] = {
	"limit=0",
	"limit=%",
	"depth=%",
	"min-duration=%ns",
	"verbose=yes",
	"utc=yes",
	"thread=all",
	"thread=%",
	"thread=a",
	"thread=k*",
	"process=%",
	"process=a",
	"host=h0",
	"container=%",
	"container=402653183%",
	"container=a",
	"clock-offset=%ns",
	"clock-offset=h1=-%ns",
	"from=+%ns",
	"from=-%ns",
	"from=%ns",
	"to=+%ns",
	"to=-%ns",
	"to=%ns",
	"last=%ns",
	"from=sched_switch",
	"to=sched_wakeup nth=last",
	"from=syscall_* nth=%",
	"target=sched_process_exec filename=*",
	"target=syscall_exit_read nth=%",
	"target=sched_waking tid=%",
	"target=other nth=last",
	"operation=*",
	"operation=syscall:re*",
	"operation=irq:*",
	"operation=function:*",
	"operation=wait-cpu",
	"resource=*",
	"resource=file:*",
	"per=thread",
	"per=process",
	"per=resource",
	"per=cpu",
	"resolution=%",
	"peak=%",
	"maxcount-percentage=%",
	"min-operations=%",
	"time-lapse=%ns",
	"thread=0",
	"color=always"};

static const struct {
	const char *kernel;
	int major, minor;
} versions[] = {{"6.1.0", 2, 13},  {"3.2.0", 2, 0}, {"4.4.0-21", 2, 7}, {"4.14.1", 2, 10},
		{"5.10.0", 2, 12}, {"6.12", 2, 15}, {NULL, 0, 0},       {"x", -1, 99}};

struct trial {
	struct bytes bytes;
	struct options options;
	struct session *session;
	const struct event_sink *sink; /* the session's; its data are the session */
	uint32_t hosts;
	int64_t time, first;
	int events;
	unsigned filters; /* bits of `matches` that may be set */
	bool show;
};

/* "name=value" with numbers put in, as far as the command takes it. */
static void set_option(struct trial *trial, const char *setting)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char *value;

	for (; *setting; setting++)
		if (*setting == '%')
			g_string_append_printf(text, "%" G_GINT64_FORMAT,
					       take_number(&trial->bytes));
		else
			g_string_append_c(text, *setting);
	value = strchr(text->str, '=');
	*value++ = 0;
	options_set(&trial->options, text->str, value, NULL);
	if (trial->show)
		fprintf(stderr, "--%s '%s'\n", text->str, value);
}

static void add_hosts(struct trial *trial)
{
	uint8_t hosts = take_byte(&trial->bytes), version = take_byte(&trial->bytes);

	trial->hosts = 1 + hosts % 3;
	for (uint32_t i = 0; i < trial->hosts; i++) {
		char name[8] = {'h', (char) ('0' + i), 0};
		struct host_info info = {
			.hostname = hosts & 64 ? NULL : name,
			.clock_uuid = name,
			.kernel_release = versions[version % G_N_ELEMENTS(versions)].kernel,
			.tracer_major = versions[version % G_N_ELEMENTS(versions)].major,
			.tracer_minor = versions[version % G_N_ELEMENTS(versions)].minor,
			.has_clock_offset = hosts & 128,
			.abi = (enum syscall_abi)(version >> 6) % 3};

		trial->sink->add_host(trial->session, &info);
	}
}

static void start(struct trial *trial, const uint8_t *data, size_t size)
{
	static const struct command *const asked[] = {&profile_command, &delay_command,
						      &overview_command, &functions_command};
	int options;

	memset(trial, 0, sizeof *trial);
	trial->show = getenv("FUZZ_SHOW") != NULL;
	bytes_init(&trial->bytes, data, size);
	command_options(&trial->options, asked[take_byte(&trial->bytes) % G_N_ELEMENTS(asked)]);
	for (options = take_byte(&trial->bytes) % 9; options > 0; options--)
		set_option(trial, settings[take_byte(&trial->bytes) % G_N_ELEMENTS(settings)]);
	trial->options.profile.resolution %= 17;
	trial->session = session_new(&trial->options);
	trial->sink = &trial->session->trace.sink;
	trial->session->trace.flow.exchanges_wanted = true;
	add_hosts(trial);
	for (int i = 0; i < MATCH_COUNT; i++) {
		if (!trial->session->asked.matches[i].filter)
			continue;
		trial->filters |= 1u << i;
		trial->sink->fields(trial->session, (unsigned) i, take_byte(&trial->bytes),
				    "a, cpu");
	}
}

/* Events may be anywhere in a time of 13 days: a reader sees to that. */
static void keep_time(struct trial *trial)
{
	if (!trial->session->trace.events)
		trial->first = CLAMP(trial->time, -FIRST_MAX, FIRST_MAX);
	trial->time = CLAMP(trial->time, trial->first - SPAN_MAX, trial->first + SPAN_MAX);
}

static void step(struct trial *trial, uint8_t number, int loops);

/* The following bytes several times over; numbers may depend on which time it is. */
static void loop(struct trial *trial, int loops)
{
	int64_t rounds = take_number(&trial->bytes) & 4095, outer = trial->bytes.round;
	size_t length = take_byte(&trial->bytes) + 1u;
	const uint8_t *from = trial->bytes.at, *end = trial->bytes.end;

	if (loops == LOOPS)
		return;
	trial->bytes.end = from + MIN(length, (size_t) (end - from));
	for (int64_t i = 0; i < rounds && trial->events < EVENTS_MAX; i++) {
		trial->bytes.at = from;
		trial->bytes.round = i;
		while (trial->bytes.at < trial->bytes.end)
			step(trial, take_byte(&trial->bytes), loops + 1);
	}
	trial->bytes.at = trial->bytes.end;
	trial->bytes.end = end;
	trial->bytes.round = outer;
}

static void event(struct trial *trial, const char *name)
{
	struct event_class class = class_named(trial->session, name);
	struct event event = take_event(&trial->bytes, &class, trial->hosts, &trial->time);

	keep_time(trial);
	event.time = trial->time;
	event.matches &= trial->filters;
	if (trial->show)
		show_event(name, &class, &event);
	trial->sink->event(trial->session, &event);
	g_ptr_array_set_size(trial->bytes.owned, 0);
}

/* A time beside the events', `number` away from the last one. */
static int64_t time_at(const struct trial *trial, int64_t number)
{
	int64_t time = (int64_t) ((uint64_t) trial->time + (uint64_t) number);

	if (!trial->session->trace.events)
		return CLAMP(time, -FIRST_MAX, FIRST_MAX);
	return CLAMP(time, trial->first - SPAN_MAX, trial->first + SPAN_MAX);
}

static void lose(struct trial *trial)
{
	uint8_t where = take_byte(&trial->bytes);
	int64_t begin = time_at(trial, take_number(&trial->bytes));
	int64_t end = time_at(trial, take_number(&trial->bytes));
	int64_t count = take_number(&trial->bytes);
	struct lost_events lost;

	if (trial->show)
		fprintf(stderr, "%" PRId64 " CPU %d lost events to %" PRId64 "\n", begin, where & 7,
			end);
	lost = (struct lost_events) {.host = (where >> 3 & 3) % trial->hosts,
				     .cpu = where & 7,
				     .begin = begin,
				     .end = end,
				     .count = CLAMP(count, -1, SPAN_MAX),
				     .packets = where & 128};
	trial->sink->lose(trial->session, &lost);
}

static void packet(struct trial *trial)
{
	uint8_t where = take_byte(&trial->bytes);
	int64_t begin = time_at(trial, take_number(&trial->bytes));

	if (!trial->session->trace.events)
		trial->time = begin;
	trial->sink->begin(trial->session, (where >> 3 & 3) % trial->hosts, where & 7, begin);
}

/* What is over is forgotten, as --every does; the reports are of the time since. */
static void forget(struct trial *trial)
{
	int64_t before = time_at(trial, take_number(&trial->bytes));

	if (!trial->session->trace.events)
		return;
	flow_forget(&trial->session->trace.flow, before);
	if (trial->options.from.kind == WHEN_ABSOLUTE)
		before = MAX(before, trial->options.from.ns);
	trial->options.from = (struct when) {.kind = WHEN_ABSOLUTE, .ns = before};
}

static void step(struct trial *trial, uint8_t number, int loops)
{
	if (++trial->events > EVENTS_MAX)
		trial->bytes.at = trial->bytes.end;
	else if (number < G_N_ELEMENTS(event_names))
		event(trial, event_names[number]);
	else if (number == STEP_LOST)
		lose(trial);
	else if (number == STEP_LOOP)
		loop(trial, loops);
	else if (number == STEP_NAMED)
		event(trial, take_text(&trial->bytes) ?: "x");
	else if (number == STEP_DAMAGE)
		trial->sink->damage(trial->session, "f", take_byte(&trial->bytes), 300,
				    take_text(&trial->bytes));
	else if (number == STEP_STOPPED)
		trial->sink->stop(trial->session, take_text(&trial->bytes));
	else if (number == STEP_PACKET)
		packet(trial);
	else if (number == STEP_FORGET)
		forget(trial);
}

static void look(struct trial *trial)
{
	g_autoptr(GError) error = NULL;
	struct options asked;

	if (!trial->session->trace.events)
		return;
	if (!session_finish(trial->session, &error)) {
		bool moment = trial->session->trace.begin == trial->session->trace.end;

		g_assert(error->code == WHYLATE_ERROR_USAGE ||
			 (moment && error->code == WHYLATE_ERROR_NO_TRACE));
		return;
	}
	asked = trial->options; /* what is left out does not add up */
	trial->options.limit = trial->options.depth = 0;
	trial->options.min_duration = 0;
	check_threads(trial->session);
	check_locks(trial->session);
	check_profiles(trial->session);
	check_calls(trial->session);
	check_walk(trial->session, trial->events % 8 == 1);
	trial->options = asked;
	check_reports(trial->session, trial->events % 8 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trial trial;

	start(&trial, data, size);
	while (trial.bytes.at < trial.bytes.end)
		step(&trial, take_byte(&trial.bytes), 0);
	look(&trial);
	session_free(trial.session);
	options_clear(&trial.options);
	bytes_clear(&trial.bytes);
	return 0;
}
