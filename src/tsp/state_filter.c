/* SPDX-License-Identifier: MIT */
/* See state_filter.h. */
#include "tsp/state_filter.h"

#include <string.h>

#include "util/when.h"

#define TEXT_MAX 1000 /* of an expression */
#define DEEP_MAX 30   /* brackets within brackets */

enum kind { IS_EITHER, IS_BOTH, IS_NOT, IS_FOUND, IS_EQUAL, IS_OTHER, IS_MORE, IS_LESS, IS_PART };

struct expression {
	enum kind kind;
	struct expression *a, *b; /* owned; NULL */
	char *key, *value;        /* owned; key NULL: any */
};

static void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	expression_free(expression->a);
	expression_free(expression->b);
	g_free(expression->key);
	g_free(expression->value);
	g_free(expression);
}

/* --- reading --------------------------------------------------------------------------------- */

static struct expression *made_of(enum kind kind, struct expression *a, struct expression *b)
{
	struct expression *made = g_new0(struct expression, 1);

	made->kind = kind;
	made->a = a;
	made->b = b;
	return made;
}

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

/* Trimmed, and without its quotation marks. */
static char *word(const char *begin, const char *end)
{
	char *text = g_strstrip(g_strndup(begin, (gsize) (end - begin)));
	size_t length = strlen(text);

	if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
		memmove(text, text + 1, length - 2);
		text[length - 2] = '\0';
	}
	return text;
}

/* Where a text that is not quoted ends. */
static const char *end_of_text(const char *at)
{
	bool quoted = false;

	for (; *at; at++) {
		quoted ^= *at == '"';
		if (!quoted &&
		    (*at == ')' || g_str_has_prefix(at, "&&") || g_str_has_prefix(at, "||")))
			break;
	}
	return at;
}

static struct expression *read_text(const char **text)
{
	static const struct {
		const char *sign;
		enum kind kind;
	} signs[] = {{" contains ", IS_PART}, {"==", IS_EQUAL}, {"!=", IS_OTHER},
		     {"=", IS_EQUAL},         {">", IS_MORE},   {"<", IS_LESS}};
	const char *begin = *text, *end = end_of_text(begin);
	struct expression *made = made_of(IS_FOUND, NULL, NULL);

	*text = end;
	for (const char *at = begin; at < end && *at != '"' && !made->key; at++)
		for (size_t i = 0; i < G_N_ELEMENTS(signs) && !made->key; i++) {
			if (at == begin || !g_str_has_prefix(at, signs[i].sign))
				continue;
			made->kind = signs[i].kind;
			made->key = word(begin, at);
			made->value = word(at + strlen(signs[i].sign), end);
		}
	if (!made->value)
		made->value = word(begin, end);
	if (*made->value && (!made->key || *made->key))
		return made;
	expression_free(made);
	return NULL;
}

static struct expression *read_either(const char **text, guint depth);

/* NULL: that is none. */
static struct expression *read_one(const char **text, guint depth)
{
	struct expression *one;

	*text = skip_blanks(*text);
	if (depth > DEEP_MAX)
		return NULL;
	if (**text == '!') {
		++*text;
		one = read_one(text, depth + 1);
		return one ? made_of(IS_NOT, one, NULL) : NULL;
	}
	if (**text != '(')
		return read_text(text);
	++*text;
	one = read_either(text, depth + 1);
	*text = skip_blanks(*text);
	if (one && *(*text)++ == ')') {
		*text = skip_blanks(*text);
		return one;
	}
	expression_free(one);
	return NULL;
}

static struct expression *read_row(const char **text, guint depth, const char *sign, enum kind kind,
				   struct expression *(*read)(const char **text, guint depth))
{
	struct expression *all = read(text, depth), *next;

	while (all && g_str_has_prefix(*text, sign)) {
		*text += 2;
		next = read(text, depth);
		if (!next) {
			expression_free(all);
			return NULL;
		}
		all = made_of(kind, all, next);
	}
	return all;
}

static struct expression *read_both(const char **text, guint depth)
{
	return read_row(text, depth, "&&", IS_BOTH, read_one);
}

