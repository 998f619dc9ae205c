/* SPDX-License-Identifier: MIT */
/* The plugin "whylate": one sink component class per command, with the
 * command's options as parameters.
 *
 *   babeltrace2 TRACE --component=sink.whylate.delay \
 *       --params='target="sched_process_exec filename=x",format="json"'
 *
 * The report is written when the graph has ended, or from what was read when
 * it ended early (finalization), and says so.
 */
#include <babeltrace2/babeltrace.h>
#include <string.h>

#include "config.h"
#include "commands/commands.h"
#include "run/feed.h"
#include "run/session.h"
#include "messages.h"
#include "commands/periodic.h"
#include "limits/judge.h"
#include "limits/limits_report.h"
#include "report/report.h"
#include "util/error.h"

struct sink {
	struct options options;
	struct session *session;       /* owned */
	struct relay *relay;           /* owned; NULL: none */
	struct messages *messages;     /* owned */
	bt_message_iterator *iterator; /* owned */
	bool reported;
};

static void append_cause(bt_self_component_sink *self, GError *error)
{
	g_autofree char *safe = text_safe(error->message); /* it may have names from the trace */

	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
		bt_self_component_sink_as_self_component(self), "%s", safe);
	g_error_free(error);
}

/* A parameter's value as the text an option takes. NULL for other types. */
static char *value_text(const bt_value *value)
{
	switch (bt_value_get_type(value)) {
	case BT_VALUE_TYPE_STRING:
		return g_strdup(bt_value_string_get(value));
	case BT_VALUE_TYPE_BOOL:
		return g_strdup(bt_value_bool_get(value) ? "yes" : "no");
	case BT_VALUE_TYPE_SIGNED_INTEGER:
		return g_strdup_printf("%" G_GINT64_FORMAT,
				       (gint64) bt_value_integer_signed_get(value));
	case BT_VALUE_TYPE_UNSIGNED_INTEGER:
		return g_strdup_printf("%" G_GUINT64_FORMAT,
				       (guint64) bt_value_integer_unsigned_get(value));
	case BT_VALUE_TYPE_REAL: {
		char text[G_ASCII_DTOSTR_BUF_SIZE];

		return g_strdup(g_ascii_dtostr(text, sizeof text, bt_value_real_get(value)));
	}
	default:
		return NULL;
	}
}

struct setting {
	struct options *options;
	GError *error;
};

static bool set_value(struct setting *setting, const char *key, const bt_value *value)
{
	g_autofree char *text = value_text(value);

	if (!text) {
		g_set_error(&setting->error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "parameter '%s' must be a string, a number or yes/no", key);
		return false;
	}
	return options_set(setting->options, key, text, &setting->error);
}

static bt_value_map_foreach_entry_const_func_status
set_parameter(const char *key, const bt_value *value, void *data)
{
	struct setting *setting = data;
	const struct command *command = setting->options->command;
	const struct option *option = command_option(command, key);
	bool ok = true;

	if (!option || option->terminal) {
		g_set_error(&setting->error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "sink.whylate.%s has no parameter '%s' (see "
			    "babeltrace2-sink.whylate.%s(7))",
			    command->name, key, command->name);
		ok = false;
	} else if (option->repeatable && bt_value_is_array(value)) {
		for (uint64_t i = 0; i < bt_value_array_get_length(value) && ok; i++)
			ok = set_value(setting, key,
				       bt_value_array_borrow_element_by_index_const(value, i));
	} else {
		ok = set_value(setting, key, value);
	}
	return ok ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK
		  : BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
}

