/* SPDX-License-Identifier: MIT */
/* A line: when a thread reaches, in a re-timed run, what it reached in the recorded one.
 *
 *   new ▲        ╱      from each point to the next in proportion, so what was made shorter is
 *       │   ____╱       flat; before the first and behind the last one both run alike.
 *       │  ╱
 *       └──────────► old
 *
 * Place: whatif/. Points lie only where a thread's shift changes: 16 bytes each. Times never fall.
 */
#ifndef WHYLATE_WHATIF_LINES_H
#define WHYLATE_WHATIF_LINES_H

#include <glib.h>
#include <stdint.h>

struct point {
	int64_t old, new; /* ns */
};

/* In blocks, the first of which grows up to their size: in a list that grows whole, half the room
 * would be touched for nothing, and all be copied again and again. */
#define LINE_BLOCK 1024

struct line {
	struct point **blocks; /* owned, as is each; NULL: none, nothing moved */
	uint32_t count, room;
};

static inline struct point *line_point(const struct line *line, uint32_t i)
{
	return &line->blocks[i / LINE_BLOCK][i % LINE_BLOCK];
}

void line_clear(struct line *line);

/* Behind the last point; if no point is needed there, none is made. From `begin` to `end` is one
 * stretch, of which the line knows where it begins. */
void line_add(struct line *line, struct point begin, struct point end);
/* A first point, where what a thread begins with is not where it was. */
void line_begin(struct line *line, struct point point);

/* When it reaches what it reached at the recorded time `old`. */
int64_t line_at(const struct line *line, int64_t old);
/* The same; `near`: a point that is likely near, of a call before; at first 0. */
int64_t line_at_near(const struct line *line, int64_t old, uint32_t *near);
/* The last recorded time by which it had reached no more than it has at the new time `new`. */
int64_t line_when(const struct line *line, int64_t new);
int64_t line_when_near(const struct line *line, int64_t new, uint32_t *near);

/* `value` from [begin.old, end.old], in proportion. */
int64_t between(struct point begin, struct point end, int64_t old);

#endif
