/* SPDX-License-Identifier: MIT */
/* See request_words.h. */
#include "traits/request_words.h"

#include <inttypes.h>
#include <string.h>

#include "traits/known_words.h"

static const char *thing_at(const struct request_known *known, const struct trait_part *part)
{
	return intern_text(known->names,
			   g_array_index(known->touched, uint32_t, part->field - REQUEST_FIXED));
}

static struct phrase touched_phrase(const struct request_known *known,
				    const struct trait_part *part)
{
	static const struct {
		const char *kind, *yes, *no;
	} words[] = {{"file:", "used", "did without"},
		     {"device:", "used", "did without"},
		     {"socket:", "used the connection", "did without the connection"},
		     {"call:", "called", "did without"},
		     {"program:", "went through", "did without"}};
	const char *thing = thing_at(known, part);
	struct phrase phrase = {NULL, "did"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(thing, words[i].kind))
			phrase.text =
				g_strdup_printf("%s %s", part->value ? words[i].yes : words[i].no,
						thing + strlen(words[i].kind));
	return phrase;
}

/* "came with 512 bytes or more". */
static struct phrase amount_phrase(const struct trait_part *part, const char *verb, const char *one,
				   const char *many)
{
	struct phrase phrase = {NULL, "did"};

	phrase.text = g_strdup_printf("%s %s%" PRId64 " %s%s", verb,
				      part->test == TRAIT_TO && part->value ? "at most " : "",
				      part->value, part->value == 1 ? one : many,
				      part->test == TRAIT_FROM ? " or more" : "");
	return phrase;
}

static struct phrase accept_phrase(const struct trait_part *part)
{
	struct phrase phrase = {NULL, "did"};
	char length[32];

	when_duration(length, part->value);
	if (part->value == 0 && part->test != TRAIT_FROM)
		phrase.text = g_strdup("were accepted before their first bytes came");
	else
		phrase.text = g_strdup_printf("waited %s%s%s to be accepted",
					      part->test == TRAIT_TO ? "at most " : "", length,
					      part->test == TRAIT_FROM ? " or more" : "");
	return phrase;
}

static struct phrase flight_phrase(const struct trait_part *part)
{
	struct phrase phrase = {NULL, "did"};

	if (part->value == 0 && part->test != TRAIT_FROM)
		phrase.text = g_strdup("began while no other was under way");
	else
		phrase.text = g_strdup_printf(
			"began while %s%" PRId64 " %sother%s %s under way",
			part->test == TRAIT_TO ? "at most " : "", part->value,
			part->test == TRAIT_FROM ? "or more " : "",
			part->value == 1 && part->test != TRAIT_FROM ? "" : "s",
			part->value == 1 && part->test != TRAIT_FROM ? "was" : "were");
	return phrase;
}

static struct phrase inner_phrase(const struct trait_part *part)
{
	if (part->value == 0 && part->test != TRAIT_FROM)
		return (struct phrase) {g_strdup("made no request of their own"), "did so"};
	return amount_phrase(part, "made", "request of their own", "requests of their own");
}

static struct phrase named(const char *before, const char *name, const char *behind)
{
	return (struct phrase) {g_strconcat(before, name, behind, NULL), "were"};
}

struct phrase request_phrase(const struct request_known *known, const struct trait_part *part)
{
	const char *name = request_field_is_named(part->field)
				   ? intern_text(known->names, (uint32_t) part->value)
				   : "";

	switch (part->field) {
	case REQUEST_ASKED_BY:
		return named("were asked by ", name, "");
	case REQUEST_FROM:
		return named("were asked over ", name, "");
	case REQUEST_SERVICE:
		return named("were taken up by ", name, "");
	case REQUEST_HOST:
		return named("were taken up on host ", name, "");
	case REQUEST_BYTES_IN:
		return amount_phrase(part, "read", "byte", "bytes");
	case REQUEST_BYTES_OUT:
		return amount_phrase(part, "wrote", "byte", "bytes");
	case REQUEST_ACCEPT:
		return accept_phrase(part);
	case REQUEST_NTH_ON:
		return phrase_nth(part, "on their connection");
	case REQUEST_NTH:
		return phrase_nth(part, "of their thread");
	case REQUEST_SINCE_ON:
		return phrase_time(part, "after the previous one on their connection ended");
	case REQUEST_SINCE:
		return phrase_time(part, "after the previous one of their thread ended");
	case REQUEST_IN_FLIGHT:
		return flight_phrase(part);
	case REQUEST_INNER:
		return inner_phrase(part);
	case REQUEST_CPU:
		return (struct phrase) {g_strdup_printf("made their first call on CPU %" PRId64,
							part->value),
					"did"};
	case REQUEST_MIGRATED:
		return (struct phrase) {g_strdup(part->value
							 ? "had a thread that changed its CPU"
							 : "had no thread that changed its CPU"),
					"had"};
	case REQUEST_WHEN:
		return phrase_time(part, "into the window");
	default:
		return touched_phrase(known, part);
	}
}

static struct trait_told *part_told(const struct request_known *known,
				    const struct trait_part *part)
{
	struct trait_told *told = g_new0(struct trait_told, 1);

	told->field = g_strdup(request_field_name(part->field));
	told->from = told->to = FIELD_NONE;
	if (part->field >= REQUEST_FIXED) {
		if (!part->value) {
			g_free(told->field);
			told->field = g_strdup("not_touched");
		}
		told->value = g_strdup(thing_at(known, part));
	} else if (part->test == TRAIT_FROM) {
		told->from = part->value;
	} else if (part->test == TRAIT_TO) {
		told->to = part->value;
	} else {
		told->value = request_field_is_named(part->field)
				      ? g_strdup(intern_text(known->names, (uint32_t) part->value))
				      : g_strdup_printf("%" PRId64, part->value);
	}
	return told;
}

struct trait_told *request_told(const struct request_known *known, const struct trait *trait)
{
	struct trait_told *told = part_told(known, &trait->parts[0]);

	if (trait->part_count == 2)
		told->and = part_told(known, &trait->parts[1]);
	told->p = trait->p;
	told->explained = (int64_t) trait->explained;
	return told;
}
