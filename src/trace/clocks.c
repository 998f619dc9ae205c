/* SPDX-License-Identifier: MIT */
/* A line for each host's clock; see clocks.h.
 *
 * Each two hosts with packets between them give a corridor (corridor.h). Hosts
 * are joined to the first one by the corridors with the smallest errors, so
 * that the tree of those that are used has the smallest; along it errors add.
 */
#include "trace/clocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/when.h"

#define RUN 256u          /* packets in a row, of which … */
#define KEPT 8u           /* … so many of each direction, the tightest, are kept … */
#define THIN_FROM 100000u /* … if there are so many packets in all */

struct edge {
	GArray *points; /* owned; struct corridor_point: of the higher host's clock */
	guint run;      /* points at the end that were not thinned */
	uint32_t count; /* packets */
	struct corridor corridor;
	bool known;
};

/* Of hosts a < b. */
static struct edge *edge_of(GArray *edges, guint hosts, guint a, guint b)
{
	return &g_array_index(edges, struct edge, MIN(a, b) * hosts + MAX(a, b));
}

static void edge_clear(gpointer data)
{
	struct edge *edge = data;

	if (edge->points)
		g_array_free(edge->points, TRUE);
}

/* The tightest first: lower ones from above, upper ones from below. */
static int by_tightness(gconstpointer a, gconstpointer b)
{
	const struct corridor_point *x = a, *y = b;
	int order = x->difference < y->difference ? -1 : x->difference > y->difference;

	if (x->upper != y->upper)
		return x->upper ? 1 : -1;
	return x->upper ? order : -order;
}

/* Leaves of the last RUN points those that can matter, and the ends: how long
 * there were packets is to stay. */
static void keep_tightest(struct edge *edge)
{
	struct corridor_point *run =
		&g_array_index(edge->points, struct corridor_point, edge->points->len - RUN);
	struct corridor_point ends[2] = {run[0], run[RUN - 1]};
	guint of_side[2] = {0, 0}, kept = 0;

	qsort(run, RUN, sizeof *run, by_tightness);
	for (guint i = 0; i < RUN; i++)
		if (of_side[run[i].upper]++ < KEPT)
			run[kept++] = run[i];
	g_array_set_size(edge->points, edge->points->len - RUN + kept);
	g_array_append_vals(edge->points, ends, 2);
	edge->run = 0;
}

/* The lower host's clock is the reference: what it sent bounds the difference
 * from below, what it received from above. */
static void add_point(struct edge *edge, const struct packet *sent, const struct packet *received,
		      bool many)
{
	struct corridor_point point = {.time = received->time,
				       .difference = sent->time - received->time};

	if (sent->host > received->host)
		point = (struct corridor_point) {.time = sent->time,
						 .upper = true,
						 .difference = received->time - sent->time};
	if (!edge->points)
		edge->points = g_array_new(FALSE, FALSE, sizeof point);
	g_array_append_val(edge->points, point);
	edge->count++;
	if (many && ++edge->run == RUN)
		keep_tightest(edge);
}

static GArray *edges_new(const struct trace *trace, const struct pairs *pairs)
{
	guint hosts = trace->model.hosts->len;
	GArray *edges = g_array_new(FALSE, TRUE, sizeof(struct edge));

	g_array_set_clear_func(edges, edge_clear);
	g_array_set_size(edges, hosts * hosts);
	for (guint i = 0; i < pairs->list->len; i++) {
		const struct pair *pair = &g_array_index(pairs->list, struct pair, i);
		const struct packet *sent = packet_at(&trace->timeline, pair->sent);
		const struct packet *received = packet_at(&trace->timeline, pair->received);

		add_point(edge_of(edges, hosts, sent->host, received->host), sent, received,
			  pairs->list->len >= THIN_FROM);
	}
	for (guint i = 0; i < edges->len; i++) {
		struct edge *edge = &g_array_index(edges, struct edge, i);

		edge->known = edge->points && corridor_fit(edge->points, &edge->corridor);
	}
	return edges;
}

#define OFFSET_MAX (INT64_C(100) * 365 * 86400 * 1000000000) /* a hundred years */

bool clock_offset_parse(const char *text, char **host, int64_t *ns, GError **error)
{
	const char *value = strrchr(text, '=');
	bool negative;

	*host = NULL;
	if (value && value == text) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "no host before the '='");
		return false;
	}
	if (value)
		*host = g_strndup(text, (gsize) (value++ - text));
	else
		value = text;
	negative = *value == '-';
	if (negative || *value == '+')
		value++;
	if (!when_parse_duration(value, ns, error)) {
		g_clear_pointer(host, g_free);
		return false;
	}
	if (*ns > OFFSET_MAX) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "more than a hundred years");
		g_clear_pointer(host, g_free);
		return false;
	}
	*ns = negative ? -*ns : *ns;
	return true;
}

