/* SPDX-License-Identifier: MIT */
/* Writes what reaches a session as an input of fuzz_events, into the file that FUZZ_RECORD
 * names, with a number for each further session:
 *
 *   FUZZ_RECORD=x record_events SKIP COUNT PATTERN TRACE...
 *
 * SKIP events go by; of the following, COUNT whose names fit PATTERN are written. It is a sink
 * before the session's own. Unit tests are seeds as well: linked with this file, whose main() is
 * weak, they record each of their sessions, as the linker puts __wrap_NAME() in the place of
 * NAME():
 *
 *   gcc -o x test_locks.o record_events-record.o libwhylate.a LIBRARIES \
 *      -Wl,--wrap=session_new -Wl,--wrap=session_finish
 */
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "run/finish.h"
#include "run/feed.h"
#include "cli/cli.h"
#include "event_code.h"
#include "util/pattern.h"

struct session *__real_session_new(struct options *options);
bool __real_session_finish(struct session *session, GError **error);
struct session *__wrap_session_new(struct options *options);
bool __wrap_session_finish(struct session *session, GError **error);

static GByteArray *out; /* behind the head */
static long skip, count = 400;
static const char *wanted = "*";
static int64_t last;
static bool any; /* event or packet: `last` is one's time */
static int files;
static struct event_sink inner; /* the session's own functions */

static void record_event(void *data, const struct event *event)
{
	struct session *session = data;
	const char *name = intern_text(session->trace.model.names, event->name);
	bool probe = event->kind == EV_FUNCTION_ENTRY || event->kind == EV_FUNCTION_EXIT;
	g_autofree char *other = probe && !g_str_has_prefix(name, "fn_")
					 ? g_strconcat("fn_", name, NULL)
					 : g_strdup(name);
	struct event_class class = class_named(session, other);

	if (skip-- <= 0 && count > 0 && pattern_match(wanted, name)) {
		count--;
		put_event(out, event, other, &class, &last);
		any = true;
	}
	inner.event(data, event);
}

static void put_where(uint32_t host, uint32_t cpu, int flags)
{
	put_byte(out, (int) MIN(cpu, 6) | (int) (host & 3) << 3 | flags);
}

static void record_begin(void *data, uint32_t host, uint32_t cpu, int64_t time)
{
	put_byte(out, STEP_PACKET);
	put_where(host, cpu, 0);
	put_number(out, time - last);
	if (!any)
		last = time;
	any = true;
	inner.begin(data, host, cpu, time);
}

static void record_lost(void *data, const struct lost_events *lost)
{
	if (!lost->user) {
		put_byte(out, STEP_LOST);
		put_where(lost->host, lost->cpu, lost->packets ? 128 : 0);
		put_number(out, lost->begin - last);
		put_number(out, lost->end - last);
		put_number(out, lost->count);
	}
	inner.lose(data, lost);
}

struct session *__wrap_session_new(struct options *options)
{
	struct session *session = __real_session_new(options);

	if (out)
		g_byte_array_free(out, TRUE);
	out = g_byte_array_new();
	last = 0;
	any = false;
	inner = session->trace.sink;
	session->trace.sink.event = record_event;
	session->trace.sink.begin = record_begin;
	session->trace.sink.lose = record_lost;
	return session;
}

/* What events.c takes first: command, options ("thread=all" or "operation=*"), hosts,
 * version. */
bool __wrap_session_finish(struct session *session, GError **error)
{
	bool profile = session->asked.options->command == &profile_command;
	const uint8_t head[] = {profile ? 0 : 1, 1, profile ? 32 : 6,
				(uint8_t) (128 | (session->trace.model.hosts->len - 1) % 3), 0};
	const char *path = getenv("FUZZ_RECORD");
	g_autofree char *numbered = files ? g_strdup_printf("%s-%d", path, files) : g_strdup(path);
	FILE *file = path ? fopen(numbered, "w") : NULL;

	files++;
	if (file) {
		fwrite(head, 1, sizeof head, file);
		fwrite(out->data, 1, out->len, file);
		fclose(file);
	}
	return __real_session_finish(session, error);
}

__attribute__((weak)) int main(int argc, char **argv)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new(), traces = NULL;
	g_autoptr(GError) error = NULL;
	struct options options;
	struct session *session;

	if (argc < 5)
		return 2;
	skip = atol(argv[1]);
	count = atol(argv[2]);
	wanted = argv[3];
	for (int i = 4; i < argc; i++)
		g_ptr_array_add(paths, argv[i]);
	command_options(&options, &delay_command);
	options.quiet = true;
	session = session_new(&options);
	traces = traces_find(paths, &error);
	if (!traces || !traces_read(session, traces, &error) || !session_finish(session, &error))
		fprintf(stderr, "record_events: %s\n", error->message);
	session_free(session);
	options_clear(&options);
	return 0;
}
