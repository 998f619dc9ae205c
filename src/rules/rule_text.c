/* SPDX-License-Identifier: MIT */
/* See rule_text.h. */
#include "rules/rule_text.h"

#include <string.h>

#include "findings/findings.h"
#include "util/error.h"
#include "util/pattern.h"
#include "util/when.h"
#include "waits/causes.h"

static const char *const names[SELECTORS + 1] = {"thread",  "process", "host",  "leaf",
						 "on",      "cause",   "holds", "function",
						 "finding", "longer"};

const char *const *rule_selectors(void)
{
	return names;
}

void rule_clear(struct rule *rule)
{
	g_free(rule->text);
	for (int i = 0; i < SELECTORS; i++)
		g_free(rule->value[i]);
}

static bool refuse(GError **error, const char *text, const char *what)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--what-if '%s': %s; a rule is 'SELECTORS: CHANGE', as in "
		    "'thread=Xorg leaf=*nanosleep: 0' or 'on=device:vda: x0.5'",
		    text, what);
	return false;
}

/* With its unit. */
static bool parse_length(const char *text, int64_t *ns)
{
	return g_ascii_isdigit(*text) && !g_ascii_isdigit(text[strlen(text) - 1]) &&
	       when_parse_duration(text, ns, NULL);
}

static bool parse_change(const char *text, const char *change, struct change *made, GError **error)
{
	*made = (struct change) {1, -1};
	if (strcmp(change, "0") == 0) {
		made->factor = 0;
		return true;
	}
	if (*change == 'x') {
		char *end;

		made->factor = g_ascii_strtod(change + 1, &end);
		if (g_ascii_isdigit(change[1]) && !*end && made->factor >= 0 &&
		    made->factor <= 1000)
			return true;
		return refuse(error, text, "the factor behind 'x' is a number from 0 to 1000");
	}
	if (parse_length(change, &made->length))
		return true;
	if (*change == '-')
		return refuse(error, text,
			      "nothing takes less than no time: the change is negative");
	return refuse(error, text,
		      "what follows the last colon is the change: 0, xFACTOR (x0.5) or a length "
		      "with its unit (10ms)");
}

static int selector_of(const char *word, const char **value)
{
	const char *equals = strchr(word, '=');

	for (int i = 0; equals && i < SELECTORS; i++)
		if (strlen(names[i]) == (size_t) (equals - word) &&
		    strncmp(names[i], word, (size_t) (equals - word)) == 0) {
			*value = equals + 1;
			return *equals ? i : -1;
		}
	return -1;
}

/* NULL: there is such a kind. */
static char *missed_cause(const char *pattern)
{
	struct nearest nearest = {.wanted = pattern};
	g_autofree char *near = NULL;

	for (int i = 0; i < CAUSE_KIND_COUNT; i++)
		if (pattern_match(pattern, cause_kind_text((enum cause_kind) i))) {
			nearest_clear(&nearest);
			return NULL;
		} else {
			nearest_offer(&nearest, cause_kind_text((enum cause_kind) i));
		}
	near = nearest_list(&nearest, "; there are ");
	return g_strdup_printf("there is no kind of cause '%s'%s", pattern, near);
}

static bool add_selector(struct rule *rule, const char *text, const char *word, GError **error)
{
	const char *value = NULL;
	int selector = selector_of(word, &value);
	g_autofree char *what = NULL;

	if (selector < 0 || !*value) {
		g_autofree char *known = g_strjoinv("=, ", (char **) names);

		what = g_strdup_printf("'%s' is no selector; there are %s=", word, known);
		return refuse(error, text, what);
	}
	if (rule->value[selector]) {
		what = g_strdup_printf("%s= stands there twice", names[selector]);
		return refuse(error, text, what);
	}
	if (selector == SELECT_LONGER && !parse_length(value, &rule->longer)) {
		what = g_strdup_printf("longer=%s is no duration, such as 10ms", value);
		return refuse(error, text, what);
	}
	if (selector == SELECT_CAUSE && (what = missed_cause(value)))
		return refuse(error, text, what);
	if (selector == SELECT_FINDING && !finding_is_id(value)) {
		what = g_strdup_printf("finding=%s is no id, such as w-k3f7qa", value);
		return refuse(error, text, what);
	}
	rule->value[selector] = g_strdup(value);
	return true;
}

bool rule_parse(const char *text, struct rule *rule, GError **error)
{
	const char *colon = strrchr(text, ':');
	g_autofree char *selectors = colon ? g_strndup(text, (gsize) (colon - text)) : NULL;
	g_autofree char *change = colon ? g_strstrip(g_strdup(colon + 1)) : NULL;
	g_auto(GStrv) words = NULL;

	*rule = (struct rule) {.text = g_strdup(text), .longer = -1};
	if (!colon)
		return refuse(error, text, "it has no colon");
	if (!parse_change(text, change, &rule->change, error))
		return false;
	if (!g_shell_parse_argv(selectors, NULL, &words, NULL))
		return refuse(error, text, "it names nothing that is to change");
	for (guint i = 0; words[i]; i++)
		if (!add_selector(rule, text, words[i], error))
			return false;
	return true;
}