/* "HOST=…" names one that is not the reference; without a name there must be
 * only one such. */
static struct host *given_host(const struct trace *trace, const char *name, const char *text,
			       GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);
	struct host *found = NULL;
	guint count = 0;

	for (guint i = 1; i < trace->model.hosts->len; i++) {
		struct host *host = model_host(&trace->model, i);

		if (!name || g_strcmp0(name, host->hostname) == 0) {
			found = host;
			count++;
		}
		g_string_append_printf(names, "%s%s", i > 1 ? ", " : "",
				       host->hostname ? host->hostname : "(no name)");
	}
	if (count == 1)
		return found;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--clock-offset '%s': %s; the first host's clock (%s) is the reference, %s%s",
		    text,
		    count ? "which host is meant is not clear" : "there is no such other host",
		    model_host(&trace->model, 0)->hostname ? model_host(&trace->model, 0)->hostname
							   : "no name",
		    names->len ? "the others are: " : "and there are no others", names->str);
	return NULL;
}

static bool take_given(struct trace *trace, const GPtrArray *offsets, GError **error)
{
	for (guint i = 0; i < offsets->len; i++) {
		const char *text = g_ptr_array_index(offsets, i);
		g_autofree char *name = NULL;
		struct host *host;
		int64_t ns;

		if (!clock_offset_parse(text, &name, &ns, error))
			return false;
		host = given_host(trace, name, text, error);
		if (!host)
			return false;
		host->clock =
			(struct host_clock) {.line.offset = ns, .error = -1, .known = CLOCK_GIVEN};
	}
	return true;
}

/* `to` by its corridor with `from`, whose clock is known. */
static void join(struct trace *trace, const struct edge *edge, guint from, guint to)
{
	const struct host_clock *known = &model_host(&trace->model, from)->clock;
	struct host_clock *clock = &model_host(&trace->model, to)->clock;
	struct clock_line line =
		from < to ? edge->corridor.line : clock_line_inverse(&edge->corridor.line);

	*clock = (struct host_clock) {.line = clock_line_compose(&known->line, &line),
				      .error = -1,
				      .known = CLOCK_PACKETS,
				      .group = known->group,
				      .neighbour = (uint16_t) from,
				      .packets = edge->count - edge->corridor.rejected,
				      .contradicting = edge->corridor.rejected};
	if (known->error >= 0 && edge->corridor.error >= 0)
		clock->error = known->error + edge->corridor.error;
}

/* The smallest error first, then the order given; of one direction only last. */
static bool is_better(const struct edge *edge, const struct edge *best)
{
	if (!edge->known)
		return false;
	if (!best || best->corridor.error < 0)
		return !best || edge->corridor.error >= 0;
	return edge->corridor.error >= 0 && edge->corridor.error < best->corridor.error;
}

static void grow_tree(struct trace *trace, GArray *edges)
{
	guint hosts = trace->model.hosts->len, joined;
	g_autofree bool *inside = g_new0(bool, hosts);

	for (guint i = 0; i < hosts; i++)
		inside[i] = i == 0 || model_host(&trace->model, i)->clock.known == CLOCK_GIVEN;
	do {
		struct edge *best = NULL;
		guint from = 0, to = 0;

		for (guint i = 0; i < hosts; i++)
			for (guint j = 0; j < hosts; j++) {
				struct edge *edge = edge_of(edges, hosts, i, j);

				if (inside[i] && !inside[j] && is_better(edge, best)) {
					best = edge;
					from = i;
					to = j;
				}
			}
		if (best)
			join(trace, best, from, to);
		/* nothing leads to the rest: the next one is their reference */
		for (joined = 0; joined < hosts && inside[joined]; joined++)
			;
		if (joined < hosts)
			inside[best ? to : joined] = true;
	} while (joined < hosts);
}

bool clocks_find(struct trace *trace, const struct pairs *pairs, const GPtrArray *offsets,
		 GError **error)
{
	GArray *edges;

	for (guint i = 0; i < trace->model.hosts->len; i++)
		model_host(&trace->model, i)->clock =
			(struct host_clock) {.error = i ? -1 : 0, .group = (uint16_t) i};
	if (!take_given(trace, offsets, error))
		return false;
	if (trace->model.hosts->len < 2)
		return true;
	edges = edges_new(trace, pairs);
	grow_tree(trace, edges);
	g_array_free(edges, TRUE);
	return true;
}

int64_t clocks_error(const struct trace *trace, uint16_t a, uint16_t b)
{
	const struct host_clock *x = &model_host(&trace->model, a)->clock;
	const struct host_clock *y = &model_host(&trace->model, b)->clock;

	return x->group != y->group || x->error < 0 || y->error < 0 ? -1 : x->error + y->error;
}

