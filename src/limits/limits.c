/* SPDX-License-Identifier: MIT */
/* Reading limits: a recursive descent over the grammar of limits.h. Each parse_…() takes what it
 * is named for from `at` on and moves on behind it; the first failure is kept.
 */
#include "limits/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "latencies/operations.h"
#include "util/error.h"

#define BUDGET_MAX (1u << 20) /* bytes */

struct parser {
	const char *text; /* borrowed; the whole limit */
	const char *at;
	GError **error;
};

#define FUNCTIONS                                                                                  \
	"p50, p99 …, min, max, mean, sum, count, working, interrupted, blocked, unknown, "         \
	"cpu, duration, lost"

G_GNUC_PRINTF(2, 3)
static bool refuse(struct parser *parser, const char *format, ...)
{
	g_autofree char *why = NULL;
	va_list list;

	va_start(list, format);
	why = g_strdup_vprintf(format, list);
	va_end(list);
	g_set_error(parser->error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "'%s': %s", parser->text,
		    why);
	return false;
}

static void skip_space(struct parser *parser)
{
	while (g_ascii_isspace(*parser->at))
		parser->at++;
}

static bool take(struct parser *parser, const char *token)
{
	skip_space(parser);
	if (!g_str_has_prefix(parser->at, token))
		return false;
	parser->at += strlen(token);
	return true;
}

/* A whole word, not the begin of another. */
static bool take_word(struct parser *parser, const char *word)
{
	const char *before = parser->at;

	if (take(parser, word) && !g_ascii_isalnum(*parser->at))
		return true;
	parser->at = before;
	return false;
}

/* Text up to one of `ends`, or what is between quotes. Free with g_free(). */
static char *take_text(struct parser *parser, const char *ends)
{
	const char *begin, *end;

	skip_space(parser);
	begin = parser->at;
	if (*begin == '"' || *begin == '\'') {
		end = strchr(begin + 1, *begin);
		if (!end)
			return NULL;
		parser->at = end + 1;
		return g_strndup(begin + 1, (gsize) (end - begin) - 1);
	}
	while (*parser->at && !strchr(ends, *parser->at))
		parser->at++;
	for (end = parser->at; end > begin && g_ascii_isspace(end[-1]);)
		end--;
	return g_strndup(begin, (gsize) (end - begin));
}

static const char *number_part(const char *text, double *number)
{
	char *end;

	/* digits first: no sign, no infinity, no hexadecimal */
	if (!g_ascii_isdigit(*text) || text[strspn(text, "0")] == 'x')
		return NULL;
	*number = g_ascii_strtod(text, &end);
	return end;
}

/* "p99.9" → 9990 */
static bool parse_percentile(struct parser *parser, struct bound *bound)
{
	double percent;
	const char *end;

	skip_space(parser);
	if (*parser->at != 'p')
		return false;
	end = number_part(parser->at + 1, &percent);
	if (!end || !(percent > 0 && percent <= 100))
		return false;
	bound->function = LIMIT_PERCENTILE;
	bound->percent = (uint32_t) (percent * 100 + 0.5);
	parser->at = end;
	return bound->percent > 0;
}

/* "blocked" with what may follow: "blocked/syscall:*". */
static bool parse_state(struct parser *parser, struct bound *bound)
{
	static const char *const states[] = {"working", "interrupted", "blocked", "unknown"};

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		g_autofree char *below = NULL;

		if (!take_word(parser, states[i]))
			continue;
		bound->function = LIMIT_STATE;
		if (*parser->at == '/') {
			below = take_text(parser, "( \t<>");
			bound->state = g_strconcat(states[i], below, NULL);
		} else {
			bound->state = g_strconcat(states[i], "*", NULL);
		}
		return true;
	}
	return false;
}

