/* SPDX-License-Identifier: MIT */
/* The tree of parts that operations' time is split into: its nodes, and the
 * sums of the operation at hand on them.
 *
 * Place: latencies/; split.c fills it, roots.c counts and judges, reports and
 * saved searches read it. What the nodes are called: roots.h.
 */
#ifndef WHYLATE_LATENCIES_ROOT_TREE_H
#define WHYLATE_LATENCIES_ROOT_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum part_kind {
	PART_OPERATION,
	PART_OWN,
	PART_FUNCTION,
	PART_INTERRUPT,
	PART_HRTIMER,
	PART_LEAF,    /* time of a thread by its leaf */
	PART_BLOCKED,
	PART_BY,
	PART_IDLE,
	PART_QUEUED,
	PART_SERVED,
	PART_ENDED,   /* by hardware or a timer */
	PART_UNKNOWN,
	PART_OTHER,
	PART_SAVED,
};

/* The node of an operation's own wait that delays nobody (waits/idle.h). */
#define PART_AT_LEISURE "idle, for a next request"

/* An operation that shows what a part means: where it was largest. */
struct example {
	uint32_t thread;    /* as struct operation's */
	int64_t begin, end; /* of the operation */
	int64_t latency;    /* of the part; -1: none yet */
};

/* Which of its kind a wait was for, as far as a part tells them apart. */
struct part_resource {
	const char *key; /* of g_intern_string(): "file:/etc/x", "other" */
	int64_t ns;
	uint64_t count;  /* waits */
};

struct part {
	char *node;           /* owned; "blocked/device:vda" */
	char *label;          /* owned; for people, what the node does not say; NULL */
	struct part *parent;  /* borrowed */
	GPtrArray *children;  /* owned; struct part, highest maxcount first at the end */
	GPtrArray *functions; /* owned; kernel functions on the way to a wait; NULL */
	GArray *resources;    /* owned; struct part_resource, most ns first at the end; NULL */
	uint8_t kind;         /* enum part_kind */
	bool sums;            /* several occurrences: summed; else the largest counts */
	bool root;            /* one of the causes, as is all above it */
	bool cut;             /* has parts, but --depth forbids to look */
	bool spans_gap;       /* some of it overlaps lost events */
	uint8_t thing, own_thing; /* whose stretches are asked for, of all of it, of itself: a
				     number from 1 on; 0: nobody asks */
	guint depth;          /* the operation: 0 */
	uint64_t tag;         /* what tells it from its siblings */
	uint64_t maxcount;    /* operations in which it was among the largest */
	uint64_t own_maxcount; /* … in which what is left of it besides its parts was */
	uint64_t operations;  /* in which it occurs */
	int64_t ns, own_ns;
	struct example example, own_example;
	uint64_t loops;       /* own_maxcount: those that only many smaller parts made so */
	int64_t *by_bucket; /* owned; ns by bucket of the peak: the operation and its own parts */

	/* of the operation at hand */
	int64_t sum, largest;
	struct part *touched, *next;
};

/* A node. Takes `node`; owned by `parent`, if there is one. */
struct part *part_new(struct part *parent, enum part_kind kind, uint64_t tag, char *node);
void part_free(struct part *part);
/* One made from a saved tree: counts are set by the caller. */
struct part *part_saved(struct part *parent, const char *node);
/* The operation's own work. */
bool part_is_own(const struct part *part);

/* What tells the children of a kind apart; `number` below 2^58. */
uint64_t part_tag(enum part_kind kind, uint64_t number);
/* The child with that tag, or NULL. */
struct part *part_find(struct part *parent, uint64_t tag);
/* A new child; takes `node` and `functions` (may be NULL). `buckets`: room in
 * by_bucket, for the parts of an operation itself. Beyond a number of children
 * all are one, "other". */
struct part *part_add(struct part *parent, enum part_kind kind, uint64_t tag, char *node,
		      GPtrArray *functions, guint buckets);
/* `count` waits of the part were for the resource. */
void part_add_resource(struct part *part, const char *key, int64_t ns, uint64_t count);
/* One occurrence of `part` (may be NULL) in the operation at hand: ns. */
void part_take(struct part *part, int64_t ns);

#endif
