/* SPDX-License-Identifier: MIT */
/* See gone.h. */
#include "rules/gone.h"

#include <string.h>

struct gone {
	GArray **threads; /* owned; of each thread struct gone_part, NULL: nothing; once closed by
			     time, and none overlaps another */
	uint32_t count;
};

struct gone *gone_new(const struct session *session)
{
	struct gone *gone = g_new0(struct gone, 1);

	gone->count = session->trace.model.thread_count;
	gone->threads = g_new0(GArray *, gone->count + 1);
	return gone;
}

void gone_free(struct gone *gone)
{
	if (!gone)
		return;
	for (uint32_t i = 0; i < gone->count; i++)
		if (gone->threads[i])
			g_array_free(gone->threads[i], TRUE);
	g_free(gone->threads);
	g_free(gone);
}

static const struct gone_part *part_at(const GArray *list, guint i)
{
	return &g_array_index(list, struct gone_part, i);
}

/* Behind the last one, of which the last may already have the beginning. */
static void append(GArray *list, struct gone_part part)
{
	struct gone_part *last =
		list->len ? &g_array_index(list, struct gone_part, list->len - 1) : NULL;

	if (last && last->things == part.things && part.begin >= last->begin &&
	    part.begin <= last->end)
		last->end = MAX(last->end, part.end);
	else
		g_array_append_val(list, part);
}

void gone_add(struct gone *gone, uint32_t thread, struct gone_part part)
{
	if (part.begin >= part.end || thread >= gone->count)
		return;
	if (!gone->threads[thread])
		gone->threads[thread] = g_array_new(FALSE, FALSE, sizeof part);
	append(gone->threads[thread], part);
}

/* --- in order of time ----------------------------------------------------------------------- */

static inline int64_t time_of(const struct gone_part *part, bool ends)
{
	return ends ? part->end : part->begin;
}

/* Where the parts from `at` on cease to be in order. */
static inline const struct gone_part *
run_end(const struct gone_part *at, const struct gone_part *end, bool ends)
{
	while (++at < end && time_of(at - 1, ends) <= time_of(at, ends))
		;
	return MIN(at, end);
}

/* [a, b) and [b, end), each in order, to `into`, of which the end is returned. */
static inline struct gone_part *
merge(struct gone_part *into, const struct gone_part *a, const struct gone_part *b,
      const struct gone_part *end, bool ends)
{
	const struct gone_part *until = b;

	while (a < until && b < end)
		*into++ = time_of(a, ends) <= time_of(b, ends) ? *a++ : *b++;
	while (a < until)
		*into++ = *a++;
	while (b < end)
		*into++ = *b++;
	return into;
}

/* Paths give their parts by time, sentence by sentence: a few runs that are in order, which are
 * merged by twos. `ends`: by their ends. */
static inline void sort(GArray *list, bool ends)
{
	guint count = list->len;
	g_autofree struct gone_part *other = NULL;
	struct gone_part *from = (struct gone_part *) (void *) list->data;

	if (!count || run_end(from, from + count, ends) == from + count)
		return;
	other = g_new(struct gone_part, count);
	for (struct gone_part *to = other, *swap; run_end(from, from + count, ends) < from + count;
	     swap = from, from = to, to = swap) {
		struct gone_part *into = to;

		for (const struct gone_part *a = from, *end; a < from + count; a = end) {
			const struct gone_part *b = run_end(a, from + count, ends);

			end = b < from + count ? run_end(b, from + count, ends) : b;
			into = merge(into, a, b, end, ends);
		}
	}
	if (from == other)
		memcpy(list->data, other, count * sizeof *other);
}

static void count_things(guint *open, uint64_t *things, uint64_t of, int by)
{
	for (; of; of &= of - 1) {
		int thing = __builtin_ctzll(of);

		open[thing] += (guint) by;
		if (open[thing])
			*things |= UINT64_C(1) << thing;
		else
			*things &= ~(UINT64_C(1) << thing);
	}
}

/* Where parts overlap, that is a part of its own, for the things of all of them. */
static GArray *split_overlaps(const GArray *begins)
{
	GArray *ends = g_array_sized_new(FALSE, FALSE, sizeof(struct gone_part), begins->len);
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct gone_part));
	guint open[64] = {0}, b = 0, e = 0;
	int64_t since = INT64_MIN;
	uint64_t things = 0;

	g_array_append_vals(ends, begins->data, begins->len);
	sort(ends, true);
	while (e < ends->len) {
		bool opens = b < begins->len && part_at(begins, b)->begin < part_at(ends, e)->end;
		int64_t time = opens ? part_at(begins, b)->begin : part_at(ends, e)->end;

		if (things && since < time)
			append(list, (struct gone_part) {since, time, things});
		since = time;
		if (opens)
			count_things(open, &things, part_at(begins, b++)->things, 1);
		else
			count_things(open, &things, part_at(ends, e++)->things, -1);
	}
	g_array_free(ends, TRUE);
	return list;
}

static bool overlap(const GArray *list)
{
	for (guint i = 1; i < list->len; i++)
		if (part_at(list, i - 1)->end > part_at(list, i)->begin)
			return true;
	return false;
}

void gone_close(struct gone *gone)
{
	for (uint32_t i = 0; i < gone->count; i++) {
		GArray *list;

		if (!gone->threads[i])
			continue;
		list = gone->threads[i];
		sort(list, false);
		if (!overlap(list))
			continue;
		gone->threads[i] = split_overlaps(list);
		g_array_free(list, TRUE);
	}
}

bool gone_any(const struct gone *gone, uint32_t thread)
{
	return gone->threads[thread] != NULL;
}

/* --- asked ---------------------------------------------------------------------------------- */

/* From the place `at` on, the first part that ends after `time`. */
static guint part_after(const GArray *list, guint at, int64_t time)
{
	while (at < list->len && part_at(list, at)->end <= time)
		at++;
	return at;
}

uint64_t gone_things(const struct gone *gone, uint32_t thread, const struct span *span, guint *at)
{
	const GArray *list = gone->threads[thread];
	uint64_t things = 0;

	if (!list)
		return 0;
	*at = part_after(list, *at, span->begin);
	for (guint i = *at; i < list->len && part_at(list, i)->begin < span->end; i++)
		things |= part_at(list, i)->things;
	return things;
}

int64_t gone_ns(const struct gone *gone, uint32_t thread, const struct span *span, uint64_t things,
		guint at)
{
	const GArray *list = gone->threads[thread];
	int64_t ns = 0;

	for (guint i = at; i < list->len && part_at(list, i)->begin < span->end; i++) {
		const struct gone_part *part = part_at(list, i);

		if (part->things & things)
			ns += MIN(part->end, span->end) - MAX(part->begin, span->begin);
	}
	return ns;
}

bool gone_next(const struct gone *gone, uint32_t thread, int64_t from, int64_t to, guint *at,
	       struct gone_part *part)
{
	const GArray *list = gone->threads[thread];

	if (!list || from >= to)
		return false;
	*at = part_after(list, *at, from);
	if (*at == list->len || part_at(list, *at)->begin >= to)
		return false;
	*part = *part_at(list, *at);
	part->begin = MAX(part->begin, from);
	part->end = MIN(part->end, to);
	return true;
}