static bool parse_function(struct parser *parser, struct bound *bound)
{
	static const struct {
		const char *word;
		enum limit_function function;
	} words[] = {{"min", LIMIT_MIN},   {"max", LIMIT_MAX},     {"mean", LIMIT_MEAN},
		     {"sum", LIMIT_SUM},   {"count", LIMIT_COUNT}, {"duration", LIMIT_DURATION},
		     {"lost", LIMIT_LOST}, {"cpu", LIMIT_CPU}};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (take_word(parser, words[i].word)) {
			bound->function = words[i].function;
			if (bound->function == LIMIT_CPU) /* where its cause is looked for */
				bound->state = g_strdup("working*");
			return true;
		}
	return parse_percentile(parser, bound) || parse_state(parser, bound) ||
	       refuse(parser, "at '%s': must be a function: " FUNCTIONS, parser->at);
}

static bool set_once(struct parser *parser, char **where, char *text, const char *what)
{
	if (*where || !text || !*text) {
		g_free(text);
		return refuse(parser,
			      *where ? "there are two of %s"
				     : "%s: nothing is there, or a quote "
				       "is not closed",
			      what);
	}
	*where = text;
	return true;
}

static bool set_requests(struct parser *parser, struct limit *limit, const char *kind)
{
	static const char *const kinds[] = {"", "server", "client", "process"};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strcmp(kind, kinds[i]) == 0 && !limit->requests) {
			limit->requests = g_strdup(kind);
			return true;
		}
	return refuse(parser,
		      "'requests:%s': must be requests, requests:server, requests:client or "
		      "requests:process",
		      kind);
}

static bool parse_item(struct parser *parser, struct limit *limit)
{
	g_autofree char *text = NULL;

	if (take(parser, "thread="))
		return set_once(parser, &limit->thread, take_text(parser, ",)"), "thread=");
	if (take(parser, "process="))
		return set_once(parser, &limit->process, take_text(parser, ",)"), "process=");
	if (take(parser, "function="))
		return set_once(parser, &limit->code, take_text(parser, ",)"), "function=");
	text = take_text(parser, ",)");
	if (text && (strcmp(text, "requests") == 0 || g_str_has_prefix(text, "requests:")))
		return set_requests(parser, limit,
				    text + strlen("requests") + (text[strlen("requests")] == ':'));
	if (!set_once(parser, &limit->operation, g_steal_pointer(&text), "an operation"))
		return false;
	if (operations_named(limit->operation))
		return true;
	return refuse(parser,
		      "'%s' is no operation: such as syscall:fsync, irq:*, block-served:vda, "
		      "wait-cpu; nor 'requests', 'thread=NAME', 'process=NAME'",
		      limit->operation);
}

static bool parse_subject(struct parser *parser, struct limit *limit)
{
	if (!take(parser, "("))
		return true;
	if (take(parser, ")"))
		return true;
	do {
		if (!parse_item(parser, limit))
			return false;
	} while (take(parser, ","));
	return take(parser, ")") || refuse(parser, "at '%s': a ')' is missing", parser->at);
}

static bool parse_per(struct parser *parser, struct limit *limit)
{
	if (!take_word(parser, "per"))
		return true;
	if (take_word(parser, "thread"))
		limit->per = LIMIT_PER_THREAD;
	else if (take_word(parser, "process"))
		limit->per = LIMIT_PER_PROCESS;
	else
		return refuse(parser, "at '%s': must be per thread or per process", parser->at);
	return true;
}

/* The number's unit must be one that the function can have. */
static bool check_unit(struct parser *parser, const struct bound *bound, const char *unit)
{
	bool counts = bound->function == LIMIT_COUNT || bound->function == LIMIT_LOST;

	if (counts && bound->unit != LIMIT_NUMBER)
		return refuse(parser, "'%s': count and lost are plain numbers", unit);
	if (!counts && bound->unit == LIMIT_NUMBER && bound->number > 0)
		return refuse(parser, "a unit is missing: ns, us, ms or s%s",
			      bound->function == LIMIT_STATE ? ", or % of the threads' time"
			      : bound->function == LIMIT_CPU ? ", or % of the threads' work"
							     : "");
	if (bound->unit == LIMIT_SHARE && bound->function != LIMIT_STATE &&
	    bound->function != LIMIT_CPU)
		return refuse(parser,
			      "'%%' is for working, interrupted, blocked and unknown: a share of "
			      "the threads' time; and for cpu: of their work");
	return true;
}

