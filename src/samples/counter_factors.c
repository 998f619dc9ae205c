/* SPDX-License-Identifier: MIT */
/* See counter_factors.h. */
#include "samples/counter_factors.h"

#include <math.h>

#define FACTOR_MIN 0.25     /* of a change: a factor with less is not told */
#define SAME 0.05           /* a factor of 1 ± this is "as many" */
#define MISSES_MIN 1.2      /* times as many, or as few */
#define NEEDED (UINT64_C(1) << COUNTER_INSTRUCTIONS | UINT64_C(1) << COUNTER_CYCLES)
#define MISS_CYCLES 1000    /* that a cache miss can cost, at most: memory of another node */
#define BRANCH_CYCLES 100   /* … a mispredicted branch */

static double value(const struct counters *side, enum counter which)
{
	return (double) side->values[which];
}

static double per_instruction(const struct counters *side, enum counter which)
{
	return value(side, which) / value(side, COUNTER_INSTRUCTIONS);
}

struct factors {
	double work, speed, clock; /* B's by A's */
	double time;
};

static struct factors factors_of(const struct counters sides[2])
{
	const struct counters *a = &sides[0], *b = &sides[1];

	return (struct factors) {
		.work = value(b, COUNTER_INSTRUCTIONS) / value(a, COUNTER_INSTRUCTIONS),
		.speed = per_instruction(b, COUNTER_CYCLES) / per_instruction(a, COUNTER_CYCLES),
		.clock = ((double) b->ns / value(b, COUNTER_CYCLES)) /
			 ((double) a->ns / value(a, COUNTER_CYCLES)),
		.time = (double) b->ns / (double) a->ns};
}

/* Misses of that kind went with the cycles, and each need not have cost more than `most`. */
static bool explains(const struct counters sides[2], enum counter which, double most)
{
	double cycles = per_instruction(&sides[1], COUNTER_CYCLES) -
			per_instruction(&sides[0], COUNTER_CYCLES);
	double before, after;

	if (!counters_known(&sides[0], which) || !counters_known(&sides[1], which))
		return false;
	before = per_instruction(&sides[0], which);
	after = per_instruction(&sides[1], which);
	if ((cycles > 0 ? after : before) < MISSES_MIN * (cycles > 0 ? before : after))
		return false;
	return after != before && cycles / (after - before) > 0 &&
	       cycles / (after - before) <= most;
}

static enum counted_factor of_speed(const struct counters sides[2])
{
	return explains(sides, COUNTER_CACHE_MISSES, MISS_CYCLES) ? FACTOR_MEMORY
	       : explains(sides, COUNTER_BRANCH_MISSES, BRANCH_CYCLES)
		       ? FACTOR_BRANCHES
		       : FACTOR_SPEED;
}

enum counted_factor counted_factor(const struct counters sides[2], double *share)
{
	struct factors factors = factors_of(sides);
	double whole = log(factors.time), work = log(factors.work) / whole;
	double speed = log(factors.speed) / whole, clock = log(factors.clock) / whole;

	*share = MAX(work, MAX(speed, clock));
	return work == *share ? FACTOR_WORK : speed == *share ? of_speed(sides) : FACTOR_CLOCK;
}

bool counters_compare(const struct counters *side)
{
	return (side->known & NEEDED) == NEEDED && side->values[COUNTER_INSTRUCTIONS] &&
	       side->values[COUNTER_CYCLES] && side->ns > 0;
}

const char *counted_factor_text(enum counted_factor factor)
{
	static const char *const texts[FACTORS] = {"work", "speed", "memory", "branches", "clock"};

	return texts[factor];
}

/* --- in words ------------------------------------------------------------------------- */

static void append_speed(GString *text, const struct counters sides[2], double factor)
{
	static const struct {
		enum counter counter;
		const char *of, *what;
	} causes[FACTORS] = {[FACTOR_MEMORY] = {COUNTER_CACHE_MISSES, "memory", "cache misses"},
			     [FACTOR_BRANCHES] = {COUNTER_BRANCH_MISSES, "mispredicted branches",
						  "mispredicted branches"}};
	enum counted_factor of = of_speed(sides);
	const char *how = factor > 1 ? "slower" : "faster";
	bool counted = counters_known(&sides[0], COUNTER_CACHE_MISSES) &&
		       counters_known(&sides[1], COUNTER_CACHE_MISSES);

	if (of == FACTOR_SPEED) {
		g_string_append_printf(text, "%s for each instruction: %.2f times the cycles%s",
				       how, factor,
				       counted ? ", which cache misses do not explain"
					       : "; cache misses, which may tell why, were not "
						 "counted");
		return;
	}
	g_string_append_printf(text, "%s because of %s: %.2f times the cycles for each instruction",
			       how, causes[of].of, factor);
	if (value(&sides[0], causes[of].counter) > 0)
		g_string_append_printf(text, ", with %.3g times the %s",
				       per_instruction(&sides[1], causes[of].counter) /
					       per_instruction(&sides[0], causes[of].counter),
				       causes[of].what);
	else
		g_string_append_printf(text, ", with %s where there were none", causes[of].what);
}

static void append_part(GString *text, const struct counters sides[2], enum counted_factor which,
			double factor)
{
	g_string_append(text, text->len ? "; and " : "");
	if (which == FACTOR_WORK)
		g_string_append_printf(text, "%s work: %.2f times the instructions",
				       factor > 1 ? "more" : "less", factor);
	else if (which == FACTOR_CLOCK)
		g_string_append_printf(text,
				       "%s cycles a second, %.2f G instead of %.2f G: the CPU's "
				       "clock, or what a hypervisor took",
				       factor > 1 ? "fewer" : "more",
				       value(&sides[1], COUNTER_CYCLES) / (double) sides[1].ns,
				       value(&sides[0], COUNTER_CYCLES) / (double) sides[0].ns);
	else
		append_speed(text, sides, factor);
}

char *counted_cause(const struct counters sides[2])
{
	struct factors factors = factors_of(sides);
	struct {
		enum counted_factor which;
		double factor, share;
	} parts[] = {{FACTOR_WORK, factors.work, 0},
		     {FACTOR_SPEED, factors.speed, 0},
		     {FACTOR_CLOCK, factors.clock, 0}};
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
		parts[i].share = log(parts[i].factor) / log(factors.time);
	for (guint told = 0; told < G_N_ELEMENTS(parts); told++) {
		guint most = 0;

		for (guint i = 1; i < G_N_ELEMENTS(parts); i++)
			if (parts[i].share > parts[most].share)
				most = i;
		if (parts[most].share < FACTOR_MIN && told)
			break;
		append_part(text, sides, parts[most].which, parts[most].factor);
		parts[most].share = -INFINITY;
	}
	if (fabs(factors.work - 1) <= SAME)
		g_string_append(text, "; as many instructions");
	return g_string_free(text, FALSE);
}
