/* SPDX-License-Identifier: MIT */
/* See lines.h. */
#include "whatif/lines.h"
#include "util/when.h"

#include <stdbool.h>

void line_clear(struct line *line)
{
	g_free(line->points);
	*line = (struct line) {0};
}

static void append(struct line *line, struct point point)
{
	if (line->count == line->room) {
		line->room = line->room ? 2 * line->room : 4;
		line->points = g_renew(struct point, line->points, line->room);
	}
	line->points[line->count++] = point;
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
	if (!line->count || line->points[line->count - 1].old != begin.old)
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
	const struct point *points = line->points;
	uint32_t high = line->count - 1, step = 1, low;

	for (low = high; low && points[low].old > old; step *= 2) {
		high = low;
		low -= MIN(low, step);
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (points[middle].old <= old)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t line_at(const struct line *line, int64_t old)
{
	const struct point *points = line->points;
	uint32_t high = line->count, low;

	if (!high)
		return old;
	if (points[high - 1].old <= old)
		return points[high - 1].new + (old - points[high - 1].old);
	if (old <= points[0].old)
		return points[0].new + (old - points[0].old);
	low = point_before(line, old);
	return between(points[low], points[low + 1], old);
}

/* The last point at or before a recorded time, or a `new` one, which is not before the first. */
static uint32_t point_near(const struct line *line, bool new, int64_t time, uint32_t near)
{
	const struct point *points = line->points;
	uint32_t last = line->count - 1, at = MIN(near, last), step = 1;

#define TIME_OF(point) (new ? points[point].new : points[point].old)
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
	const struct point *points = line->points;

	if (line->count < 2 || old <= points[0].old || old >= points[line->count - 1].old)
		return line_at(line, old);
	*near = point_near(line, false, old, *near);
	return between(points[*near], points[*near + 1], old);
}

int64_t line_when_near(const struct line *line, int64_t new, uint32_t *near)
{
	const struct point *points = line->points, *from, *to;

	if (!line->count)
		return new;
	if (new < points[0].new)
		return points[0].old + (new - points[0].new);
	*near = point_near(line, true, new, *near);
	from = &points[*near];
	if (*near + 1 == line->count)
		return from->old + (new - from->new);
	to = from + 1; /* to->new > new >= from->new */
	return from->old + (int64_t) ((int128) (new - from->new) * (to->old - from->old) /
				      (to->new - from->new));
}

int64_t line_when(const struct line *line, int64_t new)
{
	uint32_t near = 0;

	return line_when_near(line, new, &near);
}