static bool parse_number(struct parser *parser, struct bound *bound)
{
	static const struct {
		const char *word;
		enum limit_unit unit;
		double factor;
	} units[] = {{"ns", LIMIT_NS, 1},   {"us", LIMIT_NS, 1e3}, {"µs", LIMIT_NS, 1e3},
		     {"ms", LIMIT_NS, 1e6}, {"s", LIMIT_NS, 1e9},  {"%", LIMIT_SHARE, 0.01}};
	const char *end, *unit;

	skip_space(parser);
	end = number_part(parser->at, &bound->number);
	if (!end)
		return refuse(parser,
			      "at '%s': must be a number with its unit, as in 20ms, 30 %%, 5",
			      parser->at);
	parser->at = end;
	skip_space(parser);
	unit = parser->at;
	bound->unit = LIMIT_NUMBER;
	for (size_t i = 0; i < G_N_ELEMENTS(units) && bound->unit == LIMIT_NUMBER; i++)
		if (take_word(parser, units[i].word)) {
			bound->unit = units[i].unit;
			bound->number *= units[i].factor;
		}
	if (!check_unit(parser, bound, unit))
		return false;
	if (bound->unit == LIMIT_NUMBER && bound->function != LIMIT_COUNT &&
	    bound->function != LIMIT_LOST)
		bound->unit = LIMIT_NS; /* 0 is 0 in any unit */
	return true;
}

static bool parse_comparison(struct parser *parser, struct bound *bound)
{
	if (take(parser, ">="))
		bound->comparison = OVER_OR_EQUAL;
	else if (take(parser, ">"))
		bound->comparison = OVER;
	else if (take(parser, "<="))
		bound->comparison = UNDER_OR_EQUAL;
	else if (take(parser, "<"))
		bound->comparison = UNDER;
	else
		return refuse(parser, "at '%s': must be >, >=, < or <=", parser->at);
	return parse_number(parser, bound);
}

static bool of_operations(enum limit_function function)
{
	return function <= LIMIT_COUNT;
}

static bool parse_conditions(struct parser *parser, struct limit *limit)
{
	if (!take_word(parser, "if"))
		return true;
	do {
		struct bound bound = {0};
		bool ok = parse_function(parser, &bound) && parse_comparison(parser, &bound);

		g_array_append_val(limit->conditions, bound);
		if (!ok)
			return false;
		if (bound.function > LIMIT_STATE || limit->bound.function > LIMIT_STATE ||
		    of_operations(bound.function) != of_operations(limit->bound.function))
			return refuse(
				parser,
				"a condition is of the same operations or threads as the limit: "
				"%s",
				of_operations(limit->bound.function)
					? "p50 …, min, max, mean, sum, count"
					: "working, interrupted, blocked, unknown");
	} while (take_word(parser, "and"));
	return true;
}

/* What goes with what. */
static bool check(struct parser *parser, const struct limit *limit)
{
	enum limit_function function = limit->bound.function;

	if (of_operations(function) && !limit->operation && !limit->requests)
		return refuse(parser,
			      "of what? An operation or 'requests' stands in brackets, as in "
			      "p99(syscall:fsync)");
	if (limit->operation && limit->requests)
		return refuse(parser, "it is either of an operation or of requests");
	if (!of_operations(function) && (limit->operation || limit->requests))
		return refuse(parser,
			      "this function is not of operations or requests, but of thread=NAME "
			      "or process=NAME");
	if ((function == LIMIT_CPU) != (limit->code != NULL))
		return refuse(parser, "cpu and function=NAME go together, as in "
				      "cpu(function=checksum) > 20ms");
	if (function == LIMIT_LOST && (limit->thread || limit->process))
		return refuse(parser, "events are lost by the tracer, not by threads");
	if (limit->per && (limit->requests || function == LIMIT_LOST || function == LIMIT_DURATION))
		return refuse(parser, "'per' is for operations and states of threads");
	if ((function == LIMIT_LOST || function == LIMIT_DURATION) && limit->conditions->len)
		return refuse(parser, "'if' is for operations, requests and states of threads");
	return true;
}

