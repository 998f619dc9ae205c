/* SPDX-License-Identifier: MIT */
/* See known_words.h. */
#include "traits/known_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "event/results.h"
#include "event/softirqs.h"
#include "waits/state_names.h"

static const char *call_of(const char *operation)
{
	return g_str_has_prefix(operation, "syscall:") ? operation + strlen("syscall:") : "";
}

/* "/etc/x", or where the name alone says little with what it is: "socket unix". */
static char *object_text(const struct session *session, uint32_t object)
{
	const char *key = session_text(session, object), *name = resource_name(key);

	return g_str_has_prefix(key, "file:")
		       ? g_strdup(name)
		       : g_strdup_printf("%.*s %s", (int) strcspn(key, ":"), key, name);
}

/* --- what was recorded ---------------------------------------------------------------------- */

static struct phrase ret_phrase(const char *operation, const struct known_fields *fields,
				const struct trait_part *part)
{
	struct phrase phrase = {NULL, "did"};
	const char *error = result_name(part->value),
		   *meaning = result_meaning(call_of(operation), part->value);
	bool amount = fields->at[part->field].type == FIELD_NUMBER;

	if (part->test == TRAIT_FROM)
		phrase.text =
			part->value == 0
				? g_strdup("did not fail")
				: g_strdup_printf("returned %" PRId64 " or more", part->value);
	else if (part->test == TRAIT_TO && part->value < 0)
		phrase.text = g_strdup("failed");
	else if (part->test == TRAIT_TO)
		phrase.text = g_strdup_printf("returned %" PRId64 " or less", part->value);
	else if (error)
		phrase.text = g_strdup_printf("failed with %s", error);
	else if (part->value == KNOWN_ADDRESS)
		phrase.text = g_strdup("returned an address");
	else if (part->value == 0 && !amount)
		phrase.text = g_strdup("succeeded");
	else
		phrase.text = g_strdup_printf("returned %" PRId64 "%s%s%s", part->value,
					      meaning ? " (" : "", meaning ? meaning : "",
					      meaning ? ")" : "");
	return phrase;
}

static struct phrase in_flight_phrase(const struct trait_part *part)
{
	struct phrase phrase = {NULL, "did"};

	if (part->value == 0 && part->test != TRAIT_FROM)
		phrase.text = g_strdup("began while nobody else was in that call");
	else
		phrase.text = g_strdup_printf(
			"began while %s%" PRId64 "%s %s in that call",
			part->test == TRAIT_TO ? "at most " : "", part->value,
			part->test == TRAIT_FROM ? " or more others" : " other",
			part->value == 1 && part->test != TRAIT_FROM ? "was" : "were");
	return phrase;
}

/* Of block requests. */
static bool request_phrase(const char *name, const struct trait_part *part, struct phrase *phrase)
{
	static const struct {
		const char *name, *yes, *no;
	} flags[] = {{"write", "were writes", "were reads"},
		     {"readahead", "were reading ahead", "were not reading ahead"},
		     {"meta", "were for the file system's own data", "were for files' data"}};

	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
		if (strcmp(name, flags[i].name) == 0) {
			bool yes = part->test == TRAIT_FROM ||
				   (part->test == TRAIT_IS && part->value);

			*phrase = (struct phrase) {g_strdup(yes ? flags[i].yes : flags[i].no),
						   "were"};
			return true;
		}
	if (strcmp(name, "depth") == 0) {
		*phrase = (struct phrase) {NULL, "did"};
		if (part->value == 0 && part->test != TRAIT_FROM)
			phrase->text = g_strdup("found the disk with no other request");
		else
			phrase->text = g_strdup_printf(
				"found %s%" PRId64 "%s requests at the disk",
				part->test == TRAIT_TO ? "at most " : "", part->value,
				part->test == TRAIT_FROM ? " or more other" : " other");
		return true;
	}
	if (strcmp(name, "distance") != 0)
		return false;
	*phrase = (struct phrase) {NULL, "did"};
	if (part->value == 0 && part->test != TRAIT_FROM)
		phrase->text = g_strdup("began where the previous request ended");
	else
		phrase->text =
			g_strdup_printf("began %s%" PRId64
					" sectors%s from where the previous request ended",
					part->test == TRAIT_TO ? "at most " : "", part->value,
					part->test == TRAIT_FROM ? " or more" : "");
	return true;
}

static struct phrase field_phrase(const struct session *session, const struct known_fields *fields,
				  const struct trait_part *part)
{
	const char *name = session_text(session, fields->at[part->field].name);
	struct phrase phrase = {NULL, "had"};

	if (part->test == TRAIT_IS && part->value == KNOWN_ADDRESS)
		phrase.text = g_strdup_printf("had a %s", name);
	else if (part->test == TRAIT_IS)
		phrase.text = g_strdup_printf("had %s %" PRId64, name, part->value);
	else
		phrase.text = g_strdup_printf("had a %s of %" PRId64 " or %s", name, part->value,
					      part->test == TRAIT_FROM ? "more" : "less");
	return phrase;
}

