/* SPDX-License-Identifier: MIT */
/* Lines between two sets of points; see corridor.h.
 *
 * For a drift b the room between the sets is g(b) = min over upper points of
 * (y - b x), less max over lower points of it. g is concave, so its maximum
 * and the two ends of { b : g(b) >= 0 } are found by halving. The line of the
 * smallest possible drift is the highest one at the first point and the lowest
 * one at the last, that of the largest the other way round; the middle line is
 * between these two.
 */
#include "util/corridor.h"

#include <math.h>

#define STEPS 200            /* of halving: more than a double has bits */
#define REJECTED_PART 8      /* one in so many points may be wrong … */
#define REJECTED_MAX 1000u   /* … and no more than so many … */
#define REJECTED_LEAST 5     /* … and one, if there are so many to tell which it is */

struct fit_point {
	double x, y;
	guint index; /* in the points */
};

/* Points of one side, by time; `hull` are those that a line can touch. */
struct side {
	GArray *points; /* owned; struct fit_point */
	GArray *hull;   /* owned; struct fit_point */
	bool upper;
};

int64_t clock_line_at(const struct clock_line *line, int64_t time)
{
	return time + line->offset +
	       (line->drift == 0 ? 0
				 : (int64_t) llround(line->drift * (double) (time - line->base)));
}

struct clock_line clock_line_inverse(const struct clock_line *line)
{
	return (struct clock_line) {.base = line->base + line->offset,
				    .offset = -line->offset,
				    .drift = -line->drift / (1 + line->drift)};
}

struct clock_line clock_line_compose(const struct clock_line *outer, const struct clock_line *inner)
{
	return (struct clock_line) {
		.base = inner->base,
		.offset = clock_line_at(outer, clock_line_at(inner, inner->base)) - inner->base,
		.drift = (1 + outer->drift) * (1 + inner->drift) - 1};
}

/* Upper points are touched from below: their lower hull; and the reverse. */
static void make_hull(struct side *side)
{
	GArray *hull = side->hull;

	g_array_set_size(hull, 0);
	for (guint i = 0; i < side->points->len; i++) {
		const struct fit_point *p = &g_array_index(side->points, struct fit_point, i);

		while (hull->len >= 2) {
			const struct fit_point *a =
				&g_array_index(hull, struct fit_point, hull->len - 2);
			const struct fit_point *b = a + 1;
			double turn = (b->x - a->x) * (p->y - a->y) - (b->y - a->y) * (p->x - a->x);

			if (side->upper ? turn > 0 : turn < 0)
				break;
			g_array_set_size(hull, hull->len - 1);
		}
		g_array_append_val(hull, *p);
	}
}

/* The tightest of y - b (x - at); its point. */
static double tightest(const struct side *side, double b, double at, const struct fit_point **point)
{
	double best = side->upper ? INFINITY : -INFINITY;

	for (guint i = 0; i < side->hull->len; i++) {
		const struct fit_point *p = &g_array_index(side->hull, struct fit_point, i);
		double y = p->y - b * (p->x - at);

		if (side->upper ? y < best : y > best) {
			best = y;
			if (point)
				*point = p;
		}
	}
	return best;
}

static double gap_between(const struct side *upper, const struct side *lower, double b)
{
	return tightest(upper, b, 0, NULL) - tightest(lower, b, 0, NULL);
}

/* The drift with the most room. */
static double widest(const struct side *upper, const struct side *lower)
{
	double low = -CORRIDOR_DRIFT_MAX, high = CORRIDOR_DRIFT_MAX;

	for (int i = 0; i < STEPS; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (gap_between(upper, lower, a) < gap_between(upper, lower, b))
			low = a;
		else
			high = b;
	}
	return (low + high) / 2;
}

