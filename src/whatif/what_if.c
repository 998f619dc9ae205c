/* SPDX-License-Identifier: MIT */
/* See what_if.h. */
#include "whatif/what_if.h"

#include <string.h>

#include "findings/findings.h"
#include "run/command.h"
#include "run/option_values.h"
#include "timeline/operation.h"
#include "whatif/hinge.h"
#include "whatif/new_path.h"

static bool add_rule(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;
	struct rule rule;
	bool good;

	(void) option;
	if (options->what_if->len &&
	    (strcmp(value, RULE_BEST) == 0 || replay_asks_for_best(options)))
		return options_refuse(error, "--what-if best stands alone: it tries rules itself");
	if (options->what_if->len == RULES_MAX)
		return options_refuse(error, "--what-if: there are at most %d rules", RULES_MAX);
	if (strcmp(value, RULE_BEST) != 0) {
		good = rule_parse(value, &rule, error);
		rule_clear(&rule);
		if (!good)
			return false;
	}
	g_ptr_array_add(options->what_if, g_strdup(value));
	return true;
}

const struct option option_what_if = {
	"what-if", "RULE",
	"how much sooner, had that been faster: 'thread=Xorg leaf=*nanosleep: 0',\n"
	"'on=device:vda: x0.5', 'longer=10ms: 10ms'; may be repeated",
	.set = add_rule, .repeatable = true};

void what_if_want(const struct options *options, struct wanted *wanted)
{
	for (guint i = 0; i < options->what_if->len; i++) {
		struct options with = *options;
		struct rule rule;

		rule_parse(g_ptr_array_index(options->what_if, i), &rule, NULL);
		with.finding = rule.value[SELECT_FINDING];
		finding_want(&with, wanted);
		if (rule.value[SELECT_FUNCTION]) {
			wanted->operations |= OPERATIONS_OF_FRAMES | OPERATIONS_BY_HALF;
			wanted->resources = true;
		}
		rule_clear(&rule);
	}
}

/* What its wait was for may change in number, or in order. */
static void doubt_turns(struct doubts *doubts, const struct session *session,
			const struct wait *wait, int64_t ns)
{
	const struct reason *reason = block_reason(session, wait->block);

	if (!reason)
		return;
	switch (reason->kind) {
	case REASON_IO_LIMIT:
	case REASON_MEMORY_HIGH:
	case REASON_DIRTY:
		doubts->limits += ns;
		break;
	case REASON_UNANSWERED:
	case REASON_UNCONNECTED:
	case REASON_GIVEN_UP:
	case REASON_UNLOCKED:
	case REASON_ANSWER:
		doubts->tries += ns;
		break;
	default:
		doubts->tries += reason_is_try(reason) ? ns : 0;
		break;
	}
}

static struct doubts doubts_of(const struct session *session, const GArray *path)
{
	struct doubts doubts = {0};

	for (guint i = 0; i < path->len; i++) {
		const struct new_piece *piece = &g_array_index(path, struct new_piece, i);
		int64_t ns = piece->end - piece->begin;
		struct wait wait;
		enum hinge_doubt doubt;

		if (!leaf_is_blocked(piece->span.leaf)) {
			doubts.ready += leaf_is_off_cpu(piece->span.leaf) ? ns : 0;
			continue;
		}
		wait = wait_of(session, piece->thread, &piece->span);
		doubt = hinge_of(session, &wait, &piece->span).doubt;
		doubt_turns(&doubts, session, &wait, ns);
		doubts.anchors += doubt == HINGE_ANCHORED;
		doubts.anchored += doubt == HINGE_ANCHORED ? ns : 0;
		doubts.inferred += doubt == HINGE_INFERRED ? ns : 0;
		doubts.gaps += doubt == HINGE_GAP ? ns : 0;
	}
	return doubts;
}

static void answer(struct what_if *what_if, const struct way *way)
{
	const struct replay *replay = what_if->replay;
	int64_t begin = retimed_at(replay->retimed, CHANGED, way->first, way->from);
	GArray *path =
		new_path(replay->session, replay->retimed, CHANGED, way->thread, begin, way->to);

	what_if->begin = begin;
	what_if->recorded_begin = way->from;
	what_if->recorded_end = way->to;
	what_if->time = retimed_at(replay->retimed, CHANGED, way->thread, way->to);
	what_if->doubts = doubts_of(replay->session, path);
	what_if->verdict = answer_verdict(replay->session, what_if, path);
	what_if->path = path;
}

struct what_if *what_if_new(const struct session *session, uint32_t first, uint32_t thread,
			    int64_t from, int64_t to, GError **error)
{
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	const struct way way = {first, thread, from, to};
	struct what_if *what_if;
	struct replay *replay;

	g_array_append_val(ways, way);
	replay = replay_new(session, ways, true, error);
	if (!replay)
		return NULL;
	what_if = g_new0(struct what_if, 1);
	what_if->replay = replay;
	what_if->gain = replay_gain(replay, ways);
	answer(what_if, &way);
	return what_if;
}

void what_if_free(struct what_if *what_if)
{
	if (!what_if)
		return;
	replay_free(what_if->replay);
	if (what_if->verdict)
		g_ptr_array_free(what_if->verdict, TRUE);
	if (what_if->path)
		g_array_free(what_if->path, TRUE);
	g_free(what_if);
}
