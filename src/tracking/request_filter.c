/* SPDX-License-Identifier: MIT */
/* Choosing among requests; see request_filter.h. */
#include "tracking/request_filter.h"

#include <stdlib.h>
#include <string.h>

#include "latencies/profile.h"
#include "util/error.h"
#include "run/option_values.h"
#include "util/pattern.h"

struct percentiles {
	double from, to;
};

/* "p99.9"; not the dots of a range behind it. */
static bool take_percentile(const char **text, double *percent)
{
	g_autofree char *number = NULL;
	size_t length;

	if (**text != 'p' || !g_ascii_isdigit((*text)[1]))
		return false;
	length = strspn(*text + 1, "0123456789");
	if ((*text)[1 + length] == '.' && g_ascii_isdigit((*text)[2 + length]))
		length += 1 + strspn(*text + 2 + length, "0123456789");
	number = g_strndup(*text + 1, length);
	*percent = g_ascii_strtod(number, NULL);
	*text += 1 + length;
	return *percent >= 0 && *percent <= 100;
}

static bool parse_percentiles(const char *text, struct percentiles *range)
{
	range->to = 100;
	if (!take_percentile(&text, &range->from))
		return false;
	if (!*text)
		return range->from < 100;
	if (!g_str_has_prefix(text, ".."))
		return false;
	text += 2;
	return take_percentile(&text, &range->to) && !*text && range->from < range->to;
}

static bool parse_number(const char *text, guint64 *number)
{
	return g_ascii_string_to_unsigned(text, 10, 1, UINT32_MAX, number, NULL);
}

bool pick_check(const char *option, const char *text, GError **error)
{
	struct percentiles range;
	guint64 number;
	bool is_range = text[0] == 'p' && g_ascii_isdigit(text[1]),
	     is_peak = g_str_has_prefix(text, "peak:");

	if (*text && (!is_range || parse_percentiles(text, &range)) &&
	    (!is_peak || parse_number(text + 5, &number)))
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--%s '%s': must be a request's number, a pattern for its label, p90 (the "
		    "slowest tenth), p10..p50, or peak:N",
		    option, text);
	return false;
}

bool percentile_check(const char *option, const char *text, GError **error)
{
	const char *rest = text;
	double percent;

	if (take_percentile(&rest, &percent) && !*rest && percent > 0 && percent < 100)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--%s '%s': must be a percentile, as in p90", option, text);
	return false;
}

