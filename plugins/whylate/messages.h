/* SPDX-License-Identifier: MIT */
/* Babeltrace 2 messages → struct event: the way in for pipelines, and for traces that the command
 * does not read by itself.
 *
 * Place: the plugin's component classes and the command's graph both feed
 * their batches here. An event class is looked at once: which kind it is,
 * where each needed field lies; after that only indexes are used. Traces
 * that are not of a kernel are passed over.
 *
 * Events with equal stamps are put in the order of semantics.md (lower CPU
 * first, hosts in the order given, then stream class and stream) before they
 * go on: Babeltrace's own order differs between its versions.
 */
#ifndef WHYLATE_PLUGINS_MESSAGES_H
#define WHYLATE_PLUGINS_MESSAGES_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "event/sink.h"

struct messages;

/* Feeds `sink` (borrowed). */
struct messages *messages_new(const struct event_sink *sink);
void messages_free(struct messages *messages);

/* Finds out in which order the traces were given, from the ports that lead to
 * `input` (connected); messages do not come in it. Call before the first. */
void messages_order(struct messages *messages, const bt_port *input);

/* Takes over the references of all `count` messages. False if one cannot be
 * read; then `error` says which. */
bool messages_take(struct messages *messages, bt_message_array_const batch, uint64_t count,
		   GError **error);

/* No more will come: what waits for its order goes on. */
void messages_end(struct messages *messages);

/* Streams of kernel traces seen. */
unsigned messages_kernel_streams(const struct messages *messages);

/* The current thread's Babeltrace error as one line, its root cause first;
 * clears it. Free with g_free(). */
char *messages_library_error(void);

#endif