/* Where the room ends between `inside`, which has some, and `outside`. */
static double end_of_room(const struct side *upper, const struct side *lower, double inside,
			  double outside)
{
	if (gap_between(upper, lower, outside) >= 0)
		return outside;
	for (int i = 0; i < STEPS; i++) {
		double middle = (inside + outside) / 2;

		if (gap_between(upper, lower, middle) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return outside;
}

/* How many of the other side no line could pass together with `point`;
 * if `drift` is a number, no line of that drift. */
static guint contradicted(const struct fit_point *point, const struct side *other, double drift)
{
	guint count = 0;

	for (guint i = 0; i < other->points->len; i++) {
		const struct fit_point *p = &g_array_index(other->points, struct fit_point, i);
		double over = other->upper ? point->y - p->y : p->y - point->y;
		double x = other->upper ? point->x - p->x : p->x - point->x;

		count += isnan(drift) ? over > CORRIDOR_DRIFT_MAX * fabs(x) : over > drift * x;
	}
	return count;
}

static void reject(struct side *side, guint index)
{
	for (guint i = 0; i < side->points->len; i++)
		if (g_array_index(side->points, struct fit_point, i).index == index) {
			g_array_remove_index(side->points, i);
			break;
		}
	make_hull(side);
}

/* No line passes between: of the two points that leave the least room, the one
 * that contradicts more of the others goes; both, if that does not tell. */
static guint reject_worst(struct side *upper, struct side *lower, double b)
{
	const struct fit_point *u = NULL, *l = NULL;
	guint upper_index, lower_index, of_upper, of_lower;

	tightest(upper, b, 0, &u);
	tightest(lower, b, 0, &l);
	upper_index = u->index;
	lower_index = l->index;
	of_upper = contradicted(u, lower, NAN);
	of_lower = contradicted(l, upper, NAN);
	if (of_upper == of_lower) {
		of_upper = contradicted(u, lower, b);
		of_lower = contradicted(l, upper, b);
	}
	if (of_upper >= of_lower)
		reject(upper, upper_index);
	if (of_lower >= of_upper)
		reject(lower, lower_index);
	return of_upper == of_lower ? 2 : 1;
}

/* Lines of drift `least` to `most` pass: the middle, and how far they are. */
static void middle_line(const struct side *upper, const struct side *lower, double least,
			double most, double last, struct corridor *corridor)
{
	double high0 = tightest(upper, least, 0, NULL), low0 = tightest(lower, most, 0, NULL);
	double high1 = tightest(upper, most, last, NULL), low1 = tightest(lower, least, last, NULL);
	double y0 = (high0 + low0) / 2, y1 = (high1 + low1) / 2, error;

	if (least <= 0 && most >= 0) { /* there may be no drift at all */
		y0 = y1 = (tightest(upper, 0, 0, NULL) + tightest(lower, 0, 0, NULL)) / 2;
	} else if (last > 0) {
		corridor->line.drift = (y1 - y0) / last;
	}
	error = fmax(fmax(high0 - y0, y0 - low0), fmax(high1 - y1, y1 - low1));
	corridor->line.offset += (int64_t) llround(y0);
	corridor->error = (int64_t) ceil(error) + 1; /* of rounding */
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct corridor_point *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->difference < y->difference ? -1 : x->difference > y->difference;
}

static void fit(struct side *upper, struct side *lower, guint points, double last,
		struct corridor *corridor)
{
	guint most = points < REJECTED_LEAST ? 0 : CLAMP(points / REJECTED_PART, 1, REJECTED_MAX);
	double b;

	make_hull(upper);
	make_hull(lower);
	while (upper->points->len && lower->points->len) {
		b = widest(upper, lower);
		if (gap_between(upper, lower, 0) >= 0)
			b = 0;
		if (gap_between(upper, lower, b) >= 0) {
			middle_line(upper, lower, end_of_room(upper, lower, b, -CORRIDOR_DRIFT_MAX),
				    end_of_room(upper, lower, b, CORRIDOR_DRIFT_MAX), last,
				    corridor);
			break;
		}
		corridor->rejected += reject_worst(upper, lower, b);
		if (corridor->rejected > most)
			return;
	}
	corridor->used = upper->points->len + lower->points->len;
	if (corridor->error >= 0 || !corridor->used)
		return;
	/* one way only: as if the fastest packet had taken no time */
	b = tightest(upper->points->len ? upper : lower, 0, 0, NULL);
	corridor->line.offset += (int64_t) llround(b);
}

bool corridor_fit(GArray *points, struct corridor *corridor)
{
	struct side sides[2] = {{.upper = false}, {.upper = true}};
	const struct corridor_point *first;
	double last;

	*corridor = (struct corridor) {.error = -1};
	if (!points->len)
		return false;
	g_array_sort(points, by_time);
	first = &g_array_index(points, struct corridor_point, 0);
	corridor->line = (struct clock_line) {first->time, first->difference, 0};
	for (int s = 0; s < 2; s++) {
		sides[s].points = g_array_new(FALSE, FALSE, sizeof(struct fit_point));
		sides[s].hull = g_array_new(FALSE, FALSE, sizeof(struct fit_point));
	}
	for (guint i = 0; i < points->len; i++) {
		struct fit_point point = {.x = (double) (first[i].time - first->time),
					  .y = (double) (first[i].difference - first->difference),
					  .index = i};

		g_array_append_val(sides[first[i].upper].points, point);
	}
	last = (double) (first[points->len - 1].time - first->time);
	fit(&sides[1], &sides[0], points->len, last, corridor);
	for (int s = 0; s < 2; s++) {
		g_array_free(sides[s].points, TRUE);
		g_array_free(sides[s].hull, TRUE);
	}
	return corridor->used > 0;
}