static int by_place(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

static GArray *pick_percentiles(const struct user_requests *requests, const GArray *candidates,
				const struct percentiles *range)
{
	g_autoptr(GArray) order = requests_by_latency(requests, candidates, false);
	GArray *picked = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double n = order->len;

	for (guint i = 0; i < order->len; i++)
		if ((i + 1) * 100.0 > range->from * n && (i + 1) * 100.0 <= range->to * n)
			g_array_append_vals(picked,
					    &g_array_index(candidates, uint32_t,
							   g_array_index(order, guint, i)),
					    1);
	g_array_sort(picked, by_place);
	return picked;
}

GArray *request_peaks(const struct user_requests *requests, const GArray *places,
		      const struct buckets *buckets)
{
	g_autofree uint64_t *counts = g_new0(uint64_t, buckets->count);
	uint32_t passed = 0;

	for (guint i = 0; i < places->len; i++) {
		uint32_t place = g_array_index(places, uint32_t, i);
		const struct user_request *at = user_request_at(requests, place);

		counts[bucket_of(buckets, at->end - at->begin)]++;
		pages_pass_to(&requests->list, &passed, place);
	}
	return peaks_find(counts, buckets->count, buckets->resolution);
}

static GArray *pick_peak(const struct user_requests *requests, const GArray *candidates,
			 guint64 number)
{
	GArray *picked = g_array_new(FALSE, FALSE, sizeof(uint32_t)), *peaks;
	struct buckets buckets;

	buckets_init(&buckets, 1);
	peaks = request_peaks(requests, candidates, &buckets);
	for (guint i = 0; number <= peaks->len && i < candidates->len; i++) {
		const struct peak_range *peak =
			&g_array_index(peaks, struct peak_range, number - 1);
		const struct user_request *at =
			user_request_at(requests, g_array_index(candidates, uint32_t, i));
		guint bucket = bucket_of(&buckets, at->end - at->begin);

		if (bucket >= peak->first && bucket <= peak->last)
			g_array_append_vals(picked, &g_array_index(candidates, uint32_t, i), 1);
	}
	g_array_free(peaks, TRUE);
	buckets_clear(&buckets);
	return picked;
}

static GArray *pick_label(const struct user_requests *requests, const GArray *candidates,
			  const char *pattern)
{
	GArray *picked = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint64 number = 0;
	bool by_number = parse_number(pattern, &number);

	for (guint i = 0; i < candidates->len; i++) {
		const struct user_request *at =
			user_request_at(requests, g_array_index(candidates, uint32_t, i));
		g_autofree char *label = by_number ? NULL : user_request_label(requests, at);

		if (by_number ? at->id == number : pattern_match(pattern, label))
			g_array_append_vals(picked, &g_array_index(candidates, uint32_t, i), 1);
	}
	return picked;
}

/* A number may also be that of a request inside another. */
static void pick_inner(const struct user_requests *requests, const char *pick, GArray *picked)
{
	guint64 number;
	uint32_t place;

	if (picked->len || !parse_number(pick, &number) || number > requests->list.used)
		return;
	place = (uint32_t) number - 1;
	if (!user_request_at(requests, place)->in_scope)
		return;
	g_array_append_val(picked, place);
}

/* "; their labels are 'LABEL', …" */
static char *labels_near(const struct user_requests *requests, const GArray *candidates,
			 const char *pick)
{
	struct nearest nearest = {.wanted = pick};

	for (guint i = 0; i < candidates->len; i++) {
		g_autofree char *label = user_request_label(
			requests,
			user_request_at(requests, g_array_index(candidates, uint32_t, i)));

		nearest_offer(&nearest, label);
	}
	return nearest_list(&nearest, "; their labels are ");
}

/* Those that a pick means; NULL and `error` if it means none. */
static GArray *pick_of(const struct user_requests *requests, const GArray *candidates,
		       const char *option, const char *pick, GError **error)
{
	struct percentiles range;
	g_autofree char *labels = NULL;
	GArray *picked;
	guint64 number;

	if (parse_percentiles(pick, &range))
		picked = pick_percentiles(requests, candidates, &range);
	else if (g_str_has_prefix(pick, "peak:") && parse_number(pick + 5, &number))
		picked = pick_peak(requests, candidates, number);
	else
		picked = pick_label(requests, candidates, pick);
	pick_inner(requests, pick, picked);
	if (picked->len)
		return picked;
	g_array_free(picked, TRUE);
	labels = labels_near(requests, candidates, pick);
	if (candidates->len)
		options_refuse(error, "--%s '%s': none of the %u requests found%s", option, pick,
			       candidates->len, labels);
	else
		options_refuse(error,
			       "--%s '%s': no request at all was found; --preset says what is one",
			       option, pick);
	return NULL;
}

GArray *picks_apply(const struct user_requests *requests, const GArray *candidates,
		    const struct request_scope *scope, GError **error)
{
	const GPtrArray *picks = scope->picks;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree guint8 *taken = g_new0(guint8, requests->list.used + 1);

	if (!picks->len)
		g_array_append_vals(all, candidates->data, candidates->len);
	for (guint i = 0; i < picks->len; i++) {
		GArray *picked = pick_of(requests, candidates, scope->option,
					 g_ptr_array_index(picks, i), error);

		for (guint k = 0; picked && k < picked->len; k++) {
			uint32_t place = g_array_index(picked, uint32_t, k);

			if (!taken[place])
				g_array_append_val(all, place);
			taken[place] = 1;
		}
		if (!picked) {
			g_array_free(all, TRUE);
			return NULL;
		}
		g_array_free(picked, TRUE);
	}
	g_array_sort(all, by_place);
	return all;
}
