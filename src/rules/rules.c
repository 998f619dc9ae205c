/* SPDX-License-Identifier: MIT */
/* See rules.h.
 *
 * Names and keys are compared with patterns once for each that there is, not for each stretch:
 * `threads` and `leaves` keep for each rule whether its selectors of that kind hold.
 */
#include "rules/rules.h"

#include <math.h>
#include <string.h>

#include "ready/ready.h"
#include "run/choosing.h"
#include "run/option_values.h"
#include "util/error.h"
#include "util/idmap.h"
#include "util/pattern.h"
#include "waits/causes.h"
#include "waits/state_names.h"
#include "rules/finding_stretches.h"
#include "rules/marks.h"
#include "rules/rule_miss.h"

/* What it takes to tell whether a rule's selectors hold. */
struct means {
	struct marks *locks, *calls; /* owned; NULL: not asked */
	struct finding_stretches *finding; /* owned; NULL: not asked, or there is none */
};

struct picked {
	uint64_t count;
	int64_t ns;
};

struct rules {
	const struct session *session;
	GArray *list; /* struct rule; as written, empty of things that are gone */
	guint count;
	struct picked picked[RULES_MAX];
	struct means means[RULES_MAX];
	bool cuts; /* some rule has marks */
	const struct gone *gone; /* borrowed; NULL: as written */
	uint64_t *threads; /* owned; of each thread: rules that may pick it */
	struct idmap leaves; /* leaf -> place in `fits` */
	GArray *fits; /* uint64_t: rules that a leaf's key fits */
	uint64_t with_work; /* rules that may pick work */
};

static void clear(gpointer rule)
{
	rule_clear(rule);
}

static const struct rule *rule_at(const struct rules *rules, guint i)
{
	return &g_array_index(rules->list, struct rule, i);
}

static void mark_threads(struct rules *rules, uint64_t bit, const char *wanted, bool process,
			 uint64_t *marks)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	session_threads_named(rules->session, wanted, process, list);
	for (guint i = 0; i < list->len; i++)
		marks[g_array_index(list, uint32_t, i)] |= bit;
}

static bool host_fits(const struct rules *rules, uint32_t thread, const char *wanted)
{
	const struct model *model = &rules->session->trace.model;
	const struct host *host = model_host(model, model_thread(model, thread)->host);

	return pattern_match(wanted, host->hostname ? host->hostname : "");
}

/* Which threads the rule may pick. */
static void choose_threads(struct rules *rules, const struct rule *rule, uint64_t bit)
{
	uint32_t count = rules->session->trace.model.thread_count;
	g_autofree uint64_t *by_name = g_new0(uint64_t, count + 1);
	g_autofree uint64_t *by_process = g_new0(uint64_t, count + 1);

	if (rule->value[SELECT_THREAD])
		mark_threads(rules, bit, rule->value[SELECT_THREAD], false, by_name);
	if (rule->value[SELECT_PROCESS])
		mark_threads(rules, bit, rule->value[SELECT_PROCESS], true, by_process);
	for (uint32_t i = 0; i < count; i++)
		if ((!rule->value[SELECT_THREAD] || by_name[i]) &&
		    (!rule->value[SELECT_PROCESS] || by_process[i]) &&
		    (!rule->value[SELECT_HOST] || host_fits(rules, i, rule->value[SELECT_HOST])))
			rules->threads[i] |= bit;
}

static struct rules *rules_empty(const struct session *session)
{
	struct rules *rules = g_new0(struct rules, 1);

	rules->session = session;
	rules->list = g_array_new(FALSE, FALSE, sizeof(struct rule));
	g_array_set_clear_func(rules->list, clear);
	rules->threads = g_new0(uint64_t, session->trace.model.thread_count + 1);
	rules->fits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	idmap_init(&rules->leaves);
	return rules;
}

static bool may_pick_work(const struct rule *rule, const struct means *means)
{
	const char *leaf = rule->value[SELECT_LEAF];

	return !rule->value[SELECT_ON] && !rule->value[SELECT_CAUSE] &&
	       (!rule->value[SELECT_FINDING] ||
		(means->finding && finding_is_pieces(means->finding))) &&
	       !(leaf && g_str_has_prefix(leaf, "blocked/"));
}

static struct means means_of(const struct session *session, const struct rule *rule)
{
	const char *holds = rule->value[SELECT_HOLDS], *function = rule->value[SELECT_FUNCTION];
	const char *finding = rule->value[SELECT_FINDING];

	return (struct means) {holds ? marks_of_locks(session, holds) : NULL,
			       function ? marks_of_calls(session, function) : NULL,
			       finding ? finding_stretches_new(session, finding) : NULL};
}

