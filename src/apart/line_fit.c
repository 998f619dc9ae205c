/* SPDX-License-Identifier: MIT */
/* See line_fit.h. */
#include "apart/line_fit.h"

#include <math.h>
#include <stdlib.h>

#include "apart/select.h"

#define PAIRED 200 /* points whose pairs are looked at */
#define TURNS 199
#define DIFFERENT 4 /* values of x, at least */

/* Of values that are no NaN; they are put in another order. */
static double median(double *values, guint count)
{
	double below;

	put_in_place(values, count, count / 2);
	if (count % 2)
		return values[count / 2];
	below = values[0];
	for (guint i = 1; i < count / 2; i++)
		below = MAX(below, values[i]);
	return (below + values[count / 2]) / 2;
}

struct ranked {
	double value;
	guint at;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Ranks around 0, equal values sharing theirs; how many different ones there are. */
static guint rank(struct ranked *sorted, guint count, double *ranks)
{
	guint different = 0;

	qsort(sorted, count, sizeof *sorted, by_value);
	for (guint i = 0, j; i < count; i = j, different++) {
		for (j = i; j < count && sorted[j].value == sorted[i].value; j++)
			;
		for (guint k = i; k < j; k++)
			ranks[sorted[k].at] = (i + j - 1) / 2.0 - (count - 1) / 2.0;
	}
	return different;
}

/* Of points that were moved by `turn` against each other. */
static double together(const double *a, const double *b, guint count, guint turn)
{
	double sum = 0;

	for (guint i = 0; i < count; i++)
		sum += a[i] * b[(i + turn) % count];
	return fabs(sum);
}

static bool ranks_hold(const struct point *points, guint count)
{
	g_autofree struct ranked *sorted = g_new(struct ranked, count);
	g_autofree double *x = g_new(double, count), *y = g_new(double, count);
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	double found;

	for (guint i = 0; i < count; i++)
		sorted[i] = (struct ranked) {points[i].x, i};
	if (rank(sorted, count, x) < DIFFERENT)
		return false;
	for (guint i = 0; i < count; i++)
		sorted[i] = (struct ranked) {points[i].y, i};
	rank(sorted, count, y);
	found = together(x, y, count, 0);
	for (guint i = 0; i < TURNS; i++)
		if (together(x, y, count, (guint) g_rand_int_range(random, 1, (gint32) count)) >=
		    found)
			return false;
	return true;
}

static double slope_of(const struct point *points, guint count)
{
	guint used = MIN(count, PAIRED), pairs = 0;
	g_autofree double *slopes = g_new(double, used *used / 2 + 1);

	for (guint i = 0; i < used; i++)
		for (guint k = i + 1; k < used; k++) {
			const struct point *a = &points[(guint64) i * count / used],
					   *b = &points[(guint64) k * count / used];

			if (a->x != b->x)
				slopes[pairs++] = (b->y - a->y) / (b->x - a->x);
		}
	return pairs ? median(slopes, pairs) : 0;
}

static double off_line(const struct point *point, const struct line_fit *fit)
{
	return point->y - fit->middle - fit->slope * point->x;
}

/* Without two of the points; `count`: leave out none. */
static double share_without(const struct point *points, guint count, const struct line_fit *fit,
			    guint first, guint second)
{
	double n = 0, sum = 0, squares = 0, off = 0;

	for (guint i = 0; i < count; i++) {
		double distance = off_line(&points[i], fit);

		if (i == first || i == second)
			continue;
		n++;
		sum += points[i].y;
		squares += points[i].y * points[i].y;
		off += distance * distance;
	}
	squares -= sum * sum / n;
	return squares > 0 ? 1 - off / squares : 0;
}

bool line_fit(const struct point *points, guint count, struct line_fit *fit)
{
	g_autofree double *rest = g_new(double, count + 1);
	guint furthest_off = 0, furthest_out = 0;
	double middle = 0;

	if (count < FIT_LEAST || !ranks_hold(points, count))
		return false;
	fit->slope = slope_of(points, count);
	for (guint i = 0; i < count; i++)
		rest[i] = points[i].y - fit->slope * points[i].x;
	fit->middle = median(rest, count);
	for (guint i = 0; i < count; i++)
		rest[i] = points[i].x;
	middle = median(rest, count);
	for (guint i = 1; i < count; i++) {
		if (fabs(off_line(&points[i], fit)) > fabs(off_line(&points[furthest_off], fit)))
			furthest_off = i;
		if (fabs(points[i].x - middle) > fabs(points[furthest_out].x - middle))
			furthest_out = i;
	}
	fit->share = MIN(share_without(points, count, fit, furthest_off, count),
			 share_without(points, count, fit, furthest_off, furthest_out));
	return fit->slope != 0 && fit->share >= FIT_SHARE;
}