static void sink_free(struct sink *sink)
{
	if (sink->iterator)
		bt_message_iterator_put_ref(sink->iterator);
	messages_free(sink->messages);
	relay_free(sink->relay);
	if (sink->session)
		periodic_end(sink->session);
	session_free(sink->session);
	options_clear(&sink->options);
	g_free(sink);
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self, const struct command *command, const bt_value *params)
{
	struct sink *sink = g_new0(struct sink, 1);
	struct setting setting = {&sink->options, NULL};

	command_options(&sink->options, command);
	sink->options.no_pager = true; /* the terminal is the program's */
	bt_value_map_foreach_entry_const(params, set_parameter, &setting);
	if (!setting.error)
		options_check(&sink->options, &setting.error);
	if (setting.error) {
		sink_free(sink);
		append_cause(self, setting.error);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (bt_self_component_sink_add_input_port(self, "in", NULL, NULL) !=
	    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		sink_free(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	sink->session = session_new(&sink->options);
	sink->relay = session_relay(sink->session);
	sink->messages =
		messages_new(sink->relay ? relay_sink(sink->relay) : &sink->session->trace.sink);
	if (!periodic_begin(sink->session, &setting.error)) {
		sink_free(sink);
		append_cause(self, setting.error);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), sink);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static struct sink *sink_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static bt_component_class_sink_graph_is_configured_method_status
graph_is_configured(bt_self_component_sink *self)
{
	struct sink *sink = sink_of(self);

	if (bt_message_iterator_create_from_sink_component(
		    self, bt_self_component_sink_borrow_input_port_by_name(self, "in"),
		    &sink->iterator) != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	messages_order(sink->messages,
		       bt_port_input_as_port_const(bt_self_component_port_input_as_port_input(
			       bt_self_component_sink_borrow_input_port_by_name(self, "in"))));
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static bool is_interrupted(void *self)
{
	return bt_self_component_sink_is_interrupted(self);
}

/* False without an error: the user has interrupted Babeltrace, and wants no report. */
static bool report(struct sink *sink, const bt_self_component_sink *self, GError **error)
{
	sink->reported = true;
	messages_end(sink->messages);
	relay_wait(sink->relay);
	if (!messages_kernel_streams(sink->messages)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "there is no LTTng kernel trace among the traces");
		return false;
	}
	/* a live trace ends by a signal only: that is when its report is wanted */
	if (!sink->session->asked.stretches.live) {
		sink->session->asked.interrupted = is_interrupted;
		sink->session->asked.interrupted_data = (void *) self;
		if (is_interrupted((void *) self))
			return false;
	}
	return report_end(sink->session, error);
}

/* A limit is exceeded, or could not be judged: the run fails, with its report written. */
static GError *limit_trouble(const struct session *session)
{
	const GPtrArray *judged = session->found.judged;
	int status = judgements_status(judged);

	for (guint i = 0; status && i < judged->len; i++) {
		const struct judgement *at = g_ptr_array_index(judged, i);
		g_autofree char *text = NULL;

		if (at->outcome != (status == 1 ? OUTCOME_EXCEEDED : OUTCOME_NOT_JUDGED))
			continue;
		text = judgement_text(at);
		return g_error_new(WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE, "limit %s: %s",
				   status == 1 ? "exceeded" : "not judged", text);
	}
	return NULL;
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct sink *sink = sink_of(self);
	bt_message_array_const batch;
	uint64_t count;
	GError *error = NULL;

	switch (bt_message_iterator_next(sink->iterator, &batch, &count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		if (!messages_take(sink->messages, batch, count, &error))
			break;
		if (!sink->session->asked.stretches.done)
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
		/* --to is over: the graph can end, a live trace does not */
		/* fall through */
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		if (report(sink, self, &error)) {
			error = limit_trouble(sink->session);
			if (!error)
				return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
			fflush(stdout);
			break;
		}
		if (!error) /* the graph sees by itself that it is interrupted */
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	default:
		relay_wait(sink->relay);
		sink->session->trace.sink.stop(sink->session, "Babeltrace could not read on");
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
	append_cause(self, error);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

/* Reading failed after events had come, or a live trace was left (a signal, as it does
 * not end by itself): what they tell is still told. */
static void finalize(bt_self_component_sink *self)
{
	struct sink *sink = sink_of(self);
	GError *error = NULL;

	relay_wait(sink->relay);
	if (!sink->reported &&
	    (sink->session->trace.stopped || sink->session->asked.stretches.live) &&
	    session_has_events(sink->session) && !report(sink, self, &error) && error) {
		g_autofree char *safe = text_safe(error->message);

		g_printerr("whylate: %s\n", safe);
		g_error_free(error);
	}
	sink_free(sink);
}

BT_PLUGIN_MODULE();
BT_PLUGIN(whylate);
BT_PLUGIN_DESCRIPTION("Why was it late? Delay analysis of LTTng kernel traces");
BT_PLUGIN_AUTHOR("the whylate authors");
BT_PLUGIN_LICENSE("MIT");
BT_PLUGIN_VERSION(VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH, NULL);

/* A class for each command that has one: what it is, and where that is told. */
#define CLASS(name, description, manual)                                                           \
	static bt_component_class_initialize_method_status name##_initialize(                      \
		bt_self_component_sink *self, bt_self_component_sink_configuration *configuration, \
		const bt_value *params, void *data)                                                \
	{                                                                                          \
		(void) configuration;                                                              \
		(void) data;                                                                       \
		return initialize(self, &name##_command, params);                                  \
	}                                                                                          \
	BT_PLUGIN_SINK_COMPONENT_CLASS(name, consume);                                             \
	BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(name, description);                             \
	BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(name, "See " manual ".");                              \
	BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(name, name##_initialize);                 \
	BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(name, finalize);                            \
	BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(name, graph_is_configured);

#define NO_CLASS(name)
COMMANDS(CLASS, NO_CLASS)