struct rules *rules_new(const struct session *session, const char *const *texts, guint count)
{
	struct rules *rules = rules_empty(session);

	g_assert(count <= RULES_MAX);
	rules->count = count;
	for (guint i = 0; i < count; i++) {
		struct rule rule;
		uint64_t bit = UINT64_C(1) << i;

		if (rule_parse(texts[i], &rule, NULL))
			choose_threads(rules, &rule, bit);
		rules->means[i] = means_of(session, &rule);
		rules->cuts |= rules->means[i].locks || rules->means[i].calls;
		if (may_pick_work(&rule, &rules->means[i]))
			rules->with_work |= bit;
		g_array_append_val(rules->list, rule);
	}
	return rules;
}

struct rules *rules_of_gone(const struct session *session, const struct gone *gone, guint count)
{
	struct rules *rules = rules_empty(session);

	g_assert(count <= RULES_MAX);
	rules->count = count;
	rules->gone = gone;
	return rules;
}

bool rules_pick_functions(const struct rules *rules)
{
	for (guint i = 0; i < rules->list->len; i++)
		if (rules->means[i].calls)
			return true;
	return false;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (guint i = 0; i < rules->count; i++) {
		marks_free(rules->means[i].locks);
		marks_free(rules->means[i].calls);
		finding_stretches_free(rules->means[i].finding);
	}
	g_array_free(rules->list, TRUE);
	g_array_free(rules->fits, TRUE);
	g_free(rules->threads);
	idmap_clear(&rules->leaves);
	g_free(rules);
}

static bool leaf_fits(const struct rule *rule, const char *key)
{
	return !rule->value[SELECT_LEAF] || pattern_match(rule->value[SELECT_LEAF], key);
}

/* Rules whose pattern the leaf's key fits. */
static uint64_t fitting(struct rules *rules, uint32_t leaf)
{
	uint32_t known = idmap_get(&rules->leaves, leaf);
	g_autofree char *key = NULL;
	uint64_t fit = 0;

	if (known != IDMAP_NONE)
		return g_array_index(rules->fits, uint64_t, known);
	key = leaf_key(rules->session, leaf);
	for (guint i = 0; i < rules->list->len; i++)
		if (leaf_fits(rule_at(rules, i), key))
			fit |= UINT64_C(1) << i;
	idmap_set(&rules->leaves, leaf, rules->fits->len);
	g_array_append_val(rules->fits, fit);
	return fit;
}

static bool wait_fits(const struct rules *rules, const struct rule *rule, uint32_t thread,
		      const struct span *span)
{
	struct wait wait;

	if (!rule->value[SELECT_ON] && !rule->value[SELECT_CAUSE])
		return true;
	if (!leaf_is_blocked(span->leaf)) /* ready: its cause is known, nothing was waited on */
		return leaf_is_off_cpu(span->leaf) && rule->value[SELECT_CAUSE] &&
		       !rule->value[SELECT_ON] &&
		       pattern_match(rule->value[SELECT_CAUSE],
				     cause_kind_text(ready_cause_kind(
					     ready_of(rules->session, thread, span).kind)));
	wait = wait_of(rules->session, thread, span);
	if (rule->value[SELECT_ON] &&
	    !pattern_match(rule->value[SELECT_ON],
			   session_text(rules->session,
					block_waits_for(rules->session, wait.block))))
		return false;
	return !rule->value[SELECT_CAUSE] ||
	       pattern_match(rule->value[SELECT_CAUSE],
			     cause_kind_text(wait_cause_kind(rules->session, &wait)));
}

static bool is_marked(const struct marks *marks, uint32_t thread, int64_t time)
{
	int64_t until;

	return !marks || marks_at(marks, thread, time, &until);
}

static bool means_fit(const struct rules *rules, guint i, uint32_t thread, const struct span *span)
{
	const struct means *means = &rules->means[i];

	if (rule_at(rules, i)->value[SELECT_FINDING] &&
	    !(means->finding && finding_has(means->finding, rules->session, thread, span)))
		return false;
	return is_marked(means->locks, thread, span->begin) &&
	       is_marked(means->calls, thread, span->begin);
}

int64_t rules_cut(const struct rules *rules, uint32_t thread, const struct span *span)
{
	int64_t cut = span->end, until;

	for (guint i = 0; rules->cuts && i < rules->count && !leaf_is_off_cpu(span->leaf); i++) {
		const struct means *means = &rules->means[i];

		if (means->locks) {
			marks_at(means->locks, thread, span->begin, &until);
			cut = MIN(cut, until);
		}
		if (means->calls) {
			marks_at(means->calls, thread, span->begin, &until);
			cut = MIN(cut, until);
		}
	}
	return cut;
}

