/* SPDX-License-Identifier: MIT */
/* What states, frames, wakers and resources are called: in keys that programs read, and in
 * words for people.
 *
 * Place: waits/. Source: semantics.md, "Working, Interrupted, Blocked"; interface.md, "JSON".
 */
#ifndef WHYLATE_WAITS_STATE_NAMES_H
#define WHYLATE_WAITS_STATE_NAMES_H

#include "run/session.h"

/* "working", "Working". */
const char *wib_key(enum wib wib);
const char *wib_label(enum wib wib);
/* The two-level key of a leaf ("working/syscall:read"), its second element, and its words for
 * people. Free with g_free(). */
char *leaf_key(const struct session *session, uint32_t leaf);
char *leaf_element(const struct session *session, uint32_t leaf);
char *leaf_label(const struct session *session, uint32_t leaf);
/* The key without its number: "working/syscall", "interrupted/preempted",
 * "blocked/trap:page_fault". Free with g_free(). */
char *leaf_kind_key(const struct session *session, uint32_t leaf);
/* A frame as JSON has it: "user", "syscall:read", "irq:25". */
char *frame_text(const struct session *session, uint32_t frame, bool kernel);

const char *waker_kind_text(uint8_t kind);
const char *waker_why_text(uint8_t why);

/* The kind of a resource key and its name: "pipe:[7]" is a pipe named "[7]". */
const char *resource_kind(const char *key);
/* In a sentence: "its heap"; most keys speak for themselves. */
const char *resource_words(const char *key);
const char *resource_name(const char *key);
/* "wait", "lock_pi" …; NULL for NO_OPERATION. Source: linux/futex.h. */
const char *futex_operation(uint8_t operation);

/* A softIRQ's interval tells for whose packets it ran. */
bool is_of_packets(const struct session *session, uint32_t ref);
/* "for packets from 10.0.0.2 to port 5001 of iperf (123)", of the ref of an interval of `thread` in
 * a softIRQ (net/packet_time.h); free with g_free(). NULL: it says nothing. */
char *packet_words(const struct session *session, uint32_t thread, uint32_t ref);

#endif
