/* SPDX-License-Identifier: MIT */
/* See lines.h. */
#include "whatif/lines.h"
#include "util/when.h"

#include <stdbool.h>

void line_clear(struct line *line)
{
	for (uint32_t i = 0; i * LINE_BLOCK < line->room; i++)
		g_free(line->blocks[i]);
	g_free(line->blocks);
	*line = (struct line) {0};
}

/* Room for one point more: the first block grows, then there are others. */
static void grow(struct line *line)
{
	uint32_t block = line->count / LINE_BLOCK;

	if (line->count < LINE_BLOCK) {
		if (!line->blocks)
			line->blocks = g_new0(struct point *, 1);
		line->room = line->room ? 2 * line->room : 4;
		line->blocks[0] = g_renew(struct point, line->blocks[0], line->room);
		return;
	}
	if ((block & (block - 1)) == 0)
		line->blocks = g_renew(struct point *, line->blocks, 2 * block);
	line->blocks[block] = g_new(struct point, LINE_BLOCK);
	line->room += LINE_BLOCK;
}

static void append(struct line *line, struct point point)
{
	if (line->count == line->room)
		grow(line);
	*line_point(line, line->count++) = point;
}

void line_begin(struct line *line, struct point point)
{
	if (point.old != point.new)
		append(line, point);
}

void line_add(struct line *line, struct point begin, struct point end)
{
	if (end.new - end.old == begin.new - begin.old)
		return;
	if (!line->count || line_point(line, line->count - 1)->old != begin.old)
		append(line, begin);
	append(line, end);
}

int64_t between(struct point begin, struct point end, int64_t old)
{
	return begin.new + (int64_t) ((int128) (old - begin.old) * (end.new - begin.new) /
				      (end.old - begin.old));
}

/* The last point at or before `old`, which is behind the first one and before the last; mostly it
 * is among the last ones: lines are asked while they are made. */
static uint32_t point_before(const struct line *line, int64_t old)
{
	uint32_t high = line->count - 1, step = 1, low;

	for (low = high; low && line_point(line, low)->old > old; step *= 2) {
		high = low;
		low -= MIN(low, step);
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (line_point(line, middle)->old <= old)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t line_at(const struct line *line, int64_t old)
{
	uint32_t high = line->count, low;

	if (!high)
		return old;
	if (line_point(line, high - 1)->old <= old)
		return line_point(line, high - 1)->new + (old - line_point(line, high - 1)->old);
	if (old <= line_point(line, 0)->old)
		return line_point(line, 0)->new + (old - line_point(line, 0)->old);
	low = point_before(line, old);
	return between(*line_point(line, low), *line_point(line, low + 1), old);
}

/* The last point at or before a recorded time, or a `new` one, which is not before the first. */
static uint32_t point_near(const struct line *line, bool new, int64_t time, uint32_t near)
{
	uint32_t last = line->count - 1, at = MIN(near, last), step = 1;

#define TIME_OF(point) (new ? line_point(line, point)->new : line_point(line, point)->old)
	while (at && TIME_OF(at) > time) {
		at -= MIN(at, step);
		step *= 2;
	}
	for (step = 1; step <= last - at && TIME_OF(at + step) <= time; step *= 2)
		at += step;
	for (; step; step /= 2)
		at += step <= last - at && TIME_OF(at + step) <= time ? step : 0;
#undef TIME_OF
	return at;
}

int64_t line_at_near(const struct line *line, int64_t old, uint32_t *near)
{

	if (line->count < 2 || old <= line_point(line, 0)->old ||
	    old >= line_point(line, line->count - 1)->old)
		return line_at(line, old);
	*near = point_near(line, false, old, *near);
	return between(*line_point(line, *near), *line_point(line, *near + 1), old);
}

int64_t line_when_near(const struct line *line, int64_t new, uint32_t *near)
{
	const struct point *from, *to;

	if (!line->count)
		return new;
	if (new < line_point(line, 0)->new)
		return line_point(line, 0)->old + (new - line_point(line, 0)->new);
	*near = point_near(line, true, new, *near);
	from = line_point(line, *near);
	if (*near + 1 == line->count)
		return from->old + (new - from->new);
	to = line_point(line, *near + 1); /* to->new > new >= from->new */
	return from->old + (int64_t) ((int128) (new - from->new) * (to->old - from->old) /
				      (to->new - from->new));
}

int64_t line_when(const struct line *line, int64_t new)
{
	uint32_t near = 0;

	return line_when_near(line, new, &near);
}
