/* SPDX-License-Identifier: MIT */
/* The Babeltrace graph of the command: source.ctf.fs per trace, a muxer, and
 * a sink of our own that feeds the session; see cli.h.
 */
#include "cli/graph.h"

#include <babeltrace2/babeltrace.h>
#include "messages.h"
#include "run/feed.h"
#include "util/error.h"

struct reading {
	struct session *session;   /* borrowed */
	struct messages *messages; /* owned */
	struct progress progress;
	GError *error;
};

static bt_graph_simple_sink_component_consume_func_status
consume(bt_message_iterator *iterator, void *data)
{
	struct reading *reading = data;
	bt_message_array_const batch;
	uint64_t count;

	/* several batches a call: the graph's own work per call is not free */
	for (int i = 0; i < 64; i++) {
		switch (bt_message_iterator_next(iterator, &batch, &count)) {
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
			if (!messages_take(reading->messages, batch, count, &reading->error))
				return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
			if (reading->session->asked.stretches.done)
				return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
			break;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
			return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
			return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
		default:
			return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
		}
	}
	progress_show(&reading->progress);
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

const bt_plugin *graph_plugin(const char *name)
{
	const bt_plugin *plugin = NULL;

	bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE, &plugin);
	return plugin;
}

const bt_component_source *graph_add_source(bt_graph *graph, const bt_plugin *ctf,
					    GPtrArray *directories, guint number, int64_t shift)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
	const bt_component_source *source = NULL;
	g_autofree char *name = g_strdup_printf("trace-%u", number);
	bt_value *params = bt_value_map_create(), *inputs;

	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	for (guint i = 0; i < directories->len; i++)
		bt_value_array_append_string_element(
			inputs,
			((struct trace_directory *) g_ptr_array_index(directories, i))->path);
	if (shift)
		bt_value_map_insert_signed_integer_entry(params, "clock-class-offset-ns", shift);
	if (class)
		bt_graph_add_source_component(graph, class, name, params, BT_LOGGING_LEVEL_NONE,
					      &source);
	bt_value_put_ref(params);
	return source;
}

bool graph_connect_all(bt_graph *graph, const bt_component_source *source,
		       const bt_component_filter *muxer)
{
	uint64_t count = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t inputs = bt_component_filter_get_input_port_count(muxer);

		if (bt_graph_connect_ports(
			    graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(muxer, inputs - 1),
			    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return false;
	}
	return true;
}

static const struct metadata *metadata_of_trace(const struct found_trace *trace)
{
	return ((struct trace_directory *) g_ptr_array_index(trace->directories, 0))->metadata;
}

/* The clock that the trace is by, if it counts nanoseconds and says which one it is. */
static const struct clock_type *clock_of(const struct found_trace *trace)
{
	const GArray *clocks = metadata_of_trace(trace)->clocks;
	const struct clock_type *clock =
		clocks->len ? &g_array_index(clocks, struct clock_type, 0) : NULL;

	return clock && clock->uuid && clock->frequency == 1000000000 ? clock : NULL;
}

/* Whether Babeltrace can read it, which reads a trace whole or not at all; and by how much its
 * clock was measured otherwise than the kernel trace's, as the muxer goes by time. */
static bool user_source(struct session *session, GPtrArray *traces, const struct found_trace *trace,
			int64_t *shift)
{
	const struct trace_directory *directory = g_ptr_array_index(trace->directories, 0);
	const struct clock_type *clock = clock_of(trace);
	g_autofree char *trouble = trace->ctf2 ? g_strdup("CTF 2 is not read through Babeltrace")
				   : trace->trouble ? g_strdup(trace->trouble)
						    : reader_check_user(trace->directories);

	if (trouble) {
		session->trace.sink.damage_user(session, directory->path, trouble);
		return false;
	}
	for (guint i = 0; i < traces->len && clock; i++) {
		const struct found_trace *kernel = g_ptr_array_index(traces, i);
		const struct clock_type *own = kernel->user ? NULL : clock_of(kernel);

		if (!own || g_strcmp0(own->uuid, clock->uuid) != 0)
			continue;
		*shift = clock_type_offset(own) - clock_type_offset(clock);
		break;
	}
	return true;
}

static bool build(bt_graph *graph, struct reading *reading, GPtrArray *traces, const bt_plugin *ctf,
		  const bt_plugin *utils)
{
	const bt_component_class_filter *muxer_class =
		bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer");
	const bt_component_filter *muxer;
	const bt_component_sink *sink;

	if (!muxer_class ||
	    bt_graph_add_filter_component(graph, muxer_class, "muxer", NULL, BT_LOGGING_LEVEL_NONE,
					  &muxer) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		return false;
	for (guint i = 0; i < traces->len; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);
		const bt_component_source *source;
		int64_t shift = 0;

		if (trace->user && !user_source(reading->session, traces, trace, &shift))
			continue;
		source = graph_add_source(graph, ctf, trace->directories, i, shift);
		if (!source || !graph_connect_all(graph, source, muxer))
			return false;
	}
	if (bt_graph_add_simple_sink_component(graph, "whylate", NULL, consume, NULL, reading,
					       &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		return false;
	if (bt_graph_connect_ports(graph,
				   bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
				   bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				   NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
		return false;
	messages_order(reading->messages,
		       bt_port_input_as_port_const(
			       bt_component_sink_borrow_input_port_by_index_const(sink, 0)));
	return true;
}

static bool set_read_error(const struct reading *reading, GError **error)
{
	g_autofree char *cause =
		reading->error ? g_strdup(reading->error->message) : messages_library_error();

	if (session_has_events(reading->session)) { /* what was read is worth a report */
		reading->session->trace.sink.stop(reading->session, cause);
		return true;
	}
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
		    "the trace cannot be read: %s (Babeltrace reads a trace whole or not at all)",
		    *cause ? cause : "Babeltrace did not say why");
	return false;
}

bool graph_run(struct session *session, GPtrArray *traces, GError **error)
{
	struct reading reading = {.session = session};
	const bt_plugin *ctf = graph_plugin("ctf"), *utils = graph_plugin("utils");
	struct relay *relay;
	bt_graph *graph;
	bool ok;

	if (!ctf || !utils) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "Babeltrace's plugins 'ctf' and 'utils' are not installed (Debian: "
			    "libbabeltrace2-0); BABELTRACE_PLUGIN_PATH may name where they are");
		return false;
	}
	relay = session_relay(session);
	progress_begin(&reading.progress, session);
	reading.progress.relay = relay;
	reading.messages = messages_new(relay ? relay_sink(relay) : &session->trace.sink);
	graph = bt_graph_create(0);
	ok = build(graph, &reading, traces, ctf, utils) &&
	     bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;
	relay_wait(relay);
	progress_end(&reading.progress);
	messages_end(reading.messages);
	relay_wait(relay);
	if (!ok)
		ok = set_read_error(&reading, error);
	else if (!session_has_events(session)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has no events");
		ok = false;
	}
	/* the graph's components hold streams that messages_free() lets go */
	messages_free(reading.messages);
	relay_free(relay);
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(utils);
	g_clear_error(&reading.error);
	bt_current_thread_clear_error();
	return ok;
}
