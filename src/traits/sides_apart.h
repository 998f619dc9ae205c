/* SPDX-License-Identifier: MIT */
/* What sets the operations of one side apart from the other's, kind by kind: calls of one name in
 * slow requests and in fast ones, or in two traces.
 *
 *   store(s) ─ pass 1: a sample of each kind and side ─ pass 2: what is known of those
 *   ─ search, kind by kind ─ pass 3: what is told is counted again, of all
 *
 * Names of the second session stand for the first one's of the same text. Where the sides are of
 * different traces, or windows, what tells these apart is left out: the time, the host, the nth,
 * what is named by a number. So is the pause before a call, there and where they are requests'
 * calls: it is part of what took longer.
 *
 * Place: traits/; the search is apart/search.h's.
 */
#ifndef WHYLATE_TRAITS_SIDES_APART_H
#define WHYLATE_TRAITS_SIDES_APART_H

#include "run/session.h"
#include "traits/traits.h"

/* The operation's kind, from 0; UINT32_MAX: none that is asked about. Called for the operations of
 * a store in order, several times. */
typedef guint kind_of_operation(void *data, guint side, const struct operation *operation);
/* It is the side's. */
typedef bool is_of_side(void *data, guint side, const struct operation *operation, uint32_t number);

/* Of a kind that is asked about. */
struct side_kind {
	const char *operation; /* borrowed; as profiles call it */
	guint slow; /* the side whose operations take longer */
};

struct sides_asked {
	const struct session *session[2]; /* borrowed; the same: its operations are met once */
	bool separate; /* different traces, or windows */
	bool of_requests;
	const char *name[2]; /* borrowed; what sentences call the sides */
	const struct side_kind *kinds; /* borrowed */
	guint count;
	kind_of_operation *kind_of;
	is_of_side *of_side;
	void *data;
};

/* struct traits, by kind; owned. Free with g_ptr_array_unref(). */
GPtrArray *sides_apart(const struct sides_asked *asked);

#endif