/* "NAME: " before the limit: up to the first colon that is followed by space. */
static const char *take_name(struct limit *limit, const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || !g_ascii_isspace(colon[1]) || colon > text + strcspn(text, "("))
		return text;
	limit->name = g_strstrip(g_strndup(text, (gsize) (colon - text)));
	return colon + 1;
}

static void bound_clear(gpointer data)
{
	g_free(((struct bound *) data)->state);
}

struct limit *limit_parse(const char *text, GError **error)
{
	struct limit *limit = g_new0(struct limit, 1);
	struct parser parser = {.error = error};

	limit->conditions = g_array_new(FALSE, TRUE, sizeof(struct bound));
	g_array_set_clear_func(limit->conditions, bound_clear);
	limit->text = g_strstrip(g_strdup(take_name(limit, text)));
	parser.text = parser.at = limit->text;
	if (parse_function(&parser, &limit->bound) && parse_subject(&parser, limit) &&
	    parse_per(&parser, limit) && parse_comparison(&parser, &limit->bound) &&
	    parse_conditions(&parser, limit)) {
		skip_space(&parser);
		if (*parser.at ? refuse(&parser, "'%s' is too much", parser.at)
			       : check(&parser, limit))
			return limit;
	}
	limit_free(limit);
	return NULL;
}

void limit_free(gpointer data)
{
	struct limit *limit = data;

	if (!limit)
		return;
	g_free(limit->name);
	g_free(limit->text);
	g_free(limit->bound.state);
	g_free(limit->operation);
	g_free(limit->requests);
	g_free(limit->thread);
	g_free(limit->process);
	g_free(limit->code);
	g_array_free(limit->conditions, TRUE);
	g_free(limit);
}

/* A budget is small: what has no end (a device, a pipe that goes on) is refused. */
static char *read_budget(const char *path, GError **error)
{
	FILE *file = fopen(path, "re");
	g_autofree char *text = g_malloc(BUDGET_MAX + 2);
	size_t size;
	bool ok;

	if (!file) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--budget %s: %s", path,
			    g_strerror(errno));
		return NULL;
	}
	errno = 0;
	size = fread(text, 1, BUDGET_MAX + 1, file);
	ok = !ferror(file) && size <= BUDGET_MAX;
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--budget %s: %s", path,
			    size > BUDGET_MAX ? "is longer than 1 MB" : g_strerror(errno));
	fclose(file);
	text[size] = '\0';
	return ok ? g_steal_pointer(&text) : NULL;
}

bool limits_read(GPtrArray *limits, const char *path, GError **error)
{
	g_autofree char *text = read_budget(path, error);
	g_auto(GStrv) lines = text ? g_strsplit(text, "\n", -1) : NULL;
	guint before = limits->len;

	for (guint i = 0; lines && lines[i]; i++) {
		char *line = g_strstrip(lines[i]);
		struct limit *limit;

		if (!*line || *line == '#')
			continue;
		limit = limit_parse(line, error);
		if (!limit) {
			g_prefix_error(error, "--budget %s, line %u: ", path, i + 1);
			return false;
		}
		limit->number = limits->len;
		g_ptr_array_add(limits, limit);
	}
	if (lines && limits->len == before)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--budget %s: has no limit: one "
			    "a line, as in 'fsync: p99(syscall:fsync) > 20ms'",
			    path);
	return lines && limits->len > before;
}

bool compare(double value, enum comparison comparison, double number)
{
	switch (comparison) {
	case OVER:
		return value > number;
	case OVER_OR_EQUAL:
		return value >= number;
	case UNDER:
		return value < number;
	default:
		return value <= number;
	}
}

const char *limit_unit_text(enum limit_unit unit)
{
	static const char *const texts[] = {"ns", "count", "share"};

	return texts[unit];
}

const char *limit_value_text(char *buffer, double value, enum limit_unit unit)
{
	if (unit == LIMIT_NS)
		return when_duration(buffer, (int64_t) value);
	if (unit == LIMIT_SHARE)
		g_snprintf(buffer, 32, "%.4g %%", value * 100);
	else
		g_snprintf(buffer, 32, "%.0f", value);
	return buffer;
}
