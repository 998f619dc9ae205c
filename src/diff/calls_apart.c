/* SPDX-License-Identifier: MIT */
/* What sets the slower side apart: its requests by what is known of them, and the operations of the
 * kinds that differ most; see diff_calls.h.
 *
 * Slow is the side whose requests, or operations of that kind, take longer in the mean.
 */
#include "diff/diff_calls.h"

#include <string.h>

#include "traits/requests_apart.h"
#include "traits/sides_apart.h"

#define KINDS_ASKED 5 /* of system calls: those that differ most */
#define LEAST 5 /* calls on each side: of fewer nothing can be told */

static const char *const names[2] = {"A", "B"};

struct asking {
	struct taking taking[2];
	GArray *kinds; /* struct side_kind */
	GArray *calls; /* guint: of each kind, its place in diff->calls */
	uint32_t *kind_of[2]; /* owned; by interned name of the side's session: kind + 1 */
	uint32_t known[2]; /* names */
};

static guint kind_of(void *data, guint side, const struct operation *operation)
{
	const struct asking *asking = data;
	uint32_t name = PACK_NUMBER(operation->what);

	if (PACK_KIND(operation->what) != OPERATION_SYSCALL || name >= asking->known[side])
		return UINT32_MAX;
	return asking->kind_of[side][name] - 1;
}

static bool of_side(void *data, guint side, const struct operation *operation, uint32_t number)
{
	return operation_taken(&((struct asking *) data)->taking[side], operation, number);
}

/* The sides are of different times, and not mixed. */
static bool is_separate(const struct diff *diff)
{
	const struct side *a = &diff->sides[0], *b = &diff->sides[1];

	return a->session != b->session || a->from != b->from || a->to != b->to;
}

static void ask_about(struct diff *diff, struct asking *asking, guint place)
{
	const struct call_difference *call =
		&g_array_index(diff->calls, struct call_difference, place);
	struct side_kind kind = {.slow = call->mean[1] >= call->mean[0]};

	for (guint side = 0; side < 2; side++) {
		if (!call->name[side] || call->count[side] < LEAST ||
		    g_str_has_prefix(session_text(diff->sides[side].session, call->name[side]),
				     DIFF_TURN))
			return;
		g_assert(call->name[side] < asking->known[side]);
	}
	kind.operation =
		g_strconcat("syscall:", session_text(diff->sides[0].session, call->name[0]), NULL);
	g_array_append_val(asking->kinds, kind);
	g_array_append_val(asking->calls, place);
	for (guint side = 0; side < 2; side++)
		asking->kind_of[side][call->name[side]] = asking->kinds->len;
}

static void calls_apart(struct diff *diff)
{
	struct asking asking = {.kinds = g_array_new(FALSE, FALSE, sizeof(struct side_kind)),
				.calls = g_array_new(FALSE, FALSE, sizeof(guint))};
	struct sides_asked asked = {
		.separate = is_separate(diff),
		.of_requests = diff->sides[0].of_requests || diff->sides[1].of_requests,
		.kind_of = kind_of,
		.of_side = of_side,
		.data = &asking};
	GPtrArray *traits;

	for (guint side = 0; side < 2; side++) {
		asked.session[side] = diff->sides[side].session;
		asked.name[side] = names[side];
		asking.known[side] = intern_count(asked.session[side]->trace.model.names);
		asking.kind_of[side] = g_new0(uint32_t, asking.known[side]);
		taking_init(&asking.taking[side], &diff->sides[side]);
	}
	for (guint i = 0; i < diff->calls->len && asking.kinds->len < KINDS_ASKED; i++)
		if (g_array_index(diff->calls, struct call_difference, i).significant)
			ask_about(diff, &asking, i);
	asked.kinds = (const struct side_kind *) asking.kinds->data;
	asked.count = asking.kinds->len;
	traits = sides_apart(&asked);
	g_ptr_array_set_free_func(traits, NULL); /* the calls own them */
	for (guint i = 0; i < traits->len; i++) {
		g_array_index(diff->calls, struct call_difference,
			      g_array_index(asking.calls, guint, i))
			.traits = g_ptr_array_index(traits, i);
		g_free((char *) asked.kinds[i].operation);
	}
	g_ptr_array_unref(traits);
	for (guint side = 0; side < 2; side++) {
		taking_clear(&asking.taking[side]);
		g_free(asking.kind_of[side]);
	}
	g_array_free(asking.kinds, TRUE);
	g_array_free(asking.calls, TRUE);
}

static void requests_of_sides(struct diff *diff)
{
	const struct user_requests *const requests[2] = {diff->sides[0].requests,
							 diff->sides[1].requests};
	guint slow = diff->mean[1] >= diff->mean[0];
	const char *const who[2] = {names[slow], names[!slow]};

	if (requests[0]->listed->len && requests[1]->listed->len)
		diff->traits = request_sides_apart(requests, slow, is_separate(diff), who);
}

void diff_apart(struct diff *diff)
{
	if (diff->retimed) /* the same operations twice */
		return;
	calls_apart(diff);
	if (!diff->target && metric_of(diff->sides[0].costs) == METRIC_LATENCY)
		requests_of_sides(diff);
}