static struct expression *read_either(const char **text, guint depth)
{
	return read_row(text, depth, "||", IS_EITHER, read_both);
}

static struct expression *expression_new(const char *text)
{
	struct expression *all = read_either(&text, 0);

	if (all && !*text)
		return all;
	expression_free(all);
	return NULL;
}

/* --- matching -------------------------------------------------------------------------------- */

static bool contains(const char *text, const char *part)
{
	g_autofree char *a = g_utf8_casefold(text, -1), *b = g_utf8_casefold(part, -1);

	return strstr(a, b);
}

static bool same(const char *a, const char *b)
{
	return g_ascii_strcasecmp(a, b) == 0;
}

/* A number; of a duration in ns, with a unit too. */
static double amount(const char *key, const char *text)
{
	size_t length = strlen(text);
	int64_t ns;

	if (same(key, "duration") && length && g_ascii_isalpha(text[length - 1]) &&
	    when_parse_duration(text, &ns, NULL))
		return (double) ns;
	return g_ascii_strtod(text, NULL);
}

static bool fact_matches(const struct expression *one, const char *name, const char *value)
{
	if (one->key && !same(one->key, name))
		return false;
	switch (one->kind) {
	case IS_MORE:
		return amount(name, value) > amount(name, one->value);
	case IS_LESS:
		return amount(name, value) < amount(name, one->value);
	case IS_EQUAL:
	case IS_OTHER:
		return same(value, one->value);
	default:
		return contains(value, one->value);
	}
}

static bool matches(const struct expression *one, const GPtrArray *facts)
{
	switch (one->kind) {
	case IS_EITHER:
		return matches(one->a, facts) || matches(one->b, facts);
	case IS_BOTH:
		return matches(one->a, facts) && matches(one->b, facts);
	case IS_NOT:
		return !matches(one->a, facts);
	default:
		for (guint i = 0; i + 1 < facts->len; i += 2)
			if (fact_matches(one, facts->pdata[i], facts->pdata[i + 1]))
				return one->kind != IS_OTHER;
		return one->kind == IS_OTHER;
	}
}

static bool all_match(const GPtrArray *expressions, const GPtrArray *facts)
{
	for (guint i = 0; i < expressions->len; i++)
		if (!matches(expressions->pdata[i], facts))
			return false;
	return true;
}

unsigned filter_tags(const struct filter *filter, const GPtrArray *facts)
{
	return (all_match(filter->dimmed, facts) ? 0 : TAG_DIMMED) |
	       (all_match(filter->excluded, facts) ? 0 : TAG_EXCLUDED);
}

/* --- what is asked --------------------------------------------------------------------------- */

void filter_clear(struct filter *filter)
{
	g_ptr_array_unref(filter->dimmed);
	g_ptr_array_unref(filter->excluded);
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->dimmed->len && !filter->excluded->len;
}

static bool take_list(const json_t *list, GPtrArray *expressions)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		struct expression *one =
			text && strlen(text) <= TEXT_MAX ? expression_new(text) : NULL;

		if (!one)
			return false;
		g_ptr_array_add(expressions, one);
	}
	return !list || json_is_array(list);
}

bool filter_take(struct asking *asking, struct filter *filter)
{
	const json_t *given = parameter(asking, "filter_query_parameters");
	const json_t *map = json_object_get(given, "filter_expressions_map");
	const char *strategy = json_string_value(json_object_get(given, "strategy"));

	*filter = (struct filter) {g_ptr_array_new_with_free_func((GDestroyNotify) expression_free),
				   g_ptr_array_new_with_free_func((GDestroyNotify) expression_free),
				   g_strcmp0(strategy, "DEEP") == 0};
	if (take_list(json_object_get(map, "1"), filter->dimmed) &&
	    take_list(json_object_get(map, "4"), filter->excluded))
		return true;
	filter_clear(filter);
	asking_refuse(asking, 400, "Missing query parameters",
		      "filter_expressions_map must have lists of expressions, such as "
		      "{\"1\": [\"read\", \"duration>10ms\"]}");
	return false;
}