/* --- what the operations before tell -------------------------------------------------------- */

struct phrase phrase_nth(const struct trait_part *part, const char *whose)
{
	struct phrase phrase = {NULL, "were"};
	int64_t to = part->value, from = part->value;

	if (part->test == TRAIT_IS && part->value > 1)
		phrase.text = g_strdup_printf("were number %" PRId64 " %s", from, whose);
	else if (part->test == TRAIT_FROM)
		phrase.text = g_strdup_printf("were number %" PRId64 " or later %s", from, whose);
	else if (to == 1)
		phrase.text = g_strdup_printf("were the first %s", whose);
	else
		phrase.text = g_strdup_printf("were among the first %" PRId64 " %s", to, whose);
	return phrase;
}

static struct phrase distance_phrase(const struct trait_part *part)
{
	struct phrase phrase = {NULL, "did"};

	if (part->value == 0 && part->test != TRAIT_FROM)
		phrase.text = g_strdup("began where the previous one on their file ended");
	else if (part->test == TRAIT_FROM && part->value == 1)
		phrase.text = g_strdup("did not begin where the previous one on their file ended");
	else
		phrase.text =
			g_strdup_printf("began %s%" PRId64
					" bytes%s from where the previous one on their file ended",
					part->test == TRAIT_TO ? "at most " : "", part->value,
					part->test == TRAIT_FROM ? " or more" : "");
	return phrase;
}

struct phrase phrase_time(const struct trait_part *part, const char *after)
{
	struct phrase phrase = {NULL, "did"};
	char length[32];

	when_duration(length, part->value);
	if (part->test == TRAIT_TO)
		phrase.text = g_strdup_printf("began within %s %s", length, after);
	else
		phrase.text = g_strdup_printf("began %s%s %s", length,
					      part->test == TRAIT_FROM ? " or more" : "", after);
	return phrase;
}

/* "softirq:3 (NET_RX)". */
static struct phrase interrupted_phrase(const char *name)
{
	const char *softirq =
		g_str_has_prefix(name, "softirq:")
			? softirq_name((uint32_t) g_ascii_strtoull(strchr(name, ':') + 1, NULL, 10))
			: NULL;
	struct phrase phrase = {NULL, "were"};

	phrase.text =
		g_strdup_printf("were interrupted by %s%s%s%s for a tenth of their time or more",
				name, softirq ? " (" : "", softirq ? softirq : "",
				softirq ? ")" : "");
	return phrase;
}

static struct phrase fixed_phrase(const struct session *session, enum known known,
				  const struct trait_part *part)
{
	struct phrase phrase = {NULL, "were"};
	const char *name = known_is_named(KNOWN_OWN + known)
				   ? session_text(session, (uint32_t) part->value)
				   : "";
	g_autofree char *object = NULL;

	switch (known) {
	case KNOWN_OBJECT:
		object = object_text(session, (uint32_t) part->value);
		phrase.text = g_strdup_printf("were on %s", object);
		return phrase;
	case KNOWN_SORT:
		phrase.text = g_strdup_printf("were on a %s", name);
		return phrase;
	case KNOWN_FILE:
		phrase.text = strcmp(name, "proc") == 0 || strcmp(name, "sys") == 0
				      ? g_strdup_printf("were on a file of /%s", name)
				      : g_strdup_printf("were on a %s", name);
		return phrase;
	case KNOWN_CALL:
		phrase.text = g_strdup_printf("were issued in %s", name);
		return phrase;
	case KNOWN_USER_CALLER:
		phrase.text = g_strdup_printf("were called from %s", name);
		return phrase;
	case KNOWN_USER_PATH:
		phrase.text = g_strdup_printf("were called through %s", name);
		return phrase;
	case KNOWN_KERNEL_CALLER:
		phrase.text = g_strdup_printf("were called from %s in the kernel", name);
		return phrase;
	case KNOWN_THREAD:
		phrase.text = g_strdup_printf("were %s's", name);
		return phrase;
	case KNOWN_HOST:
		phrase.text = g_strdup_printf(
			"were on host %s",
			model_host(&session->trace.model, (uint32_t) part->value)->hostname);
		return phrase;
	case KNOWN_CPU:
		phrase.text = g_strdup_printf("ended on CPU %" PRId64, part->value);
		phrase.again = "did";
		return phrase;
	case KNOWN_MIGRATED:
		phrase.text = g_strdup(part->value ? "ended on another CPU than they began on"
						   : "ended on the CPU that they began on");
		phrase.again = "did";
		return phrase;
	case KNOWN_BEFORE:
		phrase.text = g_strdup_printf("came after %s", name);
		phrase.again = "did";
		return phrase;
	case KNOWN_TAKER:
		phrase.text = part->value ? g_strdup_printf("lost the CPU mostly to %s", name)
					  : g_strdup("lost the CPU to nobody");
		phrase.again = "did";
		return phrase;
	case KNOWN_INTERRUPTER:
		return interrupted_phrase(name);
	case KNOWN_IDLE_STATE:
		phrase.text = g_strdup_printf("woke their CPU from C-state %" PRId64, part->value);
		phrase.again = "did";
		return phrase;
	case KNOWN_DISTANCE:
		return distance_phrase(part);
	case KNOWN_NTH_ON:
		return phrase_nth(part, "on their file");
	case KNOWN_NTH:
		return phrase_nth(part, "of their thread");
	case KNOWN_SINCE:
		return phrase_time(part, "after the previous one of their thread ended");
	default:
		return phrase_time(part, "into the window");
	}
}