/* As they are written. */
static uint64_t pick(struct rules *rules, uint32_t thread, const struct span *span)
{
	uint64_t may = rules->threads[thread], picked = 0;

	if (may)
		may &= fitting(rules, span->leaf);
	for (guint i = 0; i < rules->count && may >> i; i++) {
		const struct rule *rule = rule_at(rules, i);

		if (may >> i & 1 && span->end - span->begin > rule->longer &&
		    wait_fits(rules, rule, thread, span) && means_fit(rules, i, thread, span))
			picked |= UINT64_C(1) << i;
	}
	return picked;
}

void rules_pick(struct rules *rules, uint32_t thread, const struct span *span, struct pick *of)
{
	of->rules = rules->gone ? gone_things(rules->gone, thread, span, &of->at)
				: pick(rules, thread, span);
	for (uint64_t left = of->rules; left; left &= left - 1) {
		struct picked *by = &rules->picked[__builtin_ctzll(left)];

		by->count++;
		by->ns += span->end - span->begin;
	}
}

bool rules_part(const struct rules *rules, uint32_t thread, int64_t from, int64_t to,
		struct span *span, struct pick *of)
{
	struct gone_part part;

	if (!gone_next(rules->gone, thread, from, to, &of->at, &part))
		return false;
	*span = (struct span) {part.begin, part.end, PACK(LEAF_WORK_USER, 0), 0};
	of->rules = part.things;
	return true;
}

/* What is counted as a whole is gone whenever it begins; of a wait that others have the rest of, as
 * much. */
static struct change without(const struct rules *rules, const struct pick *of, uint64_t things,
			     uint32_t thread, const struct span *span)
{
	int64_t ns = leaf_is_off_cpu(span->leaf)
			     ? gone_ns(rules->gone, thread, span, things, of->at)
			     : span->end - span->begin;

	return (struct change) {ns == span->end - span->begin ? 0 : 1, -1, ns};
}

struct change rules_change(const struct rules *rules, const struct pick *of, uint64_t some,
			   uint32_t thread, const struct span *span)
{
	struct change change = {1, -1, 0};
	uint64_t picked = of->rules & some;

	if (!picked)
		return change;
	if (rules->gone)
		return without(rules, of, picked, thread, span);
	for (guint i = 0; i < rules->count && picked >> i; i++) {
		const struct change *one = &rule_at(rules, i)->change;

		if (!(picked >> i & 1))
			continue;
		change.factor *= one->factor;
		if (one->length >= 0 && (change.length < 0 || one->length < change.length))
			change.length = one->length;
	}
	return change;
}

enum rules_reach rules_reach(const struct rules *rules, uint32_t thread)
{
	if (rules->gone)
		return gone_any(rules->gone, thread) ? PICKS_PARTS : PICKS_NOTHING;
	return rules->threads[thread] & rules->with_work ? PICKS_ANY
	       : rules->threads[thread]                  ? PICKS_OFF_CPU
							 : PICKS_NOTHING;
}

void rules_picked(const struct rules *rules, guint index, uint64_t *count, int64_t *ns)
{
	*count = rules->picked[index].count;
	*ns = rules->picked[index].ns;
}

int64_t change_of(const struct change *change, int64_t ns)
{
	int64_t length = change->length >= 0 ? change->length : ns;

	length = change->factor == 1 ? length : llround(change->factor * (double) length);
	return MAX(length - change->less, 0);
}

bool rules_pick_all(struct rules *rules, guint index, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;

	if (!(rules->threads[thread] >> index & 1) || rules->means[index].locks ||
	    rules->means[index].calls)
		return false;
	spans_begin(&spans, rules->session, thread, from, to);
	while (spans_next(&spans, &span))
		if (!(pick(rules, thread, &span) >> index & 1))
			return false;
	return true;
}

bool rules_refuse_nothing(const struct rules *rules, guint index, GError **error)
{
	const struct rule *rule = rule_at(rules, index);
	uint32_t count = rules->session->trace.model.thread_count;
	g_autofree bool *may = g_new0(bool, count + 1);
	g_autofree char *words = NULL;

	for (uint32_t i = 0; i < count; i++)
		may[i] = rules->threads[i] >> index & 1;
	words = rule_miss(rules->session, rule, may);
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--what-if '%s' picks nothing: %s",
		    rule->text, words);
	return false;
}