/* Received before it was sent, by more than the clocks' error. */
static bool too_early(const struct trace *trace, const struct packet *sent,
		      const struct packet *received)
{
	const struct host *from = model_host(&trace->model, sent->host);
	const struct host *to = model_host(&trace->model, received->host);
	int64_t error = clocks_error(trace, sent->host, received->host);

	return clock_line_at(&to->clock.line, received->time) + MAX(error, 0) <
	       clock_line_at(&from->clock.line, sent->time);
}

/* What the packet woke: the thread that sent it, when it did, the way. One that
 * comes too early is another packet, unless the clock was given and is wrong. */
static void follow(const struct trace *trace, struct wake_detail *detail, const struct packet *sent,
		   const struct packet *received)
{
	const struct host *from = model_host(&trace->model, sent->host);
	const struct host *to = model_host(&trace->model, received->host);
	int64_t arrived = clock_line_at(&to->clock.line, received->time);
	int64_t left = clock_line_at(&from->clock.line, sent->time);
	int64_t handed = clock_line_at(&from->clock.line, sent->handed);

	if (from->clock.known != CLOCK_GIVEN && to->clock.known != CLOCK_GIVEN &&
	    too_early(trace, sent, received))
		return;
	detail->thread = sent->thread;
	detail->call = sent->call;
	detail->begin = MIN(handed, arrived);
	detail->way = MAX(arrived - left, 0);
	detail->clock_error = clocks_error(trace, sent->host, received->host);
}

static void count_early(struct trace *trace, const struct packet *sent,
			const struct packet *received)
{
	struct host *from = model_host(&trace->model, sent->host);
	struct host *to = model_host(&trace->model, received->host);

	if (!too_early(trace, sent, received))
		return;
	from->clock.too_early += sent->host != 0;
	to->clock.too_early += received->host != 0;
}

void clocks_follow(struct trace *trace, const struct pairs *pairs)
{
	for (guint i = 0; i < pairs->list->len; i++) {
		const struct pair *pair = &g_array_index(pairs->list, struct pair, i);
		const struct packet *sent = packet_at(&trace->timeline, pair->sent);
		const struct packet *received = packet_at(&trace->timeline, pair->received);

		if (model_host(&trace->model, sent->host)->clock.group ==
		    model_host(&trace->model, received->host)->clock.group)
			count_early(trace, sent, received);
	}
	for (uint32_t i = 1; pairs->list->len && i < trace->timeline.details.used; i++) {
		struct wake_detail *detail = (struct wake_detail *) detail_at(&trace->timeline, i);
		const struct packet *sent, *received;
		uint32_t found;

		pages_pass(&trace->timeline.details, i);
		if (detail->kind != DETAIL_PACKET || !detail->packet)
			continue;
		found = pairs_sent(pairs, detail->packet);
		if (!found)
			continue;
		sent = packet_at(&trace->timeline, found);
		received = packet_at(&trace->timeline, detail->packet);
		if (model_host(&trace->model, sent->host)->clock.group ==
		    model_host(&trace->model, received->host)->clock.group)
			follow(trace, detail, sent, received);
	}
}

void clocks_warnings(const struct trace *trace, GPtrArray *lines)
{
	const char *first = trace_host_name(trace, 0);

	for (guint i = 1; i < trace->model.hosts->len; i++) {
		const struct host *host = model_host(&trace->model, i);
		const struct host_clock *clock = &host->clock;
		const char *name = trace_host_name(trace, i);

		if (clock->group && clock->known == CLOCK_OWN)
			g_ptr_array_add(
				lines,
				g_strdup_printf(
					"packets between %s and %s: none match, so that their "
					"clocks could "
					"not be brought together; %s's is taken as it is, and no "
					"wait is "
					"followed from one to the other (say how they differ with: "
					"--clock-offset %s=DURATION)",
					first, name, name, host->hostname ? host->hostname : ""));
		else if (clock->group)
			g_ptr_array_add(lines,
					g_strdup_printf("packets between %s and %s: none match; "
							"its clock follows %s's, "
							"which is taken as it is",
							first, name,
							trace_host_name(trace, clock->group)));
		else if (clock->known == CLOCK_PACKETS && clock->error < 0)
			g_ptr_array_add(
				lines,
				g_strdup_printf(
					"the clock error of %s: packets match in one direction "
					"only, or the "
					"clock that it was compared with is not known better",
					name));
		if (clock->known == CLOCK_GIVEN && clock->too_early)
			g_ptr_array_add(
				lines,
				g_strdup_printf("a true clock of %s: with the --clock-offset "
						"given, %" PRIu32
						" packets are received before they were sent",
						name, clock->too_early));
	}
}