struct phrase known_phrase(const struct session *session, const char *operation,
			   const struct known_fields *fields, const struct trait_part *part)
{
	struct phrase phrase;
	const char *name;

	if (part->field >= KNOWN_OWN)
		return fixed_phrase(session, (enum known)(part->field - KNOWN_OWN), part);
	name = session_text(session, fields->at[part->field].name);
	if (strcmp(name, "ret") == 0)
		return ret_phrase(operation, fields, part);
	if (strcmp(name, "in_flight") == 0)
		return in_flight_phrase(part);
	if (g_str_has_prefix(operation, "block-") && request_phrase(name, part, &phrase))
		return phrase;
	return field_phrase(session, fields, part);
}

/* --- as data -------------------------------------------------------------------------------- */

static char *value_text(const struct session *session, const struct trait_part *part)
{
	if (known_is_named(part->field))
		return g_strdup(session_text(session, (uint32_t) part->value));
	return part->value == KNOWN_ADDRESS ? g_strdup("address")
					    : g_strdup_printf("%" PRId64, part->value);
}

static struct trait_told *
part_told(const struct session *session, const struct known_fields *fields,
	  const struct trait_part *part)
{
	struct trait_told *told = g_new0(struct trait_told, 1);

	told->field = g_strdup(known_name(session, fields, part->field));
	told->from = told->to = FIELD_NONE;
	if (part->test == TRAIT_IS)
		told->value = value_text(session, part);
	else if (part->test == TRAIT_FROM)
		told->from = part->value;
	else
		told->to = part->value;
	return told;
}

struct trait_told *known_told(const struct session *session, const struct known_fields *fields,
			      const struct trait *trait)
{
	struct trait_told *told = part_told(session, fields, &trait->parts[0]);

	if (trait->part_count == 2)
		told->and = part_told(session, fields, &trait->parts[1]);
	told->p = trait->p;
	told->explained = (int64_t) trait->explained;
	return told;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* What one more of it is, and how many of the numbers that makes. */
static const char *unit_of(const struct session *session, const struct profile *profile,
			   const struct known_fields *fields, guint column, double *step,
			   const char **what)
{
	const char *name = known_name(session, fields, column);
	bool in_entries =
		g_str_has_prefix(profile->operation, "syscall:io_") ||
		g_str_has_prefix(profile->operation, "syscall:poll") ||
		g_str_has_prefix(profile->operation, "syscall:ppoll") ||
		g_str_has_prefix(profile->operation, "syscall:epoll") ||
		g_str_has_prefix(profile->operation, "syscall:pselect") ||
		g_str_has_prefix(profile->operation, "syscall:select") ||
		g_str_has_prefix(profile->operation, "syscall:futex");

	*step = 1;
	*what = name;
	if (column == KNOWN_OWN + KNOWN_SINCE) {
		*step = 1000000;
		*what = "time since the thread's one before";
		return "a ms";
	}
	if (strcmp(name, "sectors") == 0 || g_str_has_prefix(profile->operation, "block-")) {
		*what = strcmp(name, "sectors") == 0 ? "size" : name;
		if (strcmp(name, "depth") == 0) {
			*what = "other requests at the disk";
			return "each";
		}
		*step = 2;
		return "a KiB";
	}
	if (strcmp(name, "in_flight") == 0) {
		*what = "others in that call";
		return "each";
	}
	if (column == KNOWN_OWN + KNOWN_DISTANCE)
		*what = "distance from where the previous one ended";
	if (in_entries)
		return "each";
	*step = 1024;
	return "a KiB";
}

char *known_slope(const struct session *session, const struct profile *profile,
		  const struct known_fields *fields, guint column, const struct line_fit *fit)
{
	const char *what, *unit;
	double step, ns;
	char length[32];

	unit = unit_of(session, profile, fields, column, &step, &what);
	ns = fit->slope * step;
	if (fabs(ns) >= 1)
		when_duration(length, (int64_t) llround(fabs(ns)));
	else
		g_snprintf(length, sizeof length, "%.2g ns", fabs(ns));
	return g_strdup_printf("%s: %s%s %s, %.0f %% of the variance", what,
			       ns < 0 ? "less by " : "", length, unit, 100 * fit->share);
}
