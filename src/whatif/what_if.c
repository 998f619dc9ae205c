/* SPDX-License-Identifier: MIT */
/* See what_if.h.
 *
 * Every run re-times the trace without rules, too: if anything moves then, the replay is wrong,
 * and no answer is better than one that rests on it.
 */
#include "whatif/what_if.h"

#include <string.h>

#include "findings/findings.h"
#include "run/command.h"
#include "run/option_values.h"
#include "timeline/operation.h"
#include "util/error.h"
#include "whatif/best.h"
#include "whatif/hinge.h"
#include "whatif/new_path.h"

static bool asks_for_best(const struct options *options)
{
	return options->what_if->len &&
	       strcmp(g_ptr_array_index(options->what_if, 0), RULE_BEST) == 0;
}

static bool add_rule(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;
	struct rule rule;
	bool good;

	(void) option;
	if (options->what_if->len && (strcmp(value, RULE_BEST) == 0 || asks_for_best(options)))
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

enum { AS_RECORDED, CHANGED, FREE, MOVED, SURE_ONLY, SCENARIOS };

bool what_if_keeps_still(const struct session *session, const struct retimed *retimed, guint same,
			 GError **error)
{
	uint32_t first = NO_THREAD;
	int64_t first_at = 0;
	char time[48];

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		int64_t at;

		if (retimed_drift(retimed, same, i, &at) && (first == NO_THREAD || at < first_at)) {
			first = i;
			first_at = at;
		}
	}
	if (first == NO_THREAD)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
		    "--what-if has no answer from this trace: re-timed without any rule, %s (%d) "
		    "moves at %s; that is a fault of whylate, please report it",
		    session_thread_name(session, first),
		    model_thread(&session->trace.model, first)->tid,
		    when_time(time, first_at, session->asked.options->utc, false));
	return false;
}

/* All that is asked about: the answer would be the change itself. */
static bool refuse_all(const struct session *session, const char *rule, uint32_t thread,
		       GError **error)
{
	g_set_error(
		error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		"--what-if '%s' picks all that %s (%d) itself did, so it says nothing of it: add "
		"what of it is to change, as leaf=working/user or on=device:vda",
		rule, session_thread_name(session, thread),
		model_thread(&session->trace.model, thread)->tid);
	return false;
}

/* What the rules picked; false if one of them picked nothing, or all of `thread`. */
static bool count_picked(const struct session *session, struct rules *rules, uint32_t thread,
			 struct what_if *what_if, GError **error)
{
	for (guint i = 0; i < what_if->rules->len; i++) {
		uint64_t count;
		int64_t ns;

		rules_picked(rules, i, &count, &ns);
		if (!count)
			return rules_refuse_nothing(rules, i, error);
		if (!what_if->best &&
		    rules_pick_all(rules, i, thread, session->asked.from, session->asked.to))
			return refuse_all(session, g_ptr_array_index(what_if->rules, i), thread,
					  error);
		what_if->count += count;
		what_if->picked += ns;
	}
	return true;
}

static int64_t saved_in(const struct retimed *retimed, guint scenario, const struct way *way)
{
	return (way->to - way->from) - (retimed_at(retimed, scenario, way->thread, way->to) -
					retimed_at(retimed, scenario, way->first, way->from));
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

static void answer(const struct session *session, const struct retimed *retimed,
		   const struct way *way, struct what_if *what_if)
{
	int64_t begin = retimed_at(retimed, CHANGED, way->first, way->from);
	int64_t moved = saved_in(retimed, MOVED, way), sure = saved_in(retimed, SURE_ONLY, way);
	GArray *path = new_path(session, retimed, CHANGED, way->thread, begin, way->to);

	what_if->recorded = way->to - way->from;
	what_if->time = retimed_at(retimed, CHANGED, way->thread, way->to);
	what_if->saved = saved_in(retimed, CHANGED, way);
	what_if->saved_from = MIN(what_if->saved, MIN(moved, sure));
	what_if->saved_to = MAX(what_if->saved, MAX(moved, sure));
	what_if->saved_at_most = saved_in(retimed, FREE, way);
	what_if->doubts = doubts_of(session, path);
	what_if->doubts.cycles = retimed_cycles(retimed);
	what_if->verdict = answer_verdict(session, what_if, path);
	g_array_free(path, TRUE);
}

/* The answer is then of the best that was found; without rules if nothing saves anything. */
static void choose_best(struct what_if *what_if, const struct session *session,
			const struct way *way)
{
	what_if->best = best_find(session, way);
	g_ptr_array_unref(what_if->rules);
	what_if->rules =
		what_if->best->len
			? g_ptr_array_ref(g_array_index(what_if->best, struct best, 0).rules)
			: g_ptr_array_new();
}

struct what_if *what_if_new(const struct session *session, uint32_t first, uint32_t thread,
			    int64_t from, int64_t to, GError **error)
{
	static const struct scenario scenarios[SCENARIOS] = {
		[CHANGED] = {ALL_RULES, 0},
		[FREE] = {ALL_RULES, FREE_CPUS},
		[MOVED] = {ALL_RULES, ANCHORS_MOVE},
		[SURE_ONLY] = {ALL_RULES, NO_INFERRED}};
	const struct way way = {first, thread, from, to};
	struct what_if *what_if = g_new0(struct what_if, 1);
	struct retimed *retimed;
	struct rules *rules;

	what_if->rules = g_ptr_array_ref(session->asked.options->what_if);
	if (asks_for_best(session->asked.options))
		choose_best(what_if, session, &way);
	rules = rules_new(session, (const char *const *) what_if->rules->pdata,
			  what_if->rules->len);
	retimed = retime(session, rules, scenarios, SCENARIOS, session->asked.from,
			 session->asked.to);
	if (what_if_keeps_still(session, retimed, AS_RECORDED, error) &&
	    count_picked(session, rules, thread, what_if, error)) {
		answer(session, retimed, &way, what_if);
	} else {
		what_if_free(what_if);
		what_if = NULL;
	}
	retimed_free(retimed);
	rules_free(rules);
	return what_if;
}

void what_if_free(struct what_if *what_if)
{
	if (!what_if)
		return;
	g_ptr_array_unref(what_if->rules);
	if (what_if->best)
		g_array_unref(what_if->best);
	if (what_if->verdict)
		g_ptr_array_free(what_if->verdict, TRUE);
	g_free(what_if);
}
